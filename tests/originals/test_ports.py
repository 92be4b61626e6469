"""Drake's tests of input ports: fixed values, connections, copies of States, linear models."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagecache import (
    DiscreteVariable,
    State,
    Subsystem,
    System,
    cached,
    input_port,
    linearize,
    parameter,
    z_variable,
)
from stagecache.errors import (
    ForeignNodeError,
    InputError,
    NodeKindError,
    NotANumberError,
    ShapeError,
    WrongTypeError,
)
from tests.originals.chains import Array, close


class Sink(Subsystem):
    """An input of each kind, and entries that read two of them."""

    vector = input_port(float, shape=2)
    text = input_port(str)
    count = input_port(int)
    number = input_port(float)
    more = parameter(1.0)

    def __init__(self, *, reads: bool = True) -> None:
        self.reads = reads

    @cached(prerequisites=lambda self: (self.vector,) if self.reads else ())
    def length(self, state: State) -> float:
        return float(np.linalg.norm(self.vector(state)))

    @cached(prerequisites=lambda self: (self.text, self.more) if self.reads else ())
    def shout(self, state: State) -> str:
        return self.text(state).upper()


PORTS = ("vector", "text", "count", "number")


def inputs(system: System) -> list[str]:
    return [node.path for node in system.graph if node.variant == "input"]


def fixed() -> tuple[System, Sink, DiscreteVariable[Array], DiscreteVariable[str]]:
    system = System(sink := Sink())
    return system, sink, system.fix(sink.vector, np.array([5.0, 6.0])), system.fix(sink.text, "foo")


# ---------------------------------------------------------------------- fixed values


def test_an_input_has_its_fixed_value_as_the_only_prerequisite() -> None:
    system, sink, vector, text = fixed()
    state = system.new_state()
    for port, held, reader in ((sink.vector, vector, "length"), (sink.text, text, "shout")):
        assert port.prerequisites(state) == (held,)
        assert [str(node) for node in held.dependents(state)] == [str(port)]
        assert [str(node) for node in port.dependents(state)] == [f"sink.{reader}"]
        assert system.source_of(port) is held
        assert held.version(state) == 1
        assert str(port) != str(held)


def test_a_copy_has_fixed_values_of_its_own_with_their_versions() -> None:
    system, sink, vector, text = fixed()
    state = system.new_state()
    twin = state.copy()
    close(vector(twin), [5.0, 6.0])
    assert (text(twin), sink.text(twin)) == ("foo", "foo")
    assert (vector.version(twin), text.version(twin)) == (1, 1)
    vector.set(state, np.array([99.0, 6.0]))
    text.set(twin, "hello")
    close(sink.vector(state), [99.0, 6.0])
    close(sink.vector(twin), [5.0, 6.0])
    assert (sink.text(state), sink.text(twin)) == ("foo", "hello")


def test_a_read_of_an_input_changes_nothing_and_a_write_reaches_its_readers_alone() -> None:
    system, sink, vector, text = fixed()
    state = system.new_state()
    entries = {name: getattr(sink, name) for name in ("vector", "text", "length", "shout")}

    def stale() -> set[str]:
        return {name for name, entry in entries.items() if not entry.is_valid(state)}

    with state.trace() as trace:
        writes: list[tuple[Callable[[], None], DiscreteVariable[Any], set[str], int]] = [
            (lambda: None, vector, set(), 1),
            (lambda: vector.set(state, np.array([7.0, 8.0])), vector, {"vector", "length"}, 2),
            (lambda: text.set(state, "bar"), text, {"text", "shout"}, 2),
        ]
        for write, held, gone, version in writes:
            for _ in range(2):
                for entry in entries.values():
                    entry(state)
            write()
            assert stale() == gone
            assert held.version(state) == version
    close(sink.vector(state), [7.0, 8.0])
    assert sink.shout(state) == "BAR"
    rows = trace.summary()
    assert {rows[entry].notified for entry in entries.values()} == {1}


# ---------------------------------------------------------------------- values and types


def test_inputs_have_names_and_values_of_their_types_once_they_are_fixed() -> None:
    system = System(sink := Sink(reads=False))
    assert inputs(system) == [f"sink.{name}" for name in PORTS]
    ports: list[Any] = [getattr(sink, name) for name in PORTS]
    assert [system.source_of(port) for port in ports] == [None] * 4
    state = system.new_state()
    for port in ports:
        with pytest.raises(InputError, match="has no source"):
            port(state)
    for port, value in zip(ports, ([10.0, 20.0], "abstract", 17, 1.25), strict=True):
        system.fix(port, value)
    state = system.new_state()
    assert [port(state) for port in ports[1:]] == ["abstract", 17, 1.25]
    close(sink.vector(state), [10.0, 20.0])
    assert type(sink.vector(state)) is np.ndarray
    assert None not in [system.source_of(port) for port in ports]


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("vector", [1.0, 2.0, 3.0], ShapeError),
        ("vector", "text", ShapeError),
        ("count", 1.25, WrongTypeError),
        ("text", 42, WrongTypeError),
        ("number", "text", WrongTypeError),
    ],
)
def test_a_value_of_another_type_or_size_is_refused_by_the_name_of_the_input(
    name: str, value: Any, error: Any
) -> None:
    system = System(sink := Sink(reads=False))
    fix: Callable[..., Any] = system.fix
    with pytest.raises(error, match=rf"sink\.{name}"):
        fix(getattr(sink, name), value)


def test_an_integer_is_a_number_and_a_state_of_another_system_is_refused() -> None:
    system = System(sink := Sink(reads=False))
    number = system.fix(sink.number, 4)
    state = system.new_state()
    assert (sink.number(state), type(sink.number(state))) == (4.0, float)
    other = System(Sink(reads=False)).new_state()
    for read in (sink.number, number):
        with pytest.raises(ForeignNodeError):
            read(other)


# ---------------------------------------------------------------------- Contexts


class Adder(Subsystem):
    """The sum of two inputs, and something of each kind beside them."""

    first = input_port(float)
    second = input_port(float)
    level = z_variable(1.0)
    size = parameter(2.0)
    label = parameter("adder")

    @cached(prerequisites=(first, second))
    def total(self, state: State) -> float:
        return self.first(state) + self.second(state)


def adders() -> tuple[System, Adder, Adder, DiscreteVariable[float], DiscreteVariable[float]]:
    """Two adders: two inputs are fixed, one is connected, and one feeds two of them."""
    one, two = Adder(), Adder()
    system = System(one, two)
    held = system.fix(one.first, 128.0), system.fix(one.second, 256.0)
    system.connect(one.total, two.first)
    system.connect(one.second, two.second)
    return system, one, two, *held


def test_inputs_of_two_subsystems_are_connected_and_fixed() -> None:
    system, one, two, _, _ = adders()
    state = system.new_state()
    assert (one.first(state), one.second(state)) == (128.0, 256.0)
    assert (two.first(state), two.second(state), two.total(state)) == (384.0, 256.0, 640.0)
    assert len(system.connections) == len(inputs(system)) == 4


def test_a_copy_of_a_state_has_the_values_of_all_inputs_and_shares_none() -> None:
    system, one, two, first, _ = adders()
    state = system.new_state()
    state.time = 12.0
    state.y = [42.0, 43.0]
    twin = state.copy()
    assert str(twin) == str(state)  # all variables, by name
    assert twin.system is state.system is system
    assert (twin.time, twin.y.tolist()) == (12.0, [42.0, 43.0])
    assert (one.size(twin), two.label(twin), two.total(twin)) == (2.0, "adder", 640.0)
    first.set(twin, 0.0)
    twin.y = [1024.0, 43.0]
    one.size.set(twin, 76.0)
    assert (two.total(twin), two.total(state)) == (512.0, 640.0)
    assert (state.y.tolist(), one.size(state)) == ([42.0, 43.0], 2.0)


# ---------------------------------------------------------------------- linear systems


class Plant(Subsystem):
    """zdot is a force, or two of them; an input has no elements, and another is a list."""

    level = z_variable(0.5)
    force = input_port(float, shape=1)
    nothing = input_port(float, shape=0)
    plan = input_port(list)

    @cached(prerequisites=(level, force))
    def rate(self, state: State) -> float:
        return 3.0 * float(self.force(state)[0]) - 2.0 * self.level(state)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = self.rate(state)


def test_an_input_without_elements_may_stay_without_a_source() -> None:
    system = System(plant := Plant())
    system.fix(plant.force, np.array([2.0]))
    state = system.new_state()
    system.realize(state)
    assert state.zdot.tolist() == [5.0]
    assert plant.force(state).shape == (1,)
    system.fix(plant.nothing, np.zeros(0))
    assert plant.nothing(system.new_state()).shape == (0,)


def test_a_linear_model_needs_values_of_what_is_read_and_numbers_of_what_is_moved() -> None:
    system = System(plant := Plant())
    with pytest.raises(InputError, match=r"plant\.force: has no source"):
        system.new_state()
    system.fix(plant.force, np.zeros(1))
    state = system.new_state()
    found = linearize(system, state, (plant.force,))
    close(found.A, [[-2.0]], 1e-6)
    close(found.B, [[3.0]], 1e-6)
    with pytest.raises(NodeKindError, match=r"plant\.plan"):
        linearize(system, state, (plant.plan,))
    system.fix(plant.plan, ["a", "b"])
    state = system.new_state()
    with pytest.raises(NotANumberError, match=r"plant\.plan"):
        linearize(system, state, (plant.force, plant.plan))
    close(linearize(system, state, (plant.force,)).B, [[3.0]], 1e-6)
