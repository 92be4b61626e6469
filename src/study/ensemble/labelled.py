"""Results as a dataset of xarray, and as a table of pandas.

::

    parameters              coordinates along "member"
    numbers, texts          variables (member)
    arrays                  variables (member, place.index, ...)
    trajectories            variables (member, time), one for each column

    grid: member  ->  a dimension for each path of a full factorial design
"""

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stagecache.checks import require_extra
from stagecache.errors import StudyError, short_repr
from stagecache.study.trajectory.trajectory import Trajectory

MEMBER: Final = "member"
STATUS: Final = "status"
TIME: Final = "time"
ABSENT: Final = "missing"
FITS_INT64: Final = 2**63

Array = NDArray[Any]


def dataset_of(ensemble: Any, results: Iterable[Any], *, grid: bool) -> Any:
    """Return an `xarray.Dataset` of results.

    Parameters
    ----------
    ensemble : Ensemble
    results : iterable of MemberResult
    grid : bool
    """
    xarray = require_extra("xarray", "labels", "to_xarray()", "use results[i].values")
    parameters, values, statuses = _columns(ensemble, results)
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {MEMBER: (MEMBER, np.arange(ensemble.number))}
    for path, column in parameters.items():
        unit = ensemble.units.get(path)
        dimensions, array = _labelled(path, column)
        coordinates[path] = (dimensions, array, {"units": unit} if unit else {})
    runs = {name: column for name, column in values.items() if _is_trajectory(column)}
    for name, column in values.items():
        if name not in runs:
            variables[name] = _labelled(name, column)
    if runs:
        coordinates[TIME], found = _trajectories(ensemble, runs)
        variables |= found
    variables[STATUS] = (MEMBER, np.array(statuses, str))
    if grid:
        variables, coordinates = _on_grid(ensemble, variables, coordinates)
    return xarray.Dataset(variables, coordinates, {"system": ensemble.system})


def dataframe_of(ensemble: Any, results: Iterable[Any]) -> Any:
    """Return a `pandas.DataFrame` of results."""
    pandas = require_extra("pandas", "labels", "to_pandas()", "use results[i].values")
    parameters, values, statuses = _columns(ensemble, results)
    table: dict[str, Any] = {}
    for name, column in (*parameters.items(), *values.items()):
        if _is_trajectory(column):
            continue
        array = _array(name, column)
        if array.ndim == 1:
            table[name] = array
        for place in np.ndindex(*array.shape[1:]) if array.ndim > 1 else ():
            table[f"{name}[{','.join(map(str, place))}]"] = array[(slice(None), *place)]
    table[STATUS] = statuses
    return pandas.DataFrame(table, index=pandas.RangeIndex(ensemble.number, name=MEMBER))


def _columns(
    ensemble: Any, results: Iterable[Any]
) -> tuple[dict[str, list[Any]], dict[str, list[Any]], list[str]]:
    """Return values of all members by name, None where there are none, and statuses."""
    number = ensemble.number
    parameters: dict[str, list[Any]] = {path: [None] * number for path in ensemble.names}
    found: dict[int, Mapping[str, Any]] = {}
    statuses = [ABSENT] * number
    for result in results:
        statuses[result.index] = result.status
        found[result.index] = result.values
        for path, value in result.parameters.items():
            parameters[path][result.index] = value
    names: dict[str, None] = {}  # in the order of members, not in that of their ends
    for index in sorted(found):
        names |= dict.fromkeys(found[index])
    values = {
        name: [found[index].get(name) if index in found else None for index in range(number)]
        for name in names
    }
    return parameters, values, statuses


def _is_trajectory(column: Sequence[Any]) -> bool:
    return any(isinstance(value, Trajectory) for value in column)


def _labelled(name: str, column: Sequence[Any]) -> tuple[list[str], Array]:
    """Return the dimensions of a variable, and its values."""
    array = _array(name, column)
    return [MEMBER, *_inner(name, array.ndim - 1)], array


def _inner(name: str, count: int) -> list[str]:
    return [f"{name}.index", *[f"{name}.index{n}" for n in range(1, count)]][:count]


