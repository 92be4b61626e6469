r"""From declarations to a State: what is allocated, and what realizing takes.

Variables come first, subsystem by subsystem, and then the cache entries of all subsystems, each
after those on which it depends::

    subsystem 1:  angle  length        subsystem 2:
                    \     /
                      tip  <------------------------  pull
"""

from collections.abc import Callable, Iterable, Sequence
from graphlib import CycleError as GraphCycleError
from graphlib import TopologicalSorter
from typing import Final

from stagecache.errors import (
    CycleError,
    DuplicatePrerequisiteError,
    ForeignNodeError,
    NotANodeError,
    PrerequisiteStageError,
    brief,
)
from stagecache.state.allocation import allocate_entry
from stagecache.state.contents import Contents
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.stage import Stage
from stagecache.system.computations import UpdateDeclaration
from stagecache.system.declaration import PlannedEntry, declared_attempt
from stagecache.system.realizing import Call, Calls, Schedule, Task, nothing
from stagecache.system.subsystem import Subsystem

TOPOLOGY: Final = Stage.TOPOLOGY


def allocate_declared(contents: Contents, subsystems: Sequence[Subsystem]) -> list[PlannedEntry]:
    """Allocate what the subsystems declare, and return the cache entries among it, in order."""
    planned: dict[AbstractHandle, PlannedEntry] = {}
    items = [
        (declared, handle)
        for subsystem in subsystems
        for declared in subsystem.declarations.values()
        if not isinstance(declared, UpdateDeclaration)  # which belongs to its variable
        for handle in declared.items(subsystem)
    ]
    for declared, handle in items:
        declared.allocate(contents, handle)
    for declared, handle in items:
        entry = declared.plan(handle)
        if entry is not None:
            _check_prerequisites(contents, entry)
            planned[entry.handle] = entry
    ordered = _in_order(planned)
    reads_vectors: set[AbstractHandle] = set()  # of the entries: q, u or z, directly or not
    for entry in ordered:
        _set_stage(entry)
        if any(
            isinstance(p, AbstractContinuousVariable) or p in reads_vectors
            for p in entry.prerequisites
        ):
            reads_vectors.add(entry.handle)
            _check_vectors_are_there(entry)
        what = declared_attempt(contents, entry.handle)
        allocate_entry(
            what, entry.handle, entry.prerequisites, None, entry.compute, entry.refuse_none
        )
    return ordered


def declared_handles(
    subsystems: Sequence[Subsystem], variables: Iterable[AbstractHandle]
) -> list[AbstractHandle]:
    """The handles of all that a System declares: of time, q, u and z, too."""
    found = [*variables]
    for subsystem in subsystems:
        found += subsystem._wholes.values()
        for declared in subsystem.declarations.values():
            for handle in declared.items(subsystem):
                found.append(handle)
                if isinstance(handle, DiscreteVariable) and handle.update is not None:
                    found.append(handle.update)
    return found


