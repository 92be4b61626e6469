"""Checkpoints of a State: what comes back, which numbers are never given again, what is refused."""

import gc
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from stagecache import (
    CacheEntry,
    Checkpoint,
    DiscreteVariable,
    Stage,
    State,
    Subsystem,
    System,
    modeling_option,
    q_variable,
    simbody,
    strict,
)
from stagecache.errors import (
    CheckpointError,
    ForeignNodeError,
    NodeInUseError,
    NotPicklableError,
    ReadOnlyError,
    TopologyVersionError,
    UndeclaredPrerequisiteError,
)
from stagecache.graph.store import Journal
from stagecache.state.handles import Vector
from tests.interrupting import ignore_lost_strikes, plain_only, steps, struck
from tests.profiles import examples
from tests.state.realizing import realize, state_of

FOREVER = (Stage.TOPOLOGY, Stage.INFINITY)


@dataclass
class Pendulum:
    """A State with one of each kind of item, realized to Position, and how often `tip` ran."""

    state: State = field(default_factory=lambda: state_of("pendulum"))
    calls: int = 0

    def __post_init__(self) -> None:
        part = self.state[0]
        self.length: DiscreteVariable[float] = part.allocate_discrete_variable(Stage.INSTANCE, 2.0)
        self.angle = part.allocate_q([0.5])
        self.rate = part.allocate_u([0.0])
        self.mode = part.allocate_auto_update_discrete_variable(Stage.POSITION, 1.0, Stage.TIME)
        self.tip: CacheEntry[float] = part.allocate_cache_entry_with_prerequisites(
            *FOREVER, (self.length, self.angle), compute=self.compute
        )
        self.force = part.allocate_cache_entry(Stage.POSITION, value=np.zeros(2))
        part.allocate_qerr(1)
        realize(self.state, Stage.POSITION)

    def compute(self, state: State) -> float:
        self.calls += 1
        return self.length(state) * float(self.angle(state)[0])

    def observe(self) -> dict[str, object]:
        """Everything that a rollback brings back; nothing is computed."""
        state, part = self.state, self.state[0]
        handles = (self.length, self.angle, self.rate, self.mode, self.tip, self.force)
        values = state._contents.realization.store.values
        pools = state._contents.pools
        return {
            "stages": (state.stage, part.stage, state.stage_versions, part.stage_versions),
            "versions": [handle.version(state) for handle in handles],
            "realized": [entry.is_valid(state) for entry in (self.tip, self.force)],
            "update": simbody.is_discrete_variable_update_value_realized(part, self.mode),
            "values": [repr(values[handle._node]) for handle in handles],
            "vectors": {name: array.tolist() for name, array in pools._arrays.items()},
            "time": (state.time, simbody.discrete_variable_last_update_time(part, self.length)),
        }


def observed(pendulum: Pendulum) -> str:
    return repr(pendulum.observe())  # where NaN equals NaN


# ---------------------------------------------------------------------- what comes back


def change_variables(p: Pendulum) -> None:
    p.length.set(p.state, 3.0)
    p.state.time = 4.0
    realize(p.state, Stage.VELOCITY)
    p.state.y = np.arange(p.state.ny) + 7.0


def change_caches(p: Pendulum) -> None:
    p.state.upd_qdot()[:] = 9.0
    p.force.upd(p.state)[:] = 9.0
    p.force.mark_valid(p.state)
    p.tip.invalidate(p.state)


def change_weights(p: Pendulum) -> None:
    p.state.u_weights = [5.0]
    p.state.qerr_weights = [5.0]


def update(p: Pendulum) -> None:
    p.mode.update.set(p.state, 5.0)
    p.mode.update.mark_valid(p.state)
    p.state.auto_update_discrete_variables()


def back_up_and_allocate(p: Pendulum) -> None:
    p.state.invalidate_all(Stage.MODEL)
    p.state[0].allocate_q([1.0, 2.0])
    p.state[0].allocate_cache_entry_with_prerequisites(*FOREVER, (p.tip,))
    realize(p.state, Stage.REPORT)


