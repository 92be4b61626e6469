"""Whose the rows of errors are, and their weights."""

import numpy as np
import pytest
from numpy.typing import NDArray

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    acceleration_error,
    position_error,
    q_variable,
    u_variable,
    velocity_error,
)
from stagecache.errors import (
    StageTooLowError,
    UnknownItemError,
)
from stagecache.system.constraints.jacobians import (
    acceleration_bias,
    acceleration_jacobian,
    normalization_jacobian,
    position_jacobian,
    velocity_jacobian,
)
from stagecache.system.constraints.rows import (
    constraint_rows,
    row_names,
    table_of,
    velocity_weights,
)
from tests.system.models import state_of

Matrix = NDArray[np.float64]
INSTANCE, POSITION, VELOCITY = Stage.INSTANCE, Stage.POSITION, Stage.VELOCITY


class Mixed(Subsystem):
    """Constraints of each level, and rows that hooks allocate."""

    x = q_variable([1.0, 2.0])
    v = u_variable([3.0, 4.0])

    @velocity_error()
    def slip(self, state: State) -> float:
        return float(self.v(state)[0])

    @position_error(size=2)
    def rod(self, state: State) -> Matrix:
        return self.x(state) ** 2

    @position_error(size=0)
    def nothing(self, state: State) -> Matrix:
        return np.empty(0)

    @acceleration_error()
    def push(self, state: State) -> float:
        return 1.0

    def realize_model(self, state: State) -> None:
        state[self].allocate_qerr(2)
        state[self].allocate_uerr(1)

    def realize_position(self, state: State) -> None:
        state[self].upd_qerr()[2:] = [self.x(state)[0] ** 3, 5.0]

    def realize_velocity(self, state: State) -> None:
        state[self].upd_uerr()[3:] = self.v(state)[0] * self.v(state)[1]


def test_each_row_has_the_name_of_its_constraint() -> None:
    one, two = Mixed(), Mixed()
    system = System(one=one, two=two)
    state = system.new_state()
    system.realize(state, INSTANCE)
    assert row_names(state, "qerr") == [
        *("one.rod[0]", "one.rod[1]", "qerr 2 of one[0]", "qerr 2 of one[1]"),
        *("two.rod[0]", "two.rod[1]", "qerr 2 of two[0]", "qerr 2 of two[1]"),
    ]
    assert row_names(state, "uerr")[:4] == ["one.slip", "one.rod[0]", "one.rod[1]", "uerr 3 of one"]
    assert row_names(state, "udoterr")[4:] == ["two.slip", "two.rod[0]", "two.rod[1]", "two.push"]
    rows = {c.name: (c.qerr, c.uerr, c.udoterr, c.handle) for c in constraint_rows(state)}
    assert list(rows)[:5] == ["one.slip", "one.rod", "one.push", "qerr 2 of one", "uerr 3 of one"]
    assert rows["two.rod"] == (slice(4, 6), slice(5, 7), slice(5, 7), two.rod)
    assert rows["qerr 2 of two"] == (slice(6, 8), None, None, None)
    assert table_of(state).position_rows.tolist() == list(range(8))


def test_a_state_without_a_system_has_rows_too() -> None:
    state = State()
    part = state[state.add_subsystem("cart")]
    for stage in (Stage.TOPOLOGY, Stage.MODEL, INSTANCE):
        if stage is INSTANCE:
            part.allocate_uerr(2)
        part.advance_to_stage(stage)
        state.advance_to_stage(stage)
    assert row_names(state, "uerr") == [
        "uerr 0 of subsystem 0 'cart'[0]",
        "uerr 0 of subsystem 0 'cart'[1]",
    ]
    assert velocity_weights(state).tolist() == [1.0, 1.0]


def test_the_jacobian_of_rows_that_hooks_fill_is_by_differences() -> None:
    state = state_of(Mixed(), stage=VELOCITY)
    assert np.allclose(position_jacobian(state), [[2, 0], [0, 4], [3, 0], [0, 0]], atol=1e-8)
    assert np.allclose(velocity_jacobian(state), [[1, 0], [2, 0], [0, 4], [4, 3]], atol=1e-8)
    assert np.allclose(acceleration_jacobian(state), [[1, 0], [2, 0], [0, 4], [0, 0]], atol=1e-8)


def test_the_weight_of_a_derivative_is_that_of_its_position_error() -> None:
    mixed = Mixed()
    system = System(mixed)
    system.default_time_scale = 0.5
    state = system.new_state()
    system.realize(state, INSTANCE)
    state.qerr_weights = [2.0, 4.0, 6.0, 8.0]
    state.uerr_weights = [10.0, 20.0, 30.0, 40.0]
    assert velocity_weights(state).tolist() == [10.0, 1.0, 2.0, 40.0]
    state.qerr_weights = [1.0, 1.0, 1.0, 1.0]
    assert velocity_weights(state).tolist() == [10.0, 0.5, 0.5, 40.0]


def test_stages_and_kinds_are_checked() -> None:
    mixed = Mixed()
    state = state_of(mixed)
    for function in (constraint_rows, table_of, velocity_weights, position_jacobian):
        with pytest.raises(StageTooLowError):
            function(state)
    state.system.realize(state, POSITION)
    for function in (velocity_jacobian, acceleration_jacobian, acceleration_bias):
        with pytest.raises(StageTooLowError):
            function(state)
    assert normalization_jacobian(state).shape == (0, 2)
    assert state.stage is POSITION
    with pytest.raises(UnknownItemError, match="rows of 'yerr'"):
        row_names(state, "yerr")
