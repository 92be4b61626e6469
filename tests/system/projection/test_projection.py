"""Projection: the least change that satisfies the constraints, against dense linear algebra."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    parameter,
    position_error,
    q_variable,
    strict,
    u_variable,
    velocity_error,
)
from stagecache.errors import (
    NotANumberError,
    OutOfRangeError,
    ProjectionError,
    ReadOnlyError,
    ShapeError,
    StageTooLowError,
    WrongTypeError,
)
from stagecache.state.handles import Vector
from stagecache.system.projection.options import ProjectOptions, ProjectResults, ProjectStatus
from tests.profiles import examples
from tests.system.projection_models import (
    TIME_SCALE,
    Bob,
    Body,
    Calls,
    Loop,
    RandomModel,
    counted,
    least_change,
    projecting,
    random_models,
)

project, project_q, project_u = System.project, System.project_q, System.project_u

POSITION, VELOCITY = Stage.POSITION, Stage.VELOCITY
TIGHT = ProjectOptions(1e-9)
FORCED = evolve(TIGHT, force_projection=True)


def rms(errors: Vector) -> float:
    return float(np.sqrt(np.mean(np.square(errors)))) if errors.size else 0.0


def tpv(model: RandomModel, state: State) -> Vector:
    """The weights of velocity errors."""
    of_ties = TIME_SCALE * state.qerr_weights[model.position_rows(state)]
    return np.concatenate([of_ties, state.uerr_weights[len(of_ties) :]])


def eu(state: State) -> Vector:
    with np.errstate(divide="ignore"):
        return np.minimum(state.u_weights, 1 / np.abs(state.u))


def as_it_was(state: State) -> Any:
    return state.y.tolist(), state.stage, state.stage_versions, state.variable("q").version(state)


# ---------------------------------------------------------------------- random models


@examples(60)
@given(random_models())
def test_position_errors_are_removed_by_the_least_change_of_free_q(model: RandomModel) -> None:
    state = model.new_state()
    q0, errors = state.q.copy(), state.qerr.copy()
    weights, u_weights = state.qerr_weights.copy(), state.u_weights.copy()
    results = project_q(model.system, state, options=TIGHT)
    assert results.exit_status is ProjectStatus.SUCCEEDED
    assert state.stage == POSITION if results.any_change_made else VELOCITY
    assert rms(weights * state.qerr) <= 1e-9
    assert results.norm_on_exit == pytest.approx(rms(weights * state.qerr), rel=1e-9, abs=1e-15)
    assert results.norm_on_entrance == pytest.approx(rms(weights * errors), rel=1e-9)
    assert results.any_change_made == (not np.array_equal(q0, state.q))
    prescribed = np.setdiff1d(np.arange(state.nq), model.free_q)
    np.testing.assert_array_equal(state.q[prescribed], q0[prescribed])

    n = model.n(q0)
    wq = n @ np.diag(u_weights) @ scipy.linalg.pinv(n)
    rows, free = model.position_rows(state), model.free_u
    # Normalizing is no change in that norm, but some errors feel it.
    normal = scipy.linalg.null_space(n.T)
    change = state.q - q0
    felt = errors[rows] + model.coefficients.gradient(q0) @ normal @ normal.T @ change
    du = least_change((wq @ n)[:, free], model.position_jacobian(q0)[:, free], felt)
    expected = n[:, free] @ du
    size = float(np.linalg.norm(change))
    if results.any_change_made:
        np.testing.assert_allclose(wq @ change, wq @ expected, atol=1e-7 + 100 * size**2)


@examples(60)
@given(random_models())
def test_velocity_errors_are_removed_by_the_least_change_of_free_u(model: RandomModel) -> None:
    state = model.new_state()
    q0, u0, errors = state.q.copy(), state.u.copy(), state.uerr.copy()
    weights, norm = tpv(model, state), eu(state)
    results = project_u(model.system, state, options=TIGHT)
    assert results.exit_status is ProjectStatus.SUCCEEDED
    assert state.stage == VELOCITY
    assert rms(weights * state.uerr) <= 1e-9
    assert results.norm_on_entrance == pytest.approx(rms(weights * errors), rel=1e-9)
    np.testing.assert_array_equal(state.q, q0)
    free = model.free_u
    prescribed = np.setdiff1d(np.arange(state.nu), free)
    np.testing.assert_array_equal(state.u[prescribed], u0[prescribed])
    expected = least_change(np.diag(norm)[:, free], model.velocity_jacobian(q0)[:, free], errors)
    if results.any_change_made:
        np.testing.assert_allclose((state.u - u0)[free], expected, atol=1e-6)


@examples(40)
@given(random_models(), st.sampled_from(["q", "u"]), st.booleans())
def test_projecting_again_changes_nothing_unless_forced(
    model: RandomModel, which: str, infinity: bool
) -> None:
    move = {"q": project_q, "u": project_u}[which]
    options = evolve(TIGHT, use_infinity_norm=infinity)
    state = model.new_state()
    first = move(model.system, state, options=options)
    model.system.realize(state, VELOCITY)
    before = as_it_was(state)
    again = move(model.system, state, options=options)
    assert (again.any_change_made, again.num_iterations) == (False, 0)
    assert again.norm_on_entrance == again.norm_on_exit <= 1e-9
    assert as_it_was(state) == before
    forced = move(model.system, state, options=evolve(options, force_projection=True))
    has_errors = (state.nqerr if which == "q" else state.nuerr) > 0
    assert (forced.num_iterations > 0) == has_errors
    # Steps make the sum of squares smaller; the largest error may rise in its rounding.
    enough = TIGHT.accuracy * TIGHT.overshoot if infinity else 0.0
    assert forced.norm_on_exit <= max(again.norm_on_exit, enough)
    assert counted(model.system, which) == Calls(
        3, 0, first.any_change_made + forced.any_change_made, 0
    )


@examples(60)
@given(random_models(), st.booleans())
def test_an_error_estimate_is_left_without_what_is_normal_to_the_constraints(
    model: RandomModel, forced: bool
) -> None:
    options = FORCED if forced else TIGHT
    state = model.new_state()
    for which, move in {"q": project_q, "u": project_u}.items():
        model.system.realize(state, VELOCITY)
        count = {"q": state.nq, "u": state.nu}[which]
        weighted = state.u_weights.copy() if which == "q" else eu(state)
        estimate = model.rng.uniform(-1, 1, count)
        given_ = estimate.copy()
        results = move(model.system, state, options=options, error_estimate=estimate)
        removed = given_ - estimate
        assert counted(model.system, which).estimates == bool(removed.any())
        if not results.num_iterations:
            assert not removed.any()
            continue
        n, free = model.n(state.q), model.free_u
        prescribed = np.setdiff1d(np.arange(count), model.free_q if which == "q" else model.free_u)
        assert not removed[prescribed].any()
        if which == "q":
            inverse = scipy.linalg.pinv(n)
            norm = scipy.linalg.sqrtm((n * weighted).T @ (n * weighted))
            jacobian, left, gone = (
                model.position_jacobian(state.q),
                inverse @ estimate,
                inverse @ removed,
            )
            quaternions = scipy.linalg.null_space(n[model.free_q].T)
            np.testing.assert_allclose(quaternions.T @ estimate[model.free_q], 0, atol=1e-9)
        else:
            norm, jacobian = np.diag(weighted), model.velocity_jacobian(state.q)
            left, gone = estimate, removed
        np.testing.assert_allclose(jacobian[:, free] @ left[free], 0, atol=1e-6)
        # What is gone is the shortest that has these errors.
        expected = least_change(norm[:, free], jacobian[:, free], -jacobian[:, free] @ gone[free])
        np.testing.assert_allclose(gone[free], expected, atol=1e-6)


@examples(30)
@given(random_models())
def test_numerical_jacobians_lead_to_the_same_place(model: RandomModel) -> None:
    other = evolve_model(model, is_declared=not model.is_declared)
    states = [model.new_state(), other.new_state()]
    for one, state in zip((model, other), states, strict=True):
        project(one.system, state, 1e-10)
        assert state.stage == VELOCITY
    np.testing.assert_allclose(states[0].q, states[1].q, atol=1e-8)
    np.testing.assert_allclose(states[0].u, states[1].u, atol=1e-6)


def evolve_model(model: RandomModel, **changes: Any) -> RandomModel:
    names = ["kinds", "seed", "is_declared", "num_ties", "num_slips", "curvature"]
    names += ["num_repeated", "offset"]
    return RandomModel(**{**{name: getattr(model, name) for name in names}, **changes})


@examples(30)
@given(random_models(), st.floats(0.1, 10))
def test_a_failed_projection_leaves_the_state_as_it_was(model: RandomModel, by: float) -> None:
    model = evolve_model(model, impossible=by)
    state = model.new_state()
    before, estimate = as_it_was(state), np.ones(state.nq)
    results = project_q(
        model.system,
        state,
        options=evolve(TIGHT, dont_raise=True),
        error_estimate=estimate,
    )
    assert results.exit_status is not ProjectStatus.SUCCEEDED
    assert not results.any_change_made
    assert as_it_was(state) == before
    assert (estimate == 1).all()
    assert state.stage == VELOCITY
    with pytest.raises(ProjectionError, match="cannot be projected"):
        project_q(model.system, state, options=TIGHT)
    with pytest.raises(ProjectionError, match=r"ties\.tie"):
        project(model.system, state, 1e-9)
    assert as_it_was(state) == before
    assert counted(model.system, "q") == Calls(3, 3, 0, 0)


@pytest.mark.parametrize("reach", [4, 200])
def test_many_constraints_are_projected_as_few_are(reach: int) -> None:
    """A ring of points and bodies with 120 ties, each between neighbours or between all."""
    kinds = [(0, False), (3, False), (2, True), (3, False)] * 14
    model = RandomModel(kinds, 7, True, 115, 5, 0.3, 5, 1e-4)
    for row, (g, h) in enumerate(zip(model.coefficients.g, model.coefficients.h, strict=True)):
        far = np.arange(len(g)) - row * len(g) / 115
        g[np.abs(far) > reach] = h[np.abs(far) > reach] = 0
    model.coefficients.combine[115:, 8:] = 0
    model.coefficients.c[:] = 0
    model.coefficients.c[:] = model.coefficients.position(model.q)[:115]
    state = model.new_state()
    q0, errors, u_weights = state.q.copy(), state.qerr.copy(), state.u_weights.copy()
    weights, rows, free = state.qerr_weights.copy(), model.position_rows(state), model.free_u
    results = project_q(model.system, state, options=TIGHT)
    assert rms(weights * state.qerr) <= 1e-9
    assert results.num_iterations <= 5
    n = model.n(q0)
    normal = scipy.linalg.null_space(n.T)
    change = state.q - q0
    felt = errors[rows] + model.coefficients.gradient(q0) @ normal @ normal.T @ change
    wq = n @ np.diag(u_weights) @ scipy.linalg.pinv(n)
    du = least_change((wq @ n)[:, free], model.position_jacobian(q0)[:, free], felt)
    np.testing.assert_allclose(wq @ change, wq @ n[:, free] @ du, atol=1e-5)
    model.system.realize(state, VELOCITY)
    project_u(model.system, state, options=TIGHT)
    assert rms(tpv(model, state) * state.uerr) <= 1e-9


# ---------------------------------------------------------------------- pendulum, loop, body


def test_a_bob_goes_straight_to_its_rod() -> None:
    system, state = projecting(Bob())
    project(system, state, 1e-10)
    assert state.stage == VELOCITY
    np.testing.assert_allclose(state.q, np.array([0.7, -0.9]) / np.hypot(0.7, 0.9), atol=1e-9)
    along = np.array([-state.q[1], state.q[0]])
    np.testing.assert_allclose(state.u, along * (along @ [0.3, 0.4]), atol=1e-9)


def test_it_starts_from_model_and_sets_prescribed_motion_first() -> None:
    class Hand(Subsystem):
        height = q_variable(5.0)
        speed = u_variable(5.0)

        @height.prescribed(prerequisites=lambda self: (self.time,))
        def lift(self, state: State) -> float:
            return 0.1 * state.time

        @speed.prescribed(prerequisites=lambda self: (self.time,))
        def lift_speed(self, state: State) -> float:
            return 0.1

    class Held(Bob):
        def __init__(self, hand: Hand) -> None:
            self.hand = hand

        @Bob.rod.velocity
        def rod_rate(self, state: State) -> float:
            x, y = self.x(state), self.y(state) - self.hand.height(state)
            return 2 * (x * self.vx(state) + y * (self.vy(state) - self.hand.speed(state)))

        @position_error()
        def rod(self, state: State) -> float:
            return self.x(state) ** 2 + (self.y(state) - self.hand.height(state)) ** 2 - 1

        @rod.jacobian
        def rod_jacobian(self, state: State) -> Any:
            x, y = self.x(state), self.y(state) - self.hand.height(state)
            return {self.vx: [[2 * x]], self.vy: [[2 * y]], self.hand.speed: [[-2 * y]]}

    hand = Hand()
    held = Held(hand)
    system, state = projecting(hand, held, stage=Stage.MODEL)
    state.time = 2.0
    project(system, state, 1e-10)
    assert (hand.height(state), hand.speed(state)) == (0.2, 0.1)
    np.testing.assert_allclose([*state.qerr, *state.uerr], 0, atol=1e-9)
    assert state.stage == VELOCITY
    counts = system.statistics
    assert (counts.num_prescribe_q_calls, counts.num_prescribe_u_calls) == (1, 1)

    state.time = 3.0
    assert project_q(system, state).any_change_made
    assert hand.height(state) == pytest.approx(0.3)
    assert state.stage == POSITION
    hand.speed.set(state, 7.0)
    assert project_u(system, state, 1e-8).exit_status is ProjectStatus.SUCCEEDED
    assert (hand.speed(state), state.stage) == (0.1, VELOCITY)


def test_a_closed_loop_with_a_redundant_row_closes() -> None:
    loop = Loop()
    system, state = projecting(loop, stage=POSITION)
    q0 = state.q.copy()
    du = least_change(np.eye(4), loop.closed_jacobian(state), loop.closed(state))
    results = project_q(system, state, options=TIGHT)
    assert results.exit_status is ProjectStatus.SUCCEEDED
    np.testing.assert_allclose(state.qerr, 0, atol=1e-8)
    np.testing.assert_allclose(state.q - q0, du, atol=0.05)
    normal = scipy.linalg.orth(loop.closed_jacobian(state).T)
    assert np.linalg.matrix_rank(normal) == 3
    project_u(system, state, 1e-9)
    np.testing.assert_allclose(loop.closed_jacobian(state) @ state.u, 0, atol=1e-7)


class Redundant(Subsystem):
    """Points with two curved errors each, and a third.

    The third is 0 where these are, but elsewhere it is another function.
    """

    place = q_variable(factory=lambda self, state: np.zeros(3 * self.count))
    speed = u_variable(factory=lambda self, state: np.zeros(3 * self.count))

    def __init__(self, count: int, *, repeats: bool) -> None:
        self.count = count
        self.each = 3 if repeats else 2

    def parts(self, state: State) -> list[tuple[Vector, Vector]]:
        found = []
        for x, y, z in state.q.reshape(-1, 3):
            first, second = x + y * y, y + z * x
            rows = np.array([[1, 2 * y, 0], [z, 1, x]])
            third = rows[0] * (1 + z) + [0, 0, first] + 2 * second * rows[1]
            errors = np.array([first, second, first * (1 + z) + second**2])
            found.append((errors[: self.each], np.vstack([rows, third])[: self.each]))
        return found

    @position_error(size=lambda self, state: self.count * self.each)
    def surface(self, state: State) -> Vector:
        return np.concatenate([errors for errors, _ in self.parts(state)])

    @surface.jacobian
    def surface_jacobian(self, state: State) -> Any:
        return csr_array(block_diag([csr_array(rows) for _, rows in self.parts(state)]))


@pytest.mark.parametrize("count", [1, 50])
@examples(20)
@given(st.integers(0, 2**32), st.sampled_from([1e-5, 1e-3, 0.03]))
def test_rows_that_are_dependent_only_on_the_constraints_pull_nowhere_else(
    count: int, seed: int, off: float
) -> None:
    start = off * np.random.default_rng(seed).uniform(-1, 1, 3 * count)
    changes = []
    for repeats in (True, False):
        system, state = projecting(Redundant(count, repeats=repeats), stage=POSITION)
        state.q = start
        system.realize(state, POSITION)
        project_q(system, state, options=TIGHT)
        np.testing.assert_allclose(state.qerr, 0, atol=1e-7)
        changes.append(state.q - start)
    size = float(np.linalg.norm(changes[1]))
    np.testing.assert_allclose(changes[0], changes[1], atol=0.2 * size + 1e-7)


@examples(20)
@given(st.integers(0, 2**32))
def test_rows_that_are_dependent_only_there_take_no_more_of_an_estimate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start, given_ = rng.uniform(-0.03, 0.03, 3), rng.uniform(-1, 1, 3)
    estimates = [given_.copy(), given_.copy()]
    for repeats in (True, False):
        system, state = projecting(Redundant(1, repeats=repeats), stage=POSITION)
        state.q = start
        system.realize(state, POSITION)
        project_q(system, state, options=FORCED, error_estimate=estimates[repeats])
    np.testing.assert_allclose(estimates[0], estimates[1], atol=0.05)


@examples(20)
@given(st.integers(0, 2**32), st.sampled_from([1e-9, 1e-5, 1e-3]))
def test_u_is_pulled_nowhere_else_by_rows_that_are_dependent_only_there(
    seed: int, off: float
) -> None:
    """Unless the errors are so small that the doubtful row is not a small part of them."""
    rng = np.random.default_rng(seed)
    start, u = off * rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    assume(np.linalg.norm(u[:2]) > 0.2)
    found = []
    for repeats in (True, False):
        system, state = projecting(Redundant(1, repeats=repeats))
        state.q, state.u = start, u
        system.realize(state, VELOCITY)
        project_u(system, state, options=ProjectOptions(10 * off, force_projection=True))
        found.append(state.u.copy())
    np.testing.assert_allclose(found[0], found[1], atol=100 * off)


@pytest.mark.parametrize("weights", [(1e-5, 1e5), (1e9, 1e-9), (1e-9, 1e9)])
def test_constraints_of_very_different_weights_are_satisfied_to_the_accuracy(
    weights: tuple[float, float],
) -> None:
    class Walled(Bob):
        @position_error()
        def wall(self, state: State) -> float:
            return self.x(state) - 0.5

    system, state = projecting(Walled())
    state.qerr_weights = weights
    project(system, state, 1e-8)
    assert rms(state.qerr_weights * state.qerr) <= 1e-8
    assert rms(TIME_SCALE * state.qerr_weights * state.uerr) <= 1e-8


def test_a_quaternion_is_normalized_and_turns_no_further() -> None:
    body = Body(np.array([0.0, 1.2, -1.6, 0.0]), np.ones(3), driven=False)
    system, state = projecting(body)
    results = project_q(system, state, options=TIGHT)
    np.testing.assert_allclose(state.q, [0, 0.6, -0.8, 0], atol=1e-12)
    assert (results.num_iterations, results.worst_error and results.worst_error.value) == (1, 1.0)
    assert (state.u == 1).all()
    assert results.worst_error is not None
    assert results.worst_error.name == "body.length"


def test_errors_feel_that_a_quaternion_is_normalized() -> None:
    """One that grows with the length is removed though normalizing it makes it larger first."""

    class Felt(Body):
        @position_error()
        def stretch(self, state: State) -> float:
            q = self.orientation(state)
            return float(100 * (q @ q - 1) + q[1] - 0.1)

    system, state = projecting(Felt(np.array([1.01, 0.1, 0.0, 0.0]), np.zeros(3), driven=False))
    project_q(system, state, 1e-9)
    assert abs(state.q[1] - 0.1) < 1e-8
    assert np.linalg.norm(state.q) == pytest.approx(1, abs=1e-10)


def test_what_would_move_a_prescribed_q_does_not_change() -> None:
    """An angular velocity that moves a prescribed quaternion is none that projection uses."""

    class Hinged(Body):
        other = q_variable(0.3)
        other_speed = u_variable(0.0)
        is_fixed = parameter(True)

        @position_error()
        def tie(self, state: State) -> float:
            return float(self.orientation(state)[1] + self.other(state) - 0.5)

        @Body.orientation.prescribed(prerequisites=(), enabled=is_fixed)
        def drive(self, state: State) -> Vector:
            return np.array([1.0, 0.0, 0.0, 0.0])

    system, state = projecting(Hinged(np.array([1.0, 0, 0, 0]), np.zeros(3), driven=False))
    project_q(system, state, 1e-9)
    np.testing.assert_allclose(state.q, [1, 0, 0, 0, 0.5], atol=1e-8)
    assert state.q[:4].tolist() == [1, 0, 0, 0]
    state[1].q = [1, 0, 0, 0, 0.3]
    system.subsystems[1].is_fixed.set(state, False)
    project_q(system, state, 1e-9)
    assert state.q[1] > 0.01
    assert abs(state.q[1] + state.q[4] - 0.5) < 1e-8
    assert np.linalg.norm(state.q[:4]) == pytest.approx(1)


def test_a_constraint_that_is_disabled_is_left_alone() -> None:
    class Switched(Bob):
        is_walled = parameter(False)

        @position_error(enabled=is_walled)
        def wall(self, state: State) -> float:
            return self.x(state) - 3

    bob = Switched()
    system, state = projecting(bob)
    project(system, state, 1e-9)
    bob.is_walled.set(state, True)
    system.realize(state, VELOCITY)
    before = as_it_was(state)
    with pytest.raises(ProjectionError, match=r"switched\."):
        project(system, state, 1e-9)
    assert as_it_was(state) == before
    bob.length.set(state, 3.5)
    project(system, state, 1e-9)
    assert state.q[0] == pytest.approx(3)
    bob.is_walled.set(state, False)
    project(system, state, 1e-9)
    assert np.linalg.norm(state.q) == pytest.approx(3.5)


def test_rows_that_a_hook_allocates_are_projected_by_differences() -> None:
    class ByHand(Subsystem):
        x = q_variable((0.5, 0.25))
        v = u_variable((1.0, 2.0))

        def realize_model(self, state: State) -> None:
            state[self].allocate_qerr(1)
            state[self].allocate_uerr(1)

        def realize_position(self, state: State) -> None:
            x, y = state[self].q
            state[self].upd_qerr()[0] = x + y * y

        def realize_velocity(self, state: State) -> None:
            state[self].upd_uerr()[0] = state.q[1] * state.u[0] - 1

    system, state = projecting(ByHand(), stage=Stage.MODEL)
    project(system, state, 1e-9)
    np.testing.assert_allclose([*state.qerr, *state.uerr], 0, atol=1e-9)
    state.q = [0.5, 0.25]
    system.realize(state, POSITION)
    results = project_q(system, state, options=ProjectOptions())
    assert results.worst_error is not None
    assert results.worst_error.name == "qerr 0 of by_hand"


# ---------------------------------------------------------------------- options


class Curve(Subsystem):
    """An error that is a given function of one q."""

    x = q_variable(factory=lambda self, state: self.start)
    v = u_variable(0.0)

    def __init__(
        self, error: Callable[[float], float], slope: Callable[[float], float], start: float
    ) -> None:
        self.error, self.slope, self.start = error, slope, start
        self.slopes: list[float] = []

    @position_error()
    def off(self, state: State) -> float:
        return self.error(state.q[0])

    @off.jacobian
    def off_slope(self, state: State) -> list[list[float]]:
        self.slopes.append(state.q[0])
        return [[self.slope(state.q[0])]]


def arctan() -> Curve:
    """From 2, Newton's method goes astray, and halved steps do not."""
    return Curve(lambda x: float(np.arctan(x)), lambda x: 1 / (1 + x * x), 2.0)