def forget_all(p: Pendulum) -> None:
    p.state.invalidate_all(Stage.TOPOLOGY)
    other = p.state[0].allocate_discrete_variable(Stage.INSTANCE, "another item")
    realize(p.state, Stage.INSTANCE)
    other.set(p.state, "changed")


def clear(p: Pendulum) -> None:
    p.state.clear()
    p.state.add_subsystem()
    p.state.add_subsystem()
    realize(p.state, Stage.TIME)


def assign(p: Pendulum) -> None:
    other = Pendulum().state
    other.time = 5.0
    p.state.assign(other)


CHANGES = [
    *(change_variables, change_caches, change_weights, update),
    *(back_up_and_allocate, forget_all, clear, assign),
]


@pytest.mark.parametrize("change", CHANGES)
def test_everything_comes_back_without_a_computation(change: Any) -> None:
    p = Pendulum()
    p.tip(p.state)
    p.force.mark_valid(p.state)
    p.state.upd_qdot()[:] = 3.0
    before = observed(p)
    mark = p.state.checkpoint()
    calls = p.calls
    for _ in range(3):
        change(p)
        p.state.rollback(mark)
        assert observed(p) == before
        assert p.calls == calls
    assert p.tip(p.state) == 1.0
    assert p.calls == calls


@pytest.mark.parametrize("first", CHANGES)
@pytest.mark.parametrize("second", CHANGES)
def test_checkpoints_are_nested(first: Any, second: Any) -> None:
    p = Pendulum()
    outer = p.state.checkpoint()
    before = observed(p)
    if first not in (forget_all, clear, assign):
        first(p)
        middle = observed(p)
        inner = p.state.checkpoint()
        second(p)
        p.state.rollback(inner)
        assert observed(p) == middle
    second(p)
    p.state.rollback(outer)
    assert observed(p) == before


def test_what_was_out_of_date_then_is_out_of_date_again() -> None:
    p = Pendulum()
    p.tip(p.state)
    p.length.set(p.state, 4.0)
    mark = p.state.checkpoint()
    assert p.tip(p.state) == 2.0
    p.state.rollback(mark)
    assert not p.tip.is_valid(p.state)
    assert p.tip(p.state) == 2.0


def test_what_was_computed_since_for_other_values_is_not_valid() -> None:
    p = Pendulum()
    mark = p.state.checkpoint()
    p.length.set(p.state, 4.0)
    assert p.tip(p.state) == 2.0
    p.state.rollback(mark)
    assert not p.tip.is_valid(p.state)
    assert p.tip(p.state) == 1.0


def parities() -> tuple[State, DiscreteVariable[int], CacheEntry[int], CacheEntry[int], list[int]]:
    """A number, whether it is odd (compared), what is below, and a list of its computations."""
    state = state_of("a")
    part, calls = state[0], list[int]()
    number = part.allocate_discrete_variable(Stage.REPORT, 1)
    odd = part.allocate_cache_entry_with_prerequisites(
        *FOREVER, (number,), compute=lambda state: number(state) % 2, equal=True
    )

    def compute(state: State) -> int:
        calls.append(odd(state))
        return calls[-1]

    below = part.allocate_cache_entry_with_prerequisites(*FOREVER, (odd,), compute=compute)
    realize(state, Stage.INSTANCE)
    below(state)
    return state, number, odd, below, calls


def test_an_entry_below_a_cut_is_to_be_verified_again() -> None:
    state, number, odd, below, calls = parities()
    number.set(state, 3)
    mark = state.checkpoint()
    for _ in range(2):
        assert below(state) == 1
        state.rollback(mark)
        assert not odd.is_valid(state)
        assert not below.is_valid(state)
    assert calls == [1]


def test_since_when_an_entry_has_its_value_comes_back() -> None:
    state, number, odd, below, calls = parities()
    number.set(state, 3)
    odd(state)
    mark = state.checkpoint()
    number.set(state, 4)
    odd(state)
    state.rollback(mark)
    assert odd.is_valid(state)
    assert below(state) == 1
    assert calls == [1]


