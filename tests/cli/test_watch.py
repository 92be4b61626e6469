"""`stagecache watch` without a browser: what it runs, what it says, and how it ends."""

import re
import signal
import subprocess
import sys
import webbrowser
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner, Result

from stagecache.cli.main import main

UNATTENDED = ("--no-browser", "--no-wait", "--exit")

MODEL = """
from stagecache import State, System
from stagecache.examples.pendulum import system as pendulum

SYSTEM = pendulum()
NUMBER = 1


def swing(state: State) -> None:
    print("swinging")
    for step in range(5):
        state.time += 0.1
        SYSTEM.realize(state)
        SYSTEM.subsystem("anchor").torque(state)


def program() -> None:
    own = pendulum()
    swing(SYSTEM.new_state())
    own.subsystem("pendulum").tip(own.new_state())


def maker() -> System:
    return pendulum()


def fail(state: State) -> None:
    swing(state)
    raise ValueError("no more")


def slow(state: State) -> None:
    import time

    print("slow", flush=True)
    time.sleep(60)


def two(state: State, other: State) -> None:
    pass
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in list(sys.modules):
        if name == "watched_model":
            monkeypatch.delitem(sys.modules, name)
    path = tmp_path / "watched_model.py"
    path.write_text(MODEL, encoding="utf-8")
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["watch", *arguments, *UNATTENDED], prog_name="stagecache")


def counts(result: Result) -> tuple[int, int]:
    """Numbers of computations and writes that it tells."""
    found = re.search(r"([\d,]+) computed, ([\d,]+) written", result.output)
    assert found is not None, result.output
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


def test_a_function_of_a_state_is_run(model: str) -> None:
    result = run(f"{model}:swing")
    assert result.exit_code == 0
    assert counts(result) == (3, 5)  # tip, weight and torque
    assert "swinging" in result.stderr, "the output of the model is not an answer"
    assert "Done after" in result.stdout


def test_the_function_may_be_named_by_an_option(model: str) -> None:
    assert counts(run(f"{model}:SYSTEM", "--run", "swing")) == (3, 5)


def test_a_program_is_run_and_all_its_states_are_followed(model: str) -> None:
    result = run(f"{model}:program")
    assert result.exit_code == 0
    assert counts(result) == (4, 5)


@pytest.mark.parametrize("name", ["SYSTEM", "maker"])
def test_a_system_takes_steps(model: str, name: str) -> None:
    few, many = (counts(run(f"{model}:{name}", "--steps", n)) for n in ("2", "20"))
    assert 0 < few[0] < many[0]
    assert 0 < few[1] < many[1]


def test_a_system_is_simulated(model: str) -> None:
    result = run(f"{model}:maker", "--until", "0.5")
    assert result.exit_code == 0
    assert counts(result)[0] > 10


def test_what_fails_is_told_and_the_exit_status_is_1(model: str) -> None:
    result = run(f"{model}:fail")
    assert result.exit_code == 1
    assert "ValueError: no more" in result.stderr
    assert "Failed after" in result.stdout
    assert counts(result) == (3, 5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing.py",), "not a file"),
        (("{model}:NUMBER",), "not a System"),
        (("{model}:missing",), "has nothing of that name"),
        (("{model}:two",), "cannot be run"),
        (("{model}:SYSTEM", "--run", "missing"), "has nothing of that name"),
    ],
)
def test_what_cannot_be_run_is_an_error(model: str, arguments: tuple[str, ...], says: str) -> None:
    result = run(*[each.format(model=model) for each in arguments])
    assert result.exit_code == 1
    assert says in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("SYSTEM", "--run", "swing", "--until", "1"),
        ("swing", "--until", "1"),
        ("SYSTEM", "--paused"),
        ("SYSTEM", "--every", "0"),
        ("SYSTEM", "--port", "70000"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    model: str, arguments: tuple[str, ...]
) -> None:
    name, *options = arguments
    assert run(f"{model}:{name}", *options).exit_code == 2


def test_a_port_that_is_taken_is_told(model: str) -> None:
    import socket  # noqa: PLC0415

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        result = run(f"{model}:swing", "--port", port)
    assert result.exit_code == 1
    assert f"port {port}: " in result.stderr


def test_a_browser_is_opened_by_an_address_that_leads_to_the_page_once(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_it(url: str) -> bool:
        opened.append(url)
        with urlopen(url) as answer:
            opened.append(answer.url)
        return True

    monkeypatch.setattr(webbrowser, "open", open_it)
    arguments = ["watch", f"{model}:swing", "--no-wait", "--exit"]
    result = CliRunner().invoke(main, arguments, prog_name="stagecache")
    assert result.exit_code == 0
    ticket, url = opened
    assert url in result.stdout
    assert ticket not in result.stdout


def test_without_a_browser_the_address_is_to_be_opened_by_hand(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    arguments = ["watch", f"{model}:swing", "--no-wait", "--exit"]
    result = CliRunner().invoke(main, arguments, prog_name="stagecache")
    assert "no browser" in result.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of Unix")
def test_control_c_cuts_a_run_short_and_another_one_ends(model: str) -> None:
    command = [sys.executable, "-m", "stagecache", "watch", f"{model}:slow", *UNATTENDED[:2]]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any("slow" in line and "Watch it" not in line for line in lines)
        process.send_signal(signal.SIGINT)
        assert any("Interrupted" in line for line in lines)
        assert any("Ctrl-C ends" in line for line in lines)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 1
