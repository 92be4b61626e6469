"""Why what a hook fills is stale, though no write of a variable leaves it as it is.

Two reasons can be told by experiments, each in a fresh State of the time when it was right:

- **Too soon.** A variable is written, and the stages that this makes stale are realized again. If
  the value is still the old one, a hook of an earlier stage fills it.
- **Exchanged.** An automatic update gives a variable its next value, which is presumed known, and
  so makes no stage stale. A hook that reads the variable is not called again.
"""

from collections.abc import Callable, Iterator

from attrs import frozen

from stagecache.errors import StagecacheError
from stagecache.state.handles import DiscreteVariable
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.testing.items import Item, invalidated_stage
from stagecache.testing.oracle.comparison import Outcome, outcome_of, same_outcome
from stagecache.testing.oracle.oracle import Snapshot, Subject, fresh_state, write_one_of
from stagecache.testing.programs.writes import KINDS

Key = Item | str
Found = tuple[tuple[str, ...], str]
"""The names of who is to blame, and what to do."""


@frozen
class HookSearch:
    """The search for why what a hook fills is stale.

    Attributes
    ----------
    system : System
    subject : Subject
        What is stale.
    title : str
        What it is called.
    before, now : Snapshot
        The variables when it was right, and those of now.
    name : callable
        What a variable is called.
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
        """The variables that have changed and make the value another one; and that value."""
        old = self._value(self.before)
        for key in self.before.differing(self.now):
            new = self._value(self.before.with_one_of(self.now, key))
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
            filled = f"that of {Stage(at[-1])} fills it" if at else "another one fills it"
            name = self.name(key)
            return (name,), (
                f"fill {self.title} in the hook of {needed}, or of a later stage: {filled}, "
                f"which a write of {name} does not make stale"
            )
        return None

    def _again(self, key: Key, stage: Stage = Stage.REPORT) -> Outcome | None:
        """The value after a write of one variable, where that stage is realized again as well."""
        state = self._fresh(self.before)
        if state is None:
            return None
        outcome_of(lambda: self.subject.read(state))
        if not write_one_of(state, self.now, key):
            return None
        state.invalidate_all(stage)
        error = outcome_of(lambda: self.system.realize(state, self.before.reached)).error
        return None if error is not None else outcome_of(lambda: self.subject.read(state))

    def _invalidated(self, key: Key) -> Stage:
        """The stage that a write makes stale."""
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

    # ------------------------------------------------------------------ fresh States

    def _fresh(self, snapshot: Snapshot) -> State | None:
        try:
            return fresh_state(self.system, snapshot).state
        except (StagecacheError, ValueError):  # of other sizes
            return None

    def _value(self, snapshot: Snapshot) -> Outcome | None:
        state = self._fresh(snapshot)
        return None if state is None else outcome_of(lambda: self.subject.read(state))
