"""The life of a State: copies, assignments, versions, subsystems."""

import copy
import gc
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

import numpy as np
import pytest

from stagecache import CacheEntry, Stage, State, Subsystem, System, simbody
from stagecache.errors import (
    ForeignStateError,
    InvalidNameError,
    NodeInUseError,
    OutOfRangeError,
    PrerequisiteStageError,
    ReadOnlyError,
    StageOutOfRangeError,
    StageTooHighError,
    StageTooLowError,
    UnknownItemError,
    UnknownSubsystemError,
    WrongTypeError,
)
from tests.state.realizing import realize, state_of

TOPOLOGY, MODEL, INSTANCE, TIME, POSITION = list(Stage)[1:6]
VELOCITY, REPORT, INFINITY = Stage.VELOCITY, Stage.REPORT, Stage.INFINITY


def build() -> State:
    """Entries 0 to 2 depend on Topology and q, on Instance, on Position; all are marked."""
    state = state_of("a")
    state[0].allocate_q([1.0, 2.0])
    state[0].allocate_discrete_variable(INSTANCE, [1])
    state[0].allocate_discrete_variable(INSTANCE, np.zeros(2))
    q = state.variable("q")
    state[0].allocate_cache_entry_with_prerequisites(TOPOLOGY, INFINITY, (q,), 10)
    state[0].allocate_lazy_cache_entry(INSTANCE, 11)
    state[0].allocate_lazy_cache_entry(POSITION, 12)
    realize(state, TOPOLOGY)
    state.time = 2.0
    realize(state, REPORT)
    for i in range(3):
        simbody.mark_cache_value_realized(state[0], i)
    return state


def realized(state: State) -> list[bool]:
    return [simbody.is_cache_value_realized(state[0], i) for i in range(3)]


def test_a_copy_has_the_variables_and_what_depends_on_instance_or_before() -> None:
    state = build()
    state.qerr_weights = []
    state.q = [5, 6]
    simbody.mark_cache_value_realized(state[0], 0)
    realize(state, REPORT)
    twin = state.copy()
    assert (twin.stage, twin[0].stage, twin.time) == (INSTANCE, INSTANCE, 2.0)
    assert list(twin.q) == [5, 6]
    assert twin.variable("q").version(twin) == state.variable("q").version(state)
    assert realized(twin) == [True, True, False]
    realize(twin, REPORT)
    assert realized(twin) == [True, True, False]
    assert simbody.get_cache_entry(state[0], 0) == simbody.get_cache_entry(twin[0], 0) == 10


def test_the_module_copy_makes_such_a_copy_too() -> None:
    state = build()
    realize(state, REPORT)
    twin = copy.copy(state)
    twin.q = [5, 6]
    assert (twin.stage, state.stage) == (INSTANCE, REPORT)
    assert list(state.q) != [5, 6]


def test_a_copy_shares_nothing_that_can_change() -> None:
    state = build()
    twin = state.copy()
    assert simbody.get_discrete_variable(twin[0], 0) is not simbody.get_discrete_variable(
        state[0], 0
    )
    assert simbody.get_discrete_variable(twin[0], 1) is simbody.get_discrete_variable(state[0], 1)
    simbody.upd_discrete_variable(twin[0], 0).append(2)
    simbody.upd_discrete_variable(twin[0], 1)[:] = 7
    twin.upd_q()[:] = 7
    assert simbody.get_discrete_variable(state[0], 0) == [1]
    assert list(simbody.get_discrete_variable(state[0], 1)) == [0, 0]
    assert list(state.q) == [1, 2]
    assert realized(state) == [True, True, True]


def test_an_array_that_is_handed_out_for_writing_is_copied() -> None:
    state = build()
    array = simbody.upd_discrete_variable(state[0], 1)
    twin = state.copy()
    array[:] = 7
    assert list(simbody.get_discrete_variable(twin[0], 1)) == [0, 0]


def test_a_slice_that_somebody_kept_does_not_reach_into_a_copy() -> None:
    state = build()
    kept = simbody.upd_discrete_variable(state[0], 1)[:]
    realize(state, REPORT)
    twin = state.copy()
    kept[:] = 7
    assert list(simbody.get_discrete_variable(twin[0], 1)) == [0, 0]


