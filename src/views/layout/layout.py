"""Layout of a picture: stages are columns, subsystems are bands.

::

               variables      Instance           Position
             +----------------------------------------------------+
             | time           (stage) ---------> (stage)          |
    pendulum +--------------------------------------+-------------+
             | angle, length -----------------------+-> tip       |
    anchor   +--------------------------------------+------+------+
             |                                             +> pull|
             +----------------------------------------------------+

Columns and layers come first (`layers`), then bundles of edges, then the order that makes few
crossings and the heights (`ordering`): the method of Sugiyama, with bands. Nothing is random: equal
views have equal layouts.

An edge passes each layer between its ends at a bend. Edges from one node share their bends, and so
do edges from the variables of a subsystem to one stage::

    angle ──┬───────┬── force          angle ──┐
            └─ tip  └── energy         length ─┴──────── stage Position
"""

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Final

from attrs import frozen

from stagecache.views.layout.labels import label_of, width_of
from stagecache.views.layout.layers import Layers, layers_of
from stagecache.views.layout.ordering import Cells, Links, ordered, placed
from stagecache.views.nodes import AbstractView, EdgeInfo, EdgeKind

# ---------------------------------------------------------------------- bundles of edges


MOST_PASSES: Final = 40_000
"""Most passes of edges through bends. With more, no reader could follow them, and none bends."""

MERGED: Final = (EdgeKind.INVALIDATES, EdgeKind.PART)
"""Kinds of edges that share bends where they have the target in common, not the source."""


@frozen
class Bend:
    """A place in a layer through which edges pass.

    Attributes
    ----------
    layer : int
    band : int
    """

    layer: int
    band: int


@frozen
class Bundles:
    """All bends, and how edges pass through them.

    Attributes
    ----------
    bends : tuple of Bend
    chains : tuple of tuple of int
        For each edge the numbers of its bends, from left to right.
    """

    bends: tuple[Bend, ...]
    chains: tuple[tuple[int, ...], ...]


def bundles_of(
    edges: Sequence[EdgeInfo], layers: Mapping[str, int], bands: Mapping[str, int]
) -> Bundles:
    """Return the bends of edges between nodes of these layers and bands; none if too many."""
    bends: list[Bend] = []
    numbers: dict[tuple[object, ...], int] = {}
    chains = []
    passes = 0
    for edge in edges:
        left, right = ends_of(edge, layers)
        band = bands[left]
        chain = []
        for layer in range(layers[left] + 1, layers[right]):
            shared = (right, band) if edge.kind in MERGED else (left,)
            key = (*shared, edge.kind, left == edge.source, layer)
            if key not in numbers:
                numbers[key] = len(bends)
                bends.append(Bend(layer, band))
            chain.append(numbers[key])
        chains.append(tuple(chain))
        passes += len(chain)
        if passes > MOST_PASSES:
            return Bundles((), ((),) * len(edges))
    return Bundles(tuple(bends), tuple(chains))


def ends_of(edge: EdgeInfo, layers: Mapping[str, int]) -> tuple[str, str]:
    """Return the paths of the left end and of the right end."""
    if layers[edge.source] <= layers[edge.target]:
        return edge.source, edge.target
    return edge.target, edge.source


HEIGHT: Final = 24.0
"""Height of the box of a node."""

ROOM: Final = 10.0
"""Between boxes below each other."""

BEND: Final = 7.0
"""Between edges that pass a layer."""

GAP: Final = 34.0
"""Between layers, at least; more where many edges have to find their way."""

STEADY: Final[Mapping[str, float]] = {"stage": 100.0, "bend": 4.0}
"""Weights: items with a high one are put in line with their neighbours first."""

MARGIN: Final = 12.0
TITLE: Final = 22.0
"""The height of the titles of columns and bands."""

Point = tuple[float, float]


@frozen
class Box:
    """Box of a node: upper left corner and size [pixels]."""

    path: str
    label: str
    x: float
    y: float
    width: float
    height: float


@frozen
class Band:
    """Band of a subsystem, over the whole width; the name is empty for the whole State."""

    subsystem: str
    x: float
    y: float
    width: float
    height: float


@frozen
class Column:
    """Column of a stage, from top to bottom."""

    title: str
    x: float
    width: float


