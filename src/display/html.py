"""HTML of objects in notebooks: headings, tables that fold, trees, and marks of statuses.

All texts are escaped, unless they are `Html` already. Styles are attributes of elements: nothing
on the page but the output itself changes, and texts have the colour of the theme. Only marks have
colours of their own, with a contrast of 3 to 1 on light and on dark pages, and different shapes.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

MOST_OPEN: Final = 10
"""Rows of a table that are not folded away."""

MOST_ROWS: Final = 200
"""Rows of a table, with those that are folded away."""

MOST_CHARACTERS: Final = 120
"""Characters of a cell."""

MARKS: Final = {
    "valid": ("●", "#2a9650"),
    "stale": ("◐", "#bd7200"),
    "not computed": ("○", "#7a8794"),
}
"""Shape and colour of the mark of each status."""

STATUS_OF_LINE: Final = re.compile(
    rf"(?<=: )(?:{'|'.join(MARKS)})(?=$|, waits for a stage$)", re.MULTILINE
)
CONTROLS: Final = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
"""Control characters, which HTML does not have, and pictures of them."""

RULE: Final = "1px solid rgba(128,128,128,.35)"
SCROLLS: Final = "max-width:100%;overflow-x:auto"


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(text: str) -> Html:
    """Return a text as HTML, which shows all its characters."""
    if isinstance(text, Html):
        return text
    known = text.translate(CONTROLS).encode("utf-8", "replace").decode()  # no lone surrogates
    return Html(escape(known))


def output(*parts: Html) -> str:
    """Return parts as the output of a cell."""
    return f'<div style="{SCROLLS}">{"".join(parts)}</div>'


def heading(kind: str, text: str = "") -> Html:
    """Return a line with the kind of an object and what is said about it."""
    return Html(f'<p style="margin:.4em 0"><b>{escaped(kind)}</b> {escaped(text)}</p>')


def paragraph(text: str) -> Html:
    """Return a paragraph, which keeps the line breaks of a text."""
    return Html(f'<p style="margin:.4em 0;white-space:pre-line">{escaped(text)}</p>')


def bullets(texts: Iterable[str]) -> Html:
    """Return a list of texts."""
    return Html(f"<ul>{''.join(f'<li>{escaped(text)}</li>' for text in texts)}</ul>")


def status(text: str) -> Html:
    """Return a status with its mark, if it has one."""
    if text not in MARKS:
        return escaped(text)
    shape, colour = MARKS[text]
    return Html(f'<span style="color:{colour}" aria-hidden="true">{shape}</span> {escaped(text)}')


def tree(text: str) -> Html:
    """Return lines of text as they are, with marks of statuses at their ends."""
    marked = STATUS_OF_LINE.sub(lambda found: status(found[0]), escaped(text))
    return Html(f'<pre style="line-height:1.25;background:none">{marked}</pre>')


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """Return a table of names and values, without a heading."""
    rows = [
        f"<tr>{_cell('th', name, 'left', 'row')}{_cell('td', value, 'left')}</tr>"
        for name, value in pairs
    ]
    return Html(f'<table style="border-collapse:collapse"><tbody>{"".join(rows)}</tbody></table>')


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    texts: int = 1,
    more: int = 0,
    what: str = "rows",
) -> Html:
    """Return a table; rows after the first ones are folded away.

    Parameters
    ----------
    headings : sequence of str
    rows : sequence of sequence of str
        Cells of each row; a row of one cell is a heading of those below it.
    texts : int
        The number of columns, from the left, that are texts; the others are numbers.
    more : int
        The number of further rows, which the caller did not make.
    what : str
        What the rows are, in the plural.
    """
    more += max(0, len(rows) - MOST_ROWS)
    opened, folded = rows[:MOST_OPEN], rows[MOST_OPEN:MOST_ROWS]
    if len(folded) == 1:
        opened, folded = rows[:MOST_ROWS], rows[:0]
    widths = _widths(headings, rows[:MOST_ROWS]) if folded else [0] * len(headings)
    parts = [_table(headings, opened, texts, widths)]
    if folded:
        parts.append(
            f'<details><summary style="cursor:pointer">{len(folded):,} more {escaped(what)}'
            f"</summary>{_table(headings, folded, texts, widths)}</details>"
        )
    if more:
        parts.append(paragraph(f"... and {more:,} more {what}"))
    return Html("".join(parts))


def _table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], texts: int, widths: Sequence[int]
) -> str:
    sides = ["left" if column < texts else "right" for column in range(len(headings))]
    head = "".join(
        _cell("th", text, side, "col", f";min-width:{width}ch" if width else "")
        for text, side, width in zip(headings, sides, widths, strict=True)
    )
    body = "".join(f"<tr>{_cells(row, sides)}</tr>" for row in rows)
    return (
        '<table style="border-collapse:collapse;margin:.2em 0">'
        f'<thead><tr style="border-bottom:{RULE}">{head}</tr></thead><tbody>{body}</tbody></table>'
    )


def _cells(row: Sequence[str], sides: Sequence[str]) -> str:
    if len(row) == 1 < len(sides):
        return _cell("th", row[0], "left", f'rowgroup" colspan="{len(sides)}')
    return "".join(_cell("td", text, side) for text, side in zip(row, sides, strict=True))


def _cell(tag: str, text: str, side: str, scope: str = "", style: str = "") -> str:
    if not isinstance(text, Html) and len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS - 1]}…"
    of = f' scope="{scope}"' if scope else ""
    look = f"text-align:{side};padding:.15em .6em{style}"
    if side == "right" or isinstance(text, Html):
        look += ";white-space:nowrap"
    return f'<{tag}{of} style="{look}">{escaped(text)}</{tag}>'


def _widths(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of columns, so that they are the same in both parts of a table."""
    full = [headings, *[row for row in rows if len(row) == len(headings)]]
    columns = zip(*full, strict=True)
    return [min(36, max(len(re.sub("<[^>]*>", "", text)) for text in column)) for column in columns]
