"""Evaluation of entries when they are read: once, in one thread, without deep recursion.

A compute function reads its prerequisites by calling their handles. A stale one is computed at that
moment, and what is not read is not computed. Three things can go wrong with that.

- *A cycle.* A computation that reads its own result raises `CycleError`, with the path.
- *Two threads.* An entry that another thread is computing is waited for, not computed again. Where
  that thread waits, directly or not, for one of ours, it is a cycle across threads; also where it
  goes through the entries of several graphs.
- *A deep chain.* Each level takes some Python frames. From `DEEPEST` levels on, the declared
  prerequisites of an entry are computed before its function is called, the deepest first, from a
  list instead of the call stack. The outcome of one that does not stay valid, mostly an error, is
  remembered until the deep part is done: the error is raised where a function reads the entry,
  which is not computed again unless something has changed.

**Early cutoff.** A new value may be compared with the one before. If it is equal, the old one
stays, and what depends on it need not be computed. So before an entry below is computed, the
compared entries above it are; if all are equal, the gate of the group is lowered again::

    angle, written       force is read, which was computed at clock 5: side is computed, and is
      |                  still "left", as it was at clock 3. The gate of {force} is lowered to 5,
    side, compared       and force is valid.
      |
    force

Any number of threads may read at the same time; a write needs the store to itself.
"""

from collections.abc import Callable
from itertools import pairwise
from threading import Condition, get_ident
from types import TracebackType
from typing import Any, Final, NoReturn

from stagecache.errors import ComparisonError, CycleError, short_repr
from stagecache.graph.releasing import drop, let_go
from stagecache.graph.store import COMPUTING, SHUT, VOID, Store, clock_of

DEEPEST: Final = 24  # computations of a thread inside each other, of about three Python frames each
LONGEST_WAIT: Final = (
    1.0  # seconds until a thread looks anew: an error may have kept it from being woken
)

Function = Callable[..., Any]
Equal = Callable[[Any, Any], Any]
Arguments = tuple[Any, ...]


def no_function(*_: object) -> NoReturn:  # pragma: no cover - it stands where nothing is called
    """Stand where a node is not computed."""
    raise AssertionError("a source is not computed")


NO_FUNCTION: Final[Function] = no_function
"""The same, as a constant, which compiled code does not look up."""

# Outcomes of computations are remembered for a while, instead of computing again.


class Outcome:
    """A value or an error of a computation whose entry is not valid after it."""

    __slots__ = ("began", "clock", "error", "traceback", "value")

    def __init__(self, began: int, clock: int, value: Any) -> None:
        self.began = began
        self.clock = clock  # when it came out: a later change makes it worthless
        self.value = value
        self.error: Exception | None = None
        self.traceback: TracebackType | None = None


class Failure:
    """An error of a compared entry, computed to find out if its value has changed.

    The reader, the entry below it, may read it next: then the error is raised again.
    """

    __slots__ = ("clock", "error", "reader", "thread", "traceback")

    def __init__(self, clock: int, error: Exception, reader: int, thread: int) -> None:
        self.clock = clock
        self.error = error
        self.traceback = error.__traceback__
        self.reader = reader
        self.thread = thread


class Changes:
    """Groups known to have changed, whose entries must be computed again.

    Attributes
    ----------
    clock : int
        Clock of the store when this was found out; a later change makes it worthless.
    clocks : dict of int to int
        By group: a clock at which something upstream has changed.
    """

    __slots__ = ("clock", "clocks")

    def __init__(self, clock: int) -> None:
        self.clock = clock
        self.clocks: dict[int, int] = {}


class Memory:
    """Memory of a thread while it is deep: outcomes by entry, and the one raised last."""

    __slots__ = ("outcomes", "raised")

    def __init__(self) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self.raised: Outcome | None = None


