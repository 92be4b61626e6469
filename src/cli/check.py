"""`stagecache check`: run the checks of the testing kit on a model, and print each verdict.

Progress goes to the standard error, if that is a terminal; results go to the standard output.
"""

import re
import shlex
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from attrs import define, field, frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from stagecache.cli.loading import load_system
from stagecache.cli.output import print_json, print_text
from stagecache.errors import StagecacheError
from stagecache.system import System
from stagecache.testing import Verdict, run_checks

HOW_TO_GET_IT: Final = re.compile("^# system = .*$", re.MULTILINE)
"""First lines of a program of the kit, which does not know the source of the System."""

INNERMOST: Final = -3
"""Most frames that are shown of an error of the model itself."""

PASSED: Final = 0
FAILED: Final = 1
INTERRUPTED: Final = 130
"""Exit statuses; the last one is, by custom, for a program which Control-C has ended."""

COLORS: Final = {"passed": "green", "failed": "bold red"}
ROW: Final = "{:<10} {:<11} {:>8} {:>10} {:>8}"


@frozen
class CheckOptions:
    """Options of `stagecache check`.

    Attributes
    ----------
    checks : sequence of str
        Names of the checks: "coherence" for `check_coherence`, and so on.
    examples : int
        Number of programs of each check.
    seed : int
        Seed; the same number gives the same programs.
    budget : float or None
        Time for all checks [s].
    keep_going : bool
        True to go on after a failure.
    """

    checks: Sequence[str]
    examples: int
    seed: int
    budget: float | None = None
    keep_going: bool = False


