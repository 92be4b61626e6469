"""The State of which a command is asked: realized, read, written, and then left as it is.

What raises on the way is told, and the others are asked for all the same: a command that explains a
model is needed most where something in the model fails.
"""

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import Any

import click

from stagecache.cli.loading import MEND_IT, load_function, told
from stagecache.errors import ModelError, StagecacheError, listed
from stagecache.graph.evaluation import no_function
from stagecache.inspection import Trace
from stagecache.inspection.node_paths import NodePaths
from stagecache.state import Stage, State
from stagecache.state.handles import CacheEntry
from stagecache.system import System


def make_state(
    system: System, stage: str | None, writes: Sequence[str] = (), *, is_read: bool = True
) -> State:
    """Return a copy of the default State, realized and written as far as the model allows.

    Errors of realizations and computations are printed on the standard error.

    Parameters
    ----------
    system : System
        A System; its topology is realized if needed.
    stage : str or None
        Name of the stage to realize; None for no stage.
    writes : sequence of str
        Writes that follow: "pendulum.angle=0.3".
    is_read : bool
        True to compute all entries before the writes.

    Raises
    ------
    ModelError
        The model raises in realize_topology, or in a write.
    click.BadParameter
        A write cannot be understood.
    """
    assignments = [_assignment(text) for text in writes]
    with errors_of("realize_topology"):
        state = system.new_state()
    if stage is not None:
        failure = raised_by(lambda: system.realize(state, Stage[stage.upper()]))
        if failure:
            tell(f"realize to {stage}: {failure}; the State is at {state.stage}")
    if is_read:
        tell_failures(read_all(state))
    for path, value in assignments:
        with errors_of(f"write {path}"):
            write(state, path, value)
    return state


def read_all(state: State) -> dict[str, str]:
    """Compute all entries that have a function and whose stages are realized.

    Returns
    -------
    dict of str to str
        Errors with their places, by the paths of the entries that raise them.
    """
    failures: dict[str, str] = {}
    realization = state._contents.realization
    for node, path in NodePaths(state._contents).of.items():
        entry = realization.store.keys[node]
        if not isinstance(entry, CacheEntry) or realization.store.is_closed(node):
            continue
        if realization.layout.functions[node] is not no_function:
            failure = raised_by(partial(entry, state))
            if failure:
                failures[path] = failure
    return failures


def raised_by(call: Callable[[], object]) -> str:
    """Describe the error that a call of the model raises, with its place; "" if it does not.

    What it prints goes to the standard error.
    """
    try:
        with redirect_stdout(sys.stderr):
            call()
    except (Exception, SystemExit) as error:
        return told(error)
    return ""


def tell_failures(failures: dict[str, str]) -> None:
    """Print the entries that raise: one line for each error, with its entries."""
    for failure in dict.fromkeys(failures.values()):
        paths = [path for path, other in failures.items() if other == failure]
        tell(f"compute {listed(paths)}: {failure}")


def tell(failure: str) -> None:
    """Print a warning to standard error."""
    click.echo(f"Warning: {failure}", err=True)


def write(state: State, path: str, value: Any) -> None:
    """Write the variable of a path, or a whole such as q or u_weights.

    Raises
    ------
    UnknownPathError, NodeKindError
        The variable does not exist.
    """
    state.impact(path)  # refuses a path that cannot be written
    paths = NodePaths(state._contents)
    node = paths.node.get(path.replace("/", "."))
    handle = None if node is None else state._contents.realization.store.keys[node]
    if hasattr(handle, "set"):
        handle.set(state, value)
    else:
        setattr(state, path, value)


@contextmanager
def traced_run(state: State, model: str, run: str) -> Iterator[Trace]:
    """Call a function with a traced State, and yield the trace, which has the places of writes.

    Parameters
    ----------
    state : State
    model, run : str
        In a form that `load_function` accepts.

    Raises
    ------
    ModelError, WrongTypeError
        The function does not exist.
    ModelError
        The function raises.
    """
    function = load_function(model, run)
    with state.trace() as trace:
        with errors_of(f"run {run}"):
            function(state)
        yield trace


@contextmanager
def errors_of(what: str) -> Iterator[None]:
    """Turn errors of the model into a ModelError; errors of stagecache pass.

    Its output goes to the standard error, since the standard output is for answers.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except StagecacheError:
        raise
    except (Exception, SystemExit) as error:
        raise ModelError(
            f"{what}: the model raises",
            "a model that can be realized, read and written",
            told(error),
            MEND_IT,
        ) from error


def _assignment(text: str) -> tuple[str, Any]:
    """Return the path and the value of "pendulum.angle=0.3"."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise click.BadParameter(f"{text!r} is not PATH=VALUE.", param_hint="'--after'")
    try:
        return path.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        pass
    try:
        return path.strip(), float(value)  # inf, nan
    except ValueError:
        raise click.BadParameter(
            f"{value.strip()!r} is not a value of Python: put texts into quotes.",
            param_hint="'--after'",
        ) from None
