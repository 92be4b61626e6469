"""`stagecache check`: the bars, the verdicts, the errors, JSON, Control-C, and the exit status."""

import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

import stagecache.testing.all as kit
from stagecache import testing
from stagecache.cli.check import CheckOptions, check_model
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
    """The lines of verdicts, by check."""
    assert output.splitlines()[2].split() == ["check", "verdict", "examples", "operations", "time"]
    found = map(str.split, re.findall(r"^\w+ +(?:passed|failed|unfinished) .* s$", output, re.M))
    return {name: rest for name, *rest in found}


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


def test_the_first_failure_ends_the_command(faulty: str) -> None:
    result = run(faulty, "--examples", "40")
    assert result.exit_code == 1
    assert {name: row[0] for name, row in rows(result.stdout).items()} == {"strict": "failed"}
    *_, not_run, verdict, _ = result.stdout.splitlines()
    assert not_run == "Not run: coherence, precision, pickle, threads."
    assert verdict == "Failed: strict."


def test_on_request_all_checks_run_and_the_last_lines_say_how_to_run_those_again_that_failed(
    faulty: str,
) -> None:
    checks = ("--check", "coherence", "--check", "precision", "--check", "pickle")
    result = run(faulty, *checks, "--examples", "40", "--keep-going")
    assert result.exit_code == 1
    verdicts = {name: row[0] for name, row in rows(result.stdout).items()}
    assert verdicts == {"coherence": "failed", "precision": "failed", "pickle": "passed"}
    *_, verdict, again = result.stdout.splitlines()
    assert verdict == "Failed: coherence, precision."
    options = again.removeprefix("Again: stagecache check ").split()
    assert options[:-2] == [
        *(faulty, "--check", "coherence", "--check", "precision"),
        *("--examples", "40", "--seed"),
    ]
    assert options[-1] == "--keep-going"
    repeated = run(*options)
    assert repeated.exit_code == 1
    pattern = r"^coherence +failed +(\d+) "
    assert re.findall(pattern, repeated.stdout, re.M) == re.findall(pattern, result.stdout, re.M)


