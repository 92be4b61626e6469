"""A graph in a small world: each operation, with all checks after it.

After an operation,

- each valid entry has the value that a computation from the variables alone gives;
- nothing that had to become stale is valid;
- whatever was computed had a reason: it was never computed, was invalidated, or a node above it
  (one of its *causes*, see `Shape`) has another version than when it was computed, or is a compared
  entry that had no value then, as nothing had read it;
- versions have risen as they should, and no number is given twice;
- after a rollback, values, versions and validity are those at the checkpoint.
"""

from functools import cached_property
from typing import Any, Final

from stagecache import Checkpoint, Graph
from tests.graph.small_worlds.frozen import (
    Frozen,
    freeze,
    ranked,
    require_apart,
    require_constant,
    thaw,
)
from tests.graph.small_worlds.shapes import Shape

VALUES: Final = (0, 1, 2)  # 0 and 2 have the same parity: comparisons may find an equal value

Operation = tuple[str, int, int]
"""Kind; node, or number of the checkpoint; value that is written."""

Past = tuple[tuple[Any, ...], ...]
"""History of a graph, as far as checks need it.

- By entry, the versions that its causes had when it was computed; None if it must be computed.
- By node, its highest version so far.
- By checkpoint, what it must restore.
"""

State = tuple[Frozen, Past]
"""All on which later operations and their checks depend."""


