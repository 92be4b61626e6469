"""Observers of a State or a Graph: strict mode and traces. They cost nothing where there are none.

The contents of a State, and the handles of a Graph, tell their observers of each operation: after
it, or around it, as `stagecache.graph.observing` says.

Any thread may begin or end observation; an operation that has begun before is told of in part.
"""

from collections.abc import Sequence
from typing import Any

from stagecache.graph.observing import Act, TracedWrite
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import VectorKind

Item = AbstractHandle | Stage
"""Something read: a variable or an entry; if it has no handle, the stage that guarantees it."""


class Observer:
    """An observer of one State or Graph.

    Most methods are called after an operation, some instead of it: these call it. Any thread may
    call them, also one that has begun before observation ended.
    """

    is_strict = False

    def inherited(self, contents: Any) -> "Observer | None":
        """Return an observer of a copy of the State, which has these contents, or None."""
        return None

    def made(self, state: Any) -> None:
        """Note that the copy exists which has the contents that `inherited` was told of."""

    def last_write(self, node: int) -> TracedWrite | None:
        """Return the last write of a variable, if it was traced."""
        return None

    # ------------------------------------------------------------------ after an operation

    def read(self, items: Sequence[Item], title: str) -> None:
        """Note a read of variables; or of something without a handle, which has a title."""

    def read_vector(self, kind: VectorKind, subsystem: int | None, title: str) -> None:
        """Note a read of a computed vector or of weights, or of the part of a subsystem."""
        stage = kind.read if kind.invalidates is None else kind.invalidates
        self.read((stage,), title)

    def reading(self, entry: CacheEntry[Any]) -> None:
        """Note that an entry is going to be read, before it is known whether it is valid."""

    def read_valid(self, entry: CacheEntry[Any]) -> None:
        """Note a read of an entry that is valid."""

    def handed_out_vector(self, kind: VectorKind, subsystem: int | None) -> None:
        """Note that a computed vector, or the part of a subsystem, may be changed in place now."""

    def handed_out(self, handle: AbstractHandle) -> None:
        """Note that a value may be changed in place now, or was stored."""

    def marked(self, entry: CacheEntry[Any]) -> None:
        """Note that a value counts as computed now."""

    def advanced(self, stage: Stage, subsystem: int | None) -> None:
        """Note a stage that was reached by hand."""

    def renumbered(self) -> None:
        """Note that variables have versions now that they had before, with other values."""

    def realizing(self, *, is_on: bool) -> None:
        """Note that a System begins to realize the State, or has ended."""

    # ------------------------------------------------------------------ around an operation

    def read_entry(self, entry: CacheEntry[Any], act: Act) -> Any:
        """Note a read of an entry that is not valid, which may compute it."""
        return act()

    def compute(self, act: Act) -> Any:
        """Note an operation that may compute entries without a read of them."""
        return act()

    def write(self, cause: object, nodes: Sequence[int], act: Act) -> Any:
        """Note an operation that makes stale what depends on some nodes."""
        return act()

    def replace(self, cause: str, act: Act) -> Any:
        """Note an operation after which all of the State may be another."""
        return act()


def observe(contents: Any, *observers: Observer) -> None:
    """Let the contents of a State have these observers only. The caller holds the State's lock.

    Control-C may strike in between; so the end of observation can be repeated, and is.
    """
    contents.observers = observers
    contents.link()
