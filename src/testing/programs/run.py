"""Program while it runs: its States, and its lines."""

from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any, Final

import attrs

from stagecache.errors import (
    CacheEntryOutOfDateError,
    MutatedValueError,
    StaleValueError,
    UndeclaredPrerequisiteError,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.testing.budget import require_time
from stagecache.testing.items import Names
from stagecache.testing.oracle.comparison import Outcome, outcome_of
from stagecache.testing.oracle.oracle import Snapshot, Subject

FOUND_BY_STRICT: Final = (UndeclaredPrerequisiteError, MutatedValueError, StaleValueError)
MOST_STATES: Final = 3
MOST_MARKS: Final = 4


@attrs.frozen(eq=False)
class Mark:
    """A checkpoint of one of the States.

    Attributes
    ----------
    number : int
        Which one.
    state : State
        It; it may have been replaced.
    checkpoint : object
    snapshot : Snapshot
        Its variables then.
    valid : tuple of Subject
        Entries that were valid then.
    """

    number: int
    state: State
    checkpoint: Any
    snapshot: Snapshot
    valid: tuple[Subject, ...]


@attrs.frozen(eq=False)
class Read:
    """A read that an operation did, and how many lines of the program come before it."""

    number: int
    subject: Subject
    outcome: Outcome
    line: int


@attrs.frozen(eq=False)
class Raised:
    """Error of an entry or a stage, its State, and the line of the program."""

    number: int
    error: Exception
    line: int


class Run:
    """States of one program, with its lines, reads and errors so far.

    Attributes
    ----------
    system : System
    states : list of State
        The first one, and its copies.
    marks : list of Mark
    lines : list of str
        The program, from the second statement on: one for each statement.
    reads : list of Read
        Reads of the last operation.
    last_read : Subject or None
        The read in which strict mode found a fault.
    gave : set of Subject
        The entries that gave a value.
    waiting : set of Subject
        Entries that were not filled, or that depend on such entries.
    raised : dict of Subject to Raised
        First errors of other entries and of stages.
    reached : Stage
        The highest stage that was realized.
    history : list of list of Snapshot
        For each State: its variables after each operation that changed them; the
        variables of a copy begin with the variables of its original.
    """

    def __init__(self, system: System, state: State | None = None) -> None:
        self.system = system
        self.names = Names(system)
        self.states = [system.new_state() if state is None else state]
        self.marks: list[Mark] = []
        self.lines: list[str] = []
        self.reads: list[Read] = []
        self.history = [[Snapshot.of(self.states[0])]]
        self.last_read: Subject | None = None
        self.gave: set[Subject] = set()
        self.waiting: set[Subject] = set()
        self.raised: dict[Subject, Raised] = {}
        self.reached = Stage.EMPTY
        self._codes: dict[tuple[Subject, str], str] = {}

    def number(self, which: int) -> int:
        """Return the number of a State, of as many as there are."""
        return which % len(self.states)

    def state(self, which: int) -> State:
        """Return the State of a number, modulo their count."""
        return self.states[self.number(which)]

    def name(self, which: int) -> str:
        """Name in the program."""
        return state_name(self.number(which))

    def add(self, state: State, copied_from: int) -> None:
        """Have another State, a copy of one of them."""
        self.states.append(state)
        self.history.append([*self.history[copied_from], Snapshot.of(state)])

    def replace(self, number: int, state: State) -> None:
        """Have a State in the place of another one with equal variables."""
        self.states[number] = state
        self.history[number].append(Snapshot.of(state))

    def read(self, which: int, subject: Subject, outcome: Outcome) -> None:
        """Note a read."""
        line = len(self.lines) + len(self.reads)
        self.reads.append(Read(self.number(which), subject, outcome, line))

    def code(self, which: int, subject: Subject) -> str:
        """Return the expression that reads something in a State."""
        key = subject, self.name(which)
        if key not in self._codes:
            self._codes[key] = subject.code(self.names, self.state(which), key[1])
        return self._codes[key]

    def perform(
        self, program: Iterable[Any], look: Callable[["Run"], None] = lambda _: None
    ) -> int:
        """Do the operations that are possible, and return how many these were.

        An error of the model itself is not a fault: the program goes on.
        `look` is called after each.

        Raises
        ------
        UndeclaredPrerequisiteError, MutatedValueError, StaleValueError
            Strict mode or verify mode found a fault; `last_read` has the read, if there was one.
        """

        def refuse(operation: Any, _: int, error: Exception | None) -> None:
            for read in self.reads:
                if isinstance(read.outcome.error, FOUND_BY_STRICT):
                    self.last_read = read.subject
                    raise read.outcome.error
            if error is not None and not operation.may_raise:
                raise error
            if isinstance(error, FOUND_BY_STRICT):
                raise error

        count = 0
        for operation in program:
            if operation.is_possible(self):
                self.do(operation, refuse)
                look(self)
                count += 1
        return count

    def do(self, operation: Any, refuse: Callable[[Any, int, Exception | None], None]) -> None:
        """Do an operation, and note it; `refuse` may raise because of what it raises.

        Raises
        ------
        OutOfTimeError
            The limit of time is exceeded.
        """
        require_time()
        lines = operation.code(self).splitlines()
        number = operation.number(self)
        self.reads.clear()
        error = outcome_of(lambda: operation.apply(self)).error
        self._note(number, error, is_realization=operation.realizes)
        errors = [read.outcome.error for read in self.reads] or [error]
        for line, raised in zip_longest(lines, errors[: len(lines)]):
            self.lines.append(_tolerant(line, raised))
        refuse(operation, number, error)

    def _note(self, number: int, error: Exception | None, *, is_realization: bool) -> None:
        """Note what gave a value, and what raised."""
        for read in self.reads:
            if read.outcome.error is None:
                self.gave.add(read.subject)
            elif isinstance(read.outcome.error, CacheEntryOutOfDateError):
                self.waiting.add(read.subject)
            else:
                raised = Raised(read.number, read.outcome.error, read.line)
                self.raised.setdefault(read.subject, raised)
        stage = self.states[number].stage
        self.reached = max(self.reached, stage)
        if error is not None and is_realization:
            subject = Subject(stage=stage.next())
            self.raised.setdefault(subject, Raised(number, error, len(self.lines)))


def _tolerant(line: str, raised: Exception | None) -> str:
    """Return the line such that the program goes on if it raises what the model raises."""
    if raised is None or isinstance(raised, FOUND_BY_STRICT):
        return line
    return f"with contextlib.suppress({exception_name(raised)}):\n    {line}"


def exception_name(error: Exception) -> str:
    """Return the name of a type of exception in programs; it may be one of the model."""
    name = type(error).__name__
    return name if type(error).__module__ == "builtins" else "Exception"


def state_name(number: int) -> str:
    """Return the name of a State in programs."""
    return "state" if number == 0 else f"state_{number + 1}"


def mark_name(number: int) -> str:
    """Return the name of a checkpoint in programs."""
    return "mark" if number == 0 else f"mark_{number + 1}"
