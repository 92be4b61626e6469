"""A computation of a traced State: what it reads, for whom, how long it takes, and what is new."""

from threading import get_ident
from time import perf_counter_ns
from typing import Any, Final, final

import numpy as np

from stagecache.graph.evaluation import Function
from stagecache.graph.store import COMPUTING
from stagecache.inspection.trace.records import COMPUTED
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.values.sameness import same
from stagecache.state.values.values import IMMUTABLE

SMALL: Final = 1 << 14  # bytes of an array that are compared at once
CONTAINERS: Final = (np.ndarray, list, tuple, dict)  # whose items are compared one by one


@final
class Running:
    """A computation that is going on.

    Attributes
    ----------
    entry : CacheEntry
    reads : dict of (handle or str) to None
        What it has read, in order.
    inside : int
        The nanoseconds that computations inside of it took.
    """

    __slots__ = ("entry", "inside", "reads")

    def __init__(self, entry: CacheEntry[Any]) -> None:
        self.entry = entry
        self.reads: dict[AbstractHandle | str, None] = {}
        self.inside = 0


@final
class TracedFunction:
    """A function of an evaluator that is noted when it is called."""

    __slots__ = ("_function", "_node", "_tracer")

    def __init__(self, tracer: Any, node: int, function: Function) -> None:
        self._tracer = tracer
        self._node = node
        self._function = function

    def __call__(self, state: Any) -> Any:
        """Call it, and note that."""
        tracer = self._tracer
        contents = state._contents
        store = contents.realization.store
        node = self._node
        if contents.tracer is not tracer or store.marks[node] > COMPUTING:
            return self._function(state)  # it has ended; or the value is only verified
        entry = store.keys[node]
        is_known = entry in tracer.known
        before = store.values[node] if is_known else None
        me = get_ident()
        stack = tracer.stacks.setdefault(me, [])
        depth = len(stack)
        running = Running(entry)
        stack.append(running)
        is_unchanged = None
        error = ""
        start = end = perf_counter_ns()
        try:
            value = self._function(state)
        except BaseException as raised:
            end = perf_counter_ns()
            error = type(raised).__name__
            raise
        else:
            end = perf_counter_ns()
            tracer.valid.add(entry)
            tracer.unread.add(entry)
            if is_known:
                is_unchanged = is_same(before, value)
            else:
                tracer.known.add(entry)
            return value
        finally:
            own = end - start - running.inside
            del stack[depth:]
            reader = stack[-1].entry if depth else None
            reads = running.reads
            record = (
                COMPUTED,
                start,
                me,
                tracer,
                entry,
                end,
                own,
                reads,
                is_unchanged,
                error,
                reader,
            )
            for log in tracer.logs:
                log.add(record)
            if depth:  # with what it took to note this, which is not the reader's own time either
                stack[-1].inside += perf_counter_ns() - start


def is_same(one: Any, other: Any) -> bool | None:
    """Whether two values are the same; None if nobody knows. Quick for numbers and small arrays.

    What is still the same object may have been changed in place, unless nobody can do that.
    """
    kind = type(one)
    if one is other:
        is_fixed = kind in IMMUTABLE or (kind is np.ndarray and not one.flags.writeable)
        return True if is_fixed else None
    if kind is not type(other):
        return False
    if kind is float or kind is int or kind is str:
        return bool(one == other or (one != one and other != other))  # noqa: PLR0124  # NaN
    if kind is np.ndarray and one.nbytes <= SMALL and not one.dtype.hasobject:
        same_form = one.shape == other.shape and one.dtype == other.dtype
        return bool(same_form and one.tobytes() == other.tobytes())
    try:
        return same(one, other) if kind in CONTAINERS or _is_told_apart(one) else None
    except Exception:  # whatever its own comparison raises
        return None


def _is_told_apart(value: object) -> bool:
    """Whether `same` looks into it; what pickle cannot take passes for the same as anything."""
    try:
        value.__reduce_ex__(4)
    except Exception:
        return False
    return True
