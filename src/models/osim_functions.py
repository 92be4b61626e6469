"""Functions of OpenSim's files, as functions of `stagecache.multibody`."""

from collections.abc import Callable
from typing import Final

from stagecache.errors import StagecacheError
from stagecache.models.functions import PiecewiseLinear, SimmSpline
from stagecache.models.xml import Element, shown_tags
from stagecache.multibody import AbstractFunction, Linear, Polynomial

SPLINES: Final = ("SimmSpline", "NaturalCubicSpline", "natCubicSpline")
"""One function by three names: the name of version 4, and older names."""


def function_in(owner: Element, name: str = "function") -> Element | None:
    """Return the element of a function in an element: <LinearFunction name="function">.

    Older versions have <function><LinearFunction>...
    """
    holder = owner.child(name)
    if holder is not None and holder.children:
        return holder.children[0]
    return next((child for child in owner if child.name == name or child.tag in _READERS), None)


def read_function(element: Element, scale: float = 1.0) -> AbstractFunction:
    """Return the function of an element, times a factor.

    Raises
    ------
    FileFormatError
        It is of a kind that is not known, or its numbers do not fit.
    """
    reader = _READERS.get(element.tag)
    if reader is None:
        raise element.bad(
            f"a function of kind {element.tag} is not known",
            "one of " + ", ".join(_READERS),
            element.tag,
            "replace it by a SimmSpline through some of its points",
        )
    try:
        return reader(element, scale)
    except StagecacheError as error:
        if error.what.startswith(element.file):
            raise
        raise element.bad(error.what, error.expected, error.got, error.hint) from None


def constant(element: Element | None) -> float:
    """Return the value of a function that does not depend on a coordinate.

    Raises
    ------
    FileFormatError
    """
    return 0.0 if element is None else read_function(element).value(0.0)


def _constant(element: Element, scale: float) -> AbstractFunction:
    return Linear(0.0, scale * element.number_of("value", 0.0))


def _linear(element: Element, scale: float) -> AbstractFunction:
    slope, intercept = element.numbers_of("coefficients", 2, (1.0, 0.0))
    return Linear(scale * slope, scale * intercept)


def _polynomial(element: Element, scale: float) -> AbstractFunction:
    highest_first = element.numbers_of("coefficients")
    return Polynomial([scale * x for x in reversed(highest_first)])


def _spline(element: Element, scale: float) -> AbstractFunction:
    x, y = element.numbers_of("x"), element.numbers_of("y")
    return SimmSpline(x, [scale * value for value in y])


def _piecewise(element: Element, scale: float) -> AbstractFunction:
    x, y = element.numbers_of("x"), element.numbers_of("y")
    return PiecewiseLinear(x, [scale * value for value in y])


def _multiplier(element: Element, scale: float) -> AbstractFunction:
    inner = function_in(element)
    if inner is None:
        raise element.bad("has no function", "a function inside", shown_tags(element))
    return read_function(inner, scale * element.number_of("scale", 1.0))


_READERS: Final[dict[str, Callable[[Element, float], AbstractFunction]]] = {
    "Constant": _constant,
    "LinearFunction": _linear,
    "PolynomialFunction": _polynomial,
    **dict.fromkeys(SPLINES, _spline),
    "PiecewiseLinearFunction": _piecewise,
    "MultiplierFunction": _multiplier,
}
