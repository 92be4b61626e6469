"""Realizing a State stage after stage, and within a stage subsystem after subsystem.

At each stage a subsystem may have a *task*: functions to call. It is idle at the others, which
costs nothing. For stage g, with a subsystem whose turn it is::

    idle subsystems    at g from the start
    tasks, in order    done: at g  |  its turn, first its hook: at g - 1, but  |  to come: at g - 1
                                   |  entries that need g can be computed;     |
                                   |  then entries that are due: at g          |
    the system         at g when all are

If a call raises, what is done is done, and realizing goes on there the next time.
"""

from collections.abc import Callable
from typing import Any, Final

from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import FROZEN, REALIZING
from stagecache.state.contents.pools import Pools
from stagecache.state.items.layout import NO_NODE
from stagecache.state.items.realization import Realization
from stagecache.state.items.stage_machine import (
    ACCELERATION,
    INSTANCE,
    MODEL,
    STAGES,
    TOPOLOGY,
    VELOCITY,
)
from stagecache.system.motion.paired import PairedRates

Call = Callable[[Any], Any]


Task = tuple[int, Call, Call | None, tuple[int, ...]]
"""The task of a subsystem at a stage: its index; the calls with the State, to reach the
stage, and once it is reached; and the subsystems whose entries of that stage can be computed from
then on, which are itself and those with which it is in a circle."""


def nothing(_: object) -> None:
    """Do nothing, for a subsystem without a hook."""


NOTHING: Final[Call] = nothing
"""The same, as a constant, which compiled code does not look up."""


class Calls:
    """Several calls as one."""

    __slots__ = ("_calls",)

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls

    def __call__(self, state: Any) -> None:
        """Call each, in order."""
        for call in self._calls:
            call(state)


