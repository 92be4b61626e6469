"""Declared errors of constraints: rows of qerr, uerr and udoterr, and what belongs to them.

::

    @position_error(size=1)           allocates a row in qerr, uerr and udoterr
    def rod(self, state): ...         computed by Position, goes to qerr

    @rod.velocity
    def rod_rate(self, state): ...    computed by Velocity, goes to the same row of uerr

    @rod.jacobian                     its derivatives by u, computed when it is read
    @rod.acceleration                 computed by Acceleration, goes to the same row of udoterr
    @rod.bias                         the same where udot is zero, computed when it is read

A constraint has a slot in the stack of each of its levels, in the order of declaration::

    slots of qerr      rod, stop, |quaternion| = 1
    slots of uerr      slip, rod, stop
    slots of udoterr   slip, rod, stop, push

Derivatives for which no function is declared are declared with the class, under names that no
attribute can have::

    rod            declared                 qerr
    rod.velocity   d rod / dt               uerr       along qdot = N u, and time
    rod.acceleration                        udoterr    Jacobian @ udot + bias, if both are declared;
                   d rod.velocity / dt                 along qdot, udot and time, if that is;
                   d^2 rod / dt^2                      else along qdot, qdotdot and time

Their rows stay NaN where qdot or udot is not known: N is not declared, or nothing computes udot.
A Jacobian has a row for each error, and a column for each u (or q) of the State. Its function
returns a dense or sparse matrix, or blocks by handles of variables, all else being zero::

    {self.tip_speed: [[x, y]], other.u: block}

The table of all rows of a State is in `rows`, the Jacobian of all constraints in `jacobians`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.checks import require_count
from stagecache.errors import DeclarationError, ShapeError, short_repr
from stagecache.numerics.matrices import Matrix, csr_of, floats_of, is_sparse, read_only
from stagecache.state.allocation import Attempt, allocate_errors
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    Vector,
)
from stagecache.state.items.layout import Rows, SubsystemLayout, resize
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import QERR, UDOTERR, UERR, VectorKind
from stagecache.system.declare.computations import AbstractComputation, check_compute, decorator
from stagecache.system.declare.declaration import AbstractDeclaration, Prerequisites
from stagecache.system.declare.enabling import Enabling, check_enabling, is_enabled
from stagecache.system.declare.rows import AbstractAllocatedRows, AbstractRows, Compute, Size
from stagecache.system.motion.differences import (
    by_differences,
    derivative_along,
    known_qdot,
    known_qdotdot,
    second_derivative_along,
)

Blocks = Mapping[AbstractContinuousVariable, ArrayLike]
JacobianFunction = Callable[[Any, Any], Matrix | Blocks]

Parts = Callable[[Any, Any], Iterable[tuple[CacheEntry[Vector], int]]]
"""A function ``(self, state)``: an entry for each constraint, with the number of its rows."""

LEVELS: Final = {"qerr": "position", "uerr": "velocity", "udoterr": "acceleration"}
"""Names of levels, by vector of errors."""

MANY_COLUMNS = 100
"""A Jacobian that is given in blocks is stored sparse if it has more columns."""


class AbstractErrors(AbstractRows):
    """Declared errors of one level."""

    kind: VectorKind

    @property
    def decorator(self) -> str:
        """Name of the decorator of its level."""
        return f"{LEVELS[self.kind.name]}_error"

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """Return the rows of a subsystem's errors of that level."""
        return layout.rows[self.kind.name]

    def _fill(self, handle: Any) -> Callable[[Any], None] | None:
        x, slot, kind = handle._owner.index, self.slot(handle._owner), self.kind
        name = kind.name

        def fill(state: Any) -> None:
            contents = state._contents
            rows = contents.realization.layout.subsystems[x].rows[name][slot]
            if rows.count:
                contents.pools.write_rows(kind, x, rows.start, handle(state))

        return fill


