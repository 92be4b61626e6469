"""Items that an argument names: handles, families of them, and paths."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from stagecache.checks import repeated, type_text
from stagecache.errors import DuplicateNameError, NodeKindError, WrongTypeError
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractHandle
from stagecache.system.declare.families import Family
from stagecache.system.declare.ports import written_for

Item = AbstractHandle | str
"""A handle, or its path, as "cart.force"."""

Items = Iterable[Item | Iterable[AbstractHandle]]
"""Items; a family stands for all its members."""


def handles_of(
    contents: Contents, items: object, paths: NodePaths, what: str, *, are_moved: bool = False
) -> list[Any]:
    """Return the handles that an argument names.

    Parameters
    ----------
    what : str
        Name of the argument in errors, as "linearize(inputs=...)".
    are_moved : bool
        True to return the variable of an input that is fixed, in place of the input.

    Raises
    ------
    WrongTypeError
        It is not a collection, or has a member that is neither a handle nor a path.
    UnknownPathError, ForeignNodeError
    NodeKindError
        A path leads to a stage or to weights.
    DuplicateNameError
    """
    if isinstance(items, str | AbstractHandle) or not isinstance(items, Iterable):
        raise WrongTypeError(
            f"{what}: not a collection of items",
            "a tuple of handles or paths",
            type_text(items),
            "write a comma after a single one, as in ('cart.force',)",
        )
    found: list[AbstractHandle] = []
    for item in items:
        for member in item if isinstance(item, Family) else (item,):
            node = paths.find(member)
            key = contents.realization.store.keys[node]
            if not isinstance(key, AbstractHandle):
                raise NodeKindError(
                    f"{what}: {paths.of[node]} has no handle",
                    "a variable or a cache entry",
                    paths.of[node],
                    "name variables and entries, as 'cart.force'",
                )
            found.append(written_for(key) if are_moved else key)
    twice = [paths.of[handle._node] for handle in repeated(found)]
    if twice:
        raise DuplicateNameError(
            f"{what}: an item is named more than once",
            "each item once",
            f"{', '.join(twice)} repeatedly",
            "name each item once; a family stands for all its members",
        )
    return found


def element_names(path: str, shape: tuple[int, ...]) -> list[str]:
    """Return the names of the numbers of an item: its path, or "arm.tip[0]", "arm.pose[0, 1]"."""
    if shape == ():
        return [path]
    return [f"{path}[{', '.join(map(str, index))}]" for index in np.ndindex(shape)]
