"""`stagecache watch`: a page that follows a run of a model."""

import webbrowser
from contextlib import suppress
from time import perf_counter, sleep
from typing import Any, Final

import click
from attrs import frozen
from rich.console import Console

from stagecache.cli.loading import load_function, load_run
from stagecache.cli.output import print_text
from stagecache.cli.profile import take_steps
from stagecache.cli.state import errors_of, make_state, tell_failures
from stagecache.errors import StagecacheError
from stagecache.live.watch import LiveView
from stagecache.study import simulate
from stagecache.system import System

LOOK: Final = 0.2
"""Seconds between two looks if there is a page."""


@frozen
class Work:
    """Choice of what runs: one of these.

    Attributes
    ----------
    run : str or None
        Name of a function of a State.
    until : float or None
        End of a simulation [s].
    steps : int
        Number of steps, if there is nothing else to run.
    """

    run: str | None
    until: float | None
    steps: int


@frozen
class Options:
    """Options of the page.

    Attributes
    ----------
    port : int
        0 for a free one.
    opens : bool
        True to open a browser.
    waits : bool
        True to wait for the page before the run.
    exits : bool
        True to end with the run.
    every : float
        Seconds between two updates, at least.
    is_paused : bool
        True to pause before the first computation.
    """

    port: int
    opens: bool
    waits: bool
    exits: bool
    every: float
    is_paused: bool


def watch_model(model: str, work: Work, options: Options) -> bool:
    """Serve a page, run a model, and follow its States; return True unless it was cut short.

    Parameters
    ----------
    model : str
        In a form that `load_run` accepts.
    work : Work
    options : Options

    Raises
    ------
    ModelError, WrongTypeError
        The model cannot be loaded; `Work.run` is named, and so is a function by the model.
    """
    run = _run_of(model, work)
    view = LiveView(run.title, run.state, every=options.every, is_paused=options.is_paused)
    out = Console(highlight=False)
    try:
        _show(view, options, out)
        is_done = _follow(view, run, out)
        if not options.exits:
            _say(out, "The page stays as it is. Ctrl-C ends.")
            with suppress(KeyboardInterrupt):
                while True:
                    sleep(LOOK)
        return is_done
    finally:
        view.close()


# ---------------------------------------------------------------------- what runs


@frozen
class Run:
    """A function and its State; without one, all States are followed that it makes.

    Attributes
    ----------
    title : str
    function : callable
        Function of the State, or without arguments.
    state : State or None
    failures : dict of str to str
        Errors of entries that the run goes on after, by path.
    """

    title: str
    function: Any
    state: Any
    failures: dict[str, str]


def _run_of(model: str, work: Work) -> Run:
    system, function = load_run(model)
    if function is not None and (work.run is not None or work.until is not None):
        raise click.UsageError(f"{model} is to be run: leave out --run and --until.")
    if system is None:
        return Run(model, function, None, {})
    failures: dict[str, str] = {}
    state = make_state(system, None, is_read=False)
    if work.run is not None:
        function = load_function(model, work.run)
    elif work.until is not None:
        function = _simulation(system, work.until)
    elif function is None:
        function = take_steps(system, work.steps, failures)
    return Run(system.name, function, state, failures)


def _simulation(system: System, until: float) -> Any:
    return lambda state: simulate(system, state, until, progress=False)


# ---------------------------------------------------------------------- the page


def _show(view: LiveView, options: Options, out: Console) -> None:
    """Serve the page, say where, open it, and wait until somebody looks at it."""
    try:
        url = view.serve(options.port)
    except OSError as error:
        raise click.ClickException(f"port {options.port}: {error.strerror}") from error
    _say(out, f"Watch it at {url}")
    if options.opens and not webbrowser.open(view._ticket()):
        _say(out, "There is no browser that could be started: open this address in one.")
    if options.waits:
        _say(out, "It begins when the page is open.")
        while not view._feed.wait_for_listener(LOOK):
            pass


def _follow(view: LiveView, run: Run, out: Console) -> bool:
    """Run it, say how it ended, and return True unless it was cut short."""
    start = perf_counter()
    ending = "Done"
    try:
        with errors_of(f"run {run.title}"), view._following_all():
            run.function() if run.state is None else run.function(run.state)
    except StagecacheError as error:
        click.echo(f"Error: {error}", err=True)
        ending = "Failed"
    except KeyboardInterrupt:
        ending = "Interrupted"
    seconds = perf_counter() - start
    view._end()
    tell_failures(run.failures)
    _say(out, f"{ending} after {seconds:.2f} s: {view._counts}.")
    return ending == "Done"


def _say(out: Console, text: str) -> None:
    print_text(out, text)
    out.file.flush()
