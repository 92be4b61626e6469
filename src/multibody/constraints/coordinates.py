r"""Constraints on coordinates of joints.

::

    body.q (each)   use_euler_angles      body.u (each)
        \              |                      |
      coordinate_values, coordinate_rows      |
        /           |        \                |
    error    coordinate_jacobian  coordinate_rates
                |       \             /    \
            jacobian     error_rate       error_bias

A coordinate x is one q of a joint, by its number. Its rate is a row of N, times the u of the joint;
where a mobilizer has no N, it is just u.
"""

import pickle
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_callable, require_number, whole_number
from stagecache.errors import (
    ConstraintError,
    KinematicsError,
    NotPicklableError,
    ShapeError,
    short_repr,
)
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
from stagecache.multibody.matter.coordinates import JointCoordinate
from stagecache.multibody.matter.matter import MobilizedBody
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.state.state import State
from stagecache.system.constraints.errors import position_error
from stagecache.system.declare.cached import cached

Pair = JointCoordinate | tuple[MobilizedBody, int]
"""One q of a joint."""


def _all_q(self: Any) -> tuple[Any, ...]:
    return tuple(body.q for body in self.bodies)


def _all_mobilizers(self: Any) -> tuple[Any, ...]:
    return (*_all_q(self), self.matter.use_euler_angles)


def _all_u(self: Any) -> tuple[Any, ...]:
    return tuple(body.u for body in self.bodies)


class AbstractCoordinateConstraint(AbstractConstraint):
    """A constraint on n coordinates x. Write a subclass for one of your own.

    It has `num_errors` and `calc_error`; and `calc_jacobian` and `calc_bias`, which are derived
    from that if they are left out. All are pure functions of x and its rates. What is given is
    compared with differences when it is added to a System.

    Parameters
    ----------
    coordinates : sequence of JointCoordinate or (MobilizedBody, int)
        Each is one q of the joint of a body, counted from 0.

    Raises
    ------
    ShapeError
        The coordinates are not such, or empty.
    UnknownBodyError, ConstraintError
        The bodies are not of one matter, or a joint does not have that q.
    """

    coordinates: tuple[tuple[MobilizedBody, int], ...]

    def __init__(self, coordinates: Sequence[Pair]) -> None:
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

    # ------------------------------------------------------------------ coordinates

    @cached(prerequisites=_all_q)
    def coordinate_values(self, state: State) -> Array:
        """The coordinates x, (n,)."""
        return np.array([self._own_q(state, body, i)[i] for body, i in self.coordinates])

    @cached(prerequisites=_all_mobilizers)
    def coordinate_rows(self, state: State) -> tuple[Array, ...]:
        """The row of N of each coordinate: the derivatives of its rate by the u of its joint."""
        return tuple(
            _rows_of_n(body, self._mobilizer(state, body), self._own_q(state, body, i))[i]
            for body, i in self.coordinates
        )

    @cached(prerequisites=lambda self: (self.coordinate_rows, *_all_u(self)))
    def coordinate_rates(self, state: State) -> Array:
        """The rates of x, (n,)."""
        rows = self.coordinate_rows(state)
        return np.array(
            [row @ body.u(state) for row, (body, _) in zip(rows, self.coordinates, strict=True)]
        )

    @cached(prerequisites=lambda self: (*_all_mobilizers(self), *_all_u(self)))
    def coordinate_acceleration_bias(self, state: State) -> Array:
        """The derivatives of the rates where udot is 0: the change of N, times u."""
        found = np.zeros(len(self.coordinates))
        for k, (body, i) in enumerate(self.coordinates):
            q, mobilizer = self._own_q(state, body, i), self._mobilizer(state, body)
            u = body.u(state)
            qdot = _rows_of_n(body, mobilizer, q) @ u  # refuses q where N is singular
            rate = mobilizer.n_rate(q.tolist(), qdot.tolist())
            if rate is not None:
                found[k] = np.array(rate[i]) @ u
        return found

    @cached(prerequisites=(coordinate_values,))
    def coordinate_jacobian(self, state: State) -> Array:
        """The result of `calc_jacobian`, (m, n)."""
        found = self.calc_jacobian(self.coordinate_values(state))
        shape = (self.num_errors, len(self.coordinates))
        return checked_result(found, shape, f"calc_jacobian of {self}")

    # ------------------------------------------------------------------ errors

    @position_error(
        size=lambda self, _: self.num_errors,
        prerequisites=(coordinate_values,),
        enabled=AbstractConstraint.is_enabled,
    )
    def error(self, state: State) -> Any:
        """The position errors, (m,)."""
        return self.calc_error(self.coordinate_values(state))

    @error.velocity(prerequisites=(coordinate_jacobian, coordinate_rates))
    def error_rate(self, state: State) -> Array:
        """Their derivatives along qdot = N u."""
        found: Array = self.coordinate_jacobian(state) @ self.coordinate_rates(state)
        return found

    @error.jacobian(prerequisites=(coordinate_jacobian, coordinate_rows))
    def jacobian(self, state: State) -> dict[Any, Array]:
        """The derivatives of `error_rate` by the u of the joints."""
        found: dict[Any, Array] = {}
        columns = self.coordinate_jacobian(state).T
        rows = self.coordinate_rows(state)
        for column, row, (body, _) in zip(columns, rows, self.coordinates, strict=True):
            block = np.outer(column, row)
            found[body.u] = found[body.u] + block if body.u in found else block
        return found

    @error.bias(
        prerequisites=(
            *(coordinate_values, coordinate_jacobian),
            *(coordinate_rates, coordinate_acceleration_bias),
        )
    )
    def error_bias(self, state: State) -> Array:
        """The derivatives of `error_rate` where udot is 0."""
        bias = self.calc_bias(self.coordinate_values(state), self.coordinate_rates(state))
        found = checked_result(bias, (self.num_errors,), f"calc_bias of {self}")
        return found + self.coordinate_jacobian(state) @ self.coordinate_acceleration_bias(state)

    def _own_q(self, state: State, body: MobilizedBody, i: int) -> Array:
        q = body.q(state)
        if i >= len(q):
            raise ConstraintError(
                f"{self}: ties a coordinate that {body} does not have in this State",
                f"one of its {len(q)} q",
                f"q[{i}]",
                f"with {self.matter.name}.use_euler_angles, disable {self.name}, or tie another q",
            )
        return q

    def _mobilizer(self, state: State, body: MobilizedBody) -> AbstractMobilizer:
        layout = self.matter.layout(state)
        return layout.joints[layout.rows[body.index]].mobilizer


