"""Declared dynamics: accelerations and multipliers, against dense matrices and known solutions."""

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    acceleration_error,
    parameter,
    position_error,
    q_variable,
    quaternion_kinematics,
    quaternion_normalization,
    strict,
    u_variable,
    velocity_error,
    z_variable,
)
from stagecache.errors import (
    DeclarationError,
    InconsistentConstraintsError,
    MassMatrixError,
    NotANumberError,
    NoValueError,
    PrerequisiteStageError,
    ShapeError,
    StageTooLowError,
)
from stagecache.numerics import constrained_dynamics
from stagecache.numerics.constrained_dynamics import solve_constrained
from stagecache.system.dynamics import accelerating
from stagecache.system.dynamics.dynamics import generalized_force, inverse_mass_matrix, mass_matrix
from stagecache.testing import check_coherence, check_pickle
from tests.profiles import examples
from tests.system.dynamics_models import (
    ACCELERATION,
    FORMS,
    Bob,
    CartesianDouble,
    DeclaredBob,
    Masses,
    MinimalDouble,
    RandomDynamics,
    Ties,
    Vector,
    dense_solution,
    double_accelerations,
    double_places,
    in_form,
    random_dynamics,
    random_mass,
    realized,
)

VELOCITY, DYNAMICS, POSITION = Stage.VELOCITY, Stage.DYNAMICS, Stage.POSITION

# ---------------------------------------------------------------------- random models


@examples(100)
@given(model=random_dynamics())
def test_realizing_acceleration_solves_the_equations_of_motion(model: RandomDynamics) -> None:
    model.system.realize(model.state, ACCELERATION)
    udot, multipliers = model.state.udot, model.state.multipliers
    left = model.mass @ udot + model.g.T @ multipliers - model.forces
    size = 1 + np.abs(model.forces).max() + np.abs(model.mass).max() + np.abs(multipliers).sum()
    assert_allclose(left[~model.driven] / size, 0, atol=1e-8)
    assert_allclose(model.g @ udot + model.bias, 0, atol=1e-8 * size)
    assert_allclose(model.state.udoterr, 0, atol=1e-8 * size)
    assert_allclose(udot[model.driven], model.udot[model.driven], rtol=1e-14)


@examples(100)
@given(model=random_dynamics())
def test_multipliers_of_redundant_rows_are_the_shortest(model: RandomDynamics) -> None:
    free = model.g[:, ~model.driven]
    singular = np.linalg.svd(free, compute_uv=False) if free.size else np.ones(1)
    if np.any((singular > 1e-12) & (singular < 1e-4)):
        return  # nearly dependent: the reference itself has no digits
    model.system.realize(model.state, ACCELERATION)
    udot, multipliers = model.solution()
    assert_allclose(model.state.udot, udot, rtol=1e-6, atol=1e-6 * (1 + np.abs(udot).max()))
    scale = 1 + np.abs(multipliers).max(initial=0)
    assert_allclose(model.state.multipliers, multipliers, rtol=1e-6, atol=1e-6 * scale)


