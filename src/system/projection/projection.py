r"""Projection: the free q, or u, are moved onto the constraints by the least change.

::

    project      realize Time  ->  prescribe_q  ->  realize Position  ->  project_q
                               ->  prescribe_u  ->  realize Velocity  ->  project_u

    project_q    \|Wq dq\| least, so that  norm(Tp qerr) <= accuracy      Wq = N Wu pinv(N)
    project_u    \|Eu du\| least, so that  norm(Tpv uerr) <= accuracy     Eu = min(Wu, 1/\|u\|)

Wu are the `u_weights`, Tp the `qerr_weights`, Tpv the `velocity_weights`. The formulas are those of
Simbody's documentation of `System.project`. The files::

    manifolds             the constraints on q, those on u, and the State that is to satisfy them
    tangents              these constraints, linearised at one State
    change_norm           the norm in which a change is small
    least_norm            the shortest solution of linear equations
    descent               steps, until the errors are small
    options               options and results
    refusals              checks of arguments, and the error of a failure
"""

from functools import partial

import numpy as np
from attrs import evolve

from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.projection.descent import Descent, Outcome, norm_of
from stagecache.system.projection.manifolds import (
    AbstractManifold,
    ConstrainedSystem,
    PositionManifold,
    VelocityManifold,
)
from stagecache.system.projection.options import ProjectOptions, ProjectResults, ProjectStatus
from stagecache.system.projection.refusals import (
    check_estimate,
    check_values,
    check_weights,
    failed,
    one_of,
    options_of,
    worst_of,
)

ManifoldKind = type[PositionManifold] | type[VelocityManifold]


def project(system: ConstrainedSystem, state: State, accuracy: float | None = None) -> None:
    """Set prescribed motion, and move free q and u onto the constraints.

    Raises
    ------
    OutOfRangeError, NotANumberError, StageTooLowError, ReadOnlyError
    ProjectionError
        The State is as it was.
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
        Unless the options do not want that.
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
