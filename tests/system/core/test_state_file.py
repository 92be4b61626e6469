"""States in files: what is loaded is what was saved, for models of all kinds."""

import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    load_state,
    modeling_option,
    q_variable,
    strict,
)
from stagecache.errors import (
    FileFormatError,
    NotANumberError,
    TopologyVersionError,
    UnsavableValueError,
    WrongTypeError,
)
from stagecache.examples import (
    bouncing_ball,
    building,
    double_pendulum,
    four_bar,
    inverse_kinematics,
    investigate,
    pendulum,
    pendulum_on_a_rod,
    robot_arm,
    save_and_resume,
    slider_crank,
)
from stagecache.examples.cart_pole import make_system
from stagecache.files.envelope import pack, unpack
from stagecache.multibody import MultibodySystem, Pin
from stagecache.testing import check_pickle, systems
from stagecache.testing.checks import pickling
from tests.profiles import examples

MODELS: dict[str, Callable[[], System]] = {
    "bouncing ball": bouncing_ball.system,
    "building": building.system,
    "cart and pole": partial(make_system, 0.02),
    "double pendulum": double_pendulum.system,
    "four-bar": four_bar.system,
    "chain": inverse_kinematics.make_chain,
    "investigate": investigate.make_system,
    "pendulum": pendulum.system,
    "pendulum on a rod": pendulum_on_a_rod.system,
    "robot arm": robot_arm.make_arm,
    "save and resume": save_and_resume.system,
    "slider-crank": slider_crank.system,
}
BY_NAME = pytest.mark.parametrize("name", MODELS)


def through_files(system: System, state: State, *others: Any) -> tuple[Any, ...]:
    """Take a State through a file, instead of a pickle."""
    return system, State.from_bytes(state.to_bytes(), system), *others


def check_files(system: System, count: int) -> None:
    """Check that States of random programs are the same after a journey, as `check_pickle` does."""
    with patch.object(pickling, "through_pickle", through_files):
        check_pickle(system, settings=settings(max_examples=count))


@BY_NAME
def test_states_of_examples_are_the_same_after_a_journey(name: str) -> None:
    check_files(MODELS[name](), 4)


@given(system=systems())
@examples(15, suppress_health_check=[HealthCheck.nested_given])
def test_states_of_random_systems_are_the_same_after_a_journey(system: System) -> None:
    check_files(system, 2)


@BY_NAME
def test_saved_entries_are_valid_and_have_the_values_that_would_be_computed(name: str) -> None:
    """Those that can be saved; in a System of its own, so that nothing else could tell."""
    make = MODELS[name]
    system = make()
    state = system.new_state()
    system.realize(state, Stage.ACCELERATION)
    entries = [e for s in state._contents.realization.layout.subsystems for e in s.entries]
    for entry in entries:
        entry(state)
    twin, report = State.from_bytes(state.to_bytes(cache=True), other := make(), strict=False)
    assert report.is_complete
    assert twin.stage == state.stage
    fresh = other.new_state()
    other.realize(fresh, Stage.ACCELERATION)
    found = [e for s in twin._contents.realization.layout.subsystems for e in s.entries]
    valid = [entry for entry in found if entry.is_valid(twin)]
    for entry in valid:
        assert same(entry(twin), entry(fresh)), entry
    assert len(valid) >= len(found) / 3, f"{len(valid)} of {len(found)}"


