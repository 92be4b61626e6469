"""run_checks and check_all: verdicts as they are known, the first failure, and the budget."""

import pytest
from hypothesis import settings

from stagecache.errors import OutOfRangeError, UndeclaredPrerequisiteError, UnknownChoiceError
from stagecache.testing import check_all, run_checks
from tests.testing.models import Forgetful, Lever, system_of

FEW = settings(max_examples=5)
MANY = settings(max_examples=100_000)
NAMES = ["strict", "coherence", "precision", "pickle", "threads"]


def test_a_verdict_is_known_before_the_next_check_begins() -> None:
    begun: list[str] = []
    for verdict in run_checks(system_of(Lever()), settings=FEW, begin=begun.append):
        assert begun[-1] == verdict.name
        assert (verdict.word, verdict.examples) == ("passed", 5)
    assert begun == NAMES


def test_the_first_failure_is_the_last_verdict_unless_others_are_asked_for() -> None:
    system = system_of(Forgetful())
    (verdict,) = run_checks(system, settings=FEW)
    assert (verdict.name, verdict.word, verdict.result) == ("strict", "failed", None)
    assert isinstance(verdict.error, UndeclaredPrerequisiteError)
    words = {v.name: v.word for v in run_checks(system, settings=FEW, keep_going=True)}
    assert list(words) == NAMES
    assert words["pickle"] == words["threads"] == "passed"
    assert words["coherence"] == "failed"


def test_a_budget_ends_each_check_after_its_first_program_at_the_earliest() -> None:
    system = system_of(Lever())
    for verdict in run_checks(system, budget=1e-6, settings=MANY):
        assert verdict.result is not None
        assert (verdict.word, verdict.examples) == ("unfinished", 1)
        assert str(verdict).startswith(f"{verdict.name}: no fault found within the budget, 1 ")


def test_what_a_check_leaves_of_the_budget_goes_to_the_next_ones() -> None:
    found = check_all(system_of(Lever()), budget=1000.0, settings=FEW)
    assert not any(result.is_out_of_time for result in found)


@pytest.mark.parametrize("budget", [0, -1.0, "long"])
def test_a_budget_is_a_positive_number(budget: float) -> None:
    with pytest.raises(OutOfRangeError, match="positive number of seconds"):
        list(run_checks(system_of(Lever()), budget=budget))


def test_an_unknown_check_is_refused() -> None:
    with pytest.raises(UnknownChoiceError, match="speed"):
        list(run_checks(system_of(Lever()), ["speed"]))
