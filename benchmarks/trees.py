r"""The trees whose kinematics are measured, here and in the twins of other libraries.

::

    chain   ground - 1 - 2 - ... - n          of Pins
    bushy   body i on body i // 2             in each eight a Slider, a Universal, a Ball, else Pins
    person  a Free, then 25 Pins, bushy       31 u, and 40 markers at random
    falling a chain with masses, in gravity

Ours are written with two values in turn, since a write of the same q leaves all poses valid.
"""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from stagecache import Stage
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    Free,
    Gravity,
    MassProperties,
    MobilizedBody,
    MultibodySystem,
    Pin,
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
