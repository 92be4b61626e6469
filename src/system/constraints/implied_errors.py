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

from collections.abc import Callable, Iterator, Mapping
from typing import Any, final

import numpy as np

from stagecache.state.handles import CacheEntry, Vector
from stagecache.state.vectors.vectors import UDOTERR, UERR, VectorKind
from stagecache.system.constraints.error_rows import (
    AbstractCompanion,
    AbstractErrorRows,
    entry_of,
    roles_of,
)
from stagecache.system.constraints.rows import constraint_table
from stagecache.system.declare.declaration import AbstractDeclaration
from stagecache.system.motion.differences import (
    by_differences,
    derivative_along,
    known_qdot,
    known_qdotdot,
    second_derivative_along,
)


@final
class ImpliedDerivative(AbstractCompanion):
    """A time derivative of declared errors that no declared function computes.

    Attributes
    ----------
    is_second : bool
        True if it is the second derivative of these.
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
        self.source = of.source
        self.compute = self._compute
        self.computed_by = self.available_from = kind.read
        self.is_last = True  # so that hooks have computed what there is of qdot and udot
        self.below = of.name
        self.is_second = False
        self.linear: tuple[str, ...] = ()
        if kind is UDOTERR:
            if "velocity" in roles:
                self.below = roles["velocity"].name
            else:
                self.is_second = UERR in of.kinds[1:]
            if "jacobian" in roles and "bias" in roles:
                self.linear = (roles["jacobian"].name, roles["bias"].name)
                return
        self.group = f"second {kind.name}" if self.is_second else kind.name

    @property
    def role(self) -> str:  # type: ignore[override]  # of which it has one of two
        """Velocity or acceleration."""
        return "velocity" if self.kind is UERR else "acceleration"

    def _function(self, handle: Any) -> Callable[[Any], Vector]:
        if not self.linear:
            return super()._function(handle)
        subsystem = handle._owner
        jacobian, bias = (entry_of(subsystem, name) for name in self.linear)
        slot, x = self.slot(subsystem), subsystem.index

        def computed(state: Any) -> Vector:
            contents = state._contents
            udot = contents.pools.whole["udot"]
            if np.isfinite(udot).all():
                return np.asarray(jacobian(state) @ udot + bias(state))
            return np.full(
                self.stack(contents.realization.layout.subsystems[x])[slot].count, np.nan
            )

        return computed

    def _compute(self, subsystem: Any, state: Any) -> Vector:
        hint = f"declare it with @{self.of.name}.{self.role}"
        with by_differences(f"{subsystem.name}.{self.name}", hint):
            return self._derivative(subsystem, state)

    def _derivative(self, subsystem: Any, state: Any) -> Vector:
        contents = state._contents
        layout = contents.realization.layout.subsystems[subsystem.index]
        unknown = np.full(self.stack(layout)[self.slot(subsystem)].count, np.nan)
        udot = None
        if self.kind is UDOTERR:
            udot = contents.pools.whole["udot"].copy()
            if not np.isfinite(udot).all():
                return unknown
        qdot = known_qdot(state)
        if qdot is None or unknown.size == 0:
            return unknown
        values = self._values_of_group(state, qdot, udot)
        return unknown if values is None else values[entry_of(subsystem, self.name)]

    def _values_of_group(
        self, state: Any, qdot: Vector, udot: Vector | None
    ) -> dict[CacheEntry[Any], Vector] | None:
        """Return the derivatives of all of its group, by handle; computed by the first that is.

        The State keeps them until something is written, as copies of it are not cheap.
        """
        contents, system = state._contents, state.system
        key = (
            contents.realization.store.clock,
            qdot.tobytes(),
            udot is not None and udot.tobytes(),
        )
        noted = contents.pools.differences.get(self.group)
        if noted is not None and noted[0] == key:
            found: dict[CacheEntry[Any], Vector] | None = noted[1]
            return found
        members = constraint_table(contents).groups[self.group]
        stage = max(below.available_from for _, below in members)

        def read(twin: Any) -> Vector:
            return np.concatenate([below(twin) for _, below in members])

        if not self.is_second:
            values = derivative_along(
                system, state, read, stage=stage, qdot=qdot, udot=udot, time=1.0
            )
        else:
            assert udot is not None
            qdotdot = known_qdotdot(system, state, udot)
            if qdotdot is None:
                return None
            values = second_derivative_along(
                system, state, read, stage=stage, qdot=qdot, qdotdot=qdotdot
            )
        sizes = [below(state).size for _, below in members]
        parts = np.split(values, np.cumsum(sizes)[:-1])
        found = {entry: part.copy() for (entry, _), part in zip(members, parts, strict=True)}
        contents.pools.differences[self.group] = (key, found)
        return found


def implied_errors(
    errors: AbstractErrorRows, found: Mapping[str, AbstractDeclaration[Any]]
) -> Iterator[ImpliedDerivative]:
    """Yield the derivatives of errors for which their class declares no function."""
    roles = roles_of(errors, found)
    for role, kind in (("velocity", UERR), ("acceleration", UDOTERR)):
        if kind in errors.kinds[1:] and role not in roles:
            yield ImpliedDerivative(errors, kind, roles)
