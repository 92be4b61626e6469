"""Suspects of a wrong value, and hints about them.

In this order:

1. The value differs each time: it is random, or comes from outside the State.
2. A computation changes a value in place, or has an undeclared read. Strict mode finds both when it
   computes the entry, and everything upstream of it, in a fresh State.
3. A comparison (``equal=``) takes different values for equal.
4. A write is ignored. The stale value is right for the variables of an earlier time. Variables that
   have changed since are written one by one, in a fresh State of that time: if the value stays
   though it should change, it lacks that variable.
5. A hook fills the value too soon. A variable is written, and the stages that this makes stale are
   realized again. If the value is still the old one, a hook of an earlier stage fills it.
6. A hook reads a variable that an automatic update exchanges. The next value is presumed known, so
   the exchange makes no stage stale, and the hook is not called again.
"""

from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen

from stagecache.errors import MutatedValueError, StagecacheError
from stagecache.inspection.strict.reads import UndeclaredRead
from stagecache.inspection.strict.strict import strict
from stagecache.state.handles import DiscreteVariable
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.values.sameness import same
from stagecache.system.core.system import System
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.items import (
    Item,
    invalidated_stage,
    is_computed,
    is_valid,
    layout_of,
    upstream_of,
)
from stagecache.testing.oracle.comparison import Outcome, outcome_of, same_outcome
from stagecache.testing.oracle.oracle import Snapshot, Subject, fresh_state, write_one_of
from stagecache.testing.programs.writes import KINDS

Key = Item | str
Found = tuple[tuple[str, ...], str]
"""Names of the suspects, and a hint."""


def _fresh(system: System, snapshot: Snapshot) -> State | None:
    """Return a fresh State; None if vectors have other sizes."""
    try:
        return fresh_state(system, snapshot).state
    except (StagecacheError, ValueError):
        return None


def _value(system: System, subject: Subject, snapshot: Snapshot) -> Outcome | None:
    """Return the value in a fresh State; None without such a State."""
    state = _fresh(system, snapshot)
    return None if state is None else outcome_of(lambda: subject.read(state))


@frozen
class HookSearch:
    """Search for the reason why an entry that a hook fills is stale.

    Attributes
    ----------
    system : System
    subject : Subject
        The stale value.
    title : str
        Its name.
    before, now : Snapshot
        The variables when it was right, and now.
    name : callable
        The name of a variable.
    """

    system: System
    subject: Subject
    title: str
    before: Snapshot
    now: Snapshot
    name: Callable[[Key], str]

    def result(self) -> Found | None:
        """Return the suspects, if these are hooks."""
        keys = [key for key, _ in self._mattering()]
        return self._too_soon() or self._exchanged(keys)

    def _mattering(self) -> Iterator[tuple[Key, Outcome]]:
        """Yield changed variables on which the value depends, with the new value."""
        old = _value(self.system, self.subject, self.before)
        for key in self.before.differing(self.now):
            new = _value(self.system, self.subject, self.before.with_one_of(self.now, key))
            if old is not None and new is not None and not same_outcome(old, new):
                yield key, new

    # ------------------------------------------------------------------ too soon

    def _too_soon(self) -> Found | None:
        for key, new in self._mattering():
            value = self._again(key)
            if value is None or same_outcome(value, new):
                continue
            needed = self._invalidated(key)
            at = [
                g
                for g in range(Stage.INSTANCE, needed)
                if same_outcome(self._again(key, Stage(g)) or value, new)
            ]
            filled = f"the hook of {Stage(at[-1])} fills it" if at else "another one fills it"
            name = self.name(key)
            return (name,), (
                f"fill {self.title} in the hook of {needed}, or of a later stage: {filled}, "
                f"which a write of {name} does not make stale"
            )
        return None

    def _again(self, key: Key, stage: Stage = Stage.REPORT) -> Outcome | None:
        """Return the value after a write of a variable, with a stage invalidated as well."""
        state = _fresh(self.system, self.before)
        if state is None:
            return None
        outcome_of(lambda: self.subject.read(state))
        if not write_one_of(state, self.now, key):
            return None
        state.invalidate_all(stage)
        error = outcome_of(lambda: self.system.realize(state, self.before.reached)).error
        return None if error is not None else outcome_of(lambda: self.subject.read(state))

    def _invalidated(self, key: Key) -> Stage:
        """Return the stage that a write makes stale."""
        if isinstance(key, str):
            return KINDS[key].invalidates or Stage.REPORT
        return invalidated_stage(key.handle(self.system.realize_topology()))

    # ------------------------------------------------------------------ exchanged

    def _exchanged(self, keys: list[Key]) -> Found | None:
        handles = {
            key: key.handle(self.system.realize_topology())
            for key in keys
            if isinstance(key, Item) and key.kind == "discrete"
        }
        names = tuple(
            self.name(key)
            for key, handle in handles.items()
            if isinstance(handle, DiscreteVariable) and handle.update is not None
        )
        if not names:
            return None
        following = " and ".join(f"{name}.update(state)" for name in names)
        return names, (
            f"a hook computes {self.title} from {' and '.join(names)}, which an exchange changes "
            f"without making a stage stale: read {following} there, the next value, or write the "
            "variable by set()"
        )


