r"""Derivatives of all rows by all columns, from differences with groups of columns moved together.

::

    group (0, 3):   row 1  changes by  J[1, 0] h_0      as it is known to read column 0 alone
                    row 2  changes by  J[2, 3] h_3
                    row 4  changes, and is not known to read 0 or 3: it depends on everything
    check:          all columns, by w_0 h_0, w_1 h_1, ...; row 1 changes by the sum of
                    J[1, c] w_c h_c, or else depends on everything

A row may depend on a column without an observed read: a hook leaves a value in a dict, and another
hook finds it there. If that column is moved together with a column that the row is known to read,
the row changes by a sum, and so few evaluations cannot separate its parts. The check has other
factors, so it finds another sum.
"""

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from stagecache.state.handles import Vector
from stagecache.study.linear.evaluations import Evaluations
from stagecache.study.linear.grouping import Group, are_apart, grouped, members, transposed
from stagecache.study.linear.sizes import EPSILON, require_steps
from stagecache.study.linear.sparsity import Sparsity

Table = tuple[NDArray[np.intp], NDArray[np.intp], Vector]
"""Rows, columns and numbers of a sparse matrix."""

GOLDEN: Final = (5**0.5 - 1) / 2

MARGIN: Final = 16.0
"""The least sum of errors that counts as a difference, in units of one expected error."""


@final
class Differences:
    """Differences around a State, and what they show about the sparsity.

    Parameters
    ----------
    evaluations : Evaluations
    relative : float
        Step of each column, relative to its size.
    is_central : bool

    Attributes
    ----------
    done : list of (tuple of int, (number of rows,) float)
        Groups of columns that were moved together, and how the rows changed.

    Raises
    ------
    OutOfRangeError
        A step is lost beside the value of its column.
    """

    def __init__(self, evaluations: Evaluations, relative: float, *, is_central: bool) -> None:
        columns = evaluations.columns
        self._evaluations, self._relative, self._is_central = evaluations, relative, is_central
        self._sparsity = Sparsity(evaluations.base, columns, evaluations.reads)
        self._steps = relative * evaluations.sizes
        self._widths = self._width_of(self._steps)
        require_steps(columns, self._widths)
        self._unseen: set[int] = set()  # rows that depend on columns without an observed read
        self._by_column = self._rows_by_column()
        self.done: list[tuple[Group, Vector]] = []

    def find(self, *, is_checked: bool) -> None:
        """Move all columns that are states or inputs.

        Groups are divided and moved again if their columns turn out to meet in a row. That ends,
        since the number of rows and of items to read is finite.
        """
        columns = range(len(self._evaluations.columns))
        pending = [column for column in columns if column not in self._sparsity.prescribed]
        while pending:
            for group in grouped({column: self._by_column[column] for column in pending}):
                self._move(group)
            pending = self._meeting()
            if not pending and is_checked and any(len(group) > 1 for group, _ in self.done):
                self._check()
                pending = self._meeting()

    @property
    def table(self) -> Table:
        """The derivatives."""
        rows, at, numbers = [np.empty(0, np.intp)], [np.empty(0, np.intp)], [np.empty(0)]
        for group, change in self.done:
            for column in group:
                own = np.array(members(self._by_column[column]), np.intp)
                rows.append(own)
                at.append(np.full(len(own), column))
                numbers.append(change[own] / self._widths[column])
        return np.concatenate(rows), np.concatenate(at), np.concatenate(numbers)

    # ------------------------------------------------------------------ parts of it

    def _move(self, group: Group) -> None:
        """Move some columns, and note rows that change although they should not."""
        base = self._evaluations.values
        there, change = self._change(group, self._steps)
        touched = 0
        for column in group:
            touched |= self._by_column[column]
        is_free = np.ones(len(base), bool)
        is_free[members(touched)] = False
        # Exactly: the same values give the same result, in any unit.
        self._unseen.update(np.flatnonzero(is_free & (there != base)).tolist())
        self.done.append((group, change))

    def _check(self) -> None:
        """Move all columns by unequal steps, and note rows that do not follow the derivatives."""
        columns = sorted(column for group, _ in self.done for column in group)
        # Multiples of the golden section are spread evenly over [0, 1).
        factors = 0.5 + (np.arange(1, len(self._steps) + 1) * GOLDEN) % 1.0
        steps = factors * self._steps
        ratios = self._width_of(steps) / self._widths
        _, found = self._change(columns, steps)
        expected = np.zeros(len(found))
        magnitude = np.abs(self._evaluations.values)
        for group, change in self.done:
            for column in group:
                own = members(self._by_column[column])
                expected[own] += ratios[column] * change[own]
                magnitude[own] += np.abs(change[own]) / self._relative
        # Rounding is relative to the parts of a row; truncation is of second order in the step, or
        # of third order if central. A row that exceeds this by chance only costs evaluations.
        order = 3 if self._is_central else 2
        tolerance = MARGIN * max(EPSILON, self._relative**order) * magnitude
        self._unseen.update(np.flatnonzero(np.abs(found - expected) > tolerance).tolist())

    def _change(self, columns: Group | list[int], steps: Vector) -> tuple[Vector, Vector]:
        """Return the rows with some columns moved up, and their difference over the width."""
        evaluations = self._evaluations
        start = evaluations.columns.values
        there = evaluations.at({c: float(start[c] + steps[c]) for c in columns})
        if not self._is_central:
            return there, there - evaluations.values
        return there, there - evaluations.at({c: float(start[c] - steps[c]) for c in columns})

    def _width_of(self, steps: Vector) -> Vector:
        """Return the steps as they are after rounding: differences of the values they lead to."""
        start = self._evaluations.columns.values
        found: Vector = (start + steps) - (start - steps if self._is_central else start)
        return found

    def _meeting(self) -> list[int]:
        """Drop groups with columns that now meet in a row, and return these columns."""
        self._by_column = self._rows_by_column()
        together = dict(enumerate(self._by_column))
        found = [c for group, _ in self.done if not are_apart(group, together) for c in group]
        self.done = [each for each in self.done if are_apart(each[0], together)]
        return found

    def _rows_by_column(self) -> list[int]:
        evaluations = self._evaluations
        outputs, count = evaluations.outputs, len(evaluations.columns)
        sizes = [int(np.prod(shape, dtype=int)) for shape in outputs.shapes]
        masks = self._sparsity.rows(outputs.handles, sizes)
        for row in self._unseen:
            masks[row] = (1 << count) - 1
        return transposed(masks, count)
