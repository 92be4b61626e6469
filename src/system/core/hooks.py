"""Hooks of a System, and records of what they read and write.

A hook declares nothing. So it is observed when it runs::

    realize_* of a Subsystem     in a realization of a copy of a State, once for each topology, when
                                 a view, `explain` or `impact` first asks; see `record`
    handler, reporter            when it is called for the first time

What was read in any recorded run counts: a hook that branches may read more than is known.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, final

from stagecache.graph.sources import source_of
from stagecache.inspection.reads import (
    AT_ONCE,
    Hook,
    Listener,
    Reader,
    Reads,
    RecordedHooks,
    Step,
)
from stagecache.state.contents.observer import observe
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.realizing import NOTHING, Schedule, Task
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.dynamics.accelerating import Dynamics
from stagecache.system.events.events import Event, EventCause

RUNTIME: Final = tuple(Stage)[Stage.TOPOLOGY : Stage.INFINITY]
COMPUTED_BY_DYNAMICS: Final = ("udot", "multipliers")


def noted_schedule(reads: Reads, schedule: Schedule) -> Schedule:
    """Return a schedule with the same calls; each reports to `reads` when it begins and ends."""
    tasks: list[list[Task]] = [
        [
            (
                x,
                reach if reach is NOTHING else reads.noted(reach, Step(stage, x, is_hook=True)),
                None if after is None else reads.noted(after, Step(stage, x, is_hook=False)),
                opens,
            )
            for x, reach, after, opens in each
        ]
        for stage, each in enumerate(schedule.tasks)
    ]
    return Schedule(tasks, schedule.num_subsystems)


@final
class HookRecords:
    """Reads and writes of the hooks of a System, in its present topology.

    Attributes
    ----------
    reads : Reads
        Reads and writes of all recorded runs.
    """

    __slots__ = ("_heard", "_is_asked", "reads")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all runs, as the topology has changed."""
        self.reads = Reads()
        self._is_asked = False
        self._heard: set[str] = set()  # events whose listeners were observed

    def of(self, system: Any, state: State) -> RecordedHooks:
        """Return all that is known, after a first recording if none was made.

        An error of the model ends that. Nothing is recorded for a State that is just being realized
        or computed.
        """
        contents = state._contents
        is_idle = contents.guard is None and not contents.realization.evaluator.running
        if not self._is_asked and is_idle and not contents.outdated_by:
            with suppress(Exception):  # a model may raise anything
                self.record(system, state)
        return RecordedHooks(tuple(hooks_of(system)), self.reads)

    def record(self, system: Any, state: State) -> None:
        """Realize a copy of a State through Report, and note what hooks read and write.

        Raises
        ------
        Exception
            Whatever a hook or a computation raises. What was read before is noted.
        """
        self._is_asked = True
        reads = Reads()
        copy = state.copy()
        contents = copy._contents
        observe(contents, Reader(contents, reads))
        try:
            if contents.realization.machine.stage >= Stage.INSTANCE:
                copy.invalidate_all(Stage.INSTANCE)
            if hides_steps(system):
                reads.noted(system.realize, AT_ONCE)(copy)
            else:
                noted = noted_schedule(reads, system._schedule)
                noted.realize(copy, contents, Stage.REPORT, [0] * len(Stage))
        finally:
            self._add(reads)

    def call(self, state: State, event: Event, call: Callable[[State], Any]) -> Any:
        """Call a handler or a reporter, and note what it reads and writes the first time."""
        if event.name in self._heard:
            return call(state)
        self._heard.add(event.name)
        reads = Reads()
        contents = state._contents
        reader = Reader(contents, reads)
        with state.lock:
            observe(contents, *contents.observers, reader)
        try:
            return reads.noted(call, Listener(event.name))(state)
        finally:
            with state.lock:
                observe(contents, *[other for other in contents.observers if other is not reader])
            self._add(reads)

    def _add(self, reads: Reads) -> None:
        for of, found in ((self.reads.sources, reads.sources), (self.reads.writers, reads.writers)):
            for key, items in found.items():
                of.setdefault(key, set()).update(items)


def hides_steps(system: Any) -> bool:
    """Return True if a System has a `realize` of its own, which may do more than its schedule."""
    return not type(system).realize.__module__.startswith("stagecache.system.")


def hooks_of(system: Any) -> Iterator[Hook]:
    """Yield the hooks of a System whose topology is realized, in the order of the model."""
    subsystems: tuple[Subsystem, ...] = system.subsystems
    if hides_steps(system):
        source = source_of(type(system).realize)
        yield Hook(AT_ONCE, None, "realize", "realize", Stage.REPORT, source)
    if Dynamics(subsystems).call_at(Stage.ACCELERATION) is not None:
        step = Step(Stage.ACCELERATION, 0, is_hook=True)
        writes = COMPUTED_BY_DYNAMICS
        yield Hook(step, None, "dynamics", "dynamics", Stage.ACCELERATION, writes=writes)
    for subsystem in subsystems:
        for stage in RUNTIME:
            name = f"realize_{stage.name.lower()}"
            hook = getattr(subsystem, name)
            if getattr(hook, "__func__", hook) is not getattr(Subsystem, name):
                step = Step(stage, subsystem.index, is_hook=True)
                yield Hook(step, subsystem.index, name, "realize", stage, source_of(hook))
    table = system._events.table
    events = [*table.events]
    if system.has_time_advanced_events:
        events += table.by_cause[EventCause.TIME_ADVANCED]
    for event in events:
        if event.handled_by is not None:
            yield _of_listener(event)


def _of_listener(event: Event) -> Hook:
    variant = "reporter" if event.is_report else "handler"
    source = source_of(getattr(event.handled_by, event.method))
    key = Listener(event.name)
    if not isinstance(event.handled_by, Subsystem):
        name = f"{variant} {event.name}"
        return Hook(key, None, name, variant, Stage.REPORT, source)
    x = event.handled_by.index
    return Hook(key, x, event.method, variant, Stage.REPORT, source, trigger=event.name)
