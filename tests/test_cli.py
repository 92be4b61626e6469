"""The `stagecache` command."""

import os
import re
import subprocess
import sys
from errno import ENOSPC
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from stagecache.cli import Commands, main
from stagecache.demo.steps import build_model


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
    text = run(name, "--help").output
    examples = [line.split() for line in text.split("Examples:")[1].splitlines() if line.strip()]
    assert len(examples) >= 2
    for program, *args in examples:
        assert program == "stagecache"
        assert run(*args).exit_code == 0


def test_the_help_of_demo_names_every_variable() -> None:
    text = run("demo", "--help").output
    for variable in build_model().variables:
        assert variable.name in text


def test_version_is_that_of_the_installed_package() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"stagecache {version('stagecache')}\n"


def test_an_unknown_variable_is_reported_by_its_message_alone() -> None:
    result = run("demo", "--write", "rates", "1")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: System('system': pendulum, anchor)")
    assert "did you mean 'rate'" in result.stderr


def test_a_value_with_which_there_is_no_model_is_reported_by_its_message_alone() -> None:
    result = run("demo", "--write", "length", "0")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: pendulum.length: the model cannot be computed")


@pytest.mark.parametrize("value", ["fast", "inf"])
def test_a_value_that_is_no_number_in_range_is_a_usage_error(value: str) -> None:
    result = run("demo", "--write", "rate", value)
    assert result.exit_code == 2
    assert "Invalid value for '--write'" in result.stderr


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


def test_python_m_stagecache_demo_prints_plain_text_when_piped() -> None:
    result = python("-m", "stagecache", "demo")
    assert result.returncode == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert result.stdout == run("demo").output


def test_demo_loads_no_large_library_but_those_that_its_model_needs() -> None:
    """A System loads networkx where entries of one subsystem depend on those of another."""
    result = python(
        "-c",
        "import sys\n"
        "from stagecache.cli import main\n"
        "from stagecache.demo.pendulum import Anchor, Pendulum, System\n"
        "pendulum = Pendulum()\n"
        "System(pendulum, anchor=Anchor(pendulum)).realize_topology()\n"
        "needed = set(sys.modules)\n"
        "main(['demo'], standalone_mode=False)\n"
        "large = {'matplotlib', 'networkx', 'pydrake', 'scipy'}\n"
        "print(sorted(large & sys.modules.keys() - needed), 'matplotlib' in needed)",
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("1. The model")
    assert result.stdout.endswith("\n[] False\n")
