"""Handles of the nodes of a `Graph`: called to read a value, and asked about the node."""

from copy import deepcopy
from functools import partial
from operator import getitem
from threading import RLock
from types import GenericAlias
from typing import Any, Final, Generic, NoReturn, TypeVar, final

from stagecache.errors import (
    NodeInUseError,
    NodeKindError,
    RemovedNodeError,
    StagecacheError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.checkpoint import give_up_later
from stagecache.graph.evaluation import Arguments, Equal, Evaluator, Function, no_function
from stagecache.graph.kind import NodeKind
from stagecache.graph.observing import Observers, around_read, around_replace, around_write
from stagecache.graph.releasing import let_go, replace
from stagecache.graph.rollback import checkpoint, release, restore
from stagecache.graph.store import Journal, Store

T = TypeVar("T")

# The number that a handle has once its node was removed. No list is so long: reading fails at the
# first access, without a check that every other read would pay for.
REMOVED: Final = 1 << 60

NOTHING: Final = Store()  # in which no handle finds anything, as it has no nodes


@final
class Snapshot:
    """A graph at a checkpoint, except for what the journal of its store notes later.

    Attributes
    ----------
    journal : Journal
    numbers, functions, equals, handles : dict and list
        Those of `Handles`, which copies them before it changes them.
    """

    __slots__ = ("_handles", "equals", "functions", "handles", "journal", "numbers")

    def __init__(self, handles: "Handles") -> None:
        self._handles = handles
        self.numbers = handles.numbers
        self.functions = handles.functions
        self.equals = handles.evaluator.equals
        self.handles = handles._handles
        self.journal: Journal = checkpoint(handles.store)

    def release(self) -> None:
        """Let the store stop noting changes for it."""
        if self.journal in self._handles.store.journals:
            release(self._handles.store, self.journal)

    def __str__(self) -> str:
        return f"of {self._handles.owner._title}"


@final
class Handles:
    """The handles of one graph: one for each node, made in a copy when it is first asked for.

    Parameters
    ----------
    store : Store
    functions : list of callable
        By node: its compute function.
    owner : object
        The graph, for messages.

    Attributes
    ----------
    visible : Store
        The store in which handles look first: a blank one while the graph is observed.
    observers : tuple of Observer
    functions : list of callable
        By node: its compute function as it was declared; while it is traced, the evaluator has
        others.
    numbers : dict of str to int
        The nodes by name, in the order of their declaration. A node exists as long as it has a
        name: a declaration adds it last, a removal takes it first.
    serial : int
        Number of declarations, removals and rollbacks so far.
    checkpoints : list of tuple
        Weak references to checkpoints, each with its snapshot, the oldest first.
    is_torn : bool
        A declaration, removal or rollback was cut short by an error, and `mend` was not called
        since; or it goes on now.
    is_changing : bool
        It goes on now. Nothing is visible then, and what a finalizer asks for in the middle of it
        is refused.
    """

    __slots__ = (
        "_going",
        "_handles",
        "_is_shared",
        "_unfinished",
        "checkpoints",
        "evaluator",
        "functions",
        "is_changing",
        "is_torn",
        "lock",
        "numbers",
        "observers",
        "owner",
        "serial",
        "store",
        "visible",
    )

    def __init__(self, store: Store, functions: list[Function], owner: Any) -> None:
        self.store = store
        self.visible = store
        self.observers: Observers = ()
        self.owner = owner
        self.functions = functions
        self.numbers: dict[str, int] = {}
        self.serial = 0
        self.checkpoints: list[tuple[Any, Any]] = []
        self.is_torn = False
        self.is_changing = False
        self.lock = RLock()
        self.evaluator = Evaluator(store, functions, [None] * len(functions), self.bind, {})
        self._handles: list[AbstractNode | None] = [None] * len(functions)
        self._is_shared = False  # with a snapshot
        self._going: list[str] = []  # nodes of a removal that was cut short
        self._unfinished: Snapshot | None = None  # to which a rollback goes that was cut short

    def copy(self, owner: Any) -> "Handles":
        """Return handles of a graph in the same state. Cost O(nodes), as copies of flat lists."""
        store = self.store.copy()
        twin = Handles(store, self.functions.copy(), owner)
        twin.numbers = self.numbers.copy()
        twin.evaluator.deepest = self.evaluator.deepest
        twin.evaluator.equals = self.evaluator.equals.copy()
        return twin

    # ------------------------------------------------------------------ nodes

    def declare(
        self,
        name: str,
        kind: NodeKind,
        value: object = None,
        function: Function = no_function,
        arguments: "tuple[AbstractNode, ...]" = (),
        equal: Equal | None = None,
    ) -> "AbstractNode":
        """Add a node to the store, and return its handle.

        Raises
        ------
        DuplicatePrerequisiteError
            And all is as before.
        """
        if self.is_torn:
            self.mend()
        above = tuple([node._node for node in arguments])
        bound: Arguments | None = arguments
        if above:
            siblings = self.store.structure.dependents[above[0]]
            shared = self.evaluator.arguments[siblings[-1]] if siblings else None
            if shared is not None and shared == arguments:
                bound = shared  # one object for all of them
        try:
            self._begin()
            self._own()
            node = self.store.add(name, kind, above, value=value, is_compared=equal is not None)
            self._extend()
            self.functions[node] = function
            self.evaluator.arguments[node] = None if self.observers else bound
            if equal is not None:
                self.evaluator.equals[node] = equal
            handle = self._new(node)
            self._handles[node] = handle
            self.numbers[name] = node
            self._end()
        except StagecacheError:  # it was refused
            self._end()
            raise
        except BaseException:
            self.is_changing = False
            raise
        return handle

    def get(self, node: int) -> "AbstractNode":
        """Return the handle of a node."""
        handle = self._handles[node]
        if handle is None:
            with self.lock:  # threads that read a copy may ask at the same time
                handle = self._handles[node]
                if handle is None:
                    handle = self._handles[node] = self._new(node)
        return handle

    def _new(self, node: int) -> "AbstractNode":
        structure = self.store.structure
        if structure.kinds[node] is NodeKind.CACHE_ENTRY:
            return Entry(self, node, structure.name_of(node))
        return Variable(self, node, structure.name_of(node))

    def remove(self, names: list[str]) -> None:
        """Remove nodes from the store, each before those on which it depends.

        Their handles are of no use from now on.
        """
        if self.is_torn:
            self.mend()
        try:
            self._begin()
            self._own()
            self._going = names  # from now on, if this is cut short, the next operation ends it
            before = self._remove_going()
            self._end()
        except BaseException:
            self.is_changing = False
            raise
        let_go(before)

    def _remove_going(self) -> object:
        """Remove the nodes that are to go, and return what the caller holds until the end."""
        before = [self._drop(self.numbers.pop(n)) for n in self._going if n in self.numbers]
        self._going = []
        return before

    def _begin(self) -> None:
        """Begin a change of the nodes. If it is cut short, all is mended by the next operation."""
        self.is_torn = True
        self.is_changing = True
        self.visible = NOTHING

    def _end(self) -> None:
        """End a change of the nodes."""
        self._link()
        self.is_changing = False
        self.is_torn = False

    def _drop(self, node: int) -> object:
        """Remove a node, and return objects that the caller holds until all is consistent."""
        evaluator = self.evaluator
        handle = replace(self._handles, node, None)
        if handle is not None:
            handle._node = REMOVED
        function = replace(self.functions, node, no_function)
        arguments = replace(evaluator.arguments, node, None)
        equal = evaluator.equals.pop(node, None)
        value = self.store.values[node]
        self.store.remove(node)
        return function, arguments, equal, value

    def _own(self) -> None:
        """Prepare a change of the nodes: leave to snapshots what they have."""
        if self._is_shared:
            for node in self.numbers.values():
                self.get(node)  # a handle is the same object after a rollback
            self.numbers = self.numbers.copy()
            self.functions = self.functions.copy()
            self._handles = self._handles.copy()
            self.evaluator.equals = self.evaluator.equals.copy()
            self.evaluator.functions = self.functions  # which a tracer wraps at the next read
            self._is_shared = False
        self.serial += 1

    def mend(self) -> None:
        """Complete or undo an operation that was cut short. Cost O(nodes).

        Raises
        ------
        NodeInUseError
            It was not cut short, but goes on.
        """
        with self.lock:  # several threads may find that it is torn
            if not self.is_torn:
                return
            if self.is_changing:
                raise NodeInUseError(
                    f"{self.owner._title}: cannot be used now",
                    "a graph whose nodes are not being added, removed or restored",
                    "a use in the middle of that, by a finalizer or by another thread",
                    "let the finalizer note what to do, and do it after the operation",
                )
            before: list[object] = []
            try:
                self._begin()
                if self._unfinished is not None:
                    before.append(self._restore(self._unfinished))
                if self.store.is_torn:
                    self.store.mend()
                self._extend()
                # not in a comprehension: from Python 3.12 on, what strikes in it passes by `except`
                for node in self._unnamed():
                    before.append(self._drop(node))  # noqa: PERF401
                before.append(self._remove_going())
                self._end()
            except BaseException:
                self.is_changing = False
                raise
        let_go(before)

    def _unnamed(self) -> list[int]:
        """Return the nodes without a name, whose addition was cut short."""
        named = set(self.numbers.values())
        return [node for node in self.store.structure if node not in named]

    def _extend(self) -> None:
        evaluator = self.evaluator
        count = len(self.store.keys)
        while len(self._handles) < count:
            self._handles.append(None)
        while len(self.functions) < count:
            self.functions.append(no_function)
        while len(evaluator.arguments) < count:
            evaluator.arguments.append(None)

    def bind(self, node: int) -> Arguments:
        """Return the arguments of the function of a node, which the evaluator keeps."""
        arguments = self.get(node).prerequisites
        if not self.observers:  # which are told of each computation, as nothing is kept
            self.evaluator.arguments[node] = arguments
        return arguments

    # ------------------------------------------------------------------ observers

    def link(self) -> None:
        """Let handles look into the store; into a blank one if it is observed, so that they ask."""
        self.evaluator.arguments[:] = [None] * len(self.evaluator.arguments)
        self._link()

    def _link(self) -> None:
        self.visible = Store() if self.observers else self.store

    def read_variable(self, variable: "AbstractNode") -> Any:
        """Return the value of a variable that was not visible."""
        node = variable._number()
        for observer in self.observers:
            observer.read((variable,), "")
        return self.store.values[node]

    def read_entry(self, entry: "AbstractNode") -> Any:
        """Return the value of an entry that was not visible, computed if it is not valid."""
        node = entry._number()
        for observer in self.observers:
            observer.reading(entry)
        if not self.store.is_valid(node):
            return around_read(self.observers, entry, partial(self._read, node))
        for observer in self.observers:
            observer.read_valid(entry)
        return self.store.values[node]

    def _read(self, node: int) -> Any:
        store = self.store
        return store.values[node] if store.is_valid(node) else self.evaluator.evaluate(node)

    def forget_value(self, entry: "AbstractNode") -> None:
        """Let the next read of an entry compute it."""
        self.store.void(entry._number())

    def write(self, variable: "AbstractNode", value: object) -> None:
        """Replace the value of a variable that was not visible."""
        node = variable._number()
        store = self.store
        computations = store.computations
        around_write(self.observers, variable, [node], partial(store.write, node))
        before = replace(store.values, node, value)
        if store.computations != computations:
            store.write_again([node])
        let_go(before)

    def invalidate(self, entry: "AbstractNode") -> None:
        """Make an entry stale, and all that depends on it."""
        node = entry._number()
        around_write(self.observers, entry, [node], partial(self.store.invalidate, node))

    # ------------------------------------------------------------------ checkpoints

    def require_idle(self, what: str) -> None:
        """Raise `NodeInUseError` if an entry is being computed."""
        if self.is_torn:
            self.mend()
        if self.evaluator.running:
            names = map(self.store.structure.name_of, list(self.evaluator.running))
            raise NodeInUseError(
                f"{what}: {self.owner._title} is in use",
                "a graph in which nothing is being computed",
                "the computation of " + ", ".join(map(repr, names)),
                "call it outside of compute functions, when other threads have ended",
            )

    def snapshot(self) -> Snapshot:
        """Return a snapshot, for which all changes are noted from now on. Cost O(1)."""
        found = Snapshot(self)
        self._is_shared = True
        return found

    def go_back(self, chosen: Snapshot) -> None:
        """Restore all as it was. Cost O(changes since), and O(nodes) if nodes have changed."""
        around_replace(self.observers, "rollback()", partial(self._go_back, chosen))

    def _go_back(self, chosen: Snapshot) -> None:
        try:
            self._begin()
            before = self._restore(chosen)
            self._end()
        except BaseException:
            self.is_changing = False
            raise
        let_go(before)

    def _restore(self, chosen: Snapshot) -> object:
        """Restore all as it was, and return what the caller holds until all is consistent."""
        self._unfinished = chosen  # from now on, if this is cut short, the next operation ends it
        before = restore(self.store, chosen.journal)
        if self._handles is not chosen.handles:
            self._restore_nodes(chosen)
        self._is_shared = True
        give_up_later(self.checkpoints, chosen)
        self._unfinished = None
        return before

    def _restore_nodes(self, chosen: Snapshot) -> None:
        evaluator = self.evaluator
        present = self._handles
        for handle in present:
            if handle is not None:
                handle._node = REMOVED
        for node, handle in enumerate(chosen.handles):
            if handle is not None:
                handle._node = node
        evaluator.arguments[:] = [None] * len(chosen.handles)
        evaluator.equals = chosen.equals
        evaluator.functions = chosen.functions
        self.functions = chosen.functions
        self.numbers = chosen.numbers
        self.serial += 1
        self._handles = chosen.handles


class AbstractNode:  # no ABC: a compiled class must not have a metaclass
    """A node of one graph: a `Variable` or an `Entry`.

    Its graph makes it, and it stays the same object for the life of the node.
    """

    __slots__ = ("_handles", "_name", "_node")

    def __init__(self, handles: Handles, node: int, name: str) -> None:
        self._handles = handles
        self._node = node
        self._name = name

    def __call__(self) -> object:
        """Return the value."""
        raise NotImplementedError

    def __copy__(self) -> "AbstractNode":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "AbstractNode":
        """Return the handle of this node in a deep copy of the graph, once per `memo`."""
        self._number()  # refuses a removed one
        graph: Any = self._handles.owner
        twin: AbstractNode = deepcopy(graph, memo)[self]
        return twin

    def __reduce__(self) -> Any:
        self._number()  # refuses a removed one
        return getitem, (self._handles.owner, self.name)

    def __bool__(self) -> bool:
        raise WrongTypeError(
            f"{self!r}: is a handle, which is neither true nor false",
            "a value",
            "the handle of a node",
            f"call it for its value: {self.name}()",
        )

    @property
    def name(self) -> str:
        """The name, unique in the graph."""
        return self._name

    @property
    def version(self) -> int:
        """The number of the present value; it rises with each and is never given twice.

        The version of a variable rises with each write; of an entry, with each computation of a
        value that is not equal to the one before.
        """
        return self._handles.store.versions[self._number()]

    @property
    def prerequisites(self) -> "tuple[AbstractNode, ...]":
        """The nodes on which this one directly depends, as declared."""
        above = self._handles.store.structure.prerequisites[self._number()]
        return tuple([self._handles.get(n) for n in above])

    @property
    def dependents(self) -> "tuple[AbstractNode, ...]":
        """The nodes that directly depend on this one, in the order of their declaration."""
        node = self._number()
        below = self._handles.store.structure.dependents[node]
        return tuple([self._handles.get(n) for n in below])

    def is_valid(self) -> bool:
        """Return True if a read would find a value, without computing; always for a variable."""
        return self._handles.store.is_valid(self._number())

    def _number(self) -> int:
        """Return the number of the node, once an operation that was cut short is complete."""
        if self._handles.is_torn:
            self._handles.mend()
        if self._node == REMOVED:
            raise self._removed()
        return self._node

    def _removed(self) -> RemovedNodeError:
        return RemovedNodeError(
            f"{self!r}: is used after its removal",
            "a node that is in a graph",
            "one that was removed",
            "drop this handle, or declare the node again and use the new one",
        )


@final
class Variable(AbstractNode, Generic[T]):
    """A value that is written from outside and on which entries depend. Call it to read."""

    __slots__ = ()

    def __class_getitem__(cls, value_type: Any) -> GenericAlias:
        """Return `Variable[float]` and the like, for annotations."""
        return GenericAlias(cls, value_type)

    def __call__(self) -> T:
        """Return the value. Cost O(1)."""
        try:
            return self._handles.visible.values[self._node]  # type: ignore[no-any-return]  # set() took a T
        except IndexError:
            pass  # it is observed, or removed
        return self._handles.read_variable(self)  # type: ignore[no-any-return]  # as above

    def set(self, value: T) -> None:
        """Replace the value. Everything downstream becomes stale, even if the new value is equal.

        Cost O(groups downstream in which something was computed since the last write).
        """
        store = self._handles.visible
        computations = store.computations
        try:
            store.write(self._node)
        except IndexError:  # before all changes: it is observed, or removed
            pass
        else:
            # Last: if an error strikes, nothing stale is valid. The old value lives on until all is
            # consistent.
            before = replace(store.values, self._node, value)
            if store.computations != computations:
                store.write_again([self._node])
            let_go(before)
            return
        self._handles.write(self, value)

    def __repr__(self) -> str:
        if self._node == REMOVED:
            return f"Variable({self.name!r}, removed)"
        return f"Variable({self.name!r}, version {self.version}, value {short_repr(self())})"


@final
class Entry(AbstractNode, Generic[T]):
    """A value computed when it is read and kept while nothing upstream changes. Call it to read."""

    __slots__ = ("_group",)

    def __class_getitem__(cls, value_type: Any) -> GenericAlias:
        """Return `Entry[float]` and the like, for annotations."""
        return GenericAlias(cls, value_type)

    def __init__(self, handles: Handles, node: int, name: str) -> None:
        super().__init__(handles, node, name)
        self._group = handles.store.structure.group_of[node]

    def __call__(self) -> T:
        """Return the value, computing it first if it is not valid. Cost of a hit O(1).

        Raises
        ------
        CycleError
            The computation reads this entry itself.
        Exception
            Whatever the compute function raises, unchanged; the entry is not valid then.
        """
        store = self._handles.visible
        try:
            if store.marks[self._node] >= store.gates[self._group]:
                return store.values[self._node]  # type: ignore[no-any-return]  # computed by a function to T
        except IndexError:
            pass  # it is observed, or removed
        else:
            return self._handles.evaluator.evaluate(self._node)  # type: ignore[no-any-return]  # as above
        return self._handles.read_entry(self)  # type: ignore[no-any-return]  # as above

    def invalidate(self) -> None:
        """Make this entry invalid, and all that depends on it. Cost O(transitive dependents)."""
        self._handles.invalidate(self)

    def set(self, value: object) -> NoReturn:
        """Refuse: an entry is computed, not set."""
        raise NodeKindError(
            f"{self!r}: cannot be set",
            "a variable",
            f"a value {short_repr(value)} for a derived entry",
            "set the variables it depends on, or make it a variable",
        )

    def __repr__(self) -> str:
        if self._node == REMOVED:
            return f"Entry({self.name!r}, removed)"
        was_computed = self._handles.store.was_computed(self._node)
        state = "valid" if self.is_valid() else "stale" if was_computed else "not computed"
        return f"Entry({self.name!r}, version {self.version}, {state})"
