"""A four-bar linkage: closed from a poor start, then driven through a full turn of its crank.

Run it: python -m stagecache.examples.four_bar

Crank, coupler and rocker are three bodies in a row, each joined to the one before by a pin, in the
plane of x and y. A Ball constraint holds the end of the rocker at a pivot on the ground, and so
closes the loop. An Assembler finds angles that satisfy the constraint, and follows the crank. The
program compares these angles with the closed form. A subsystem, the gauge, measures the angles and
the position of a point on the coupler.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache import (
    Assembler,
    DecorativeLine,
    DecorativePoint,
    QValue,
    State,
    Subsystem,
    cached,
)
from stagecache.decorations import (
    AbstractDecoration,
)
from stagecache.multibody import BallConstraint, MobilizedBody, MultibodySystem, Pin, Transform

Vector = NDArray[np.float64]
Place = tuple[float, float, float]
Color = tuple[float, float, float]

CRANK, COUPLER, ROCKER, GROUND = 0.5, 1.2, 1.0, 1.3  # m: the shortest bar can turn fully
COUPLER_POINT: Place = (0.7, 0.45, 0.0)  # on the coupler, m
POOR_START = (2.6, -1.5, -1.0)  # rad, of the three pins: the loop is far from closed
ACCURACY = 1e-6

ORIGIN: Place = (0.0, 0.0, 0.0)
COLORS: dict[str, Color] = {
    "crank": (0.80, 0.30, 0.20),
    "coupler": (0.20, 0.40, 0.75),
    "rocker": (0.25, 0.55, 0.30),
}


class Gauge(Subsystem):
    """Measures the linkage."""

    def __init__(self, bars: tuple[MobilizedBody, ...]) -> None:
        self.bars = bars

    @cached(prerequisites=lambda self: tuple(bar.q for bar in self.bars))
    def angles(self, state: State) -> Vector:
        """Angles of crank, coupler and rocker from the x axis [rad]."""
        turned: Vector = np.cumsum([bar.q(state)[0] for bar in self.bars])
        turned[2] += np.pi
        return turned

    @cached(prerequisites=lambda self: (self.bars[1].pose,))
    def point(self, state: State) -> Vector:
        """Position of the point of the coupler [m]."""
        return self.bars[1].pose(state).apply(COUPLER_POINT)


def bar(name: str, *corners: Place) -> list[AbstractDecoration]:
    """Draw a bar: lines from corner to corner, beginning at its pin, and the pin."""
    lines = [
        DecorativeLine(one, other, color=COLORS[name], line_width=4.0)
        for one, other in zip((ORIGIN, *corners), corners, strict=False)
    ]
    return [*lines, DecorativePoint(ORIGIN, line_width=2.0)]


def system() -> MultibodySystem:
    """The model, for `stagecache graph stagecache.examples.four_bar:system -o four_bar.html`."""
    model = MultibodySystem(name="four-bar")
    matter = model.matter
    crank_end, coupler_end, pivot = (CRANK, 0.0, 0.0), (COUPLER, 0.0, 0.0), (GROUND, 0.0, 0.0)
    crank = matter.add_body("crank", matter.ground, Pin(), decorations=bar("crank", crank_end))
    coupler = matter.add_body(
        "coupler",
        crank,
        Pin(),
        inboard_frame=Transform(None, crank_end),
        decorations=bar("coupler", coupler_end, COUPLER_POINT, ORIGIN),
    )
    rocker = matter.add_body(
        "rocker",
        coupler,
        Pin(),
        inboard_frame=Transform(None, coupler_end),
        decorations=bar("rocker", (ROCKER, 0.0, 0.0)),
    )
    matter.add_decoration(matter.ground, DecorativePoint(pivot, line_width=2.0))
    closure = BallConstraint(matter.ground, pivot, rocker, (ROCKER, 0.0, 0.0))
    model.add(closure, "pivot")
    model.add(Gauge((crank, coupler, rocker)), "gauge")
    return model


def closed_form(crank: ArrayLike) -> tuple[Vector, Vector]:
    """The angles of coupler and rocker by the law of cosines, the coupler above [rad]."""
    angle = np.asarray(crank, float)
    x, y = CRANK * np.cos(angle), CRANK * np.sin(angle)
    distance = np.hypot(GROUND - x, y)
    cosine = (COUPLER**2 + distance**2 - ROCKER**2) / (2.0 * COUPLER * distance)
    coupler = np.arctan2(-y, GROUND - x) + np.arccos(cosine)
    joint = x + COUPLER * np.cos(coupler), y + COUPLER * np.sin(coupler)
    return coupler, np.arctan2(joint[1], joint[0] - GROUND)


def main() -> None:
    """Assemble, then turn the crank."""
    model = system()
    gauge = model.get(Gauge)
    state = model.new_state()
    state.q = POOR_START
    assembler = Assembler(model, accuracy=ACCURACY)
    crank = assembler.add_goal(QValue(gauge.bars[0], 0, 0.0, "crank"))

    assembler.set_internal_state(state)
    print(f"error norm of the start: {assembler.calc_current_error_norm():.2f} m")
    print("assembled:", assembler.assemble(state))
    print("q =", state.q.round(4))

    worst = 0.0
    for degrees in range(1, 361):
        crank.value = float(np.radians(degrees))
        result = assembler.track()
        found = gauge.angles(assembler.internal_state)
        worst = max(worst, float(np.abs(found[1:] - closed_form(found[0])).max()))
        if degrees % 60 == 0:
            print(np.degrees(found).round(2), f"degrees, error norm {result.error_norm:.0e} m")
    print(f"largest difference from the closed form: {worst:.0e} rad")
    print(assembler.statistics)


if __name__ == "__main__":
    main()