@define
class Report:
    """Verdicts so far, and the check that Control-C has interrupted.

    Attributes
    ----------
    model : str
    system : System
    options : CheckOptions
    verdicts : list of Verdict
    running : str
        The check that runs; "" if none does.
    examples : int
        Number of its programs.
    """

    model: str
    system: System
    options: CheckOptions
    verdicts: list[Verdict] = field(factory=list)
    running: str = ""
    examples: int = 0
    is_interrupted: bool = False

    @property
    def words(self) -> dict[str, str]:
        """The verdict of each check, by its name."""
        words = dict.fromkeys(self.options.checks, "not run")
        words |= {verdict.name: verdict.word for verdict in self.verdicts}
        if self.running:
            words[self.running] = "interrupted"
        return words

    @property
    def word(self) -> str:
        """The verdict on the model."""
        words = self.words.values()
        for word in ("failed", "interrupted", "unfinished"):
            if word in words:
                return word
        return "interrupted" if self.is_interrupted else "passed"

    @property
    def status(self) -> int:
        """The exit status."""
        if self.is_interrupted:
            return INTERRUPTED
        return FAILED if self.word == "failed" else PASSED

    @property
    def again(self) -> str:
        """The command that runs failed checks again; "" if none has failed."""
        failed = [verdict.name for verdict in self.verdicts if verdict.error is not None]
        if not failed:
            return ""
        chosen = [option for name in failed for option in ("--check", name)]
        numbers = ["--examples", str(self.options.examples), "--seed", str(self.options.seed)]
        keep_going = ["--keep-going"] if len(failed) > 1 else []
        return f"stagecache check {shlex.join([self.model, *chosen, *numbers, *keep_going])}"

    def message(self, error: Exception) -> str:
        """Return an error, with a program that loads this model."""
        load = (
            f"from stagecache.cli.loading import load_system\nsystem = load_system({self.model!r})"
        )
        return HOW_TO_GET_IT.sub(lambda _: load, _message(error), count=1)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it in plain values, for JSON."""
        verdicts = {verdict.name: verdict for verdict in self.verdicts}
        return {
            "model": self.model,
            "system": repr(self.system),
            "verdict": self.word,
            "is_interrupted": self.is_interrupted,
            "seed": self.options.seed,
            "examples": self.options.examples,
            "budget": self.options.budget,
            "again": self.again or None,
            "checks": [
                {"check": name, "verdict": word}
                | (self._details(verdicts[name]) if name in verdicts else {})
                | ({"examples": self.examples} if word == "interrupted" else {})
                for name, word in self.words.items()
            ],
        }

    def _details(self, verdict: Verdict) -> dict[str, Any]:
        found: dict[str, Any] = {"examples": verdict.examples, "seconds": verdict.seconds}
        if verdict.result is not None:
            result = verdict.result
            return found | {
                "operations": result.operations,
                "entries": result.entries,
                "computed": result.computed,
                "shared": result.shared,
            }
        error = verdict.error
        assert error is not None
        return found | {
            "error": type(error).__name__,
            "message": self.message(error),
            "suspects": list(getattr(error, "suspects", ())),
        }


def check_model(
    model: str, options: CheckOptions, *, as_json: bool, out: Console, err: Console
) -> int:
    """Load a System, run checks on it, and print each verdict, the errors, and a summary.

    Parameters
    ----------
    model : str
        In a form that `load_system` accepts.
    options : CheckOptions
    as_json : bool
        True to print one JSON document at the end instead, also after Control-C.
    out : rich.console.Console
        Console for the results.
    err : rich.console.Console
        Console for the progress, which is shown on a terminal only.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    ModelError, WrongTypeError
        The model does not exist.
    """
    report = Report(model, load_system(model), options)
    if not as_json:
        print_text(out, f"{model}: {report.system!r}\n")
        print_text(out, ROW.format("check", "verdict", "examples", "operations", "time"))
    try:
        for verdict in _verdicts(report, err):
            report.verdicts.append(verdict)
            report.running = ""
            if not as_json:
                _print_verdict(report, verdict, out)
    except KeyboardInterrupt:
        report.is_interrupted = True
    if as_json:
        print_json(report.as_dict())
    else:
        _print_summary(report, out)
    return report.status


def _verdicts(report: Report, err: Console) -> Iterator[Verdict]:
    """Run the checks, each with a bar on a terminal while it runs."""
    from stagecache.testing.checks.explore import DEFAULT  # noqa: PLC0415  # needs Hypothesis

    options = report.options
    bars: list[Progress] = []

    def begin(name: str) -> None:
        report.running, report.examples = name, 0
        bars[:] = [_bar(name, options.examples, err)]
        bars[0].start()

    def show(examples: int) -> None:
        report.examples = examples
        bars[0].update(bars[0].task_ids[0], completed=examples)

    with _stopped(bars):
        for verdict in run_checks(
            report.system,
            options.checks,
            keep_going=options.keep_going,
            budget=options.budget,
            begin=begin,
            settings=type(DEFAULT)(DEFAULT, max_examples=options.examples),
            seed=options.seed,
            progress=show,
        ):
            _stop(bars)  # before anything else is printed on the terminal
            yield verdict


def _bar(name: str, total: int, err: Console) -> Progress:
    bar = Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} examples"),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
    bar.add_task(name, total=total)
    return bar


@contextmanager
def _stopped(bars: list[Progress]) -> Iterator[None]:
    """Remove the last bar at the end, also after Control-C."""
    try:
        yield
    finally:
        _stop(bars)


def _stop(bars: list[Progress]) -> None:
    for bar in bars:
        if not bar.disable:  # where there is no terminal, versions before 14.3 print an empty line
            bar.stop()


# ---------------------------------------------------------------------- texts


def _print_verdict(report: Report, verdict: Verdict, out: Console) -> None:
    """Print a line for a verdict, and what has to be said about it."""
    result = verdict.result
    operations = "" if result is None else result.operations
    line = Text(
        ROW.format(
            verdict.name,
            verdict.word,
            verdict.examples,
            operations,
            f"{verdict.seconds:.1f} s",
        )
    )
    line.highlight_words([verdict.word], COLORS.get(verdict.word, "yellow"))
    print_text(out, line)
    if result is not None and result.computed < result.entries:
        print_text(out, f"  {result}")
    if verdict.error is not None:
        out.print(f"\n[bold red]{verdict.name} failed[/]")
        print_text(out, f"{report.message(verdict.error)}\n")


def _print_summary(report: Report, out: Console) -> None:
    """Print a line for each kind of verdict."""
    results = [verdict.result for verdict in report.verdicts if verdict.result is not None]
    shared = sum(result.shared for result in results)
    if shared:
        print_text(out, f"\n{shared} values were taken from shared results, and verified.")
    words = report.words
    names = {word: [n for n, w in words.items() if w == word] for word in words.values()}
    if report.word != "failed":
        out.print()
    if "interrupted" in names:
        out.print(f"[yellow]Interrupted[/]: {report.running}, after {report.examples} examples.")
    if "unfinished" in names:
        counts = [f"{r.name} ({r.examples} examples)" for r in results if r.is_out_of_time]
        print_text(out, f"No fault found within the budget: {', '.join(counts)}.")
    if "passed" in names:
        out.print(f"[bold green]Passed[/]: {', '.join(names['passed'])}.")
    if "not run" in names:
        out.print(f"Not run: {', '.join(names['not run'])}.")
    if "failed" in names:
        out.print(f"[bold red]Failed[/]: {', '.join(names['failed'])}.")
        print_text(out, f"Again: {report.again}")


def _message(error: Exception) -> str:
    """Return the parts of an error of stagecache; of another, where the model raised it as well."""
    if isinstance(error, StagecacheError):
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    return "".join(traceback.format_exception(error, limit=INNERMOST, chain=False)).rstrip()
