"""Source lines of functions and declarations, to which views of graphs point."""

import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

LIBRARY: Final = "stagecache."
WRAPPED: Final = "compute"
"""Name of the wrapped function in wrappers of this library."""

PACKAGE: Final = Path(__file__).parents[1]
"""Folder of this library."""

INSTALLED: Final = ("site-packages", "dist-packages")
"""Folders of installed packages."""

PROJECT: Final = ("pyproject.toml", ".git")
"""Files in the folder of a project."""

Source = tuple[str, int]
"""A file and a line in it."""

NOWHERE: Final[Source] = ("", 0)


def source_of(function: Callable[..., Any]) -> Source:
    """Return the file and the line of a function that a user wrote; ("", 0) if not known."""
    code = getattr(_innermost(function), "__code__", None)
    return NOWHERE if code is None else (code.co_filename, code.co_firstlineno)


def shown_file(file: str) -> str:
    """Return the path of a source file as others may see it: without the folders of a person.

    It begins at the package for this library and for installed packages, else at the project, which
    is the nearest folder with pyproject.toml or .git, else at the present folder. Where none of
    these holds the file, its name is left.
    """
    path = Path(file)
    if not path.is_absolute():
        return file
    if path.is_relative_to(PACKAGE):
        return (Path("stagecache") / path.relative_to(PACKAGE)).as_posix()
    for folder in path.parents:
        if folder.name in INSTALLED:
            return path.relative_to(folder).as_posix()
    for folder in path.parents:
        if any((folder / name).exists() for name in PROJECT):
            return path.relative_to(folder).as_posix()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name


def class_body() -> Source:
    """Return file and line of the class that is being defined now; ("", 0) outside of one."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        frame = frame.f_back  # a function
    code = frame.f_code
    return NOWHERE if code.co_name == "<module>" else (code.co_filename, frame.f_lineno)


def _innermost(function: Any) -> Any:
    """Return the function inside decorators, methods, partial functions and wrappers."""
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
