"""Strict mode finds prerequisites that are not declared, and values that are out of date.

In strict mode each read by a computation is noted, and one that is not covered by what the entry
declares is refused, for a change of what it reads would leave the entry as it is. See `coverage`
for what is covered, and `watching` for how it is done.
"""

from contextlib import AbstractContextManager
from typing import Final, Literal, overload

from stagecache.errors import UnknownChoiceError, WrongTypeError, short_repr
from stagecache.inspection.strict.reads import ReadLog
from stagecache.inspection.strict.watching import Everywhere, One, Watching
from stagecache.state.state import State

Undeclared = Literal["raise", "record"]

ALL: Final = object()
"""Each State that is made; None may come from a mistake."""


@overload
def strict(*, undeclared: Undeclared = "raise") -> AbstractContextManager[ReadLog]: ...


@overload
def strict(
    state: State, *, undeclared: Undeclared = "raise"
) -> AbstractContextManager[ReadLog]: ...


def strict(
    state: object = ALL, *, undeclared: Undeclared = "raise"
) -> AbstractContextManager[ReadLog]:
    """Watch what computations read, in a ``with`` block.

    A read is covered if a change of what is read makes the entry stale by what the entry itself
    declares: its prerequisites, or its stage. That one of its prerequisites depends on the same
    is not enough, for that may come out equal and so need no computation (``equal=``). Nor is it
    enough that something can be read because the State happens to be realized further than the
    entry asks for.

    Values that are changed in place are found, too: when they are read again, when the computation
    ends that read them, and at the end of the block.

    Parameters
    ----------
    state : State, optional
        The default is each State that is made or copied in the block, by the same thread (or task),
        until the block ends.
    undeclared : str
        "raise" an error at a read that is not covered, or "record" it in `ReadLog.undeclared`.

    Returns
    -------
    context manager of ReadLog
        What was read.

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
            "strict(undeclared=...): is no such way",
            "'raise' or 'record'",
            short_repr(undeclared),
            "leave it out for 'raise'",
        )
    is_raising = undeclared == "raise"
    if state is ALL:
        return Watching(lambda: Everywhere(ReadLog(is_raising=is_raising)))
    watched = _checked(state)
    return Watching(lambda: One(watched, ReadLog(is_raising=is_raising)))


def verify(state: State) -> AbstractContextManager[ReadLog]:
    """Compute every entry again that is read and realized, in a ``with`` block, and compare.

    So it finds values that are out of date although nothing upstream has changed, whatever the
    reason: a prerequisite that is not declared, a global, an attribute. What is upstream of an
    entry is verified before it. Undeclared reads as such do not raise, but are recorded; values
    that are changed in place are found as by `strict`.

    Parameters
    ----------
    state : State

    Returns
    -------
    context manager of ReadLog
        What was read.

    Raises
    ------
    StaleValueError, MutatedValueError
        In the block.
    WrongTypeError
    """
    watched = _checked(state)
    return Watching(lambda: One(watched, ReadLog(is_raising=False, is_verifying=True)))


def _checked(state: object) -> State:
    if isinstance(state, State):
        return state
    raise WrongTypeError(
        f"{short_repr(state)}: is not a State",
        "a State",
        f"an object of type {type(state).__name__}",
        "pass the State to be watched; strict() without any watches all that are made meanwhile",
    )
