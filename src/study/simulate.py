"""A simulation in one call: a State is advanced to a time, and becomes a trajectory."""

import warnings
from collections.abc import Iterable
from math import inf
from os import PathLike
from typing import Any, Final, final

from numpy.typing import ArrayLike

from stagecache.checks import require_path, require_type
from stagecache.errors import StudyError, short_repr
from stagecache.progress import Progress, ProgressBar
from stagecache.state.state import State
from stagecache.study.integrate.advancer import Advancer
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.plan import Plan
from stagecache.study.run import AbstractSink, Run
from stagecache.study.streaming import stream
from stagecache.study.trajectory.trajectory import Item, Trajectory
from stagecache.system.core.system import System

MOST_PIECES: Final = 8
"""Steps between two rows whose curves are kept; more are not, since rows at intervals are few."""

CURVES_OF_INTERVALS: Final = 2**26
"""Bytes that the curves between rows at intervals may take."""


def simulate(
    system: System,
    state: State,
    until: float,
    *,
    method: str = "DOP853",
    accuracy: float = 1e-3,
    every: float | ArrayLike | None = None,
    record: Iterable[Item] = (),
    into: Trajectory | str | PathLike[str] | None = None,
    batch: int = 1000,
    progress: Progress = None,
    **integrator_options: Any,
) -> Trajectory:
    """Advance a copy of a State to a time, handle all events on the way, and keep its values.

    Parameters
    ----------
    system : System
    state : State
        The start. It stays as it is.
    until : float
        Time of the end [s], unless a handler ends it before; infinite if only a handler does.
    method : str
    accuracy : float
        Same as for `Integrator`.
    every : float or array_like of shape (n,), optional
        Time between two rows [s]: the first row is at the beginning, and the last one at the end.
        Or the times of the rows [s], which increase, from the time of the State on and not beyond
        `until`. Events at these times are handled already. If a handler ends the simulation, the
        last row is at that time. By default each step of the method makes a row,
        and each event two: before it, and after it if it has changed anything. The dense output of
        steps is kept beside the rows, for `Trajectory.plot`; this costs DOP853 three evaluations a
        step, and other methods none.
    record : sequence of str or handles
        Entries that are kept in each row, as for `Trajectory`.
    into : Trajectory, str or os.PathLike, optional
        Trajectory to extend, instead of a new one, with its own recorded entries; or the name of a
        file for the rows, which replaces an older one, but not a run that can be resumed. If the
        simulation fails, the trajectory or the file has the rows until then.

        Rows go into a file in batches, so memory has two of them at most; the curves between rows
        (dense output) do not. `load_trajectory` opens it, and `resume` goes on with it after a
        crash. After a batch, the integrator goes on from
        what is in the file: explicit methods as they would have anyway, with the same rows; the
        others, "Radau", "BDF" and "LSODA", begin anew, as after an event.
    batch : int
        Number of rows to a batch of a file, or a few more. A crash loses the rows of one or two.
    progress : bool or rich.console.Console, optional
        Same as for `TimeStepper`.
    **integrator_options
        All other options of `IntegratorOptions` but the final time.

    Returns
    -------
    Trajectory

    Warns
    -----
    RuntimeWarning
        Nothing can move: bodies at rest, without a force.

    Raises
    ------
    OSError
    WrongTypeError, ForeignStateError, TopologyVersionError
    UnknownOptionError
        An option does not exist.
    UnknownChoiceError, NotANumberError, ShapeError, OutOfRangeError, StepSizeError
        The times of `every` do not increase, or are not simulated; or an option cannot have this
        value.
    StudyError
        Rows cannot be added to `into`, or it is a run that can be resumed.
    UnknownPathError, NodeKindError, WrongTypeError, ForeignNodeError
        An entry to be recorded does not exist.
    Exception
        See `TimeStepper.step_to`.

    Examples
    --------
    >>> from stagecache import State, Subsystem, System, parameter, q_variable
    >>> from stagecache.study.simulate import simulate
    >>> class Cart(Subsystem):
    ...     place = q_variable(0.0)
    ...     speed = parameter(2.0)
    ...
    ...     def realize_velocity(self, state: State) -> None:
    ...         state[self].upd_qdot()[0] = self.speed(state)
    >>> cart = Cart()
    >>> system = System(cart)
    >>> trajectory = simulate(system, system.realize_topology(), 1.0, every=0.25)
    >>> trajectory.times, trajectory["cart.place"].round(6)
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0. , 0.5, 1. , 1.5, 2. ]))
    """
    hint = "pass the System of the State"
    require_type(system, System, "simulate(system): not a System", "a System", hint)
    system._require_own(state)
    if why := system._why_it_stays(state):
        warnings.warn(f"simulate(): {why}", RuntimeWarning, stacklevel=2)
    plan = Plan.of(
        state.time,
        until,
        every=every,
        method=method,
        accuracy=accuracy,
        batch=batch,
        options=integrator_options,
    )
    if isinstance(into, str | PathLike):
        path = require_path(into, "simulate(into=...)")
        return stream(system, state, plan, path, Trajectory(state, record), progress)
    trajectory = Trajectory(state, record) if into is None else _own(into, system, record)
    with ProgressBar(system.name, plan.begin, plan.until, progress) as bar:
        run = Run(
            system, plan, Rows(trajectory, inf if every is None else CURVES_OF_INTERVALS), bar.show
        )
        trajectory._ending = run.begin(state)
    return trajectory


