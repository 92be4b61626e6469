"""Computed values of a State on their way to workers, where they are valid again.

::

    driver    valid entries  ->  path and bytes of each, prerequisites first
    worker    each of them is stored and marked valid, unless a hook has computed it

Members in this process are copies of the State, and start with the same values. Each value travels
by itself: a worker that cannot make one computes it again. A value that shares an object with
another value or with the System is computed again, too, since copies of the object would differ.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final, final

import numpy as np
from attrs import frozen

from stagecache.inspection.node_paths import NodePaths
from stagecache.sharing.function import origin_at
from stagecache.sharing.results import Origin
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.state import State
from stagecache.state.values.values import IMMUTABLE
from stagecache.study.ensemble.values import SystemPickler, from_bytes
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.saved.cache import entries_in_order, restore_values

ALIKE: Final = (
    *(*IMMUTABLE, tuple, Enum, np.generic, np.dtype),
    *(FunctionType, BuiltinFunctionType, AbstractHandle, Subsystem),
)
"""Classes of objects that are as good as their copies, or that pickle finds by name."""


@final
@frozen
class Computed:
    """The value of a valid entry.

    Attributes
    ----------
    path : str
        Path of the entry.
    data : bytes
        The value.
    origin : Origin or None
        Origin of the value of a shared entry.
    """

    path: str
    data: bytes
    origin: Origin | None = None


class _NotingPickler(SystemPickler):
    """A pickler that notes the objects in a value.

    Attributes
    ----------
    met : dict of int to object
        Objects by identity, except those that are as good as their copies.
    """

    def __init__(self, system: Any) -> None:
        super().__init__(system)
        self.met: dict[int, Any] = {}

    def persistent_id(self, value: Any) -> str | None:
        """Return a name for the System; note other objects."""
        name = super().persistent_id(value)
        if name is None and not _is_alike(value):
            self.met[id(value)] = value
        return name


def computed_values(state: State) -> list[Computed]:
    """Return the values of valid entries, each after its prerequisites.

    Values that cannot be pickled are left out. So are values that share an object with another
    value, which may be compared by its identity or changed. Entries that are presumed computed
    are left out, since a hook computes them in the worker. Cost O(size of the values).
    """
    contents = state._contents
    store = contents.realization.store
    nodes = [entry._node for entry in entries_in_order(contents)]
    nodes = [node for node in nodes if store.is_valid(node) and _is_marked(store, node)]
    if not nodes:
        return []
    paths = NodePaths(contents).of
    pickled = {node: _pickled(store.values[node], state) for node in nodes}
    everything = list(pickled.values())
    if any(met for _, met in everything):
        variables = [v for s in contents.realization.layout.subsystems for v in s.discrete]
        others = [contents.get_discrete(variable) for variable in variables]
        others += state.system.__reduce__()[2]  # attributes of the System and its subsystems
        everything += [_pickled(value, state) for value in others]
    times = Counter(number for _, met in everything for number in met)
    return [
        Computed(paths[node], data, origin_at(store, node))
        for node, (data, met) in pickled.items()
        if data is not None and all(times[number] == 1 for number in met)
    ]


def restore_computed(state: State, found: Sequence[Computed]) -> None:
    """Store values and mark them valid, unless their entries are valid already.

    A value that cannot be made here is computed when it is read.
    """
    contents = state._contents
    store = contents.realization.store
    paths = NodePaths(contents).of
    entries = {paths[entry._node]: entry for entry in entries_in_order(contents)}
    values: list[tuple[CacheEntry[Any], Any]] = []
    origins: dict[int, Origin] = {}
    for computed in found:
        entry = entries.get(computed.path)
        if entry is not None and not contents.is_valid(entry):
            with suppress(Exception):  # whatever an import or an object raises
                values.append((entry, from_bytes(computed.data, state.system)))
                if computed.origin is not None:
                    origins[entry._node] = computed.origin
    restore_values(contents, values, contents.realization.machine.stage)
    for node, origin in origins.items():
        if store.is_valid(node):
            store.origins[node] = (store.values[node], origin, True)


def _is_marked(store: Any, node: int) -> bool:
    """Return True if a valid entry is valid by its mark, and not only presumed computed."""
    group = store.group_of[node]
    gate = store.gates[group]
    return bool(store.marks[node] >= (store.unpresumed[group] if gate < 0 else gate))


def _is_alike(value: Any) -> bool:
    """Return True for an object that is as good as its copies, which a State need not copy."""
    if isinstance(value, np.ndarray):
        return not (value.flags.writeable or value.dtype.hasobject)
    return isinstance(value, ALIKE)


def _pickled(value: Any, state: State) -> tuple[bytes | None, dict[int, Any]]:
    """Return a value as bytes, None if pickle refuses it, and the objects in it."""
    pickler = _NotingPickler(state.system)
    try:
        return pickler.bytes_of(value), pickler.met
    except Exception:  # whatever an object does that cannot be pickled
        return None, pickler.met
