"""Constraints on coordinates of joints. `coordinate_batch` has their entries."""

import pickle
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.assembly.coordinates.dependent import DependentCoordinate
from stagecache.checks import require_callable, require_number, whole_number, wrong_type
from stagecache.errors import ConstraintError, NotPicklableError, ShapeError, short_repr
from stagecache.multibody.constraints.batch import require_same_for_many
from stagecache.multibody.constraints.checks import checked_bodies, checked_result
from stagecache.multibody.constraints.constraint import AbstractPositionConstraint, gives
from stagecache.multibody.constraints.coordinate_batch import CoordinateBatch
from stagecache.multibody.constraints.derived import (
    bias_by_x,
    bias_by_x_of_jacobian,
    check_at,
    jacobian_by_x,
    require_equal,
)
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.coordinates import JointCoordinate
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.mobilizers.functions import AbstractFunction
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.state.state import State

Pair = JointCoordinate | tuple[MobilizedBody, int]
"""One q of a joint."""


class AbstractCoordinateConstraint(AbstractPositionConstraint):
    """A constraint on n coordinates x. Write a subclass for one of your own.

    It has `num_errors` and `calc_error`; and `calc_jacobian` and `calc_bias`, which are derived
    from that if they are left out. All are pure functions of x and its rates. What is given is
    compared with differences when it is added to a System.

    Parameters
    ----------
    coordinates : sequence of JointCoordinate or (MobilizedBody, int)
        Each is one q of the joint of a body, counted from 0. Those of a joint that may have a
        quaternion are given by `body.coordinate(...)`: their places depend on the form of
        orientations. A State must not have its angles in a quaternion.

    Raises
    ------
    ShapeError
        The coordinates are not such, or empty.
    UnknownBodyError, ConstraintError
        The bodies are not of one matter, or a joint does not have that q; or it is counted in a
        joint that may have a quaternion.
    """

    _batch_type = CoordinateBatch

    coordinates: tuple[JointCoordinate, ...]

    has_time: ClassVar[bool] = False
    """True if the time is the last x."""

    def __init__(self, coordinates: Sequence[Pair]) -> None:
        what = type(self).__name__
        self.coordinates = checked_coordinates(coordinates, what)
        self.bodies = tuple(dict.fromkeys(one.body for one in self.coordinates))

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
        middle = np.array([one.default for one in self.coordinates] + [0.0] * self.has_time)
        scales = self._scales(length)
        draws = np.random.default_rng(0).uniform(-0.5, 0.5, (6, 2, len(middle))) * scales

        def check(x: Array, rates: Array) -> None:
            m, both = self.num_errors, (np.array([x] * 2), np.array([rates] * 2))
            require_same_for_many(self, "calc_error", (m,), (x,), both[:1])
            require_same_for_many(self, "calc_jacobian", (m, len(x)), (x,), both[:1])
            require_same_for_many(self, "calc_bias", (m,), (x, rates), both)
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
        """Return the scale of each coordinate: 1 for angles, the scale of lengths [m] else."""
        if length is None:
            length = self.system.default_length_scale if self.is_adopted else 1.0
        found = [1.0 if _is_angle(one) else length for one in self.coordinates]
        return np.array(found + [1.0] * self.has_time)

    # ------------------------------------------------------------------ in a State

    @property
    def kind(self) -> tuple[Any, ...]:
        """Things that constraints have in common which are computed together."""
        return *super().kind, len(self.coordinates)


def _is_angle(coordinate: JointCoordinate) -> bool:
    """Tell whether a q of a joint turns it; of Euler angles, any does."""
    mobilizer: AbstractMobilizer = coordinate.body.mobilizer.with_euler_angles()
    i = coordinate.index
    if mobilizer.n(mobilizer.default_q) is not None:
        return i < mobilizer.nq - 3 or mobilizer.nu == 3
    return any(mobilizer.axes(mobilizer.default_q)[i][:3])