def _rows_of_n(body: MobilizedBody, mobilizer: AbstractMobilizer, q: Array) -> Array:
    """Return N of one joint, (nq, nu)."""
    try:
        rows = mobilizer.n(q.tolist())
    except ZeroDivisionError:
        raise KinematicsError(
            f"{body}: its {mobilizer!r} is where N is singular",
            "Euler angles whose second is not pi/2",
            f"q = {q.tolist()}",
            "use quaternions, or give other q",
        ) from None
    return np.eye(mobilizer.nu) if rows is None else np.array(rows)


def _is_angle(body: MobilizedBody, i: int) -> bool:
    """Tell whether a q of a joint turns it; of a quaternion or of Euler angles, any does."""
    mobilizer = body.mobilizer
    if mobilizer.n(mobilizer.default_q) is not None:
        return i < mobilizer.nq - 3 or mobilizer.nu == 3
    return any(mobilizer.axes(mobilizer.default_q)[i][:3])


def _pairs(coordinates: Any, what: str) -> list[tuple[Any, Any]]:
    try:
        pairs = [_pair(item) for item in coordinates]
    except (TypeError, ValueError):
        pairs = []
    if not pairs:
        raise ShapeError(
            f"the coordinates of {what}: not coordinates, or pairs of a body and a number",
            "one or more",
            short_repr(coordinates),
            "write [(first, 0), (second, 0)], for the first q of two joints",
        )
    return pairs


def _pair(item: Any) -> tuple[Any, Any]:
    if isinstance(item, JointCoordinate):
        return item.body, item.index
    body, index = item
    return body, index


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

    def __init__(self, body: MobilizedBody, value: float, *, index: int = 0) -> None:
        super().__init__([(body, index)])
        self.value = require_number(value, f"the value of {self}")

    def calc_error(self, x: Array) -> Array:
        """Return the difference."""
        return x - self.value

    def calc_jacobian(self, x: Array) -> Any:  # noqa: ARG002  # of a fixed form
        """Return 1."""
        return [[1.0]]

    def calc_bias(self, x: Array, rates: Array) -> Any:  # noqa: ARG002  # of a fixed form
        """Return 0."""
        return np.zeros(1)


@final
class _Function:
    """A function of a coupler, whose name is told where it cannot be pickled."""

    __slots__ = ("_call", "_what")

    def __init__(self, call: Callable[..., Any], what: str) -> None:
        self._call = call
        self._what = what

    def __call__(self, x: Array) -> Any:
        return self._call(x)

    def __deepcopy__(self, memo: object) -> "_Function":
        return self

    def __reduce__(self) -> Any:
        try:
            pickle.dumps(self._call)
        except Exception as error:
            name = getattr(self._call, "__qualname__", type(self._call).__name__)
            raise NotPicklableError(
                f"{self._what}: cannot be pickled",
                "a function of a module, or a method of an object that can be pickled",
                f"{name} of {getattr(self._call, '__module__', '')}, which raises "
                f"{type(error).__name__}",
                "define it by def at the level of a module; what it needs beside x goes into the "
                "attributes of an object",
            ) from None
        return _Function, (self._call, self._what)


@final
class CoordinateCouplerConstraint(AbstractCoordinateConstraint):
    """A function f of n coordinates is zero, as for gears or cams. One error: f(x).

    Parameters
    ----------
    coordinates : sequence of (MobilizedBody, int)
        Each is one q of the joint of a body, counted from 0.
    function : callable
        f(x), of an array (n,); returns a float. All three are pure functions. To
        pickle the System, write them as functions of a module, or as methods.
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
        coordinates: Sequence[Pair],
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
        what = f"the {name} of {self}"
        expected = "a function of the coordinates, an array (n,)"
        require_callable(function, what, expected, f"write {name}=lambda x: ...")
        tied = ", ".join(f"({body.name}, {i})" for body, i in self.coordinates)
        return _Function(function, f"the {name} of the coupler of {tied}")

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
