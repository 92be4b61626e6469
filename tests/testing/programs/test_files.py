"""Saved States in programs of the kit."""

from collections.abc import Callable
from typing import Any

import pytest

from stagecache import Stage, State, Subsystem, System, cached, discrete, register_value
from stagecache.errors import IncoherentError
from stagecache.testing import Run, check_coherence
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.report import error_of
from stagecache.testing.programs.files import SaveAndLoad
from stagecache.testing.programs.inventory import Inventory
from stagecache.testing.programs.operation import (
    AbstractOperation,
    Copy,
    MakeMark,
    ReadAll,
    Realize,
    RollBack,
)
from stagecache.testing.programs.run import MOST_STATES
from stagecache.testing.watch import Watch
from tests.testing.models import Lever, system_of
from tests.testing.mutants.elsewhere import LosesInFile
from tests.testing.mutants.models import slide, springs


class Rod:
    """A rod, which remembers its area once somebody has asked for it."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.areas: list[float] = []

    def area(self) -> float:
        self.areas.append(self.width**2)
        return self.areas[-1]


register_value(Rod, to=lambda rod: rod.width, of=Rod)


def programs() -> list[list[AbstractOperation]]:
    start: list[AbstractOperation] = [Realize(), ReadAll(), MakeMark()]
    return [
        [*start, SaveAndLoad(), RollBack(), Realize(), ReadAll()],
        [*start, SaveAndLoad(with_cache=True), ReadAll(), MakeMark(), RollBack(where=1), ReadAll()],
        [*start, SaveAndLoad(joins=True), RollBack(), ReadAll(where=1), SaveAndLoad(where=1)],
        [*start, SaveAndLoad(joins=True, with_cache=True), ReadAll(where=1), Copy(where=1)],
    ]


@pytest.mark.parametrize("program", programs())
@pytest.mark.parametrize("make", [slide, springs, lambda: system_of(Lever())])
def test_a_program_goes_on_with_what_was_loaded(
    make: Callable[[], System], program: list[AbstractOperation]
) -> None:
    watch = Watch(Run(make()), make())
    first = watch.run.states[0]
    for operation in program:
        watch.perform(operation)
    watch.check_all()
    system = make()
    names: dict[str, Any] = {subsystem.name: subsystem for subsystem in system.subsystems}
    names |= {"system": system, "state": system.new_state(), "State": State}
    exec("\n".join(watch.run.lines), names)
    state = names["state"]
    assert state.stage == watch.run.states[0].stage
    joins = any(isinstance(x, SaveAndLoad) and x.joins for x in program)
    assert (watch.run.states[0] is first) == joins
    assert len(watch.run.states) <= MOST_STATES


def test_a_checkpoint_of_a_replaced_state_is_not_gone_back_to() -> None:
    run = Run(system_of(Lever()))
    run.perform([MakeMark(), SaveAndLoad(), RollBack()])
    assert run.lines == [
        "mark = state.checkpoint()",
        "state = State.from_bytes(state.to_bytes(), system)",
    ]


def test_a_state_that_cannot_be_saved_is_not() -> None:
    class Holding(Lever):
        held = discrete(factory=lambda _: object(), invalidates=Stage.REPORT)

    system = system_of(Holding())
    assert not Inventory(system).can_be_saved
    assert Run(system).perform([SaveAndLoad()]) == 0
    assert Inventory(system_of(Lever())).can_be_saved


def test_what_is_lost_by_saving_is_told_by_the_variable() -> None:
    with pytest.raises(IncoherentError) as caught:
        check_coherence(springs(LosesInFile), seed=0)
    assert caught.value.what.startswith("springs.cargo: is another one once it was saved")
    assert "register_value" in caught.value.hint
    with pytest.raises(AssertionError):
        exec(caught.value.program, {"system": springs(LosesInFile)})


def test_what_a_value_remembers_of_itself_may_be_lost() -> None:
    class Beam(Subsystem):
        rod = discrete(Rod(2.0), invalidates=Stage.REPORT)

        @cached(prerequisites=(rod,))
        def width(self, state: State) -> float:
            return self.rod(state).width

    remembering = Rod(2.0)
    remembering.area()
    beam = Beam()
    system = System(beam)
    run = Run(system)
    beam.rod.set(run.states[0], remembering)
    assert Watch(run, system).perform(SaveAndLoad())
    assert not beam.rod(run.states[0]).areas


class Jamming(Lever):
    """A lever whose hook raises as soon as its System is jammed."""

    def __init__(self) -> None:
        self.jammed: list[bool] = []

    def realize_instance(self, state: State) -> None:
        if self.jammed:
            raise ValueError("jammed")


def test_a_hook_that_raises_when_a_state_is_loaded_is_told_unless_it_always_does() -> None:
    used, fresh = Jamming(), Jamming()
    watch = Watch(Run(system_of(used)), system_of(fresh))
    watch.perform(Realize())
    state = watch.run.states[0]
    used.jammed.append(True)
    with pytest.raises(Failure) as caught:
        watch.perform(SaveAndLoad())
    assert error_of(caught.value).what.startswith("lever.realize_instance: raises, and in a fresh")
    fresh.jammed.append(True)
    for joins in (False, True):
        assert watch.perform(SaveAndLoad(joins=joins))
    assert watch.run.states == [state]
    assert watch.run.lines[-1].startswith("with contextlib.suppress(Exception):\n")
