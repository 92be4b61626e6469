"""A figure: the median of repeated samples, with its spread."""

from collections.abc import Sequence
from enum import Enum
from statistics import median, quantiles

from attrs import frozen


class Unit(Enum):
    """What a figure counts; a member holds its prefixed units, largest first."""

    SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
    BYTES = ((1.0, "B"),)

    def format(self, amount: float) -> str:
        """Return an amount with three digits that count and the unit that suits its size."""
        fitting = [unit for unit in self.value if amount >= unit[0]]
        size, symbol = (fitting or self.value[-1:])[0]
        scaled = amount / size
        digits = 0 if scaled >= 100 else 1 if scaled >= 10 else 2
        return f"{scaled:,.{digits}f} {symbol}"


@frozen
class Figure:
    """What was measured of one peer in one row.

    Attributes
    ----------
    median : float
    spread : float or None
        Half of the interquartile range, as a fraction of the median. None of a single sample.
    unit : Unit
    note : str
        What the reader must know of it, for a line of its own, or "".
    """

    median: float
    spread: float | None
    unit: Unit
    note: str = ""

    def __str__(self) -> str:
        text = self.unit.format(self.median)
        if self.spread is not None:
            text += f" ±{self.spread:.0%}"
        return f"{text}\n{self.note}" if self.note else text


def summarise(samples: Sequence[float], unit: Unit, note: str = "") -> Figure:
    """Return the figure that stands for the samples."""
    middle = median(samples)
    if len(samples) == 1:
        return Figure(middle, None, unit, note)
    lower, _, upper = quantiles(samples, n=4, method="inclusive")
    return Figure(middle, (upper - lower) / 2 / abs(middle), unit, note)
