"""Sizes of columns, to which steps are relative: tiny parameters, states in small units."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    discrete,
    linearize,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    NodeKindError,
    NotANumberError,
    OutOfRangeError,
    StagecacheError,
    UnknownPathError,
    WrongTypeError,
)
from tests.profiles import examples

Kind = Literal["forward", "central"]
ERRORS = {"forward": 3e-7, "central": 1e-9}
"""Relative errors of derivatives of quotients."""

both = pytest.mark.parametrize("differences", ["forward", "central"])


class Circuit(Subsystem):
    """A capacitor that a resistor discharges, in farads and ohms."""

    capacity = parameter(1e-9, unit="F")
    resistance = parameter(1e3, unit="Ohm")
    voltage = z_variable(1.0)

    def realize_dynamics(self, state: State) -> None:
        rate = self.voltage(state) / (self.capacity(state) * self.resistance(state))
        state[self].upd_zdot()[:] = -rate


class Gap(Subsystem):
    """A plate that a voltage pulls across a gap of micrometres."""

    gap = parameter(2e-6, unit="m")
    voltage = discrete(1e-3, invalidates=Stage.DYNAMICS, unit="V")
    place = q_variable(0.5e-6)
    speed = u_variable(0.0)

    def realize_acceleration(self, state: State) -> None:
        free = self.gap(state) - self.place(state)
        state[self].upd_udot()[0] = 1e-12 * self.voltage(state) ** 2 / free**2


@both
@given(st.integers(-15, 6), st.integers(-6, 9))
@examples(30)
def test_a_circuit_has_its_derivatives_in_any_unit(
    differences: Kind, farads: int, ohms: int
) -> None:
    circuit = Circuit()
    system = System(circuit)
    state = system.new_state()
    c, r = 10.0**farads, 10.0**ohms
    circuit.capacity.set(state, c)
    circuit.resistance.set(state, r)
    inputs = (circuit.capacity, circuit.resistance)
    model = linearize(system, state, inputs, differences=differences)
    expected = [[1 / (c**2 * r), 1 / (c * r**2)]]
    np.testing.assert_allclose(model.B, expected, rtol=ERRORS[differences])
    np.testing.assert_allclose(model.A, [[-1 / (c * r)]], rtol=ERRORS[differences])


def gap_derivatives() -> tuple[float, float, float]:
    """Derivatives of the pull by place, gap and voltage."""
    free, volts = 1.5e-6, 1e-3
    slope = 2e-12 * volts**2 / free**3
    return slope, -slope, 2e-12 * volts / free**2


@both
@pytest.mark.parametrize("by_weight", [False, True])
def test_micrometres_have_their_derivatives_if_a_size_or_a_weight_says_so(
    differences: Kind, by_weight: bool
) -> None:
    part = Gap()
    system = System(part)
    state = system.new_state()
    sizes: Mapping[Any, float] = {"gap.voltage": 1e-3}
    if by_weight:
        state.upd_u_weights()[0] = 1e6  # a change of 1e-6 m counts as 1
    else:
        sizes = {**sizes, part.place: 1e-6}
    inputs = (part.gap, part.voltage)
    model = linearize(system, state, inputs, differences=differences, sizes=sizes)
    by_place, by_gap, by_voltage = gap_derivatives()
    np.testing.assert_allclose(model.A[1, 0], by_place, rtol=ERRORS[differences])
    np.testing.assert_allclose(model.B[1], [by_gap, by_voltage], rtol=ERRORS[differences])


class Offset(Subsystem):
    """Rates that the variables change by little."""

    tilt = parameter(np.array([1.0, 6e-17, 0.0]))
    nothing = parameter(np.zeros(2))
    force = discrete(1e-14, invalidates=Stage.DYNAMICS)
    level = z_variable((1e-12, 0.0))

    def realize_dynamics(self, state: State) -> None:
        tilt, nothing, level = self.tilt(state), self.nothing(state), self.level(state)
        here = tilt @ [1.0, 2.0, 3.0] + nothing @ [4.0, 5.0] + level @ [6.0, 7.0]
        state[self].upd_zdot()[:] = 9.81 + here + 8.0 * self.force(state) + 9.0 * state.time


@both
def test_numbers_near_zero_do_not_drown_in_rounding(differences: Kind) -> None:
    """Of a state, the time and a control, zero is a value like any other."""
    part = Offset()
    system = System(part)
    state = system.new_state()
    state.time = 1e-13
    inputs = (part.tilt, part.nothing, part.force, "time")
    model = linearize(system, state, inputs, differences=differences)
    np.testing.assert_allclose(model.A[0], [6.0, 7.0], rtol=1e-6)
    np.testing.assert_allclose(model.B[0], [1, 2, 3, 4, 5, 8, 9], rtol=1e-6)


def test_a_step_is_relative_to_the_size() -> None:
    class Square(Subsystem):
        gain = parameter(-4.0)
        x = z_variable(10.0)
        time_like = z_variable(0.0)

        def realize_dynamics(self, state: State) -> None:
            squares = self.x(state) ** 2 + self.gain(state) ** 2 + self.time_like(state) ** 2
            state[self].upd_zdot()[:] = squares

    square = Square()
    system = System(square)
    state = system.new_state()
    model = linearize(system, state, (square.gain,), step=0.25)
    assert model.A[0].tolist() == [20.0 + 0.25 * 10.0, 0.25 * 1.0]
    assert model.B[0].tolist() == [-8.0 + 0.25 * 4.0]
    sizes = {square.gain: 8.0, "square.time_like": 16.0, square.x: 2.0}
    model = linearize(system, state, (square.gain,), step=0.25, sizes=sizes)
    assert model.A[0].tolist() == [20.0 + 0.5, 4.0]
    assert model.B[0].tolist() == [-8.0 + 2.0]


def test_a_size_of_a_vector_or_a_family_is_that_of_all_its_numbers() -> None:
    class Squares(Subsystem):
        gains = parameter(0.0, count=2)
        x = z_variable(0.0)
        y = z_variable((0.0, 0.0))

        def realize_dynamics(self, state: State) -> None:
            total = sum(gain(state) ** 2 for gain in self.gains) + np.sum(state.z**2)
            state[self].upd_zdot()[:] = total

    squares = Squares()
    system = System(squares)
    sizes: Mapping[Any, float] = {"z": 4.0, squares.x: 2.0, squares.gains: 8.0}
    model = linearize(system, system.new_state(), (squares.gains,), step=0.5, sizes=sizes)
    assert model.A[0].tolist() == [1.0, 2.0, 2.0]  # the later counts
    assert model.B[0].tolist() == [4.0, 4.0]


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-300, -1e-300])
def test_a_parameter_that_vanishes_has_the_size_one(value: float) -> None:
    class Square(Subsystem):
        gain = parameter(0.0)
        x = z_variable(0.0)

        def realize_dynamics(self, state: State) -> None:
            state[self].upd_zdot()[0] = self.gain(state) ** 2

    square = Square()
    system = System(square)
    state = system.new_state()
    square.gain.set(state, value)
    model = linearize(system, state, (square.gain,), step=0.5)
    assert model.B.tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("sizes", "kind", "match"),
    [
        (1.0, WrongTypeError, "not a mapping"),
        ({"circuit.capacity": 0.0}, OutOfRangeError, "circuit.capacity"),
        ({"circuit.capacity": math.inf}, OutOfRangeError, "circuit.capacity"),
        ({"circuit.capacity": "small"}, NotANumberError, "circuit.capacity"),
        ({"circuit.capacities": 1.0}, UnknownPathError, "circuit.capacity"),
        ({"circuit.resistance": 1.0}, NodeKindError, "not an input"),
        ({"circuit.voltage": 1e-12}, OutOfRangeError, "circuit.voltage: the step"),
        ({"circuit.voltage": 1e300}, None, ""),
    ],
)
def test_sizes_are_checked(sizes: Any, kind: type[StagecacheError] | None, match: str) -> None:
    circuit = Circuit()
    system = System(circuit)
    state = system.new_state()
    if kind is None:
        assert linearize(system, state, (circuit.capacity,), sizes=sizes).num_evaluations == 3
        return
    versions = state.stage_versions
    with pytest.raises(kind) as caught:
        linearize(system, state, (circuit.capacity,), sizes=sizes)
    assert match in str(caught.value)
    assert state.stage_versions == versions


def test_weights_that_are_not_positive_are_refused() -> None:
    system = System(Circuit())
    state = system.new_state()
    state.upd_z_weights()[0] = 0.0
    with pytest.raises(OutOfRangeError, match=r"the weight of circuit\.voltage"):
        linearize(system, state)
