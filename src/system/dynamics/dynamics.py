r"""Declared dynamics: mass matrices, and forces on generalized coordinates.

::

    M udot + G' multipliers = f        realizing Acceleration computes udot and multipliers
    G udot + bias           = 0        constraints: those that are declared, of all subsystems

    @mass_matrix(speed)
    def inertia(self, state): return M          an entry, `inertia`; and `inertia.root`, of it

    @generalized_force(speed)
    def weight(self, state): return f           an entry; all of them add up

M is put together of the blocks that subsystems declare. A write of u leaves an M that depends on q
as it is, and its decomposition with it. See `accelerating` for what realizing does with these, and
`violations` for redundant constraints that are not quite satisfied.
"""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from stagecache.state.stage import Stage, check_stage
from stagecache.system.declare.computations import check_compute
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    Prerequisites,
    check_prerequisites,
)
from stagecache.system.dynamics.declarations import (
    Compute,
    ForceDeclaration,
    MassMatrixDeclaration,
    Variables,
)
from stagecache.system.motion.kinematics import require_variables


def mass_matrix(
    *variables: AbstractDeclaration[Any],
    prerequisites: Prerequisites | None = None,
    available_from: Stage | None = None,
) -> Callable[[Callable[[Any, Any], ArrayLike]], MassMatrixDeclaration]:
    """Declare the mass matrix of some u, by the function ``(self, state)`` that computes it.

    With it, realizing Acceleration computes the udot of these u from the forces and constraints
    that are declared, and the multipliers. It also computes their qdot and qdotdot.

    Parameters
    ----------
    *variables : declarations
        The u, or families of them, in the order of rows and columns. Without any, all of the
        subsystem.
    prerequisites : tuple or callable, optional
        As for `cached`; ``()`` for a matrix that never changes.
    available_from : Stage, optional
        As for `cached`. If nothing is said, the matrix depends on all of stage Position.

    Returns
    -------
    callable
        A decorator of the function. That returns a symmetric, positive definite array of shape
        (n, n); the diagonal, of shape (n,), if there is nothing else in it; or a matrix of
        scipy.sparse.

    Raises
    ------
    DeclarationError
        Something else is given than declared u.
    WrongTypeError, StageOutOfRangeError, ComputeSignatureError

    Examples
    --------
    >>> import numpy as np
    >>> from stagecache import Stage, State, Subsystem, System
    >>> from stagecache import position_error, q_variable, u_variable
    >>> from stagecache.system.dynamics.dynamics import generalized_force, mass_matrix
    >>> class Bob(Subsystem):
    ...     place = q_variable((0.0, -2.0))
    ...     speed = u_variable((3.0, 0.0))
    ...
    ...     @mass_matrix(speed, prerequisites=())
    ...     def inertia(self, state: State) -> tuple[float, float]:
    ...         return (5.0, 5.0)
    ...
    ...     @generalized_force(speed, prerequisites=())
    ...     def weight(self, state: State) -> tuple[float, float]:
    ...         return (0.0, -50.0)
    ...
    ...     @position_error()
    ...     def rod(self, state: State) -> float:
    ...         return float(np.linalg.norm(self.place(state))) - 2.0
    >>> system = System(Bob())
    >>> state = system.new_state()
    >>> system.realize(state, Stage.ACCELERATION)
    >>> state.udot.round(3), state.multipliers.round(3)      # m (v² / l + g)
    (array([0. , 4.5]), array([72.5]))
    """
    return _mass_matrix("mass_matrix", variables, prerequisites, available_from)


def inverse_mass_matrix(
    *variables: AbstractDeclaration[Any],
    prerequisites: Prerequisites | None = None,
    available_from: Stage | None = None,
) -> Callable[[Callable[[Any, Any], ArrayLike]], MassMatrixDeclaration]:
    """Declare the inverse of the mass matrix of some u, as `mass_matrix` does."""
    return _mass_matrix("inverse_mass_matrix", variables, prerequisites, available_from)


def _mass_matrix(
    what: str, variables: Variables, prerequisites: Prerequisites | None, available_from: Any
) -> Callable[[Compute], MassMatrixDeclaration]:
    named, stage = _settings(what, variables, prerequisites, available_from)

    def declare(compute: Compute) -> MassMatrixDeclaration:
        function, is_inverse = check_compute(compute, what), what == "inverse_mass_matrix"
        return MassMatrixDeclaration(function, variables, named, stage, is_inverse=is_inverse)

    return declare


def generalized_force(
    *variables: AbstractDeclaration[Any],
    prerequisites: Prerequisites | None = None,
    available_from: Stage | None = None,
) -> Callable[[Callable[[Any, Any], ArrayLike]], ForceDeclaration]:
    """Declare forces on some u, by the function ``(self, state)`` that computes them.

    They are f of ``M udot + G' multipliers = f``: applied forces, and those due to the motion, as
    centrifugal ones. Any number may be declared for the same u; they add up.

    Parameters
    ----------
    *variables : declarations
        The u, or families of them, which must have a mass matrix. Without any, all of the
        subsystem.
    prerequisites, available_from
        As for `cached`. If nothing is said, they depend on all of stage Dynamics.

    Returns
    -------
    callable
        A decorator of the function, which returns as many finite numbers as there are in the u.

    Raises
    ------
    DeclarationError, WrongTypeError, StageOutOfRangeError
    WrongTypeError, ComputeSignatureError
    """
    named, stage = _settings("generalized_force", variables, prerequisites, available_from)

    def declare(compute: Compute) -> ForceDeclaration:
        return ForceDeclaration(
            check_compute(compute, "generalized_force"), variables, named, stage
        )

    return declare


def _settings(
    what: str, variables: Variables, prerequisites: Prerequisites | None, available_from: Any
) -> tuple[Prerequisites | None, Stage | None]:
    """Refuse anything but declared u; and return the checked prerequisites and stage."""
    hint = f"write @{what}(speed), and @{what}() for all u of a subsystem"
    require_variables(variables, "u", what, hint)
    if available_from is not None:
        available_from = check_stage(
            available_from, Stage.TOPOLOGY, Stage.DYNAMICS, f"{what}(available_from=...)"
        )
    return check_prerequisites(prerequisites, what), available_from
