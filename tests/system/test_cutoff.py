"""Early cutoff, checkpoints and copies with their cache in Systems of declared Subsystems."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    CacheEntry,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    modeling_option,
    parameter,
    q_variable,
    simbody,
    strict,
    u_variable,
)
from stagecache.errors import (
    CheckpointError,
    ComparisonError,
    ReadOnlyError,
    TopologyVersionError,
)
from stagecache.state.handles import Vector
from tests.profiles import examples
from tests.state.realizing import realize


class Walker(Subsystem):
    """The side on which a foot stands is compared; what is below it is counted."""

    angle = q_variable(0.5)
    rate = u_variable(0.0)
    mass = parameter(2.0)

    def __init__(self) -> None:
        self.calls: list[str] = []

    @cached(prerequisites=(angle,), equal=True)
    def side(self, state: State) -> str:
        self.calls.append("side")
        return "left" if self.angle(state) > 0 else "right"

    @cached(prerequisites=(side, mass))
    def force(self, state: State) -> float:
        self.calls.append("force")
        return self.mass(state) * (1 if self.side(state) == "left" else -1)

    @cached(prerequisites=(side,), available_from=Stage.POSITION)
    def height(self, state: State) -> float:
        self.calls.append("height")
        return float(state.q[0]) + len(self.side(state))

    @cached(count=lambda self: 3, prerequisites=lambda self, i: (self.force,), equal=True)
    def share(self, state: State, i: int) -> float:
        self.calls.append(f"share {i}")
        return abs(self.force(state)) * i


class Ground(Subsystem):
    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self.calls: list[str] = []

    @cached(prerequisites=lambda self: (self.walker.share[1], self.walker.share[2]))
    def load(self, state: State) -> float:
        self.calls.append("load")
        return self.walker.share[1](state) + self.walker.share[2](state)


def walking() -> tuple[Walker, Ground, System, State]:
    walker = Walker()
    ground = Ground(walker)
    system = System(walker, ground)
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    return walker, ground, system, state


def test_what_is_below_an_equal_value_is_not_computed_again() -> None:
    walker, ground, _, state = walking()
    assert ground.load(state) == 6.0
    walker.calls.clear()
    walker.angle.set(state, 0.75)
    assert not ground.load.is_valid(state)
    assert ground.load(state) == 6.0
    assert ground.load.is_valid(state)
    assert (walker.calls, ground.calls) == (["side"], ["load"])


def test_a_cut_in_another_subsystem_stops_what_the_first_did_not() -> None:
    walker, ground, _, state = walking()
    ground.load(state)
    walker.calls.clear()
    walker.angle.set(state, -0.5)
    assert ground.load(state) == 6.0
    assert sorted(walker.calls) == ["force", "share 1", "share 2", "side"]
    assert len(ground.calls) == 1
    walker.mass.set(state, 4.0)
    assert ground.load(state) == 12.0
    assert len(ground.calls) == 2


def test_a_stage_that_changed_counts_as_a_change() -> None:
    walker, _, system, state = walking()
    assert walker.height(state) == 4.5
    walker.calls.clear()
    walker.angle.set(state, 0.75)
    system.realize(state, Stage.POSITION)
    assert walker.height(state) == 4.75
    assert sorted(walker.calls) == ["height", "side"]


def test_a_write_of_something_else_leaves_all_realized() -> None:
    walker, ground, _, state = walking()
    ground.load(state)
    walker.rate.set(state, 1.0)
    assert ground.load.is_valid(state)


def test_an_entry_presumed_computed_anew_counts_as_a_change() -> None:
    state = State()
    part = state[state.add_subsystem()]
    number = part.allocate_discrete_variable(Stage.REPORT, 1)
    odd = part.allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (number,), compute=lambda s: number(s) % 2, equal=True
    )
    filled = part.allocate_cache_entry(Stage.TIME, Stage.TIME, 0)
    both = part.allocate_cache_entry_with_prerequisites(
        Stage.TIME, Stage.INFINITY, (odd, filled), compute=lambda s: (odd(s), filled(s))
    )
    realize(state, Stage.INSTANCE)
    for time in (1, 2, 3):
        filled.set(state, time)
        realize(state, Stage.TIME)
        assert both(state) == (1, time)
        state.time = time


def test_an_entry_presumed_computed_below_an_equal_value_counts_as_a_change() -> None:
    state = State()
    part = state[state.add_subsystem()]
    number = part.allocate_discrete_variable(Stage.REPORT, 1)
    odd = part.allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (number,), compute=lambda s: number(s) % 2, equal=True
    )
    filled = part.allocate_cache_entry_with_prerequisites(Stage.TOPOLOGY, Stage.TIME, (odd,))
    twice = part.allocate_cache_entry_with_prerequisites(
        Stage.TOPOLOGY, Stage.INFINITY, (filled,), compute=lambda s: 2 * filled(s)
    )
    realize(state, Stage.INSTANCE)
    for value in (1, 3, 5):
        assert odd(state) == 1
        number.set(state, value)
        filled.set(state, value)
        realize(state, Stage.TIME)
        assert twice(state) == 2 * value
        state.time = value


class Vectors(Subsystem):
    number = parameter(1.0)

    def __init__(self) -> None:
        self.calls: list[str] = []

    @cached(prerequisites=(number,), equal=partial(np.array_equal, equal_nan=True))
    def direction(self, state: State) -> Vector:
        return np.array([np.sign(self.number(state)), np.nan])

    @cached(prerequisites=(direction,))
    def length(self, state: State) -> float:
        self.calls.append("length")
        return float(np.nansum(self.direction(state)))

    @cached(prerequisites=(number,), equal=True)
    def ambiguous(self, state: State) -> Vector:
        return np.full(2, self.number(state))

    @cached(prerequisites=(ambiguous,))
    def below(self, state: State) -> float:
        return float(self.ambiguous(state).sum())


def test_nan_equals_nan_if_asked_for() -> None:
    vectors = Vectors()
    state = System(vectors).new_state()
    first = vectors.direction(state)
    vectors.length(state)
    vectors.number.set(state, 5.0)
    assert vectors.length(state) == 1.0
    assert vectors.calls == ["length"]
    assert vectors.direction(state) is first


def test_arrays_cannot_be_compared_by_two_equal_signs() -> None:
    vectors = Vectors()
    state = System(vectors).new_state()
    vectors.below(state)
    vectors.number.set(state, 5.0)
    for entry in (vectors.below, vectors.ambiguous, vectors.below):
        with pytest.raises(ComparisonError, match=r"numpy\.array_equal"):
            entry(state)


def test_values_stored_and_marked_by_hand_count_as_others() -> None:
    walker, ground, _, state = walking()
    ground.load(state)
    walker.angle.set(state, 0.75)
    walker.side.set(state, "right")
    walker.side.mark_valid(state)
    assert walker.force(state) == -2.0
    walker.angle.set(state, 0.5)
    assert walker.force(state) == 2.0
    walker.angle.set(state, 0.75)
    walker.force.set(state, 99.0)  # which is not realized, and not said to be
    assert walker.force(state) == 2.0
    walker.force.mark_valid(state)
    assert ground.load(state) == 6.0


class Random(Subsystem):
    """Variables, and entries of random prerequisites that are compared, or not."""

    def __init__(self, plan: list[tuple[list[int], bool, int, Stage | None]], equal: bool) -> None:
        self.plan = plan
        self.equal = equal
        self.calls: list[int] = []

    numbers = discrete(0, invalidates=Stage.REPORT)
    first = discrete(0, invalidates=Stage.REPORT)
    second = discrete(0, invalidates=Stage.REPORT)
    angle = q_variable(0.0)

    def realize_topology(self, state: State) -> None:
        entries: list[CacheEntry[int]] = []
        for i, (backwards, is_compared, modulus, stage) in enumerate(self.plan):
            sources = [self.numbers, self.first, self.second, self.angle, *entries]
            chosen = sorted({b % len(sources) for b in backwards})
            earliest = stage or Stage.TOPOLOGY
            above = [sources[c] for c in chosen]
            above = [a for a in above if getattr(a, "available_from", Stage.EMPTY) <= earliest]
            entries.append(
                state[self].allocate_cache_entry_with_prerequisites(
                    earliest,
                    Stage.INFINITY,
                    above,
                    compute=partial(self.compute, i, above, modulus, stage),
                    equal=is_compared and self.equal,
                )
            )

    def compute(
        self, i: int, above: list[Any], modulus: int, stage: Stage | None, state: State
    ) -> int:
        self.calls.append(i)
        total = sum(int(a(state)) for a in above)
        return (total + (0 if stage is None else int(state.q[0]))) % modulus

    def entries(self, state: State) -> list[CacheEntry[int]]:
        part = state[self]
        return [simbody.cache_entry_info(part, i) for i in range(len(self.plan))]


PLAN = st.lists(
    st.tuples(
        st.lists(st.integers(0, 30), min_size=1, max_size=3),
        st.booleans(),
        st.integers(2, 3),
        st.sampled_from([None, None, None, Stage.POSITION]),
    ),
    min_size=1,
    max_size=10,
)
KINDS = ("write", "write", "q", "read", "read", "read", "invalidate", "mark", "rollback", "clone")
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 30)), max_size=40)


@examples(100)
@given(plan=PLAN, steps=STEPS, is_strict=st.booleans())
def test_values_are_the_same_without_comparisons_and_no_call_is_added(
    plan: list[tuple[list[int], bool, int, Stage | None]],
    steps: list[tuple[str, int]],
    is_strict: bool,
) -> None:
    models = Random(plan, True), Random(plan, False)
    systems = [System(model) for model in models]
    states = [State.copy(system.realize_topology()) for system in systems]
    for system, state in zip(systems, states, strict=True):
        system.realize(state, Stage.POSITION)
    marks = [state.checkpoint() for state in states]
    for kind, choice in steps:
        results: list[object] = []
        for i, model in enumerate(models):
            state = states[i]
            entry = model.entries(state)[choice % len(plan)]
            model.calls.clear()
            match kind:
                case "write":
                    variable = (model.numbers, model.first, model.second)[choice % 3]
                    variable.set(state, choice // 3)
                case "q":
                    state.q = [float(choice)]
                    systems[i].realize(state, Stage.POSITION)
                case "read":
                    if is_strict:
                        with strict(state):
                            results.append(entry(state))
                    else:
                        results.append(entry(state))
                case "invalidate":
                    entry.invalidate(state)
                case "mark":
                    entry(state)
                    entry.mark_valid(state)
                case "rollback":
                    if choice % 2:
                        marks[i] = state.checkpoint()
                    else:
                        state.rollback(marks[i])
                case "clone":
                    states[i] = state.copy(keep_cache=True)
                    marks[i] = states[i].checkpoint()
        assert results[:1] == results[1:]
        assert set(models[0].calls) <= set(models[1].calls)
        assert len(models[0].calls) <= len(models[1].calls)


# ---------------------------------------------------------------------- checkpoints of a System


def test_a_rejected_step_leaves_no_trace_and_costs_no_computation() -> None:
    walker, ground, system, state = walking()
    system.realize(state, Stage.ACCELERATION)
    ground.load(state)
    versions = state.stage_versions
    for angle in (0.75, -1.0):
        mark = state.checkpoint()
        state.time = 1.0
        walker.angle.set(state, angle)
        system.realize(state, Stage.ACCELERATION)
        ground.load(state)
        walker.calls.clear()
        state.rollback(mark)
        assert (state.stage, state.time, state.stage_versions) == (
            Stage.ACCELERATION,
            0.0,
            versions,
        )
        assert ground.load(state) == 6.0
        assert walker.angle(state) == 0.5
        assert walker.calls == []


def test_q_of_another_size_has_another_version() -> None:
    class Chain(Subsystem):
        links = modeling_option(1)
        angles = q_variable(factory=lambda self, state: np.zeros(self.links(state)))

    chain = Chain()
    system = System(chain)
    state = system.new_state()
    state.invalidate_all(Stage.MODEL)
    mark = state.checkpoint()
    versions = set()
    for links in (1, 2, 3):
        chain.links.set(state, links)
        system.realize_model(state)
        assert state.nq == links
        versions |= {(state.variable("q").version(state), chain.angles.version(state))}
        state.rollback(mark)
    assert len(versions) == 3


def test_the_version_of_a_stage_that_realize_reached_is_not_given_again() -> None:
    walker, _, system, state = walking()
    system.realize(state, Stage.POSITION)
    mark = state.checkpoint()
    system.realize(state, Stage.VELOCITY)
    versions, of_walker = state.stage_versions, state[walker].stage_versions[Stage.VELOCITY]
    state.rollback(mark)
    state.time = 0.0
    system.realize(state, Stage.POSITION)
    state.rollback(mark)
    system.realize(state, Stage.VELOCITY)
    assert state.lowest_stage_difference(versions) == Stage.VELOCITY
    assert state[walker].stage_versions[Stage.VELOCITY] > of_walker


def test_a_mark_of_an_older_topology_is_refused() -> None:
    walker, _, system, state = walking()
    mark = state.checkpoint()
    walker.calls = []  # an attribute of the model: its topology
    assert not system.topology_has_been_realized
    with pytest.raises(ReadOnlyError, match="older topology"):
        state.rollback(mark)
    new = State()
    new.assign(system.realize_topology())
    with pytest.raises(CheckpointError):
        new.rollback(mark)


def test_going_back_to_an_older_topology_by_way_of_another_state_is_refused() -> None:
    walker, _, system, state = walking()
    mark = state.checkpoint()
    state.clear()
    walker.calls = []
    state.assign(system.realize_topology())
    with pytest.raises(TopologyVersionError, match="older topology"):
        state.rollback(mark)
    assert state.system is system
    assert walker.angle.version(state) > 0


def test_a_state_that_is_of_no_system_any_more_is_not_outdated() -> None:
    walker, _, system, _ = walking()
    state = State()
    mark = state.checkpoint()
    state.assign(system.default_state)
    state.rollback(mark)
    walker.calls = []
    assert state.add_subsystem("b") == 0


def test_a_state_being_realized_is_not_to_be_marked_cloned_or_frozen() -> None:
    class Hooked(Subsystem):
        def realize_time(self, state: State) -> None:
            self.action(state)

        def action(self, state: State) -> None:
            for refused in (State.checkpoint, State.frozen, partial(State.copy, keep_cache=True)):
                with pytest.raises(ReadOnlyError):
                    refused(state)
            done.append(state.stage)

    done: list[Stage] = []
    system = System(Hooked())
    system.realize(system.new_state(), Stage.TIME)
    assert done == [Stage.INSTANCE]


def test_a_frozen_state_is_not_realized_and_its_copy_is() -> None:
    walker, ground, system, state = walking()
    ground.load(state)
    frozen = state.frozen()
    with pytest.raises(ReadOnlyError):
        system.realize(frozen, Stage.VELOCITY)
    assert (frozen.stage, ground.load(frozen)) == (Stage.POSITION, 6.0)
    twin = frozen.copy(keep_cache=True)
    system.realize(twin, Stage.REPORT)
    walker.mass.set(twin, 4.0)
    assert (ground.load(twin), ground.load(frozen)) == (12.0, 6.0)
