"""Checks of the arguments of a projection, and the error of one that failed."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from stagecache.checks import wrong_type
from stagecache.errors import (
    NotANumberError,
    OutOfRangeError,
    ProjectionError,
    ReadOnlyError,
    short_repr,
)
from stagecache.state.continuous.live_vector import blocks_of
from stagecache.state.handles import Vector
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.constraints.rows import ConstraintRows, constraint_rows
from stagecache.system.projection.manifolds import AbstractManifold
from stagecache.system.projection.options import ProjectOptions, ProjectResults, WorstError


def worst_of(manifold: AbstractManifold, errors: Vector) -> WorstError | None:
    """Return the error that is the largest by its weight, or the first that is not a number."""
    if not errors.size:
        return None
    sizes = np.abs(errors * manifold.weights)
    sizes[np.isnan(sizes)] = np.inf
    row = int(np.argmax(sizes))
    return WorstError(_name_of(manifold, row), float(errors[row]))


def _name_of(manifold: AbstractManifold, row: int) -> str:
    """Return the name of a row, as `row_names` has it."""
    for constraint, rows in _rows_of(manifold):
        if row in rows:
            return constraint.name_of(manifold.kind, row)
    return f"{manifold.kind}[{row}]"


def _described(manifold: AbstractManifold, name: str) -> str:
    """Return the name of a row, and the text of its subsystem after its own name.

    "rod.error of body 'arm' and body 'leg'", where `str` of it is "rod of body 'arm' and ...".
    """
    for constraint, rows in _rows_of(manifold):
        if name in (constraint.name_of(manifold.kind, row) for row in rows):
            owner = None if constraint.handle is None else constraint.handle._owner
            own_name, space, more = str(owner).partition(" ")
            is_told = owner is not None and own_name == owner.name
            return f"{name}{space}{more}" if is_told else name
    return name


def _rows_of(manifold: AbstractManifold) -> Iterator[tuple[ConstraintRows, range]]:
    """Yield all constraints that have rows of this level, with these."""
    for constraint in constraint_rows(manifold.state):
        rows: slice | None = getattr(constraint, manifold.kind)
        if rows is not None:
            yield constraint, range(rows.start, rows.stop)


def failed(
    manifold: AbstractManifold,
    options: ProjectOptions,
    results: ProjectResults,
    worst: WorstError | None,
    *,
    has_freedom: bool = True,
) -> ProjectResults:
    """Return the results of a failure, or raise them.

    Parameters
    ----------
    worst : WorstError
        The largest error that is left.
    """
    if options.dont_raise:
        return results
    status = results.exit_status
    what, hint = status.message, status.hint
    expected = f"the {options.norm_name} of weighted errors at most {options.accuracy:g}"
    plural = "s" if results.num_iterations > 1 else ""
    got = f"{worst}; the norm is {results.norm_on_exit:.3g} after {results.num_iterations} "
    got += f"iteration{plural}, and was {results.norm_on_entrance:.3g}"
    if not np.isfinite(results.norm_on_entrance):
        what, got = "an error is not finite", str(worst)
        hint = "look at what its computation reads in that State"
        if manifold.kind == "uerr":
            hint += "; or declare @kinematics, if nothing says what qdot is"
    elif results.projection_limit_exceeded:
        what = "the errors are above the limit from which on projection is not tried"
        expected = f"a norm of at most {options.projection_limit:g}, the projection_limit"
        got = f"{worst}; the norm is {results.norm_on_entrance:.3g}"
    elif not has_freedom:
        what = f"no {manifold.variable} is free to be moved"
        hint = "let a prescribed variable be free, or disable the constraint"
    assert worst is not None
    raise ProjectionError(
        f"{_described(manifold, worst.name)}: its {manifold.level} cannot be projected: {what}",
        expected,
        got,
        hint,
        results,
    )


def options_of(accuracy: float | None) -> ProjectOptions:
    """Return the default options, with an accuracy if one is given."""
    return ProjectOptions() if accuracy is None else ProjectOptions(accuracy)


def one_of(accuracy: float | None, options: Any, what: str) -> ProjectOptions:
    """Return the options, or the default ones with an accuracy; refuse both."""
    if options is None:
        return options_of(accuracy)
    hint = "write options=ProjectOptions(1e-6), or the accuracy alone"
    if not isinstance(options, ProjectOptions):
        raise wrong_type(options, f"{what}: invalid options", "a ProjectOptions", hint)
    if accuracy is not None:
        raise OutOfRangeError(
            f"{what}: is given two accuracies",
            "an accuracy, or options",
            f"{short_repr(accuracy)}, and {options.accuracy:g} in the options",
            "write options=ProjectOptions(accuracy, ...)",
        )
    return options


def check_estimate(estimate: Any, count: int, what: str) -> None:
    """Refuse an error estimate that cannot be changed in place, or has another length."""
    if estimate is None:
        return
    if not isinstance(estimate, np.ndarray) or estimate.dtype != FLOAT:
        raise NotANumberError(
            f"{what}: cannot be changed in place",
            "a NumPy array of floats",
            f"{short_repr(estimate)}, of type "
            f"{getattr(estimate, 'dtype', type(estimate).__name__)}",
            "convert it first: numpy.asarray(estimate, float)",
        )
    if not estimate.flags.writeable:
        raise ReadOnlyError(
            f"{what}: cannot be changed in place",
            "an array that can be written",
            "one that is read-only",
            "pass a copy",
        )
    converted(estimate, FLOAT, (count,), what)
    if not np.isfinite(estimate).all():
        raise OutOfRangeError(
            f"{what}: is not finite",
            "finite numbers",
            short_repr(estimate),
            "reject that step first",
        )


def check_weights(manifold: AbstractManifold) -> None:
    """Refuse weights that are not positive, of errors and of u."""
    row = _first_bad(manifold.weights)
    if row is not None:
        where, index = manifold.weight_of(row)
        weight = getattr(manifold.state, where)[index]
        raise _bad_weight(f"the weight of {_name_of(manifold, row)}", weight, where)
    weights = manifold.state.u_weights
    row = _first_bad(weights)
    if row is not None:
        raise _bad_weight(f"u_weights[{row}]", weights[row], "u_weights")


def check_values(manifold: AbstractManifold) -> None:
    """Refuse q, or u, that are not finite: no change would make them so."""
    state, kind = manifold.state, manifold.variable
    is_bad = ~np.isfinite(manifold.values)
    if is_bad.any():
        x = int(np.argmax(is_bad))
        blocks = blocks_of(state._contents, kind, None)
        variable = next((block for place, block in blocks if place.start <= x < place.stop), kind)
        raise OutOfRangeError(
            f"{variable}: cannot be moved onto constraints",
            f"finite {kind}",
            f"{manifold.values[x]:g}",
            f"write another number into it, which is state.{kind}[{x}]",
        )


def _first_bad(weights: Vector) -> int | None:
    is_good = (weights > 0) & (weights < np.inf)
    return None if is_good.all() else int(np.argmin(is_good))


def _bad_weight(what: str, weight: float, where: str) -> OutOfRangeError:
    return OutOfRangeError(
        f"{what}: not a weight",
        "a positive, finite number: 1 / what counts as a unit error",
        f"{weight:g}",
        f"write another one into state.{where}",
    )
