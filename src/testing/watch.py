"""Conditions that hold after each operation of a program.

- **Coherence.** Valid entries, and results of reads, have the values of a fresh State. Only valid
  entries are compared, so the comparison does not change which entries are computed when.
- **Precision.** Entries that a write makes stale are downstream of it.
- **Versions.** The version of a written variable grows, other versions do not, and a version never
  stands for two values.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from stagecache.errors import CacheEntryOutOfDateError
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.values.sameness import same
from stagecache.state.values.values import IMMUTABLE
from stagecache.state.vectors.vectors import VECTORS
from stagecache.system.core.system import System
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.items import (
    Item,
    discrete_of,
    entries_of,
    invalidated_stage,
    is_computed,
    layout_of,
    upstream_of,
    variables_of,
)
from stagecache.testing.oracle.comparison import Outcome, copied, outcome_of, same_outcome
from stagecache.testing.oracle.oracle import (
    Fresh,
    Snapshot,
    Subject,
    entries_now,
    expected,
    fresh_state,
    vectors_of,
)
from stagecache.testing.programs.files import SaveAndLoad
from stagecache.testing.programs.operation import (
    AbstractOperation,
    AutoUpdate,
    Copy,
    Invalidate,
    ReadAll,
    ReadEntry,
    Realize,
    RollBack,
)
from stagecache.testing.programs.run import Mark, Run
from stagecache.testing.programs.writes import KINDS, SetTime, SetVariable, SetVector


class Before:
    """Versions of variables, and valid entries, before an operation.

    Attributes
    ----------
    valid : list of CacheEntry
    versions : dict of int to int
        By the identity of a handle.
    """

    def __init__(self, state: State) -> None:
        store = state._contents.realization.store
        self.valid = [e for _, e in entries_of(state) if store.is_valid(e._node)]
        self.versions = {id(h): store.versions[h._node] for h in _all_variables(state)}

    def lost(self, state: State, written: list[Item | str], stage: Stage) -> list[Item]:
        """Return the entries that are stale although nothing upstream was written.

        Parameters
        ----------
        stage : Stage
            The stage that the operation invalidated, beside those that writes invalidate.
        """
        store = state._contents.realization.store
        stale = [
            (item, entry)
            for item, entry in entries_of(state)
            if entry in self.valid and not store.is_valid(entry._node)
        ]
        if not stale:
            return []
        stages = [stage]
        stages += [invalidated_stage(x.handle(state)) for x in written if isinstance(x, Item)]
        stages += [k.invalidates for k in VECTORS if k.name in written and k.invalidates]
        changed = {
            id(h) for h in _all_variables(state) if self.versions.get(id(h)) != h.version(state)
        }
        for subsystem in layout_of(state).subsystems:
            changed |= {id(v._update) for v in subsystem.auto_update if id(v) in changed}
        return [
            item for item, entry in stale if not _is_downstream(state, entry, changed, min(stages))
        ]

    def miscounted(self, state: State, written: list[Item | str]) -> list[tuple[Item, int, int]]:
        """Return variables whose versions do not count writes, with the versions before and now."""
        handles = [item.handle(state) for item in written if isinstance(item, Item)]
        lowest = min(map(invalidated_stage, handles), default=Stage.INFINITY)
        found = []
        for item, handle in variables_of(state):
            before = self.versions.get(id(handle))
            now = handle.version(state)
            is_reset = lowest <= Stage.MODEL and item.kind not in ("discrete", "time")
            if before is None or (is_reset and now >= before):
                continue
            if (now <= before) if item in written else (now != before):
                found.append((item, before, now))
        return found


def _is_downstream(state: State, entry: Any, changed: set[int], stage: Stage) -> bool:
    return any(
        id(each) in changed or (isinstance(each, CacheEntry) and each.available_from >= stage)
        for each in upstream_of(state, entry)
    )


def _all_variables(state: State) -> list[AbstractHandle]:
    """Return the time, discrete variables, blocks, and all wholes."""
    layout = layout_of(state)
    found: list[AbstractHandle] = [handle for _, handle in variables_of(state)]
    found += [layout.variables[kind] for kind in "quz"]
    return found + [w for subsystem in layout.subsystems for w in subsystem.whole.values()]


def stage_of(operation: AbstractOperation) -> Stage:
    """Return the stage that an operation invalidates, beside stages of variables."""
    if isinstance(operation, Invalidate):
        return operation.stage
    found = KINDS[operation.name].invalidates if isinstance(operation, SetVector) else None
    return Stage.INFINITY if found is None else found


WRITES: Final = (SetVariable, SetVector, SetTime, Invalidate, AutoUpdate)
NextValues = dict[Item, tuple[Subject, Any, Any]]


class Watch:
    """The execution of a run, with a check after each operation.

    Parameters
    ----------
    run : Run
    system : System
        The System of the fresh States. It is not the System of the run, so values that the model
        keeps outside of States show.
    is_put_off : callable, optional
        Returns True for entries that are compared only when they are read, and at the end.
    """

    def __init__(
        self, run: Run, system: System, is_put_off: Callable[[Item], bool] = lambda _: False
    ) -> None:
        self.run = run
        self.system = system
        self._is_put_off = is_put_off
        self._known: dict[int, tuple[object, Snapshot, Fresh]] = {}
        self._kept: dict[tuple[int, Item], tuple[int, Any]] = {}

    def perform(self, operation: AbstractOperation) -> bool:
        """Perform an operation, if it is possible.

        Raises
        ------
        Failure
        """
        run = self.run
        if not operation.is_possible(run):
            return False
        number = operation.number(run)
        state = run.states[number]
        mark = operation.mark(run) if isinstance(operation, RollBack) else None
        is_read = isinstance(operation, ReadAll | ReadEntry)
        before = Before(state) if isinstance(operation, WRITES) else None
        next_values = self._next_values(number) if isinstance(operation, AutoUpdate) else {}
        saved = Snapshot.of(state) if isinstance(operation, SaveAndLoad) else None
        target = operation.target(run) if isinstance(operation, SaveAndLoad) else number
        written = operation.written(run)
        run.do(operation, self._refuse_error)
        if saved is not None and target < len(run.states) and run.states[target] is not state:
            self._forget(target)
            self._check_saved(target, saved)
        if written or isinstance(operation, AutoUpdate | Realize | RollBack):
            self._know(number)
        self._check_reads()
        self._check_next_values(number, next_values)
        if mark is not None:
            self._check_rollback(mark)
        elif before is not None:
            stage = stage_of(operation)
            for item in before.lost(state, written, stage):
                raise Failure("lost", run, number, Subject(item))
            if written:
                for item, was, now in before.miscounted(state, written):
                    raise Failure("version", run, number, Subject(item), Outcome(was), Outcome(now))
        if is_read:
            self._check_kept(number)
            self._check_changeable(number)
        else:
            self.check(number)
        if isinstance(operation, Copy | SaveAndLoad):
            self.check(len(run.states) - 1)
        return True

    def _forget(self, number: int) -> None:
        """Forget a State that was replaced."""
        self._known.pop(number, None)
        for key in [key for key in self._kept if key[0] == number]:
            del self._kept[key]

    def check(self, number: int, *, is_last: bool = False) -> None:
        """Compare all valid values of a State with those of a fresh one.

        Raises
        ------
        Failure
        """
        state = self.run.states[number]
        for subject in [*entries_now(state, valid=True), *vectors_of(state)]:
            if subject.item is not None and not is_last and self._is_put_off(subject.item):
                continue
            self._compare(number, subject, outcome_of(lambda s=subject: s.read(state)))  # type: ignore[misc]  # a default binds it
        self._check_kept(number)

    def _check_changeable(self, number: int) -> None:
        """Compare values that a computation may have changed in place."""
        state = self.run.states[number]
        for subject in entries_now(state, valid=True):
            value = subject.read(state)
            if type(value) not in IMMUTABLE and not isinstance(value, np.ndarray):
                self._compare(number, subject, Outcome(copied(value)))

    def check_all(self) -> None:
        """Check all States, since a write to one may have changed another."""
        self._known.clear()
        for number in range(len(self.run.states)):
            self.check(number, is_last=True)

    def check_pristine(self, system: System) -> None:
        """Compare with the same model where nothing was computed before.

        This finds values that are kept in the model itself, and not in the State.
        """
        for number, state in enumerate(self.run.states):
            snapshot = Snapshot.of(state)
            fresh = fresh_state(system, snapshot)
            lines = len(self.run.lines)
            for subject in [*entries_now(state, valid=False), *vectors_of(state)]:
                got = outcome_of(lambda s=subject, x=state: s.read(x))  # type: ignore[misc]  # likewise
                wanted = expected(system, snapshot, fresh, subject)
                if wanted is not None and not same_outcome(got, wanted):
                    raise Failure("value", self.run, number, subject, wanted, got, lines=lines)

    # ------------------------------------------------------------------ coherence

    def _know(self, number: int) -> tuple[Snapshot, Fresh]:
        """Return the snapshot of a State and a fresh State, both kept until something changes."""
        realization = self.run.states[number]._contents.realization
        key = (
            realization.machine.stages.copy(),
            realization.store.clock,
            realization.machine.versions.system.copy(),
        )
        known = self._known.get(number)
        if known is None or known[0] != key:
            snapshot = Snapshot.of(self.run.states[number])
            self.run.history[number].append(snapshot)
            known = key, snapshot, fresh_state(self.system, snapshot)
            self._known[number] = known
        return known[1], known[2]

    def _compare(
        self, number: int, subject: Subject, got: Outcome, lines: int | None = None
    ) -> None:
        """Refuse a value that differs in a fresh State, and in a second one, to be sure."""
        snapshot, fresh = self._know(number)
        system = self.system
        wanted = expected(system, snapshot, fresh, subject)
        if wanted is None or same_outcome(wanted, got):
            return
        wanted = expected(system, snapshot, fresh_state(system, snapshot), subject)
        if wanted is not None and not same_outcome(wanted, got):
            raise Failure("value", self.run, number, subject, wanted, got, lines=lines)

    def _check_reads(self) -> None:
        for read in self.run.reads:
            if not isinstance(read.outcome.error, CacheEntryOutOfDateError):  # not filled yet
                self._compare(read.number, read.subject, read.outcome, read.line)

    def _refuse_error(
        self, operation: AbstractOperation, number: int, error: Exception | None
    ) -> None:
        """Refuse an error of a realization that a fresh State does not raise."""
        run = self.run
        if isinstance(operation, SaveAndLoad) and error is not None:
            self._refuse_error_of_loading(number, error)
        if not isinstance(operation, Realize):
            if error is not None and not operation.may_raise:
                raise error
            return
        snapshot, fresh = self._know(number)
        if error is not None:
            fresh = fresh_state(self.system, snapshot.at(operation.stage))
        if type(fresh.error) is not type(error):
            subject = Subject(stage=operation.stage)
            outcomes = Outcome(error=fresh.error), Outcome(error=error)
            raise Failure("realization", run, number, subject, *outcomes)

    def _refuse_error_of_loading(self, number: int, error: Exception) -> None:
        """Refuse an error of a hook that a fresh State does not raise, and raise others again."""
        cause, state = error.__cause__, self.run.states[number]
        if not isinstance(cause, Exception):
            raise error
        stage = min(state.stage, Stage.INSTANCE)
        if fresh_state(self.system, Snapshot.of(state).at(stage)).error is None:
            subject, got = Subject(stage=stage), Outcome(error=cause)
            raise Failure("realization", self.run, number, subject, got=got)

    def _check_saved(self, number: int, saved: Snapshot) -> None:
        """Refuse a variable with another value than before, if an entry has one, too.

        What no entry depends on may get lost: a value may remember what it has computed.
        """
        loaded = Snapshot.of(self.run.states[number])
        before = saved.at(Stage.REPORT)
        for key in saved.at(loaded.stage).differing(loaded):
            one = fresh_state(self.system, before).state
            other = fresh_state(self.system, before.with_one_of(loaded, key)).state
            for subject in entries_now(one, valid=False):
                outcomes = [outcome_of(lambda s=subject, x=x: s.read(x)) for x in (one, other)]  # type: ignore[misc]  # defaults bind them
                if not same_outcome(*outcomes):
                    raise Failure("saved", self.run, number, subject, *outcomes, variable=key)

    def _next_values(self, number: int) -> NextValues:
        """Return the values of variables, and those that an automatic update gives them."""
        state = self.run.states[number]
        items = {id(handle): item for item, handle in entries_of(state)}
        snapshot, fresh = self._know(number)
        found = {}
        for item, variable in discrete_of(state):
            if variable.update is not None:
                subject = Subject(items[id(variable.update)])
                value = expected(self.system, snapshot, fresh, subject)
                if value is not None and value.error is None:
                    found[item] = subject, snapshot.values[item], value.value
        return found

    def _check_next_values(self, number: int, next_values: NextValues) -> None:
        now = self.run.history[number][-1].values
        for item, (subject, before, following) in next_values.items():
            after, wanted = now[item], Outcome(following)
            if not same(before, after) and not same(after, following):
                raise Failure(
                    "exchange", self.run, number, subject, wanted, Outcome(after), variable=item
                )

    def _check_rollback(self, mark: Mark) -> None:
        """Refuse a rollback that has lost or changed a value, or a valid entry."""
        run, state = self.run, self.run.states[mark.number]
        now = run.history[mark.number][-1]
        if now.stage != mark.snapshot.stage:
            subject = Subject(stage=mark.snapshot.stage)
            raise Failure("rollback", run, mark.number, subject)
        for key in mark.snapshot.differing(now):
            subject = Subject(key) if isinstance(key, Item) else Subject(vector=key)
            raise Failure("rollback", run, mark.number, subject)
        valid = entries_now(state, valid=True)
        for subject in mark.valid:
            if subject not in valid:
                raise Failure("rollback", run, mark.number, subject)

    # ------------------------------------------------------------------ changes in place

    def _check_kept(self, number: int) -> None:
        """Refuse a second value of the same version."""
        state = self.run.states[number]
        store = state._contents.realization.store
        found: list[tuple[Item, Any]] = [*discrete_of(state)]
        found += [
            (item, entry)
            for item, entry in entries_of(state)
            if store.is_valid(entry._node) and is_computed(state, entry)
        ]
        for item, handle in found:
            value = store.values[handle._node]
            if type(value) in IMMUTABLE:
                continue
            version = store.versions[handle._node]
            known = self._kept.get((number, item))
            if known is None or known[0] != version:
                self._kept[number, item] = version, copied(value)
            elif not same(known[1], value):
                raise Failure(
                    "changed", self.run, number, Subject(item), Outcome(known[1]), Outcome(value)
                )
