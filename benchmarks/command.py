"""What the commands have in common: measure the rows of some sections, and print their tables."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click
from attrs import evolve
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks.kinematics import twin_versions
from benchmarks.machine import describe_run
from benchmarks.peers import load_peers
from benchmarks.report import summary, tabulate
from benchmarks.rows import Section
from benchmarks.runner import FULL, QUICK, Measured, measure, select
from benchmarks.simbody import SIMBODY, version

WIDTH: Final = 200  # what the table needs, also where the terminal is narrower: nothing is cut off


def command(sections: Sequence[Section], help_text: str, epilog: str) -> click.Command:
    """Return the command that measures these sections."""

    @click.command(help=help_text, epilog=epilog)
    @click.option("--quick", is_flag=True, help="Few and short samples, and no peers in slow rows.")
    @click.option(
        "--rows",
        "chosen",
        metavar="PATTERN",
        default="",
        callback=lambda _context, _parameter, pattern: choose(sections, pattern),
        help="Only rows whose name has a match of this regular expression.",
    )
    @click.option("--markdown", is_flag=True, help="Print the tables as Markdown.")
    def main(quick: bool, chosen: Sequence[Section], markdown: bool) -> None:
        run(chosen, quick=quick, markdown=markdown)

    return main


def choose(sections: Sequence[Section], pattern: str) -> list[Section]:
    """Return the sections with the rows whose names have a match, and no others.

    Raises
    ------
    click.BadParameter
        It is not a regular expression, or selects nothing.
    """
    try:
        narrowed = [evolve(s, groups=select(s.groups, pattern)) for s in sections]
    except re.error as error:
        raise click.BadParameter(f"{pattern!r} is not a regular expression: {error}") from error
    chosen = [section for section in narrowed if section.groups]
    if not chosen:
        rows = [row for section in sections for group in section.groups for row in group]
        names = "\n  ".join(row.name for row in rows)
        raise click.BadParameter(f"{pattern!r} is in the name of no row:\n  {names}")
    return chosen


def run(sections: Sequence[Section], *, quick: bool, markdown: bool) -> None:
    """Measure all rows of the sections, and print their tables."""
    wanted = {name for section in sections for name in section.peers}
    peers, missing = load_peers(wanted)
    outcomes: list[Measured] = []
    with progress(sum(len(group) for s in sections for group in s.groups)) as advance:
        for section in sections:
            columns = [peer for peer in peers if peer.name in section.peers]
            effort = QUICK if quick else FULL
            outcomes.append(measure(section.groups, columns, effort, advance))
    for section, measured in zip(sections, outcomes, strict=True):
        columns = [peer for peer in peers if peer.name in section.peers]
        table = tabulate(section, columns, measured)
        if markdown:
            click.echo(table.as_markdown())
        else:
            Console(width=max(WIDTH, Console().width)).print(table.as_rich())
        click.echo("\n".join(["", *[f"{note}  " for note in table.notes]]))
    measured_columns = {column for outcome in outcomes for _, column in outcome.figures}
    others = (
        [f"{SIMBODY} {version()}"]
        if any(column.startswith(SIMBODY) for column in measured_columns)
        else []
    )
    others += [f"{n} {v}" for n, v in twin_versions().items() if n in measured_columns]
    click.echo(describe_run(peers, others))
    click.echo(summary(sections, outcomes))
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
