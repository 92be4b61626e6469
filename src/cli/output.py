"""Output of the subcommands: JSON for programs, texts and tables for people."""

import json
from typing import Final

import click
from rich.console import Console
from rich.measure import Measurement, measure_renderables
from rich.table import Table
from rich.text import Text

UNLIMITED: Final = 100_000  # columns


def print_json(value: object) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_text(out: Console, text: str | Text) -> None:
    """Print a text as it is, without breaking its lines."""
    out.print(Text(text) if isinstance(text, str) else text, soft_wrap=True)


def new_table(*headings: str, numbers: int = 0) -> Table:
    """Return a table without rules; its last `numbers` columns are right-aligned."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="underline")
    for place, heading in enumerate(headings):
        is_number = place >= len(headings) - numbers
        table.add_column(heading, justify="right" if is_number else "left")
    return table


def print_table(out: Console, table: Table) -> None:
    """Print each row on one line; but in a terminal, break the last column between words.

    No name is ever broken or cut. Rich would, in a narrow terminal.
    """
    unlimited = out.options.update(width=UNLIMITED)
    table.width = Measurement.get(out, unlimited, table).maximum
    last = table.columns[-1]
    need = measure_renderables(out, unlimited, [last.header, *last.cells])
    too_much = table.width - out.width
    if out.is_terminal and too_much > 0:
        last.width = max(need.minimum, need.maximum - too_much)
        table.width -= need.maximum - last.width
    out.print(table, crop=False)
