"""Oracle: the values of a fresh State with the same variables.

::

    state      written, realized, copied, rolled back, ...     snapshot of its variables
                                                                       |
    fresh      a copy of the default State  <---  options, other variables, vectors
               realized once, to the same stage

A fresh State has computed nothing for other values of the variables, so nothing in it is stale.
"""

import pickle
from typing import Any, Final

import attrs
import numpy as np

from stagecache.errors import CacheEntryOutOfDateError, StagecacheError, StageTooLowError
from stagecache.sharing.results import nothing_shared
from stagecache.simbody import num_event_triggers_by_stage
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.values.sameness import same
from stagecache.state.vectors.vectors import VECTORS, WEIGHTS
from stagecache.system.core.system import System
from stagecache.system.core.transport import KNOWN
from stagecache.testing.items import (
    TIME,
    Item,
    Names,
    blocks_of,
    discrete_of,
    entries_of,
    is_computed,
)
from stagecache.testing.oracle.comparison import Outcome, copied, outcome_of

MODEL, INSTANCE = Stage.MODEL, Stage.INSTANCE
WRITTEN: Final = ("q", "u", "z")


@attrs.frozen(eq=False)
class Snapshot:
    """Variables of a State, and its stages.

    Attributes
    ----------
    stage : Stage
        Stage of the system.
    reached : Stage
        The highest stage of a subsystem: one more where a realization failed.
    values : dict of Item to object
        The time, discrete variables, and, from Model on, blocks of q, u and z.
    weights : dict of str to ndarray
        Weights that exist.
    """

    stage: Stage
    reached: Stage
    values: dict[Item, Any]
    weights: dict[str, Vector]

    @classmethod
    def of(cls, state: State) -> "Snapshot":
        """Return the snapshot of a State."""
        contents = state._contents
        realization = contents.realization
        values: dict[Item, Any] = {TIME: contents.time}
        store = realization.store
        for item, handle in discrete_of(state):
            values[item] = copied(store.values[handle._node])
        if realization.machine.stage >= MODEL:
            y, places = contents.pools.y, contents.pools.places
            for kind in WRITTEN:
                for item, block in blocks_of(state, kind):
                    values[item] = y[places[block._node]].copy()
        whole = contents.pools.whole
        weights = {
            k.name: whole[k.name].copy() for k in WEIGHTS if realization.machine.stage >= k.exists
        }
        reached = max([realization.machine.stage, *realization.machine.stages])
        return cls(Stage(realization.machine.stage), Stage(reached), values, weights)

    def value(self, key: Item | str) -> Any:
        """Return the value of a variable, or weights."""
        return self.weights[key] if isinstance(key, str) else self.values[key]

    def differing(self, other: "Snapshot") -> list[Item | str]:
        """Return variables, and names of weights, whose values differ in both snapshots."""
        keys = [*self.values.keys() & other.values.keys()]
        found: list[Item | str] = [k for k in keys if not same(self.values[k], other.values[k])]
        found.sort(key=str)
        shared = self.weights.keys() & other.weights.keys()
        return [*found, *sorted(k for k in shared if not same(self.weights[k], other.weights[k]))]

    def with_one_of(self, other: "Snapshot", key: Item | str) -> "Snapshot":
        """Return a snapshot with the value that one variable has in another snapshot."""
        if isinstance(key, str):
            return attrs.evolve(self, weights={**self.weights, key: other.weights[key]})
        return attrs.evolve(self, values={**self.values, key: other.values[key]})

    def at(self, stage: Stage) -> "Snapshot":
        """Return the snapshot at another stage."""
        return attrs.evolve(self, stage=stage, reached=stage)


@attrs.frozen(eq=False)
class Fresh:
    """A fresh State, and what was raised when it was realized, if anything was."""

    state: State
    error: Exception | None = None


@nothing_shared()
def fresh_state(system: System, snapshot: Snapshot) -> Fresh:
    """Return a new State with the variables of a snapshot, realized once to its stage."""
    state = system.new_state()
    is_written = False
    for item, handle in discrete_of(state):
        if handle.invalidates == MODEL and item in snapshot.values:
            value = snapshot.values[item]
            if value is not handle(state):
                handle.set(state, copied(value))
                is_written = True
    if snapshot.reached < MODEL and not is_written:
        state.invalidate_all(MODEL)
    if snapshot.reached >= MODEL:
        error = outcome_of(lambda: system.realize_model(state)).error
        if error is not None:
            return Fresh(state, error)
    for item, handle in discrete_of(state):
        if handle.invalidates != MODEL and item in snapshot.values:
            write(state, item, snapshot.values[item])
    write(state, TIME, snapshot.values[TIME])
    if snapshot.stage >= MODEL:
        y = [
            snapshot.values.get(item, block(state))
            for kind in WRITTEN
            for item, block in blocks_of(state, kind)
        ]
        state.y = np.concatenate([np.empty(0), *map(np.atleast_1d, y)])
    return Fresh(state, outcome_of(lambda: _realize(system, state, snapshot)).error)


def _realize(system: System, state: State, snapshot: Snapshot) -> None:
    for name, values in snapshot.weights.items():
        if (values != 1).any():
            if name in ("qerr_weights", "uerr_weights"):
                system.realize(state, INSTANCE)
            setattr(state, name, values)
    system.realize(state, snapshot.reached)


