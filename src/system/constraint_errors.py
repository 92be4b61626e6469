"""Declared errors of constraints: rows of qerr, uerr and udoterr.

::

    @position_error(size=1)           allocates a row in qerr, uerr and udoterr
    def rod(self, state): ...         computed by Position, goes to qerr

    @rod.velocity
    def rod_rate(self, state): ...    computed by Velocity, goes to the same row of uerr

Rows of uerr and udoterr for which no function is declared are NaN.
"""

from collections.abc import Callable
from typing import Any, final, overload

from stagecache.errors import DeclarationError, ShapeError
from stagecache.state.allocation import Attempt, allocate_errors
from stagecache.state.contents import Contents
from stagecache.state.conversion import FLOAT, converted
from stagecache.state.handles import AbstractHandle, Vector
from stagecache.state.layout import Rows, SubsystemLayout, resize
from stagecache.state.refusals import check_count
from stagecache.state.stage import Stage
from stagecache.state.vectors import QERR, UDOTERR, UERR, VectorKind
from stagecache.system.computations import AbstractComputation, check_compute, refused_none
from stagecache.system.declaration import AbstractDeclaration, Prerequisites, check_prerequisites
from stagecache.system.rows import AbstractAllocatedRows, AbstractRows, Compute, Size


class AbstractErrors(AbstractRows):
    """Declared errors of one level."""

    kind: VectorKind

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """The rows of a subsystem's errors of that level."""
        return layout.rows[self.kind.name]

    def _write(self, contents: Contents, subsystem: int, start: int, values: Vector) -> None:
        contents.pools.write_rows(self.kind, subsystem, start, values)


@final
class ErrorDeclaration(AbstractErrors, AbstractAllocatedRows):
    """Declared errors of a constraint, from its first level on.

    Attributes
    ----------
    kinds : tuple of VectorKind
        The levels: qerr, uerr and udoterr for a position error, ...
    """

    def __init__(
        self,
        compute: Compute,
        kinds: tuple[VectorKind, ...],
        size: Size,
        prerequisites: Prerequisites | None,
    ) -> None:
        self.kinds = kinds
        self.kind = kinds[0]
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.size = size
        self.prerequisites = prerequisites
        self.computed_by = self.kind.read
        self.depends_on = self.kind.read if prerequisites is None else None

    def slot(self, subsystem: Any) -> int:
        """Which rows are these, of each of its levels' that of the first."""
        return self.slot_in(self.kind, subsystem)

    def slot_in(self, kind: VectorKind, subsystem: Any) -> int:
        """Which rows of a level's are these."""
        return self._slot_among(
            subsystem, lambda d: isinstance(d, ErrorDeclaration) and kind in d.kinds
        )

    def _allocate_rows(self, what: Attempt, count: int | None) -> None:
        for kind in self.kinds:
            allocate_errors(what, kind.name, count)

    def _resize(self, layout: SubsystemLayout, subsystem: Any, count: int) -> None:
        for kind in self.kinds:
            resize(layout.rows[kind.name], self.slot_in(kind, subsystem), count)

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
    def jacobian(self, compute: Compute) -> "JacobianDeclaration": ...
    @overload
    def jacobian(
        self, *, prerequisites: Prerequisites
    ) -> Callable[[Compute], "JacobianDeclaration"]: ...
    def jacobian(
        self, compute: Compute | None = None, *, prerequisites: Prerequisites | None = None
    ) -> Any:
        """Decorate the function ``(self, state)`` that computes the Jacobian.

        That is the matrix of the derivatives of the velocity errors (of the acceleration errors,
        where that is the first level) by u (by udot). Shape (size, nu), with the nu of the System.
        """
        what = f"@{self.name}.jacobian"
        named = check_prerequisites(prerequisites, what)

        def declare(function: Compute) -> JacobianDeclaration:
            return JacobianDeclaration(self, check_compute(function, what), named)

        return declare if compute is None else declare(compute)

    def _derivative(
        self, compute: Compute | None, kind: VectorKind, name: str, prerequisites: Any
    ) -> Any:
        what = f"@{self.name}.{name}"
        if kind not in self.kinds[1:]:
            raise DeclarationError(
                f"{what}: is no derivative of these errors",
                "one of " + ", ".join(k.name for k in self.kinds[1:]),
                kind.name,
                f"declare a function for a level above {self.kind.name}",
            )
        named = check_prerequisites(prerequisites, what)

        def declare(function: Compute) -> DerivativeDeclaration:
            return DerivativeDeclaration(self, check_compute(function, what), kind, named)

        return declare if compute is None else declare(compute)