def _pairs(given: Any, what: str, name: str = "coordinates") -> list[Any]:
    try:
        pairs = [_pair(item) for item in given]
    except (TypeError, ValueError):
        pairs = []
    if not pairs:
        raise ShapeError(
            f"the {name} of {what}: not coordinates, or pairs of a body and a number",
            "one or more",
            short_repr(given),
            f"write [(first, 0), (second, 0)], for the first {'qu'[name == 'speeds']} of two "
            "joints",
        )
    return pairs


def _pair(item: Any) -> Any:
    if isinstance(item, JointCoordinate):
        return item
    body, index = item
    return body, index


def checked_coordinates(given: Any, what: str) -> tuple[JointCoordinate, ...]:
    """Return coordinates of joints of one matter.

    Raises
    ------
    ShapeError, UnknownBodyError, ConstraintError
    """
    items = _pairs(given, what)
    coordinates = [i if isinstance(i, JointCoordinate) else JointCoordinate(*i) for i in items]
    checked_bodies(tuple(one.body for one in coordinates), what)
    for item, one in zip(items, coordinates, strict=True):
        if item is not one:
            _require_one_meaning(one.body, one.index, what)
    return tuple(
        JointCoordinate(one.body, _checked_index(one.body, one.index, what)) for one in coordinates
    )


def _require_one_meaning(body: MobilizedBody, index: Any, what: str) -> None:
    """Refuse the number of a q that is another one with Euler angles than with a quaternion."""
    start, number = body.mobilizer.quaternion_start, whole_number(index)
    if start is None or number is None or not start <= number < body.mobilizer.nq:
        return
    raise ConstraintError(
        f"{what}: ties q[{number}] of {body}, which depends on the form of orientations",
        f"a coordinate of its {body.mobilizer!r}, by its place among the u, or its name",
        "a place among the q: with Euler angles, it is not the q that it is with a quaternion",
        "write body.coordinate(...) for this body",
    )


def _checked_index(body: MobilizedBody, index: Any, what: str) -> int:
    number, count = whole_number(index), body.mobilizer.with_euler_angles().nq
    if number is None or not 0 <= number < count:
        raise ConstraintError(
            f"{what}: ties a coordinate that {body} does not have",
            f"a number from 0 to {count - 1}" if count else "a body whose joint has q",
            short_repr(index),
            f"its joint is a {body.mobilizer!r}: count its q from 0",
        )
    return number


def checked_speeds(given: Any, what: str) -> tuple[tuple[MobilizedBody, int], ...]:
    """Return speeds as bodies of one matter with indices.

    Raises
    ------
    ShapeError, UnknownBodyError, ConstraintError
    """
    items = _pairs(given, what, "speeds")
    pairs = [(i.body, i.index) if isinstance(i, JointCoordinate) else i for i in items]
    checked_bodies(tuple(body for body, _ in pairs), what)
    return tuple((body, _checked_speed(body, i, what)) for body, i in pairs)


def _checked_speed(body: MobilizedBody, index: Any, what: str) -> int:
    number, count = whole_number(index), body.mobilizer.nu
    if number is None or not 0 <= number < count:
        raise ConstraintError(
            f"{what}: ties a speed that {body} does not have",
            f"a number from 0 to {count - 1}" if count else "a body whose joint has u",
            short_repr(index),
            f"its joint is a {body.mobilizer!r}: count its u from 0",
        )
    return number


def _one(body: MobilizedBody | JointCoordinate, index: int, what: str) -> Pair:
    """Return the coordinate that the arguments of a constraint on one name."""
    if not isinstance(body, JointCoordinate):
        return body, index
    if index != 0:
        raise ConstraintError(
            f"{what}: ties a coordinate that has its index, with another one",
            "a coordinate alone, or a body and an index",
            f"{body}, and index {short_repr(index)}",
            "leave index= out",
        )
    return body


