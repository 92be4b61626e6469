"""The events of a trace."""

from typing import final

from attrs import frozen

from stagecache.state.stage import Stage


@frozen(kw_only=True)
class AbstractTraceEvent:
    """An event of a State while it was traced.

    Attributes
    ----------
    time : float [s]
        Time since the trace began; for an event that takes time, of its beginning.
    thread : int
        0 for the first thread that did something, and so on.
    state : int
        Index of the State among those traced: first those that were given, then their copies.
    """

    time: float
    thread: int
    state: int


@final
@frozen(kw_only=True)
class WriteEvent(AbstractTraceEvent):
    """A write of a variable.

    Attributes
    ----------
    variable : str
    before, after : int
        Versions before and after.
    file, line : str and int
        Place of the write in the code of a model; "" and 0 if it is not known.
    """

    variable: str
    before: int
    after: int
    file: str
    line: int


@final
@frozen(kw_only=True)
class InvalidationEvent(AbstractTraceEvent):
    """An entry that was valid, and is not any more.

    Attributes
    ----------
    entry : str
    cause : str
        The variable that was written, or else what happened: "rollback()".
    """

    entry: str
    cause: str


@final
@frozen(kw_only=True)
class ComputationEvent(AbstractTraceEvent):
    """A computation of an entry, or the search that has found its shared value.

    Attributes
    ----------
    entry : str
    seconds, own_seconds : float
        Its time; and without computations that it began itself.
    reads : tuple of str
        The variables and entries that it has read, in its own thread; what has no path, by its
        name.
    reader : str
        The entry that it was computed for; empty if none.
    changed : tuple of str, or None
        Paths upstream written since it was last computed, or since the trace began; None if it had
        no value to compare with.
    is_unchanged : bool or None
        True if the value equals the one before; None if that is not known.
    is_needless : bool
        True if it was computed again although no variable that it had read was written, and no
        entry that it had read has another value.
    is_found : bool
        True if the entry is shared and its value was found, so that it was not computed.
    error : str
        The name of the exception that it raised, if it did.
    """

    entry: str
    seconds: float
    own_seconds: float
    reads: tuple[str, ...]
    reader: str
    changed: tuple[str, ...] | None
    is_unchanged: bool | None
    is_needless: bool
    is_found: bool
    error: str


@final
@frozen(kw_only=True)
class HitEvent(AbstractTraceEvent):
    """A read of an entry that found a value.

    Attributes
    ----------
    entry : str
    reader : str
        The entry whose computation has read it; empty if none.
    """

    entry: str
    reader: str


@final
@frozen(kw_only=True)
class StageEvent(AbstractTraceEvent):
    """A change of the stage: forward by realizing, or back by a write.

    Attributes
    ----------
    before, after : Stage
    seconds : float
        Time of realizing.
    cause : str
        "realize()", or what was written.
    subsystem : str
        The one that has advanced alone; empty for the system.
    """

    before: Stage
    after: Stage
    seconds: float
    cause: str
    subsystem: str
