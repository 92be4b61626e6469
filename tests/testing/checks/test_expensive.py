"""Expensive entries: a fault is found after few computations of them, and so is a sound model."""

import time
from collections.abc import Callable

import pytest

from stagecache import State, Subsystem, System, cached, parameter, q_variable
from stagecache.errors import IncoherentError, StaleValueError, UndeclaredPrerequisiteError
from stagecache.testing import (
    CheckResult,
    check_coherence,
    check_pickle,
    check_precision,
    check_strict,
    check_threads,
)

SECONDS = 0.1
COMPUTATIONS: list[None] = []
"""One item for each expensive computation in this process."""


class Beam(Subsystem):
    """The deflection is expensive, the energy depends on it; both declare all that they read."""

    length = parameter(1.0)
    load = parameter(2.0)
    width = parameter(3.0)
    angle = q_variable(0.1)

    @cached(prerequisites=(angle, length))
    def deflection(self, state: State) -> float:
        return expensive(self.angle(state) * self.length(state))

    @cached(prerequisites=(deflection, load))
    def energy(self, state: State) -> float:
        return self.deflection(state) * self.load(state)


class ExpensiveMisses(Beam):
    deflection = cached(prerequisites=(Beam.angle,))(Beam.deflection.compute)
    energy = cached(prerequisites=(deflection, Beam.load))(Beam.energy.compute)


class OtherMisses(Beam):
    energy = cached(prerequisites=(Beam.deflection,))(Beam.energy.compute)


class ExpensiveHides(Beam):
    """It reads the length in a copy of the State, which strict mode does not see."""

    @cached(prerequisites=(Beam.angle,))
    def deflection(self, state: State) -> float:
        length = self.length(state.copy(keep_cache=True))
        return expensive(self.angle(state) * length)

    energy = cached(prerequisites=(deflection, Beam.load))(Beam.energy.compute)


class OtherHides(Beam):
    @cached(prerequisites=(Beam.deflection,))
    def energy(self, state: State) -> float:
        return self.deflection(state) * self.load(state.copy(keep_cache=True))


def expensive(value: float) -> float:
    COMPUTATIONS.append(None)
    time.sleep(SECONDS)
    return value


def fault_of(
    check: Callable[..., CheckResult], beam: Subsystem, kind: type[Exception]
) -> tuple[Exception, int]:
    """The error of a check, and the number of expensive computations until then."""
    COMPUTATIONS.clear()
    with pytest.raises(kind) as caught:
        check(System(beam=beam), seed=1)
    return caught.value, len(COMPUTATIONS)


@pytest.mark.parametrize(
    ("make", "kind", "most"),
    [
        (ExpensiveMisses, UndeclaredPrerequisiteError, 8),
        (OtherMisses, UndeclaredPrerequisiteError, 4),
        (ExpensiveHides, StaleValueError, 8),
        (OtherHides, StaleValueError, 9),
    ],
)
def test_the_first_check_finds_a_missing_prerequisite_in_few_computations(
    make: type[Beam], kind: type[Exception], most: int
) -> None:
    error, count = fault_of(check_strict, make(), kind)
    assert count <= most
    (note,) = error.__notes__
    with pytest.raises(kind):
        exec(note, {"system": System(beam=make())})


@pytest.mark.parametrize(
    ("make", "suspect"),
    [
        (ExpensiveMisses, "beam.length"),
        (OtherMisses, "beam.load"),
        (ExpensiveHides, "beam.length"),
        (OtherHides, "beam.load"),
    ],
)
def test_coherence_names_the_missing_prerequisite_after_few_computations(
    make: type[Beam], suspect: str
) -> None:
    error, count = fault_of(check_coherence, make(), IncoherentError)
    assert isinstance(error, IncoherentError)
    assert count <= 13
    assert error.suspects == (suspect,)
    with pytest.raises(AssertionError):
        exec(error.program, {"system": System(beam=make())})


@pytest.mark.parametrize(
    "check", [check_strict, check_coherence, check_precision, check_pickle, check_threads]
)
def test_a_sound_model_passes_with_few_computations(check: Callable[..., CheckResult]) -> None:
    COMPUTATIONS.clear()
    result = check(System(beam=Beam()), seed=1)
    assert result.examples in (25, 100)
    assert result.operations > 500
    assert 1 <= len(COMPUTATIONS) <= 20


def test_what_a_check_remembers_is_forgotten_at_its_end() -> None:
    system = System(beam=Beam())
    check_pickle(system, seed=1)
    COMPUTATIONS.clear()
    beam = system["beam"]
    assert isinstance(beam, Beam)
    for _ in range(2):
        beam.deflection(system.new_state())
    assert len(COMPUTATIONS) == 2


class Drifting(Beam):
    """The expensive value differs each time."""

    @cached(prerequisites=(Beam.angle, Beam.length))
    def deflection(self, state: State) -> float:
        return expensive(len(COMPUTATIONS) * self.length(state))

    energy = cached(prerequisites=(deflection, Beam.load))(Beam.energy.compute)


def test_an_expensive_entry_that_depends_on_something_outside_is_found() -> None:
    error, count = fault_of(check_coherence, Drifting(), IncoherentError)
    assert isinstance(error, IncoherentError)
    assert error.what.startswith("beam.deflection: ")
    assert count <= 10
