"""An entry and what it depends on, as a tree in lines of text.

Valid entries are not opened, an entry that is there twice is opened once, and a large tree is cut
off.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice, pairwise
from typing import Final

from stagecache.graph.kind import NodeKind
from stagecache.graph.status import status_of
from stagecache.graph.store import Store

MOST_LINES: Final = 60
DEEPEST: Final = 12
INDENT: Final = 3


def tree_of(
    store: Store,
    paths: Mapping[int, str],
    node: int,
    changed: Set[str],
    path: Sequence[str],
    stages: Set[str],
) -> str:
    """The lines.

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
    lines = list(islice(_lines(store, paths, node, changed, by_stage), MOST_LINES + 1))
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = ["..."]
    return "\n".join(lines)


def _lines(
    store: Store,
    paths: Mapping[int, str],
    node: int,
    changed: Set[str],
    by_stage: Mapping[str, str],
) -> Iterator[str]:
    structure = store.structure
    opened: set[int] = set()
    stack = [(node, "", "")]
    while stack:
        n, first, rest = stack.pop()
        yield f"{first}{paths[n]}: {_state(store, n, paths[n] in changed)}"
        above = [p for p in structure.prerequisites[n] if p in paths]
        if n != node and store.is_valid(n):
            continue
        if n in opened or (above and len(rest) >= INDENT * DEEPEST):
            if above:
                yield f"{rest}└─ ..."
            continue
        opened.add(n)
        stage = by_stage.get(paths[n])
        if stage is not None:
            yield f"{rest}{'├' if above else '└'}─ {stage}: {_stage(store, n)}"
        branches = [(p, f"{rest}├─ ", f"{rest}│  ") for p in above]
        if above:
            branches[-1] = (above[-1], f"{rest}└─ ", f"{rest}   ")
        stack.extend(reversed(branches))


def _state(store: Store, node: int, has_changed: bool) -> str:
    version = store.versions[node]
    if store.structure.kinds[node] is not NodeKind.CACHE_ENTRY:
        return f"changed, now version {version}" if has_changed else f"version {version}"
    waits = ", waits for a stage" if store.is_closed(node) else ""
    return f"{status_of(store, node)}{waits}"


def _stage(store: Store, node: int) -> str:
    return "not realized" if store.is_closed(node) else "changed"
