"""Joints by functions of their q, and these functions."""

from math import sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from stagecache import Stage
from stagecache.errors import MobilizerError, OutOfRangeError, ShapeError, StagecacheError
from stagecache.multibody import (
    AbstractFunction,
    AbstractMobilizer,
    FunctionBased,
    Gimbal,
    Gravity,
    Linear,
    MultibodySystem,
    NaturalCubicSpline,
    Pin,
    Planar,
    Polynomial,
    Slider,
    Universal,
)
from stagecache.multibody.mobilizers.checks import check_mobilizer
from tests.multibody.trees import random_mass, random_transform
from tests.profiles import examples

X, Y, Z = np.eye(3).tolist()
ONE = Linear(1.0)


@pytest.mark.parametrize(
    ("ready", "own"),
    [
        (Pin(), FunctionBased([(Z, ONE, 0)])),
        (Slider(), FunctionBased([], [(X, ONE, 0)])),
        (Universal(), FunctionBased([(X, ONE, 0), (Y, ONE, 1)])),
        (Gimbal(), FunctionBased([(X, ONE, 0), (Y, ONE, 1), (Z, ONE, 2)])),
        (Planar(), FunctionBased([(Z, ONE, 0)], [(X, ONE, 1), (Y, ONE, 2)])),
    ],
)
def test_it_moves_as_the_mobilizer_with_the_same_functions(
    ready: AbstractMobilizer, own: FunctionBased
) -> None:
    rng = np.random.default_rng(1)
    mass, inboard, outboard = random_mass(rng), random_transform(rng), random_transform(rng)
    q, u = rng.normal(size=(2, ready.nq))
    found = []
    for mobilizer in (ready, own):
        system = MultibodySystem()
        body = system.matter.add_body(
            "body",
            system.matter.ground,
            mobilizer,
            inboard_frame=inboard,
            outboard_frame=outboard,
            mass_properties=mass,
        )
        system.add(Gravity(system.matter), "gravity")
        state = system.new_state()
        state.q, state.u = q, u
        system.realize(state, Stage.ACCELERATION)
        bias = body.acceleration_bias(state)
        found.append((body.pose(state).matrix, body.velocity(state), bias, state.udot))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@st.composite
def function_based(draw: Any) -> FunctionBased:
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    nq = draw(st.integers(1, 3))

    def motion(i: int) -> tuple[Any, AbstractFunction, int]:
        kind = draw(st.sampled_from(["linear", "polynomial", "spline", "own"]))
        function: AbstractFunction = {
            "linear": lambda: Linear(*rng.normal(size=2)),
            "polynomial": lambda: Polynomial(rng.normal(size=4)),
            "spline": lambda: NaturalCubicSpline(np.linspace(-2, 2, 5), rng.normal(size=5)),
            "own": Sine,
        }[kind]()
        return rng.normal(size=3), function, i

    rotations = [motion(draw(st.integers(0, nq - 1))) for _ in range(draw(st.integers(0, 3)))]
    translations = [motion(i) for i in range(nq)]
    return FunctionBased(
        rotations,
        translations,
        default_q=rng.normal(size=nq),
        checked_at=rng.uniform(-1.9, 1.9, (3, nq)).tolist(),
    )


class Sine(AbstractFunction):
    """A function of one's own, without derivatives."""

    def value(self, x: float) -> float:
        return sin(x)


@examples(100)
@given(function_based())
def test_its_methods_agree_with_each_other(mobilizer: FunctionBased) -> None:
    check_mobilizer(mobilizer, "body")


@pytest.mark.parametrize(
    ("method", "factor"), [("first", 1.01), ("second", 1.1)], ids=["first", "second"]
)
def test_a_wrong_derivative_is_found_where_one_says(method: str, factor: float) -> None:
    """It is wrong beyond 0.5 only, far from the default q."""

    class Late(AbstractFunction):
        def value(self, x: float) -> float:
            return x**4

        def first(self, x: float) -> float:
            return 4.0 * x**3 * (factor if method == "first" and x > 0.5 else 1.0)

        def second(self, x: float) -> float:
            return 12.0 * x**2 * (factor if method == "second" and x > 0.5 else 1.0)

    system = MultibodySystem()
    ground = system.matter.ground
    system.matter.add_body("near", ground, FunctionBased([(Z, Late(), 0)]))
    far = FunctionBased([(Z, Late(), 0)], checked_at=[[0.8]])
    with pytest.raises(MobilizerError, match="axes"):
        system.matter.add_body("far", ground, far)


