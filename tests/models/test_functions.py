"""Functions of OpenSim's joints: values are compared with OpenSim's in test_osim."""

import numpy as np
import pytest

from stagecache.errors import OutOfRangeError, ShapeError
from stagecache.models import PiecewiseLinear, SimmSpline
from stagecache.multibody import AbstractFunction

X, Y = [-1.5, -0.6, 0.1, 0.9, 1.6], [0.3, -0.1, 0.2, 0.4, -0.2]
FUNCTIONS = [
    SimmSpline(X, Y),
    SimmSpline(X[:3], Y[:3]),
    SimmSpline(X[:2], Y[:2]),
    PiecewiseLinear(X, Y),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
def test_derivatives_are_those_of_the_values(function: AbstractFunction) -> None:
    h = 1e-5
    for x in (-2.0, -1.2, -0.3, 0.5, 1.2, 3.0):
        slope = (function.value(x + h) - function.value(x - h)) / (2 * h)
        assert function.first(x) == pytest.approx(slope, abs=1e-8)
        bend = (function.first(x + h) - function.first(x - h)) / (2 * h)
        assert function.second(x) == pytest.approx(bend, abs=1e-6)


@pytest.mark.parametrize("kind", [SimmSpline, PiecewiseLinear])
def test_they_go_through_their_points_and_on_in_straight_lines(kind: type) -> None:
    function = kind(X, Y)
    np.testing.assert_allclose([function.value(x) for x in X], Y, atol=1e-15)
    for end, direction in ((X[0], -1.0), (X[-1], 1.0)):
        ahead = [function.value(end + direction * t) for t in (0.0, 1.0, 2.0)]
        assert ahead[2] - ahead[1] == pytest.approx(ahead[1] - ahead[0])


@pytest.mark.parametrize("kind", [SimmSpline, PiecewiseLinear])
def test_points_that_do_not_fit_are_refused(kind: type) -> None:
    for x, y in (([0.0, 0.0], [1.0, 2.0]), ([0.0], [1.0])):
        with pytest.raises(OutOfRangeError, match=f"x of a {kind.__name__}: do not ascend"):
            kind(x, y)
    with pytest.raises(ShapeError):
        kind([0.0, 1.0], [1.0])
