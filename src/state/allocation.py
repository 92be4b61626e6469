"""Allocating items in a subsystem: what is checked first, so that a refusal changes nothing.

What is allocated is remembered together with the stage that the subsystem then has, and forgotten
when it backs up to that stage or below.
"""

from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import ArrayLike

from stagecache.errors import (
    ComputeSignatureError,
    DuplicatePrerequisiteError,
    InvalidNameError,
    NotANodeError,
    NotCallableError,
    PrerequisitesError,
    PrerequisiteStageError,
    brief,
)
from stagecache.graph.declaration import check_function
from stagecache.graph.evaluation import no_function
from stagecache.state.contents import Contents
from stagecache.state.conversion import FLOAT, converted
from stagecache.state.handles import (
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
)
from stagecache.state.layout import Rows, total
from stagecache.state.places import vector_of
from stagecache.state.realization import STAGES
from stagecache.state.refusals import check_count, too_high
from stagecache.state.stage import Stage, check_stage
from stagecache.state.values import duplicate, freezing, kept

Compute = Callable[[Any], Any]


class Attempt:
    """What is being allocated, to be put into words only if it is refused."""

    __slots__ = ("_contents", "_kind", "_subsystem")

    def __init__(self, contents: Contents, subsystem: int, kind: str) -> None:
        self._contents = contents
        self._subsystem = subsystem
        self._kind = kind

    def __str__(self) -> str:
        return f"allocating {self._kind} of {self._contents.who(self._subsystem)}"

    def require_at_most(self, highest: Stage) -> Stage:
        """Return the stage of the subsystem, unless it is too high."""
        stage = self._contents.realization.stages[self._subsystem]
        if stage > highest:
            raise too_high(str(self), highest, self._contents.who(self._subsystem), stage)
        return STAGES[stage]


def allocate_block(
    contents: Contents, subsystem: int, kind: str, values: ArrayLike, name: str
) -> ContinuousVariable:
    """Allocate some q, u or z, with the values that they get when Model is realized."""
    what = Attempt(contents, subsystem, kind)
    allocated_at = what.require_at_most(Stage.TOPOLOGY)
    vector = vector_of(values, str(what))
    initial = converted(vector, FLOAT, (len(vector),), str(what))
    initial.flags.writeable = False
    start = contents.realization.layout.subsystems[subsystem].size(kind)
    name = _check_name(name, what)
    block = ContinuousVariable(kind, subsystem, start, allocated_at, name, initial)
    contents.realization.add_block(block)
    return block


def allocate_errors(contents: Contents, subsystem: int, part: str, count: int) -> int:
    """Allocate some items of qerr, uerr or udoterr, and return where they start."""
    what = Attempt(contents, subsystem, part)
    count = check_count(count, 0, str(what))
    allocated_at = what.require_at_most(Stage.MODEL)
    layout = contents.realization.own_subsystem(subsystem)
    start = layout.size(part)
    layout.errors[part].append(Rows(allocated_at, start, count))
    return start


def allocate_triggers(contents: Contents, subsystem: int, stage: Stage, count: int) -> int:
    """Allocate some event triggers of a stage, and return where they start among these."""
    what = Attempt(contents, subsystem, "event triggers")
    count = check_count(count, 1, str(what))
    stage = check_stage(stage, Stage.TOPOLOGY, Stage.REPORT, what)
    allocated_at = what.require_at_most(Stage.MODEL)
    rows = contents.realization.own_subsystem(subsystem).triggers[stage]
    start = total(rows)
    rows.append(Rows(allocated_at, start, count))
    return start


def allocate_discrete(
    contents: Contents,
    subsystem: int,
    invalidates: Stage,
    value: object,
    name: str,
    update_depends_on: Stage | None = None,
) -> DiscreteVariable[Any]:
    """Allocate a discrete variable, and its update entry if it has one."""
    what = Attempt(contents, subsystem, "a discrete variable")
    lowest = Stage.MODEL if update_depends_on is None else Stage.POSITION
    invalidates = check_stage(invalidates, lowest, Stage.REPORT, what)
    highest = Stage.EMPTY if invalidates == Stage.MODEL else Stage.TOPOLOGY
    allocated_at = what.require_at_most(highest)
    name = _check_name(name, what)
    own = kept(value)
    first_update = None if update_depends_on is None else duplicate(own)
    realization = contents.realization
    layout = realization.layout.subsystems[subsystem]
    update: CacheEntry[Any] | None = None
    if update_depends_on is not None:
        stage = check_stage(update_depends_on, Stage.TOPOLOGY, Stage.REPORT, what)
        update = CacheEntry(
            subsystem,
            len(layout.entries),
            allocated_at,
            f"update of {name}" if name else "",
            stage,
            Stage.INFINITY,
        )
        realization.add_entry(update, (), first_update)
        layout = realization.layout.subsystems[subsystem]
    variable: DiscreteVariable[Any] = DiscreteVariable(
        subsystem, len(layout.discrete), allocated_at, name, invalidates, update
    )
    realization.add_discrete(variable, own)
    contents.update_times.pop(variable._node, None)  # of a node that was forgotten
    return variable


