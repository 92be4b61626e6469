"""Declared Jacobians of constraints: a row for each error, a column for each u (or q) of the State.

What a function returns may be dense, sparse, or a dict of blocks by handles of variables::

    {self.tip_speed: [[x, y]], other.u: block}        what is not named is zero
"""

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.errors import DeclarationError, ShapeError, short_repr
from stagecache.numerics.matrices import Matrix, csr_of, floats_of, is_sparse, read_only
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, Vector
from stagecache.state.stage import Stage
from stagecache.system.constraints.error_rows import AbstractErrorRows
from stagecache.system.declare.computations import AbstractComputation, check_compute
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    Prerequisites,
    check_prerequisites,
)
from stagecache.system.declare.enabling import is_enabled

Blocks = Mapping[AbstractContinuousVariable, ArrayLike]
JacobianFunction = Callable[[Any, Any], Matrix | Blocks]
MANY_COLUMNS = 100
"""A Jacobian that is given in blocks is stored sparse if it has more columns."""


@final
class JacobianDeclaration(AbstractComputation[Matrix]):
    """The declared Jacobian of errors: a cache entry, from Position on if nothing else is said.

    Attributes
    ----------
    of : AbstractErrorRows
        The errors.
    by : str
        "u"; of conditions that only normalize q, "q".
    """

    role = "jacobian"

    def __init__(
        self,
        of: AbstractErrorRows,
        compute: JacobianFunction,
        prerequisites: Prerequisites | None,
        by: str = "u",
    ) -> None:
        self.of: AbstractErrorRows = of
        self.compute = compute
        self.prerequisites = prerequisites
        self.by = by
        self.available_from = Stage.POSITION if prerequisites is None else None
        self.computed_by = Stage.INFINITY

    def _function(self, handle: AbstractHandle) -> Callable[[Any], Matrix]:
        compute, subsystem = self.compute, handle._owner
        errors = self._errors(subsystem)
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

    def _errors(self, subsystem: Any) -> AbstractErrorRows:
        """Return the errors to which it belongs, in the concrete class."""
        errors = type(subsystem).declarations[self.of.name]
        assert isinstance(errors, AbstractErrorRows)
        return errors

    def _lowest(self, subsystem: Any) -> Stage:
        return max(Stage.MODEL, self._errors(subsystem).known_from)  # which decides on columns

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether these are errors whose Jacobian is by the same variables."""
        return isinstance(declared, AbstractErrorRows) and self.by == (
            "u" if declared.kinds[-1].name == "udoterr" else "q"
        )


def jacobian_decorator(
    errors: AbstractErrorRows,
    compute: JacobianFunction | None,
    prerequisites: Prerequisites | None,
    by: str = "u",
) -> Any:
    """Return what ``errors.jacobian`` is, with a function or without."""
    what = f"@{errors.name}.jacobian"
    named = check_prerequisites(prerequisites, what)

    def declare(function: JacobianFunction) -> JacobianDeclaration:
        return JacobianDeclaration(errors, check_compute(function, what), named, by)

    return declare if compute is None else declare(compute)


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