def test_a_computed_value_has_another_version_than_one_that_was_given_up() -> None:
    state, number, odd, below, _ = parities()
    mark = state.checkpoint()
    versions = set()
    for n in (2, 4, 6):
        number.set(state, n)
        assert below(state) == 0
        versions |= {(odd.version(state), below.version(state), number.version(state))}
        state.rollback(mark)
    assert all(len({version[i] for version in versions}) == 3 for i in range(3))


def test_an_item_that_was_allocated_since_is_gone_and_a_forgotten_one_is_back() -> None:
    p = Pendulum()
    mark = p.state.checkpoint()
    forget_all(p)
    new = simbody.discrete_variable_info(p.state[0], 0)
    with pytest.raises(ForeignNodeError):
        p.length(p.state)
    p.state.rollback(mark)
    assert p.length(p.state) == 2.0
    with pytest.raises(ForeignNodeError):
        new(p.state)


def test_lists_that_are_changed_in_place_come_back() -> None:
    state = state_of("a")
    items = state[0].allocate_discrete_variable(Stage.INSTANCE, [1])
    stored = state[0].allocate_cache_entry(Stage.TOPOLOGY, value=[1])
    realize(state, Stage.INSTANCE)
    mark = state.checkpoint()
    for _ in range(2):
        items.upd(state).append(2)
        items.upd(state).append(3)
        assert items(state) == [1, 2, 3]
        stored.upd(state).append(2)
        state.rollback(mark)
        assert items(state) == [1]
        assert stored.upd(state) == [1]


def test_objects_in_arrays_come_back_and_are_not_shared_by_copies() -> None:
    state = state_of("a")
    boxes = state[0].allocate_discrete_variable(
        Stage.INSTANCE, np.array([[1], None], dtype=object)[:1]
    )
    mark = state.checkpoint()
    boxes.upd(state)[0].append(2)
    state.rollback(mark)
    assert boxes(state)[0] == [1]
    twin = state.copy(keep_cache=True)
    boxes.upd(twin)[0].append(3)
    assert (boxes(state)[0], boxes(twin)[0]) == ([1], [1, 3])


def test_a_list_that_was_handed_out_before_does_not_reach_the_state_any_more() -> None:
    state = state_of("a")
    names = state[0].allocate_discrete_variable(Stage.INSTANCE, ["a"])
    handed_out = names.upd(state)
    mark = state.checkpoint()
    handed_out.append("b")
    assert names(state) == ["a"]
    names.upd(state).append("c")
    state.rollback(mark)
    assert names(state) == ["a"]


def test_views_handed_out_before_a_checkpoint_or_a_rollback_cannot_be_written_any_more() -> None:
    p = Pendulum()
    before = [p.state.upd_q(), p.state.upd_qdot(), p.force.upd(p.state)]
    slices = [view[:] for view in before]
    mark = p.state.checkpoint()
    after: list[Vector] = [p.state.upd_q(), p.state.upd_qdot()]
    after.append(p.force.upd(p.state))
    p.state.rollback(mark)
    for view in [*before, *after]:
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 7.0
    slices[2][:] = 7.0  # which nobody can seal
    assert p.force.upd(p.state).tolist() == [0.0, 0.0]


def test_whoever_holds_a_part_of_the_state_goes_back_with_it() -> None:
    p = Pendulum()
    part = p.state[0]
    mark = p.state.checkpoint()
    p.state.clear()
    p.state.rollback(mark)
    assert part.q.tolist() == [0.5]
    assert simbody.get_discrete_variable(part, p.length) == 2.0


# ---------------------------------------------------------------------- in a block


