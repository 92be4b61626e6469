"""Data of a view for the explorer, small enough for 20,000 nodes.

Nodes and edges come in columns: a list of values, or `words` and the number of one for each.
Columns of default values are left out. Nodes are known by their numbers::

    {"title": "arm", "stages": ["Time", ...],
     "nodes": {"path": ["arm.q", ...], "kind": {"words": ["variable", "entry"], "of": [0, 1]}, ...},
     "edges": {"source": [0, ...], "target": [1, ...], "kind": {...}}}

Sets of nodes are runs: gaps and lengths in turn. What a write makes stale is shared by the
variables that have it in common, and left out where the page finds the same by the edges::

    {"sets": [[[4, 2], 0], ...],   entries 4 and 5 are stale then, and 0 that are not in the view
     "of": {"0": 0}, "edges": [1, 3]}   by variable; variables 1, 2, 3: valid entries below them

A reason is words and names in turn, and a path that continues the path of another node::

    {"words": ["", " is stale: ", ...], "paths": {"7": [0, 5, 7], "8": 7},
     "of": {"7": [[-8, 1, -1], 0, 0, 0, null]}}   parts; variable, word of the file, line, seconds
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from attrs import fields

from stagecache.views.nodes import AbstractView, EdgeKind, NodeInfo, Reason, Status
from stagecache.views.reach import depth_first, neighbours, reached

DEFAULTS: Final = {
    field.name: field.default for field in fields(NodeInfo) if field.name not in ("path", "kind")
}

NO_CHANGE: Final = (EdgeKind.READ, EdgeKind.WRITE)
"""Kinds of edges along which nothing is invalidated."""


def graph_data(view: AbstractView) -> dict[str, Any]:
    """Return title, stages, nodes and edges."""
    numbers = _numbers(view)
    nodes = {"path": [node.path for node in view.nodes]}
    nodes["kind"] = _packed([node.kind for node in view.nodes])
    for name, default in DEFAULTS.items():
        values = [getattr(node, name) for node in view.nodes]
        if any(value != default for value in values):
            nodes[name] = _packed(values)
    return {
        "title": view.title,
        "stages": list(view.stages),
        "nodes": nodes,
        "edges": {
            "source": [numbers[edge.source] for edge in view.edges],
            "target": [numbers[edge.target] for edge in view.edges],
            "kind": _packed([edge.kind for edge in view.edges]),
        },
    }


def impacts_data(view: AbstractView, impacts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return what a write of each variable makes stale."""
    numbers = _numbers(view)
    consequences = _Consequences(view, numbers) if impacts else None
    sets: dict[tuple[tuple[int, ...], int], int] = {}
    of: dict[int, int] = {}
    same: list[int] = []
    for variable, paths in impacts.items():
        if variable not in numbers or consequences is None:
            continue
        stale = set(paths)
        inside = {numbers[path] for path in stale if path in numbers}
        if len(inside) == len(stale) and consequences.are(inside, variable):
            same.append(numbers[variable])
            continue
        key = (tuple(_runs(inside)), len(stale) - len(inside))
        of[numbers[variable]] = sets.setdefault(key, len(sets))
    return {"sets": [[list(runs), others] for runs, others in sets], "of": of, "edges": _runs(same)}


def reasons_data(view: AbstractView, reasons: Mapping[str, Reason]) -> dict[str, Any]:
    """Return why nodes are not valid."""
    numbers = _numbers(view)
    words: dict[str, int] = {"": 0}
    known = {path: reason for path, reason in reasons.items() if path in numbers}
    ways: dict[int, list[int]] = {}
    for path, reason in known.items():
        way = [numbers[each] for each in reason.path if each in numbers]
        ways[numbers[path]] = way if path in reason.path else [*way, numbers[path]]
    paths: dict[int, object] = {}
    of = {}
    for path, reason in known.items():
        number = numbers[path]
        *before, _ = way = ways[number]
        is_shared = bool(before) and before == ways.get(before[-1], before[-1:])
        paths[number] = before[-1] if is_shared else way
        of[number] = [
            list(_parts(reason.text, reason.path or (path,), numbers, words)),
            numbers.get(reason.variable),
            words.setdefault(reason.file, len(words)),
            reason.line,
            reason.seconds,
        ]
    return {"words": list(words), "paths": paths, "of": of}


def _parts(
    text: str, paths: Iterable[str], numbers: Mapping[str, int], words: dict[str, int]
) -> Iterable[int]:
    """Split a text at the names of nodes: numbers of words, and -1 - number for a node."""
    names = sorted(
        (name for name in dict.fromkeys(paths) if name in numbers), key=len, reverse=True
    )
    pattern = "|".join(map(re.escape, names))
    for part in re.split(f"({pattern})", text) if pattern else [text]:
        if part in numbers and part in names:
            yield -1 - numbers[part]
        elif part:
            yield words.setdefault(part, len(words))


def _numbers(view: AbstractView) -> dict[str, int]:
    return {node.path: number for number, node in enumerate(view.nodes)}


def _packed(values: Sequence[Any]) -> Any:
    """Return the values, or words and their numbers if that is shorter."""
    words = {value: number for number, value in enumerate(dict.fromkeys(values))}
    if 2 * len(words) > len(values):
        return list(values)
    return {"words": list(words), "of": [words[value] for value in values]}


def _runs(numbers: Iterable[int]) -> list[int]:
    """Return gaps and lengths in turn, of numbers in order."""
    runs: list[int] = []
    end = 0
    for _, group in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in group]
        runs += [members[0] - end, len(members)]
        end = members[-1] + 1
    return runs


class _Consequences:
    """Valid entries that a write makes stale if all edges count, as the page finds them.

    Sets of nodes are the bits of integers, so that the union over an edge is one operation: many
    variables have most of 20,000 nodes below them.
    """

    def __init__(self, view: AbstractView, numbers: Mapping[str, int]) -> None:
        flows = [edge for edge in view.edges if edge.kind not in NO_CHANGE]
        self._paths = [node.path for node in view.nodes]
        self._parts = neighbours(
            (edge.target, edge.source) for edge in flows if edge.kind is EdgeKind.PART
        )
        below = neighbours((edge.source, edge.target) for edge in flows)
        self._valid = {
            node.path: (node.status is Status.VALID) << numbers[node.path] for node in view.nodes
        }
        order, _ = depth_first(self._paths, below)
        is_changed = True
        while is_changed:  # once, and once more to see; more often if there are cycles
            is_changed = False
            for path in order:
                found = self._valid[path]
                for other in below.get(path, ()):
                    found |= self._valid[other]
                is_changed |= found != self._valid[path]
                self._valid[path] = found

    def are(self, stale: Collection[int], variable: str) -> bool:
        """Return True if these are the entries below the variable and below its parts."""
        found = 0
        for part in reached(variable, self._parts):
            found |= self._valid[part]
        if found.bit_count() != len(stale):
            return False
        bits = bytearray(len(self._paths) // 8 + 1)
        for number in stale:
            bits[number >> 3] |= 1 << (number & 7)
        return found == int.from_bytes(bits, "little")
