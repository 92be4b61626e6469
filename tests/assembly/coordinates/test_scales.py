"""Units of length and weights of goals: problems that differ by nothing else are solved alike."""

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from stagecache import (
    Assembler,
    AssemblyCondition,
    QValue,
    State,
    Subsystem,
    System,
    q_variable,
    u_variable,
)
from stagecache.assembly.results import AssemblyResult
from stagecache.errors import AssembleFailed
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    BallConstraint,
    Free,
    Gimbal,
    Markers,
    MultibodySystem,
    OrientationSensors,
    Pin,
    Planar,
    RodConstraint,
    Slider,
    Transform,
    Translation,
    Universal,
)
from tests.assembly.models import four_bar
from tests.profiles import examples

Array = NDArray[np.float64]

KINDS = (Pin, Slider, Universal, Planar, Gimbal, Translation, Ball, Free)

FEW = examples(40)  # as each example takes a while
MANY = 10  # iterations of two frames: more are needed where a valley or saddle is flat

SEEDS = st.integers(0, 2**32 - 1)
LENGTHS = st.integers(-10, 10).map(lambda k: 2.0**k)  # so that nothing is rounded
WEIGHTS = st.integers(-40, 40).map(lambda k: 2.0**k)


@frozen
class Solved:
    """A result, with lengths divided by the unit."""

    result: AssemblyResult | None
    q: Array
    num_iterations: int
    goal: float
    scales: Array


def built(rng: np.random.Generator, unit: float) -> MultibodySystem:
    """A random tree, with a loop in some."""
    system = MultibodySystem()
    matter = system.matter

    def frame() -> Transform:
        return Transform(Rotation.random(random_state=rng).as_matrix(), place(rng, unit))

    bodies = [matter.ground]
    for i in range(int(rng.integers(1, 6))):
        parent = bodies[int(rng.integers(len(bodies)))]
        kind = KINDS[int(rng.integers(len(KINDS)))]
        inboard, outboard = frame(), frame()
        body = matter.add_body(
            f"body {i}", parent, kind(), inboard_frame=inboard, outboard_frame=outboard
        )
        bodies.append(body)
    if rng.integers(3) == 0 and len(bodies) > 2:
        one, two = bodies[1], bodies[-1]
        if rng.integers(2):
            length = unit * rng.uniform(0.5, 1.0)
            rod = RodConstraint(one, place(rng, unit), two, place(rng, unit), length)
            system.add(rod, "rod")
        else:
            ball = BallConstraint(one, place(rng, unit), two, place(rng, unit))
            system.add(ball, "ball")
    return system


def place(rng: np.random.Generator, unit: float) -> Array:
    return np.asarray(unit * rng.normal(scale=0.4, size=3))


def solved(seed: int, unit: float = 1.0, weight: float = 1.0) -> Solved:
    """A random tree, whose lengths and weights are multiplied, assembled and tracked."""
    rng = np.random.default_rng(seed)
    system = built(rng, unit)
    bodies = system.matter.bodies
    assembler = Assembler(system, accuracy=1e-6, error_tolerance=1e-6 * unit)
    markers = assembler.add_goal(Markers(), weight)
    for body in bodies[1:]:
        for _ in range(int(rng.integers(1, 3))):
            markers.add_marker(body, place(rng, unit), weight=float(rng.uniform(0.5, 2)))
    angles = system.in_assembly_coordinates(system.realize_topology())
    units = np.concatenate([np.where(lengths_of(b.mobilizer), unit, 1.0) for b in bodies[1:]])
    for body in bodies[1:]:
        first = body.q.place(angles).start
        for i in range(body.mobilizer.nu):
            own, value = units[first + i], rng.normal()
            factor = 0.01 * weight * (unit / own) ** 2
            assembler.add_goal(QValue(body, i, own * value, f"{body.name} {i}"), factor)
            if rng.integers(4) == 0:
                assembler.restrict_q(body, i, -0.5 * own, 0.5 * own)
    true, start = (rng.normal(scale=0.7, size=angles.nq) * units for _ in range(2))
    angles.q = true
    seen = markers.current_positions(angles)
    noise = unit * rng.normal(scale=[[[0.05]], [[0.02]]], size=(2, *seen.shape))
    if rng.integers(3) == 0:
        sensors = assembler.add_goal(OrientationSensors(), 0.1 * unit**2 * weight)
        sensors.add_sensor(bodies[-1])
        sensors.move_all_observations(sensors.current_orientations(angles))
    angles.q = start
    count = 0
    for number in range(2):
        markers.move_all_observations(seen + noise[number])
        try:
            result = assembler.track() if number else assembler.assemble(angles)
        except AssembleFailed:
            return Solved(None, angles.q / units, 0, 0.0, np.ones(len(units)))
        count += result.num_iterations
    scales = assembler._prepared("the problem").coordinates.scales
    scales = np.ones(len(units)) if scales is None else scales
    q = assembler.internal_state.q / units
    return Solved(result, q, count, result.goal / unit**2 / weight, scales / units)


