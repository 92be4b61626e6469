"""The realization of a State: stages, validity and allocated items, all but its values.

A write of a variable invalidates a stage: everything at and after it is stale, and the system and
all subsystems back up to the stage before. The graph does the first by raising gates, and the
second by closing the subsystems' stages::

              realize -->                     <-- write
    Topology -- Model -- Instance -- Time -- Position -- Velocity -- ... -- Report
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from stagecache.graph.evaluation import NO_FUNCTION, Arguments, Equal, Evaluator, Function
from stagecache.graph.kind import NodeKind
from stagecache.graph.releasing import let_go, replace
from stagecache.graph.store import Store
from stagecache.graph.structure import CACHE_ENTRY, NEVER, STAGE, VARIABLE
from stagecache.state.handles import (
    NOWHERE,
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    TimeVariable,
)
from stagecache.state.items.layout import NO_NODE, Layout, Rows, SubsystemLayout
from stagecache.state.items.stage_machine import (
    INFINITY,
    INSTANCE,
    MODEL,
    STAGES,
    TIME,
    TOPOLOGY,
    StageMachine,
)
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS, WEIGHTS

NOBODY: Final = -1  # in place of a stage or a subsystem

COPY: Final = "the copy of the State"
"""The cause of a stage that a copy has not reached."""


class Realization:
    """Stages, validity and structure of one State.

    Attributes
    ----------
    store : Store
    layout : Layout
        To be changed only by the methods here.
    evaluator : Evaluator
    machine : StageMachine
        The stages that the system and its subsystems have reached.
    causes : list of (int, object)
        By stage: when something last invalidated it, by the clock, and what: a handle, or text.
    is_torn : bool
        An operation was cut short by an error, and `mend` has not been called since.
    is_layout_torn : bool
        It was allocating or forgetting items.
    backing_up : int
        The stage to which all are going back, until they are there; -1 otherwise.
    abandoned : int
        The subsystem whose next stage failed, until what it has allocated for that is forgotten; -1
        otherwise.
    """

    __slots__ = (
        "_shared",
        "abandoned",
        "backing_up",
        "causes",
        "evaluator",
        "is_busy",
        "is_layout_torn",
        "is_torn",
        "layout",
        "machine",
        "store",
    )

    def __init__(self, store: Store, layout: Layout, bind: Callable[[int], Arguments]) -> None:
        self.store = store
        self.layout = layout
        arguments: list[Arguments | None] = [None] * len(layout.functions)
        self.evaluator = Evaluator(store, layout.functions, arguments, bind, layout.equals)
        self.machine = StageMachine()
        self.causes: list[tuple[int, object]] = [(0, "")] * len(STAGES)
        self.is_torn = False
        self.is_busy = False
        self.is_layout_torn = False
        self.backing_up = NOBODY
        self.abandoned = NOBODY
        self._shared = False

    @classmethod
    def empty(
        cls, bind: Callable[[int], Arguments], variables: dict[str, AbstractHandle]
    ) -> "Realization":
        """Return the realization of a State without subsystems, with handles of `new_variables`."""
        new = cls(Store(), Layout(variables), bind)
        layout = new.layout
        for stage in STAGES[TOPOLOGY:INFINITY]:
            layout.stages[stage] = node = new._add(f"stage {stage}", STAGE)
            new.store.open(node)
            if stage > TOPOLOGY:
                new.store.connect(node, layout.stages[stage - 1])
        for handle in layout.variables.values():
            new._add_item(handle, VARIABLE)
        for kind in WEIGHTS:
            layout.weights[kind.name] = new._add(kind.name, VARIABLE)
        return new

    def copy(self, bind: Callable[[int], Arguments]) -> "Realization":
        """Return the realization of a copy of the State: at Instance, if it is reached here.

        Items that were allocated but not advanced over are left out. Cost O(nodes), as copies of
        flat lists, and O(groups that become stale).
        """
        twin = Realization(self.store.copy(), self.layout, bind)
        twin._shared = self._shared = True
        twin.causes = self.causes.copy()
        twin.machine = self.machine.copy()
        twin.machine.leave_all_above(INSTANCE)
        twin.touch(TIME, COPY, [twin.layout.stages[TIME]])
        for nodes in twin.layout.stage_nodes[TIME:]:
            for node in nodes.values():
                twin.store.close(node)
        twin._forget(twin.machine.stages)
        return twin

    def clone(self, bind: Callable[[int], Arguments]) -> "Realization":
        """Return the realization of a State realized as far as this one, with all that is valid."""
        twin = Realization(self.store.copy(), self.layout, bind)
        twin._shared = self._shared = True
        twin.causes = self.causes.copy()
        twin.machine = self.machine.copy()
        return twin

    def exceed(self, other: "Realization") -> None:
        """Let every version number exceed all numbers in both."""
        self.store.exceed(other.store)
        self.machine.versions.exceed(other.machine.versions)

    def forget_vectors(self) -> None:
        """Let q, u and z get other versions with their next values: they had some until now."""
        versions, rewound = self.store.versions, self.store.rewound
        for node in self.layout.variable_nodes("y", None):
            rewound[node] = max(versions[node], rewound.get(node, 0))

    def renew_vectors(self) -> None:
        """Count that q, u and z have values, which is a change of them."""
        store = self.store
        nodes = self.layout.variable_nodes("y", None)
        store.touch_all(nodes)
        for node in store.rewound.keys() & nodes:
            store.note(node)
            store.raise_version(node)

    def become_laid_out(self, layout: Layout) -> None:
        """Restore the items that an earlier layout lists."""
        self.layout = layout
        self.evaluator.functions = layout.functions
        self.evaluator.equals = layout.equals
        self.evaluator.arguments = [None] * len(layout.functions)

    def share(self) -> None:
        """Have the layout copied before it is changed, as it is shared from now on."""
        self._shared = True

    # ------------------------------------------------------------------ allocating

    def add_subsystem(self, name: str, version: str, wholes: dict[str, ContinuousVariable]) -> int:
        """Add an empty subsystem; the handles of its q, u and z come from `new_wholes`."""
        try:
            layout = self._own_layout()
            index = len(layout.subsystems)
            layout.subsystems.append(SubsystemLayout(name, version, wholes))
            for whole in wholes.values():
                whole._allocated(index, 0, Stage.EMPTY)
                self._add_item(whole, VARIABLE)
            layout.changed()
            self.machine.add_subsystem()  # last: from here on it is there
        except BaseException:
            self.is_layout_torn = self.is_torn = True
            raise
        return index

    def rename_subsystem(self, index: int, name: str, version: str) -> None:
        """Give it another name and version."""
        subsystem = self._own_layout().subsystems[index]
        subsystem.name = name
        subsystem.version = version

    def add_block(self, block: AbstractContinuousVariable, rows: Rows) -> None:
        """Add some q, u or z."""
        assert block.subsystem is not None
        try:
            subsystem = self.own_subsystem(block.subsystem)
            block.slot = len(subsystem.blocks[block.kind])
            self._add_item(block, VARIABLE)
            self.layout.changed()
            subsystem.rows[block.kind].append(rows)
            subsystem.blocks[block.kind].append(block)  # last: from here on it is there
        except BaseException:
            self.is_layout_torn = self.is_torn = True
            raise

    def add_discrete(self, variable: DiscreteVariable[Any], value: object) -> None:
        """Add a discrete variable.

        The caller sets `is_torn` and `is_layout_torn` if this is cut short, or the allocation of
        its update entry.
        """
        assert variable.subsystem is not None
        subsystem = self.own_subsystem(variable.subsystem)
        self._add_item(variable, VARIABLE, value=value)
        if variable._update is not None:
            subsystem.auto_update.append(variable)
        subsystem.discrete.append(variable)  # last: from here on it is there

    def add_entry(
        self,
        entry: CacheEntry[Any],
        prerequisites: tuple[AbstractHandle, ...],
        value: object,
        function: Function = NO_FUNCTION,
        equal: Equal | None = None,
    ) -> None:
        """Add a cache entry; cost O(its prerequisites), amortised.

        One with a function is never presumed computed: it is computed when it is read. Its values
        may be compared.
        """
        assert entry.subsystem is not None
        try:
            index = entry.subsystem
            layout = self._own_layout()
            layout.latest = max(layout.latest, self.machine.stages[index])
            subsystem = layout.subsystems[index]
            above = [p._node for p in prerequisites]
            above.append(self._stage_node(index, subsystem, entry.available_from))
            computed_by = NEVER
            stage: int = entry.computed_by
            if function is NO_FUNCTION and stage < INFINITY:
                computed_by = self._stage_node(index, subsystem, stage)
            self._add_item(entry, CACHE_ENTRY, tuple(above), computed_by, value, equal)
            layout.functions[entry._node] = function
            subsystem.entries.append(entry)  # last: from here on it is there
        except BaseException:
            self.is_layout_torn = self.is_torn = True
            raise

    def own_subsystem(self, index: int) -> SubsystemLayout:
        """Return the layout of a subsystem, to be changed."""
        layout = self._own_layout()
        layout.changing(self.machine.stages[index])
        return layout.subsystems[index]

    def _stage_node(self, index: int, subsystem: SubsystemLayout, stage: int) -> int:
        """Return the node of a subsystem's stage, which is made when it is first needed."""
        node = subsystem.stages[stage]
        if node == NO_NODE:
            key = f"stage {STAGES[stage]} of {self.layout.label(index)}"
            node = self._add(key, STAGE)
            self.store.connect(node, self.layout.stages[stage])
            if self.machine.stages[index] >= stage:
                self.store.open(node)
            self.layout.stage_nodes[stage][index] = node
            subsystem.stages[stage] = node  # last: from here on it is there
        return node

    def _add(self, key: str, kind: NodeKind) -> int:
        """Add a node that stands for no item."""
        node = self.store.add(key, kind)
        self._extend()
        return node

    def _add_item(
        self,
        handle: AbstractHandle,
        kind: NodeKind,
        prerequisites: tuple[int, ...] = (),
        computed_by: int = NEVER,
        value: object = None,
        equal: Equal | None = None,
    ) -> None:
        """Add the node of an item."""
        reserved = -1
        if handle._owner is not None and handle._node != NOWHERE:
            reserved = handle._node  # which it has in States of older topologies, too
        is_compared = equal is not None
        node = self.store.add(
            handle, kind, prerequisites, computed_by, value, reserved, is_compared
        )
        self._extend()
        if equal is not None:
            self.layout.equals[node] = equal
        handle._node = node
        handle._serial = self.layout.serial = self.layout.serial + 1

    def reserve(self, handles: Iterable[AbstractHandle]) -> None:
        """Keep the nodes free that declared items have in States of an older topology.

        So an item is at one node in all States, and those that are outdated stay coherent.
        """
        self.store.reserve(1 + max(h._node for h in handles if h._node != NOWHERE))

    def _extend(self) -> None:
        functions, arguments = self.layout.functions, self.evaluator.arguments
        while len(functions) < len(self.store.keys):
            arguments.append(None)
            functions.append(NO_FUNCTION)  # last: its length counts for both lists

    def _own_layout(self) -> Layout:
        if self._shared:
            self.layout = self.layout.copy()
            self.evaluator.functions = self.layout.functions
            self.evaluator.equals = self.layout.equals
            self._shared = False
        return self.layout

    def _forget(self, stages: list[int]) -> None:
        """Forget what each subsystem allocated at its stage of these, or at a later one.

        The caller sets `is_torn` if this is cut short.
        """
        layout = self.layout
        if layout.latest < min(stages, default=INFINITY):
            return
        going = [x for x, stage in enumerate(stages) if layout.subsystems[x].has_from(stage)]
        if not going:
            return
        self.is_layout_torn = True  # until the end
        layout = self._own_layout()
        handles: list[AbstractHandle] = []
        for x in going:
            items = layout.subsystems[x].items()
            handles += [item for item in items if item.allocated_at >= stages[x]]
            layout.subsystems[x].forget_from(stages[x])
        handles.sort(key=_serial, reverse=True)
        for handle in handles:
            self._remove(handle._node)
        layout.changed()
        layout.latest = min(layout.latest, max(stages) - 1)
        self.is_layout_torn = False

    def _remove(self, node: int) -> None:
        function = replace(self.layout.functions, node, NO_FUNCTION)
        self.layout.equals.pop(node, None)
        self.store.remove(node)
        let_go(function)

    # ------------------------------------------------------------------ stages

    def advance_subsystem(self, subsystem: int, stage: int) -> None:
        """Let a subsystem reach the stage after its present one."""
        try:
            node = self.layout.stage_nodes[stage].get(subsystem, NO_NODE)
            if node != NO_NODE:
                self.store.admit(node)
                self.store.presume(node)
            self.machine.advance_subsystem(subsystem, stage)
        except BaseException:
            self.is_torn = True
            raise

    def touch(self, stage: int, cause: object, nodes: list[int]) -> None:
        """Count a change of a stage, and so of all after it, and of variables that were written.

        The stage changes whether it is realized or not. The nodes include the node of the stage.
        """
        self.store.write_all(nodes)
        self.causes[stage] = (self.store.clock, cause)

    def reset_variables(self, stage: int, reached: int) -> None:
        """Count a change of what gets its first value again, once a stage is left for a lower one.

        Parameters
        ----------
        stage : int
            Lowest stage that is left.
        reached : int
            Stage of the system before.
        """
        if stage <= MODEL <= reached:
            self.store.write_all(self.layout.variable_nodes("y", None))
        if stage <= TOPOLOGY <= reached:
            self.store.write(self.layout.variables["time"]._node)

    def back_up(self, stage: int) -> None:
        """Let the system and all subsystems that are beyond a stage go back to it.

        The caller sets `is_torn` if this is cut short.
        """
        self.backing_up = stage
        stage_nodes = self.layout.stage_nodes
        for left in range(stage + 1, self.machine.highest + 1):
            for node in stage_nodes[left].values():
                self.store.close(node)
        self.machine.back_up(stage)
        if self.layout.latest >= stage:
            self._forget([stage] * len(self.machine.stages))
        self.backing_up = NOBODY

    # ------------------------------------------------------------------ mending

    def mend(self) -> None:
        """Make good what an operation that was cut short has left: finish it, or undo it.

        Cost O(nodes + edges). If this is cut short itself, the next one begins anew.
        """
        if self.store.is_torn:
            self.store.mend()
        if self.is_layout_torn:
            self._drop_unlisted()
        if self.backing_up != NOBODY:
            left = self.backing_up + 1
            self.store.write_all([self.layout.stages[left]])  # which may not have come so far
            self.reset_variables(left, INFINITY)
            self.back_up(self.backing_up)
        if self.abandoned != NOBODY:
            stages: list[int] = [INFINITY] * len(self.machine.stages)
            stages[self.abandoned] = self.machine.stages[self.abandoned]
            self._forget(stages)
            self.abandoned = NOBODY
        self.machine.recount()
        for stage, nodes in enumerate(self.layout.stage_nodes):
            for x, node in nodes.items():
                if self.machine.stages[x] < stage:
                    self.store.close(node)
        self.is_torn = False

    def _drop_unlisted(self) -> None:
        """Drop what has a node or rows and is not listed: it was being allocated or forgotten."""
        layout = self._own_layout()
        self._extend()
        del layout.subsystems[len(self.machine.stages) :]
        for x, subsystem in enumerate(layout.subsystems):
            if self.backing_up != NOBODY:
                subsystem.forget_from(self.backing_up)
            if self.abandoned == x:
                subsystem.forget_from(self.machine.stages[x])
        listed = {
            *layout.stages,
            *layout.weights.values(),
            *[handle._node for handle in layout.variables.values()],
        }
        for subsystem in layout.subsystems:
            subsystem.drop_unlisted()
            listed.update(subsystem.stages)
            listed.update([handle._node for handle in subsystem.whole.values()])
            listed.update([handle._node for handle in subsystem.items()])
        for nodes in layout.stage_nodes:
            for x in [x for x, node in nodes.items() if node not in listed]:
                del nodes[x]
        store = self.store
        unlisted = [node for node in store.structure if node not in listed]
        while unlisted:
            free = [node for node in unlisted if not store.structure.dependents[node]]
            assert free, "what is listed depends on what is not"
            for node in free:
                self._remove(node)
            unlisted = [node for node in unlisted if node not in free]
        layout.changed()
        self.is_layout_torn = False


def new_variables() -> dict[str, AbstractHandle]:
    """Handles of what every State has: the time, and the whole q, u and z."""
    return {"time": TimeVariable(), **new_wholes()}


def new_wholes() -> dict[str, ContinuousVariable]:
    """Handles of a whole q, u and z."""
    return {kind: ContinuousVariable(kind) for kind in CONTINUOUS}


def _serial(handle: AbstractHandle) -> int:
    return handle._serial
