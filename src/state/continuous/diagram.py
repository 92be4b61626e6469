"""Several continuous states as one: x end to end, and q, v and z each grouped."""

from collections.abc import Iterable, Iterator
from typing import Any, final

import numpy as np
from numpy.typing import DTypeLike

from stagecache.checks import whole_number
from stagecache.errors import PartitionError, UnknownItemError, WrongTypeError, short_repr
from stagecache.state.continuous.continuous_state import (
    PARTS,
    AbstractContinuousState,
    require_state,
)
from stagecache.state.continuous.places import join, place_indices


@final
class DiagramContinuousState(AbstractContinuousState):
    """Several continuous states in one: x is theirs end to end; q, v, z group theirs in order.

    Writes through it are seen in the substates, and writes in those are seen through it. A substate
    may be a diagram itself. `clone` gives one that owns copies of its substates.

    Parameters
    ----------
    substates : iterable of ContinuousState or DiagramContinuousState
        Each at most once.

    Raises
    ------
    WrongTypeError
        Something else is among them.
    PartitionError
        One of them is among them twice.

    Examples
    --------
    >>> from stagecache import ContinuousState
    >>> a = ContinuousState([1, 2, 3, 4], 2, 1, 1)
    >>> b = ContinuousState([5, 6, 7, 8], 1, 1, 2)
    >>> DiagramContinuousState([a, b, ContinuousState([9])])
    DiagramContinuousState(q=[1 2 5], v=[3 6], z=[4 7 8 9])
    """

    __slots__ = ("_substates",)

    def __init__(self, substates: Iterable[AbstractContinuousState]) -> None:
        if isinstance(substates, AbstractContinuousState):
            raise WrongTypeError(
                f"{substates!r}: is one continuous state",
                "a list of them",
                "one alone",
                "write DiagramContinuousState([substate])",
            )
        if not isinstance(substates, Iterable):
            require_state(substates)
        self._substates = tuple([require_state(substate) for substate in substates])
        leaves = [id(leaf) for leaf in _leaves(self._substates)]
        if len(set(leaves)) < len(leaves):
            raise PartitionError(
                "the substates: one is among them more than once",
                "each substate once",
                ", ".join(map(repr, self._substates)),
                "clone() it, for elements of its own",
            )
        starts = np.cumsum([0, *(len(substate) for substate in self._substates)])
        self._vector = (
            join([s._vector for s in self._substates]) if self._substates else np.empty(0)
        )
        none = np.empty(0, np.intp)
        self._places = {
            part: np.concatenate(
                [
                    none,
                    *(
                        start + place_indices(s._places[part])
                        for start, s in zip(starts[:-1], self._substates, strict=True)
                    ),
                ]
            )
            for part in PARTS
        }
        self._names = ()
        self.system_id = None

    @property
    def num_substates(self) -> int:
        """The number of substates."""
        return len(self._substates)

    def substate(self, index: int) -> AbstractContinuousState:
        """One of the substates.

        Raises
        ------
        UnknownItemError
        """
        number = whole_number(index)
        if number is None or not 0 <= number < len(self._substates):
            raise UnknownItemError(
                f"substate {short_repr(index)}: does not exist",
                f"an integer from 0 to {len(self._substates) - 1}"
                if self._substates
                else "a diagram with substates",
                short_repr(index),
                "use an index below num_substates",
            )
        return self._substates[number]

    def clone(self, dtype: DTypeLike | None = None) -> "DiagramContinuousState":
        """Return one of clones of the substates."""
        twin = DiagramContinuousState([substate.clone(dtype) for substate in self._substates])
        twin.system_id = self.system_id
        return twin

    def _structure(self) -> tuple[Any, ...]:
        return tuple([substate._structure() for substate in self._substates])

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._substates, self.system_id)


def _leaves(substates: Iterable[AbstractContinuousState]) -> Iterator[AbstractContinuousState]:
    """The substates, and in place of diagrams among them theirs."""
    for substate in substates:
        if isinstance(substate, DiagramContinuousState):
            yield from _leaves(substate._substates)
        else:
            yield substate


def _restored(
    substates: tuple[AbstractContinuousState, ...], system_id: object
) -> DiagramContinuousState:
    """Make one that was pickled."""
    new = DiagramContinuousState(substates)
    new.system_id = system_id
    return new
