"""Models with mass, forces and constraints, and what their accelerations are by other means."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
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
from stagecache.system.dynamics.dynamics import generalized_force, inverse_mass_matrix, mass_matrix

Vector = NDArray[np.float64]
ACCELERATION = Stage.ACCELERATION
FORMS = ("dense", "diagonal", "sparse")


def dense_solution(mass: Vector, g: Vector, forces: Vector, bias: Vector) -> tuple[Vector, Vector]:
    """The shortest solution of the whole equations by singular values (multipliers: shortest)."""
    n, m = len(mass), len(g)
    whole = np.block([[mass, g.T], [g, np.zeros((m, m))]])
    right = np.concatenate([forces, -bias])
    found = scipy.linalg.lstsq(whole, right, cond=1e-10, lapack_driver="gelsd")[0]
    return found[:n], found[n:]


def random_mass(random: np.random.Generator, n: int, form: str) -> Vector:
    """A positive definite matrix whose zeros are those of a form."""
    scales = 10 ** random.uniform(-1, 1, n)
    if form == "diagonal":
        return np.diag(scales)
    root = random.normal(size=(n, n))
    if form == "sparse":
        root[np.subtract.outer(np.arange(n), np.arange(n)) % 3 != 0] = 0
    mass = root @ root.T + np.eye(n)
    return np.asarray(mass * np.sqrt(scales) * np.sqrt(scales)[:, np.newaxis])


def in_form(matrix: Any, form: str) -> Any:
    """What a function returns for a matrix."""
    if form == "diagonal":
        return matrix.diagonal()
    return scipy.sparse.csr_array(matrix) if form == "sparse" else matrix


# ---------------------------------------------------------------------- random ones


class Masses(Subsystem):
    """Plain coordinates, of which the second variable may be prescribed."""

    is_driven = parameter(factory=lambda self: self.driven)
    q1 = q_variable(factory=lambda self, state: np.zeros(self.sizes[0]))
    q2 = q_variable(factory=lambda self, state: np.zeros(self.sizes[1]))
    u1 = u_variable(factory=lambda self, state: np.ones(self.sizes[0]))
    u2 = u_variable(factory=lambda self, state: np.ones(self.sizes[1]))

    def __init__(
        self, sizes: tuple[int, int], mass: Vector, form: str, *, driven: bool, udot: Vector
    ) -> None:
        self.sizes, self.mass, self.form, self.driven = sizes, mass, form, driven
        self.drive = udot[sizes[0] :]
        self.force = np.arange(1.0, len(mass) + 1)

    @u2.prescribed(enabled=is_driven)
    def prescribed_speed(self, state: State) -> Vector:
        return np.ones(self.sizes[1])

    @prescribed_speed.acceleration
    def prescribed_acceleration(self, state: State) -> Vector:
        return self.drive

    @generalized_force()
    def pull(self, state: State) -> Vector:
        return self.force - 1

    @generalized_force(u2, u1, prerequisites=())
    def push(self, state: State) -> Vector:
        return np.ones(len(self.force))


class Direct(Masses):
    """With a mass matrix; its variables are named in another order."""

    @mass_matrix(Masses.u2, Masses.u1)
    def inertia(self, state: State) -> Any:
        order = np.roll(np.arange(len(self.mass)), self.sizes[1])
        return in_form(self.mass[np.ix_(order, order)], self.form)


class Inverse(Masses):
    """With the inverse of it."""

    @inverse_mass_matrix(prerequisites=())
    def mobility(self, state: State) -> Any:
        return in_form(np.linalg.inv(self.mass), self.form)


class Ties(Subsystem):
    """Constraints between all u."""

    def __init__(self, g: Vector, bias: Vector) -> None:
        self.g, self.b = g, bias

    @velocity_error(size=lambda self, state: len(self.g))
    def tie(self, state: State) -> Vector:
        return np.asarray(self.g @ (state.u - 1))

    @tie.jacobian(prerequisites=())
    def tie_jacobian(self, state: State) -> Any:
        return scipy.sparse.csr_array(self.g) if len(self.g) % 2 else self.g

    @tie.bias(prerequisites=())
    def tie_bias(self, state: State) -> Vector:
        return self.b


@dataclass
class RandomDynamics:
    """A System, and the same as matrices."""

    system: System
    state: State
    mass: Vector
    g: Vector
    forces: Vector
    bias: Vector
    driven: NDArray[np.bool_]
    """Which u are prescribed."""

    udot: Vector
    """Where these are, their accelerations; others that satisfy the constraints elsewhere."""

    def solution(self) -> tuple[Vector, Vector]:
        """The accelerations and multipliers, by dense matrices."""
        free = ~self.driven
        given = np.where(self.driven, self.udot, 0.0)
        udot = given.copy()
        udot[free], multipliers = dense_solution(
            self.mass[np.ix_(free, free)],
            self.g[:, free],
            (self.forces - self.mass @ given)[free],
            self.bias + self.g @ given,
        )
        return udot, multipliers


@st.composite
def random_dynamics(draw: st.DrawFn) -> RandomDynamics:
    """Some subsystems with masses in several forms, and constraints some of which are redundant."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    subsystems: list[Any] = []
    for _ in range(draw(st.integers(1, 3))):
        sizes = (draw(st.integers(0, 3)), draw(st.integers(1, 2)))
        form = draw(st.sampled_from(FORMS))
        cls = draw(st.sampled_from((Direct, Inverse)))
        mass, udot = random_mass(random, sum(sizes), form), random.normal(size=sum(sizes))
        subsystems.append(cls(sizes, mass, form, driven=draw(st.booleans()), udot=udot))
    n = sum(len(s.mass) for s in subsystems)
    independent, redundant = draw(st.integers(0, n)), draw(st.integers(0, 3))
    g = random.normal(size=(independent, n))
    g = np.vstack([g, random.normal(size=(redundant, independent)) @ g])
    udot = random.normal(size=n)
    driven = np.zeros(n, bool)
    at = 0
    for s in subsystems:
        if s.driven:
            driven[at + s.sizes[0] : at + sum(s.sizes)] = True
            udot[at + s.sizes[0] : at + sum(s.sizes)] = s.drive
        at += sum(s.sizes)
    bias = -g @ udot
    named: Any = {f"masses_{i}": s for i, s in enumerate(subsystems)}
    system = System(ties=Ties(g, bias), **named)
    state = system.new_state()
    return RandomDynamics(
        system,
        state,
        np.asarray(scipy.linalg.block_diag(*[s.mass for s in subsystems])),
        g,
        np.concatenate([s.force for s in subsystems]),
        bias,
        driven,
        udot,
    )