@final
class DerivativeDeclaration(AbstractErrors):
    """Declared time derivatives of errors, in the rows that these allocated."""

    def __init__(
        self,
        of: ErrorDeclaration,
        compute: Compute,
        kind: VectorKind,
        prerequisites: Prerequisites | None,
    ) -> None:
        self.of: ErrorDeclaration = of
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.kind = kind
        self.prerequisites = prerequisites
        self.computed_by = kind.read
        self.depends_on = kind.read if prerequisites is None else None

    @property
    def role(self) -> str:  # type: ignore[override]  # of which it has one of two
        """Velocity or acceleration."""
        return "velocity" if self.kind is UERR else "acceleration"

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Whether that one has rows of this level, above its first."""
        return isinstance(declared, ErrorDeclaration) and self.kind in declared.kinds[1:]

    def slot(self, subsystem: Any) -> int:
        """Which rows of the level are those of the errors."""
        errors = type(subsystem).declarations[self.of.name]
        assert isinstance(errors, ErrorDeclaration)
        return errors.slot_in(self.kind, subsystem)


@final
class JacobianDeclaration(AbstractComputation[Vector]):
    """The declared Jacobian of errors: a cache entry, from Position on if nothing else is said."""

    role = "jacobian"

    def __init__(
        self, of: ErrorDeclaration, compute: Compute, prerequisites: Prerequisites | None
    ) -> None:
        self.of: ErrorDeclaration = of
        self.compute = compute  # type: ignore[assignment]  # an array
        self.prerequisites = prerequisites
        self.depends_on = Stage.POSITION if prerequisites is None else None
        self.computed_by = Stage.INFINITY

    def _function(self, handle: AbstractHandle) -> Callable[[Any], Vector]:
        compute, subsystem = self.compute, handle._owner
        errors = subsystem.declarations[self.of.name]
        slot = errors.slot(subsystem)

        def computed(state: Any) -> Any:
            values: Any = compute(subsystem, state)
            if values is None:
                raise refused_none(str(handle))
            contents = state._contents
            rows = errors.stack(contents.realization.layout.subsystems[subsystem.index])[slot]
            matrix = converted(values, FLOAT, None, f"the values of {handle}")
            if matrix.shape != (rows.count, contents.size("u", None)):
                raise ShapeError(
                    f"{handle}: its computation returned a matrix of another shape",
                    f"shape {(rows.count, contents.size('u', None))}: errors by all u",
                    f"shape {matrix.shape}",
                    "give a row for each error, and a column for each u of the whole State",
                )
            return matrix

        return computed

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Whether that are errors."""
        return isinstance(declared, ErrorDeclaration)


def _errors(
    what: str, kinds: tuple[VectorKind, ...], size: Size, prerequisites: Prerequisites | None
) -> Callable[[Compute], ErrorDeclaration]:
    if not callable(size):
        size = check_count(size, 0, f"{what}(size=...)")
    named = check_prerequisites(prerequisites, what)

    def declare(compute: Compute) -> ErrorDeclaration:
        return ErrorDeclaration(check_compute(compute, what), kinds, size, named)

    return declare


def position_error(
    *, size: Size = 1, prerequisites: Prerequisites | None = None
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of position, by the function ``(self, state)`` that computes them.

    Each has a row in qerr, uerr and udoterr. Realizing Position computes them.

    Parameters
    ----------
    size : int or callable
        How many; or a function ``(self, state)``, called with the State at Topology whenever
        Model is realized.
    prerequisites : tuple or callable, optional
        What they depend on, as for `cached`. The default is all of stage Position.

    Raises
    ------
    InvalidCountError, PrerequisitesError
    """
    return _errors("position_error", (QERR, UERR, UDOTERR), size, prerequisites)


def velocity_error(
    *, size: Size = 1, prerequisites: Prerequisites | None = None
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of velocity, as `position_error` does: rows in uerr and udoterr."""
    return _errors("velocity_error", (UERR, UDOTERR), size, prerequisites)


def acceleration_error(
    *, size: Size = 1, prerequisites: Prerequisites | None = None
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of acceleration, as `position_error` does: rows in udoterr."""
    return _errors("acceleration_error", (UDOTERR,), size, prerequisites)
