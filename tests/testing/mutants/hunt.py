"""Looking for the fault of a mutant by one check, with one seed."""

import re
from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from stagecache import System
from stagecache.errors import StagecacheError
from stagecache.testing import (
    check_coherence,
    check_pickle,
    check_precision,
    check_strict,
    check_threads,
)

CHECKS: Final[dict[str, Callable[..., Any]]] = {
    "coherence": check_coherence,
    "precision": check_precision,
    "strict": check_strict,
    "pickle": check_pickle,
    "threads": check_threads,
}
"""All checks by name."""


@frozen
class Catch:
    """What a check found.

    Attributes
    ----------
    check : str
    error : StagecacheError
    examples : int
        How many programs were run until one showed the fault.
    """

    check: str
    error: StagecacheError
    examples: int

    @property
    def text(self) -> str:
        """All that it says, with the program."""
        return "\n".join([str(self.error), *getattr(self.error, "__notes__", [])])

    def names(self, suspect: str) -> bool:
        """Whether it names a suspect: "pendulum.length", or a word; not only in its program."""
        suspects: tuple[str, ...] = getattr(self.error, "suspects", ())
        said = "\n".join([self.error.what, *suspects, self.error.hint])
        owner, _, item = suspect.rpartition(".")
        by_place = rf"\b{re.escape(item)}\S* of subsystem \d+ '{owner}'"
        return suspect in said or bool(owner and re.search(by_place, said))


def hunt(make: Callable[[], System], check: str, seed: int, **options: Any) -> Catch | None:
    """Let a check look for a fault in a new System; None if it finds none."""
    done = [0]
    try:
        CHECKS[check](make(), seed=seed, progress=done.append, **options)
    except StagecacheError as error:
        return Catch(check, error, max(done))
    return None
