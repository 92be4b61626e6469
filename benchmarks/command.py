"""What the commands have in common: measure the rows of some sections, and print their tables."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Final

import click
from attrs import evolve
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks.forms import COMPILED, PLAIN, OtherForm, form_here, other_form, prepare
from benchmarks.kinematics import twin_versions
from benchmarks.machine import describe_run
from benchmarks.peers import load_peers
from benchmarks.report import summary, tabulate
from benchmarks.results import RESULTS, write_results
from benchmarks.rows import SECTIONS, Section
from benchmarks.rows.scale import SCALE
from benchmarks.runner import FULL, QUICK, Measured, measure, select
from benchmarks.simbody import SIMBODY, version

HEADINGS: Final = [section.heading for section in (*SECTIONS, SCALE)]
ROWS_HELP: Final = "Only rows whose name has a match of this regular expression."
WIDTH: Final = 200  # what the table needs, also where the terminal is narrower: nothing is cut off


def command(
    sections: Sequence[Section], help_text: str, epilog: str, *, is_everything: bool = False
) -> click.Command:
    """Return the command that measures these sections.

    The one for everything measures both forms of stagecache, and writes its tables into the page of
    results, unless it is told otherwise; the others do so where they are told to.
    """

    @click.command(help=help_text, epilog=epilog)
    @click.option("--quick", is_flag=True, help="Few and short samples, and no peers in slow rows.")
    @click.option("--rows", "pattern", metavar="PATTERN", default="", help=ROWS_HELP)
    @click.option(
        "--both-forms/--one-form",
        default=is_everything,
        show_default=True,
        help="Measure stagecache compiled and plain, or as it is installed here.",
    )
    @click.option("--write", is_flag=True, help=f"Put the tables into {RESULTS.name}.")
    def main(quick: bool, pattern: str, both_forms: bool, write: bool) -> None:
        is_complete = is_everything and not quick and not pattern
        chosen = choose(sections, pattern)
        run(chosen, quick=quick, both_forms=both_forms, write=write or is_complete)

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


def run(sections: Sequence[Section], *, quick: bool, both_forms: bool, write: bool = False) -> None:
    """Measure the rows of each section, print its table, and put it on the page where `write`."""
    peers, missing = load_peers({name for section in sections for name in section.peers})
    forms = [form_here(), other_form()] if both_forms else [form_here()]
    effort = QUICK if quick else FULL
    outcomes: list[Measured] = []
    with process_of_other_form() if both_forms else nullcontext() as other:
        for section in sections:
            columns = [peer for peer in peers if peer.name in section.peers]
            with progress(sum(len(group) for group in section.groups)) as advance:
                measured = measure(section, columns, effort, advance, other)
            if forms == [PLAIN, COMPILED]:
                measured = measured.exchanged()
            outcomes.append(measured)
            # sorted, "compiled" comes first: it is judged where it was measured
            table = tabulate(section, columns, measured, sorted(forms))
            below = [*table.notes, describe_run(columns, sorted(forms), _others(measured))]
            limits = summary([section], [measured])
            Console(width=max(WIDTH, Console().width)).print(table.as_rich())
            click.echo("\n".join(["", *below, *limits, ""]))
            if write:
                part = [table.as_markdown(), "  \n".join(below), "\n".join(limits)]
                write_results({section.heading: "\n\n".join(part)}, HEADINGS)
    if len(sections) > 1:
        click.echo("\n".join(summary(sections, outcomes)))
    if missing:
        click.echo(f"Not installed: {', '.join(missing)}. To have them: pip install '.[bench]'")


def _others(measured: Measured) -> list[str]:
    """Return what else was measured in a section, with versions."""
    columns = {column for _, column in measured.figures}
    simbody = any(column.startswith(SIMBODY) for column in columns)
    twins = [f"{name} {number}" for name, number in twin_versions().items() if name in columns]
    return [f"{SIMBODY} {version()}", *twins] if simbody else twins


@contextmanager
def process_of_other_form() -> Iterator[OtherForm]:
    """Prepare the other form of stagecache, and start its process."""
    other = OtherForm(prepare(other_form()))
    try:
        yield other
    finally:
        other.close()


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