def allocate_entry(
    contents: Contents,
    subsystem: int,
    earliest: Stage,
    latest: Stage,
    prerequisites: Iterable[AbstractHandle],
    value: object,
    compute: Compute | None,
    name: str,
) -> CacheEntry[Any]:
    """Allocate a cache entry. Cost O(its prerequisites), amortised."""
    what = Attempt(contents, subsystem, "a cache entry")
    above = _check_prerequisites(contents, prerequisites, what)
    earliest = check_stage(earliest, Stage.TOPOLOGY, Stage.REPORT, what)
    latest = check_stage(latest, earliest, Stage.INFINITY, what)
    allocated_at = what.require_at_most(Stage.MODEL)
    for handle in above:
        _check_lifetime(contents, handle, earliest, allocated_at, what)
    if compute is not None:
        _check_compute(compute, what)
    index = len(contents.realization.layout.subsystems[subsystem].entries)
    entry: CacheEntry[Any] = CacheEntry(
        subsystem, index, allocated_at, _check_name(name, what), earliest, latest
    )
    function = no_function if compute is None else freezing(compute)
    contents.realization.add_entry(entry, above, kept(value), function)
    return entry


def _check_compute(compute: Compute, what: Attempt) -> None:
    try:
        check_function("", compute, ("state",))
    except (ComputeSignatureError, NotCallableError) as error:
        raise type(error)(
            f"{what}: its compute function cannot be called with a State",
            "a plain function of one argument",
            error.got,
            "let it take the State, read from it, and return the value",
        ) from None


def _check_name(name: object, what: Attempt) -> str:
    if isinstance(name, str):
        return name
    raise InvalidNameError(f"{what}: its name is no string", "a string", brief(name), "give a name")


def _check_prerequisites(
    contents: Contents, prerequisites: Iterable[AbstractHandle], what: Attempt
) -> tuple[AbstractHandle, ...]:
    if not isinstance(prerequisites, Iterable):
        raise PrerequisitesError(
            f"{what}: its prerequisites cannot be iterated over",
            "a tuple of handles",
            brief(prerequisites),
            "write (handle,) for a single one",
        )
    above = tuple(prerequisites)
    for handle in above:
        if not isinstance(handle, AbstractHandle):
            raise NotANodeError(
                f"{what}: a prerequisite is no handle",
                "what an allocating call returned, or state.variable('q')",
                f"{brief(handle)}, of type {type(handle).__name__}",
                "pass the handle, not its index or its value",
            )
        contents.require(handle)
    if len(set(above)) < len(above):
        path = contents.realization.layout.path
        twice = sorted({path(handle) for handle in above if above.count(handle) > 1})
        raise DuplicatePrerequisiteError(
            f"{what}: a prerequisite is listed more than once",
            "each prerequisite once",
            ", ".join(twice) + " repeatedly",
            "name each prerequisite once",
        )
    return above


def _check_lifetime(
    contents: Contents, handle: AbstractHandle, earliest: Stage, allocated_at: Stage, what: Attempt
) -> None:
    path = contents.realization.layout.path
    if isinstance(handle, CacheEntry) and handle.depends_on > earliest:
        raise PrerequisiteStageError(
            f"{what}: a prerequisite can be realized only later",
            f"prerequisites that depend on {earliest} or an earlier stage",
            f"{path(handle)}, which depends on {handle.depends_on}",
            f"let the entry depend on {handle.depends_on} too",
        )
    if handle.allocated_at > allocated_at:
        raise PrerequisiteStageError(
            f"{what}: a prerequisite would be forgotten before it",
            f"prerequisites allocated at {allocated_at} or before",
            f"{path(handle)}, allocated at {handle.allocated_at}",
            "allocate the prerequisite earlier, or this entry later",
        )