@final
class Rows(AbstractSink):
    """The rows of a trajectory in memory, with the curves between them.

    Parameters
    ----------
    trajectory : Trajectory
    most_bytes : float
        Memory that curves may take; those that follow are not kept.
    """

    def __init__(self, trajectory: Trajectory, most_bytes: float) -> None:
        self._trajectory = trajectory
        self._bytes_left = most_bytes
        self._pieces: list[StepPolynomial] = []  # since the last row
        self._seen = -inf  # the start of the last step
        self._has_gap = True  # since the last row

    def see_step(self, integrator: Integrator) -> None:
        """Take the curve of a new step, unless there are too many since the last row."""
        advancer = integrator._initialized("the last step")
        if not self._seen < advancer.t_old < advancer.t:
            return
        self._seen = advancer.t_old
        self._has_gap |= len(self._pieces) == MOST_PIECES
        if not self._has_gap:
            self._take(advancer)

    def append(self, state: State, integrator: Integrator, *, has_changed: bool) -> None:
        """Add a row, and the curve to it from the last one; after events it may have no length."""
        self._trajectory.append(state)
        if not self._has_gap and (self._pieces or has_changed):
            self._trajectory._kept.curves[-1] = tuple(self._pieces)
        goes_on = state.time < integrator.advanced_time  # the last step
        self._pieces = self._pieces[-1:] if goes_on and not self._has_gap else []
        if self._has_gap:
            self._has_gap = False
            if goes_on:
                self._take(integrator._initialized("the last step"))

    def _take(self, advancer: Advancer) -> None:
        """Take the curve of the last step, unless there is no memory for it."""
        self._has_gap = self._bytes_left <= 0
        if not self._has_gap:
            piece = advancer.curve()
            self._bytes_left -= piece.y0.nbytes + piece.parts.nbytes
            self._pieces.append(piece)

    @property
    def is_full(self) -> bool:
        """False: there is always room."""
        return False

    def restart(self, restart: bytes) -> None:
        """Ignore a restart."""


def _own(into: Trajectory, system: System, record: Iterable[Item]) -> Trajectory:
    """Return a trajectory to which rows of a System can be added."""
    is_one = isinstance(into, Trajectory)
    if is_one and into.system is system and record == ():
        return into
    raise StudyError(
        "simulate(into=...): cannot have these rows",
        f"a Trajectory of {system!r}, and no record=... beside it",
        short_repr(into)
        if not is_one or into.system is not system
        else f"record={short_repr(record)}",
        "write into=Trajectory(state, record=...), with a State of this System",
    )