OUTSIDE: Final = (
    "something that is not in the State: an attribute of the model, a global, a closure, "
    "a random number, a value changed in place"
)


@frozen
class Suspects:
    """Suspects by name, and what to do about them."""

    names: tuple[str, ...]
    hint: str


def suspects_of(failure: Failure) -> Suspects:
    """Find the suspects of a value that differs from the one in a fresh State."""
    return Search(failure).result()


class Search:
    """The search for who is to blame.

    Parameters
    ----------
    failure : Failure
    """

    def __init__(self, failure: Failure) -> None:
        run = failure.run
        self.failure = failure
        self.system = run.system
        self.subject = failure.subject
        self.state = run.states[failure.number]
        self.history = run.history[failure.number]
        self.title = self.subject.title(run.names, self.state)
        self.is_computed = self.subject.item is None or is_computed(
            self.state, self.subject.item.handle(self.state)
        )
        self.now = self._at_its_stage(self.history[-1])

    def result(self) -> Suspects:
        """Return the suspects."""
        values = [_value(self.system, self.subject, self.now) for _ in range(2)]
        if None not in values and not same_outcome(*[v for v in values if v is not None]):
            return Suspects(
                (), f"let {self.title} be computed from the State alone: it reads {OUTSIDE}"
            )
        ignored = self._ignored()
        return (
            self._found_by_strict(ignored)
            or self._coarse_comparison()
            or (None if ignored else self._by_hooks())
            or self._lacking(ignored)
            or Suspects((), f"look for {OUTSIDE}")
        )

    # ------------------------------------------------------------------ 2: strict mode

    def _found_by_strict(self, ignored: list[Item | str]) -> Suspects | None:
        """Return the error of strict mode when the entry is computed in a fresh State."""
        if self.subject.item is None:
            return None
        state = _fresh(self.system, self.now.at(Stage.REPORT)) or _fresh(self.system, self.now)
        if state is None:
            return None
        entry = self.subject.item.handle(state)
        try:
            with strict(state, undeclared="record") as reads:
                for each in reversed(upstream_of(state, entry)):
                    if hasattr(each, "invalidate") and is_computed(state, each):
                        each.invalidate(state)
                error = outcome_of(lambda: self.subject.read(state)).error
            if isinstance(error, MutatedValueError):
                raise error
        except MutatedValueError as error:
            return Suspects((self.title,), f"{error.what}; {error.hint}")
        if not reads.undeclared:
            return None
        relevant = self._relevant(state, reads.undeclared, ignored)
        return Suspects(tuple(dict.fromkeys(str(r.item) for r in relevant)), relevant[0].hint)

    def _relevant(
        self, state: State, undeclared: tuple[UndeclaredRead, ...], ignored: list[Item | str]
    ) -> list[UndeclaredRead]:
        """Return the reads through which a variable may have reached the value."""
        handles = [key.handle(state) for key in ignored if isinstance(key, Item)]
        found = [
            read
            for read in undeclared
            if not isinstance(read.item, Stage)
            and any(above in handles for above in upstream_of(state, read.item))
        ]
        return found or list(undeclared)

    # ------------------------------------------------------------------ 3: comparisons

    def _coarse_comparison(self) -> Suspects | None:
        """Return the first entry upstream that differs, but compares as equal."""
        if self.subject.item is None:
            return None
        fresh = _fresh(self.system, self.now)
        equals = layout_of(self.state).equals
        store = self.state._contents.realization.store
        for entry in upstream_of(self.state, self.subject.item.handle(self.state)):
            equal = equals.get(entry._node)
            if equal is None or fresh is None:
                continue
            old, new = store.values[entry._node], outcome_of(lambda e=entry: e(fresh))  # type: ignore[misc]  # a default binds it
            is_equal = outcome_of(lambda f=equal, o=old, n=new: f(o, n.value))  # type: ignore[misc]  # likewise
            if new.error is None and is_equal.value and not same(old, new.value):
                title = self.failure.run.names.title(entry)
                return Suspects(
                    (title,), f"let the equal= of {title} tell such values apart, or leave it out"
                )
        return None

    # ------------------------------------------------------------------ 4: ignored writes

    def _lacking(self, ignored: list[Item | str]) -> Suspects | None:
        names = tuple(self._name(key) for key in ignored)
        if not self.is_computed:
            return self._filled_at_another_time(names)
        if not names:
            return None
        listed = " and ".join(names)
        if self.subject.item is not None:
            return Suspects(
                names,
                f"name {listed} among the prerequisites of {self.title}, or of what is upstream "
                "of it; or let it depend on a later stage",
            )
        return Suspects(
            names,
            f"compute {self.title} in the hook of a stage that a write of {listed} makes stale",
        )

    def _filled_at_another_time(self, names: tuple[str, ...]) -> Suspects:
        assert self.subject.item is not None
        entry = self.subject.item.handle(self.state)
        presumed = (
            f"; it is presumed computed from {entry.computed_by} on (its latest, or computed_by)"
            if entry.computed_by < Stage.INFINITY
            else ""
        )
        return Suspects(
            names or (self.title,),
            f"let the hook that fills {self.title} do so each time, when all that it is computed "
            f"from is known, and mark it valid then only{presumed}",
        )

    def _by_hooks(self) -> Suspects | None:
        """Return suspects where a hook's value is stale, though the hook ignores no write."""
        before = self._when_it_was_right()
        if before is None or (self.subject.item is not None and self.is_computed):
            return None
        search = HookSearch(self.system, self.subject, self.title, before, self.now, self._name)
        found = search.result()
        return None if found is None else Suspects(*found)

    def _ignored(self) -> list[Item | str]:
        """Return the variables whose changes the value ignores."""
        before = self._when_it_was_right()
        if before is None:
            return []
        changed = before.differing(self.now)
        staying = [key for key in changed if self._stays(before, key)]
        ignored = [key for key in staying if self._matters(before, key)]
        return ignored or staying

    def _when_it_was_right(self) -> Snapshot | None:
        """Return the latest snapshot for which the value is right."""
        for snapshot in reversed(self.history[:-1]):
            before = self._at_its_stage(snapshot.at(self.now.reached))
            value = _value(self.system, self.subject, before)
            if value is not None and same_outcome(value, self.failure.got):
                return before
        return None

    def _matters(self, before: Snapshot, key: Item | str) -> bool:
        """Return True if one variable changes the value."""
        one, other = (
            _value(self.system, self.subject, before),
            _value(self.system, self.subject, before.with_one_of(self.now, key)),
        )
        return one is not None and other is not None and not same_outcome(one, other)

    def _stays(self, before: Snapshot, key: Item | str) -> bool:
        """Return True if a write of one variable leaves the value valid."""
        state = _fresh(self.system, before)
        if state is None:
            return False
        outcome_of(lambda: self.subject.read(state))
        if not write_one_of(state, self.now, key):
            return False
        if self.subject.item is not None:
            return is_valid(state, self.subject.item.handle(state))
        return outcome_of(lambda: self.subject.read(state)).error is None

    # ------------------------------------------------------------------ fresh States

    def _at_its_stage(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot at a stage where the value exists; hooks may write it at any."""
        return snapshot if self.is_computed else snapshot.at(Stage.REPORT)

    def _name(self, key: Item | str) -> str:
        if isinstance(key, str):
            return key
        return self.failure.run.names.title(key.handle(self.state))
