"""All methods against problems of the literature: orders, accuracies, and stiffness."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from stagecache import Subsystem
from stagecache.errors import NotFiniteError, StepSizeError
from stagecache.state.handles import Vector
from tests.profiles import is_nightly
from tests.study.integrating import METHODS, POWERS, integrating, run_to
from tests.study.models import state_of
from tests.study.problems import (
    PERIOD,
    PLEIADES_AT_3,
    ROBERTSON,
    VAN_DER_POL_AT_2,
    Motion,
    arenstorf,
    circle,
    on_circle,
    pleiades,
    robertson,
    van_der_pol,
    van_der_pol_before_its_jump,
)

STIFF = ("Radau", "BDF", "LSODA")
EXPLICIT = tuple(method for method in METHODS if method not in STIFF)


def at(model: Subsystem, method: str, time: float, **options: Any) -> Vector:
    """y at a time."""
    return np.array(run_to(integrating(model, method, **options), time).y)


# ---------------------------------------------------------------------- orders

# The order, and a number of steps with which the error is larger than rounding.
FIXED = {"Euler": (1, 32), "Verlet": (2, 16), "RK23": (3, 16), "RK45": (5, 32), "DOP853": (8, 3)}
TIME = 2.0
"""No whole turn, after which errors of some methods cancel each other."""


@pytest.mark.parametrize("method", FIXED)
def test_halving_fixed_steps_along_a_circle_shows_the_order(method: str) -> None:
    order, count = FIXED[method]
    errors = []
    for steps in (count, 2 * count, 4 * count):
        y = at(circle(), method, TIME, fixed_step=TIME / steps, accuracy=1e-12)
        errors.append(float(np.abs(y - on_circle(TIME)).max()))
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert orders == pytest.approx([order] * 2, abs=0.4)


# The error between the ends of steps is of the least order of the method and of its polynomial.
DENSE = {"Euler": 1, "Verlet": 2, "RK23": 3, "RK45": 4, "DOP853": 7}


@pytest.mark.parametrize("method", DENSE)
def test_halving_fixed_steps_shows_the_order_between_their_ends(method: str) -> None:
    """At a third of a step, which two more come before."""
    errors = []
    for steps in (1, 2, 4):
        step = (2.0 if method == "DOP853" else 0.5) / steps
        time = step * (2 + 1 / 3)
        y = at(circle(), method, time, fixed_step=step, accuracy=1e-12)
        errors.append(float(np.abs(y - on_circle(time)).max()))
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert orders[-1] > DENSE[method] + 0.5  # an order more, as this is an error of few steps


# ---------------------------------------------------------------------- error control

ENDS = {"RK23": (1e-3, 1e-6), "Euler": (1e-1, 1e-3), "Verlet": (1e-2, 1e-5), "Radau": (1e-3, 1e-6)}


@pytest.mark.parametrize("method", METHODS)
def test_errors_along_a_circle_are_proportional_to_the_accuracy(method: str) -> None:
    """Or to its power, of methods whose estimate is of another order: see `POWERS`."""
    ends = ENDS.get(method, (1e-4, 1e-8))
    expected, errors = POWERS.get(method, 1.0), []
    for accuracy in (ends[0], math.sqrt(ends[0] * ends[1]), ends[1]):
        error = float(np.abs(at(circle(), method, TIME, accuracy=accuracy) - on_circle(TIME)).max())
        assert error <= 10 * accuracy**expected
        errors.append(error)
    power = math.log(errors[0] / errors[-1]) / math.log(ends[0] / ends[1])
    assert power == pytest.approx(expected, abs=0.35)


ORBITS = [("RK45", 1e-6), ("DOP853", 1e-9), ("LSODA", 1e-7)]
if is_nightly():
    ORBITS += [("RK45", 1e-9), ("DOP853", 1e-6), ("DOP853", 1e-12), ("LSODA", 1e-10)]
    ORBITS += [("Radau", 1e-6), ("Radau", 1e-8), ("BDF", 1e-7), ("BDF", 1e-9), ("RK23", 1e-7)]


@pytest.mark.parametrize(("method", "accuracy"), ORBITS)
def test_a_satellite_is_back_after_the_period_of_arenstorf(method: str, accuracy: float) -> None:
    """Two passes of the moon multiply an error of the start by some thousands."""
    model = arenstorf()
    y = at(model, method, PERIOD, accuracy=accuracy)
    rounding = 1e-11
    assert np.abs(y[:2] - model.start[0]).max() < 3e3 * accuracy + rounding
    assert np.abs(y[2:] - model.start[1]).max() < 1e6 * accuracy + 300 * rounding


@pytest.mark.parametrize(("method", "accuracy"), ORBITS)
def test_the_pleiades_are_where_the_test_set_has_them(method: str, accuracy: float) -> None:
    """In spite of close encounters of stars, which multiply errors."""
    y = at(pleiades(), method, 3.0, accuracy=accuracy)
    assert np.abs(y - PLEIADES_AT_3).max() < 1e3 * accuracy + 1e-11


# ---------------------------------------------------------------------- stiffness


@pytest.mark.parametrize("method", STIFF)
@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-8] if is_nightly() else [1e-4])
def test_van_der_pol_is_where_the_test_set_has_it(method: str, accuracy: float) -> None:
    """After two jumps; the time of a jump has the error of the step before it."""
    y = at(van_der_pol(1e3), method, 2.0, accuracy=accuracy)
    np.testing.assert_allclose(y, VAN_DER_POL_AT_2, rtol=30 * accuracy)


@pytest.mark.parametrize("method", STIFF)
@pytest.mark.parametrize("mu", [1e3, 1e4, 1e5, 1e6] if is_nightly() else [1e3, 1e6])
def test_van_der_pol_is_on_its_slow_manifold_however_stiff_it_is(method: str, mu: float) -> None:
    accuracy = 1e-5
    y = at(van_der_pol(mu), method, 0.5, accuracy=accuracy)
    expected = van_der_pol_before_its_jump(0.5)
    np.testing.assert_allclose(y, expected, rtol=10 * accuracy + 10 / mu**2)


LONG = [("LSODA", 1e11), *((method, 1e11) for method in ("Radau", "BDF") if is_nightly())]


@pytest.mark.parametrize(("method", "time"), [*((method, 40.0) for method in STIFF), *LONG])
def test_reactions_of_robertson_are_where_the_references_have_them(
    method: str, time: float
) -> None:
    """The second number is 1e-5 and less, so it has a weight."""
    accuracy, expected = 1e-6, ROBERTSON[time]
    _, state = state_of(robertson())
    state.z_weights = 1 / np.maximum(expected, 1e-6 * expected.max())
    y = run_to(integrating(robertson(), method, state, accuracy=accuracy), time).y
    np.testing.assert_allclose(y, expected, atol=10 * accuracy * expected.max(), rtol=1e-4)
    assert y.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("method", EXPLICIT)
def test_an_explicit_method_takes_as_short_steps_as_stiffness_asks_for(method: str) -> None:
    """It costs steps, not correct digits."""
    accuracy, time, mu = 1e-3, 0.02, 100.0
    integrator = integrating(van_der_pol(mu), method, accuracy=accuracy)
    y = run_to(integrator, time).y
    place = van_der_pol_before_its_jump(time)
    np.testing.assert_allclose(y, place, atol=20 * accuracy)
    assert integrator.statistics.num_steps_taken > time * 3 * mu**2 / 10


# A step that is too long gives numbers beyond the largest one, on the way to the error.
overflowing = pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")


@overflowing
@pytest.mark.parametrize("method", EXPLICIT)
def test_an_explicit_method_says_that_it_may_not_take_the_steps_that_stiffness_asks_for(
    method: str,
) -> None:
    with pytest.raises((StepSizeError, NotFiniteError), match=r"flow\.numbers\[1\]"):
        at(van_der_pol(1e3), method, 1.0, accuracy=1e-3, min_step=1e-3)


@overflowing
@pytest.mark.parametrize("method", EXPLICIT)
def test_fixed_steps_that_are_too_long_for_stiffness_end_in_an_error(method: str) -> None:
    with pytest.raises((StepSizeError, NotFiniteError), match=r"flow\.numbers\[1\]"):
        at(van_der_pol(1e3), method, 1.0, fixed_step=1e-2)


def test_a_motion_has_the_form_of_its_problem() -> None:
    """So that a wrong problem is not taken for a wrong method."""
    model = pleiades()
    assert isinstance(model, Motion)
    pull = model.acceleration(0.0, *model.start).reshape(2, 7)
    np.testing.assert_allclose(pull @ np.arange(1.0, 8.0), 0.0, atol=1e-14)  # of all momenta