def test_objects_in_arrays_and_objects_held_twice_are_copied_as_such() -> None:
    state = state_of("a")
    shared = [1]
    array = np.empty(1, object)
    array[0] = shared
    for value in (array, shared, shared):
        state[0].allocate_discrete_variable(INSTANCE, value)
    realize(state, TOPOLOGY)
    twin = state.copy()
    simbody.get_discrete_variable(twin[0], 1).append(2)
    assert simbody.get_discrete_variable(state[0], 0)[0] == [1]
    assert simbody.get_discrete_variable(twin[0], 0)[0] is simbody.get_discrete_variable(twin[0], 2)
    assert simbody.get_discrete_variable(twin[0], 2) == [1, 2]


def test_a_value_that_cannot_be_copied_is_named() -> None:
    state = state_of("a")
    state[0].allocate_discrete_variable(INSTANCE, threading.Lock(), name="door")
    realize(state, TOPOLOGY)
    with pytest.raises(TypeError) as refused:
        state.copy()
    assert "discrete variable 'door' of subsystem 0 'a'" in refused.value.__notes__[0]


def test_a_copy_of_a_stale_entry_is_stale_whatever_is_realized() -> None:
    state = build()
    state.upd_q()
    twin = state.copy()
    realize(twin, POSITION)
    assert realized(twin) == [False, True, False]


@pytest.mark.parametrize("stage", list(Stage)[:10])
def test_a_copy_is_at_instance_or_before(stage: Stage) -> None:
    state = realize(state_of("a", "b"), stage)
    twin = state.copy()
    assert (twin.stage, twin[1].stage) == (min(stage, INSTANCE),) * 2
    assert twin[0].name == "a"


def test_what_is_allocated_but_not_advanced_over_is_not_copied() -> None:
    state = state_of("a")
    state[0].allocate_q([1.0])
    realize(state, TOPOLOGY)
    state[0].allocate_q([2.0])
    state[0].allocate_qerr(1)
    twin = realize(state.copy(), INSTANCE)
    assert (twin.nq, twin.nqerr) == (1, 0)
    assert (realize(state, INSTANCE).nq, state.nqerr) == (2, 1)


def test_a_copy_computes_nothing_of_a_stage_that_it_has_not_reached() -> None:
    state = state_of("a")
    entry = state[0].allocate_lazy_cache_entry(POSITION, compute=lambda state: 1)
    realize(state, POSITION)
    twin = state.copy()
    with pytest.raises(StageTooLowError):
        entry(twin)
    assert entry(realize(twin, POSITION)) == entry(state) == 1


def test_a_copy_without_what_others_depend_on_is_refused() -> None:
    state = state_of("ahead", "behind")
    mass = state[1].allocate_discrete_variable(INSTANCE, 1.0, name="mass")
    state[0].allocate_cache_entry_with_prerequisites(TOPOLOGY, INFINITY, (mass,))
    state[0].advance_to_stage(TOPOLOGY)
    with pytest.raises(PrerequisiteStageError, match="'mass' of subsystem 1 'behind'"):
        state.copy()
    state[1].advance_to_stage(TOPOLOGY)
    assert simbody.has_cache_entry(state.copy()[0], 0)


@pytest.mark.parametrize("is_ahead", [True, False])
def test_of_items_that_are_not_advanced_over_those_are_left_out_that_nothing_else_needs(
    is_ahead: bool,
) -> None:
    state = realize(state_of("other", "owner", "user"), TOPOLOGY)
    _, owner, user = state
    owner.allocate_discrete_variable(INSTANCE, 1.0)
    owner.advance_to_stage(MODEL)
    late = owner.allocate_lazy_cache_entry(TIME)
    user.advance_to_stage(MODEL)
    user.allocate_cache_entry_with_prerequisites(TIME, INFINITY, (late,))
    if not is_ahead:
        twin = state.copy()
        assert [simbody.has_cache_entry(part, 0) for part in twin] == [False] * 3
        return
    user.advance_to_stage(INSTANCE)
    with pytest.raises(PrerequisiteStageError, match="of subsystem 1 'owner'"):
        state.copy()


