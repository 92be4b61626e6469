"""What is measured of projection is what the rows say: a chain of rods, and iterations in notes."""

import numpy as np
import pytest
import scipy.linalg

from benchmarks.by_hand.rods import RodsByHand
from benchmarks.figures import Figure, Unit
from benchmarks.limits import Growth
from benchmarks.peers import OWN, load_peer
from benchmarks.rods import OFF, OPTIONS, Chain
from benchmarks.rows import PROJECTION
from stagecache import Stage

ROWS = {row.name: row for group in PROJECTION.groups for row in group}


@pytest.mark.parametrize("count", [1, 5, 100])
def test_the_jacobian_is_that_of_the_lengths(count: int) -> None:
    chain = Chain(count)
    rods, state = chain.rods, chain.state
    jacobian = rods.length_jacobian(state).toarray()
    q, errors = state.q.copy(), state.qerr.copy()
    assert jacobian.shape == (count, 2 * count)
    np.testing.assert_allclose(errors, 0, atol=1e-12)
    rng = np.random.default_rng(1)
    for step in 1e-6 * rng.uniform(-1, 1, (3, 2 * count)):
        state.q = q + step
        chain.system.realize(state, Stage.POSITION)
        np.testing.assert_allclose(state.qerr - errors, jacobian @ step, atol=1e-10)
    state.q, state.u = q, rng.uniform(-1, 1, 2 * count)
    chain.system.realize(state, Stage.VELOCITY)
    np.testing.assert_allclose(state.uerr, jacobian @ state.u, atol=1e-12)


@pytest.mark.parametrize("count", [10, 150])
def test_a_chain_goes_back_by_the_least_change_dense_or_sparse(count: int) -> None:
    chain = Chain(count)
    state = chain.state
    chain.leave_q(0)
    q, jacobian = state.q.copy(), chain.rods.length_jacobian(state).toarray()
    expected = -scipy.linalg.pinv(jacobian) @ state.qerr
    assert chain.project_q(0).has_succeeded
    assert np.sqrt(np.mean(state.qerr**2)) <= OPTIONS.accuracy
    np.testing.assert_allclose(state.q - q, expected, atol=20 * OFF**2)

    chain.leave_u(0)
    u, jacobian = state.u.copy(), chain.rods.length_jacobian(state).toarray()
    expected = -scipy.linalg.pinv(jacobian) @ state.uerr
    assert chain.project_u(0).has_succeeded
    np.testing.assert_allclose(state.u - u, expected, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in ROWS if " 10 rods" in name])
def test_a_row_can_be_sampled(name: str) -> None:
    probe = ROWS[name].build(load_peer(OWN))
    probe.calibrate(0.001)
    assert probe.sample() > 0
    assert ("iteration" in probe.note) == ("already" not in name)


def test_the_exponent_is_fitted_to_the_rows() -> None:
    growth = Growth(1.2, ((10, "ten"), (100, "hundred"), (1000, "thousand")))
    results = {(name, OWN): Figure(1e-3 * n**1.5, None, Unit.SECONDS) for n, name in growth.rows}
    verdict = growth.judge("thousand", results)
    assert (str(verdict), verdict.met) == ("grows as n^1.50, ≤ 1.2 ✗", False)
    del results["ten", OWN]
    assert growth.judge("thousand", results).met is None


@pytest.mark.parametrize("count", [2, 10, 100])
def test_by_hand_the_chain_comes_back_to_the_same_place(count: int) -> None:
    chain = Chain(count)
    hand = RodsByHand(chain)
    chain.leave_q(0)
    hand.leave_q(0)
    iterations = chain.project_q(0).num_iterations
    assert abs(hand.project_q(0) - iterations) <= 1
    np.testing.assert_allclose(hand.q, chain.state.q, atol=1e-6)
    assert hand.project_q(0) == 0


@pytest.mark.parametrize("count", [2, 10, 100])
def test_by_hand_the_speeds_come_back_to_the_same(count: int) -> None:
    chain = Chain(count)
    hand = RodsByHand(chain)
    chain.leave_u(0)
    hand.leave_u(0)
    chain.project_u(0)
    hand.project_u(0)
    np.testing.assert_allclose(hand.u, chain.state.u, atol=1e-6)
