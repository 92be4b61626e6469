"""Declared event triggers: numbers whose change of sign is an event."""

from collections.abc import Callable
from enum import Enum
from math import inf
from typing import Any, Final, TypeVar, final

from stagecache.errors import DeclarationError, NotANumberError, OutOfRangeError, short_repr
from stagecache.state.allocation import Attempt, allocate_triggers
from stagecache.state.items.layout import Rows, SubsystemLayout
from stagecache.state.refusals import check_count
from stagecache.state.stage import Stage, check_stage
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.declare.computations import check_compute
from stagecache.system.declare.declaration import Prerequisites, check_prerequisites
from stagecache.system.declare.rows import AbstractAllocatedRows, Compute, Size

F = TypeVar("F", bound=Callable[..., Any])

LOCALIZATION_WINDOW: Final = 0.1
"""How exactly the time of an event is found: in units of accuracy times time scale."""


class TriggerDirection(Enum):
    """Which change of sign of a trigger is an event."""

    RISING = "rising"
    FALLING = "falling"
    ANY = "any"

    def includes(self, *, rising: bool) -> bool:
        """Whether a change to a larger value counts, or to a smaller one."""
        return self is not (TriggerDirection.FALLING if rising else TriggerDirection.RISING)


@final
class TriggerDeclaration(AbstractAllocatedRows):
    """Declared event triggers.

    Attributes
    ----------
    stage : Stage
        Its realization computes them.
    direction : TriggerDirection
    localization_window : float
    initially : bool
    look_every : float
    handler_name : str
        The name of the method that is called when the event takes place; "" if there is none.
    """

    decorator = "event_trigger"

    def __init__(
        self,
        compute: Compute,
        stage: Stage,
        direction: TriggerDirection,
        size: Size,
        prerequisites: Prerequisites | None,
        localization_window: float = LOCALIZATION_WINDOW,
        *,
        initially: bool = False,
        look_every: float = inf,
    ) -> None:
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.localization_window = localization_window
        self.initially = initially
        self.look_every = look_every
        self.stage = stage
        self.direction = direction
        self.size = size
        self.prerequisites = prerequisites
        self.computed_by = stage
        self.available_from = stage if prerequisites is None else None
        self.handler_name = ""

    def handler(self, method: F) -> F:
        """Decorate the method ``(self, state)`` that is called when the event takes place.

        It may write the State. In a subclass it is overridden by its name.

        Raises
        ------
        DeclarationError
            There is one already.
        """
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
        """The name of its handler in a subsystem, whose class may have declared it anew; or ""."""
        for cls in type(subsystem).__mro__:
            declared = vars(cls).get(self.name)
            if isinstance(declared, TriggerDeclaration) and declared.handler_name:
                return declared.handler_name
        return ""

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """The rows of a subsystem's triggers of the stage."""
        return layout.triggers[self.stage]

    def slot(self, subsystem: Any) -> int:
        """Which of them are these."""
        return self._slot_among(
            subsystem, lambda d: isinstance(d, TriggerDeclaration) and d.stage == self.stage
        )

    def _fill(self, handle: Any) -> Callable[[Any], None] | None:
        x, slot, stage = handle._owner.index, self.slot(handle._owner), self.stage

        def fill(state: Any) -> None:
            contents = state._contents
            rows = contents.realization.layout.subsystems[x].triggers[stage][slot]
            contents.pools.write_triggers(stage, x, rows.start, handle(state))

        if not self.is_last:
            return fill

        def fill_at_stage(state: Any) -> None:  # the last of the stage sees all of it
            machine = state._contents.realization.machine
            at = machine.stage
            try:
                machine.pretend(self.stage)
                fill(state)
                machine.pretend(at)
            except BaseException:
                machine.pretend(at)
                raise

        return fill_at_stage

    def _allocate_rows(self, what: Attempt, count: int | None) -> None:
        allocate_triggers(what, self.stage, count)


