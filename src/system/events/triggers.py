"""Declared event triggers: numbers whose change of sign is an event."""

from collections.abc import Callable
from enum import Enum
from math import inf
from typing import Any, Final, TypeVar, final

from attrs import frozen

from stagecache.checks import require_bool, require_count, require_positive
from stagecache.errors import DeclarationError, short_repr
from stagecache.state.allocation import Attempt, allocate_triggers
from stagecache.state.items.layout import Rows, SubsystemLayout
from stagecache.state.stage import Stage, check_stage
from stagecache.system.declare.computations import check_compute, decorator
from stagecache.system.declare.declaration import Prerequisites
from stagecache.system.declare.rows import AbstractAllocatedRows, Compute, Size
from stagecache.system.declare.trigger_rows import TriggerRow

F = TypeVar("F", bound=Callable[..., Any])

LOCALIZATION_WINDOW: Final = 0.1
"""The precision of the time of an event, in units of accuracy times time scale."""


class TriggerDirection(Enum):
    """The change of sign of a trigger that is an event."""

    RISING = "rising"
    FALLING = "falling"
    ANY = "any"

    def includes(self, *, rising: bool) -> bool:
        """Return True if a change to a larger value counts, or to a smaller one.

        Raises
        ------
        NotANumberError
        """
        rising = require_bool(rising, "includes(rising=...)")
        return self is not (TriggerDirection.FALLING if rising else TriggerDirection.RISING)


@final
@frozen
class TriggerOptions:
    """Options of a trigger, as `event_trigger` explains them.

    Attributes
    ----------
    stage : Stage
    direction : TriggerDirection
    localization_window : float
    initially : bool
    look_every : float
        [s]; infinite by default.
    """

    stage: Stage
    direction: TriggerDirection = TriggerDirection.ANY
    localization_window: float = LOCALIZATION_WINDOW
    initially: bool = False
    look_every: float = inf

    @classmethod
    def checked(
        cls,
        what: str,
        stage: Stage,
        direction: TriggerDirection | str,
        localization_window: float,
        initially: bool,
        look_every: float | None,
    ) -> "TriggerOptions":
        """Return the options of a call, whose name errors begin with.

        Raises
        ------
        StageOutOfRangeError, DeclarationError, OutOfRangeError, NotANumberError, ShapeError
        """
        stage = check_stage(stage, Stage.TIME, Stage.ACCELERATION, f"{what}(stage=...)")
        try:
            direction = TriggerDirection(direction)
        except ValueError:
            raise DeclarationError(
                f"{what}: invalid direction",
                "one of " + ", ".join(d.value for d in TriggerDirection),
                short_repr(direction),
                "write direction=TriggerDirection.FALLING, or its value",
            ) from None
        window = require_positive(
            localization_window,
            f"{what}(localization_window=...)",
            f"leave it out for the default, {LOCALIZATION_WINDOW:g}",
            expected="a positive number, in units of accuracy times default_time_scale",
        )
        initially = require_bool(initially, f"{what}(initially=...)")
        if initially and direction is TriggerDirection.ANY:
            raise DeclarationError(
                f"{what}(initially=True): needs to know the side of zero",
                "direction='rising' for zero and more, or 'falling' for zero and less",
                f"direction={direction.value!r}",
                "name the direction; for any value, let a periodic or scheduled handler do it",
            )
        longest = inf
        if look_every is not None:
            longest = require_positive(
                look_every,
                f"{what}(look_every=...)",
                "leave it out if the trigger changes with the State",
                expected="a positive number of seconds",
            )
        return cls(stage, direction, window, initially, longest)


def takes_rows(method: Any) -> bool:
    """Return True if a handler is called with the rows that have changed, too."""
    code = getattr(method, "__code__", None)
    return code is not None and code.co_argcount == 3


