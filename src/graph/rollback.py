"""Checkpoints of a store: rollback to its former state, with all that was valid then.

The store itself notes in a `Journal` what changes after a checkpoint; these functions use it. The
clock goes on, so that what is computed after a rollback is newer than all before.
"""

from stagecache.graph.releasing import replace
from stagecache.graph.store import ABSENT, Journal, Store


def checkpoint(store: Store) -> Journal:
    """Return a journal in which all changes are noted from now on. Cost O(1)."""
    if store.is_torn:
        store.mend()
    journal = Journal()
    store.share()
    store.journals.append(journal)
    _go_on_noting(store)
    return journal


def release(store: Store, journal: Journal) -> None:
    """Release a checkpoint, to which nobody will return. Cost O(what was noted since)."""
    i = store.journals.index(journal)
    if i > 0:
        store.journals[i - 1].take_over(journal)
    del store.journals[i]
    _go_on_noting(store)


def restore(store: Store, journal: Journal) -> list[object]:
    """Restore the store as it was at a checkpoint, and drop later ones. Cost O(changes since).

    Changes are noted from then on as before. No entry may be being computed. If this is cut short,
    call it again; until then each variable has its present value or its value at the checkpoint.
    What is written in between is undone, too.

    Returns
    -------
    list of object
        Objects replaced, which the caller holds until all is consistent (`releasing`).
    """
    before: list[object] = []
    try:
        store.journal = None
        while store.journals[-1] is not journal:
            _restore(store, store.journals[-1], before)
            before.append(store.journals.pop())
        _restore(store, journal, before)
        if store.is_torn:  # what was torn is restored; but live groups were not noted
            store.mend()
        store.share()
        before.append(journal.whole)
        journal.clear()
        _go_on_noting(store)
    except BaseException:
        store.is_torn = True
        last = store.journals[-1]  # without a call, for which there may be no stack
        store.journal = last if last.whole is None else None
        raise
    return before


def _go_on_noting(store: Store) -> None:
    last = store.journals[-1] if store.journals else None
    store.journal = last if last is not None and last.whole is None else None


def _restore(store: Store, journal: Journal, before: list[object]) -> None:
    store.clock += 1
    void = ~store.clock
    for node in journal.nodes:  # what was computed since is wrong as soon as a variable is back
        store.marks[node] = void
    if journal.whole is not None:
        _restore_whole(store, journal.whole, before)
    _restore_nodes(store, journal, before)
    for group, gate in journal.gates.items():
        store.gates[group] = gate
        store.live[group] = False
    for group in journal.gates:
        store.make_live(group)
    for group, gate in journal.unpresumed.items():
        if gate == ABSENT:
            store.unpresumed.pop(group, None)
        else:
            store.unpresumed[group] = gate
    for stage, was_closed in journal.closed.items():
        if was_closed:
            store.closed.add(stage)
        else:
            store.closed.discard(stage)


def _restore_nodes(store: Store, journal: Journal, before: list[object]) -> None:
    versions = store.versions
    rewound = store.rewound
    for node, (value, version, _, changed) in journal.nodes.items():
        highest = versions[node]
        if highest > version:
            rewound[node] = highest = max(highest, rewound.get(node, 0))
            versions[node] = highest + 1  # which was never given, while the value is exchanged
        before.append(replace(store.values, node, value))
        versions[node] = version
        if changed == ABSENT:
            store.changed.pop(node, None)
        else:
            store.changed[node] = changed
    for node, (_, _, mark, _) in journal.nodes.items():
        store.marks[node] = mark


def _restore_whole(store: Store, whole: Store, before: list[object]) -> None:
    highest = store.highest_version()
    before += [store.structure, store.keys, store.group_of, store.values]
    store.marks = [~store.clock] * len(whole.marks)
    store.structure = whole.structure
    store.keys = whole.structure.keys
    store.group_of = whole.structure.group_of
    store.values = whole.values.copy()
    store.versions = whole.versions.copy()
    store.gates = whole.gates.copy()
    store.live = [True] * len(whole.gates)
    store.closed = whole.closed.copy()
    store.changed = whole.changed.copy()
    store.unpresumed = whole.unpresumed.copy()
    store.take_all_for_live()
    store.exceed_all(highest)
    store.marks = whole.marks.copy()
