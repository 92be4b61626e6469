"""When result lines agree."""

import pytest

from tests.oracle.comparison import Comparison


def differ(*steps: tuple[str, str, str]) -> bool:
    """Whether there is a difference at the last step, and at none before."""
    comparison = Comparison()
    found = [comparison.differences(*step) for step in steps]
    assert not any(found[:-1])
    return bool(found[-1])


@pytest.mark.parametrize(
    ("expected", "actual", "is_same"),
    [
        ("ok", "ok", True),
        ("ok NaN", "ok NaN", True),
        ("ok [1,NaN]", "ok [1,2]", False),
        ("ok [1]", "ok [1,2]", False),
        ("ok", "ok 1", False),
        ("ok true", "error StageTooLow", False),
        ("error StageTooLow", "error StageTooHigh", False),
        ("error AssertAbort", "error StageTooHigh", True),
        ("error AssertAbort", "ok", False),
    ],
)
def test_answers_agree_if_they_are_equal(expected: str, actual: str, is_same: bool) -> None:
    assert differ(("get q *", expected, actual)) is not is_same


def test_versions_may_start_anywhere_and_must_grow_alike() -> None:
    start = ("value_versions", "ok [1,1,1]", "ok [1,5,3]")
    assert not differ(start, ("value_versions", "ok [2,1,1]", "ok [2,5,3]"))
    assert differ(start, ("value_versions", "ok [2,1,1]", "ok [1,5,3]"))
    assert differ(start, ("value_versions", "ok [1,1,1]", "ok [2,5,3]"))


def test_versions_must_not_fall_when_a_state_is_replaced() -> None:
    start = ("dv_version 0 0", "ok 4", "ok 4")
    assert not differ(start, ("clear", "ok", "ok"), ("dv_version 0 0", "ok 1", "ok 6"))
    assert differ(start, ("clear", "ok", "ok"), ("dv_version 0 0", "ok 1", "ok 3"))
    assert not differ(start, ("new", "ok", "ok"), ("dv_version 0 0", "ok 1", "ok 1"))


def test_each_state_has_versions_of_its_own() -> None:
    assert not differ(
        ("save 0", "ok", "ok"),
        ("clear", "ok", "ok"),
        ("ss_versions 0", "ok [1,1]", "ok [1,7]"),
        ("swap 0", "ok", "ok"),
        ("ss_versions 0", "ok [1,1]", "ok [1,1]"),
        ("swap 0", "ok", "ok"),
        ("ss_versions 0", "ok [1,2]", "ok [1,8]"),
    )


def test_versions_of_entries_are_not_compared() -> None:
    assert not differ(("ce_version 0 0", "ok 4", "ok 0"))


def test_saved_versions_are_not_compared_with_those_of_another_state_by_chance() -> None:
    saved = ("sysver_save 0", "ok [1,3]", "ok [1,4]")
    other = ("sysver_save 1", "ok [1,1]", "ok [1,1]")
    answer = ("lowest_diff 0", 'ok "Infinity"', 'ok "Topology"')
    assert differ(saved, answer)
    assert not differ(saved, ("new", "ok", "ok"), other, answer)