@frozen
class Route:
    """Route of an edge: from the side of one box through its bends to the side of the other.

    Attributes
    ----------
    source, target : str
    kind : EdgeKind
    points : tuple of pairs of float
        An even number. From the first to the second, from the third to the fourth, and so on it
        runs straight; in between it changes its height.
    """

    source: str
    target: str
    kind: EdgeKind
    points: tuple[Point, ...]


@frozen
class Layout:
    """Layout of a picture, in pixels from the upper left corner.

    Attributes
    ----------
    boxes : mapping of str to Box
        By path, in the order of the view.
    bands : tuple of Band
    columns : tuple of Column
    routes : tuple of Route
        One for each edge, in the order of the view.
    width, height : float
        Size of the picture.
    crossings : int
        Number of pairs of lines that cross.
    """

    boxes: Mapping[str, Box]
    bands: tuple[Band, ...]
    columns: tuple[Column, ...]
    routes: tuple[Route, ...]
    width: float
    height: float
    crossings: int


def layout_of(view: AbstractView, *, sweeps: int = 12) -> Layout:
    """Lay out a view.

    Parameters
    ----------
    view : GraphView
    sweeps : int
        How often to look for an order with fewer crossings. 0 leaves the order of the model.
    """
    return Draft(view, sweeps).result()


