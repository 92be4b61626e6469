"""Fingerprints: a study is resumed only as the same study, whatever its function uses."""

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stagecache import (
    Simulation,
    Stage,
    State,
    Subsystem,
    System,
    discrete,
    parameter,
    run_study,
    u_variable,
)
from stagecache.errors import StudyError
from stagecache.study.ensemble.fingerprints import code_of_study, values_of_state
from tests.study.ensemble.models import SPRING, SYSTEM, Spring

MEMBERS = {"spring.stiffness": [1.0, 2.0]}

FACTOR: Any = 1.0
FACTORS: dict[str, Any] = {"spring": SPRING, "factor": 1.0}
GENERATOR = np.random.default_rng(0)


def of_subsystem(state: State) -> float:
    return SPRING.stiffness(state)


def of_another(state: State) -> float:
    return SPRING.stiffness(state) + 1000.0


def scaled(state: State, factor: Any = 1.0) -> Any:
    return SPRING.stiffness(state) * factor


def by_global(state: State) -> Any:
    return SPRING.stiffness(state) * FACTOR


def by_dict(state: State) -> Any:
    return SPRING.stiffness(state) * FACTORS["factor"]


def by_function(state: State) -> Any:
    return by_global(state)


class Scale:
    """A callable object that uses a Subsystem in several ways."""

    def __init__(self, factor: Any) -> None:
        self.factor = factor
        self.spring = SPRING
        self.handle = SPRING.stiffness

    def __call__(self, state: State) -> Any:
        """Return a number that depends on the factor."""
        return SPRING.stiffness(state) * self.factor

    def method(self, state: State) -> Any:
        return self(state)


@dataclass
class Data:
    """A callable of a dataclass that is not frozen."""

    factor: Any

    def __call__(self, state: State) -> Any:
        """Return a number that depends on the factor."""
        return SPRING.stiffness(state) * self.factor


def closure(factor: Any) -> Callable[[State], Any]:
    def study(state: State) -> Any:
        return SPRING.stiffness(state) * np.sum(factor)

    return study


def closure_of_object(thing: Any) -> Callable[[State], Any]:
    def study(state: State) -> Any:
        return SPRING.stiffness(state) * thing.factor

    return study


def by_keyword(factor: Any) -> Callable[[State], Any]:
    def study(state: State, *, factor: Any = factor) -> Any:
        return SPRING.stiffness(state) * factor

    return study


def with_global(factor: Any, study: Callable[[State], Any]) -> Callable[[State], Any]:
    globals()["FACTOR"] = float(factor)
    FACTORS["factor"] = float(factor)
    return study


