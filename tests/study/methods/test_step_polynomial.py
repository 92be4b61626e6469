"""Polynomials over a step, against what they were made of."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.state.handles import Vector
from stagecache.study.methods.step_polynomial import StepPolynomial

NUMBERS = st.floats(-1e3, 1e3)


@given(
    coefficients=st.lists(NUMBERS, min_size=2, max_size=13),
    start=st.floats(-10, 10),
    h=st.floats(0.01, 10),
)
def test_values_at_its_times_determine_it(
    coefficients: list[float], start: float, h: float
) -> None:
    def read(t: Vector) -> Vector:
        s = (t - start) / h
        return np.column_stack([np.polyval(coefficients, s), np.polyval(coefficients[::-1], s)])

    found = StepPolynomial.of_values(start, h, len(coefficients) - 1, read)
    times = np.linspace(start, start + h, 20)
    size = sum(map(abs, coefficients))
    np.testing.assert_allclose([found(t) for t in times], read(times), atol=1e-9 * (1 + size))


@given(ends=st.lists(NUMBERS, min_size=4, max_size=4), more=st.lists(NUMBERS, max_size=4))
def test_it_has_the_values_and_the_slopes_of_both_ends(
    ends: list[float], more: list[float]
) -> None:
    y0, y1, slope0, slope1 = np.array(ends)[:, np.newaxis]
    parts = [np.array([part]) for part in more]
    found = StepPolynomial.of_slopes(1.0, 0.5, (y0, y1), (slope0, slope1), parts)
    assert found(1.0) == y0
    assert found(1.5) == pytest.approx(y1, abs=1e-12 * 1e3)
    d = 1e-6
    assert (found(1.0 + d) - y0) / d == pytest.approx(slope0, abs=0.1)
    assert (y1 - found(1.5 - d)) / d == pytest.approx(slope1, abs=0.1)


@given(
    parts=st.integers(0, 7),
    seed=st.integers(0, 1000),
    end=st.floats(0.1, 1.0),
    changes=st.tuples(NUMBERS, NUMBERS),
)
def test_it_can_be_led_through_other_values_with_the_same_slopes(
    parts: int, seed: int, end: float, changes: tuple[float, float]
) -> None:
    random = np.random.default_rng(seed)
    found = StepPolynomial(2.0, 1.0, random.normal(size=3), random.normal(size=(parts, 3)))
    t = 2.0 + end
    y0, y1 = found(2.0) + changes[0], found(t) + changes[1]
    other = found.through(y0, t, y1)
    np.testing.assert_allclose([other(2.0), other(t)], [y0, y1], atol=1e-9)
    middle = 2.0 + end / 2  # where half of each change has come
    np.testing.assert_allclose(other(middle), found(middle) + sum(changes) / 2, atol=1e-9)
    d = 1e-6 * end
    for near, far in ((2.0, 2.0 + d), (t, t - d)):
        slopes = [(curve(far) - curve(near)) / (far - near) for curve in (found, other)]
        np.testing.assert_allclose(slopes[0], slopes[1], atol=0.1 / end)


def test_it_can_be_pickled_and_a_constant_one_stays_what_it_is() -> None:
    found = pickle.loads(pickle.dumps(StepPolynomial.constant(1.0, np.array([2.0, 3.0]))))
    assert found(7.0).tolist() == [2.0, 3.0]
