"""What the constructors of event handlers and reporters are given: functions and times."""

from collections.abc import Callable
from typing import Any, TypeVar

from stagecache.errors import (
    ComputeSignatureError,
    DeclarationError,
    EventTimeError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.declaration import check_function, check_returns
from stagecache.state.vectors.conversion import FLOAT, converted

F = TypeVar("F", bound=Callable[..., Any])


def given_or_overridden(
    observer: object, base: type, method: str, given: F | None, names: tuple[str, ...]
) -> F | None:
    """Return the function that is given; None if a subclass has a method instead.

    Raises
    ------
    DeclarationError
        There is neither, or there are both.
    WrongTypeError, ComputeSignatureError
    """
    what = type(observer).__name__
    is_overridden = getattr(type(observer), method) is not getattr(base, method)
    arguments = ", ".join(names)
    if is_overridden is (given is not None):
        raise DeclarationError(
            f"{what}: has {'two functions' if is_overridden else 'no function'} for {method}",
            f"a function ({arguments}) that is given, or a method {method} of a subclass",
            "both" if is_overridden else "neither",
            f"leave one of them out: {short_repr(given)}, for instance"
            if is_overridden
            else f"pass a function, or derive a class that has def {method}(self, {arguments})",
        )
    if given is None:
        check_returns(getattr(type(observer), method), f"{what}.{method}")
        return None
    try:
        return check_function("", given, names)  # type: ignore[return-value]  # it is that one
    except (ComputeSignatureError, WrongTypeError) as error:
        raise type(error)(
            f"{what}: {short_repr(getattr(given, '__name__', given))} cannot be called with "
            f"({arguments})",
            f"a plain function of {len(names)} argument{'s' if len(names) > 1 else ''}",
            error.got,
            f"write def name({arguments})",
        ) from None


def check_time(time: float, what: str) -> float:
    """Return a finite time as a float.

    Raises
    ------
    ShapeError, NotANumberError, EventTimeError
    """
    found = float(converted(time, FLOAT, (), what))
    if not abs(found) < float("inf"):
        raise EventTimeError(
            f"{what}: is no time",
            "a finite number of seconds",
            short_repr(time),
            "give another one",
        )
    return found
