"""What the subcommands print: JSON for programs, texts and tables for people."""

import json

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_json(value: object) -> None:
    """Print for programs."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_text(out: Console, text: str | Text) -> None:
    """Print a text as it is, without breaking its lines."""
    out.print(Text(text) if isinstance(text, str) else text, soft_wrap=True)


def new_table(*headings: str, numbers: bool = False) -> Table:
    """A table without lines; all columns but the first are to the right if they have numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="underline")
    for place, heading in enumerate(headings):
        is_number = numbers and place > 0
        table.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    return table
