"""Every public callable refuses what is wrong, by a promised error, and changes nothing."""

import re
from pathlib import Path

import pytest

from tests.misuse.__main__ import PAGE
from tests.misuse.exceptions import ACCEPTED, NOT_TRIED, WITHOUT_RECIPE, reason_of
from tests.misuse.generator import outcomes_of, surface
from tests.misuse.recipes import PARTS, RECIPES
from tests.misuse.sequences import SEQUENCES, try_sequence
from tests.misuse.table import BEGIN, END, rows_of, table
from tests.misuse.trial import Outcome, few_of
from tests.misuse.world import Foreign
from tests.profiles import is_nightly

pytest.importorskip("docutils", reason="needs the extra docs: pip install '.[docs]'")

CHOICE = list if is_nightly() else few_of
FOUND: dict[str, list[Outcome]] = {}
"""Outcomes of each part, for the test of the table."""


def outcomes_of_part(part: str, folder: Path) -> list[Outcome]:
    if part not in FOUND:
        foreign = Foreign()
        FOUND[part] = [
            o for name in PARTS[part] for o in outcomes_of(name, folder, foreign, CHOICE)
        ]
    return FOUND[part]


@pytest.mark.parametrize("part", PARTS)
def test_each_wrong_call_is_refused_by_a_documented_error_and_changes_nothing(
    part: str, tmp_path: Path
) -> None:
    outcomes = outcomes_of_part(part, tmp_path)
    faults = [f"{o.case.callable}: {o.case.fault}: {o.complaint}" for o in outcomes if o.complaint]
    assert not faults, "\n".join(faults)
    assert sum(bool(o.error) for o in outcomes) > 30


@pytest.mark.parametrize("name", SEQUENCES)
def test_what_goes_wrong_in_a_function_of_the_user_changes_nothing(name: str) -> None:
    assert not try_sequence(name).complaint


def test_each_public_callable_has_a_recipe_or_a_reason() -> None:
    missing = [
        name for name in surface() if name not in RECIPES and not reason_of(name, WITHOUT_RECIPE)
    ]
    assert not missing
    assert not [name for name in RECIPES if name not in surface()]


def test_each_exception_is_for_something(tmp_path: Path) -> None:
    outcomes = [o for part in PARTS for o in outcomes_of_part(part, tmp_path)]
    accepted = [f"{o.case.callable}: {o.case.fault}" for o in outcomes if not o.error]
    reasons = {reason_of(text, ACCEPTED) for text in accepted}
    assert reasons >= {*ACCEPTED} or not is_nightly()
    without = {reason_of(name, WITHOUT_RECIPE) for name in surface() if name not in RECIPES}
    assert without == {*WITHOUT_RECIPE}
    assert all(NOT_TRIED.values())


def test_the_page_has_the_table(tmp_path: Path) -> None:
    outcomes = [o for part in PARTS for o in outcomes_of_part(part, tmp_path)]
    outcomes += [try_sequence(name) for name in SEQUENCES]
    found = re.search(f"{BEGIN}\n(.*)\n{END}", PAGE.read_text(encoding="utf-8"), re.S)
    assert found is not None
    hint = "run python -m tests.misuse --write"
    if is_nightly():
        assert found[1] == table(outcomes), hint
    there, here = rows_of(found[1]), rows_of(table(outcomes))
    assert set(here) <= set(there), hint
    for name, cells in here.items():
        assert cells <= there[name], f"{name}: {hint}"
