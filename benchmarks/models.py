"""The models that are realized for cost: equal subsystems with one q and one u each.

::

    Hooked            a hook that does nothing, at each stage from Position to Acceleration
    Computed          at each of these stages, an entry that the stage's realization computes
    Scalar            an entry below its q, which no stage computes
    Tuned             a parameter, and nothing to do at any stage

`peers/drake_model.py` has the same in Drake.
"""

from typing import Final, final

import numpy as np

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    parameter,
    q_variable,
    u_variable,
)

STAGES: Final = (Stage.POSITION, Stage.VELOCITY, Stage.DYNAMICS, Stage.ACCELERATION)
"""Those that a write of q and u leaves to be realized and for which a model has something to do.

Time is not among them: a write of q leaves the State there.
"""


@final
class Hooked(Subsystem):
    """Overrides a hook for each of the stages, which does nothing."""

    position = q_variable(0.1)
    speed = u_variable(0.2)

    def realize_position(self, state: State) -> None:
        pass

    def realize_velocity(self, state: State) -> None:
        pass

    def realize_dynamics(self, state: State) -> None:
        pass

    def realize_acceleration(self, state: State) -> None:
        pass


@final
class Computed(Subsystem):
    """Declares an entry for each of the stages, which depends on it and is computed by it."""

    position = q_variable(0.1)
    speed = u_variable(0.2)

    @cached(available_from=Stage.POSITION, computed_by=Stage.POSITION)
    def at_position(self, state: State) -> float:
        return 0.0

    @cached(available_from=Stage.VELOCITY, computed_by=Stage.VELOCITY)
    def at_velocity(self, state: State) -> float:
        return 0.0

    @cached(available_from=Stage.DYNAMICS, computed_by=Stage.DYNAMICS)
    def at_dynamics(self, state: State) -> float:
        return 0.0

    @cached(available_from=Stage.ACCELERATION, computed_by=Stage.ACCELERATION)
    def at_acceleration(self, state: State) -> float:
        return 0.0


@final
class Scalar(Subsystem):
    """Declares an entry below its q."""

    position = q_variable(0.1)
    speed = u_variable(0.2)

    @cached(prerequisites=(position,))
    def below_position(self, state: State) -> float:
        return 0.0


@final
class Tuned(Subsystem):
    """Declares a parameter."""

    position = q_variable(0.1)
    speed = u_variable(0.2)
    gain = parameter(1.0)


@final
class Model:
    """A System of some subsystems, and a State of it that is realized to Acceleration.

    The System has its default subsystem as well, which has nothing to do.

    Attributes
    ----------
    system : System
    state : State
    q, u : ndarray
        What to write.
    """

    def __init__(self, *subsystems: Subsystem) -> None:
        self.system = System()
        for number, subsystem in enumerate(subsystems, 1):
            self.system.add(subsystem, f"subsystem_{number}")
        self.state = self.system.new_state()
        self.system.realize(self.state, Stage.ACCELERATION)
        self.q = np.full(len(subsystems), 0.3)
        self.u = np.full(len(subsystems), 0.4)

    def names(self) -> dict[str, object]:
        """Return what the statements name."""
        return {
            "system": self.system,
            "state": self.state,
            "q": self.q,
            "u": self.u,
            "INSTANCE": Stage.INSTANCE,
            "POSITION": Stage.POSITION,
            "ACCELERATION": Stage.ACCELERATION,
        }
