r"""Evaluations of ydot and outputs at moved values, each in a copy of one State.

::

    the State  --copy-->  base, realized   --copy, with all that is valid-->  moved, realized
                            |                                                   |
                            f(x)                                                f(x + h e)

So an entry that does not depend on the moved variable is not computed again. Each copy is observed.
"""

from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np

from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.reads import AT_ONCE, Reader, Reads
from stagecache.state.contents.observer import observe
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.linear.columns import Columns
from stagecache.study.linear.items import handles_of
from stagecache.study.linear.outputs import Outputs, stage_of
from stagecache.study.linear.sizes import sizes_of
from stagecache.study.methods.derivatives import Derivatives
from stagecache.system.core.hooks import noted_schedule
from stagecache.system.core.system import System
from stagecache.system.motion.prescribing import motions


@final
class Evaluations:
    """The State around which a System is linearized, and evaluations near it.

    Parameters
    ----------
    system : System
    state : State
        It is copied.
    inputs, outputs : iterable of handles, families or paths
    sizes : mapping of these to float

    Attributes
    ----------
    columns : Columns
    sizes : (number of columns,) float
    outputs : Outputs
    reads : Reads
    base : State
        Realized, with prescribed motion.
    values : (ny + number of outputs,) float
        ydot and outputs in it.
    count : int
        Number of evaluations so far.

    Raises
    ------
    StagecacheError
        An argument is refused, or a value is not finite.
    Exception
        Whatever a hook or a computation raises.
    """

    def __init__(
        self,
        system: System,
        state: State,
        inputs: Iterable[Any],
        outputs: Iterable[Any],
        sizes: Mapping[Any, float],
    ) -> None:
        self._system = system
        self.reads = Reads()
        self._schedule = (
            noted_schedule(self.reads, system._schedule_of_rates)
            if type(system).realize is System.realize
            else None
        )
        self.base = self._observed(state.copy())
        self._realize(self.base, Stage.INSTANCE)
        contents = self.base._contents
        paths = NodePaths(contents)
        moved = handles_of(contents, inputs, paths, "linearize(inputs=...)", are_moved=True)
        read = handles_of(contents, outputs, paths, "linearize(outputs=...)")
        self._stage = stage_of(read)
        self.columns = Columns(self.base, moved, paths)
        if any(each.stage <= Stage.INSTANCE for each in self.columns.inputs):
            self.base.invalidate_all(Stage.INSTANCE)  # as each write of such an input does
            self._realize(self.base, Stage.INSTANCE)
        self._is_driven = any(True for kind in "qu" for _ in motions(self.base, kind))
        self.count = 1
        self._advance(self.base)
        self.columns.values[: self.columns.ny] = contents.pools.y  # with prescribed motion
        self.sizes = sizes_of(system, self.base, self.columns, sizes, paths)
        self.outputs = Outputs(self.base, read, paths)
        self.values = np.concatenate([self._rates(self.base), self.outputs.values])

    def at(self, moved: Mapping[int, float]) -> Vector:
        """Return ydot and outputs where some columns have other values.

        Raises
        ------
        NotFiniteError, NotANumberError, ShapeError
        Exception
            Whatever a hook or a computation raises, with a note.
        """
        self.count += 1
        state = self._observed(self.base.copy(keep_cache=True))
        try:
            self.columns.write(state, moved)
            self._advance(state)
            return np.concatenate([self._rates(state), self.outputs.read(state)])
        except Exception as error:
            names = [self.columns.names[column] for column in moved]
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            error.add_note(f"while linearize() had moved {', '.join(names[:8])}{more} a little")
            raise

    def _observed(self, state: State) -> State:
        contents = state._contents
        observe(contents, *contents.observers, Reader(contents, self.reads))
        return state

    def _advance(self, state: State) -> None:
        """Set prescribed motion, and realize the State."""
        if self._is_driven:
            self._realize(state, Stage.TIME)
            self._system.prescribe_q(state)
            self._realize(state, Stage.POSITION)
            self._system.prescribe_u(state)
        self._realize(state, self._stage)

    def _realize(self, state: State, stage: Stage) -> None:
        if self._schedule is not None:
            self._system._realize_rates(state, state._contents, stage, self._schedule)
            return
        self.reads.step = AT_ONCE
        try:
            self._system.realize(state, stage)
        finally:
            self.reads.step = None

    def _rates(self, state: State) -> Vector:
        """Return ydot; 0 where q or u are prescribed.

        Raises
        ------
        NotFiniteError
        """
        rates: Vector = state._contents.pools.whole["ydot"].copy()
        derivatives = Derivatives(self._system, state)
        rates[derivatives._prescribed] = 0.0
        derivatives.check(rates)
        return rates
