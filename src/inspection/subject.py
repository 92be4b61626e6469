"""A State or a Graph, as observers and explanations see it: a store, with names and handles.

::

    Tracer, Watch, tree_of, ... --> Subject <-- StateSubject --> contents of a State
                                            <-- GraphSubject --> handles of a Graph

Both are built on one store, and differ in where handles and names of nodes are found.
"""

from collections.abc import Sequence
from typing import Any, final

from stagecache.graph.evaluation import Equal, Evaluator, Function, no_function
from stagecache.graph.graph import Graph
from stagecache.graph.handles import Handles
from stagecache.graph.kind import NodeKind
from stagecache.graph.store import Store
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import observe
from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage


class Subject:  # no ABC: a compiled class must not have a metaclass
    """A State or a Graph that is observed."""

    __slots__ = ()

    @property
    def store(self) -> Store:
        """The present store."""
        raise NotImplementedError

    @property
    def evaluator(self) -> Evaluator:
        """The present evaluator."""
        raise NotImplementedError

    @property
    def functions(self) -> list[Function]:
        """Compute functions by node, as they were declared."""
        raise NotImplementedError

    @property
    def serial(self) -> int:
        """Number that is another one when nodes were added or removed."""
        raise NotImplementedError

    @property
    def stage(self) -> int:
        """The stage that the system has reached; 0 without stages."""
        raise NotImplementedError

    @property
    def equals(self) -> dict[int, Equal]:
        """Comparison functions by node, as they were declared."""
        raise NotImplementedError

    @property
    def observers(self) -> tuple[Any, ...]:
        """The present observers."""
        raise NotImplementedError

    def observe(self, observers: tuple[Any, ...]) -> None:
        """Let it have these observers only. The caller holds its lock.

        Control-C may strike in between; so the end of observation can be repeated, and is.
        """
        raise NotImplementedError

    def handle(self, node: int) -> Any:
        """Return the handle of a node; a name if it has none."""
        raise NotImplementedError

    def is_there(self, handle: Any) -> bool:
        """Return True if a handle is one of a node that there is."""
        raise NotImplementedError

    def paths(self) -> dict[int, str]:
        """Return the paths of all nodes that have one."""
        raise NotImplementedError

    def entries(self) -> list[Any]:
        """Return the handles of all entries."""
        raise NotImplementedError

    def presumed(self) -> list[Any]:
        """Return the handles of entries that may be presumed computed."""
        raise NotImplementedError

    def who(self, subsystem: int | None) -> str:
        """Return the name of a subsystem."""
        raise NotImplementedError

    def prerequisites(self, entry: Any) -> Sequence[Any]:
        """Return the declared prerequisites of an entry."""
        raise NotImplementedError


@final
class StateSubject(Subject):
    """A State, by its contents."""

    __slots__ = ("contents",)

    def __init__(self, contents: Contents) -> None:
        self.contents = contents

    @property
    def store(self) -> Store:
        """The present store."""
        return self.contents.realization.store

    @property
    def evaluator(self) -> Evaluator:
        """The present evaluator."""
        return self.contents.realization.evaluator

    @property
    def functions(self) -> list[Function]:
        """Compute functions by node, as they were declared."""
        return self.contents.realization.layout.functions

    @property
    def serial(self) -> int:
        """Number that is another one when nodes were added or removed."""
        return self.contents.realization.layout.serial

    @property
    def stage(self) -> int:
        """The stage that the system has reached."""
        return self.contents.realization.machine.stage

    @property
    def equals(self) -> dict[int, Equal]:
        """Comparison functions by node, as they were declared."""
        return self.contents.realization.layout.equals

    @property
    def observers(self) -> tuple[Any, ...]:
        """The present observers."""
        return self.contents.observers

    def observe(self, observers: tuple[Any, ...]) -> None:
        """Let it have these observers only."""
        observe(self.contents, *observers)

    def handle(self, node: int) -> Any:
        """Return the key of a node."""
        return self.contents.realization.store.keys[node]

    def is_there(self, handle: Any) -> bool:
        """Return True if a handle is one of a node that there is."""
        keys = self.contents.realization.store.keys
        return handle._node < len(keys) and keys[handle._node] is handle

    def paths(self) -> dict[int, str]:
        """Return the paths of all nodes that have one."""
        return NodePaths(self.contents).of

    def entries(self) -> list[Any]:
        """Return the handles of all entries."""
        return [e for s in self.contents.realization.layout.subsystems for e in s.entries]

    def presumed(self) -> list[Any]:
        """Return the handles of entries that may be presumed computed."""
        functions = self.contents.realization.layout.functions
        entries: list[CacheEntry[Any]] = self.entries()
        return [
            entry
            for entry in entries
            if entry.computed_by < Stage.INFINITY and functions[entry._node] is no_function
        ]

    def who(self, subsystem: int | None) -> str:
        """Return the name of a subsystem."""
        return self.contents.who(subsystem)

    def prerequisites(self, entry: Any) -> Sequence[Any]:
        """Return the declared prerequisites of an entry."""
        return self.contents.prerequisites(entry)


@final
class GraphSubject(Subject):
    """A Graph, by its handles."""

    __slots__ = ("handles",)

    def __init__(self, handles: Handles) -> None:
        self.handles = handles

    @property
    def store(self) -> Store:
        """The store."""
        return self.handles.store

    @property
    def evaluator(self) -> Evaluator:
        """The evaluator."""
        return self.handles.evaluator

    @property
    def functions(self) -> list[Function]:
        """Compute functions by node, as they were declared."""
        return self.handles.functions

    @property
    def serial(self) -> int:
        """Number of changes of nodes."""
        return self.handles.serial

    @property
    def stage(self) -> int:
        """Zero: a Graph does not have stages."""
        return 0

    @property
    def equals(self) -> dict[int, Equal]:
        """Comparison functions by node."""
        return self.handles.evaluator.equals

    @property
    def observers(self) -> tuple[Any, ...]:
        """The present observers."""
        return self.handles.observers

    def observe(self, observers: tuple[Any, ...]) -> None:
        """Let it have these observers only."""
        self.handles.observers = observers
        self.handles.link()

    def handle(self, node: int) -> Any:
        """Return the handle of a node."""
        return self.handles.get(node)

    def is_there(self, handle: Any) -> bool:
        """Return True if a handle is one of a node that was not removed."""
        return handle._handles is self.handles and handle._node < len(self.handles.store.keys)

    def paths(self) -> dict[int, str]:
        """Return the names of all nodes."""
        return {node: name for name, node in self.handles.numbers.items()}

    def entries(self) -> list[Any]:
        """Return the handles of all entries."""
        kinds = self.handles.store.structure.kinds
        numbers = self.handles.numbers.values()
        return [self.handles.get(n) for n in numbers if kinds[n] is NodeKind.CACHE_ENTRY]

    def presumed(self) -> list[Any]:
        """Return nothing, as there are no stages."""
        return []

    def who(self, subsystem: int | None) -> str:  # noqa: ARG002  # of a State
        """Return the title of the graph."""
        return str(self.handles.owner._title)

    def prerequisites(self, entry: Any) -> Sequence[Any]:
        """Return the declared prerequisites of an entry."""
        return entry.prerequisites  # type: ignore[no-any-return]  # a tuple of handles


def subject_of(observed: Any) -> Subject:
    """Return the subject of a State or a Graph."""
    if isinstance(observed, Graph):
        return GraphSubject(observed._handles)
    return StateSubject(observed._contents)