def chain(n: int, *, with_copies: bool, seed: int) -> Vector:
    """Rows that each couple few neighbours, and some that combine two of the others."""
    random = np.random.default_rng(seed)
    g = np.zeros((n // 2, n))
    for i in range(n // 2):
        g[i, 2 * i : 2 * i + 3] = random.normal(size=len(g[i, 2 * i : 2 * i + 3])) * 10.0 ** (i % 3)
    if with_copies:
        g = np.vstack([g, 2 * g[3:9] - g[5:11]])
    return g


@pytest.mark.parametrize("with_copies", [False, True])
@pytest.mark.parametrize("is_inverse", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_a_sparse_problem_has_the_solution_of_the_dense_one(
    form: str, is_inverse: bool, with_copies: bool
) -> None:
    random = np.random.default_rng(5)
    n = 240
    mass = np.diag(10 ** random.uniform(-2, 2, n))
    if form != "diagonal":
        mass += np.diag(np.full(n - 1, 3e-3), 1) + np.diag(np.full(n - 1, 3e-3), -1)
    given: Any = np.linalg.inv(mass) if is_inverse else mass
    if form == "sparse":
        given[np.abs(given) < 1e-14] = 0
    g = chain(n, with_copies=with_copies, seed=2)
    forces, bias = random.normal(size=n), -g @ random.normal(size=n)
    udot, multipliers = solve_constrained(
        in_form(given, form), scipy.sparse.csr_array(g), forces, bias, is_inverse=is_inverse
    )
    expected, shortest = dense_solution(mass, g, forces, bias)
    assert_allclose(udot, expected, rtol=1e-7, atol=1e-8 * np.abs(expected).max())
    assert_allclose(multipliers, shortest, rtol=1e-6, atol=1e-7 * np.abs(shortest).max())


@examples(100)
@given(model=random_dynamics())
def test_the_sparse_solution_of_small_models_is_the_same(model: RandomDynamics) -> None:
    model.system.realize(model.state, ACCELERATION)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constrained_dynamics, "MANY_ROWS", 1)
        patch.setattr(constrained_dynamics, "MOST_FULL", 1.0)
        twin = model.state.copy()
        model.system.realize(twin, ACCELERATION)
    size = 1 + np.abs(model.state.udot).max() + np.abs(model.state.multipliers).max(initial=0)
    free = model.g[:, ~model.driven]
    singular = np.linalg.svd(free, compute_uv=False) if free.size else np.ones(1)
    if np.any((singular > 1e-12) & (singular < 1e-4)):
        return
    assert_allclose(twin.udot, model.state.udot, rtol=1e-7, atol=1e-8 * size)
    assert_allclose(twin.multipliers, model.state.multipliers, rtol=1e-6, atol=1e-7 * size)


@examples(50)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6), m=st.integers(0, 8))
def test_the_pure_function_agrees_with_dense_matrices(seed: int, n: int, m: int) -> None:
    random = np.random.default_rng(seed)
    mass = random_mass(random, n, "dense")
    g = random.normal(size=(min(m, n - 1), n))
    g = np.vstack([g, random.normal(size=(m - len(g), len(g))) @ g])
    forces, bias = random.normal(size=n), -g @ random.normal(size=n)
    udot, multipliers = solve_constrained(mass, g, forces, bias)
    expected, shortest = dense_solution(mass, g, forces, bias)
    condition = np.linalg.svd(g, compute_uv=False) if g.size else np.ones(1)
    if condition[condition > 1e-12].min(initial=1.0) > 1e-3:
        assert_allclose(udot, expected, rtol=1e-6, atol=1e-6)
        scale = 1 + np.abs(shortest).max(initial=0)
        assert_allclose(multipliers, shortest, rtol=1e-6, atol=1e-6 * scale)


# ---------------------------------------------------------------------- pendulums


TENTHS = st.integers(-30, 30).map(lambda i: i / 10)


@examples(30)
@given(
    angle=st.floats(-3, 3),
    rate=st.floats(-5, 5),
    cls=st.sampled_from((Bob, DeclaredBob)),
)
def test_the_multiplier_of_a_rod_is_its_tension(angle: float, rate: float, cls: Any) -> None:
    bob = cls()
    system, state = realized(bob, stage=POSITION)
    e, t = np.array([np.sin(angle), -np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    bob.place.set(state, e)
    bob.speed.set(state, rate * t)
    system.realize(state, ACCELERATION)
    assert_allclose(state.multipliers, 2.0 * (rate**2 + 9.81 * np.cos(angle)), atol=1e-5)
    assert_allclose(state.udot, -9.81 * np.sin(angle) * t - rate**2 * e, atol=1e-5)
    assert_allclose(state.udoterr, 0, atol=1e-6)
    assert_allclose(state.qdot, state.u, rtol=1e-15)
    assert_allclose(state.qdotdot, state.udot, rtol=1e-15)


@examples(30)
@given(
    angles=st.tuples(TENTHS, TENTHS),
    rates=st.tuples(TENTHS, TENTHS),
)
def test_a_cartesian_double_pendulum_is_that_in_angles_with_rod_forces_as_multipliers(
    angles: tuple[float, float], rates: tuple[float, float]
) -> None:
    cartesian, minimal = CartesianDouble(), MinimalDouble()
    system, state = realized(cartesian, minimal, stage=POSITION)
    places, speeds = double_places(np.array(angles), np.array(rates))
    cartesian.places.set(state, places)
    cartesian.speeds.set(state, speeds)
    minimal.angles.set(state, angles)
    minimal.rates.set(state, rates)
    system.realize(state, ACCELERATION)
    accelerations, tensions = double_accelerations(np.array(angles), np.array(rates))
    assert_allclose(state[cartesian].udot, accelerations, atol=1e-5)
    assert_allclose(state.multipliers, tensions, atol=1e-5)
    turning = state[minimal].udot
    step = 1e-5
    later = double_places(
        np.array(angles) + step * np.array(rates), np.array(rates) + step * turning
    )
    sooner = double_places(
        np.array(angles) - step * np.array(rates), np.array(rates) - step * turning
    )
    assert_allclose((later[1] - sooner[1]) / (2 * step), accelerations, atol=1e-5)


class Parallelogram(Subsystem):
    """Two equal cranks and a coupler, in which a third crank is not needed."""

    places = q_variable((0.6, 0.8, 2.6, 0.8, 1.6, 0.8))
    speeds = u_variable((0.8, -0.6, 0.8, -0.6, 0.8, -0.6))

    @mass_matrix(prerequisites=())
    def inertia(self, state: State) -> Vector:
        return np.array([1.0, 1.0, 2.0, 2.0, 3.0, 3.0])

    @generalized_force(prerequisites=())
    def weight(self, state: State) -> Vector:
        return np.array([0, -10.0, 0, -20.0, 0, -30.0])

    @position_error(size=6)
    def closed(self, state: State) -> Vector:
        p1, p2, p3 = self.places(state).reshape(3, 2)
        cranks = [p1 @ p1 - 1, (p2 - [2, 0]) @ (p2 - [2, 0]) - 1]
        coupler = [*(p3 - (p1 + p2) / 2), (p2 - p1) @ (p2 - p1) - 4]
        return np.array([*cranks, *coupler, 3 * cranks[0]])


def test_a_closed_loop_with_a_redundant_row_moves_as_one_crank_does() -> None:
    loop = Parallelogram()
    _, state = realized(loop)
    # All three masses move in parallel, on a circle of radius 1: as one pendulum upside down.
    e, t = np.array([0.6, 0.8]), np.array([0.8, -0.6])
    expected = -1.0 * e + (np.array([0, -10.0]) @ t) * t
    assert_allclose(state.udot.reshape(3, 2), [expected] * 3, atol=1e-4)
    assert_allclose(state.udoterr, 0, atol=1e-5)
    assert state.multipliers[5] == pytest.approx(3 * state.multipliers[0], rel=1e-6)


class ThirdCrank(Parallelogram):
    """The same, where a third crank says what the others do; only on the constraints, though."""

    @position_error(size=6)
    def closed(self, state: State) -> Vector:
        p1, p2, p3 = self.places(state).reshape(3, 2)
        cranks = [
            ((p - base) @ (p - base) - 1) for p, base in zip((p1, p2, p3), BASES, strict=True)
        ]
        return np.array([*cranks, *(p3 - (p1 + p2) / 2), (p2 - p1) @ (p2 - p1) - 4])

    @closed.velocity
    def closed_rate(self, state: State) -> Vector:
        return np.asarray(self.closed_jacobian(state) @ self.speeds(state))

    @closed.jacobian
    def closed_jacobian(self, state: State) -> Vector:
        p = self.places(state).reshape(3, 2)
        rows = np.zeros((6, 3, 2))
        for i in range(3):
            rows[i, i] = 2 * (p[i] - BASES[i])
        for k in range(2):
            rows[3 + k, :, k] = (-0.5, -0.5, 1)
        rows[5, 1] = 2 * (p[1] - p[0])
        rows[5, 0] = -rows[5, 1]
        return rows.reshape(6, 6)

    @closed.bias
    def closed_bias(self, state: State) -> Vector:
        v = self.speeds(state).reshape(3, 2)
        w = v[1] - v[0]
        return 2 * np.array([*np.sum(v**2, axis=1), 0, 0, w @ w])


BASES = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]])


