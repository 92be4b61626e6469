"""The command: `python -m benchmarks --help`."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks.machine import describe_run
from benchmarks.peers import load_peers
from benchmarks.report import summary, tabulate
from benchmarks.rows import GROUPS
from benchmarks.runner import FULL, QUICK, measure, select

WIDTH: Final = 200  # what the table needs, also where the terminal is narrower: nothing is cut off

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks                  everything, which takes some minutes
  python -m benchmarks --quick          everything, roughly, in about a minute
  python -m benchmarks --rows ladder    the rows with "ladder" in their names
  python -m benchmarks --rows ^write,   the rows whose names begin with "write,"
  python -m benchmarks --markdown       the table for benchmarks/README.md
"""


def check_pattern(_context: click.Context, _parameter: click.Parameter, pattern: str) -> str:
    """Refuse what is not a regular expression, or selects nothing."""
    try:
        groups = select(GROUPS, pattern)
    except re.error as error:
        raise click.BadParameter(f"{pattern!r} is not a regular expression: {error}") from error
    if not groups:
        names = "\n  ".join(row.name for group in GROUPS for row in group)
        raise click.BadParameter(f"{pattern!r} is in the name of no row:\n  {names}")
    return pattern


@click.command(epilog=EXAMPLES)
@click.option("--quick", is_flag=True, help="Few and short samples, and no peers in slow rows.")
@click.option(
    "--rows",
    metavar="PATTERN",
    default="",
    callback=check_pattern,
    help="Only rows whose name has a match of this regular expression.",
)
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def main(quick: bool, rows: str, markdown: bool) -> None:
    """Measure stagecache beside its peers, and print one table.

    Each cell is the median of samples that are taken in turns with those of the other libraries,
    with half of their interquartile range. The last column compares stagecache with a peer: with
    the limit that it has to keep or, where there is none, with the fastest.
    """
    groups = select(GROUPS, rows)
    peers, missing = load_peers()
    with progress(sum(map(len, groups))) as advance:
        measured = measure(groups, peers, QUICK if quick else FULL, advance)
    table = tabulate(groups, peers, measured)
    if markdown:
        click.echo(table.as_markdown())
    else:
        Console(width=max(WIDTH, Console().width)).print(table.as_rich())
    click.echo("\n".join(["", *table.notes]))
    click.echo(describe_run(peers))
    click.echo(summary(groups, measured))
    if missing:
        click.echo(f"Not installed: {', '.join(missing)}. To have them: pip install '.[bench]'")


@contextmanager
def progress(rows: int) -> Iterator[Callable[[str], None]]:
    """Show on stderr, if it is a terminal, which row is being measured.

    Drawn only between rows: a thread that draws on its own would be measured as well.
    """
    console = Console(stderr=True)
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        console=console,
        auto_refresh=False,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("", total=rows)

        def advance(row: str) -> None:
            bar.update(task, advance=1, description=row)
            bar.refresh()

        yield advance


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
