"""The command for the rows of inverse kinematics, and for problems in files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import numpy as np
from attrs import evolve
from rich.console import Console
from rich.table import Table

from benchmarks.command import WIDTH, choose, run
from benchmarks.errors import FailedProgramError, NotInstalledError
from benchmarks.figures import Unit
from benchmarks.inverse_kinematics.problem import Problem
from benchmarks.inverse_kinematics.reading import read_problem
from benchmarks.inverse_kinematics.run import Run
from benchmarks.inverse_kinematics.solving import Solver
from benchmarks.rows import ASSEMBLER
from benchmarks.simbody.tracking import solve_by_simbody
from stagecache.errors import StagecacheError

HELP: Final = """Solve problems of inverse kinematics, and print what comes out, and how fast.

Each FILE is a problem in JSON, plain or compressed by xz; the format is in benchmarks/README.md. It
is solved at each accuracy for which the file has results of others, which are printed beside.
The first frame is assembled, the others are tracked; means are of those that are tracked.

Without a FILE, the rows of the benchmark are measured beside Simbody.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.assembler                        all rows, in a minute
  python -m benchmarks.assembler --quick                all rows, roughly, in some seconds
  python -m benchmarks.assembler --rows chain           the rows of the chain
  python -m benchmarks.assembler arm.json leg.json.xz   two problems
  python -m benchmarks.assembler --accuracy 1e-8 --simbody arm.json
                                                        beside Simbody, where it is installed
"""

HEADINGS: Final = ("frames", "failed", "mean goal", "last goal", "mean RMS", "constraints")


def solved(problem: Problem, accuracy: float | None, *, with_simbody: bool) -> Iterator[Run]:
    """Solve a problem, and yield ours and what others have got, by accuracy."""
    stored = {run.accuracy: run.tolerance for run in problem.runs}
    wanted = stored or {problem.accuracy: problem.tolerance}
    if accuracy is not None:
        wanted = {accuracy: stored.get(accuracy, accuracy / 10)}
    for asked, tolerance in wanted.items():
        yield Solver(problem, asked, tolerance).solve()
        if with_simbody:
            yield solve_by_simbody(problem, asked, tolerance)
    for stored_run in problem.runs:
        yield evolve(stored_run, name=f"{stored_run.name}, as stored")


def table_of(problem: Problem, runs: Sequence[Run]) -> Table:
    """A line for each run."""
    table = Table(title=problem.name, title_justify="left", caption_justify="left")
    table.add_column("solved by")
    for heading in ("accuracy", *HEADINGS, "time per frame"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in sorted(runs, key=lambda one: -one.accuracy):
        table.add_row(
            one.name,
            f"{one.accuracy:g}",
            f"{len(problem.frames)}",
            f"{len(one.failed)}",
            _number(one.mean_goal),
            _number(one.goals[-1] if one.goals.size else np.nan),
            _number(1e3 * one.mean_rms, " mm"),
            _number(one.largest_error),
            Unit.SECONDS.format(one.seconds_per_frame) if one.seconds.size else "",
        )
    return table


def _number(value: float, unit: str = "") -> str:
    return "" if np.isnan(value) else f"{value:.4g}{unit}"


@click.command(help=HELP, epilog=EXAMPLES)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--accuracy",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Instead of the files'.",
)
@click.option("--simbody", is_flag=True, help="Solve them by Simbody as well, now.")
@click.option("--quick", is_flag=True, help="Without files: few samples.")
@click.option("--rows", "pattern", default="", help="Without files: rows whose names match.")
def main(
    files: tuple[Path, ...],
    accuracy: float | None,
    simbody: bool,
    quick: bool,
    pattern: str,
) -> None:
    """Solve files, or measure rows."""
    if not files:
        run(choose([ASSEMBLER], pattern), quick=quick, both_forms=False)
        return
    console = Console(width=max(WIDTH, Console().width))
    for path in files:
        try:
            problem = read_problem(path)
            runs = list(solved(problem, accuracy, with_simbody=simbody))
        except (StagecacheError, NotInstalledError, FailedProgramError) as error:
            raise click.ClickException(str(error)) from error
        console.print(table_of(problem, runs))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.assembler")
