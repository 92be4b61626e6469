"""What must hold of every `Structure` and `Store`, whatever was done to them."""

import networkx as nx

from stagecache.graph import (
    NodeKind,
    Store,
    Structure,
)


def check_structure(structure: Structure) -> None:
    """Assert that nodes, edges and groups agree with each other."""
    nodes = list(structure)
    dag = nx.DiGraph()
    dag.add_nodes_from(nodes)
    for n in nodes:
        dag.add_edges_from((p, n) for p in structure.prerequisites[n])
    assert nx.is_directed_acyclic_graph(dag)
    assert set(dag) == set(nodes), "an edge leads to a node that was removed"
    for n in nodes:
        assert sorted(structure.dependents[n]) == sorted(dag.successors(n))

    groups = nx.DiGraph()
    members: dict[int, list[int]] = {}
    for n in nodes:
        members.setdefault(structure.group_of[n], []).append(n)
    groups.add_nodes_from(members)
    assert structure.num_groups == len(members)
    counts = {g: count for g, count in enumerate(structure.members) if count}
    assert counts == {g: len(nodes_of_g) for g, nodes_of_g in members.items()}
    for g in members:
        groups.add_edges_from((u, g) for u in structure.upstream[g])
    assert set(groups) == set(members), "an edge leads to a group that was dissolved"
    for g in members:
        assert sorted(structure.downstream[g]) == sorted(groups.successors(g))

    # What is downstream of a compared entry can be cut off, and nothing else.
    for n in nodes:
        is_soft = not structure.compared.isdisjoint(nx.ancestors(dag, n))
        assert (structure.group_of[n] in structure.soft) == is_soft
    for g, (others, compared) in structure.soft.items():
        above = {*others, *[structure.group_of[x] for x in compared]}
        assert above == set(structure.upstream[g])
        assert structure.compared.issuperset(compared)

    # A gate must be raised by all sources of its nodes, and by no others.
    for g, nodes_of_g in members.items():
        above = nx.ancestors(groups, g) | {g}
        sources = {n for a in above for n in members[a] if _is_source(structure, n)}
        for n in nodes_of_g:
            wanted = {m for m in nx.ancestors(dag, n) | {n} if _is_source(structure, m)}
            assert sources == wanted, f"{n}: group {g} has sources {sources}, not {wanted}"


def check_store(store: Store) -> None:
    """Assert that the next write would reach every entry that is valid."""
    if store.is_torn:  # as the next operation finds out
        store.mend()
    structure = store.structure
    check_structure(structure)
    for n in structure:
        if structure.kinds[n] == NodeKind.CACHE_ENTRY and store.is_valid(n):
            queue = [structure.group_of[n]]
            for g in queue:
                assert store.live[g], f"a write would not reach {n} through group {g}"
                queue.extend(structure.upstream[g])
    for g, listed in store._live_below.items():
        live = {d for d in structure.downstream[g] if store.live[d]}
        assert live <= set(listed) <= set(structure.downstream[g])


def _is_source(structure: Structure, node: int) -> bool:
    return structure.kinds[node] != NodeKind.CACHE_ENTRY