def test_after_an_assignment_all_versions_are_higher_than_in_both() -> None:
    state, other = build(), build()
    for _ in range(3):
        state.upd_q()
        simbody.upd_discrete_variable(state[0], 0)
        realize(state, REPORT)
    other.q = [8, 9]
    before = [versions(state), versions(other)]
    state.assign(other)
    assert list(state.q) == [8, 9]
    assert state.stage == INSTANCE
    for old in before:
        assert all(new > v for new, v in zip(versions(state), old, strict=True))
    assert realized(state) == realized(other.copy())
    other.q = [0, 0]
    assert list(state.q) == [8, 9]


def versions(state: State) -> list[int]:
    """The numbers that must never be given twice, at Report."""
    twin = state
    stages = [*twin[0].stage_versions[2:]]
    variables = [simbody.discrete_variable_info(twin[0], i).version(twin) for i in (0, 1)]
    vectors = [twin.variable(name).version(twin) for name in ("q", "u", "z")]
    return [*vectors, *variables, *stages]


def test_a_state_can_be_assigned_one_with_other_subsystems() -> None:
    state, other = build(), realize(state_of("x", "y"), TIME)
    kept = state[0]
    state.assign(other)
    assert [s.name for s in state] == ["x", "y"]
    assert state.nq == 0
    assert kept.name == "x"
    state.assign(state)
    assert state.num_subsystems == 2
    with pytest.raises(WrongTypeError):
        state.assign(3)  # type: ignore[arg-type]  # is refused


def test_a_cleared_state_is_empty_and_its_versions_go_on() -> None:
    state = build()
    saved = state.stage_versions
    before = (state.variable("q").version(state), state.topology_version)
    state.clear()
    assert (state.stage, state.num_subsystems) == (Stage.EMPTY, 0)
    assert state.variable("q").version(state) > before[0]
    assert state.topology_version == before[1] + 1
    realize(state, REPORT)
    assert state.lowest_stage_difference(saved) is TOPOLOGY
    simbody.set_num_subsystems(state, 3)
    assert [s.stage for s in state] == [Stage.EMPTY] * 3
    with pytest.raises(OutOfRangeError):
        simbody.set_num_subsystems(state, -1)


def test_subsystems_are_added_while_the_system_is_empty() -> None:
    state = state_of("a")
    state[0].advance_to_stage(TOPOLOGY)
    assert state.add_subsystem("b", "2") == 1
    assert (state[1].name, state[1].version, state[1].index, len(state)) == ("b", "2", 1, 2)
    realize(state, TOPOLOGY)
    with pytest.raises(StageTooHighError, match="at Topology"):
        state.add_subsystem("c")
    simbody.initialize_subsystem(state, 1, "d", "3")
    assert (state[1].name, state[1].version) == ("d", "3")


def test_renaming_a_subsystem_of_a_copy_leaves_the_original_alone() -> None:
    state = state_of("a")
    twin = state.copy()
    simbody.initialize_subsystem(twin, 0, "b", "")
    assert (state[0].name, twin[0].name) == ("a", "b")


def test_versions_of_a_subsystem_rise_on_where_it_was_forgotten() -> None:
    state = build()
    for _ in range(3):
        state.upd_q()
        realize(state, REPORT)
    before = state[0].stage_versions
    state.clear()
    state.add_subsystem("again")
    after = state[0].stage_versions
    assert all(new > old for new, old in zip(after[1:], before[1:], strict=True))


def test_a_partition_of_a_subsystem_that_is_gone_says_so() -> None:
    state = build()
    partition = state[0]
    state.clear()
    assert repr(partition) == "SubsystemState(subsystem 0, which is not in the State any more)"
    for read in ("name", "stage", "nq", "q_start"):
        with pytest.raises(UnknownSubsystemError):
            getattr(partition, read)
    with pytest.raises(UnknownSubsystemError):
        partition.allocate_q([1.0])
    with pytest.raises(UnknownSubsystemError):
        partition.allocate_lazy_cache_entry(Stage.TIME)
    with pytest.raises(UnknownSubsystemError):
        partition.upd_q()
    with pytest.raises(UnknownSubsystemError):
        partition.q = [1.0]


def test_partitions_are_equal_if_they_are_of_one_state_and_subsystem() -> None:
    state = state_of("a", "b")
    assert state[0] == state[0]
    assert len({state[0], state[0], state[1]}) == 2
    assert state[0] != state.copy()[0]
    assert state[0] != 0


