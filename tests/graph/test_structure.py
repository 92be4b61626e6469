"""Nodes, edges and groups; the random operations are in test_store_machine.py."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.errors import (
    CycleError,
    DuplicatePrerequisiteError,
    InvalidNameError,
    NodeInUseError,
    NodeKindError,
    UnknownNodeError,
)
from stagecache.graph import (
    NodeKind,
    Store,
    Structure,
)
from stagecache.graph.structure import NEVER
from tests.graph.check_structure import check_structure
from tests.interrupting import plain_only, steps

VARIABLE, STAGE, ENTRY = NodeKind.VARIABLE, NodeKind.STAGE, NodeKind.CACHE_ENTRY


def add_chain(structure: Structure, length: int) -> list[int]:
    """A variable and a chain of entries below it."""
    nodes = [structure.add("v", VARIABLE)]
    for i in range(length):
        nodes.append(structure.add(f"e{i}", ENTRY, (nodes[-1],)))
    return nodes


def test_a_node_keeps_what_it_was_added_with() -> None:
    structure = Structure()
    q = structure.add("q", VARIABLE)
    tip = structure.add("tip", ENTRY, (q,))
    assert (structure.keys[tip], structure.kinds[tip]) == ("tip", ENTRY)
    assert list(structure.prerequisites[tip]) == [q]
    assert list(structure.dependents[q]) == [tip]
    assert len(structure) == 2
    assert repr(structure) == "Structure(2 nodes in 1 groups)"


def test_a_chain_below_one_variable_is_one_group() -> None:
    structure = Structure()
    nodes = add_chain(structure, 100)
    assert {structure.group_of[n] for n in nodes} == {nodes[0]}


def test_entries_of_the_same_sources_share_a_group_in_any_order() -> None:
    structure = Structure()
    a, b = structure.add("a", VARIABLE), structure.add("b", VARIABLE)
    ab, ba = structure.add("ab", ENTRY, (a, b)), structure.add("ba", ENTRY, (b, a))
    below = structure.add("below", ENTRY, (ab, a))
    assert structure.group_of[ab] == structure.group_of[ba] == structure.group_of[below]


@given(st.data())
def test_entries_with_the_same_prerequisites_share_these_and_a_group(data: st.DataObject) -> None:
    """It makes no difference if they come one after the other or with other entries in between."""
    structure = Structure()
    stages = [structure.add(name, STAGE) for name in ("x", "y")]
    nodes = [structure.add("v", VARIABLE), *stages]
    for _ in range(data.draw(st.integers(1, 6))):
        above = tuple(data.draw(st.lists(st.sampled_from(nodes), min_size=1, unique=True)))
        computed_by = data.draw(st.sampled_from((NEVER, *stages)))
        same = [structure.add("e", ENTRY, (*above,), computed_by) for _ in range(2)]
        is_compared = data.draw(st.booleans())
        other = structure.add("other", ENTRY, above[:1], stages[0], is_compared=is_compared)
        same.append(structure.add("e", ENTRY, (*above,), computed_by))
        assert structure.prerequisites[same[0]] is structure.prerequisites[same[1]]
        assert len({structure.group_of[e] for e in same}) == 1
        check_structure(structure)
        nodes += [same[0], other]


@pytest.mark.parametrize("is_soft", [False, True])
def test_entries_presumed_computed_at_different_stages_share_no_group(is_soft: bool) -> None:
    structure = Structure()
    a = structure.add("a", VARIABLE)
    if is_soft:
        compared = structure.add("compared", ENTRY, (a,), is_compared=True)
        a = structure.add("below", ENTRY, (compared,))
    assert structure.group_of[structure.add("never", ENTRY, (a,))] == structure.group_of[a]
    stages = [structure.add(name, STAGE) for name in ("x", "y", "z")]
    entries = [structure.add("e", ENTRY, (a,), computed_by=stage) for stage in stages * 2]
    groups = [structure.group_of[e] for e in entries]
    assert len({*groups, structure.group_of[a]}) == 4
    assert groups[:3] == groups[3:]
    assert structure.presumable == {s: [g] for s, g in zip(stages, groups[:3], strict=True)}
    with pytest.raises(NodeInUseError):
        structure.remove(stages[0])
    for entry in reversed(entries):
        structure.remove(entry)
    assert structure.presumable == {}
    structure.remove(stages[0])


def test_a_ladder_takes_memory_linear_in_its_rungs() -> None:
    structure = Structure()
    below = structure.add("start", VARIABLE)
    rungs = 1000
    for i in range(rungs):
        below = structure.add(f"e{i}", ENTRY, (below, structure.add(f"v{i}", VARIABLE)))
    assert structure.num_groups == 2 * rungs + 1
    assert sum(len(u) for u in structure.upstream) == 2 * rungs


def test_removing_frees_the_number_and_unregisters_the_node() -> None:
    structure = Structure()
    nodes = add_chain(structure, 3)
    for n in reversed(nodes):
        structure.remove(n)
        check_structure(structure)
    assert len(structure) == structure.num_groups == 0
    assert sorted(add_chain(structure, 3)) == sorted(nodes)
    check_structure(structure)


def test_the_number_of_a_removed_node_is_not_reserved() -> None:
    """Even where nobody else may have it yet, since a group goes by it."""
    structure = Structure()
    a, b = structure.add("a", VARIABLE), structure.add("b", VARIABLE)
    founder, lonely = structure.add("founder", ENTRY, (a, b)), structure.add("lonely", VARIABLE)
    structure.add("other", ENTRY, (a, b))
    for node in (founder, lonely):
        structure.remove(node)
        with pytest.raises(NodeInUseError, match="the number of a node that was removed"):
            structure.add("new", VARIABLE, reserved=node)
    check_structure(structure)


def test_a_group_outlives_the_entry_that_founded_it() -> None:
    structure = Structure()
    a, b = structure.add("a", VARIABLE), structure.add("b", VARIABLE)
    founder = structure.add("founder", ENTRY, (a, b))
    other = structure.add("other", ENTRY, (a, b))
    structure.remove(founder)
    new = structure.add("new", ENTRY, (other,))
    assert new != founder, "the number names the group still"
    check_structure(structure)
    structure.remove(new)
    structure.remove(other)
    assert structure.add("next", ENTRY, (a,)) in (founder, other, new)
    check_structure(structure)


@plain_only
def test_removing_what_was_added_last_costs_the_same_however_many_others_there_are() -> None:
    def cost(count: int) -> int:
        structure = Structure()
        v = structure.add("v", VARIABLE)
        last = [structure.add("e", ENTRY, (v,)) for _ in range(count)][-1]
        return steps(partial(structure.remove, last))

    assert cost(10) == cost(500)


def test_removing_what_others_need_is_refused() -> None:
    structure = Structure()
    v, e0, _ = add_chain(structure, 2)
    with pytest.raises(NodeInUseError, match="'e1'"):
        structure.remove(e0)
    with pytest.raises(NodeInUseError, match="'e0'"):
        structure.remove(v)
    check_structure(structure)
    assert len(structure) == 3


def test_an_aggregate_lies_downstream_of_its_parts() -> None:
    structure = Structure()
    q = structure.add("q", VARIABLE)
    early = structure.add("early", ENTRY, (q,))
    blocks = [structure.add(f"q{i}", VARIABLE) for i in range(3)]
    for block in blocks:
        structure.connect(q, block)
    check_structure(structure)
    assert list(structure.prerequisites[q]) == blocks
    assert structure.group_of[early] == q
    structure.disconnect(q, blocks[1])
    structure.remove(blocks[1])
    check_structure(structure)


@pytest.mark.parametrize("is_soft", [False, True])
def test_edges_that_may_be_undone_make_no_other_edge_redundant(is_soft: bool) -> None:
    store = Store()
    whole, part = store.add("whole", VARIABLE), store.add("part", VARIABLE)
    compared = store.add("compared", ENTRY, (store.add("v", VARIABLE),), is_compared=True)
    store.connect(whole, part)
    entry = store.add("entry", ENTRY, (whole, part, compared) if is_soft else (whole, part))
    store.disconnect(whole, part)
    store.mark_valid(entry)
    store.write(part)
    assert not store.is_valid(entry)


def test_a_cycle_is_refused_with_its_path() -> None:
    structure = Structure()
    a, b, c = (structure.add(name, STAGE) for name in "abc")
    structure.connect(b, a)
    structure.connect(c, b)
    with pytest.raises(CycleError) as caught:
        structure.connect(a, c)
    assert caught.value.path == ("a", "c", "b", "a")
    assert "a -> c -> b -> a" in str(caught.value)
    with pytest.raises(CycleError) as caught:
        structure.connect(a, a)
    assert caught.value.path == ("a", "a")
    check_structure(structure)
    assert list(structure.prerequisites[a]) == []


def test_the_path_of_a_cycle_is_a_shortest_one_where_several_ways_meet() -> None:
    structure = Structure()
    a, left, right, joint, end = (structure.add(name, STAGE) for name in "alrje")
    for node, above in [(left, a), (right, a), (joint, left), (joint, right), (end, joint)]:
        structure.connect(node, above)
    structure.connect(end, left)
    with pytest.raises(CycleError) as caught:
        structure.connect(a, end)
    assert caught.value.path == ("a", "e", "l", "a")
    with pytest.raises(CycleError) as caught:
        structure.connect(a, joint)
    assert len(caught.value.path) == 4
    check_structure(structure)


def test_bad_input_is_refused_and_changes_nothing() -> None:
    structure = Structure()
    v, e = add_chain(structure, 1)
    w = structure.add("w", VARIABLE)
    structure.connect(w, v)
    gone = structure.add("gone", STAGE)
    structure.remove(gone)
    before = (list(structure), list(structure.prerequisites), structure.num_groups)
    number = len(structure.keys)  # of the next node
    for unknown in (gone, number, 17):
        with pytest.raises(UnknownNodeError):
            structure.add("x", ENTRY, (unknown,))
        with pytest.raises(UnknownNodeError):
            structure.add("x", ENTRY, (v, unknown))
        with pytest.raises(UnknownNodeError):
            structure.add("x", ENTRY, (v,), computed_by=unknown)
    with pytest.raises(UnknownNodeError):
        structure.add("x", ENTRY, (-1,))
    for unknown in (number, 17):
        with pytest.raises(UnknownNodeError):
            structure.remove(unknown)
    for twice in ((v, e, v), (v, v)):
        with pytest.raises(DuplicatePrerequisiteError) as caught:
            structure.add("x", ENTRY, twice)
        assert caught.value.got == "'v' repeatedly"
    with pytest.raises(NodeKindError, match="starts without prerequisites"):
        structure.add("x", VARIABLE, (v,))
    with pytest.raises(NodeKindError, match="'e0'"):
        structure.connect(e, v)
    with pytest.raises(NodeKindError, match="'e0'"):
        structure.connect(v, e)
    with pytest.raises(DuplicatePrerequisiteError, match="'v'"):
        structure.connect(w, v)
    for unknown in (gone, 17):
        with pytest.raises(UnknownNodeError):
            structure.connect(w, unknown)
        with pytest.raises(UnknownNodeError):
            structure.connect(unknown, w)
    for node, prerequisite in ((v, w), (e, v), (w, gone), (w, 17)):
        with pytest.raises(UnknownNodeError):
            structure.disconnect(node, prerequisite)
    with pytest.raises(UnknownNodeError):
        structure.disconnect(17, v)
    with pytest.raises(InvalidNameError):
        structure.add("", VARIABLE)
    with pytest.raises(NodeKindError, match="NodeKind"):
        structure.add("x", 7)  # type: ignore[arg-type]  # is refused
    with pytest.raises(NodeKindError, match="stage"):
        structure.add("x", ENTRY, (v,), computed_by=v)
    assert before == (list(structure), list(structure.prerequisites), structure.num_groups)
    check_structure(structure)


def test_a_copy_shares_nothing_that_changes() -> None:
    structure = Structure()
    nodes = add_chain(structure, 3)
    q = structure.add("q", VARIABLE)
    structure.connect(q, nodes[0])
    twin = structure.copy()
    twin.disconnect(q, nodes[0])
    twin.remove(nodes[3])
    twin.add("other", ENTRY, (q, nodes[1]))
    check_structure(structure)
    check_structure(twin)
    assert [structure.name_of(n) for n in structure] == ["v", "e0", "e1", "e2", "q"]
    assert sorted(twin.name_of(n) for n in twin) == ["e0", "e1", "other", "q", "v"]


def test_a_reserved_number_is_given_to_who_asks_for_it_and_to_nobody_else() -> None:
    structure = Structure()
    q = structure.add("q", VARIABLE)
    structure.reserve(4)
    other = structure.add("other", VARIABLE)
    tip = structure.add("tip", ENTRY, (q,), reserved=2)
    assert (q, other, tip) == (0, 4, 2)
    assert structure.add("next", VARIABLE, reserved=5) == 5
    assert list(structure) == [0, 2, 4, 5]
    check_structure(structure)
    empty = Structure()
    empty.reserve(2)
    assert empty.add("first", VARIABLE, reserved=0) == 0


@pytest.mark.parametrize(
    ("number", "error"), [(0, NodeInUseError), (1, NodeInUseError), (3, UnknownNodeError)]
)
def test_only_a_number_that_is_reserved_or_next_can_be_asked_for(
    number: int, error: type[Exception]
) -> None:
    structure = Structure()
    structure.add("taken", VARIABLE)
    structure.remove(structure.add("removed", VARIABLE))
    with pytest.raises(error, match=f"node {number}:"):
        structure.add("tip", VARIABLE, reserved=number)
    assert list(structure) == [0]


def test_the_lists_of_a_store_are_as_long_as_those_of_its_structure_after_reserving() -> None:
    store = Store()
    store.reserve(3)
    q = store.add("q", VARIABLE, value=1.5)
    tip = store.add("tip", ENTRY, (q,), reserved=1)
    store.mark_valid(tip)
    store.write(q)
    assert (q, tip, store.is_valid(tip), store.values[q]) == (3, 1, False, 1.5)
    assert len(store.values) == len(store.marks) == len(store.gates) == len(store.structure.keys)


def test_a_sound_structure_is_left_as_it_is_when_it_is_mended() -> None:
    structure = Structure()
    stage, a, b = (
        structure.add(name, kind)
        for name, kind in zip("sab", (STAGE, VARIABLE, VARIABLE), strict=True)
    )
    presumed = structure.add("p", ENTRY, (a,), stage)
    compared = structure.add("c", ENTRY, (a, b), is_compared=True)
    below = structure.add("d", ENTRY, (compared, presumed))
    beside = structure.add("h", ENTRY, (a, b))
    structure.add("i", ENTRY, (beside, presumed))
    gone = structure.add("g", ENTRY, (compared,), stage)
    structure.remove(gone)
    presumable, group_of = dict(structure.presumable), structure.group_of.copy()
    structure.mend()
    assert (structure.presumable, structure.group_of) == (presumable, group_of)
    check_structure(structure)
    assert structure.add("e", VARIABLE) == gone
    for key, computed_by, other in [("p2", stage, presumed), ("c2", NEVER, compared)]:
        again = structure.add(key, ENTRY, tuple(structure.prerequisites[other]), computed_by)
        assert structure.group_of[again] == structure.group_of[other]
    again = structure.add("d2", ENTRY, (presumed, compared))
    assert structure.group_of[again] == structure.group_of[below]
    check_structure(structure)


def test_nothing_is_compared_that_a_removal_has_left_when_it_was_cut_short() -> None:
    structure = Structure()
    a = structure.add("a", VARIABLE)
    compared = structure.add("c", ENTRY, (a,), is_compared=True)
    structure.keys[compared] = None  # the first step
    structure.mend()
    assert structure.compared == set()
    check_structure(structure)


def test_what_is_above_anyway_founds_no_other_group_below_a_compared_entry() -> None:
    structure = Structure()
    a, b = structure.add("a", VARIABLE), structure.add("b", VARIABLE)
    compared = structure.add("c", ENTRY, (a,), is_compared=True)
    below = structure.add("d", ENTRY, (compared, b))
    lower = structure.add("e", ENTRY, (below, b))
    assert structure.group_of[lower] == structure.group_of[below]
    check_structure(structure)


def test_what_is_below_a_compared_entry_shares_no_group_with_what_is_below_another_like_it() -> (
    None
):
    structure = Structure()
    a, b = structure.add("a", VARIABLE), structure.add("b", VARIABLE)
    above = structure.add("above", ENTRY, (a,), is_compared=True)
    compared = structure.add("compared", ENTRY, (above,), is_compared=True)
    plain = structure.add("plain", ENTRY, (above,))
    assert structure.group_of[plain] == structure.group_of[compared]
    tips = [structure.add("tip", ENTRY, (b, each)) for each in (compared, plain)]
    assert structure.group_of[tips[0]] != structure.group_of[tips[1]]
    check_structure(structure)


def test_a_kind_of_node_is_named_in_words() -> None:
    assert [str(kind) for kind in NodeKind] == ["variable", "stage", "cache entry"]