@examples(60)
@given(
    seed=st.integers(0, 1000),
    of_q=st.sampled_from((0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)),
    of_u=st.sampled_from((0.0, 1e-8, 1e-6, 1e-5)),
)
def test_a_loop_with_a_bar_too_many_moves_where_its_constraints_are_violated_a_little(
    seed: int, of_q: float, of_u: float
) -> None:
    loop = ThirdCrank()
    system, state = realized(loop, stage=POSITION)
    random = np.random.default_rng(seed)
    state.q = state.q + of_q * random.normal(size=6)
    state.u = state.u + of_u * random.normal(size=6)
    system.realize(state, ACCELERATION)
    size = max(of_q, of_u)
    assert_allclose(state.udot, [4.2, -4.4] * 3, atol=1e-9 + 300 * size)
    assert np.abs(state.multipliers).max() < 10
    assert_allclose(state.udoterr, 0, atol=1e-9 + 300 * size)


def test_errors_that_may_be_left_are_computed_only_if_any_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def slack_of(state: Any, *others: Any) -> Vector:
        calls.append(state)
        return slack(state, *others)

    slack = accelerating.slack_of
    monkeypatch.setattr(accelerating, "slack_of", slack_of)
    bob = DeclaredBob()
    system, state = realized(bob)
    bob.place.set(state, (3.0, 1.0))
    system.realize(state, ACCELERATION)
    assert not calls
    system, state = realized(ThirdCrank(), stage=POSITION)
    state.q = state.q + 1e-5 * np.arange(6)
    system.realize(state, ACCELERATION)
    assert calls == [state]


