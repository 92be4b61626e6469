"""Checks of arguments that many calls share: each returns the argument, or raises.

A text is made only where an error is raised. Hot paths do the test themselves, and call a function
that returns the error (`wrong_type`, `not_finite`) only if it fails. NumPy is not imported here,
since the command and the plugin of pytest import this first.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from importlib import import_module
from math import inf, isfinite
from operator import index as as_index
from os import PathLike, fspath
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from stagecache.errors import (
    DuplicateNameError,
    InvalidNameError,
    MissingExtraError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
    UnknownChoiceError,
    WrongTypeError,
    listed,
    short_repr,
)

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
CallableT = TypeVar("CallableT", bound="Callable[..., Any]")

Kind = type[StagecacheError]


# ---------------------------------------------------------------------- types


class AnyText(Protocol):
    """A str, for parameters of compiled functions, which refuse others without saying what it is.

    Declared as `str`, another object would be refused before the function can name it.
    """

    def isidentifier(self) -> bool:
        """Tell whether it could be the name of a variable."""
        ...


def wrong_type(value: object, what: str, expected: str, hint: str) -> WrongTypeError:
    """Return the error of a value of a wrong type; it tells a class from its instance.

    >>> print(wrong_type(3, "copy_from(3): not a State", "a State", "pass a State"))
    copy_from(3): not a State
      expected: a State
      got:      3, of type int
      hint:     pass a State
    """
    return WrongTypeError(what, expected, type_text(value), hint)


def type_text(value: object) -> str:
    """Show a value and its type; of a class, say that an instance of it is needed."""
    if isinstance(value, type):
        return f"the class {value.__name__}; an instance of it is needed"
    return f"{short_repr(value)}, of type {type(value).__name__}"


def require_type(value: object, kind: type[T], what: str, expected: str, hint: str) -> T:
    """Return an instance of a class.

    Where mypy refuses an abstract class here, use `isinstance` and raise `wrong_type(...)`.

    Raises
    ------
    WrongTypeError
    """
    if isinstance(value, kind):
        return value
    raise wrong_type(value, what, expected, hint)


def require_bool(value: object, what: str, hint: str = "write True or False") -> bool:
    """Return a bool, of Python or NumPy.

    Raises
    ------
    NotANumberError
    """
    if isinstance(value, bool) or type(value).__name__ in {"bool_", "bool"}:
        return bool(value)
    raise NotANumberError(f"{what}: not a bool", "True or False", short_repr(value), hint)


def require_path(value: object, what: str) -> Path:
    """Return the path of a file.

    Raises
    ------
    WrongTypeError
    """
    path = fspath(value) if isinstance(value, str | PathLike) else None
    if isinstance(path, str) and Path(path).name and "\0" not in path:
        return Path(path)
    raise wrong_type(value, what, "the path of a file", "pass its name, as 'run.state'")


def require_each(values: Iterable[T], kind: type[T], what: str, hint: str) -> list[T]:
    """Return the items of an iterable, which are all of one class, as a list.

    Raises
    ------
    WrongTypeError
    """
    expected = f"an iterable of {kind.__name__}"
    if not isinstance(values, Iterable):
        raise wrong_type(values, what, expected, hint)
    return [
        require_type(value, kind, f"{what}[{i}]", expected, hint) for i, value in enumerate(values)
    ]


def require_callable(value: CallableT, what: str, expected: str, hint: str) -> CallableT:
    """Return a function, or anything else that can be called.

    Raises
    ------
    WrongTypeError
    """
    if callable(value):
        return value
    raise WrongTypeError(f"{what}: cannot be called", expected, type_text(value), hint)


# ---------------------------------------------------------------------- names


def require_text(value: object, what: str, hint: str = "write it as one") -> str:
    """Return a string, which may be empty.

    Raises
    ------
    InvalidNameError
    """
    if isinstance(value, str):
        return value
    raise InvalidNameError(f"{what}: not a string", "a string", short_repr(value), hint)


def require_name(value: object, what: str, hint: str = "give a name") -> str:
    """Return a string that is not empty.

    Raises
    ------
    InvalidNameError
    """
    if isinstance(value, str) and value:
        return value
    raise InvalidNameError(
        f"{what}: not a name", "a string that is not empty", short_repr(value), hint
    )


def require_new_name(
    name: str, taken: Collection[str], kind: str, hint: str = "give it another name"
) -> str:
    """Return a name that no other thing of this kind has.

    Raises
    ------
    DuplicateNameError
    """
    if name not in taken:
        return name
    raise DuplicateNameError(
        f"{kind} {name!r}: the name is taken",
        f"a name that no other {kind} has",
        f"{name!r} for another one",
        hint,
    )


def require_choice(
    value: object,
    choices: Iterable[T],
    what: str,
    hint: str = "",
    *,
    error: Kind = UnknownChoiceError,
) -> T:
    """Return one of several choices, mostly strings, with a suggestion if it was misspelled.

    Raises
    ------
    error
    """
    known = list(choices)
    for choice in known:
        if type(choice) is type(value) and choice == value:
            return choice
    names = [str(choice) for choice in known]
    suggestion = did_you_mean(value, names) if isinstance(value, str) else ""
    raise error(
        f"{what}: not one of its choices",
        "one of " + listed(map(repr, known)),
        short_repr(value),
        suggestion or hint or "use one of these",
    )


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """Suggest similar names or paths as a question, or return "".

    Of a path, the last part counts first.

    >>> did_you_mean("tip", ["pendulum.tip", "pendulum.q"])
    "did you mean 'pendulum.tip'?"
    """
    from difflib import get_close_matches  # noqa: PLC0415  # for errors only

    by_last: dict[str, list[str]] = {}
    for path in known:
        by_last.setdefault(path.rpartition(".")[2], []).append(path)
    wanted = wanted.replace("/", ".")
    last = wanted.rpartition(".")[2]
    near = [path for each in get_close_matches(last, by_last) for path in by_last[each]]
    best = get_close_matches(wanted, near, cutoff=0.0)
    return f"did you mean {' or '.join(map(repr, best))}?" if best else ""


def repeated(items: Iterable[T]) -> list[T]:
    """Return the items that occur more than once, each once."""
    return [item for item, count in Counter(items).items() if count > 1]


# ---------------------------------------------------------------------- numbers


def require_number(
    value: object,
    what: str,
    hint: str = "",
    *,
    above: float = -inf,
    least: float = -inf,
    below: float = inf,
    most: float = inf,
    may_be_infinite: bool = False,
    expected: str = "",
) -> float:
    """Return a number as a float, within limits, finite by default, and never NaN.

    Parameters
    ----------
    value : object
        A real number of Python or NumPy, or an array of shape (); not a bool.
    what : str
        Name of the value, as "relax(accuracy=...)".
    hint : str, optional
    above, least, below, most : float
        Limits: above < value < below, least <= value <= most; infinite ones are not limits.
    expected : str, optional
        By default the limits, as "a finite number above 0".

    Raises
    ------
    NotANumberError
        It is not a real number.
    ShapeError
        It is a list or an array.
    OutOfRangeError
        It is beyond a limit, infinite, or NaN.
    """
    number = as_float(value)
    if number is None:
        hint = hint or "write a number"
        if isinstance(value, list | tuple) or getattr(value, "shape", ()) != ():
            raise ShapeError(f"{what}: not a single number", "one number", short_repr(value), hint)
        raise NotANumberError(f"{what}: not a number", "a number", short_repr(value), hint)
    is_within = (
        least <= number <= most
        and (above < number or above == -inf)
        and (number < below or below == inf)
    )
    if is_within and (may_be_infinite or isfinite(number)):
        return number
    limits = {"above": above, "from": least, "below": below, "up to": most}
    named = [f"{name} {limit:g}" for name, limit in limits.items() if isfinite(limit)]
    raise OutOfRangeError(
        f"{what}: out of range",
        expected or " ".join(["a number" if may_be_infinite else "a finite number", *named]),
        short_repr(value),
        hint or "give a number in this range",
    )


def require_positive(value: object, what: str, hint: str = "", *, expected: str = "") -> float:
    """Return a positive, finite number as a float; raise as `require_number` does."""
    expected = expected or "a positive, finite number"
    return require_number(value, what, hint, above=0.0, expected=expected)


def as_float(value: object) -> float | None:
    """Return a real number as a float; None if it is not one, or a bool, or masked."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", "" if dtype is not None else "f")
    if isinstance(value, bool | complex | str | bytes) or kind not in ("i", "u", "f", "O"):
        return None
    if getattr(value, "shape", ()) != () or hasattr(value, "mask"):
        return None
    try:
        return float(value)  # type: ignore[arg-type]  # raises TypeError if it is not a number
    except (TypeError, ValueError, OverflowError):
        return None


