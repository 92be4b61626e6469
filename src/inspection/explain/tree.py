"""An entry and what it depends on, as a tree in lines of text.

Valid entries are not opened, what is there twice is opened once, and a large tree is cut off.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from itertools import islice, pairwise
from typing import Final, TypeVar

from stagecache.graph.kind import NodeKind
from stagecache.graph.status import status_of
from stagecache.graph.store import Store

MOST_LINES: Final = 60
DEEPEST: Final = 12
INDENT: Final = 3

T = TypeVar("T", bound=Hashable)


def drawn_tree(root: T, above: Callable[[T], Sequence[T]], text: Callable[[T], str]) -> str:
    """Return a tree in lines of text, at most `MOST_LINES`.

    Parameters
    ----------
    root : hashable
        Item of the first line.
    above : callable
        Returns the items below the line of an item: those on which it depends.
    text : callable
        Returns the text of an item.
    """
    lines = list(islice(_lines(root, above, text), MOST_LINES + 1))
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = ["..."]
    return "\n".join(lines)


def _lines(root: T, above: Callable[[T], Sequence[T]], text: Callable[[T], str]) -> Iterator[str]:
    opened: set[T] = set()
    stack = [(root, "", "")]
    while stack:
        item, first, rest = stack.pop()
        yield f"{first}{text(item)}"
        branches = above(item)
        if not branches:
            continue
        if item in opened or len(rest) >= INDENT * DEEPEST:
            yield f"{rest}└─ ..."
            continue
        opened.add(item)
        stack.append((branches[-1], f"{rest}└─ ", f"{rest}   "))
        stack.extend((each, f"{rest}├─ ", f"{rest}│  ") for each in reversed(branches[:-1]))


def tree_of(
    store: Store,
    paths: Mapping[int, str],
    node: int,
    changed: Set[str],
    path: Sequence[str],
    stages: Set[str],
) -> str:
    """Return the tree of an entry.

    Parameters
    ----------
    paths : dict of int to str
        By node; what has none is not shown.
    changed : set of str
        The variables among these have changed.
    path : sequence of str
        From what has changed, or is missing, down to the entry.
    stages : set of str
        Paths of stages.
    """
    by_stage = {below: above for above, below in pairwise(path) if above in stages}

    def above(item: int | str) -> Sequence[int | str]:
        if isinstance(item, str) or (item != node and store.is_valid(item)):
            return ()
        stage = by_stage.get(paths[item])
        first = () if stage is None else (f"{stage}: {_stage(store, item)}",)
        return (*first, *[p for p in store.structure.prerequisites[item] if p in paths])

    def text(item: int | str) -> str:
        if isinstance(item, str):  # the line of a stage
            return item
        return f"{paths[item]}: {_state(store, item, paths[item] in changed)}"

    root: int | str = node
    return drawn_tree(root, above, text)


def _state(store: Store, node: int, has_changed: bool) -> str:
    version = store.versions[node]
    if store.structure.kinds[node] is not NodeKind.CACHE_ENTRY:
        return f"changed, now version {version}" if has_changed else f"version {version}"
    waits = ", waits for a stage" if store.is_closed(node) else ""
    return f"{status_of(store, node)}{waits}"


def _stage(store: Store, node: int) -> str:
    return "not realized" if store.is_closed(node) else "changed"
