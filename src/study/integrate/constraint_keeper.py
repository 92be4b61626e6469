r"""Constraints of a State that is integrated: checks and projections.

::

    norm(Tp qerr), norm(Tpv uerr) <= tolerance      nothing is done, which costs two norms
    else                                            project_q, prescribe_u, project_u

The estimated error of projected q or u loses its part normal to the constraints. Weights are
as of the projection. Source: coordinate projection as in Hairer, Lubich, Wanner, "Geometric
Numerical Integration", IV.4.
"""

from typing import final

import numpy as np

from stagecache.errors import ProjectionError
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.integrate.options import IntegratorOptions
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.methods.tolerances import norm_of
from stagecache.system.constraints.rows import velocity_weights
from stagecache.system.core.system import System
from stagecache.system.projection.options import ProjectOptions

POSITION, VELOCITY = Stage.POSITION, Stage.VELOCITY


@final
class ConstraintKeeper:
    """Checks of the constraints of a State, and projections where needed.

    Parameters
    ----------
    system : System
    options : IntegratorOptions
    statistics : IntegratorStatistics
    """

    def __init__(
        self, system: System, options: IntegratorOptions, statistics: IntegratorStatistics
    ) -> None:
        self._system = system
        self._options = options
        self._statistics = statistics
        self._tolerance = options.tolerance
        self._q_weights: Vector = np.empty(0)
        self._u_weights: Vector = np.empty(0)

    def look(self, state: State) -> bool:
        """Take the weights from a State at Instance; return True if it has constraints."""
        self._q_weights = np.array(state.qerr_weights)
        self._u_weights = velocity_weights(state) if state.nuerr else np.empty(0)
        return state.nqerr + state.nuerr > 0

    def keep(
        self,
        state: State,
        *,
        is_start: bool = False,
        forced: bool = False,
        errors: Vector | None = None,
    ) -> bool:
        """Move the State onto the constraints, if it is too far from them.

        Parameters
        ----------
        state : State
            At Velocity or further, with prescribed motion; at Velocity afterwards, if changed.
        is_start : bool
            True if the State may be far from the constraints, not only by a step.
        forced : bool
            Project even if the errors are small enough.
        errors : (ny,) float, optional
            Estimated errors of y. If q or u are projected, their errors lose, in place, the part
            normal to the constraints.

        Returns
        -------
        bool
            True if q or u have changed.

        Raises
        ------
        ProjectionError
            The State is as it was, or has other q.
        """
        pools, use_infinity_norm = state._contents.pools, self._options.use_infinity_norm
        is_q_good, is_u_good = (
            norm_of(pools.whole[kind] * weights, use_infinity_norm=use_infinity_norm)
            <= self._tolerance
            for kind, weights in (("qerr", self._q_weights), ("uerr", self._u_weights))
        )
        if is_q_good and is_u_good and not forced:
            return False
        options = ProjectOptions(
            self._tolerance,
            local_only=not is_start,
            use_infinity_norm=use_infinity_norm,
            force_projection=forced,
        )
        system, counts = self._system, self._statistics
        nq, nu = state.nq, state.nu
        q_errors, u_errors = (None, None) if errors is None else (errors[:nq], errors[nq : nq + nu])
        has_changed = False
        if forced or not is_q_good:
            try:
                has_changed = system.project_q(
                    state, options=options, error_estimate=q_errors
                ).any_change_made
            except ProjectionError:
                counts.num_q_projection_failures += 1
                raise
            counts.num_q_projections += has_changed
            if has_changed:
                system.realize(state, POSITION)
                system.prescribe_u(state)
            system.realize(state, VELOCITY)
        try:
            has_changed_u = system.project_u(
                state, options=options, error_estimate=u_errors
            ).any_change_made
        except ProjectionError:
            counts.num_u_projection_failures += 1
            raise
        counts.num_u_projections += has_changed_u
        system.realize(state, VELOCITY)
        return has_changed or has_changed_u
