"""Order of items in their layers, so that few edges cross, and their heights.

Each layer in turn is sorted by the mean place of the neighbours in the one before (barycentres,
after Sugiyama, Tagawa and Toda 1981), from left to right, then from right to left, several times.
The best order that was seen is taken, so it is never worse than the order of the model.

Items are numbers. A layer has a cell for each band, and an item does not leave its cell.

Heights are near those of the neighbours. For a cell, this is a problem of least squares with an
order to keep, which is solved by pooling neighbours that are in each other's way (isotonic
regression).
"""

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

PATIENCE: Final = 3
"""Number of sweeps without a better order after which to stop."""

Cells: TypeAlias = list[list[list[int]]]
"""The items in order, by layer and band."""

Links: TypeAlias = Sequence[Sequence[int]]
"""Neighbours of each item in the layer before, or in the one after."""


def ordered(cells: Cells, before: Links, after: Links, sweeps: int) -> tuple[Cells, int]:
    """Return the best order found, and the number of its crossings."""
    best, fewest = cells, crossings_of(cells, before)
    current = cells
    last_better = -1
    for sweep in range(sweeps):
        if fewest == 0 or sweep - last_better > PATIENCE:
            break
        forward = sweep % 2 == 0
        current = _swept(current, before if forward else after, forward)
        crossings = crossings_of(current, before)
        if crossings < fewest:
            best, fewest, last_better = current, crossings, sweep
    return best, fewest


def crossings_of(cells: Cells, before: Links) -> int:
    """Count the pairs of edges that cross between neighbouring layers."""
    places = _places(cells)
    crossings = 0
    for layer in cells:
        ends: list[int] = []
        for cell in layer:
            for item in cell:
                starts = sorted(places[other] for other in before[item])
                crossings += sum(len(ends) - bisect_right(ends, start) for start in starts)
                for start in starts:
                    insort(ends, start)
    return crossings


def _swept(cells: Cells, neighbours: Links, forward: bool) -> Cells:
    """Sort each layer in turn by the neighbours on one side."""
    sorted_cells: Cells = [[] for _ in cells]
    places = _places(cells)
    numbers = range(len(cells))
    for number in numbers if forward else reversed(numbers):
        place = 0
        for cell in cells[number]:
            chosen = _sorted(cell, neighbours, places)
            sorted_cells[number].append(chosen)
            for item in chosen:
                places[item] = place
                place += 1
    return sorted_cells


def _sorted(cell: list[int], neighbours: Links, places: dict[int, int]) -> list[int]:
    """Return items by the mean place of their neighbours; those without any keep theirs."""
    free = [item for item in cell if neighbours[item]]
    means = {i: sum(places[n] for n in neighbours[i]) / len(neighbours[i]) for i in free}
    in_order = iter(sorted(free, key=means.__getitem__))
    return [next(in_order) if neighbours[item] else item for item in cell]


def _places(cells: Cells) -> dict[int, int]:
    return {
        item: place
        for layer in cells
        for place, item in enumerate(item for cell in layer for item in cell)
    }


# ---------------------------------------------------------------------- heights


SWEEPS: Final = 10
"""Number of sweeps: half from the left and the right in turn, half by the pulls."""


def placed(
    cells: Cells,
    links: tuple[Links, Links],
    pulls: Links,
    heights: Sequence[float],
    weights: Sequence[float],
    bounds: Sequence[tuple[float, float]],
) -> dict[int, float]:
    """Return the middle of each item.

    Parameters
    ----------
    cells : list
        Items in order, by layer and band.
    links : pair of sequences
        For each item, its neighbours in the layer before, and in the one after.
    pulls : sequence
        For each item, the neighbours that it should be near in the end.
    heights : sequence of float
        Height of each item, with the room around it.
    weights : sequence of float
        Weight of each item, for its neighbours and in its cell.
    bounds : sequence of pairs of float
        Begin and end of each band; each cell fits.
    """
    at: dict[int, float] = {}
    for layer in cells:
        for cell, (low, _) in zip(layer, bounds, strict=True):
            here = low
            for item in cell:
                at[item] = here + heights[item] / 2
                here += heights[item]
    for sweep in range(SWEEPS):
        neighbours = links[sweep % 2] if sweep < SWEEPS // 2 else pulls
        for layer in cells if sweep % 2 == 0 else reversed(cells):
            for cell, band in zip(layer, bounds, strict=True):
                wanted = [_mean(item, neighbours, weights, at) for item in cell]
                at.update(zip(cell, _spread(cell, wanted, heights, weights, band), strict=True))
    return at


def _mean(item: int, neighbours: Links, weights: Sequence[float], at: Mapping[int, float]) -> float:
    found = neighbours[item]
    if not found:
        return at[item]
    return sum(weights[n] * at[n] for n in found) / sum(weights[n] for n in found)


def _spread(
    cell: Sequence[int],
    wanted: Sequence[float],
    heights: Sequence[float],
    weights: Sequence[float],
    band: tuple[float, float],
) -> list[float]:
    """Places as near as can be to those wanted, in this order, without overlap, in the band."""
    offsets = []
    total = 0.0
    for item in cell:
        offsets.append(total + heights[item] / 2)
        total += heights[item]
    low, high = band[0], max(band[0], band[1] - total)
    pools: list[tuple[float, float, int]] = []
    for item, want, offset in zip(cell, wanted, offsets, strict=True):
        mean, weight, size = want - offset, weights[item], 1
        while pools and pools[-1][0] > mean:
            other, more, number = pools.pop()
            mean = (mean * weight + other * more) / (weight + more)
            weight, size = weight + more, size + number
        pools.append((mean, weight, size))
    starts = [min(max(mean, low), high) for mean, _, size in pools for _ in range(size)]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]