def test_a_block_that_raises_is_undone() -> None:
    p = Pendulum()
    mark = p.state.checkpoint()

    def fail() -> None:
        with mark:
            p.length.set(p.state, 9.0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert p.length(p.state) == 2.0
    assert mark.is_released


def test_a_block_that_ends_well_is_kept() -> None:
    p = Pendulum()
    with p.state.checkpoint() as outer:
        with p.state.checkpoint():
            p.length.set(p.state, 9.0)
        assert p.length(p.state) == 9.0
        p.state.rollback(outer)
        assert p.length(p.state) == 2.0
        p.length.set(p.state, 7.0)
    assert p.length(p.state) == 7.0
    assert outer.is_released


def test_a_block_whose_checkpoint_was_given_up_leaves_the_exception_alone() -> None:
    p = Pendulum()
    outer = p.state.checkpoint()

    def fail() -> None:
        with p.state.checkpoint():
            p.length.set(p.state, 9.0)
            p.state.rollback(outer)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert p.length(p.state) == 2.0


def test_a_mark_that_nobody_holds_notes_no_more() -> None:
    p = Pendulum()
    store = p.state._contents.realization.store
    for _ in range(5):
        p.state.checkpoint()
        gc.collect()
    assert len(store.journals) == 1
    first = p.state.checkpoint()
    p.length.set(p.state, 3.0)
    p.state.checkpoint()
    gc.collect()
    p.length.set(p.state, 4.0)
    p.state.rollback(first)
    assert p.length(p.state) == 2.0
    first.release()
    assert (store.journals, store.journal) == ([], None)


# ---------------------------------------------------------------------- what is refused


def test_a_block_cannot_begin_with_a_checkpoint_that_was_released_or_given_up() -> None:
    p = Pendulum()
    first, second, third = (p.state.checkpoint() for _ in range(3))
    third.release()
    p.state.rollback(first)
    for mark, why in ((third, "released"), (second, "given up, by going back further")):
        with pytest.raises(CheckpointError, match=why), mark:
            pytest.fail("the block ran")


def refused(p: Pendulum, mark: Any, error: type[Exception], match: str) -> None:
    before = observed(p)
    with pytest.raises(error, match=match):
        p.state.rollback(mark)
    assert observed(p) == before


def test_marks_of_other_states_and_marks_that_are_gone_are_refused() -> None:
    p = Pendulum()
    refused(p, Pendulum().state.checkpoint(), CheckpointError, "one of another State")
    refused(p, p.state.copy().checkpoint(), CheckpointError, "one of another State")
    refused(p, "yesterday", CheckpointError, "'yesterday'")
    first = p.state.checkpoint()
    second, third = p.state.checkpoint(), p.state.checkpoint()
    p.state.rollback(second)
    refused(p, third, CheckpointError, "given up")
    second.release()
    second.release()
    refused(p, second, CheckpointError, "released")
    p.state.rollback(first)


def test_a_copy_has_no_checkpoints() -> None:
    p = Pendulum()
    mark = p.state.checkpoint()
    twin = p.state.copy(keep_cache=True)
    with pytest.raises(CheckpointError):
        twin.rollback(mark)
    assert not twin._contents.realization.store.journals


def test_nothing_goes_back_while_an_entry_is_computed() -> None:
    state = state_of("a")
    mark = state.checkpoint()
    entry = state[0].allocate_lazy_cache_entry(
        Stage.TOPOLOGY, compute=lambda state: state.rollback(mark)
    )
    mark = state.checkpoint()
    realize(state, Stage.INSTANCE)
    with pytest.raises(NodeInUseError):
        entry(state)
    making = state_of("b")
    maker = making[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=State.checkpoint)
    realize(making, Stage.INSTANCE)
    with pytest.raises(NodeInUseError):
        maker(making)
    assert making._contents.checkpoints == []


def test_a_frozen_state_has_no_checkpoints() -> None:
    with pytest.raises(ReadOnlyError, match="checkpoint"):
        Pendulum().state.frozen().checkpoint()


def test_a_mark_cannot_be_pickled_and_says_what_it_is() -> None:
    mark = Pendulum().state.checkpoint()
    with pytest.raises(NotPicklableError):
        mark.__reduce__()
    assert repr(mark) == "Checkpoint(at Position, t=0)"
    mark.release()
    assert repr(mark) == "Checkpoint(released)"


def test_a_strict_state_stays_strict() -> None:
    state = state_of("a")
    hidden = state[0].allocate_discrete_variable(Stage.INSTANCE, 1)
    entry = state[0].allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=hidden)
    realize(state, Stage.INSTANCE)
    with strict(state):
        mark = state.checkpoint()
        state.invalidate_all(Stage.MODEL)
        state.rollback(mark)
        with pytest.raises(UndeclaredPrerequisiteError):
            entry(state)
    assert entry(state) == 1


# ---------------------------------------------------------------------- what it costs


