"""Lists of decorations, as others give them."""

from collections.abc import Iterable
from typing import Any

from stagecache.decorations.decorations import AbstractDecoration
from stagecache.errors import WrongTypeError, short_repr


def checked_decorations(given: Any, what: str) -> tuple[AbstractDecoration, ...]:
    """Return decorations as a tuple.

    Parameters
    ----------
    given : iterable of AbstractDecoration
    what : str
        What they are, to be named in errors.

    Raises
    ------
    WrongTypeError
        One of them is none, or they are no collection.
    """
    if isinstance(given, AbstractDecoration) or not isinstance(given, Iterable):
        raise WrongTypeError(
            f"{what}: is no list of decorations",
            "a list of decorations, which may be empty",
            short_repr(given),
            "put what is to be drawn into a list",
        )
    found = tuple(given)
    for number, decoration in enumerate(found):
        if not isinstance(decoration, AbstractDecoration):
            raise WrongTypeError(
                f"{what}: item {number} is no decoration",
                "a DecorativeSphere, or another of these classes",
                short_repr(decoration),
                "make one of it; of a point, for instance, DecorativePoint(point)",
            )
    return found