def test_an_error_of_the_model_is_told_with_where_it_was_raised(
    faulty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_coherence(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of the model")

    monkeypatch.setitem(kit.CHECKS, "coherence", check_coherence)
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


@pytest.mark.parametrize(
    "option", [("--examples", "0"), ("--check", "all"), ("--seed", "-1"), ("--budget", "0")]
)
def test_an_option_that_makes_no_sense_is_a_usage_error(option: tuple[str, str]) -> None:
    result = run(SOUND, *option)
    assert result.exit_code == 2
    assert f"Invalid value for '{option[0]}'" in result.stderr


# ---------------------------------------------------------------------- what is drawn


def drawn(*, terminal: bool) -> tuple[str, str]:
    """What is printed, and what is drawn beside it, while two checks run."""
    out, err = io.StringIO(), io.StringIO()
    status = check_model(
        SOUND,
        CheckOptions(("coherence", "pickle"), examples=3, seed=0),
        as_json=False,
        out=Console(file=out, width=80, force_terminal=terminal, highlight=False),
        err=Console(file=err, width=80, force_terminal=terminal),
    )
    assert status == 0
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


# ---------------------------------------------------------------------- JSON


def document(*args: str) -> tuple[int, Any]:
    result = run(*args, "--json")
    assert result.stderr == ""
    return result.exit_code, json.loads(result.stdout)


def test_a_document_has_the_verdicts_of_a_sound_model() -> None:
    status, found = document(SOUND, "--examples", "3", "--seed", "5")
    assert status == 0
    assert (found["verdict"], found["again"], found["is_interrupted"]) == ("passed", None, False)
    assert (found["model"], found["seed"], found["examples"]) == (SOUND, 5, 3)
    assert [check["check"] for check in found["checks"]] == list(CHECKS)
    assert {(check["verdict"], check["examples"]) for check in found["checks"]} == {("passed", 3)}
    assert found["checks"][1]["computed"] == found["checks"][1]["entries"] == 4


def test_a_document_has_the_error_its_suspects_and_what_was_not_run(faulty: str) -> None:
    status, found = document(faulty, "--check", "coherence", "--check", "pickle")
    assert (status, found["verdict"]) == (1, "failed")
    failed, not_run = found["checks"]
    assert (failed["verdict"], failed["error"]) == ("failed", "IncoherentError")
    assert failed["suspects"] == ["pendulum.length"]
    assert "assert pendulum.height(state) == " in failed["message"]
    assert not_run == {"check": "pickle", "verdict": "not run"}
    assert found["again"].startswith(f"stagecache check {faulty} --check coherence --examples 100")


# ---------------------------------------------------------------------- the budget


def test_a_budget_that_ends_is_told_with_the_number_of_programs() -> None:
    options = ("--examples", "100000", "--budget", "0.4")
    result = run(SOUND, *options, "--check", "strict", "--check", "pickle")
    assert result.exit_code == 0
    found = rows(result.stdout)
    assert [row[0] for row in found.values()] == ["unfinished", "unfinished"]
    assert all(int(row[1]) >= 1 for row in found.values())
    *_, last = result.stdout.splitlines()
    counts = ", ".join(f"{name} ({row[1]} examples)" for name, row in found.items())
    assert last == f"No fault found within the budget: {counts}."
    assert document(SOUND, *options, "--check", "strict")[1]["verdict"] == "unfinished"


def test_a_fault_that_the_first_program_shows_is_found_within_any_budget(faulty: str) -> None:
    result = run(faulty, "--budget", "0.001")
    assert result.exit_code == 1
    assert rows(result.stdout)["strict"][0] == "failed"


# ---------------------------------------------------------------------- Control-C


@contextmanager
def started(*args: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that runs until it is interrupted."""
    command = [sys.executable, "-c", "from stagecache.cli.main import main; main()", "check"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, *args], **options) as process:  # type: ignore[call-overload]  # all are known
        try:
            yield process
        finally:
            process.kill()


ENDLESS = """
import time
from pathlib import Path
from stagecache import State, Subsystem, System, cached, parameter

class Endless(Subsystem):
    mass = parameter(1.0)

    @cached(prerequisites=(mass,))
    def weight(self, state: State) -> float:
        while state.is_strict:
            Path(__file__).with_suffix(".reached").touch()
            time.sleep(0.01)
        return 9.81 * self.mass(state)

def system() -> System:
    return System(endless=Endless())
"""


@pytest.fixture
def interrupted(tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Run two checks of a model whose second one never ends, and interrupt that."""
    model = tmp_path / "endless_model.py"
    model.write_text(ENDLESS, encoding="utf-8")

    def interrupt(*args: str) -> tuple[int, str, str]:
        checks = ("--check", "pickle", "--check", "strict", "--examples", "3")
        with started(str(model), *checks, *args) as process:
            while process.poll() is None and not model.with_suffix(".reached").exists():
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        return process.returncode, out, err

    return interrupt


def test_control_c_prints_what_was_found_so_far(
    interrupted: Callable[..., tuple[int, str, str]],
) -> None:
    status, out, err = interrupted()
    assert (status, err) == (130, "")
    assert list(rows(out)) == ["pickle"]
    assert out.endswith("\n\nInterrupted: strict, after 0 examples.\nPassed: pickle.\n")


def test_control_c_leaves_a_complete_document(
    interrupted: Callable[..., tuple[int, str, str]],
) -> None:
    status, out, err = interrupted("--json")
    assert (status, err) == (130, "")
    found = json.loads(out)
    assert (found["verdict"], found["is_interrupted"]) == ("interrupted", True)
    passed, stopped = found["checks"]
    assert (passed["verdict"], passed["examples"]) == ("passed", 3)
    assert stopped == {"check": "strict", "verdict": "interrupted", "examples": 0}
