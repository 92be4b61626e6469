"""Checkpoints: a State as it was, to which it can go back.

The graph notes what changes (`stagecache.graph.store`), so that nodes, and what is valid, cost
what has changed. Vectors are copied whole, and so are lists with a number for each subsystem.
"""

from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self, final
from weakref import ref

from attrs import frozen

from stagecache.errors import CheckpointError, NotPicklableError, TopologyVersionError, short_repr
from stagecache.graph.rollback import checkpoint, release, restore
from stagecache.graph.store import Journal
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.pools import PoolsSnapshot
from stagecache.state.items.layout import Layout
from stagecache.state.items.realization import Realization
from stagecache.state.items.stage_machine import MODEL, TOPOLOGY, StageMachine
from stagecache.state.stage import Stage
from stagecache.state.values.values import independent_copy, seal


class HasContents(Protocol):
    """A State, as far as its checkpoints know it."""

    @property
    def _contents(self) -> Contents: ...
    def rollback(self, mark: "Checkpoint") -> None:
        """Go back."""


@final
class Checkpoint:
    """A State as it was when `State.checkpoint` was called.

    As a context manager it goes back if the block raises, and is released in any case. Changes are
    noted for it until it is released, or there is no reference to it when the next one is made.

    Examples
    --------
    >>> from stagecache import Stage, State
    >>> state = State()
    >>> part = state[state.add_subsystem()]
    >>> mass = part.allocate_discrete_variable(Stage.INSTANCE, 1.0)
    >>> mark = state.checkpoint()
    >>> mass.set(state, 2.0)
    >>> state.rollback(mark)
    >>> mass(state), mass.version(state)
    (1.0, 1)
    """

    __slots__ = ("__weakref__", "_end", "_snapshot", "_state")

    def __init__(self, state: HasContents) -> None:
        contents = state._contents
        _require_idle(contents, "checkpoint()")
        _release_the_forgotten(contents)
        self._state = state
        self._end = ""  # why it is of no use any more
        self._snapshot: Snapshot | None = Snapshot.of(contents)
        contents.checkpoints.append((ref(self), self._snapshot))

    @property
    def is_released(self) -> bool:
        """True if a rollback to it is not possible any more."""
        return self._snapshot is None

    def release(self) -> None:
        """Release it: a rollback to it is not possible any more. No effect if it was released."""
        if self._snapshot is not None:
            contents = self._state._contents
            if contents.realization.is_torn:
                contents.mend()  # a rollback may have been cut short
            checkpoints = contents.checkpoints
            checkpoints[:] = [(mark, k) for mark, k in checkpoints if k is not self._snapshot]
            self._snapshot.release()
            self._ended("released")

    def _ended(self, why: str) -> None:
        self._snapshot = None
        self._end = why

    def __enter__(self) -> Self:
        if self._snapshot is None:
            raise self._ended_already("with: cannot go back")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None and self._snapshot is not None:
            self._state.rollback(self)
        self.release()

    def __reduce__(self) -> Any:
        raise NotPicklableError(
            f"{self!r}: cannot be pickled",
            "something that means the same in another process",
            "a checkpoint, which is one of a State that is here",
            "pickle a copy of the State",
        )

    def __repr__(self) -> str:
        if self._snapshot is None:
            return f"Checkpoint({self._end})"
        return f"Checkpoint(at {Stage(self._snapshot.machine.stage)}, t={self._snapshot.time:g})"

    def _ended_already(self, what: str) -> CheckpointError:
        return CheckpointError(
            f"{what} to {self!r}",
            "a checkpoint of this State to which it can still go back",
            f"one that was {self._end}" if self._end else "one of another State",
            "make a new one",
        )


def going_back(contents: Contents, mark: object) -> Callable[[], object]:
    """Return the operation that restores a State, for `Contents.finish`.

    Afterwards exactly the entries that were valid then are valid.

    Raises
    ------
    CheckpointError
        It is not a checkpoint of this State, or was released, or given up by going back further.
    """
    if not isinstance(mark, Checkpoint):
        raise CheckpointError(
            f"rollback(): cannot go back to {short_repr(mark)}",
            "what checkpoint() of this State returned",
            f"an object of type {type(mark).__name__}",
            "write mark = state.checkpoint(), and later state.rollback(mark)",
        )
    _require_idle(contents, "rollback()")
    chosen = mark._snapshot
    if chosen is None or chosen not in [each for _, each in contents.checkpoints]:
        raise mark._ended_already("rollback(): cannot go back")
    chosen.require_topology()
    return partial(_go_back, contents, chosen)


