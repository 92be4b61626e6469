"""Subsystems that are alike: of the same class, with the same items and edges among them."""

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve

from stagecache.views.nodes import EdgeInfo, NodeInfo


def with_alike(
    nodes: Sequence[NodeInfo], edges: Iterable[EdgeInfo], classes: Mapping[str, str]
) -> list[NodeInfo]:
    """Return nodes with `alike` set where several subsystems have the same. Cost O(nodes + edges).

    Parameters
    ----------
    nodes, edges : sequences
    classes : mapping of str to str
        Names of classes, by the name of a subsystem.
    """
    subsystem_of = {node.path: node.subsystem for node in nodes}
    items: dict[str, list[object]] = {name: [] for name in classes}
    for node in nodes:
        if node.subsystem in items:
            family = local(node.family, node.subsystem)
            what = (node.kind, node.variant, node.stage, node.computed_by, node.column, family)
            items[node.subsystem].append((local(node.path, node.subsystem), *what))
    links: dict[str, set[object]] = {name: set() for name in classes}
    for edge in edges:
        name = subsystem_of[edge.source]
        if name in links and name == subsystem_of[edge.target]:
            ends = local(edge.source, name), local(edge.target, name)
            links[name].add((*ends, edge.kind))
    groups: dict[object, list[str]] = {}
    for name, kind in classes.items():
        if items[name]:
            same = kind, tuple(items[name]), frozenset(links[name])
            groups.setdefault(same, []).append(name)
    alike: dict[str, str] = {}
    taken: dict[str, int] = {}
    for members in groups.values():
        if len(members) > 1:
            kind = classes[members[0]]
            taken[kind] = number = taken.get(kind, 0) + 1
            shown = kind if number == 1 else f"{kind} ({number})"
            alike.update(dict.fromkeys(members, shown))
    if not alike:
        return list(nodes)
    return [
        evolve(node, alike=alike[node.subsystem]) if node.subsystem in alike else node
        for node in nodes
    ]


def local(path: str, subsystem: str) -> str:
    """Return a path without the name of its subsystem."""
    return path.removeprefix(f"{subsystem}.")
