"""A view as SVG, drawn without any other program.

The picture holds its own style, which follows the browser to light or dark, and no identifiers, so
that a page can hold several. Each node is a group of the class "node" with its path in the
attribute "data-path", each edge one of the class "edge" with "data-source" and "data-target".
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Final

from stagecache.views.layout.collapse import collapsed
from stagecache.views.layout.labels import description_of, shortened, width_of
from stagecache.views.layout.layout import (
    HEIGHT,
    MARGIN,
    TITLE,
    Box,
    Layout,
    Route,
    curve,
    layout_of,
)
from stagecache.views.nodes import AbstractView, EdgeKind, NodeInfo
from stagecache.views.style import LOOKS, STYLE

ROW: Final = 20.0
"""The height of a line of the legend."""

SMALL: Final = 0.85
"""Width of the texts of the legend, relative to those of nodes."""

NARROWEST: Final = 360.0

ILLEGAL: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, and the carriage return, which it reads as a line feed."""

EDGES: Final = {
    EdgeKind.PREREQUISITE: "is a prerequisite of",
    EdgeKind.STAGE: "comes before",
    EdgeKind.INVALIDATES: "invalidates",
    EdgeKind.PART: "is a part of",
    EdgeKind.READ: "is read by",
    EdgeKind.WRITE: "writes",
}


def svg_of(view: AbstractView, most: int = 500) -> str:
    """Return a view as SVG, with groups in place of nodes if there are more than `most`."""
    shown = collapsed(view, most)
    layout = layout_of(shown)
    width = max(layout.width, 1.2 * width_of(view.title) + 2 * MARGIN, NARROWEST)
    end, key = _legend(shown, layout.height + TITLE, width - MARGIN)
    height = end + MARGIN
    title = escaped(view.title or "dependency graph")
    nodes = {node.path: node for node in shown.nodes}
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="stagecache" role="img" '
            f'width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}">',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
            f'<text class="title" x="{MARGIN:g}" y="{MARGIN + 8:g}">{title}</text>',
            f'<g transform="translate(0 {TITLE:g})">',
            *_bands(layout),
            *_columns(layout),
            *[_edge(route) for route in layout.routes],
            *[_node(nodes[box.path], box) for box in layout.boxes.values()],
            "</g>",
            *key,
            "</svg>",
            "",
        ]
    )


def _bands(layout: Layout) -> Iterator[str]:
    for number, band in enumerate(layout.bands):
        yield (
            f'<rect class="band {"odd" if number % 2 else "even"}" x="{band.x:g}" y="{band.y:g}" '
            f'width="{band.width:g}" height="{band.height:g}" rx="6"/>'
        )
        if band.subsystem:
            name = escaped(shortened(band.subsystem, 60))
            yield (
                f'<text class="subsystem" x="{band.x + 8:g}" y="{band.y + 15:g}">{name}'
                f"<title>{escaped(band.subsystem)}</title></text>"
            )


def _columns(layout: Layout) -> Iterator[str]:
    for column in layout.columns:
        if column.title:
            title = escaped(shortened(column.title))
            yield f'<text class="stage-title" x="{column.x:g}" y="{MARGIN + 14:g}">{title}</text>'


def _edge(route: Route) -> str:
    said = escaped(f"{route.source} {EDGES[route.kind]} {route.target}")
    return (
        f'<g class="edge {route.kind}" data-source="{escaped(route.source)}" '
        f'data-target="{escaped(route.target)}"><title>{said}</title>'
        f'<path d="{curve(route.points)}"/>{_head(route)}</g>'
    )


def _head(route: Route) -> str:
    """Return the tip of the arrow, at the end of the route and in its last direction."""
    (before, _), (x, y) = route.points[-2:]
    back = -7 if x >= before else 7
    return f'<path class="head" d="M{x:g},{y:g}l{back},-3.5v7z"/>'


def _node(node: NodeInfo, box: Box) -> str:
    middle = box.x + box.width / 2
    return (
        f'<g class="node {escaped(node.kind)} {LOOKS.get(node.status, "plain")}" '
        f'data-path="{escaped(node.path)}"><title>{escaped(description_of(node))}</title>'
        f"{_shape(node, box)}"
        f'<text x="{middle:g}" y="{box.y + box.height / 2 + 4:g}">{escaped(box.label)}</text></g>'
    )


def _shape(node: NodeInfo, box: Box) -> str:
    """Return a pill for a variable, a hexagon for a stage, a slanted box for a hook, else a box.

    A group has two of them, one behind the other.
    """
    if node.kind == "stage" and node.variant != "group":
        side, half = box.width - 16, box.height / 2
        return (
            f'<path d="M{box.x:g},{box.y + half:g}l8,{-half:g}h{side:g}l8,{half:g}'
            f'l-8,{half:g}h{-side:g}z"/>'
        )
    if node.kind == "hook" and node.variant != "group":
        side = box.width - 8
        return f'<path d="M{box.x + 8:g},{box.y:g}h{side:g}l-8,{box.height:g}h{-side:g}z"/>'
    round_ = HEIGHT / 2 if node.kind == "variable" else 3
    size = f'width="{box.width:g}" height="{box.height:g}" rx="{round_:g}"'
    shape = f'<rect x="{box.x:g}" y="{box.y:g}" {size}/>'
    if node.variant == "group":
        return f'<rect x="{box.x + 3:g}" y="{box.y + 3:g}" {size}/>{shape}'
    return shape


def _legend(view: AbstractView, top: float, width: float) -> tuple[float, list[str]]:
    """Return the lower end of the legend, and its lines: shapes, colours and arrows that occur."""
    kinds = dict.fromkeys(node.kind for node in view.nodes)
    samples = [(_sample(NodeInfo("", kind=kind)), kind) for kind in kinds]
    for status in LOOKS:
        kind = next((node.kind for node in view.nodes if node.status is status), "")
        if kind:
            samples.append((_sample(NodeInfo("", kind=kind, status=status)), status))
    for edge_kind, text in EDGES.items():
        if any(edge.kind == edge_kind for edge in view.edges):
            route = Route("", "", edge_kind, ((0, 7), (30, 7)))
            path = f'<path d="{curve(route.points)}"/>{_head(route)}'
            samples.append((f'<g class="key-edge {edge_kind}">{path}</g>', text))
    x, y = MARGIN, top
    lines = []
    for drawing, text in samples:
        wide = 36 + SMALL * width_of(text)
        if x > MARGIN and x + wide > width:
            x, y = MARGIN, y + ROW
        words = f'<text x="36" y="11">{escaped(text)}</text>'
        lines.append(f'<g class="legend" transform="translate({x:g} {y:g})">{drawing}{words}</g>')
        x += wide + 16
    return y + ROW, lines


def _sample(node: NodeInfo) -> str:
    shape = _shape(node, Box("", "", 0, 0, 30, 14))
    return f'<g class="key {escaped(node.kind)} {LOOKS.get(node.status, "plain")}">{shape}</g>'


def escaped(text: str) -> str:
    """Escape a text for XML, in attributes too; characters that XML cannot hold are replaced."""
    legal = ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
    return escape(legal).replace("\n", "&#10;").replace("\t", "&#9;")
