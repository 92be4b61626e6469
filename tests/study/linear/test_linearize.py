"""Linear models: against formulas, against brute force, and the number of evaluations."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    generalized_force,
    linearize,
    mass_matrix,
    modeling_option,
    parameter,
    position_error,
    q_variable,
    quaternion_kinematics,
    strict,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    DuplicateNameError,
    ForeignNodeError,
    ForeignStateError,
    NodeKindError,
    NotANumberError,
    NotFiniteError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
    UnknownChoiceError,
    UnknownPathError,
    WrongTypeError,
)
from stagecache.examples import cart_pole, pendulum
from stagecache.study import Linearization
from tests.profiles import examples
from tests.study.linear.random_models import Model, brute, built, handle, models

Vector = NDArray[np.float64]
FORWARD = float(np.finfo(float).eps) ** 0.5
CENTRAL = float(np.finfo(float).eps) ** (1 / 3)


def whole(model: Linearization) -> Vector:
    return np.block([[model.A, model.B], [model.C, model.D]])


def realizations(system: System) -> int:
    return system.statistics.num_realizations(Stage.ACCELERATION)


# ---------------------------------------------------------------------- chains of springs


class Mass(Subsystem):
    """A mass between two springs, whose stiffness varies with their stretch."""

    stiffness = parameter(2.0)
    damping = parameter(0.0)
    place = q_variable(0.0)
    speed = u_variable(0.0)

    def __init__(self) -> None:
        self.left: Mass | None = None
        self.right: Mass | None = None
        self.count = 0

    def pull(self, state: State, other: "Mass | None") -> float:
        stretch = (0.0 if other is None else other.place(state)) - self.place(state)
        return self.stiffness(state) * (stretch + stretch**3)

    def realize_acceleration(self, state: State) -> None:
        self.__dict__["count"] += 1
        force = self.pull(state, self.left) + self.pull(state, self.right)
        state[self].upd_udot()[0] = force


class DampedMass(Mass):
    def realize_acceleration(self, state: State) -> None:
        super().realize_acceleration(state)
        state[self].upd_udot()[0] -= 0.5 * self.speed(state)


class DeclaredMass(Mass):
    """The same, with a declared mass and force, and without a hook."""

    realize_acceleration = Subsystem.realize_acceleration

    @mass_matrix(Mass.speed, prerequisites=())
    def mass(self, _state: State) -> Vector:
        return np.ones(1)

    @generalized_force(
        Mass.speed,
        prerequisites=lambda self: [
            *(x.place for x in (self.left, self, self.right) if x is not None),
            self.stiffness,
        ],
    )
    def springs(self, state: State) -> float:
        return self.pull(state, self.left) + self.pull(state, self.right)


def chain(count: int, kind: type[Mass] = Mass) -> tuple[System, State]:
    masses = [kind() for _ in range(count)]
    for left, right in pairwise(masses):
        left.right, right.left = right, left
    system = System(*masses)
    state = system.new_state()
    state.q = 0.1 * np.sin(np.arange(count))
    state.u = np.cos(np.arange(count))
    return system, state


def chain_matrix(q: Vector) -> Vector:
    """d udot / d q of a chain, by its formula."""
    ends = np.concatenate([[0.0], q, [0.0]])
    slopes = 2.0 * (1 + 3 * np.diff(ends) ** 2)
    slopes[0], slopes[-1] = 2.0 * (1 + 3 * q[0] ** 2), 2.0 * (1 + 3 * q[-1] ** 2)
    inner = slopes[1:-1]
    return np.diag(-slopes[:-1] - slopes[1:]) + np.diag(inner, 1) + np.diag(inner, -1)


@pytest.mark.parametrize("kind", [Mass, DeclaredMass])
def test_a_chain_of_a_hundred_springs_takes_four_evaluations(kind: type[Mass]) -> None:
    system, state = chain(100, kind)
    system.realize_topology()
    system.statistics.reset()
    model = linearize(system, state)
    assert model.num_evaluations == realizations(system) == 4
    assert len(model.groups) == 3
    assert sorted(name for group in model.groups for name in group) == sorted(model.states)
    identity, zero = np.eye(100), np.zeros((100, 100))
    expected = np.block([[zero, identity], [chain_matrix(model.y0[:100]), zero]])
    np.testing.assert_allclose(model.A, expected, atol=1e-6)
    np.testing.assert_array_equal(model.A == 0, expected == 0)


def test_hooks_are_called_once_for_each_evaluation() -> None:
    system, state = chain(10)
    masses = [s for s in system if isinstance(s, Mass)]
    linearize(system, state)
    assert [mass.count for mass in masses] == [4] * 10


def test_central_differences_take_two_evaluations_for_each_group() -> None:
    system, state = chain(100)
    system.statistics.reset()
    model = linearize(system, state, differences="central")
    assert model.num_evaluations == realizations(system) == 7
    np.testing.assert_allclose(model.A[100:, :100], chain_matrix(model.y0[:100]), atol=2e-10)


def test_damping_joins_no_more_than_the_columns_of_a_row() -> None:
    system, state = chain(100, DampedMass)
    model = linearize(system, state)
    assert model.num_evaluations == 1 + 4  # three q and a u
    np.testing.assert_allclose(model.A[100:, 100:], -0.5 * np.eye(100), atol=1e-7)


def test_one_hook_that_computes_all_rows_is_full() -> None:
    class Chain(Subsystem):
        place = q_variable(0.1, count=5)
        speed = u_variable(0.0, count=5)

        def realize_acceleration(self, state: State) -> None:
            for i in range(5):
                state[self].upd_udot()[i] = -self.place[i](state)

    system = System(Chain())
    model = linearize(system, system.new_state())
    assert model.num_evaluations == 1 + 5
    np.testing.assert_allclose(model.A[5:, :5], -np.eye(5), atol=1e-7)


def test_masses_of_one_subsystem_with_a_family_of_forces_are_apart_if_m_is_a_diagonal() -> None:
    """Forces are declared one by one; each names its own places."""
    count = 12

    def force(i: int) -> Any:
        near = [x for x in (i - 1, i, i + 1) if 0 <= x < count]

        def compute(self: Any, state: State) -> float:
            return float(sum(self.place[k](state) for k in near) - 3 * self.place[i](state))

        named = lambda self: [self.place[k] for k in near]  # noqa: E731
        return generalized_force(speeds[i], prerequisites=named)(compute)

    speeds = [u_variable(0.0) for _ in range(count)]
    body: dict[str, Any] = {"place": q_variable(0.1, count=count)}
    body |= {f"speed_{i}": speed for i, speed in enumerate(speeds)}
    body["mass"] = mass_matrix(prerequisites=())(lambda _self, _state: np.ones(count))
    body |= {f"force_{i}": force(i) for i in range(count)}
    system = System(type("Chain", (Subsystem,), body)())
    model = linearize(system, system.new_state())
    assert model.num_evaluations == 4
    expected = -2 * np.eye(count) + np.eye(count, k=1) + np.eye(count, k=-1)
    np.testing.assert_allclose(model.A[count:, :count], expected, atol=1e-7)


def test_what_no_moved_column_touches_is_not_computed_again() -> None:
    calls = []

    class Slow(Subsystem):
        table = parameter(3.0)
        place = q_variable(1.0)
        speed = u_variable(0.0)

        @cached(prerequisites=(table,))
        def spline(self, state: State) -> float:
            calls.append("spline")
            return self.table(state) ** 2

        @cached(prerequisites=(place,))
        def shape(self, state: State) -> float:
            calls.append("shape")
            return self.place(state)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[0] = self.spline(state) * self.shape(state)

    slow = Slow()
    system = System(slow)
    model = linearize(system, system.new_state(), (slow.table,))
    assert model.num_evaluations == 3  # place with speed, and table
    assert calls.count("spline") == calls.count("shape") == 2
    np.testing.assert_allclose(model.A, [[0, 1], [9, 0]], atol=1e-6)
    np.testing.assert_allclose(model.B, [[0], [6]], atol=1e-6)


# ---------------------------------------------------------------------- against formulas


def test_a_pendulum_has_its_known_matrices() -> None:
    system = pendulum.system()
    state = system.new_state()
    part = system.get(pendulum.Pendulum)
    inputs = (part.length, "pendulum.gravity")
    model = linearize(system, state, inputs, ("anchor.torque", part.tip), differences="central")
    angle, length, gravity = 0.1, 1.0, 9.81
    sine, cosine = math.sin(angle), math.cos(angle)
    a = np.array([[0, 1], [-gravity / length * cosine, 0]])
    np.testing.assert_allclose(model.A, a, atol=1e-8)
    b = np.array([[0, 0], [gravity / length**2 * sine, -sine / length]])
    np.testing.assert_allclose(model.B, b, atol=1e-8)
    c = [[-2 * gravity * length * cosine, 0], [length * cosine, 0], [length * sine, 0]]
    np.testing.assert_allclose(model.C, c, atol=1e-8)
    d = [[-2 * gravity * sine, -2 * length * sine], [sine, 0], [-cosine, 0]]
    np.testing.assert_allclose(model.D, d, atol=1e-8)
    assert model.states == ("pendulum.angle", "pendulum.rate")
    assert model.inputs == ("pendulum.length", "pendulum.gravity")
    assert model.outputs == ("anchor.torque", "pendulum.tip[0]", "pendulum.tip[1]")
    assert model.time == 0.0
    assert model.y0.tolist() == [0.1, 0.5]
    assert model.ydot0.tolist() == [0.5, -gravity * sine]
    assert model.inputs0.tolist() == [length, gravity]
    np.testing.assert_allclose(model.outputs0[1:], [sine, -cosine])


def test_the_cart_and_the_pole_have_the_matrices_of_their_equations() -> None:
    system = cart_pole.make_system(0.02)
    state = system.new_state()  # the pole leans
    model = cart_pole.linearized(system, state)
    cart, bob, length, gravity = 1.0, 0.1, 0.5, 9.81
    a = np.zeros((4, 4))
    a[:2, 2:] = np.eye(2)
    a[2:, 1] = -bob * gravity / cart, (cart + bob) * gravity / (cart * length)
    np.testing.assert_allclose(model.A, a, atol=1e-8)
    b = np.array([0.0, 0.0, 1.0 / cart, -1.0 / (cart * length)])
    np.testing.assert_allclose(model.B[:, 0], b, atol=1e-8)
    gain = cart_pole.lqr_gain(model)
    assert np.linalg.eigvals(model.A - np.outer(model.B, gain)).real.max() < 0
    assert state.q.tolist() == [0.0, 0.1]


def test_matrices_are_those_of_a_library() -> None:
    system, state = chain(8)

    def rates(y: Vector) -> Vector:
        moved = state.copy()
        moved.y = y
        system.realize(moved, Stage.ACCELERATION)
        return np.array(moved.ydot)

    expected = scipy.optimize.approx_fprime(np.array(state.y), rates, FORWARD)
    np.testing.assert_allclose(linearize(system, state).A, expected, atol=1e-6)


# ---------------------------------------------------------------------- against brute force


@examples(150)
@given(models(), st.booleans(), st.booleans(), st.data())
def test_groups_give_the_same_bits_as_columns_moved_alone(
    model: Model, is_central: bool, is_sparse: bool, data: st.DataObject
) -> None:
    system = built(model)
    movable = [i for i, x in enumerate(model.items) if x.kind in ("parameter", "discrete")]
    readable = range(len(model.items))
    chosen = data.draw(st.lists(st.sampled_from(movable), unique=True)) if movable else []
    read = data.draw(st.lists(st.sampled_from(readable), unique=True)) if readable else []
    inputs = [handle(system, model, i) for i in chosen]
    inputs += [system.time] if data.draw(st.booleans()) else []
    outputs = [handle(system, model, i) for i in read]
    state = system.new_state()
    system.realize(state, data.draw(st.sampled_from(list(Stage)[2:10])))
    system.statistics.reset()
    found = linearize(
        system,
        state,
        inputs,
        outputs,
        differences="central" if is_central else "forward",
        sparse=is_sparse,
    )
    assert found.num_evaluations >= realizations(system)
    number = len(found.states) + len(found.inputs)
    assert sum(map(len, found.groups)) == number
    fewest = 1 + len(found.groups) * (1 + is_central)
    assert found.num_evaluations >= fewest
    if not any(read.switch >= 0 for hook in model.hooks for read in hook.reads) and not any(
        read.switch >= 0 for item in model.items for read in item.reads
    ):
        assert found.num_evaluations == fewest  # nothing was moved in vain
    if is_sparse:
        parts = [[found.A, found.B], [found.C, found.D]]
        values = np.block([[part.toarray() for part in row] for row in parts])
    else:
        values = whole(found)
    relative = CENTRAL if is_central else FORWARD
    expected = brute(system, state, inputs, outputs, relative=relative, is_central=is_central)
    np.testing.assert_array_equal(values, expected)


def test_a_switch_that_finds_new_dependencies_moves_columns_apart() -> None:
    class Switch(Subsystem):
        gate = q_variable(0.0)
        other = q_variable(1.0)
        speeds = u_variable((0.0, 0.0))

        def realize_acceleration(self, state: State) -> None:
            is_on = self.gate(state) > 0
            state[self].upd_udot()[:] = self.other(state) if is_on else 1.0

    switch = Switch()
    system = System(switch)
    state = system.new_state()
    model = linearize(system, state)
    np.testing.assert_array_equal(whole(model), brute(system, state, (), (), relative=FORWARD))
    first = next(group for group in model.groups if "switch.gate" in group)
    assert "switch.other" not in first
    assert model.num_evaluations > 1 + len(model.groups)  # some was moved in vain


def test_a_row_that_reads_behind_the_back_depends_on_everything() -> None:
    class Sly(Subsystem):
        place = q_variable(2.0)
        speed = u_variable(0.0)

        def realize_acceleration(self, state: State) -> None:
            hidden = state._contents.pools.y  # no observer sees this
            state[self].upd_udot()[0] = hidden[0] ** 2 + hidden[1]

    system = System(Sly())
    state = system.new_state()
    model = linearize(system, state, differences="central")
    np.testing.assert_allclose(model.A, [[0, 1], [4, 1]], atol=1e-8)


def test_a_hook_that_copies_the_state_depends_on_everything() -> None:
    class Copying(Subsystem):
        place = q_variable((1.0, 2.0))
        speed = u_variable((3.0, 4.0))

        def realize_acceleration(self, state: State) -> None:
            twin = state.copy()
            state[self].upd_udot()[:] = twin.q[::-1] * twin.u

    system = System(Copying())
    state = system.new_state()
    model = linearize(system, state)
    np.testing.assert_array_equal(whole(model), brute(system, state, (), (), relative=FORWARD))
    assert model.num_evaluations == 5


def test_entries_that_hooks_fill_depend_on_what_these_read() -> None:
    class Filling(Subsystem):
        place = q_variable(0.5)
        speed = u_variable(0.0)

        def __init__(self, other: "Filling | None") -> None:
            self.other = other

        def realize_topology(self, state: State) -> None:
            self.__dict__["square"] = state[self].allocate_cache_entry(
                Stage.POSITION, Stage.POSITION, 0.0
            )

        def realize_position(self, state: State) -> None:
            self.__dict__["square"].set(state, self.place(state) ** 2)

        def realize_acceleration(self, state: State) -> None:
            other = self if self.other is None else self.other
            state[self].upd_udot()[0] = other.__dict__["square"](state)

    first = Filling(None)
    others = [Filling(first), Filling(None), Filling(None)]
    system = System(first, *others)
    state = system.new_state()
    model = linearize(system, state, differences="central")
    expected = np.diag([1.0, 0.0, 1.0, 1.0])
    expected[1, 0] = 1.0
    np.testing.assert_allclose(model.A[4:, :4], expected, atol=1e-9)
    assert model.num_evaluations == 1 + 2  # all places, with the speeds


def test_entries_that_a_hook_sets_depend_on_what_it_reads() -> None:
    class Setting(Subsystem):
        first = q_variable(0.5)
        second = q_variable(0.7)
        speeds = u_variable((0.0, 0.0))

        @cached(prerequisites=())
        def guess(self, _state: State) -> float:
            return 1.0

        def realize_position(self, state: State) -> None:
            self.guess.set(state, self.first(state) + self.second(state))
            self.guess.mark_valid(state)

    setting = Setting()

    class Reading(Subsystem):
        speed = u_variable(0.0)
        place = q_variable(0.0)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[0] = setting.guess(state) ** 2
            state[setting].upd_udot()[:] = 0.0

    system = System(setting, Reading())
    model = linearize(system, system.new_state())
    np.testing.assert_allclose(model.A[-1, :2], [2.4, 2.4], atol=1e-6)
    assert model.num_evaluations == 1 + 2


def test_a_hook_that_adds_to_udot_of_all_reads_all_of_it() -> None:
    class Adding(Subsystem):
        place = q_variable(0.5)
        speed = u_variable(0.0)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[0] = self.place(state)

    class Copying(Subsystem):
        place = q_variable(0.5)
        speed = u_variable(0.0)

        def realize_acceleration(self, state: State) -> None:
            udot = state.upd_udot()
            udot[-1] = udot[0] * udot[1]

    system = System(Adding(), Adding(), Copying())
    model = linearize(system, system.new_state())
    np.testing.assert_allclose(model.A[-1, :3], [0.5, 0.5, 0.0], atol=1e-6)
    assert model.num_evaluations == 1 + 2


def test_a_system_with_a_realization_of_its_own_is_full_and_right() -> None:
    class Own(System):
        def realize(self, state: State, stage: Stage = Stage.REPORT) -> None:
            super().realize(state, stage)

    masses = [Mass() for _ in range(4)]
    system = Own(*masses)
    state = system.new_state()
    model = linearize(system, state)
    np.testing.assert_array_equal(whole(model), brute(system, state, (), (), relative=FORWARD))
    assert model.num_evaluations == 1 + 4 + 1  # places one by one, and speeds, which no hook reads


# ---------------------------------------------------------------------- prescribed motion


class Driven(Subsystem):
    """A carriage whose place is prescribed, and a bob that a spring ties to it."""

    amplitude = parameter(0.5)
    carriage = q_variable(7.0)
    bob = q_variable(0.2)
    carriage_speed = u_variable(3.0)
    bob_speed = u_variable(0.0)

    @carriage.prescribed(prerequisites=lambda self: (self.system.time, self.amplitude))
    def driven(self, state: State) -> float:
        return self.amplitude(state) * math.sin(state.time)

    @carriage_speed.prescribed(prerequisites=lambda self: (self.system.time, self.amplitude))
    def driven_speed(self, state: State) -> float:
        return self.amplitude(state) * math.cos(state.time)

    @driven_speed.acceleration(prerequisites=lambda self: (self.system.time, self.amplitude))
    def driven_acceleration(self, state: State) -> float:
        return -self.amplitude(state) * math.sin(state.time)

    def realize_acceleration(self, state: State) -> None:
        stretch = self.carriage(state) - self.bob(state)
        state[self].upd_udot()[1] = 4.0 * stretch


def test_prescribed_variables_are_no_states_but_follow_time_and_inputs() -> None:
    driven = Driven()
    system = System(driven)
    state = system.new_state()
    state.time = 0.3
    model = linearize(system, state, (driven.amplitude, system.time), differences="central")
    sine, cosine = math.sin(0.3), math.cos(0.3)
    assert model.y0.tolist() == [0.5 * sine, 0.2, 0.5 * cosine, 0.0]
    a = np.zeros((4, 4))
    a[1, 3], a[3, 1] = 1.0, -4.0
    np.testing.assert_allclose(model.A, a, atol=1e-9)
    np.testing.assert_allclose(model.B[3], [4 * sine, 4 * 0.5 * cosine], atol=1e-8)
    assert not model.B[[0, 2]].any()
    assert model.ydot0[[0, 2]].tolist() == [0.0, 0.0]
    assert model.groups == (("driven.bob", "driven.bob_speed"), ("driven.amplitude",), ("time",))
    assert model.num_evaluations == 1 + 2 * 3


def test_a_prescribed_speed_carries_the_columns_of_its_own_sources() -> None:
    class Follower(Subsystem):
        place = q_variable(0.5)
        speed = u_variable(0.0)

        @speed.prescribed(prerequisites=(place,))
        def law(self, state: State) -> float:
            return -3.0 * self.place(state) ** 2

        @law.acceleration(prerequisites=(place,))
        def slope(self, state: State) -> float:
            return 18.0 * self.place(state) ** 3

    system = System(Follower())
    model = linearize(system, system.new_state(), differences="central")
    np.testing.assert_allclose(model.A, [[-3.0, 0.0], [0.0, 0.0]], atol=1e-9)


def test_rows_that_share_a_prescribed_variable_share_its_sources() -> None:
    """A hook reads a prescribed place, which follows a parameter, and a place of its own."""

    class Reading(Subsystem):
        place = q_variable(1.0)
        speed = u_variable(0.0)

        def __init__(self, driven: Driven) -> None:
            self.driven = driven

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[0] = self.place(state) * self.driven.carriage(state)

    driven = Driven()
    system = System(driven, *(Reading(driven) for _ in range(5)))
    state = system.new_state()
    state.time = 0.3
    inputs = (driven.amplitude, system.time)
    model = linearize(system, state, inputs)
    assert model.num_evaluations == 1 + len(model.groups) == 1 + 3
    expected = brute(system, state, inputs, (), relative=FORWARD)
    rows = [i for i, name in enumerate(model.states) if "carriage" not in name]
    columns = [*rows, len(model.states), len(model.states) + 1]
    np.testing.assert_array_equal(whole(model)[np.ix_(rows, columns)], expected[rows][:, columns])


# ---------------------------------------------------------------------- constraints, quaternions


def test_a_rod_makes_accelerations_depend_on_all_of_y() -> None:
    class Bob(Subsystem):
        place = q_variable((0.6, -0.8))
        speed = u_variable((0.8, 0.6))

        @mass_matrix(speed, prerequisites=())
        def mass(self, _state: State) -> Vector:
            return np.full(2, 2.0)

        @generalized_force(speed, prerequisites=())
        def weight(self, _state: State) -> Vector:
            return np.array([0.0, -19.62])

        @position_error(prerequisites=(place,))
        def rod(self, state: State) -> float:
            return float(np.sum(self.place(state) ** 2) - 1.0) / 2

        @rod.jacobian(prerequisites=(place,))
        def direction(self, state: State) -> Any:
            return self.place(state)[np.newaxis]

        @rod.bias(prerequisites=(speed,))
        def bias(self, state: State) -> float:
            return float(np.sum(self.speed(state) ** 2))

    bob = Bob()
    system = System(bob)
    state = system.new_state()
    model = linearize(system, state, differences="central")

    def udot(y: Vector) -> Vector:
        place, speed, weight = y[:2], y[2:], np.array([0.0, -9.81])
        return np.asarray(weight - place * (place @ weight + speed @ speed) / (place @ place))

    y = np.array(state.y)
    expected = scipy.optimize.approx_fprime(y, udot, 1e-7)
    np.testing.assert_allclose(model.A[2:], expected, atol=1e-5)
    np.testing.assert_array_equal(model.A[:2], np.eye(4)[2:])
    assert model.num_evaluations == 1 + 2 * 4


def test_a_hook_that_reads_errors_depends_on_all_of_their_stage() -> None:
    class Ring(Subsystem):
        place = q_variable((0.5, 0.3))
        speed = u_variable((0.0, 0.0))

        @position_error(prerequisites=(place,))
        def gap(self, state: State) -> float:
            return float(self.place(state)[0] * self.place(state)[1])

    class Spring(Subsystem):
        place = q_variable(1.0)
        speed = u_variable(0.0)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[0] = -state.qerr[0]
            state["ring"].upd_udot()[:] = 0.0

    system = System(Ring(), Spring())
    model = linearize(system, system.new_state())
    np.testing.assert_allclose(model.A[-1, :3], [-0.3, -0.5, 0.0], atol=1e-7)
    assert model.num_evaluations == 1 + len(model.groups) == 1 + 3


def test_an_array_of_one_number_stays_an_array() -> None:
    class Decay(Subsystem):
        amount = z_variable(0.3)
        rate = parameter(np.array(2.0))

        def realize_dynamics(self, state: State) -> None:
            state[self].upd_zdot()[0] = self.rate(state)[()] * self.amount(state)

    decay = Decay()
    system = System(decay)
    model = linearize(system, system.new_state(), (decay.rate,), ())
    np.testing.assert_allclose(model.B, [[0.3]], rtol=1e-6)


def test_a_quaternion_turns_as_its_kinematics_say() -> None:
    class Top(Subsystem):
        turn = q_variable((0.5, 0.5, 0.5, 0.5))
        spin = u_variable((0.1, 0.2, 0.3))
        inertias = parameter(np.array([1.0, 2.0, 3.0]))
        kinematics = quaternion_kinematics(turn, spin)

        @mass_matrix(spin, prerequisites=(inertias,))
        def mass(self, state: State) -> Vector:
            return np.asarray(self.inertias(state))

        @generalized_force(spin, prerequisites=(spin, inertias))
        def gyroscopic(self, state: State) -> Vector:
            spin = self.spin(state)
            return -np.cross(spin, self.inertias(state) * spin)

    top = Top()
    system = System(top)
    state = system.new_state()
    inputs, outputs = (top.inertias,), (top.turn, "q")
    model = linearize(system, state, inputs, outputs)
    expected = brute(system, state, inputs, [top.turn, system.q], relative=FORWARD)
    np.testing.assert_array_equal(whole(model), expected)
    system.realize(state, Stage.POSITION)
    n = system.multiply_by_n(state, np.eye(3))
    np.testing.assert_allclose(model.A[:4, 4:], n, atol=1e-7)
    assert model.inputs == tuple(f"top.inertias[{i}]" for i in range(3))


# ---------------------------------------------------------------------- outputs and inputs


class Tank(Subsystem):
    """A tank with all kinds of variables."""

    is_open = parameter(True)
    number = parameter(3)
    shape = modeling_option(1.0)
    flows = parameter(np.array([[1.0, 2.0], [3.0, 4.0]]))
    unknown = parameter(math.nan)
    text = discrete("tap", invalidates=Stage.POSITION)
    level = z_variable(2.0)

    @cached(prerequisites=(level, flows))
    def table(self, state: State) -> Vector:
        return np.asarray(self.level(state) * self.flows(state))

    @cached(prerequisites=(level,))
    def label(self, _state: State) -> str:
        return "full"

    @cached(prerequisites=(level,))
    def inverse(self, state: State) -> float:
        level = self.level(state)
        return math.inf if level <= 0 else 1 / level

    @cached(prerequisites=(level,))
    def growing(self, state: State) -> Vector:
        return np.ones(2 if self.level(state) > 2.0 else 1)

    @cached(prerequisites=(level,), available_from=Stage.REPORT)
    def report(self, state: State) -> float:
        return 3.0 * self.level(state)

    def realize_dynamics(self, state: State) -> None:
        flow = float(np.trace(self.flows(state)))
        state[self].upd_zdot()[0] = flow - math.sqrt(self.level(state))


def tank() -> tuple[Tank, System, State]:
    part = Tank()
    system = System(part)
    return part, system, system.new_state()


def test_arrays_have_a_column_or_a_row_for_each_number() -> None:
    part, system, state = tank()
    outputs = (part.table, part.report, part.flows, "z", "time")
    model = linearize(system, state, (part.flows, system.time), outputs)
    names = ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"]
    assert model.inputs == (*(f"tank.flows{name}" for name in names), "time")
    expected = [f"tank.{of}{name}" for of in ("table", "flows") for name in names]
    assert model.outputs == (*expected[:4], "tank.report", *expected[4:], "z[0]", "time")
    np.testing.assert_allclose(model.A, [[-1 / math.sqrt(8)]], atol=1e-7)
    np.testing.assert_allclose(model.B, [[1, 0, 0, 1, 0]], atol=1e-7)
    np.testing.assert_allclose(model.C[:, 0], [1, 2, 3, 4, 3, 0, 0, 0, 0, 1, 0], atol=1e-7)
    np.testing.assert_allclose(model.D[:4, :4], 2 * np.eye(4), atol=1e-7)
    np.testing.assert_allclose(model.D[5:9, :4], np.eye(4), atol=1e-7)
    assert model.D[10].tolist() == [0, 0, 0, 0, 1]


def test_a_family_stands_for_all_its_members() -> None:
    class Springs(Subsystem):
        stiffness = parameter(2.0, count=3)
        place = z_variable((1.0, 2.0, 3.0))

        @cached(count=3, prerequisites=lambda self, i: (self.stiffness[i], self.place))
        def force(self, state: State, i: int) -> float:
            return float(self.stiffness[i](state) * self.place(state)[i])

        def realize_dynamics(self, state: State) -> None:
            state[self].upd_zdot()[:] = [-force(state) for force in self.force]

    springs = Springs()
    system = System(springs)
    model = linearize(system, system.new_state(), (springs.stiffness,), (springs.force,))
    assert model.inputs == tuple(f"springs.stiffness[{i}]" for i in range(3))
    assert model.outputs == tuple(f"springs.force[{i}]" for i in range(3))
    np.testing.assert_allclose(model.D, np.diag([1.0, 2.0, 3.0]), atol=1e-6)
    np.testing.assert_allclose(model.B, -model.D, atol=1e-6)


def test_a_system_without_states_has_outputs() -> None:
    class Constant(Subsystem):
        gain = parameter(3.0)

        @cached(prerequisites=(gain,))
        def square(self, state: State) -> float:
            return self.gain(state) ** 2

    constant = Constant()
    system = System(constant)
    model = linearize(system, system.new_state(), (constant.gain,), (constant.square,))
    assert model.A.shape == (0, 0)
    assert (model.B.shape, model.C.shape) == ((0, 1), (1, 0))
    np.testing.assert_allclose(model.D, [[6.0]], atol=1e-6)
    nothing = linearize(system, system.new_state())
    assert nothing.A.shape == nothing.D.shape == (0, 0)
    assert nothing.num_evaluations == 1


def test_a_step_of_ones_own_is_relative_to_large_values() -> None:
    class Cubic(Subsystem):
        x = z_variable(10.0)

        def realize_dynamics(self, state: State) -> None:
            state[self].upd_zdot()[0] = self.x(state) ** 2

    system = System(Cubic())
    model = linearize(system, system.new_state(), step=0.25)
    assert model.A.tolist() == [[20.0 + 2.5]]


# ---------------------------------------------------------------------- the State and the result


def test_the_state_stays_as_it_is() -> None:
    system, state = chain(3)
    part = next(s for s in system if isinstance(s, Mass))
    system.realize(state, Stage.VELOCITY)

    def look() -> object:
        handles = [system.time, part.place, part.speed, part.stiffness]
        return (
            state.stage,
            state.stage_versions,
            [handle.version(state) for handle in handles],
            state.y.tolist(),
            state.time,
            part.stiffness(state),
            state._contents.observers,
        )

    before = look()
    linearize(system, state, (part.stiffness, "time"), ("mass.place",))
    assert look() == before


@pytest.mark.parametrize("stage", [Stage.MODEL, Stage.ACCELERATION, Stage.REPORT])
def test_the_stage_of_the_state_does_not_matter(stage: Stage) -> None:
    system, state = chain(5)
    expected = linearize(system, state)
    system.realize(state, stage)
    found = linearize(system, state.frozen())
    np.testing.assert_array_equal(found.A, expected.A)
    assert found.num_evaluations == expected.num_evaluations


def test_a_linear_model_is_watched_in_strict_mode_without_complaint() -> None:
    with strict():
        system = pendulum.system()
        model = linearize(system, system.new_state(), ("pendulum.length",), ("pendulum.tip",))
    assert model.num_evaluations == 3


def test_sparse_matrices_have_nothing_but_what_can_depend() -> None:
    system, state = chain(50)
    dense = linearize(system, state)
    model = linearize(system, state, sparse=True)
    assert scipy.sparse.issparse(model.A)
    assert model.A.nnz == 50 + 3 * 50 - 2
    np.testing.assert_array_equal(model.A.toarray(), dense.A)


def test_a_linear_model_shows_its_size_and_is_read_only() -> None:
    part, system, state = tank()
    model = linearize(system, state, (part.flows,), (part.report,))
    assert repr(model) == (
        "Linearization(1 state, 4 inputs, 1 output at t = 0 s, by "
        f"{model.num_evaluations} evaluations)"
    )
    for values in (model.A, model.B, model.C, model.D, model.y0, model.outputs0):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0.0


def test_scipy_takes_a_linear_model() -> None:
    part, system, state = tank()
    for is_sparse in (False, True):
        model = linearize(system, state, (part.flows,), (part.report,), sparse=is_sparse)
        of_scipy = model.to_scipy()
        np.testing.assert_array_equal(of_scipy.C, [[3.0]])
        np.testing.assert_allclose(of_scipy.B, [[1, 0, 0, 1]], atol=1e-7)
    for lacking in (linearize(system, state, (part.flows,)), linearize(system, state)):
        with pytest.raises(ShapeError, match="the model has no"):
            lacking.to_scipy()


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("arguments", "kind", "match"),
    [
        ({"inputs": "tank.flows"}, WrongTypeError, "not a collection"),
        ({"outputs": 3}, WrongTypeError, "not a collection"),
        ({"inputs": (3,)}, WrongTypeError, "not an item of a State"),
        ({"inputs": ("tank.flow",)}, UnknownPathError, "did you mean 'tank.flows'"),
        ({"outputs": ("stage Position",)}, NodeKindError, "has no handle"),
        ({"outputs": ("z_weights",)}, NodeKindError, "has no handle"),
        ({"inputs": ("tank.level",)}, NodeKindError, "all of y are columns"),
        ({"inputs": ("tank.table",)}, NodeKindError, "a cache entry"),
        ({"inputs": ("tank.shape",)}, NodeKindError, "a modeling option"),
        ({"inputs": ("tank.is_open",)}, NotANumberError, "True, of type bool"),
        ({"inputs": ("tank.number",)}, NotANumberError, "3, of type int"),
        ({"inputs": ("tank.text",)}, NotANumberError, "'tap', of type str"),
        ({"inputs": ("tank.unknown",)}, NotANumberError, "not finite"),
        ({"inputs": ("tank.flows", "tank/flows")}, DuplicateNameError, "tank.flows repeatedly"),
        ({"outputs": ("time", "time")}, DuplicateNameError, "time repeatedly"),
        ({"outputs": ("tank.label",)}, NotANumberError, "'full', of type str"),
        ({"outputs": ("tank.is_open",)}, NotANumberError, "True, of type bool"),
        ({"outputs": ("tank.unknown",)}, NotFiniteError, "tank.unknown: is not finite"),
        ({"outputs": ("tank.growing",)}, ShapeError, "its shape changes"),
        ({"differences": "backward"}, UnknownChoiceError, "'forward', 'central'"),
        ({"differences": None}, UnknownChoiceError, "'forward', 'central'"),
        ({"step": 0.0}, OutOfRangeError, "out of range"),
        ({"step": 2.0}, OutOfRangeError, "out of range"),
        ({"step": math.nan}, OutOfRangeError, "out of range"),
        ({"step": "small"}, NotANumberError, "not a number"),
        ({"sparse": 1}, NotANumberError, "not a bool"),
    ],
)
def test_arguments_are_checked(
    arguments: dict[str, Any], kind: type[StagecacheError], match: str
) -> None:
    _, system, state = tank()
    versions = state.stage_versions
    with pytest.raises(kind) as caught:
        linearize(system, state, **arguments)
    assert match in str(caught.value)
    assert (state.stage_versions, state.z.tolist()) == (versions, [2.0])


def test_systems_states_and_handles_of_others_are_refused() -> None:
    part, system, state = tank()
    other, others, _ = tank()
    with pytest.raises(WrongTypeError, match="not a System"):
        linearize(part, state)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="not a State"):
        linearize(system, system)  # type: ignore[arg-type]
    with pytest.raises(ForeignStateError):
        linearize(others, state)
    with pytest.raises(ForeignNodeError):
        linearize(system, state, (other.flows,))


def test_values_that_are_not_finite_are_named() -> None:
    part, system, state = tank()
    part.level.set(state, math.nan)
    with pytest.raises(NotANumberError, match=r"tank\.level: cannot be moved"):
        linearize(system, state)
    part.level.set(state, 0.0)
    with pytest.raises(NotFiniteError, match=r"tank\.inverse: is not finite"):
        linearize(system, state, outputs=(part.inverse,))


def test_an_error_at_moved_values_says_what_was_moved() -> None:
    part, system, state = tank()
    part.level.set(state, 1e-7)
    with pytest.raises(ValueError, match=r"math domain error|nonnegative") as caught:
        linearize(system, state, differences="central")
    assert caught.value.__notes__ == ["while linearize() had moved tank.level a little"]


def test_rates_that_nobody_computes_are_refused_by_name() -> None:
    class Lazy(Subsystem):
        place = q_variable(0.0)
        speed = u_variable(0.0)

    system = System(Lazy())
    with pytest.raises(NotFiniteError, match=r"lazy\.speed: its time derivative is not finite"):
        linearize(system, system.new_state())
