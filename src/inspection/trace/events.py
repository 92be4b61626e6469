"""What a trace tells about, one by one."""

from typing import final

from attrs import frozen

from stagecache.state.stage import Stage


@frozen(kw_only=True)
class AbstractTraceEvent:
    """Something that has happened to a State while it was traced.

    Attributes
    ----------
    time : float [s]
        Since the trace began; of what takes time, when it began.
    thread : int
        0 for the first thread that did something, and so on.
    state : int
        Which of the States that are traced, in the order in which they were given.
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
        Its versions.
    file, line : str and int
        Where in the code of a model it was written; "" and 0 if that is not known.
    """

    variable: str
    before: int
    after: int
    file: str
    line: int


@final
@frozen(kw_only=True)
class InvalidationEvent(AbstractTraceEvent):
    """An entry that was realized, and is not any more.

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
    """A computation of an entry.

    Attributes
    ----------
    entry : str
    seconds, own_seconds : float
        How long it took; and that without computations that it began itself.
    reads : tuple of str
        The variables and entries that it has read, in its own thread; what has no path, by its
        name.
    reader : str
        The entry that it was computed for; empty if none.
    changed : tuple of str, or None
        What was written since it was last computed, or since the trace began, and is upstream of
        it; None if it had no value that this could be compared with.
    is_unchanged : bool or None
        Whether the value is the one that it had before; None if that is not known.
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
        How long it took to realize.
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