class Draft:
    """A layout that is being made.

    Items are numbers: first the nodes in the order of the view, then the bends of edges.
    """

    def __init__(self, view: AbstractView, sweeps: int) -> None:
        self.view = view
        self.layers: Layers = layers_of(view)
        names = sorted({n.subsystem for n in view.nodes}, key=_first_of(view).__getitem__)
        self.bands = {name: number for number, name in enumerate(names)}
        band_of = {node.path: self.bands[node.subsystem] for node in view.nodes}
        self.numbers = {node.path: number for number, node in enumerate(view.nodes)}
        self.bundles: Bundles = bundles_of(view.edges, self.layers.of, band_of)
        self.heights = [HEIGHT + ROOM] * len(view.nodes) + [BEND] * len(self.bundles.bends)
        self.weights = [STEADY.get(node.kind, 1.0) for node in view.nodes]
        self.weights += [STEADY["bend"]] * len(self.bundles.bends)
        self.links = self._links()
        self.cells, self.crossings = ordered(self._cells(), *self.links, sweeps)

    def result(self) -> Layout:
        """Return the layout."""
        lefts, widths, columns, width = self._across()
        bands = self._down(width - 2 * MARGIN)
        bounds = [
            (band.y + (TITLE if band.subsystem else ROOM / 2), band.y + band.height - ROOM / 2)
            for band in bands
        ]
        middles = placed(self.cells, self.links, self._pulls(), self.heights, self.weights, bounds)
        boxes = {}
        for number, node in enumerate(self.view.nodes):
            layer = self.layers.of[node.path]
            boxes[node.path] = Box(
                node.path,
                label_of(node),
                round(lefts[layer], 1),
                round(middles[number] - HEIGHT / 2, 1),
                round(widths[layer], 1),
                HEIGHT,
            )
        height = bands[-1].y + bands[-1].height + MARGIN if bands else 2 * MARGIN + TITLE
        return Layout(
            boxes,
            tuple(bands),
            tuple(columns),
            self._routes(boxes, middles, lefts, widths),
            round(width, 1),
            round(height, 1),
            self.crossings,
        )

    # ------------------------------------------------------------------ items, and their order

    def _items_of(self, number: int) -> list[int]:
        """Return the items that an edge passes, from left to right."""
        left, right = ends_of(self.view.edges[number], self.layers.of)
        bends = [len(self.view.nodes) + bend for bend in self.bundles.chains[number]]
        return [self.numbers[left], *bends, self.numbers[right]]

    def _links(self) -> tuple[Links, Links]:
        before: list[dict[int, None]] = [{} for _ in self.heights]
        after: list[dict[int, None]] = [{} for _ in self.heights]
        for number, edge in enumerate(self.view.edges):
            if edge.source == edge.target:
                continue
            for one, other in pairwise(self._items_of(number)):
                before[other][one] = None
                after[one][other] = None
        return [list(links) for links in before], [list(links) for links in after]

    def _pulls(self) -> Links:
        """Return the items that pull each item: neighbours of a node; left ones of a bend."""
        before, after = self.links
        number = len(self.view.nodes)
        both = [[*before[item], *after[item]] for item in range(number)]
        return [*both, *before[number:]]

    def _cells(self) -> Cells:
        cells: Cells = [[[] for _ in self.bands] for _ in range(self.layers.firsts[-1])]
        for number, node in enumerate(self.view.nodes):
            cells[self.layers.of[node.path]][self.bands[node.subsystem]].append(number)
        for number, bend in enumerate(self.bundles.bends, len(self.view.nodes)):
            cells[bend.layer][bend.band].append(number)
        return cells

    # ------------------------------------------------------------------ places

    def _across(self) -> tuple[list[float], list[float], list[Column], float]:
        """Return the left end and the width of each layer, the columns, and the width of all."""
        widths = [40.0] * self.layers.firsts[-1]
        for node in self.view.nodes:
            layer = self.layers.of[node.path]
            widths[layer] = max(widths[layer], width_of(label_of(node)) + 20)
        columns = []
        lefts = []
        x = 2 * MARGIN
        for title, (first, end) in zip(
            self.layers.columns, pairwise(self.layers.firsts), strict=True
        ):
            start = x
            for layer in range(first, end):
                lines = sum(len(self.links[1][item]) for item in chain(*self.cells[layer]))
                if layer == end - 1:
                    widths[layer] = max(widths[layer], width_of(title) - (x - start))
                lefts.append(x)
                x += widths[layer] + GAP + min(lines, 2 * GAP)
            columns.append(
                Column(title, round(start, 1), round(lefts[-1] + widths[end - 1] - start, 1))
            )
        width = lefts[-1] + widths[-1] + 2 * MARGIN if lefts else 4 * MARGIN
        return lefts, widths, columns, width

    def _down(self, width: float) -> list[Band]:
        """Return the bands, each as high as its highest cell."""
        bands = []
        y = MARGIN + TITLE
        for name, number in self.bands.items():
            highest = max(sum(self.heights[i] for i in layer[number]) for layer in self.cells)
            height = round(highest + ROOM / 2 + (TITLE if name else ROOM / 2), 1)
            bands.append(Band(name, MARGIN, round(y, 1), round(width, 1), height))
            y += height + 2
        return bands

    def _routes(
        self,
        boxes: Mapping[str, Box],
        middles: Mapping[int, float],
        lefts: Sequence[float],
        widths: Sequence[float],
    ) -> tuple[Route, ...]:
        routes = []
        for number, edge in enumerate(self.view.edges):
            points: list[Point] = []
            if edge.source == edge.target:
                box = boxes[edge.source]
                x, y = box.x + box.width, box.y + box.height / 2
                points = [(x, y - 6), (x + 12, y - 6), (x + 12, y + 6), (x, y + 6)]
            else:
                first, *bends, last = self._items_of(number)
                layer = self.layers.of[self.view.nodes[first].path]
                right = lefts[layer] + widths[layer]
                points += [(right, middles[first]), (right + 4, middles[first])]
                for bend in bends:
                    layer = self.bundles.bends[bend - len(self.view.nodes)].layer
                    points += [
                        (lefts[layer], middles[bend]),
                        (lefts[layer] + widths[layer], middles[bend]),
                    ]
                left = lefts[self.layers.of[self.view.nodes[last].path]]
                points += [(left - 8, middles[last]), (left, middles[last])]
                if self.numbers[edge.source] == last:
                    points.reverse()
            routes.append(
                Route(
                    edge.source,
                    edge.target,
                    edge.kind,
                    tuple((round(x, 1), round(y, 1)) for x, y in points),
                )
            )
        return tuple(routes)


def curve(points: Sequence[Point]) -> str:
    """Return the data of an SVG path along the points of a `Route`."""
    (x, y), *rest = points
    parts = [f"M{x:g},{y:g}"]
    is_straight = True
    for to_x, to_y in rest:
        if is_straight or to_y == y:
            parts.append(f"L{to_x:g},{to_y:g}")
        else:
            middle = (x + to_x) / 2
            parts.append(f"C{middle:g},{y:g} {middle:g},{to_y:g} {to_x:g},{to_y:g}")
        x, y = to_x, to_y
        is_straight = not is_straight
    return "".join(parts)


def _first_of(view: AbstractView) -> dict[str, int]:
    """Return the first node of each subsystem, by number; the whole State comes first."""
    found = {"": -1}
    for number, node in enumerate(view.nodes):
        found.setdefault(node.subsystem, number)
    return found
