"""Declared blocks of the mass matrix, and declared forces: cache entries about some u.

::

    inertia         M of these u, in the form in which it is returned
      inertia.root  R with R' R = inv(M): as long as M is valid, it is not decomposed again
    weight          f of these u; all of them add up

Both are computed by Dynamics, so every prerequisite that changes invalidates that stage.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, final

from attrs import evolve, frozen

from stagecache.errors import DeclarationError, PrerequisiteStageError
from stagecache.numerics.mass_matrices import Matrix, checked_mass, inverse_root
from stagecache.state.handles import CacheEntry, Vector
from stagecache.state.stage import Stage
from stagecache.system.declare.computations import AbstractComputation
from stagecache.system.declare.declaration import AbstractDeclaration, PlannedEntry, Prerequisites
from stagecache.system.declare.prescribed import checked_values
from stagecache.system.motion.kinematics import count_of, handles_in, kind_of
from stagecache.system.motion.rows import Handles

Compute = Callable[[Any, Any], Any]
Variables = tuple[AbstractDeclaration[Any], ...]


class AbstractOfSpeeds(AbstractComputation[Any]):
    """A declared entry about some u of its subsystem, computed by Dynamics.

    Attributes
    ----------
    variables : tuple of declarations
        The u, or families of them; none: all of the subsystem.
    """

    variables: Variables
    computed_by = Stage.DYNAMICS

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
        for variable in self.variables:
            if kind_of(found.get(variable.name)) != "u":
                raise DeclarationError(
                    f"{self}: is about a variable that is not there",
                    f"a u variable {variable.name!r}, declared or inherited",
                    f"{found.get(variable.name, 'none')}",
                    "declare it in the same class, or in a base class",
                )
        return ()

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, which needs the number of u.

        Raises
        ------
        PrerequisiteStageError
            A prerequisite is computed from accelerations.
        """
        planned = evolve(super().plan(handle), lowest=Stage.MODEL)
        for above in planned.prerequisites:
            if isinstance(above, CacheEntry) and above.available_from > self.computed_by:
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
    """

    def __init__(
        self,
        compute: Compute,
        variables: Variables,
        prerequisites: Prerequisites | None,
        available_from: Stage | None,
        *,
        is_inverse: bool,
    ) -> None:
        self.compute = compute
        self.variables = variables
        self.prerequisites = prerequisites
        self.available_from = available_from
        if prerequisites is None and available_from is None:
            self.available_from = Stage.POSITION
        self.is_inverse = is_inverse

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
        names = {v.name for v in self.variables}
        for other in found.values():
            if not isinstance(other, MassMatrixDeclaration) or other is self:
                continue
            theirs = {v.name for v in other.variables}
            common = names & theirs if names and theirs else names | theirs or {"all u"}
            if common:
                raise DeclarationError(
                    f"{self}: is about variables that {other} is about, too",
                    "each u in one mass matrix at most",
                    ", ".join(sorted(common)),
                    f"call it {other.name!r} too: then it replaces that one",
                )
        return (RootDeclaration(self),)

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
        self.of: MassMatrixDeclaration = of
        self.name = f"{of.name}.root"
        self.compute = of.compute
        self.prerequisites = ()
        self.available_from = None
        self.computed_by = Stage.INFINITY

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, which depends on M alone."""
        mass = self.of.bound(handle._owner)
        return evolve(super().plan(handle), prerequisites=(mass,), lowest=Stage.MODEL)

    def _function(self, handle: Any) -> Callable[[Any], Matrix]:
        mass = self.of.bound(handle._owner)
        is_inverse = self.of.is_inverse
        return lambda state: inverse_root(mass(state), mass, is_inverse=is_inverse)


@frozen(eq=False)
class BoundMass:
    """The mass matrix that a subsystem declares for some of its u, as handles."""

    u: Handles
    matrix: CacheEntry[Matrix]
    root: CacheEntry[Matrix]
    is_inverse: bool


def masses_of(subsystem: Any) -> list[BoundMass]:
    """Return the mass matrices that a subsystem declares. Cost O(its declarations and families)."""
    return [
        BoundMass(
            declared.handles(subsystem),
            declared.bound(subsystem),
            declared.root_in(subsystem),
            declared.is_inverse,
        )
        for declared in type(subsystem).declarations.values()
        if isinstance(declared, MassMatrixDeclaration)
    ]


# ---------------------------------------------------------------------- forces


@final
class ForceDeclaration(AbstractOfSpeeds):
    """Declared forces on some u: a cache entry."""

    decorator = "generalized_force"

    def __init__(
        self,
        compute: Compute,
        variables: Variables,
        prerequisites: Prerequisites | None,
        available_from: Stage | None,
    ) -> None:
        self.compute = compute
        self.variables = variables
        self.prerequisites = prerequisites
        self.available_from = available_from
        if prerequisites is None and available_from is None:
            self.available_from = Stage.DYNAMICS

    def _checked(self, values: Any, count: int, handle: Any) -> Vector:
        return checked_values(values, count, handle, "u" if count != 1 else "that u")


@frozen(eq=False)
class BoundForce:
    """The forces that a subsystem declares on some of its u, as handles."""

    u: Handles
    values: CacheEntry[Vector]


def forces_of(subsystem: Any) -> list[BoundForce]:
    """Return the forces that a subsystem declares. Cost O(its declarations and families)."""
    return [
        BoundForce(declared.handles(subsystem), declared.bound(subsystem))
        for declared in type(subsystem).declarations.values()
        if isinstance(declared, ForceDeclaration)
    ]