MAKERS: dict[str, Callable[[int], Any]] = {
    "a partial": lambda k: functools.partial(scaled, factor=k),
    "a partial of an object": lambda k: functools.partial(Scale(k)),
    "an object": Scale,
    "a method": lambda k: Scale(k).method,
    "a dataclass": Data,
    "a dataclass of an object": lambda k: Data(Scale(k)),
    "a closure": closure,
    "a closure of an array": lambda k: closure(np.array([k])),
    "a closure of a list": lambda k: closure([SPRING, k]),
    "a closure of an object": lambda k: closure_of_object(Scale(k)),
    "a lambda": lambda k: lambda state: SPRING.stiffness(state) * k,
    "a global": lambda k: with_global(k, by_global),
    "a global of a function": lambda k: with_global(k, by_function),
    "a global dict": lambda k: with_global(k, by_dict),
    "a default": by_keyword,
    "a cache": lambda k: functools.lru_cache(closure(k)),
    "a simulation": lambda k: Simulation(0.1 * k, {"e": SPRING.energy}),
    "an output": lambda k: Simulation(0.1, {"e": SPRING.energy, "x": lambda run: run[k]}),
    "another function": lambda k: of_subsystem if k == 1 else of_another,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_function_with_another_value_is_another_one(make: Callable[[int], Any]) -> None:
    state = SYSTEM.new_state()
    one, again, other = (code_of_study(make(k), state) for k in (1, 1, 2))
    assert one == again
    assert one.hash != other.hash
    assert one.unknown == ""


def test_the_function_of_another_study_is_not_resumed(tmp_path: Path) -> None:
    run_study(SYSTEM, MEMBERS, of_subsystem, into=tmp_path)
    assert len(run_study(SYSTEM, MEMBERS, of_subsystem, into=tmp_path, resume=True)) == 2
    with pytest.raises(StudyError, match="the function of the study"):
        run_study(SYSTEM, MEMBERS, of_another, into=tmp_path, resume=True)


def test_weights_and_update_times_of_the_state_count() -> None:
    class Falling(Subsystem):
        speed = u_variable(0.0)
        table = discrete(1.0, invalidates=Stage.DYNAMICS)

    falling = Falling()
    system = System(falling)
    plain, weighted, written = (system.new_state() for _ in range(3))
    weighted.upd_u_weights()[:] = 1000.0
    written.time = 2.0
    falling.table.set(written, 1.0)
    written.time = 0.0
    hashes = {values_of_state(state).hash for state in (plain, weighted, written)}
    assert len(hashes) == 3


class Metered(type):
    factor = 1.0


class Meter(metaclass=Metered):
    pass


def by_metaclass(state: State) -> float:
    return SPRING.stiffness(state) * Meter.factor


def test_an_attribute_of_a_metaclass_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    state = SYSTEM.new_state()
    before = code_of_study(by_metaclass, state)
    monkeypatch.setattr(Metered, "factor", 2.0)
    assert code_of_study(by_metaclass, state).hash != before.hash


def test_a_subsystem_of_another_system_counts_with_its_content() -> None:
    def of_spring(spring: Spring) -> Callable[[State], Any]:
        return lambda state: spring.energy(spring.system.new_state())

    def made(mass: float) -> Spring:
        spring = Spring()
        spring.note = mass  # type: ignore[attr-defined]  # any attribute
        System(spring)
        return spring

    state = SYSTEM.new_state()
    one, again, other = (code_of_study(of_spring(made(m)), state) for m in (1.0, 1.0, 2.0))
    assert one == again
    assert one.hash != other.hash


def test_the_state_of_a_random_generator_is_compared() -> None:
    def study(state: State) -> float:
        return float(GENERATOR.normal())

    state = SYSTEM.new_state()
    before = code_of_study(study, state)
    assert before == code_of_study(study, state)
    GENERATOR.normal()
    assert before.hash != code_of_study(study, state).hash


def test_what_cannot_be_compared_is_named_and_not_resumed(tmp_path: Path) -> None:
    lock = threading.Lock()

    def study(state: State) -> float:
        with lock:
            return of_subsystem(state)

    run_study(SYSTEM, MEMBERS, study, into=tmp_path)
    with pytest.raises(StudyError, match=r"study, by an object of type _thread\.lock"):
        run_study(SYSTEM, MEMBERS, study, into=tmp_path, resume=True)


class Holder(Subsystem):
    """A model with an attribute that cannot be compared, if it is told so."""

    factor = parameter(1.0)

    def __init__(self, thing: Any) -> None:
        super().__init__()
        self.thing = thing


def test_a_model_that_cannot_be_compared_is_named_and_not_resumed(tmp_path: Path) -> None:
    def study(state: State) -> float:
        return 1.0

    for system, words in (
        (System(Holder(threading.Lock())), r"holder\.thing"),
        (System(Holder(lambda: 1)), r"holder\.thing"),
    ):
        path = tmp_path / str(len(list(tmp_path.iterdir())))
        run_study(system, [{}], study, into=path)
        with pytest.raises(StudyError, match=words):
            run_study(system, [{}], study, into=path, resume=True)


class Thing:
    def __init__(self, number: float) -> None:
        self.number = number


class Locked:
    """An object that can be copied, and whose content cannot be compared."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __deepcopy__(self, memo: object) -> "Locked":
        return self


def test_a_value_that_cannot_be_saved_does_not_hide_the_others() -> None:
    def fingerprint(thing: Any, mass: float) -> Any:
        state = SYSTEM.new_state()
        SPRING.anything.set(state, thing)
        SPRING.mass.set(state, mass)
        return values_of_state(state)

    assert fingerprint(Thing(1.0), 2.0) == fingerprint(Thing(1.0), 2.0)
    assert fingerprint(Thing(1.0), 2.0).hash != fingerprint(Thing(1.0), 3.0).hash
    assert fingerprint(Thing(1.0), 2.0).hash != fingerprint(Thing(2.0), 2.0).hash
    assert fingerprint(Locked(), 2.0).unknown.endswith("Locked, by an object of type _thread.lock")
