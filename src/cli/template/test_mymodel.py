"""Tests of the model: whether its cache is right, and whether its physics is.

Run them: pytest
"""

import math
from collections.abc import Callable

from stagecache import System, simulate
from stagecache.cli.template.mymodel import Mug, system


def test_the_cache_is_right(check_invalidation: Callable[[System], object]) -> None:
    """Random writes and reads give what a new computation gives."""
    check_invalidation(system())


def test_the_coffee_cools_as_newton_says() -> None:
    """The difference from the room decays exponentially."""
    model = system()
    mug = model.get(Mug)
    end = simulate(model, model.new_state(), 1800.0, accuracy=1e-6)[-1]
    expected = 20.0 + 70.0 * math.exp(-mug.cooling_rate(end) * 1800.0)
    assert abs(mug.temperature(end) - expected) < 1e-3
