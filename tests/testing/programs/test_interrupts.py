"""Interrupts in programs of the kit: where they strike, and what they leave alone."""

import sys
from types import FrameType
from typing import Any

import pytest

from stagecache import Stage, State, Subsystem, System, cached
from stagecache.testing.items import Item
from stagecache.testing.oracle.oracle import Subject, entries_now
from stagecache.testing.programs.interrupts import Interrupt, interrupted
from stagecache.testing.programs.operation import ReadEntry, Realize
from stagecache.testing.programs.run import Run
from stagecache.testing.watch import Watch
from tests.testing.models import Fragile, Lever, system_of
from tests.testing.mutants.models import slide, springs


class Noting(Lever):
    """A lever that notes what it has begun and ended."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    @cached(prerequisites=(Lever.end, Lever.mass))
    def moment(self, state: State) -> float:
        self.noted.append("moment")
        value = self.mass(state) * float(self.end(state)[0])
        self.noted.append("end of moment")
        return value

    def realize_velocity(self, state: State) -> None:
        self.noted.append("hook")
        state[self].upd_qdot()[0] = self.moment(state)


def strikes(system: System) -> int:
    """How often something strikes in a realization and a read of all entries."""

    def do() -> None:
        state = system.new_state()
        system.realize(state)
        for subsystem in system.subsystems:
            for name in subsystem.declarations:
                found = getattr(subsystem, name)
                for handle in [found] if callable(found) else found:
                    handle(state)

    count = 0
    while interrupted(system, count, do):
        count += 1
    return count


@pytest.mark.parametrize(
    ("at", "noted"),
    [
        (0, []),
        (1, ["hook"]),
        (2, ["hook", "moment"]),
        (3, ["hook", "moment"]),
        (4, ["hook", "moment", "end of moment"]),
        (5, ["hook", "moment", "end of moment"]),
        (6, ["hook", "moment", "end of moment"]),
    ],
)
def test_it_strikes_where_computations_and_hooks_begin_and_end(at: int, noted: list[str]) -> None:
    lever = Noting()
    system = system_of(lever)
    state = system.new_state()
    assert interrupted(system, at, lambda: system.realize(state)) == (at < 6)
    assert lever.noted == noted
    assert (state.stage >= Stage.VELOCITY) == (at == 6)
    system.realize(state)
    assert lever.moment(state) == 0.5
    assert state.qdot.tolist() == [0.5]


def test_it_strikes_in_families_and_rows() -> None:
    assert strikes(springs()) == 2 * (3 + 1)
    assert strikes(slide()) == 20


def test_a_debugger_goes_on_afterwards() -> None:
    system = system_of(Noting())
    state = system.new_state()
    seen: list[str] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if event == "call":
            seen.append(frame.f_code.co_name)
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        interrupted(system, 1, lambda: system.realize(state))
        assert sys.gettrace() is trace
        system.realize(state)
    finally:
        sys.settrace(before)
    assert seen.count("realize_velocity") == 1


def test_an_interrupt_by_somebody_else_goes_through() -> None:
    class Interrupted(Subsystem):
        @cached(prerequisites=())
        def value(self, state: State) -> float:
            raise KeyboardInterrupt

    subsystem = Interrupted()
    system = System(subsystem)
    state = system.new_state()
    with pytest.raises(KeyboardInterrupt):
        interrupted(system, 9, lambda: subsystem.value(state))


def test_a_model_that_raises_does_so_in_the_operation_as_in_its_text() -> None:
    lever = Fragile()
    system = system_of(lever)
    run = Run(system)
    lever.length.set(run.states[0], 0.0)
    curvature = Item("entry", 1, lever.curvature.index)
    assert run.perform([Interrupt(ReadEntry(curvature), 9), Interrupt(Realize(), 1)]) == 2
    assert run.lines == [
        "with contextlib.suppress(ZeroDivisionError):\n"
        "    interrupted(system, 9, lambda: lever.curvature(state))",
        "interrupted(system, 1, lambda: system.realize(state))",
    ]


@pytest.mark.parametrize("at", range(4))
def test_what_was_cut_short_is_right_afterwards(at: int) -> None:
    watch = Watch(Run(slide()), slide())
    for operation in (Interrupt(Realize(), at), Realize(), Interrupt(Realize(), at)):
        watch.perform(operation)
    watch.check_all()
    assert watch.run.states[0].stage == Stage.REPORT


class Rate(Subsystem):
    """Reads what another subsystem fills at Velocity."""

    @cached(available_from=Stage.VELOCITY)
    def rate(self, state: State) -> float:
        return float(state.qdot[0])


def test_entries_of_a_subsystem_that_is_beyond_the_system_are_not_read() -> None:
    rate = Rate()
    system = System(rate=rate, lever=Noting())
    state = system.new_state()
    item = Subject(Item("entry", rate.index))
    system.realize(state, Stage.POSITION)
    assert interrupted(system, 0, lambda: system.realize(state, Stage.VELOCITY))
    assert state[rate].stage == Stage.VELOCITY > state.stage
    assert item not in entries_now(state, valid=False)
    system.realize(state, Stage.VELOCITY)
    assert item in entries_now(state, valid=False)
