r"""Projection: the free q, or u, are moved onto the constraints by the least change.

::

    project      realize Time  ->  prescribe_q  ->  realize Position  ->  project_q
                               ->  prescribe_u  ->  realize Velocity  ->  project_u

    project_q    \|Wq dq\| least, so that  norm(Tp qerr) <= accuracy      Wq = N Wu pinv(N)
    project_u    \|Eu du\| least, so that  norm(Tpv uerr) <= accuracy     Eu = min(Wu, 1/\|u\|)

Wu are the `u_weights`, Tp the `qerr_weights`, Tpv the `velocity_weights`. The formulas are those of
Simbody's documentation of `System.project`. The files::

    manifolds             constraints on q and on u, with the State that is to satisfy them
    tangents              constraints, linearised at one State; the norm in which a change is small
    least_norm            the shortest solution of linear equations
    descent               steps, until the errors are small
    options               options and results
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from attrs import evolve

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
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.constraints.rows import ConstraintRows, constraint_rows
from stagecache.system.projection.descent import Descent, Outcome, norm_of
from stagecache.system.projection.manifolds import (
    AbstractManifold,
    ConstrainedSystem,
    PositionManifold,
    VelocityManifold,
)
from stagecache.system.projection.options import (
    ProjectOptions,
    ProjectResults,
    ProjectStatus,
    WorstError,
)

ManifoldKind = type[PositionManifold] | type[VelocityManifold]


def project(system: ConstrainedSystem, state: State, accuracy: float | None = None) -> None:
    """Set prescribed motion, and move free q and u onto the constraints.

    Raises
    ------
    OutOfRangeError, NotANumberError, StageTooLowError, ReadOnlyError
    ProjectionError
        The State is not changed.
    """
    options = options_of(accuracy)
    _require(state, Stage.MODEL, "project()")
    with state.checkpoint():
        for manifold in (PositionManifold, VelocityManifold):
            _prescribe_and_project(manifold, system, state, options)


def _project_level(
    kind: ManifoldKind,
    system: ConstrainedSystem,
    state: State,
    accuracy: float | None = None,
    options: ProjectOptions | None = None,
    error_estimate: Vector | None = None,
) -> ProjectResults:
    """Move free q, or u, onto constraints; given more than an accuracy, do nothing else."""
    what = f"project_{kind.variable}()"
    if options is None and error_estimate is None:
        options = options_of(accuracy)
        _require(state, Stage.MODEL, what)
        with state.checkpoint():
            return _prescribe_and_project(kind, system, state, options)
    _require_stage(state, kind.stage, f"{what} with options or an error estimate")
    options = one_of(accuracy, options, what)
    manifold = kind(system, state)
    check_estimate(error_estimate, len(manifold.values), f"{what[:-1]}error_estimate=...)")
    return _project(system, manifold, options, error_estimate)


project_q = partial(_project_level, PositionManifold)
"""Move the free q onto the position constraints; as `System.project_q` says."""

project_u = partial(_project_level, VelocityManifold)
"""Move the free u onto the velocity constraints; as `System.project_u` says."""


def _prescribe_and_project(
    kind: ManifoldKind, system: ConstrainedSystem, state: State, options: ProjectOptions
) -> ProjectResults:
    """Realize what is needed, set prescribed q or u, and project."""
    system.realize(state, kind.stage.prev())
    manifold = kind(system, state)
    manifold.prescribe()
    system.realize(state, kind.stage)
    return _project(system, manifold, options)


# ---------------------------------------------------------------------- one level


def _project(
    system: ConstrainedSystem,
    manifold: AbstractManifold,
    options: ProjectOptions,
    estimate: Vector | None = None,
) -> ProjectResults:
    """Move the State of a manifold onto it, and count that."""
    check_weights(manifold)
    counts, which = system.statistics, manifold.variable

    def count(name: str, *, also: bool = True) -> None:
        setattr(counts, name, getattr(counts, name) + also)

    count(f"num_project_{which}_calls")
    try:
        results, has_changed_estimate = _moved(manifold, options, estimate)
    except BaseException:
        count(f"num_failed_project_{which}_calls")
        raise
    count(f"num_failed_project_{which}_calls", also=not results.has_succeeded)
    count(f"num_{which}_projections", also=results.any_change_made)
    count(f"num_{which}_error_estimate_projections", also=has_changed_estimate)
    return results


def _moved(
    manifold: AbstractManifold, options: ProjectOptions, estimate: Vector | None
) -> tuple[ProjectResults, bool]:
    """Move the State onto the constraints, and tell whether the estimate was changed, too.

    Raises
    ------
    ProjectionError
        The projection failed, and the options do not say `dont_raise`.
    """
    state, errors = manifold.state, manifold.errors
    norm = norm_of(manifold.weighted_errors, options)
    results = ProjectResults(
        ProjectStatus.SUCCEEDED,
        norm_on_entrance=norm,
        norm_on_exit=norm,
        worst_error=worst_of(manifold, errors),
    )
    if not np.isfinite(norm) or norm > options.projection_limit:
        outside = evolve(
            results,
            exit_status=ProjectStatus.FAILED_TO_CONVERGE,
            projection_limit_exceeded=norm > options.projection_limit,
        )
        return failed(manifold, options, outside, results.worst_error), False
    if not errors.size or (norm <= options.accuracy and not options.force_projection):
        return results, False
    check_values(manifold)
    state._contents.require_unguarded(f"project_{manifold.variable}()")
    mark = state.checkpoint()
    with mark:
        start = manifold.values
        outcome = Descent(manifold, options).run()
        results = evolve(
            results,
            exit_status=outcome.status,
            any_change_made=not np.array_equal(start, manifold.values),
            num_iterations=outcome.num_iterations,
            norm_on_exit=outcome.norm,
        )
        if not results.has_succeeded:
            results = evolve(results, any_change_made=False)
            left = worst_of(manifold, manifold.errors)
            has_freedom = manifold.tangent().has_freedom or manifold.can_be_normalized
            state.rollback(mark)
            return failed(manifold, options, results, left, has_freedom=has_freedom), False
        if not results.any_change_made:
            state.rollback(mark)
        has_changed_estimate = False
        if estimate is not None:
            has_changed_estimate = _remove_normal_part(manifold, outcome, estimate)
    return results, has_changed_estimate


def _remove_normal_part(manifold: AbstractManifold, outcome: Outcome, estimate: Vector) -> bool:
    tangent = outcome.tangent or manifold.tangent()
    part = manifold.normal_part(tangent, estimate)
    estimate -= part
    return bool(np.any(part))


def _require(state: State, stage: Stage, what: str) -> None:
    """Refuse a State that has not reached a stage, or must not be changed."""
    _require_stage(state, stage, what)
    state._contents.require_unguarded(what)


def _require_stage(state: State, stage: Stage, what: str) -> None:
    state._contents.require_stage(stage, None, what)


# ---------------------------------------------------------------------- refusals


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