def lengths_of(mobilizer: AbstractMobilizer) -> NDArray[np.bool_]:
    """Which q of a mobilizer are lengths, where it has angles."""
    own = mobilizer.with_euler_angles()
    return np.asarray(~np.array(own.axes(own.default_q))[:, :3].any(axis=1))


@FEW
@given(SEEDS, LENGTHS, WEIGHTS)
def test_units_of_length_and_of_goals_change_nothing_but_the_unit_of_the_result(
    seed: int, unit: float, weight: float
) -> None:
    one, other = solved(seed), solved(seed, unit, weight)
    assert (one.result is None) is (other.result is None)
    assert other.num_iterations == one.num_iterations
    np.testing.assert_allclose(other.scales, one.scales, rtol=1e-9)
    np.testing.assert_allclose(other.q, one.q, rtol=1e-9, atol=1e-9)
    assert other.goal == pytest.approx(one.goal, rel=1e-9)
    if one.result is not None and other.result is not None:
        assert other.result.has_converged is one.result.has_converged
        assert other.result.method == one.result.method


@FEW
@given(SEEDS, st.sampled_from([1e-3, 1e-2, 0.1, 10.0, 100.0, 1e3]))
def test_units_that_round_numbers_change_next_to_nothing(seed: int, unit: float) -> None:
    """Where many iterations are needed, rounding may make it a few more or less."""
    one, other = solved(seed), solved(seed, unit, 1 / unit**4)
    assert (one.result is None) is (other.result is None)
    if one.num_iterations <= MANY:
        assert other.num_iterations == one.num_iterations
    np.testing.assert_allclose(other.q, one.q, rtol=1e-3, atol=1e-3)
    assert other.goal == pytest.approx(one.goal, rel=1e-5, abs=1e-18)


@given(st.floats(-0.5, 0.5), LENGTHS, WEIGHTS)
def test_a_system_whose_q_are_angles_is_solved_alike_in_any_unit_of_length(
    change: float, unit: float, weight: float
) -> None:
    found = []
    for length, factor in ((1.0, 1.0), (unit, weight)):
        linkage, system, state = four_bar()
        sizes = linkage.ground, linkage.crank_length, linkage.coupler_length, linkage.rocker_length
        for size in sizes:
            size.set(state, length * size(state))
        assembler = Assembler(system, accuracy=1e-6, error_tolerance=1e-7 * length)
        assembler.add_goal(QValue(linkage.crank, 0, 0.5 + change), factor)
        assembler.add_goal(QValue(linkage.rocker, 0, 1.5 - change), 2 * factor)
        result = assembler.assemble(state)
        found.append((result.num_iterations, result.has_converged, result.goal / factor, state.q))
    assert found[1][:2] == found[0][:2]
    assert found[1][2] == pytest.approx(found[0][2], rel=1e-9)
    np.testing.assert_allclose(found[1][3], found[0][3], rtol=1e-9)


class Beads(Subsystem):
    """Three beads on a line [m]."""

    places = q_variable((0.0, 0.0, 0.0))
    speeds = u_variable((0.0, 0.0, 0.0))


class Apart(AssemblyCondition):
    """The second distance of neighbours is to be 1 more than half the square of the first one."""

    def __init__(self, beads: Beads, length: float) -> None:
        super().__init__("apart")
        self.beads, self.length = beads, length

    def calc_errors(self, state: State) -> Array:
        a, b, c = self.beads.places(state) / self.length
        return np.array([self.length * ((c - b) - 0.5 * (b - a) ** 2 - 1.0)])


