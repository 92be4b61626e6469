"""Strategies for States of a System, and for what can be done with them."""

from typing import Final

from hypothesis import strategies as st

from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.testing.items import TIME
from stagecache.testing.oracle.comparison import outcome_of
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.operation import AbstractOperation
from stagecache.testing.programs.programs import programs
from stagecache.testing.programs.run import Run
from stagecache.testing.programs.writes import SetTime, SetVariable

REALIZED: Final = tuple(Stage)[Stage.MODEL : Stage.INFINITY]


def operations(
    system: System, *, strategies: Strategies | None = None, max_steps: int = 30
) -> st.SearchStrategy[list[AbstractOperation]]:
    """Draw programs for a System: lists of operations for ``Run(system).perform(...)``.

    Parameters
    ----------
    system : System
    strategies : mapping of handle to strategy, optional
        For the values of some variables, as in `check_coherence`.
    max_steps : int
        A step is a write, or the like, together with the read that follows it.

    Raises
    ------
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    return programs(Inventory(system, strategies), max_steps)


def states(
    system: System, *, strategies: Strategies | None = None, max_writes: int = 10
) -> st.SearchStrategy[State]:
    """States of a System, at any stage from Model on, with other values for some variables.

    Where the model raises an exception as it is realized, the State stays at the stage before.

    Parameters
    ----------
    system : System
    strategies : mapping of handle to strategy, optional
        For the values of some variables, as in `check_coherence`.
    max_writes : int
        Most variables to write.

    Raises
    ------
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    return _a_state(system, Inventory(system, strategies), max_writes)


@st.composite
def _a_state(draw: st.DrawFn, system: System, has: Inventory, max_writes: int) -> State:
    run = Run(system)
    items = [*has.values]
    for item in draw(st.lists(st.sampled_from(items), unique=True, max_size=max_writes)):
        value = draw(has.values[item])
        operation = SetTime(float(value)) if item == TIME else SetVariable(item, value)
        outcome_of(lambda: system.realize_model(run.states[0]))  # options may have been written
        if operation.is_possible(run):
            operation.apply(run)
    stage = draw(st.sampled_from(REALIZED))
    outcome_of(lambda: system.realize(run.states[0], stage))
    return run.states[0]