def whole_number(value: object) -> int | None:
    """Return an integer of any type as an int; None if it is not one, or a bool."""
    if isinstance(value, bool):
        return None
    try:
        return as_index(value)  # type: ignore[arg-type]  # raises TypeError if it is not one
    except TypeError:
        return None


def require_count(value: object, lowest: int, what: str, hint: str = "") -> int:
    """Return an integer as an int, from a lowest one up.

    Raises
    ------
    OutOfRangeError
    """
    number = whole_number(value)
    if number is not None and number >= lowest:
        return number
    raise OutOfRangeError(
        f"{what}: not a possible number",
        f"an integer from {lowest} up",
        short_repr(value),
        hint or f"give {lowest} or more",
    )


def require_index(
    value: object, count: int, error: Kind, what: str, hint: str, *, nothing: str = "nothing"
) -> int:
    """Return an index from 0 up, below a count, as an int.

    Parameters
    ----------
    what : str
        The thing with its index, as "body 3".
    nothing : str
        The text for "expected" where the count is 0, as "a matter with bodies".

    Raises
    ------
    error
    """
    number = whole_number(value)
    if number is not None and 0 <= number < count:
        return number
    raise error(
        f"{what}: does not exist",
        f"an index from 0 to {count - 1}" if count else nothing,
        short_repr(value),
        hint,
    )


def not_finite(what: str, values: Any, hint: str) -> NotANumberError:
    """Return the error of an array of numbers, some of which are NaN or infinite."""
    return NotANumberError(f"{what}: not finite", "finite numbers", short_repr(values), hint)


# ---------------------------------------------------------------------- extras


def require_extra(module: str, extra: str, what: str, instead: str = "") -> ModuleType:
    """Import a module that comes with an extra of stagecache.

    Its members are `Any`, since its types cannot be named where it may not be installed.

    Parameters
    ----------
    module : str
        As "matplotlib.pyplot".
    extra : str
        As "viz".
    what : str
        The call that needs it, as "draw()".
    instead : str, optional
        An alternative without it, as "use to_svg()".

    Raises
    ------
    MissingExtraError
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(
            f"{what}: {module.partition('.')[0]} is not installed",
            f"the extra {extra}",
            "none",
            f"pip install 'stagecache[{extra}]'" + (f", or {instead}" if instead else ""),
        ) from None
