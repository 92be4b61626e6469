"""Allocation of items in a subsystem: all checks come first, so that an error changes nothing.

The stage of the subsystem is stored with each item. The item is forgotten when the subsystem backs
up to that stage or below.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from numpy.typing import ArrayLike

from stagecache.checks import require_text, wrong_type
from stagecache.errors import (
    ComparisonError,
    ComputeSignatureError,
    DuplicatePrerequisiteError,
    PrerequisiteStageError,
    StageTooLowError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.declaration import Equality, check_equal, check_function
from stagecache.graph.evaluation import NO_FUNCTION, Equal
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import DEFAULT, FROZEN, REALIZING
from stagecache.state.continuous.continuous_state import vector_of
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.items.layout import Rows, total
from stagecache.state.items.stage_machine import STAGES
from stagecache.state.refusals import too_high
from stagecache.state.stage import Stage, check_stage
from stagecache.state.values.values import StoredComputation, duplicate, snapshot
from stagecache.state.vectors.conversion import FLOAT, converted

Compute = Callable[[Any], Any]

# Compiled code looks up members of an Enum, and not these.
EMPTY: Final = Stage.EMPTY
TOPOLOGY: Final = Stage.TOPOLOGY
MODEL: Final = Stage.MODEL
REPORT: Final = Stage.REPORT
INFINITY: Final = Stage.INFINITY


class Attempt:
    """An item that is being allocated, described only if an error is raised.

    Parameters
    ----------
    contents : Contents
        Contents of the State.
    subsystem : int
    kind : str or AbstractHandle
        Kind of the item; of a declared item, its handle.
    """

    __slots__ = ("_is_declared", "_kind", "contents", "subsystem")

    def __init__(
        self,
        contents: Contents,
        subsystem: int,
        kind: str | AbstractHandle,
        *,
        is_declared: bool = False,
    ) -> None:
        self.contents = contents
        self.subsystem = subsystem
        self._kind = kind
        self._is_declared = is_declared

    def __str__(self) -> str:
        return f"allocating {self._kind} of {self.contents.who(self.subsystem)}"

    def require_at_most(self, highest: int) -> Stage:
        """Return the stage of the subsystem; raise `StageTooHighError` if it is too high."""
        contents = self.contents
        if contents.realization.is_torn:
            contents.mend()
        if contents.guard is DEFAULT or contents.guard is FROZEN:
            contents.require_unguarded(str(self))
        stage = contents.realization.machine.stages[self.subsystem]
        if stage > highest:
            raise too_high(str(self), highest, contents.who(self.subsystem), stage)
        return STAGES[stage]

    def push(self, stack: list[Rows], allocated_at: Stage, count: int | None) -> int:
        """Put rows on a stack, and return their start; the count is None if not known yet."""
        self.require_known_start(stack)
        start = total(stack)
        stack.append(Rows(allocated_at, start, count or 0, is_fixed=count is not None))
        return start

    def require_known_start(self, before: list[Rows], *, is_continuous: bool = False) -> None:
        """Refuse an item that comes after items whose number is not known yet, as its place is not.

        The number of q, u and z is known where the hook of Model is called, the number of errors
        and triggers where the hook of Instance is.
        """
        if self._is_declared or all(rows.is_fixed for rows in before):
            return
        stage = self.contents.realization.machine.stages[self.subsystem]
        if is_continuous:
            needed, hook, who = TOPOLOGY, "realize_model()", "modeling options decide"
        else:
            needed, hook, who = MODEL, "realize_instance()", "parameters decide"
        if stage < needed or (stage == MODEL and self.contents.guard is not REALIZING):
            raise StageTooLowError(
                f"{self}: comes after declared ones, whose number {who}",
                f"a call by {hook}, when their number is known",
                f"the subsystem at {STAGES[stage]}",
                f"allocate it in {hook}, or declare it as well",
            )


def allocate_block(
    what: Attempt, block: AbstractContinuousVariable, values: ArrayLike | None
) -> None:
    """Allocate some q, u or z, with the values that they get when Model is realized.

    Without values, their number is 0 until `resize`.
    """
    kind = block.kind
    allocated_at = what.require_at_most(TOPOLOGY)
    realization = what.contents.realization
    layout = realization.layout.subsystems[what.subsystem]
    what.require_known_start(layout.rows[kind], is_continuous=True)
    start = layout.size(kind)
    if values is None:
        rows = Rows(allocated_at, start, 0, is_fixed=False)
    else:
        vector = vector_of(values, str(what))
        initial = converted(vector, FLOAT, (len(vector),), str(what))
        rows = Rows(allocated_at, start, len(initial), initial)
        block.size = len(initial)
    block._allocated(what.subsystem, start, allocated_at)
    realization.add_block(block, rows)


def allocate_errors(what: Attempt, part: str, count: int | None) -> int:
    """Allocate some items of qerr, uerr or udoterr, and return their start.

    If the count is None, it is 0 until `resize`.
    """
    allocated_at = what.require_at_most(MODEL)
    layout = what.contents.realization.own_subsystem(what.subsystem)
    return what.push(layout.rows[part], allocated_at, count)


def allocate_triggers(what: Attempt, stage: Stage, count: int | None) -> int:
    """Allocate some event triggers of a stage, and return their start among these."""
    stage = check_stage(stage, TOPOLOGY, REPORT, what)
    allocated_at = what.require_at_most(MODEL)
    layout = what.contents.realization.own_subsystem(what.subsystem)
    return what.push(layout.triggers[stage], allocated_at, count)


def allocate_discrete(
    what: Attempt,
    variable: DiscreteVariable[Any],
    value: object,
    *,
    with_update: bool = True,
) -> None:
    """Allocate a discrete variable, and its update entry if it has one and `with_update`."""
    contents, subsystem = what.contents, what.subsystem
    update = variable._update
    highest = EMPTY if variable.invalidates == MODEL else TOPOLOGY
    allocated_at = what.require_at_most(highest)
    own = snapshot(value, what)
    of_update = duplicate(own) if update is not None and with_update else None
    index = len(contents.realization.layout.subsystems[subsystem].discrete)
    variable._allocated(subsystem, index, allocated_at)
    realization = contents.realization
    try:
        realization.add_discrete(variable, own)
        contents.update_times.pop(variable._node, None)  # of a node that was forgotten
        if update is not None and with_update:
            allocate_entry(what, update, (), of_update, None)
    except BaseException:
        realization.is_layout_torn = realization.is_torn = True  # it may be there without an entry
        raise


def allocate_entry(
    what: Attempt,
    entry: CacheEntry[Any],
    prerequisites: tuple[AbstractHandle, ...],
    value: object,
    compute: Compute | None,
    refuse_none: Callable[[], None] | None = None,
    equal: Equal | None = None,
    share: Callable[[Compute], Compute] | None = None,
) -> None:
    """Allocate a cache entry, whose prerequisites were checked. Cost O(these), amortised.

    `refuse_none` is called if the function returns None, `equal` with the value before and the new
    one. `share` returns a function that may find the value instead of computing it.
    """
    contents, subsystem = what.contents, what.subsystem
    allocated_at = what.require_at_most(MODEL)
    for handle in prerequisites:
        _check_lifetime(contents, handle, entry.available_from, allocated_at, what)
    own = snapshot(value, what)
    index = len(contents.realization.layout.subsystems[subsystem].entries)
    entry._allocated(subsystem, index, allocated_at)
    function: Compute = NO_FUNCTION
    if compute is not None:
        function = StoredComputation(compute, entry, refuse_none)
        if share is not None:
            function = share(function)
    contents.realization.add_entry(entry, prerequisites, own, function, equal)


def new_entry(
    contents: Contents,
    subsystem: int,
    available_from: Stage,
    computed_by: Stage,
    prerequisites: Iterable[AbstractHandle],
    value: object,
    compute: Compute | None,
    equal: Equality,
    name: object,
) -> CacheEntry[Any]:
    """Allocate a cache entry of a subsystem, once all of this is checked, and return its handle."""
    what = Attempt(contents, subsystem, "a cache entry")
    above = check_prerequisites(what, prerequisites)
    available_from = check_stage(available_from, TOPOLOGY, REPORT, what)
    computed_by = check_stage(computed_by, available_from, INFINITY, what)
    entry: CacheEntry[Any] = CacheEntry(checked_name(name, what), available_from, computed_by)
    compare = None
    if compute is not None or equal is not None:
        compare = check_functions(what, compute, equal)
    allocate_entry(what, entry, above, value, compute, equal=compare)
    return entry


def check_functions(what: Attempt, compute: Compute | None, equal: Equality) -> Equal | None:
    """Check the compute function of an entry; return the function that compares its values."""
    if compute is not None:
        try:
            check_function("", compute, ("state",))
        except (ComputeSignatureError, WrongTypeError) as error:
            raise type(error)(
                f"{what}: its compute function cannot be called with a State",
                "a plain function of one argument",
                error.got,
                "let it take the State, read from it, and return the value",
            ) from None
    compare = check_equal(equal, what)
    if compare is not None and compute is None:
        raise ComparisonError(
            f"{what}: its values cannot be compared",
            "equal= together with compute=",
            "an entry whose value is stored by hand",
            "give it a compute function, or leave equal= out",
        )
    return compare


def checked_name(name: object, what: Attempt) -> str:
    """Return the name of an item, which may be empty."""
    return name if isinstance(name, str) else require_text(name, f"{what}: its name")


def check_prerequisites(
    what: Attempt, prerequisites: Iterable[AbstractHandle]
) -> tuple[AbstractHandle, ...]:
    """Return prerequisites as a tuple, if they are handles of items of the State, each once."""
    # Most often it is a tuple; the check of any other type takes longer than all else here.
    if not isinstance(prerequisites, tuple) and (
        isinstance(prerequisites, AbstractHandle) or not isinstance(prerequisites, Iterable)
    ):
        raise WrongTypeError(
            f"{what}: its prerequisites cannot be iterated over",
            "a tuple of handles",
            short_repr(prerequisites),
            "write (handle,) for a single one",
        )
    above: tuple[Any, ...] = tuple(prerequisites)
    for handle in above:
        if not isinstance(handle, AbstractHandle):
            raise wrong_type(
                handle,
                f"{what}: a prerequisite is not a handle",
                "what an allocating call returned, or state.variable('q')",
                "pass the handle, not its index or its value",
            )
        what.contents.require(handle)
    if len(above) > 1 and len(set(above)) < len(above):
        path = what.contents.realization.layout.path
        twice = sorted({path(handle) for handle in above if above.count(handle) > 1})
        raise DuplicatePrerequisiteError(
            f"{what}: a prerequisite is listed more than once",
            "each prerequisite once",
            ", ".join(twice) + " repeatedly",
            "name each prerequisite once",
        )
    return above


def _check_lifetime(
    contents: Contents,
    handle: AbstractHandle,
    available_from: Stage,
    allocated_at: Stage,
    what: Attempt,
) -> None:
    if isinstance(handle, CacheEntry) and handle.available_from > available_from:
        path = contents.realization.layout.path
        raise PrerequisiteStageError(
            f"{what}: a prerequisite is available only later",
            f"prerequisites that depend on {available_from} or an earlier stage",
            f"{path(handle)}, which depends on {handle.available_from}",
            f"let the entry depend on {handle.available_from} too",
        )
    if handle.allocated_at > allocated_at:
        path = contents.realization.layout.path
        raise PrerequisiteStageError(
            f"{what}: a prerequisite would be forgotten before it",
            f"prerequisites allocated at {allocated_at} or before",
            f"{path(handle)}, allocated at {handle.allocated_at}",
            "allocate the prerequisite earlier, or this entry later",
        )