def test_ten_of_ten_thousand_entries_are_noted_if_ten_are_touched() -> None:
    state = state_of("a")
    part = state[0]
    variables = [part.allocate_discrete_variable(Stage.REPORT, i) for i in range(10_000)]
    entries = [
        part.allocate_cache_entry_with_prerequisites(*FOREVER, (v,), compute=v) for v in variables
    ]
    realize(state, Stage.INSTANCE)
    for entry in entries:
        entry(state)
    mark = state.checkpoint()
    for v, entry in list(zip(variables, entries, strict=True))[:10]:
        v.set(state, -1)
        entry(state)
    assert mark._snapshot is not None
    journal: Journal = mark._snapshot.journal
    assert journal.whole is None
    assert len(journal.nodes) <= 30
    assert len(journal.gates) <= 30
    state.rollback(mark)
    assert all(entry.is_valid(state) for entry in entries)
    assert [entry(state) for entry in entries] == list(range(10_000))


# ---------------------------------------------------------------------- numbers


def test_the_version_of_a_stage_reached_since_is_not_given_again() -> None:
    p = Pendulum()
    p.state.invalidate_all(Stage.POSITION)
    mark = p.state.checkpoint()
    p.state.q = [1.0]
    realize(p.state, Stage.POSITION)
    versions, part_versions = p.state.stage_versions, p.state[0].stage_versions
    p.state.rollback(mark)
    realize(p.state, Stage.POSITION)
    assert p.state.lowest_stage_difference(versions) == Stage.POSITION
    assert p.state[0].stage_versions[Stage.POSITION] > part_versions[Stage.POSITION]


def test_the_version_of_q_is_not_given_again_to_another_one() -> None:
    state = state_of("a")
    realize(state, Stage.TOPOLOGY)
    mark = state.checkpoint()
    versions = []
    for count in range(3):
        state[0].allocate_q([float(count)] * count)
        realize(state, Stage.MODEL)
        versions.append(state.variable("q").version(state))
        state.rollback(mark)
    assert len(set(versions)) == 3


class Cart(Subsystem):
    """Its first position depends on a modeling option."""

    start = modeling_option(1.0)
    position = q_variable(factory=lambda self, state: self.start(state))


def test_another_first_value_after_a_rollback_has_another_version() -> None:
    cart = Cart()
    system = System(cart)
    state = system.new_state()
    state.invalidate_all(Stage.MODEL)
    mark = state.checkpoint()
    seen = {}
    for start in (2.0, 3.0, 4.0):
        cart.start.set(state, start)
        system.realize(state, Stage.MODEL)
        seen[cart.position.version(state)] = cart.position(state).item()
        state.rollback(mark)
        state.rollback(mark)
    assert list(seen.values()) == [2.0, 3.0, 4.0]


def test_the_version_of_q_is_as_before_after_each_rollback() -> None:
    state = state_of("a")
    state[0].allocate_q([1.0])
    realize(state, Stage.TOPOLOGY)
    q = state.variable("q")
    versions = []
    for _ in range(3):
        mark = state.checkpoint()
        realize(state, Stage.MODEL)
        state.rollback(mark)
        versions.append(q.version(state))
    assert versions == [versions[0]] * 3


def test_a_subsystem_that_takes_the_place_of_another_has_higher_versions() -> None:
    state = state_of("a")
    mark = state.checkpoint()
    state.add_subsystem("b")
    realize(state, Stage.TOPOLOGY)
    state.invalidate_all(Stage.TOPOLOGY)
    realize(state, Stage.MODEL)
    highest = max(state[1].stage_versions)
    state.rollback(mark)
    state.add_subsystem("c")
    assert min(state[1].stage_versions[1:]) > highest


