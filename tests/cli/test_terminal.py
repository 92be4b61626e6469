"""Commands in a terminal of 80 columns, and in a narrower one."""

import os
import re
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="needs pseudo-terminals, which Windows does not have")

PENDULUM = "stagecache.examples.pendulum"
FOUR_BAR = "stagecache.examples.four_bar"
MOVED = ("--after", "q=[0.1,0.2,0.3]")
HELP = [(name, "--help") for name in ("check", "demo", "explain", "graph", "impact", "profile")]
COMMANDS = [
    ("--help",),
    *HELP,
    *[("new", "--help"), ("study", "--help")],
    ("graph", FOUR_BAR),
    ("graph", FOUR_BAR, "--stage", "Report", "--subsystem", "pivot"),
    ("explain", FOUR_BAR, "matter.pose[coupler]", *MOVED),
    ("explain", PENDULUM, "pendulum.nothing"),
    ("impact", FOUR_BAR, "q"),
    ("profile", PENDULUM, "--steps", "3"),
    ("check", PENDULUM, "--examples", "2", "--check", "coherence", "--seed", "1"),
    (
        "study",
        PENDULUM,
        "--vary",
        "pendulum.length=1:2:3",
        "--until",
        "1",
        "--keep",
        "pendulum.tip",
    ),
    ("demo", "--frames", "12", "--no-pictures"),
]
CHANGING = re.compile(r"\d|µs|ms|^s$")


def shown(args: tuple[str, ...], columns: int, folder: Path) -> list[str]:
    """Return the lines that a command shows in a terminal."""
    child, screen = pty.fork()
    if child == 0:  # pragma: no cover  # another process
        os.chdir(folder)
        env = os.environ | {"COLUMNS": str(columns), "TERM": "xterm", "PYTHONUTF8": "1"}
        os.execve(sys.executable, [sys.executable, "-m", "stagecache", *args], env)
    output = b""
    try:
        while chunk := os.read(screen, 65536):
            output += chunk
    except OSError:  # of Linux, when the command has ended
        pass
    os.close(screen)
    os.waitpid(child, 0)
    text = re.sub(r"\x1b\[\?[0-9]*[hl]", "", output.decode()).replace("\r\n", "\n")
    text = re.sub(r"[^\n]*\n\r\x1b\[1A\x1b\[2K", "", text)  # a bar of a slow run, which is erased
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [line.rpartition("\r")[2] for line in text.split("\n")]


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_no_line_is_wider_than_a_terminal_of_80_columns_and_no_word_is_broken(
    args: tuple[str, ...], tmp_path: Path
) -> None:
    lines = shown(args, 80, tmp_path)
    assert [line for line in lines if len(line) > 80] == []
    words = {word for line in lines for word in line.split()}
    wide = [word for line in shown(args, 200, tmp_path) for word in line.split()]
    assert len(wide) > 10
    assert [
        w for w in wide if not CHANGING.search(w) and set(w) & set("abc") and w not in words
    ] == []


def test_an_explanation_fits_a_terminal_of_60_columns(tmp_path: Path) -> None:
    lines = shown(("explain", FOUR_BAR, "matter.pose[coupler]", *MOVED), 60, tmp_path)
    assert max(map(len, lines)) <= 60
