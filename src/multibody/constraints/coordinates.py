r"""Constraints on coordinates of joints.

::

    q, members      q, members        u       of the matter, and of the batch
        |               |             |
      where        numbers_of_n -> rates, drift
      /    \             |            |
  errors  local_jacobian-+------------+
                \        |            |
                 jacobian   error_rates, error_bias

A coordinate x is one q of a joint, by its number. Its rate is a row of N, times the u of the joint;
where a mobilizer has no N, it is just u.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_callable, require_number, whole_number
from stagecache.errors import ConstraintError, KinematicsError, ShapeError, short_repr
from stagecache.multibody.constraints.batch import DENSE, AbstractBatch, Members
from stagecache.multibody.constraints.checks import checked_bodies, checked_result
from stagecache.multibody.constraints.constraint import AbstractConstraint, gives
from stagecache.multibody.constraints.derived import (
    bias_by_x,
    bias_by_x_of_jacobian,
    check_at,
    jacobian_by_x,
    require_equal,
)
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.multibody.tree.joints import Joint
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.state.state import State
from stagecache.system.declare.cached import cached


class AbstractCoordinateConstraint(AbstractConstraint):
    """A constraint on n coordinates x. Write a subclass for one of your own.

    It has `num_errors` and `calc_error`; and `calc_jacobian` and `calc_bias`, which are derived
    from that if they are left out. All are pure functions of x and its rates. What is given is
    compared with differences when it is added to a System.

    Parameters
    ----------
    coordinates : sequence of (MobilizedBody, int)
        Each is one q of the joint of a body, counted from 0.

    Raises
    ------
    ShapeError
        The coordinates are not such pairs, or empty.
    UnknownBodyError, ConstraintError
        The bodies are not of one matter, or a joint does not have that q.
    """

    coordinates: tuple[tuple[MobilizedBody, int], ...]

    def __init__(self, coordinates: Sequence[tuple[MobilizedBody, int]]) -> None:
        what = type(self).__name__
        pairs = _pairs(coordinates, what)
        bodies = checked_bodies(tuple(body for body, _ in pairs), what)
        self.coordinates = tuple((body, _checked_index(body, i, what)) for body, i in pairs)
        self.bodies = tuple(dict.fromkeys(bodies))

    # ------------------------------------------------------------------ duties

    @abstractmethod
    def calc_error(self, x: Array) -> Any:
        """Return the position errors (m,) for the coordinates (n,)."""

    def calc_jacobian(self, x: Array) -> Any:
        """Return their derivatives by x, (m, n).

        By default, by 8 n calls of `calc_error`, or more.
        """
        return jacobian_by_x(self.calc_error, x, self._scales())

    def calc_bias(self, x: Array, rates: Array) -> Any:
        """Return their second derivatives (m,) where the rates (n,) do not change.

        By default, by differences of `calc_jacobian`; or of `calc_error`, if both are left out.
        """
        if gives(self, AbstractCoordinateConstraint, "calc_jacobian"):
            return bias_by_x_of_jacobian(self.calc_jacobian, x, rates, self._scales())
        return bias_by_x(self.calc_error, x, rates, self._scales())

    def check_derivatives(self, length: float = 1.0) -> None:
        """Compare derivatives that are given with differences of errors near the default q."""
        middle = np.array([body.mobilizer.default_q[i] for body, i in self.coordinates])
        scales = self._scales(length)
        draws = np.random.default_rng(0).uniform(-0.5, 0.5, (6, 2, len(middle))) * scales

        def check(x: Array, rates: Array) -> None:
            if self._gives_jacobian:
                wanted = jacobian_by_x(self.calc_error, x, scales)
                require_equal(self.calc_jacobian(x), wanted, f"calc_jacobian of {self}")
            if self._gives_bias:
                wanted = bias_by_x_of_jacobian(self.calc_jacobian, x, rates, scales)
                require_equal(self.calc_bias(x, rates), wanted, f"calc_bias of {self}")

        check_at(partial(check, middle + offset, rates) for offset, rates in draws)

    @property
    def _gives_jacobian(self) -> bool:
        return gives(self, AbstractCoordinateConstraint, "calc_jacobian")

    @property
    def _gives_bias(self) -> bool:
        return gives(self, AbstractCoordinateConstraint, "calc_bias")

    def _scales(self, length: float | None = None) -> Array:
        """Return the scale of each coordinate: 1 of angles, and that of lengths [m] of others."""
        if length is None:
            length = self.system.default_length_scale if self.is_adopted else 1.0
        return np.array([1.0 if _is_angle(body, i) else length for body, i in self.coordinates])

    # ------------------------------------------------------------------ in a State

    @property
    def kind(self) -> tuple[Any, ...]:
        """What constraints have in common that are computed together."""
        return *super().kind, len(self.coordinates)

    def new_batch(self) -> "CoordinateBatch":
        """Return a batch with this constraint."""
        return CoordinateBatch(self)


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
        super().__init__(constraints, len(constraints[0].coordinates) if constraints else 1)
        index, rows, columns = [], [], []
        self.related: list[tuple[int, Joint, int, slice]] = []
        related = set(map(id, layout.related))
        for constraint in constraints:
            for body, i in constraint.coordinates:
                joint = layout.joints[layout.rows[body.index]]
                _require_coordinate(constraint, joint, i)
                own = [joint.u.start + i]
                if id(joint) in related:
                    own = [*range(joint.u.start, joint.u.stop)]
                    place = slice(len(columns), len(columns) + len(own))
                    self.related.append((len(index), joint, i, place))
                rows += [len(index)] * len(own)
                columns += own
                index.append(joint.q.start + i)
        self.index = np.array(index, np.intp).reshape(len(constraints), -1)
        self.rows, self.columns = np.array(rows, np.intp), np.array(columns, np.intp)
        self.nu = layout.nu

    def rates(self, numbers: Array, u: Array) -> Array:
        """Return N u of the coordinates, (k, n)."""
        values = numbers * u[self.columns]
        found: Array = np.bincount(self.rows, values, self.index.size).reshape(self.index.shape)
        return found

    def jacobian(self, local: Array, numbers: Array) -> Any:
        """Return the derivatives by u (k m, nu), of those by coordinates, (k, m, n)."""
        k, m, n = local.shape
        which, coordinate = np.divmod(self.rows, n)
        values = local[which, :, coordinate] * numbers[:, None]
        rows = which[:, None] * m + np.arange(m)
        columns = np.broadcast_to(self.columns[:, None], rows.shape)
        if self.nu <= DENSE:
            found = np.zeros((k * m, self.nu))
            np.add.at(found, (rows, columns), values)
            return found
        from scipy.sparse import coo_array, csr_array  # noqa: PLC0415  # it takes a while

        places = (rows.ravel(), columns.ravel())
        return csr_array(coo_array((values.ravel(), places), shape=(k * m, self.nu)))


@final
class CoordinateBatch(AbstractBatch):
    """Constraints of one class on as many coordinates."""

    def calc_members(self, enabled: Sequence[Any], layout: TreeLayout) -> Coordinates:
        """Return what evaluates some of the constraints."""
        return Coordinates(enabled, layout)

    @cached(prerequisites=lambda self: (self.members, self.matter.q))
    def where(self, state: State) -> Array:
        """The coordinates x, (k, n)."""
        found: Array = self.matter.q(state)[self.members(state).index]
        return found

    @cached(prerequisites=lambda self: (self.members, self.matter.q))
    def numbers_of_n(self, state: State) -> Array:
        """The rows of N of the coordinates: derivatives of their rates by u."""
        members = self.members(state)
        found = np.ones(len(members.rows))
        for _, joint, i, place in members.related:
            found[place] = _rows_of_n(joint, self.matter.q(state)[joint.q])[i]
        return found

    @cached(prerequisites=lambda self: (self.members, self.numbers_of_n, self.matter.u))
    def rates(self, state: State) -> Array:
        """The rates of x, (k, n)."""
        numbers, u = self.numbers_of_n(state), self.matter.u(state)
        found: Array = self.members(state).rates(numbers, u)
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
        return found

    @property
    def needs_of_jacobian(self) -> tuple[Any, ...]:
        """The entries that `calc_jacobian` reads."""
        return self.members, self.local_jacobian, self.numbers_of_n

    def calc_jacobian(self, state: State) -> Any:
        """Return the derivatives by u, (k m, nu)."""
        return self.members(state).jacobian(self.local_jacobian(state), self.numbers_of_n(state))


def _require_coordinate(constraint: AbstractConstraint, joint: Joint, i: int) -> None:
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


def _is_angle(body: MobilizedBody, i: int) -> bool:
    """Tell whether a q of a joint turns it; of a quaternion or of Euler angles, any does."""
    mobilizer = body.mobilizer
    if mobilizer.n(mobilizer.default_q) is not None:
        return i < mobilizer.nq - 3 or mobilizer.nu == 3
    return any(mobilizer.axes(mobilizer.default_q)[i][:3])


def _pairs(coordinates: Any, what: str) -> list[tuple[Any, Any]]:
    try:
        pairs = [(body, i) for body, i in coordinates]
    except (TypeError, ValueError):
        pairs = []
    if not pairs:
        raise ShapeError(
            f"the coordinates of {what}: not pairs of a body and a number",
            "one pair or more",
            short_repr(coordinates),
            "write [(first, 0), (second, 0)], for the first q of two joints",
        )
    return pairs


def _checked_index(body: MobilizedBody, index: Any, what: str) -> int:
    number = whole_number(index)
    count = max(body.mobilizer.nq, body.mobilizer.with_euler_angles().nq)
    if number is None or not 0 <= number < count:
        raise ConstraintError(
            f"{what}: ties a coordinate that {body} does not have",
            f"a number from 0 to {count - 1}" if count else "a body whose joint has q",
            short_repr(index),
            f"its joint is a {body.mobilizer!r}: count its q from 0",
        )
    return number


@final
class ConstantCoordinateConstraint(AbstractCoordinateConstraint):
    """One q of a joint has a value. One error: q minus value [rad or m].

    Parameters
    ----------
    body : MobilizedBody
        The body of the joint.
    value : float
        [rad or m]
    index : int, optional
        The index of the q, from 0.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 1
    stacked = ("value",)

    def __init__(self, body: MobilizedBody, value: float, *, index: int = 0) -> None:
        super().__init__([(body, index)])
        self.value = require_number(value, f"the value of {self}")

    def calc_error(self, x: Array) -> Array:
        """Return the difference."""
        return x - np.asarray(self.value)[..., None]

    def calc_jacobian(self, x: Array) -> Any:
        """Return 1."""
        return np.ones((*x.shape, 1))

    def calc_bias(self, x: Array, rates: Array) -> Any:  # noqa: ARG002  # of a fixed form
        """Return 0."""
        return np.zeros(x.shape)