def test_local_projection_gives_up_where_steps_must_be_halved() -> None:
    curve = arctan()
    system, state = projecting(curve, stage=POSITION)
    results = project_q(system, state, options=ProjectOptions(local_only=True, dont_raise=True))
    assert results.exit_status is ProjectStatus.FAILED_TO_CONVERGE
    assert curve.x(state) == 2.0
    assert project_q(system, state, options=ProjectOptions()).any_change_made
    assert abs(curve.x(state)) < 1e-4


def test_full_newton_computes_a_jacobian_for_each_iteration() -> None:
    def parabola() -> Curve:
        return Curve(lambda x: x * x - 2, lambda x: 2 * x, 1.5)

    full, reused = parabola(), parabola()
    counts = []
    for curve, force in ((full, True), (reused, False)):
        system, state = projecting(curve, stage=POSITION)
        options = ProjectOptions(1e-12, force_full_newton=force)
        results = project_q(system, state, options=options)
        assert abs(curve.x(state) - np.sqrt(2)) < 1e-12
        counts.append((len(curve.slopes), results.num_iterations))
    assert counts[0][0] == counts[0][1]
    assert counts[1][0] < counts[1][1]


def test_it_goes_beyond_the_accuracy_by_the_overshoot() -> None:
    norms = []
    for overshoot in (1.0, 1e-8):
        system, state = projecting(Bob(), stage=POSITION)
        options = ProjectOptions(1e-2, overshoot=overshoot)
        norms.append(project_q(system, state, options=options).norm_on_exit)
    assert 1e-8 < norms[0] <= 1e-2
    assert norms[1] <= 1e-10


