"""A member as the function of a study sees it: its index, its values, its random numbers."""

from collections.abc import Mapping
from typing import Any, final

from attrs import frozen
from numpy.random import Generator, SeedSequence, default_rng


@final
@frozen(eq=False)
class Member:
    """One member of a study.

    Attributes
    ----------
    index : int
        From 0 up.
    values : mapping of str to object
        The values that its State was given, by path.
    seed : numpy.random.SeedSequence
        Seed of its random numbers. It depends on the seed of the study and on the index alone.
    """

    index: int
    values: Mapping[str, Any]
    seed: SeedSequence

    def rng(self) -> Generator:
        """Return a new random generator; each call returns one with the same numbers.

        Examples
        --------
        >>> from numpy.random import SeedSequence
        >>> from stagecache.study import Member
        >>> member = Member(3, {}, SeedSequence(0, spawn_key=(3,)))
        >>> member.rng().normal() == member.rng().normal()
        True
        """
        return default_rng(self.seed)
