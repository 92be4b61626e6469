"""What raises in every program hides what else is wrong, so it is a fault of its own."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from stagecache import Stage, State, cached, simbody, strict
from stagecache.errors import NeverComputedError, UndeclaredPrerequisiteError
from stagecache.testing import CheckResult, check_coherence, check_strict
from tests.testing.models import Forgetful, Fragile, Lever, system_of

FEW = settings(max_examples=10)


class Mistyped(Lever):
    """An entry and a hook use names that there are not."""

    @cached(prerequisites=(Lever.length,))
    def area(self, state: State) -> float:
        return self.lenght(state) ** 2  # type: ignore[attr-defined,no-any-return]  # the fault

    @cached(prerequisites=(area,))
    def volume(self, state: State) -> float:
        return self.area(state) * self.length(state)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_udt()[:] = 0.0  # type: ignore[attr-defined]  # the fault


class Remembering(Lever):
    """A computation stores in the model what it has computed, which is refused."""

    known: float | None = None

    @cached(prerequisites=(Lever.mass,))
    def weight(self, state: State) -> float:
        if self.known is None:
            self.known = self.mass(state)
        return self.known


class Waiting(Lever):
    """An entry that somebody else has to fill, and one that is computed from it."""

    @cached(prerequisites=(Lever.angle,))
    def reading(self, state: State) -> float:
        return float(simbody.get_cache_entry(state[self], self.gauge))

    def realize_topology(self, state: State) -> None:
        self.gauge = state[self].allocate_cache_entry(Stage.POSITION, value=0.0)


class Jammed(Lever):
    """A hook raises, whatever the variables are."""

    def realize_velocity(self, state: State) -> None:
        raise ValueError(f"stuck at {self.angle(state) * 0}")


@pytest.mark.parametrize("check", [check_coherence, check_strict])
def test_an_entry_that_always_raises_is_named_with_its_line(
    check: Callable[..., CheckResult],
) -> None:
    with pytest.raises(NeverComputedError) as caught:
        check(system_of(Mistyped()), settings=FEW)
    error = caught.value
    assert error.what == "lever.area: raises in every program in which it is computed"
    assert "AttributeError" in error.got
    assert "lenght" in error.got
    assert f"test_never_computed.py:{line_of(Mistyped.area.compute) + 2}" in error.got
    assert "lever.realize_dynamics: AttributeError" in error.got
    assert error.suspects == ("lever.area", "lever.realize_dynamics")  # volume is a consequence
    assert error.program.splitlines()[-1] == "lever.area(state)"
    with pytest.raises(AttributeError, match="lenght"):
        exec(error.program, {"system": system_of(Mistyped())})


def line_of(function: Any) -> int:
    line: int = function.__code__.co_firstlineno
    return line


def test_a_stage_that_is_never_realized_is_named() -> None:
    with pytest.raises(NeverComputedError) as caught:
        check_coherence(system_of(Jammed()), settings=FEW)
    error = caught.value
    assert error.what.startswith("lever.realize_velocity: ")
    assert "ValueError: stuck at" in error.got
    assert error.program.splitlines()[-1] == "system.realize(state, Stage.VELOCITY)"
    with pytest.raises(ValueError, match="stuck"):
        exec(error.program, {"system": system_of(Jammed())})


def test_a_refusal_of_the_library_is_told_with_its_hint() -> None:
    with pytest.raises(NeverComputedError) as caught:
        check_coherence(system_of(Remembering()), settings=FEW)
    assert caught.value.suspects == ("lever.weight",)
    assert "ConstModelError: lever.known" in caught.value.got
    assert "store this in a cache entry" in caught.value.hint


@pytest.mark.parametrize("check", [check_coherence, check_strict])
def test_what_raises_for_some_values_only_is_no_fault(check: Callable[..., CheckResult]) -> None:
    for seed in range(3):
        check(system_of(Fragile()), settings=settings(max_examples=1), seed=seed)


def test_what_waits_for_somebody_to_fill_it_is_counted_and_no_fault() -> None:
    result = check_coherence(system_of(Waiting()), settings=FEW)
    assert (result.computed, result.entries) == (2, 4)
    assert str(result).endswith(" operations, 2 of 4 entries computed")


def test_the_result_tells_how_many_entries_were_computed() -> None:
    result = check_strict(system_of(Lever()), settings=FEW)
    assert (result.computed, result.entries) == (2, 2)
    assert str(result).endswith(" operations")


def test_what_strict_mode_raises_that_others_have_begun_is_told_as_by_strict_mode() -> None:
    with strict(), pytest.raises(UndeclaredPrerequisiteError) as caught:
        check_coherence(system_of(Forgetful()), settings=FEW)
    (note,) = caught.value.__notes__
    with pytest.raises(UndeclaredPrerequisiteError):
        exec(note, {"system": system_of(Forgetful())})