def test_it_settles_for_the_accuracy_where_the_overshoot_is_out_of_reach() -> None:
    def rounded(x: float) -> float:
        return round(x, 3)

    system, state = projecting(Curve(rounded, lambda x: 1.0, 0.7004), stage=POSITION)
    results = project_q(system, state, options=ProjectOptions(1e-3, overshoot=1e-6))
    assert results.exit_status is ProjectStatus.SUCCEEDED
    assert results.norm_on_exit <= 1e-3


def test_the_infinity_norm_is_that_of_the_largest_error() -> None:
    loop = Loop()
    system, state = projecting(loop, stage=POSITION)
    errors = np.abs(state.qerr)
    options = ProjectOptions(1e-6, use_infinity_norm=True)
    results = project_q(system, state, options=options)
    assert results.norm_on_entrance == max(errors)
    assert results.norm_on_exit == max(np.abs(state.qerr)) <= 1e-6
    assert results.worst_error is not None
    assert results.worst_error.name == f"loop.closed[{np.argmax(errors)}]"


def test_above_the_projection_limit_nothing_is_tried() -> None:
    system, state = projecting(Bob())
    before = as_it_was(state)
    options = ProjectOptions(projection_limit=0.1)
    with pytest.raises(ProjectionError, match=r"bob\.rod: .* limit") as caught:
        project_q(system, state, options=options)
    results = caught.value.results
    assert (results.projection_limit_exceeded, results.num_iterations) == (True, 0)
    assert results.exit_status is ProjectStatus.FAILED_TO_CONVERGE
    assert project_q(system, state, options=evolve(options, dont_raise=True)) == results
    assert as_it_was(state) == before
    assert str(results).endswith("above the limit")
    assert counted(system, "q") == Calls(2, 2, 0, 0)