def _check_prerequisites(contents: Contents, entry: PlannedEntry) -> None:
    for handle in entry.prerequisites:
        if not isinstance(handle, AbstractHandle):
            raise NotANodeError(
                f"{entry.handle}: a prerequisite is no handle",
                "declared items, as in (self.pendulum.tip, self.time)",
                f"{brief(handle)}, of type {type(handle).__name__}",
                "name the item, not its value",
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


def _in_order(planned: dict[AbstractHandle, PlannedEntry]) -> list[PlannedEntry]:
    """The entries, each after those on which it depends."""
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


def _set_stage(entry: PlannedEntry) -> None:
    """Say from which stage on the entry can be computed."""
    handle = entry.handle
    lowest = max([TOPOLOGY, *map(_readable_from, entry.prerequisites)])
    handle.depends_on = lowest if entry.depends_on is None else entry.depends_on
    late = [
        p
        for p in entry.prerequisites
        if isinstance(p, CacheEntry) and p.depends_on > handle.depends_on
    ]
    if late:
        raise PrerequisiteStageError(
            f"{handle}: a prerequisite can be computed only later",
            f"prerequisites that depend on {handle.depends_on} or an earlier stage",
            f"{late[0]}, which depends on {late[0].depends_on}",
            f"write depends_on=Stage.{late[0].depends_on.name}, or leave depends_on out",
        )
    if handle.depends_on > handle.computed_by:
        raise PrerequisiteStageError(
            f"{handle}: is computed by {handle.computed_by}, but can be only later",
            f"prerequisites that can be read at {handle.computed_by}",
            f"some that can be read from {handle.depends_on} on",
            f"write computed_by=Stage.{handle.depends_on.name}, or leave computed_by out",
        )
    if entry.fill is not None:
        _check_vector(entry)


def _check_vectors_are_there(entry: PlannedEntry) -> None:
    if entry.handle.computed_by == Stage.MODEL:
        raise PrerequisiteStageError(
            f"{entry.handle}: is computed by Model, but depends on q, u or z",
            "prerequisites that can be read while Model is being realized",
            "variables that are made when all subsystems have reached it",
            "write computed_by=Stage.INSTANCE, or leave computed_by out",
        )


def _check_vector(entry: PlannedEntry) -> None:
    """Refuse what would change values of a vector of the State without leaving their stage."""
    stage = entry.handle.computed_by
    for handle in entry.prerequisites:
        if isinstance(handle, DiscreteVariable) and handle.invalidates > stage:
            raise PrerequisiteStageError(
                f"{entry.handle}: a write of a prerequisite would leave its values as they are",
                f"variables that invalidate {stage} or an earlier stage",
                f"{handle}, which invalidates {handle.invalidates}",
                f"let it invalidate {stage}",
            )


def _readable_from(handle: AbstractHandle) -> Stage:
    if isinstance(handle, CacheEntry):
        return handle.depends_on
    return Stage.MODEL if isinstance(handle, AbstractContinuousVariable) else TOPOLOGY


# ---------------------------------------------------------------------- what realizing takes


def schedule_of(
    subsystems: Sequence[Subsystem],
    planned: Sequence[PlannedEntry],
    order: Callable[[Stage, tuple[Subsystem, ...]], Sequence[Subsystem]],
) -> Schedule:
    """How to realize each stage.

    Parameters
    ----------
    subsystems : sequence of Subsystem
    planned : sequence of PlannedEntry
        Their declared entries, each after those on which it depends.
    order : callable
        Given a stage, and the subsystems in the order in which they would be realized, returns the
        order in which they are.
    """
    tasks: list[list[Task]] = [[]]
    for stage in list(Stage)[TOPOLOGY : Stage.INFINITY]:
        circles = _circles(stage, len(subsystems), planned)
        circle_of = {x: circle for circle in circles for x in circle}
        chosen = order(stage, tuple(subsystems[x] for x in circle_of))
        due = _due_at(stage, subsystems, planned)
        tasks.append([])
        for subsystem in chosen:
            x = subsystem.index
            reach = _calls_to_reach(stage, subsystem)
            if reach or due[x]:
                after = _as_one(due[x]) if due[x] else None
                tasks[stage].append((x, _as_one(reach), after, tuple(circle_of[x])))
    tasks.append([])
    return Schedule(tasks, len(subsystems))


def _as_one(calls: list[Call]) -> Call:
    if not calls:
        return nothing
    return calls[0] if len(calls) == 1 else Calls(calls)


def _calls_to_reach(stage: Stage, subsystem: Subsystem) -> list[Call]:
    """What has to be called for a subsystem to reach a stage: at most its hook, but at Model."""
    calls: list[Call | None] = []
    if stage == Stage.MODEL:
        calls += [
            declared.sizing(handle)
            for declared in subsystem.declarations.values()
            if not isinstance(declared, UpdateDeclaration)
            for handle in declared.items(subsystem)
        ]
    hook = f"realize_{stage.name.lower()}"
    if getattr(type(subsystem), hook) is not getattr(Subsystem, hook):
        calls.append(getattr(subsystem, hook))
    return [call for call in calls if call is not None]


def _due_at(
    stage: Stage, subsystems: Sequence[Subsystem], planned: Sequence[PlannedEntry]
) -> list[list[Call]]:
    """By subsystem: the entries that are computed when it has reached a stage."""
    due: list[list[Call]] = [[] for _ in subsystems]
    for x, subsystem in enumerate(subsystems):
        for declared in subsystem.declarations.values():
            if isinstance(declared, UpdateDeclaration):
                update = declared.bound(subsystem)
                if update.depends_on == stage:
                    due[x].append(update)
    for entry in planned:
        if entry.handle.computed_by == stage:
            due[entry.handle._owner.index].append(entry.fill or entry.handle)
    return due


def _circles(stage: Stage, num_subsystems: int, planned: Sequence[PlannedEntry]) -> list[list[int]]:
    """The subsystems in the order of their prerequisites at a stage, and then of their indices.

    Those that need each other are in a circle, in which each can be computed from the first on.
    """
    edges = {
        (p.subsystem, entry.handle.subsystem)
        for entry in planned
        if entry.handle.depends_on == stage
        for p in entry.prerequisites
        if isinstance(p, CacheEntry)
        and p.depends_on == stage
        and p.subsystem != entry.handle.subsystem
    }
    if not edges:
        return [[x] for x in range(num_subsystems)]
    import networkx as nx  # noqa: PLC0415  # it takes a while, and most models do without

    graph = nx.DiGraph()
    graph.add_nodes_from(range(num_subsystems))
    graph.add_edges_from(edges)
    circles = nx.condensation(graph)
    members = {c: sorted(circles.nodes[c]["members"]) for c in circles}
    return [members[c] for c in nx.lexicographical_topological_sort(circles, key=members.get)]
