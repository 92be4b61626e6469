"""How far a State is realized, what in it is valid, and what is allocated: all but its values.

A write of a variable invalidates a stage: everything at and after it is stale, and the system and
all subsystems back up to the stage before. The graph does the first by raising gates, and the
second by closing the subsystems' stages::

              realize -->                     <-- write
    Topology -- Model -- Instance -- Time -- Position -- Velocity -- ... -- Report

The version of a stage is one more than the number of times it was left. A system whose subsystems
are all where it is itself, the usual case, is *even*: these then leave a stage together, and their
number is no matter.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from stagecache.graph.evaluation import Arguments, Equal, Evaluator, Function, no_function
from stagecache.graph.kind import NodeKind
from stagecache.graph.store import Store
from stagecache.graph.structure import NEVER
from stagecache.state.handles import (
    NOWHERE,
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    TimeVariable,
)
from stagecache.state.layout import NO_NODE, Layout, Rows, SubsystemLayout
from stagecache.state.stage import Stage
from stagecache.state.vectors import CONTINUOUS, WEIGHTS

STAGES = tuple(Stage)
EMPTY, TOPOLOGY, MODEL, INSTANCE, TIME = STAGES[:5]
INFINITY = Stage.INFINITY


class Realization:
    """Stages, validity and structure of one State.

    Attributes
    ----------
    store : Store
    layout : Layout
        To be changed only by the methods here.
    evaluator : Evaluator
    stage : int
        Of the system.
    stages : list of int
        By subsystem.
    highest : int
        Of all these stages.
    is_even : bool
        All subsystems are at the stage of the system. If not, they may be.
    left : list of int
        By stage: how often the system left it.
    left_together : list of int
        By stage: how often all subsystems left it together.
    left_alone : list of list of int
        By subsystem and stage: how often it left it, beside that.
    floor : int
        No subsystem that is not there any more left a stage more often.
    peaks : tuple of list of int, or None
        By stage: the highest version that it had in the system before a rollback, and likewise in
        its subsystems, less how often each left it alone. When it is left or reached, the version
        is higher.
    causes : list of (int, object)
        By stage: when something last invalidated it, by the clock, and what: a handle, or text.
    """

    __slots__ = (
        "_shared",
        "causes",
        "evaluator",
        "floor",
        "highest",
        "is_even",
        "layout",
        "left",
        "left_alone",
        "left_together",
        "peaks",
        "stage",
        "stages",
        "store",
    )

    def __init__(self, store: Store, layout: Layout, bind: Callable[[int], Arguments]) -> None:
        self.store = store
        self.layout = layout
        arguments: list[Arguments | None] = [None] * len(layout.functions)
        self.evaluator = Evaluator(store, layout.functions, arguments, bind, layout.equals)
        self.stage: int = EMPTY
        self.highest: int = EMPTY
        self.is_even = True
        self.floor = 0
        self.peaks: tuple[list[int], list[int]] | None = None
        self.stages: list[int] = []
        self.left = [0] * len(STAGES)
        self.left_together = [0] * len(STAGES)
        self.left_alone: list[list[int]] = []
        self.causes: list[tuple[int, object]] = [(0, "")] * len(STAGES)
        self._shared = False

    @classmethod
    def empty(
        cls, bind: Callable[[int], Arguments], variables: dict[str, AbstractHandle]
    ) -> "Realization":
        """Return that of a State without subsystems; the handles are those of `new_variables`."""
        new = cls(Store(), Layout(variables), bind)
        layout = new.layout
        for stage in STAGES[TOPOLOGY:INFINITY]:
            layout.stages[stage] = node = new._add(f"stage {stage}", NodeKind.STAGE)
            new.store.open(node)
            if stage > TOPOLOGY:
                new.store.connect(node, layout.stages[stage - 1])
        for handle in layout.variables.values():
            new._add(handle, NodeKind.VARIABLE)
        for kind in WEIGHTS:
            layout.weights[kind.name] = new._add(kind.name, NodeKind.VARIABLE)
        return new

    def copy(self, bind: Callable[[int], Arguments]) -> "Realization":
        """Return that of a copy of the State: at Instance, if that is reached here.

        What was allocated but not advanced over is left out. Cost O(nodes), as copies of flat
        lists, and O(groups that go out of date).
        """
        twin = Realization(self.store.copy(), self.layout, bind)
        twin._shared = self._shared = True
        twin.causes = self.causes.copy()
        twin.stage = min(self.stage, INSTANCE)
        twin.stages = [min(stage, INSTANCE) for stage in self.stages]
        twin.is_even = self.is_even
        twin.left = _all_left_above(self.left, twin.stage, INFINITY)
        twin.left_together = self.left_together.copy()
        twin.left_alone = [
            _all_left_above(left, stage, INFINITY)
            for left, stage in zip(self.left_alone, twin.stages, strict=True)
        ]
        twin.touch(TIME, "the copy of the State", (twin.layout.stages[TIME],))
        twin.highest = min(self.highest, INSTANCE)
        twin.floor = self.floor
        twin.peaks = self.peaks
        for nodes in twin.layout.stage_nodes[TIME:]:
            for node in nodes.values():
                twin.store.close(node)
        twin._forget(self.left_out())
        return twin

    def clone(self, bind: Callable[[int], Arguments]) -> "Realization":
        """Return that of a State that is realized as far as this one, with all that is valid."""
        twin = Realization(self.store.copy(), self.layout, bind)
        twin._shared = self._shared = True
        twin.causes = self.causes.copy()
        twin.stage = self.stage
        twin.highest = self.highest
        twin.is_even = self.is_even
        twin.stages = self.stages.copy()
        twin.left = self.left.copy()
        twin.left_together = self.left_together.copy()
        twin.left_alone = self.left_alone.copy()
        twin.floor = self.floor
        twin.peaks = self.peaks
        return twin

    def exceed(self, other: "Realization") -> None:
        """Let every version number exceed those of both."""
        self.store.exceed(other.store)
        topology = self.left[TOPOLOGY]
        self.left = [
            max(m, o) + 2 for m, o in zip(self._peaks()[0], other._peaks()[0], strict=True)
        ]
        self.left[TOPOLOGY] = topology  # which goes with the System, not with the State
        self.floor = max(self._most_left(), other._most_left()) + 2
        self.left_together = [self.floor] * len(STAGES)
        self.left_alone = [[0] * len(STAGES) for _ in self.left_alone]

    def _most_left(self) -> int:
        """No subsystem left a stage more often."""
        together = max(self._peaks()[1])
        return max(self.floor, together + max(map(max, self.left_alone), default=0))

    def _peaks(self) -> tuple[list[int], list[int]]:
        """By stage: how often the system, and all subsystems together, left it at most."""
        if self.peaks is None:
            return self.left, self.left_together
        left, together = self.peaks
        return _highest(self.left, left), _highest(self.left_together, together)

    def _used(self) -> tuple[list[int], list[int]]:
        """The same, counting those as left that are realized now."""
        left = [count + (g <= self.stage) for g, count in enumerate(self.left)]
        together = [count + (g <= self.highest) for g, count in enumerate(self.left_together)]
        if self.peaks is None:
            return left, together
        return _highest(left, self.peaks[0]), _highest(together, self.peaks[1])

    def remember_left(self, present: "Realization", left_alone: list[list[int]]) -> None:
        """Let stages not have a number again that they had at present, before a rollback.

        `present` is what the State consists of now, and `left_alone` what will be brought back.
        """
        left, together = present._used()
        if present is self:
            pairs = zip(self.left_alone, left_alone, strict=False)
            alone = [max(a - b for a, b in zip(n, k, strict=True)) for n, k in pairs if n is not k]
            extra = max(alone, default=0)
        else:
            left, together = map(_highest, (left, together), self._used())
            extra = max(present._most_left(), self._most_left())
        if present is not self or len(self.left_alone) > len(left_alone):
            self.floor = max(self._most_left(), present._most_left()) + 1
        self.peaks = left, [count + max(extra, 0) for count in together]

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
            store.keep(node)
            store.exceed_rewound(node)

    def become_laid_out(self, layout: Layout) -> None:
        """Have the items that another layout, of before, lists."""
        self.layout = layout
        self.evaluator.functions = layout.functions
        self.evaluator.equals = layout.equals
        self.evaluator.arguments = [None] * len(layout.functions)

    def share(self) -> None:
        """Let the layout be copied before it is changed: somebody else has it, too."""
        self._shared = True

    def left_out(self) -> list[int]:
        """By subsystem: what was allocated at this stage or later is not advanced over."""
        return [stage if stage < INSTANCE else INFINITY for stage in self.stages]

    # ------------------------------------------------------------------ allocating

    def add_subsystem(self, name: str, version: str, wholes: dict[str, ContinuousVariable]) -> int:
        """Add one that is empty; the handles of its q, u and z are those of `new_wholes`."""
        layout = self._own_layout()
        index = len(layout.subsystems)
        layout.subsystems.append(SubsystemLayout(name, version, wholes))
        for whole in wholes.values():
            whole._allocated(index, 0, STAGES[EMPTY])
            self._add(whole, NodeKind.VARIABLE)
        layout.changed()
        self.stages.append(EMPTY)
        self.left_alone.append([max(0, self.floor - left) for left in self.left_together])
        return index

    def rename_subsystem(self, index: int, name: str, version: str) -> None:
        """Give it another name and version."""
        subsystem = self._own_layout().subsystems[index]
        subsystem.name = name
        subsystem.version = version

    def add_block(self, block: AbstractContinuousVariable, rows: Rows) -> None:
        """Add some q, u or z."""
        assert block.subsystem is not None
        subsystem = self.own_subsystem(block.subsystem)
        block.slot = len(subsystem.blocks[block.kind])
        self._add(block, NodeKind.VARIABLE)
        subsystem.blocks[block.kind].append(block)
        subsystem.rows[block.kind].append(rows)
        self.layout.changed()

    def add_discrete(self, variable: DiscreteVariable[Any], value: object) -> None:
        """Add a discrete variable."""
        assert variable.subsystem is not None
        subsystem = self.own_subsystem(variable.subsystem)
        self._add(variable, NodeKind.VARIABLE, value=value)
        subsystem.discrete.append(variable)
        if variable._update is not None:
            subsystem.auto_update.append(variable)

    def add_entry(
        self,
        entry: CacheEntry[Any],
        prerequisites: tuple[AbstractHandle, ...],
        value: object,
        function: Function = no_function,
        equal: Equal | None = None,
    ) -> None:
        """Add a cache entry; cost O(its prerequisites), amortised.

        One with a function is never presumed computed: it is computed when it is read. Its values
        may be compared.
        """
        self._own_layout()
        assert entry.subsystem is not None
        above = [p._node for p in prerequisites]
        above.append(self._stage_node(entry.subsystem, entry.depends_on))
        latest = NEVER
        if entry.computed_by < INFINITY and function is no_function:
            latest = self._stage_node(entry.subsystem, entry.computed_by)
        self._add(entry, NodeKind.CACHE_ENTRY, tuple(above), latest, value, function, equal)
        self.layout.subsystems[entry.subsystem].entries.append(entry)

    def own_subsystem(self, index: int) -> SubsystemLayout:
        """The layout of a subsystem, to be changed."""
        return self._own_layout().subsystems[index]

    def _stage_node(self, index: int, stage: Stage) -> int:
        """The node of a subsystem's stage, which is made when it is first needed."""
        subsystem = self.layout.subsystems[index]
        node = subsystem.stages[stage]
        if node == NO_NODE:
            key = f"stage {stage} of {self.layout.label(index)}"
            node = subsystem.stages[stage] = self._add(key, NodeKind.STAGE)
            self.store.connect(node, self.layout.stages[stage])
            self.layout.stage_nodes[stage][index] = node
            if self.stages[index] >= stage:
                self.store.open(node)
        return node

    def _add(
        self,
        key: str | AbstractHandle,
        kind: NodeKind,
        prerequisites: tuple[int, ...] = (),
        latest: int = NEVER,
        value: object = None,
        function: Function = no_function,
        equal: Equal | None = None,
    ) -> int:
        layout = self.layout
        reserved = -1
        if isinstance(key, AbstractHandle) and key._owner is not None and key._node != NOWHERE:
            reserved = key._node  # which it has in States of older topologies, too
        is_compared = equal is not None
        node = self.store.add(key, kind, prerequisites, latest, value, reserved, is_compared)
        self._extend()
        layout.functions[node] = function
        if equal is not None:
            layout.equals[node] = equal
        if isinstance(key, AbstractHandle):
            key._node = node
            key._serial = layout.serial = layout.serial + 1
        return node

    def reserve(self, handles: Iterable[AbstractHandle]) -> None:
        """Keep the nodes free that declared items have in States of an older topology.

        So an item is at one node in all States, and those that are outdated stay coherent.
        """
        self.store.reserve(1 + max(h._node for h in handles if h._node != NOWHERE))
        self._extend()

    def _extend(self) -> None:
        functions = self.layout.functions
        while len(functions) < len(self.store.keys):
            functions.append(no_function)
            self.evaluator.arguments.append(None)

    def _own_layout(self) -> Layout:
        if self._shared:
            self.layout = self.layout.copy()
            self.evaluator.functions = self.layout.functions
            self.evaluator.equals = self.layout.equals
            self._shared = False
        return self.layout

    def _forget(self, stages: list[int]) -> None:
        """Forget what each subsystem allocated at its stage of these, or at a later one."""
        layout = self.layout
        going = [
            x
            for x, stage in enumerate(stages)
            if stage < INSTANCE and layout.subsystems[x].has_from(stage)
        ]
        if not going:
            return
        layout = self._own_layout()
        handles: list[AbstractHandle] = []
        for x in going:
            items = layout.subsystems[x].items()
            handles += [item for item in items if item.allocated_at >= stages[x]]
            layout.subsystems[x].forget_from(stages[x])
        handles.sort(key=_serial, reverse=True)
        for handle in handles:
            self.store.remove(handle._node)
            layout.functions[handle._node] = no_function
            layout.equals.pop(handle._node, None)
        layout.changed()

    def abandon(self, subsystem: int) -> None:
        """Forget what a subsystem allocated at its present stage: realizing the next one failed."""
        stages: list[int] = [INFINITY] * len(self.stages)
        stages[subsystem] = self.stages[subsystem]
        self._forget(stages)

    # ------------------------------------------------------------------ stages

    def version(self, stage: int) -> int:
        """How many times the system left that stage, and one."""
        return self.left[stage] + 1 if stage else 1

    def version_in(self, subsystem: int, stage: int) -> int:
        """How many times a subsystem left that stage, and one."""
        if not stage:
            return 1
        return self.left_together[stage] + self.left_alone[subsystem][stage] + 1

    def advance_subsystem(self, subsystem: int, stage: int) -> None:
        """Let a subsystem reach the stage after its present one."""
        node = self.layout.stage_nodes[stage].get(subsystem, NO_NODE)
        if node != NO_NODE:
            if node in self.store.closed:
                self.store.admit(node)
            self.store.presume(node)
        if self.peaks is not None and self.left_together[stage] < self.peaks[1][stage]:
            self._exceed_peak_in(subsystem, stage, self.peaks[1][stage])
        self.is_even = False
        self.stages[subsystem] = stage
        self.highest = max(self.highest, stage)

    def advance_system(self, stage: int) -> None:
        """Let the system reach the stage after its present one."""
        if self.peaks is not None:
            self.left[stage] = max(self.left[stage], self.peaks[0][stage])
        self.stage = stage
        self.highest = max(self.highest, stage)
        self.is_even = self.highest == stage

    def touch(self, stage: int, cause: object, nodes: Sequence[int]) -> None:
        """Count a change of a stage, and so of all after it, and of variables that were written.

        The stage changes whether it is realized or not. The nodes are those of both.
        """
        self.store.write_all(nodes)
        self.causes[stage] = (self.store.clock, cause)

    def back_up(self, stage: int) -> None:
        """Let the system and all subsystems that are beyond a stage go back to it."""
        store = self.store
        left = self.left
        together = self.left_together
        stage_nodes = self.layout.stage_nodes
        if self.peaks is not None:
            self._exceed_peaks(stage, self.peaks)
        if not self.is_even:
            self._back_up_alone(stage)
        for g in range(stage + 1, self.highest + 1):
            if self.is_even:
                together[g] += 1
            if g <= self.stage:
                left[g] += 1
            if stage_nodes[g]:
                for node in stage_nodes[g].values():
                    store.close(node)
        self.stages = [stage] * len(self.stages) if self.is_even else self.stages
        self.stage = min(self.stage, stage)
        self.highest = stage
        if stage < INSTANCE:
            self._forget([stage] * len(self.stages))

    def exceed_peaks(self, last: int) -> None:
        """Let the stages up to one, which are to be reached, have versions that they never had."""
        if self.peaks is None:
            return
        left, together = self.peaks
        for g in range(self.stage + 1, last + 1):
            self.left[g] = max(self.left[g], left[g])
            if g > self.highest:
                self.left_together[g] = max(self.left_together[g], together[g])
            elif self.left_together[g] < together[g]:
                for x, at in enumerate(self.stages):
                    if at < g:
                        self._exceed_peak_in(x, g, together[g])

    def _exceed_peaks(self, stage: int, peaks: tuple[list[int], list[int]]) -> None:
        for g in range(stage + 1, self.highest + 1):
            self.left_together[g] = max(self.left_together[g], peaks[1][g])
            if g <= self.stage:
                self.left[g] = max(self.left[g], peaks[0][g] - 1)

    def _exceed_peak_in(self, subsystem: int, stage: int, peak: int) -> None:
        if self.highest < stage:  # nobody has reached it
            self.left_together[stage] = peak
        else:
            left = self.left_alone[subsystem].copy()
            left[stage] += peak - self.left_together[stage]
            self.left_alone[subsystem] = left

    def _back_up_alone(self, stage: int) -> None:
        for x, at in enumerate(self.stages):
            if at > stage:
                self.left_alone[x] = _all_left_above(self.left_alone[x], stage, at)
                self.stages[x] = stage


def new_variables() -> dict[str, AbstractHandle]:
    """Handles of what every State has: the time, and the whole q, u and z."""
    return {"time": TimeVariable(), **new_wholes()}


def new_wholes() -> dict[str, ContinuousVariable]:
    """Handles of a whole q, u and z."""
    return {kind: ContinuousVariable(kind) for kind in CONTINUOUS}


def _all_left_above(left: list[int], stage: int, at: int) -> list[int]:
    """How often each stage was left, after backing up from one to another that is not higher."""
    return [count + (stage < g <= at) for g, count in enumerate(left)]


def _highest(counts: list[int], others: list[int]) -> list[int]:
    """By stage: the higher number."""
    return [max(one, other) for one, other in zip(counts, others, strict=True)]


def _serial(handle: AbstractHandle) -> int:
    return handle._serial