def test_forced_projection_projects_an_estimate_where_nothing_else_is_to_be_done() -> None:
    system, state = projecting(Bob())
    project(system, state, 1e-12)
    for move in (project_q, project_u):
        estimate = np.array([1.0, 2.0])
        move(system, state, options=ProjectOptions(1e-10), error_estimate=estimate)
        assert estimate.tolist() == [1, 2]
        options = ProjectOptions(1e-10, force_projection=True)
        results = move(system, state, options=options, error_estimate=estimate)
        assert results.num_iterations >= 1
        assert state.q @ estimate == pytest.approx(0, abs=1e-9)
        system.realize(state, VELOCITY)


# ---------------------------------------------------------------------- what cannot be done


def failing(system: Any, state: State, **options: Any) -> ProjectionError:
    """The error of a projection that must fail, which leaves the State as it is."""
    before = as_it_was(state)
    with pytest.raises(ProjectionError) as caught:
        project_q(system, state, options=ProjectOptions(**options))
    assert as_it_was(state) == before
    assert isinstance(caught.value, RuntimeError)
    return caught.value


def test_constraints_that_contradict_each_other_are_named() -> None:
    class Torn(Bob):
        @position_error()
        def wall(self, state: State) -> float:
            return self.x(state) - 3

    system, state = projecting(Torn())
    error = failing(system, state)
    assert error.results.exit_status is ProjectStatus.FAILED_TO_ACHIEVE_ACCURACY
    assert error.what.startswith(("torn.wall: its position", "torn.rod: its position"))
    assert "torn." in error.got
    assert "agree with each other" in error.hint
    assert error.results.worst_error.name == "torn.wall"
    assert error.results.worst_error.value == pytest.approx(-2.3)


