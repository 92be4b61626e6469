"""Projection against the nearest points that SciPy's SLSQP finds.

Of redundant rows, SLSQP gets an independent choice only, as it cannot take more.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

from stagecache import ProjectOptions, Stage, State, System
from stagecache.state.handles import Vector
from tests.profiles import examples
from tests.system.projection.test_projection import eu
from tests.system.projection_models import RandomModel, random_models

TIGHT = ProjectOptions(1e-9)  # rates by differences have errors of 1e-10


def nearest(
    start: Vector,
    guess: Vector,
    norm: Vector,
    errors: Callable[[Vector], Vector],
    gradient: Callable[[Vector], Vector],
) -> Vector:
    """The x without errors for which |norm (x - start)| is least, near a guess."""
    size = float(np.sum((guess - start) ** 2)) or 1.0
    found: Any = minimize(
        lambda x: float(np.sum((norm @ (x - start)) ** 2)) / size,
        guess,
        jac=lambda x: 2 * norm.T @ (norm @ (x - start)) / size,
        constraints={"type": "eq", "fun": errors, "jac": gradient},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    return np.asarray(found.x)


def quaternions(model: RandomModel) -> list[slice]:
    """Their places in q."""
    sizes = [count or 4 for count, _ in model.kinds]
    ends = np.cumsum(sizes)
    return [
        slice(end - 4, end)
        for end, (count, driven) in zip(ends.tolist(), model.kinds, strict=True)
        if not count and not driven
    ]


def nearest_q(model: RandomModel, start: State, guess: Vector) -> Vector:
    """All q, of which the free ones satisfy ties and quaternions have the length 1."""
    q0, free, balls = start.q.copy(), model.free_q, quaternions(model)
    n = model.n(q0)
    norm = n @ np.diag(start.u_weights) @ scipy.linalg.pinv(n)
    ties = slice(model.num_ties)

    def whole(x: Vector) -> Vector:
        q = q0.copy()
        q[free] = x
        return q

    def errors(x: Vector) -> Vector:
        q = whole(x)
        lengths = [q[ball] @ q[ball] - 1 for ball in balls]
        return np.append(model.coefficients.position(q)[ties], lengths)

    def gradient(x: Vector) -> Vector:
        q = whole(x)
        rows = np.zeros((len(balls), len(q)))
        for row, ball in zip(rows, balls, strict=True):
            row[ball] = 2 * q[ball]
        return np.concatenate([model.coefficients.gradient(q)[ties], rows])[:, free]

    if not model.num_ties + len(balls):
        return q0
    return whole(nearest(q0[free], guess[free], norm[:, free], errors, gradient))


@examples(60)
@given(random_models(), st.sampled_from([1e-3, 1e-2, 0.1]))
def test_q_come_to_the_nearest_point_to_first_order(model: RandomModel, offset: float) -> None:
    """Farther away by about the square of the way, more with unequal weights; exact if straight."""
    model.offset = offset
    state = model.new_state()
    start = state.copy()
    System.project_q(model.system, state, options=TIGHT)
    found = state.q.copy()
    wanted = nearest_q(model, start, found)
    way = float(np.linalg.norm(found - start.q))
    weights = start.u_weights
    bends = model.curvature > 0 or quaternions(model)
    most = max(3.0, weights.max() / weights.min()) * way**2 if bends else 0.0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7 + most)
    prescribed = np.setdiff1d(np.arange(state.nq), model.free_q)
    np.testing.assert_array_equal(found[prescribed], start.q[prescribed])


@examples(60)
@given(random_models())
def test_u_come_to_the_nearest_point(model: RandomModel) -> None:
    """By SLSQP and by BVLS, whose unknowns are along the constraints."""
    state = model.new_state()
    u0, norm, free = state.u.copy(), np.diag(eu(state)), model.free_u
    jacobian = model.velocity_jacobian(state.q)
    jacobian = np.delete(
        jacobian, np.arange(model.num_ties, model.num_ties + len(model.combined)), axis=0
    )
    errors = np.delete(
        state.uerr.copy(),
        np.arange(model.num_ties, model.num_ties + len(model.combined)),
    )
    System.project_u(model.system, state, options=TIGHT)
    found = state.u[free]
    if len(jacobian):
        rows, norms = jacobian[:, free], norm[np.ix_(free, free)]
        wanted = nearest(
            u0[free], found, norms, lambda u: errors + rows @ (u - u0[free]), lambda _: rows
        )
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
        some = scipy.linalg.lstsq(rows, -errors)[0]
        along = scipy.linalg.null_space(rows)
        if along.size:
            best = lsq_linear(norms @ along, -norms @ some, method="bvls", tol=1e-14)
            some = some + along @ best.x
        np.testing.assert_allclose(found - u0[free], some, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(np.delete(state.u, free), np.delete(u0, free))
    assert state.stage == Stage.VELOCITY


@examples(40)
@given(random_models())
def test_redundant_rows_move_nothing_else(model: RandomModel) -> None:
    """The same model without sums of its rows has the same nearest point."""
    plain = RandomModel(
        model.kinds,
        model.seed,
        model.is_declared,
        model.num_ties,
        model.num_slips,
        model.curvature,
        num_repeated=0,
        offset=1e-3,
    )
    model.offset = 1e-3
    ends = []
    for one in (model, plain):
        state = one.system.new_state()
        state.q = one.q + 1e-3 * np.sin(1.0 + np.arange(len(one.q))) * np.isin(
            np.arange(len(one.q)), one.free_q
        )
        one.system.realize(state, Stage.VELOCITY)
        System.project_q(one.system, state, options=TIGHT)
        one.system.realize(state, Stage.VELOCITY)
        System.project_u(one.system, state, options=TIGHT)
        ends.append(np.concatenate([state.q, state.u]))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-6)
