"""Declared prescribed motion: q as functions of the time, u as functions of the time and q.

::

    time, parameters  ->  drive       = q     computed by Time      set by System.prescribe_q
    ... and q         ->  drive_rate  = u     computed by Position  set by System.prescribe_u
    ... and u         ->  its udot            computed by Velocity

The values are cache entries. Realizing the stage computes them, but does not write the variables:
that invalidates stages, so it is a step of its own (`prescribing`).
"""

from collections.abc import Callable
from typing import Any, Final, final, overload

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from stagecache.errors import DeclarationError, NotANumberError
from stagecache.numerics.matrices import vector_of
from stagecache.state.handles import AbstractContinuousVariable, CacheEntry, Vector, declared_item
from stagecache.state.stage import Stage
from stagecache.system.declare.computations import AbstractComputation, decorator
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    AnyPrerequisites,
    PlannedEntry,
    Prerequisites,
    arguments,
    is_family,
    item_of,
)
from stagecache.system.declare.enabling import Enabling, check_enabling, is_enabled

Motion = Callable[..., ArrayLike]
"""A function ``(self, state)``, or ``(self, state, i)`` in a family."""

STAGES: Final = {"q": Stage.TIME, "u": Stage.POSITION}
"""Stage that computes prescribed values, by kind of variable."""


def kind_of(declared: AbstractDeclaration[Any]) -> str:
    """Return "q", "u" or "z", the kind of a declaration or of each item of a family; else ""."""
    return str(getattr(item_of(declared), "kind", ""))


class AbstractPrescription(AbstractComputation[Vector]):
    """Declared numbers of prescribed motion, as many as there are in the variable that moves."""

    def __init__(
        self,
        of: AbstractDeclaration[Any],
        compute: Motion,
        prerequisites: AnyPrerequisites | None,
        stage: Stage,
    ) -> None:
        super().__init__(compute, prerequisites, stage, stage)
        self.of: AbstractDeclaration[Any] = of

    def variable(self, handle: CacheEntry[Any]) -> AbstractContinuousVariable:
        """Return the handle of the variable that moves."""
        raise NotImplementedError

    def is_enabled(self, handle: CacheEntry[Any], state: Any) -> bool:
        """Tell whether the variable is prescribed in a State."""
        raise NotImplementedError

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, which needs the sizes of variables, and the switches."""
        return evolve(super().plan(handle), lowest=Stage.INSTANCE)

    def _function(self, handle: Any) -> Callable[[Any], Vector]:
        subsystem, *number = arguments(handle)
        compute, variable = self.compute, self.variable(handle)

        def computed(state: Any) -> Any:
            if not self.is_enabled(handle, state):
                return np.empty(0)
            values: Any = compute(subsystem, state, *number)
            place = state._contents.pools.places[variable._node]
            return checked_values(values, place.stop - place.start, handle, variable)

        return computed

    def _fill(self, handle: Any) -> Callable[[Any], Any]:
        return handle  # type: ignore[no-any-return]  # no vector; but so it is due, and is checked


def checked_values(values: object, count: int, what: object, variable: object) -> Vector:
    """Return what a declared function has computed for a variable, as a vector of its size.

    Raises
    ------
    ShapeError, NotANumberError
    """
    vector = vector_of(values, count, what, variable, "return one for each number of the variable")
    if not np.isfinite(vector).all():
        worst = int(np.argmin(np.isfinite(vector)))
        raise NotANumberError(
            f"{what}: its computation returned no finite number",
            f"{count} finite numbers for {variable}",
            f"{vector[worst]} as number {worst}",
            "look at what it reads: the time, for one, and at divisions by 0",
        )
    return vector


@final
class PrescribedDeclaration(AbstractPrescription):
    """The declared values of a prescribed q or u.

    Attributes
    ----------
    kind : str
        "q" or "u".
    enabled : AbstractDeclaration or None
        A switch: while it is False the variable is free, and the function is not called.
    """

    role = "prescribed"

    def __init__(
        self,
        of: AbstractDeclaration[Any],
        compute: Motion,
        prerequisites: AnyPrerequisites | None,
        enabled: Enabling,
    ) -> None:
        self.kind = kind_of(of)
        super().__init__(of, compute, prerequisites, STAGES[self.kind])
        self.enabled = enabled

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether that is a variable of the same kind, or a family of them if this is one."""
        return (
            declared.is_variable
            and kind_of(declared) == self.kind
            and is_family(declared) == is_family(self.of)
        )

    def variable(self, handle: CacheEntry[Any]) -> AbstractContinuousVariable:
        """Return the handle of the variable that moves."""
        assert self.of is not None
        found = declared_item(handle._owner, self.of.name, handle._number)
        assert isinstance(found, AbstractContinuousVariable)
        return found

    def is_enabled(self, handle: CacheEntry[Any], state: Any) -> bool:
        """Tell whether the variable is prescribed in a State."""
        return is_enabled(self.enabled, handle._owner, state, handle._number)

    @overload
    def acceleration(self, compute: Motion) -> "PrescribedAccelerationDeclaration": ...
    @overload
    def acceleration(
        self, *, prerequisites: Prerequisites
    ) -> Callable[[Motion], "PrescribedAccelerationDeclaration"]: ...
    def acceleration(
        self, compute: Motion | None = None, *, prerequisites: Prerequisites | None = None
    ) -> Any:
        """Decorate the function ``(self, state)`` that computes the udot of a prescribed u.

        Without one it is the difference quotient of the prescribed u along the motion.

        Parameters
        ----------
        prerequisites : tuple or callable, optional
            Same as for `cached`. The default is all of stage Velocity.

        Raises
        ------
        DeclarationError
            The prescribed variable is a q.
        WrongTypeError, ComputeSignatureError
        """
        return acceleration_decorator(self, compute, prerequisites)


