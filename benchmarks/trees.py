r"""The trees whose kinematics are measured, here and in the twins of other libraries.

::

    chain   ground - 1 - 2 - ... - n          of Pins
    bushy   body i on body i // 2             in each eight a Slider, a Universal, a Ball, else Pins
    person  a Free, then 25 Pins, bushy       31 u, and 40 markers at random
            with rods from the ground to it, or with couplers of its Pins
    falling a chain with masses, in gravity

Ours are written with two values in turn, since a write of the same q leaves all poses valid.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, final

import numpy as np

from stagecache import Assembler, Stage
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    CoordinateCouplerConstraint,
    Free,
    Gravity,
    Markers,
    MassProperties,
    MobilizedBody,
    MultibodySystem,
    Pin,
    RodConstraint,
    Slider,
    Transform,
    Universal,
)

MARKERS: Final = 40
STEP: Final = Transform(None, [0.1, 0.2, 0.3])
MIXED: Final = (Pin, Slider, Pin, Universal, Pin, Ball, Pin, Pin)


@final
class Measured:
    """A tree, a State of it, and what the statements name.

    Attributes
    ----------
    system : MultibodySystem
    state : State
    bodies : tuple of MobilizedBody
    markers : StationGroup
    q, other_q, u, other_u : ndarray
        What to write in turn.
    """

    def __init__(
        self,
        mobilizers: Sequence[type[AbstractMobilizer]],
        *,
        is_bushy: bool,
        mass: MassProperties | None = None,
        num_rods: int = 0,
    ) -> None:
        self.system = MultibodySystem()
        matter = self.system.matter
        for i, mobilizer in enumerate(mobilizers):
            parent = matter.bodies[(i + 1) // 2 if is_bushy else i]
            matter.add_body(
                f"body {i + 1}", parent, mobilizer(), mass_properties=mass, inboard_frame=STEP
            )
        if mass is not None:
            self.system.add(Gravity(matter), "gravity")
        self.bodies = matter.bodies
        rng = np.random.default_rng(len(mobilizers))
        chosen = [self.bodies[i] for i in rng.integers(1, len(self.bodies), MARKERS)]
        self.markers = matter.add_stations("markers", chosen, rng.normal(size=(MARKERS, 3)))
        for i in range(num_rods):
            body = self.bodies[1 + i % (len(self.bodies) - 1)]
            rod = RodConstraint(matter.ground, rng.normal(size=3), body, rng.normal(size=3), 1.0)
            self.system.add_constraint(rod, f"rod {i + 1}")
        self.state = self.system.new_state()
        self.system.realize(self.state, Stage.MODEL)
        self.q, self.other_q = rng.uniform(1, 2, (2, self.state.nq))
        self.u, self.other_u = rng.uniform(1, 2, (2, self.state.nu))
        self.state.q, self.state.u = self.q, self.u

    def names(self, body: MobilizedBody | None = None) -> dict[str, Any]:
        """Return what the statements name; with a body, its q are `set_one`, `one`, `other`."""
        matter = self.system.matter
        found = {
            "state": self.state,
            "q": self.q,
            "other_q": self.other_q,
            "u": self.u,
            "other_u": self.other_u,
            "poses": matter.tree_poses,
            "motions": matter.tree_motions,
            "jacobian": self.markers.jacobian,
            "positions": self.markers.positions,
            "realize": self.system.realize,
            "ACCELERATION": Stage.ACCELERATION,
            "to_velocity": partial(self.system.realize, stage=Stage.VELOCITY),
        }
        if body is not None:
            one = body.q(self.state).copy()
            # Neither is what there was: poses known before all writes would be taken again.
            found |= {"set_one": body.q.set, "one": one + 0.2, "other": one + 0.1}
        return found


def chain(count: int) -> Measured:
    """A chain of Pins."""
    return Measured([Pin] * count, is_bushy=False)


def falling(count: int) -> Measured:
    """A chain of Pins whose bodies have mass, in gravity."""
    mass = MassProperties.about_center(1.0, [0.05, 0.1, 0.15], [0.1, 0.12, 0.13])
    return Measured([Pin] * count, is_bushy=False, mass=mass)


def bushy(count: int) -> Measured:
    """Two bodies on each body, most of them joined by Pins."""
    return Measured([MIXED[i % len(MIXED)] for i in range(count)], is_bushy=True)


def person() -> Measured:
    """A tree of 26 bodies with 31 u."""
    return Measured([Free, *[Pin] * 25], is_bushy=True)


def with_rods(count: int) -> Measured:
    """The same, with rods from the ground to its bodies."""
    return Measured([Free, *[Pin] * 25], is_bushy=True, num_rods=count)


@final
class Tracked:
    """The same tree, whose markers are followed by an Assembler; some of its Pins are coupled.

    Parameters
    ----------
    num_couplers : int
        Up to 12.
    """

    def __init__(self, num_couplers: int) -> None:
        tree = person()
        bodies, rng = tree.bodies, np.random.default_rng(0)
        for i in range(num_couplers):
            coupler = CoordinateCouplerConstraint(
                [(bodies[2 + 2 * i], 0)],
                function=lambda x: 0.5 * float(x[0]),
                gradient=lambda _: [0.5],
                hessian=lambda _: [[0.0]],
                dependent=(bodies[3 + 2 * i], 0),
            )
            tree.system.add_constraint(coupler, f"coupler {i + 1}")
        self.assembler = Assembler(tree.system)
        markers = Markers()
        for i in range(MARKERS):
            markers.add_marker(bodies[1 + i % (len(bodies) - 1)], rng.normal(size=3))
        self.assembler.add_goal(markers)
        places = markers.current_positions(self.assembler.internal_state)
        self.observe = markers.move_all_observations
        self.frames = [places + rng.uniform(-0.05, 0.05, places.shape) for _ in range(2)]
        self.observe(self.frames[0])
        self.assembler.assemble()

    def names(self) -> dict[str, Any]:
        """Return what the statements name."""
        one, other = self.frames
        return {"observe": self.observe, "one": one, "other": other, "track": self.assembler.track}
