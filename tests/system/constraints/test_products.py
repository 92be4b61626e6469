"""Products with Jacobians of constraints: beside the dense matrices, power, and differences."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, System
from stagecache.errors import MassMatrixError, ShapeError, StageTooLowError
from stagecache.multibody import ConstantSpeedConstraint, MultibodySystem, Pin, RodConstraint
from stagecache.system.constraints.jacobians import (
    acceleration_bias,
    acceleration_jacobian,
    position_jacobian,
    velocity_jacobian,
)
from tests.multibody.constraints.test_simbody import KINDS, RECORDED, model, numbers_of
from tests.profiles import examples


def plain(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@examples(20)
@given(
    st.lists(st.sampled_from(list(KINDS)), unique=True),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_products_are_those_of_the_dense_matrices(
    kinds: list[str], use_euler_angles: bool, seed: int
) -> None:
    if not use_euler_angles:  # these two tie an angle of a Ball
        kinds = [kind for kind in kinds if kind not in ("SpeedCoupler", "PrescribedMotion")]
    system, state = model(*kinds, use_euler_angles=use_euler_angles, stage=Stage.VELOCITY)
    rng = np.random.default_rng(seed)
    for letter, wanted in (
        ("p", position_jacobian(state)),
        ("v", velocity_jacobian(state)),
        ("g", acceleration_jacobian(state)),
    ):
        np.testing.assert_array_equal(getattr(system, f"calc_{letter}")(state), wanted)
        for more in ((), (3,)):
            u, forces = rng.normal(size=(state.nu, *more)), rng.normal(size=(len(wanted), *more))
            product = getattr(system, f"multiply_by_{letter}")
            transpose = getattr(system, f"multiply_by_{letter}_transpose")
            found, back = product(state, u), transpose(state, forces)
            np.testing.assert_allclose(found, wanted @ u, atol=1e-13)
            np.testing.assert_allclose(back, wanted.T @ forces, atol=1e-13)
            np.testing.assert_allclose((forces * found).sum(), (back * u).sum(), atol=1e-12)
        np.testing.assert_array_equal(product(state, []), np.zeros(len(wanted)))
    udot = rng.normal(size=(state.nu, 2))
    errors = system.calc_constraint_acceleration_errors(state, udot)
    bias = acceleration_bias(state)
    np.testing.assert_allclose(errors, acceleration_jacobian(state) @ udot + bias[:, None])
    one = system.calc_constraint_acceleration_errors(state, udot[:, 0])
    np.testing.assert_allclose(one, errors[:, 0], atol=1e-14)


def test_infinite_factors_give_nan_without_a_warning() -> None:
    system, state = model("Rod", "NoSlip1D", use_euler_angles=False, stage=Stage.VELOCITY)
    for name, size in (
        ("multiply_by_n_pinv", state.nq),
        ("multiply_by_pq", state.nq),
        ("multiply_by_g", state.nu),
        ("multiply_by_g_transpose", state.nudoterr),
    ):
        assert np.isnan(getattr(system, name)(state, np.full(size, np.inf))).any()


def test_a_product_is_a_difference_of_errors() -> None:
    system, state = model(*KINDS, stage=Stage.VELOCITY)
    direction = np.random.default_rng(0).normal(size=state.nu)
    qdot, step = system.multiply_by_n(state, direction), 1e-6
    pairs = []
    for sign in (step, -step):
        moved = state.copy()
        moved.q = state.q + sign * qdot
        system.realize(moved, Stage.POSITION)
        by_q = moved.qerr.copy()
        moved = state.copy()
        moved.u = state.u + sign * direction
        system.realize(moved, Stage.VELOCITY)
        pairs.append((by_q, moved.uerr.copy()))
    (after_q, after_u), (before_q, before_u) = pairs
    found = system.multiply_by_p(state, direction)
    np.testing.assert_allclose(found, (after_q - before_q) / (2 * step), atol=1e-8)
    pq = system.calc_pq(state)
    np.testing.assert_allclose(pq @ qdot, found, atol=1e-12)
    along_all = np.column_stack([qdot, np.cos(np.arange(state.nq))])  # also along quaternions
    np.testing.assert_allclose(system.multiply_by_pq(state, along_all), pq @ along_all, atol=1e-12)
    forces = np.sin(np.arange(len(pq)))
    found = system.multiply_by_pq_transpose(state, forces)
    np.testing.assert_allclose(found, pq.T @ forces, atol=1e-12)
    found = system.multiply_by_v(state, direction)
    np.testing.assert_allclose(found, (after_u - before_u) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("line", RECORDED, ids=lambda line: line.split()[0])
def test_operators_are_simbodys(line: str) -> None:
    name, (_, _, udoterr, _, _, g, projected, pq, _) = numbers_of(line)
    system, state = model(name)
    given_udot = 1 - 0.4 * np.arange(state.nu)
    for one, other in (
        (system.calc_constraint_acceleration_errors(state, given_udot), udoterr),
        (system.calc_g(state), g),
        (system.calc_projected_m_inv(state), projected),
        (system.calc_pq(state), np.delete(pq.reshape(-1, 6), 3, axis=1)),
    ):
        np.testing.assert_allclose(np.ravel(one), other.ravel(), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("count", [3, 110])
def test_large_models_give_the_same_as_small_ones(count: int) -> None:
    system = MultibodySystem()
    ground = body = system.matter.ground
    for k in range(count):
        masses: Any = {"mass": 1.0, "center": [0, -1, 0]}
        body = system.matter.add_body(f"body {k}", body, Pin(), mass_properties=masses)
        system.add(ConstantSpeedConstraint(body, 1.0), f"speed {k}")
    system.add(RodConstraint(ground, [0, 3, 0], body, [1, 0, 0], 2.0), "rod")
    state = system.new_state()
    state.q = 0.1 * np.arange(count)
    system.realize(state, Stage.DYNAMICS)
    g = plain(acceleration_jacobian(state))
    u = np.cos(np.arange(count))
    np.testing.assert_allclose(system.multiply_by_g(state, u), g @ u, atol=1e-12)
    forces = np.sin(np.arange(count + 1))
    np.testing.assert_allclose(
        system.multiply_by_g_transpose(state, forces), g.T @ forces, atol=1e-12
    )
    m = system.matter.m_matrix(state)
    wanted = g @ np.linalg.solve(m, g.T)
    found = system.calc_projected_m_inv(state)
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


def test_wrong_arguments_and_low_stages_are_refused() -> None:
    system, state = model("Rod", stage=Stage.POSITION)
    with pytest.raises(StageTooLowError, match="the matrix G"):
        system.calc_g(state)
    with pytest.raises(StageTooLowError, match="projected"):
        system.calc_projected_m_inv(state)
    with pytest.raises(ShapeError, match=r"multiply_by_p\(u\)"):
        system.multiply_by_p(state, [1.0])
    with pytest.raises(ShapeError, match=r"multiply_by_pq\(qdot\)"):
        system.multiply_by_pq(state, [1.0])
    with pytest.raises(ShapeError, match="multiply_by_p_transpose"):
        system.multiply_by_p_transpose(state, [1.0, 2.0])
    massless = MultibodySystem()
    body = massless.matter.add_body("body", massless.matter.ground, Pin())
    massless.add(ConstantSpeedConstraint(body, 1.0), "speed")
    state = massless.new_state()
    massless.realize(state, Stage.DYNAMICS)
    with pytest.raises(MassMatrixError, match="no mass"):
        massless.calc_projected_m_inv(state)


def test_a_system_without_constraints_has_empty_matrices() -> None:
    system = System()
    state = system.new_state()
    system.realize(state, Stage.DYNAMICS)
    assert system.calc_g(state).shape == system.calc_projected_m_inv(state).shape == (0, 0)
    assert system.calc_pq(state).shape == (0, 0)
