"""Test problems of the literature, with their solutions.

Orbits and the three stiff problems are those of Hairer, Nørsett, Wanner, "Solving Ordinary
Differential Equations I", II.0 and II.10, and Hairer, Wanner, II, IV.1 and IV.10. Numbers at the
end are of the "Test Set for Initial Value Problem Solvers" of the University of Bari (Mazzia,
Magherini, release 2.4), where its name is given; others follow from a formula, or from the recipe
beside them.
"""

from collections.abc import Callable, Sequence
from math import exp, log, sqrt
from typing import Final

import numpy as np
from scipy.special import lambertw

from stagecache import State, Subsystem, q_variable, u_variable, z_variable
from stagecache.state.handles import Vector

# ---------------------------------------------------------------------- two forms of a problem


class Motion(Subsystem):
    """q'' = f(t, q, q'), of any size."""

    place = q_variable(factory=lambda self, state: self.start[0])
    speed = u_variable(factory=lambda self, state: self.start[1])

    def __init__(
        self,
        acceleration: Callable[[float, Vector, Vector], Vector],
        place: Sequence[float],
        speed: Sequence[float],
    ) -> None:
        self.acceleration = acceleration
        self.start = np.array(place, float), np.array(speed, float)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = state[self].u

    def realize_acceleration(self, state: State) -> None:
        part = state[self]
        part.upd_udot()[:] = self.acceleration(state.time, part.q, part.u)


class Flow(Subsystem):
    """z' = f(t, z), of any size."""

    numbers = z_variable(factory=lambda self, state: self.start)

    def __init__(self, slope: Callable[[float, Vector], Vector], start: Sequence[float]) -> None:
        self.slope = slope
        self.start = np.array(start, float)

    def realize_dynamics(self, state: State) -> None:
        part = state[self]
        part.upd_zdot()[:] = self.slope(state.time, part.z)


# ---------------------------------------------------------------------- orbits


def circle() -> Motion:
    """A body around a center at the distance 1, with the speed 1."""

    def pull(_: float, place: Vector, __: Vector) -> Vector:
        return np.asarray(-place / np.hypot(*place) ** 3)

    return Motion(pull, (1, 0), (0, 1))


def on_circle(t: float) -> Vector:
    """y of the body on the circle."""
    return np.array([np.cos(t), np.sin(t), -np.sin(t), np.cos(t)])


PERIOD: Final = 17.0652165601579625588917206249


def arenstorf() -> Motion:
    """A satellite of earth and moon, which is back after `PERIOD`; in the frame that turns."""
    moon = 0.012277471
    earth = 1 - moon

    def pull(_: float, place: Vector, speed: Vector) -> Vector:
        (x, y), (u, v) = place.tolist(), speed.tolist()
        by_earth = earth / ((x + moon) ** 2 + y * y) ** 1.5
        by_moon = moon / ((x - earth) ** 2 + y * y) ** 1.5
        return np.array(
            [
                x + 2 * v - by_earth * (x + moon) - by_moon * (x - earth),
                y - 2 * u - (by_earth + by_moon) * y,
            ]
        )

    return Motion(pull, (0.994, 0.0), (0.0, -2.00158510637908252240537862224))


STARS: Final = np.arange(1.0, 8.0)


def pleiades() -> Motion:
    """Seven stars in a plane; star i has the mass i, and q are all x, then all y."""

    def pull(_: float, place: Vector, __: Vector) -> Vector:
        places = place.reshape(2, 7)
        apart = places[:, np.newaxis, :] - places[:, :, np.newaxis]
        cubes = ((apart**2).sum(axis=0) + np.eye(7)) ** 1.5
        return np.asarray((apart / cubes) @ STARS).ravel()

    place = (3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4)
    return Motion(pull, place, (0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0))


PLEIADES_AT_3: Final = np.array(
    [
        *(0.3706139143970502, 3.237284092057233, -3.222559032418324, 0.6597091455775310),
        *(0.3425581707156584, 1.562172101400631, -0.7003092922212495),
        *(-3.943437585517392, -3.271380973972550, 5.225081843456543, -2.590612434977470),
        *(1.198213693392275, -0.2429682344935824, 1.091449240428980),
        *(3.417003806314313, 1.354584501625501, -2.590065597810775, 2.025053734714242),
        *(-1.155815100160448, -0.8072988170223021, 0.5952396354208710),
        *(-3.741244961234010, 0.3773459685750630, 0.9386858869551073, 0.3667922227200571),
        *(-0.3474046353808490, 2.344915448180937, -1.947020434263292),
    ]
)
"""y of the Pleiades at t = 3: Test Set, problem "pleiades". DOP853 of SciPy with rtol = 2.3e-14 and
atol = 1e-15 differs by less than 1e-11."""


# ---------------------------------------------------------------------- stiff problems


def van_der_pol(mu: float) -> Flow:
    """The equation with its time divided by mu, so that a period takes 1.6."""
    stiffness = mu * mu

    def slope(_: float, z: Vector) -> Vector:
        place, speed = z.tolist()
        return np.array([speed, stiffness * ((1 - place**2) * speed - place)])

    return Flow(slope, (2.0, 0.0))


VAN_DER_POL_AT_2: Final = np.array([1.706167732170483, -0.8928097010247975])
"""At t = 2, after two jumps, for mu = 1000: Test Set, problem "vdpol". Radau of SciPy with
rtol = atol = 1e-11 differs by less than 1e-13."""


def van_der_pol_before_its_jump(t: float) -> Vector:
    """Return the limit for large mu; it differs by some 1 / mu², up to t = 0.5.

    On the slow manifold y' = y / (1 - y²), so that ln y - y² / 2 = ln 2 - 2 + t.
    """
    place = sqrt(-lambertw(-exp(2 * (log(2) - 2 + t)), -1).real)
    return np.array([place, place / (1 - place * place)])


def robertson() -> Flow:
    """Three reactions, with rates from 0.04 to 3e7."""

    def slope(_: float, z: Vector) -> Vector:
        a, b, c = z.tolist()
        first, second, third = 0.04 * a, 1e4 * b * c, 3e7 * b * b
        return np.array([second - first, first - second - third, third])

    return Flow(slope, (1.0, 0.0, 0.0))


ROBERTSON: Final = {
    40.0: np.array([0.715827068719404, 9.18553476455780e-6, 0.284163745745830]),
    1e11: np.array([0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]),
}
"""By time. At 1e11: Test Set, problem "rober". At 40: Radau of SciPy with rtol = 1e-12 and
atol = 1e-17; the numbers of Hairer and Wanner, II, IV.10, are the first digits of these."""
