"""Search for goals that are not as near to their least value as they should be.

`python -m tests.assembly.accuracy` makes random problems, assembles and tracks them, and goes on
from each result at an accuracy of 1e-12, to the least goal nearby. Where an Assembler says that it
has converged, its goal may be greater than that by the accuracy, as a part of it; see `Found`.

All lengths of a problem have one scale, from models of a millimetre to models of a kilometre; of
functions of numbers, which know no lengths, all numbers have it.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Final

import click
import numpy as np
from attrs import Factory, define, evolve, frozen
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize
from scipy.spatial.transform import Rotation

from stagecache import Assembler, AssemblyCondition, QValue, State, Subsystem, System, q_variable
from stagecache.errors import AssemblyError
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    Gimbal,
    Markers,
    MobilizedBody,
    MultibodySystem,
    OrientationSensors,
    Pin,
    Transform,
    Translation,
    Universal,
)
from stagecache.numerics.sqp import ZERO
from tests.multibody.constrained_trees import PAIRS, closed, tied
from tests.multibody.trees import MOBILIZERS, Tree, make_tree, units

Array = NDArray[np.float64]
Rng = np.random.Generator

ACCURACIES: Final = (1e-3, 1e-5, 1e-7, 1e-9)
LENGTHS: Final = (1e-3, 1.0, 1e3)
EXACT: Final = 1e-12
TIGHT: Final = 1e-11
"""The accuracy, and the error tolerance for a length of 1, at which to go on."""

MOST: Final = 5
"""How often to go on, while that makes the goal smaller."""


@frozen
class Case:
    """A problem: frames to be assembled, the first one, and tracked, the others.

    Attributes
    ----------
    assembler : Assembler
    start : State
    frames : sequence of callable
        Each says what is observed in a frame.
    rounding : float
        Of the goal; the default is half the square of 4e-14 m, which counts as rounded.
    length : float
        The scale of all lengths.
    """

    assembler: Assembler
    start: State
    frames: Sequence[Callable[[], object]] = (lambda: None,)
    rounding: float = 1e-27
    length: float = 1.0


@frozen
class Found:
    """The result of a frame, and the least goal nearby.

    Attributes
    ----------
    kind : str
    seed, frame : int
    accuracy, length : float
    has_converged, has_failed : bool
    goal, least : float
        The least one is infinite where nothing could go on from the result.
    zero : float
        A goal that counts as zero.
    num_iterations : int
    """

    kind: str
    seed: int
    frame: int
    accuracy: float
    length: float = 1.0
    has_converged: bool = False
    has_failed: bool = False
    goal: float = 0.0
    least: float = 0.0
    zero: float = 0.0
    num_iterations: int = 0

    @property
    def excess(self) -> float:
        """How far the goal is above its least value, as a part of what the accuracy allows."""
        above = max(self.goal - self.least, 0.0)
        return above / (self.accuracy * self.least + self.zero) if above else 0.0

    @property
    def is_broken(self) -> bool:
        """Whether it is said to have converged, and has not."""
        return self.has_converged and not self.excess <= 1.0


# ---------------------------------------------------------------------- trees of bodies


def log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(10 ** rng.uniform(low, high))


def random_tree(rng: Rng, length: float, most: int = 7) -> Tree:
    size = int(rng.integers(1, most + 1))
    movable = [m for m in MOBILIZERS if m.nu]
    kinds = [movable[k] for k in rng.integers(0, len(movable), size)]
    parents = [int(rng.integers(0, i + 1)) for i in range(size)]
    seed = int(rng.integers(2**31))
    euler = bool(rng.integers(2))
    return make_tree(kinds, parents, seed, use_euler_angles=euler, length=length)


def closed_tree(rng: Rng, length: float) -> Tree:
    """A tree with one or two loops, which are closed in its State."""
    tree = random_tree(rng, length)
    while len(tree.bodies) < 3:
        tree = random_tree(rng, length)
    matter, state = tree.system.matter, tree.state
    if not matter.use_euler_angles(state):
        normalized = state.copy()
        tree.system.project_q(normalized, 1e-14)
        state.q = normalized.q
    for i in range(int(rng.integers(1, 3))):
        one, two = (int(k) for k in rng.permutation(len(tree.bodies))[:2])
        pair: tuple[MobilizedBody, MobilizedBody] = (matter.bodies[one], matter.bodies[two])
        kind = PAIRS[int(rng.integers(len(PAIRS)))]
        tree = tied(tree, closed(kind, *pair, tree), f"loop{i}")
    return tree


def add_markers(assembler: Assembler, tree: Tree, rng: Rng) -> Markers:
    """Up to two markers on each body, one at least, with weights from 0.1 to 10."""
    markers = assembler.add_goal(Markers())
    for body in tree.bodies[1:]:
        for _ in range(int(rng.integers(0, 3))):
            station = rng.normal(scale=0.4 * tree.length, size=3)
            markers.add_marker(body, station, weight=log_uniform(rng, -1, 1))
    if not markers.markers:
        markers.add_marker(tree.bodies[-1], rng.normal(scale=0.4 * tree.length, size=3))
    return markers


def add_sensors(assembler: Assembler, tree: Tree, rng: Rng) -> OrientationSensors:
    sensors = assembler.add_goal(OrientationSensors(), log_uniform(rng, -6, 2))
    for body in tree.bodies[1:]:
        axes = Rotation.random(random_state=rng).as_matrix()
        sensors.add_sensor(body, axes, weight=log_uniform(rng, -1, 1))
    return sensors


def seen_places(markers: Markers, state: State, rng: Rng, noise: float) -> Array:
    true = markers.current_positions(state)
    return np.asarray(true + rng.normal(scale=noise, size=true.shape))


def seen_axes(sensors: OrientationSensors, state: State, rng: Rng, noise: float) -> Array:
    turns = Rotation.from_rotvec(rng.normal(scale=noise, size=(len(sensors.sensors), 3)))
    return np.asarray(turns.as_matrix() @ sensors.current_orientations(state))


def moved(tree: Tree, rng: Rng, far: float) -> State:
    """A State somewhere else."""
    state = tree.system.in_assembly_coordinates(tree.state)
    state.q = state.q + units(tree, state) * rng.normal(scale=far, size=state.nq)
    start = tree.state.copy()
    tree.system.set_q_from_assembly(state, start)
    return start


def in_lengths(
    length: float,
    assembler: Assembler,
    start: State,
    frames: Sequence[Callable[[], object]] = (lambda: None,),
) -> Case:
    """A case of a model of that size."""
    return Case(assembler, start, frames, 1e-27 * length**2, length)


def markers(rng: Rng, length: float) -> Case:
    """Noise from 0.1 mm to 1 m, from starts near and far."""
    tree = random_tree(rng, length)
    assembler = Assembler(tree.system)
    seen = add_markers(assembler, tree, rng)
    seen.move_all_observations(seen_places(seen, tree.state, rng, length * log_uniform(rng, -4, 0)))
    return in_lengths(length, assembler, moved(tree, rng, log_uniform(rng, -3, 0.3)))


def exact(rng: Rng, length: float) -> Case:
    """Markers without noise, so that the least goal is zero."""
    tree = random_tree(rng, length)
    assembler = Assembler(tree.system)
    seen = add_markers(assembler, tree, rng)
    seen.move_all_observations(seen_places(seen, tree.state, rng, 0.0))
    return in_lengths(length, assembler, moved(tree, rng, log_uniform(rng, -3, 0)))


def sensors(rng: Rng, length: float) -> Case:
    """Sensors of any weight, and markers in every second problem."""
    tree = random_tree(rng, length)
    assembler = Assembler(tree.system)
    if rng.integers(2):
        seen = add_markers(assembler, tree, rng)
        seen.move_all_observations(
            seen_places(seen, tree.state, rng, length * log_uniform(rng, -4, 0))
        )
    turned = add_sensors(assembler, tree, rng)
    turned.move_all_observations(seen_axes(turned, tree.state, rng, log_uniform(rng, -4, 0)))
    return in_lengths(length, assembler, moved(tree, rng, log_uniform(rng, -3, 0)))


def bounds(rng: Rng, length: float) -> Case:
    """Ranges beside the true q, so that many are at a bound in the end."""
    tree = random_tree(rng, length)
    assembler = Assembler(tree.system)
    seen = add_markers(assembler, tree, rng)
    seen.move_all_observations(seen_places(seen, tree.state, rng, length * log_uniform(rng, -3, 0)))
    true = tree.system.in_assembly_coordinates(tree.state)
    unit = units(tree, true)
    for body in tree.bodies[1:]:
        place = body.q.place(true)
        for i, (q, one) in enumerate(zip(true.q[place], unit[place], strict=True)):
            if rng.random() < 0.4:
                end, width = q + one * rng.normal(scale=0.3), one * rng.uniform(0, 1)
                lower = end if rng.integers(2) else end - width
                assembler.restrict_q(body, i, lower, lower + width)
    return in_lengths(length, assembler, moved(tree, rng, log_uniform(rng, -2, 0.3)))


def loops(rng: Rng, length: float) -> Case:
    """Closed loops, from starts that are closed, or not."""
    tree = closed_tree(rng, length)
    assembler = Assembler(tree.system)
    seen = add_markers(assembler, tree, rng)
    seen.move_all_observations(seen_places(seen, tree.state, rng, length * log_uniform(rng, -3, 0)))
    is_open = rng.integers(2)
    start = moved(tree, rng, log_uniform(rng, -2, 0)) if is_open else tree.state.copy()
    return in_lengths(length, assembler, start)


def film_of(tree: Tree, rng: Rng, num_frames: int) -> Case:
    """Frames of markers, or markers and sensors, with goals for q of weights 1e-8 to 1."""
    assembler = Assembler(tree.system)
    seen = add_markers(assembler, tree, rng)
    turned = add_sensors(assembler, tree, rng) if rng.integers(3) == 0 else None
    state = tree.system.in_assembly_coordinates(tree.state)
    unit = units(tree, state)
    if rng.integers(2):
        weight = log_uniform(rng, -8, 0)
        for body in tree.bodies[1:]:
            for i, one in enumerate(unit[body.q.place(state)]):
                aim = QValue(body, i, one * rng.normal(scale=0.3), f"{body.name} {i}")
                assembler.add_goal(aim, weight)
    if rng.integers(3) == 0:
        body = tree.bodies[-1]
        if body.mobilizer.nu:
            reach = 0.1 * unit[body.q.place(state)][0]
            assembler.restrict_q(body, 0, -reach, reach)
    middle = np.array(state.q)
    amplitude = unit * rng.uniform(0, 0.3, state.nq)
    frequency, phase = rng.uniform(0.5, 3, state.nq), rng.uniform(0, 6, state.nq)
    noise, step = log_uniform(rng, -4, -0.5), log_uniform(rng, -3, -1)
    frames = []
    for time in step * np.arange(num_frames):
        state.q = middle + amplitude * np.sin(2 * np.pi * frequency * time + phase)
        places = seen_places(seen, state, rng, tree.length * noise)
        axes = None if turned is None else seen_axes(turned, state, rng, noise)

        def show(places: Array = places, axes: Array | None = axes) -> None:
            seen.move_all_observations(places)
            if turned is not None and axes is not None:
                turned.move_all_observations(axes)

        frames.append(show)
    return in_lengths(tree.length, assembler, tree.state.copy(), frames)


def film(rng: Rng, length: float) -> Case:
    return film_of(random_tree(rng, length), rng, 8)


def closed_film(rng: Rng, length: float) -> Case:
    return film_of(closed_tree(rng, length), rng, 5)


def hand(rng: Rng, length: float) -> Case:
    """An arm with heavy markers, and a hand with a light one near its axis."""
    system = MultibodySystem()
    matter = system.matter
    root = matter.add_body("root", matter.ground, Translation())
    arm = matter.add_body("arm", root, Gimbal())
    wrist = Transform(None, [0.3 * length, 0, 0])
    palm = matter.add_body("hand", arm, Pin(), inboard_frame=wrist)
    assembler = Assembler(system)
    seen = assembler.add_goal(Markers())
    weight = log_uniform(rng, 0, 3)
    for station in [-0.1, 0.2, 0.1], [0.2, -0.1, 0.2], [0.1, 0.1, -0.2], [-0.2, -0.2, 0.1]:
        seen.add_marker(arm, length * np.array(station), weight=weight)
    seen.add_marker(palm, length * np.array([0.02, 0.01, 0.05]))
    state = system.new_state()
    true = state.copy()
    true.q = [0, 0, 0, *rng.uniform(-0.5, 0.5, 3), rng.uniform(-1.5, 1.5)]
    noise = length * log_uniform(rng, -3, -1.3)
    seen.move_all_observations(seen_places(seen, true, rng, noise))
    return in_lengths(length, assembler, state)


def chain(rng: Rng, length: float) -> Case:
    """A chain that hardly reaches where its end was seen, or does not."""
    system = MultibodySystem()
    matter = system.matter
    mobilizers: tuple[type[AbstractMobilizer], ...] = (Ball, Universal, Pin)
    bodies = [matter.ground]
    for i in range(int(rng.integers(2, 8))):
        kind = mobilizers[int(rng.integers(3))]
        frame = Transform(None, [0.2 * length, 0, 0])
        bodies.append(matter.add_body(f"body {i}", bodies[-1], kind(), inboard_frame=frame))
    state = system.new_state()
    assembler = Assembler(system)
    seen = assembler.add_goal(Markers())
    seen.add_marker(bodies[-1], [0.2 * length, 0, 0])
    if len(bodies) > 4:
        seen.add_marker(bodies[len(bodies) // 2], [0.1 * length, 0, 0])
    places = rng.normal(size=(len(seen.markers), 3))
    reach = 0.2 * length * len(bodies)
    places *= rng.uniform(0.5, 1.6) * reach / np.linalg.norm(places, axis=1)[:, None]
    seen.move_all_observations(places)
    angles = system.in_assembly_coordinates(state)
    angles.q = rng.normal(scale=log_uniform(rng, -4, 0), size=angles.nq)
    system.set_q_from_assembly(angles, state)
    return in_lengths(length, assembler, state)


# ---------------------------------------------------------------------- functions of numbers

Function = Callable[[Array], Any]
NUM: Final = 4


class Numbers(Subsystem):
    """Four numbers of any size, which are divided by their scale."""

    x = q_variable((0.0,) * NUM)

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def scaled(self, state: State) -> Array:
        return np.asarray(self.x(state) / self.scale)


class Residuals(AssemblyCondition):
    """A goal that is half the sum of squares, with derivatives or without."""

    def __init__(self, numbers: Numbers, residuals: Function, jacobian: Function | None) -> None:
        super().__init__("residuals")
        self.numbers, self.residuals, self.jacobian = numbers, residuals, jacobian

    def calc_goal_residuals(self, state: State) -> Array:
        return np.asarray(self.residuals(self.numbers.scaled(state)))

    def calc_goal_residual_jacobian(self, state: State) -> Array | None:
        if self.jacobian is None:
            return None
        return np.asarray(self.jacobian(self.numbers.scaled(state)) / self.numbers.scale)


class Goal(AssemblyCondition):
    """A goal that is no sum of squares, likewise."""

    def __init__(self, numbers: Numbers, goal: Function, gradient: Function | None) -> None:
        super().__init__("goal")
        self.numbers, self.goal, self.gradient = numbers, goal, gradient

    def calc_goal(self, state: State) -> float:
        return float(self.goal(self.numbers.scaled(state)))

    def calc_goal_gradient(self, state: State) -> Array | None:
        if self.gradient is None:
            return None
        return np.asarray(self.gradient(self.numbers.scaled(state)) / self.numbers.scale)


class Curved(AssemblyCondition):
    """An error e (x - x0) + (x - x0) k (x - x0) / 2, likewise."""

    def __init__(self, numbers: Numbers, start: Array, rng: Rng) -> None:
        super().__init__("curve")
        self.numbers, self.start, self.e = numbers, start, rng.normal(size=(1, NUM))
        bend = 0.3 * rng.normal(size=(NUM, NUM))
        self.bend = bend + bend.T
        self.has_jacobian = bool(rng.integers(2))

    def calc_errors(self, state: State) -> Array:
        d = self.numbers.scaled(state) - self.start
        return np.asarray(self.e @ d + d @ self.bend @ d / 2)

    def calc_error_jacobian(self, state: State) -> Array | None:
        d = self.numbers.scaled(state) - self.start
        return (self.e + self.bend @ d) / self.numbers.scale if self.has_jacobian else None


def numbers(scale: float) -> tuple[Numbers, Assembler, State]:
    found = Numbers(scale)
    system = System(found)
    return found, Assembler(system), system.new_state()


def orthogonal(rng: Rng, n: int) -> Array:
    return np.asarray(np.linalg.qr(rng.normal(size=(n, n)))[0])


def valley(rng: Rng, length: float) -> Case:
    """Residuals with singular values from 1 down to 1e-4.5, and with second derivatives."""
    own, assembler, state = numbers(length)
    k, condition = int(rng.integers(NUM, NUM + 4)), log_uniform(rng, 1, 4.5)
    left = orthogonal(rng, k)[:, :NUM]
    a = left * np.geomspace(1, 1 / condition, NUM) @ orthogonal(rng, NUM)
    off = log_uniform(rng, -4, 0) / (condition if rng.integers(2) else 1)
    b = a @ rng.normal(size=NUM) + rng.normal(size=k) * off
    bend = rng.normal(size=(k, NUM, NUM)) * log_uniform(rng, -3, 0)
    bend = bend + bend.swapaxes(1, 2)
    if rng.integers(2):  # only the strong residual is curved, as Rosenbrock's
        bend = np.einsum("i,j,jab->iab", left[:, 0], left[:, 0], bend)

    def residuals(x: Array) -> Array:
        return np.asarray(a @ x + 0.5 * np.einsum("iab,a,b->i", bend, x, x) - b)

    def jacobian(x: Array) -> Array:
        return np.asarray(a + np.einsum("iab,b->ia", bend, x))

    assembler.add_goal(Residuals(own, residuals, jacobian if rng.integers(2) else None))
    own.x.set(state, length * rng.normal(size=NUM) * log_uniform(rng, -2, 0))
    if rng.integers(3) == 0:
        assembler.add_error(Curved(own, own.scaled(state), rng))
    return Case(assembler, state)


def general(rng: Rng, length: float) -> Case:
    """Cosines, from above zero, or from a level."""
    own, assembler, state = numbers(length)
    k = int(rng.integers(2, 8))
    c, b, w = rng.normal(size=(k, NUM)), rng.normal(size=k), 10 ** rng.uniform(-2, 1, k)
    level = 0.0 if rng.integers(2) else log_uniform(rng, -3, 0)

    def goal(x: Array) -> float:
        return float(level + w @ (1 - np.cos(c @ x - b)))

    def gradient(x: Array) -> Array:
        return np.asarray((w * np.sin(c @ x - b)) @ c)

    assembler.add_goal(Goal(own, goal, gradient if rng.integers(2) else None))
    own.x.set(state, length * rng.normal(size=NUM))
    if rng.integers(2):
        assembler.add_error(Curved(own, own.scaled(state), rng))
    return Case(assembler, state, rounding=1e-15 * w.sum())


def saddle(rng: Rng, length: float) -> Case:
    """Starts at 1e-8 to 0.1 from a saddle of cosines, or of pendulums that are to point back."""
    own, assembler, state = numbers(length)
    middle, turn = rng.normal(size=NUM), orthogonal(rng, NUM)
    bend = 10 ** rng.uniform(-2, 0, NUM)
    bend[: int(rng.integers(1, 3))] *= -1
    level = 2 * np.abs(bend).sum() + rng.uniform(0, 1)
    away = np.where(bend > 0, 1.0, -1.0) * rng.uniform(0.3, 2, NUM)
    root = np.sqrt(np.abs(bend))

    def goal(x: Array) -> float:
        return float(level + bend @ (1 - np.cos(turn @ (x - middle))))

    def gradient(x: Array) -> Array:
        return np.asarray((bend * np.sin(turn @ (x - middle))) @ turn)

    def residuals(x: Array) -> Array:
        y = turn @ (x - middle)
        return np.concatenate([root * (np.cos(y) - away), root * np.sin(y)])

    def jacobian(x: Array) -> Array:
        y = turn @ (x - middle)
        rows = [(-root * np.sin(y))[:, None] * turn, (root * np.cos(y))[:, None] * turn]
        return np.concatenate(rows)

    has_derivatives = rng.integers(2)
    if rng.integers(2):
        assembler.add_goal(Goal(own, goal, gradient if has_derivatives else None))
    else:
        assembler.add_goal(Residuals(own, residuals, jacobian if has_derivatives else None))
    near, far = log_uniform(rng, -8, -1), log_uniform(rng, -3, 0)
    away = rng.normal(size=NUM) * np.where(bend < 0, near, far)
    own.x.set(state, length * (middle + turn.T @ away))
    return Case(assembler, state, rounding=1e-15 * level)


KINDS: Final[dict[str, Callable[[Rng, float], Case]]] = {
    make.__name__: make
    for make in (
        *(markers, exact, sensors, bounds, loops, film, closed_film, hand, chain),
        *(valley, general, saddle),
    )
}

# ---------------------------------------------------------------------- the least goal nearby


def make_case(kind: str, seed: int, length: float = 1.0) -> Case:
    """The same problem for each length, but for that."""
    return KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]), length)


def search(
    kind: str, seed: int, accuracy: float, length: float = 1.0, *, with_scipy: bool = False
) -> Iterator[Found]:
    """Assemble and track the frames of a problem, and look for the least goal near each result."""
    case, twin = make_case(kind, seed, length), make_case(kind, seed, length)
    found = Found(kind, seed, 0, accuracy, length)
    yield from compare(case, twin, found, with_scipy=with_scipy)


def compare(case: Case, twin: Case, found: Found, *, with_scipy: bool = False) -> Iterator[Found]:
    """The same of a case, of which the twin is used to go on from the results."""

    assembler = case.assembler
    assembler.accuracy = found.accuracy
    assembler.set_internal_state(case.start)
    for number, (show, show_again) in enumerate(zip(case.frames, twin.frames, strict=True)):
        show()
        show_again()
        found = evolve(found, frame=number)
        try:
            result = assembler.track() if number else assembler.assemble()
        except AssemblyError:
            yield evolve(found, has_failed=True)
            continue
        least, zero = least_near(twin, assembler.internal_state, with_scipy=with_scipy)
        yield evolve(
            found,
            has_converged=result.has_converged,
            goal=result.goal,
            least=least,
            zero=max(zero, case.rounding),
            num_iterations=result.num_iterations,
        )


def least_near(case: Case, state: State, *, with_scipy: bool) -> tuple[float, float]:
    """The goal to which going on from a State leads, and a goal that counts as zero."""
    assembler = case.assembler
    assembler.accuracy, assembler.error_tolerance = EXACT, TIGHT * max(1.0, case.length)
    convert = getattr(assembler.system, "in_assembly_coordinates", State.copy)
    start = convert(case.start)
    start.time, start.q = state.time, state.q
    goals = [np.inf]
    for _ in range(MOST):
        try:
            goals.append(assembler.assemble(start).goal)
        except AssemblyError:
            break
        if not goals[-1] < goals[-2] * (1 - 1e-13):
            break
    if len(goals) == 1:
        return np.inf, 0.0
    problem = assembler._prepared("the problem")
    if with_scipy:
        goals.append(least_by_scipy(problem, assembler.error_tolerance))
    problem.begin()
    squares = (problem.derivatives().residual_jacobian ** 2).sum(axis=0)
    return min(goals), float(np.max(squares, initial=0.0)) * ZERO**2 / 2


def least_by_scipy(problem: Any, tolerance: float) -> float:
    """What SciPy makes of it from there: another opinion, of a method that knows no accuracy."""
    start = problem.begin()
    lower, upper = problem.lower, problem.upper
    may_move = lower < upper
    x = start.x.copy()

    def at(some: Array) -> Any:
        x[may_move] = np.clip(some, lower[may_move], upper[may_move])
        return problem.move_to(x.copy())

    def slopes(some: Array) -> Any:
        at(some)
        return problem.derivatives()

    def gradient(some: Array) -> Array:
        found = slopes(some)
        total = at(some).residuals @ found.residual_jacobian
        if found.other_gradient is not None:
            total = total + found.other_gradient
        return np.asarray(total[may_move])

    begin = start.x[may_move]
    if not len(begin) or not start.goal:
        return float(start.goal)
    if len(start.errors) or start.other_goal:
        found: Any = minimize(
            lambda some: at(some).goal / start.goal,
            begin,
            jac=lambda some: gradient(some) / start.goal,
            method="SLSQP",
            bounds=list(zip(lower[may_move], upper[may_move], strict=True)),
            constraints={
                "type": "eq",
                "fun": lambda some: at(some).errors,
                "jac": lambda some: slopes(some).error_jacobian[:, may_move],
            }
            if len(start.errors)
            else (),
            options={"ftol": 1e-15, "maxiter": 300},
        )
    else:
        found = least_squares(
            lambda some: at(some).residuals,
            begin,
            lambda some: slopes(some).residual_jacobian[:, may_move],
            bounds=(lower[may_move], upper[may_move]),
            ftol=1e-15,
            xtol=1e-15,
            gtol=1e-15,
            max_nfev=300,
        )
    point = at(found.x)
    problem.move_to(start.x)
    return float(point.goal) if point.error_norm <= tolerance else float(start.goal)


# ---------------------------------------------------------------------- the command


@define
class Cell:
    """Counts of frames at one accuracy and one length.

    Attributes
    ----------
    frames, converged, not_converged, failed : int
        Failed are frames that an AssemblyError refused.
    unchecked : int
        Converged, but nothing could go on from there.
    broken : list of Found
    excess : float
        The largest one.
    """

    frames: int = 0
    converged: int = 0
    not_converged: int = 0
    failed: int = 0
    unchecked: int = 0
    broken: list[Found] = Factory(list)
    excess: float = 0.0

    def add(self, found: Found) -> None:
        self.frames += 1
        if found.has_failed:
            self.failed += 1
        elif not found.has_converged:
            self.not_converged += 1
        else:
            self.converged += 1
            self.unchecked += not np.isfinite(found.least)
            self.excess = max(self.excess, found.excess)
        if found.is_broken:
            self.broken.append(found)

    def __str__(self) -> str:
        return (
            f"{self.frames:6,} frames, {self.converged:6,} converged ({self.unchecked} unchecked), "
            f"{self.not_converged:4} not, {self.failed:4} refused; {len(self.broken):3} broken, "
            f"largest excess {self.excess:8.2g} of the accuracy"
        )


@click.command(help="Search random problems for goals that break the promise of `accuracy`.")
@click.option("--problems", default=100, show_default=True, help="Of each kind.")
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="All else.")
@click.option("--accuracy", "accuracies", multiple=True, type=float, help="1e-3 to 1e-9 else.")
@click.option("--length", "lengths", multiple=True, type=float, help="0.001, 1, 1000 else.")
@click.option("--scipy", is_flag=True, help="Let SciPy go on from the least goals, too.")
def main(
    problems: int,
    first: int,
    kinds: tuple[str, ...],
    accuracies: tuple[float, ...],
    lengths: tuple[float, ...],
    scipy: bool,
) -> None:
    places = list(product(accuracies or ACCURACIES, lengths or LENGTHS))
    cells = {place: Cell() for place in places}
    for kind in kinds or KINDS:
        for place in places:
            own = Cell()
            for seed in range(first, first + problems):
                for found in search(kind, seed, *place, with_scipy=scipy):
                    own.add(found)
                    cells[place].add(found)
            click.echo(f"{kind:12} accuracy {place[0]:5.0e}, length {place[1]:5g}: {own}")
    for place, cell in cells.items():
        click.echo(f"all          accuracy {place[0]:5.0e}, length {place[1]:5g}: {cell}")
    broken = [found for cell in cells.values() for found in cell.broken]
    for one in broken:
        click.echo(f"broken: {one}, {one.excess:.3g} of what is allowed")
    raise SystemExit(bool(broken))


if __name__ == "__main__":
    main(prog_name="python -m tests.assembly.accuracy")
