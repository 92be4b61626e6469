r"""Allocation of declared items: their order, and checks of prerequisites.

Variables come first, subsystem by subsystem, and then the cache entries of all subsystems, each
after those on which it depends::

    subsystem 1:  angle  length        subsystem 2:
                    \     /
                      tip  <------------------------  pull
"""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from graphlib import CycleError as GraphCycleError
from graphlib import TopologicalSorter
from typing import Final

from attrs import frozen

from stagecache.errors import (
    CycleError,
    DuplicatePrerequisiteError,
    ForeignNodeError,
    PrerequisiteStageError,
    WrongTypeError,
    short_repr,
)
from stagecache.state.allocation import allocate_entry
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS
from stagecache.system.declare.declaration import PlannedEntry, declared_attempt
from stagecache.system.declare.ports import Feed, unconnected
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.saved.recipes import Recipes

TOPOLOGY: Final = Stage.TOPOLOGY


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the collector of cycles, which would look at each of many new objects several times."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@collection_paused()
def allocate_declared(contents: Contents, subsystems: Sequence[Subsystem]) -> list[PlannedEntry]:
    """Allocate all declared items, and return the cache entries among them, in order."""
    planned: dict[AbstractHandle, PlannedEntry] = {}
    items = [
        (declared, handle)
        for subsystem in subsystems
        for declared in subsystem.declarations.values()
        for handle in declared.items(subsystem)
    ]
    for declared, handle in items:
        declared.allocate(contents, handle)
    for declared, handle in items:
        entry = declared.plan(handle)
        if entry is not None:
            _check_prerequisites(contents, entry)
            if entry.check is not None:
                entry.check(contents)
            planned[entry.handle] = entry
    _require_connected(planned)
    ordered = _in_order(planned)
    recipes = Recipes()
    sources: dict[AbstractHandle, Sources] = {}
    for entry in ordered:
        _set_stage(entry, planned)
        sources[entry.handle] = found = _sources_of(entry, sources)
        _check_sources(entry, found)
        what = declared_attempt(contents, entry.handle)
        allocate_entry(
            what,
            entry.handle,
            entry.prerequisites,
            None,
            entry.compute,
            entry.refuse_none,
            entry.equal,
            partial(recipes.shared_function, entry) if entry.is_shared else None,
        )
    return ordered


@collection_paused()
def declared_handles(
    subsystems: Sequence[Subsystem], variables: Iterable[AbstractHandle]
) -> list[AbstractHandle]:
    """Return the handles of all declared items of a System, and of time, q, u and z."""
    found = [*variables]
    for subsystem in subsystems:
        found += subsystem._wholes.values()
        for declared in subsystem.declarations.values():
            handles = declared.known_items(subsystem)
            found += handles
            found += [
                h._update
                for h in handles
                if isinstance(h, DiscreteVariable) and h._update is not None
            ]
    return found


def _check_prerequisites(contents: Contents, entry: PlannedEntry) -> None:
    for handle in entry.prerequisites:
        if not isinstance(handle, AbstractHandle):
            raise WrongTypeError(
                f"{entry.handle}: a prerequisite is not a handle",
                "declared items, as in (self.pendulum.tip, self.time)",
                f"{short_repr(handle)}, of type {type(handle).__name__}",
                "name the item, not its value; time needs a function: "
                "prerequisites=lambda self: (self.time,)",
            )
        owner = handle._owner
        theirs = owner._system if isinstance(owner, Subsystem) else owner
        if theirs is not contents.system:
            raise ForeignNodeError(
                f"{entry.handle}: a prerequisite is not in the System",
                f"items of the subsystems of {contents.system!r}",
                f"{handle}, of {owner!r}" if owner is not None else f"{handle}, which is allocated",
                "adopt its subsystem as well; what is not declared is not there yet",
            )
    if len(set(entry.prerequisites)) < len(entry.prerequisites):
        above = entry.prerequisites
        twice = sorted({str(handle) for handle in above if above.count(handle) > 1})
        raise DuplicatePrerequisiteError(
            f"{entry.handle}: a prerequisite is listed more than once",
            "each prerequisite once",
            ", ".join(twice) + " repeatedly",
            "name each prerequisite once; a family stands for all its items",
        )


def _require_connected(planned: dict[AbstractHandle, PlannedEntry]) -> None:
    """Refuse prerequisites that are inputs without a source."""
    without = {handle for handle, entry in planned.items() if entry.is_unconnected}
    for entry in planned.values() if without else ():
        for handle in entry.prerequisites:
            if handle in without:
                assert isinstance(handle, CacheEntry)
                raise unconnected(handle, entry.handle)


