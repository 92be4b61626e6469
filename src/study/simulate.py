"""A simulation in one call: a State is advanced to a time, and becomes a trajectory."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_positive
from stagecache.errors import OutOfRangeError, ShapeError, StudyError, short_repr
from stagecache.state.handles import Vector
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.study.integrate.integrator import Integrator, passed
from stagecache.study.integrate.options import require_options
from stagecache.study.integrate.step_status import StepStatus
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.progress import Progress, ProgressBar
from stagecache.study.time_stepper import TimeStepper
from stagecache.study.trajectory.trajectory import Item, Trajectory
from stagecache.system.core.system import System
from stagecache.system.events.times import rounding


def simulate(
    system: System,
    state: State,
    until: float,
    *,
    method: str = "DOP853",
    accuracy: float = 1e-3,
    every: float | ArrayLike | None = None,
    record: Iterable[Item] = (),
    into: Trajectory | None = None,
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
        and each event two: before it, and after it if it has changed anything; and the dense output
        of each step is kept, which `Trajectory.plot` draws.
    record : sequence of str or handles
        Entries that are kept in each row, as for `Trajectory`.
    into : Trajectory, optional
        Trajectory to extend, instead of a new one, with its own recorded entries. If the simulation
        fails, it has the rows until then.
    progress : bool or rich.console.Console, optional
        Same as for `TimeStepper`.
    **integrator_options
        All other options of `IntegratorOptions` but the final time.

    Returns
    -------
    Trajectory

    Raises
    ------
    WrongTypeError, ForeignStateError, TopologyVersionError
    UnknownOptionError
        An option does not exist.
    UnknownChoiceError, NotANumberError, ShapeError, OutOfRangeError, StepSizeError
        The times of `every` do not increase, or are not simulated; or an option cannot have this
        value.
    StudyError
        Rows cannot be added to `into`.
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
    end = float(converted(until, FLOAT, (), "simulate(until=...)"))
    interval: float | None = None
    rows: Vector | None = None
    if every is not None and np.ndim(every):
        rows = converted(every, FLOAT, None, "simulate(every=...)")
    elif every is not None:
        interval = require_positive(
            every,
            "simulate(every=...)",
            "leave it out for a row each step",
        )
    own = ("every", "record", "progress", "accuracy", "method", "into")
    require_options(integrator_options, "simulate", own, ("final_time",))
    integrator_options.setdefault("return_every_step", every is None)
    integrator = Integrator(system, method, accuracy=accuracy, final_time=end, **integrator_options)
    system._require_own(state)
    begin = state.time
    if not begin <= end:
        raise passed("simulate(until=...)", begin, until)
    if rows is not None:
        _check_times(rows, begin, end)
    trajectory = Trajectory(state, record) if into is None else _own(into, system, record)
    stepper = TimeStepper(system, integrator, progress=False)
    with ProgressBar(system.name, begin, end, progress) as bar:
        if every is None:
            stepper._see = partial(_append, trajectory, integrator)
        stepper.initialize(state)
        for time in _times(begin, end, interval) if rows is None else rows.tolist():
            status = stepper._step_to(time, bar.show)
            trajectory.append(stepper.state)
            if status is StepStatus.END_OF_SIMULATION:
                break
        while stepper._step_to(end, bar.show) is not StepStatus.END_OF_SIMULATION:
            pass
    trajectory._reason = integrator.termination_reason
    trajectory._statistics = integrator.statistics
    return trajectory


def _append(
    trajectory: Trajectory, integrator: Integrator, state: State, has_changed: bool
) -> None:
    """Add a row, and the curve to it from the last one; after events it has no length."""
    rows = trajectory._kept
    since = float(trajectory.times[-1]) if len(trajectory) else -inf
    trajectory.append(state)
    if has_changed:
        rows.curves[-1] = StepPolynomial.constant(state.time, np.array(state.y))
    else:
        rows.curves[-1] = integrator._initialized("the last step").curve_since(since)


def _check_times(times: Vector, begin: float, end: float) -> None:
    """Refuse times of rows that are not finite, do not increase, or are not simulated."""
    what, hint = (
        "simulate(every=...)",
        "give a step in seconds, or times as np.linspace(0, 10, 101)",
    )
    if times.ndim != 1 or not times.size:
        raise ShapeError(
            f"{what}: not a sequence of times", "shape (n,)", f"shape {times.shape}", hint
        )
    is_finite = np.isfinite(times)
    if not is_finite.all():
        at = int(np.argmin(is_finite))
        raise OutOfRangeError(
            f"{what}: not a finite time", "finite numbers", f"{times[at]} at index {at}", hint
        )
    increases = np.diff(times) > 0
    if not increases.all():
        at = int(np.argmin(increases))
        raise OutOfRangeError(
            f"{what}: the times do not increase",
            "times that increase",
            f"{times[at]:.9g} and then {times[at + 1]:.9g}, at index {at + 1}",
            "sort them; np.unique(times) does so, and leaves each once",
        )
    if not begin <= times[0] <= times[-1] <= end:
        raise OutOfRangeError(
            f"{what}: a time is not simulated",
            f"times from {begin:.9g}, the time of the State, to until = {end:.9g}",
            f"times from {times[0]:.9g} to {times[-1]:.9g}",
            "change until=..., state.time, or these times",
        )


def _times(begin: float, end: float, every: float | None) -> Iterator[float]:
    """Multiples of the interval, counted from the beginning, and the end; they do not drift."""
    if every is None:
        return
    for k in count():
        time = begin + k * every
        if time >= end - rounding(end, begin, every):
            yield end
            return
        yield time


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