def write(state: State, item: Item, value: Any) -> None:
    """Write a variable, unless it has that very value."""
    handle = item.handle(state)
    if item.kind in WRITTEN:
        handle.upd(state)[:] = value
    elif item.kind == "time":
        if state.time != value:
            state.time = value
    elif handle(state) is not value:
        handle.set(state, copied(value))


def write_one_of(state: State, snapshot: Snapshot, key: Item | str) -> bool:
    """Write one variable, or weights, as in a snapshot; False if it has another size there."""
    try:
        if isinstance(key, str):
            setattr(state, key, snapshot.weights[key])
        else:
            write(state, key, snapshot.values[key])
    except (StagecacheError, ValueError):
        return False
    return True


# ---------------------------------------------------------------------- what is compared


@attrs.frozen
class Subject:
    """A readable thing: an entry, or a computed vector of the State.

    Attributes
    ----------
    item : Item or None
        The entry.
    vector : str
        The name of the vector.
    stage : Stage or None
        Which event triggers, if it is that.
    """

    item: Item | None = None
    vector: str = ""
    stage: Stage | None = None

    def read(self, state: State) -> Any:
        """Return the value."""
        if self.item is not None:
            return self.item.handle(state)(state)
        if self.stage is not None:
            return state.event_triggers_by_stage(self.stage)
        return getattr(state, self.vector)

    def code(self, names: Names, owner: State, state: str) -> str:
        """Return the expression that reads it in a State of this name; `owner` has the item."""
        if self.item is not None:
            return f"{names.get(self.item.handle(owner), state)}({state})"
        if self.stage is not None:
            return f"{state}.event_triggers_by_stage(Stage.{self.stage.name})"
        return f"{state}.{self.vector}"

    def title(self, names: Names, owner: State) -> str:
        """Name in messages."""
        if self.item is not None:
            return names.title(self.item.handle(owner))
        return self.code(names, owner, "state")


@nothing_shared()
def expected(system: System, snapshot: Snapshot, fresh: Fresh, subject: Subject) -> Outcome | None:
    """Return the outcome of a read in a fresh State; None if it cannot be compared.

    An entry without a function may be filled by a hook of a later stage.
    """
    found = outcome_of(lambda: subject.read(fresh.state))
    if subject.item is None or not isinstance(
        found.error, CacheEntryOutOfDateError | StageTooLowError
    ):
        return found
    if is_computed(fresh.state, subject.item.handle(fresh.state)):
        return found
    later = fresh_state(system, snapshot.at(Stage.REPORT))
    found = outcome_of(lambda: subject.read(later.state))
    return None if found.error is not None else found


def vectors_of(state: State) -> list[Subject]:
    """Return the computed vectors that can be read now, and are not empty."""
    contents = state._contents
    at = contents.realization.machine.stage
    if at < INSTANCE:
        return []
    whole = contents.pools.whole
    found = [
        Subject(vector=kind.name)
        for kind in VECTORS
        if not kind.is_variable and kind.part and kind.read <= at and len(whole[kind.name])
    ]
    if len(whole["event_triggers"]):
        found += [
            Subject(stage=Stage(g))
            for g in range(Stage.TOPOLOGY, at + 1)
            if num_event_triggers_by_stage(state, Stage(g))
        ]
    return found


def entries_now(state: State, *, valid: bool) -> list[Subject]:
    """Return the valid entries; or also those that can be computed.

    Where a realization was cut short, a subsystem may be beyond the system. Its entries of these
    stages may need what other subsystems have not realized yet, so they are left out.
    """
    store = state._contents.realization.store
    at = state.stage
    if valid:
        return [Subject(item) for item, e in entries_of(state) if store.is_valid(e._node)]
    return [
        Subject(item)
        for item, e in entries_of(state)
        if store.is_valid(e._node)
        or (e.available_from <= at and is_computed(state, e) and not store.is_closed(e._node))
    ]


NOT_KNOWN: Final = None


def rebuilt(system: System, pickled: bytes) -> Any:
    """Objects that were pickled together with a System, which is built anew here."""
    content = system._content
    known = KNOWN.pop(content, NOT_KNOWN)
    try:
        return pickle.loads(pickled)
    finally:
        if known is not NOT_KNOWN:
            KNOWN[content] = known


def through_pickle(system: System, *others: Any) -> tuple[Any, ...]:
    """Return a System and its companions as they arrive in another process by pickle."""
    arrived: tuple[Any, ...] = rebuilt(system, pickle.dumps((system, *others)))
    return arrived


class Blueprint:
    """A System as it was when this was made; it cannot be built anew if it cannot be pickled."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._pickled: bytes | None = None
        try:
            self._pickled = pickle.dumps(system)
            self.build().realize_topology()
        except Exception:  # which check_pickle tells
            self._pickled = None

    @property
    def is_known(self) -> bool:
        """Return True if it can be built anew."""
        return self._pickled is not None

    def build(self) -> System:
        """Another System of this kind; the System itself, if it cannot be built anew."""
        if self._pickled is None:
            return self._system
        system = rebuilt(self._system, self._pickled)
        assert isinstance(system, System)
        return system