def test_a_joint_with_a_mass_moves_along_its_functions() -> None:
    system = MultibodySystem()
    crank = FunctionBased([(Z, ONE, 0)], [(X, Polynomial([0.0, 0.0, 0.5]), 0)])
    body = system.matter.add_body(
        "body", system.matter.ground, crank, mass_properties={"mass": 2.0, "inertia": [1.0] * 3}
    )
    state = system.new_state()
    body.q.set(state, [0.5])
    body.u.set(state, [3.0])
    system.realize(state, Stage.ACCELERATION)
    # T = (1 + 2 q²) u² / 2, so (1 + 2 q²) udot + 2 q u² = 0
    assert state.udot == pytest.approx([-2.0 * 0.5 * 9.0 / 1.5])


# ---------------------------------------------------------------------- functions


@examples(60)
@given(st.integers(2, 8), st.integers(0, 2**16))
def test_a_spline_is_scipys_and_goes_on_straight(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.1, 1.0, count))
    y = rng.normal(size=count)
    ours, theirs = NaturalCubicSpline(x, y), CubicSpline(x, y, bc_type="natural")
    for place in [*x, *rng.uniform(x[0], x[-1], 5)]:
        for order, method in enumerate((ours.value, ours.first, ours.second)):
            assert method(place) == pytest.approx(float(theirs(place, order)), abs=1e-9)
    for end, away in ((x[0], -1.0), (x[-1], 1.0)):
        slope = float(theirs(end, 1))
        assert ours.value(end + away) == pytest.approx(float(theirs(end)) + away * slope)
        assert ours.first(end + away) == pytest.approx(slope)
        assert ours.second(end + away) == 0.0


def test_a_polynomial_is_numpys() -> None:
    ours, theirs = Polynomial([1.0, -2.0, 0.5, 3.0]), np.polynomial.Polynomial([1, -2, 0.5, 3])
    for x in (-1.5, 0.0, 0.7):
        wanted = [float(theirs(x)), float(theirs.deriv()(x)), float(theirs.deriv(2)(x))]
        assert [ours.value(x), ours.first(x), ours.second(x)] == pytest.approx(wanted)
    assert [Polynomial([4.0]).first(1.0), Polynomial([4.0, 1.0]).second(1.0)] == [0.0, 0.0]


def test_derivatives_by_differences_are_close() -> None:
    f = Sine()
    for x in (-2.0, 0.3, 40.0):
        assert f.first(x) == pytest.approx(np.cos(x), abs=1e-5 if x > 10 else 1e-11)
        assert f.second(x) == pytest.approx(-np.sin(x), abs=1e-4 if x > 10 else 1e-8)


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: FunctionBased([]), MobilizerError, "each of its q"),
        (lambda: FunctionBased([(Z, ONE, 1)]), MobilizerError, "number the q from 0"),
        (lambda: FunctionBased([(Z, ONE, 0)] * 4), MobilizerError, "too many"),
        (lambda: FunctionBased([(Z, ONE)]), MobilizerError, "three parts"),  # type: ignore[list-item]
        (lambda: FunctionBased(3), MobilizerError, "not a list"),  # type: ignore[arg-type]
        (lambda: FunctionBased([(Z, sin, 0)]), MobilizerError, "not by a function"),  # type: ignore[list-item]
        (lambda: FunctionBased([(Z, ONE, -1)]), OutOfRangeError, "index"),
        (lambda: FunctionBased([([0, 0, 0], ONE, 0)]), OutOfRangeError, "no direction"),
        (lambda: FunctionBased([(Z, ONE, 0)], default_q=[1, 2]), ShapeError, "default_q"),
        (lambda: FunctionBased([(Z, ONE, 0)], checked_at=[[1, 2]]), StagecacheError, "checked_at"),
        (lambda: NaturalCubicSpline([0, 0], [1, 2]), OutOfRangeError, "ascend"),
        (lambda: NaturalCubicSpline([0], [1]), OutOfRangeError, "ascend"),
        (lambda: NaturalCubicSpline([0, 1], [1]), ShapeError, "the y"),
        (lambda: Polynomial([]), ShapeError, "there are none"),
        (lambda: Linear("x"), StagecacheError, "slope"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_such_joint_is_refused(make: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        make()
