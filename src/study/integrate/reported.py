"""States that a Study reports, which are only for reading."""

from typing import Final, final

from stagecache.state.contents.guards import Guard
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.integrate.constraint_keeper import ConstraintKeeper
from stagecache.study.integrate.options import IntegratorOptions
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.methods.derivatives import Derivatives
from stagecache.system.core.system import System

REPORTED: Final = Guard(
    "a State that a Study reports, which is only for reading",
    "let an event handler write it, not a reporter; or write into a copy; or, without a time "
    "stepper, into advanced_state of the integrator, and call reinitialize()",
)


@final
class InterpolatedState:
    """A copy of the advanced State, at an earlier time.

    Parameters
    ----------
    system : System
    advanced : State
        At Instance or further.
    options : IntegratorOptions
    statistics : IntegratorStatistics
    """

    def __init__(
        self,
        system: System,
        advanced: State,
        options: IntegratorOptions,
        statistics: IntegratorStatistics,
    ) -> None:
        self.state = advanced.copy()
        system.realize(self.state, Stage.INSTANCE)
        self._derivatives = Derivatives(system, self.state)
        self._statistics = statistics
        self._keeper: ConstraintKeeper | None = None
        keeper = ConstraintKeeper(system, options, statistics)
        if keeper.look(self.state) and options.project_interpolated_states:
            self._keeper = keeper

    def show(self, t: float, y: Vector) -> None:
        """Write a time and y, set prescribed motion, and project onto constraints.

        Raises
        ------
        ProjectionError
        Exception
            Any exception of a hook or an entry.
        """
        state = self.state
        state._contents.guard = None
        try:
            needed = Stage.TIME if self._keeper is None else Stage.VELOCITY
            self._derivatives.settle(t, y, needed)
            if self._keeper is not None and self._keeper.keep(state):
                self._derivatives.y = None
        finally:
            state._contents.guard = REPORTED
            self._statistics.num_realizations += self._derivatives.count
            self._derivatives.count = 0
