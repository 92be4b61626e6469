"""A graph without any cleverness, to compare the real one with: it walks everything, every time.

Each event has a tick. An entry is valid if it was computed, and no variable upstream was written
and no entry upstream (or itself) invalidated at a later tick.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Read = Callable[[], int]
Compute = Callable[..., int]


@dataclass
class ModelNode:
    """A variable, or an entry if it has a compute function."""

    value: int
    compute: Compute | None = None
    prerequisites: tuple[str, ...] = ()
    changed: int = 0  # tick of the last write or explicit invalidation
    computed: int = -1  # tick at which the computation began; -1 for never
    version: int = 0  # writes or computations


@dataclass
class ModelGraph:
    """Nodes by name, and a clock."""

    nodes: dict[str, ModelNode] = field(default_factory=dict)
    tick: int = 0

    def copy(self) -> ModelGraph:
        return copy.deepcopy(self)

    def _now(self) -> int:
        self.tick += 1
        return self.tick

    def add_variable(self, name: str, value: int) -> None:
        self.nodes[name] = ModelNode(value, changed=self._now(), version=1)

    def add_entry(self, name: str, compute: Compute, prerequisites: tuple[str, ...]) -> None:
        self.nodes[name] = ModelNode(0, compute, prerequisites)

    def write(self, name: str, value: int) -> None:
        node = self.nodes[name]
        node.value = value
        node.version += 1
        node.changed = self._now()

    def invalidate(self, name: str) -> None:
        self.nodes[name].changed = self._now()

    def remove(self, name: str) -> None:
        del self.nodes[name]

    def dependents(self, name: str) -> list[str]:
        return [n for n, node in self.nodes.items() if name in node.prerequisites]

    def upstream(self, name: str) -> Iterator[ModelNode]:
        """All nodes on which it depends, itself included, some repeatedly."""
        yield self.nodes[name]
        for above in self.nodes[name].prerequisites:
            yield from self.upstream(above)

    def is_valid(self, name: str) -> bool:
        node = self.nodes[name]
        return node.compute is None or node.computed >= max(n.changed for n in self.upstream(name))

    def read(self, name: str) -> int:
        """The value; entries that are not valid and are really read are computed."""
        node = self.nodes[name]
        if node.compute is None or self.is_valid(name):
            return node.value
        began = self.tick
        node.computed = -1
        node.value = node.compute(*[self._reader(p, self.read) for p in node.prerequisites])
        node.version += 1
        node.computed = began
        return node.value

    def recompute(self, name: str) -> int:
        """The value from scratch, without looking at what is cached and without caching it."""
        node = self.nodes[name]
        if node.compute is None:
            return node.value
        return node.compute(*[self._reader(p, self.recompute) for p in node.prerequisites])

    @staticmethod
    def _reader(name: str, read: Callable[[str], int]) -> Read:
        return lambda: read(name)
