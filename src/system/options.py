"""Fields of options, which check their values, and statuses of results, with hints."""

from enum import Enum
from math import inf
from typing import Any

from attrs import Attribute, field

from stagecache.checks import as_float, require_bool, require_number


class Explained(Enum):
    """A status with its meaning, and a hint.

    Attributes
    ----------
    message : str
    hint : str
    """

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


def _name_of(options: object, attribute: "Attribute[Any]") -> str:
    """Return the name of an option in messages.

    A class of options is called as it is; or as `CALLED`, if its fields are the parameters of
    another class.
    """
    cls = type(options)
    return f"{getattr(cls, 'CALLED', cls.__name__)}({attribute.name}=...)"


def number(
    *,
    default: Any,
    kw_only: bool = True,
    above: float = -inf,
    least: float = -inf,
    below: float = inf,
    most: float = inf,
    may_be_infinite: bool = False,
    expected: str = "",
    hint: str = "",
) -> Any:
    """Return a field that is a number within limits, as for `require_number`; or its default."""
    usual = "leave it out for the default"
    if as_float(default) is not None:
        usual += f", {default:g}"

    def check(options: object, attribute: "Attribute[Any]", value: object) -> None:
        if value is None and default is None:
            return
        require_number(
            value,
            _name_of(options, attribute),
            hint or usual,
            above=above,
            least=least,
            below=below,
            most=most,
            may_be_infinite=may_be_infinite,
            expected=expected,
        )

    return field(default=default, validator=check, kw_only=kw_only)


def flag(*, default: bool = False) -> Any:
    """Return a field that is True or False."""

    def check(options: object, attribute: "Attribute[bool]", value: object) -> None:
        require_bool(value, _name_of(options, attribute))

    return field(default=default, validator=check, kw_only=True)
