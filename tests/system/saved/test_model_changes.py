"""States that are loaded by a model that has changed: by name, or refused item by item."""

from pathlib import Path
from typing import Any

import pytest

from stagecache import State
from stagecache.errors import LayoutMismatchError, UnknownPathError, WrongTypeError
from stagecache.files.report import lines_of
from stagecache.multibody import AbstractMobilizer, MultibodySystem, Pin, Slider
from tests.system.saved.model_changes import (
    CHANGES,
    MODEL,
    Change,
    moved,
    report_of,
    saved,
    system_of,
    table,
    values_of,
    written,
)

BY_NAME = pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)


@BY_NAME
def test_what_has_changed_is_said_item_by_item(change: Change) -> None:
    error, report = report_of(change)
    assert tuple(map(str, report.differences)) == change.differences
    assert report.is_complete is (error is None) is (not change.differences)
    if error is not None:
        assert error.report.differences == report.differences  # type: ignore[attr-defined]  # it is a report
        assert all(line in str(error) for line in lines_of(report.differences))
        if change.renamed:
            assert str(dict(change.renamed)) in error.hint


@BY_NAME
def test_each_variable_has_its_own_value_or_its_first_one(change: Change) -> None:
    system = system_of(moved(change))
    state, report = State.from_bytes(saved(), system, strict=False)
    first, old = values_of(system.new_state()), values_of(written(system_of(MODEL)))
    for path, value in values_of(state).items():
        expected = first[path] if path in change.lost else old[path]
        assert value == pytest.approx(expected), path
        assert (path in report.taken) is (path not in change.lost), path


def test_q_of_one_joint_are_not_taken_for_those_of_another() -> None:
    def mechanism(joint: AbstractMobilizer) -> MultibodySystem:
        system = MultibodySystem()
        system.matter.add_body("arm", system.matter.ground, joint)
        return system

    state = (system := mechanism(Pin())).new_state()
    state.q = [0.5]
    with pytest.raises(
        LayoutMismatchError, match=r"joint_q\[arm\] is q \[Slider\] \(it was q, 1 number \[Pin"
    ):
        State.from_bytes(state.to_bytes(), mechanism(Slider()))
    assert State.from_bytes(state.to_bytes(), mechanism(Pin())).q.tolist() == [0.5]
    assert State.from_bytes(state.to_bytes(), system).q.tolist() == [0.5]


@pytest.mark.parametrize("change", [c for c in CHANGES if c.renamed], ids=lambda c: c.what)
def test_with_new_names_everything_is_taken(change: Change) -> None:
    system = system_of(moved(change))
    state = State.from_bytes(saved(), system, renamed=change.renamed)
    old = values_of(written(system_of(MODEL)))
    (old_name, new_name) = next(iter(change.renamed.items()))
    for path, value in values_of(state).items():
        before = old_name + path.removeprefix(new_name) if path.startswith(new_name) else path
        assert value == pytest.approx(old[before]), path


@pytest.mark.parametrize(
    ("renamed", "error", "text"),
    [
        ({"arm.lenght": "arm.size"}, UnknownPathError, r"did you mean 'arm\.length'"),
        ({"arm.length": "arm.width"}, WrongTypeError, r"gives the name arm\.width twice"),
        (["arm.length"], WrongTypeError, "not names"),
        ({"arm.length": 3}, WrongTypeError, "not names"),
    ],
)
def test_wrong_new_names_are_refused(renamed: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        State.from_bytes(saved(), system_of(MODEL), renamed=renamed)


def test_the_reference_has_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "files.md"
    assert table() in page.read_text(encoding="utf-8")
