r"""Sizes of columns; steps are relative to them.

::

    q, u, z               max(1 / weight, |x|)   a weight is 1 / unit change, and 1 by default
    time, discrete        max(1, |x|)
    parameter             |x|                    1 if it is 0
      an array            |x| of each number     or of the largest number, if x is 0
    given by the caller   as given

For a coordinate, a control or the time, zero is an ordinary value: a step in proportion to 1e-12
would drown in rounding. A parameter, such as a capacity of 1e-9 F, is itself a size: a step in
proportion to 1 would exceed it.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from stagecache.checks import require_positive, type_text
from stagecache.errors import NodeKindError, OutOfRangeError, WrongTypeError
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.linear.columns import Columns, Input
from stagecache.study.linear.items import handles_of
from stagecache.study.methods.tolerances import tolerances_of
from stagecache.system.core.system import System

EPSILON: Final = float(np.finfo(float).eps)

SMALLEST: Final = float(np.finfo(float).tiny) / EPSILON
"""The smallest size: steps in proportion to it keep all their digits."""

Sizes = Mapping[Any, float]
"""Sizes by item; a family stands for its members. Any, since keys of mappings are invariant."""


def sizes_of(
    system: System, state: State, columns: Columns, given: object, paths: NodePaths
) -> Vector:
    """Return the size of each column.

    Parameters
    ----------
    system : System
    state : State
        Realized to Position.
    columns : Columns
    given : mapping
        Sizes of some items, as `linearize` takes them.
    paths : NodePaths

    Raises
    ------
    WrongTypeError, UnknownPathError, NodeKindError, NotANumberError, OutOfRangeError
    KinematicsError
        Weights of u are not 1, and it is not known how q follow from u.
    """
    sizes = np.maximum(1.0, np.abs(columns.values))
    unit_changes = 10 * tolerances_of(system, state, 1.0, use_infinity_norm=False).atol
    sizes[: columns.ny] = np.maximum(unit_changes, np.abs(columns.values[: columns.ny]))
    for each in columns.inputs:
        if each.stage <= Stage.INSTANCE:
            sizes[each.start : each.columns.stop] = _of_parameter(each)
    if not isinstance(given, Mapping):
        raise WrongTypeError(
            "linearize(sizes=...): not a mapping",
            "sizes by handle or path, as {'plate.gap': 1e-6}",
            type_text(given),
            "leave it out, or write a dict",
        )
    for item, size in given.items():
        number: float | None = None
        what = "linearize(sizes=...)"
        for handle in handles_of(state._contents, (item,), paths, what, are_moved=True):
            path = paths.of[handle._node]
            if number is None:
                number = require_positive(size, f"linearize(sizes=...): the size of {path}")
            sizes[_columns_of(columns, handle, path)] = number
    return sizes


def require_steps(columns: Columns, widths: Vector) -> None:
    """Refuse steps that are lost in rounding, or that are not finite.

    Raises
    ------
    OutOfRangeError
    """
    is_good = (widths > 0) & np.isfinite(widths)
    if not is_good.all():
        worst = int(np.argmin(is_good))
        raise OutOfRangeError(
            f"{columns.names[worst]}: the step is lost beside its value",
            "a step that changes the value, to a finite one",
            f"a step of {widths[worst]:g} at {columns.values[worst]:g}",
            "give another size in linearize(sizes=...), or another step",
        )


def _of_parameter(parameter: Input) -> Vector:
    """Return the sizes of the numbers of a parameter."""
    found: Vector = np.abs(parameter.value)
    largest = float(found.max(initial=0.0))
    if largest < SMALLEST:
        return np.ones(len(found))
    # A rounding residue such as cos(pi/2) beside numbers of order one is not a size.
    found[found <= max(SMALLEST, EPSILON * largest)] = largest
    return found


def _columns_of(columns: Columns, handle: Any, path: str) -> slice:
    found = columns.of(handle)
    if not found and not columns.is_column(handle):
        raise NodeKindError(
            f"linearize(sizes=...): {path} is not moved",
            "q, u, z, or an input",
            "an item that is not an input",
            "name it in linearize(inputs=...) as well, or leave its size out",
        )
    return slice(found.start, found.stop)
