"""Coordinates that are functions of others: set instead of solved for, with the same result."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Assembler, AssemblyCondition, QValue, Stage, State
from stagecache.assembly.coordinates.dependent import DependentCoordinate, Dependents
from stagecache.errors import (
    AssembleFailed,
    ConstraintError,
    ProjectionError,
    ShapeError,
    TrackFailed,
)
from stagecache.multibody import (
    AbstractMotion,
    Ball,
    CoordinateCouplerConstraint,
    Markers,
    MultibodySystem,
    Pin,
    Slider,
    Transform,
)
from tests.profiles import examples

Function = Callable[[Any], Any]


def wave(x: Any) -> Any:
    """A function of any number of coordinates."""
    return 0.4 * np.sin(x[0]) + 0.3 * x[-1]


def wave_gradient(x: Any) -> Any:
    found = np.zeros(len(x))
    found[0] = 0.4 * np.cos(x[0])
    found[-1] += 0.3
    return found


def wave_hessian(x: Any) -> Any:
    found = np.zeros((len(x), len(x)))
    found[0, 0] = -0.4 * np.sin(x[0])
    return found


GIVEN: dict[str, Function] = {"gradient": wave_gradient, "hessian": wave_hessian}


def chain(count: int, mobilizers: tuple[Any, ...] = (Pin,)) -> MultibodySystem:
    """Links of length 1, one after the other."""
    system = MultibodySystem()
    body = system.matter.ground
    for k in range(count):
        turned = Transform(np.roll(np.eye(3), k % 3, axis=0), [0.0, 1.0, 0.0])
        body = system.matter.add_body(
            f"link {k}", body, mobilizers[k % len(mobilizers)](), inboard_frame=turned
        )
    return system


def coupled(
    system: MultibodySystem, sources: list[int], dependent: int, **given: Any
) -> CoordinateCouplerConstraint:
    bodies = system.matter.bodies
    return system.add_constraint(
        CoordinateCouplerConstraint(
            [bodies[k + 1].coordinate(0) for k in sources],
            function=wave,
            dependent=bodies[dependent + 1].coordinate(0),
            **(given or GIVEN),
        )
    )


def q_of(system: MultibodySystem, state: State, k: int) -> float:
    return float(system.matter.bodies[k + 1].q(state)[0])


def marked(system: MultibodySystem, targets: Any, **options: Any) -> tuple[Assembler, Markers]:
    """An Assembler that brings the ends of all links to targets."""
    assembler, markers = Assembler(system, **options), Markers()
    for body in system.matter.bodies[1:]:
        markers.add_marker(body, [0.3, 1.0, 0.2])
    assembler.add_goal(markers)
    markers.move_all_observations(targets)
    return assembler, markers


def ends(system: MultibodySystem, state: State) -> Any:
    system.realize(state, Stage.POSITION)
    return np.array([b.station_position(state, [0.3, 1.0, 0.2]) for b in system.matter.bodies[1:]])


@examples(20)
@given(st.data(), st.integers(0, 2**16))
def test_setting_dependent_coordinates_is_solving_with_constraints(data: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = data.draw(st.integers(3, 8))
    mobilizers = data.draw(st.sampled_from([(Pin,), (Pin, Slider), (Pin, Ball, Pin)]))
    explicit, implicit = chain(count, mobilizers), chain(count, mobilizers)
    for _ in range(data.draw(st.integers(1, 3))):
        order = [int(k) for k in rng.permutation(count)]
        sources, dependent = order[1 : data.draw(st.integers(2, 3))], order[0]
        coupled(explicit, sources, dependent)
        bodies = implicit.matter.bodies
        implicit.add_constraint(
            CoordinateCouplerConstraint(
                [bodies[k + 1].coordinate(0) for k in (*sources, dependent)],
                function=lambda x: x[-1] - wave(x[:-1]),
                gradient=lambda x: np.append(-wave_gradient(x[:-1]), 1.0),
            )
        )
    state = explicit.new_state()
    explicit.matter.use_euler_angles.set(state, True)
    explicit.realize(state, Stage.MODEL)
    state.q = rng.uniform(-0.4, 0.4, state.nq)
    try:
        explicit.project_q(state)
    except ProjectionError:  # couplers contradict each other
        return
    start = state.q + rng.uniform(-0.05, 0.05, state.nq)
    targets = ends(explicit, state) + rng.uniform(-0.02, 0.02, (count, 3))
    both = (explicit, implicit)
    assemblers = [marked(one, targets, accuracy=1e-6, error_tolerance=1e-10)[0] for one in both]

    def solved(which: int, q: Any) -> tuple[float, Any]:
        begin = both[which].new_state()
        both[which].matter.use_euler_angles.set(begin, True)
        both[which].realize(begin, Stage.MODEL)
        begin.q = q
        result = assemblers[which].assemble(begin)
        assert result.error_norm <= 1e-10
        return result.goal, begin.q

    for which in (0, 1):  # a least goal of one is a least goal of the other
        goal, q = solved(which, start)
        assert solved(1 - which, q)[0] == pytest.approx(goal, rel=1e-5, abs=1e-12)


@examples(20)
@given(st.integers(0, 2**16), st.booleans(), st.booleans())
def test_derivatives_by_independent_coordinates_are_those_of_differences(
    seed: int, given_too: bool, with_scales: bool
) -> None:
    rng = np.random.default_rng(seed)
    system = chain(6, (Pin, Slider) if with_scales else (Pin,))
    own = GIVEN if given_too else {"gradient": wave_gradient}
    coupled(system, [0, 1], 3, **own)
    coupled(system, [3, 5], 4, **own)  # which depends on one that depends
    coupled(system, [4], 2, **own)
    assembler, _ = marked(system, rng.uniform(-1, 1, (6, 3)))
    state = system.new_state()
    state.q = rng.uniform(-1, 1, 6)
    assembler.initialize(state)
    problem = assembler._prepared("the test")
    problem.find_scales()
    x = problem.x
    assert len(x) == 3
    point = problem.move_to(x)
    jacobian = problem.derivatives().residual_jacobian
    factors = rng.normal(size=len(point.residuals))
    bend = problem.curvature(factors, np.zeros(0)).known
    assert bend is not None
    for i, unit in enumerate(np.eye(3)):
        slopes, values = [], []
        for step in (1e-5, -1e-5):
            values.append(problem.move_to(x + step * unit).residuals)
            slopes.append(factors @ problem.derivatives().residual_jacobian)
        np.testing.assert_allclose(jacobian[:, i], (values[0] - values[1]) / 2e-5, atol=1e-7)
        np.testing.assert_allclose(bend[i], (slopes[0] - slopes[1]) / 2e-5, atol=1e-6)


def test_dependent_coordinates_satisfy_their_couplers_to_rounding_and_are_still_free() -> None:
    system = chain(4)
    coupler = coupled(system, [0], 2)
    state = system.new_state()
    state.q = [0.5, 0.1, -1.0, 0.2]
    assembler = Assembler(system)
    result = assembler.assemble(state)
    assert q_of(system, state, 2) == wave([0.5])
    assert q_of(system, state, 0) == 0.5
    system.realize(state, Stage.POSITION)
    assert coupler.error(state) == 0.0
    assert result.error_norm == 0.0
    assert assembler.num_free_qs == 4
    assert assembler.free_q_index_of_q(2) == 2


def test_what_a_coupler_must_not_set_is_left_to_the_constraint() -> None:
    """A lock, a range, a second coupler of the same coordinate, and circles."""
    system = chain(4)
    first = coupled(system, [0], 1)
    state = system.new_state()
    state.q = [0.5, 0.1, 0.0, 0.0]

    def solved(change: Callable[[Assembler], object]) -> State:
        assembler = Assembler(system, error_tolerance=1e-9)
        change(assembler)
        copy = state.copy()
        assembler.assemble(copy)
        system.realize(copy, Stage.POSITION)
        np.testing.assert_allclose(first.error(copy), 0.0, atol=1e-9)
        return copy

    link, other = system.matter.bodies[2], system.matter.bodies[1]
    assert q_of(system, solved(lambda a: a.lock_q(link)), 1) == 0.1
    assert q_of(system, solved(lambda a: a.lock_mobilizer(link)), 1) == 0.1
    assert q_of(system, solved(lambda a: a.restrict_q(link, 0, -1.0, 0.2)), 1) <= 0.2
    assert q_of(system, solved(lambda a: a.lock_q(other)), 0) == 0.5
    second = coupled(system, [2], 1)
    state = system.new_state()
    state.q = [0.5, 0.1, 0.0, 0.0]
    found = solved(lambda _: None)
    np.testing.assert_allclose(second.error(found), 0.0, atol=1e-9)
    coupled(system, [3], 2)
    circle = coupled(system, [1], 3)
    state = system.new_state()
    state.q = [0.5, 0.1, 0.3, 0.0]
    found = solved(lambda _: None)
    np.testing.assert_allclose(circle.error(found), 0.0, atol=1e-9)


def test_a_coupler_that_is_disabled_or_only_a_goal_sets_nothing() -> None:
    system = chain(2)
    coupler = coupled(system, [0], 1)
    state = system.new_state()
    state.q = [0.5, 0.1]
    coupler.is_enabled.set(state, False)
    Assembler(system).assemble(state)
    np.testing.assert_array_equal(state.q, [0.5, 0.1])
    coupler.is_enabled.set(state, True)
    assembler = Assembler(system)
    assembler.system_constraints_weight = 0.0
    system.realize(state, Stage.MODEL)
    assembler.assemble(state)
    np.testing.assert_array_equal(state.q, [0.5, 0.1])
    assembler.system_constraints_weight = inf
    assembler.assemble(state)
    np.testing.assert_array_equal(state.q, [0.5, wave([0.5])])


class Ramp(AbstractMotion):
    """A q that is the time."""

    def q(self, time: float) -> Any:
        return (time,)

    def qdot(self, time: float) -> Any:  # it is constant
        return (1.0,)

    def qdotdot(self, time: float) -> Any:  # likewise
        return (0.0,)


def test_a_coordinate_that_depends_on_prescribed_motion_follows_it() -> None:
    system = MultibodySystem()
    driver = system.matter.add_body("driver", system.matter.ground, Pin(), motion=Ramp())
    system.matter.add_body("follower", driver, Pin())
    coupled(system, [0], 1)
    assembler = Assembler(system)
    assembler.assemble(system.new_state())
    for time in (0.0, 0.5, 1.5):
        assert assembler.track(time).error_norm == 0.0
        np.testing.assert_array_equal(assembler.internal_state.q, [time, wave([time])])


class Away(AssemblyCondition):
    """An error that cannot become zero."""

    def calc_errors(self, state: State) -> Any:
        return np.array([1.0 + state.q[1] ** 2])


def test_a_failure_names_bounds_of_independent_coordinates_and_leaves_the_state() -> None:
    system = chain(3)
    coupled(system, [1], 0)
    state = system.new_state()
    state.q = [0.3, 0.2, 0.1]
    assembler = Assembler(system)
    assembler.restrict_q("link 1", 0, 0.15, 0.25)
    assembler.add_error(Away("away"))
    with pytest.raises(AssembleFailed, match="loosen the bounds of q 0 of link 1"):
        assembler.assemble(state)
    np.testing.assert_array_equal(state.q, [0.3, 0.2, 0.1])


def test_dependents_are_set_in_an_order_in_which_that_is_possible() -> None:
    def one(q: int, *sources: int) -> DependentCoordinate:
        return DependentCoordinate(
            q,
            np.array(sources),
            lambda x: float(x.sum()) + 1.0,
            lambda x: np.ones(len(x)),
            lambda x: np.zeros((len(x), len(x))),
            10 + q,
        )

    offered = [one(0, 1, 4), one(1, 2), one(2, 3), one(2, 4), one(4, 0), one(3, 3)]
    found = Dependents(offered, np.arange(5), np.ones(5, bool))
    assert sorted(found.qerr) == [10, 11, 12]
    q = np.array([0.0, 0.0, 0.0, 5.0, 7.0])
    found.set_in(q)
    np.testing.assert_array_equal(q, [15.0, 7.0, 6.0, 5.0, 7.0])


def test_a_dependent_coordinate_that_depends_on_itself_or_is_not_one_is_refused() -> None:
    system = chain(2)
    link = system.matter.bodies[1]
    with pytest.raises(ConstraintError, match="its dependent coordinate is among those"):
        CoordinateCouplerConstraint([(link, 0)], function=wave, dependent=(link, 0))
    wrong: Any = link
    with pytest.raises(ShapeError, match="pairs of a body and a number"):
        CoordinateCouplerConstraint([(link, 0)], function=wave, dependent=wrong)


def test_derivatives_of_a_dependent_coordinate_are_checked_when_it_is_added() -> None:
    system = chain(2)
    with pytest.raises(ConstraintError, match=r"calc_jacobian of .* differs from differences"):
        coupled(system, [0], 1, gradient=lambda x: 1.01 * wave_gradient(x))
    with pytest.raises(ConstraintError, match=r"calc_bias of .* differs from differences"):
        coupled(system, [0], 1, gradient=wave_gradient, hessian=lambda x: 1.01 * wave_hessian(x))


def test_a_coupler_that_follows_from_others_keeps_nothing_from_moving() -> None:
    """Its row is 0 but for rounding, of the N of a ball joint: it must not count."""
    system = chain(3, (Pin, Ball, Pin))
    for _ in range(2):
        coupled(system, [2], 1, gradient=wave_gradient)
    state = system.new_state()
    system.matter.use_euler_angles.set(state, True)
    system.realize(state, Stage.MODEL)
    state.q = [-0.2, 0.1, 0.3, -0.1, 0.2]
    targets = ends(system, state) + 0.02 * np.sin(np.arange(9).reshape(3, 3))
    assembler, _ = marked(system, targets, accuracy=1e-6, error_tolerance=1e-10)
    assert assembler.assemble(state).num_iterations < 10


def root(x: Any) -> Any:
    """A function that has no value at -1 and below."""
    return np.sqrt(x[0] + 1.0) if x[0] > -1.0 else np.nan


def power(x: Any) -> Any:
    """A function that is infinite from 5 on."""
    return np.exp(x[0]) if x[0] < 5.0 else inf


POWERS: dict[str, Function] = {
    "gradient": lambda x: [power(x)],
    "hessian": lambda x: [[power(x)]],
}


def rooted(function: Function, target: float, **own: Any) -> tuple[MultibodySystem, Assembler]:
    system = chain(2)
    driver, follower = system.matter.bodies[1:]
    system.add_constraint(
        CoordinateCouplerConstraint(
            [(driver, 0)], function=function, dependent=(follower, 0), **own
        )
    )
    assembler = Assembler(system)
    assembler.add_goal(QValue(driver, 0, target))
    return system, assembler


@pytest.mark.parametrize(
    ("function", "target", "own"),
    [(root, -1.4, {}), (power, 6.0, POWERS)],
)
def test_steps_end_where_a_dependent_coordinate_has_a_value(
    function: Function, target: float, own: dict[str, Any]
) -> None:
    """What is not finite is no solution, though its own error is not solved for."""
    _, assembler = rooted(function, target, **own)
    result = assembler.assemble()
    q = assembler.internal_state.q
    assert np.isfinite(q).all()
    assert q[1] == function(q[:1])
    assert result.goal == pytest.approx(0.5 * (q[0] - target) ** 2)
    if function is root:
        assert q[0] == pytest.approx(-1.0, abs=1e-4)


def test_a_start_without_a_value_of_a_dependent_coordinate_is_left_or_refused() -> None:
    system, assembler = rooted(root, -1.4)
    state = system.new_state()
    state.q = [-2.0, 0.5]
    assembler.assemble(state)  # from another start
    assert state.q[1] == root(state.q[:1])
    assembler.lock_q("link 0")
    state.q = [-2.0, 0.5]
    for _ in range(2):
        with pytest.raises(AssembleFailed, match="q 0 of link 1 has no finite value there"):
            assembler.assemble(state)
        np.testing.assert_array_equal(state.q, [-2.0, 0.5])
    with pytest.raises(TrackFailed, match="q 0 of link 1 has no finite value there"):
        assembler.track(0.5)
    assert assembler.calc_current_error_norm() == inf
