"""Models with constraints, and the dense linear algebra that tells where projection must lead."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    parameter,
    position_error,
    q_variable,
    u_variable,
    velocity_error,
)
from stagecache.state.handles import Vector
from stagecache.system.constraints.quaternions import (
    quaternion_kinematics,
    quaternion_normalization,
)

TIME_SCALE = 0.1  # the default


# ---------------------------------------------------------------------- small models


class Bob(Subsystem):
    """A point on a rod, in Cartesian coordinates."""

    length = parameter(1.0)
    x = q_variable(0.7)
    y = q_variable(-0.9)
    vx = u_variable(0.3)
    vy = u_variable(0.4)

    @position_error()
    def rod(self, state: State) -> float:
        return self.x(state) ** 2 + self.y(state) ** 2 - self.length(state) ** 2

    @rod.velocity
    def rod_rate(self, state: State) -> float:
        return 2 * (self.x(state) * self.vx(state) + self.y(state) * self.vy(state))

    @rod.jacobian
    def rod_jacobian(self, state: State) -> Any:
        return {self.vx: [[2 * self.x(state)]], self.vy: [[2 * self.y(state)]]}


class Loop(Subsystem):
    """A closed loop of four bars of given lengths: the last error repeats what the others say.

    Points 0 and 3 are fixed; 1 and 2 move. The bars 0-1, 1-2, 2-3; and bar 0-1 once more, scaled.
    """

    points = q_variable((0.1, 1.1, 1.9, 1.05))
    speeds = u_variable((0.3, 0.1, 0.2, -0.4))

    def bars(self, state: State) -> Vector:
        x1, y1, x2, y2 = self.points(state)
        return np.array([[x1, y1], [x2 - x1, y2 - y1], [x2 - 2, y2]])

    @position_error(size=4)
    def closed(self, state: State) -> Vector:
        squares = np.sum(self.bars(state) ** 2, axis=1) - [1, 4, 1]
        return np.array([*squares, 3 * squares[0]])

    @closed.jacobian
    def closed_jacobian(self, state: State) -> Vector:
        (a, b), (c, d), (e, f) = 2 * self.bars(state)
        return np.array([[a, b, 0, 0], [-c, -d, c, d], [0, 0, e, f], [3 * a, 3 * b, 0, 0]])


def projecting(*subsystems: Subsystem, stage: Stage = Stage.VELOCITY) -> tuple[Any, State]:
    """A System of these, and a State of it realized to that stage."""
    system = System(*subsystems)
    state = system.new_state()
    system.realize(state, stage)
    return system, state


# ---------------------------------------------------------------------- random ones


class Points(Subsystem):
    """Plain coordinates, which may be prescribed."""

    is_driven = parameter(factory=lambda self: self.driven)
    place = q_variable(factory=lambda self, state: self.first)
    speed = u_variable(factory=lambda self, state: self.first_speed)

    def __init__(self, first: Vector, speed: Vector, *, driven: bool) -> None:
        self.first, self.first_speed, self.driven = first, speed, driven

    @place.prescribed(enabled=is_driven)
    def drive(self, state: State) -> Vector:
        return np.array(self.first)

    @speed.prescribed(enabled=is_driven)
    def drive_speed(self, state: State) -> Vector:
        return np.array(self.first_speed)


class Body(Subsystem):
    """A quaternion, which may be prescribed."""

    is_driven = parameter(factory=lambda self: self.driven)
    orientation = q_variable(factory=lambda self, state: self.first)
    spin = u_variable(factory=lambda self, state: self.first_speed)
    turning = quaternion_kinematics(orientation, spin)
    length = quaternion_normalization(orientation)

    def __init__(self, first: Vector, speed: Vector, *, driven: bool) -> None:
        self.first, self.first_speed, self.driven = first, speed, driven

    @orientation.prescribed(enabled=is_driven)
    def drive(self, state: State) -> Vector:
        return np.array(self.first)

    @spin.prescribed(enabled=is_driven)
    def drive_spin(self, state: State) -> Vector:
        return np.array(self.first_speed)


@dataclass
class Coefficients:
    """Errors (G + k/2 (H q) H) q - c of q, and S u - w of u; some rows are sums of others."""

    g: Vector
    h: Vector
    curvature: float
    c: Vector
    s: Vector
    w: Vector
    combine: Vector
    constant: Vector

    def position(self, q: Vector) -> Vector:
        errors = self.g @ q + self.curvature / 2 * (self.h @ q) ** 2 - self.c
        return np.asarray(self.combine @ errors + self.constant)

    def gradient(self, q: Vector) -> Vector:
        """The derivatives of the position errors by q."""
        return np.asarray(
            self.combine @ (self.g + self.curvature * (self.h @ q)[:, np.newaxis] * self.h)
        )


class Ties(Subsystem):
    """Constraints between all others; all derivatives are found by differences."""

    def __init__(self, of: "RandomModel") -> None:
        self.model = of

    @position_error(size=lambda self, state: len(self.model.coefficients.combine))
    def tie(self, state: State) -> Vector:
        return self.model.coefficients.position(state.q)

    @velocity_error(size=lambda self, state: len(self.model.coefficients.w))
    def slip(self, state: State) -> Vector:
        coefficients = self.model.coefficients
        return np.asarray(coefficients.s @ state.u - coefficients.w)


class DeclaredTies(Ties):
    """The same, with declared derivatives."""

    @Ties.tie.velocity
    def tie_rate(self, state: State) -> Vector:
        return np.asarray(self.tie_jacobian(state) @ state.u)

    @Ties.tie.jacobian
    def tie_jacobian(self, state: State) -> Vector:
        return self.model.position_jacobian(state.q)

    @Ties.slip.jacobian
    def slip_jacobian(self, state: State) -> Vector:
        return self.model.coefficients.s


@dataclass
class RandomModel:
    """A System of points and bodies with ties, near a State that satisfies them all."""

    kinds: list[tuple[int, bool]]  # how many points, or 0 for a body; whether it is prescribed
    seed: int
    is_declared: bool
    num_ties: int
    num_slips: int
    curvature: float
    num_repeated: int
    offset: float
    impossible: float = 0.0  # an error that nothing changes
    coefficients: Coefficients = field(init=False, repr=False)
    system: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        parts: list[Subsystem] = []
        places, speeds = [], []
        for count, driven in self.kinds:
            place = rng.uniform(-1, 1, count or 4)
            place /= 1 if count else np.linalg.norm(place)
            speed = rng.uniform(-2, 2, count or 3)
            parts.append((Points if count else Body)(place, speed, driven=driven))
            places.append(place)
            speeds.append(speed)
        self.q, self.u = np.concatenate(places), np.concatenate(speeds)
        nq, nu = len(self.q), len(self.u)
        g, h = rng.uniform(-1, 1, (2, self.num_ties, nq))
        s = rng.uniform(-1, 1, (self.num_slips, nu))
        sums = rng.uniform(-1, 1, (self.num_repeated if self.num_ties else 0, self.num_ties))
        c = g @ self.q + self.curvature / 2 * (h @ self.q) ** 2
        constant = np.zeros(self.num_ties + len(sums))
        combine = np.concatenate([np.eye(self.num_ties), sums])
        if self.impossible:
            constant = np.append(constant, self.impossible)
            combine = np.concatenate([combine, np.zeros((1, self.num_ties))])
        self.coefficients = Coefficients(g, h, self.curvature, c, s, s @ self.u, combine, constant)
        self.combined = sums
        self.system = System()
        for i, part in enumerate(parts):
            self.system.add(part, f"part_{i}")
        self.system.add((DeclaredTies if self.is_declared else Ties)(self), "ties")
        self.rng = rng

    def new_state(self) -> State:
        """A State whose free variables are off by the offset, with some weights."""
        state: State = self.system.new_state()
        self.system.realize(state, Stage.INSTANCE)
        state.u_weights = self.rng.uniform(0.3, 3, state.nu)
        state.qerr_weights = self.rng.uniform(0.3, 3, state.nqerr)
        state.uerr_weights = self.rng.uniform(0.3, 3, state.nuerr)
        q, u = self.q.copy(), self.u.copy()
        q[self.free_q] += self.offset * self.rng.uniform(-1, 1, len(self.free_q))
        u[self.free_u] += self.rng.uniform(-1, 1, len(self.free_u))
        state.q, state.u = q, u
        self.system.realize(state, Stage.VELOCITY)
        return state

    @property
    def free_q(self) -> NDArray[np.intp]:
        return np.flatnonzero(np.concatenate([[not d] * (n or 4) for n, d in self.kinds]))

    @property
    def free_u(self) -> NDArray[np.intp]:
        return np.flatnonzero(np.concatenate([[not d] * (n or 3) for n, d in self.kinds]))

    def n(self, q: Vector) -> Vector:
        """N, dense."""
        blocks, at = [], 0
        for count, _ in self.kinds:
            blocks.append(np.eye(count) if count else turning(q[at : at + 4]))
            at += count or 4
        return np.asarray(scipy.linalg.block_diag(*blocks))

    def position_jacobian(self, q: Vector) -> Vector:
        """The position errors by u."""
        return self.coefficients.gradient(q) @ self.n(q)

    def velocity_jacobian(self, q: Vector) -> Vector:
        return np.concatenate([self.position_jacobian(q), self.coefficients.s])

    def position_rows(self, state: State) -> NDArray[np.intp]:
        """Which rows of qerr are ties: the last ones, after those of bodies."""
        return np.arange(state.nqerr - len(self.coefficients.combine), state.nqerr)


def turning(q: Vector) -> Vector:
    """N of a quaternion, scalar first, and an angular velocity in the parent."""
    a, b, c, d = q
    return np.array([[-b, -c, -d], [a, d, -c], [-d, a, b], [c, -b, a]]) / 2


@st.composite
def random_models(draw: st.DrawFn, *, curved: bool = True) -> RandomModel:
    """Models whose constraints can be satisfied, and do not become dependent close by."""
    parts = st.tuples(st.sampled_from([0, 1, 2, 3]), st.booleans())
    kinds = draw(st.lists(parts, min_size=1, max_size=4))
    kinds.append((2, False))
    model = RandomModel(
        kinds,
        draw(st.integers(0, 2**32)),
        draw(st.booleans()),
        draw(st.integers(0, 4)),
        draw(st.integers(0, 2)),
        draw(st.sampled_from([0.0, 0.5])) if curved else 0.0,
        draw(st.integers(0, 2)),
        draw(st.sampled_from([0.0, 1e-6, 1e-3])),
    )
    regular = model.velocity_jacobian(model.q)[:, model.free_u]
    regular = np.delete(
        regular, np.arange(model.num_ties, model.num_ties + len(model.combined)), axis=0
    )
    if regular.size:
        assume(len(regular) <= regular.shape[1])
        assume(scipy.linalg.svdvals(regular)[-1] > 0.1)
    return model


# ---------------------------------------------------------------------- dense references


def least_change(norm: Vector, jacobian: Vector, errors: Vector) -> Vector:
    """The du of least |norm du| with jacobian du = -errors, which must have solutions."""
    some = scipy.linalg.lstsq(jacobian, -errors, cond=1e-9)[0]
    free = scipy.linalg.null_space(jacobian, rcond=1e-9)
    if not free.size:
        return np.asarray(some)
    along = scipy.linalg.lstsq(norm @ free, -norm @ some)[0]
    return np.asarray(some + free @ along)


class Calls(NamedTuple):
    """The numbers that a System counts of one level."""

    calls: int
    failed: int
    changed: int
    estimates: int


def counted(system: Any, which: str) -> Calls:
    """What was counted of project_q, or project_u."""
    counts = system.statistics
    return Calls(
        getattr(counts, f"num_project_{which}_calls"),
        getattr(counts, f"num_failed_project_{which}_calls"),
        getattr(counts, f"num_{which}_projections"),
        getattr(counts, f"num_{which}_error_estimate_projections"),
    )
