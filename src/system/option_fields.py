"""Checks of the fields of options, which name the option that is refused.

A class of options is called as it is; or as `CALLED`, if its fields are the parameters of another.
"""

from numbers import Real
from typing import Any

from attrs import Attribute, field

from stagecache.errors import NotANumberError, short_repr


def option(options: object, attribute: "Attribute[Any]") -> str:
    """What messages call an option."""
    cls = type(options)
    return f"{getattr(cls, 'CALLED', cls.__name__)}({attribute.name}=...)"


def check_number(options: object, attribute: "Attribute[Any]", value: object) -> None:
    """Refuse what is no number, nor left out."""
    is_left_out = value is None and attribute.default is None
    if not is_left_out and (isinstance(value, bool) or not isinstance(value, Real)):
        raise NotANumberError(
            f"{option(options, attribute)}: is no number",
            "a number",
            short_repr(value),
            "write it as one, for instance 1e-6; or leave it out",
        )


def check_flag(options: object, attribute: "Attribute[bool]", value: object) -> None:
    """Refuse what is no truth value."""
    if not isinstance(value, bool):
        raise NotANumberError(
            f"{option(options, attribute)}: is no truth value",
            "a bool",
            short_repr(value),
            "write True or False",
        )


def flag(*, default: bool = False) -> Any:
    """A field that is True or False."""
    return field(default=default, validator=check_flag, kw_only=True)