def _in_order(planned: dict[AbstractHandle, PlannedEntry]) -> list[PlannedEntry]:
    """Return the entries, each after its prerequisites."""
    sorter = TopologicalSorter(
        {
            handle: [p for p in entry.prerequisites if p in planned]
            for handle, entry in planned.items()
        }
    )
    try:
        return [planned[handle] for handle in sorter.static_order()]
    except GraphCycleError as error:
        path = tuple(map(str, reversed(error.args[1])))
        raise CycleError(
            f"{path[0]}: depends on itself",
            "prerequisites without a cycle",
            " -> ".join(path),
            "break the cycle: leave out a prerequisite, or split one of these computations",
            path,
        ) from None


def _set_stage(entry: PlannedEntry, planned: dict[AbstractHandle, PlannedEntry]) -> None:
    """Set the stage from which on the entry can be computed."""
    handle = entry.handle
    lowest = max([entry.lowest, *map(_readable_from, entry.prerequisites)])
    handle.available_from = lowest if entry.available_from is None else entry.available_from
    late = [
        p
        for p in entry.prerequisites
        if isinstance(p, CacheEntry) and p.available_from > handle.available_from
    ]
    if late:
        raise PrerequisiteStageError(
            f"{handle}: a prerequisite can be computed only later",
            f"prerequisites that depend on {handle.available_from} or an earlier stage",
            f"{_with_source(late[0], planned)}, which depends on {late[0].available_from}",
            f"write available_from=Stage.{late[0].available_from.name}, or leave it out",
        )
    if handle.available_from > handle.computed_by:
        raise PrerequisiteStageError(
            f"{handle}: is computed by {handle.computed_by}, but can be only later",
            f"prerequisites that can be read at {handle.computed_by}",
            f"some that can be read from {handle.available_from} on",
            f"write computed_by=Stage.{handle.available_from.name}, or leave computed_by out",
        )


def _with_source(handle: AbstractHandle, planned: dict[AbstractHandle, PlannedEntry]) -> str:
    """Return the name of a prerequisite; of an input, with what it is connected to."""
    entry = planned.get(handle)
    is_input = entry is not None and isinstance(entry.compute, Feed)
    return f"{handle}, connected to {entry.prerequisites[0]}" if is_input and entry else str(handle)


@frozen
class Sources:
    """The variables upstream of an entry, summarized."""

    latest: Stage
    """A write of one of them may invalidate no earlier stage than this."""

    latest_one: AbstractHandle | None
    has_vectors: bool
    """True if q, u or z are among them."""


NO_SOURCES: Final = Sources(TOPOLOGY, None, has_vectors=False)


def _sources_of(entry: PlannedEntry, above: dict[AbstractHandle, Sources]) -> Sources:
    for p in entry.prerequisites:
        if p not in above:
            above[p] = _source(p)
    found = [above[p] for p in entry.prerequisites]
    if len(found) == 1:
        return found[0]  # one object for all of them
    latest = max(found, key=lambda source: source.latest, default=NO_SOURCES)
    has_vectors = any(source.has_vectors for source in found)
    return Sources(latest.latest, latest.latest_one, has_vectors)


def _source(handle: AbstractHandle) -> Sources:
    """Return the summary of a variable."""
    if isinstance(handle, AbstractContinuousVariable):
        stage = CONTINUOUS[handle.kind].invalidates
        assert stage is not None
        return Sources(stage, handle, has_vectors=True)
    if isinstance(handle, DiscreteVariable):  # an automatic update invalidates no stage at all
        stage = handle.invalidates if handle.update is None else Stage.INFINITY
        return Sources(stage, handle, has_vectors=False)
    return Sources(Stage.TIME, handle, has_vectors=False)


def _check_sources(entry: PlannedEntry, sources: Sources) -> None:
    handle = entry.handle
    if sources.has_vectors and handle.computed_by == Stage.MODEL:
        raise PrerequisiteStageError(
            f"{handle}: is computed by Model, but depends on q, u or z",
            "prerequisites that can be read while Model is being realized",
            "variables that are made when all subsystems have reached it",
            "write computed_by=Stage.INSTANCE, or leave computed_by out",
        )
    needed_by = entry.needed_by if entry.fill is None else min(entry.needed_by, handle.computed_by)
    if sources.latest > needed_by:
        raise PrerequisiteStageError(
            f"{handle}: a write upstream would leave its values as they are",
            f"variables whose writes invalidate {needed_by} or an earlier stage",
            f"{sources.latest_one}, which "
            + (
                "may be updated automatically, without invalidating any"
                if sources.latest == Stage.INFINITY
                else f"invalidates {sources.latest}"
            ),
            "leave it out of what these values depend on, or compute them at a later stage",
        )


def _readable_from(handle: AbstractHandle) -> Stage:
    if isinstance(handle, CacheEntry):
        return handle.available_from
    return Stage.MODEL if isinstance(handle, AbstractContinuousVariable) else TOPOLOGY
