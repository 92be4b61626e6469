"""Strict mode on models that are declared: the exact text of the hint, planted faults, examples."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from stagecache import (
    Graph,
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    event_trigger,
    parameter,
    position_error,
    q_variable,
    simbody,
    strict,
    u_variable,
    verify,
    z_variable,
)
from stagecache.errors import MutatedValueError, StaleValueError, UndeclaredPrerequisiteError
from stagecache.examples import every_declaration, pendulum
from stagecache.inspection import (
    ReadLog,
)
from tests.system.models import Chain, Crane, Springs, state_of

Reads = Callable[[Any, State], object]


class Arm(Subsystem):
    """Something to be read."""

    length = parameter(1.0)
    gravity = parameter(9.81)
    angle = q_variable(0.5)
    rate = u_variable(0.25)
    wear = z_variable(0.0)
    pull = discrete(1.0, invalidates=Stage.DYNAMICS)
    latch = auto_update(1.0, invalidates=Stage.POSITION, available_from=Stage.TIME)
    masses = parameter(1.0, count=3)

    @cached(prerequisites=(angle, length))
    def tip(self, state: State) -> float:
        return self.angle(state) * self.length(state)

    @cached(available_from=Stage.VELOCITY)
    def speed(self, state: State) -> float:
        return self.rate(state)


class Reader(Arm):
    """What reads what it is told to."""

    own = parameter(2.0)

    def __init__(self, reading: Reads) -> None:
        self.reading = reading

    @cached(prerequisites=(Arm.angle, own))
    def named(self, state: State) -> object:
        return self.reading(self, state)

    @cached(available_from=Stage.POSITION)
    def staged(self, state: State) -> object:
        return self.reading(self, state)

    @cached(prerequisites=(own,), available_from=Stage.TIME, computed_by=Stage.POSITION, equal=True)
    def full(self, state: State) -> object:
        return self.reading(self, state)

    @cached(prerequisites=())
    def constant(self, state: State) -> object:
        return self.reading(self, state)

    @cached(prerequisites=lambda self: (self.own, self.angle))
    def called(self, state: State) -> object:
        return self.reading(self, state)

    @cached(count=3, prerequisites=lambda self, i: (self.masses[i],))
    def each(self, state: State, i: int) -> object:
        return self.reading(self, state)

    @cached(count=2, prerequisites=(own,))
    def pair(self, state: State, i: int) -> object:
        return self.reading(self, state)


class Other(Subsystem):
    """What has the arm as an attribute, and further away."""

    load = parameter(3.0)

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.all = [arm]


HINTS: dict[str, tuple[str, Reads, str]] = {
    "an own item": (
        "constant",
        lambda self, state: self.own(state),
        "@cached(prerequisites=(own,))",
    ),
    "a further item, inherited": (
        "named",
        lambda self, state: self.gravity(state),
        "@cached(prerequisites=(Arm.angle, own, Arm.gravity))",
    ),
    "an entry": (
        "constant",
        lambda self, state: self.tip(state),
        "@cached(prerequisites=(Arm.tip,))",
    ),
    "where a stage is declared": (
        "staged",
        lambda self, state: self.pull(state),
        "@cached(prerequisites=(Arm.pull,), available_from=Stage.POSITION)",
    ),
    "where all is declared": (
        "full",
        lambda self, state: self.angle(state),
        "@cached(prerequisites=(own, Arm.angle), available_from=Stage.TIME, "
        "computed_by=Stage.POSITION, equal=...)",
    ),
    "an entry that needs a later stage": (
        "full",
        lambda self, state: self.speed(state),
        "@cached(prerequisites=(own, Arm.speed), available_from=Stage.VELOCITY, "
        "computed_by=Stage.VELOCITY, equal=...)",
    ),
    "the time": (
        "named",
        lambda self, state: state.time,
        "@cached(prerequisites=lambda self: (self.angle, self.own, self.time))",
    ),
    "a part of q": (
        "constant",
        lambda self, state: state[self].q,
        "@cached(prerequisites=lambda self: (self.q,))",
    ),
    "the whole q": (
        "named",
        lambda self, state: state.q,
        "@cached(prerequisites=lambda self: (self.angle, self.own, self.system.q))",
    ),
    "y": (
        "staged",
        lambda self, state: state.y,
        "@cached(prerequisites=lambda self: (self.system.u, self.system.z), "
        "available_from=Stage.POSITION)",
    ),
    "a family": (
        "constant",
        lambda self, state: self.masses[1](state),
        "@cached(prerequisites=(Arm.masses,))",
    ),
    "where a function names them": (
        "called",
        lambda self, state: self.gravity(state),
        "@cached(prerequisites=lambda self: (..., self.gravity))",
    ),
    "a neighbour in a family": (
        "each",
        lambda self, state: [self.masses[i](state) for i in (1, 0)],
        "@cached(count=..., prerequisites=lambda self, i: (..., self.masses[i + 1]))",
    ),
    "one that is further away": (
        "each",
        lambda self, state: self.masses[2](state),
        "@cached(count=..., prerequisites=lambda self, i: (..., self.masses[2]))",
    ),
    "in a family": (
        "pair",
        lambda self, state: self.masses[0](state),
        "@cached(count=..., prerequisites=lambda self, i: (self.own, self.masses[i]))",
    ),
    "a vector of a stage": (
        "named",
        lambda self, state: state.qdot,
        "@cached(prerequisites=(Arm.angle, own), available_from=Stage.VELOCITY)",
    ),
    "weights": (
        "staged",
        lambda self, state: state.u_weights,
        "@cached(available_from=Stage.REPORT)",
    ),
    "a number of items": (
        "called",
        lambda self, state: state.nqerr,
        "@cached(prerequisites=lambda self: (...,), available_from=Stage.INSTANCE)",
    ),
    "an auto-update variable": (
        "staged",
        lambda self, state: self.latch(state),
        "@cached(prerequisites=(Arm.latch,), available_from=Stage.POSITION)",
    ),
    "its next value": (
        "constant",
        lambda self, state: self.latch.update(state),
        "@cached(prerequisites=lambda self: (self.latch.update,))",
    ),
}


def entry_of(subsystem: Any, name: str) -> Any:
    found = getattr(subsystem, name)
    return found[0] if name in ("each", "pair") else found


@pytest.mark.parametrize("case", HINTS)
def test_the_cure_is_the_whole_decorator(case: str) -> None:
    name, reading, decorator = HINTS[case]
    reader = Reader(lambda self, state: None)  # which is replaced
    state = state_of(reader, Arm(), stage=Stage.REPORT)
    object.__setattr__(reader, "reading", reading)
    entry = entry_of(reader, name)
    entry.invalidate(state)
    reader.latch.update.mark_valid(state)
    with strict(state), pytest.raises(UndeclaredPrerequisiteError) as caught:
        entry(state)
    assert caught.value.hint == f"write {decorator}"


def test_the_cure_names_what_the_body_of_the_class_does_not_know_yet_from_self() -> None:
    class Early(Subsystem):
        mass = parameter(1.0)

        @cached(prerequisites=(mass,))
        def sum(self, state: State) -> float:
            return self.mass(state) + self.load(state)

        load = parameter(2.0)

    early = Early()
    state = state_of(early)
    with strict(state, undeclared="record") as reads:
        early.sum(state)
    assert [r.hint for r in reads.undeclared] == [
        "write @cached(prerequisites=lambda self: (self.mass, self.load))"
    ]


def test_the_cure_finds_the_way_to_another_subsystem() -> None:
    class Far(Subsystem):
        def __init__(self, other: Other | None, arms: dict[str, Arm], arm: Arm) -> None:
            self.other = other
            self.arms = arms
            self.reading = arm.tip

        @cached(prerequisites=())
        def pull(self, state: State) -> object:
            return self.reading(state)

    arms = [Arm(), Arm(), Arm()]
    system = System(*arms[:1])
    for i, arm in enumerate(arms[1:]):
        system.add(arm, f"arm_{i + 1}")
    other = Other(arms[0])
    fars = [Far(other, {}, arms[0]), Far(None, {"left": arms[1]}, arms[1]), Far(None, {}, arms[2])]
    for i, far in enumerate(fars):
        system.add(far, f"far_{i}")
    system.add(other)
    state = system.new_state()
    hints = []
    for far in fars:
        with strict(state, undeclared="record") as reads:
            far.pull(state)
        hints.append(reads.undeclared[0].hint)
    assert hints == [
        "write @cached(prerequisites=lambda self: (self.other.arm.tip,))",
        "write @cached(prerequisites=lambda self: (self.arms['left'].tip,))",
        'write @cached(prerequisites=lambda self: (self.system["arm_2"].tip,))',
    ]


class Rows(Subsystem):
    """Errors, triggers and an update, each of which reads something that it does not declare."""

    angle = q_variable(0.5)
    rate = u_variable(0.25)
    length = parameter(1.0)
    latch = auto_update(1.0, invalidates=Stage.POSITION, available_from=Stage.INSTANCE)

    @position_error(prerequisites=(angle,))
    def rod(self, state: State) -> float:
        return self.angle(state) * self.length(state)

    @rod.velocity
    def rod_rate(self, state: State) -> float:
        return self.rate(state) * self.length(state)

    @rod.acceleration(prerequisites=(rate,))
    def rod_acceleration(self, state: State) -> float:
        return self.rate(state) * self.angle(state)

    @rod.jacobian(prerequisites=(angle,))
    def rod_jacobian(self, state: State) -> NDArray[np.float64]:
        return np.full((1, state.nu), self.length(state))

    @position_error()
    def late(self, state: State) -> float:
        return self.rate(state)

    @event_trigger(stage=Stage.TIME, prerequisites=(length,))
    def stop(self, state: State) -> float:
        return state.time

    @event_trigger(stage=Stage.ACCELERATION, prerequisites=(length,))
    def jump(self, state: State) -> float:
        return float(state.qdot[0])

    @latch.update
    def latch_next(self, state: State) -> float:
        qerr = state.qerr if state.stage >= Stage.POSITION else 0
        return self.latch(state) + self.angle(state) + np.sum(qerr)


def test_errors_triggers_and_updates_have_cures_of_their_own() -> None:
    rows = Rows()
    state = System(rows).new_state()
    with strict(state, undeclared="record") as reads:
        state.system.realize(state, Stage.REPORT)
        rows.rod_jacobian(state)
        rows.latch.update.invalidate(state)
        rows.latch.update(state)
    hints = {f"{r.entry} {r.item}": r.hint for r in reads.undeclared}
    late = (
        "leave it out: an entry computed by Position must not depend on values that change "
        "without invalidating that stage; or declare it at a later level or stage"
    )
    whole = (
        "leave prerequisites out of @event_trigger(...), so that it depends on all of stage "
        "Acceleration"
    )
    assert hints == {
        "rows.rod rows.length": "write @position_error(..., prerequisites=(angle, length))",
        "rows.rod_acceleration rows.angle": "write @rod.acceleration(prerequisites=(rate, angle))",
        "rows.rod_jacobian rows.length": "write @rod.jacobian(prerequisites=(angle, length))",
        "rows.late rows.rate": late,
        "rows.stop time": "write @event_trigger(..., prerequisites=lambda self: "
        "(self.length, self.time))",
        "rows.jump Velocity": whole,
        "rows.latch.update rows.angle": "write @latch.update(prerequisites=(angle,))",
        "rows.latch.update Position": "write latch = auto_update(..., "
        "available_from=Stage.POSITION)",
    }


def test_what_is_allocated_by_hand_cannot_be_declared_as_a_prerequisite() -> None:
    class Mixed(Subsystem):
        def realize_topology(self, state: State) -> None:
            self.load = state[self].allocate_discrete_variable(Stage.TIME, 1.0, name="load")
            self.size = state[self].allocate_lazy_cache_entry(
                Stage.TOPOLOGY, compute=self.mass, name="size"
            )

        mass = parameter(1.0)

        @cached(prerequisites=(mass,))
        def weight(self, state: State) -> float:
            return self.load(state)

    mixed = Mixed()
    state = state_of(mixed)
    with strict(state, undeclared="record") as reads:
        mixed.weight(state)
        mixed.size(state)
    assert [r.hint for r in reads.undeclared] == [
        "declare load of subsystem 1 in a Subsystem: items allocated by hand cannot be "
        "prerequisites; or write @cached(..., available_from=Stage.TIME)",
        "allocate it with the prerequisites (mixed.mass,)",
    ]


# ---------------------------------------------------------------------- sound models are clean


def test_sound_models_are_clean(capsys: pytest.CaptureFixture[str]) -> None:
    with strict() as reads:
        pendulum.main()
        every_declaration.main()
    assert reads.undeclared == ()
    for system in (Crane(), System(Chain()), System(Springs(4))):
        for _ in range(2):
            state = system.new_state()
            for mode in (strict, verify):
                with mode(state) as reads:
                    read_everything(system, state)
                    read_everything(system, state)
                assert reads.undeclared == ()


def read_everything(system: System, state: State) -> None:
    system.realize(state, Stage.REPORT)
    for part in state:
        i = 0
        while simbody.has_cache_entry(part, i):
            simbody.cache_entry_info(part, i)(state)
            i += 1


def test_computations_of_the_default_state_are_watched_where_all_states_are() -> None:
    class Early(Subsystem):
        mass = parameter(1.0)

        @cached(prerequisites=(), computed_by=Stage.MODEL)
        def weight(self, state: State) -> float:
            return self.mass(state)

    with strict(), pytest.raises(UndeclaredPrerequisiteError, match="weight"):
        System(Early()).realize_topology()
    system = System(Early())
    with strict(undeclared="record") as reads:
        assert system.realize_topology().is_strict
    assert len(reads.undeclared) == 1
    assert not system.default_state.is_strict


def test_a_strict_state_travels_and_outlives_a_change_of_topology() -> None:
    joint = Crane()
    state = joint.state_at(Stage.POSITION)
    with strict(state), strict():
        twin = pickle.loads(pickle.dumps(state))
        assert twin.is_strict
        assert list(twin.q) == list(state.q)
        joint.invalidate_topology_cache()
        assert joint.state_at(Stage.REPORT).is_strict
    assert not twin.is_strict
    assert not state.is_strict


def test_a_change_of_a_model_or_a_state_is_not_one_of_a_value_that_refers_to_it() -> None:
    reader = Reader(lambda self, state: None)
    state = state_of(reader)
    other = state.copy()
    pull: Any = reader.pull
    graph = Graph()
    node = graph.variable("node", 0)
    for thing in (reader, reader.system, reader.own, other, other[reader], graph, node):
        value: list[Any] = [thing]
        pull.set(state, value)
        with strict(state):
            assert pull(state) is value
            object.__setattr__(reader, "reading", object())
            reader.own.set(other, reader.own(other) + 1)
            node.set(node() + 1)
            assert pull(state) is value
            value.append(1)
            with pytest.raises(MutatedValueError):
                pull(state)


# ---------------------------------------------------------------------- planted faults


SCALE = [1.0]


class Faulty(Subsystem):
    """A fault of each kind."""

    length = parameter(1.0)
    angle = q_variable(0.5)

    def __init__(self) -> None:
        self.memory: dict[str, float] = {}

    @cached(prerequisites=(angle,))
    def missing(self, state: State) -> float:
        return self.angle(state) * self.length(state)

    @cached(prerequisites=(angle,))
    def branch(self, state: State) -> float:
        return self.length(state) if self.angle(state) > 1 else 0.0

    @cached(prerequisites=(angle,))
    def world(self, state: State) -> float:
        return self.angle(state) * SCALE[0]

    @cached(prerequisites=(angle,))
    def attribute(self, state: State) -> float:
        return self.angle(state) + self.memory.get("x", 0.0)

    @cached(prerequisites=(missing,))
    def below(self, state: State) -> float:
        return self.missing(state) + 1


def test_planted_faults_are_found_by_verify() -> None:
    for name, suspect in (("missing", "faulty.length"), ("world", "global"), ("attribute", "")):
        SCALE[0] = 1.0
        faulty = Faulty()
        state = state_of(faulty)
        entry = getattr(faulty, name)
        with verify(state) as reads:
            entry(state)
            faulty.length.set(state, 2.0)
            SCALE[0] = 2.0
            faulty.memory["x"] = 2.0
            with pytest.raises(StaleValueError, match=name) as caught:
                entry(state)
        assert suspect in caught.value.suspects[0]
        assert bool(reads.undeclared) == (name == "missing")


def test_the_entry_with_the_missing_prerequisite_is_named_when_another_is_read() -> None:
    faulty = Faulty()
    state = state_of(faulty)
    with verify(state):
        faulty.below(state)
        faulty.length.set(state, 2.0)
        with pytest.raises(StaleValueError, match="'missing'") as caught:
            faulty.below(state)
    assert caught.value.hint == "write @cached(prerequisites=(angle, length))"


def test_a_read_in_one_branch_is_found_when_that_is_taken() -> None:
    faulty = Faulty()
    state = state_of(faulty)
    with strict(state):
        assert faulty.branch(state) == 0.0
        faulty.angle.set(state, 2.0)
        with pytest.raises(UndeclaredPrerequisiteError):
            faulty.branch(state)


def test_a_log_tells_what_was_read() -> None:
    springs = Springs(2)
    state = state_of(springs)
    with strict(state) as reads:
        springs.total(state)
    assert isinstance(reads, ReadLog)
    assert reads.of(springs.total) == set(springs.force)
    assert reads.of(springs.force[1]) == {
        springs.place[1],
        springs.place[2],
        springs.stiffness[1],
    }
    assert reads.over_declared() == ()
