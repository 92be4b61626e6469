"""Output of the subcommands: JSON for programs, texts and tables for people."""

import json
from typing import Final

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stagecache.display.text import GAP, lines_of, wrapped

UNLIMITED: Final = 100_000  # columns


def print_json(value: object) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_text(out: Console, text: str | Text) -> None:
    """Print a text as it is; but in a terminal, break lines that are too long between words."""
    text = Text(text) if isinstance(text, str) else text
    if not out.is_terminal:
        out.print(text, soft_wrap=True)
        return
    for line in text.split(allow_blank=True):
        plain = wrapped(line.plain, out.width)
        if plain == line.plain:
            out.print(line, soft_wrap=True)
            continue
        start = 0
        for number, part in enumerate(plain.split("\n")):
            words = part.lstrip() if number else part
            start = line.plain.index(words, start)
            indent = " " * (len(part) - len(words))
            out.print(Text(indent) + line[start : start + len(words)], soft_wrap=True)
            start += len(words)


def new_table(*headings: str, numbers: int = 0) -> Table:
    """Return a table without rules; its last `numbers` columns are right-aligned."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="underline")
    for place, heading in enumerate(headings):
        is_number = place >= len(headings) - numbers
        table.add_column(heading, justify="right" if is_number else "left")
    return table


def print_table(out: Console, table: Table) -> None:
    """Print each row on one line; but in a terminal, make the table fit it. No name is ever broken.

    See `lines_of`.
    """
    headings = [_text(out, column.header) for column in table.columns]
    rows = [list(row) for row in zip(*(column.cells for column in table.columns), strict=True)]
    texts = [headings, *[[_text(out, cell) for cell in row] for row in rows]]
    numbers = sum(column.justify == "right" for column in table.columns)
    plain = [[cell.plain for cell in row] for row in texts]
    width = out.width if out.is_terminal else UNLIMITED
    for number, pieces in lines_of(plain[0], plain[1:], numbers, width):
        line = Text()
        for cell, piece in zip(texts[number], pieces, strict=False):
            style = "underline" if number == 0 else cell.style
            before = len(piece) - len(piece.lstrip())
            line += Text(piece[:before]) + Text(piece.strip(), style)
            line += Text(" " * (len(piece.rstrip()) and len(piece) - len(piece.rstrip())) + GAP)
        line.rstrip()
        out.print(line, soft_wrap=True)


def _text(out: Console, cell: object) -> Text:
    return cell if isinstance(cell, Text) else out.render_str(str(cell))
