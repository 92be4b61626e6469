"""`stagecache study`: run a function, or a simulation, for each of many members of a model."""

import ast
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from attrs import frozen
from rich.console import Console
from rich.text import Text

from stagecache.checks import require_extra
from stagecache.cli.loading import load_function, load_system
from stagecache.cli.output import new_table, print_table, print_text
from stagecache.cli.state import errors_of
from stagecache.display.words import counted
from stagecache.errors import short_repr
from stagecache.sharing import shared_results
from stagecache.study import (
    MemberResult,
    Members,
    Simulation,
    StudyResults,
    Trajectory,
    full_factorial,
    latin_hypercube,
    run_study,
    sobol,
)
from stagecache.study.ensemble.simulation import InRows

MOST_SHOWN: Final = 20
"""Members in a table."""

MOST_FAILURES: Final = 5

MOST_NUMBERS: Final = 4
"""Numbers of an array in a table, as of a quaternion; of a longer one, the first and the last."""


@frozen
class RunOptions:
    """Options of a run: workers, and folders for results.

    Attributes
    ----------
    output : Path or None
        Folder of the results.
    is_resumed : bool
    workers : int or None
        Number of processes.
    scheduler : str or None
        Address of a Dask scheduler.
    shared : Path or None
        Folder of shared results.
    """

    output: Path | None
    is_resumed: bool
    workers: int | None
    scheduler: str | None
    shared: Path | None


@frozen
class Design:
    """Choice of members.

    Attributes
    ----------
    vary : tuple of str
        "PATH=VALUES", one for each variable.
    sampling : str
        "full", "latin" or "sobol".
    number : int or None
        Number of members of a sample.
    seed : int
    """

    vary: tuple[str, ...]
    sampling: str
    number: int | None
    seed: int

    def members(self) -> Members:
        """Return the members.

        Raises
        ------
        click.BadParameter
            Values cannot be understood.
        StagecacheError
        """
        pairs: dict[str, str] = {}
        for text in self.vary:
            path, values = _split(text)
            if path in pairs:
                raise click.BadParameter(f"{path} is varied twice; write all values in one --vary.")
            pairs[path] = values
        if self.sampling == "full":
            return full_factorial({path: values_of(path, text) for path, text in pairs.items()})
        if self.number is None:
            raise click.UsageError(f"--design {self.sampling} needs --members N.")
        ranges = {path: _range(path, text) for path, text in pairs.items()}
        sample = latin_hypercube if self.sampling == "latin" else sobol
        return sample(ranges, self.number, seed=self.seed)


def simulation_of(until: float, every: float | None, keep: Sequence[str]) -> Simulation:
    """Return a simulation that keeps the values at some paths, or else its trajectory.

    Parameters
    ----------
    until : float
        Time of the end [s].
    every : float or None
        Time between two rows [s], in each of which values are kept; None to keep them at the end.
    keep : sequence of str

    Raises
    ------
    StagecacheError
    """
    outputs = {path: path if every is None else InRows(path) for path in keep}
    return Simulation(until, outputs or None, every=every)


def run(
    model: str, study: str | Simulation, design: Design, options: RunOptions, retries: int
) -> bool:
    """Load a System, run the study, and print its results; return True if no member failed.

    Parameters
    ----------
    model : str
        In a form that `load_system` accepts.
    study : str or Simulation
        Name of a function, in a form that `load_function` accepts.
    design : Design
    options : RunOptions
    retries : int
        Number of times that a member which raises is run again.

    Raises
    ------
    ModelError
    StagecacheError
        See `run_study`.
    """
    system = load_system(model)
    members = design.members()
    function = load_function(model, study, or_with="a Member") if isinstance(study, str) else study
    with ExitStack() as stack:
        if options.shared is not None:
            stack.enter_context(shared_results(path=options.shared))
        executor = None
        if options.scheduler is not None:
            dask: Any = require_extra("distributed", "studies", "--scheduler", "use --workers")
            with errors_of(f"connect to {options.scheduler}"):
                client = stack.enter_context(dask.Client(options.scheduler))
            executor = client.get_executor()
        results = run_study(
            system,
            members,
            function,
            executor=executor,
            workers=options.workers,
            into=options.output,
            resume=options.is_resumed,
            retries=retries,
            seed=design.seed,
        )
    _show(results, options)
    return not results.failures


