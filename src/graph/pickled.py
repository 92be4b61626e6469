"""Graphs in pickles: declarations by name, and values of variables.

pickle finds a function by its name in its module. There, the name of a decorated function
belongs to its entry; so such a function is found as the function of that entry::

    @spring.entry(prerequisites=(stiffness,))
    def force(stiffness): ...                      model.force is an Entry, which has the function
"""

import pickle
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import Any, Final

from attrs import frozen

from stagecache.errors import NotPicklableError, short_repr
from stagecache.graph.handles import REMOVED, Entry, Handles
from stagecache.graph.kind import NodeKind

LOCAL: Final = "<locals>"
LAMBDA: Final = "<lambda>"


@frozen
class EntryFunction:
    """Reference to the compute function of an entry that a module has."""

    module: str
    name: str

    def find(self) -> Any:
        """Return the function."""
        return user_function(_found(self.module, self.name))


@frozen
class Declaration:
    """Declaration of a node; of a variable if `function` is None."""

    name: str
    prerequisites: tuple[str, ...] = ()
    function: Any = None
    equal: Any = None
    version: str | None = None
    """Version of a shared function; None if it is not shared."""

    def find(self) -> Any:
        """Return the function of an entry."""
        function = self.function
        return function.find() if isinstance(function, EntryFunction) else function


@frozen
class NodeValues:
    """Values of variables, and versions of all nodes, by name."""

    values: dict[str, Any]
    versions: dict[str, int]
    rewound: dict[str, int]
    """Highest versions of nodes that a rollback took below them."""


def declarations_of(handles: Handles) -> tuple[Declaration, ...]:
    """Return what declares all nodes, in order.

    Raises
    ------
    NotPicklableError
        pickle cannot find a function.
    """
    return tuple([_declaration(handles, name, node) for name, node in handles.numbers.items()])


def values_of(handles: Handles) -> NodeValues:
    """Return what varies, apart from the values of entries."""
    store = handles.store
    kinds = store.structure.kinds
    numbers = handles.numbers
    variables = [name for name, node in numbers.items() if kinds[node] is NodeKind.VARIABLE]
    return NodeValues(
        {name: store.values[numbers[name]] for name in variables},
        {name: store.versions[node] for name, node in numbers.items()},
        {name: store.rewound[node] for name, node in numbers.items() if node in store.rewound},
    )


def fill(handles: Handles, given: NodeValues) -> None:
    """Give a graph that was just declared its values and versions."""
    store = handles.store
    for name, value in given.values.items():
        store.values[handles.numbers[name]] = value
    for name, version in given.versions.items():
        store.versions[handles.numbers[name]] = version
    for name, version in given.rewound.items():
        store.rewound[handles.numbers[name]] = version


def user_function(entry: object) -> Any:
    """Return the function that a user wrote for an entry; None if it is not one of a graph."""
    if not isinstance(entry, Entry) or entry._node == REMOVED:
        return None
    return _unshared(entry._handles.functions[entry._node])


def _declaration(handles: Handles, name: str, node: int) -> Declaration:
    structure = handles.store.structure
    if structure.kinds[node] is NodeKind.VARIABLE:
        return Declaration(name)
    function = handles.functions[node]
    version = _version_of(function)
    what = f"entry {name!r} of {handles.owner._title}"
    equal = handles.evaluator.equals.get(node)
    return Declaration(
        name,
        tuple([structure.name_of(above) for above in structure.prerequisites[node]]),
        _picklable(_unshared(function), f"{what}: its function"),
        None if equal is None else _picklable(equal, f"{what}: its equal="),
        version,
    )


def _version_of(function: Any) -> str | None:
    """Return the version of a shared function; None if it is not shared."""
    from stagecache.sharing.of_graph import SharedGraphFunction  # noqa: PLC0415

    return function.version if isinstance(function, SharedGraphFunction) else None


def _unshared(function: Any) -> Any:
    """Return the function that a user wrote, without the one that shares its values."""
    return function if _version_of(function) is None else function.compute


def _picklable(function: Callable[..., Any], what: str) -> Any:
    """Return a function, or a reference to it, that pickle can find where it arrives."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    if module and name and user_function(_found(module, name)) is function:
        return EntryFunction(module, name)
    try:
        pickle.dumps(function)
    except Exception as error:
        is_lambda = name.endswith(LAMBDA)
        is_local = LOCAL in name or is_lambda
        where = "a lambda" if is_lambda else f"{name}, which is inside of a function"
        raise NotPicklableError(
            f"{what} cannot be pickled",
            "a function that pickle finds by its name in its module",
            where if is_local else f"{name or short_repr(function)}: {type(error).__name__}",
            ("define it by def at the top level of a module" if is_local else "use a function")
            + "; name what it needs from around it as a prerequisite, or bind it with "
            "functools.partial",
        ) from error
    return function


def _found(module: str, name: str) -> object:
    """Return what a module has by that name, or None."""
    try:
        return reduce(getattr, name.split("."), import_module(module))
    except (ImportError, AttributeError):
        return None
