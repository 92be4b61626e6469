"""Constraints on u of joints, and on udot. `speed_batch` has their entries."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_callable, require_number
from stagecache.multibody.constraints.batch import require_same_for_many
from stagecache.multibody.constraints.checks import checked_bodies, checked_result
from stagecache.multibody.constraints.constraint import AbstractConstraint, gives
from stagecache.multibody.constraints.coordinates import Pair, checked_coordinates, checked_speeds
from stagecache.multibody.constraints.derived import check_at, jacobian_by_x, require_equal
from stagecache.multibody.constraints.speed_batch import AccelerationBatch, SpeedBatch
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.coordinates import JointCoordinate
from stagecache.multibody.matter.mobilized_body import MobilizedBody


class AbstractSpeedConstraint(AbstractConstraint):
    """A constraint on numbers x: some u of joints, then some q. Write a subclass for your own.

    It has `num_errors` and `calc_error`; and `calc_jacobian`, which is derived from that if it is
    left out. Both are pure functions of x. A Jacobian that is given is compared with differences
    when it is added to a System. It has rows in uerr and udoterr, and none in qerr.

    Parameters
    ----------
    speeds : sequence of JointCoordinate or (MobilizedBody, int)
        Each is one u of the joint of a body, counted from 0.
    coordinates : sequence of JointCoordinate or (MobilizedBody, int), optional
        Each is one q of the joint of a body; as for `AbstractCoordinateConstraint`.

    Raises
    ------
    ShapeError
        They are not such, or there are no speeds.
    UnknownBodyError, ConstraintError
        The bodies are not of one matter, or a joint does not have that u or q.
    """

    _batch_type = SpeedBatch

    speeds: tuple[tuple[MobilizedBody, int], ...]
    coordinates: tuple[JointCoordinate, ...]
    has_time: ClassVar[bool] = False

    def __init__(self, speeds: Sequence[Pair], coordinates: Sequence[Pair] = ()) -> None:
        what = type(self).__name__
        self.speeds = checked_speeds(speeds, what)
        has_any = not isinstance(coordinates, list | tuple) or len(coordinates) > 0
        self.coordinates = checked_coordinates(coordinates, what) if has_any else ()
        bodies = [*(body for body, _ in self.speeds), *(one.body for one in self.coordinates)]
        self.bodies = tuple(dict.fromkeys(checked_bodies(tuple(bodies), what)))

    # ------------------------------------------------------------------ duties

    @abstractmethod
    def calc_error(self, x: Array) -> Any:
        """Return the velocity errors (m,) for the u and q, (n,)."""

    def calc_jacobian(self, x: Array) -> Any:
        """Return their derivatives by x, (m, n). By default, by 8 n calls of `calc_error`."""
        return jacobian_by_x(self.calc_error, x, np.ones(len(x)))

    def check_derivatives(self, length: float = 1.0) -> None:  # noqa: ARG002  # of a fixed form
        """Compare a Jacobian that is given with differences of errors near the default q."""
        middle = np.array([0.0] * len(self.speeds) + [one.default for one in self.coordinates])

        def check(x: Array) -> None:
            m, both = self.num_errors, (np.array([x] * 2),)
            require_same_for_many(self, "calc_error", (m,), (x,), both)
            require_same_for_many(self, "calc_jacobian", (m, len(x)), (x,), both)
            if self._gives_jacobian:
                wanted = jacobian_by_x(self.calc_error, x, np.ones(len(x)))
                require_equal(self.calc_jacobian(x), wanted, f"calc_jacobian of {self}")

        draws = np.random.default_rng(0).uniform(-0.5, 0.5, (6, len(middle)))
        check_at(partial(check, middle + offset) for offset in draws)

    @property
    def _gives_jacobian(self) -> bool:
        return gives(self, AbstractSpeedConstraint, "calc_jacobian")

    @property
    def kind(self) -> tuple[Any, ...]:
        """Things that constraints have in common which are computed together."""
        return *super().kind, len(self.speeds), len(self.coordinates)


@final
class ConstantSpeedConstraint(AbstractSpeedConstraint):
    """One u of a joint has a value. One error: u minus value [rad/s or m/s].

    Parameters
    ----------
    body : MobilizedBody
        The body of the joint.
    value : float
        [rad/s or m/s]
    index : int, optional
        The index of the u, from 0.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    num_errors: ClassVar[int] = 1
    stacked = ("value",)

    def __init__(self, body: MobilizedBody, value: float, *, index: int = 0) -> None:
        super().__init__([(body, index)])
        self.value = require_number(value, f"the value of {self}")

    def calc_error(self, x: Array) -> Any:
        """Return the difference."""
        return x - np.asarray(self.value)[..., None]

    def calc_jacobian(self, x: Array) -> Any:
        """Return 1."""
        return np.ones((*x.shape, 1))


