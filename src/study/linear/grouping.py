"""Groups of columns that touch no row in common, so that they can be moved together.

Source: Curtis, Powell and Reid, On the estimation of sparse Jacobian matrices, IMA Journal of
Applied Mathematics 13 (1974).
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

Group = tuple[int, ...]


def transposed(masks: Sequence[int], count: int) -> list[int]:
    """Return, for each of so many columns, the rows that have its bit. Cost O(rows * columns)."""
    width = count // 8 + 1
    data = b"".join(mask.to_bytes(width, "little") for mask in masks)
    packed = np.frombuffer(data, np.uint8).reshape(len(masks), width)
    table = np.unpackbits(packed, axis=1, count=count, bitorder="little")
    columns = np.packbits(table.T, axis=1, bitorder="little")
    return [int.from_bytes(column.tobytes(), "little") for column in columns]


def members(bits: int) -> list[int]:
    """Return the numbers in a set of bits, ascending. Cost O(largest)."""
    data = np.frombuffer(bits.to_bytes(bits.bit_length() // 8 + 1, "little"), np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()
    return found


def grouped(rows: Mapping[int, int]) -> list[Group]:
    """Divide columns into few groups, so that two columns of a group never touch the same row.

    Each column joins the first group that it fits. This is tried in the given order, which is best
    for chains, and with the columns of most rows first; the result with fewer groups counts.
    Libraries colour a graph of columns that touch a row in common; with one full row, it would have
    an edge for each pair of columns. Cost O(columns * groups * rows / 64).

    Parameters
    ----------
    rows : dict of int to int
        By column: its rows, as bits.

    Examples
    --------
    >>> grouped({0: 0b011, 1: 0b111, 2: 0b110, 3: 0b1000})
    [(0, 3), (1,), (2,)]
    """
    fullest_first = sorted(rows, key=lambda column: -rows[column].bit_count())
    return min(_first_fit(rows, rows), _first_fit(rows, fullest_first), key=len)


def are_apart(columns: Iterable[int], rows: Mapping[int, int]) -> bool:
    """Return True if no two of these columns touch a row in common."""
    taken = 0
    for column in columns:
        if taken & rows[column]:
            return False
        taken |= rows[column]
    return True


def _first_fit(rows: Mapping[int, int], order: Iterable[int]) -> list[Group]:
    groups: list[list[int]] = []
    taken: list[int] = []
    for column in order:
        own = rows[column]
        for g, others in enumerate(taken):
            if not others & own:
                groups[g].append(column)
                taken[g] |= own
                break
        else:
            groups.append([column])
            taken.append(own)
    return [tuple(sorted(group)) for group in groups]
