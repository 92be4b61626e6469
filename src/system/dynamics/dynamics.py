r"""Declared dynamics: mass matrices, and forces on generalized coordinates.

::

    M udot + G' multipliers = f        realizing Acceleration computes udot and multipliers
    G udot + bias           = 0        constraints: those that are declared, of all subsystems

    @mass_matrix(speed)
    def inertia(self, state): return M          an entry, `inertia`; and `inertia.root`, of it

    @generalized_force(speed)
    def weight(self, state): return f           an entry; all of them add up

M is put together of the blocks that subsystems declare. A write of u leaves an M that depends on q
as it is, and its decomposition with it: ``inertia.root`` is R with R' R = inv(M). Both are computed
by Dynamics, so every prerequisite that changes invalidates that stage. Realizing Acceleration does
the rest; see `accelerating`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike

from stagecache.checks import require_callable
from stagecache.errors import PrerequisiteStageError
from stagecache.graph.declaration import check_function
from stagecache.numerics.mass_matrices import Matrix, checked_mass, inverse_root
from stagecache.state.handles import AbstractHandle, CacheEntry, Vector
from stagecache.state.stage import Stage, check_stage
from stagecache.system.declare.computations import AbstractComputation, decorator
from stagecache.system.declare.declaration import AbstractDeclaration, PlannedEntry, Prerequisites
from stagecache.system.declare.prescribed import checked_values
from stagecache.system.motion.kinematics import (
    count_of,
    handles_in,
    require_variables,
    require_variables_in,
    require_variables_once,
)
from stagecache.system.motion.rows import Handles, indices

Compute = Callable[[Any, Any], Any]
Variables = tuple[AbstractDeclaration[Any], ...]
Exists = Callable[[Any], bool]
Solve = Callable[[Any, Any, Vector | None, Vector | None], Vector | None]
SolveT = TypeVar("SolveT", bound=Solve)


class AbstractOfSpeeds(AbstractComputation[Any]):
    """A declared entry about some u of its subsystem, computed by Dynamics.

    Attributes
    ----------
    variables : tuple of declarations
        The u, or families of them; none: all of the subsystem.
    exists : callable or None
        The function of a subsystem that tells whether it has such a thing at all.
    """

    earliest: Stage
    """The stage on which all of it depends by default."""

    def __init__(
        self,
        compute: Compute,
        variables: Variables,
        prerequisites: Prerequisites | None,
        available_from: Stage | None,
        exists: Exists | None,
    ) -> None:
        super().__init__(compute, prerequisites, Stage.DYNAMICS, self.earliest)
        self.variables = variables
        self.exists = exists
        if available_from is not None:
            self.available_from = available_from

    def is_in(self, subsystem: Any) -> bool:
        """Return whether a subsystem has it."""
        return self.exists is None or self.exists(subsystem)

    def handles(self, subsystem: Any) -> Handles:
        """Return the u in a subsystem."""
        if not self.variables:
            return (subsystem._wholes["u"],)
        return handles_in(subsystem, self.variables)

    def companions(
        self, found: Mapping[str, AbstractDeclaration[Any]]
    ) -> Iterable[AbstractDeclaration[Any]]:
        """Refuse variables that are not in the class; and return nothing.

        Raises
        ------
        DeclarationError
        """
        require_variables_in(self, found)
        return ()

    def items(self, subsystem: Any) -> Sequence[AbstractHandle]:
        """Return its handle in a subsystem, if that has it."""
        return super().items(subsystem) if self.is_in(subsystem) else ()

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, which needs the number of u.

        Raises
        ------
        PrerequisiteStageError
            A prerequisite is computed from accelerations.
        """
        planned = evolve(super().plan(handle), lowest=Stage.MODEL, needed_by=Stage.DYNAMICS)
        for above in planned.prerequisites:
            if isinstance(above, CacheEntry) and above.available_from > Stage.DYNAMICS:
                raise PrerequisiteStageError(
                    f"{handle}: depends on what can be computed only after Dynamics",
                    "prerequisites that can be read at Dynamics: udot follows from mass and forces",
                    f"{above}, which depends on {above.available_from}",
                    "leave it out; what makes a force depend on udot belongs into the mass matrix",
                )
        return planned

    def _function(self, handle: Any) -> Callable[[Any], Any]:
        compute, subsystem = self.compute, handle._owner

        def computed(state: Any) -> Any:
            values: Any = compute(subsystem, state)
            return self._checked(values, count_of(state, self.handles(subsystem)), handle)

        return computed

    def _checked(self, values: Any, count: int, handle: Any) -> Any:
        raise NotImplementedError

    def _fill(self, handle: Any) -> Callable[[Any], Any]:
        return handle  # type: ignore[no-any-return]  # no vector; but so its sources are checked


# ---------------------------------------------------------------------- mass


