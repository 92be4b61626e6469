"""The schedule of realization: the calls at each stage, and their order."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage
from stagecache.system.core.realizing import Call, Calls, Schedule, Task, nothing
from stagecache.system.declare.declaration import PlannedEntry
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.dynamics.accelerating import Dynamics

DEFAULT: Final = 0
"""The index of the subsystem without hooks. Its task is to compute dynamics, if there are any: it
comes first, and then the subsystems that only wait for it."""


def schedule_of(
    subsystems: Sequence[Subsystem],
    planned: Sequence[PlannedEntry],
    order: Callable[[Stage, tuple[Subsystem, ...]], Sequence[Subsystem]],
) -> tuple[Schedule, Schedule]:
    """Return the tasks of each stage, and those without event triggers.

    If a subsystem declares a mass matrix, dynamics are computed before all hooks.

    Parameters
    ----------
    subsystems : sequence of Subsystem
    planned : sequence of PlannedEntry
        Their declared entries, each after those on which it depends.
    order : callable
        Given a stage, and the subsystems in the order in which they would be realized, returns the
        order in which they are.
    """
    dynamics = Dynamics(subsystems)
    full: list[list[Task]] = [[]]
    without_triggers: list[list[Task]] = [[]]
    can_be_computed, must_be_computed = defaultdict(list), defaultdict(list)
    for entry in planned:
        can_be_computed[entry.handle.available_from].append(entry)
        must_be_computed[entry.handle.computed_by].append(entry)
    for stage in list(Stage)[Stage.TOPOLOGY : Stage.INFINITY]:
        circles = _circles(stage, len(subsystems), can_be_computed[stage])
        circle_of = {x: tuple(circle) for circle in circles for x in circle}
        chosen = order(stage, tuple(subsystems[x] for x in circle_of))
        reach = [_calls_to_reach(stage, subsystem) for subsystem in subsystems]
        before = dynamics.call_at(stage)
        waiting: set[int] = set()
        if before is not None:
            reach[DEFAULT].append(before)
            waiting = {subsystem.index for subsystem in dynamics.subsystems}
        entries = must_be_computed[stage]
        needed = [entry for entry in entries if entry.trigger is None]
        for due_entries, tasks in ((entries, full), (needed, without_triggers)):
            due = _due_of_each(subsystems, due_entries)
            if before is not None:
                idle = {x for x in waiting if not reach[x] and not due[x]}
                chosen = sorted(chosen, key=lambda s: (s.index != DEFAULT, s.index not in idle))
            due[chosen[-1].index] += _due_last(due_entries)
            tasks.append(_tasks([s.index for s in chosen], reach, due, waiting, circle_of))
    count = len(subsystems)
    return Schedule([*full, []], count), Schedule([*without_triggers, []], count)


def _tasks(
    chosen: Sequence[int],
    reach: list[list[Call]],
    due: list[list[Call]],
    waiting: set[int],
    circle_of: dict[int, tuple[int, ...]],
) -> list[Task]:
    """Return the tasks of a stage: of all subsystems that have calls, or wait for dynamics."""
    return [
        (x, _as_one(reach[x]), _as_one(due[x]) if due[x] else None, circle_of[x])
        for x in chosen
        if reach[x] or due[x] or x in waiting
    ]


def _as_one(calls: list[Call]) -> Call:
    if not calls:
        return nothing
    return calls[0] if len(calls) == 1 else Calls(calls)


def _calls_to_reach(stage: Stage, subsystem: Subsystem) -> list[Call]:
    """Return the calls for a subsystem to reach a stage: its hook, and sizes."""
    calls: list[Call | None] = []
    if stage in (Stage.MODEL, Stage.INSTANCE):
        calls = [
            declared.sizing(handle)
            for declared in subsystem.declarations.values()
            if declared.sized_at == stage
            for handle in declared.items(subsystem)
        ]
    name = f"realize_{stage.name.lower()}"
    hook = getattr(subsystem, name)
    if getattr(hook, "__func__", hook) is not getattr(Subsystem, name):
        calls.append(hook)
    return [call for call in calls if call is not None]


def _due_of_each(
    subsystems: Sequence[Subsystem], entries: Sequence[PlannedEntry]
) -> list[list[Call]]:
    """Return, by subsystem, those entries of a stage that are computed when it has reached it."""
    due: list[list[Call]] = [[] for _ in subsystems]
    for entry in entries:
        if not entry.is_last:
            due[entry.handle._owner.index].append(
                entry.handle if entry.fill is None else entry.fill
            )
    return due


def _due_last(entries: Sequence[PlannedEntry]) -> list[Call]:
    """Return those entries of a stage that are computed when all subsystems have reached it.

    Entries of the default subsystem come last; they may read the others.
    """
    found = [entry for entry in entries if entry.is_last]
    found.sort(key=lambda entry: entry.handle._owner.index == 0)
    return [entry.fill or entry.handle for entry in found]


def _circles(stage: Stage, num_subsystems: int, entries: Sequence[PlannedEntry]) -> list[list[int]]:
    """Return the subsystems in the order of their prerequisites at a stage, then of their indices.

    The entries are those that can be computed from that stage on. Subsystems that need each other
    are in one circle; all their entries can be computed from the first of them on.
    """
    edges = {
        (p.subsystem, entry.handle.subsystem)
        for entry in entries
        for p in entry.prerequisites
        if isinstance(p, CacheEntry)
        and p.available_from == stage
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