@final
class TriggerDeclaration(AbstractAllocatedRows):
    """Declared event triggers.

    Attributes
    ----------
    options : TriggerOptions
    stage : Stage
        The stage whose realization computes them.
    handler_name : str
        The name of the method that is called when the event takes place, or "".
    """

    decorator = "event_trigger"

    def __init__(
        self,
        compute: Compute,
        options: TriggerOptions,
        size: Size = 1,
        prerequisites: Prerequisites | None = None,
    ) -> None:
        super().__init__(compute, prerequisites, options.stage, options.stage)
        self.options = options
        self.stage = options.stage
        self.direction = options.direction
        self.size = size
        self.handler_name = ""

    def handler(self, method: F) -> F:
        """Decorate the method ``(self, state)`` that is called when the event takes place.

        It may write the State. In a subclass it is overridden by its name. With a third parameter,
        ``(self, state, rows)``, it is told which of several triggers have changed their signs: a
        tuple of their numbers, from 0.

        Raises
        ------
        DeclarationError
            There is one already.
        """
        if not takes_rows(method):
            check_compute(method, f"@{self.name}.handler")
        if self.handler_name:
            raise DeclarationError(
                f"@{self.name}.handler: there is one already",
                "one handler",
                f"{self.handler_name} and {method.__name__}",
                "let one method do all",
            )
        self.handler_name = method.__name__
        method._handles = self  # type: ignore[attr-defined]  # a function can have attributes
        return method

    def handled_in(self, subsystem: Any) -> str:
        """Return the name of its handler in a subsystem, whose class may replace it; or ""."""
        for cls in type(subsystem).__mro__:
            declared = vars(cls).get(self.name)
            if isinstance(declared, TriggerDeclaration) and declared.handler_name:
                return declared.handler_name
        return ""

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """Return the rows of a subsystem's triggers of the stage."""
        return layout.triggers[self.stage]

    def slot(self, subsystem: Any) -> int:
        """Return the index among them."""
        return self._slot_among(
            subsystem, lambda d: isinstance(d, TriggerDeclaration) and d.stage == self.stage
        )

    def _trigger(self, handle: Any) -> TriggerRow:
        owner = handle._owner
        return handle, owner.index, self.stage, self.slot(owner), self.is_last

    def _fill(self, handle: Any) -> Callable[[Any], None]:
        _, x, stage, slot, is_last = self._trigger(handle)

        def fill(state: Any) -> None:
            contents = state._contents
            rows = contents.realization.layout.subsystems[x].triggers[stage][slot]
            contents.pools.write_triggers(stage, x, rows.start, handle(state))

        if not is_last:
            return fill

        def fill_at_stage(state: Any) -> None:  # the last of the stage sees all of it
            machine = state._contents.realization.machine
            at = machine.stage
            try:
                machine.pretend(stage)
                fill(state)
                machine.pretend(at)
            except BaseException:
                machine.pretend(at)
                raise

        return fill_at_stage

    def _allocate_rows(self, what: Attempt, count: int | None) -> None:
        allocate_triggers(what, self.stage, count)


def event_trigger(
    *,
    stage: Stage,
    direction: TriggerDirection | str = TriggerDirection.ANY,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    localization_window: float = LOCALIZATION_WINDOW,
    initially: bool = False,
    look_every: float | None = None,
) -> Callable[[Compute], TriggerDeclaration]:
    """Declare event triggers: decorate the function ``(self, state)`` that computes them.

    An event takes place where one of them changes its sign. ``@name.handler`` decorates the method
    that is then called.

    Parameters
    ----------
    stage : Stage
        Time to Acceleration: its realization computes them.
    direction : TriggerDirection or str
        The change of sign that counts: rising, falling, or any.
    size : int or callable
        Their number; or a function ``(self, state)``, as for `position_error`.
    prerequisites : tuple or callable, optional
        Same as for `cached`. The default is all of that stage.
    localization_window : float
        The precision of the time of the event, in units of accuracy times
        `System.default_time_scale`.
    initially : bool
        The event takes place at the beginning, too, if the value is then on the side to which the
        direction leads: zero or more, if it is rising; zero or less, if it is falling.
    look_every : float, optional
        The longest time between two evaluations [s], for a value that changes and changes back
        within a step. By default, an integrator evaluates triggers at the ends of steps, and where
        they turn.

    Raises
    ------
    StageOutOfRangeError, DeclarationError, OutOfRangeError, WrongTypeError
    NotANumberError, ShapeError
    """
    what = "event_trigger"
    options = TriggerOptions.checked(
        what, stage, direction, localization_window, initially, look_every
    )
    if not callable(size):
        size = require_count(size, 1, f"{what}(size=...)")
    return decorator(what, lambda f, p: TriggerDeclaration(f, options, size, p), prerequisites)
