"""The guard counts what its operations do, and refuses what exceeds the baseline."""

import json
from pathlib import Path

import pytest
from attrs import asdict
from click.testing import CliRunner

from benchmarks import guard
from benchmarks.guard import BASELINE, Baseline, exceeding, main, read_dumps
from benchmarks.instructions import OPERATIONS, Operation

NAMES = [one.name for one in OPERATIONS]
DUMPS = """
desc: Trigger: Client Request: 0 1
totals: 100

desc: Trigger: Client Request: 0 2
totals: 150

desc: Trigger: Program termination
totals: 7
"""


@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_an_operation_can_be_repeated(operation: Operation) -> None:
    names = dict(operation.make())
    for _ in range(3):
        exec(operation.statement, names)


def test_the_baseline_has_each_operation() -> None:
    baseline = Baseline(**json.loads(BASELINE.read_text(encoding="utf-8")))
    assert list(baseline.instructions) == NAMES
    assert all(count > 0 for count in baseline.instructions.values())


def test_totals_are_read_by_operation_and_the_last_dump_is_left_out() -> None:
    assert read_dumps(DUMPS) == {(0, 1): 100, (0, 2): 150}


def test_only_what_takes_more_than_the_tolerance_or_is_new_exceeds() -> None:
    baseline = {"same": 100.0, "faster": 100.0, "a bit more": 100.0, "slower": 100.0}
    counted = {"same": 100.0, "faster": 50.0, "a bit more": 104.9, "slower": 105.1, "new": 1.0}
    assert exceeding(counted, baseline) == ["slower", "new"]


@pytest.mark.parametrize(
    ("python", "machine", "factor", "code", "text"),
    [
        ("", "", 1.04, 0, "+4.0%"),
        ("", "", 1.06, 1, "--update"),
        ("CPython 2.7", "", 1.06, 0, "Not compared"),
        ("", "abacus", 1.06, 0, "Not compared"),
    ],
)
def test_the_exit_code_says_whether_an_operation_got_slower(
    python: str,
    machine: str,
    factor: float,
    code: int,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(guard, "is_compiled", lambda: True)
    monkeypatch.setattr(guard, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(guard, "count", lambda: dict.fromkeys(NAMES, 1000.0))
    assert CliRunner().invoke(main, ["--update"]).exit_code == 0
    baseline = Baseline(**json.loads(guard.BASELINE.read_text(encoding="utf-8")))
    changed = {**asdict(baseline), **({"python": python} if python else {})}
    changed |= {"machine": machine} if machine else {}
    guard.BASELINE.write_text(json.dumps(changed), encoding="utf-8")
    monkeypatch.setattr(guard, "count", lambda: dict.fromkeys(NAMES, 1000.0 * factor))
    result = CliRunner().invoke(main)
    assert (result.exit_code, text in result.output) == (code, True), result.output


def test_plain_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "is_compiled", lambda: False)
    result = CliRunner().invoke(main)
    assert result.exit_code == 2
    assert "plain Python" in result.output
