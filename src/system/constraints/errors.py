"""Declared errors of constraints: rows of qerr, uerr and udoterr.

::

    @position_error(size=1)           allocates a row in qerr, uerr and udoterr
    def rod(self, state): ...         computed by Position, goes to qerr

    @rod.velocity
    def rod_rate(self, state): ...    computed by Velocity, goes to the same row of uerr

    @rod.jacobian                     its derivatives by u, computed when it is read
    @rod.acceleration                 computed by Acceleration, goes to the same row of udoterr
    @rod.bias                         the same where udot is zero, computed when it is read

Where no function is declared for rows of uerr or udoterr, the time derivative of the level below is
computed by differences (`implied_errors`).

The files::

    errors, normalization    declared errors
    declared_jacobians       declared Jacobians
    implied_errors           derivatives that are not declared
    error_rows               the common part of these: rows of the vectors of errors
    rows                     the table of all rows of a State, for numerical methods
    jacobians                Jacobians of all constraints, and errors at udot = 0
    motion.differences       derivatives by differences, for all that is not declared
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, final, overload

from stagecache.checks import require_count
from stagecache.errors import DeclarationError
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import QERR, UDOTERR, UERR, VectorKind
from stagecache.system.constraints.declared_jacobians import (
    JacobianDeclaration,
    JacobianFunction,
    jacobian_decorator,
)
from stagecache.system.constraints.error_rows import AbstractCompanion, AbstractErrorRows
from stagecache.system.constraints.implied_errors import implied_errors
from stagecache.system.declare.computations import check_compute
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    Prerequisites,
    check_prerequisites,
)
from stagecache.system.declare.enabling import Enabling, check_enabling
from stagecache.system.declare.rows import Compute, Size


@final
class ErrorDeclaration(AbstractErrorRows):
    """Declared errors of a constraint, from its first level on."""

    def __init__(
        self,
        compute: Compute,
        kinds: tuple[VectorKind, ...],
        size: Size,
        prerequisites: Prerequisites | None,
        enabled: Enabling = None,
    ) -> None:
        self.kinds = kinds
        self.kind = kinds[0]
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.size = size
        self.prerequisites = prerequisites
        self.enabled = enabled
        self.computed_by = self.kind.read
        self.available_from = self.kind.read if prerequisites is None else None

    def companions(
        self, found: Mapping[str, AbstractDeclaration[Any]]
    ) -> Iterable[AbstractDeclaration[Any]]:
        """Return the derivatives for which no function is declared."""
        return implied_errors(self, found)

    # ------------------------------------------------------------------ derivatives

    @overload
    def velocity(self, compute: Compute) -> "DerivativeDeclaration": ...
    @overload
    def velocity(
        self, *, prerequisites: Prerequisites
    ) -> Callable[[Compute], "DerivativeDeclaration"]: ...
    def velocity(
        self, compute: Compute | None = None, *, prerequisites: Prerequisites | None = None
    ) -> Any:
        """Decorate the function ``(self, state)`` that computes the first time derivatives."""
        return self._derivative(compute, UERR, "velocity", prerequisites)

    @overload
    def acceleration(self, compute: Compute) -> "DerivativeDeclaration": ...
    @overload
    def acceleration(
        self, *, prerequisites: Prerequisites
    ) -> Callable[[Compute], "DerivativeDeclaration"]: ...
    def acceleration(
        self, compute: Compute | None = None, *, prerequisites: Prerequisites | None = None
    ) -> Any:
        """Decorate the function ``(self, state)`` that computes the errors of accelerations."""
        return self._derivative(compute, UDOTERR, "acceleration", prerequisites)

    @overload
    def bias(self, compute: Compute) -> "BiasDeclaration": ...
    @overload
    def bias(self, *, prerequisites: Prerequisites) -> Callable[[Compute], "BiasDeclaration"]: ...
    def bias(
        self, compute: Compute | None = None, *, prerequisites: Prerequisites | None = None
    ) -> Any:
        """Decorate the function ``(self, state)`` of the errors of accelerations at udot = 0.

        A read calls it, from Velocity on if no prerequisites are given. With a bias and a
        Jacobian, the errors of accelerations are Jacobian @ udot + bias, and need no function of
        their own.
        """
        what = f"@{self.name}.bias"
        named = check_prerequisites(prerequisites, what)

        def declare(function: Compute) -> BiasDeclaration:
            return BiasDeclaration(self, check_compute(function, what), named)

        return declare if compute is None else declare(compute)

    @overload
    def jacobian(self, compute: JacobianFunction) -> JacobianDeclaration: ...
    @overload
    def jacobian(
        self, *, prerequisites: Prerequisites
    ) -> Callable[[JacobianFunction], JacobianDeclaration]: ...
    def jacobian(
        self,
        compute: JacobianFunction | None = None,
        *,
        prerequisites: Prerequisites | None = None,
    ) -> Any:
        """Decorate the function ``(self, state)`` that computes the Jacobian.

        That is the matrix of the derivatives of the velocity errors (of the acceleration errors,
        where that is the first level) by u (by udot). Shape (size, nu), with the nu of the System:
        an array, or a sparse array of SciPy. Instead it may be a dict that has blocks of shape
        (size, n) by handles of u: a declared variable, ``self.u``, or those of other subsystems;
        all else is zero. A block of one row or column may be a vector.
        """
        return jacobian_decorator(self, compute, prerequisites)

    def _derivative(
        self, compute: Compute | None, kind: VectorKind, name: str, prerequisites: Any
    ) -> Any:
        what = f"@{self.name}.{name}"
        if kind not in self.kinds[1:]:
            raise DeclarationError(
                f"{what}: not a derivative of these errors",
                "one of " + ", ".join(k.name for k in self.kinds[1:]),
                kind.name,
                f"declare a function for a level above {self.kind.name}",
            )
        named = check_prerequisites(prerequisites, what)

        def declare(function: Compute) -> DerivativeDeclaration:
            return DerivativeDeclaration(self, check_compute(function, what), kind, named)

        return declare if compute is None else declare(compute)


@final
class DerivativeDeclaration(AbstractCompanion):
    """Declared time derivatives of errors, in the rows that these allocated."""

    def __init__(
        self,
        of: ErrorDeclaration,
        compute: Compute,
        kind: VectorKind,
        prerequisites: Prerequisites | None,
    ) -> None:
        self.of: AbstractErrorRows = of
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.kind = kind
        self.prerequisites = prerequisites
        self.computed_by = kind.read
        self.available_from = kind.read if prerequisites is None else None

    @property
    def role(self) -> str:  # type: ignore[override]  # of which it has one of two
        """Velocity or acceleration."""
        return "velocity" if self.kind is UERR else "acceleration"


@final
class BiasDeclaration(AbstractCompanion):
    """The declared acceleration errors at udot = 0; they go to no vector."""

    role = decorator = "bias"
    kind = UDOTERR

    def __init__(
        self, of: ErrorDeclaration, compute: Compute, prerequisites: Prerequisites | None
    ) -> None:
        self.of: AbstractErrorRows = of
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.prerequisites = prerequisites
        self.computed_by = Stage.INFINITY
        self.available_from = Stage.VELOCITY if prerequisites is None else None

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether these are errors with a row of udoterr, their first or a later one."""
        return isinstance(declared, AbstractErrorRows) and UDOTERR in declared.kinds

    def _fill(self, handle: Any) -> None:  # noqa: ARG002  # of which it has none
        return None


