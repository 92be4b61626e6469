"""Handles of the nodes of a `Graph`: called to read a value, and asked about the node."""

from copy import deepcopy
from threading import Lock
from types import GenericAlias
from typing import Any, Final, Generic, NoReturn, TypeVar, final

from stagecache.errors import (
    NodeKindError,
    NotPicklableError,
    RemovedNodeError,
    StagecacheError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.evaluation import Arguments, Equal, Evaluator, Function, no_function
from stagecache.graph.kind import NodeKind
from stagecache.graph.releasing import let_go, replace
from stagecache.graph.store import Store

T = TypeVar("T")

# The number that a handle has once its node was removed. No list is so long: reading fails at the
# first access, without a check that every other read would pay for.
REMOVED: Final = 1 << 60


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
    numbers : dict of str to int
        The nodes by name, in the order of their declaration. A node exists as long as it has a
        name: a declaration adds it last, a removal takes it first.
    is_torn : bool
        A declaration or removal was cut short by an error, and `mend` was not called since.
    """

    __slots__ = ("_handles", "_lock", "evaluator", "is_torn", "numbers", "owner", "store")

    def __init__(self, store: Store, functions: list[Function], owner: object) -> None:
        self.store = store
        self.owner = owner
        self.numbers: dict[str, int] = {}
        self.is_torn = False
        self._lock = Lock()
        self.evaluator = Evaluator(store, functions, [None] * len(functions), self._bind, {})
        self._handles: list[AbstractNode | None] = [None] * len(functions)

    def copy(self, owner: object) -> "Handles":
        """Return handles of a graph in the same state. Cost O(nodes), as copies of flat lists."""
        if self.is_torn:
            self.mend()
        store = self.store.copy()
        twin = Handles(store, self.evaluator.functions.copy(), owner)
        twin.numbers = self.numbers.copy()
        twin.evaluator.deepest = self.evaluator.deepest
        twin.evaluator.equals = self.evaluator.equals.copy()
        return twin

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
        if above:
            siblings = self.store.structure.dependents[above[0]]
            shared = self.evaluator.arguments[siblings[-1]] if siblings else None
            if shared is not None and shared == arguments:
                arguments = shared  # one object for all of them
        try:
            node = self.store.add(name, kind, above, value=value, is_compared=equal is not None)
            self._extend()
            self.evaluator.functions[node] = function
            self.evaluator.arguments[node] = arguments
            if equal is not None:
                self.evaluator.equals[node] = equal
            handle = self._new(node)
            self._handles[node] = handle
            self.numbers[name] = node
        except StagecacheError:
            raise  # it was refused
        except BaseException:
            self.is_torn = True
            raise
        return handle

    def get(self, node: int) -> "AbstractNode":
        """Return the handle of a node."""
        handle = self._handles[node]
        if handle is None:
            with self._lock:  # threads that read a copy may ask at the same time
                handle = self._handles[node]
                if handle is None:
                    handle = self._handles[node] = self._new(node)
        return handle

    def _new(self, node: int) -> "AbstractNode":
        structure = self.store.structure
        if structure.kinds[node] is NodeKind.CACHE_ENTRY:
            return Entry(self, node, structure.name_of(node))
        return Variable(self, node, structure.name_of(node))

    def remove(self, name: str) -> None:
        """Remove a node from the store; its handle is of no use from now on."""
        if self.is_torn:
            self.mend()
        try:
            self._drop(self.numbers.pop(name))
        except BaseException:
            self.is_torn = True
            raise

    def _drop(self, node: int) -> None:
        evaluator = self.evaluator
        handle = replace(self._handles, node, None)
        if handle is not None:
            handle._node = REMOVED
        function = replace(evaluator.functions, node, no_function)
        arguments = replace(evaluator.arguments, node, ())
        evaluator.equals.pop(node, None)
        self.store.remove(node)
        let_go(function, arguments)

    def mend(self) -> None:
        """Complete or undo a declaration or removal that was cut short. Cost O(nodes)."""
        if self.store.is_torn:
            self.store.mend()
        self._extend()
        named = set(self.numbers.values())
        for node in list(self.store.structure):
            if node not in named:
                self._drop(node)
        self.is_torn = False

    def _extend(self) -> None:
        evaluator = self.evaluator
        count = len(self.store.keys)
        while len(self._handles) < count:
            self._handles.append(None)
        while len(evaluator.functions) < count:
            evaluator.functions.append(no_function)
        while len(evaluator.arguments) < count:
            evaluator.arguments.append(None)

    def _bind(self, node: int) -> Arguments:
        arguments = self.evaluator.arguments[node] = self.get(node).prerequisites
        return arguments


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

    def __reduce__(self) -> NoReturn:
        raise not_picklable(self)

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
        if self._handles.is_torn:
            self._handles.mend()
        below = self._handles.store.structure.dependents[self._number()]
        return tuple([self._handles.get(n) for n in below])

    def is_valid(self) -> bool:
        """Return True if a read would find a value, without computing; always for a variable."""
        return self._handles.store.is_valid(self._number())

    def _number(self) -> int:
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
            return self._handles.store.values[self._node]  # type: ignore[no-any-return]  # set() took a T
        except IndexError:
            raise self._removed() from None

    def set(self, value: T) -> None:
        """Replace the value. Everything downstream becomes stale, even if the new value is equal.

        Cost O(groups downstream in which something was computed since the last write).
        """
        store = self._handles.store
        try:
            store.write(self._node)
        except IndexError:
            raise self._removed() from None
        replace(
            store.values, self._node, value
        )  # last: if an error strikes, nothing stale is valid

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
        store = self._handles.store
        try:
            if store.marks[self._node] >= store.gates[self._group]:
                return store.values[self._node]  # type: ignore[no-any-return]  # computed by a function to T
        except IndexError:
            raise self._removed() from None
        return self._handles.evaluator.evaluate(self._node)  # type: ignore[no-any-return]  # as above

    def invalidate(self) -> None:
        """Make this entry invalid, and all that depends on it. Cost O(transitive dependents)."""
        self._handles.store.invalidate(self._number())

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


def not_picklable(what: object) -> NotPicklableError:
    """Return the error of pickling a graph, or a handle of one."""
    return NotPicklableError(
        f"{what!r}: cannot be pickled",
        "something that means the same in another process",
        "a graph, or a handle of one: its functions have no names by which pickle finds them",
        "pickle the values of its variables, and declare the graph where they arrive; or write the "
        "model as Subsystems of a System, which can be pickled",
    )
