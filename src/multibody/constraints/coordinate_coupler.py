"""Coordinate coupler: a function of some q is zero."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, final

from numpy.typing import ArrayLike

from stagecache.errors import WrongTypeError, short_repr
from stagecache.multibody.constraints.checks import checked_result
from stagecache.multibody.constraints.coordinate_constraint import AbstractCoordinateConstraint
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.matter.matter import MobilizedBody


@final
class CoordinateCouplerConstraint(AbstractCoordinateConstraint):
    """A function f of n coordinates is zero, as of gears or cams. One error: f(x).

    Parameters
    ----------
    coordinates : sequence of (MobilizedBody, int)
        Each is one q of the joint of a body, counted from 0.
    function : callable
        f(x), of an array (n,); returns a float. All three are pure functions. For a System that is
        pickled, they are functions of a module.
    gradient : callable
        Its derivatives by x, (n,).
    hessian : callable
        Its second derivatives by x, (n, n).

    Raises
    ------
    WrongTypeError, ShapeError, UnknownBodyError, ConstraintError

    Examples
    --------
    Two gears, of which the second turns half as fast, the other way round:

    >>> import numpy as np
    >>> from stagecache import Stage
    >>> from stagecache.multibody import CoordinateCouplerConstraint, MultibodySystem, Pin
    >>> system = MultibodySystem()
    >>> ground = system.matter.ground
    >>> small, large = (system.matter.add_body(n, ground, Pin()) for n in ("small", "large"))
    >>> gears = CoordinateCouplerConstraint(
    ...     [(small, 0), (large, 0)],
    ...     function=lambda x: x[0] + 2.0 * x[1],
    ...     gradient=lambda x: [1.0, 2.0],
    ...     hessian=lambda x: np.zeros((2, 2)),
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
        gradient: Callable[[Array], ArrayLike],
        hessian: Callable[[Array], ArrayLike],
    ) -> None:
        super().__init__(coordinates)
        self.function = _checked_function(function, "function", self)
        self.gradient = _checked_function(gradient, "gradient", self)
        self.hessian = _checked_function(hessian, "hessian", self)

    def calc_error(self, x: Array) -> Any:
        """The function."""
        return self.function(x)

    def calc_jacobian(self, x: Array) -> Any:
        """Its gradient."""
        return checked_result(self.gradient(x), x.shape, f"the gradient of {self}")[None]

    def calc_bias(self, x: Array, rates: Array) -> Any:
        """Its second derivative along the rates."""
        hessian = checked_result(self.hessian(x), x.shape * 2, f"the hessian of {self}")
        return [rates @ hessian @ rates]


def _checked_function(function: Any, name: str, constraint: AbstractCoordinateConstraint) -> Any:
    if callable(function):
        return function
    raise WrongTypeError(
        f"the {name} of {constraint}: cannot be called",
        "a function of the coordinates, an array (n,)",
        short_repr(function),
        f"write {name}=lambda x: ...",
    )
