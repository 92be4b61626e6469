"""Statuses, versions and values of the nodes of a State, in the form in which views show them."""

from typing import Final, final

import numpy as np

from stagecache.errors import short_repr
from stagecache.inspection.node_paths import STAGES
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import (
    AbstractContinuousVariable,
    CacheEntry,
    DiscreteVariable,
    ScalarVariable,
    TimeVariable,
)
from stagecache.state.items.realization import COPY
from stagecache.state.vectors.vectors import WEIGHTS, VectorKind
from stagecache.views.nodes import Status

WEIGHTS_BY_NAME: Final = {kind.name: kind for kind in WEIGHTS}


@final
class NodeStates:
    """Statuses, versions and values of the nodes of a State, as they are when asked for."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._realization = contents.realization
        self._store = contents.realization.store
        layout = contents.realization.layout
        self.stages = {layout.stages[stage]: stage for stage in STAGES}

    def status(self, node: int) -> Status:
        """Return the status of a stage, an entry or a variable."""
        if node in self.stages:
            is_reached = self._realization.machine.stage >= self.stages[node]
            return Status.REALIZED if is_reached else Status.NOT_REALIZED
        if isinstance(self._store.keys[node], CacheEntry):
            return status_of(self._contents, node)
        return Status.VALUE

    def status_of_vector(self, kind: VectorKind, subsystem: int | None) -> Status:
        """Return the status of a computed vector, or of the part of a subsystem: its stage's."""
        machine = self._realization.machine
        at = machine.stage if subsystem is None else machine.stages[subsystem]
        if at >= kind.read:
            return Status.VALID
        causes = self._realization.causes[at + 1 : kind.read + 1]
        was_left = any(clock and cause != COPY for clock, cause in causes)
        return Status.STALE if was_left else Status.NOT_COMPUTED

    def version(self, node: int) -> int:
        """Return the version of a value; of a stage, of all that it stands for."""
        if node in self.stages:
            return self._realization.machine.versions.in_system(self.stages[node])
        return self._store.versions[node]

    def value(self, node: int) -> str:
        """Return the value of a variable or of a valid entry in short; "" without one."""
        contents, store = self._contents, self._store
        key = store.keys[node]
        if node in self.stages:
            return ""
        if isinstance(key, CacheEntry):
            return _short(store.values[node]) if store.is_valid(node) else ""
        if isinstance(key, TimeVariable):
            return _short(contents.time)
        if isinstance(key, DiscreteVariable):
            return _short(store.values[node])
        if isinstance(key, AbstractContinuousVariable):
            if node not in contents.pools.places:
                return ""
            values = contents.pools.y[contents.pools.places[node]]
            return _short(values[0] if isinstance(key, ScalarVariable) else values)
        kind = WEIGHTS_BY_NAME.get(str(key))
        if kind is not None and self._realization.machine.stage >= kind.exists:
            return _short(contents.pools.whole[str(key)])
        return ""


def status_of(contents: Contents, node: int) -> Status:
    """Return the status of an entry."""
    store = contents.realization.store
    if store.is_valid(node):
        return Status.VALID
    return Status.STALE if store.was_computed(node) else Status.NOT_COMPUTED


def _short(value: object) -> str:
    """A value on a short line; a number of NumPy as any other."""
    return short_repr(value.item() if isinstance(value, np.generic) else value)
