"""Whether an entry is realized, and if not, why: ``state.explain(pendulum.tip)``.

>>> from stagecache.demo.pendulum import make_system
>>> system = make_system()
>>> state = system.realize_topology().copy()
>>> pendulum, anchor = system["pendulum"], system["anchor"]
>>> anchor.torque(state) < 0
True
>>> pendulum.angle.set(state, 0.3)
>>> print(state.explain(anchor.torque))
anchor.torque is not realized: pendulum.angle (now version 2) has changed since it was computed.
The way is pendulum.angle -> pendulum.tip -> anchor.torque.
A call computes pendulum.tip, anchor.torque.
anchor.torque: stale
├─ pendulum.tip: stale
│  ├─ pendulum.angle: changed, now version 2
│  └─ pendulum.length: version 1
└─ pendulum.weight: realized
"""

from enum import StrEnum
from html import escape
from typing import Any, Final, final

from attrs import asdict, evolve, frozen

from stagecache.errors import NodeKindError
from stagecache.graph.evaluation import no_function
from stagecache.graph.store import COMPUTING
from stagecache.state.causes import (
    Change,
    changes_upstream,
    invalidated_together,
    missing_stage,
)
from stagecache.state.contents import Contents
from stagecache.state.explain_tree import tree_of
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.node_paths import NodePaths, stage_path
from stagecache.state.staged import FROZEN

MOST_NAMED: Final = 8  # entries that a paragraph names


class CauseKind(StrEnum):
    """Why an entry is not realized."""

    NEVER = "never computed"
    """It was not computed since it was allocated, or raised whenever it was."""

    CHANGED = "changed"
    """A variable has changed since, on which it depends, or a stage."""

    INVALIDATED = "invalidated"
    """It was invalidated explicitly, or what it depends on was; or the computation has failed."""

    WAITING = "waits for a stage"
    """Its subsystem, or that of an entry upstream, has not reached it; maybe since a write."""

    COMPUTING = "being computed"
    """It is being computed now."""

    UNKNOWN = "something upstream has changed"
    """The State does not know any more what has changed."""


@frozen
class Cause:
    """What has made an entry stale, or what it waits for.

    Attributes
    ----------
    kind : CauseKind
    what : str
        The path of what has changed, is missing or was invalidated: a variable, a stage, an entry.
    variable : str
        The path of the variable that was written; "" if none was, or if that is not known.
    version, version_before : int or None
        Of that variable now, and, while a trace is on, before the write.
    written_as : str
        What the write was called: "q" for one of the whole q; "invalidate_all(Position)" and the
        like where it was none. "" if that is not known.
    subsystem : str
        The one that has not reached a stage.
    file, line : str and int
        Where it was written, while a trace is on; "" and 0 otherwise.
    """

    kind: CauseKind
    what: str = ""
    variable: str = ""
    version: int | None = None
    version_before: int | None = None
    written_as: str = ""
    subsystem: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if self.kind is CauseKind.WAITING:
            by = f", since {self._write()} was written" if self.variable else ""
            return f"{self.subsystem} has not reached {self.what}{by}"
        if self.kind is CauseKind.INVALIDATED:
            return f"{self.what} was invalidated, or its computation failed"
        if self.kind is CauseKind.CHANGED and self.what != self.variable:
            by = f" by {self._write()}" if self._write() else ""
            return f"{self.what} was invalidated{by}"
        if self.kind is CauseKind.CHANGED:
            return f"{self._write()} has changed since it was computed"
        texts = {
            CauseKind.NEVER: "it was never computed",
            CauseKind.COMPUTING: "it is being computed",
        }
        return texts.get(self.kind, str(self.kind))

    def _write(self) -> str:
        """What was written, with its versions, and where."""
        if not self.variable:
            return self.written_as
        before = f"from version {self.version_before} to" if self.version_before else "now version"
        as_what = f", as {self.written_as}" if self.written_as not in ("", self.variable) else ""
        where = f", in {self.file}:{self.line}" if self.file else ""
        return f"{self.variable} ({before} {self.version}{as_what}{where})"