@final
class ConstantCoordinateConstraint(AbstractCoordinateConstraint):
    """One q of a joint has a value. One error: q minus value [rad or m].

    Parameters
    ----------
    body : MobilizedBody or JointCoordinate
        The body of the joint; or the coordinate, as for `AbstractCoordinateConstraint`.
    value : float
        [rad or m]
    index : int, optional
        The index of the q, from 0; of a body only.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 1
    stacked = ("value",)

    def __init__(
        self, body: MobilizedBody | JointCoordinate, value: float, *, index: int = 0
    ) -> None:
        super().__init__([_one(body, index, type(self).__name__)])
        self.value = require_number(value, f"the value of {self}")

    def calc_error(self, x: Array) -> Any:
        """Return the difference."""
        return x - np.asarray(self.value)[..., None]

    def calc_jacobian(self, x: Array) -> Any:
        """Return 1."""
        return np.ones((*x.shape, 1))

    def calc_bias(self, x: Array, rates: Array) -> Any:  # noqa: ARG002  # of a fixed form
        """Return 0."""
        return np.zeros(x.shape)


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
    """A function f of n coordinates is zero, or is another coordinate, as for gears or cams.

    One error: f(x); or with a dependent coordinate, its value minus f(x). An Assembler sets a
    dependent coordinate to f(x) instead of solving for it, unless it has bounds; so say which one
    depends on the others if you can.

    Parameters
    ----------
    coordinates : sequence of JointCoordinate or (MobilizedBody, int)
        Each is one q of the joint of a body, counted from 0; as for `AbstractCoordinateConstraint`.
    function : callable
        f(x), of an array (n,); returns a float. All three are pure functions. To
        pickle the System, write them as functions of a module, or as methods.
    gradient : callable, optional
        Its derivatives by x, (n,); derived by differences if it is left out.
    hessian : callable, optional
        Its second derivatives by x, (n, n); likewise.
    dependent : JointCoordinate or (MobilizedBody, int), optional
        The coordinate that is f(x); none of those above.

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
    ...     [(small, 0)],
    ...     function=lambda x: -0.5 * x[0],
    ...     dependent=(large, 0),
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
        dependent: Pair | None = None,
    ) -> None:
        pairs = _pairs(coordinates, type(self).__name__)
        if dependent is not None:
            pairs += _pairs([dependent], type(self).__name__)
        super().__init__(pairs)
        self.has_dependent = dependent is not None
        self._num_arguments = len(pairs) - self.has_dependent
        if self.has_dependent and self.coordinates[-1] in self.coordinates[:-1]:
            raise ConstraintError(
                f"{self}: its dependent coordinate is among those on which it depends",
                "another coordinate",
                str(self.coordinates[-1]),
                "leave dependent= out, and write a function that is zero",
            )
        self.function = self._checked_function(function, "function")
        self.gradient = self._checked_function(gradient, "gradient")
        self.hessian = self._checked_function(hessian, "hessian")

    def _checked_function(self, function: Any, name: str) -> Any:
        if function is None and name != "function":
            return None
        what = f"the {name} of {self}"
        expected = "a function of the coordinates, an array (n,)"
        require_callable(function, what, expected, f"write {name}=lambda x: ...")
        tied = ", ".join(f"({one.body.name}, {one.index})" for one in self.coordinates)
        return _Function(function, f"the {name} of the coupler of {tied}")

    @property
    def _gives_jacobian(self) -> bool:
        return self.gradient is not None

    @property
    def _gives_bias(self) -> bool:
        return self.hessian is not None

    def calc_error(self, x: Array) -> Any:
        """Return the function of x, or the dependent coordinate minus that."""
        if self.has_dependent:
            return x[-1] - self.function(x[:-1])
        return self.function(x)

    def calc_jacobian(self, x: Array) -> Any:
        """Return its gradient."""
        gradient = self.calc_gradient(x[: self._num_arguments])
        return [[*-gradient, 1.0]] if self.has_dependent else gradient[None]

    def calc_bias(self, x: Array, rates: Array) -> Any:
        """Return its second derivative along the rates."""
        x, rates = x[: self._num_arguments], rates[: self._num_arguments]
        found: Any
        if self.hessian is not None:
            found = [rates @ self.calc_hessian(x) @ rates]
        elif self.gradient is not None:
            found = bias_by_x_of_jacobian(lambda y: [self.calc_gradient(y)], x, rates, self._own())
        else:
            found = bias_by_x(self.function, x, rates, self._own())
        return [-found[0]] if self.has_dependent else found

    def calc_gradient(self, x: Array) -> Array:
        """Return the derivatives of the function, (n,)."""
        if self.gradient is None:
            found: Array = jacobian_by_x(self.function, x, self._own())[0]
            return found
        return checked_result(self.gradient(x), x.shape, "the gradient", self)

    def calc_hessian(self, x: Array) -> Array:
        """Return the second derivatives of the function, (n, n)."""
        if self.hessian is None:
            return jacobian_by_x(self.calc_gradient, x, self._own())
        return checked_result(self.hessian(x), x.shape * 2, "the hessian", self)

    def _own(self) -> Array:
        """Return the scales of the arguments of the function."""
        return self._scales()[: self._num_arguments]

    def _dependent_coordinate(self, state: State, qerr: int) -> DependentCoordinate:
        """Return the dependent coordinate for an Assembler, given the row of its error in qerr."""
        start = self.matter.q.place(state).start
        *sources, q = (self._batch.members(state).index_of(self) + start).tolist()
        return DependentCoordinate(
            q,
            np.array(sources, np.intp),
            self._calc_value,
            self.calc_gradient,
            self.calc_hessian,
            qerr,
        )

    def _calc_value(self, x: Array) -> float:
        found = checked_result([self.function(x)], (1,), "the function", self)
        return float(found[0])