def test_a_subsystem_that_a_system_advances_after_a_rollback_has_higher_versions() -> None:
    system = System(Subsystem(), Subsystem())
    state = system.new_state()
    ahead, behind = state[1], state[2]
    ahead.advance_to_stage(Stage.INSTANCE)
    mark = state.checkpoint()
    seen = [set[int](), set[int]()]
    for _ in range(3):
        for _ in range(2):
            if ahead.stage < Stage.INSTANCE:
                ahead.advance_to_stage(Stage.INSTANCE)
            reached = ahead.stage_versions[Stage.INSTANCE]
            system.realize(state, Stage.TIME)
            assert ahead.stage_versions[Stage.INSTANCE] == reached
            seen[0].add(behind.stage_versions[Stage.INSTANCE])
            state.invalidate_all(Stage.INSTANCE)
        state.rollback(mark)
        seen[1].add(ahead.stage_versions[Stage.INSTANCE])
    assert [len(numbers) for numbers in seen] == [6, 1]


class StageMachine(RuleBasedStateMachine):
    """Stages go up and down and back; each reaching of a stage has a number of its own."""

    @initialize(subsystems=st.integers(1, 3))
    def start(self, subsystems: int) -> None:
        self.state = state_of(*"abc"[:subsystems])
        self.marks: list[tuple[Checkpoint, dict[object, int]]] = []
        self.reached: dict[object, int] = {}  # by who and stage: when it was reached, by this count
        self.count = 0
        self.seen: dict[object, int] = {}
        self.given: dict[object, int] = {}
        self.has_cleared = False

    def reach(self, who: object, stage: Stage) -> None:
        """Note that a stage is to be reached; before it is, since an error may strike then."""
        self.count += 1
        self.reached[who, stage] = self.count

    @rule(x=st.integers(0, 2))
    def advance_one(self, x: int) -> None:
        part = self.state[x % self.state.num_subsystems]
        if part.stage < Stage.REPORT:
            stage = part.stage.next()
            self.reach(part.index, stage)
            part.advance_to_stage(stage)

    @rule(stage=st.sampled_from(list(Stage)[1:-1]))
    def advance_all(self, stage: Stage) -> None:
        while self.state.stage < stage:
            upcoming = self.state.stage.next()
            for part in self.state:
                if part.stage < upcoming:
                    self.reach(part.index, upcoming)
                    part.advance_to_stage(upcoming)
            self.reach("system", upcoming)
            self.state.advance_to_stage(upcoming)

    @rule(stage=st.sampled_from(list(Stage)[1:-1]))
    def invalidate(self, stage: Stage) -> None:
        self.state.invalidate_all(stage)

    @rule(stage=st.sampled_from(list(Stage)[1:-1]))
    def clear_and_go_back(self, stage: Stage) -> None:
        if self.marks:
            self.has_cleared = True
            self.state.clear()
            self.state.add_subsystem()
            self.advance_all(stage)
            self.a_version_stands_for_one_time_that_a_stage_was_reached()
            self.go_back(0)

    @rule()
    def checkpoint(self) -> None:
        self.marks.append((self.state.checkpoint(), self.reached.copy()))

    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        if self.marks:
            self.go_back(data.draw(st.integers(0, len(self.marks) - 1)))

    def go_back(self, i: int) -> None:
        mark, reached = self.marks[i]
        self.state.rollback(mark)
        del self.marks[i + 1 :]
        self.reached = reached.copy()

    @rule(
        data=st.data(),
        stages=st.lists(st.sampled_from(list(Stage)[1:-1]), min_size=2, max_size=2).map(sorted),
        is_even=st.booleans(),
        name=st.sampled_from(["advance_all", "invalidate", "go_back", "clear_and_go_back"]),
    )
    def strike(self, data: st.DataObject, stages: list[Stage], is_even: bool, name: str) -> None:
        """Strike one of these on a copy that has a checkpoint, and go on with the copy."""
        low, high = stages
        goes_back = name not in ("advance_all", "invalidate")

        def prepare() -> StageMachine:
            twin = StageMachine()
            twin.state = self.state.copy(keep_cache=True)
            twin.reached, twin.count, twin.seen = self.reached.copy(), self.count, self.seen.copy()
            twin.given, twin.has_cleared = self.given.copy(), self.has_cleared
            twin.marks = []
            twin.checkpoint()
            twin.invalidate(low)
            twin.advance_all(low if name == "advance_all" else high)
            if not is_even:
                twin.advance_one(0)
            twin.a_version_stands_for_one_time_that_a_stage_was_reached()
            return twin

        def operate(twin: StageMachine) -> None:
            if goes_back:
                twin.go_back(0) if name == "go_back" else twin.clear_and_go_back(high)
            elif name == "invalidate":
                twin.invalidate(low)
            else:
                twin.advance_all(high)

        for twin, _ in struck(data, prepare, operate):
            if not goes_back:  # else it may have gone back, or not
                twin.a_version_stands_for_one_time_that_a_stage_was_reached()
                twin.advance_all(high)
                twin.a_version_stands_for_one_time_that_a_stage_was_reached()
            twin.go_back(0)
            for again in (low, high):
                twin.a_version_stands_for_one_time_that_a_stage_was_reached()
                twin.invalidate(again)
                twin.advance_all(Stage.REPORT)
            twin.a_version_stands_for_one_time_that_a_stage_was_reached()

    @invariant()
    def a_version_stands_for_one_time_that_a_stage_was_reached(self) -> None:
        assert self.state.stage <= min(part.stage for part in self.state)
        for part in self.state:
            self.check(part.index, part.stage, part.stage_versions)
        self.check("system", self.state.stage, self.state.stage_versions)

    def check(self, who: object, at: Stage, versions: tuple[int, ...]) -> None:
        first = 2 if who == "system" and self.has_cleared else 1  # Topology's is set, by a System
        for stage in list(Stage)[first : at + 1]:
            reached = self.reached[who, stage]
            version = versions[stage]
            assert self.seen.setdefault((who, stage, version), reached) == reached
            assert self.given.setdefault((who, stage, reached), version) == version


