"""Shortening of a failing program: operations are removed, then values simplified.

Hypothesis can shrink as well, but does not know programs: for forty operations it needs hundreds
of attempts, and this needs dozens.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import attrs

from stagecache.state.stage import Stage
from stagecache.testing.budget import OutOfTimeError, put_off_interrupt, within, without_limit
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.items import Item
from stagecache.testing.programs.files import SaveAndLoad
from stagecache.testing.programs.interrupts import Interrupt
from stagecache.testing.programs.operation import (
    AbstractOperation,
    Copy,
    ReadAll,
    ReadEntry,
    Realize,
)
from stagecache.testing.programs.writes import Related, SetTime, SetVariable, SetVector

Program = list[AbstractOperation]
MOST_ATTEMPTS: Final = 400
LONGEST: Final = 10.0
"""Time for the attempts [s]."""


class Shortener:
    """Search for the shortest program that fails like the first one.

    Parameters
    ----------
    perform : callable
        Runs a program; raises `Failure`.
    program : list of AbstractOperation
    failure : Failure
        The failure that it raised.
    given : frozenset of Item
        Variables whose values come from the user, and are kept.
    """

    def __init__(
        self,
        perform: Callable[[Program], Any],
        program: Program,
        failure: Failure,
        given: frozenset[Item] = frozenset(),
    ) -> None:
        self.perform = perform
        self.program = program
        self.failure = failure
        self.given = given
        self._attempts = 0

    def shorten(self) -> Failure:
        """Return the failure of the shortest program that is found within `LONGEST`."""
        size = None
        try:
            with suppress(OutOfTimeError), without_limit(), within(LONGEST):
                while size != (size := (len(self.program), self._weight())):
                    self._remove()
                    self._simplify()
        except KeyboardInterrupt:  # what was found is reported first
            if not put_off_interrupt():
                raise
        return self.failure

    def _remove(self) -> None:
        """Remove half of the operations, a quarter, ..., single ones, wherever possible."""
        size = max(1, len(self.program) // 2)
        while True:
            start = len(self.program) - size
            while start > -size:
                first = max(0, start)
                self._try([*self.program[:first], *self.program[start + size :]])
                start -= size
            if size == 1:
                return
            size //= 2

    def _simplify(self) -> None:
        for position in reversed(range(len(self.program))):
            for instead in self._simpler(self.program[position]):
                candidate = [*self.program[:position], instead, *self.program[position + 1 :]]
                if self._try(candidate):
                    break

    def _try(self, candidate: Program) -> bool:
        """Take a candidate if it fails likewise."""
        if self._attempts >= MOST_ATTEMPTS or candidate == self.program:
            return False
        self._attempts += 1
        try:
            self.perform(candidate)
        except Failure as failure:
            if failure.is_like(self.failure):
                self.program, self.failure = candidate, failure
                return True
        return False

    def _weight(self) -> int:
        return sum(len(repr(operation)) for operation in self.program)

    def _simpler(self, operation: AbstractOperation) -> Iterator[AbstractOperation]:
        """Yield operations that may replace one, the simplest first."""
        if operation.where:
            yield attrs.evolve(operation, where=0)
        item = self.failure.subject.item
        if isinstance(operation, ReadAll) and item is not None and item.kind == "entry":
            yield ReadEntry(item, where=operation.where)
        if isinstance(operation, Realize):
            yield from (Realize(Stage(g), where=operation.where) for g in range(operation.stage))
        if isinstance(operation, Interrupt):
            yield operation.operation
            if isinstance(operation.operation, Realize):
                yield from (
                    Interrupt(inner, operation.at)
                    for inner in self._simpler(operation.operation)
                    if isinstance(inner, Realize)
                )
            yield from (attrs.evolve(operation, at=at) for at in range(operation.at))
        if isinstance(operation, SaveAndLoad):
            yield Copy(where=operation.where)
            if operation.joins or operation.with_cache:
                yield SaveAndLoad(where=operation.where)
                yield SaveAndLoad(operation.joins, where=operation.where)
        if isinstance(operation, SetTime):
            yield from (SetTime(t, where=operation.where) for t in (1.0, 2.0) if t < operation.time)
        if isinstance(operation, SetVector):
            yield from self._simpler_vector(operation)
        if isinstance(operation, SetVariable):
            if operation.in_place:
                yield attrs.evolve(operation, in_place=False)
            if operation.item not in self.given and not isinstance(operation.value, Related):
                for value in _simpler_values(operation.value):
                    yield attrs.evolve(operation, value=value)

    def _simpler_vector(self, operation: SetVector) -> Iterator[AbstractOperation]:
        for item, value in operation.blocks:
            yield SetVariable(item, value, where=operation.where)
        if operation.in_place:
            yield attrs.evolve(operation, in_place=False)
        if operation.blocks and operation.subsystem is None:
            yield attrs.evolve(operation, blocks=operation.blocks[:1])
        if operation.values:
            yield from (
                attrs.evolve(operation, values=v) for v in ((0.0,), (2.0,)) if v < operation.values
            )


def _simpler_values(value: Any) -> Iterator[Any]:
    """Yield simpler values of the same type, the simplest first."""
    if isinstance(value, tuple) and value and all(type(x) is float for x in value):
        if len(value) > 1:
            yield value[:1]
        yield from ((x,) for x in _simpler_values(value[0])) if len(value) == 1 else ()
    if type(value) in (int, float):
        kind = type(value)
        for simple in (kind(0), kind(1), kind(2), kind(-1)):
            if len(repr(simple)) < len(repr(value)) or 0 <= simple < value <= 2:
                yield simple