@final
class PrescribedMotionConstraint(AbstractCoordinateConstraint):
    """One q of a joint is a function of time. One error: q minus f(t) [rad or m].

    A force on the u of the joint holds it, the multiplier; a motion of a body instead, as
    `Sinusoid`, takes its u out of the equations.

    Parameters
    ----------
    body : MobilizedBody or JointCoordinate
        The body of the joint; or the coordinate, as for `AbstractCoordinateConstraint`.
    function : AbstractFunction
        f, with its derivatives.
    index : int, optional
        The index of the q, from 0; of a body only.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, WrongTypeError

    Examples
    --------
    >>> from stagecache import Stage
    >>> from stagecache.multibody import Linear, MultibodySystem, Pin, PrescribedMotionConstraint
    >>> system = MultibodySystem()
    >>> wheel = system.matter.add_body("wheel", system.matter.ground, Pin())
    >>> motor = PrescribedMotionConstraint(wheel, Linear(2.0, 0.1))
    >>> _ = system.add(motor, "motor")
    >>> state = system.new_state()
    >>> state.time = 0.2
    >>> system.realize(state, Stage.VELOCITY)
    >>> motor.error(state), motor.error_rate(state)
    (array([-0.5]), array([-2.]))
    """

    num_errors: ClassVar[int] = 1
    has_time = True

    def __init__(
        self,
        body: MobilizedBody | JointCoordinate,
        function: AbstractFunction,
        *,
        index: int = 0,
    ) -> None:
        super().__init__([_one(body, index, type(self).__name__)])
        if not isinstance(function, AbstractFunction):
            raise wrong_type(
                function,
                f"the function of {self}",
                "an AbstractFunction, as Linear(2.0)",
                "write Linear(rate, start), or a subclass of AbstractFunction",
            )
        self.function = function

    def calc_error(self, x: Array) -> Any:
        """Return the difference, for q and the time."""
        q, time = x.tolist()
        return q - self.function.value(time)

    def calc_jacobian(self, x: Array) -> Any:
        """Return the derivatives by q and the time."""
        return [[1.0, -self.function.first(float(x[1]))]]

    def calc_bias(self, x: Array, rates: Array) -> Any:
        """Return the second derivative along the rates."""
        time, rate = float(x[1]), float(rates[1])
        return [-self.function.second(time) * rate * rate]