# ---------------------------------------------------------------------- pendulums


class Bob(Subsystem):
    """A point mass on a rod, in Cartesian coordinates; the error is the length of the rod."""

    mass = parameter(2.0)
    gravity = parameter(9.81)
    is_tied = parameter(True)
    place = q_variable((0.6, -0.8))
    speed = u_variable((0.4, 0.3))

    @mass_matrix(speed, prerequisites=(mass,))
    def inertia(self, state: State) -> Vector:
        return np.full(2, self.mass(state))

    @generalized_force(speed, prerequisites=(mass, gravity))
    def weight(self, state: State) -> Vector:
        return np.array([0.0, -self.mass(state) * self.gravity(state)])

    @position_error(prerequisites=(place,), enabled=is_tied)
    def rod(self, state: State) -> float:
        return float(np.linalg.norm(self.place(state)) - 1.0)


class DeclaredBob(Bob):
    """The same, with all derivatives."""

    @Bob.rod.jacobian(prerequisites=(Bob.place,))
    def rod_jacobian(self, state: State) -> Any:
        place = self.place(state)
        return {self.speed: place / np.linalg.norm(place)}

    @Bob.rod.velocity(prerequisites=(Bob.place, Bob.speed))
    def rod_rate(self, state: State) -> float:
        place = self.place(state)
        return float(place @ self.speed(state) / np.linalg.norm(place))

    @Bob.rod.bias(prerequisites=(Bob.place, Bob.speed))
    def rod_bias(self, state: State) -> float:
        place, speed = self.place(state), self.speed(state)
        length = float(np.linalg.norm(place))
        return float(speed @ speed - (place @ speed / length) ** 2) / length


M1, M2, L1, L2, GRAVITY = 2.0, 0.7, 1.5, 0.8, 9.81


