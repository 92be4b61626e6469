"""Checks of the declaration of an entry, as far as its errors can be known in advance."""

import operator
from collections.abc import Callable, Iterable, Set
from functools import partial
from inspect import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
    signature,
)
from types import FunctionType
from typing import Any, Final, TypeVar

from stagecache.checks import require_bool, require_text
from stagecache.errors import (
    ComputeSignatureError,
    DeclarationError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.handles import AbstractNode

T = TypeVar("T")
VALUELESS: Final = (iscoroutinefunction, isgeneratorfunction, isasyncgenfunction)

Equality = bool | Callable[[Any, Any], Any] | None
"""Comparison of values: True stands for ==, False and None for no comparison."""


def check_prerequisites(prerequisites: object) -> tuple[AbstractNode, ...]:
    """Return prerequisites as a tuple; refuse a set: their order is the order of arguments."""
    if isinstance(prerequisites, tuple | list):
        return tuple(prerequisites)
    single = isinstance(prerequisites, AbstractNode)
    if single or isinstance(prerequisites, str | Set) or not isinstance(prerequisites, Iterable):
        raise WrongTypeError(
            f"prerequisites: cannot be {short_repr(prerequisites)}",
            "a tuple, a list or another ordered iterable of nodes",
            f"an object of type {type(prerequisites).__name__}",
            f"write prerequisites=({'node,' if single else 'a, b'})",
        )
    return tuple(prerequisites)


def check_function(
    name: str, compute: Callable[..., T] | None, prerequisites: tuple[str, ...]
) -> Callable[..., T]:
    """Return a compute function, if it takes the prerequisites, as far as that is known."""
    count = len(prerequisites)
    if type(compute) is FunctionType:  # the usual case, and a tenth of the time of the general one
        code = compute.__code__
        parameters = code.co_varnames[: code.co_argcount]
        if parameters != prerequisites and set(parameters) == set(prerequisites):
            raise ComputeSignatureError(
                f"entry {name!r}: its compute function names its prerequisites in another order",
                "parameters in the order of the prerequisites: " + ", ".join(prerequisites),
                ", ".join(parameters),
                "write both in the same order; parameters of other names are not compared",
            )
        plain = not code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)
        if plain and code.co_argcount == count and not code.co_kwonlyargcount:
            return compute
    if not callable(compute):
        raise WrongTypeError(
            f"entry {name!r}: its compute function cannot be called",
            "a function of the prerequisites",
            short_repr(compute),
            "pass a name and a function; or, as a decorator, neither of the two",
        )
    check_returns(compute, f"the compute function of entry {name!r}")
    try:
        signature(compute).bind(*range(count))
    except ValueError:
        return compute  # some builtins do not tell
    except TypeError as error:
        raise ComputeSignatureError(
            f"entry {name!r}: its compute function does not fit its prerequisites",
            f"a function that takes the handle of each prerequisite, {count} in all",
            f"{getattr(compute, '__name__', short_repr(compute))}{signature(compute)}: {error}",
            "let it take one argument for each prerequisite, in the same order",
        ) from None
    return compute


def check_returns(function: Callable[..., object], what: str) -> None:
    """Refuse a coroutine or generator function, which returns no value when it is called.

    The same holds for an object whose `__call__` is one, and for a `functools.partial` of one.

    Raises
    ------
    WrongTypeError
    """
    while isinstance(function, partial):
        function = function.func
    for called in (function, type(function).__call__):
        if any(is_one(called) for is_one in VALUELESS):
            raise WrongTypeError(
                f"{what}: returns no value when it is called",
                "a plain function",
                "a coroutine or generator function",
                "compute the value with def and return; for a sequence, return a tuple of it",
            )


def check_equal(equal: Equality, what: object) -> Callable[[Any, Any], Any] | None:
    """Return the function that compares two values, or None."""
    if equal is None or equal is False:
        return None
    if equal is True:
        return operator.eq
    if not callable(equal):
        raise WrongTypeError(
            f"{what}: its equal= is not a comparison",
            "True, which stands for ==, or a function of two values",
            short_repr(equal),
            "for arrays write equal=numpy.array_equal",
        )
    check_returns(equal, f"equal= of {what}")
    try:
        signature(equal).bind(None, None)
    except ValueError:
        return equal  # some builtins do not tell
    except TypeError as error:
        raise ComputeSignatureError(
            f"{what}: its equal= cannot be called with two values",
            "a function of the value before and the new one",
            f"{getattr(equal, '__name__', short_repr(equal))}{signature(equal)}: {error}",
            "let it take both, and return whether they are equal",
        ) from None
    return equal


def check_shared(
    what: str, shared: object, version: object, *, has_prerequisites: bool
) -> str | None:
    """Return the version of a function whose values are shared; None if they are not.

    Raises
    ------
    WrongTypeError, InvalidNameError
    DeclarationError
        A version is given, and nothing is shared; or its prerequisites do not say all.
    """
    text = require_text(version, f"{what}(version=...)")
    if not require_bool(shared, f"{what}(shared=...)"):
        if text:
            raise DeclarationError(
                f"{what}(version={text!r}): has no use",
                "version= together with shared=True",
                "shared=False",
                "leave it out, or share the entry",
            )
        return None
    if not has_prerequisites:
        raise DeclarationError(
            f"{what}(shared=True): does not say on which values it depends",
            "prerequisites=(...), at least one, and no available_from=...",
            "a stage, which has no value, or nothing",
            "name all that its function reads in prerequisites=(...)",
        )
    return text
