r"""Constraints of one class on coordinates of joints, computed together.

::

    q, members      q, members        u       of the matter, and of the batch
        |               |             |
      where        numbers_of_n -> rates, drift
      /    \             |            |
  errors  local_jacobian-+------------+
                \        |            |
                 jacobian   error_rates, error_bias

A coordinate x is one q of a joint, in the present form of orientations. Its rate is a row of N,
times the u of the joint; where a mobilizer has no N, it is just u. For a class that `has_time`, the
time is the last x; its rate is 1.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from stagecache.errors import ConstraintError, KinematicsError
from stagecache.multibody.constraints.batch import DENSE, AbstractPositionBatch, Members
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.tree.joints import Joint
from stagecache.multibody.tree.layout import Indices, TreeLayout
from stagecache.state.state import State
from stagecache.system.declare.cached import cached


@final
class Coordinates(Members):
    """Constraints on coordinates that are enabled, and the places of these in a layout.

    N is kept as numbers with their places, for coordinates of joints whose N is 1 just ones.

    Attributes
    ----------
    index : (k, n) ndarray of int
        By constraint, its q.
    related : list of (int, Joint, int, slice)
        Coordinates whose rows of N vary: each with its joint, the number of the q in it, and the
        place of the row among the numbers.
    rows, columns : ndarray of int
        Of the numbers of N: coordinates, and u.
    """

    def __init__(self, constraints: Sequence[Any], layout: TreeLayout) -> None:
        count = len(constraints[0].coordinates) if constraints else 1
        self.has_time = bool(constraints and constraints[0].has_time)
        super().__init__(constraints, count + self.has_time)
        index: list[int] = []
        rows: list[int] = []
        columns: list[int] = []
        self.related: list[tuple[int, Joint, int, slice]] = []
        related = set(map(id, layout.related))
        for constraint in constraints:
            for coordinate in constraint.coordinates:
                joint = layout.joints[layout.rows[coordinate.body.index]]
                i = coordinate._index_of_q(uses_euler_angles=layout.use_euler_angles)
                _require_coordinate(constraint, joint, i)
                own = [joint.u.start + i]
                if id(joint) in related:
                    own = [*range(joint.u.start, joint.u.stop)]
                    place = slice(len(columns), len(columns) + len(own))
                    self.related.append((len(index), joint, i, place))
                rows += [len(index)] * len(own)
                columns += own
                index.append(joint.q.start + i)
        self.index: Indices = np.array(index, np.intp).reshape(len(constraints), count)
        self.rows: Indices = np.array(rows, np.intp)
        self.columns: Indices = np.array(columns, np.intp)
        self.nu = layout.nu

    def index_of(self, constraint: Any) -> Indices:
        """Return the q of a constraint that is enabled, (n,)."""
        return self.index[self.number_of(constraint)]

    def with_time(self, values: Array, time: float) -> Array:
        """Return values by coordinate, (k, n), with one for the time after each row, if any."""
        return np.insert(values, values.shape[1], time, axis=1) if self.has_time else values

    def numbers_of_n(self, q: Array) -> Array:
        """Return the rows of N of the coordinates."""
        found = np.ones(len(self.rows))
        for _, joint, i, place in self.related:
            found[place] = _rows_of_n(joint, q[joint.q])[i]
        return found

    def rates(self, numbers: Array, u: Array) -> Array:
        """Return N u of the coordinates, (k, n)."""
        found = np.zeros(self.index.size)
        np.add.at(found, self.rows, numbers * u[self.columns])
        return found.reshape(self.index.shape)

    def jacobian(self, local: Array, numbers: Array) -> Any:
        """Return the derivatives by u (k m, nu), of those by coordinates, (k, m, n)."""
        n = self.index.shape[1]
        which, coordinate = self.rows // n, self.rows % n
        values = local[which, :, coordinate] * numbers[:, None]
        return scattered(values, which, self.columns, (*local.shape[:2], self.nu))


def scattered(values: Array, which: Indices, columns: Indices, shape: tuple[int, ...]) -> Any:
    """Return the matrix (k m, nu) of derivatives by u, dense or sparse; what coincides is added.

    Parameters
    ----------
    values : (n, m) float
        Derivatives of the errors of a constraint by one u.
    which, columns : (n,) int
        The constraints, and the u.
    shape : (k, m, nu) int
    """
    k, m, nu = shape
    rows = which[:, None] * m + np.arange(m)
    columns = np.broadcast_to(columns[:, None], rows.shape)
    if nu <= DENSE:
        found = np.zeros((k * m, nu))
        np.add.at(found, (rows, columns), values)
        return found
    from scipy.sparse import coo_array, csr_array  # noqa: PLC0415  # it takes a while

    places = (rows.ravel(), columns.ravel())
    return csr_array(coo_array((values.ravel(), places), shape=(k * m, nu)))


@final
class CoordinateBatch(AbstractPositionBatch):
    """Constraints of one class on as many coordinates."""

    def calc_members(self, enabled: Sequence[Any], layout: TreeLayout) -> Coordinates:
        """Return what evaluates some of the constraints."""
        return Coordinates(enabled, layout)

    @cached(
        prerequisites=lambda self: (
            *(self.members, self.matter.q),
            *((self.time,) if self.constraints[0].has_time else ()),
        )
    )
    def where(self, state: State) -> Array:
        """The coordinates x, (k, n)."""
        members = self.members(state)
        found: Array = self.matter.q(state)[members.index]
        return members.with_time(found, state.time) if members.has_time else found

    @cached(prerequisites=lambda self: (self.members, self.matter.q))
    def numbers_of_n(self, state: State) -> Array:
        """The rows of N of the coordinates: derivatives of their rates by u."""
        found: Array = self.members(state).numbers_of_n(self.matter.q(state))
        return found

    @cached(prerequisites=lambda self: (self.members, self.numbers_of_n, self.matter.u))
    def rates(self, state: State) -> Array:
        """The rates of x, (k, n)."""
        members, numbers = self.members(state), self.numbers_of_n(state)
        found: Array = members.with_time(members.rates(numbers, self.matter.u(state)), 1.0)
        return found

    @cached(prerequisites=lambda self: (self.members, self.matter.q, self.matter.u))
    def drift(self, state: State) -> Array:
        """The derivatives of the rates where udot is 0: the change of N, times u."""
        members, q, u = self.members(state), self.matter.q(state), self.matter.u(state)
        found = np.zeros(members.index.shape)
        for at, joint, i, _ in members.related:
            own = u[joint.u]
            qdot = _rows_of_n(joint, q[joint.q]) @ own
            rate = joint.mobilizer.n_rate(q[joint.q].tolist(), qdot.tolist())
            if rate is not None:
                found.flat[at] = np.array(rate[i]) @ own
        return np.asarray(members.with_time(found, 0.0))

    @property
    def needs_of_jacobian(self) -> tuple[Any, ...]:
        """The entries that `calc_jacobian` reads."""
        return self.members, self.local_jacobian, self.numbers_of_n

    def calc_jacobian(self, state: State) -> Any:
        """Return the derivatives by u, (k m, nu)."""
        return self.members(state).jacobian(self.local_jacobian(state), self.numbers_of_n(state))


def _require_coordinate(constraint: Any, joint: Joint, i: int) -> None:
    """Refuse a coordinate that a joint does not have in this form of orientations."""
    if i >= joint.mobilizer.nq:
        raise ConstraintError(
            f"{constraint}: ties a coordinate that {joint.body} does not have in this State",
            f"one of its {joint.mobilizer.nq} q",
            f"q[{i}]",
            f"with {constraint.matter.name}.use_euler_angles, disable {constraint.name}, or tie "
            "another q",
        )


def _rows_of_n(joint: Joint, q: Array) -> Array:
    """Return N of one joint, (nq, nu)."""
    try:
        rows = joint.mobilizer.n(q.tolist())
    except ZeroDivisionError:
        raise KinematicsError(
            f"{joint.body}: its {joint.mobilizer!r} is where N is singular",
            "Euler angles whose second is not pi/2",
            f"q = {q.tolist()}",
            "use quaternions, or give other q",
        ) from None
    return np.eye(joint.mobilizer.nu) if rows is None else np.array(rows)