@final
@frozen(repr=False, str=False)
class Explanation:
    """Whether an entry is realized, and if not, why. It prints as a paragraph and a tree.

    Attributes
    ----------
    entry : str
        Its path.
    is_realized : bool
    cause : Cause or None
        None if it is realized. Where several writes have made it stale, the first that is known.
    path : tuple of str
        From what has changed, is missing or was invalidated, down to the entry: a shortest path
        along edges of `State.graph`.
    computes : tuple of str
        What a call would compute, in this order. What a function does not read is left out then.
    is_at_most : bool
        Whether new values are compared with those before, so that some of these may be left out.
    refuses : str
        Why a call would raise instead; "" if it would not.
    tree : str
        The entry and what it depends on, in lines of text.
    """

    entry: str
    is_realized: bool
    cause: Cause | None
    path: tuple[str, ...]
    computes: tuple[str, ...]
    is_at_most: bool
    refuses: str
    tree: str

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        return {
            **asdict(self, filter=lambda attribute, _: attribute.name != "tree"),
            "path": list(self.path),
            "computes": list(self.computes),
        }

    @property
    def text(self) -> str:
        """The paragraph."""
        if self.is_realized:
            return f"{self.entry} is realized: nothing upstream has changed since it was computed."
        parts = [f"{self.entry} is not realized: {self.cause}."]
        if len(self.path) > 2:
            way = self.path
            if len(way) > MOST_NAMED:
                way = (*way[: MOST_NAMED // 2], "...", *way[-MOST_NAMED // 2 :])
            parts.append(f"The way is {' -> '.join(way)}.")
        if self.refuses:
            parts.append(f"A call raises: {self.refuses}.")
        elif self.computes:
            shown = ", ".join(self.computes[:MOST_NAMED])
            if len(self.computes) > MOST_NAMED:
                shown = f"{len(self.computes)} entries: {shown}, ..., {self.computes[-1]}"
            parts.append(f"A call computes {'at most ' * self.is_at_most}{shown}.")
        return "\n".join(parts)

    def __str__(self) -> str:
        return f"{self.text}\n{self.tree}"

    def __repr__(self) -> str:
        return f"Explanation({self.entry}: {'realized' if self.is_realized else self.cause})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.text)}</p><pre>{escape(self.tree)}</pre>"


def explain(contents: Contents, item: object) -> Explanation:
    """Return why an entry, given by its handle or path, is as it is. Cost O(nodes)."""
    paths = NodePaths(contents)
    node = paths.find(item)
    entry = contents.realization.store.keys[node]
    if not isinstance(entry, CacheEntry):
        raise NodeKindError(
            f"{paths.of[node]}: is no entry",
            "a cache entry, which may be realized or not",
            "a variable, which has a value always"
            if isinstance(entry, AbstractHandle)
            else "a stage, or weights",
            "ask what a write of it would invalidate: state.impact(...)",
        )
    cause: Cause | None = None
    path: tuple[str, ...] = ()
    computes: tuple[int, ...] = ()
    refuses = ""
    if not contents.realization.store.is_valid(node):
        cause, path = _cause(contents, paths, entry)
        refuses = _refusal(contents, node, cause)
        computes = () if refuses else stale_upstream(contents, node)
    structure = contents.realization.store.structure
    return Explanation(
        paths.of[node],
        cause is None,
        cause,
        path,
        tuple([paths.of[n] for n in computes]),
        any(n in structure.compared or structure.group_of[n] in structure.soft for n in computes),
        refuses,
        tree_of(contents, paths, node, path),
    )


def stale_upstream(contents: Contents, node: int) -> tuple[int, ...]:
    """An entry and what it depends on, as far as it is out of date and can be computed, in order.

    What is above an entry that is realized does not count.
    """
    store = contents.realization.store
    functions = contents.realization.layout.functions
    found: dict[int, None] = {}
    stack = [node]
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


def _refusal(contents: Contents, node: int, cause: Cause) -> str:
    if contents.guard is FROZEN:
        return "the State is frozen"
    if contents.outdated_by:
        return f"the System was changed: {contents.outdated_by}"
    if cause.kind in (CauseKind.WAITING, CauseKind.COMPUTING):
        return str(cause)
    if contents.realization.layout.functions[node] is no_function:
        return "it has no compute function"
    return ""


# ---------------------------------------------------------------------- causes


def _cause(
    contents: Contents, paths: NodePaths, entry: CacheEntry[Any]
) -> tuple[Cause, tuple[str, ...]]:
    """Why an entry is not realized, and the path from there."""
    realization = contents.realization
    store = realization.store
    node = entry._node
    mark = store.marks[node]
    itself = (paths.of[node],)
    if mark <= COMPUTING:
        return Cause(CauseKind.COMPUTING), itself
    if store.is_closed(node):
        missing = missing_stage(realization, entry)
        if missing is not None:
            waiting, stage, way = missing
            whose = paths.subsystems[waiting.subsystem or 0]
            cause = Cause(CauseKind.WAITING, stage_path(stage), subsystem=whose)
            changes = changes_upstream(realization, entry) if mark >= 0 else []
            if not changes:
                return cause, (stage_path(stage), *[paths.of[n] for n in way])
            first = min(changes, key=_clock)
            change = _change(contents, paths, first)
            cause = evolve(change, kind=cause.kind, what=cause.what, subsystem=whose)
            return cause, _path(contents, paths, first)
    if mark < 0:
        if not store.versions[node]:
            return Cause(CauseKind.NEVER), itself
        path = tuple([paths.of[n] for n in invalidated_together(realization, entry)])
        return Cause(CauseKind.INVALIDATED, path[0]), path
    changes = changes_upstream(realization, entry) or changes_upstream(
        realization, entry, cuts=False
    )
    if not changes:
        return Cause(CauseKind.UNKNOWN), itself
    first = min(changes, key=_clock)
    return _change(contents, paths, first), _path(contents, paths, first)


def _clock(change: Change) -> int:
    return change.clock


def _change(contents: Contents, paths: NodePaths, change: Change) -> Cause:
    node = _written_node(contents, change)
    written = change.written
    if isinstance(written, AbstractHandle):
        written = paths.of[written._node]
    variable = "" if node < 0 else paths.of[node]
    trace = _trace_of_write(contents, node)
    return Cause(
        CauseKind.CHANGED,
        stage_path(change.stage) if change.stage else variable,
        variable,
        None if node < 0 else contents.realization.store.versions[node],
        trace[0],
        str(written or ""),
        "",
        trace[1],
        trace[2],
    )


def _written_node(contents: Contents, change: Change) -> int:
    """The node of the variable that was written; -1 if it is not known, or y, or none."""
    if change.node >= 0:
        return change.node
    if isinstance(change.written, AbstractHandle):
        return change.written._node
    name = str(change.written).partition(" ")[0]  # of weights, maybe those of a subsystem
    return contents.realization.layout.weights.get(name, -1)


def _trace_of_write(contents: Contents, node: int) -> tuple[int | None, str, int]:
    """The version before, and where it was written, if a trace knows."""
    found = None if node < 0 else contents.trace_of_write(node)
    return (None, "", 0) if found is None else found


def _path(contents: Contents, paths: NodePaths, change: Change) -> tuple[str, ...]:
    way = [paths.of[n] for n in change.way]
    if not change.stage:
        return (paths.of[change.node], *way)
    first = contents.realization.store.keys[change.way[0]]
    assert isinstance(first, CacheEntry)
    stages = [stage_path(g) for g in range(change.stage, first.depends_on + 1)]
    node = _written_node(contents, change)
    start = [paths.of[node]] if node >= 0 and paths.is_shown(node) else []
    return (*start, *stages, *way)
