"""All that a Graph remembers as a tuple, to compare it, and to bring it back.

A walk over all programs comes back to the same graph millions of times. Tuples are exact: graphs
with equal ones do the same from there on, in each operation. No part may be missing, so this module
names each attribute of the store and the evaluator, and says where it is.
"""

from typing import Any, Final

from stagecache import Checkpoint, Graph
from stagecache.graph.evaluation import Evaluator
from stagecache.graph.store import ABSENT, Store

Frozen = tuple[Any, ...]
"""The changing parts of a graph."""

FROZEN: Final = {
    "_live_below",
    "changed",
    "clock",
    "gates",
    "journal",
    "journals",
    "live",
    "marks",
    "rewound",
    "values",
    "versions",
}
"""Attributes of a store that are frozen."""

CONSTANT: Final = {
    "_floor",
    "_is_making_live",
    "_is_mending",
    "_is_shutting",
    "_is_structure_torn",
    "_shared",
    "closed",
    "group_of",
    "is_torn",
    "keys",
    "origins",
    "structure",
    "unpresumed",
}
"""Attributes of a store that no operation of a small world changes (`require_constant`)."""

COUNTED: Final = {"computations"}
"""Attributes of a store that mean nothing between two operations."""

OF_EVALUATOR: Final = {
    "_bind",
    "_changes",
    "_failures",
    "_finished",
    "_memories",
    "_store",
    "arguments",
    "deepest",
    "equals",
    "functions",
    "running",
}
"""Attributes of an evaluator: of these, `_changes` is frozen; the others do not change."""


def freeze(graph: Graph) -> Frozen:
    """Return all that can change."""
    store = graph._handles.store
    known = graph._handles.evaluator._changes
    return (
        store.clock,
        tuple(store.values),
        tuple(store.versions),
        tuple(store.marks),
        tuple(store.gates),
        tuple(store.live),
        tuple(store.changed.items()),  # dictionaries in their order, which loops follow
        tuple(store.rewound.items()),
        tuple([(group, tuple(below)) for group, below in store._live_below.items()]),
        # Without changes of the present clock, it means nothing.
        (known.clock, *known.clocks.items())
        if known.clocks and known.clock == store.clock
        else (ABSENT,),
        tuple([(tuple(j.nodes.items()), tuple(j.gates.items())) for j in store.journals]),
    )


def ranked(frozen: Frozen) -> Frozen:
    """Return the same with clocks replaced by their ranks.

    The store compares clocks, copies them and takes the next one, and does nothing else with them.
    So with other numbers in the same order, it does the same. A mark below 0 is below every gate,
    whatever it is.
    """
    clock, values, versions, marks, gates, live, changed, rewound, live_below = frozen[:9]
    known, journals = frozen[9:]
    found = {ABSENT, clock, *marks, *gates, *known[:1]}
    for items in (changed, known[1:], *[noted for _, noted in journals]):
        found.update([each for _, each in items])
    for nodes, _ in journals:
        for _, (_, _, mark, since) in nodes:
            found.add(mark)
            found.add(since)
    rank = {
        each: max(i, ABSENT) for i, each in enumerate(sorted(found), -sum(c < 0 for c in found))
    }
    return (
        rank[clock],
        values,
        versions,
        tuple([rank[mark] for mark in marks]),
        tuple([rank[gate] for gate in gates]),
        live,
        tuple([(node, rank[each]) for node, each in changed]),
        rewound,
        live_below,
        (rank[known[0]], *[(group, rank[each]) for group, each in known[1:]]),
        tuple(
            [
                (
                    tuple([(n, (v, i, rank[m], rank[c])) for n, (v, i, m, c) in nodes]),
                    tuple([(group, rank[gate]) for group, gate in noted]),
                )
                for nodes, noted in journals
            ]
        ),
    )


def thaw(graph: Graph, checkpoints: list[Checkpoint], frozen: Frozen) -> None:
    """Bring a graph back, and its checkpoints, which are in that list.

    The lists of the store stay the same objects: if a copy shared one with its original, then one
    of the two would not come back.
    """
    handles = graph._handles
    store = handles.store
    clock, values, versions, marks, gates, live, changed, rewound, live_below = frozen[:9]
    (known_clock, *known_clocks), journals = frozen[9:]
    store.clock = clock
    store.values[:] = values
    store.versions[:] = versions
    store.marks[:] = marks
    store.gates[:] = gates
    store.live[:] = live
    if store.changed or changed:
        store.changed.clear()
        store.changed.update(changed)
    if store.rewound or rewound:
        store.rewound.clear()
        store.rewound.update(rewound)
    if store._live_below or live_below:
        store._live_below.clear()
        store._live_below.update((g, dict.fromkeys(below)) for g, below in live_below)
    known = handles.evaluator._changes
    known.clock = known_clock
    if known.clocks or known_clocks:
        known.clocks.clear()
        known.clocks.update(known_clocks)
    while len(checkpoints) > len(journals):
        checkpoints.pop().release()
    while len(checkpoints) < len(journals):
        checkpoints.append(graph.checkpoint())
    if journals:
        for journal, (nodes, noted_gates) in zip(store.journals, journals, strict=True):
            journal.nodes.clear()
            journal.nodes.update(nodes)
            journal.gates.clear()
            journal.gates.update(noted_gates)


def require_constant(graph: Graph) -> None:
    """Raise AssertionError if something that is not frozen has changed."""
    assert set(Store.__slots__) == FROZEN | CONSTANT | COUNTED
    assert set(Evaluator.__slots__) == OF_EVALUATOR
    handles = graph._handles
    store, evaluator = handles.store, handles.evaluator
    assert store.journal is (store.journals[-1] if store.journals else None)
    assert len(store.journals) == len(handles.checkpoints)
    unused = [store.closed, store.unpresumed, store.origins, store._floor]
    unused += [evaluator.running, evaluator._failures, evaluator._memories, handles.observers]
    for journal in store.journals:
        unused += [journal.unpresumed, journal.closed, journal.whole]
    torn = [store.is_torn, store._is_structure_torn, store._is_making_live]
    torn += [store._is_mending, store._is_shutting, handles.is_torn, handles.is_changing]
    assert not any(unused + torn)
    assert store.keys is store.structure.keys
    assert store.group_of is store.structure.group_of


def require_apart(one: Graph, other: Graph) -> None:
    """Raise AssertionError if two graphs share something that an operation changes."""
    stores = one._handles.store, other._handles.store
    for name in FROZEN - {"clock", "journal"}:
        assert getattr(stores[0], name) is not getattr(stores[1], name), ("shared", name)
    assert one._handles.evaluator._changes is not other._handles.evaluator._changes
    assert one._handles.checkpoints is not other._handles.checkpoints