def test_acceleration_constraints_hold_off_the_constraints() -> None:
    bob = DeclaredBob()
    system, state = realized(bob)
    bob.place.set(state, (3.0, 1.0))
    bob.speed.set(state, (1.0, 7.0))
    system.realize(state, ACCELERATION)
    assert abs(state.qerr[0]) > 1
    assert abs(state.uerr[0]) > 1
    assert_allclose(state.udoterr, 0, atol=1e-13)


def test_a_constraint_that_is_disabled_has_no_multiplier() -> None:
    bob = Bob()
    system, state = realized(bob)
    bob.is_tied.set(state, False)
    system.realize(state, ACCELERATION)
    assert_allclose(state.udot, [0, -9.81], rtol=1e-14)
    assert state.multipliers.shape == (0,)
    bob.is_tied.set(state, True)
    system.realize(state, ACCELERATION)
    assert state.multipliers.shape == (1,)


# ---------------------------------------------------------------------- prescribed motion


class Cart(Subsystem):
    """A cart that is moved, and a mass on it that is free; M is full."""

    place = q_variable((0.0, 0.0))
    cart = u_variable(0.0)
    mass = u_variable(0.0)
    is_driven = parameter(True)

    @cart.prescribed(enabled=is_driven)
    def drive(self, state: State) -> float:
        return float(np.sin(3 * state.time))

    @mass_matrix(cart, mass, prerequisites=())
    def inertia(self, state: State) -> Any:
        return [[5.0, 2.0], [2.0, 2.0]]

    @generalized_force(mass)
    def spring(self, state: State) -> float:
        return -7.0 * float(self.place(state)[1])


def test_the_udot_of_a_prescribed_u_acts_on_the_others() -> None:
    cart = Cart()
    system, state = realized(cart, stage=Stage.TIME)
    state.time = 0.3
    state.q = [0.0, 0.5]
    system.realize(state, ACCELERATION)
    driven = 3 * np.cos(0.9)
    assert_allclose(state.udot, [driven, (-3.5 - 2 * driven) / 2], rtol=1e-8)
    cart.is_driven.set(state, False)
    system.realize(state, ACCELERATION)
    assert_allclose(state.udot, np.linalg.solve([[5.0, 2.0], [2.0, 2.0]], [0, -3.5]), rtol=1e-12)


@pytest.mark.parametrize("is_inverse", [False, True])
def test_a_part_of_a_large_sparse_matrix_may_be_prescribed(is_inverse: bool) -> None:
    random = np.random.default_rng(3)
    mass = np.diag(random.uniform(1, 2, 120)) + 0.3 * (np.eye(120, k=1) + np.eye(120, k=-1))
    drive = random.normal(size=60)
    cls = LargeInverse if is_inverse else LargeDirect
    large = cls((60, 60), mass, "sparse", driven=True, udot=np.concatenate([np.zeros(60), drive]))
    g = np.zeros((1, 120))
    g[0, [3, 70]] = 1.0
    _, state = realized(large, ties=Ties(g, np.zeros(1)))
    udot, multipliers = dense_solution(
        mass[:60, :60], g[:, :60], large.force[:60] - mass[:60, 60:] @ drive, g[:, 60:] @ drive
    )
    assert_allclose(state.udot, [*udot, *drive], rtol=1e-9, atol=1e-9)
    assert_allclose(state.multipliers, multipliers, rtol=1e-9)


class LargeDirect(Masses):
    """A sparse matrix of all u."""

    @mass_matrix(prerequisites=())
    def inertia(self, state: State) -> Any:
        return in_form(self.mass, self.form)


class LargeInverse(Masses):
    """Its inverse."""

    @inverse_mass_matrix(prerequisites=())
    def mobility(self, state: State) -> Any:
        return in_form(np.linalg.inv(self.mass), self.form)


