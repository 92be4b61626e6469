"""Prescribed motion: set exactly, and nothing else; what is free; what is refused."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    modeling_option,
    parameter,
    q_variable,
    strict,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    ComputeSignatureError,
    DeclarationError,
    KinematicsError,
    NotANumberError,
    NoValueError,
    PrerequisiteStageError,
    ReadOnlyError,
    ShapeError,
    StageTooLowError,
    UndeclaredPrerequisiteError,
    WrongTypeError,
)
from stagecache.state.handles import Vector
from stagecache.system.constraints.quaternions import quaternion_kinematics
from stagecache.system.motion.operators import multiply_by_n
from stagecache.system.motion.prescribing import (
    free_q_index,
    free_u_index,
    prescribe_q,
    prescribe_u,
    prescribed_udot,
)
from stagecache.testing import check_coherence
from tests.profiles import examples
from tests.system.models import state_of

INSTANCE, TIME, POSITION, VELOCITY = Stage.INSTANCE, Stage.TIME, Stage.POSITION, Stage.VELOCITY
ACCELERATION = Stage.ACCELERATION


class Machine(Subsystem):
    """A scalar, a family and a vector of each kind are prescribed, others are free.

    ::

        q    free  arm  idle idle  links (count of them)  tail (as many as its size)
        u    the rate of each
    """

    def __init__(self, count: int = 2, size: int = 2) -> None:
        self.count = count
        self.size_of_tail = size

    is_driven = parameter(True)
    has_driven_tail = modeling_option(True)
    speed = parameter(2.0)
    phases = parameter(factory=lambda self, i: 0.5 * i, count=lambda self: self.count)

    free = q_variable(7.0)
    arm = q_variable(0.5)
    idle = q_variable((8.0, 9.0))
    links = q_variable(0.25, count=lambda self: self.count)
    tail = q_variable(factory=lambda self, state: np.full(self.size_of_tail, 0.125))

    free_rate = u_variable(-7.0)
    arm_rate = u_variable(0.0)
    idle_rates = u_variable((-8.0, -9.0))
    link_rates = u_variable(0.0, count=lambda self: self.count)
    tail_rates = u_variable(factory=lambda self, state: np.zeros(self.size_of_tail))

    @arm.prescribed(enabled=is_driven)
    def drive(self, state: State) -> float:
        return math.sin(self.speed(state) * state.time)

    @links.prescribed(prerequisites=lambda self, i: (self.time, self.phases[i]))
    def drive_link(self, state: State, i: int) -> float:
        return state.time**2 + self.phases[i](state)

    @tail.prescribed(enabled=has_driven_tail)
    def drive_tail(self, state: State) -> Vector:
        return np.arange(self.size_of_tail, dtype=np.float64) - state.time

    @arm_rate.prescribed(enabled=is_driven)
    def drive_rate(self, state: State) -> float:
        return self.arm(state) * self.free(state) + state.time

    @link_rates.prescribed(prerequisites=lambda self, i: (self.links[i],))
    def drive_link_rate(self, state: State, i: int) -> float:
        link = self.links[i](state)
        return link * link

    @tail_rates.prescribed(enabled=has_driven_tail)
    def drive_tail_rates(self, state: State) -> Vector:
        return self.tail(state) * float(self.idle(state)[0])

    @drive_rate.acceleration
    def drive_acceleration(self, state: State) -> float:
        return self.arm_rate(state) * self.free(state) + self.arm(state) * self.free_rate(state) + 1

    @drive_link_rate.acceleration(prerequisites=lambda self, i: (self.links[i], self.link_rates[i]))
    def drive_link_acceleration(self, state: State, i: int) -> float:
        return 2 * self.links[i](state) * self.link_rates[i](state)


# ---------------------------------------------------------------------- an explicit reference


def wanted_q(machine: Machine, state: State, q: Vector) -> tuple[Vector, Vector]:
    """All q of a machine after prescribe_q, and which of them are prescribed."""
    n, time = machine.count, state.time
    wanted, is_driven = q.copy(), np.zeros(len(q), bool)
    if machine.is_driven(state):
        wanted[1], is_driven[1] = math.sin(machine.speed(state) * time), True
    for i in range(n):
        wanted[4 + i], is_driven[4 + i] = time**2 + machine.phases[i](state), True
    if machine.has_driven_tail(state):
        wanted[4 + n :] = [k - time for k in range(machine.size_of_tail)]
        is_driven[4 + n :] = True
    return wanted, is_driven


def wanted_u(machine: Machine, state: State, q: Vector, u: Vector) -> tuple[Vector, Vector]:
    """All u of a machine after prescribe_u, and which of them are prescribed."""
    n = machine.count
    wanted, is_driven = u.copy(), np.zeros(len(u), bool)
    if machine.is_driven(state):
        wanted[1], is_driven[1] = q[1] * q[0] + state.time, True
    for i in range(n):
        wanted[4 + i], is_driven[4 + i] = q[4 + i] * q[4 + i], True
    if machine.has_driven_tail(state):
        wanted[4 + n :], is_driven[4 + n :] = q[4 + n :] * q[2], True
    return wanted, is_driven


def wanted_udot(machine: Machine, state: State, q: Vector, u: Vector) -> Vector:
    """The udot of all u of a machine that are prescribed; NaN for others."""
    n = machine.count
    wanted = np.full(len(u), np.nan)
    if machine.is_driven(state):
        wanted[1] = u[1] * q[0] + q[1] * u[0] + 1
    wanted[4 : 4 + n] = 2 * q[4 : 4 + n] * u[4 : 4 + n]
    if machine.has_driven_tail(state):
        wanted[4 + n :] = u[4 + n :] * q[2] + q[4 + n :] * u[2]
    return wanted


def parts(values: Vector, machines: list[Machine], state: State, kind: str) -> Iterator[Vector]:
    """What of a whole q or u belongs to each machine."""
    sizes = [len(getattr(state[machine], kind)) for machine in machines]
    return iter(np.split(values, np.cumsum(sizes)[:-1]))


numbers = st.floats(-3, 3, allow_nan=False)
models = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans(), st.booleans(), numbers),
    min_size=1,
    max_size=3,
)


def built(model: list[tuple[int, int, bool, bool, float]]) -> tuple[System, list[Machine], State]:
    machines = [Machine(count, size) for count, size, *_ in model]
    named: dict[str, Any] = {f"machine_{i}": machine for i, machine in enumerate(machines)}
    system = System(**named)
    state = system.new_state()
    for machine, (_, _, _, drives_tail, _) in zip(machines, model, strict=True):
        machine.has_driven_tail.set(state, drives_tail)
    system.realize_model(state)
    for machine, (_, _, is_driven, _, speed) in zip(machines, model, strict=True):
        machine.is_driven.set(state, is_driven)
        machine.speed.set(state, speed)
    return system, machines, state


@examples(50)
@given(models, numbers, st.randoms(use_true_random=False))
def test_prescribed_values_are_exact_and_nothing_else_moves(
    model: list[tuple[int, int, bool, bool, float]], time: float, random: Any
) -> None:
    system, machines, state = built(model)
    state.time = time
    state.q = [round(random.uniform(-2, 2), 6) for _ in range(state.nq)]
    state.u = [round(random.uniform(-2, 2), 6) for _ in range(state.nu)]
    state.z = [round(random.uniform(-2, 2), 6) for _ in range(state.nz)]
    before_q, before_u = state.q.copy(), state.u.copy()

    system.realize(state, TIME)
    found = [
        wanted_q(m, state, q)
        for m, q in zip(machines, parts(before_q, machines, state, "q"), strict=True)
    ]
    q, is_driven = (np.concatenate(x) for x in zip(*found, strict=True))
    assert prescribe_q(state) == (not np.array_equal(q, before_q))
    assert np.array_equal(state.q, q)
    assert np.array_equal(state.u, before_u)
    assert free_q_index(state).tolist() == np.flatnonzero(~is_driven).tolist()

    system.realize(state, POSITION)
    found = [
        wanted_u(m, state, own_q, own_u)
        for m, own_q, own_u in zip(
            machines,
            parts(q, machines, state, "q"),
            parts(before_u, machines, state, "u"),
            strict=True,
        )
    ]
    u, is_driven = (np.concatenate(x) for x in zip(*found, strict=True))
    assert prescribe_u(state) == (not np.array_equal(u, before_u))
    assert np.array_equal(state.u, u)
    assert np.array_equal(state.q, q)
    assert free_u_index(state).tolist() == np.flatnonzero(~is_driven).tolist()

    system.realize(state, VELOCITY)
    versions = state.stage_versions
    assert not prescribe_q(state)
    assert not prescribe_u(state)
    assert state.stage == VELOCITY
    assert state.stage_versions == versions


@examples(50)
@given(models, numbers, st.randoms(use_true_random=False))
def test_udot_of_prescribed_u_is_the_derivative_along_the_motion_without_any_mass(
    model: list[tuple[int, int, bool, bool, float]], time: float, random: Any
) -> None:
    system, machines, state = built(model)
    state.time = time
    state.q = [round(random.uniform(-2, 2), 6) for _ in range(state.nq)]
    state.u = [round(random.uniform(-2, 2), 6) for _ in range(state.nu)]
    system.realize(state, VELOCITY)
    rows, udot = prescribed_udot(state)
    wanted = np.concatenate(
        [
            wanted_udot(m, state, q, u)
            for m, q, u in zip(
                machines,
                parts(state.q, machines, state, "q"),
                parts(state.u, machines, state, "u"),
                strict=True,
            )
        ]
    )
    assert rows.tolist() == np.flatnonzero(~np.isnan(wanted)).tolist()
    assert udot == pytest.approx(wanted[rows], rel=1e-7, abs=1e-7)
    assert state.stage == VELOCITY
    system.realize(state, ACCELERATION)
    assert state.udot == pytest.approx(wanted, rel=1e-7, abs=1e-7, nan_ok=True)
    assert state.qdotdot.tolist() == pytest.approx(state.udot.tolist(), nan_ok=True)
    assert state.qdot.tolist() == state.u.tolist()
    machines[0].is_driven.set(state, False)
    system.realize(state, ACCELERATION)
    assert np.isnan(state.udot[1])


# ---------------------------------------------------------------------- when it is computed


def test_a_motion_is_computed_by_its_stage_and_a_disabled_one_is_not_called() -> None:
    calls = []

    class Crank(Subsystem):
        is_driven = parameter(True)
        angle = q_variable(0.0)
        rate = u_variable(0.0)

        @angle.prescribed(enabled=is_driven)
        def drive(self, state: State) -> float:
            calls.append("q")
            return 1.0

        @rate.prescribed(enabled=is_driven)
        def drive_rate(self, state: State) -> float:
            calls.append("u")
            return 2.0

        @drive_rate.acceleration
        def drive_acceleration(self, state: State) -> float:
            calls.append("udot")
            return 3.0

    crank = Crank()
    state = state_of(crank, stage=TIME)
    system = state.system
    assert calls == ["q"]
    assert prescribe_q(state)
    system.realize(state, POSITION)
    assert prescribe_u(state)
    system.realize(state, VELOCITY)
    assert [list(x) for x in prescribed_udot(state)] == [[0], [3.0]]
    assert calls == ["q", "u", "udot"]
    crank.is_driven.set(state, False)
    calls.clear()
    system.realize(state, VELOCITY)
    assert not prescribe_q(state)
    assert not prescribe_u(state)
    assert [list(x) for x in prescribed_udot(state)] == [[], []]
    assert [x.size for x in (crank.drive(state), crank.drive_acceleration(state))] == [0, 0]
    assert not calls
    assert free_q_index(state).tolist() == free_u_index(state).tolist() == [0]
    crank.is_driven.set(state, True)
    system.realize(state, INSTANCE)
    assert not free_q_index(state).size


class Top(Subsystem):
    """A body whose qdot are not its u: a quaternion that drives a motor."""

    orientation = q_variable((1.0, 0.0, 0.0, 0.0))
    spin = u_variable((0.0, 0.0, 0.0))
    turning = quaternion_kinematics(orientation, spin)


class Motor(Subsystem):
    """What turns with it. Its udot is not declared."""

    def __init__(self, top: Top) -> None:
        self.top = top

    angle = q_variable(0.0)
    rate = u_variable(0.0)

    @rate.prescribed(prerequisites=lambda self: (self.top.orientation, self.time))
    def drive_rate(self, state: State) -> float:
        w, x, y, z = self.top.orientation(state).tolist()
        return float(w * x - 2 * y * z + state.time**2)


def test_udot_without_a_function_goes_along_n_u_and_time() -> None:
    top = Top()
    motor = Motor(top)
    state = state_of(top, motor)
    state.time = 0.75
    top.orientation.set(state, [0.5, -0.5, 0.1, 0.7])
    top.spin.set(state, [0.3, -0.4, 2.0])
    state.system.realize(state, VELOCITY)
    w, x, y, z = top.orientation(state)
    dw, dx, dy, dz = multiply_by_n(state, state.u)[:4]
    rows, udot = prescribed_udot(state)
    assert rows.tolist() == [3]
    assert udot == pytest.approx([dw * x + w * dx - 2 * (dy * z + y * dz) + 1.5], rel=1e-8)


def test_udot_without_a_function_goes_along_qdot_of_a_hook_where_n_is_not_known() -> None:
    class Pair(Subsystem):
        turns = q_variable((0.25, 0.5))
        rate = u_variable(3.0)

        @rate.prescribed
        def drive(self, state: State) -> float:
            return float(self.turns(state)[1]) ** 2

        def realize_velocity(self, state: State) -> None:
            state[self].upd_qdot()[:] = [0.0, 2 * self.rate(state)]

    state = state_of(Pair(), stage=VELOCITY)
    rows, udot = prescribed_udot(state)
    assert rows.tolist() == [0]
    assert udot == pytest.approx([2 * 0.5 * 6.0], rel=1e-8)


def test_udot_that_cannot_be_known_names_the_subsystem() -> None:
    class Pair(Subsystem):
        turns = q_variable((0.25, 0.5))
        rate = u_variable(3.0)

        @rate.prescribed
        def drive(self, state: State) -> float:
            return 0.0

    state = state_of(Pair(), stage=VELOCITY)
    with pytest.raises(KinematicsError, match="pair"):
        prescribed_udot(state)
    with pytest.raises(KinematicsError, match="pair"):
        state.system.realize(state, ACCELERATION)


def test_a_motion_that_ends_at_this_time_is_named_where_udot_needs_another_time() -> None:
    class Starting(Subsystem):
        x = q_variable(0.0)
        rate = u_variable(0.0)

        @rate.prescribed
        def drive(self, state: State) -> float:
            return math.nan if state.time < 0 else state.time**1.5

    state = state_of(Starting(), stage=VELOCITY)
    with pytest.raises(NotANumberError, match=r"starting\.drive") as caught:
        prescribed_udot(state)
    assert caught.value.__notes__ == [
        "while udot was computed by differences of starting.drive: declare .acceleration"
    ]
    assert state.stage == VELOCITY


def test_a_write_of_a_prescribed_variable_is_taken_back_by_the_next_call() -> None:
    machine = Machine()
    state = state_of(machine, stage=TIME)
    prescribe_q(state)
    wanted = state.q.copy()
    machine.links[1].set(state, 77.0)
    machine.free.set(state, 5.0)
    versions = machine.arm.version(state), machine.links[1].version(state)
    assert prescribe_q(state)
    wanted[0] = 5.0
    assert np.array_equal(state.q, wanted)
    assert (machine.arm.version(state), machine.links[1].version(state)) == (
        versions[0],
        versions[1] + 1,
    )


def test_a_variable_that_is_nan_is_set() -> None:
    machine = Machine()
    state = state_of(machine, stage=TIME)
    machine.arm.set(state, math.nan)
    assert prescribe_q(state)
    assert machine.arm(state) == 0.0


def test_setting_goes_back_to_the_stage_before_position_or_velocity() -> None:
    state = state_of(Machine(), stage=Stage.REPORT)
    assert prescribe_u(state)
    assert state.stage == POSITION
    state.system.realize(state)
    assert prescribe_q(state)
    assert state.stage == TIME


def test_a_motion_may_read_other_subsystems_at_its_stage() -> None:
    class Clock(Subsystem):
        @cached(available_from=TIME)
        def hand(self, state: State) -> float:
            return 6 * state.time

    class Follower(Subsystem):
        angle = q_variable(0.0)

        def __init__(self, clock: Clock) -> None:
            self.clock = clock

        @angle.prescribed(prerequisites=lambda self: (self.clock.hand,))
        def drive(self, state: State) -> float:
            return self.clock.hand(state) + 1

    clock = Clock()
    follower = Follower(clock)
    state = state_of(follower, clock)
    state.time = 2.0
    state.system.realize(state, TIME)
    assert prescribe_q(state)
    assert follower.angle(state) == 13.0


def test_a_subclass_replaces_a_motion_by_its_name() -> None:
    class Faster(Machine):
        @Machine.arm.prescribed
        def drive(self, state: State) -> float:
            return 100.0

    class Freer(Machine):
        is_driven = parameter(False)

    faster, freer = Faster(), Freer()
    state = state_of(faster, freer, stage=TIME)
    prescribe_q(state)
    assert faster.arm(state) == 100.0
    assert freer.arm(state) == 0.5


def test_the_index_of_free_variables_is_read_only() -> None:
    state = state_of(Machine(), stage=INSTANCE)
    index = free_q_index(state)
    assert index.dtype == np.intp
    with pytest.raises(ValueError, match="read-only"):
        index[0] = 1


def test_without_motion_all_is_free() -> None:
    class Cart(Subsystem):
        x = q_variable((0.0, 1.0))
        v = u_variable((0.0, 1.0))

    state = state_of(Cart(), stage=VELOCITY)
    assert free_q_index(state).tolist() == free_u_index(state).tolist() == [0, 1]
    assert not prescribe_q(state)
    assert not prescribe_u(state)
    assert [x.size for x in prescribed_udot(state)] == [0, 0]
    assert state.stage == VELOCITY


# ---------------------------------------------------------------------- strict mode and coherence


def test_prescribed_motion_declares_what_it_reads() -> None:
    machine = Machine()
    system = System(machine)
    with strict():
        state = system.new_state()
        system.realize(state, TIME)
        prescribe_q(state)
        system.realize(state, POSITION)
        prescribe_u(state)
        system.realize(state)
        rows, udot = prescribed_udot(state)
    assert (len(rows), len(udot)) == (5, 5)


def test_a_motion_of_q_that_reads_q_is_found_in_strict_mode() -> None:
    class Loop(Subsystem):
        angle = q_variable(0.0)
        other = q_variable(0.0)

        @angle.prescribed
        def drive(self, state: State) -> float:
            return self.other(state)

    system = System(Loop())
    state = system.new_state()
    with strict(state), pytest.raises(UndeclaredPrerequisiteError, match=r"'drive'.*'other'"):
        system.realize(state, TIME)


def test_models_with_motion_are_coherent() -> None:
    machine = Machine(2, 2)
    result = check_coherence(System(machine), settings=examples(30), seed=1)
    assert result.entries == result.computed == 11


# ---------------------------------------------------------------------- what is refused


Returned = Callable[[State], Any]


def driven(returned: Returned, kind: str = "q") -> tuple[Subsystem, System, State]:
    class Crank(Subsystem):
        angle = q_variable((0.0, 0.0))
        rate = u_variable((0.0, 0.0))

        if kind == "q":

            @angle.prescribed
            def drive(self, state: State) -> Any:
                return returned(state)

        else:

            @rate.prescribed
            def drive(self, state: State) -> Any:
                return returned(state)

    crank = Crank()
    system = System(crank)
    return crank, system, system.new_state()


@pytest.mark.parametrize("kind", ["q", "u"])
@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        (1.0, ShapeError, "crank.drive"),
        ([1.0, 2.0, 3.0], ShapeError, "crank.drive"),
        ([[1.0], [2.0]], ShapeError, r"shape \(2, 1\)"),
        ([1.0, math.nan], NotANumberError, "nan as number 1"),
        ([math.inf, 1.0], NotANumberError, "crank.drive"),
        (["a", "b"], NotANumberError, "crank.drive"),
        (None, NoValueError, "crank.drive"),
    ],
)
def test_bad_values_are_refused_and_name_the_motion(
    kind: str, values: object, error: type[Exception], words: str
) -> None:
    _, system, state = driven(lambda state: values, kind)
    before = state.y.copy()
    with pytest.raises(error, match=words):
        system.realize(state, VELOCITY)
    assert state.stage == (INSTANCE if kind == "q" else TIME)
    assert np.array_equal(state.y, before)


@pytest.mark.parametrize(
    ("function", "needed"),
    [
        (free_q_index, INSTANCE),
        (free_u_index, INSTANCE),
        (prescribe_q, TIME),
        (prescribe_u, POSITION),
        (prescribed_udot, VELOCITY),
    ],
)
def test_a_stage_is_needed(function: Callable[[State], object], needed: Stage) -> None:
    state = state_of(Machine(), stage=needed.prev())
    with pytest.raises(StageTooLowError, match=f"at least {needed}|{needed}"):
        function(state)
    assert state.stage == needed.prev()
    state.system.realize(state, needed)
    function(state)


def test_a_motion_of_q_cannot_depend_on_q_nor_one_of_u_on_u() -> None:
    class OfQ(Subsystem):
        angle = q_variable(0.0)
        other = q_variable(0.0)

        @angle.prescribed(prerequisites=(other,))
        def drive(self, state: State) -> float:
            return 0.0

    class OfU(Subsystem):
        rate = u_variable(0.0)
        other = u_variable(0.0)

        @cached(prerequisites=(other,))
        def twice(self, state: State) -> float:
            return 0.0

        @rate.prescribed(prerequisites=(twice,))
        def drive(self, state: State) -> float:
            return 0.0

    class OfStage(Subsystem):
        angle = q_variable(0.0)

        @cached(available_from=POSITION)
        def place(self, state: State) -> float:
            return 0.0

        @angle.prescribed(prerequisites=(place,))
        def drive(self, state: State) -> float:
            return 0.0

    class OfUpdate(Subsystem):
        angle = q_variable(0.0)
        latch = auto_update(0.0, invalidates=POSITION, available_from=TIME)

        @angle.prescribed(prerequisites=(latch,))
        def drive(self, state: State) -> float:
            return 0.0

    class OfZ(Subsystem):
        rate = u_variable(0.0)
        wear = z_variable(0.0)

        @rate.prescribed
        def drive(self, state: State) -> float:
            return 0.0

        @drive.acceleration(prerequisites=(wear,))
        def drive_acceleration(self, state: State) -> float:
            return 0.0

    for cls in (OfQ, OfU, OfStage, OfUpdate, OfZ):
        with pytest.raises(PrerequisiteStageError, match="drive"):
            System(cls()).realize_topology()


def test_a_motion_that_reads_a_later_stage_is_refused() -> None:
    _, system, state = driven(lambda state: [state.qerr.size, 0.0])
    with pytest.raises(StageTooLowError):
        system.realize(state, POSITION)
    assert state.stage == INSTANCE


def test_a_default_state_is_not_written() -> None:
    _, system, _ = driven(lambda state: [1.0, 2.0])
    system.realize(system.default_state, TIME)
    with pytest.raises(ReadOnlyError):
        prescribe_q(system.default_state)
    assert system.default_state.q.tolist() == [0.0, 0.0]


def test_z_is_not_prescribed_nor_is_the_acceleration_of_q() -> None:
    wear, angle, lengths = z_variable(0.0), q_variable(0.0), parameter(1.0, count=2)
    with pytest.raises(DeclarationError, match="one of z"):
        wear.prescribed(lambda self, state: 0.0)
    with pytest.raises(DeclarationError, match="prescribed"):
        lengths.prescribed(lambda self, state, i: 0.0)
    drive = angle.prescribed(lambda self, state: 0.0)
    with pytest.raises(DeclarationError, match="prescribed u"):
        drive.acceleration(lambda self, state: 0.0)
    angles = q_variable(0.0, count=2)
    with pytest.raises(DeclarationError, match="prescribed u"):
        angles.acceleration(lambda self, state, i: 0.0)


def test_the_function_and_its_arguments_are_checked() -> None:
    rate: Any = u_variable(0.0)
    rates = u_variable(0.0, count=2)
    with pytest.raises(ComputeSignatureError):
        rate.prescribed(lambda self: 0.0)
    with pytest.raises(ComputeSignatureError):
        rates.prescribed(lambda self, state: 0.0)
    with pytest.raises(WrongTypeError):
        rate.prescribed(prerequisites={"a"})
    with pytest.raises(DeclarationError, match="enabled"):
        rate.prescribed(enabled=True)
    with pytest.raises(DeclarationError, match="enabled"):
        rate.prescribed(enabled=parameter(1.0))


def test_a_variable_is_prescribed_once() -> None:
    with pytest.raises(DeclarationError, match="'drive' and 'again'"):

        class Twice(Subsystem):
            angle = q_variable(0.0)

            @angle.prescribed
            def drive(self, state: State) -> float:
                return 0.0

            @angle.prescribed
            def again(self, state: State) -> float:
                return 0.0


def test_what_is_prescribed_has_to_stay_a_variable_of_its_kind() -> None:
    with pytest.raises(DeclarationError, match="is the prescribed of something"):

        class Other(Machine):
            arm = u_variable(0.0)


def test_prescribe_says_whether_any_q_or_u_has_changed() -> None:
    class Driven(Subsystem):
        angle = q_variable(0.0)
        rate = u_variable(0.0)

        @angle.prescribed
        def turn(self, state: State) -> float:
            return state.time

        @rate.prescribed
        def turn_at(self, state: State) -> float:
            return 1.0

    system = System(Driven())
    state = system.new_state()
    assert system.prescribe(state), "the u has changed"
    assert not system.prescribe(state)
    state.time = 2.0
    assert system.prescribe(state), "the q has changed"
    assert (state.q.tolist(), state.u.tolist()) == ([2.0], [1.0])
