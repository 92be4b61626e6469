"""A view on axes of matplotlib, as in its SVG."""

from importlib import import_module
from typing import Any, Final

from stagecache.checks import require_extra
from stagecache.views.layout.collapse import collapsed
from stagecache.views.layout.layout import Box, Layout, Route, layout_of
from stagecache.views.nodes import AbstractView, EdgeKind, NodeInfo
from stagecache.views.style import DASHES, LIGHT, look_of

INCH: Final = 96.0
"""Pixels."""

TITLE: Final = 36.0
"""The height of the title, in pixels."""

LINES: Final = {
    EdgeKind.PREREQUISITE: ("line", "-"),
    EdgeKind.STAGE: ("pale", "-"),
    EdgeKind.INVALIDATES: ("pale", "--"),
    EdgeKind.PART: ("part", "-"),
    EdgeKind.READ: ("hook-line", ":"),
    EdgeKind.WRITE: ("hook-line", "-"),
}


def draw_on(view: AbstractView, ax: Any, most: int) -> Any:
    """Draw a view on axes, or on new ones if these are None; return them.

    The types of matplotlib cannot be named where it is not installed.
    """
    pyplot = require_extra("matplotlib.pyplot", "viz", "draw()", "use to_svg()")
    shown = collapsed(view, most)
    layout = layout_of(shown)
    if ax is None:
        height = layout.height + TITLE
        figure = pyplot.figure(figsize=(layout.width / INCH, height / INCH))
        ax = figure.add_axes((0, 0, 1, layout.height / height))
    ax.set(xlim=(0, layout.width), ylim=(layout.height, 0), aspect="equal", title=view.title)
    ax.axis("off")
    per_pixel = _points_per_pixel(ax, layout)
    _draw_bands(ax, layout, per_pixel)
    for route in layout.routes:
        _draw_edge(ax, route, per_pixel)
    for node in shown.nodes:
        _draw_node(ax, node, layout.boxes[node.path], per_pixel)
    return ax


def _points_per_pixel(ax: Any, layout: Layout) -> float:
    """Return the points per pixel: texts fit into their boxes, however small the axes are."""
    place = ax.get_window_extent()
    scale = min(place.width / layout.width, place.height / layout.height)
    return float(scale * 72 / ax.figure.dpi)


def _draw_bands(ax: Any, layout: Layout, per_pixel: float) -> None:
    rectangle = import_module("matplotlib.patches").Rectangle
    for number, band in enumerate(layout.bands):
        colour = LIGHT["odd" if number % 2 else "even"]
        ax.add_patch(rectangle((band.x, band.y), band.width, band.height, color=colour, zorder=0))
        _write(ax, band.x + 8, band.y + 11, band.subsystem, per_pixel, ha="left", weight="bold")
    for column in layout.columns:
        _write(ax, column.x, 24, column.title, per_pixel, ha="left", color=LIGHT["faint"])


def _draw_edge(ax: Any, route: Route, per_pixel: float) -> None:
    path = import_module("matplotlib.path").Path
    patch = import_module("matplotlib.patches").FancyArrowPatch
    codes, points = [path.MOVETO], [route.points[0]]
    for number, (x, y) in enumerate(route.points[1:]):
        if number % 2 == 0:
            codes, points = [*codes, path.LINETO], [*points, (x, y)]
        else:
            from_x, from_y = route.points[number]
            middle = (from_x + x) / 2
            codes = [*codes, *[path.CURVE4] * 3]
            points = [*points, (middle, from_y), (middle, y), (x, y)]
    colour, style = LINES[route.kind]
    ax.add_patch(
        patch(
            path=path(points, codes),
            arrowstyle="-|>",
            mutation_scale=8 * per_pixel,
            color=LIGHT[colour],
            linestyle=style,
            linewidth=per_pixel,
            fill=False,
            zorder=1,
        )
    )


def _draw_node(ax: Any, node: NodeInfo, box: Box, per_pixel: float) -> None:
    look = look_of(node)
    shape = _shape(node, box)
    shape.set(
        facecolor=LIGHT[look],
        edgecolor=LIGHT[f"{look}-line"],
        linestyle=(0, DASHES.get(look)),
        linewidth=per_pixel,
        zorder=2,
    )
    ax.add_patch(shape)
    _write(ax, box.x + box.width / 2, box.y + box.height / 2, box.label, per_pixel, ha="center")


def _shape(node: NodeInfo, box: Box) -> Any:
    """Return the shape as in the SVG: for a variable a pill, and so on."""
    patches = import_module("matplotlib.patches")
    x, y, right, low = box.x, box.y, box.x + box.width, box.y + box.height
    if node.kind == "stage":
        middle = y + box.height / 2
        corners = [(x + 8, y), (right - 8, y), (right, middle), (right - 8, low), (x + 8, low)]
        return patches.Polygon([(x, middle), *corners])
    if node.kind == "hook":
        return patches.Polygon([(x + 8, y), (right, y), (right - 8, low), (x, low)])
    radius = box.height / 2 - 0.01 if node.kind == "variable" else 3
    style = f"round,pad=0,rounding_size={radius}"
    return patches.FancyBboxPatch((x, y), box.width, box.height, boxstyle=style)


def _write(ax: Any, x: float, y: float, text: str, per_pixel: float, **how: str) -> None:
    """Write a text as it is: a dollar begins no formula."""
    ax.text(x, y, text, va="center", size=11 * per_pixel, parse_math=False, zorder=3, **how)
