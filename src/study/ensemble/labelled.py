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
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from stagecache.checks import require_extra
from stagecache.errors import DuplicateNameError, StudyError, short_repr
from stagecache.study.trajectory.trajectory import Trajectory

MEMBER: Final = "member"
STATUS: Final = "status"
TIME: Final = "time"
ABSENT: Final = "missing"
EXACT: Final = 2**53
"""Floats represent all integers up to here exactly."""

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
    names = _Names("to_xarray()")
    names.add(MEMBER, "the dimension of members")
    names.add(STATUS, "the status of members")
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {MEMBER: (MEMBER, np.arange(ensemble.number))}
    for path, column in parameters.items():
        unit = ensemble.units.get(path)
        names.add(path, "a parameter")
        dimensions, array = _labelled(path, column, names)
        coordinates[path] = (dimensions, array, {"units": unit} if unit else {})
    runs = {name: column for name, column in values.items() if _is_trajectory(name, column)}
    for name, column in values.items():
        if name not in runs:
            names.add(name, "a result")
            variables[name] = _labelled(name, column, names)
    if runs:
        coordinates[TIME], found = _trajectories(ensemble, runs, names)
        variables |= found
    variables[STATUS] = (MEMBER, np.array(statuses, str))
    if grid:
        variables, coordinates = _on_grid(ensemble, variables, coordinates)
    return xarray.Dataset(variables, coordinates, {"system": ensemble.system})


@final
class _Names:
    """Names in a dataset or a table, each with one meaning.

    Parameters
    ----------
    call : str
        Name of the method, in errors.
    """

    def __init__(self, call: str) -> None:
        self._call = call
        self._meanings: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._meanings

    def add(self, name: str, meaning: str) -> None:
        """Add a name.

        Raises
        ------
        DuplicateNameError
            Something else has the name.
        """
        known = self._meanings.setdefault(name, meaning)
        if known is not meaning:
            raise DuplicateNameError(
                f"{self._call}: {name!r} is the name of two things",
                "different names",
                f"{known}, and {meaning}",
                "let the function of the study give its result another name; or take the results "
                "from results[i].values",
            )


def dataframe_of(ensemble: Any, results: Iterable[Any]) -> Any:
    """Return a `pandas.DataFrame` of results."""
    pandas = require_extra("pandas", "labels", "to_pandas()", "use results[i].values")
    parameters, values, statuses = _columns(ensemble, results)
    names = _Names("to_pandas()")
    names.add(STATUS, "the status of members")
    table: dict[str, Any] = {}
    for kind, columns in (("a parameter", parameters), ("a result", values)):
        for name, column in columns.items():
            if _is_trajectory(name, column):
                continue
            array = _array(name, column)
            if array.ndim == 1:
                names.add(name, kind)
                table[name] = array
            for place in np.ndindex(*array.shape[1:]) if array.ndim > 1 else ():
                label = f"{name}[{','.join(map(str, place))}]"
                names.add(label, f"{kind}, an element of {name!r}")
                table[label] = array[(slice(None), *place)]
    table[STATUS] = statuses
    return pandas.DataFrame(table, index=pandas.RangeIndex(ensemble.number, name=MEMBER))


def _columns(
    ensemble: Any, results: Iterable[Any]
) -> tuple[dict[str, list[Any]], dict[str, list[Any]], list[str]]:
    """Return values of all members by name, None if a member has none, and statuses."""
    number = ensemble.number
    parameters: dict[str, list[Any]] = {path: [None] * number for path in ensemble.names}
    found: dict[int, Mapping[str, Any]] = {}
    statuses = [ABSENT] * number
    for result in results:
        statuses[result.index] = result.status
        found[result.index] = result.values
        for path, value in result.parameters.items():
            parameters[path][result.index] = value
    names: dict[str, None] = {}
    for index in sorted(found):  # so that columns do not depend on the order in which members end
        names |= dict.fromkeys(found[index])
    values = {
        name: [found[index].get(name) if index in found else None for index in range(number)]
        for name in names
    }
    return parameters, values, statuses


def _is_trajectory(name: str, column: Sequence[Any]) -> bool:
    """Return True for a result that is a trajectory in all members that have it.

    Raises
    ------
    StudyError
        It is a trajectory in some members, and something else in others.
    """
    kinds = {isinstance(value, Trajectory) for value in column if value is not None}
    if len(kinds) > 1:
        other = next(v for v in column if not isinstance(v, Trajectory) and v is not None)
        raise StudyError(
            f"{name}: cannot be one variable of all members",
            "a trajectory in all members, or in none",
            f"trajectories, and {short_repr(other)}",
            "take them from results[i].values; or let the function give them different names",
        )
    return True in kinds


def _labelled(name: str, column: Sequence[Any], names: _Names) -> tuple[list[str], Array]:
    """Return the dimensions of a variable, and its values."""
    array = _array(name, column)
    return [MEMBER, *_inner(name, array.ndim - 1, names)], array


