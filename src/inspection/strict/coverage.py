r"""Coverage of the reads of a computation by the declaration of its entry.

A read is covered if, and only if, a change of what is read makes the entry stale by the declaration
of the entry itself::

    prerequisites   what is named; of q, u and z also a part of what is named, and a whole of
                    which all parts are
    stage           what becomes stale together with it, or with an earlier one
    ALL             where the time and all q, u and z are named: what is computed from these, and
                    from other variables that are named

It is not enough that something else that is declared depends on the same variable::

    angle -->  tip  -->  pull       pull declares tip, and reads angle as well
         \_______________/

If `tip` compares its values (``equal=``), and comes out equal, `pull` is not computed again,
although the angle is another one.
"""

from collections.abc import Sequence
from typing import Any, final

from attrs import frozen

from stagecache.graph.evaluation import NO_FUNCTION
from stagecache.state.contents.causes import entries_upstream
from stagecache.state.contents.observer import Item
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.items.realization import Realization
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS


@frozen
class Gap:
    """Prerequisites and a stage that an entry lacks for its reads to be covered."""

    handles: tuple[AbstractHandle, ...]
    """Prerequisites that it lacks."""

    stage: Stage | None
    """The stage on which it would have to depend; None if that is early enough."""

    latest: Stage
    """The latest stage that changes of the items invalidate; Infinity if one does not."""


def gap_of(realization: Realization, entry: CacheEntry[Any], items: Sequence[Item]) -> Gap | None:
    """Return the gap in the declaration of an entry for reads of these items; None if covered."""
    declared = Declared(realization, entry)
    handles = []
    stages = []
    latest = Stage.EMPTY
    for item in items:
        if isinstance(item, Stage):
            if not declared.covers_stage(item):
                stages.append(item)
                latest = max(latest, item)
        elif not declared.covers(item):
            handles.append(item)
            latest = max(latest, latest_source(realization, item))
            if isinstance(item, CacheEntry) and item.available_from > entry.available_from:
                stages.append(item.available_from)
        elif isinstance(item, CacheEntry) and item.available_from > entry.available_from:
            stages.append(item.available_from)
            latest = max(latest, item.available_from)
    if not handles and not stages:
        return None
    return Gap(tuple(handles), max(stages, default=None), latest)


@final
class Declared:
    """The declaration of an entry."""

    def __init__(self, realization: Realization, entry: CacheEntry[Any]) -> None:
        structure = realization.store.structure
        keys = [structure.keys[node] for node in structure.prerequisites[entry._node]]
        self.handles = {key for key in keys if isinstance(key, AbstractHandle)}
        self._realization = realization
        self._entry = entry

    def covers_stage(self, stage: Stage) -> bool:
        """Return True if it is stale when a stage is; or Model, when q, u and z are made anew."""
        if stage <= self._entry.available_from:
            return True
        return stage <= Stage.MODEL and any(
            isinstance(handle, AbstractContinuousVariable) for handle in self.handles
        )

    def covers(self, handle: AbstractHandle) -> bool:
        """Return True if it is stale when a variable or another entry changes."""
        if handle in self.handles:
            return True
        if isinstance(handle, CacheEntry):
            return self._covers_as_all(handle) or (
                handle.available_from <= self._entry.available_from
                and latest_source(self._realization, handle) <= self._entry.available_from
            )
        if isinstance(handle, DiscreteVariable) and handle._update is self._entry:
            return True  # a write and an exchange make the update entry stale, too
        if written_stage(handle) <= self._entry.available_from:
            return True
        return isinstance(handle, AbstractContinuousVariable) and self._covers_vector(handle)

    def _covers_as_all(self, entry: CacheEntry[Any]) -> bool:
        """Return True if it names time, q, u and z, and all else from which that is computed.

        Then no write leaves it valid, whatever the entries in between compare.
        """
        realization = self._realization
        if not self.handles.issuperset(realization.layout.variables.values()):
            return False
        structure = realization.store.structure
        for above in entries_upstream(realization, entry):
            if realization.layout.functions[above._node] is NO_FUNCTION:
                return False  # its value is stored by hand
            keys = [structure.keys[node] for node in structure.prerequisites[above._node]]
            variables = [k for k in keys if isinstance(k, AbstractHandle)]
            if not all(self.covers(k) for k in variables if not isinstance(k, CacheEntry)):
                return False
        return True

    def _covers_vector(self, variable: AbstractContinuousVariable) -> bool:
        layout = self._realization.layout
        kind = variable.kind
        if layout.variables[kind] in self.handles:
            return True
        if variable.subsystem is None:
            return all(self._covers_part(x, kind) for x in range(len(layout.subsystems)))
        return self._covers_part(variable.subsystem, kind)  # a block is there if all are

    def _covers_part(self, subsystem: int, kind: str) -> bool:
        """Return True if it declares a subsystem's q, u or z, or all blocks that are not empty."""
        layout = self._realization.layout.subsystems[subsystem]
        if layout.whole[kind] in self.handles:
            return True
        return self.covers_stage(Stage.MODEL) and all(  # which decides what is empty
            not rows.count or block in self.handles
            for block, rows in zip(layout.blocks[kind], layout.rows[kind], strict=True)
        )


def written_stage(variable: AbstractHandle) -> Stage:
    """Return the stage that each change of a variable invalidates; Infinity if some do not."""
    if isinstance(variable, DiscreteVariable):  # an automatic update invalidates no stage
        return variable.invalidates if variable._update is None else Stage.INFINITY
    if isinstance(variable, AbstractContinuousVariable):
        stage = CONTINUOUS[variable.kind].invalidates
        assert stage is not None
        return stage
    return Stage.TIME


def latest_source(realization: Realization, handle: AbstractHandle) -> Stage:
    """Return the latest stage that changes upstream of an item invalidate, or Infinity."""
    if not isinstance(handle, CacheEntry):
        return written_stage(handle)
    structure = realization.store.structure
    updates = {v._update for s in realization.layout.subsystems for v in s.auto_update}
    latest = Stage.EMPTY
    for entry in entries_upstream(realization, handle):
        if entry in updates:
            return Stage.INFINITY  # an exchange makes it stale
        for node in structure.prerequisites[entry._node]:
            key = structure.keys[node]
            if isinstance(key, AbstractHandle) and not isinstance(key, CacheEntry):
                latest = max(latest, written_stage(key))
    return latest