@final
class SpeedCouplerConstraint(AbstractSpeedConstraint):
    """A function f of some u, and of some q, is zero. One error: f(x).

    Parameters
    ----------
    speeds : sequence of JointCoordinate or (MobilizedBody, int)
        Each is one u of the joint of a body, counted from 0.
    coordinates : sequence of JointCoordinate or (MobilizedBody, int), optional
        Each is one q of the joint of a body; as for `AbstractCoordinateConstraint`.
    function : callable
        f(x), of an array (n,): the u, then the q; returns a float. It and its gradient are pure
        functions. To pickle the System, write them as functions of a module.
    gradient : callable, optional
        Its derivatives by x, (n,); derived by differences if it is left out.

    Raises
    ------
    WrongTypeError, ShapeError, UnknownBodyError, ConstraintError

    Examples
    --------
    A wheel that rolls on a slider, by its radius of 0.5:

    >>> from stagecache import Stage
    >>> from stagecache.multibody import MultibodySystem, Pin, Slider, SpeedCouplerConstraint
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> cart = system.matter.add_body("cart", ground, Slider())
    >>> wheel = system.matter.add_body("wheel", cart, Pin())
    >>> rolling = SpeedCouplerConstraint(
    ...     [(cart, 0), (wheel, 0)], function=lambda x: x[0] + 0.5 * x[1]
    ... )
    >>> _ = system.add(rolling, "rolling")
    >>> state = system.new_state()
    >>> cart.u.set(state, [1.0])
    >>> system.realize(state, Stage.VELOCITY)
    >>> rolling.error(state), rolling.jacobian(state).round(9)
    (array([1.]), array([[1. , 0.5]]))
    """

    num_errors: ClassVar[int] = 1

    def __init__(
        self,
        speeds: Sequence[Pair],
        coordinates: Sequence[Pair] = (),
        *,
        function: Callable[[Array], float],
        gradient: Callable[[Array], ArrayLike] | None = None,
    ) -> None:
        super().__init__(speeds, coordinates)
        expected = "a function of the u and q, an array (n,)"
        self.function = require_callable(
            function, f"the function of {self}", expected, "write function=lambda x: ..."
        )
        self.gradient = gradient
        if gradient is not None:
            require_callable(
                gradient, f"the gradient of {self}", expected, "write gradient=lambda x: ..."
            )

    @property
    def _gives_jacobian(self) -> bool:
        return self.gradient is not None

    def calc_error(self, x: Array) -> Any:
        """Return the function of x."""
        return self.function(x)

    def calc_jacobian(self, x: Array) -> Any:
        """Return its gradient."""
        if self.gradient is None:
            return super().calc_jacobian(x)
        return checked_result(self.gradient(x), x.shape, "the gradient", self)[None]


@final
class ConstantAccelerationConstraint(AbstractConstraint):
    """One udot of a joint has a value. One error: udot minus value [rad/s² or m/s²].

    It has a row in udoterr alone.

    Parameters
    ----------
    body : MobilizedBody
        The body of the joint.
    value : float
        [rad/s² or m/s²]
    index : int, optional
        The index of the u, from 0.

    Raises
    ------
    UnknownBodyError, ConstraintError, ShapeError, NotANumberError, OutOfRangeError
    """

    _batch_type = AccelerationBatch
    num_errors: ClassVar[int] = 1
    stacked = ("value",)
    has_time: ClassVar[bool] = False

    def __init__(self, body: MobilizedBody, value: float, *, index: int = 0) -> None:
        what = type(self).__name__
        self.speeds = checked_speeds([(body, index)], what)
        self.coordinates: tuple[JointCoordinate, ...] = ()
        self.bodies = (body,)
        self.value = require_number(value, f"the value of {self}")

    def calc_error(self, udot: Array) -> Any:
        """Return the difference, for the udot (1,)."""
        return udot - np.asarray(self.value)[..., None]

    def calc_jacobian(self, udot: Array) -> Any:
        """Return 1."""
        return np.ones((*udot.shape, 1))