# ---------------------------------------------------------------------- errors


@final
class ErrorDeclaration(AbstractErrors, AbstractAllocatedRows):
    """Declared errors of a constraint, from its first level on, which allocate their rows.

    Attributes
    ----------
    kinds : tuple of VectorKind
        The levels: qerr, uerr and udoterr for a position error, ...; qerr alone for conditions that
        only normalize q.
    own_jacobian : callable or None
        The function of the Jacobian of these, if it is not declared by ``@name.jacobian``.
    parts : callable or None
        The function of the constraints that have its rows, if these are several.
    """

    def __init__(
        self,
        compute: Compute,
        kinds: tuple[VectorKind, ...],
        size: Size,
        prerequisites: Prerequisites | None,
        enabled: Enabling = None,
        own_jacobian: JacobianFunction | None = None,
        parts: Parts | None = None,
    ) -> None:
        self.kinds = kinds
        self.kind = kinds[0]
        super().__init__(compute, prerequisites, self.kind.read, self.kind.read)
        self.size = size
        self._named = prerequisites
        self.enabled = enabled
        self.own_jacobian = own_jacobian
        self.parts = parts

    @property
    def is_normalization(self) -> bool:
        """True if these are conditions that only normalize q."""
        return self.kinds == (QERR,)

    @property
    def decorator(self) -> str:
        """Name of the decorator that declares it."""
        return "normalization_error" if self.is_normalization else super().decorator

    def slot(self, subsystem: Any) -> int:
        """Return the slot of these rows at the first of its levels."""
        return self.slot_in(self.kind, subsystem)

    def slot_in(self, kind: VectorKind, subsystem: Any) -> int:
        """Return the slot of these rows at a level."""
        return self._slot_among(
            subsystem, lambda d: isinstance(d, ErrorDeclaration) and kind in d.kinds
        )

    def _allocate_rows(self, what: Attempt, count: int | None) -> None:
        for kind in self.kinds:
            allocate_errors(what, kind.name, count)

    def _resize(self, layout: SubsystemLayout, subsystem: Any, count: int) -> None:
        for kind in self.kinds:
            resize(layout.rows[kind.name], self.slot_in(kind, subsystem), count)

    def companions(
        self, found: Mapping[str, AbstractDeclaration[Any]]
    ) -> Iterable[AbstractDeclaration[Any]]:
        """Return the derivatives for which no function is declared.

        Raises
        ------
        DeclarationError
            Conditions that only normalize have no Jacobian.
        """
        roles = roles_of(self, found)
        if not self.is_normalization:
            return [
                ImpliedDerivative(self, kind, roles)
                for kind in self.kinds[1:]
                if LEVELS[kind.name] not in roles
            ]
        if "jacobian" in roles:
            return ()
        if self.own_jacobian is None:
            raise DeclarationError(
                f"{self}: has no Jacobian",
                "the derivatives of the conditions by q",
                "a normalization_error without @name.jacobian",
                f"write @{self.name}.jacobian on a function that returns them, shape (size, nq)",
            )
        jacobian = JacobianDeclaration(self, self.own_jacobian, self._named)
        jacobian.name = f"{self.name}.jacobian"
        jacobian.source = self.source
        return (jacobian,)

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
        return self._derivative(compute, UERR, prerequisites)

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
        return self._derivative(compute, UDOTERR, prerequisites)

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
        return decorator(
            f"@{self.name}.bias", lambda f, p: BiasDeclaration(self, f, p), prerequisites, compute
        )

    @overload
    def jacobian(self, compute: JacobianFunction) -> "JacobianDeclaration": ...
    @overload
    def jacobian(
        self, *, prerequisites: Prerequisites
    ) -> Callable[[JacobianFunction], "JacobianDeclaration"]: ...
    def jacobian(
        self,
        compute: JacobianFunction | None = None,
        *,
        prerequisites: Prerequisites | None = None,
    ) -> Any:
        """Decorate the function ``(self, state)`` that computes the Jacobian.

        The Jacobian is the matrix of the derivatives of the velocity errors by u; of acceleration
        errors, if they are the first level, by udot; of conditions that only normalize, by q. Shape
        (size, nu) or (size, nq), with the numbers of the whole System: an array, or a sparse array
        of SciPy. Instead it may be a dict that has blocks of shape (size, n) by handles of u, or
        q: a declared variable, ``self.u``, or handles of other subsystems; all else is zero. A
        block of one row or column may be a vector.
        """
        return decorator(
            f"@{self.name}.jacobian",
            lambda f, p: JacobianDeclaration(self, f, p),
            prerequisites,
            compute,
        )

    def _derivative(
        self, compute: Compute | None, kind: VectorKind, prerequisites: Prerequisites | None
    ) -> Any:
        what = f"@{self.name}.{LEVELS[kind.name]}"
        if kind not in self.kinds[1:]:
            raise DeclarationError(
                f"{what}: not a derivative of these errors",
                "one of " + ", ".join(k.name for k in self.kinds[1:]),
                kind.name,
                f"declare a function for a level above {self.kind.name}",
            )
        return decorator(
            what, lambda f, p: DerivativeDeclaration(self, f, kind, p), prerequisites, compute
        )


