"""`stagecache profile`: costs of a run of a model, and suggestions."""

from collections.abc import Callable
from typing import Final

import numpy as np
from rich.console import Console
from rich.text import Text

from stagecache.cli.loading import load_function, load_system
from stagecache.cli.output import new_table, print_json, print_table, print_text
from stagecache.cli.state import errors_of, read_all, tell_failures
from stagecache.progress import ProgressBar
from stagecache.state import State
from stagecache.system import System, profile

TIME_STEP: Final = 0.01
CHANGE: Final = 0.001
SEED: Final = 0


def show_profile(model: str, run: str | None, steps: int, *, as_json: bool) -> None:
    """Load a System, run it with a trace, and print the profile.

    Parameters
    ----------
    model : str
        In a form that `load_system` accepts.
    run : str or None
        The function to run, as `load_function` takes it; steps are taken if it is None.
    steps : int
        Number of steps.
    as_json : bool
        True to print JSON, for programs.

    Raises
    ------
    ModelError
        The model, or the function, raises.
    """
    system = load_system(model)
    failures: dict[str, str] = {}
    chosen = take_steps(system, steps, failures) if run is None else load_function(model, run)
    with errors_of(f"run {run or f'{steps} steps'}"):
        found = profile(system, chosen)
    tell_failures(failures)
    if as_json:
        print_json(found.as_dict())
        return
    out = Console(highlight=False)
    if not found.entries:
        print_text(out, "No entry was read.")
    for title, headings, rows in found._tables():
        if not rows:
            continue
        table = new_table(*headings, numbers=len(headings) - 1)
        for row in rows:
            table.add_row(*map(Text, row))
        out.print(Text(title, style="bold"))
        print_table(out, table)
        out.print()
    if found.suggestions:
        out.print(Text("Suggestions", style="bold"))
        for suggestion in found.suggestions:
            print_text(out, f"- {suggestion}")
    for text in found.trace.untraced:
        print_text(out, text)


def take_steps(system: System, steps: int, failures: dict[str, str]) -> Callable[[State], None]:
    """Return a run like an integrator's: advance the time, change y a little, read all entries.

    The changes are random, and the same each time. Errors are put into `failures`, by entry.
    """

    def run(state: State) -> None:
        random = np.random.default_rng(SEED)
        system.realize(state)
        with ProgressBar(system.name, 0, steps, counted="step", has_rate=True) as bar:
            for step in range(1, steps + 1):
                take_step(state, random)
                bar.show(step)

    def take_step(state: State, random: np.random.Generator) -> None:
        state.time += TIME_STEP
        for name in ("q", "u", "z"):
            values = getattr(state, name)
            if len(values):
                setattr(state, name, values + CHANGE * random.standard_normal(len(values)))
        system.realize(state)
        for path, failure in read_all(state).items():
            failures.setdefault(path, failure)

    return run
