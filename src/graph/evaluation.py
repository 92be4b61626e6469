"""Computing an entry when it is read: once, without recursing too deep, whichever thread asks.

A compute function reads its prerequisites by calling their handles, and one that is out of date is
computed then and there: what is not read is not computed. Three things can go wrong with that.

- *A cycle.* A computation that reads its own result raises `CycleError`, with the path.
- *Two threads.* An entry that another thread is computing is waited for, not computed again. Where
  that thread waits, directly or not, for one of ours, it is a cycle across threads.
- *A deep chain.* Each level takes some Python frames. From `DEEPEST` levels on, the declared
  prerequisites of an entry are brought up to date before its function is called, the deepest
  first, from a list instead of the call stack. What comes of one that does not stay valid, a
  failure in the first place, is remembered until the deep part is done: its exception is raised
  where, and if, a function reads it, and it is not computed again unless something has changed.

Any number of threads may read at the same time; a write needs the store to itself.
"""

from collections.abc import Callable
from itertools import pairwise
from threading import Condition, get_ident
from types import TracebackType
from typing import Any, Final, NoReturn

from stagecache.errors import CycleError
from stagecache.graph.store import COMPUTING, SHUT, VOID, Store

DEEPEST: Final = 24  # computations of a thread inside each other, of about three Python frames each

Function = Callable[..., Any]
Arguments = tuple[Any, ...]


class Outcome:
    """What came of a computation whose entry is not valid after it."""

    __slots__ = ("began", "clock", "error", "traceback", "value")

    def __init__(self, began: int, clock: int, value: Any) -> None:
        self.began = began
        self.clock = clock  # when it came out: a later change makes it worthless
        self.value = value
        self.error: Exception | None = None
        self.traceback: TracebackType | None = None


