"""Paths of the nodes of a State, in views and in questions: "pendulum.tip".

::

    stage Position                   a stage of the system
    time, q, u, z, u_weights         what the whole State has
    pendulum.q                       all q of a subsystem
    pendulum.tip, springs.force[3]   an item, by its name
    subsystem 1.cache entry 0        an item without a name, of a subsystem without a name

No two nodes have the same path: where one is taken, " (2)" is appended.
"""

from collections import Counter
from typing import Final, final

from stagecache.checks import did_you_mean
from stagecache.errors import UnknownPathError, WrongTypeError, short_repr
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle
from stagecache.state.items.layout import NO_NODE
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS, WEIGHTS

MOST_LISTED: Final = 12
STAGES: Final = tuple(Stage)[Stage.TOPOLOGY : Stage.INFINITY]


def stage_path(stage: int) -> str:
    """The path of a stage of the system."""
    return f"stage {Stage(stage)}"


@final
class NodePaths:
    """The paths of the nodes of a State, as it is now. Cost O(nodes).

    Attributes
    ----------
    of : dict of int to str
        Paths by node, in the order of the model. Stages of subsystems have none.
    node : dict of str to int
        Nodes by path.
    subsystems : list of str
        Names of the subsystems.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.of: dict[int, str] = {}
        self.node: dict[str, int] = {}
        self._numbers: dict[str, int] = {}  # appended last, by path
        layout = contents.realization.layout
        names = [subsystem.name for subsystem in layout.subsystems]
        times = Counter(names)
        self.subsystems = [
            name if name and times[name] == 1 else f"subsystem {x}" for x, name in enumerate(names)
        ]
        for stage in STAGES:
            self._add(stage_path(stage), layout.stages[stage])
        for name, handle in layout.variables.items():
            self._add(name, handle._node)
        for name, node in layout.weights.items():
            self._add(name, node)
        for label, subsystem in zip(self.subsystems, layout.subsystems, strict=True):
            for kind, whole in subsystem.whole.items():
                self._add(f"{label}.{kind}", whole._node)
            for item in subsystem.items():
                self._add(f"{label}.{_name(item)}", item._node)

    def _add(self, path: str, node: int) -> None:
        free = path
        while free in self.node:
            self._numbers[path] = number = self._numbers.get(path, 1) + 1
            free = f"{path} ({number})"
        self.of[node] = free
        self.node[free] = node

    def find(self, item: object) -> int:
        """The node of a handle, or of a path, in which "/" may stand for ".".

        Raises
        ------
        UnknownPathError, ForeignNodeError, WrongTypeError
        """
        if isinstance(item, AbstractHandle):
            self._contents.require(item)
            return item._node
        if not isinstance(item, str):
            raise WrongTypeError(
                f"{short_repr(item)}: not an item of a State",
                "a handle, or a path as 'pendulum.tip'",
                f"an object of type {type(item).__name__}",
                _cure_for(item),
            )
        node = self.seek(item)
        if node == NO_NODE:
            raise self._unknown(item)
        return node

    def seek(self, path: str) -> int:
        """Return the node of a path, or `NO_NODE`."""
        return self.node.get(path, self.node.get(path.replace("/", "."), NO_NODE))

    def _unknown(self, path: str) -> UnknownPathError:
        listed = ", ".join([*self.node][-MOST_LISTED:])
        return UnknownPathError(
            f"{path!r}: not in this State",
            "the path of an item, as 'pendulum.tip'",
            repr(path),
            did_you_mean(path, self.node) or f"use one of {listed}, ...; state.graph has all",
        )

    def parts_to_whole(self, node: int) -> list[int]:
        """A variable, and what it is a part of, as far as that is shown: the widest last."""
        layout = self._contents.realization.layout
        key = self._contents.realization.store.keys[node]
        found = [node]
        if isinstance(key, AbstractContinuousVariable) and key.subsystem is not None:
            wholes = [layout.variables[key.kind]._node]
            if key.slot >= 0:
                wholes.insert(0, layout.subsystems[key.subsystem].whole[key.kind]._node)
            found += [whole for whole in wholes if self.is_shown(whole)]
        return found

    def is_shown(self, node: int) -> bool:
        """Return True if views show a node: all but wholes and weights that are always empty."""
        layout = self._contents.realization.layout
        key = self._contents.realization.store.keys[node]
        if isinstance(key, AbstractContinuousVariable) and key.slot < 0:
            whose = range(len(layout.subsystems)) if key.subsystem is None else [key.subsystem]
            return bool(self._contents.realization.store.structure.dependents[node]) or any(
                layout.subsystems[x].blocks[key.kind] for x in whose
            )
        for kind in WEIGHTS:
            if node == layout.weights[kind.name]:
                return any(subsystem.rows[kind.part] for subsystem in layout.subsystems)
        return True


def _cure_for(item: object) -> str:
    if isinstance(item, list | tuple):
        return "pass its items one by one"
    if callable(item):
        return "declare it with @cached in a Subsystem, and pass the handle of that"
    return "pass the handle without calling it"


def _name(item: AbstractHandle) -> str:
    if item._name or item._declared_as:
        return item._name or item._declared_as
    index = item.slot if isinstance(item, AbstractContinuousVariable) else item.index
    return f"{item._kind()} {index}"


def invalidated_by(contents: Contents, node: int) -> Stage | None:
    """Return the stage that a write of a variable invalidates; None if it is not a variable."""
    layout = contents.realization.layout
    for kind in WEIGHTS:
        if node == layout.weights[kind.name]:
            return kind.invalidates
    key = contents.realization.store.keys[node]
    if isinstance(key, AbstractContinuousVariable):
        return CONTINUOUS[key.kind].invalidates
    if key is layout.variables["time"]:
        return Stage.TIME
    found: Stage | None = getattr(key, "invalidates", None)
    return found