# ---------------------------------------------------------------------- arguments


def _split(text: str) -> tuple[str, str]:
    path, equals, values = text.partition("=")
    if not equals or not path.strip() or not values.strip():
        raise click.BadParameter(f"{text!r}: write PATH=VALUES, as pendulum.length=0.5:1.5:11.")
    return path.strip(), values.strip()


def values_of(path: str, text: str) -> Sequence[Any]:
    """Return the values that a text lists: "0.5:1.5:11" has 11 from 0.5 to 1.5, "1,2" has two.

    Raises
    ------
    click.BadParameter
    """
    parts = text.split(":")
    try:
        if len(parts) == 3 and "'" not in text and '"' not in text:
            first, last, number = float(parts[0]), float(parts[1]), int(parts[2])
            if number < 1:
                raise ValueError("a number below 1")
            return [float(value) for value in np.linspace(first, last, number)]
        found = ast.literal_eval(f"[{text}]")
    except (ValueError, SyntaxError) as error:
        raise click.BadParameter(
            f"{path}={text}: {error}. Write FIRST:LAST:NUMBER, or values as in Python: 1,2 or "
            "\"'oak','pine'\"."
        ) from None
    assert isinstance(found, list)
    return found


def _range(path: str, text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        raise click.BadParameter(f"{path}={text}: a sample needs LOW:HIGH.") from None
    return low, high


# ---------------------------------------------------------------------- results


def _show(results: StudyResults, options: RunOptions) -> None:
    out = Console(highlight=False)
    failures = results.failures
    if options.output is None:
        _show_table(out, results)
    counts = results.statistics
    rate = f", {counts.members_a_second:.3g} a second" if counts.members_a_second > 0 else ""
    print_text(out, f"{counts.num_members} members: {counts.num_ok} ok, {len(failures)} failed")
    print_text(out, f"{counts.seconds:.3g} s of work in {counts.elapsed:.3g} s{rate}")
    for failure in failures[:MOST_FAILURES]:
        given = short_repr(dict(failure.parameters))
        print_text(out, f"member {failure.index}, {given}: {failure.error}: {failure.message}")
    if len(failures) > MOST_FAILURES:
        print_text(out, f"and {len(failures) - MOST_FAILURES} more")
    if options.output is not None:
        print_text(out, f"wrote {options.output}; load_study({str(options.output)!r}) opens it")


def _show_table(out: Console, results: StudyResults) -> None:
    shown = [results[index] for index in range(min(len(results), MOST_SHOWN))]
    names = list(dict.fromkeys(name for result in shown for name in result.values))
    table = new_table(*results.names, *names, numbers=len(results.names) + len(names))
    for result in shown:
        table.add_row(*_cells(result.parameters, results.names), *_result_cells(result, names))
    print_table(out, table)
    if len(results) > len(shown):
        print_text(out, f"and {len(results) - len(shown)} more; --output keeps all")
    if any(isinstance(value, Trajectory) for result in shown for value in result.values.values()):
        print_text(out, "--keep PATH shows values; --output keeps trajectories")
    out.print()


def _cells(values: Mapping[str, Any], names: Sequence[str]) -> list[Text]:
    return [Text(_text(values[name]) if name in values else "") for name in names]


def _result_cells(result: MemberResult, names: Sequence[str]) -> list[Text]:
    if result.values or not names:
        return _cells(result.values, names)
    return [Text(result.status, "red"), *[Text("")] * (len(names) - 1)]


def _text(value: Any) -> str:
    if isinstance(value, Trajectory):
        rows = counted(len(value), "row")
        return f"{rows} to t = {value.times[-1]:.6g} s" if len(value) else rows
    if isinstance(value, np.ndarray):
        return _array_text(value)
    return f"{value:.6g}" if isinstance(value, float) else short_repr(value)


def _array_text(array: Any) -> str:
    """Return an array on one line: so short that several fit beside each other."""
    with np.printoptions(threshold=MOST_NUMBERS, edgeitems=1, linewidth=10**6):
        text = np.array2string(
            array, separator=", ", formatter={"float_kind": lambda number: f"{number:.4g}"}
        )
    return " ".join(text.split())