@final
class PrescribedAccelerationDeclaration(AbstractPrescription):
    """The declared udot of a prescribed u."""

    role = "acceleration"
    decorator = "prescribed acceleration"

    def __init__(
        self, of: AbstractDeclaration[Any], compute: Motion, prerequisites: AnyPrerequisites | None
    ) -> None:
        super().__init__(of, compute, prerequisites, Stage.VELOCITY)

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether that is a prescribed u, or a family of them if this is one."""
        return (
            isinstance(item_of(declared), PrescribedDeclaration)
            and kind_of(declared) == "u"
            and is_family(declared) == is_family(self.of)
        )

    def variable(self, handle: CacheEntry[Any]) -> AbstractContinuousVariable:
        """Return the handle of the variable that moves."""
        motion, of = self._motion(handle)
        return motion.variable(of)

    def is_enabled(self, handle: CacheEntry[Any], state: Any) -> bool:
        """Tell whether the variable is prescribed in a State."""
        motion, of = self._motion(handle)
        return motion.is_enabled(of, state)

    def _motion(self, handle: CacheEntry[Any]) -> tuple[PrescribedDeclaration, CacheEntry[Any]]:
        """Return the declaration of the u itself, and its handle."""
        assert self.of is not None
        found: Any = handle._owner.declarations[self.of.name]
        of: Any = declared_item(handle._owner, self.of.name, handle._number)
        return item_of(found), of


# ---------------------------------------------------------------------- decorators


def prescribed_decorator(
    of: AbstractDeclaration[Any],
    compute: Motion | None,
    prerequisites: AnyPrerequisites | None,
    enabled: Any,
) -> Any:
    """Return what ``variable.prescribed`` is, of a variable or of a family of them."""
    if kind_of(of) not in STAGES:
        raise DeclarationError(
            "prescribed: not for this variable",
            "a declared q or u, or a family of them",
            f"one of {kind_of(of)}" if kind_of(of) else f"{of}",
            "compute it with @cached instead",
        )
    in_family = is_family(of)
    switch = check_enabling(enabled, "prescribed", in_family=in_family)
    return decorator(
        "prescribed",
        lambda f, p: of.like(PrescribedDeclaration(of, f, p, switch)),
        prerequisites,
        compute,
        in_family=in_family,
    )


def acceleration_decorator(
    of: AbstractDeclaration[Any], compute: Motion | None, prerequisites: AnyPrerequisites | None
) -> Any:
    """Return what ``drive_rate.acceleration`` is, of a prescribed u or of a family of them."""
    is_motion = isinstance(item_of(of), PrescribedDeclaration)
    if not is_motion or kind_of(of) != "u":
        raise DeclarationError(
            "acceleration: exists for a prescribed u only",
            "what @rate.prescribed has made, of a rate that is declared by u_variable",
            "the prescribed values of q" if is_motion else f"{of}",
            "prescribe u as well, and decorate with @drive_rate.acceleration",
        )
    return decorator(
        "prescribed.acceleration",
        lambda f, p: of.like(PrescribedAccelerationDeclaration(of, f, p)),
        prerequisites,
        compute,
        in_family=is_family(of),
    )