def _inner(name: str, count: int, names: _Names) -> list[str]:
    """Return the names of the dimensions of each value."""
    inner = [f"{name}.index", *[f"{name}.index{n}" for n in range(1, count)]][:count]
    for dimension in inner:
        names.add(dimension, f"a dimension of {name!r}")
    return inner


def _array(name: str, column: Sequence[Any]) -> Array:
    """Return the values of all members as an array; NaN or "" for members without one.

    Raises
    ------
    StudyError
        They have several shapes, or integers would be rounded.
    """
    present = [value for value in column if value is not None]
    if not present:
        return np.full(len(column), nan)
    if any(isinstance(value, dict | set) for value in present):
        return _objects(column)
    try:
        shapes = {np.shape(value) for value in present}
    except ValueError:  # nested lists of several lengths
        return _objects(column)
    if len(shapes) > 1:
        raise StudyError(
            f"{name}: cannot be one variable of all members",
            "values of one shape",
            f"shapes {' and '.join(map(str, sorted(shapes)[:4]))}",
            "take them from results[i].values; or let the function return arrays of one shape",
        )
    arrays = [np.asarray(value) for value in present]
    kinds = {array.dtype.kind for array in arrays}
    shape = shapes.pop()
    if kinds == {"U"}:
        if any(isinstance(value, str) and value.endswith("\0") for value in present):
            return _objects(column)  # NumPy drops zeros at the end of a text
        return np.array([np.full(shape, "") if v is None else v for v in column], str)
    if not kinds <= set("biufc"):
        return _objects(column)
    dtype = np.result_type(*[array.dtype for array in arrays])
    is_mixed = "b" in kinds and len(kinds) > 1
    has_gaps = len(present) < len(column)
    if kinds <= set("iu") and dtype.kind not in "iu" and not has_gaps and not shape:
        return _objects(column)  # no NumPy type has both negative integers and some beyond int64
    if dtype.kind not in "fc" and (has_gaps or is_mixed):
        dtype = np.dtype(float)
    if dtype.kind in "fc":
        _refuse_rounding(name, arrays)
    return np.array([np.full(shape, nan) if v is None else v for v in column], dtype)


def _refuse_rounding(name: str, arrays: Sequence[Array]) -> None:
    """Refuse integers that floats would round."""
    for array in arrays:
        if array.dtype.kind not in "iu":
            continue
        for number in array.ravel().tolist():
            if abs(number) > EXACT and int(float(number)) != number:
                raise StudyError(
                    f"{name}: integers would be rounded, since not all members have integers",
                    f"integers up to {EXACT} beside floats, or where members have failed",
                    str(number),
                    "take them from results[i].values",
                )


def _objects(column: Sequence[Any]) -> Array:
    found = np.empty(len(column), object)
    for index, value in enumerate(column):
        found[index] = value
    return found


# ---------------------------------------------------------------------- trajectories


def _trajectories(
    ensemble: Any, runs: Mapping[str, Sequence[Any]], names: _Names
) -> tuple[Any, dict[str, Any]]:
    """Return the coordinate of times, and a variable for each column of trajectories.

    Raises
    ------
    StudyError
        They have different times, or different columns.
    DuplicateNameError
    """
    all_runs = [run for column in runs.values() for run in column if run is not None]
    times = all_runs[0].times
    others = [run for run in all_runs if run.times.tobytes() != times.tobytes()]
    if others or TIME in ensemble.names:
        raise StudyError(
            "to_xarray(): trajectories cannot share a dimension",
            "the same times in all members, and a time that is not a parameter",
            f"{len(times)} times up to {times[-1]:.6g}, and {len(others[0].times)} up to "
            f"{others[0].times[-1]:.6g}"
            if others
            else "members that begin at different times",
            "simulate with every=...; or run the study with into=folder, which keeps a file of "
            "each, and take them from results[i].values",
        )
    names.add(TIME, "the time of trajectories")
    variables = {}
    for name, column in runs.items():
        first = next(run for run in column if run is not None)
        units = first.units
        for run in column:
            _require_columns(name, first, run)
        for path in first.columns:
            if path == TIME:
                continue
            is_taken = len(runs) > 1 or path in names
            label = f"{name}.{path}" if is_taken else path
            arrays = [None if run is None else run[path] for run in column]
            array = _array(label, arrays)
            names.add(label, f"a column of the trajectory {name!r}")
            dimensions = [MEMBER, TIME, *_inner(label, array.ndim - 2, names)]
            variables[label] = (dimensions, array, {"units": units[path]} if path in units else {})
    return (TIME, times.copy(), {"units": "s"}), variables


def _require_columns(name: str, first: Trajectory, run: Trajectory | None) -> None:
    """Refuse a trajectory that has other columns than the first one."""
    if run is None or {*run.columns} == {*first.columns}:
        return
    different = sorted({*run.columns} ^ {*first.columns})
    raise StudyError(
        f"to_xarray(): trajectories {name!r} have different columns",
        "the same columns in all members",
        f"{', '.join(different)} in some members only",
        "take them from results[i].values",
    )


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