@final
class CoordinateCouplerConstraint(AbstractCoordinateConstraint):
    """A function f of n coordinates is zero, as for gears or cams. One error: f(x).

    Parameters
    ----------
    coordinates : sequence of (MobilizedBody, int)
        Each is one q of the joint of a body, counted from 0.
    function : callable
        f(x), of an array (n,); returns a float. All three are pure functions. To
        pickle the System, write them as functions of a module.
    gradient : callable, optional
        Its derivatives by x, (n,); derived by differences if it is left out.
    hessian : callable, optional
        Its second derivatives by x, (n, n); likewise.

    Raises
    ------
    WrongTypeError, ShapeError, UnknownBodyError, ConstraintError

    Examples
    --------
    Two gears, of which the second turns half as fast, the other way round:

    >>> from stagecache import Stage
    >>> from stagecache.multibody import CoordinateCouplerConstraint, MultibodySystem, Pin
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> small, large = (system.matter.add_body(n, ground, Pin()) for n in ("small", "large"))
    >>> gears = CoordinateCouplerConstraint(
    ...     [(small, 0), (large, 0)],
    ...     function=lambda x: x[0] + 2.0 * x[1]
    ... )
    >>> _ = system.add(gears, "gears")
    >>> state = system.new_state()
    >>> small.q.set(state, [0.5])
    >>> system.realize(state, Stage.POSITION)
    >>> system.project(state, 1e-10)
    >>> small.q(state).round(6), large.q(state).round(6)
    (array([0.4]), array([-0.2]))
    """

    num_errors: ClassVar[int] = 1

    def __init__(
        self,
        coordinates: Sequence[tuple[MobilizedBody, int]],
        *,
        function: Callable[[Array], float],
        gradient: Callable[[Array], ArrayLike] | None = None,
        hessian: Callable[[Array], ArrayLike] | None = None,
    ) -> None:
        super().__init__(coordinates)
        self.function = self._checked_function(function, "function")
        self.gradient = self._checked_function(gradient, "gradient")
        self.hessian = self._checked_function(hessian, "hessian")

    def _checked_function(self, function: Any, name: str) -> Any:
        if function is None and name != "function":
            return None
        return require_callable(
            function,
            f"the {name} of {self}",
            "a function of the coordinates, an array (n,)",
            f"write {name}=lambda x: ...",
        )

    @property
    def _gives_jacobian(self) -> bool:
        return self.gradient is not None

    @property
    def _gives_bias(self) -> bool:
        return self.hessian is not None

    def calc_error(self, x: Array) -> Any:
        """Return the function of x."""
        return self.function(x)

    def calc_jacobian(self, x: Array) -> Any:
        """Return its gradient."""
        if self.gradient is None:
            return super().calc_jacobian(x)
        return checked_result(self.gradient(x), x.shape, f"the gradient of {self}")[None]

    def calc_bias(self, x: Array, rates: Array) -> Any:
        """Return its second derivative along the rates."""
        if self.hessian is None and self.gradient is None:
            return bias_by_x(self.calc_error, x, rates, self._scales())
        if self.hessian is None:
            return bias_by_x_of_jacobian(self.calc_jacobian, x, rates, self._scales())
        hessian = checked_result(self.hessian(x), x.shape * 2, f"the hessian of {self}")
        return [rates @ hessian @ rates]