TestStageMachine = ignore_lost_strikes(StageMachine.TestCase)
TestStageMachine.settings = examples(100)


def test_after_a_rollback_beyond_an_assignment_no_version_of_the_other_state_is_given_again() -> (
    None
):
    state = state_of("a")
    q = state[0].allocate_q([1.0])
    realize(state, Stage.TIME)
    mark, other = state.checkpoint(), state.copy()
    realize(other, Stage.TIME)
    for number in range(20):
        q.set(other, [float(number)])
    state.assign(other)
    seen = q.version(state)
    state.rollback(mark)
    q.set(state, [5.0])
    assert q.version(state) > seen


def test_a_state_does_not_go_back_to_an_older_topology_of_its_system() -> None:
    system = System(Subsystem())
    state = system.new_state()
    mark = state.checkpoint()
    state.clear()  # else it was outdated by the change, and refused everything
    system.invalidate_topology_cache()
    system.realize_topology()
    with pytest.raises(TopologyVersionError, match="an older topology"):
        state.rollback(mark)


class Rope(Subsystem):
    """Its q, which Model gives values, depend on an option."""

    count = modeling_option(1)
    places = q_variable(factory=lambda self, state: [float(self.count(state))] * 2)


def test_the_version_of_q_is_not_given_again_to_values_of_another_option() -> None:
    rope = Rope()
    system = System(rope)
    state = system.new_state()
    system.realize(state, Stage.TOPOLOGY)
    state.invalidate_all(Stage.MODEL)
    mark = state.checkpoint()
    seen: dict[int, list[float]] = {}
    for number in range(3):
        rope.count.set(state, number)
        system.realize(state, Stage.MODEL)
        assert seen.setdefault(rope.places.version(state), list(state.q)) == list(state.q)
        state.rollback(mark)


def test_versions_rise_slowly_however_often_a_state_goes_back() -> None:
    state = state_of("a")
    realize(state, Stage.TIME)
    mark = state.checkpoint()
    for _ in range(100):
        realize(state, Stage.POSITION)
        state.invalidate_all(Stage.TIME)
        realize(state, Stage.TIME)
        state.rollback(mark)
    realize(state, Stage.POSITION)
    assert 100 < max(state[0].stage_versions) < 1000


@plain_only
def test_reads_are_as_cheap_after_a_rollback_as_before() -> None:
    p = Pendulum()
    p.tip(p.state)
    before = steps(lambda: p.tip(p.state))
    mark = p.state.checkpoint()
    p.length.set(p.state, 4.0)
    p.state.rollback(mark)
    assert steps(lambda: p.tip(p.state)) == before
