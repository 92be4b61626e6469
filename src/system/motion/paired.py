r"""The default rates of q and u that are paired in order, with N = 1.

::

    Velocity        qdot = u          before the hooks of the stage, which may overwrite it
    Acceleration    qdotdot = udot    after them, where no hook writes qdot or qdotdot

Paired are the q and u of a subsystem that no declared kinematics cover, if there are as many of one
as of the other. A subsystem whose qdot is written before Velocity is begun keeps what was written.

Costs two copies of a part of a vector for each realization of Acceleration. What is paired changes
only where Model is realized anew, or where a hook asks for such a vector for the first time.
"""

from collections.abc import Iterable
from typing import Any, Final, final

import numpy as np

from stagecache.errors import KinematicsError
from stagecache.state.contents.contents import Contents
from stagecache.state.stage import Stage
from stagecache.system.motion.rows import ROWS, Rows, as_slice, indices

VELOCITY: Final = Stage.VELOCITY

Pair = tuple[Rows, Rows]
"""Rows of q, and rows of u in ydot and y."""

Found = tuple[Pair | None, ...]


@final
class PairedRates:
    """The default of qdot and qdotdot of a System; constant but for the rows found last."""

    def __init__(self) -> None:
        self._by_subsystem: tuple[object, Found] = (None, ())
        self._qdot: tuple[object, object, Pair | None] = (None, None, None)
        self._qdotdot: tuple[object, object, Pair | None] = (None, None, None)

    def fill_qdot(self, contents: Contents) -> None:
        """Write qdot = u for all subsystems that are yet to reach Velocity."""
        pools, machine = contents.pools, contents.realization.machine
        if pools.writable_caches:
            pools.note_early_qdot()
        places, early, pair = self._qdot
        if places is not pools.places or early is not pools.early_qdot:
            early = pools.early_qdot
            pair = self._joined(contents, pools.early_qdot)
            self._qdot = pools.places, early, pair
        if not machine.is_even:  # an error stopped it half-way
            reached = [x for x, at in enumerate(machine.stages) if at >= VELOCITY]
            pair = self._joined(contents, [*pools.early_qdot, *reached])
        if pair is not None:
            pools.copy_rows("ydot", pair[0], "y", pair[1])

    def fill_qdotdot(self, contents: Contents) -> None:
        """Write qdotdot = udot for all subsystems whose hooks leave that, and qdot, to this."""
        pools = contents.pools
        places, own, pair = self._qdotdot
        if places is not pools.places or own is not pools.own_rates:
            own = pools.own_rates
            pair = self._joined(contents, pools.own_rates)
            self._qdotdot = pools.places, own, pair
        if pair is not None:
            pools.copy_rows("qdotdot", pair[0], "ydot", pair[1])

    def fill_qdotdot_of(self, contents: Contents, subsystem: int) -> None:
        """Write it for one subsystem, which has reached Acceleration while others have not."""
        own = contents.pools.own_rates
        pair = self.pairs(contents)[subsystem]
        if pair is not None and None not in own and subsystem not in own:
            contents.pools.copy_rows("qdotdot", pair[0], "ydot", pair[1])

    def _joined(self, contents: Contents, without: Iterable[int | None]) -> Pair | None:
        """Return the rows of all subsystems but some, if there are any. None stands for all."""
        left_out = {*without}
        if None in left_out:
            return None
        found = [
            pair
            for x, pair in enumerate(self.pairs(contents))
            if pair is not None and x not in left_out
        ]
        q, u = (
            np.concatenate([np.empty(0, np.intp), *(indices(p[i]) for p in found)]) for i in (0, 1)
        )
        return (as_slice(q), as_slice(u)) if len(q) else None

    def pairs(self, contents: Contents) -> Found:
        """Return the rows of each subsystem. Cost O(1), if the State has the sizes of the last."""
        places, found = self._by_subsystem
        if places is not contents.pools.places:
            found = tuple(_pair_of(contents, s) for s in contents.system.subsystems)
            self._by_subsystem = contents.pools.places, found
        return found


def _pair_of(contents: Any, subsystem: Any) -> Pair | None:
    """Return the rows of q and u of a subsystem that are paired in order."""
    pools = contents.pools
    nq: int = pools.size("q", None)
    declared = type(subsystem).declarations.get(ROWS)
    q: Rows
    u: Rows
    if declared is None:
        q, u = (slice(*pools.starts[kind][subsystem.index : subsystem.index + 2]) for kind in "qu")
    else:
        try:
            pairs = declared.bound(subsystem).pairs(contents)
        except KinematicsError:  # what is left of one is more than of the other
            return None
        left = [(q, u) for q, u, block in pairs if block is None]
        if not left:
            return None
        ((q, u),) = left
    q, u = indices(q), nq + indices(u)
    return (q, u) if len(q) == len(u) > 0 else None
