"""Strict mode finds prerequisites that are not declared, and stale values that count as valid.

Each read by a computation is noted. If the declaration of the entry does not cover it, it is
refused, for a change of the item would leave the entry as it is. `coverage` defines this, `watch`
does it.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from types import TracebackType
from typing import Any, Final, Literal, final, overload
from weakref import WeakSet

from stagecache.errors import UnknownChoiceError, WrongTypeError, short_repr
from stagecache.graph.graph import Graph
from stagecache.graph.observing import OBSERVERS_OF_NEW
from stagecache.inspection.strict.judge import judge_of
from stagecache.inspection.strict.reads import ReadLog
from stagecache.inspection.strict.watch import Watch, watch_of
from stagecache.inspection.subject import subject_of
from stagecache.state.state import State

Undeclared = Literal["raise", "record"]

ALL: Final = object()
"""Default of `strict`: each State that is made. None may come from a mistake."""


@overload
def strict(*, undeclared: Undeclared = "raise") -> AbstractContextManager[ReadLog]: ...


@overload
def strict(
    state: State | Graph, *, undeclared: Undeclared = "raise"
) -> AbstractContextManager[ReadLog]: ...


def strict(
    state: object = ALL, *, undeclared: Undeclared = "raise"
) -> AbstractContextManager[ReadLog]:
    """Watch the reads of computations of a State or a Graph, in a ``with`` block.

    A computation of a Graph may read the prerequisites of its entry. In a State, a read is covered
    if a change of what is read makes the entry stale by what the entry itself declares: its
    prerequisites, or its stage. That one of its prerequisites depends on the same is not enough,
    for that may come out equal and so need no computation (``equal=``). Nor is it enough that
    something can be read because the State happens to be realized further than the entry asks for.

    Values that are changed in place are found, too: when they are read again, when the computation
    ends that read them, and at the end of the block.

    Parameters
    ----------
    state : State or Graph, optional
        The default is each State and Graph that is made or copied in the block, by the same thread
        (or task), until the block ends.
    undeclared : str
        "raise" an error at a read that is not covered, or "record" it in `ReadLog.undeclared`.

    Returns
    -------
    context manager of ReadLog
        Reads of computations.

    Raises
    ------
    UndeclaredPrerequisiteError, MutatedValueError
        In the block.
    WrongTypeError, UnknownChoiceError

    Examples
    --------
    >>> from stagecache import State, Subsystem, System, cached, parameter, strict
    >>> class Spring(Subsystem):
    ...     stiffness = parameter(100.0)
    ...     stretch = parameter(0.1)
    ...
    ...     @cached(prerequisites=(stretch,))
    ...     def force(self, state: State) -> float:
    ...         return -self.stiffness(state) * self.stretch(state)
    >>> spring = Spring()
    >>> state = System(spring).new_state()
    >>> with strict(state, undeclared="record") as reads:
    ...     force = spring.force(state)
    >>> reads.undeclared[0].hint
    'write @cached(prerequisites=(stretch, stiffness))'
    """
    if undeclared not in ("raise", "record"):
        raise UnknownChoiceError(
            "strict(undeclared=...): not a mode",
            "'raise' or 'record'",
            short_repr(undeclared),
            "leave it out for 'raise'",
        )
    is_raising = undeclared == "raise"
    if state is ALL:
        return Watching(lambda: Everywhere(ReadLog(is_raising=is_raising)))
    watched = _checked(state)
    return Watching(lambda: One(watched, ReadLog(is_raising=is_raising)))


def verify(state: State | Graph) -> AbstractContextManager[ReadLog]:
    """Compute each valid entry again when it is read, in a ``with`` block, and compare.

    This finds wrong values that count as valid, whatever the reason: a prerequisite that is not
    declared, a global, an attribute. Entries upstream are verified first. Undeclared reads as such
    do not raise, but are recorded; values that are changed in place are found as by `strict`.

    Parameters
    ----------
    state : State or Graph

    Returns
    -------
    context manager of ReadLog
        Reads of computations.

    Raises
    ------
    StaleValueError, MutatedValueError
        In the block.
    WrongTypeError
    """
    watched = _checked(state)
    return Watching(lambda: One(watched, ReadLog(is_raising=False, is_verifying=True)))


def _checked(state: object) -> State | Graph:
    if isinstance(state, State | Graph):
        return state
    raise WrongTypeError(
        f"{short_repr(state)}: is not a State",
        "a State or a Graph",
        f"an object of type {type(state).__name__}",
        "pass the State to be watched; strict() without any watches all that are made meanwhile",
    )


# ---------------------------------------------------------------------- blocks


Watched = list[Watch | None]
"""The watches of States that are watched no more."""


def begin_watching(state: Any, log: ReadLog) -> None:
    """Watch all reads of a State or a Graph, until `end_watching`."""
    with state.lock:
        subject = subject_of(state)
        watch = watch_of(subject)
        if watch is None:
            subject.observe((Watch(subject, (log,)), *subject.observers))
        else:
            watch.logs = (*watch.logs, log)


def end_watching(state: Any, log: ReadLog) -> Watch | None:
    """Undo `begin_watching`, as far as it came, and return the watch."""
    with state.lock:
        subject = subject_of(state)
        watch = watch_of(subject)
        if watch is not None:
            watch.logs = tuple([other for other in watch.logs if other is not log])
        if watch is None or not watch.logs:
            subject.observe(tuple([other for other in subject.observers if other is not watch]))
            judge_of(subject).unhook()
        return watch


def watch_always(state: Any) -> None:
    """Watch a State from its beginning to its end, and its copies."""
    begin_watching(state, ReadLog(is_permanent=True))


@final
class One:
    """A watch of one State or Graph."""

    __slots__ = ("_state", "log")

    def __init__(self, state: Any, log: ReadLog) -> None:
        self._state = state
        self.log = log

    def begin(self) -> None:
        """Watch it."""
        begin_watching(self._state, self.log)

    def end(self) -> Watched:
        """Watch it no more."""
        return [end_watching(self._state, self.log)]


@final
class Everywhere:
    """A watch of all States and Graphs that are made in a block, with those made so far."""

    __slots__ = ("is_over", "log", "states")

    def __init__(self, log: ReadLog) -> None:
        self.log = log
        self.states: WeakSet[Any] = WeakSet()
        self.is_over = False

    def __call__(self, state: Any) -> None:
        """Watch a State or a Graph that was just made."""
        if not self.is_over:
            self.states.add(state)
            begin_watching(state, self.log)

    def begin(self) -> None:
        """Watch what is made from now on, in this context."""
        OBSERVERS_OF_NEW.set((*OBSERVERS_OF_NEW.get(), self))

    def end(self) -> Watched:
        """Watch them no more; return those that there still are.

        The context may be another one, where an asynchronous generator is closed: so what has
        begun in the first one is told that it is over.
        """
        self.is_over = True
        others = [other for other in OBSERVERS_OF_NEW.get() if other is not self]
        OBSERVERS_OF_NEW.set(tuple(others))
        return [end_watching(state, self.log) for state in list(self.states)]


@final
class Watching(ContextDecorator):
    """A block in which States are watched; each time that it is entered, with a log of its own.

    Parameters
    ----------
    make : callable
        Makes what watches.
    """

    def __init__(self, make: Callable[[], One | Everywhere]) -> None:
        self._make = make
        self._entered: list[One | Everywhere] = []

    def __enter__(self) -> ReadLog:
        block = self._make()
        try:
            self._entered.append(block)
            block.begin()
            return block.log
        except BaseException:
            block.end()
            self._entered = [other for other in self._entered if other is not block]
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            watched = self._entered[-1].end()
        except BaseException:
            self._entered[-1].end()
            raise
        finally:
            del self._entered[-1]
        for watch in watched if kind is None else ():
            if watch is not None:
                watch.check()

    def _recreate_cm(self) -> "Watching":
        """Return what a call of a decorated function enters: several threads may call it."""
        return Watching(self._make)
