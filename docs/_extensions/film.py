"""The film of the README: a four-bar linkage that turns, beside the graph of its computations.

Each step of the crank is a write of q, and then a read of each entry, in a real State. The graph
shows the statuses that its entries have at that moment. The angles are those that the Assembler
found in the demonstration.
"""

import io
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stagecache import Stage, State
from stagecache.demo.turn import Demonstration, gauge_of
from stagecache.examples.four_bar import COLORS, COUPLER_POINT, GROUND, ROCKER
from stagecache.pictures.gif import write_gif
from stagecache.views.style import DASHES, LIGHT, look_of

Vector = NDArray[np.float64]
Place = tuple[float, float]

STEPS: Final = 8  # of a turn
SIZE: Final = (8.0, 3.6)  # inches
DPI: Final = 100
LINKAGE: Final = (0.0, 0.02, 0.36, 0.86)  # place of the axes
GRAPH: Final = (0.36, 0.02, 0.64, 0.86)

BODIES: Final = ("crank", "coupler", "rocker")

PLACES: Final[dict[str, tuple[str, Place]]] = {  # label and place of the box of a node
    "matter.joint_q[crank]": ("crank.q", (0.0, 3.0)),
    "matter.joint_q[coupler]": ("coupler.q", (0.0, 2.0)),
    "matter.joint_q[rocker]": ("rocker.q", (0.0, 1.0)),
    "matter.joint_lock[crank]": ("crank.lock", (0.0, 0.0)),
    "gauge.angles": ("angles", (1.0, 3.0)),
    "matter.tree_poses": ("poses", (1.0, 1.5)),
    "matter.driven_joints": ("driven joints", (1.0, 0.0)),
    "matter.pose[coupler]": ("coupler.pose", (2.0, 2.1)),
    "ball_constraints.errors": ("loop errors", (2.0, 0.9)),
    "gauge.point": ("point", (3.0, 2.1)),
    "pivot.error": ("pivot.error", (3.0, 0.9)),
}
ARROWS: Final = (
    *((f"matter.joint_q[{body}]", "gauge.angles") for body in BODIES),
    *((f"matter.joint_q[{body}]", "matter.tree_poses") for body in BODIES),
    ("matter.joint_lock[crank]", "matter.driven_joints"),
    ("matter.tree_poses", "matter.pose[coupler]"),
    ("matter.tree_poses", "ball_constraints.errors"),
    ("matter.pose[coupler]", "gauge.point"),
    ("ball_constraints.errors", "pivot.error"),
)
BOX: Final = (0.82, 0.58)
READS: Final = (("gauge.angles",), ("gauge.point",), ("pivot.error",))
MILLISECONDS: Final = (240, 100, 100, 120)  # of a frame: after the write, then after each read
STILL: Final = 60  # of a frame without news: the linkage goes on


class Moment(NamedTuple):
    """A frame: position of the linkage, nodes of the graph by path, and the text above."""

    q: Vector
    nodes: dict[str, Any]
    caption: str
    milliseconds: int


