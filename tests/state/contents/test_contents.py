"""Handles of other States, writes in computations, copies, automatic updates, event triggers."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagecache import (
    CacheEntry,
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    event_trigger,
    mass_matrix,
    parameter,
    q_variable,
    simbody,
    u_variable,
)
from stagecache.errors import (
    ForeignNodeError,
    NodeInUseError,
    PrerequisiteStageError,
    ReadOnlyError,
    StageTooLowError,
)
from stagecache.state.contents.observer import Observer, observe
from tests.state.realizing import realize, state_of

TOPOLOGY, MODEL, INSTANCE, TIME, POSITION = list(Stage)[1:6]
REPORT, INFINITY = Stage.REPORT, Stage.INFINITY


class Spring(Subsystem):
    """A subsystem with a parameter that a computation may write, and one that takes its time."""

    length = parameter(2.0)
    angle = q_variable(0.5)

    def __init__(self) -> None:
        self.acts: list[Callable[[State], object]] = []  # in place: no change of the System
        self.hooks: list[Callable[[State], object]] = []

    @cached(prerequisites=(length, angle))
    def force(self, state: State) -> float:
        for act in self.acts:
            act(state)
        return self.length(state) * self.angle(state)

    def realize_velocity(self, state: State) -> None:
        for hook in self.hooks:
            hook(state)


# ---------------------------------------------------------------------- handles of other States


READS: dict[str, Callable[[CacheEntry[Any], State], object]] = {
    "call": lambda entry, state: entry(state),
    "ask": lambda entry, state: entry.is_valid(state),
    "set": lambda entry, state: entry.set(state, 1.0),
    "upd": lambda entry, state: entry.upd(state),
    "mark": lambda entry, state: entry.mark_valid(state),
    "invalidate": lambda entry, state: entry.invalidate(state),
    "version": lambda entry, state: entry.version(state),
    "forget": lambda entry, state: state._contents.forget_value(entry),
    "get": lambda entry, state: state._contents.get_entry(entry),
}


@pytest.mark.parametrize("is_observed", [False, True])
@pytest.mark.parametrize("read", READS)
def test_an_entry_that_was_allocated_after_the_copy_is_not_in_it(
    read: str, is_observed: bool
) -> None:
    state = state_of("a")
    state[0].allocate_lazy_cache_entry(TOPOLOGY, 1.0)
    realize(state, TOPOLOGY)
    twin = state.copy()
    later = [state[0].allocate_lazy_cache_entry(TOPOLOGY, 2.0) for _ in range(3)]
    own = twin[0].allocate_lazy_cache_entry(TOPOLOGY, 3.0)  # where one of these is there
    own.mark_valid(twin)
    if is_observed:
        observe(twin._contents, Observer())
    for entry in later:
        with pytest.raises(ForeignNodeError, match="is not in this State"):
            READS[read](entry, twin)
    assert own(twin) == 3.0


class Massless(Subsystem):
    rate = u_variable(0.0)

    @mass_matrix(exists=lambda self: False)
    def m_matrix(self, state: State) -> Any:
        return np.eye(1)


def test_an_item_that_the_model_does_not_have_is_told_from_one_of_another_model() -> None:
    part = Massless()
    state, other = System(part).new_state(), System(Massless()).new_state()
    with pytest.raises(ForeignNodeError) as refused:
        part.m_matrix(state)
    assert refused.value.got == "one that this model does not have"
    with pytest.raises(ForeignNodeError) as refused:
        part.m_matrix(other)
    assert refused.value.got.startswith("one that is declared, and a State of System")
    assert refused.value.hint.endswith("copy its default_state")


def test_a_vector_that_is_not_there_yet_is_named_with_its_subsystem() -> None:
    state = realize(state_of("arm"), INSTANCE)
    with pytest.raises(StageTooLowError) as refused:
        _ = state[0].qdot
    assert refused.value.what.startswith("qdot of subsystem 0 'arm'")
    with pytest.raises(StageTooLowError) as refused:
        _ = state.qdot
    assert refused.value.what.startswith("qdot: ")


# ---------------------------------------------------------------------- during computations


def test_a_computation_in_a_state_of_a_system_writes_nothing() -> None:
    spring = Spring()
    state = System(spring).new_state()
    spring.acts.append(lambda state: spring.angle.set(state, 0.25))
    with pytest.raises(ReadOnlyError) as refused:
        spring.force(state)
    assert refused.value.what == "a write of q block 'angle' of subsystem 1 'spring': is refused"
    assert spring.angle(state) == 0.5


def test_an_entry_allocated_at_model_is_not_forgotten_while_it_is_computed() -> None:
    state = realize(state_of("a"), MODEL)
    entry = state[0].allocate_lazy_cache_entry(
        TOPOLOGY, compute=lambda state: state.invalidate_all(INSTANCE)
    )
    realize(state, REPORT)
    with pytest.raises(NodeInUseError, match="is being computed, and would be forgotten"):
        entry(state)
    assert state.stage is REPORT


def test_a_state_is_realized_while_another_thread_computes_an_entry() -> None:
    spring = Spring()
    system = System(spring)
    state = system.new_state()
    begun, may_end = threading.Event(), threading.Event()

    def wait(_: State) -> None:
        begun.set()
        assert may_end.wait(60)

    spring.acts.append(wait)
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(spring.force(state)))
    thread.start()
    try:
        assert begun.wait(60)
        system.realize(state, REPORT)
        assert state.stage is REPORT
    finally:
        may_end.set()
        thread.join()
    assert found == [1.0]


def test_a_hook_makes_no_copy_with_what_is_computed_so_far() -> None:
    spring = Spring()
    spring.hooks.append(lambda state: state.copy(keep_cache=True))
    system = System(spring)
    state = system.new_state()
    with pytest.raises(ReadOnlyError, match=r"copy\(keep_cache=True\)"):
        system.realize(state)


# ---------------------------------------------------------------------- copies


def test_a_copy_of_a_state_of_an_older_topology_is_as_useless() -> None:
    spring = Spring()
    system = System(spring)
    state = system.new_state()
    system.add(Spring())
    for twin in (state.copy(), state.copy(keep_cache=True)):
        with pytest.raises(ReadOnlyError, match="older topology"):
            twin.time = 1.0


class Lonely:
    """A value that nobody can copy."""

    def __deepcopy__(self, memo: object) -> "Lonely":
        raise AssertionError("it was copied")


def test_a_computed_value_is_shared_even_if_it_cannot_be_copied() -> None:
    state = state_of("a")
    names = state[0].allocate_discrete_variable(REPORT, ["x"])
    entry = state[0].allocate_lazy_cache_entry(TOPOLOGY, compute=lambda state: Lonely())
    realize(state, INSTANCE)
    found = entry(state)
    names.upd(state).append("y")
    twin = state.copy(keep_cache=True)
    assert entry(twin) is found
    assert names(twin) == ["x", "y"]


class Latch(Subsystem):
    """A list, and a function that computes the next one."""

    limit = parameter(1.0)
    seen = auto_update(factory=lambda self: [0.0], invalidates=REPORT, available_from=TIME)

    @seen.update(prerequisites=(limit,))
    def next_seen(self, state: State) -> list[float]:
        return [self.limit(state)]


def test_a_computed_update_value_that_becomes_the_value_is_not_shared() -> None:
    latch = Latch()
    system = System(latch)
    state = system.new_state()
    system.realize(state)
    twin = state.copy(keep_cache=True)
    for each in (state, twin):
        each.auto_update_discrete_variables()
        assert latch.seen(each) == [1.0]
    latch.seen.upd(state).append(2.0)
    assert (latch.seen(state), latch.seen(twin)) == ([1.0, 2.0], [1.0])


def test_a_value_that_was_handed_out_and_replaced_is_shared_again() -> None:
    state = state_of("a")
    variable = state[0].allocate_discrete_variable(REPORT, np.zeros(2))
    entry = state[0].allocate_lazy_cache_entry(TOPOLOGY, np.zeros(2))
    realize(state, TOPOLOGY)
    for item in (variable, entry):
        item.upd(state)[0] = 1.0
        item.set(state, np.ones(2))
    entry.mark_valid(state)
    twin = state.copy(keep_cache=True)
    for item in (variable, entry):
        assert np.shares_memory(item(state), item(twin))


@pytest.mark.parametrize("detach", [State.checkpoint, State.freeze])
def test_an_array_that_was_detached_cannot_be_changed_by_who_reads_it(
    detach: Callable[[State], object],
) -> None:
    state = state_of("a")
    variable = state[0].allocate_discrete_variable(REPORT, np.zeros(2))
    part = variable.upd(state)[:1]
    detach(state)
    part[0] = 1.0  # a slice cannot be sealed
    with pytest.raises(ValueError, match="read-only"):
        variable(state)[0] = 2.0
    assert list(variable(state)) == [0.0, 0.0]


def test_a_copy_may_leave_out_an_item_on_which_only_what_is_left_out_depends() -> None:
    state = state_of("a", "b")
    state[0].allocate_discrete_variable(REPORT, 1.0)
    realize(state, TOPOLOGY)
    late = state[0].allocate_discrete_variable(REPORT, 1.0, name="late")
    entry = state[1].allocate_cache_entry_with_prerequisites(TOPOLOGY, INFINITY, (late,))
    twin = state.copy()
    assert not simbody.has_cache_entry(twin[1], entry.index)
    state[1].advance_to_stage(MODEL)
    with pytest.raises(PrerequisiteStageError, match="'late' of subsystem 0 'a'"):
        state.copy()


# ---------------------------------------------------------------------- automatic updates


def latched(value: object) -> tuple[State, Any]:
    state = state_of("a")
    variable = state[0].allocate_auto_update_discrete_variable(REPORT, value, TIME)
    return realize(state, TIME), variable


def test_a_list_that_was_handed_out_is_detached_even_if_it_is_the_update_value_now() -> None:
    state, variable = latched([1.0])
    variable.update.set(state, [2.0])
    handed = variable.upd(state)
    variable.update.mark_valid(state)
    state.auto_update_discrete_variables()
    state.checkpoint()
    handed.append(3.0)
    assert variable(state) == [2.0]
    assert variable.update.upd(state) == [1.0]


def test_an_array_that_was_not_handed_out_is_shared_after_an_automatic_update() -> None:
    state, variable = latched(np.zeros(2))
    variable.update.set(state, np.ones(2))
    variable.update.mark_valid(state)
    state.auto_update_discrete_variables()
    assert np.shares_memory(variable(state), variable(state.copy(keep_cache=True)))


def test_an_array_of_the_update_value_is_sealed_when_it_becomes_the_value() -> None:
    state, variable = latched(np.zeros(2))
    variable.update.mark_valid(state)
    view = variable.update.upd(state)
    state.auto_update_discrete_variables()
    assert not view.flags.writeable
    assert list(variable(state)) == [0.0, 0.0]


class Follower(Subsystem):
    """Its next value is computed from an array that may be changed in place."""

    limits = discrete(np.array([1.0, 2.0]), invalidates=REPORT)
    total = auto_update(0.0, invalidates=REPORT, available_from=TIME)
    by_hand = auto_update(np.zeros(2), invalidates=REPORT, available_from=TIME)

    @total.update(prerequisites=(limits,))
    def next_total(self, state: State) -> float:
        return float(self.limits(state).sum())


def test_a_view_is_sealed_by_an_automatic_update_that_computes_from_it() -> None:
    follower = Follower()
    system = System(follower)
    state = system.new_state()
    system.realize(state)
    view = follower.limits.upd(state)
    view[0] = 5.0
    state.auto_update_discrete_variables()
    assert follower.total(state) == 7.0
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 6.0


def test_views_of_values_are_sealed_when_a_system_realizes_the_state() -> None:
    follower = Follower()
    system = System(follower)
    for item in (follower.limits, follower.by_hand.update):
        state = system.new_state()
        system.realize(state, TIME)
        view = item.upd(state)
        assert view.flags.writeable
        system.realize(state)
        assert not view.flags.writeable


# ---------------------------------------------------------------------- values stored by hand


def test_a_value_stored_by_hand_counts_as_another_one_even_if_it_is_computed_next() -> None:
    state = state_of("a")
    angle = state[0].allocate_q([1.5])
    allocate = state[0].allocate_cache_entry_with_prerequisites
    side = allocate(
        TOPOLOGY, INFINITY, (angle,), compute=lambda s: float(np.floor(angle(s)[0])), equal=True
    )
    tens = allocate(TOPOLOGY, INFINITY, (side,), compute=lambda s: 10 * side(s))
    realize(state, MODEL)
    assert tens(state) == 10.0
    side.set(state, 2.0)
    angle.set(state, [2.5])
    assert (side(state), tens(state)) == (2.0, 20.0)


# ---------------------------------------------------------------------- event triggers


class Bell(Subsystem):
    x = q_variable(0.5)

    @event_trigger(stage=POSITION)
    def bell(self, state: State) -> float:
        return self.x(state) - 1.0


class Counting(Observer):
    """Counts reads of entries."""

    def __init__(self) -> None:
        self.reads = 0

    def reading(self, entry: CacheEntry[Any]) -> None:
        self.reads += 1


def test_triggers_of_a_stage_that_were_left_out_are_computed_when_they_are_read_and_once() -> None:
    system = System(Bell())
    state = system.new_state()
    system._realize_rates(state, state._contents, Stage.ACCELERATION)
    assert list(state.event_triggers_by_stage(POSITION)) == [-0.5]
    complete = system.new_state()
    system.realize(complete, Stage.ACCELERATION)
    for each in (state, complete, complete.copy(keep_cache=True)):
        counting = Counting()
        observe(each._contents, counting)
        assert list(each.event_triggers_by_stage(POSITION)) == [-0.5]
        assert list(each.event_triggers) == [-0.5]
        assert counting.reads == 0


def test_a_copy_does_not_lack_the_triggers_that_it_is_yet_to_compute() -> None:
    system = System(Bell())
    state = system.new_state()
    system._realize_rates(state, state._contents, Stage.ACCELERATION)
    twin = state.copy()
    system.realize(twin, Stage.ACCELERATION)
    counting = Counting()
    observe(twin._contents, counting)
    assert list(twin.event_triggers) == [-0.5]
    assert counting.reads == 0
