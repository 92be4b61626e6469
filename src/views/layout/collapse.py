"""A view with one node for many, so that it can be shown at a glance.

All variables of a subsystem become one node, and so do all its entries of one stage. If there are
still too many, or too many edges between them, the subsystems are taken together by twos, by
fours, and so on.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

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
    names = list(dict.fromkeys(node.subsystem for node in view.nodes if node.subsystem))
    together = 1
    while True:
        parts = _grouped(view, _unions(names, together))
        is_legible = len(parts.nodes) <= most and len(parts.edges) <= EDGES * most
        if is_legible or together >= len(names):
            return parts
        together *= 2


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
        stage = "" if node.kind == "variable" else node.stage
        groups.setdefault((unions[node.subsystem], node.kind, stage), []).append(node)
    nodes = {key: _group(*key, members) for key, members in groups.items()}
    group_of = {n.path: nodes[key].path for key, members in groups.items() for n in members}
    edges: dict[tuple[str, str], EdgeInfo] = {}
    for edge in view.edges:
        source, target = group_of[edge.source], group_of[edge.target]
        if source != target:
            edges.setdefault((source, target), EdgeInfo(source, target, edge.kind))
    return Parts(tuple(nodes.values()), tuple(edges.values()), view.title, view.stages)


def _group(subsystem: str, kind: str, stage: str, members: Sequence[NodeInfo]) -> NodeInfo:
    """One node for several; a stage stays what it is."""
    if kind == "stage" and len(members) == 1:
        return members[0]
    noun = {"entry": "entries"}.get(kind, f"{kind}s") if len(members) > 1 else kind
    words = (f"{subsystem}." if subsystem else "", f"{len(members)} ", f"{stage} " * bool(stage))
    statuses = Counter(str(node.status) for node in members if node.status)
    return NodeInfo(
        path="".join([*words, noun]),
        kind=kind,
        variant="group",
        subsystem=subsystem,
        stage=stage,
        status=min((node.status for node in members), key=URGENCY.index),
        value=", ".join(f"{number} {status}" for status, number in statuses.items()),
    )
