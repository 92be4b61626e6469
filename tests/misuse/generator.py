"""All cases of a callable, and what became of them: refused, accepted for a reason, or a fault."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import attrs

from tests.misuse.exceptions import ACCEPTED, reason_of
from tests.misuse.recipes import RECIPES
from tests.misuse.surface import PublicCallable, public_callables
from tests.misuse.trial import Choice, Outcome, differences, try_arguments, try_variants
from tests.misuse.world import Foreign


@cache
def surface() -> dict[str, PublicCallable]:
    """Return all public callables, which are found once."""
    return public_callables()


def outcomes_of(
    name: str, folder: Path, foreign: Foreign, choice: Choice = list
) -> Iterator[Outcome]:
    """Make all cases of a callable; an outcome has a complaint if it is not as promised."""
    public, recipe = surface()[name], RECIPES[name]
    before = foreign.seen()
    is_taken = False
    outcome: Outcome
    for outcome in try_arguments(public, recipe, folder, foreign, choice):
        if not outcome.error and not reason_of(f"{name}: {outcome.case.fault}", ACCEPTED):
            yield attrs.evolve(outcome, complaint="is accepted")
        else:
            is_taken = is_taken or not outcome.error
            yield outcome
    yield from try_variants(public, recipe, folder, foreign, choice)
    after = foreign.seen()
    if not is_taken and differences({"all": before}, {"all": after}):
        last = attrs.evolve(outcome, complaint="something of another System has changed")
        yield last
