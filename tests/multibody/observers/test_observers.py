"""Markers and sensors alike: derivatives, missing observations, weights, order, and bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stagecache import Assembler, State, Subsystem, q_variable, u_variable
from stagecache.errors import (
    ConditionError,
    DuplicateNameError,
    InvalidNameError,
    NoObservationError,
    NotANumberError,
    ObservationError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
    StudyError,
    UnknownBodyError,
    UnknownMarkerError,
)
from stagecache.multibody import (
    Ball,
    Markers,
    MatterSubsystem,
    MultibodySystem,
    OrientationSensors,
    Pin,
    Transform,
)
from tests.multibody.mobilizers.test_own_mobilizer import Screw
from tests.multibody.observed_trees import by_differences, observed, with_markers, with_sensors
from tests.multibody.trees import Array, Tree, make_tree
from tests.profiles import examples

few = examples(60)
BOTH = pytest.mark.parametrize("make", [Markers, OrientationSensors])
Observed = tuple[Tree, Any, State]


def add(condition: Any, body: Any, **how: Any) -> Any:
    """A marker, or a sensor, with a name or weight."""
    if isinstance(condition, Markers):
        return condition.add_marker(body, [0.1, 0.2, 0.3], **how)
    return condition.add_sensor(body, **how)


def anything(condition: Any, count: int, seed: int = 0) -> Array:
    """Observations of any values."""
    if isinstance(condition, Markers):
        return np.random.default_rng(seed).normal(size=(count, 3))
    found: Array = Rotation.random(count, random_state=seed).as_matrix()
    return found


def arm(make: Any, count: int = 3) -> tuple[Any, MultibodySystem, Any]:
    """Two links, and what is observed on the second of them."""
    tree = make_tree([Pin, Ball], [0, 1], 1)
    condition = make()
    for _ in range(count):
        add(condition, tree.bodies[2])
    return condition, tree.system, tree


# ---------------------------------------------------------------------- derivatives


@few
@given(observed())
def test_jacobians_are_those_of_differences(found: Observed) -> None:
    _tree, condition, state = found
    assembler = condition.assembler
    if not assembler.num_free_qs:
        return
    for calc, derive in (
        (condition.calc_errors, condition.calc_error_jacobian),
        (condition.calc_goal_residuals, condition.calc_goal_residual_jacobian),
    ):
        jacobian = derive(state)
        assert jacobian.shape == (len(calc(state)), assembler.num_free_qs)
        expected = by_differences(calc, state, assembler).reshape(jacobian.shape)
        scale = 1 + np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(jacobian, expected, rtol=0, atol=1e-6 * scale)


@examples(40)
@given(observed(most=4))
def test_second_derivatives_are_those_of_second_differences(found: Observed) -> None:
    """In angles, as the Assembler has them, of any mobilizers."""
    tree, condition, state = found
    assembler = condition.assembler
    n = assembler.num_free_qs
    if not n:
        return
    for calc, bend in (
        (condition.calc_errors, condition.calc_error_curvature),
        (condition.calc_goal_residuals, condition.calc_goal_residual_curvature),
    ):
        factors = tree.rng.normal(size=len(calc(state)))

        def slope(at: State, calc: Any = calc, factors: Array = factors) -> Array:
            return by_differences(lambda s: factors @ calc(s), at, assembler, step=1e-3)

        expected = by_differences(slope, state, assembler, step=1e-3).reshape(n, n)
        scale = 1 + np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(bend(state, factors), expected, rtol=0, atol=1e-5 * scale)


def test_second_derivatives_by_joints_of_ones_own_are_not_known() -> None:
    """As nothing says in which order their q turn each other."""
    system = MultibodySystem()
    body = system.matter.add_body("body", system.matter.ground, Screw())
    assembler = Assembler(system)
    condition = assembler.add_goal(Markers())
    condition.add_marker(body, [1, 0, 0])
    condition.move_all_observations([[0, 1, 0.1 * np.pi / 2]])
    assembler.initialize()
    assert condition.calc_error_curvature(assembler.internal_state, np.ones(3)) is None
    result = assembler.assemble()
    assert result.has_converged
    assert float(assembler.internal_state.q[0]) == pytest.approx(90.0)


class Cart(Subsystem):
    """Something else that has q."""

    place = q_variable([0.5, 0.25])
    speed = u_variable([0.1, 0.2])


@BOTH
def test_q_of_other_subsystems_do_not_move_what_is_observed(make: Any) -> None:
    first, second = MatterSubsystem(), MatterSubsystem()
    system = MultibodySystem(first=first, cart=Cart(), second=second)
    for matter in (first, second):
        arm = matter.add_body("arm", matter.ground, Pin())
        matter.add_body("hand", arm, Ball(), inboard_frame=Transform(None, [1, 0, 0]))
    condition = make()
    for body in second.bodies:
        add(condition, body)
    condition.move_all_observations(anything(condition, 3))
    state = system.new_state()
    state.q = np.random.default_rng(0).normal(size=state.nq)
    assembler = Assembler(system)
    assembler.add_goal(condition)
    assembler.lock_q(second.bodies[2], 1)
    assembler.initialize(state)
    internal = assembler.internal_state
    jacobian = condition.calc_error_jacobian(internal)
    assert assembler.num_free_qs == 4 + 2 + 3
    assert not jacobian[:, :6].any()
    assert jacobian[:, 6:].any(axis=0).all()
    expected = by_differences(condition.calc_errors, internal, assembler)
    np.testing.assert_allclose(jacobian, expected, atol=1e-8)


@few
@given(observed())
def test_the_goal_is_half_the_weighted_mean_of_squared_errors(found: Observed) -> None:
    _, condition, state = found
    errors = condition.current_errors(state)
    ground = condition._matter.bodies[0]
    things = condition.markers if isinstance(condition, Markers) else condition.sensors
    counts = [i for i, t in enumerate(things) if t.body is not ground and not np.isnan(errors[i])]
    weights = np.array([condition.weight(i) for i in counts])
    expected = 0.5 * np.sum(weights * errors[counts] ** 2) / np.sum(weights) if counts else 0.0
    assert condition.calc_goal(state) == pytest.approx(expected, rel=1e-12)
    assert len(condition.calc_errors(state)) == 3 * len(counts)
    assert len(condition.error_names(state)) == 3 * len(counts)
    if counts:
        assert condition.rms(state) == pytest.approx(np.sqrt(np.mean(errors[counts] ** 2)))


@few
@given(st.integers(1, 5), st.integers(0, 2**16))
def test_turning_all_that_is_observed_with_the_model_changes_no_error(
    count: int, seed: int
) -> None:
    """The first joint is turned about an axis of the ground."""
    tree = make_tree([Ball], [0], seed, plain=True)
    for make in (with_markers, with_sensors):
        condition: Any = make(tree, count)
        before = condition.current_errors(tree.state)
        turn = Rotation.random(random_state=seed)
        frame = tree.bodies[1].inboard_frame
        origin, inside = frame.translation, Rotation.from_matrix(frame.rotation.copy())
        q = tree.bodies[1].q(tree.state)
        old = Rotation.from_quat(q[[1, 2, 3, 0]])
        x, y, z, w = (inside.inv() * turn * inside * old).as_quat().tolist()
        state = tree.state.copy()
        tree.bodies[1].q.set(state, [w, x, y, z])
        values = condition.observations
        if isinstance(condition, Markers):
            condition.move_all_observations((values - origin) @ turn.as_matrix().T + origin)
        else:
            condition.move_all_observations(turn.as_matrix() @ values)
        things = condition.markers if isinstance(condition, Markers) else condition.sensors
        moved = [thing.index for thing in things if thing.body is tree.bodies[1]]
        after = condition.current_errors(state)
        np.testing.assert_allclose(after[moved], before[moved], atol=1e-10)


@BOTH
def test_a_state_in_any_form_has_the_same_errors(make: Any) -> None:
    condition, system, tree = arm(make)
    condition.move_all_observations(anything(condition, 3))
    twin = system.in_assembly_coordinates(tree.state)
    one, two = condition.calc_errors(tree.state), condition.calc_errors(twin)
    np.testing.assert_allclose(one, two, atol=1e-12)


# ---------------------------------------------------------------------- what counts


@BOTH
def test_what_is_missing_is_skipped_everywhere(make: Any) -> None:
    full, system, tree = arm(make, 3)
    half = make("half")
    for index in (0, 2):
        add(half, tree.bodies[2], weight=1.0 + index)
    for index in (0, 1, 2):
        full.change_weight(index, 1.0 + index)
    values = anything(full, 3).copy()
    half.move_all_observations(values[[0, 2]])
    values[1].flat[1] = np.nan
    full.move_all_observations(values)
    assembler = Assembler(system)
    assembler.add_goal(full)
    assembler.add_goal(half)
    assembler.initialize(tree.state)
    state = assembler.internal_state
    for name in ("errors", "error_jacobian", "goal_residuals", "goal_residual_jacobian", "goal"):
        one, two = (getattr(c, f"calc_{name}")(state) for c in (full, half))
        np.testing.assert_array_equal(one, two)
    assert np.isnan(full.current_errors()).tolist() == [False, True, False]
    assert full.rms() == half.rms()
    assert len(full.calc_errors(state)) == 6
    full.move_one_observation(1, anything(full, 1)[0])
    assert len(full.calc_errors(state)) == 9


@few
@given(st.integers(1, 5), st.data())
@BOTH
def test_what_is_masked_is_missing(make: Any, count: int, data: Any) -> None:
    """In all frames, of arrays and of lists of arrays, whatever number the mask hides."""
    values = anything(make(), count)
    mask = data.draw(st.lists(st.booleans(), min_size=values.size, max_size=values.size))
    masked = np.ma.array(values, mask=mask)
    expected = np.where(masked.mask, np.nan, values)
    condition, _, _tree = arm(make, count)
    for given_ in (masked, list(masked), [list(row) for row in masked]):
        condition.move_all_observations(values)
        condition.move_all_observations(given_)
        np.testing.assert_array_equal(condition.observations, expected)
    for index in range(count):
        condition.move_one_observation(index, values[index])
        condition.move_one_observation(index, masked[index])
    np.testing.assert_array_equal(condition.observations, expected)


@BOTH
def test_a_masked_number_elsewhere_is_refused(make: Any) -> None:
    condition, _, tree = arm(make, 1)
    hidden: Any = np.ma.masked
    with pytest.raises(NotANumberError, match="masked"):
        add(condition, tree.bodies[2], weight=hidden)
    with pytest.raises(NotANumberError, match="masked"):
        condition.change_weight(0, hidden)
    if make is Markers:
        with pytest.raises(NotANumberError, match="masked"):
            condition.add_marker(
                tree.bodies[2], np.ma.array([1.0, 0.0, 0.0], mask=[False, False, True])
            )
    assert len(condition.observation_order) == 1


@BOTH
def test_nothing_counts_that_has_no_weight_or_is_on_the_ground(make: Any) -> None:
    condition, _system, tree = arm(make, 2)
    add(condition, tree.bodies[0], name="on the ground")
    condition.move_all_observations(anything(condition, 3))
    assert len(condition.calc_errors(tree.state)) == 6
    condition.change_weight(0, 0)
    assert len(condition.calc_errors(tree.state)) == 3
    assert not np.isnan(condition.current_errors(tree.state)).any()
    assert condition.rms(tree.state) == condition.current_errors(tree.state)[1]


@BOTH
def test_only_ratios_of_weights_count(make: Any) -> None:
    condition, _, tree = arm(make, 2)
    condition.move_all_observations(anything(condition, 2))
    goals = []
    for unit in (1.0, 1e-300, 1e308):
        condition.change_weight(0, unit)
        condition.change_weight(1, unit / 4)
        goals.append(condition.calc_goal(tree.state))
    assert goals == pytest.approx([goals[0]] * 3, rel=1e-12)
    one, two = condition.current_errors(tree.state) ** 2
    assert goals[0] == pytest.approx((4 * one + two) / 10, rel=1e-12)


@BOTH
def test_only_a_weight_from_or_to_zero_uninitializes_the_assembler(make: Any) -> None:
    condition, system, tree = arm(make, 2)
    condition.move_all_observations(anything(condition, 2))
    assembler = Assembler(system)
    assembler.add_goal(condition)
    assembler.initialize(tree.state)
    goal = condition.calc_goal(assembler.internal_state)
    condition.change_weight(0, 3.0)
    assert assembler.is_initialized
    assert condition.calc_goal(assembler.internal_state) != goal
    condition.change_weight(0, 0.0)
    assert not assembler.is_initialized
    assembler.initialize(tree.state)
    condition.change_weight(0, 0.0)
    assert assembler.is_initialized
    condition.change_weight(0, 1.0)
    assert not assembler.is_initialized


@BOTH
def test_more_of_them_and_another_order_uninitialize_the_assembler(make: Any) -> None:
    condition, system, tree = arm(make, 2)
    assembler = Assembler(system)
    assembler.add_goal(condition)
    condition.move_all_observations(anything(condition, 2))
    assembler.initialize(tree.state)
    add(condition, tree.bodies[1])
    assert not assembler.is_initialized
    assert condition.num_observations == 3
    assert np.isnan(condition.observations).all()
    condition.move_all_observations(anything(condition, 3))
    assembler.initialize(tree.state)
    assert condition.calc_error_jacobian(assembler.internal_state).shape == (9, 4)
    condition.define_observation_order([2, 0])
    assert not assembler.is_initialized


@BOTH
def test_what_is_added_later_counts_also_before_anything_is_initialized(make: Any) -> None:
    condition, system, tree = arm(make, 1)
    Assembler(system).add_goal(condition)
    condition.move_all_observations(anything(condition, 1))
    before = condition.calc_errors(tree.state)
    add(condition, tree.bodies[1])
    condition.move_all_observations(anything(condition, 1)[[0, 0]])
    np.testing.assert_array_equal(condition.calc_errors(tree.state)[:3], before)
    assert len(condition.calc_errors(tree.state)) == 6


@BOTH
def test_where_nothing_is_observed_it_says_so(make: Any) -> None:
    condition, _, tree = arm(make, 0)
    with pytest.raises(NoObservationError, match="has no"):
        condition.check_observations()
    add(condition, tree.bodies[1])
    with pytest.raises(NoObservationError, match="all 1 observations are missing"):
        condition.check_observations()
    with pytest.raises(NoObservationError, match=condition.name):
        condition.rms(tree.state)
    condition.move_all_observations(anything(condition, 1))
    condition.check_observations()
    condition.change_weight(0, 0.0)
    with pytest.raises(NoObservationError, match="weight 0"):
        condition.check_observations()
    assert condition.calc_goal(tree.state) == 0.0
    assert len(condition.calc_errors(tree.state)) == 0


@BOTH
def test_an_assembler_refuses_a_frame_in_which_all_are_missing(make: Any) -> None:
    condition, system, tree = arm(make, 2)
    assembler = Assembler(system)
    assembler.add_goal(condition)
    with pytest.raises(NoObservationError, match="all 2 observations are missing"):
        assembler.assemble(tree.state)
    values = anything(condition, 2)
    condition.move_all_observations(values)
    assembler.assemble(tree.state)
    condition.move_all_observations(values * np.nan)
    with pytest.raises(NoObservationError, match=condition.name):
        assembler.track()


# ---------------------------------------------------------------------- the order


@BOTH
def test_observations_come_in_the_order_that_is_defined(make: Any) -> None:
    condition, _, tree = arm(make, 0)
    a, b, c = (add(condition, tree.bodies[2], name=name) for name in "abc")
    values = anything(condition, 5)
    condition.define_observation_order(["c", None, a, "", 1])
    assert condition.observation_order == (c, None, a, None, b)
    condition.move_all_observations(values)
    shuffled = condition.calc_errors(tree.state)
    condition.define_observation_order()
    assert condition.observation_order == (a, b, c)
    condition.move_all_observations(values[[2, 4, 0]])
    np.testing.assert_array_equal(condition.calc_errors(tree.state), shuffled)
    np.testing.assert_array_equal(condition.observation(1), values[4])


@BOTH
def test_what_is_not_in_the_order_has_no_observation(make: Any) -> None:
    condition, _, tree = arm(make, 0)
    a, b = (add(condition, tree.bodies[2], name=name) for name in "ab")
    condition.define_observation_order(["b"])
    there = condition.observation_for
    assert (there(a), there("b"), condition.observation_order) == (None, 0, (b,))
    condition.move_all_observations(anything(condition, 1))
    assert np.isnan(condition.current_errors(tree.state)).tolist() == [True, False]


@BOTH
def test_names_that_are_not_known_are_ignored_if_asked(make: Any) -> None:
    condition, _, tree = arm(make, 0)
    hip = add(condition, tree.bodies[2], name="hip")
    with pytest.raises(UnknownMarkerError, match=r"did you mean 'hip'\?"):
        condition.define_observation_order(["hyp", "hip"])
    assert condition.observation_order == (hip,)
    condition.define_observation_order(["hyp", "hip"], ignore_unknown=True)
    assert condition.observation_order == (None, hip)


@BOTH
@pytest.mark.parametrize(
    ("order", "error"),
    [
        ([0, 0], ObservationError),
        (["a", 0], ObservationError),
        ([0, 7], UnknownMarkerError),
        ([-1], UnknownMarkerError),
        ([True], UnknownMarkerError),
        ([0.0], UnknownMarkerError),
        ("ab", ObservationError),
        ({"a"}, ObservationError),
        ({"a": 0}, ObservationError),
        (3, ObservationError),
    ],
)
def test_an_order_that_is_none_is_refused(make: Any, order: Any, error: Any) -> None:
    condition, _, tree = arm(make, 0)
    for name in "ab":
        add(condition, tree.bodies[2], name=name)
    values = anything(condition, 2)
    condition.move_all_observations(values)
    with pytest.raises(error, match=f"{make.__name__} '"):
        condition.define_observation_order(order)
    np.testing.assert_array_equal(condition.observations, values)


@BOTH
def test_one_of_others_is_not_known(make: Any) -> None:
    condition, _, tree = arm(make, 1)
    other = add(make(), tree.bodies[2])
    with pytest.raises(UnknownMarkerError, match=f"^{other}: not in"):
        condition.define_observation_order([other])


# ---------------------------------------------------------------------- bad input


@BOTH
@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"weight": -1.0}, OutOfRangeError),
        ({"weight": np.nan}, OutOfRangeError),
        ({"weight": np.inf}, OutOfRangeError),
        ({"weight": "heavy"}, NotANumberError),
        ({"weight": [1.0, 2.0]}, ShapeError),
        ({"name": 3}, InvalidNameError),
        ({"name": "first"}, DuplicateNameError),
    ],
)
def test_what_cannot_be_added_is_refused_and_changes_nothing(
    make: Any, how: Any, error: Any
) -> None:
    condition, _, tree = arm(make, 0)
    add(condition, tree.bodies[1], name="first")
    values = anything(condition, 1)
    condition.move_all_observations(values)
    with pytest.raises(error, match=f"{make.__name__} '{condition.name}'"):
        add(condition, tree.bodies[1], **how)
    assert condition.num_observations == 1
    np.testing.assert_array_equal(condition.observations, values)
    if "weight" in how:
        with pytest.raises(error, match="'first'"):
            condition.change_weight("first", how["weight"])


@BOTH
def test_bodies_are_of_one_matter_of_one_system(make: Any) -> None:
    condition, _system, tree = arm(make, 1)
    other = make_tree([Pin], [0], 2)
    with pytest.raises(UnknownBodyError, match="another matter"):
        add(condition, other.bodies[1])
    with pytest.raises(UnknownBodyError, match="not on a body"):
        add(condition, "arm")
    with pytest.raises(ConditionError, match="of another System"):
        Assembler(other.system).add_goal(condition)
    empty = make()
    Assembler(other.system).add_goal(empty)
    with pytest.raises(ConditionError, match="of another System"):
        add(empty, tree.bodies[1])


@BOTH
def test_observations_of_another_form_are_refused_and_change_nothing(make: Any) -> None:
    condition, _, _tree = arm(make, 2)
    values = anything(condition, 2)
    condition.move_all_observations(values)
    wrong: list[tuple[Any, type[StagecacheError]]] = [
        (values[:1], ShapeError),
        (values[0], ShapeError),
        (values[..., :2], ShapeError),
        ([[1, 2, 3], [4, 5]], ShapeError),
        (np.where(values == values[0], np.inf, values), OutOfRangeError),
        ([["a"] * 3] * 2 if make is Markers else [[["a"] * 3] * 3] * 2, NotANumberError),
    ]
    for given_, error in wrong:
        with pytest.raises(error, match=make.__name__):
            condition.move_all_observations(given_)
    for given_, error in [(values, ShapeError), (values[0] * np.inf, OutOfRangeError)]:
        with pytest.raises(error, match=r"observation 1 \("):
            condition.move_one_observation(1, given_)
    for index in (2, -1, "x", None):
        with pytest.raises(UnknownMarkerError, match="from 0 to 1"):
            condition.move_one_observation(index, values[0])
        with pytest.raises(UnknownMarkerError):
            condition.observation(index)
    np.testing.assert_array_equal(condition.observations, values)


@BOTH
def test_observations_are_copied_and_only_for_reading(make: Any) -> None:
    condition, _, _tree = arm(make, 2)
    values = anything(condition, 2)
    kept = values.copy()
    condition.move_all_observations(values)
    values[:] = 0.0
    np.testing.assert_array_equal(condition.observations, kept)
    with pytest.raises(ValueError, match="read-only"):
        condition.observations[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        condition.observation(0)[0] = 0.0


@BOTH
def test_without_a_state_or_an_assembler_nothing_is_told(make: Any) -> None:
    condition, _system, tree = arm(make, 2)
    condition.move_all_observations(anything(condition, 2))
    with pytest.raises(StudyError):
        condition.current_errors()
    with pytest.raises(StagecacheError):
        condition.current_errors(make_tree([Pin], [0], 3).state)
    with pytest.raises(StudyError):
        condition.calc_error_jacobian(tree.state)


@BOTH
def test_a_change_of_topology_makes_tables_anew(make: Any) -> None:
    tree = make_tree([Pin, Ball], [0, 0], 1)
    system, condition = tree.system, make()
    add(condition, tree.bodies[2])
    condition.move_all_observations(anything(condition, 1))
    q = tree.state.q.copy()
    before = condition.calc_errors(tree.state)
    system.matter.add_body("new", tree.bodies[1], Ball())  # in tables it comes before body 2
    state = system.new_state()
    state.q = np.concatenate([q, [1, 0, 0, 0]])
    np.testing.assert_allclose(condition.calc_errors(state), before, atol=1e-14)
