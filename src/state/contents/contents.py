"""All that is in a State: `State` is a view of the whole of it, `SubsystemState` of a part."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stagecache.errors import (
    CacheEntryOutOfDateError,
    PrerequisiteStageError,
    TopologyVersionError,
    UnknownItemError,
    short_repr,
)
from stagecache.graph.evaluation import Arguments, no_function
from stagecache.state.contents.staged import FROZEN, INSTANCE, NAN, OUTDATED, REALIZING
from stagecache.state.contents.unrealized import why_unrealized
from stagecache.state.contents.vector_access import AbstractVectorAccess
from stagecache.state.handles import AbstractHandle, CacheEntry, DiscreteVariable
from stagecache.state.values.values import (
    IMMUTABLE,
    duplicate,
    duplicates,
    independent_copy,
    kept,
    seal,
)


class Contents(AbstractVectorAccess):
    """Stages, vectors, discrete variables and cache entries of one State.

    Those of a strict State are `WatchedContents`, which do the same.
    """

    __slots__ = ()

    # ------------------------------------------------------------------ copies

    def copy(self, bind: Callable[[int], Arguments]) -> "Contents":
        """Return those of a copy of the State; `State.copy` says what comes along."""
        if self.realization.is_torn:
            self.mend()
        self._refuse_dangling()
        twin = Contents(self.realization.copy(bind), self.system)
        if self.watch is not None:
            twin.watch = self.watch.inherited()
        if self.outdated_by:
            twin.outdate(self.outdated_by)
        store = twin.realization.store
        name = self._name_of
        store.values = duplicates(store.values, self.handed_out, name)
        twin.pools = self.pools.copy()
        twin.time = self.time
        twin.update_times = self.update_times.copy()
        return twin

    def clone(self, bind: Callable[[int], Arguments]) -> "Contents":
        """Return those of a State in the same state; `State.copy` says what that is."""
        if self.realization.is_torn:
            self.mend()
        if self.guard is REALIZING:
            self.require_unguarded("copy(keep_cache=True)")
        twin = Contents(self.realization.clone(bind), self.system)
        if self.watch is not None:
            twin.watch = self.watch.inherited()
        if self.outdated_by:
            twin.outdate(self.outdated_by)
        store = twin.realization.store
        functions = twin.realization.layout.functions
        changeable = self.handed_out | {  # an update value becomes that of a variable
            variable._update._node
            for subsystem in twin.realization.layout.subsystems
            for variable in subsystem.auto_update
            if variable._update is not None
        }
        is_computed = [  # which are replaced, and never changed
            function is not no_function and node not in changeable
            for node, function in enumerate(functions)
        ]
        others = [None if c else v for c, v in zip(is_computed, store.values, strict=True)]
        copies = duplicates(others, self.handed_out, self._name_of)
        store.values = [
            value if computed else copied
            for computed, value, copied in zip(is_computed, store.values, copies, strict=True)
        ]
        twin.pools = self.pools.clone()
        twin.time = self.time
        twin.update_times = self.update_times.copy()
        return twin

    def assign(self, other: "Contents") -> object:
        """Become `other`, which nobody else has; version numbers exceed those of both before.

        Returns what was there until now.
        """
        before = self.realization
        other.realization.exceed(self.realization)
        self.pools.assign(other.pools)
        self.realization = other.realization
        self.system = other.system
        self.guard = other.guard
        self.outdated_by = other.outdated_by
        self.time = other.time
        self.update_times = other.update_times
        self.handed_out = other.handed_out
        return before

    def _name_of(self, node: int) -> str:
        key = self.realization.store.keys[node]
        return self.realization.layout.path(key) if isinstance(key, AbstractHandle) else str(key)

    def _refuse_dangling(self) -> None:
        """Refuse a copy in which something would depend on what is left out of it."""
        realization = self.realization
        structure = realization.store.structure
        left_out = realization.left_out()
        for x, subsystem in enumerate(realization.layout.subsystems):
            for handle in subsystem.items() if left_out[x] < INSTANCE else ():
                if handle.allocated_at < left_out[x]:
                    continue
                for node in structure.dependents[handle._node]:
                    entry = structure.keys[node]
                    assert isinstance(entry, CacheEntry)
                    if entry.allocated_at < left_out[entry.subsystem or 0]:
                        path = realization.layout.path(handle)
                        raise PrerequisiteStageError(
                            f"{path}: would not be in the copy, but what depends on it would",
                            "a subsystem that has advanced over what others depend on",
                            f"{realization.layout.path(entry)} depends on it; it was allocated "
                            f"at {handle.allocated_at}, where its subsystem still is",
                            "advance that subsystem one stage, then copy",
                        )

    # ------------------------------------------------------------------ discrete variables

    def get_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value."""
        self.require(variable)
        return self.realization.store.values[variable._node]

    def update_time(self, variable: DiscreteVariable[Any]) -> float:
        """When it was last written; NaN if it never was."""
        return self.update_times.get(variable._node, NAN)

    def set_discrete(self, variable: DiscreteVariable[Any], value: object) -> None:
        """Replace the value."""
        self.require(variable)
        value = kept(value, variable)
        self._count_write_of_discrete(variable)
        self.realization.store.values[variable._node] = value
        self.handed_out.discard(variable._node)

    def upd_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value to be changed in place."""
        self.require(variable)
        self._count_write_of_discrete(variable)
        value = self._changeable(variable)
        if isinstance(value, np.ndarray):
            self.pools.writable[variable,] = value
            self.pools.is_open = True
        return value

    def _count_write_of_discrete(self, variable: DiscreteVariable[Any]) -> None:
        stage = variable.invalidates
        nodes = (self.realization.layout.stages[stage], variable._node)
        self.invalidate(stage, variable, nodes)
        if variable._update is not None:
            self.realization.store.invalidate(variable._update._node)
        self.update_times[variable._node] = self.time

    def auto_update(self) -> None:
        """Exchange each discrete variable with its update value, if that is realized."""
        self.require_unguarded("auto_update_discrete_variables()")
        store = self.realization.store
        self.pools.seal()
        due = []
        for subsystem in self.realization.layout.subsystems:
            for variable in subsystem.auto_update:
                assert variable._update is not None
                node = variable._update._node
                if self._was_computed(node) and not store.is_valid(node):
                    self.realization.evaluator.evaluate(node)
                if store.is_valid(node):
                    due.append(variable)
        for variable in due:
            assert variable._update is not None
            node, update = variable._node, variable._update._node
            seal(self.pools.writable_entries.pop(update, None))
            store.invalidate(update)
            store.write(node)
            store.values[node], store.values[update] = store.values[update], store.values[node]
            self.handed_out.update((node, update) if self.handed_out & {node, update} else ())
            self.update_times[node] = self.time

    def _was_computed(self, node: int) -> bool:
        """Whether an entry can be computed, and was: since it was invalidated, if it ever was."""
        realization = self.realization
        return (
            realization.store.marks[node] >= 0
            and realization.layout.functions[node] is not no_function
            and not realization.store.is_closed(node)
        )

    # ------------------------------------------------------------------ cache entries

    def read_stale(self, entry: CacheEntry[Any]) -> Any:
        """Return the value of an entry, computed if it is not valid; or raise why it cannot be."""
        self.require(entry)
        realization = self.realization
        node = entry._node
        if realization.store.is_valid(node):  # as it is where reads were watched until just now
            return realization.store.values[node]
        if self.guard is FROZEN:
            raise CacheEntryOutOfDateError(
                f"{realization.layout.path(entry)}: is not realized",
                "an entry that was realized when frozen() was called",
                FROZEN.reason,
                FROZEN.hint,
            )
        if self.outdated_by:
            raise TopologyVersionError(
                f"{realization.layout.path(entry)}: cannot be computed any more",
                f"a State of topology version {self.system.topology_cache_version}",
                f"{OUTDATED.reason}: {self.outdated_by}",
                OUTDATED.hint,
            )
        if realization.layout.functions[node] is no_function or realization.store.is_closed(node):
            raise why_unrealized(realization, entry, in_hook=self.guard is REALIZING)
        self._seal_variables()
        return realization.evaluator.evaluate(node)

    def _seal_variables(self) -> None:
        """Seal what was handed out to be written, as something is computed from it.

        In a hook, that are but caches, of subsystems that come before; they are sealed at its end.
        """
        if self.pools.writable and self.guard is not REALIZING:
            self.pools.seal()

    def get_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value; never compute it."""
        self.require(entry)
        store = self.realization.store
        if not store.is_valid(entry._node):
            raise why_unrealized(self.realization, entry)
        return store.values[entry._node]

    def set_entry(self, entry: CacheEntry[Any], value: object) -> None:
        """Store a value, without saying that it is realized."""
        self.require(entry)
        self.require_not_frozen("storing a value")
        own = kept(value, entry)
        self.realization.store.renounce(entry._node)
        self.realization.store.values[entry._node] = own
        self.handed_out.discard(entry._node)

    def upd_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value to be changed in place, realized or not."""
        self.require(entry)
        self.require_not_frozen("write access to a cache entry")
        self.realization.store.renounce(entry._node)
        value = self._changeable(entry)
        if isinstance(value, np.ndarray):
            self.pools.writable_entries[entry._node] = value
            self.pools.is_open = True
        return value

    def is_valid(self, entry: CacheEntry[Any]) -> bool:
        """Whether the value is up to date."""
        self.require(entry)
        return self.realization.store.is_valid(entry._node)

    def mark(self, entry: CacheEntry[Any]) -> None:
        """Count the value as computed now."""
        self.require(entry)
        if self.realization.machine.stages[entry.subsystem or 0] < entry.available_from - 1:
            what = f"{self.realization.layout.path(entry)} to be marked as realized"
            self.require_stage(entry.available_from - 1, entry.subsystem, what)
        self._seal_variables()
        self.require_not_frozen("marking an entry as realized")
        store = self.realization.store
        if self.pools.writable_entries:
            seal(self.pools.writable_entries.pop(entry._node, None))
        store.mark_valid(entry._node)

    def unmark(self, entry: CacheEntry[Any]) -> None:
        """Make it, and all that depends on it, unrealized."""
        self.require(entry)
        self.require_not_frozen("invalidating an entry")
        self.realization.store.invalidate(entry._node)

    def _changeable(self, item: AbstractHandle) -> Any:
        node = item._node
        values = self.realization.store.values
        value = values[node]
        if type(value) in IMMUTABLE:
            return value
        if isinstance(value, np.ndarray):
            if not value.flags.writeable:  # copies of the State share it
                value = values[node] = independent_copy(value)
        elif node not in self.handed_out and (
            self.checkpoints  # to which the value of before belongs
            or self.realization.layout.functions[node] is not no_function  # copies share it
        ):
            value = values[node] = duplicate(value)
        self.handed_out.add(node)
        return value

    # ------------------------------------------------------------------ handles

    def variable(self, name: str, subsystem: int | None) -> AbstractHandle:
        """The handle of the time, or of a whole q, u or z."""
        layout = self.realization.layout
        handles = layout.variables if subsystem is None else layout.subsystems[subsystem].whole
        if name not in list(handles):
            raise UnknownItemError(
                f"variable {short_repr(name)} of {self.who(subsystem)}: does not exist",
                "one of " + ", ".join(map(repr, handles)),
                short_repr(name),
                "use the handle that the allocating call returned for any other",
            )
        return handles[name]

    def require_of(self, handle: AbstractHandle, subsystem: int) -> None:
        """The same as `require`, for the handle of an item of that subsystem."""
        self.require(handle)
        if handle.subsystem != subsystem:
            raise UnknownItemError(
                f"{self.realization.layout.path(handle)}: belongs to another subsystem",
                f"an item of {self.who(subsystem)}",
                f"one of {self.who(handle.subsystem)}",
                f"use state[{handle.subsystem}]",
            )

    def version(self, handle: AbstractHandle) -> int:
        """The number of the present value."""
        self.require(handle)
        return self.realization.store.versions[handle._node]

    def dependents(self, handle: AbstractHandle) -> tuple[CacheEntry[Any], ...]:
        """The entries that name it as a prerequisite, in order of subsystem and index."""
        self.require(handle)
        structure = self.realization.store.structure
        found = [structure.keys[node] for node in structure.dependents[handle._node]]
        entries = [entry for entry in found if isinstance(entry, CacheEntry)]
        return tuple(sorted(entries, key=lambda entry: (entry.subsystem, entry.index)))

    def prerequisites(self, entry: CacheEntry[Any]) -> tuple[AbstractHandle, ...]:
        """The variables and entries that it names."""
        self.require(entry)
        structure = self.realization.store.structure
        found = [structure.keys[node] for node in structure.prerequisites[entry._node]]
        return tuple([handle for handle in found if isinstance(handle, AbstractHandle)])