class Driver(Subsystem):
    """What moves as it is told, without mass."""

    place = q_variable(0.0)
    speed = u_variable(0.0)

    @speed.prescribed
    def drive(self, state: State) -> float:
        return float(state.time) ** 2


class Follower(Subsystem):
    """A mass that is tied to what moves."""

    place = q_variable(0.0)
    speed = u_variable(0.0)

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    @mass_matrix(speed, prerequisites=())
    def inertia(self, state: State) -> float:
        return 4.0

    @position_error()
    def tie(self, state: State) -> float:
        return self.place(state) - 2 * self.driver.place(state)


def test_what_is_prescribed_needs_no_mass() -> None:
    driver = Driver()
    system, state = realized(driver, Follower(driver), stage=Stage.TIME)
    state.time = 1.5
    system.realize(state, ACCELERATION)
    assert_allclose(state.udot, [3.0, 6.0], rtol=1e-6)
    assert_allclose(state.multipliers, [-24.0], rtol=1e-6)
    assert_allclose(state.udoterr, 0, atol=1e-5)


# ---------------------------------------------------------------------- kinematics


class Body(Subsystem):
    """A rigid body that turns, with a quaternion; angular velocity in the parent frame."""

    orientation = q_variable((0.5, 0.5, -0.5, 0.5))
    place = q_variable((1.0, 2.0, 3.0))
    spin = u_variable((0.3, -1.2, 0.7))
    speed = u_variable((4.0, 5.0, 6.0))
    turning = quaternion_kinematics(orientation, spin)
    length = quaternion_normalization(orientation)

    @mass_matrix(spin, prerequisites=())
    def rotary(self, state: State) -> Vector:
        return np.array([[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 4.0]])

    @inverse_mass_matrix(speed, prerequisites=())
    def linear(self, state: State) -> Vector:
        return np.full(3, 0.5)

    @generalized_force(spin)
    def torque(self, state: State) -> Vector:
        return np.array([1.0, 2.0, 3.0])


def test_qdot_and_qdotdot_follow_from_the_declared_kinematics() -> None:
    body = Body()
    system, state = realized(body)
    assert_allclose(state.qdot, system.multiply_by_n(state, state.u), rtol=1e-15)
    step = 1e-5
    found = []
    for sign in (1, -1):
        twin = state.copy()
        h = sign * step
        twin.q = state.q + h * state.qdot + h**2 / 2 * state.qdotdot
        twin.u = state.u + h * state.udot
        system.realize(twin, VELOCITY)
        found.append(twin.qdot.copy())
    assert_allclose((found[0] - found[1]) / (2 * step), state.qdotdot, atol=1e-8)


class SelfMade(Subsystem):
    """Has other numbers of q and u, which nothing relates, and writes qdot itself."""

    q1 = q_variable((1.0, 0.0))
    u1 = u_variable(2.0)

    @mass_matrix(u1, prerequisites=())
    def inertia(self, state: State) -> float:
        return 4.0

    @generalized_force(u1, prerequisites=())
    def push(self, state: State) -> float:
        return 2.0

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = [0.0, self.u1(state)]

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_qdotdot()[:] = [7.0, *state[self].upd_udot()]


def test_hooks_come_after_the_dynamics_and_may_add_to_them() -> None:
    _, state = realized(SelfMade(), DeclaredBob())
    assert state.qdot.tolist() == [0.0, 2.0, 0.4, 0.3]
    assert state.qdotdot[:2].tolist() == [7.0, 0.5]
    assert state.udot[0] == 0.5


# ---------------------------------------------------------------------- order and caching


class Reader(Subsystem):
    """Reads accelerations of another in a hook that comes earlier than that by index."""

    def __init__(self) -> None:
        self.of: list[Subsystem] = []
        self.seen: list[Vector] = []

    def realize_velocity(self, state: State) -> None:
        self.seen.append(state[self.of[0]].qdot.copy())

    def realize_acceleration(self, state: State) -> None:
        self.seen.append(state[self.of[0]].udot.copy())


def test_hooks_of_others_can_read_what_the_dynamics_give() -> None:
    reader, bob = Reader(), CartesianDouble()
    reader.of.append(bob)
    body = Body()
    reader.of[0] = body
    _, state = realized(reader, bob, body, stage=POSITION)
    bob.places.set(state, double_places(np.ones(2), np.zeros(2))[0])
    state.system.realize(state, ACCELERATION)
    assert_allclose(reader.seen[0], state[body].qdot, rtol=1e-15)
    assert_allclose(reader.seen[1], state[body].udot, rtol=1e-15)


