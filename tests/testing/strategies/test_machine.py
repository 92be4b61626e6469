"""InvalidationMachine: subclasses with a System, rules and invariants of their own."""

from typing import Any

import pytest
from hypothesis import Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from stagecache import (
    Stage,
    State,
    System,
    cached,
    parameter,
)
from stagecache.errors import IncoherentError
from stagecache.state import (
    AbstractHandle,
)
from stagecache.testing import InvalidationMachine
from stagecache.testing.programs.operation import ReadAll, Realize
from stagecache.testing.programs.programs import steps
from stagecache.testing.programs.run import Run
from stagecache.testing.watch import Watch
from tests.interrupting import ignore_lost_strikes, struck
from tests.testing.models import Forgetful, Lever, system_of

FEW = settings(max_examples=20, stateful_step_count=20, deadline=None, database=None)

ONCE = settings(FEW, max_examples=100, phases=(Phase.generate, Phase.shrink))


class LeverMachine(InvalidationMachine):
    """A lever that is loaded."""

    lever: Lever

    def make_system(self) -> System:
        self.lever = Lever()
        return system_of(self.lever)

    @rule(mass=st.floats(0, 10))
    def load(self, mass: float) -> None:
        self.lever.mass.set(self.state, mass)

    @invariant()
    def there_is_always_a_state(self) -> None:
        assert self.states[0] is self.state


class ForgetfulMachine(LeverMachine):
    """The same, of a lever whose end does not name the length."""

    def make_system(self) -> System:
        self.lever = Forgetful()
        return system_of(self.lever)


class StruckMachine(LeverMachine):
    """Operations are struck on a copy, with which the kit then goes on."""

    @rule(data=st.data(), changing=st.booleans())
    def strike(self, data: st.DataObject, changing: bool) -> None:
        operations = data.draw(steps(self._has, changing=changing), label="operations")

        def prepare() -> Run:
            return Run(self.system, self.state.copy(keep_cache=True))

        def operate(run: Run) -> None:
            run.perform(operations)

        for run, _ in struck(data, prepare, operate):
            watch = Watch(Run(self.system, run.states[0]), self._watch.system)
            watch.check_all()
            for operation in (Realize(Stage.REPORT), ReadAll(), *operations, ReadAll()):
                watch.perform(operation)
            watch.check_all()


TestStruck = ignore_lost_strikes(StruckMachine.TestCase)
TestStruck.settings = FEW


class OneSystem(InvalidationMachine):
    """All runs operate one System."""

    system = system_of(Lever())


TestOneSystem = OneSystem.TestCase
TestOneSystem.settings = FEW


def test_a_faulty_model_fails_with_its_program() -> None:
    class WithoutRules(InvalidationMachine):  # of its own, so that the program is complete
        def make_system(self) -> System:
            return system_of(Forgetful())

    with pytest.raises(IncoherentError) as caught:
        run_state_machine_as_test(seed(12)(WithoutRules), settings=ONCE)
    assert caught.value.suspects == ("lever.length",)
    assert caught.value.program
    with pytest.raises(AssertionError):
        exec(caught.value.program, {"system": system_of(Forgetful())})


def test_strategies_of_a_subclass_are_used() -> None:
    seen: list[float] = []

    class Loaded(LeverMachine):
        def make_strategies(self) -> dict[AbstractHandle, st.SearchStrategy[Any]]:
            return {self.lever.length: st.floats(5, 6)}

        @invariant()
        def length_is_noted(self) -> None:
            seen.append(self.lever.length(self.state))

    run_state_machine_as_test(Loaded, settings=FEW)
    assert all(length == 1.0 or 5 <= length <= 6 for length in seen)


class ShrunkMachine(LeverMachine):
    """A rule of its own makes stale what only the rules of the kit see."""

    def make_system(self) -> System:
        self.lever = Shrinking()
        return system_of(self.lever)

    @rule()
    def shrink(self) -> None:
        assert isinstance(self.lever, Shrinking)
        self.lever.size.set(self.state, 0.25)


class Shrinking(Lever):
    """A width that does not name the size, which only the machine writes to anything."""

    size = parameter(1.0)

    @cached(prerequisites=(Lever.mass,))
    def width(self, state: State) -> float:
        return self.size(state)


def failures_of(machine: type[InvalidationMachine]) -> list[BaseException]:
    try:
        run_state_machine_as_test(machine, settings=ONCE)
    except BaseExceptionGroup as group:
        return [*group.exceptions]
    except AssertionError as error:
        return [error]
    return []


def test_a_program_that_lacks_the_steps_of_own_rules_is_left_out() -> None:
    class Deaf(ShrunkMachine):
        def make_strategies(self) -> dict[AbstractHandle, st.SearchStrategy[Any]]:
            assert isinstance(self.lever, Shrinking)
            return {self.lever.size: st.just(1.0)}

    (error,) = failures_of(seed(3)(Deaf))
    assert isinstance(error, IncoherentError)
    assert error.suspects == ("lever.size",)
    assert error.program == ""
    steps = "\n".join(error.__notes__)
    assert "state.shrink()" in steps


class PushedMachine(ForgetfulMachine):
    """A rule of its own makes stale what rules of the kit see, or the comparison after it."""

    @rule()
    def push(self) -> None:
        self.system.realize(self.state, Stage.MODEL)
        self.lever.moment(self.state)
        self.lever.length.set(self.state, 1.1)


@pytest.mark.parametrize("number", range(4))
def test_one_fault_is_one_failure_however_it_is_found(number: int) -> None:
    class Seeded(PushedMachine):
        pass

    (error,) = failures_of(seed(number)(Seeded))
    assert isinstance(error, IncoherentError)