def test_a_state_from_which_no_step_leads_is_told_of() -> None:
    system, state = projecting(Bob())
    state.q = [0, 0]
    system.realize(state, POSITION)
    error = failing(system, state)
    assert error.results.exit_status is ProjectStatus.FAILED_TO_ACHIEVE_ACCURACY
    assert "bob.rod = -1" in error.got


@pytest.mark.parametrize("move", [project_q, project_u])
def test_without_a_free_variable_it_fails(move: Any) -> None:
    class Still(Bob):
        @Bob.x.prescribed(prerequisites=())
        def x_at(self, state: State) -> float:
            return 0.5

        @Bob.y.prescribed(prerequisites=())
        def y_at(self, state: State) -> float:
            return 0.5

        @Bob.vx.prescribed(prerequisites=())
        def vx_at(self, state: State) -> float:
            return 1.0

        @Bob.vy.prescribed(prerequisites=())
        def vy_at(self, state: State) -> float:
            return 1.0

    system, state = projecting(Still())
    before = as_it_was(state)
    with pytest.raises(ProjectionError, match=r"still\.rod: .* no [qu] is free to be moved"):
        move(system, state)
    assert as_it_was(state) == before


def test_an_error_that_is_no_number_is_named() -> None:
    class Holed(Bob):
        @position_error(size=2)
        def hole(self, state: State) -> list[float]:
            return [0.0, float("nan")]

    system, state = projecting(Holed())
    error = failing(system, state)
    assert error.what.startswith("holed.hole[1]: its position")
    assert "not finite" in error.what
    assert (
        project_q(system, state, options=ProjectOptions(dont_raise=True)).exit_status
        is ProjectStatus.FAILED_TO_CONVERGE
    )