@final
class MassMatrixDeclaration(AbstractOfSpeeds):
    """The declared mass matrix of some u, or its inverse: a cache entry.

    Attributes
    ----------
    is_inverse : bool
    solve : callable or None
        The function that finds udot without M, where there is one.
    solved_forces : tuple of ForceDeclaration
        The forces that this function adds itself.
    """

    earliest = Stage.POSITION

    def __init__(
        self,
        compute: Compute,
        variables: Variables,
        prerequisites: Prerequisites | None,
        available_from: Stage | None,
        exists: Exists | None,
        *,
        is_inverse: bool,
    ) -> None:
        super().__init__(compute, variables, prerequisites, available_from, exists)
        self.is_inverse = is_inverse
        self.solve: Solve | None = None
        self.solved_forces: tuple[ForceDeclaration, ...] = ()

    @property
    def decorator(self) -> str:
        """Name of the decorator that declares it."""
        return "inverse_mass_matrix" if self.is_inverse else "mass_matrix"

    def companions(
        self, found: Mapping[str, AbstractDeclaration[Any]]
    ) -> Iterable[AbstractDeclaration[Any]]:
        """Return its inverse root.

        Raises
        ------
        DeclarationError
            The variables are not there, or have a mass matrix already.
        """
        super().companions(found)
        require_variables_once(self, found, "each u in one mass matrix at most")
        return (RootDeclaration(self),)

    def solver(self, *forces: "ForceDeclaration") -> Callable[[SolveT], SolveT]:
        """Declare a faster way to udot than by M, where no constraint acts on any u.

        The decorator of a function ``(self, state, others, known)`` that returns the udot of all
        forces on these u. Of u with prescribed udot, `known` has these, and it returns them; of
        others it has NaN. `known` is None if none is prescribed. If the function returns None, M is
        used. Realizing Dynamics does not compute M and the forces below then; a read does.

        Parameters
        ----------
        *forces : declarations
            Declared forces on all of these u that the function adds itself. `others` is the sum of
            all others; None if there are none.

        Raises
        ------
        ComputeSignatureError, WrongTypeError
        """

        def declare(function: SolveT) -> SolveT:
            self.solve = check_function("", function, ("self", "state", "others", "known"))
            self.solved_forces = forces
            for lazy in (self, *forces):
                lazy.computed_by = Stage.INFINITY
            return function

        return declare

    def root_in(self, subsystem: Any) -> CacheEntry[Matrix]:
        """Return the entry of the inverse root in a subsystem."""
        found: CacheEntry[Matrix] = (
            type(subsystem).declarations[f"{self.name}.root"].bound(subsystem)
        )
        return found

    def _checked(self, values: Any, count: int, handle: Any) -> Matrix:
        return checked_mass(values, count, handle)


