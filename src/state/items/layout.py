r"""The layout of a State: subsystems, their items, and the nodes that stand for these.

The nodes of a State, and their edges, for one subsystem s with an entry `tip` that depends on
stage Position and on one discrete variable::

    Topology --> Model --> Instance --> Time --> Position --> Velocity --> ...  system: changed?
                                                     |
      length    q   q of s   block of q       Position of s                     subsystem: reached?
          \__________________________________ /
                             tip

- A **stage of the system** changes when something that it is computed from is written, and with it
  all stages after it.
- A **stage of a subsystem** is closed while the subsystem has not reached it. It is there only
  where an entry depends on it.
- **Blocks**, a subsystem's q and the whole q are nodes side by side. A write of one is a write of
  all that overlap it, in one step; edges between them would have every computation from the
  whole q walk over all blocks.

Copies of a State share one layout until one of them allocates, or backs up below what it allocated.
"""

from collections.abc import Sequence
from typing import Any, Final, final

from stagecache.graph.evaluation import Equal, Function
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    Vector,
)
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS, VectorKind

NO_NODE: Final = -1
ERRORS: Final = ("qerr", "uerr", "udoterr")
PARTS: Final = (*CONTINUOUS, *ERRORS)


class Rows:
    """Some consecutive items of a vector, of one subsystem.

    Attributes
    ----------
    allocated_at : Stage
    start, count : int
        Their place in the subsystem's vector.
    initial : ndarray or None
        Their first values; None for computed items.
    is_fixed : bool
        True if their number is known from the beginning. If not, it is 0 until Model is being
        realized.
    """

    __slots__ = ("allocated_at", "count", "initial", "is_fixed", "start")

    def __init__(
        self,
        allocated_at: Stage,
        start: int,
        count: int,
        initial: Vector | None = None,
        is_fixed: bool = True,
    ) -> None:
        self.allocated_at = allocated_at
        self.start = start
        self.count = count
        self.initial = initial
        self.is_fixed = is_fixed


class SubsystemLayout:
    """Items that one subsystem has allocated, each kind in the order of its allocation.

    Attributes
    ----------
    name, version : str
    whole : dict of str to ContinuousVariable
        Its q, u and z.
    blocks : dict of str to list of ContinuousVariable
        The blocks of these.
    rows : dict of str to list of Rows
        Of q, u and z, one for each block; of qerr, uerr and udoterr.
    triggers : list of list of Rows
        By stage.
    discrete, entries : list of handles
    auto_update : list of handles
        The discrete variables that have an update entry.
    stages : list of int
        By stage: its node, or `NO_NODE`.
    """

    __slots__ = (
        "auto_update",
        "blocks",
        "discrete",
        "entries",
        "name",
        "rows",
        "stages",
        "triggers",
        "version",
        "whole",
    )

    def __init__(self, name: str, version: str, whole: dict[str, ContinuousVariable]) -> None:
        self.name = name
        self.version = version
        self.whole = whole
        self.blocks: dict[str, list[AbstractContinuousVariable]] = {k: [] for k in CONTINUOUS}
        self.rows: dict[str, list[Rows]] = {part: [] for part in PARTS}
        self.triggers: list[list[Rows]] = [[] for _ in range(Stage.INFINITY + 1)]
        self.discrete: list[DiscreteVariable[Any]] = []
        self.auto_update: list[DiscreteVariable[Any]] = []
        self.entries: list[CacheEntry[Any]] = []
        self.stages = [NO_NODE] * (Stage.INFINITY + 1)

    def copy(self) -> "SubsystemLayout":
        """Return the same items, in lists of its own."""
        twin = SubsystemLayout(self.name, self.version, self.whole)
        twin.blocks = {kind: blocks.copy() for kind, blocks in self.blocks.items()}
        twin.rows = {part: rows.copy() for part, rows in self.rows.items()}
        twin.triggers = [rows.copy() for rows in self.triggers]
        twin.discrete = self.discrete.copy()
        twin.auto_update = self.auto_update.copy()
        twin.entries = self.entries.copy()
        twin.stages = self.stages.copy()
        return twin

    def items(self) -> list[AbstractHandle]:
        """Return all items that have a node and can be forgotten."""
        blocks = [block for blocks in self.blocks.values() for block in blocks]
        return [*blocks, *self.discrete, *self.entries]

    def has_from(self, stage: int) -> bool:
        """Return True if anything was allocated at this stage or a later one."""
        return any(stack and stack[-1].allocated_at >= stage for stack in self._stacks())

    def forget_from(self, stage: int) -> None:
        """Drop what was allocated at this stage or a later one."""
        for stack in self._stacks():
            while stack and stack[-1].allocated_at >= stage:
                stack.pop()

    def drop_unlisted(self) -> None:
        """Drop what was being allocated and is not listed yet among blocks or discrete variables.

        A variable that is to have an update entry is not there without it.
        """
        for kind, blocks in self.blocks.items():
            del self.rows[kind][len(blocks) :]
        entries = set(map(id, self.entries))
        self.discrete = [v for v in self.discrete if v._update is None or id(v._update) in entries]
        self.auto_update = [v for v in self.discrete if v._update is not None]

    def _stacks(self) -> list[list[Any]]:
        stacks: list[list[Any]] = [*self.blocks.values(), *self.rows.values(), *self.triggers]
        return [*stacks, self.discrete, self.auto_update, self.entries]

    def size(self, part: str) -> int:
        """Return the number of items of q, u, z, qerr, uerr or udoterr."""
        return total(self.rows[part])