def test_a_jacobian_with_nan_is_named() -> None:
    class Bent(Bob):
        @position_error(size=2)
        def bend(self, state: State) -> list[float]:
            return [0.0, self.x(state)]

        @bend.jacobian
        def bend_jacobian(self, state: State) -> Vector:
            return np.array([[1.0, 0.0], [0.0, np.nan]])

    system, state = projecting(Bent())
    before = as_it_was(state)
    with pytest.raises(NotANumberError, match=r"bent\.bend\[1\]: its Jacobian is not finite"):
        project_q(system, state, options=TIGHT)
    assert as_it_was(state) == before


def test_a_function_that_raises_on_the_way_leaves_the_state_as_it_was() -> None:
    def root(x: float) -> float:
        if x > 2:
            raise ValueError("too far")
        return x - 3

    system, state = projecting(Curve(root, lambda x: 1.0, 1.0), stage=POSITION)
    before = as_it_was(state)
    for call in (lambda: project(system, state), lambda: project_q(system, state, options=TIGHT)):
        with pytest.raises(ValueError, match="too far"):
            call()
        assert as_it_was(state) == before
    assert counted(system, "q") == Calls(2, 2, 0, 0)


def test_a_state_that_must_not_be_written_is_not() -> None:
    system, _ = projecting(Bob())
    state = system.realize_topology()
    with pytest.raises(ReadOnlyError):
        project(system, state.frozen())
    frozen = projecting(Bob())[1].frozen()
    before = frozen.q.tolist()
    for move in (project_q, project_u):
        for options in (None, TIGHT):
            with pytest.raises(ReadOnlyError, match=rf"^{move.__name__}\(\): is refused"):
                move(frozen.system, frozen, options=options)
    with pytest.raises(ReadOnlyError, match=r"^project\(\): is refused"):
        project(frozen.system, frozen)
    assert frozen.q.tolist() == before


