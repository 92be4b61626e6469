r"""Sources of the rows of ydot that the System itself computes: numbers of y, and entries.

::

    qdot of paired q         u of the same place
    qdot of kinematics       N, and the u of the block
    udot of prescribed u     its declared derivative
    udot of u with mass      M of the block, its root, and the forces on it; row by row where M is
                             a diagonal. With constraints, everything: the multipliers couple all

Hooks may replace any of it, and then depend on what they read; that is not declared, and not here.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, final

import numpy as np
from attrs import frozen

from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.dynamics.accelerating import NO_ROWS, Dynamics, Index
from stagecache.system.motion.prescribing import motions
from stagecache.system.motion.rows import indices


@final
@frozen(eq=False)
class RateSource:
    """Rows of ydot, each of which depends on all of some items.

    Attributes
    ----------
    rows : ndarray of int
        Indices in ydot.
    y : ndarray of int
        Indices in y.
    entries : tuple of CacheEntry
    stage : Stage
        The rows depend on all that invalidates this stage; Empty if on these items only.
    """

    rows: Index
    y: Index
    entries: tuple[CacheEntry[Any], ...]
    stage: Stage


def rate_sources(dynamics: Dynamics, state: State) -> Iterator[RateSource]:
    """Yield the sources of the rows that are computed without hooks; a row may occur repeatedly.

    Cost O(ny + declarations).

    Parameters
    ----------
    dynamics : Dynamics
        The dynamics of the System.
    state : State
        Realized to Acceleration.
    """
    contents: Any = state._contents
    nq: int = contents.pools.size("q", None)
    for pair in contents.system._schedule.rates.pairs(contents):
        if pair is not None:
            for q, u in zip(indices(pair[0]), indices(pair[1]), strict=True):
                yield _source([q], [u])
    prescribed: dict[int, CacheEntry[Any] | None] = {}  # by index of u
    for motion in chain(motions(state, "u"), motions(state, "udot")):
        rows = motion.rows(state)
        prescribed |= dict.fromkeys(range(rows.start - nq, rows.stop - nq), motion.acceleration)
    for u, entry in prescribed.items():
        yield _of_prescribed(nq + u, entry)
    if not (dynamics.subsystems or dynamics.masses):
        return
    layout = dynamics.layout_of(contents)
    for q_rows, u_rows, block in layout.blocks:
        yield _source(indices(q_rows), nq + indices(u_rows), block.n)
    is_constrained = len(contents.pools.whole["udoterr"]) > 0
    acting: dict[int, list[CacheEntry[Any]]] = {}  # forces by index of u
    for index, force in zip(layout.forces, dynamics.forces, strict=True):
        for u in index:
            acting.setdefault(int(u), []).append(force.values)
    for index, mass in zip(layout.masses, dynamics.masses, strict=True):
        if is_constrained:
            yield _source(nq + index, NO_ROWS, stage=Stage.ACCELERATION)
            continue
        for part in index[:, np.newaxis] if mass.matrix(state).ndim == 1 else [index]:
            members = [int(u) for u in part]
            forces = dict.fromkeys(chain.from_iterable(acting.get(u, ()) for u in members))
            yield _source(nq + part, NO_ROWS, mass.matrix, mass.root, *forces)
            for entry in [prescribed[u] for u in members if u in prescribed]:
                yield _of_prescribed(nq + part, entry)


def _of_prescribed(rows: Any, udot: CacheEntry[Any] | None) -> RateSource:
    """Return the source of rows that depend on a prescribed udot, computed by differences if None.

    Differences are taken along the motion of all q.
    """
    if udot is None:
        return _source(rows, NO_ROWS, stage=Stage.ACCELERATION)
    return _source(rows, NO_ROWS, udot)


def _source(rows: Any, y: Any, *entries: CacheEntry[Any], stage: Stage = Stage.EMPTY) -> RateSource:
    return RateSource(np.atleast_1d(rows), np.asarray(y), entries, stage)
