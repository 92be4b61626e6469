"""What a System does with its kinematics, prescribed motion, constraints and fast variables."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.abstract_system import AbstractSystem
from stagecache.system.motion.operators import (
    multiply_by_n,
    multiply_by_n_pinv,
    multiply_by_n_pinv_transpose,
    multiply_by_n_transpose,
)
from stagecache.system.motion.prescribing import (
    free_q_index,
    free_u_index,
    prescribe_q,
    prescribe_u,
)
from stagecache.system.projection.options import ProjectOptions, ProjectResults
from stagecache.system.statistics import SystemStatistics


class AbstractConstrainedSystem(AbstractSystem):
    """A System, as far as it is kinematics and constraints.

    ::

        prescribe:   q of prescribed motion  ->  Position  ->  u of prescribed motion
        project:     the same, and after each of them the free ones are moved onto the constraints

    Prescribed motion is set exactly and comes first: no constraint moves it.
    """

    # ------------------------------------------------------------------ kinematics

    def multiply_by_n(self, state: State, u: ArrayLike) -> Vector:
        """Return N u, which is qdot if u are the generalized speeds.

        N is the identity but for the blocks that subsystems declare with `kinematics`. Cost O(n).

        Parameters
        ----------
        state : State
            Realized to Position or further.
        u : array_like
            Of shape (nu,) or (nu, k); or empty, which stands for zeros.

        Returns
        -------
        ndarray
            Of shape (nq,) or (nq, k).

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        ShapeError, NotANumberError
        KinematicsError
            A subsystem has other numbers of q and u, and declares nothing that relates them.
        """
        self._require_own(state)
        return multiply_by_n(state, u)

    def multiply_by_n_transpose(self, state: State, fq: ArrayLike) -> Vector:
        """Return N' fq: the generalized forces on u, of forces on q. As `multiply_by_n`."""
        self._require_own(state)
        return multiply_by_n_transpose(state, fq)

    def multiply_by_n_pinv(self, state: State, qdot: ArrayLike) -> Vector:
        """Return pinv(N) qdot, which is u if there is one with N u = qdot. As `multiply_by_n`."""
        self._require_own(state)
        return multiply_by_n_pinv(state, qdot)

    def multiply_by_n_pinv_transpose(self, state: State, fu: ArrayLike) -> Vector:
        """Return pinv(N)' fu: forces on q of forces on u. As `multiply_by_n`."""
        self._require_own(state)
        return multiply_by_n_pinv_transpose(state, fu)

    # ------------------------------------------------------------------ prescribed motion

    def prescribe(self, state: State) -> bool:
        """Set all q and u of prescribed motion; the State is realized to Position for that.

        Returns
        -------
        bool
            Whether anything changed. If not, the State keeps its stages.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        Exception
            Whatever a hook or a computation raises.
        """
        self.realize(state, Stage.TIME)
        has_changed = self.prescribe_q(state)
        self.realize(state, Stage.POSITION)
        return self.prescribe_u(state) or has_changed

    def prescribe_q(self, state: State) -> bool:
        """Set the q of prescribed motion, which depend on the time. Needs stage Time.

        Returns
        -------
        bool
            Whether anything changed. If so, the State is at Time.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        ShapeError, NotANumberError
            A motion gives other values than its variable can take.
        """
        self._require_own(state)
        self.statistics.num_prescribe_q_calls += 1
        return prescribe_q(state)

    def prescribe_u(self, state: State) -> bool:
        """Set the u of prescribed motion. Needs stage Position. As `prescribe_q`."""
        self._require_own(state)
        self.statistics.num_prescribe_u_calls += 1
        return prescribe_u(state)

    def free_q_index(self, state: State) -> NDArray[np.intp]:
        """Which q are not prescribed: their indices in the whole q, ascending. Needs Instance.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        """
        self._require_own(state)
        return free_q_index(state)

    def free_u_index(self, state: State) -> NDArray[np.intp]:
        """Which u are not prescribed. As `free_q_index`."""
        self._require_own(state)
        return free_u_index(state)

    # ------------------------------------------------------------------ constraints

    def project(self, state: State, accuracy: float | None = None) -> None:
        """Set prescribed motion, and move the free q and u onto the constraints.

        That is `prescribe_q`, `project_q`, `prescribe_u` and `project_u`, with the realizations
        that they need. The State is then at Velocity.

        Parameters
        ----------
        state : State
            At Model or further.
        accuracy : float, optional
            That of `ProjectOptions` by default: 1e-4.

        Raises
        ------
        ProjectionError
            The accuracy cannot be reached. The State is as it was.
        """
        from stagecache.system.projection.projection import project  # noqa: PLC0415  # it needs SciPy

        self._require_own(state)
        project(self, state, accuracy)

    def project_q(
        self,
        state: State,
        accuracy: float | None = None,
        *,
        options: ProjectOptions | None = None,
        error_estimate: Vector | None = None,
    ) -> ProjectResults:
        """Move the free q onto the position constraints, as little as possible.

        That is: the length of Wq dq becomes least, such that the norm of Tp qerr is at most the
        accuracy, with Wq = N Wu pinv(N), where Wu are the `u_weights`, and Tp the `qerr_weights` of
        the State. The norm of the errors is the root of the mean of squares, or the largest one.

        There are two ways to call it. With an accuracy, or nothing, it realizes the State and sets
        prescribed motion as needed. With options or an error estimate, as an integrator does, it
        needs a State at Position in which that is done. In both the State is then at Position.

        Parameters
        ----------
        state : State
        accuracy : float, optional
        options : ProjectOptions, optional
        error_estimate : ndarray, optional
            Of shape (nq,). Changed in place, where q was: what is normal to the constraints is
            removed.

        Returns
        -------
        ProjectResults

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        OutOfRangeError, ShapeError, NotANumberError
        ProjectionError
            The accuracy cannot be reached, and the options do not say ``dont_raise``. The State is
            as it was.
        """
        from stagecache.system.projection.projection import project_q  # noqa: PLC0415  # it needs SciPy

        self._require_own(state)
        return project_q(self, state, accuracy, options, error_estimate)

    def project_u(
        self,
        state: State,
        accuracy: float | None = None,
        *,
        options: ProjectOptions | None = None,
        error_estimate: Vector | None = None,
    ) -> ProjectResults:
        """Move the free u onto the velocity constraints, as little as possible.

        As `project_q`, with stage Velocity. The length of Eu du becomes least, such that the norm
        of Tpv uerr is at most the accuracy. Eu is the lesser of Wu and 1 / abs(u); Tpv are the
        `uerr_weights`, and for derivatives of position errors their `qerr_weights` times
        `default_time_scale`.
        """
        from stagecache.system.projection.projection import project_u  # noqa: PLC0415  # it needs SciPy

        self._require_own(state)
        return project_u(self, state, accuracy, options, error_estimate)

    # ------------------------------------------------------------------ fast variables

    def relax(self, state: State, stage: Stage, accuracy: float = 1e-4) -> bool:
        """Move fast variables to the equilibrium that is declared for a stage.

        All conditions of that stage are solved together. The State is then realized to it.

        Parameters
        ----------
        state : State
            At Model or further.
        stage : Stage
            Instance to Report.
        accuracy : float
            The largest residual there may be.

        Returns
        -------
        bool
            Whether anything changed.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        StageOutOfRangeError, OutOfRangeError
        EquilibriumError
            No equilibrium was found. The State is as it was.
        """
        from stagecache.system.declare.fast_variables import relax  # noqa: PLC0415  # seldom

        self._require_own(state)
        return relax(self, state, stage, accuracy)

    # ------------------------------------------------------------------ what others bring

    @property
    def statistics(self) -> SystemStatistics:
        """What it has done so far, in numbers."""
        raise NotImplementedError

    def realize(self, state: State, stage: Stage = Stage.HIGHEST_RUNTIME) -> None:
        """Realize all stages up to one that are not realized."""
        raise NotImplementedError

    def _require_own(self, state: State) -> None:
        """Refuse what is no State of this System."""
        raise NotImplementedError