def test_a_stage_version_rises_when_the_stage_is_left() -> None:
    state = realize(state_of("a"), VELOCITY)
    saved = state.stage_versions
    assert list(saved) == [1] * 7
    state.upd_u()
    assert list(state.stage_versions) == [1] * 6
    assert state.lowest_stage_difference(saved) is VELOCITY
    realize(state, VELOCITY)
    assert list(state.stage_versions) == [1, 1, 1, 1, 1, 1, 2]
    assert state.lowest_stage_difference(saved) is VELOCITY
    assert state.lowest_stage_difference(state.stage_versions) is INFINITY
    assert state[0].stage_versions == (1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)
    with pytest.raises(OutOfRangeError, match="not versions of stages"):
        state.lowest_stage_difference(3)  # type: ignore[arg-type]  # is refused


def test_the_topology_version_is_set_without_a_change_of_stage() -> None:
    for stage in (Stage.EMPTY, REPORT):
        state = realize(state_of("a"), stage)
        state.topology_version = 7
        assert (state.topology_version, state.stage) == (7, stage)
        with pytest.raises(OutOfRangeError, match="topology version"):
            state.topology_version = 0


def test_invalidating_a_stage_that_nobody_has_reached_changes_nothing() -> None:
    state = build()
    state.invalidate_all(POSITION)
    simbody.mark_cache_value_realized(state[0], 2)
    state.invalidate_all(POSITION)
    realize(state, POSITION)
    assert realized(state) == [True, True, True]
    with pytest.raises(StageOutOfRangeError):
        state.invalidate_all(Stage.EMPTY)
    with pytest.raises(StageTooLowError):
        simbody.invalidate_all_cache_at_or_above(state, MODEL)
    simbody.invalidate_all_cache_at_or_above(state, INSTANCE)
    assert state.stage == MODEL


def test_each_state_has_a_lock_of_its_own_that_can_be_taken_twice() -> None:
    state = State()
    with state.lock, state.lock:
        assert state.copy().lock is not state.lock


def test_a_state_is_freed_when_the_last_reference_goes() -> None:
    gc.disable()
    try:
        state = build()
        entry = simbody.cache_entry_info(state[0], 0)
        twin = state.copy()
        alive = [ref(state), ref(twin)]
        del state, twin
        assert [r() for r in alive] == [None, None]
        assert entry.name == "cache entry 0"
    finally:
        gc.enable()


def test_threads_that_read_one_state_compute_an_entry_once() -> None:
    state = state_of("a")
    calls = []
    started = threading.Barrier(4)

    def compute(state: State) -> float:
        calls.append(1)
        return state.time

    slow = state[0].allocate_lazy_cache_entry(TIME, compute=compute)
    below = state[0].allocate_cache_entry_with_prerequisites(
        TIME, INFINITY, (slow,), compute=lambda state: slow(state) + 1
    )
    realize(state, TIME)
    results: list[float] = []

    def read() -> None:
        started.wait()
        results.append(below(state))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (results, len(calls)) == ([1.0] * 4, 1)


def test_what_is_being_computed_is_not_forgotten() -> None:
    state = state_of("a")

    def compute(state: State) -> None:
        state.invalidate_all(TOPOLOGY)

    entry = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=compute)
    clearing = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=State.clear)
    realize(state, REPORT)
    for refused in (entry, clearing):
        with pytest.raises(NodeInUseError, match="is being computed"):
            refused(state)
    assert state.stage == REPORT


def test_a_computation_may_invalidate_a_stage_after_which_its_entry_is_still_there() -> None:
    state = state_of("a")

    def compute(state: State) -> float:
        state.invalidate_all(INSTANCE)
        return 1.0

    entry = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=compute)
    realize(state, REPORT)
    assert entry(state) == 1.0
    assert (state.stage, entry.is_valid(state)) == (MODEL, True)


