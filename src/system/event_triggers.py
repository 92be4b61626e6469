"""Declared event triggers: numbers whose change of sign is an event."""

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar, final

from stagecache.errors import DeclarationError, brief
from stagecache.state.allocation import Attempt, allocate_triggers
from stagecache.state.contents import Contents
from stagecache.state.handles import Vector
from stagecache.state.layout import Rows, SubsystemLayout
from stagecache.state.refusals import check_count
from stagecache.state.stage import Stage, check_stage
from stagecache.system.computations import check_compute
from stagecache.system.declaration import Prerequisites, check_prerequisites
from stagecache.system.rows import AbstractAllocatedRows, Compute, Size

F = TypeVar("F", bound=Callable[..., Any])


class TriggerDirection(Enum):
    """Which change of sign of a trigger is an event."""

    RISING = "rising"
    FALLING = "falling"
    ANY = "any"


@final
class TriggerDeclaration(AbstractAllocatedRows):
    """Declared event triggers.

    Attributes
    ----------
    stage : Stage
        Its realization computes them.
    direction : TriggerDirection
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
    ) -> None:
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.stage = stage
        self.direction = direction
        self.size = size
        self.prerequisites = prerequisites
        self.computed_by = stage
        self.depends_on = stage if prerequisites is None else None
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

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """The rows of a subsystem's triggers of the stage."""
        return layout.triggers[self.stage]

    def slot(self, subsystem: Any) -> int:
        """Which of them are these."""
        return self._slot_among(
            subsystem, lambda d: isinstance(d, TriggerDeclaration) and d.stage == self.stage
        )

    def _allocate_rows(self, what: Attempt, count: int | None) -> None:
        allocate_triggers(what, self.stage, count)

    def _write(self, contents: Contents, subsystem: int, start: int, values: Vector) -> None:
        contents.pools.write_triggers(self.stage, subsystem, start, values)


def event_trigger(
    *,
    stage: Stage,
    direction: TriggerDirection | str = TriggerDirection.ANY,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
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

    Raises
    ------
    StageOutOfRangeError, DeclarationError, InvalidCountError, PrerequisitesError
    """
    what = "event_trigger"
    stage = check_stage(stage, Stage.TIME, Stage.ACCELERATION, f"{what}(stage=...)")
    if not callable(size):
        size = check_count(size, 1, f"{what}(size=...)")
    try:
        direction = TriggerDirection(direction)
    except ValueError:
        raise DeclarationError(
            f"{what}: has no such direction",
            "one of " + ", ".join(d.value for d in TriggerDirection),
            brief(direction),
            "write direction=TriggerDirection.FALLING, or its value",
        ) from None
    named = check_prerequisites(prerequisites, what)

    def declare(compute: Compute) -> TriggerDeclaration:
        return TriggerDeclaration(check_compute(compute, what), stage, direction, size, named)

    return declare
