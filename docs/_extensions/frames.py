"""The picture of the frames of a mobilizer, drawn of a tree of two bodies in a plane."""

from math import cos, sin
from typing import Any

import numpy as np

from stagecache import (
    DecorativeBrick,
    DecorativeFrame,
    DecorativeLine,
    DecorativeText,
    State,
    draw,
)
from stagecache.decorations import (
    AbstractDecoration,
)
from stagecache.multibody import MultibodySystem, Planar, Transform

PAINT = (0.95, 0.55, 0.15)
BLUE = (0.15, 0.35, 0.75)
GREY = (0.35, 0.35, 0.35)
MOVED = [0.1, 0.95, 0.25, 0.5, 0.7, 0.12]  # angle [rad], x and y [m] of both joints
ARROWS = {"X_GP": "GP", "X_PF": "PF", "X_FM(q)": "FM", "X_BM": "BM"}


def make_figure() -> Any:
    """A figure of matplotlib: frames G, P, F, M and B, and where each is in another one."""
    from matplotlib import pyplot  # noqa: PLC0415  # it takes a while

    system = MultibodySystem()
    system.use_uniform_background = True
    matter = system.matter
    parent = matter.add_body("P", matter.ground, Planar(), decorations=_bar(0.4, PAINT))
    body = matter.add_body(
        "B",
        parent,
        Planar(),
        inboard_frame=Transform(_turned(-0.25), [0.8, 0.0, 0.0]),
        outboard_frame=Transform(_turned(0.2), [-0.7, 0.0, 0.0]),
        decorations=_bar(-0.3, BLUE),
    )
    matter.add_decoration(matter.ground, DecorativeFrame(0.25, line_width=2.5))
    state = system.new_state()
    state.q = MOVED

    def frames(state: State) -> list[AbstractDecoration]:
        where = {"G": Transform(), "P": parent.pose(state), "B": body.pose(state)}
        where["F"] = where["P"] @ body.inboard_frame
        where["M"] = where["B"] @ body.outboard_frame
        shown: list[AbstractDecoration] = []
        for name, frame in where.items():
            at = {"rotation": frame.rotation, "translation": frame.translation}
            shown.append(DecorativeFrame(0.25, **at, line_width=2.5))
            shown.append(DecorativeText(name, translation=frame.apply([-0.06, -0.1, 0.0])))
        for name, (start, end) in ARROWS.items():
            ends = where[start].translation, where[end].translation
            below = sum(ends) / 2 - np.array([0.0, 0.17, 0.0])
            shown.append(DecorativeLine(*ends, color=GREY))
            shown.append(DecorativeText(name, translation=below))
        return shown

    figure = pyplot.figure(figsize=(8.0, 2.2), facecolor="white")
    axes = figure.add_axes((-0.165, -1.45, 1.28, 4.0), projection="3d")
    draw(system, state, axes, extra=frames, view=(8.0, 10.0))
    return figure


def _turned(angle: float) -> list[list[float]]:
    c, s = cos(angle), sin(angle)
    return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]


def _bar(middle: float, color: tuple[float, float, float]) -> list[AbstractDecoration]:
    place = (middle, 0.0, -0.02)
    return [DecorativeBrick((0.5, 0.14, 0.01), translation=place, color=color, opacity=0.25)]
