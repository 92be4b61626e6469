"""Entries that a write of a variable would make stale, without writing: ``state.impact(length)``.

>>> from stagecache.examples import pendulum as example
>>> system = example.system()
>>> state = system.new_state()
>>> system.realize(state)
>>> print(state.impact("pendulum.angle"))
A write of pendulum.angle leaves stages Position to Report. It makes 1 of 2
  valid entries stale:
  by its own change: pendulum.tip
Through hooks that run again: pendulum.realize_acceleration, pendulum.udot,
  udot, qdotdot
"""

from collections.abc import Iterable
from typing import Any, Final, final

from attrs import asdict, frozen

from stagecache.display.html import output, paragraph, table
from stagecache.display.text import wrapped
from stagecache.display.words import counted
from stagecache.errors import NodeKindError
from stagecache.inspection.explain.consequences import Consequences
from stagecache.inspection.hook_graph import HookGraph
from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.reads import RecordedHooks
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import Y

TOGETHER: Final = "_computed_together"
"""Optional method of a subsystem: ``(contents)``, names of the constraints that it computes."""


@final
@frozen(repr=False, str=False)
class Impact:
    """Consequences of a write of a variable.

    Attributes
    ----------
    variable : str
        Its path.
    entries : tuple of str
        Valid entries that would be stale, in the order of the model.
    by_prerequisite : tuple of str
        Of these, those that depend on the variable, directly or by other entries; the next value of
        an auto-update variable, too.
    by_stage : dict of str to tuple of str
        The others, by the stage that is left and on which they depend, or at which they are
        presumed computed.
    stages : tuple of str
        The stages that the system, or a subsystem, would leave.
    forgotten : tuple of str
        What would be forgotten, valid or not, as it was allocated at one of these stages.
    num_valid : int
        How many entries are valid now.
    through_hooks : tuple of str
        The hooks that run again as they have read the variable, or what follows from it; with the
        computed vectors and entries that are reached through them. Only recorded reads count.
    constraints : tuple of str
        Names of constraints that entries which would be stale compute together.
    has_stages : bool
        False for a Graph.
    """

    variable: str
    entries: tuple[str, ...]
    by_prerequisite: tuple[str, ...]
    by_stage: dict[str, tuple[str, ...]]
    stages: tuple[str, ...]
    forgotten: tuple[str, ...]
    num_valid: int
    through_hooks: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    has_stages: bool = True

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        found: dict[str, Any] = asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()} | {
            "by_stage": {stage: list(entries) for stage, entries in self.by_stage.items()}
        }

    @property
    def _sentence(self) -> str:
        if not self.has_stages:
            left = ""
        elif not self.stages:
            left = "leaves no stage. It "
        elif len(self.stages) == 1:
            left = f"leaves stage {self.stages[0]}. It "
        else:
            left = f"leaves stages {self.stages[0]} to {self.stages[-1]}. It "
        number = f"{len(self.entries)} of {counted(self.num_valid, 'valid entry')}"
        made = f"{number} stale" if self.entries else "no entry stale"
        return f"A write of {self.variable} {left}makes {made}"

    def __str__(self) -> str:
        lines = [f"{self._sentence}{':' if self.entries else '.'}"]
        if self.by_prerequisite:
            lines.append(f"  by its own change: {', '.join(self.by_prerequisite)}")
        for stage, entries in self.by_stage.items():
            lines.append(f"  by stage {stage}: {', '.join(entries)}")
        if self.constraints:
            lines.append(f"  so those of constraints: {', '.join(self.constraints)}")
        if self.forgotten:
            lines.append(f"  forgotten: {', '.join(self.forgotten)}")
        if self.through_hooks:
            lines.append(f"Through hooks that run again: {', '.join(self.through_hooks)}")
        return wrapped("\n".join(lines))

    def __repr__(self) -> str:
        return f"Impact({self.variable}: {len(self.entries)} of {self.num_valid} valid entries)"

    def _repr_html_(self) -> str:
        rows = [(path, "by its own change") for path in self.by_prerequisite]
        rows += [(p, f"by stage {stage}") for stage, paths in self.by_stage.items() for p in paths]
        rows += [(name, "constraint") for name in self.constraints]
        rows += [(path, "forgotten") for path in self.forgotten]
        rows += [(path, "through hooks") for path in self.through_hooks]
        parts = [paragraph(f"{self._sentence}.")]
        if rows:
            parts.append(table(("entry", "stale"), rows, texts=2, what="entries"))
        return output(*parts)


def impact(contents: Contents, item: object, recorded: RecordedHooks) -> Impact:
    """Return what a write of a variable, given by its handle or path, would do.

    The record tells what hooks have read and written.
    """
    paths = NodePaths(contents)
    consequences = Consequences(contents, paths)
    if isinstance(item, str) and item == Y.name:
        name, stage, found = Y.name, Stage.POSITION, consequences.of_y()
    else:
        node = paths.find(item)
        if node not in consequences.stages:
            raise _not_written(contents, paths, node)
        name, stage, found = paths.of[node], consequences.stages[node], consequences.of(node)
    written = found.written
    starts = {paths.of[n] for n in (*written, *found.own) if n in paths.of}
    hooks = HookGraph(contents, paths, recorded)
    groups: dict[Stage, list[str]] = {}
    for n, left in found.by_stage.items():
        groups.setdefault(left, []).append(paths.of[n])
    return Impact(
        name,
        tuple([paths.of[n] for n in found.lost]),
        tuple([paths.of[n] for n in found.lost if n in found.own]),
        {str(stage): tuple(groups[stage]) for stage in sorted(groups)},
        tuple([str(Stage(g)) for g in range(stage, contents.realization.machine.highest + 1)]),
        tuple([path for n, path in paths.of.items() if n in found.forgotten]),
        len(consequences.valid),
        hooks.reached_from(starts, stage),
        _constraints_of([consequences.valid[n] for n in found.lost], contents),
    )


def _constraints_of(entries: Iterable[CacheEntry[Any]], contents: Contents) -> tuple[str, ...]:
    """Return the names of the constraints that subsystems of these entries compute together."""
    owners = dict.fromkeys(entry._owner for entry in entries if hasattr(entry._owner, TOGETHER))
    return tuple([name for owner in owners for name in getattr(owner, TOGETHER)(contents)])


def _not_written(contents: Contents, paths: NodePaths, node: int) -> NodeKindError:
    is_entry = isinstance(contents.realization.store.keys[node], CacheEntry)
    return NodeKindError(
        f"{paths.of[node]}: is not written",
        "a variable",
        "a cache entry" if is_entry else "a stage",
        "ask why it is not valid: state.explain(...)"
        if is_entry
        else "call state.graph.downstream_of(...) for what depends on it",
    )
