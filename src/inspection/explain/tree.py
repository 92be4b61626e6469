"""An entry and what it depends on, as a tree in lines of text.

Valid entries are not opened, an entry that is there twice is opened once, and a large tree is cut
off.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import islice, pairwise
from typing import Final

from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.node_states import status_of
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry

MOST_LINES: Final = 60
DEEPEST: Final = 12
INDENT: Final = 3


def tree_of(
    contents: Contents, paths: NodePaths, node: int, changed: Set[str], path: Sequence[str]
) -> str:
    """The lines.

    Parameters
    ----------
    changed : set of str
        The variables among these have changed.
    path : sequence of str
        From what has changed, or is missing, down to the entry.
    """
    lines = list(islice(_lines(contents, paths, node, changed, path), MOST_LINES + 1))
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = ["..."]
    return "\n".join(lines)


def _lines(
    contents: Contents, paths: NodePaths, node: int, changed: Set[str], path: Sequence[str]
) -> Iterator[str]:
    structure = contents.realization.store.structure
    of_stages = set(contents.realization.layout.stages)
    stages = {b: a for a, b in pairwise(path) if paths.node[a] in of_stages}
    opened: set[int] = set()
    stack = [(node, "", "")]
    while stack:
        n, first, rest = stack.pop()
        yield f"{first}{paths.of[n]}: {_state(contents, n, paths.of[n] in changed)}"
        above = [p for p in structure.prerequisites[n] if p in paths.of]
        if n != node and contents.realization.store.is_valid(n):
            continue
        if n in opened or (above and len(rest) >= INDENT * DEEPEST):
            if above:
                yield f"{rest}└─ ..."
            continue
        opened.add(n)
        stage = stages.get(paths.of[n])
        if stage is not None:
            yield f"{rest}{'├' if above else '└'}─ {stage}: {_stage(contents, n)}"
        branches = [(p, f"{rest}├─ ", f"{rest}│  ") for p in above]
        if above:
            branches[-1] = (above[-1], f"{rest}└─ ", f"{rest}   ")
        stack.extend(reversed(branches))


def _state(contents: Contents, node: int, has_changed: bool) -> str:
    store = contents.realization.store
    version = store.versions[node]
    if not isinstance(store.keys[node], CacheEntry):
        return f"changed, now version {version}" if has_changed else f"version {version}"
    waits = ", waits for a stage" if store.is_closed(node) else ""
    return f"{status_of(contents, node)}{waits}"


def _stage(contents: Contents, node: int) -> str:
    return "not realized" if contents.realization.store.is_closed(node) else "changed"