def test_it_works_in_strict_mode() -> None:
    system = System(Bob())
    with strict():
        state = system.new_state()
        project(system, state, 1e-9)
        assert np.linalg.norm(state.q) == pytest.approx(1)


def test_a_system_without_constraints_has_nothing_to_project() -> None:
    class Free(Subsystem):
        x = q_variable(0.0)
        v = u_variable(0.0)

    system, state = projecting(Free())
    before = as_it_was(state)
    results = project_q(system, state, options=FORCED, error_estimate=np.ones(1))
    assert results == ProjectResults(ProjectStatus.SUCCEEDED)
    assert str(results) == "succeeded: there are no constraints"
    project(system, state)
    assert as_it_was(state) == before


# ---------------------------------------------------------------------- bad input

ACCURACIES = [0.0, -1e-6, float("nan"), float("inf")]


@pytest.mark.parametrize("accuracy", ACCURACIES)
def test_an_accuracy_that_is_none_is_refused(accuracy: float) -> None:
    system, state = projecting(Bob())
    before = as_it_was(state)
    for call in (ProjectOptions, lambda a: project(system, state, a)):
        with pytest.raises(OutOfRangeError, match="accuracy"):
            call(accuracy)
    for move in (project_q, project_u):
        with pytest.raises(OutOfRangeError, match="accuracy"):
            move(system, state, accuracy)
    assert as_it_was(state) == before


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"overshoot": 0.0}, OutOfRangeError),
        ({"overshoot": 1.5}, OutOfRangeError),
        ({"overshoot": float("nan")}, OutOfRangeError),
        ({"projection_limit": 0.0}, OutOfRangeError),
        ({"projection_limit": float("nan")}, OutOfRangeError),
        ({"accuracy": "fine"}, NotANumberError),
        ({"accuracy": True}, NotANumberError),
        ({"local_only": 1}, NotANumberError),
        ({"force_projection": "yes"}, NotANumberError),
    ],
)
def test_options_that_are_none_are_refused_by_name(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(wrong))):
        ProjectOptions(**wrong)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused_by_name(weight: float) -> None:
    class Slipping(Bob):
        @velocity_error()
        def slip(self, state: State) -> float:
            return self.vx(state)

    for name, where, move in (
        ("qerr_weights", r"the weight of slipping\.rod", project_q),
        ("uerr_weights", r"the weight of slipping\.slip", project_u),
        ("u_weights", r"u_weights\[0\]", project_q),
        ("u_weights", r"u_weights\[0\]", project_u),
    ):
        system, state = projecting(Slipping())
        weights = getattr(state, name).copy()
        weights[0 if name != "uerr_weights" else 1] = weight
        setattr(state, name, weights)
        system.realize(state, VELOCITY)
        before = as_it_was(state)
        with pytest.raises(OutOfRangeError, match=where):
            move(system, state, options=TIGHT)
        assert as_it_was(state) == before
        assert counted(system, "q") == counted(system, "u") == Calls(0, 0, 0, 0)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("which", ["q", "u"])