class BackToFront(System):
    """Realizes subsystems in the order of falling indices."""

    def order_subsystems(
        self, stage: Stage, subsystems: tuple[Subsystem, ...]
    ) -> tuple[Subsystem, ...]:
        return subsystems[::-1]


def test_the_dynamics_come_first_in_any_order_of_subsystems() -> None:
    reader, body = Reader(), Body()
    reader.of.append(body)
    system = BackToFront(DeclaredBob(), body, reader)
    state = system.new_state()
    system.realize(state, ACCELERATION)
    assert_allclose(reader.seen[1], state[body].udot, rtol=1e-15)
    assert_allclose(state.udoterr, 0, atol=1e-14)


def test_a_write_of_u_computes_no_mass_and_no_force_that_does_not_depend_on_it() -> None:
    bob = DeclaredBob()
    system, state = realized(bob)
    with state.trace() as trace:
        bob.speed.set(state, (0.0, 1.0))
        system.realize(state, ACCELERATION)
    computed = {row.entry: row.computed for row in trace.summary().rows}
    assert computed.get("bob.inertia", 0) == 0
    assert computed.get("declared_bob.inertia", 0) == 0
    assert computed.get("declared_bob.inertia.root", 0) == 0
    assert computed.get("declared_bob.weight", 0) == 0
    assert computed["declared_bob.rod_bias"] == 1


def test_a_system_without_mass_has_nothing_to_do_for_it() -> None:
    class Still(Subsystem):
        place = q_variable(0.0)
        speed = u_variable(1.0)

    system, state = realized(Still())
    assert system._schedule.tasks[VELOCITY] == []
    assert system._schedule.tasks[ACCELERATION] == []
    assert np.isnan(state.udot).all()


def test_u_without_mass_keep_what_hooks_give_them() -> None:
    class Own(Subsystem):
        speed = u_variable(1.0)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[:] = 5.0

    _, state = realized(Own(), DeclaredBob())
    assert state.udot[0] == 5.0
    assert np.isfinite(state.udot).all()


class Springs(Subsystem):
    """Masses that are a family of u."""

    places = q_variable(np.zeros(3))
    speeds = u_variable(1.0, count=lambda self: 3)

    @mass_matrix(speeds, prerequisites=())
    def inertia(self, state: State) -> Vector:
        return np.array([1.0, 2.0, 4.0])

    @generalized_force(speeds, prerequisites=())
    def pull(self, state: State) -> Vector:
        return np.full(3, 8.0)


def test_a_family_of_u_can_have_mass() -> None:
    _, state = realized(Springs())
    assert_allclose(state.udot, [8.0, 4.0, 2.0], rtol=1e-14)


class Muscle(Springs):
    """A force that depends on z."""

    activation = z_variable(0.5)

    @generalized_force(Springs.speeds)
    def contract(self, state: State) -> Vector:
        return np.full(3, self.activation(state))


def test_forces_may_depend_on_z() -> None:
    muscle = Muscle()
    system, state = realized(muscle)
    muscle.activation.set(state, 4.0)
    assert state.stage == VELOCITY
    system.realize(state, ACCELERATION)
    assert_allclose(state.udot, [12.0, 6.0, 3.0], rtol=1e-14)


@pytest.mark.parametrize("cls", [Bob, DeclaredBob, MinimalDouble, Cart, Body, Muscle])
def test_models_with_dynamics_are_coherent(cls: Any) -> None:
    system = System(cls())
    check_coherence(system, settings=examples(25))


@pytest.mark.parametrize("cls", [Bob, DeclaredBob, MinimalDouble, Cart, Body, Muscle])
def test_models_with_dynamics_declare_what_they_read(cls: Any) -> None:
    system = System(cls())
    state = system.new_state()
    with strict():
        system.realize(state, ACCELERATION)
    assert np.isfinite(state.udot).all()


def test_a_system_with_dynamics_can_be_pickled() -> None:
    check_pickle(System(DeclaredBob(), MinimalDouble()))
    system, state = realized(DeclaredBob())
    twin, other = pickle.loads(pickle.dumps((system, state)))
    twin.realize(other, ACCELERATION)
    assert np.array_equal(other.udot, state.udot)


# ---------------------------------------------------------------------- bad input


def mass_of(matrix: Any, *, inverse: bool = False) -> Any:
    """A subsystem of two u with that as its mass."""
    decorate: Any = inverse_mass_matrix if inverse else mass_matrix

    class Wrong(Subsystem):
        places = q_variable((0.0, 0.0))
        speeds = u_variable((0.0, 0.0))

        inertia = decorate(speeds, prerequisites=())(lambda self, state: matrix)

    return Wrong()


