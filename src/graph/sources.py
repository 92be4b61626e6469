"""Where functions are written: for views of graphs, which point to what computes a node."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Final

LIBRARY: Final = "stagecache."
WRAPPED: Final = "compute"
"""What wrappers of this library call the function that they wrap."""

Source = tuple[str, int]
"""A file and a line in it."""

NOWHERE: Final[Source] = ("", 0)


def source_of(function: Callable[..., Any]) -> Source:
    """The file and the line of a function that a user wrote; ("", 0) where that is not known."""
    code = getattr(_innermost(function), "__code__", None)
    return NOWHERE if code is None else (code.co_filename, code.co_firstlineno)


def _innermost(function: Any) -> Any:
    """What is inside of decorators, methods, partial functions, and wrappers of this library."""
    while True:
        inner = inspect.unwrap(function)
        inner = getattr(inner, "__func__", inner)
        if isinstance(inner, partial):
            inner = inner.func
        if str(getattr(inner, "__module__", "")).startswith(LIBRARY):
            inner = _from_closure(inner)
        if inner is function:
            return inner
        function = inner


def _from_closure(function: Any) -> Any:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    if WRAPPED not in names:
        return function
    found = function.__closure__[names.index(WRAPPED)].cell_contents
    return found if callable(found) else function
