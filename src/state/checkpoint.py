"""Checkpoints: a State as it was, to which it can go back.

The graph notes what changes (`stagecache.graph.store`), so that nodes, and what is valid, cost
what has changed. Vectors are copied whole, and so are lists with a number for each subsystem.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from attrs import frozen

from stagecache.errors import TopologyVersionError
from stagecache.graph.checkpoint import (
    Checkpoint,
    GoesBack,
    give_up_later,
    release_forgotten,
    snapshot_of,
)
from stagecache.graph.rollback import checkpoint, release, restore
from stagecache.graph.store import Journal
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.pools import PoolsSnapshot
from stagecache.state.items.layout import Layout
from stagecache.state.items.realization import Realization
from stagecache.state.items.stage_machine import MODEL, TOPOLOGY, StageMachine
from stagecache.state.stage import Stage


class HasContents(GoesBack, Protocol):
    """A State, as far as its checkpoints know it."""

    @property
    def _contents(self) -> Contents: ...


def new_checkpoint(state: HasContents) -> Checkpoint:
    """Return a checkpoint of a State, as it is now."""
    contents = state._contents
    _require_idle(contents, "checkpoint()")
    release_forgotten(contents.checkpoints, contents.realization.store)
    return Checkpoint(state, contents.checkpoints, Snapshot.of(contents))


def going_back(contents: Contents, mark: object) -> Callable[[], object]:
    """Return the operation that restores a State, for `Contents.finish`.

    Afterwards exactly the entries that were valid then are valid.

    Raises
    ------
    CheckpointError
        It is not a checkpoint of this State, or was released, or given up by going back further.
    """
    _require_idle(contents, "rollback()")
    chosen: Snapshot = snapshot_of(mark, contents.checkpoints)
    chosen.require_topology()
    return partial(_go_back, contents, chosen)


def _go_back(contents: Contents, chosen: "Snapshot") -> object:
    before = chosen.restore_state(contents)
    give_up_later(contents.checkpoints, chosen)
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
        contents.detach()
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
        if present is not realization:  # assign() was called since
            stores = (present.store, realization.store)
            realization.store.exceed_all(max(store.highest_version() for store in stores))
            realization.machine.versions.give_none_of(present.machine.versions)
            realization.is_busy = realization.is_torn = True
            contents.realization = realization
        before = present, restore(realization.store, self.journal), present.layout
        if realization.layout is not self.layout:
            realization.become_laid_out(self.layout)
        if self.machine.stage < MODEL:
            realization.forget_vectors()
        realization.share()
        realization.machine.restore(self.machine)
        realization.causes = self.causes.copy()
        contents.pools.restore(self.pools)
        contents.time = self.time
        contents.update_times = self.update_times.copy()
        contents.handed_out = set()
        contents.system = self.system
        contents.guard = None
        contents.outdated_by = ""
        return before

    def __str__(self) -> str:
        return f"at {Stage(self.machine.stage)}, t={self.time:g}"

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
