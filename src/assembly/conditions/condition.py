r"""Conditions: errors that an Assembler satisfies, goals that it comes close to.

::

    errors e (m,)          with weight infinity: each within the tolerance
    goal g >= 0            with a finite weight: as small as possible, together with other goals

    g = 1/2 r . r          where it is a sum of squares, of residuals r (k,)
    r = sqrt(2 / m) e      by default, so that g = e . e / m

All else is derived from these, derivatives by central differences. A goal with residuals is much
quicker to reach than one without.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stagecache.assembly.coordinates.free_coordinates import FreeCoordinates
from stagecache.checks import require_name
from stagecache.errors import ConditionError, StudyError, short_repr
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State


class AssemblyCondition:
    """A condition on the q of a State, as a base class.

    A subclass has errors, or a goal, or both: it overrides `calc_errors`, or `calc_goal`, or
    `calc_goal_residuals`. All other methods are optional. Returned arrays are copied, and may be
    used again. The State is only for reading.

    Parameters
    ----------
    name : str
        Name in messages.

    Attributes
    ----------
    needs : Stage
        The stage to which States are realized for it; Position by default. A lower one is quicker,
        if the condition reads only entries that are available then.

    Raises
    ------
    InvalidNameError

    Examples
    --------
    >>> import numpy as np
    >>> from stagecache import Assembler, AssemblyCondition, Subsystem, System, q_variable
    >>> class Bead(Subsystem):
    ...     place = q_variable((1.0, 0.5))
    >>> class OnCircle(AssemblyCondition):
    ...     def __init__(self, bead):
    ...         super().__init__("on the circle")
    ...         self.bead = bead
    ...
    ...     def calc_errors(self, state):
    ...         return np.array([np.linalg.norm(self.bead.place(state)) - 2.0])
    >>> bead = Bead()
    >>> state = System(bead).new_state()
    >>> assembler = Assembler(state.system)
    >>> circle = assembler.add_error(OnCircle(bead))
    >>> result = assembler.assemble(state)
    >>> bead.place(state).round(4)
    array([1.7889, 0.8944])
    """

    needs: Stage = Stage.POSITION

    def __init__(self, name: str) -> None:
        self._name = require_name(name, "the name of a condition")
        self._assembler: Any = None
        self._coordinates: FreeCoordinates | None = None

    @property
    def name(self) -> str:
        """Name in messages."""
        return self._name

    # ------------------------------------------------------------------ errors

    def calc_errors(self, state: State) -> Vector:  # noqa: ARG002  # for overrides
        """Return the errors: (m,). Each is 0 where the condition is satisfied.

        m may change between two frames, but not within one.
        """
        raise without_errors(self)

    def calc_error_jacobian(self, state: State) -> Vector | None:  # noqa: ARG002  # likewise
        """Return the derivatives of the errors by the free q, (m, num_free_qs).

        None: they are found by differences. See `by_free_q`.
        """
        return None

    def calc_error_curvature(self, state: State, factors: Vector) -> Vector | None:  # noqa: ARG002  # likewise
        """Return the second derivatives of factors . errors by the free q, (n, n), symmetric.

        They are needed near the least goal, where first derivatives no longer lead on.

        Parameters
        ----------
        state : State
            Same as for `calc_error_jacobian`, which was called at the same q.
        factors : (m,) float

        Returns
        -------
        (n, n) float, or None
            None: they are found by differences of the Jacobian, two for each.
        """
        return None

    def error_names(self, state: State) -> Sequence[str]:
        """Return the names of the errors in messages, m strings."""
        return [f"{self._name}[{i}]" for i in range(len(self.calc_errors(state)))]

    # ------------------------------------------------------------------ goal

    def calc_goal(self, state: State) -> float:
        """Return the goal, 0 or more, which is minimized; a negative goal is refused."""
        residuals = self.calc_goal_residuals(state)
        return 0.5 * float(residuals @ residuals)

    def calc_goal_gradient(self, state: State) -> Vector | None:  # noqa: ARG002  # likewise
        """Return the derivatives of the goal by the free q, (num_free_qs,).

        Called only if the goal has no residuals. None: they are found by differences.
        """
        return None

    def calc_goal_residuals(self, state: State) -> Vector:
        """Return the residuals (k,): the goal is exactly half the sum of their squares.

        It is not called where `calc_goal` is overridden, and this is not.
        """
        errors = self.calc_errors(state)
        found: Vector = _share(errors) * errors
        return found

    def calc_goal_residual_jacobian(self, state: State) -> Vector | None:
        """Return the derivatives of the residuals by the free q, (k, num_free_qs).

        None: they are found by differences.
        """
        if self._overrides("calc_goal_residuals"):
            return None
        jacobian = self.calc_error_jacobian(state)
        return None if jacobian is None else _share(jacobian) * jacobian

    def calc_goal_residual_curvature(self, state: State, factors: Vector) -> Vector | None:
        """Return the second derivatives of factors . residuals by the free q, (n, n), symmetric.

        None: they are found by differences. The default uses `calc_error_curvature`, unless
        `calc_goal_residuals` is overridden.
        """
        if self._overrides("calc_goal_residuals"):
            return None
        return self.calc_error_curvature(state, _share(factors) * factors)

    # ------------------------------------------------------------------ preparation

    def check_system(self, system: Any) -> None:
        """Refuse a System that does not fit; called before it is added to an Assembler."""

    def initialize_condition(self) -> None:
        """Prepare; called when the Assembler is initialized, and the free q are known."""

    def uninitialize_condition(self) -> None:
        """Discard all preparations; called when the Assembler is uninitialized."""

    def check_observations(self) -> None:
        """Refuse to work without observations; called at the beginning of each frame."""

    def move_all_observations(self, observations: Any) -> None:
        """Take over the observations of a frame."""
        raise ConditionError(
            f"condition {self._name!r}: observes nothing",
            "a condition that has move_all_observations, such as Markers or QValue",
            f"{type(self).__name__}, and {short_repr(observations)}",
            "leave it out of the observations",
        )

    def marker_distances(self, state: State) -> tuple[Sequence[str], Vector] | None:  # noqa: ARG002  # for overrides
        """Return names of markers that count in a frame, and their distances [m]; None of others.

        `track_all` reports their root mean square, and the worst.
        """
        return None

    # ------------------------------------------------------------------ for subclasses

    @property
    def is_in_assembler(self) -> bool:
        """True once it was added to an Assembler."""
        return self._assembler is not None

    @property
    def assembler(self) -> Any:
        """The Assembler to which it was added.

        Raises
        ------
        StudyError
            It was not added.
        """
        if self._assembler is None:
            raise StudyError(
                f"condition {self._name!r}: not in an Assembler",
                "one that was added",
                "one that was not",
                "call assembler.add_error(condition), or add_goal",
            )
        return self._assembler

    @property
    def num_free_qs(self) -> int:
        """Number of free q. Needs the Assembler to be initialized.

        Raises
        ------
        StudyError
        """
        return len(self._free.index)

    def free_q_index_of_q(self, q: int) -> int | None:
        """Return the index of a q among the free q; None if it is not free.

        Raises
        ------
        StudyError, UnknownItemError
        """
        return self._free.free_index_of(q)

    def by_free_q(self, jacobian_by_u: Any, subsystem: Any = None) -> Vector:
        """Turn derivatives by u, along qdot = N u, into those by the free q: J pinv(N).

        Cost of the first call at some q: pinv(N); of each: a product of matrices.

        Parameters
        ----------
        jacobian_by_u : array_like
            Array of shape (..., nu).
        subsystem : Subsystem, optional
            Owner of these u; the whole State by default.

        Returns
        -------
        ndarray of shape (..., num_free_qs)

        Raises
        ------
        StudyError, KinematicsError, ShapeError, NotANumberError, WrongTypeError
        """
        return self._free.by_free_q(jacobian_by_u, subsystem)

    def uninitialize_assembler(self) -> None:
        """Uninitialize the Assembler, after a change that makes the problem stale."""
        if self._assembler is not None:
            self._assembler.uninitialize()
        else:
            self.uninitialize_condition()

    @property
    def has_errors(self) -> bool:
        """True if it can be an error."""
        return self._overrides("calc_errors")

    @property
    def has_goal(self) -> bool:
        """True if it can be a goal."""
        return self.has_errors or self._overrides("calc_goal", "calc_goal_residuals")

    @property
    def has_residuals(self) -> bool:
        """True if its goal is half the sum of the squares of residuals."""
        return self.has_own_residuals or not self._overrides("calc_goal")

    @property
    def has_own_residuals(self) -> bool:
        """True if its residuals differ from its scaled errors."""
        return self._overrides("calc_goal_residuals")

    @property
    def checks_observations(self) -> bool:
        """True if `check_observations` is overridden."""
        return self._overrides("check_observations")

    @property
    def observes(self) -> bool:
        """True if it accepts observations."""
        return self._overrides("move_all_observations")

    @property
    def _free(self) -> FreeCoordinates:
        if self._coordinates is None:
            raise StudyError(
                f"condition {self._name!r}: the free q are not known",
                "an Assembler that is initialized",
                "none" if self._assembler is None else "one that is not",
                "call assembler.initialize() first",
            )
        return self._coordinates

    def _overrides(self, *names: str) -> bool:
        cls = type(self)
        return any(getattr(cls, name) is not getattr(AssemblyCondition, name) for name in names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"


def without_errors(condition: AssemblyCondition) -> ConditionError:
    """Return the error of a condition that has a goal only."""
    return ConditionError(
        f"condition {condition.name!r}: has no errors",
        "a condition that overrides calc_errors",
        f"{type(condition).__name__}, which has a goal only",
        "give it a finite weight: add_goal(condition)",
    )


def not_a_goal(condition: AssemblyCondition, value: object) -> ConditionError:
    """Return the error of a condition with a goal that is negative, infinite, or not a number."""
    return ConditionError(
        f"condition {condition.name!r}: calc_goal() returns values that do not fit",
        "a number from 0 up",
        short_repr(value),
        f"look at {type(condition).__name__}.calc_goal; to a goal that is bounded below, add a "
        "constant",
    )


def _share(errors: Vector) -> float:
    """Return the factor that turns errors, or their derivatives, into residuals."""
    return float(np.sqrt(2 / max(1, len(errors))))
