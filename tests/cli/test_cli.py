"""The `stagecache` command."""

import os
import re
import subprocess
import sys
from errno import ENOSPC
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import stagecache
from stagecache.cli.main import Commands, main
from stagecache.examples.walking_subject import write_subject, write_trial
from stagecache.graph import store
from stagecache.models import load_osim

UNATTENDED = {"watch": ("--no-browser", "--no-wait", "--exit")}
"""Options with which a command needs nobody."""

NEEDED = {"--plot": "matplotlib", "--html": "viser"}
"""Options that need a module of an extra."""

TASKS = """<OpenSimDocument><IKTaskSet><objects>
<IKMarkerTask name="R.Toe"><weight>2</weight></IKMarkerTask>
<IKMarkerTask name="Sacrum"><weight>1</weight></IKMarkerTask>
</objects></IKTaskSet></OpenSimDocument>"""


def write_trial_and_tasks() -> None:
    """Write the files of the examples of `stagecache ik`."""
    write_subject(Path("subject.osim"))
    write_trial(Path("walk.trc"), load_osim("subject.osim"))
    Path("setup_ik.xml").write_text(TASKS)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, args, prog_name="stagecache", env={"COLUMNS": "80"})


def python(*args: str) -> subprocess.CompletedProcess[str]:
    """Run Python as a shell would with the output piped, whatever colours are asked for here."""
    unset = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    env = {k: v for k, v in os.environ.items() if k not in unset} | {"PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, *args],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_help_lists_every_command_and_says_where_to_start() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for name, command in main.commands.items():
        summary = re.escape(command.get_short_help_str(limit=70))
        assert re.search(rf"^  {name} +{summary}$", result.output, re.M)
    assert "Start with: stagecache demo" in result.output


@pytest.mark.parametrize("name", main.commands)
def test_the_examples_in_the_help_of_a_command_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where some write files
    monkeypatch.setattr(sys, "path", [*sys.path])
    if name == "ik":
        write_trial_and_tasks()
    text = run(name, "--help").output.replace("\\\n", "")
    examples = [line.split() for line in text.split("Examples:")[1].splitlines() if line.strip()]
    assert len(examples) >= 2
    for program, *args in examples:
        assert program == "stagecache"
        if any(find_spec(NEEDED.get(arg, "stagecache")) is None for arg in args):
            continue
        assert run(*args, *UNATTENDED.get(name, ())).exit_code == 0


def test_version_is_that_of_the_installed_package_and_says_if_it_is_compiled() -> None:
    result = run("--version")
    assert result.exit_code == 0
    is_compiled = any(suffix in (store.__file__ or "") for suffix in EXTENSION_SUFFIXES)
    assert (
        ("stagecache.graph.store" in stagecache.compiled)
        == is_compiled
        == bool(stagecache.compiled)
    )
    first, *others = result.output.splitlines()
    assert (
        first
        == f"stagecache {version('stagecache')} ({'compiled' if is_compiled else 'plain Python'})"
    )
    names = ", ".join(name.removeprefix("stagecache.") for name in stagecache.compiled)
    assert others == ([f"compiled modules: {names}"] if is_compiled else [])


def test_version_imports_neither_numpy_nor_the_graph() -> None:
    program = (
        "import sys\n"
        "from stagecache.cli.main import main\n"
        "main(['--version'], standalone_mode=False)\n"
        "print(sorted({'numpy', 'rich', 'stagecache.graph'} & sys.modules.keys()))\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert printed.splitlines()[-1] == "[]"


@pytest.mark.parametrize("frames", ["11", "3601", "1.5", "many"])
def test_a_number_of_frames_that_is_none_in_range_is_a_usage_error(
    frames: str, tmp_path: Path
) -> None:
    result = run("demo", "--frames", frames, "-o", str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Invalid value for '--frames'" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_that_is_a_file_is_a_usage_error(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    result = run("demo", "-o", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Invalid value for '--output'" in result.stderr


def test_an_output_folder_that_cannot_be_made_is_reported_by_its_message_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    result = run("demo", "--output", str(tmp_path / "file" / "folder"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(r"Error: Could not open file '.*folder': Not a directory\n", result.stderr)


def test_an_error_that_is_not_of_stagecache_is_not_hidden() -> None:
    @click.command()
    def fail() -> None:
        raise ZeroDivisionError

    result = CliRunner().invoke(Commands(commands={"fail": fail}), ["fail"])
    assert isinstance(result.exception, ZeroDivisionError)


def test_an_output_that_cannot_be_written_is_reported_by_its_message_alone() -> None:
    @click.command()
    def fill() -> None:
        raise OSError(ENOSPC, "No space left on device")

    result = CliRunner().invoke(Commands(commands={"fill": fill}), ["fill"])
    assert result.exit_code == 1
    assert result.stderr == "Error: the output: No space left on device\n"


def test_python_m_stagecache_demo_prints_plain_text_when_piped(tmp_path: Path) -> None:
    args = ("demo", "--frames", "12", "--no-pictures", "-o", str(tmp_path))
    result = python("-m", "stagecache", *args)
    assert result.returncode == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert [path.name for path in tmp_path.iterdir()] == ["four_bar.html"]


def test_demo_without_pictures_does_not_load_matplotlib(tmp_path: Path) -> None:
    result = python(
        "-c",
        "import sys\n"
        "from stagecache.cli.main import main\n"
        f"args = ['demo', '--frames', '12', '--no-pictures', '-o', {str(tmp_path)!r}]\n"
        "main(args, standalone_mode=False)\n"
        "print(sorted({'matplotlib', 'pydrake', 'PIL'} & sys.modules.keys()))",
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("1. Assemble")
    assert result.stdout.endswith("\n[]\n")