@final
class RootDeclaration(AbstractComputation[Matrix]):
    """R with R' R = inv(M), of a declared M: a cache entry that is computed when it is read."""

    role = "root"

    def __init__(self, of: MassMatrixDeclaration) -> None:
        super().__init__(of.compute, ())
        self.of: MassMatrixDeclaration = of
        self.name = f"{of.name}.root"

    def items(self, subsystem: Any) -> Sequence[AbstractHandle]:
        """Return its handle in a subsystem, if that has M."""
        return super().items(subsystem) if self.of.is_in(subsystem) else ()

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, which depends on M alone."""
        mass = self.of.bound(handle._owner)
        return evolve(super().plan(handle), prerequisites=(mass,), lowest=Stage.MODEL)

    def _function(self, handle: Any) -> Callable[[Any], Matrix]:
        mass = self.of.bound(handle._owner)
        handles, is_inverse = self.of.handles(handle._owner), self.of.is_inverse

        def computed(state: Any) -> Matrix:
            def name(row: int) -> str:
                pools = state._contents.pools
                rows = [indices(pools.places[h._node]) for h in handles]
                return name_of_u(state, int(np.concatenate(rows)[row]) - pools.size("q", None))

            return inverse_root(mass(state), mass, is_inverse=is_inverse, name=name)

        return computed


@frozen(eq=False)
class BoundMass:
    """The mass matrix that a subsystem declares for some of its u, as handles."""

    u: Handles
    matrix: CacheEntry[Matrix]
    root: CacheEntry[Matrix]
    is_inverse: bool
    solve: Callable[[Any, Vector | None, Vector | None], Vector | None] | None
    solved_forces: tuple[CacheEntry[Vector], ...]


def masses_of(subsystem: Any) -> list[BoundMass]:
    """Return the mass matrices that a subsystem has. Cost O(its declarations and families)."""
    declarations = type(subsystem).declarations
    found = []
    for declared in declarations.values():
        if not isinstance(declared, MassMatrixDeclaration) or not declared.is_in(subsystem):
            continue
        solve, forces = declared.solve, declared.solved_forces
        if any(declarations[force.name] is not force for force in forces):
            solve, forces = None, ()  # a derived class has other forces, unknown to the solver
        found.append(
            BoundMass(
                declared.handles(subsystem),
                declared.bound(subsystem),
                declared.root_in(subsystem),
                declared.is_inverse,
                None if solve is None else partial(solve, subsystem),
                tuple(force.bound(subsystem) for force in forces),
            )
        )
    return found


def name_of_u(state: Any, u: int) -> str:
    """Name a number of u for messages: "cart.speed", or "cart.speed[1]" if that has several."""
    pools = state._contents.pools
    at = pools.size("q", None) + u
    for subsystem in state._contents.realization.layout.subsystems:
        for block in subsystem.blocks["u"]:
            place = pools.places[block._node]
            if place.start <= at < place.stop:
                count = place.stop - place.start
                return f"{block}" + (f"[{at - place.start}]" if count > 1 else "")
    return f"u {u}"


# ---------------------------------------------------------------------- forces


@final
class ForceDeclaration(AbstractOfSpeeds):
    """Declared forces on some u: a cache entry."""

    decorator = "generalized_force"
    earliest = Stage.DYNAMICS

    def _checked(self, values: Any, count: int, handle: Any) -> Vector:
        return checked_values(values, count, handle, "u" if count != 1 else "that u")


@frozen(eq=False)
class BoundForce:
    """The forces that a subsystem declares on some of its u, as handles."""

    u: Handles
    values: CacheEntry[Vector]


def forces_of(subsystem: Any) -> list[BoundForce]:
    """Return the forces on u that a subsystem has. Cost O(its declarations and families)."""
    return [
        BoundForce(declared.handles(subsystem), declared.bound(subsystem))
        for declared in type(subsystem).declarations.values()
        if isinstance(declared, ForceDeclaration) and declared.is_in(subsystem)
    ]


# ---------------------------------------------------------------------- decorators


def mass_matrix(
    *variables: AbstractDeclaration[Any],
    prerequisites: Prerequisites | None = None,
    available_from: Stage | None = None,
    exists: Exists | None = None,
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
        Same as for `cached`; ``()`` for a matrix that never changes.
    available_from : Stage, optional
        Same as for `cached`. If nothing is said, the matrix depends on all of stage Position.
    exists : callable, optional
        Function ``(self)`` that is asked when Topology is realized; where it returns False, the
        subsystem has no mass, and udot is left to its hooks.

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
    return _mass_matrix("mass_matrix", variables, prerequisites, available_from, exists)


def inverse_mass_matrix(
    *variables: AbstractDeclaration[Any],
    prerequisites: Prerequisites | None = None,
    available_from: Stage | None = None,
    exists: Exists | None = None,
) -> Callable[[Callable[[Any, Any], ArrayLike]], MassMatrixDeclaration]:
    """Declare the inverse of the mass matrix of some u, as `mass_matrix` does.

    Raises
    ------
    DeclarationError, ComputeSignatureError, WrongTypeError
    """
    return _mass_matrix("inverse_mass_matrix", variables, prerequisites, available_from, exists)


def _mass_matrix(
    what: str,
    variables: Variables,
    prerequisites: Prerequisites | None,
    available_from: Any,
    exists: Exists | None,
) -> Callable[[Compute], MassMatrixDeclaration]:
    stage = _checked_stage(what, variables, available_from)
    _check_exists(what, exists)
    is_inverse = what == "inverse_mass_matrix"
    return decorator(
        what,
        lambda f, p: MassMatrixDeclaration(f, variables, p, stage, exists, is_inverse=is_inverse),
        prerequisites,
    )


def generalized_force(
    *variables: AbstractDeclaration[Any],
    prerequisites: Prerequisites | None = None,
    available_from: Stage | None = None,
    exists: Exists | None = None,
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
        Same as for `cached`. If nothing is said, they depend on all of stage Dynamics.
    exists : callable, optional
        Same as for `mass_matrix`.

    Returns
    -------
    callable
        A decorator of the function, which returns as many finite numbers as there are in the u.

    Raises
    ------
    DeclarationError, WrongTypeError, StageOutOfRangeError
    WrongTypeError, ComputeSignatureError
    """
    what = "generalized_force"
    stage = _checked_stage(what, variables, available_from)
    _check_exists(what, exists)
    return decorator(
        what, lambda f, p: ForceDeclaration(f, variables, p, stage, exists), prerequisites
    )


def _check_exists(what: str, exists: Any) -> None:
    """Refuse anything but a function of a subsystem."""
    if exists is not None:
        require_callable(
            exists,
            f"{what}(exists=...)",
            "a function of the subsystem that returns True or False",
            "write exists=lambda self: bool(self.bodies)",
        )


def _checked_stage(what: str, variables: Variables, available_from: Any) -> Stage | None:
    """Refuse anything but declared u, and return the checked stage."""
    hint = f"write @{what}(speed), and @{what}() for all u of a subsystem"
    require_variables(variables, "u", what, hint)
    if available_from is None:
        return None
    return check_stage(
        available_from, Stage.TOPOLOGY, Stage.DYNAMICS, f"{what}(available_from=...)"
    )
