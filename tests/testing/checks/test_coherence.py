"""check_coherence: what passes, what is found, and how that is told."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stagecache import Stage, State, Subsystem, System, cached, parameter
from stagecache.errors import (
    CheckFailedError,
    IncoherentError,
    StagecacheError,
    UnknownItemError,
)
from stagecache.examples.every_declaration import Observer, Rope
from stagecache.examples.pendulum import Anchor, Pendulum
from stagecache.testing import check_coherence
from tests.system.models import Chain, Crane, Springs
from tests.testing.models import (
    Appending,
    Forgetful,
    Fragile,
    Hasty,
    Hooked,
    Lever,
    Lucky,
    Switched,
    system_of,
)

FEW = settings(max_examples=20)


def pendulum_system() -> System:
    pendulum = Pendulum()
    return System(pendulum, anchor=Anchor(pendulum))


def rope_system() -> System:
    rope = Rope(4)
    return System(rope, observer=Observer(rope))


def failure_of(subsystem: Subsystem, seed: int = 0) -> CheckFailedError:
    with pytest.raises(CheckFailedError) as caught:
        check_coherence(system_of(subsystem), seed=seed)
    return caught.value


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "make",
    [
        pendulum_system,
        rope_system,
        Crane,
        lambda: System(Chain()),
        lambda: System(Springs(3)),
        lambda: system_of(Lever()),
        lambda: system_of(Fragile()),
        System,
    ],
)
def test_sound_models_pass(make: type[System], seed: int) -> None:
    result = check_coherence(make(), settings=FEW, seed=seed)
    assert (result.name, result.examples) == ("coherence", 20)
    assert result.operations > 20


@pytest.mark.parametrize("seed", range(3))
def test_a_forgotten_prerequisite_is_named(seed: int) -> None:
    error = failure_of(Forgetful(), seed)
    assert isinstance(error, IncoherentError)
    assert error.what.startswith(("lever.end: ", "lever.moment: "))
    assert error.suspects == ("lever.length",)
    assert error.hint == "write @cached(prerequisites=(Lever.angle, Lever.length))"


def test_the_program_of_a_failure_is_short_and_fails() -> None:
    error = failure_of(Forgetful())
    assert error.program.startswith("# system = ...")
    assert str(error).endswith(error.program)
    assert len(error.program.splitlines()) <= 9
    with pytest.raises(AssertionError):
        exec(error.program, {"system": system_of(Forgetful())})
    exec(error.program, {"system": system_of(Lever())})  # where the fault is mended


def test_a_failure_is_told_without_the_noise_of_the_search() -> None:
    error = failure_of(Forgetful())
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert not hasattr(error, "__notes__")


def test_a_hook_that_reads_what_its_stage_does_not_guarantee_is_found() -> None:
    error = failure_of(Hooked())
    assert error.what.startswith("state.qdot: ")
    assert error.suspects == ("lever.notes",)


def test_a_hook_that_fills_a_vector_too_soon_is_told_by_its_stage() -> None:
    error = failure_of(Hasty())
    assert error.what.startswith("state.zdot: ")
    assert error.suspects == ("lever.level",)
    assert error.hint == (
        "fill state.zdot in the hook of Dynamics, or of a later stage: the hook of Time fills it, "
        "which a write of lever.level does not make stale"
    )


def test_a_hook_that_reads_an_auto_update_variable_is_told_of_its_next_value() -> None:
    error = failure_of(Switched())
    assert error.what.startswith("state.zdot: ")
    assert error.suspects == ("lever.on",)
    assert "lever.on.update(state)" in error.hint
    assert "exchange" in error.hint


def test_what_raises_in_a_fresh_state_only_is_told_with_its_line() -> None:
    error = failure_of(Lucky())
    line = Lucky.realize_velocity.__code__.co_firstlineno + 2
    assert error.what == "lever.realize_velocity: raises in a fresh State with the same variables"
    assert error.expected == "no error, as in the State that was used before"
    assert error.got.startswith("ValueError: the end is not known, at ")
    assert error.got.endswith(f"models.py:{line}")
    assert "state.event_triggers" not in str(error)
    with pytest.raises(ValueError, match="not known"):
        exec(error.program, {"system": system_of(Lucky())})


def test_what_raises_in_a_state_that_was_used_is_told_with_its_line() -> None:
    class Unlucky(Lever):
        def realize_velocity(self, state: State) -> None:
            if self.end.is_valid(state):
                raise ValueError("the end is known")

    error = failure_of(Unlucky())
    assert error.what == "lever.realize_velocity: raises, and in a fresh State it does not"
    assert error.got.startswith("ValueError: the end is known, at ")


def test_a_change_in_place_is_found() -> None:
    error = failure_of(Appending())
    assert "in place" in str(error)


def test_a_failure_that_comes_and_goes_is_told_as_well() -> None:
    class Counting(Lever):
        calls = [0]  # noqa: RUF012  # the fault

        @cached(prerequisites=(Lever.angle,))
        def count(self, state: State) -> int:
            self.calls[0] += 1
            return self.calls[0]

    error = failure_of(Counting())
    assert error.what.startswith("lever.count: ")
    assert "not in the State" in error.hint


def test_what_a_model_remembers_by_itself_is_found() -> None:
    error = failure_of(Remembering())
    assert error.what.startswith("lever.sine: ")


class Remembering(Lever):
    """It keeps what it has computed by the angle, and not by the length."""

    def __init__(self) -> None:
        self.known: dict[float, float] = {}

    @cached(prerequisites=(Lever.angle, Lever.length))
    def sine(self, state: State) -> float:
        angle = self.angle(state)
        return self.known.setdefault(angle, self.length(state) * np.sin(angle))


def test_values_come_from_the_strategies_of_the_user() -> None:
    class Root(Subsystem):
        area = parameter(1.0)

        @cached(prerequisites=(area,))
        def side(self, state: State) -> float:
            seen.append(self.area(state))
            return float(np.sqrt(self.area(state)))

    seen: list[float] = []
    root = Root()
    system = System(root)
    check_coherence(system, strategies={root.area: st.floats(4, 5)}, settings=FEW)
    assert min(seen) == 1.0  # the first value
    assert set(seen) - {1.0}
    assert all(4 <= value <= 5 for value in set(seen) - {1.0})


def test_a_strategy_for_what_is_no_variable_is_refused() -> None:
    lever = Lever()
    system = system_of(lever)
    with pytest.raises(UnknownItemError, match="not a variable of the System"):
        check_coherence(system, strategies={lever.end: st.floats()})


def test_progress_counts_examples_until_one_fails() -> None:
    done: list[int] = []
    check_coherence(system_of(Lever()), settings=FEW, progress=done.append)
    assert done == list(range(1, 21))
    done.clear()
    with pytest.raises(IncoherentError):
        check_coherence(system_of(Forgetful()), progress=done.append)
    assert done == list(range(1, len(done) + 1))
    assert len(done) < 100


def test_the_same_seed_finds_the_same() -> None:
    assert str(failure_of(Forgetful(), 7)) == str(failure_of(Forgetful(), 7))


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 5))
def test_it_can_be_called_within_a_test_of_hypothesis(seed: int) -> None:
    check_coherence(system_of(Lever()), settings=settings(max_examples=2), seed=seed)


def test_numbers_that_overflow_are_no_failure() -> None:
    class Steep(Lever):
        @cached(prerequisites=(Lever.angle,))
        def steep(self, state: State) -> float:
            return float(np.exp(np.float64(self.angle(state)) * 1000))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_coherence(system_of(Steep()), settings=FEW)


def test_a_model_that_cannot_be_pickled_is_checked_all_the_same() -> None:
    lever, forgetful = Lever(), Forgetful()
    for each in (lever, forgetful):
        object.__setattr__(each, "unused", lambda: None)
    check_coherence(system_of(lever), settings=FEW)
    assert failure_of(forgetful).suspects == ("lever.length",)


def test_entries_that_hooks_fill_are_checked() -> None:
    class Filling(Lever):
        def realize_topology(self, state: State) -> None:
            self.sum = state[self].allocate_cache_entry(Stage.POSITION, Stage.POSITION, 0.0)

        def realize_velocity(self, state: State) -> None:  # too late
            self.sum.set(state, self.angle(state) + self.length(state))

    error = failure_of(Filling())
    assert error.what.startswith("lever.sum: ")
    assert "hook" in error.hint


def test_errors_of_checks_travel_between_processes() -> None:
    error = IncoherentError("a", "b", "c", "d", "program", ("x",))
    twin = pickle.loads(pickle.dumps(error))
    assert isinstance(error, StagecacheError)
    assert (str(twin), twin.program, twin.suspects) == (str(error), "program", ("x",))
