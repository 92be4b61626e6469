"""The answer to why an entry is stale, from its cause: a part of `explain` for State and Graph."""

from collections.abc import Mapping, Set
from typing import Final

from attrs import frozen

from stagecache.graph.evaluation import Function, no_function
from stagecache.graph.status import status_of
from stagecache.graph.store import Store
from stagecache.inspection.explain.explanation import Cause, Explanation
from stagecache.inspection.explain.tree import tree_of

NO_STAGES: Final[Set[str]] = frozenset()


@frozen
class Diagnosis:
    """The cause for which an entry is not valid, as `Explanation` has it."""

    cause: Cause
    others: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


def answer(
    store: Store,
    functions: list[Function],
    paths: Mapping[int, str],
    entry: int,
    diagnosis: Diagnosis | None,
    *,
    refuses: str = "",
    stages: Set[str] = NO_STAGES,
) -> Explanation:
    """Return the explanation of an entry.

    Parameters
    ----------
    functions : list of callable
        By node.
    paths : dict of int to str
        By node; what has none is not shown.
    diagnosis : Diagnosis, optional
        None if the entry is valid.
    refuses : str
        Why a call would raise.
    stages : set of str
        Paths of stages.
    """
    structure = store.structure
    cause = None if diagnosis is None else diagnosis.cause
    others = () if diagnosis is None else diagnosis.others
    path = () if diagnosis is None else diagnosis.path
    computes = () if refuses or diagnosis is None else stale_upstream(store, functions, entry)
    return Explanation(
        paths[entry],
        status_of(store, entry),
        cause,
        others,
        path,
        tuple([paths[n] for n in computes]),
        any(n in structure.compared or structure.group_of[n] in structure.soft for n in computes),
        refuses,
        _shared(store, entry),
        tree_of(store, paths, entry, {*path, *others}, path, stages),
    )


def stale_upstream(store: Store, functions: list[Function], entry: int) -> tuple[int, ...]:
    """An entry and what it depends on, as far as they are stale and can be computed, in order.

    Whatever is above a valid entry does not count.
    """
    found: dict[int, None] = {}
    stack = [entry]
    while stack:
        n = stack.pop()
        if n < 0:
            found[~n] = None
            continue
        if functions[n] is no_function:  # or a variable
            continue
        stack.append(~n)
        above = store.structure.prerequisites[n]
        stack.extend(p for p in reversed(above) if p not in found and not store.is_valid(p))
    return tuple(found)


def _shared(store: Store, entry: int) -> str:
    """Return where the value of a valid entry was computed, if it was taken from shared results."""
    value, origin, is_found = store.origins.get(entry, (None, None, False))
    is_taken = is_found and store.is_valid(entry) and value is store.values[entry]
    return str(origin) if is_taken else ""
