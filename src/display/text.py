"""Tables, paragraphs and times as text: lines fit a terminal, and no word is broken.

::

    entry                computed  hits       a name too long for its column has a line of its own
    pendulum.tip                3     1
    pendulum.a_very_long_name_of_an_entry
                                1     0
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len

WIDTH: Final = 80
"""Columns of a terminal for which texts are made, whatever shows them."""

GAP: Final = "  "
LEAST_NAME: Final = 12
"""Columns that remain for names, beside the numbers."""


def lines_of(
    headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: int, width: int
) -> Iterator[tuple[int, list[str]]]:
    """Lay out a table: the number of the row, 0 for headings, and the pieces of each of its lines.

    If the table is too wide, its last column is broken between words, if that is a text. If this is
    not enough, that column has lines of its own, below the others. And if this is not enough, names
    too long for the first column have lines of their own.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequence of str
    numbers : int
        The number of columns, from the right, that are numbers.
    width : int
        Columns of the terminal.
    """
    cells = [headings, *rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    last = len(widths) - 1
    is_broken = last > 0 and not numbers
    over = sum(widths) + len(GAP) * last - width
    if over > 0 and is_broken:
        words = [word for row in cells for word in row[last].split()]
        widths[last] = max(widths[last] - over, *map(cell_len, [*words, headings[last]]))
        over = sum(widths) + len(GAP) * last - width
    is_below = over > 0 and is_broken
    if is_below:
        over -= len(GAP) + widths[last]
        widths[last] = max(1, width - len(GAP) * last)
    if over > 0 and last:
        least = min(widths[0], max(LEAST_NAME, cell_len(headings[0])))
        widths[0] = max(least, widths[0] - over)
    for number, (name, *others) in enumerate(cells):
        lines = [[name, *others]]
        if is_broken:
            parts = _wrap(others.pop(), widths[last])
            if is_below:
                parts.insert(0, "")
            lines = [[name, *others, *parts[:1]], *[[""] * last + [part] for part in parts[1:]]]
            lines[0] += [""] * (not parts)
        if cell_len(name) > widths[0]:
            yield number, [name]
            lines[0][0] = ""
        for x, line in enumerate(lines):
            is_indented = is_below and x
            yield number, line if is_indented else _aligned(line, widths, numbers)


def _aligned(row: Sequence[str], widths: Sequence[int], numbers: int) -> list[str]:
    texts = len(row) - numbers
    pieces = []
    for column, (text, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - cell_len(text))
        pieces.append(text + space if column < texts else space + text)
    return pieces


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: int | None = None,
    width: int = WIDTH,
) -> str:
    """Return lines of text in columns; all but the first to the right by default."""
    count = len(headings) - 1 if numbers is None else numbers
    lines = lines_of(headings, rows, count, width)
    return "\n".join(GAP.join(pieces).rstrip() for _, pieces in lines)


def wrapped(text: str, width: int = WIDTH) -> str:
    """Break lines that are too long between words; what follows is indented."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip(" "))]
        parts = _wrap(line, width, f"{indent}  ")
        lines += parts if cell_len(line) > width else [line]
    return "\n".join(lines)


def _wrap(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def duration(seconds: float) -> str:
    """Return a time with a fitting unit: "1.23 ms"."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{seconds * 1e9:.0f} ns"
