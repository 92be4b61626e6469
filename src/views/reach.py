"""Nodes that can be reached along edges, in which order, and shortest paths."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence


def neighbours(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Group the second items of pairs by the first ones, in order."""
    found: dict[str, list[str]] = {}
    for first, second in pairs:
        found.setdefault(first, []).append(second)
    return found


def reached(
    start: str, neighbours: Mapping[str, Sequence[str]], depth: int | None = None
) -> dict[str, str]:
    """Find the nodes within `depth` steps of a node, itself included: the nearest first.

    Returns
    -------
    dict
        For each node, the one from which it was first reached; for the first, itself.
    """
    found = {start: start}
    queue = deque([(start, 0)])
    while queue:
        here, steps = queue.popleft()
        if depth is not None and steps >= depth:
            continue
        for there in neighbours.get(here, ()):
            if there not in found:
                found[there] = here
                queue.append((there, steps + 1))
    return found


def depth_first(
    starts: Iterable[str], neighbours: Mapping[str, Sequence[str]]
) -> tuple[list[str], set[tuple[str, str]]]:
    """Visit all nodes that can be reached, depth first.

    Returns
    -------
    list
        The nodes, each after its neighbours, but for edges that close a cycle.
    set
        These edges.
    """
    done: dict[str, None] = {}
    entered: set[str] = set()
    closing: set[tuple[str, str]] = set()
    for start in starts:
        waiting = [(start, False)]
        while waiting:
            here, is_finished = waiting.pop()
            if is_finished:
                done[here] = None
            elif here not in entered:
                entered.add(here)
                waiting.append((here, True))
                beside = neighbours.get(here, ())
                waiting.extend((there, False) for there in reversed(beside) if there not in entered)
                closing.update(
                    (here, there) for there in beside if there in entered and there not in done
                )
    return list(done), closing


def shortest_path(start: str, end: str, neighbours: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a shortest path between two nodes, with both; empty if they are not connected."""
    came_from = reached(start, neighbours)
    if end not in came_from:
        return ()
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))
