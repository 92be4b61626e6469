"""Operations that Control-C cuts short, where a computation or a hook of the model begins or ends.

::

    system.realize(state)      hook  ->  tip  ->  length
                               |0        |1        2|  3|     each bar is a place to strike

There, any code that puts things right after an exception does so. Between two lines it need not:
Control-C after ``lock.acquire()`` would leave a lock locked, and a check would hang.
"""

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, ClassVar

from attrs import frozen

from stagecache.system.core.system import System
from stagecache.system.declare.class_declarations import HOOKS
from stagecache.testing.items import layout_of
from stagecache.testing.oracle.comparison import LIBRARY
from stagecache.testing.programs.operation import AbstractOperation, ReadEntry, Realize
from stagecache.testing.programs.run import Run


def interrupted(system: System, at: int, do: Callable[[], object]) -> bool:
    """Do something, and strike with Control-C; return False if it ends before.

    A debugger, or whatever else traces the thread, sees nothing of it, and goes on afterwards.

    Parameters
    ----------
    system : System
        The model in which to strike.
    at : int
        Number of the place, from 0: where computations and hooks of the model begin and end.
    do : callable

    Raises
    ------
    KeyboardInterrupt
        Another one: of a person.
    """
    strike = _Strike(_codes_of(system), at)
    before = sys.gettrace()
    sys.settrace(strike)
    try:
        do()
    except KeyboardInterrupt as error:
        if error is not strike.error:
            raise
    finally:
        sys.settrace(before)
    return strike.error is not None


class _Strike:
    """A trace function that raises at the n-th begin or end of some functions."""

    def __init__(self, codes: frozenset[CodeType], at: int) -> None:
        self.error: KeyboardInterrupt | None = None
        self._codes = codes
        self._left = at

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code not in self._codes or self.error is not None:
            return None
        if event in ("call", "return"):
            if not self._left:
                self.error = KeyboardInterrupt("of stagecache.testing")
                raise self.error
            self._left -= 1
        frame.f_trace_lines = False
        return self


def _codes_of(system: System) -> frozenset[CodeType]:
    """Return the code of the computations and hooks of a model."""
    found: set[CodeType] = set()
    for function in layout_of(system.realize_topology()).functions:
        found.update(_codes_in(function))
    for subsystem in system.subsystems:
        cls = type(subsystem)
        for declaration in cls.declarations.values():
            one = getattr(declaration, "item", declaration)  # of a family
            found.update(_codes_in(getattr(one, "compute", None)))
        for name in HOOKS:
            found.update(_codes_in(getattr(cls, name, None)))
    return frozenset(found)


def _codes_in(function: Any) -> Iterator[CodeType]:
    """Yield the code of a function, and of functions that it wraps, except the library's."""
    while function is not None:
        inner = getattr(function, "__func__", None) or getattr(function, "func", None)
        code = getattr(function, "__code__", None)
        if (
            inner is None
            and isinstance(code, CodeType)
            and not function.__module__.startswith(LIBRARY)
        ):
            yield code
        function = inner or getattr(function, "__wrapped__", None)


@frozen
class Interrupt(AbstractOperation):
    """Read of an entry, or realization of a stage, cut short.

    Attributes
    ----------
    operation : ReadEntry or Realize
    at : int
        Where, as `interrupted` takes it.
    """

    may_raise: ClassVar[bool] = True

    operation: ReadEntry | Realize
    at: int = 0

    def number(self, run: Run) -> int:
        """Return the number of the State."""
        return self.operation.number(run)

    def is_possible(self, run: Run) -> bool:
        """Return True if the operation can be done now."""
        return self.operation.is_possible(run)

    def code(self, run: Run) -> str:
        """``interrupted(system, 3, lambda: system.realize(state))``."""
        return f"interrupted(system, {self.at}, lambda: {self.operation.code(run)})"

    def apply(self, run: Run) -> None:
        """Do it, and strike. A value that is read before is not compared, but what is valid is."""
        operation, state = self.operation, run.state(self.operation.where)
        do: Callable[[], object] = lambda: operation.apply(run)  # noqa: E731  # or a read
        if isinstance(operation, ReadEntry):
            do = lambda: operation.item.handle(state)(state)  # noqa: E731
        interrupted(run.system, self.at, do)
