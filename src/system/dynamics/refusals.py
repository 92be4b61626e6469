"""Checks of declared dynamics in a State: rows that are not known, and u without mass."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stagecache.errors import MassMatrixError, NotANumberError
from stagecache.numerics.matrices import is_sparse
from stagecache.state.handles import Vector
from stagecache.system.constraints.rows import constraint_rows, row_names
from stagecache.system.dynamics.declarations import BoundForce

Index = NDArray[np.intp]


def check_rows(state: Any, g: Any, bias: Vector) -> None:
    """Refuse rows that are not known, or not finite."""
    numbers = np.isfinite(g if isinstance(g, np.ndarray) else g.data)
    if numbers.all() and np.isfinite(bias).all():
        return
    finite = np.isfinite(bias)
    if is_sparse(g):
        finite[np.repeat(np.arange(len(bias)), np.diff(g.indptr))[~numbers]] = False
    else:
        finite &= numbers.all(axis=1)
    row = int(np.argmin(finite))
    name = row_names(state, "udoterr")[row]
    by_hand = any(
        c.udoterr is not None and c.udoterr.start <= row < c.udoterr.stop and c.handle is None
        for c in constraint_rows(state)
    )
    raise NotANumberError(
        f"{name}: is not known as a condition on udot",
        "a Jacobian and a bias of finite numbers, for each row of udoterr",
        "rows that a hook has allocated" if by_hand else f"numbers that are not, in row {row}",
        "declare the constraint, for instance with @acceleration_error()"
        if by_hand
        else "look at its functions in that State: divisions by 0, or qdot that nobody computes",
    )


def check_massless(state: Any, g: Any, massless: Index) -> None:
    """Refuse constraints that act on u that have no mass and are not prescribed."""
    part = g[:, massless]
    rows, which = part.nonzero()
    if not len(rows):
        return
    row, u = int(rows[0]), int(massless[which[0]])
    raise MassMatrixError(
        f"{row_names(state, 'udoterr')[row]}: acts on a u that has no mass",
        "a mass matrix that covers each u that is in a constraint and not prescribed",
        f"{_name_of(state, u)}, which none covers",
        "declare @mass_matrix(...) for it in its subsystem; or prescribe it",
    )


def _name_of(state: Any, u: int) -> str:
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


def without_mass(force: BoundForce) -> MassMatrixError:
    """Return the error of a declared force on u some of which have no mass."""
    return MassMatrixError(
        f"{force.values}: is a force on a u that has no mass",
        "a mass matrix that covers each u on which forces act",
        ", ".join(map(str, force.u)),
        "declare @mass_matrix(...) for these u in the same subsystem",
    )
