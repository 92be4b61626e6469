"""The limits that figures must keep, as ratios within one run, and whether they do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import log
from statistics import linear_regression
from typing import final

from attrs import frozen

from benchmarks.figures import Figure
from benchmarks.peers import OWN

Results = Mapping[tuple[str, str], Figure]
"""By row and column."""


@frozen
class Verdict:
    """A limit as text, and whether it is met; None if there is nothing to compare with."""

    text: str
    met: bool | None

    def __str__(self) -> str:
        return f"{self.text} {'✓' if self.met else '✗'}" if self.met is not None else self.text


class AbstractLimit(ABC):
    """What stagecache's figure in some row must not exceed."""

    @abstractmethod
    def judge(self, row: str, results: Results) -> Verdict:
        """Compare the figure of that row, which must be among the results."""


@final
@frozen
class OfPeer(AbstractLimit):
    """A factor of another column's figure in the same row."""

    factor: float
    column: str

    def judge(self, row: str, results: Results) -> Verdict:
        return _compare(
            results[row, OWN], results.get((row, self.column)), self.column, self.factor
        )


@final
@frozen
class OfRow(AbstractLimit):
    """A factor of stagecache's own figure in another row."""

    factor: float
    row: str

    def judge(self, row: str, results: Results) -> Verdict:
        other = results.get((self.row, OWN))
        return _compare(results[row, OWN], other, f"“{self.row}”", self.factor)


@final
@frozen
class Growth(AbstractLimit):
    """How stagecache's time grows with n: the exponent e of n^e, fitted to several rows.

    Attributes
    ----------
    exponent : float
        The largest that it may be.
    rows : tuple of tuple
        Each an n and the name of its row.
    """

    exponent: float
    rows: tuple[tuple[int, str], ...]

    def judge(self, row: str, results: Results) -> Verdict:
        points = [(n, results[name, OWN].median) for n, name in self.rows if (name, OWN) in results]
        if len(points) < len(self.rows):
            return Verdict(f"n^e, e ≤ {self.exponent:g}: not all rows are measured", None)
        slope, _ = linear_regression(*[[log(x) for x in xs] for xs in zip(*points, strict=True)])
        return Verdict(f"grows as n^{slope:.2f}, ≤ {self.exponent:g}", slope <= self.exponent)


def _compare(own: Figure, other: Figure | None, name: str, factor: float) -> Verdict:
    if other is None:
        return Verdict(f"≤ {factor:g} × {name}: not measured", None)
    ratio = own.median / other.median
    return Verdict(f"{ratio_text(ratio)} × {name}, ≤ {factor:g}", ratio <= factor)


def ratio_text(ratio: float) -> str:
    """Return a ratio with two or three digits that count."""
    digits = 0 if ratio >= 100 else 1 if ratio >= 10 else 2 if ratio >= 0.1 else 3
    return f"{ratio:,.{digits}f}"