def entry_of(subsystem: Any, name: str) -> CacheEntry[Any]:
    """Return the handle of the entry that a class declares under a name, with or without a dot."""
    handle: AbstractHandle = type(subsystem).declarations[name].bound(subsystem)
    assert isinstance(handle, CacheEntry)
    return handle


def roles_of(
    errors: ErrorDeclaration, found: Mapping[str, AbstractDeclaration[Any]]
) -> dict[str, AbstractDeclaration[Any]]:
    """Return the declarations that belong to errors, by role, among those of their class."""
    return {
        declared.role: declared
        for declared in found.values()
        if declared.of is not None and declared.of.name == errors.name
    }


def errors_of(declared: AbstractDeclaration[Any], subsystem: Any) -> ErrorDeclaration:
    """Return the errors to which a declaration belongs, in the concrete class."""
    assert declared.of is not None
    errors = type(subsystem).declarations[declared.of.name]
    assert isinstance(errors, ErrorDeclaration)
    return errors


# ---------------------------------------------------------------------- derivatives


class AbstractCompanion(AbstractErrors):
    """A declared computation for each row of errors that another declaration allocates."""

    def __init__(
        self,
        of: ErrorDeclaration,
        compute: Compute,
        kind: VectorKind,
        prerequisites: Prerequisites | None,
    ) -> None:
        super().__init__(compute, prerequisites, kind.read, kind.read)
        self.of: ErrorDeclaration = of
        self.kind = kind
        self.role = LEVELS[kind.name]

    def allocated(self, subsystem: Any) -> ErrorDeclaration:
        """Return the errors to which it belongs, in the concrete class."""
        return errors_of(self, subsystem)

    def slot(self, subsystem: Any) -> int:
        """Return the slot of the errors at the level."""
        return self.allocated(subsystem).slot_in(self.kind, subsystem)

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether that declaration has rows of this level, above its first."""
        return isinstance(declared, ErrorDeclaration) and self.kind in declared.kinds[1:]


@final
class DerivativeDeclaration(AbstractCompanion):
    """Declared time derivatives of errors, in the rows that these allocated."""


@final
class BiasDeclaration(AbstractCompanion):
    """The declared acceleration errors at udot = 0; they go to no vector."""

    decorator = "bias"

    def __init__(
        self, of: ErrorDeclaration, compute: Compute, prerequisites: Prerequisites | None
    ) -> None:
        super().__init__(of, compute, UDOTERR, prerequisites)
        self.role = "bias"
        self.computed_by = Stage.INFINITY
        self.available_from = Stage.VELOCITY if self.prerequisites is None else None

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether these are errors with a row of udoterr, their first or a later one."""
        return isinstance(declared, ErrorDeclaration) and UDOTERR in declared.kinds

    def _fill(self, handle: Any) -> None:  # noqa: ARG002  # its values go nowhere
        return None


