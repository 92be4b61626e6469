"""Stages: the order in which a State is realized.

Each stage stands for what can be computed once the variables up to it are known::

    EMPTY     nothing is there yet
    TOPOLOGY  the subsystems and their items are allocated
    MODEL     modeling options are set: q, u and z have their sizes and first values
    INSTANCE  parameters are set: so have errors, multipliers and event triggers
    TIME      the time is known
    POSITION  q
    VELOCITY  u
    DYNAMICS  z, forces
    ACCELERATION  udot and multipliers
    REPORT    what nothing else is computed from
    INFINITY  never reached
"""

from enum import IntEnum

from stagecache.errors import StageOutOfRangeError, short_repr


class Stage(IntEnum):
    """Stage of realization of a State, or of a subsystem in it. Stages compare as integers."""

    EMPTY = 0
    TOPOLOGY = 1
    MODEL = 2
    INSTANCE = 3
    TIME = 4
    POSITION = 5
    VELOCITY = 6
    DYNAMICS = 7
    ACCELERATION = 8
    REPORT = 9
    INFINITY = 10

    LOWEST_RUNTIME = 2  # from here on, a State is realized again and again
    HIGHEST_RUNTIME = 9

    def __str__(self) -> str:
        return self.name.capitalize()

    def next(self) -> "Stage":
        """Return the stage after this one.

        Raises
        ------
        StageOutOfRangeError
            Nothing comes after INFINITY.
        """
        return self._moved(1)

    def prev(self) -> "Stage":
        """Return the stage before this one.

        Raises
        ------
        StageOutOfRangeError
            Nothing comes before EMPTY.
        """
        return self._moved(-1)

    def _moved(self, by: int) -> "Stage":
        if not Stage.EMPTY <= self + by <= Stage.INFINITY:
            raise StageOutOfRangeError(
                f"stage {self}: the {'last' if by > 0 else 'first'} one",
                f"a stage {'before Infinity' if by > 0 else 'after Empty'}",
                str(self),
                "compare with Stage.EMPTY and Stage.INFINITY first",
            )
        return Stage(self + by)


def check_stage(stage: object, lowest: Stage, highest: Stage, what: object) -> Stage:
    """Return `stage` as a `Stage`, if it is one from `lowest` to `highest`.

    Raises
    ------
    StageOutOfRangeError
        `what` names the call or argument in it.
    """
    if type(stage) is Stage and lowest <= stage <= highest:
        return stage
    if isinstance(stage, int) and not isinstance(stage, bool) and lowest <= stage <= highest:
        return Stage(stage)
    got = str(stage) if isinstance(stage, Stage) else short_repr(stage)
    expected = f"a Stage from {lowest} to {highest}" if lowest < highest else f"Stage {lowest}"
    raise StageOutOfRangeError(
        f"{what}: the stage is out of range", expected, got, "use a member of Stage in that range"
    )