NAN = float("nan")


@pytest.mark.parametrize(
    ("matrix", "error", "text"),
    [
        (np.eye(3), ShapeError, r"shape \(2, 2\)"),
        (np.ones(3), ShapeError, "diagonal"),
        (1.0, ShapeError, r"shape \(\)"),
        (scipy.sparse.eye_array(3), ShapeError, "another shape"),
        ([[1.0, NAN], [NAN, 1.0]], MassMatrixError, "finite"),
        ([1.0, np.inf], MassMatrixError, "finite"),
        ([[1.0, 0.5], [0.0, 1.0]], MassMatrixError, "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], MassMatrixError, "-1 as its smallest eigenvalue"),
        ([[1.0, 1.0], [1.0, 1.0]], MassMatrixError, "positive definite"),
        ([[0.0, 0.0], [0.0, 1.0]], MassMatrixError, "positive definite"),
        ([1.0, 0.0], MassMatrixError, "0 on the diagonal, of"),
        ([1.0, -1.0], MassMatrixError, "positive definite"),
        (scipy.sparse.csr_array([[1.0, 2.0], [2.0, 1.0]]), MassMatrixError, "positive definite"),
        (None, NoValueError, "returned None"),
        ("x", NotANumberError, "wrong.inertia"),
    ],
)
@pytest.mark.parametrize("inverse", [False, True])
def test_what_is_no_mass_matrix_is_refused_by_name(
    matrix: Any, error: Any, text: str, inverse: bool
) -> None:
    with pytest.raises(error, match=text) as caught:
        realized(mass_of(matrix, inverse=inverse))
    assert "wrong.inertia" in str(caught.value)


@pytest.mark.parametrize("fault", ["pivot", "diagonal", "singular"])
def test_a_large_sparse_matrix_that_is_not_positive_definite_is_refused(fault: str) -> None:
    matrix = scipy.sparse.lil_array(scipy.sparse.eye_array(120))
    matrix[7, 7] = -1.0 if fault == "diagonal" else 1.0
    if fault != "diagonal":
        matrix[7, 8] = matrix[8, 7] = 2.0 if fault == "pivot" else 1.0
    with pytest.raises(MassMatrixError, match=r"the mass of solve_constrained.*positive definite"):
        solve_constrained(matrix, np.zeros((0, 120)), np.zeros(120), [])


def test_constraints_on_a_u_without_mass_are_refused_by_name() -> None:
    class Light(Subsystem):
        place = q_variable(0.0)
        speed = u_variable((1.0, 0.0))

        @velocity_error()
        def tie(self, state: State) -> float:
            return float(self.speed(state)[1])

        @tie.jacobian(prerequisites=())
        def tie_jacobian(self, state: State) -> Any:
            return {self.speed: [[0.0, 1.0]]}

        @tie.bias(prerequisites=())
        def tie_bias(self, state: State) -> float:
            return 0.0

    with pytest.raises(MassMatrixError, match=r"(?s)light\.tie: .*light\.speed\[1\]") as e:
        realized(Light(), DeclaredBob())
    assert "@mass_matrix" in str(e.value)


def test_a_force_on_a_u_without_mass_is_refused_by_name() -> None:
    class Pushed(Subsystem):
        place = q_variable(0.0)
        speed = u_variable(0.0)

        @generalized_force(speed)
        def push(self, state: State) -> float:
            return 1.0

    with pytest.raises(MassMatrixError, match=r"(?s)pushed\.push.*pushed\.speed"):
        realized(Pushed())


@pytest.mark.parametrize("value", [NAN, [1.0, 2.0], None])
def test_a_bad_force_is_refused_by_name(value: Any) -> None:
    class Pushed(Springs):
        @generalized_force(prerequisites=())
        def push(self, state: State) -> Any:
            return [value] * 3 if value is NAN else value

    with pytest.raises((NotANumberError, ShapeError, NoValueError), match=r"pushed\.push"):
        realized(Pushed())


class Contradiction(DeclaredBob):
    """Two conditions on the same acceleration."""

    goal = parameter(1.0)

    @acceleration_error()
    def first(self, state: State) -> float:
        return float(state[self].udot[0])

    @acceleration_error()
    def second(self, state: State) -> float:
        return float(3 * (state[self].udot[0] - self.goal(state)))


def test_rows_that_contradict_each_other_are_named_and_nothing_can_be_read() -> None:
    body = Contradiction()
    system = System(body, other=Springs())
    state = system.new_state()
    with pytest.raises(InconsistentConstraintsError, match=r"contradiction\.(first|second)") as e:
        system.realize(state, ACCELERATION)
    assert "acceleration error of" in str(e.value)
    assert state.stage == DYNAMICS
    for subsystem in system.subsystems[1:]:
        with pytest.raises(StageTooLowError):
            _ = state[subsystem].udot
    body.goal.set(state, 0.0)
    system.realize(state, ACCELERATION)
    assert_allclose(state.udot[0], 0, atol=1e-12)


def test_a_constraint_against_prescribed_motion_is_named() -> None:
    class Torn(Driver):
        @velocity_error()
        def stand(self, state: State) -> float:
            return self.speed(state)

    system = System(Torn(), Springs())
    state = system.new_state()
    state.time = 1.0
    with pytest.raises(InconsistentConstraintsError, match=r"torn\.stand.*prescribed motion"):
        system.realize(state, ACCELERATION)


def test_rows_of_which_nothing_is_known_are_refused_by_name() -> None:
    class ByHand(Bob):
        def realize_instance(self, state: State) -> None:
            state[self].allocate_udoterr(1)

    with pytest.raises(NotANumberError, match=r"udoterr 1 of by_hand.*not known"):
        realized(ByHand())

    class Broken(DeclaredBob):
        @Bob.rod.bias
        def rod_bias(self, state: State) -> float:
            return NAN

    with pytest.raises(NotANumberError, match=r"broken\.rod"):
        realized(Broken())


def test_wrong_declarations_are_refused_when_the_class_is_made() -> None:
    def one(self: Any, state: State) -> float:
        return 1.0

    speed = u_variable(0.0)
    for wrong in (q_variable(0.0), parameter(1.0), 3):
        with pytest.raises(DeclarationError, match="mass_matrix: not for these"):
            mass_matrix(wrong)  # type: ignore[arg-type]  # is refused
        with pytest.raises(DeclarationError, match="generalized_force: not for these"):
            generalized_force(wrong)  # type: ignore[arg-type]  # is refused
    with pytest.raises(DeclarationError, match="a variable twice"):
        inverse_mass_matrix(speed, speed)
    with pytest.raises(DeclarationError, match="each u in one mass matrix"):

        class Twice(Subsystem):
            speed = u_variable(0.0)
            a = mass_matrix(speed)(one)
            b = inverse_mass_matrix()(one)

    with pytest.raises(DeclarationError, match="a variable that is not there"):

        class Foreign(Subsystem):
            a = mass_matrix(Springs.speeds)(one)


def test_what_is_stale_only_later_is_no_prerequisite_of_dynamics() -> None:
    class Late(Subsystem):
        place = q_variable(0.0)
        speed = u_variable(0.0)

        @acceleration_error()
        def error(self, state: State) -> float:
            return 0.0

        @generalized_force(prerequisites=(error,))
        def push(self, state: State) -> float:
            return 0.0

    with pytest.raises(PrerequisiteStageError, match=r"late\.push: depends on what .* Dynamics"):
        System(Late()).realize_topology()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([1.0], [[1.0]], [[1.0]], [0.0]), ShapeError),
        (([1.0], [[1.0]], [1.0], [0.0, 1.0]), ShapeError),
        (([1.0, 1.0], [[1.0]], [1.0], [0.0]), ShapeError),
        (([1.0], [[NAN]], [1.0], [0.0]), NotANumberError),
        (([1.0], [[1.0]], [NAN], [0.0]), NotANumberError),
        (([1.0], [[1.0]], [1.0], [NAN]), NotANumberError),
        (([1.0], [[1.0], [1.0]], [1.0], [0.0, 1.0]), InconsistentConstraintsError),
        (([1.0], [[0.0]], [1.0], [1.0]), InconsistentConstraintsError),
        (([-1.0], [[0.0]], [1.0], [1.0]), MassMatrixError),
    ],
)
def test_the_pure_function_refuses_bad_input(arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        solve_constrained(*arguments)


def test_a_large_problem_that_contradicts_itself_is_refused() -> None:
    g = scipy.sparse.csr_array(chain(240, with_copies=True, seed=1))
    bias = np.zeros(g.shape[0])
    bias[-1] = 1.0
    with pytest.raises(InconsistentConstraintsError, match="row"):
        solve_constrained(np.ones(240), g, np.ones(240), bias)
