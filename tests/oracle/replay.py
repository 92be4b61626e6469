"""Replay recorded traces of the real library, and explain where `stagecache.State` differs.

For each recorded result line

- the model with all quirks on must give that very line, and
- State must agree with the model that has none, in its answer and in all that can be seen after it.

Then a difference between State and the record is explained by quirks. Where one of the two fails,
the line is unexplained.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tests.oracle.comparison import line_differences
from tests.oracle.model import Model
from tests.oracle.pair import Pair
from tests.oracle.quirks import ALL, Quirk
from tests.oracle.traces import load_traces

SHOWN = 5  # unexplained lines
CHUNK = 25  # traces that are replayed at once

Count: TypeAlias = tuple[int, int]  # lines; traces in which they are


@attrs.frozen
class Unexplained:
    """A result line that no quirk explains."""

    trace: int
    number: int
    command: str
    recorded: str
    model: str  # with all quirks on
    ours: str
    paths: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(
            [
                f"trace {self.trace}, command {self.number}: {self.command}",
                f"    recorded: {self.recorded}",
                f"    model:    {self.model}",
                f"    ours:     {self.ours}",
                *(f"    {path}" for path in self.paths),
            ]
        )


@attrs.frozen
class Replayed:
    """What came of some traces."""

    commands: int
    explained: Count
    unexplained: tuple[Unexplained, ...]


def replay(path: Path, begin: int, end: int) -> Replayed:
    """Replay the traces of a file from `begin` up to `end`."""
    traces = load_traces(path)[begin:end]
    unexplained = list[Unexplained]()
    explained = []
    for number, trace in enumerate(traces, begin):
        real, pair = Model(ALL), Pair()
        explained.append(0)
        for i, (command, recorded) in enumerate(trace):
            model, answers = run_safely(real, command), pair.run(command)
            paths = [f"State and the contract: {path}" for path in answers.differences]
            if model != recorded:
                found = line_differences(recorded, model) or ["not the same characters"]
                paths += [f"the record and the model: {path}" for path in found]
            if paths:
                lines = (recorded, model, answers.actual)
                unexplained.append(Unexplained(number, i, command, *lines, tuple(paths)))
            else:
                explained[-1] += answers.expected != recorded
    return Replayed(sum(map(len, traces)), _count(explained), tuple(unexplained))


def without(quirk: Quirk, path: Path) -> Count:
    """Count the recorded lines that change when only this quirk is off."""
    counts = []
    for trace in load_traces(path):
        model = Model(ALL - {quirk})
        counts.append(sum(run_safely(model, command) != result for command, result in trace))
    return _count(counts)


def run_safely(model: Model, command: str) -> str:
    """Run a command; what cannot be run is answered with the exception."""
    try:
        return model.run(command)
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        return f"broken {type(error).__name__}"


def _count(lines_by_trace: list[int]) -> Count:
    return sum(lines_by_trace), sum(lines > 0 for lines in lines_by_trace)


# ---------------------------------------------------------------------- the command


@click.command(epilog="Example: python -m tests.oracle.replay tests/oracle/data/traces_a.jsonl.xz")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
def main(files: tuple[Path, ...]) -> None:
    """Compare stagecache.State with recorded traces of SimTK::State.

    FILES have one trace per line, a JSON list of [command, result]; *.xz is read as well. For each
    file, a table says how many lines change if only one of the quirks of the real library is turned
    off. The exit status is 1 if there is a difference that no quirk explains.
    """
    console = Console()
    commands, unexplained = 0, 0
    for path in files:
        replayed, mattered = replay_file(path, console)
        console.print(_table(path, replayed, mattered))
        for found in replayed.unexplained[:SHOWN]:
            click.echo(f"\n{found}\n")
        commands += replayed.commands
        unexplained += len(replayed.unexplained)
    click.echo(f"{commands} commands compared, {unexplained} unexplained")
    sys.exit(unexplained > 0)


def replay_file(path: Path, console: Console) -> tuple[Replayed, dict[Quirk, Count]]:
    """Replay a file on all processors, with a progress bar if the console is a terminal."""
    count = len(load_traces(path))
    context = multiprocessing.get_context(
        "spawn"
    )  # a progress bar has a thread, which rules out fork
    with (
        ProcessPoolExecutor(os.cpu_count(), context) as pool,
        Progress(console=console, transient=True, disable=not console.is_terminal) as progress,
    ):
        chunks = [pool.submit(replay, path, i, i + CHUNK) for i in range(0, count, CHUNK)]
        counts = {quirk: pool.submit(without, quirk, path) for quirk in Quirk}
        jobs: list[Future[Any]] = [*chunks, *counts.values()]
        for _ in progress.track(as_completed(jobs), len(jobs), description=path.name):
            pass
        parts = [chunk.result() for chunk in chunks]
        lines, traces = zip(*(part.explained for part in parts), strict=True)
        replayed = Replayed(
            commands=sum(part.commands for part in parts),
            explained=(sum(lines), sum(traces)),
            unexplained=tuple(found for part in parts for found in part.unexplained),
        )
        return replayed, {quirk: future.result() for quirk, future in counts.items()}


def _table(path: Path, replayed: Replayed, mattered: dict[Quirk, Count]) -> Table:
    lines, traces = replayed.explained
    table = Table(
        title=f"{path.name}: {replayed.commands} commands compared",
        caption=f"The contract differs from the record on {lines} lines of {traces} traces.",
    )
    table.add_column("quirk of the real library")
    table.add_column("lines", justify="right")
    table.add_column("traces", justify="right")
    for quirk, counts in sorted(mattered.items(), key=lambda item: -item[1][0]):
        table.add_row(str(quirk), *map(str, counts))
    return table


if __name__ == "__main__":
    main()