def total(stack: list[Rows]) -> int:
    """Return the number of items."""
    return stack[-1].start + stack[-1].count if stack else 0


def resize(stack: list[Rows], slot: int, count: int, initial: Vector | None = None) -> None:
    """Give rows another number, and move those that come after them. Cost O(these)."""
    resize_all(stack, slot, [(count, initial)])


def resize_all(stack: list[Rows], slot: int, sizes: Sequence[tuple[int, Vector | None]]) -> None:
    """Give consecutive rows other numbers, and lay out all from there on once.

    Cost O(these rows and those after them).

    Parameters
    ----------
    stack : list of Rows
        Changed in place. Its items are not, as other layouts may have them.
    slot : int
        The first of these rows.
    sizes : sequence of (int, ndarray or None)
        By row: the number of items, and their first values.
    """
    moved = 0
    resized = []
    for old, (count, initial) in zip(stack[slot:], sizes, strict=False):
        resized.append(Rows(old.allocated_at, old.start + moved, count, initial, is_fixed=False))
        moved += count - old.count
    after = slot + len(sizes)
    if moved:
        resized += [
            Rows(r.allocated_at, r.start + moved, r.count, r.initial, r.is_fixed)
            for r in stack[after:]
        ]
        after = len(stack)
    stack[slot:after] = resized  # at once: an error in between would leave rows that overlap


@final
class WriteSet:
    """Effect of a write of a variable.

    Attributes
    ----------
    stage : int
        The stage that it invalidates, with those after it.
    nodes : list of int
        The node of that stage, of the variable, and of all variables that overlap it.
    cause : object
        The variable in messages: its handle, or text.
    """

    __slots__ = ("cause", "nodes", "stage")

    def __init__(self, stage: int, nodes: list[int], cause: object) -> None:
        self.stage = stage
        self.nodes = nodes
        self.cause = cause