def test_a_state_is_copied_while_other_threads_read_it() -> None:
    state = state_of("a")
    block = state[0].allocate_q([0.0])
    allocate = state[0].allocate_cache_entry_with_prerequisites
    entries = [
        allocate(TOPOLOGY, INFINITY, (block,), compute=lambda state: float(block(state)[0]))
        for _ in range(100)
    ]
    realize(state, REPORT)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for n in range(30):
            view = state.upd_q()
            view[0] = n
            threads = [threading.Thread(target=lambda: [e(state) for e in entries]) for _ in (1, 2)]
            for thread in threads:
                thread.start()
            copies = [state.copy() for _ in range(5)]
            for thread in threads:
                thread.join()
            assert [[e(c) for e in entries] for c in copies] == [[n] * len(entries)] * 5
    finally:
        sys.setswitchinterval(interval)


def one_more(state: State, above: CacheEntry[float]) -> CacheEntry[float]:
    return state[0].allocate_cache_entry_with_prerequisites(
        TOPOLOGY, INFINITY, (above,), compute=lambda state: above(state) + 1
    )


def test_a_deep_chain_of_entries_is_computed_at_the_usual_recursion_limit() -> None:
    state = state_of("a")
    block = state[0].allocate_q([1.0])
    above = state[0].allocate_cache_entry_with_prerequisites(
        TOPOLOGY, INFINITY, (block,), compute=lambda state: float(block(state)[0])
    )
    for _ in range(5_000):
        above = one_more(state, above)
    realize(state, MODEL)
    assert above(state) == 5_001.0
    block.set(state, [2.0])
    assert above(state) == 5_002.0


def test_a_partition_is_found_by_the_name_of_its_subsystem() -> None:
    state = State()
    for name in ("arm", "leg", "leg", ""):
        state.add_subsystem(name)
    assert state["arm"] == state[0]
    for name in ("leg", "head"):  # two have the first, none has the second
        with pytest.raises(UnknownSubsystemError, match="is not in State") as caught:
            state[name]
        assert caught.value.hint == "use one of 0 'arm', 1 'leg', 2 'leg', 3"


def test_advancing_first_completes_an_assignment_that_was_cut_short() -> None:
    state, other = State(), State()
    for each in (state, other):
        each.add_subsystem("part")
    other[0].advance_to_stage(Stage.TOPOLOGY)
    other.advance_to_stage(Stage.TOPOLOGY)
    contents = state._contents
    twin = other.copy()._contents
    contents.unfinished = partial(contents.assign, twin)  # as Control-C leaves it
    contents.realization.is_torn = True
    state[0].advance_to_stage(Stage.MODEL)
    assert state[0].stage is Stage.MODEL
    assert state.stage is Stage.TOPOLOGY


@pytest.mark.parametrize("name", ["w", 3, ["q"], None])
def test_a_variable_that_does_not_exist_is_refused_by_what_was_given(name: Any) -> None:
    state = state_of("part")
    for whole in (state, state[0]):
        with pytest.raises(UnknownItemError, match="does not exist") as caught:
            whole.variable(name)
        assert caught.value.got == repr(name)


WRITES: dict[str, Callable[[State], object]] = {
    "y": lambda state: setattr(state, "y", [1.0, 2.0]),
    "q": lambda state: setattr(state, "q", [1.0, 2.0]),
    "q of a subsystem": lambda state: setattr(state[0], "q", [1.0, 2.0]),
    "handle of q": lambda state: state.variable("q").set(state, [1.0, 2.0]),
    "handle of q of a subsystem": lambda state: state[0].variable("q").set(state, [1.0, 2.0]),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_of_a_whole_is_one_of_each_block_though_another_is_added_later(
    write: Callable[[State], object],
) -> None:
    state = state_of("a")
    blocks = [state[0].allocate_q([0.0])]
    realize(state, MODEL)
    state.y, state.q, state[0].q = [0.0], [0.0], [0.0]
    for part in (state, state[0]):
        part.variable("q").set(state, [0.0])
    state.invalidate_all(MODEL)
    blocks.append(state[0].allocate_q([0.0]))
    realize(state, MODEL)
    before = [block.version(state) for block in blocks]
    write(state)
    assert [block.version(state) for block in blocks] == [version + 1 for version in before]


def test_a_write_of_all_q_is_one_of_a_subsystem_that_is_added_later() -> None:
    state = state_of("a")
    realize(state, MODEL)
    state.q = []
    state.invalidate_all(TOPOLOGY)
    state.add_subsystem("b")
    realize(state, MODEL)
    q = state[1].variable("q")
    before = q.version(state)
    state.q = []
    assert q.version(state) == before + 1


def test_a_write_of_all_q_is_none_of_what_takes_the_place_of_a_block_that_is_forgotten() -> None:
    state = state_of("a")
    realize(state, TOPOLOGY)
    state[0].allocate_q([1.0])
    realize(state, MODEL)
    state.q = [2.0]
    state.invalidate_all(MODEL)
    entry = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=lambda state: 1)
    realize(state, MODEL)
    assert entry(state) == 1
    state.q = []
    assert entry.is_valid(state)