class Memory:
    """What a thread remembers while it is deep: outcomes by entry, and which was raised last."""

    __slots__ = ("outcomes", "raised")

    def __init__(self) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self.raised: Outcome | None = None


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

    Attributes
    ----------
    deepest : int
        From how many computations on, inside each other, prerequisites are prepared.
    running : dict of int to int
        The entries that are being computed, each with the thread that does.
    """

    __slots__ = (
        "_bind",
        "_finished",
        "_memories",
        "_store",
        "_waiting",
        "arguments",
        "deepest",
        "functions",
        "running",
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
        self.deepest = DEEPEST
        self._store = store
        self._bind = bind
        self.running: dict[int, int] = {}
        self._waiting: dict[int, int] = {}  # thread -> the entry that it waits for
        self._finished = Condition()
        self._memories: dict[int, Memory] = {}  # by thread, while it is deep

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
        running = self.running
        if not me:
            me = get_ident()
            if len(running) >= self.deepest:
                return self._evaluate_deep(node, me)
        store = self._store
        marks = store.marks
        if marks[node] <= COMPUTING:
            return self._evaluate_contended(node, me)
        try:
            # Only this thread enters its own number, and the mark told that it has not: if it is
            # there now, the entry was free. Control-C may strike as soon as it is there, and
            # wherever a function is called or a loop goes round; so there is neither between the
            # handler's look at the claim and its release.
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
                    marks[node] = start if marks[node] == COMPUTING else ~store.clock
                del running[node]
                if self._waiting:
                    self._wake_others()
                return value
        except BaseException:
            if node in running and running[node] == me:
                marks[node] = ~store.clock
                del running[node]
            if self._waiting:
                self._wake_others()
            raise
        return self._evaluate_contended(node, me)

    # ------------------------------------------------------------------ deep chains

    def _evaluate_deep(self, node: int, me: int) -> Any:
        if list(self.running.values()).count(me) < self.deepest:
            return self.evaluate(node, me)  # the others are those of other threads
        memory = self._memories.get(me)
        if memory is not None:
            return self._evaluate_prepared(node, me, memory)
        try:
            self._memories[me] = memory = Memory()
            return self._evaluate_prepared(node, me, memory)
        finally:
            self._memories.pop(me, None)

    def _evaluate_prepared(self, node: int, me: int, memory: Memory) -> Any:
        store = self._store
        outcome = memory.outcomes.get(node)
        if outcome is None or outcome.clock != store.clock:
            self._prepare(node, me, memory)
            return self.evaluate(node, me)
        if outcome.error is None or outcome.clock != outcome.began:
            for n, thread in list(self.running.items()):
                if thread == me:  # what reads this is out of date, as it is itself
                    store.marks[n] = VOID
        if outcome.error is not None:
            memory.raised = outcome
            raise outcome.error.with_traceback(outcome.traceback)
        return outcome.value

    def _prepare(self, node: int, me: int, memory: Memory) -> None:
        """Compute what `node` declares and is not valid, the deepest first."""
        store = self._store
        marks = store.marks
        gates = store.gates
        group_of = store.structure.group_of
        prerequisites = store.structure.prerequisites
        outcomes = memory.outcomes
        stack = list(prerequisites[node])
        while stack:
            n = stack.pop()
            if n >= 0:
                # An entry that is being computed is left to the function that reads it, and so
                # is one that cannot be computed: it is closed, or has no function.
                if (
                    COMPUTING < marks[n] < gates[group_of[n]] < SHUT
                    and self.functions[n] is not no_function
                    and not (outcomes and n in outcomes and outcomes[n].clock == store.clock)
                ):
                    stack.append(~n)
                    stack.extend(prerequisites[n])
                continue
            # Everything upstream of ~n has been seen to.
            began = store.clock
            try:
                value = self.evaluate(~n, me)
            except Exception as error:
                outcomes[~n] = outcome = Outcome(began, store.clock, None)
                outcome.error = error
                outcome.traceback = error.__traceback__
                # Raised again and again, its traceback would grow with the chain.
                if memory.raised is not None and memory.raised.error is error:
                    outcome.traceback = memory.raised.traceback
            else:
                if marks[~n] < gates[group_of[~n]]:
                    outcomes[~n] = Outcome(began, store.clock, value)

    # ------------------------------------------------------------------ cycles and threads

    def _evaluate_contended(self, node: int, me: int) -> Any:
        """Evaluate an entry that is being computed: by another thread, or it is a cycle."""
        if self.running.get(node) == me:
            raise self._cycle([*self._stack(me, node), node])
        self._wait_for(node, me)
        if self._store.is_valid(node):
            return self._store.values[node]
        return self.evaluate(node)  # there it failed

    def _wait_for(self, node: int, me: int) -> None:
        """Wait until no other thread computes this entry."""
        with self._finished:
            self._waiting[me] = node
            try:
                while node in self.running:
                    self._refuse_deadlock(node, me)
                    self._finished.wait()
            finally:
                del self._waiting[me]

    def _refuse_deadlock(self, node: int, me: int) -> None:
        """Raise `CycleError` if the thread that computes `node` waits, through others, for us."""
        path: list[int] = []
        wanted: int | None = node
        while wanted is not None:
            owner = self.running.get(wanted)
            if owner is None:
                return
            path += self._stack(owner, wanted)
            if owner == me:
                raise self._cycle([*path, node])
            wanted = self._waiting.get(owner)

    def _stack(self, thread: int, first: int) -> list[int]:
        """What a thread is computing, from that entry on, each inside the one before it."""
        entries = [n for n, t in list(self.running.items()) if t == thread]
        return entries[entries.index(first) :] if first in entries else []

    def _wake_others(self) -> None:
        with self._finished:
            self._finished.notify_all()

    def _cycle(self, path: list[int]) -> CycleError:
        structure = self._store.structure
        whole = path[:1]
        for below, above in pairwise(path):
            # What was prepared is not read from where it was prepared, but somewhere between.
            whole += structure.path_up(below, above)[1:] or [above]
        names = tuple(structure.name_of(n) for n in whole)
        return CycleError(
            f"cache entry {names[0]!r}: its computation reads its own result",
            "a computation that reads only what is upstream of it",
            " -> ".join(names),
            "break the cycle: do not read one of these from the one before it",
            names,
        )
