r"""Pairs of rows of q and u that belong together: blocks of kinematics, and the rest.

::

    q of a subsystem   [ orientation | place ]    the block that `kinematics` declares relates
                              |          |        orientation and spin; what is left is paired
    u of a subsystem   [     spin    | speed ]    in order, with N = 1

That changes only where Model is realized anew, so each subsystem keeps the pairs it found.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import KinematicsError
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, CacheEntry
from stagecache.system.declare.declaration import AbstractDeclaration

ROWS = "kinematics.rows"
"""Name of the companion that classes with kinematics have, and its key in instances."""

Handles = tuple[AbstractContinuousVariable, ...]
Rows = slice | NDArray[np.intp]


@frozen(eq=False)
class BoundKinematics:
    """The kinematics that a subsystem declares for some of its q and u, as handles."""

    q: Handles
    u: Handles
    n: CacheEntry[Any]
    n_pinv: CacheEntry[Any]


Pair = tuple[Rows, Rows, BoundKinematics | None]
"""Rows of q, rows of u, and the block that relates them; None where N = 1."""


def pairs_of(contents: Any) -> Iterator[Pair]:
    """Yield the pairs of rows of q and u of a State at Model. Cost O(subsystems and blocks).

    Raises
    ------
    KinematicsError
        A subsystem has other numbers of q and u where nothing relates them.
    """
    starts_q, starts_u = contents.pools.starts["q"], contents.pools.starts["u"]
    system = contents.system
    subsystems = system.subsystems if system is not None else [None] * (len(starts_q) - 1)
    q = u = 0  # from here on, all is paired in order
    for x, subsystem in enumerate(subsystems):
        declared = None if subsystem is None else type(subsystem).declarations.get(ROWS)
        q_end, u_end = starts_q[x + 1], starts_u[x + 1]
        if declared is None:
            if q_end - starts_q[x] != u_end - starts_u[x]:
                raise _unpaired(contents, x, q_end - starts_q[x], u_end - starts_u[x])
            continue
        if q < starts_q[x]:
            yield slice(q, starts_q[x]), slice(u, starts_u[x]), None
        q, u = q_end, u_end
        yield from declared.bound(subsystem).pairs(contents)
    if q < starts_q[-1]:
        yield slice(q, starts_q[-1]), slice(u, starts_u[-1]), None


@final
class KinematicRows:
    """The rows of q and u of one subsystem that declares kinematics, as they were found last."""

    def __init__(self, subsystem: Any, blocks: Callable[[Any], list[BoundKinematics]]) -> None:
        self._subsystem = subsystem
        self._blocks = blocks
        self._known: tuple[object, list[Pair]] = (None, [])

    def pairs(self, contents: Any) -> list[Pair]:
        """Return the pairs of rows. Cost O(1), if the State has the sizes of the last one."""
        places, pairs = self._known
        if places is not contents.pools.places:  # which Model makes anew, and copies share
            pairs = self._find(contents)
            self._known = contents.pools.places, pairs
        return pairs

    def _find(self, contents: Any) -> list[Pair]:
        pools, x = contents.pools, self._subsystem.index
        q_left, u_left = (_Left(pools.starts[kind], x) for kind in "qu")
        found: list[Pair] = []
        for block in self._blocks(self._subsystem):
            q, u = rows_of(pools, block.q, 0), rows_of(pools, block.u, pools.size("q", None))
            q_left.take(q)
            u_left.take(u)
            found.append((q, u, block))
        q_rows, u_rows = q_left.rows(), u_left.rows()
        if len(q_rows) != len(u_rows):
            raise _unpaired(contents, x, len(q_rows), len(u_rows))
        if len(q_rows):
            found.append((q_rows, u_rows, None))
        return found


@final
class RowsDeclaration(AbstractDeclaration[KinematicRows]):
    """The companion of declared kinematics in a class; not an item of a State."""

    name = ROWS

    def __init__(self, blocks: Callable[[Any], list[BoundKinematics]]) -> None:
        self._blocks = blocks

    def items(self, subsystem: Any) -> Sequence[AbstractHandle]:  # noqa: ARG002  # as all declarations
        """Return an empty tuple."""
        return ()

    def _bind_all(self, subsystem: Any) -> KinematicRows:
        return KinematicRows(subsystem, self._blocks)


@final
class _Left:
    """Rows of a subsystem that no block has taken."""

    def __init__(self, starts: list[int], x: int) -> None:
        self._start = starts[x]
        self._is_left = np.ones(starts[x + 1] - starts[x], bool)

    def take(self, rows: Rows) -> None:
        """Take rows away."""
        self._is_left[indices(rows) - self._start] = False

    def rows(self) -> NDArray[np.intp]:
        """Return the rows that are left."""
        return self._start + np.flatnonzero(self._is_left)


def rows_of(pools: Any, handles: Handles, start: int) -> Rows:
    """Return the rows of variables in q or u, which starts there in y; a slice if they join."""
    runs: list[slice] = []
    for handle in handles:
        place = pools.places[handle._node]
        first, end = place.start - start, place.stop - start
        if runs and runs[-1].stop == first:
            runs[-1] = slice(runs[-1].start, end)
        else:
            runs.append(slice(first, end))
    if len(runs) == 1:
        return runs[0]
    return np.concatenate([np.empty(0, np.intp), *map(indices, runs)])


def indices(rows: Rows) -> NDArray[np.intp]:
    """Return rows as indices."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def _unpaired(contents: Any, x: int, nq: int, nu: int) -> KinematicsError:
    return KinematicsError(
        f"{contents.who(x)}: nothing relates some of its q and u",
        "as many u as q, which are paired in order, or kinematics that relate them",
        f"{nq} q and {nu} u",
        "declare N of qdot = N u: @kinematics(q variables, u variables)",
    )


def as_slice(rows: NDArray[np.intp]) -> Rows:
    """Return rows as a slice, if they follow each other."""
    if not len(rows):
        return slice(0, 0)
    first, end = int(rows[0]), int(rows[-1]) + 1
    return slice(first, end) if end - first == len(rows) and (np.diff(rows) == 1).all() else rows