class Schedule:
    """Tasks that realize each stage of the States of a System.

    Attributes
    ----------
    tasks : list of list of Task
        By stage.
    num_subsystems : int
    rates : PairedRates
        The default of qdot and qdotdot.
    """

    __slots__ = ("_at_start", "_hooks", "num_subsystems", "rates", "tasks")

    def __init__(self, tasks: list[list[Task]], num_subsystems: int) -> None:
        self.tasks = tasks
        self.num_subsystems = num_subsystems
        self.rates = PairedRates()
        # By stage and subsystem: its stage when the first task begins; the idle ones are done.
        self._at_start: list[list[int]] = []
        # By stage: the hooks, where tasks consist of nothing else.
        self._hooks: list[list[tuple[int, Call]] | None] = []
        for stage in range(len(tasks)):
            at: list[int] = [stage] * num_subsystems
            for x, _, _, _ in tasks[stage]:
                at[x] = stage - 1
            self._at_start.append(at)
            are_hooks = all(after is None for _, _, after, _ in tasks[stage])
            # At Instance hooks may allocate items, which takes more care.
            is_simple = are_hooks and (stage > INSTANCE or not tasks[stage])
            self._hooks.append([(x, hook) for x, hook, _, _ in tasks[stage]] if is_simple else None)

    def realize(self, state: Any, contents: Contents, last: int, counts: list[int]) -> None:
        """Realize all stages up to one, and count them."""
        guard = contents.guard
        if guard is REALIZING or guard is FROZEN or contents.is_computing_here():
            contents.require_unguarded("realize()")
        try:
            contents.guard = REALIZING
            self._realize_stages(state, contents, last, counts)
            contents.guard = guard
        except BaseException:
            contents.realization.is_torn = True
            contents.guard = guard
            contents.mend()
            raise

    def _realize_stages(self, state: Any, contents: Contents, last: int, counts: list[int]) -> None:
        """Realize all stages up to one, and count them.

        If a call raises, or Control-C strikes, stages may be open for subsystems that have not
        reached them: the State is torn, and must be mended.
        """
        realization = contents.realization
        machine = realization.machine
        if machine.versions.peak:
            machine.prepare(last)
        while machine.stage < MODEL and machine.stage < last:
            self._realize_with_sizes(state, contents, machine.stage + 1)
            counts[machine.stage] = counts[machine.stage] + 1
        pools = contents.pools
        stage_nodes = realization.layout.stage_nodes
        for stage in range(machine.stage + 1, last + 1):
            if stage == VELOCITY:
                self.rates.fill_qdot(contents)
            hooks = self._hooks[stage]
            if hooks is None or stage_nodes[stage] or pools.is_open or not machine.is_even:
                self._realize_with_entries(state, contents, stage)
            elif not hooks:
                if stage == INSTANCE:
                    pools.allocate(STAGES[INSTANCE], realization.layout)
                machine.reach_with_all(stage, self._at_start[stage])
            else:  # only hooks are called
                machine.begin(stage, self._at_start[stage])
                for x, hook in hooks:
                    hook(state)
                    if pools.is_open:
                        pools.seal_reached(stage, x)
                    machine.put(x, stage)
                machine.complete(stage)
            if stage == ACCELERATION:
                self.rates.fill_qdotdot(contents)
            counts[stage] = counts[stage] + 1

    def _realize_with_entries(self, state: Any, contents: Contents, stage: int) -> None:
        """Realize Instance or a later stage."""
        realization = contents.realization
        pools = contents.pools
        machine = realization.machine
        nodes = realization.layout.stage_nodes[stage]
        at_start = self._at_start[stage]
        if machine.is_even and not pools.is_open:
            for x in nodes:
                if at_start[x] == stage:
                    self._reach(realization, pools, x, stage)
            machine.begin(stage, at_start)  # last: the stage is open for all that are at it
        else:
            machine.begin_again(stage)
            for x, at in enumerate(at_start):
                if machine.stages[x] < at:
                    self._reach(realization, pools, x, stage)
                    machine.put(x, at)
        for x, reach, after, opens in self.tasks[stage]:
            if machine.stages[x] == stage:
                continue  # something was raised after it was done
            try:
                if nodes:
                    self._open(realization, opens, stage)
                if reach is not NOTHING:
                    reach(state)
                if x in nodes or pools.is_open:
                    self._reach(realization, pools, x, stage)
                machine.put(x, stage)
                if after is not None:
                    after(state)
            except BaseException:
                if stage == INSTANCE:
                    realization.abandoned = x  # first: another error may strike in a call
                machine.put(x, stage - 1)
                raise
        if stage == INSTANCE:
            pools.allocate(STAGES[INSTANCE], realization.layout)
        if pools.is_open:
            pools.seal_reached(stage, None)
        machine.complete(stage)

    def _realize_with_sizes(self, state: Any, contents: Contents, stage: int) -> None:
        """Realize Topology or Model."""
        realization = contents.realization
        for x, at in enumerate(self._at_start[stage]):
            if at == stage and realization.machine.stages[x] < stage:
                contents.advance(STAGES[stage], x)
        for x, reach, after, opens in self.tasks[stage]:
            if realization.machine.stages[x] < stage:
                try:
                    self._open(realization, opens, stage)
                    reach(state)
                    contents.advance(STAGES[stage], x)
                    if after is not None:
                        after(state)
                except BaseException:
                    if stage > TOPOLOGY:  # of a new State, all is forgotten
                        realization.abandoned = x  # first, as above
                    realization.machine.put(x, stage - 1)
                    raise
        contents.advance(STAGES[stage], None)

    def _reach(self, realization: Realization, pools: Pools, x: int, stage: int) -> None:
        """Let a subsystem reach a stage that others wait for, or to which views were handed out."""
        if pools.is_open:
            pools.seal_reached(stage, x)
        node = realization.layout.stage_nodes[stage].get(x, NO_NODE)
        if node != NO_NODE:
            realization.store.admit(node)
            realization.store.presume(node)

    def _open(self, realization: Realization, subsystems: tuple[int, ...], stage: int) -> None:
        """Let entries of these subsystems that depend on the stage be computed."""
        nodes = realization.layout.stage_nodes[stage]
        store = realization.store
        for x in subsystems:
            if x in nodes:
                store.admit(nodes[x])