class Far(AssemblyCondition):
    """A goal without residuals: beads are to be where a well is deep."""

    def __init__(self, beads: Beads, length: float, weight: float) -> None:
        super().__init__("far")
        self.beads, self.length, self.weight = beads, length, weight

    def calc_goal(self, state: State) -> float:
        d = self.beads.places(state) / self.length - [0.5, 1.5, 2.0]
        return float(self.weight * np.sum(np.cosh(d) - 0.9))


@given(LENGTHS, WEIGHTS)
def test_weights_of_u_say_in_which_unit_q_are_of_which_nothing_else_is_known(
    unit: float, weight: float
) -> None:
    found = []
    for length, factor in ((1.0, 1.0), (unit, weight)):
        beads = Beads()
        system = System(beads)
        state = system.new_state()
        state.u_weights = np.full(3, 1 / length)
        assembler = Assembler(system, accuracy=1e-6, error_tolerance=1e-6 * length)
        assembler.add_error(Apart(beads, length))
        assembler.add_goal(Far(beads, length, factor))
        result = assembler.assemble(state)
        assert result.has_converged
        found.append((result.num_iterations, result.goal / factor, state.q / length))
    assert found[1][0] == found[0][0]
    assert found[1][1] == pytest.approx(found[0][1], rel=1e-9)
    np.testing.assert_allclose(found[1][2], found[0][2], rtol=1e-9)


class Counter(Subsystem):
    """A number of which nothing is known, with no u that could have a weight."""

    count = q_variable(0.0)


class Hill(AssemblyCondition):
    """A goal that is 2 at multiples of a turn, and 0 between them."""

    def __init__(self, counter: Counter, turn: float) -> None:
        super().__init__("hill")
        self.counter, self.turn = counter, turn

    def calc_goal(self, state: State) -> float:
        return float(1.0 + np.cos(2 * np.pi * self.counter.count(state) / self.turn))


@pytest.mark.parametrize("turn", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("off", [1e-7, 1e-3])
def test_large_numbers_leave_the_top_of_a_wide_hill(turn: float, off: float) -> None:
    """A change by 1 changes the goal by less than the accuracy there."""
    counter = Counter()
    system = System(counter)
    assembler = Assembler(system)
    assembler.add_goal(Hill(counter, turn))
    state = system.new_state()
    counter.count.set(state, turn * (1 + off))
    result = assembler.assemble(state)
    assert result.has_converged
    assert result.goal == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("weight", [1e-12, 1e-10, 1.0, 1e12])
def test_a_goal_of_any_weight_moves_what_it_wants(weight: float) -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.add_goal(QValue(linkage.crank, 0, 0.9), weight)
    result = assembler.assemble(state)
    assert (result.method, result.has_converged) == ("Gauss-Newton", True)
    assert float(linkage.crank(state)) == pytest.approx(0.9, abs=1e-6)
    assert result.goal <= 1e-12 * weight


def test_lengths_without_angles_are_measured_by_how_far_they_have_to_go() -> None:
    iterations = set()
    for unit in (1e-3, 1.0, 1e3):
        system = MultibodySystem()
        body = system.matter.add_body("body", system.matter.ground, Translation())
        assembler = Assembler(system)
        markers = assembler.add_goal(Markers())
        markers.add_marker(body, [unit, 0, 0])
        markers.move_all_observations([[8 * unit, -5 * unit, unit]])
        result = assembler.assemble()
        assert result.has_converged
        iterations.add(result.num_iterations)
        np.testing.assert_allclose(assembler.internal_state.q, [7 * unit, -5 * unit, unit])
    assert len(iterations) == 1


def test_bounds_of_free_q_are_in_the_unit_of_the_q() -> None:
    system = MultibodySystem()
    body = system.matter.add_body("body", system.matter.ground, Slider())
    assembler = Assembler(system)
    markers = assembler.add_goal(Markers())
    markers.add_marker(body, [0, 0, 0])
    markers.move_all_observations([[900.0, 0, 0]])
    assembler.restrict_q(body, 0, -500.0, 500.0)
    result = assembler.assemble()
    assert result.has_converged
    assert assembler.free_q_bounds(0) == (-500.0, 500.0)
    np.testing.assert_array_equal(assembler.internal_state.q, [500.0])