def make_film(found: Demonstration) -> bytes:
    """Draw the film, as a GIF."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415  # it takes a while

    graph = found.system.graph
    assert all(graph.path_between(*arrow) for arrow in ARROWS)
    frames, durations = [], []
    for moment in _moments(found):
        figure = Figure(figsize=SIZE, dpi=DPI, facecolor="white")
        figure.text(0.02, 0.91, "Four-bar linkage", size=12, weight="bold")
        figure.text(0.385, 0.91, moment.caption, size=12, weight="bold")
        _draw_linkage(figure.add_axes(LINKAGE), found, moment.q)
        _draw_graph(figure.add_axes(GRAPH), moment)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        frames.append(np.array(canvas.buffer_rgba())[:, :, :3])
        durations.append(moment.milliseconds)
    film = io.BytesIO()
    write_gif(frames, durations, film)
    return film.getvalue()


def _moments(found: Demonstration) -> Iterator[Moment]:
    """Write and read, step by step, and observe."""
    system, state = found.system, found.start.copy()
    gauge, pivot = gauge_of(system), system["pivot"]
    read = {
        "gauge.angles": gauge.angles,
        "gauge.point": gauge.point,
        "pivot.error": pivot.error,
    }
    system.realize(state, Stage.ACCELERATION)
    for entry in read.values():
        entry(state)
    rows = np.linspace(0, found.num_frames, STEPS + 1).round().astype(int)
    for before, after in pairwise(rows):
        state.q = found.turn.q[after]
        degrees = round(float(np.degrees(found.turn.angles[after, 0])))
        positions = np.linspace(before, after, 2 * len(READS) + 1).round().astype(int)
        caption = f"write the angles: crank at {degrees}°"
        nodes = _nodes(state)
        yield Moment(found.turn.q[before], nodes, caption, MILLISECONDS[0])
        for number, (path,) in enumerate(READS):
            read[path](state)
            caption = f"read the {PLACES[path][0]}"
            for half in (1, 2):
                row = positions[2 * number + half]
                duration = (MILLISECONDS[number + 1], STILL)[half - 1]
                yield Moment(found.turn.q[row], _nodes(state), caption, duration)


def _nodes(state: State) -> dict[str, Any]:
    view = state.graph
    return {path: view[path] for path in PLACES}


def _draw_linkage(axes: Any, found: Demonstration, q: Vector) -> None:
    """Draw the bars, the pins, and the curve of the point of the coupler."""
    state = found.start.copy()
    state.q = q
    crank, coupler, rocker = gauge_of(found.system).bars
    axes.set(xlim=(-0.68, 1.95), ylim=(-0.75, 1.4), aspect="equal")
    axes.axis("off")
    axes.plot(*found.turn.points[:, :2].T, color="#b9a3c9", linewidth=1.5)
    joints = [body.pose(state).translation for body in (crank, coupler, rocker)]
    joints.append(rocker.station_position(state, (ROCKER, 0.0, 0.0)))
    point = coupler.pose(state).apply(COUPLER_POINT)
    outline = np.array([joints[1], joints[2], point])
    axes.fill(*outline[:, :2].T, color=COLORS["coupler"], alpha=0.25, linewidth=0)
    for name, ends in zip(("crank", "coupler", "rocker"), pairwise(joints), strict=True):
        axes.plot(*np.array(ends)[:, :2].T, color=COLORS[name], linewidth=5, zorder=3)
    axes.plot(*np.array(joints)[:, :2].T, "o", color="#1c2733", markersize=6, zorder=4)
    axes.plot(*point[:2], "o", color="#7a5aa6", markersize=8, zorder=4)
    axes.plot([0.0, GROUND], [-0.07, -0.07], "^", color="#75818c", markersize=12, zorder=2)


def _draw_graph(axes: Any, moment: Moment) -> None:
    """Draw boxes in the colours of their statuses, and arrows to what depends on them."""
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415

    axes.set(xlim=(-0.45, 3.45), ylim=(-0.95, 3.42))
    axes.axis("off")
    width, height = BOX
    for source, target in ARROWS:
        (x, y), (to_x, to_y) = PLACES[source][1], PLACES[target][1]
        arrow = {"arrowstyle": "-|>", "color": LIGHT["line"], "shrinkA": 0, "shrinkB": 2}
        ends = (to_x - width / 2, to_y), (x + width / 2, y)
        axes.annotate("", *ends, arrowprops=arrow, zorder=1)
    written = moment.caption.startswith("write")
    for path, (label, (x, y)) in PLACES.items():
        look = look_of(moment.nodes[path])
        is_written = written and path.startswith("matter.joint_q")
        edge = LIGHT[f"{look}-line"]
        box = FancyBboxPatch(
            (x - width / 2 + 0.05, y - height / 2 + 0.05),
            width - 0.1,
            height - 0.1,
            boxstyle="round,pad=0.05",
            facecolor=edge if is_written else LIGHT[look],
            edgecolor=edge,
            linewidth=1.5,
            linestyle=(0, DASHES[look]) if look in DASHES else "-",
            zorder=2,
        )
        axes.add_patch(box)
        colour = "white" if is_written else LIGHT["ink"]
        axes.text(x, y, label, ha="center", va="center", size=10, color=colour, zorder=3)
    for x, (look, label) in enumerate(
        (("variable", "variable"), ("valid", "valid"), ("stale", "stale"))
    ):
        axes.plot(
            x - 0.3,
            -0.75,
            "s",
            markersize=11,
            color=LIGHT[look],
            markeredgecolor=LIGHT[f"{look}-line"],
        )
        axes.text(x - 0.2, -0.75, label, va="center", size=10.5, color=LIGHT["ink"])
