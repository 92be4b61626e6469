"""`stagecache check`: the bars, the table, the errors, and the exit status."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from stagecache import testing
from stagecache.cli.check import check_model
from stagecache.cli.main import CHECKS, main

SOUND = "stagecache.examples.pendulum"

FAULTY = """
from stagecache import State, Subsystem, System, cached, parameter, q_variable

class Pendulum(Subsystem):
    length = parameter(1.0)
    mass = parameter(1.0)
    angle = q_variable(0.1)

    @cached(prerequisites=(angle,))
    def height(self, state: State) -> float:
        return self.length(state) * self.angle(state)

    @cached(prerequisites=(length, mass))
    def inertia(self, state: State) -> float:
        return self.length(state) ** 2

def make_faulty() -> System:
    return System(Pendulum())
"""


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a file with a model whose height depends on a length that it does not declare."""
    path = tmp_path / "faulty_model.py"
    path.write_text(FAULTY, encoding="utf-8")
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return str(path)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["check", *args], prog_name="stagecache", env={"COLUMNS": "80"})


def rows(output: str) -> dict[str, list[str]]:
    """The table, by check."""
    table = output.split("\n\n")[1].splitlines()
    assert table[0].split() == ["check", "verdict", "examples", "operations", "time"]
    return {name: rest for name, *rest in map(str.split, table[1:])}


def test_a_sound_model_passes_every_check() -> None:
    result = run(SOUND, "--examples", "5")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{SOUND}: System('pendulum': pendulum, anchor)\n")
    table = rows(result.stdout)
    assert tuple(table) == CHECKS
    assert {row[0] for row in table.values()} == {"passed"}
    assert result.stdout.endswith(f"\nPassed: {', '.join(CHECKS)}.\n")


def test_every_check_of_the_kit_can_be_asked_for() -> None:
    offered = {name for name in testing.__all__ if name.startswith("check_")} - {"check_all"}
    assert offered == {f"check_{name}" for name in CHECKS}


def test_only_those_checks_run_that_are_asked_for() -> None:
    result = run(SOUND, "--check", "pickle", "--check", "coherence", "--examples", "2")
    assert result.exit_code == 0
    assert list(rows(result.stdout)) == ["pickle", "coherence"]
    assert rows(result.stdout)["coherence"][:2] == ["passed", "2"]


def test_the_same_seed_runs_the_same_programs() -> None:
    def tried(seed: str) -> list[str]:
        result = run(SOUND, "--check", "coherence", "--examples", "5", "--seed", seed)
        return rows(result.stdout)["coherence"][:3]

    assert tried("1") == tried("1") != tried("2")


def test_a_fault_fails_with_its_cure_and_a_program_that_shows_it(faulty: str) -> None:
    result = run(faulty, "--check", "coherence")
    assert (result.exit_code, result.stderr) == (1, "")
    assert rows(result.stdout)["coherence"][0] == "failed"
    message = result.stdout.split("\ncoherence failed\n")[1].split("\n\nFailed: ")[0]
    assert message.startswith("pendulum.height: ")
    assert "length" in message.split("  hint: ")[1].splitlines()[0]
    program = message[message.index("from stagecache.cli.loading") :]
    command = [sys.executable, "-c", program]
    shown = subprocess.run(command, check=False, capture_output=True, text=True)
    assert shown.stderr.splitlines()[-1].startswith("AssertionError")


def test_all_checks_run_whatever_fails_and_the_last_lines_say_how_to_run_those_again(
    faulty: str,
) -> None:
    checks = ("--check", "coherence", "--check", "precision", "--check", "pickle")
    result = run(faulty, *checks, "--examples", "40")
    assert result.exit_code == 1
    verdicts = {name: row[0] for name, row in rows(result.stdout).items()}
    assert verdicts == {"coherence": "failed", "precision": "failed", "pickle": "passed"}
    *_, verdict, again = result.stdout.splitlines()
    assert verdict == "Failed: coherence, precision."
    options = again.removeprefix("Again: stagecache check ").split()
    assert options[:-1] == [
        *(faulty, "--check", "coherence", "--check", "precision"),
        *("--examples", "40", "--seed"),
    ]
    repeated = run(*options)
    assert repeated.exit_code == 1
    pattern = r"^coherence +failed +(\d+) "
    assert re.findall(pattern, repeated.stdout, re.M) == re.findall(pattern, result.stdout, re.M)


def test_an_error_of_the_model_is_told_with_where_it_was_raised(
    faulty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_coherence(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of the model")

    monkeypatch.setattr(testing, "check_coherence", check_coherence, raising=False)
    result = run(faulty, "--check", "coherence")
    assert result.exit_code == 1
    message = result.stdout.split("\ncoherence failed\n")[1].split("\n\nFailed: ")[0]
    assert message.splitlines()[-1] == "ZeroDivisionError: of the model"
    assert 'raise ZeroDivisionError("of the model")' in message


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ("nowhere", "Error: nowhere: module not found"),
        ("nowhere.py", "Error: nowhere.py: not a file of Python"),
        (f"{SOUND}:nothing", f"Error: {SOUND}: has nothing of that name"),
        (f"{SOUND}:Pendulum", f"Error: {SOUND}:Pendulum: does not return a System"),
    ],
)
def test_a_model_that_is_none_is_reported_by_its_message_alone(model: str, what: str) -> None:
    result = run(model)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines()[0] == what
    assert "  hint: " in result.stderr


def test_without_hypothesis_the_extra_is_named() -> None:
    program = (
        "import sys\n"
        "sys.modules['hypothesis'] = None\n"
        "from stagecache.cli.main import main\n"
        f"main(['check', '{SOUND}'])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: stagecache check: hypothesis is not installed\n")
    assert "pip install 'stagecache[testing]'" in result.stderr


@pytest.mark.parametrize("statement", ["1 / 0", "raise SystemExit(0)"])
def test_a_maker_that_raises_is_reported_by_its_message_alone(statement: str, faulty: str) -> None:
    with Path(faulty).open("a", encoding="utf-8") as file:
        file.write(f"\ndef fails():\n    {statement}\n")
    result = run(f"{faulty}:fails")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: {faulty}:fails: raises")


@pytest.mark.parametrize("option", [("--examples", "0"), ("--check", "all"), ("--seed", "-1")])
def test_an_option_that_makes_no_sense_is_a_usage_error(option: tuple[str, str]) -> None:
    result = run(SOUND, *option)
    assert result.exit_code == 2
    assert f"Invalid value for '{option[0]}'" in result.stderr


# ---------------------------------------------------------------------- what is drawn


def drawn(*, terminal: bool) -> tuple[str, str]:
    """What is printed, and what is drawn beside it, while two checks run."""
    out, err = io.StringIO(), io.StringIO()
    passed = check_model(
        SOUND,
        ("coherence", "pickle"),
        examples=3,
        seed=0,
        out=Console(file=out, width=80, force_terminal=terminal, highlight=False),
        err=Console(file=err, width=80, force_terminal=terminal),
    )
    assert passed
    return out.getvalue(), err.getvalue()


def test_there_is_a_bar_for_each_check_on_a_terminal_with_the_examples_that_are_done() -> None:
    out, err = drawn(terminal=True)
    assert "\x1b[1;32mPassed" in out
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", err)
    for name in ("coherence", "pickle"):
        assert re.search(rf"{name} +━+ 3 examples 0:00:\d\d", text)


def test_nothing_is_drawn_where_there_is_no_terminal() -> None:
    out, err = drawn(terminal=False)
    assert err == ""
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert [line for line in out.splitlines() if line != line.rstrip()] == []