def _array(name: str, column: Sequence[Any]) -> Array:
    """Return the values of all members as an array; NaN or "" where there are none.

    Raises
    ------
    StudyError
        They have several shapes.
    """
    present = [value for value in column if value is not None]
    if not present:
        return np.full(len(column), nan)
    if any(isinstance(value, dict | set) for value in present):
        return _objects(column)
    try:
        shapes = {np.shape(value) for value in present}
    except ValueError:  # lists of several lengths in each other
        return _objects(column)
    if len(shapes) > 1:
        raise StudyError(
            f"{name}: cannot be one variable of all members",
            "values of one shape",
            f"shapes {' and '.join(map(str, sorted(shapes)[:4]))}",
            "take them from results[i].values; or let the function return arrays of one shape",
        )
    kinds = {np.asarray(value).dtype.kind for value in present}
    is_whole = len(present) == len(column)
    shape = shapes.pop()
    if kinds == {"U"}:
        return np.array([np.full(shape, "") if v is None else v for v in column], str)
    if kinds <= set("biufc"):
        dtype = np.result_type(*[np.asarray(value).dtype for value in present])
        is_mixed = "b" in kinds and len(kinds) > 1
        if dtype.kind not in "fc" and (not is_whole or is_mixed):
            dtype = np.dtype(float)
        return np.array([np.full(shape, nan) if v is None else v for v in column], dtype)
    return _objects(column)


def _objects(column: Sequence[Any]) -> Array:
    found = np.empty(len(column), object)
    for index, value in enumerate(column):
        found[index] = value
    return found


# ---------------------------------------------------------------------- trajectories


def _trajectories(ensemble: Any, runs: Mapping[str, Sequence[Any]]) -> tuple[Any, dict[str, Any]]:
    """Return the coordinate of times, and a variable for each column of trajectories.

    Raises
    ------
    StudyError
        They have different times.
    """
    all_runs = [run for column in runs.values() for run in column if run is not None]
    times = all_runs[0].times
    others = [run for run in all_runs if run.times.tobytes() != times.tobytes()]
    if others or TIME in ensemble.names:
        raise StudyError(
            "to_xarray(): trajectories cannot share a dimension",
            "the same times in all members, and that the time itself is not a parameter",
            f"{len(times)} times up to {times[-1]:.6g}, and {len(others[0].times)} up to "
            f"{others[0].times[-1]:.6g}"
            if others
            else "members that begin at different times",
            "simulate with every=...; or run the study with into=folder, which keeps a file of "
            "each, and take them from results[i].values",
        )
    variables = {}
    for name, column in runs.items():
        first = next(run for run in column if run is not None)
        units = first.units
        for path in first.columns:
            if path == TIME:
                continue
            is_taken = len(runs) > 1 or path in ensemble.names
            label = f"{name}.{path}" if is_taken else path
            arrays = [None if run is None else run[path] for run in column]
            array = _array(label, arrays)
            dimensions = [MEMBER, TIME, *_inner(label, array.ndim - 2)]
            variables[label] = (dimensions, array, {"units": units[path]} if path in units else {})
    return (TIME, times.copy(), {"units": "s"}), variables


# ---------------------------------------------------------------------- grids


def _on_grid(
    ensemble: Any, variables: Mapping[str, Any], coordinates: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return variables with a dimension for each path, in place of "member".

    Raises
    ------
    StudyError
    """
    levels = {path: _array(path, values) for path, values in ensemble.levels.items()}
    if not levels or any(array.ndim > 1 for array in levels.values()):
        raise StudyError(
            "to_xarray(grid=True): members are not a grid",
            "members of full_factorial(), with a number or a text of each path",
            f"members that differ in {short_repr(ensemble.names)}",
            "leave out grid=True",
        )
    sizes = [len(array) for array in levels.values()]

    def unstacked(variable: Any) -> Any:
        dimensions, array, *attributes = variable
        if dimensions != MEMBER and dimensions[0] != MEMBER:
            return variable
        inner = [] if dimensions == MEMBER else dimensions[1:]
        return [*levels, *inner], array.reshape(*sizes, *array.shape[1:]), *attributes

    units = ensemble.units
    kept = {name: c for name, c in coordinates.items() if name not in levels and name != MEMBER}
    axes = {
        path: (path, array, {"units": units[path]} if path in units else {})
        for path, array in levels.items()
    }
    return {name: unstacked(v) for name, v in variables.items()}, axes | kept