def _go_back(contents: Contents, chosen: "Snapshot") -> object:
    before = chosen.restore_state(contents)
    at = [each for _, each in contents.checkpoints].index(chosen)
    for later, _ in contents.checkpoints[at + 1 :]:
        given_up = later()
        if given_up is not None:
            given_up._ended("given up, by going back further")
    del contents.checkpoints[at + 1 :]
    return before


@frozen(eq=False)
class Snapshot:
    """A State at a checkpoint, except for the nodes that the journal of its store notes later."""

    realization: Realization
    journal: Journal
    layout: Layout
    machine: StageMachine
    causes: list[tuple[int, object]]
    pools: PoolsSnapshot
    time: float
    update_times: dict[int, float]
    system: Any

    @classmethod
    def of(cls, contents: Contents) -> "Snapshot":
        """Return the snapshot of a State now; values handed out to be changed are sealed."""
        realization = contents.realization
        contents.pools.seal_reached(Stage.INFINITY, None)
        values = realization.store.values
        for node in contents.handed_out:  # somebody may have them, or slices of them
            values[node] = independent_copy(values[node])
            seal(values[node])
        contents.handed_out.clear()
        realization.share()
        return cls(
            realization,
            checkpoint(realization.store),
            realization.layout,
            realization.machine.copy(),
            realization.causes.copy(),
            contents.pools.snapshot(),
            contents.time,
            contents.update_times.copy(),
            contents.system,
        )

    def restore_state(self, contents: Contents) -> object:
        """Restore a State, and return the objects that were replaced."""
        present, realization = contents.realization, self.realization
        had_vectors = present.machine.stage >= MODEL
        if present is not realization:  # assign() was called since
            stores = (present.store, realization.store)
            realization.store.exceed_all(max(store.highest_version() for store in stores))
            contents.realization = realization
        before = present, restore(realization.store, self.journal), present.layout
        if realization.layout is not self.layout:
            realization.become_laid_out(self.layout)
        if had_vectors and self.machine.stage < MODEL:
            realization.forget_vectors()
        realization.share()
        realization.machine.restore(
            self.machine, None if present is realization else present.machine
        )
        realization.causes = self.causes.copy()
        contents.pools.restore(self.pools)
        contents.time = self.time
        contents.update_times = self.update_times.copy()
        contents.handed_out = set()
        contents.system = self.system
        contents.guard = None
        contents.outdated_by = ""
        return before

    def release(self) -> None:
        """Let the store stop noting changes for it."""
        if self.journal in self.realization.store.journals:
            release(self.realization.store, self.journal)

    def require_topology(self) -> None:
        """Raise `TopologyVersionError` if the System has another topology now."""
        version = self.machine.versions.in_system(TOPOLOGY)
        if self.system is not None and self.system.topology_cache_version != version:
            raise TopologyVersionError(
                "rollback(): would bring back a State of an older topology",
                f"a checkpoint at topology version {self.system.topology_cache_version}",
                f"one at version {version}",
                "copy the State that realize_topology() returns, and make checkpoints of that",
            )


def _require_idle(contents: Contents, what: str) -> None:
    if contents.realization.is_torn:
        contents.mend()
    contents.require_unguarded(what)
    contents.refuse_to_forget_what_is_computed(Stage.EMPTY)


def _release_the_forgotten(contents: Contents) -> None:
    """Release checkpoints without a reference, and journals of those that were cut short."""
    contents.checkpoints = [(mark, k) for mark, k in contents.checkpoints if mark() is not None]
    wanted = [k.journal for _, k in contents.checkpoints]
    store = contents.realization.store
    for journal in list(store.journals):
        if journal not in wanted:
            release(store, journal)