@final
class ImpliedDerivative(AbstractCompanion):
    """A time derivative of declared errors that no declared function computes.

    Attributes
    ----------
    is_second : bool
        True if it is the second derivative of these.
    linear : tuple of str
        The declarations of the Jacobian and the bias, if it is computed from these; else empty.
    group : str
        Derivatives of one group, of all subsystems, are computed together; "" if alone.
    below : str
        The name of the declaration that it differentiates.
    """

    group = ""

    def __init__(
        self, of: ErrorDeclaration, kind: VectorKind, roles: Mapping[str, AbstractDeclaration[Any]]
    ) -> None:
        super().__init__(of, self._compute, kind, None)
        self.name = f"{of.name}.{self.role}"
        self.source = of.source
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
        members = self._members(system)
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

    def _members(self, system: Any) -> list[tuple[CacheEntry[Any], CacheEntry[Any]]]:
        """Return the entries of its group, each with the entry that it differentiates."""
        return [
            (entry_of(subsystem, declared.name), entry_of(subsystem, declared.below))
            for subsystem in system.subsystems
            for declared in type(subsystem).declarations.values()
            if isinstance(declared, ImpliedDerivative) and declared.group == self.group
        ]


# ---------------------------------------------------------------------- Jacobians


@final
class JacobianDeclaration(AbstractComputation[Matrix]):
    """The declared Jacobian of errors: a cache entry, available from Position on by default.

    Attributes
    ----------
    by : str
        "u"; of conditions that only normalize q, "q".
    """

    role = "jacobian"

    def __init__(
        self,
        of: ErrorDeclaration,
        compute: JacobianFunction,
        prerequisites: Prerequisites | None,
    ) -> None:
        super().__init__(compute, prerequisites, default=Stage.POSITION)
        self.of: ErrorDeclaration = of
        self.by = "q" if of.is_normalization else "u"

    def _function(self, handle: AbstractHandle) -> Callable[[Any], Matrix]:
        compute, subsystem = self.compute, handle._owner
        errors = errors_of(self, subsystem)
        slot, x = errors.slot(subsystem), subsystem.index

        def computed(state: Any) -> Matrix:
            contents = state._contents
            columns = len(contents.pools.whole[self.by])
            if errors.enabled is not None and not is_enabled(errors.enabled, subsystem, state):
                return np.zeros((0, columns))
            values: Any = compute(subsystem, state)
            rows = errors.stack(contents.realization.layout.subsystems[x])[slot]
            shape = (rows.count, columns)
            if isinstance(values, Mapping):
                return _of_blocks(values, shape, self.by, state, handle)
            return _matrix(values, shape, handle, None, self.by)

        return computed

    def _lowest(self, subsystem: Any) -> Stage:
        return max(Stage.MODEL, errors_of(self, subsystem).known_from)  # which decides on columns

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether these are errors whose Jacobian is by the same variables."""
        return isinstance(declared, ErrorDeclaration) and declared.is_normalization == (
            self.by == "q"
        )


def _matrix(
    values: Any, shape: tuple[int, int], what: object, variable: object, kind: str = ""
) -> Matrix:
    """Return values as a matrix of floats, sparse if they are: by a variable, or all of a kind."""
    if is_sparse(values):
        found: Matrix = csr_of(values, what)
    else:
        found = floats_of(values, what)
    if found.shape != shape:
        by, each = f"all {kind}", f"{kind} of the whole State; or a dict of blocks by handles"
        if variable is not None:
            what = f"{what} by {variable}"
            by, each = f"the numbers of {variable}", "of these numbers"
        raise ShapeError(
            f"{what}: its computation returned a matrix of another shape",
            f"shape {shape}: errors by {by}",
            f"shape {found.shape}",
            f"give a row for each error, and a column for each {each}",
        )
    return found


def _of_blocks(
    blocks: Mapping[Any, Any], shape: tuple[int, int], by: str, state: Any, what: object
) -> Matrix:
    """Return the matrix that has these blocks, and zeros elsewhere."""
    taken: NDArray[np.bool_] = np.zeros(shape[1], dtype=np.bool_)
    placed: list[tuple[slice, Matrix]] = []
    start = state._contents.pools.start(by, None)
    for variable, values in blocks.items():
        if not isinstance(variable, AbstractContinuousVariable) or variable.kind != by:
            raise DeclarationError(
                f"{what}: its computation returned a block by something that is not a {by}",
                f"handles of {by}, as in {{self.{by}: block}}",
                short_repr(variable),
                f"name variables that are declared by {by}_variable, or self.{by}",
            )
        place = state._contents.place(variable)
        columns = slice(place.start - start, place.stop - start)
        if taken[columns].any():
            raise DeclarationError(
                f"{what}: its computation returned two blocks for the same {by}",
                "one block for each",
                f"another one that has {variable}",
                "add the two, or name parts that do not overlap",
            )
        taken[columns] = True
        wanted = (shape[0], columns.stop - columns.start)
        placed.append((columns, _block(values, wanted, variable, what)))
    if shape[1] <= MANY_COLUMNS:
        dense: Vector = np.zeros(shape)
        for columns, block in placed:
            dense[:, columns] = block.toarray() if is_sparse(block) else block
        return dense
    return _joined(placed, shape, what)


def _block(values: Any, shape: tuple[int, int], variable: object, what: object) -> Matrix:
    """One block; of one row or one column, it may be given as a vector."""
    if not is_sparse(values):
        array = floats_of(values, what)
        if array.ndim < len(shape) and 1 in shape and array.size == shape[0] * shape[1]:
            array = array.reshape(shape)
        values = array
    return _matrix(values, shape, what, variable)


def _joined(placed: list[tuple[slice, Matrix]], shape: tuple[int, int], what: object) -> Matrix:
    """Return the sparse matrix of blocks, each with its columns. Cost O(numbers in them)."""
    from scipy.sparse import coo_array, csr_array  # noqa: PLC0415  # it takes a while

    if not any(is_sparse(block) for _, block in placed):
        placed = sorted(placed, key=lambda one: one[0].start)
        ranges = [np.arange(there.start, there.stop) for there, _ in placed]
        columns = np.concatenate([np.empty(0, np.intp), *ranges])
        data = np.hstack([np.empty((shape[0], 0)), *[block for _, block in placed]])
        starts = np.arange(shape[0] + 1) * len(columns)
        return read_only(csr_array((data.ravel(), np.tile(columns, shape[0]), starts), shape=shape))
    parts = [coo_array(block) for _, block in placed]
    begins = [columns.start for columns, _ in placed]
    data = np.concatenate([np.empty(0), *[part.data for part in parts]])
    rows = np.concatenate([np.empty(0, np.intp), *[part.row for part in parts]])
    columns = np.concatenate(
        [np.empty(0, np.intp), *[part.col + at for part, at in zip(parts, begins, strict=True)]]
    )
    return csr_of(coo_array((data, (rows, columns)), shape=shape), what)


# ---------------------------------------------------------------------- decorators


def _errors(
    what: str,
    kinds: tuple[VectorKind, ...],
    size: Size,
    prerequisites: Prerequisites | None,
    enabled: Enabling,
    jacobian: JacobianFunction | None = None,
    parts: Parts | None = None,
) -> Callable[[Compute], ErrorDeclaration]:
    if not callable(size):
        size = require_count(size, 0, f"{what}(size=...)")
    if parts is not None:
        check_compute(parts, f"{what}(parts=...)")
    switch = check_enabling(enabled, what)
    return decorator(
        what,
        lambda f, p: ErrorDeclaration(f, kinds, size, p, switch, jacobian, parts),
        prerequisites,
    )


def position_error(
    *,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    enabled: Enabling = None,
    parts: Parts | None = None,
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of position, by the function ``(self, state)`` that computes them.

    Each has a row in qerr, uerr and udoterr. Realizing Position computes them. For ``name``,
    ``@name.velocity``, ``@name.jacobian``, ``@name.bias`` and ``@name.acceleration`` declare the
    derivatives; those that are missing are computed by differences, and are NaN where the rate of
    a q or u is unknown. By default, a Jacobian depends on stage Position, and a bias on Velocity.
    Rows that a hook allocates come after declared rows; if the number of declared rows varies,
    allocate in `Subsystem.realize_instance`.

    Parameters
    ----------
    size : int or callable
        Their number; or a function ``(self, state)``, called with the State at Model whenever
        Instance is realized: it may read parameters and modeling options.
    prerequisites : tuple or callable, optional
        Same as for `cached`, beside stage Instance. The default is all of stage
        Position.
    enabled : declaration, optional
        A parameter or modeling option of the same class that holds a bool. In States where it is
        False there are no such rows, and no function of the constraint is called.
    parts : callable, optional
        For a subsystem that computes many constraints together: a function ``(self, state)`` that
        returns for each, in the order of the rows, an entry whose name these have in messages, and
        their number.

    Raises
    ------
    OutOfRangeError, WrongTypeError, DeclarationError, ComputeSignatureError
    """
    kinds = (QERR, UERR, UDOTERR)
    return _errors("position_error", kinds, size, prerequisites, enabled, parts=parts)