def same(one: Any, other: Any) -> bool:
    """Return True if two values are the same; objects that only pickle can compare are."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, float) and np.isnan(one):
        return bool(np.isnan(other))
    if type(one) is not type(other):
        return False
    return one == other or pickle.dumps(one, 4) == pickle.dumps(other, 4)  # 5 tells who may write


def chain(count: int) -> MultibodySystem:
    """A chain of bodies on Pins."""
    system = MultibodySystem()
    body = system.matter.ground
    for k in range(count):
        body = system.matter.add_body(f"link {k}", body, Pin())
    return system


def test_a_state_of_thirty_pins_is_a_fraction_of_its_pickle() -> None:
    state = chain(30).new_state()
    assert 4 * len(state.to_bytes()) < len(pickle.dumps(state))


def energy(system: System, data: bytes) -> float:
    """Compute something in a worker, which has the System once, and States as bytes."""
    state = State.from_bytes(data, system)
    system.realize(state, Stage.VELOCITY)
    return float(state.q @ state.q)


def test_workers_get_states_as_bytes() -> None:
    system = chain(3)
    state = system.new_state()
    sent = []
    for k in range(4):
        state.q = [k, 1.0, 2.0]
        sent.append(state.to_bytes())
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(partial(energy, system), sent))
    assert found == [k**2 + 5.0 for k in range(4)]


# ---------------------------------------------------------------------- files


def test_a_file_has_what_bytes_have(tmp_path: Path) -> None:
    system = bouncing_ball.system()
    state = system.new_state()
    state.save(tmp_path / "ball.state")
    assert (tmp_path / "ball.state").read_bytes() == state.to_bytes()
    loaded = load_state(tmp_path / "ball.state", system)
    assert (loaded.q == state.q).all()
    loaded, report = load_state(str(tmp_path / "ball.state"), system, strict=False)
    assert report.is_complete
    assert str(report).startswith(f"{len(report.taken)} variables of bouncing ball taken")


def test_what_cannot_be_saved_is_refused_by_path_and_leaves_the_old_file(tmp_path: Path) -> None:
    system = investigate.make_system()
    state = system.new_state()
    path = tmp_path / "a"
    state.save(path)
    before = path.read_bytes()
    variable = next(v for s in state._contents.realization.layout.subsystems for v in s.discrete)
    variable.set(state, [1, print])
    with pytest.raises(UnsavableValueError, match=rf"{variable.name}\[1\]: cannot be saved"):
        state.save(path)
    assert (path.read_bytes(), [*tmp_path.iterdir()]) == (before, [path])


def test_states_that_cannot_be_saved_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongTypeError, match="made by hand"):
        State().save(tmp_path / "a")
    system = chain(1)
    old = system.new_state()
    system.matter.add_body("late", system.matter.ground, Pin())
    with pytest.raises(TopologyVersionError):
        old.to_bytes()
    with pytest.raises(NotANumberError, match="cache"):
        system.new_state().to_bytes(cache=1)  # type: ignore[arg-type]  # is refused


@pytest.mark.parametrize("path", [None, 3, b"a", ""])
def test_what_is_no_path_is_refused(path: Any) -> None:
    system = chain(1)
    with pytest.raises(WrongTypeError, match=r"State\.save\(path\)"):
        system.new_state().save(path)
    with pytest.raises(WrongTypeError, match=r"load_state\(path\)"):
        load_state(path, system)


def test_wrong_arguments_of_loading_are_refused(tmp_path: Path) -> None:
    system = chain(1)
    data = system.new_state().to_bytes()
    with pytest.raises(WrongTypeError, match="are not bytes"):
        State.from_bytes("text", system)  # type: ignore[arg-type]  # is refused
    with pytest.raises(WrongTypeError, match="the model of a State"):
        State.from_bytes(data, None)  # type: ignore[arg-type]  # is refused
    with pytest.raises(NotANumberError, match="strict"):
        State.from_bytes(data, system, strict=1)  # type: ignore[arg-type]  # is refused
    with pytest.raises(FileFormatError, match="not a file of this kind"):
        State.from_bytes(b"", system)
    with pytest.raises(FileNotFoundError):
        load_state(tmp_path / "none", system)


@pytest.mark.parametrize("cache", [[], "Time", {"stage": "Time"}, {"entries": {"a": 1}}])
def test_what_does_not_describe_a_cache_is_refused_as_such(cache: object) -> None:
    system = chain(1)
    content, blobs = unpack(system.new_state().to_bytes(cache=True), "State", "a file")
    damaged = pack("State", {**content, "cache": cache}, [*map(bytes, blobs)])
    with pytest.raises(FileFormatError, match="does not describe a cache"):
        State.from_bytes(damaged, system)


def test_a_state_goes_to_a_later_topology_of_its_system() -> None:
    """By name: bytes of a State from before the change."""
    system = chain(2)
    state = system.new_state()
    state.q = [1.0, 2.0]
    data = state.to_bytes()
    system.matter.add_body("late", system.matter.ground, Pin())
    later, report = State.from_bytes(data, system, strict=False)
    assert later.q.tolist() == [1.0, 2.0, 0.0]
    assert {d.path for d in report.differences} >= {"matter.joint_q[late]"}


class Sized(Subsystem):
    """A block of q as long as an option says, which is allocated when Model is realized."""

    count = modeling_option(2)
    place = q_variable(factory=lambda self, state: np.zeros(self.count(state)))


def test_strict_mode_does_not_take_versions_of_a_file_for_those_that_it_has_seen() -> None:
    system = System(Sized())
    with strict():
        state = system.new_state()
        state.q = [0.5, 1.5]
        loaded = State.from_bytes(state.to_bytes(), system)
        unpickled = pickle.loads(pickle.dumps(state))
    assert loaded.q.tolist() == unpickled.q.tolist() == [0.5, 1.5]
