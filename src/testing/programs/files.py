"""Operation that saves a State, and loads it again."""

from typing import ClassVar, Final

from attrs import frozen

from stagecache.errors import UnsavableValueError
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.testing.oracle.comparison import outcome_of
from stagecache.testing.programs.operation import AbstractOperation
from stagecache.testing.programs.run import MOST_STATES, Run, state_name

WITH_CACHE: Final = "cache=True"


@frozen
class SaveAndLoad(AbstractOperation):
    """Replacement of a State by itself as it comes back from bytes, or another State of these.

    Attributes
    ----------
    joins : bool
        True if the program goes on with both.
    with_cache : bool
        True to save values of entries, too.
    """

    may_raise: ClassVar[bool] = True

    joins: bool = False
    with_cache: bool = False

    def is_possible(self, run: Run) -> bool:
        """Return True if its values can be saved, and it would not be one State too many."""
        if self.joins and len(run.states) >= MOST_STATES:
            return False
        saved = outcome_of(run.state(self.where).to_bytes)
        return not isinstance(saved.error, UnsavableValueError)

    def target(self, run: Run) -> int:
        """Return the number of the State that is loaded. Call it before `apply`."""
        return len(run.states) if self.joins else run.number(self.where)

    def code(self, run: Run) -> str:
        """``state = State.from_bytes(state.to_bytes(), system)``."""
        how = WITH_CACHE if self.with_cache else ""
        saved = f"{run.name(self.where)}.to_bytes({how})"
        return f"{state_name(self.target(run))} = State.from_bytes({saved}, system)"

    def apply(self, run: Run) -> None:
        """Save and load the State."""
        loaded = through_bytes(run.system, run.state(self.where), with_cache=self.with_cache)
        if self.joins:
            run.add(loaded, run.number(self.where))
        else:
            run.replace(run.number(self.where), loaded)


def through_bytes(system: System, state: State, *, with_cache: bool = False) -> State:
    """Return a State as it is saved and loaded."""
    loaded = State.from_bytes(state.to_bytes(cache=with_cache), system)
    assert isinstance(loaded, State)
    return loaded


def can_be_saved(system: System, state: State) -> bool:
    """Return True if a State can be saved and loaded."""
    try:
        through_bytes(system, state, with_cache=True)
    except Exception:  # of what the model has, or of a hook
        return False
    return True