def test_a_variable_that_is_not_finite_is_named(which: str, value: float) -> None:
    class Strayed(Bob):
        far = q_variable((0.0, 0.0))
        flight = u_variable((0.0, 0.0))

    bob = Strayed()
    system, state = projecting(bob)
    variable = bob.far if which == "q" else bob.flight
    variable.set(state, [0.0, value])
    before = np.array(state.y), state.stage
    with pytest.raises(OutOfRangeError, match=rf"(?s)^strayed\.{variable.name}: .*{which}\[3\]"):
        project(system, state)
    np.testing.assert_array_equal(state.y, before[0])
    assert state.stage == before[1]
    variable.set(state, [0.0, 1e200])
    project(system, state, 1e-9)
    assert abs(state.qerr[0]) < 1e-8


def test_the_weight_that_is_told_is_the_one_that_was_written() -> None:
    system, state = projecting(Bob())
    state.qerr_weights = [-1.0]
    system.realize(state, VELOCITY)
    for move in (project_q, project_u):
        with pytest.raises(OutOfRangeError, match=r"bob\.rod") as caught:
            move(system, state, options=TIGHT)
        assert (caught.value.got, caught.value.hint.split()[-1]) == ("-1", "state.qerr_weights")


def test_velocity_errors_that_nobody_can_compute_are_told_of() -> None:
    class Skew(Subsystem):
        place = q_variable((1.0, 2.0, 3.0))
        speed = u_variable((1.0, 2.0))

        @position_error()
        def sphere(self, state: State) -> float:
            return float(self.place(state) @ self.place(state) - 1)

    system, state = projecting(Skew())
    with pytest.raises(ProjectionError, match=r"skew\.sphere: .* not finite") as caught:
        project_u(system, state)
    assert "@kinematics" in caught.value.hint


def read_only() -> Vector:
    array = np.ones(2)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("estimate", "error"),
    [
        (np.ones(3), ShapeError),
        (np.ones((2, 1)), ShapeError),
        (np.ones(0), ShapeError),
        (np.ones(2, dtype=int), NotANumberError),
        ([1.0, 2.0], NotANumberError),
        (read_only(), ReadOnlyError),
        (np.array([1.0, np.nan]), OutOfRangeError),
    ],
)
def test_an_error_estimate_that_is_none_is_refused(estimate: Any, error: type[Exception]) -> None:
    system, state = projecting(Bob())
    before, was = as_it_was(state), repr(estimate)
    for move in (project_q, project_u):
        with pytest.raises(error, match="error_estimate"):
            move(system, state, error_estimate=estimate)
    assert as_it_was(state) == before
    assert repr(estimate) == was


def test_it_takes_an_accuracy_or_options() -> None:
    system, state = projecting(Bob())
    with pytest.raises(OutOfRangeError, match="two accuracies"):
        project_q(system, state, 1e-6, options=ProjectOptions())
    with pytest.raises(WrongTypeError, match="ProjectOptions"):
        project_q(system, state, options={"accuracy": 1e-6})  # type: ignore[arg-type]  # is refused


def test_it_needs_its_stage() -> None:
    system, state = projecting(Bob(), stage=Stage.TIME)
    for move, stage in ((project_q, "Position"), (project_u, "Velocity")):
        with pytest.raises(StageTooLowError, match=stage):
            move(system, state, options=ProjectOptions())
    state.invalidate_all(Stage.MODEL)
    for call in (project, project_q, project_u):
        with pytest.raises(StageTooLowError, match="Model"):
            call(system, state)


# ---------------------------------------------------------------------- what it tells


def test_results_are_readable() -> None:
    system, state = projecting(Bob())
    results = project_q(system, state, options=ProjectOptions(1e-3))
    text = str(results)
    assert text.startswith("succeeded: the norm was 0.3 (worst: bob.rod = 0.3), is ")
    assert text.endswith((" iterations", " iteration"))
    assert str(project_q(system, state, options=ProjectOptions(1e-3))).endswith("no iteration")


def test_each_status_has_a_message_and_a_hint() -> None:
    texts = {text for status in ProjectStatus for text in (status.message, status.hint)}
    assert len(texts) == 2 * len(ProjectStatus)
    assert str(ProjectStatus.FAILED_TO_CONVERGE) == "failed to converge"


def test_errors_and_results_travel_between_processes() -> None:
    system, state = projecting(Bob())
    error = failing(system, state, projection_limit=0.1)
    twin = pickle.loads(pickle.dumps(error))
    assert (twin.args, twin.results, str(twin)) == (error.args, error.results, str(error))
