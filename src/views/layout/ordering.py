"""In which order items stand in their layers, so that few edges cross.

Each layer in turn is sorted by the mean place of the neighbours in the one before (barycentres,
after Sugiyama, Tagawa and Toda 1981), from left to right, then from right to left, several times.
The best order that was seen is taken, so it is never worse than that of the model.

Items are numbers. A layer has a cell for each band, and an item does not leave its cell.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import Final, TypeAlias

PATIENCE: Final = 3
"""After so many sweeps without a better order, none is to be expected."""

Cells: TypeAlias = list[list[list[int]]]
"""The items in order, by layer and band."""

Links: TypeAlias = Sequence[Sequence[int]]
"""For each item, its neighbours in the layer before; or in that after."""


def ordered(cells: Cells, before: Links, after: Links, sweeps: int) -> tuple[Cells, int]:
    """The best order found, and how many crossings it has."""
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
    """Each layer sorted by the neighbours on one side, one after the other."""
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
    """Items by the mean place of their neighbours; those without any keep theirs."""
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