def check_direction(direction: TriggerDirection | str, what: str) -> TriggerDirection:
    """Return a direction, given one or its value.

    Raises
    ------
    DeclarationError
    """
    try:
        return TriggerDirection(direction)
    except ValueError:
        raise DeclarationError(
            f"{what}: has no such direction",
            "one of " + ", ".join(d.value for d in TriggerDirection),
            short_repr(direction),
            "write direction=TriggerDirection.FALLING, or its value",
        ) from None


def check_window(window: float, what: str) -> float:
    """Return a localization window as a float.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    found = float(converted(window, FLOAT, (), f"{what}(localization_window=...)"))
    if not 0 < found < float("inf"):
        raise OutOfRangeError(
            f"{what}(localization_window=...): is out of range",
            "a positive number, in units of accuracy times default_time_scale",
            short_repr(window),
            f"leave it out for the default, {LOCALIZATION_WINDOW:g}",
        )
    return found


def check_initially(initially: bool, direction: TriggerDirection, what: str) -> bool:
    """Return whether a trigger may take place where a simulation begins.

    Raises
    ------
    NotANumberError, DeclarationError
    """
    if not isinstance(initially, bool):
        raise NotANumberError(
            f"{what}(initially=...): is not a truth value",
            "a bool",
            short_repr(initially),
            "write True or False",
        )
    if initially and direction is TriggerDirection.ANY:
        raise DeclarationError(
            f"{what}(initially=True): needs to know the side of zero",
            "direction='rising' for zero and more, or 'falling' for zero and less",
            f"direction={direction.value!r}",
            "name the direction; for any value, let a periodic or scheduled handler do it",
        )
    return initially


def check_look_every(look_every: float | None, what: str) -> float:
    """Return the longest time between two looks, infinite for None.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    if look_every is None:
        return inf
    found = float(converted(look_every, FLOAT, (), f"{what}(look_every=...)"))
    if not 0 < found < inf:
        raise OutOfRangeError(
            f"{what}(look_every=...): is out of range",
            "a positive number of seconds",
            short_repr(look_every),
            "leave it out if the trigger changes with the State",
        )
    return found


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
    """Declare event triggers, by the function ``(self, state)`` that computes them.

    An event takes place where one of them changes its sign. ``@name.handler`` decorates the method
    that is then called.

    Parameters
    ----------
    stage : Stage
        Time to Acceleration: its realization computes them.
    direction : TriggerDirection or str
        Which change of sign counts: rising, falling, or any.
    size : int or callable
        How many; or a function ``(self, state)``, as for `position_error`.
    prerequisites : tuple or callable, optional
        What they depend on, as for `cached`. The default is all of that stage.
    localization_window : float
        How exactly the time of the event is found, in units of accuracy times
        `System.default_time_scale`.
    initially : bool
        The event takes place at the beginning, too, if the value is then on the side that the
        direction leads to: zero or more, if it is rising; zero or less, if it is falling.
    look_every : float, optional
        The longest time between two looks [s], for what changes and changes back within a step.
        By default, an integrator looks at the ends of steps, and where the trigger turns.

    Raises
    ------
    StageOutOfRangeError, DeclarationError, OutOfRangeError, WrongTypeError
    NotANumberError, ShapeError
    """
    what = "event_trigger"
    stage = check_stage(stage, Stage.TIME, Stage.ACCELERATION, f"{what}(stage=...)")
    if not callable(size):
        size = check_count(size, 1, f"{what}(size=...)")
    checked = check_direction(direction, what)
    window = check_window(localization_window, what)
    is_initial = check_initially(initially, checked, what)
    longest = check_look_every(look_every, what)
    named = check_prerequisites(prerequisites, what)

    def declare(compute: Compute) -> TriggerDeclaration:
        function = check_compute(compute, what)
        return TriggerDeclaration(
            function, stage, checked, size, named, window, initially=is_initial, look_every=longest
        )

    return declare