class Evaluator:
    """Evaluation of the entries of one store.

    Parameters
    ----------
    store : Store
    functions : list of callable
        By node: its compute function; `no_function` for a source.
    arguments : list of (tuple or None)
        By node: the arguments of its function.
    bind : callable
        Sets and returns the arguments of a node whose arguments are None.
    equals : dict of int to callable
        By node of a compared entry: the function that compares its values.

    Attributes
    ----------
    deepest : int
        Number of nested computations from which on prerequisites are prepared.
    running : dict of int to int
        The entries that are being computed, each with its thread.
    """

    __slots__ = (
        "_bind",
        "_changes",
        "_failures",
        "_finished",
        "_memories",
        "_store",
        "arguments",
        "deepest",
        "equals",
        "functions",
        "running",
    )

    def __init__(
        self,
        store: Store,
        functions: list[Function],
        arguments: list[Arguments | None],
        bind: Callable[[int], Arguments],
        equals: dict[int, Equal],
    ) -> None:
        self.functions = functions
        self.arguments = arguments
        self.equals = equals
        self.deepest = DEEPEST
        self._store = store
        self._bind = bind
        self.running: dict[int, int] = {}
        self._failures: dict[int, Failure] = {}
        self._changes = Changes(0)
        self._finished = Condition()
        self._memories: dict[int, Memory] = {}  # by thread, while it is deep

    def evaluate(self, node: int, me: int = 0) -> Any:
        """Return the value of an entry that is not valid, after computing it or waiting for it.

        `me` is passed from within only: by a caller that knows its thread, and that the
        prerequisites of the entry are valid.

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
        if store.is_torn:
            store.mend()
        marks = store.marks
        if marks[node] <= COMPUTING:
            return self._evaluate_contended(node, me)
        if self.equals:
            if self._failures:
                self._fail_again(node, me)
            if node not in self.equals and self._is_as_it_was(node, marks[node], me):
                return store.values[node]
        try:
            # Only this thread enters its own number, and the mark told that it has not: if it is
            # there now, the entry was free. Control-C may strike as soon as it is there, and
            # wherever a function is called or a loop goes round; so there is neither between the
            # handler's look at the claim and its release.
            if running.setdefault(node, me) == me:
                group = store.group_of[node]
                if marks[node] >= store.gates[group]:
                    return self._found(node, me)
                before = computed = store.values[node]  # which live until all is consistent
                # A finalizer may use the store wherever something is allocated. If it writes, the
                # value is stale from here on; if it computes this entry, so do we, once more.
                start = store.clock
                store.computations = store.computations + 1
                if not store.live[group]:
                    store.make_live(group)
                if store.journal is not None:
                    store.note(node)
                if self.equals and node in self.equals:
                    computed = self._evaluate_compared(node, start, me)
                    value = store.values[node]
                else:
                    marks[node] = COMPUTING
                    value = self._call(node)
                    store.values[node] = value
                    store.raise_version(node)
                marks[node] = start if marks[node] == COMPUTING else ~store.clock
                drop(running, node)  # a finalizer may have computed it, and released it
                if WAITING or self._failures:
                    self._ended(node)
                let_go(before, computed)
                return value
        except BaseException:
            if running.get(node) == me:
                if marks[node] <= COMPUTING:
                    marks[node] = ~store.clock
                del running[node]
            if WAITING or self._failures:
                self._ended(node)
            raise
        return self._evaluate_contended(node, me)

    def _found(self, node: int, me: int) -> Any:
        """Release an entry that another thread or a finalizer has computed; return its value."""
        value = self._store.values[node]
        # A finalizer has released it. Tests visit the lines for that, where no tracer looks.
        if self.running.get(node) == me:  # pragma: no branch
            del self.running[node]
        if WAITING or self._failures:  # pragma: no cover  # threads come here by chance
            self._ended(node)
        return value

    def _call(self, node: int) -> Any:
        """Call the function of an entry."""
        arguments = self.arguments[node]
        if arguments is None:
            arguments = self._bind(node)
        if len(arguments) == 1:  # compiled, this is faster than a call with a list of arguments
            return self.functions[node](arguments[0])
        return self.functions[node](*arguments)

    # ------------------------------------------------------------------ equal values

    def _evaluate_compared(self, node: int, start: int, me: int) -> Any:
        """Compute an entry and compare its value, unless its prerequisites are unchanged.

        Return the new value, even if it is equal and the old value is kept.
        """
        store = self._store
        mark = store.marks[node]
        store.marks[node] = COMPUTING
        is_new = False
        if self._is_as_it_was(node, mark, me):
            value = store.values[node]
        else:
            value = self._call(node)
            is_new = mark < 0 or not self._is_equal(node, value, mark)
        if is_new:
            store.changed.pop(node, None)
            store.values[node] = value
            store.raise_version(node)
        else:
            store.changed.setdefault(node, mark)
        if start < clock_of(store.gates[store.group_of[node]]):
            store.marks[node] = VOID  # it is stale already, so no value must be compared with it
        return value

    def _is_as_it_was(self, node: int, mark: int, me: int) -> bool:
        """True if nothing upstream has another value since a mark; the gate is lowered then.

        Entries are computed only where needed for that. Groups upstream are examined first, from a
        list instead of the call stack. If one of them has changed, so have all between it and the
        node, which is remembered until something is written.
        """
        store = self._store
        soft = store.structure.soft
        group = store.group_of[node]
        if mark < 0 or group not in soft:
            return False
        known = self._changes
        if known.clock != store.clock:
            known = self._changes = Changes(store.clock)
        gates = store.gates
        stack = [group]
        tried: set[int] = set()
        while stack:
            group = stack[-1]
            others, compared = soft[group]
            change = known.clocks.get(group, mark)
            if change <= mark:
                for above in others:
                    # Where it is presumed computed, it may have got another value when it was.
                    gate = abs(gates[above])
                    if gate > mark:
                        if above not in soft or gates[above] < 0 or above in tried:
                            change = gate
                        else:
                            tried.add(above)
                            stack.append(above)
                        break
                if stack[-1] != group:
                    continue
            if change <= mark:
                for x in compared:
                    change = self._last_change(x, node, me)
                    if change > mark:
                        break
            if change > mark:
                if change < SHUT:  # else it is closed, or failed, which may be over without a write
                    for g in stack:
                        known.clocks[g] = change
                return False
            if not store.live[group]:
                store.make_live(group)
            if store.journal is not None:
                store.journal.gates.setdefault(group, gates[group])
            if store.clock != known.clock:
                return False  # a finalizer, or a computation of a compared entry, has changed it
            store.computations += 1
            gates[group] = mark
            stack.pop()
        return True

    def _last_change(self, node: int, reader: int, me: int) -> int:
        """Validate a compared entry; return when its value last changed, `SHUT` if that fails."""
        store = self._store
        mark = store.marks[node]
        if mark <= COMPUTING or 0 <= mark < store.gates[store.group_of[node]]:
            try:
                self.evaluate(node)
            except ComparisonError:
                raise
            except Exception as error:  # raised if it is read, after all
                self._failures[node] = Failure(store.clock, error, reader, me)
                return SHUT
            mark = store.marks[node]
        if mark < store.gates[store.group_of[node]]:
            return SHUT  # there is nothing to compare with
        return store.changed.get(node, mark)

    def _fail_again(self, node: int, me: int) -> None:
        """Raise again the error that the entry raised when `_is_as_it_was` computed it."""
        failure = self._failures.get(node)
        if (
            failure is not None
            and failure.clock == self._store.clock
            and failure.thread == me == self.running.get(failure.reader)
        ):
            del self._failures[node]
            raise failure.error.with_traceback(failure.traceback)

    def _forget_failures(self, reader: int) -> None:
        for node in list(self._failures):
            failure = self._failures.get(node)
            if failure is not None and failure.reader == reader:
                self._failures.pop(node, None)

    def _is_equal(self, node: int, value: Any, mark: int) -> bool:
        """True if a new value equals the one before."""
        store = self._store
        before = store.values[node]
        try:
            return bool(self.equals[node](before, value))
        except Exception as error:
            cause = error
        store.marks[node] = mark  # of the value before, with which the next one is compared
        failed = ComparisonError(
            f"cache entry {store.structure.name_of(node)!r}: its values cannot be compared",
            "a function of two values that returns whether they are equal",
            f"{type(cause).__name__} ({cause}) for {short_repr(before)} and {short_repr(value)}",
            "for arrays write equal=numpy.array_equal; True stands for ==",
        )
        failed.__cause__ = cause  # compiled by mypyc, "raise ... from" does not say so
        raise failed

    # ------------------------------------------------------------------ deep chains

    def _evaluate_deep(self, node: int, me: int) -> Any:
        if list(self.running.values()).count(me) < self.deepest:
            return self.evaluate(node, me)  # all others belong to other threads
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
            for n in list(self.running):
                if self.running.get(n) == me:  # what reads this is out of date, as it is itself
                    store.marks[n] = VOID
        if outcome.error is not None:
            before, memory.raised = memory.raised, outcome
            let_go(before)
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
                    and self.functions[n] is not NO_FUNCTION
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
            raise self._cycle([*self._stack(me, node), (self, node)])
        self._wait_for(node, me)
        if self._store.is_valid(node):
            return self._store.values[node]
        return self.evaluate(node)  # there it failed

    def _wait_for(self, node: int, me: int) -> None:
        """Wait until no other thread computes this entry."""
        with self._finished:
            WAITING[me] = (self, node)
            try:
                while node in self.running:
                    self._refuse_deadlock(node, me)
                    self._finished.wait(LONGEST_WAIT)
            finally:
                del WAITING[me]

    def _refuse_deadlock(self, node: int, me: int) -> None:
        """Raise `CycleError` if the thread that computes `node` waits, through others, for us.

        It may wait for an entry of another graph or State, whose computation reads one of this.
        """
        path: list[Place] = []
        evaluator, wanted = self, node
        while True:
            owner = evaluator.running.get(wanted)
            if owner is None:
                return  # pragma: no cover - it ended between two looks, in another graph
            path += evaluator._stack(owner, wanted)
            if owner == me:
                raise self._cycle([*path, (self, node)])
            if owner not in WAITING:
                return
            evaluator, wanted = WAITING[owner]

    def _stack(self, thread: int, first: int) -> "list[Place]":
        """Return entries that a thread is computing here, from that entry on, outermost first."""
        # Pairs, or a copy, are objects; garbage may be collected when they are made. Then other
        # threads go on, and the dictionary is another one. A list of numbers is made in one go.
        entries = [n for n in list(self.running) if self.running.get(n) == thread]
        return [(self, n) for n in entries[entries.index(first) :]] if first in entries else []

    def _ended(self, node: int) -> None:
        """Wake threads that wait for entries, and forget errors that only this one could read."""
        if WAITING:
            self._wake_others()
        if self._failures:
            self._forget_failures(node)

    def _wake_others(self) -> None:
        with self._finished:
            self._finished.notify_all()

    def _cycle(self, path: "list[Place]") -> CycleError:
        names = [path[0][0]._store.structure.name_of(path[0][1])]
        for (one, below), (other, above) in pairwise(path):
            structure = other._store.structure
            # What was prepared is not read from where it was prepared, but somewhere between.
            way = structure.path_up(below, above)[1:] if one is other else []
            names += [structure.name_of(n) for n in way or [above]]
        return CycleError(
            f"cache entry {names[0]!r}: its computation reads its own result",
            "a computation that reads only what is upstream of it",
            " -> ".join(names),
            "break the cycle: do not read one of these from the one before it",
            tuple(names),
        )


Place = tuple[Evaluator, int]
"""An entry: its evaluator and its node."""

WAITING: Final[dict[int, Place]] = {}
"""Entry waited for, by thread. Of all graphs and States, as a thread may wait across them."""
