"""A view with one node for many, so that it can be shown at a glance.

What repeats is folded first, until the view is small enough::

    springs.force[0] ... springs.force[39]     "springs.force × 40": the members of a family
    living, bedroom, kitchen                   "room × 3": subsystems that are alike

If that does not do, the variables of a subsystem become one node for each column, and so do its
entries; then subsystems that are not alike are taken together by twos, by fours, and so on.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve

from stagecache.views.nodes import AbstractView, EdgeInfo, NodeInfo, Parts, Status

EDGES: Final = 2
"""Most edges for each node that is allowed."""

URGENCY: Final = (
    *(Status.STALE, Status.NOT_COMPUTED, Status.VALID),
    *(Status.NOT_REALIZED, Status.REALIZED, Status.VALUE, Status.NONE),
)
"""A group has the first of these that one of its nodes has."""


def collapsed(view: AbstractView, most: int) -> AbstractView:
    """Return the view itself if it has at most `most` nodes, else a view of groups.

    Stages are never merged, so the result may have more than `most` nodes.
    """
    if len(view.nodes) <= most:
        return view
    for fold in (_families, _alike):
        view = _folded(view, fold(view))
        if _is_legible(view, most):
            return view
    names = list(dict.fromkeys(node.subsystem for node in view.nodes if node.subsystem))
    together = 1
    while True:
        parts = _grouped(view, _unions(names, together))
        if _is_legible(parts, most) or together >= len(names):
            return parts
        together *= 2


def _is_legible(view: AbstractView, most: int) -> bool:
    return len(view.nodes) <= most and len(view.edges) <= EDGES * most


def _families(view: AbstractView) -> dict[str, tuple[str, str]]:
    """Return the path and the subsystem of the group of each member of a family, by its path."""
    sizes = Counter(node.family for node in view.nodes if node.family)
    return {
        node.path: (f"{node.family} × {sizes[node.family]}", node.subsystem)
        for node in view.nodes
        if sizes[node.family] > 1
    }


def _alike(view: AbstractView) -> dict[str, tuple[str, str]]:
    """Return the path and the subsystem of the group of each node of subsystems that are alike."""
    members: dict[str, dict[str, None]] = {}
    for node in view.nodes:
        if node.alike:
            members.setdefault(node.alike, {})[node.subsystem] = None
    names = {alike: f"{alike} × {len(those)}" for alike, those in members.items()}
    return {
        node.path: (
            f"{names[node.alike]}.{node.path.removeprefix(f'{node.subsystem}.')}",
            names[node.alike],
        )
        for node in view.nodes
        if node.alike and len(members[node.alike]) > 1
    }


def _folded(view: AbstractView, groups: Mapping[str, tuple[str, str]]) -> AbstractView:
    """Return a view with one node for each group of nodes, by its path and subsystem."""
    if not groups:
        return view
    members: dict[str, list[NodeInfo]] = {}
    for node in view.nodes:
        members.setdefault(groups.get(node.path, (node.path,))[0], []).append(node)
    nodes = []
    path_of: dict[str, str] = {}
    for path, those in members.items():
        first = those[0]
        path_of.update(dict.fromkeys([node.path for node in those], path))
        if first.path in groups:
            merged = _merged(those)
            subsystem = groups[first.path][1]
            alike = first.alike if subsystem == first.subsystem else ""
            nodes.append(evolve(merged, path=path, subsystem=subsystem, alike=alike))
        else:
            nodes.append(first)
    return Parts(tuple(nodes), _edges_between(view, path_of), view.title, view.stages)


def _merged(members: Sequence[NodeInfo]) -> NodeInfo:
    """Return a node with all that its members have in common, and their statuses."""
    first = members[0]
    columns = {node.column for node in members}
    return NodeInfo(
        path=first.path,
        kind=first.kind,
        variant="group",
        stage=first.stage,
        column=first.column if len(columns) == 1 else first.stage,
        status=min((node.status for node in members), key=URGENCY.index),
        value=_counts(members),
    )


def _counts(members: Sequence[NodeInfo]) -> str:
    """Return how many members have each status."""
    statuses = Counter(str(node.status) for node in members if node.status)
    return ", ".join(f"{number} {status}" for status, number in statuses.items())


def _edges_between(view: AbstractView, group_of: Mapping[str, str]) -> tuple[EdgeInfo, ...]:
    """Return an edge for all those between the same two groups, of the kind of the first."""
    edges: dict[tuple[str, str], EdgeInfo] = {}
    for edge in view.edges:
        source, target = group_of[edge.source], group_of[edge.target]
        if source != target:
            edges.setdefault((source, target), EdgeInfo(source, target, edge.kind))
    return tuple(edges.values())


def _unions(names: Sequence[str], together: int) -> dict[str, str]:
    """Return the common name of each subsystem and its neighbours."""
    unions = {"": ""}
    for start in range(0, len(names), together):
        members = names[start : start + together]
        name = members[0] if len(members) == 1 else f"{members[0]} … {members[-1]}"
        unions.update(dict.fromkeys(members, name))
    return unions


def _grouped(view: AbstractView, unions: Mapping[str, str]) -> Parts:
    groups: dict[tuple[str, str, str], list[NodeInfo]] = {}
    for node in view.nodes:
        stage = node.column or ("" if node.kind == "variable" else node.stage)
        groups.setdefault((unions[node.subsystem], node.kind, stage), []).append(node)
    nodes = {key: _group(*key, members) for key, members in groups.items()}
    group_of = {n.path: nodes[key].path for key, members in groups.items() for n in members}
    edges = _edges_between(view, group_of)
    return Parts(tuple(nodes.values()), edges, view.title, view.stages)


def _group(subsystem: str, kind: str, stage: str, members: Sequence[NodeInfo]) -> NodeInfo:
    """One node for several; a stage stays what it is."""
    if kind == "stage" and len(members) == 1:
        return members[0]
    noun = {"entry": "entries"}.get(kind, f"{kind}s") if len(members) > 1 else kind
    words = (f"{subsystem}." if subsystem else "", f"{len(members)} ", f"{stage} " * bool(stage))
    return NodeInfo(
        path="".join([*words, noun]),
        kind=kind,
        variant="group",
        subsystem=subsystem,
        stage=stage,
        status=min((node.status for node in members), key=URGENCY.index),
        value=_counts(members),
        column=members[0].column,
    )
