"""`stagecache check`: run the checks of the testing kit on a model, and print the results.

Progress goes to the standard error, if that is a terminal; results go to the standard output.
"""

import re
import shlex
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from stagecache import testing
from stagecache.checks import require_extra
from stagecache.cli.loading import load_system
from stagecache.cli.output import new_table, print_table, print_text
from stagecache.errors import StagecacheError
from stagecache.system import System
from stagecache.testing.result import CheckResult

HOW_TO_GET_IT: Final = re.compile("^# system = .*$", re.MULTILINE)
"""First lines of a program of the kit, which does not know the source of the System."""

INNERMOST: Final = -3
"""Most frames that are shown of an error of the model itself."""


@frozen
class Outcome:
    """Outcome of one check: a result, or an error."""

    name: str
    result: CheckResult | None
    error: Exception | None
    examples: int
    seconds: float


def check_model(
    model: str, names: Sequence[str], *, examples: int, seed: int, out: Console, err: Console
) -> bool:
    """Load a System, run checks on it, and print a table, the errors, and a summary.

    Parameters
    ----------
    model : str
        In a form that `load_system` accepts.
    names : sequence of str
        Names of the checks: "coherence" for `check_coherence`, and so on.
    examples : int
        Number of programs of each check.
    seed : int
        Seed; the same number gives the same programs.
    out : rich.console.Console
        Console for the results.
    err : rich.console.Console
        Console for the progress, which is shown on a terminal only.

    Returns
    -------
    bool
        True if all checks have passed.

    Raises
    ------
    MissingExtraError
        Hypothesis is not installed.
    ModelError, WrongTypeError
        The model does not exist.
    """
    require_extra("hypothesis", "testing", "stagecache check")
    system = load_system(model)
    outcomes = list(_run(system, names, examples, seed, err))
    errors = {outcome.name: outcome.error for outcome in outcomes if outcome.error is not None}
    print_text(out, f"{model}: {system!r}")
    out.print()
    print_table(out, _table(outcomes))
    for outcome in outcomes:
        if outcome.result is not None and outcome.result.computed < outcome.result.entries:
            print_text(out, f"\n{outcome.result}")
    load = f"from stagecache.cli.loading import load_system\nsystem = load_system({model!r})"
    found = sum(outcome.result.shared for outcome in outcomes if outcome.result is not None)
    if found:
        print_text(out, f"\n{found} values were taken from shared results, and verified.")
    for name, error in errors.items():
        out.print(f"\n[bold red]{name} failed[/]")
        print_text(out, HOW_TO_GET_IT.sub(lambda _: load, _message(error), count=1))
    out.print()
    if not errors:
        out.print(f"[bold green]Passed[/]: {', '.join(names)}.")
        return True
    out.print(f"[bold red]Failed[/]: {', '.join(errors)}.")
    options = [option for name in errors for option in ("--check", name)]
    again = [model, *options, "--examples", str(examples), "--seed", str(seed)]
    print_text(out, f"Again: stagecache check {shlex.join(again)}")
    return False


def _run(
    system: System, names: Sequence[str], examples: int, seed: int, err: Console
) -> Iterator[Outcome]:
    """Run one check after the other, whatever comes of each, with a bar for each."""
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} examples"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        bars = {name: progress.add_task(name, total=examples, start=False) for name in names}
        for name, bar in bars.items():
            progress.start_task(bar)
            yield _outcome(system, name, examples, seed, partial(progress.update, bar))
            progress.stop_task(bar)


def _outcome(
    system: System, name: str, examples: int, seed: int, show: Callable[..., None]
) -> Outcome:
    from stagecache.testing.checks.explore import DEFAULT  # noqa: PLC0415  # needs Hypothesis

    check = getattr(testing, f"check_{name}")
    settings = type(DEFAULT)(DEFAULT, max_examples=examples)
    done = 0

    def count(examples_done: int) -> None:
        nonlocal done
        done = examples_done
        show(completed=done)

    start = time.perf_counter()
    result = error = None
    try:
        result = check(system, settings=settings, seed=seed, progress=count)
    except Exception as raised:  # of the check, or of the model
        error = raised
    return Outcome(name, result, error, done, time.perf_counter() - start)


def _table(outcomes: Sequence[Outcome]) -> Table:
    table = new_table("check", "verdict", "examples", "operations", "time", numbers=3)
    for outcome in outcomes:
        passed = outcome.result is not None
        table.add_row(
            Text(outcome.name),
            Text("passed", "green") if passed else Text("failed", "bold red"),
            str(outcome.examples),
            str(outcome.result.operations) if outcome.result else "",
            f"{outcome.seconds:.1f} s",
        )
    return table


def _message(error: Exception) -> str:
    """Return the parts of an error of stagecache; of another, where the model raised it as well."""
    if isinstance(error, StagecacheError):
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    return "".join(traceback.format_exception(error, limit=INNERMOST, chain=False)).rstrip()