def test_what_was_marked_before_q_has_values_is_stale_once_it_has() -> None:
    state = state_of("a")
    state[0].allocate_q([1.0])
    for q in (state.variable("q"), state[0].variable("q")):
        entry = state[0].allocate_cache_entry_with_prerequisites(TOPOLOGY, INFINITY, (q,))
        realize(state, TOPOLOGY)
        entry.mark_valid(state)
        assert entry.is_valid(state)
        realize(state, MODEL)
        assert not entry.is_valid(state)
        state.invalidate_all(TOPOLOGY)


@pytest.mark.parametrize("reached", [TOPOLOGY, MODEL])
@pytest.mark.parametrize(("stage", "name"), [(MODEL, "q"), (TOPOLOGY, "time")])
def test_what_gets_its_first_value_again_gets_another_version(
    stage: Stage, name: str, reached: Stage
) -> None:
    if reached < stage:
        return
    state = state_of("a")
    state[0].allocate_q([0.0])
    realize(state, reached)
    state.time = 3.0
    if reached == MODEL:
        state.q = [5.0]
    variable = state.variable(name)
    version = variable.version(state)
    state.invalidate_all(stage)
    assert variable.version(state) > version
    realize(state, MODEL)
    assert 5.0 not in state.q
    assert state.time == (0.0 if stage == TOPOLOGY else 3.0)


def test_a_name_or_a_version_that_is_not_text_is_refused_and_nothing_is_renamed() -> None:
    state = state_of("a")
    for name, version in ((None, ""), ("b", 3)):
        with pytest.raises(InvalidNameError, match="subsystem 0: not a string"):
            simbody.initialize_subsystem(state, 0, name, version)  # type: ignore[arg-type]  # refused
    assert state[0].name == "a"


def system_of(name: str) -> System:
    system = System(Subsystem(), name=name)
    system.realize_topology()
    return system


def test_a_state_of_a_system_does_not_become_one_of_another_system() -> None:
    mine, theirs = system_of("mine").new_state(), system_of("theirs").new_state()
    with pytest.raises(ForeignStateError, match="theirs"):
        mine.assign(theirs)
    mine.assign(mine.copy())
    by_hand = state_of("a")
    by_hand.assign(theirs)
    assert by_hand.system is theirs.system
    by_hand.system.invalidate_topology_cache()
    with pytest.raises(ReadOnlyError, match="an older topology"):
        by_hand.time = 1.0
    mine.assign(State())
    assert mine.system is None


def test_the_default_state_gets_no_subsystem_and_no_later_stage() -> None:
    default = system_of("tank").default_state
    for change in (default.add_subsystem, partial(default.advance_to_stage, INSTANCE)):
        with pytest.raises(ReadOnlyError, match="default State"):
            change()
    assert (len(list(default)), default.stage) == (2, MODEL)


def test_a_subsystem_has_texts_for_name_and_version() -> None:
    state = State()
    refused: Any = 5
    for add in (partial(state.add_subsystem, refused), partial(state.add_subsystem, "a", refused)):
        with pytest.raises((WrongTypeError, InvalidNameError)):
            add()
    assert len(list(state)) == 0


def test_the_least_topology_version_is_1_and_all_variables_are_counted() -> None:
    state = state_of("a")
    for allocate, n in [("allocate_q", 1), ("allocate_u", 2), ("allocate_z", 3)]:
        getattr(state[0], allocate)(np.zeros(n))
    realize(state, MODEL)
    assert state.ny == len(state.y) == 6
    state.topology_version = 1
    assert state.topology_version == 1


def test_a_graph_has_the_name_of_the_system() -> None:
    assert system_of("tank").new_state().graph.title == "tank"
    assert state_of("a").graph.title == "State"
