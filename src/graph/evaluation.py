"""Computing an entry when it is read: once, without recursing too deep, whichever thread asks.

A compute function reads its prerequisites by calling their handles, and one that is out of date is
computed then and there: what is not read is not computed. Three things can go wrong with that.

- *A cycle.* A computation that reads its own result raises `CycleError`, with the path.
- *Two threads.* An entry that another thread is computing is waited for, not computed again. Where
  that thread waits, directly or not, for one of ours, it is a cycle across threads.
- *A deep chain.* Each level takes some Python frames. From `DEEPEST` levels on, the declared
  prerequisites of an entry are brought up to date before its function is called, the deepest
  first, from a list instead of the call stack. One that fails is remembered: its exception is
  raised where, and if, a function reads it, and it is not computed again for that.

Any number of threads may read at the same time; a write needs the store to itself.
"""

from collections.abc import Callable
from threading import Condition, get_ident
from types import TracebackType
from typing import Any, Final, NoReturn

from stagecache.errors import CycleError
from stagecache.graph.kind import NodeKind
from stagecache.graph.store import COMPUTING, INVALID, Store

DEEPEST: Final = 24  # entries in computation at one time; each takes about three Python frames
ENTRY: Final = NodeKind.CACHE_ENTRY

Function = Callable[..., Any]
Arguments = tuple[Any, ...]
Failure = tuple[Exception, TracebackType | None]


def no_function(*_: object) -> NoReturn:
    """Stand where a node is not computed."""
    raise AssertionError("a source is not computed")


class Evaluator:
    """Brings the entries of one store up to date.

    Parameters
    ----------
    store : Store
    functions : list of callable
        By node: what computes it; `no_function` for a source.
    arguments : list of (tuple or None)
        By node: what its function is called with.
    bind : callable
        Finds, and puts there, the arguments of a node for which there are none yet.
    """

    __slots__ = (
        "_bind",
        "_failures",
        "_finished",
        "_running",
        "_store",
        "_waiting",
        "arguments",
        "functions",
    )

    def __init__(
        self,
        store: Store,
        functions: list[Function],
        arguments: list[Arguments | None],
        bind: Callable[[int], Arguments],
    ) -> None:
        self.functions = functions
        self.arguments = arguments
        self._store = store
        self._bind = bind
        self._running: dict[int, int] = {}  # entry -> the thread that computes it
        self._waiting: dict[int, int] = {}  # thread -> the entry that it waits for
        self._finished = Condition()
        self._failures: dict[tuple[int, int], Failure] = {}  # (thread, entry) -> ...

    def computing(self) -> list[int]:
        """The entries that some thread is computing now."""
        return list(self._running)

    def evaluate(self, node: int, me: int = 0) -> Any:
        """Return the value of an entry that is not valid, after computing it or waiting for it.

        `me` is passed from within only: by a caller that knows its thread, and that what the
        entry depends on is up to date.

        Raises
        ------
        CycleError
            The computation reads its own result.
        Exception
            Whatever the function raises, unchanged; the entry is then invalid, all else as before.
        """
        running = self._running
        if not me:
            me = get_ident()
            if len(running) >= DEEPEST:
                return self._evaluate_deep(node, me)
        store = self._store
        marks = store.marks
        if marks[node] < INVALID:
            return self._evaluate_contended(node, me)
        try:
            # Only this thread enters its own number, and the mark told that it has not: if it is
            # there now, the entry was free. An interrupt may strike as soon as it is there.
            if running.setdefault(node, me) == me:
                group = store.structure.group_of[node]
                if marks[node] >= store.gates[group]:  # another thread was faster
                    value = store.values[node]
                else:
                    if not store.live[group]:
                        store.make_live(group)
                    start = store.clock
                    marks[node] = COMPUTING
                    value = self.functions[node](*(self.arguments[node] or self._bind(node)))
                    store.values[node] = value
                    store.versions[node] += 1
                    marks[node] = start if marks[node] == COMPUTING else INVALID
                del running[node]
                if self._waiting:
                    self._wake_others()
                return value
        except BaseException:
            if running.get(node) == me:
                marks[node] = INVALID
                del running[node]
            if self._waiting:
                self._wake_others()
            raise
        return self._evaluate_contended(node, me)

    # ------------------------------------------------------------------ deep chains

    def _evaluate_deep(self, node: int, me: int) -> Any:
        failures = self._failures
        if (me, node) in failures:
            error, traceback = failures[me, node]
            raise error.with_traceback(traceback)
        failed: list[int] = []
        try:
            self._prepare(node, me, failed)
            return self.evaluate(node, me)
        finally:
            for n in failed:
                del failures[me, n]

    def _prepare(self, node: int, me: int, failed: list[int]) -> None:
        """Compute what `node` declares and is not valid, the deepest first; note what fails."""
        store = self._store
        marks = store.marks
        gates = store.gates
        group_of = store.structure.group_of
        kinds = store.structure.kinds
        prerequisites = store.structure.prerequisites
        first: dict[int, Failure] = {}
        stack = list(prerequisites[node])
        while stack:
            n = stack.pop()
            if n >= 0:
                # An entry that is being computed is left to the function that reads it.
                if (
                    COMPUTING < marks[n] < gates[group_of[n]]
                    and kinds[n] is ENTRY
                    and not (self._failures and (me, n) in self._failures)
                ):
                    stack.append(~n)
                    stack.extend(prerequisites[n])
            else:  # everything upstream of ~n has been seen to
                try:
                    self.evaluate(~n, me)
                except Exception as error:
                    # The first traceback: raised again and again, it would grow with the chain.
                    failure = first.setdefault(id(error), (error, error.__traceback__))
                    self._failures[me, ~n] = failure
                    failed.append(~n)

    # ------------------------------------------------------------------ cycles and threads

    def _evaluate_contended(self, node: int, me: int) -> Any:
        """Evaluate an entry that is being computed: by another thread, or it is a cycle."""
        if self._running.get(node) == me:
            mine = [n for n, thread in list(self._running.items()) if thread == me]
            raise self._cycle([*mine[mine.index(node) :], node])
        self._wait_for(node, me)
        if self._store.is_valid(node):
            return self._store.values[node]
        return self.evaluate(node)  # there it failed

    def _wait_for(self, node: int, me: int) -> None:
        """Wait until no other thread computes this entry."""
        with self._finished:
            self._waiting[me] = node
            try:
                while node in self._running:
                    self._refuse_deadlock(node, me)
                    self._finished.wait()
            finally:
                del self._waiting[me]

    def _refuse_deadlock(self, node: int, me: int) -> None:
        """Raise `CycleError` if the thread that computes `node` waits, through others, for us."""
        path = [node]
        owner = self._running.get(node)
        while owner in self._waiting:
            path.append(self._waiting[owner])
            owner = self._running.get(path[-1])
            if owner == me:
                raise self._cycle([path[-1], *path])

    def _wake_others(self) -> None:
        with self._finished:
            self._finished.notify_all()

    def _cycle(self, path: list[int]) -> CycleError:
        names = tuple(self._store.structure.names[n] for n in path)
        return CycleError(
            f"cache entry {names[0]!r}: its computation reads its own result",
            "a computation that reads only what is upstream of it",
            " -> ".join(names),
            "break the cycle: do not read one of these from the one before it",
            names,
        )