class Life:
    """A graph of some shape, or a copy of it, with its checkpoints and its past.

    Parameters
    ----------
    shape : Shape
    deepest : int, optional
        Number of nested computations from which on prerequisites are prepared (`Evaluator`).

    Attributes
    ----------
    found_value : bool
        The last operation was a read that found a valid entry, and so has changed nothing.
    num_comparisons : int
        Valid entries that were compared with a computation from scratch.
    """

    def __init__(self, shape: Shape, deepest: int | None = None) -> None:
        self.shape = shape
        self._computed: list[int] = []
        graph = shape.build(self._computed)
        if deepest is not None:
            graph._handles.evaluator.deepest = deepest
        versions = tuple(graph._handles.store.versions)
        self._begin(graph, ((None,) * shape.num_nodes, versions, ()))

    def _begin(self, graph: Graph, past: Past) -> None:
        self.graph = graph
        self.checkpoints: list[Checkpoint] = []
        self.past = past
        self.found_value = False
        self.num_comparisons = 0

    @cached_property
    def nodes(self) -> list[Any]:
        """Handles, by number."""
        return [self.graph[name] for name in self.shape.names]

    def state(self) -> State:
        return ranked(freeze(self.graph)), self.past

    def set_state(self, state: State) -> None:
        frozen, self.past = state
        thaw(self.graph, self.checkpoints, frozen)

    # ------------------------------------------------------------------ operations

    def operations(self) -> list[Operation]:
        """Return all operations that are possible now, except for a copy."""
        shape = self.shape
        found: list[Operation] = []
        for node in range(shape.num_variables):
            found += [("write", node, value) for value in VALUES]
        for node in range(shape.num_variables, shape.num_nodes):
            found += [("read", node, 0), ("invalidate", node, 0)]
        found.append(("checkpoint", 0, 0))
        for number in range(len(self.checkpoints)):
            found += [("rollback", number, 0), ("release", number, 0)]
        return found

    def copy(self) -> "Life":
        """Copy the graph, and check that the two are equal and share nothing that can change."""
        twin = Life.__new__(Life)
        twin.shape = self.shape
        twin._computed = self._computed
        since, highest, _ = self.past
        twin._begin(self.graph.copy(), (since, highest, ()))
        require_apart(self.graph, twin.graph)
        found, wanted = twin._snapshot(), self._snapshot()
        assert found == wanted, ("values, versions, validity of a copy", found, wanted)
        return twin

    def do(self, operation: Operation) -> None:
        """Do an operation, and check everything after it."""
        kind, node, value = operation
        store = self.graph._handles.store
        since, highest, restored = self.past
        values, versions = tuple(store.values), tuple(store.versions)
        self._computed.clear()
        self.found_value = kind == "read" and store.is_valid(node)
        if kind == "read":
            result = self.nodes[node]()
            assert store.is_valid(node), ("valid after a read", node)
            assert result == store.values[node], ("result of a read", result)
            if self._computed:
                assert not self.found_value, ("computed a valid entry", node)
                since = self._check_computed(node, since, values, versions)
            else:
                assert tuple(store.versions) == versions, "versions after a read"
        elif kind == "write":
            self.nodes[node].set(value)
            self._check_stale(self.shape.below[node])
            assert store.versions[node] > versions[node], "version after a write"
        elif kind == "invalidate":
            self.nodes[node].invalidate()
            below = self.shape.below[node]
            self._check_stale(below)
            since = tuple([None if n in below else each for n, each in enumerate(since)])
        elif kind == "checkpoint":
            restored = (*restored, (since, *self._snapshot()))
            self.checkpoints.append(self.graph.checkpoint())
        elif kind == "rollback":
            self.graph.rollback(self.checkpoints[node])
            del self.checkpoints[node + 1 :]
            restored = restored[: node + 1]
            since, *wanted = restored[node]
            found = self._snapshot()
            assert found == tuple(wanted), ("what a rollback restores", found, wanted)
        elif kind == "release":
            self.checkpoints.pop(node).release()
            restored = restored[:node] + restored[node + 1 :]
        if kind != "rollback" and tuple(store.versions) != versions:
            for n, version in enumerate(store.versions):
                if version != versions[n]:
                    assert version > highest[n], ("version given twice", n)
                    assert n in self._computed or (kind, n) == ("write", node), ("new version", n)
                    highest = (*highest[:n], version, *highest[n + 1 :])
        assert kind == "read" or not self._computed, ("computed without a read", self._computed)
        self.past = since, highest, restored
        self.check_values()

    def _snapshot(self) -> tuple[Any, ...]:
        """Return values, versions and validity. A value that is not valid means nothing."""
        store = self.graph._handles.store
        nodes = range(self.shape.num_nodes)
        valid = tuple([store.is_valid(n) for n in nodes])
        values = tuple([store.values[n] if valid[n] else None for n in nodes])
        return values, tuple(store.versions), valid

    # ------------------------------------------------------------------ checks

    def check_values(self) -> None:
        """Compare each valid entry with a computation from the variables."""
        store = self.graph._handles.store
        values, marks, gates, group_of = store.values, store.marks, store.gates, store.group_of
        first = self.shape.num_variables
        wanted = self.shape.recomputed(tuple(values[:first]))
        for n in range(first, self.shape.num_nodes):
            if marks[n] >= gates[group_of[n]]:  # as a read decides: `Entry.__call__`
                self.num_comparisons += 1
                assert values[n] == wanted[n], ("value", n, values[n], wanted[n])

    def check_constant(self) -> None:
        """Check that nothing has changed that no operation may change."""
        require_constant(self.graph)

    def _check_stale(self, nodes: tuple[int, ...]) -> None:
        store = self.graph._handles.store
        for n in nodes:
            assert not store.is_valid(n), ("must be stale", n)

    def _check_computed(
        self, node: int, since: tuple[Any, ...], values: tuple[int, ...], versions: tuple[int, ...]
    ) -> tuple[Any, ...]:
        """Check what a read has computed, and return the versions of causes then."""
        shape = self.shape
        store = self.graph._handles.store
        computed, causes_of, first = self._computed, shape.causes, shape.num_variables
        assert len(set(computed)) == len(computed), ("computed twice", computed)
        assert shape.above[node].issuperset(computed), ("computed, and not upstream", computed)
        now = store.versions
        found = list(since)
        for n in computed:
            causes = tuple([now[p] for p in causes_of[n]])
            if since[n] == causes:
                unknown = [p for p in causes_of[n] if p >= first and since[p] is None]
                assert unknown, ("computed without a reason", n)
            is_kept = (
                since[n] is not None
                and values[n] == store.values[n]
                and shape.entries[n - first].is_compared
            )
            assert (now[n] == versions[n]) == is_kept, ("version after a computation", n)
            found[n] = causes
        return tuple(found)
