"""Derivatives of constraint errors for which no function is declared.

::

    rod            declared                 qerr
    rod.velocity   d rod / dt               uerr       along qdot = N u, and time
    rod.acceleration                        udoterr    Jacobian @ udot + bias, if both are declared;
                   d rod.velocity / dt                 along qdot, udot and time, if that is;
                   d^2 rod / dt^2                      else along qdot, qdotdot and time

They are declared with the class, under names that no attribute can have. Rows stay NaN where qdot
or udot is not known: nobody has said N, or nobody computes udot.
"""

from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np

from stagecache.state.handles import AbstractHandle, CacheEntry, Vector
from stagecache.state.vectors import UDOTERR, UERR, VectorKind
from stagecache.system.declaration import AbstractDeclaration
from stagecache.system.differences import (
    derivative_along,
    known_qdot,
    known_qdotdot,
    second_derivative_along,
)
from stagecache.system.error_rows import AbstractCompanion, AbstractErrorRows


@final
class ImpliedDerivative(AbstractCompanion):
    """A time derivative of declared errors that no declared function computes.

    Attributes
    ----------
    below : str
        The declared errors of which it is the derivative.
    is_second : bool
        Whether it is the second derivative of these.
    linear : tuple of str
        The declarations of the Jacobian and the bias, if it is computed from these; else empty.
    """

    prerequisites = None

    def __init__(
        self, of: AbstractErrorRows, kind: VectorKind, roles: Mapping[str, AbstractDeclaration[Any]]
    ) -> None:
        self.of: AbstractErrorRows = of
        self.kind = kind
        self.name = f"{of.name}.{self.role}"
        self.compute = self._compute
        self.computed_by = self.depends_on = kind.read
        self.is_last = True  # so that hooks have computed what there is of qdot and udot
        self.below = of.name
        self.is_second = False
        self.linear: tuple[str, ...] = ()
        if kind is UERR:
            return
        if "jacobian" in roles and "bias" in roles:
            self.linear = (roles["jacobian"].name, roles["bias"].name)
        if "velocity" in roles:
            self.below = roles["velocity"].name
        else:
            self.is_second = UERR in of.kinds[1:]

    @property
    def role(self) -> str:  # type: ignore[override]  # of which it has one of two
        """Velocity or acceleration."""
        return "velocity" if self.kind is UERR else "acceleration"

    def _compute(self, subsystem: Any, state: Any) -> Vector:
        contents = state._contents
        layout = contents.realization.layout.subsystems[subsystem.index]
        unknown = np.full(self.stack(layout)[self.slot(subsystem)].count, np.nan)
        system, below = state.system, entry_of(subsystem, self.below)
        qdot = known_qdot(state)
        if self.kind is UERR:
            if qdot is None:
                return unknown
            return derivative_along(system, state, below, qdot=qdot, time=1.0)
        udot = contents.pools.whole["udot"].copy()
        if not np.isfinite(udot).all():
            return unknown
        if self.linear:
            jacobian, bias = (entry_of(subsystem, name)(state) for name in self.linear)
            return np.asarray(jacobian @ udot + bias)
        if not self.is_second:
            if qdot is None:
                return unknown
            return derivative_along(system, state, below, qdot=qdot, udot=udot, time=1.0)
        qdotdot = known_qdotdot(system, state, udot)
        if qdot is None or qdotdot is None:
            return unknown
        return second_derivative_along(system, state, below, qdot=qdot, qdotdot=qdotdot)


def entry_of(subsystem: Any, name: str) -> CacheEntry[Any]:
    """The handle of what a class declares under a name, be it that of an attribute or not."""
    handle: AbstractHandle = type(subsystem).declarations[name].bound(subsystem)
    assert isinstance(handle, CacheEntry)
    return handle


def roles_of(
    errors: AbstractErrorRows, found: Mapping[str, AbstractDeclaration[Any]]
) -> dict[str, AbstractDeclaration[Any]]:
    """What belongs to errors, among all that their class declares, by its role."""
    return {
        declared.role: declared
        for declared in found.values()
        if declared.of is not None and declared.of.name == errors.name
    }


def implied_errors(
    errors: AbstractErrorRows, found: Mapping[str, AbstractDeclaration[Any]]
) -> Iterator[ImpliedDerivative]:
    """The derivatives of errors for which no function is among the declarations of their class."""
    roles = roles_of(errors, found)
    for role, kind in (("velocity", UERR), ("acceleration", UDOTERR)):
        if kind in errors.kinds[1:] and role not in roles:
            yield ImpliedDerivative(errors, kind, roles)
