"""InvalidationMachine: subclasses with a System, rules and invariants of their own."""

from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from stagecache import AbstractHandle, System
from stagecache.errors import IncoherentError
from stagecache.testing import InvalidationMachine
from tests.testing.models import Forgetful, Lever, system_of

FEW = settings(max_examples=20, stateful_step_count=20, deadline=None, database=None)


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


TestLever = LeverMachine.TestCase
TestLever.settings = FEW


class OneSystem(InvalidationMachine):
    """All runs operate one System."""

    system = system_of(Lever())


TestOneSystem = OneSystem.TestCase
TestOneSystem.settings = FEW


def test_a_faulty_model_fails_with_its_program() -> None:
    once = settings(FEW, max_examples=100, phases=(Phase.generate, Phase.shrink))
    with pytest.raises(IncoherentError) as caught:
        run_state_machine_as_test(ForgetfulMachine, settings=once)
    assert caught.value.suspects == ("lever.length",)
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
