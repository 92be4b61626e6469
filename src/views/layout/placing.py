"""Heights of items: near their neighbours, in their order, and in their band.

For a cell, this is a problem of least squares with an order to keep, which is solved by pooling
neighbours that are in each other's way (isotonic regression).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from stagecache.views.layout.ordering import Cells, Links

SWEEPS: Final = 10
"""Half of them from the left and from the right in turn, half by what pulls most."""


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
        For each item, the neighbours to which it is to be near in the end.
    heights : sequence of float
        Of each item, with the room around it.
    weights : sequence of float
        Of each item, how much its place counts for its neighbours, and in its cell.
    bounds : sequence of pairs of float
        Of each band, where it begins and ends; each cell fits.
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
