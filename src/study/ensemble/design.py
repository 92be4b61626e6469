"""Designs: members that fill the ranges of variables.

::

    full_factorial    every combination of values            o o o     3 levels x 2
                                                             o o o
    latin_hypercube   each of n equal parts is hit once      . o .
    sobol             a sequence of low discrepancy          fills gaps, best for n = 2**k

Source: `scipy.stats.qmc`, with scrambling and a seed.
"""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.random import default_rng

from stagecache.checks import require_count, require_number, wrong_type
from stagecache.errors import OutOfRangeError, ShapeError, short_repr
from stagecache.state.handles import Vector
from stagecache.study.ensemble.members import Members, plain


def full_factorial(levels: Mapping[str, Any]) -> Members:
    """Return every combination of values; the last path varies fastest.

    Parameters
    ----------
    levels : mapping of str to sequence
        Values by path.

    Returns
    -------
    Members
        `StudyResults.to_xarray(grid=True)` has a dimension for each path.

    Raises
    ------
    WrongTypeError
        Not a mapping of paths to sequences.
    ShapeError
        A path has no values.

    Examples
    --------
    >>> from stagecache import full_factorial
    >>> members = full_factorial({"cart.mass": [1.0, 2.0], "cart.force": [0.0, 5.0, 9.0]})
    >>> len(members), members[1]
    (6, {'cart.mass': 1.0, 'cart.force': 5.0})
    """
    hint = "write full_factorial({'cart.mass': [1.0, 2.0], 'cart.force': [0.0, 5.0]})"
    given: Any = levels
    if not isinstance(given, Mapping) or not given:
        raise wrong_type(given, "full_factorial(levels): not levels", "paths with values", hint)
    found = {path: Members({path: values}).column(path) for path, values in levels.items()}
    empty = [path for path, values in found.items() if not values]
    if empty:
        raise ShapeError(
            f"full_factorial(levels): {empty[0]!r} has no values", "at least one value", "[]", hint
        )
    count = prod(map(len, found.values()))
    columns, repeat = {}, count
    for path, values in found.items():
        repeat //= len(values)
        columns[path] = [values[k // repeat % len(values)] for k in range(count)]
    return Members._of_levels(found, columns)


def latin_hypercube(bounds: Mapping[str, tuple[float, float]], n: int, *, seed: int = 0) -> Members:
    """Return a Latin hypercube: n members, one in each of n equal parts of every range.

    Parameters
    ----------
    bounds : mapping
        Lowest and highest value by path, in the unit of the variable.
    n : int
        Number of members.
    seed : int

    Returns
    -------
    Members

    Raises
    ------
    WrongTypeError, ShapeError, NotANumberError
        The bounds are not pairs of numbers.
    OutOfRangeError
        A range is empty, or `n` or `seed` is not a possible number.

    Examples
    --------
    >>> from stagecache import latin_hypercube
    >>> latin_hypercube({"cart.mass": (0.5, 2.0), "cart.force": (0.0, 9.0)}, 100)
    Members(100 of cart.mass, cart.force)
    """
    return _sampled(bounds, n, seed, "latin_hypercube")


def sobol(bounds: Mapping[str, tuple[float, float]], n: int, *, seed: int = 0) -> Members:
    """Return the first n points of a scrambled Sobol sequence, best balanced if n is a power of 2.

    Parameters, results and errors: see `latin_hypercube`.

    Examples
    --------
    >>> from stagecache import sobol
    >>> sobol({"cart.mass": (0.5, 2.0), "cart.force": (0.0, 9.0)}, 128)
    Members(128 of cart.mass, cart.force)
    """
    return _sampled(bounds, n, seed, "sobol")


def _sampled(bounds: Any, n: Any, seed: Any, call: str) -> Members:
    from scipy.stats import qmc  # noqa: PLC0415  # it takes long to import

    hint = f"write {call}({{'cart.mass': (0.5, 2.0)}}, 100)"
    if not isinstance(bounds, Mapping) or not bounds:
        raise wrong_type(bounds, f"{call}(bounds): not bounds", "paths with (low, high)", hint)
    ranges = {path: _range(path, pair, call, hint) for path, pair in bounds.items()}
    n = require_count(n, 1, f"{call}(n)", hint)
    seed = require_count(seed, 0, f"{call}(seed=...)")
    lower, upper = np.transpose(list(ranges.values()))
    if call == "sobol":
        # SciPy warns unless n is a power of 2. The first n points of the next power are the same.
        power = (n - 1).bit_length()
        unit: Vector = qmc.Sobol(len(ranges), seed=default_rng(seed)).random_base2(power)[:n]
    else:
        unit = qmc.LatinHypercube(len(ranges), seed=default_rng(seed)).random(n)
    points = lower + unit * (upper - lower)
    return Members({path: points[:, k] for k, path in enumerate(ranges)})


def _range(path: object, pair: Any, call: str, hint: str) -> tuple[float, float]:
    what = f"{call}(bounds): {short_repr(path)}"
    pair = plain(pair) if isinstance(pair, np.ndarray) else pair
    if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
        raise ShapeError(f"{what} has no bounds", "(low, high)", short_repr(pair), hint)
    low, high = (require_number(value, what, hint) for value in pair)
    if low < high:
        return low, high
    raise OutOfRangeError(f"{what} has an empty range", "low < high", f"({low}, {high})", hint)