class Layout:
    """Items allocated in a State, and the nodes that every State has.

    Attributes
    ----------
    subsystems : list of SubsystemLayout
    variables : dict of str to handle
        The time, and the whole q, u and z.
    weights : dict of str to int
        The nodes of the weights.
    stages : list of int
        By stage: the node of the system's stage, or `NO_NODE`.
    stage_nodes : list of dict of int to int
        By stage: the nodes of that stage of those subsystems that have one.
    functions : list of callable
        By node: its compute function.
    equals : dict of int to callable
        By node of a compared entry: the function that compares its values.
    latest : int
        No item was allocated at a later stage than this one.
    sizes : object
        Another object whenever sizes of vectors may have changed.
    """

    __slots__ = (
        "_block_sets",
        "_subsystem_sets",
        "_whole_sets",
        "equals",
        "functions",
        "latest",
        "serial",
        "sizes",
        "stage_nodes",
        "stages",
        "subsystems",
        "variables",
        "weights",
    )

    def __init__(self, variables: dict[str, AbstractHandle]) -> None:
        self.subsystems: list[SubsystemLayout] = []
        self.variables = variables
        self.weights: dict[str, int] = {}
        self.stages = [NO_NODE] * (Stage.INFINITY + 1)
        self.stage_nodes: list[dict[int, int]] = [{} for _ in self.stages]
        self.functions: list[Function] = []
        self.equals: dict[int, Equal] = {}
        self.serial = 0
        self.latest: int = Stage.EMPTY
        self.sizes = object()
        self._whole_sets: dict[str, WriteSet] = {}
        self._subsystem_sets: dict[tuple[str, int], WriteSet] = {}
        self._block_sets: dict[int, WriteSet] = {}

    def copy(self) -> "Layout":
        """Return the same items, in lists of its own. Cost O(items)."""
        twin = Layout(self.variables)
        twin.subsystems = [subsystem.copy() for subsystem in self.subsystems]
        twin.weights = self.weights
        twin.stages = self.stages
        twin.stage_nodes = [nodes.copy() for nodes in self.stage_nodes]
        twin.functions = self.functions.copy()
        twin.equals = self.equals.copy()
        twin.serial = self.serial
        twin.latest = self.latest
        twin.sizes = self.sizes
        return twin

    def changed(self) -> None:
        """Forget what was derived from the items, since one was added or removed."""
        self._whole_sets.clear()
        self._subsystem_sets.clear()
        self._block_sets.clear()
        self.sizes = object()

    def changing(self, stage: int) -> None:
        """Note that a subsystem at some stage may allocate items, or give them other sizes."""
        self.latest = max(self.latest, stage)
        self.sizes = object()

    def label(self, index: int | None) -> str:
        """Return the name of a subsystem in messages."""
        if index is None:
            return "the system"
        name = self.subsystems[index].name
        return f"subsystem {index} {name!r}" if name else f"subsystem {index}"

    def path(self, handle: AbstractHandle) -> str:
        """Return the name of an item in messages."""
        if handle.subsystem is None:
            return str(handle)
        name = f"{handle._kind()} {handle._name!r}" if handle._name else handle.name
        return f"{name} of {self.label(handle.subsystem)}"

    def write_set(self, kind: VectorKind, subsystem: int | None) -> "WriteSet":
        """Return the effect of a write of a vector, of a subsystem or of all."""
        if subsystem is None:
            found = self._whole_sets.get(kind.name)
            if found is None:
                cause: object = self.variables.get(kind.name, kind.name)
                found = self._whole_sets[kind.name] = self._new_write_set(kind, None, cause)
            return found
        found = self._subsystem_sets.get((kind.name, subsystem))
        if found is None:
            title = f"{kind.name} of {self.label(subsystem)}"
            cause = self.subsystems[subsystem].whole.get(kind.name, title)
            found = self._new_write_set(kind, subsystem, cause)
            self._subsystem_sets[kind.name, subsystem] = found
        return found

    def _new_write_set(self, kind: VectorKind, subsystem: int | None, cause: object) -> "WriteSet":
        assert kind.invalidates is not None
        nodes = [self.stages[kind.invalidates], *self.variable_nodes(kind.name, subsystem)]
        return WriteSet(kind.invalidates, nodes, cause)

    def write_set_of(self, variable: AbstractContinuousVariable) -> "WriteSet":
        """Return the effect of a write of a block of q, u or z, or of a whole one."""
        found = self._block_sets.get(variable._node)
        if found is None:
            kind = CONTINUOUS[variable.kind]
            if variable.slot < 0 or variable.subsystem is None:
                found = self.write_set(kind, variable.subsystem)
            else:
                assert kind.invalidates is not None
                whole = self.subsystems[variable.subsystem].whole[variable.kind]._node
                all_of_it = self.variables[variable.kind]._node
                nodes = [self.stages[kind.invalidates], variable._node, whole, all_of_it]
                found = WriteSet(kind.invalidates, nodes, variable)
            self._block_sets[variable._node] = found
        return found

    def variable_nodes(self, kind: str, subsystem: int | None) -> list[int]:
        """Return the nodes of a variable vector, or a subsystem's part, and all that overlap it."""
        if kind == "y":
            return [node for part in CONTINUOUS for node in self.variable_nodes(part, None)]
        if kind in self.weights:
            return [self.weights[kind]]
        found = [self.variables[kind]._node]
        for x in range(len(self.subsystems)) if subsystem is None else [subsystem]:
            found.append(self.subsystems[x].whole[kind]._node)
            found += [block._node for block in self.subsystems[x].blocks[kind]]
        return found