class CartesianDouble(Subsystem):
    """Two masses on two rods, in Cartesian coordinates; errors are the lengths of the rods."""

    places = q_variable(np.zeros(4))
    speeds = u_variable(np.zeros(4))

    @mass_matrix(speeds, prerequisites=())
    def inertia(self, state: State) -> Vector:
        return np.array([M1, M1, M2, M2])

    @generalized_force(speeds, prerequisites=())
    def weight(self, state: State) -> Vector:
        return np.array([0, -M1 * GRAVITY, 0, -M2 * GRAVITY])

    @position_error(size=2, prerequisites=(places,))
    def rods(self, state: State) -> Vector:
        p = self.places(state)
        return np.array([np.linalg.norm(p[:2]) - L1, np.linalg.norm(p[2:] - p[:2]) - L2])

    @rods.jacobian(prerequisites=(places,))
    def rods_jacobian(self, state: State) -> Any:
        p = self.places(state)
        e1, e2 = p[:2] / np.linalg.norm(p[:2]), (p[2:] - p[:2]) / np.linalg.norm(p[2:] - p[:2])
        return {self.speeds: [[*e1, 0, 0], [*-e2, *e2]]}


class MinimalDouble(Subsystem):
    """The same in angles from the vertical: M(q) is full, and there is no constraint."""

    angles = q_variable(np.zeros(2))
    rates = u_variable(np.zeros(2))

    @mass_matrix(prerequisites=(angles,))
    def inertia(self, state: State) -> Vector:
        return double_mass(self.angles(state))

    @generalized_force()
    def all_forces(self, state: State) -> Vector:
        return double_forces(self.angles(state), self.rates(state))


def double_mass(angles: Vector) -> Vector:
    """The mass matrix of a double pendulum, as derived by Lagrange's equations."""
    c = np.cos(angles[0] - angles[1])
    return np.array([[(M1 + M2) * L1**2, M2 * L1 * L2 * c], [M2 * L1 * L2 * c, M2 * L2**2]])


def double_forces(angles: Vector, rates: Vector) -> Vector:
    """The other terms of these equations."""
    (a1, a2), (w1, w2) = angles, rates
    s = np.sin(a1 - a2)
    return np.array(
        [
            -M2 * L1 * L2 * w2**2 * s - (M1 + M2) * GRAVITY * L1 * np.sin(a1),
            M2 * L1 * L2 * w1**2 * s - M2 * GRAVITY * L2 * np.sin(a2),
        ]
    )


def double_places(angles: Vector, rates: Vector) -> tuple[Vector, Vector]:
    """Places and speeds of both masses."""
    directions = [np.array([np.sin(a), -np.cos(a)]) for a in angles]
    across = [np.array([np.cos(a), np.sin(a)]) for a in angles]
    p1, v1 = L1 * directions[0], L1 * rates[0] * across[0]
    p2, v2 = p1 + L2 * directions[1], v1 + L2 * rates[1] * across[1]
    return np.concatenate([p1, p2]), np.concatenate([v1, v2])


def double_accelerations(angles: Vector, rates: Vector) -> tuple[Vector, Vector]:
    """Accelerations of both masses, and by Newton's law from these, tensions of both rods."""
    turning = np.linalg.solve(double_mass(angles), double_forces(angles, rates))
    e = [np.array([np.sin(a), -np.cos(a)]) for a in angles]
    t = [np.array([np.cos(a), np.sin(a)]) for a in angles]
    a1 = L1 * (turning[0] * t[0] - rates[0] ** 2 * e[0])
    a2 = a1 + L2 * (turning[1] * t[1] - rates[1] ** 2 * e[1])
    down = np.array([0, -GRAVITY])
    tension2 = -M2 * (a2 - down) @ e[1]
    tension1 = (-M1 * (a1 - down) + tension2 * e[1]) @ e[0]
    return np.concatenate([a1, a2]), np.array([tension1, tension2])


def realized(*subsystems: Subsystem, stage: Stage = ACCELERATION, **named: Any) -> Any:
    """A System of these, and a State of it realized to that stage."""
    system = System(*subsystems, **named)
    state = system.new_state()
    system.realize(state, stage)
    return system, state