def _errors(
    what: str,
    kinds: tuple[VectorKind, ...],
    size: Size,
    prerequisites: Prerequisites | None,
    enabled: Enabling,
) -> Callable[[Compute], ErrorDeclaration]:
    if not callable(size):
        size = require_count(size, 0, f"{what}(size=...)")
    named = check_prerequisites(prerequisites, what)
    switch = check_enabling(enabled, what)

    def declare(compute: Compute) -> ErrorDeclaration:
        return ErrorDeclaration(check_compute(compute, what), kinds, size, named, switch)

    return declare


def position_error(
    *,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    enabled: Enabling = None,
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of position, by the function ``(self, state)`` that computes them.

    Each has a row in qerr, uerr and udoterr. Realizing Position computes them.

    Parameters
    ----------
    size : int or callable
        Their number; or a function ``(self, state)``, called with the State at Model whenever
        Instance is realized: it may read parameters and modeling options.
    prerequisites : tuple or callable, optional
        As for `cached`, beside stage Instance. The default is all of stage
        Position.
    enabled : declaration, optional
        A parameter or modeling option of the same class that holds a bool. In States where it is
        False there are no such rows, and no function of the constraint is called.

    Raises
    ------
    OutOfRangeError, WrongTypeError, DeclarationError
    """
    return _errors("position_error", (QERR, UERR, UDOTERR), size, prerequisites, enabled)


def velocity_error(
    *,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    enabled: Enabling = None,
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of velocity, as `position_error` does: rows in uerr and udoterr."""
    return _errors("velocity_error", (UERR, UDOTERR), size, prerequisites, enabled)


def acceleration_error(
    *,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    enabled: Enabling = None,
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of acceleration, as `position_error` does: rows in udoterr."""
    return _errors("acceleration_error", (UDOTERR,), size, prerequisites, enabled)
