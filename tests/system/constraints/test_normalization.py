"""Conditions that only normalize q."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from stagecache import Stage, State, Subsystem, parameter, position_error, q_variable, u_variable
from stagecache.errors import DeclarationError, ShapeError
from stagecache.system.constraints.errors import normalization_error
from stagecache.system.constraints.jacobians import (
    normalization_jacobian,
    position_jacobian,
    velocity_jacobian,
)
from stagecache.system.constraints.rows import (
    constraint_rows,
    row_names,
    table_of,
)
from stagecache.system.motion.kinematics import kinematics
from tests.system.models import state_of

Matrix = NDArray[np.float64]


class Dial(Subsystem):
    """A hand that points at (c, s) on a circle, and turns with one u."""

    is_normal = parameter(True)
    angle = q_variable(0.5)
    hand = q_variable([0.6, 0.8])
    rate = u_variable(2.0)
    turn = u_variable(3.0)

    @kinematics(hand, turn)
    def turning(self, state: State) -> Matrix:
        c, s = self.hand(state)
        return np.array([[-s], [c]])

    @position_error()
    def stop(self, state: State) -> float:
        return self.angle(state) ** 2

    @normalization_error(enabled=is_normal)
    def norm(self, state: State) -> float:
        return float(np.hypot(*self.hand(state))) - 1

    @norm.jacobian
    def norm_jacobian(self, state: State) -> Any:
        return {self.hand: self.hand(state) / np.hypot(*self.hand(state))}

    @position_error()
    def pointed(self, state: State) -> float:
        return float(self.hand(state)[1])


def test_they_have_rows_of_qerr_and_of_nothing_else() -> None:
    dial = Dial()
    state = state_of(dial, stage=Stage.VELOCITY)
    assert row_names(state, "qerr") == ["dial.stop", "dial.norm", "dial.pointed"]
    assert row_names(state, "uerr") == row_names(state, "udoterr") == ["dial.stop", "dial.pointed"]
    assert [c.is_normalization for c in constraint_rows(state)] == [False, True, False]
    table = table_of(state)
    assert (table.position_rows.tolist(), table.normalization_rows.tolist()) == ([0, 2], [1])
    assert np.allclose(state.qerr, [0.25, 0, 0.8])
    assert np.allclose(normalization_jacobian(state), [[0.0, 0.6, 0.8]])
    assert np.allclose(position_jacobian(state), [[1.0, 0.0], [0.0, 0.6]], atol=1e-9)
    assert np.allclose(velocity_jacobian(state), position_jacobian(state))
    assert np.allclose(state.uerr, [2.0, 1.8])


def test_their_gradient_is_orthogonal_to_every_qdot() -> None:
    dial = Dial()
    state = state_of(dial)
    dial.hand.set(state, [1.2, -0.4])
    state.system.realize(state, Stage.POSITION)
    n = dial.turning(state)
    assert np.allclose(normalization_jacobian(state)[:, 1:] @ n, 0)


def test_disabled_ones_have_no_rows() -> None:
    dial = Dial()
    state = state_of(dial)
    dial.is_normal.set(state, False)
    state.system.realize(state, Stage.VELOCITY)
    assert row_names(state, "qerr") == ["dial.stop", "dial.pointed"]
    assert normalization_jacobian(state).shape == (0, 3)
    assert dial.norm_jacobian(state).shape == (0, 3)


def test_one_that_is_made_by_a_function_brings_its_jacobian_along() -> None:
    def unit(variable: Any) -> Any:
        def error(self: Any, state: State) -> float:
            return float(getattr(self, variable.name)(state).sum()) - 1

        def jacobian(self: Any, state: State) -> Any:
            return {getattr(self, variable.name): np.ones((1, 2))}

        return normalization_error(prerequisites=(variable,), jacobian=jacobian)(error)

    class Made(Subsystem):
        shares = q_variable([0.5, 0.25])
        rate = u_variable(0.0)
        whole = unit(shares)

    state = state_of(Made(), stage=Stage.INSTANCE)
    state.system.realize(state, Stage.POSITION)
    assert state.qerr.tolist() == [-0.25]
    assert normalization_jacobian(state).tolist() == [[1, 1]]


def test_one_without_a_jacobian_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Odd\.norm: has no Jacobian") as caught:

        class Odd(Subsystem):
            x = q_variable(1.0)

            @normalization_error()
            def norm(self, state: State) -> float:
                return self.x(state) - 1

    assert "@norm.jacobian" in caught.value.hint


def test_blocks_by_u_and_matrices_of_another_shape_are_refused() -> None:
    class Odd(Subsystem):
        x = q_variable([1.0, 2.0])
        v = u_variable(0.0)
        by_u = parameter(True)

        @normalization_error()
        def norm(self, state: State) -> float:
            return 0.0

        @norm.jacobian
        def norm_jacobian(self, state: State) -> Any:
            return {self.v: 1.0} if self.by_u(state) else np.ones((1, 3))

    odd = Odd()
    state = state_of(odd, stage=Stage.POSITION)
    with pytest.raises(DeclarationError, match="by something that is not a q"):
        normalization_jacobian(state)
    odd.by_u.set(state, False)
    state.system.realize(state, Stage.POSITION)
    with pytest.raises(ShapeError) as caught:
        normalization_jacobian(state)
    assert "(1, 2)" in caught.value.expected