def velocity_error(
    *,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    enabled: Enabling = None,
    parts: Parts | None = None,
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of velocity, as `position_error` does: rows in uerr and udoterr.

    Raises
    ------
    DeclarationError, OutOfRangeError, WrongTypeError, ComputeSignatureError
    """
    return _errors("velocity_error", (UERR, UDOTERR), size, prerequisites, enabled, parts=parts)


def acceleration_error(
    *,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    enabled: Enabling = None,
    parts: Parts | None = None,
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare errors of acceleration, as `position_error` does: rows in udoterr.

    Raises
    ------
    DeclarationError, OutOfRangeError, WrongTypeError, ComputeSignatureError
    """
    return _errors("acceleration_error", (UDOTERR,), size, prerequisites, enabled, parts=parts)


def normalization_error(
    *,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    enabled: Enabling = None,
    jacobian: JacobianFunction | None = None,
) -> Callable[[Compute], ErrorDeclaration]:
    """Declare conditions that only normalize q, by the function ``(self, state)`` of their errors.

    Such a condition, as ``|quaternion| = 1``, restricts no motion: its gradient is orthogonal to
    the range of N in qdot = N u, so it keeps its value whatever u is. It has rows in qerr, but no
    rows in uerr and udoterr, and no multiplier. Realizing Position computes it; projection
    satisfies it by changing q as no u changes it. Its Jacobian by q is needed:
    ``@name.jacobian`` decorates the function.

    Parameters
    ----------
    size, prerequisites, enabled
        Same as for `position_error`.
    jacobian : callable, optional
        The function ``(self, state)`` of the Jacobian, for declarations that are made by a function
        and not in the body of a class. It has the same prerequisites.

    Raises
    ------
    ComputeSignatureError
    OutOfRangeError, WrongTypeError, DeclarationError, ComputeSignatureError
    """
    what = "normalization_error"
    if jacobian is not None:
        jacobian = check_compute(jacobian, f"{what}(jacobian=...)")
    return _errors(what, (QERR,), size, prerequisites, enabled, jacobian)
