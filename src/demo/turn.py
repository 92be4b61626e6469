"""The work of the demonstration: its model is assembled once, then driven through a turn, twice.

The model is `stagecache.examples.four_bar`::

    poor start  --assemble-->  closed  --track, track, ...-->  a full turn, timed
                                  |
                                  '-----track, track, ...-->   the same, with a trace

A trace takes time, so times are measured in the first turn, and computations are counted in the
second one.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.assembly import Assembler, AssemblyResult, QValue
from stagecache.examples.four_bar import ACCURACY, POOR_START, Gauge, closed_form, system
from stagecache.inspection.trace.summary import TraceSummary
from stagecache.progress import ProgressBar
from stagecache.state import CacheEntry, State
from stagecache.system import System
from stagecache.views import GraphView, Status

Vector = NDArray[np.float64]
Row = tuple[Vector, Vector, Vector, float, int]


@final
@frozen
class Turn:
    """A turn in n frames; frame 0 is the one that was assembled.

    Attributes
    ----------
    q : (n + 1, nq) ndarray
        [rad]
    angles : (n + 1, 3) ndarray
        Angles of crank, coupler and rocker, as in `Gauge.angles` [rad].
    points : (n + 1, 3) ndarray
        Position of the coupler point [m].
    error_norms : (n + 1,) ndarray
        [m]
    iterations : (n + 1,) ndarray
        Iterations of the Assembler.
    seconds : (n,) ndarray
        Duration of each `track` [s].
    """

    q: Vector
    angles: Vector
    points: Vector
    error_norms: Vector
    iterations: NDArray[np.int_]
    seconds: Vector

    @property
    def difference(self) -> float:
        """Largest difference of coupler and rocker from the closed form [rad]."""
        exact = np.stack(closed_form(self.angles[:, 0]), axis=1)
        return float(np.abs(self.angles[:, 1:] - exact).max())


@final
@frozen
class Saving:
    """Times to read results in the frames of a turn, with and without a cache.

    Attributes
    ----------
    results : tuple of str
        Entries that are read in each frame, by path.
    cached : float
        Time to write q and read the results in all frames [s].
    again : float
        Time to read them once more in all frames, after nothing was written [s].
    uncached : float
        Time to read each of them in a turn of its own [s]: there, nothing that another result needs
        is valid, so each one is computed from q.
    """

    results: tuple[str, ...]
    cached: float
    again: float
    uncached: float


@final
@frozen
class Demonstration:
    """Results of the demonstration.

    Attributes
    ----------
    system : System
    start : State
        The assembled State; frames differ from it in q.
    poor_error : float
        The error norm before it was assembled [m].
    tolerance : float
        Tolerance of errors [m].
    assembled : AssemblyResult
    turn : Turn
    summary : TraceSummary
        Summary of the turn with a trace.
    graph : GraphView
        Graph after that turn, without costs.
    saving : Saving
    """

    system: System
    start: State
    poor_error: float
    tolerance: float
    assembled: AssemblyResult
    turn: Turn
    summary: TraceSummary
    graph: GraphView
    saving: Saving

    @property
    def num_frames(self) -> int:
        """Number of frames, without frame 0."""
        return len(self.turn.seconds)

    @property
    def not_computed(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Entries that no frame has computed: those that were valid, and those not read."""
        computed = {row.entry for row in self.summary.rows if row.computed}
        nodes = [n for n in self.graph if n.kind == "entry" and n.path not in computed]
        kept = tuple(n.path for n in nodes if n.status is Status.VALID)
        return kept, tuple(n.path for n in nodes if n.path not in kept)


def gauge_of(model: System) -> Gauge:
    """Return the gauge that measures the linkage."""
    return model.get(Gauge)


def demonstrate(num_frames: int, progress: bool | None = None) -> Demonstration:
    """Assemble the linkage, and drive it through a turn, without and with a trace.

    Parameters
    ----------
    num_frames : int
        Number of frames in a turn. Steps of 30 degrees are still followed easily.
    progress : bool, optional
        Same as for `simulate`.
    """
    model = system()
    gauge = gauge_of(model)
    state = model.new_state()
    state.q = POOR_START
    assembler = Assembler(model, accuracy=ACCURACY)
    crank = assembler.add_goal(QValue(gauge.bars[0], 0, 0.0, "crank"))
    assembler.set_internal_state(state)
    poor_error = assembler.calc_current_error_norm()
    assembled = assembler.assemble(state)

    first = measured(gauge, state, assembled)
    with ProgressBar("tracking", 0, 2 * num_frames, progress, counted="frame") as bar:
        frames, seconds = drive(assembler, crank, num_frames, bar.show)
        crank.value = 0.0
        assembler.set_internal_state(state)
        assembler.calc_current_error_norm()
        measured(gauge, assembler.internal_state, assembled)  # frame 0 is not counted
        with assembler.internal_state.trace(most=0) as trace:
            drive(assembler, crank, num_frames, lambda frame: bar.show(num_frames + frame))
    q, angles, points, norms, iterations = map(np.array, zip(first, *frames, strict=True))
    return Demonstration(
        model,
        state,
        poor_error,
        assembler.error_tolerance,
        assembled,
        Turn(q, angles, points, norms, iterations, np.array(seconds)),
        trace.summary(),
        assembler.internal_state.graph,
        measure_saving(gauge, state.copy(), q),
    )


def drive(
    assembler: Assembler, crank: QValue, num_frames: int, show: Callable[[int], None]
) -> tuple[list[Row], list[float]]:
    """Track a turn of the crank, and measure each frame.

    Parameters
    ----------
    assembler : Assembler
        Assembler of the model, at a crank angle of 0.
    crank : QValue
        Its goal.
    num_frames : int
    show : callable
        Called with the number of each frame, from 1.

    Returns
    -------
    tuple of list
        Measurements in each frame, and the duration of each `track` [s].
    """
    gauge = gauge_of(assembler.system)
    rows, seconds = [], []
    for frame in range(1, num_frames + 1):
        crank.value = 2.0 * np.pi * frame / num_frames
        begin = perf_counter()
        result = assembler.track()
        seconds.append(perf_counter() - begin)
        rows.append(measured(gauge, assembler.internal_state, result))
        show(frame)
    return rows, seconds


def measured(gauge: Gauge, state: State, result: AssemblyResult) -> Row:
    """Return a row of a `Turn`: the first five columns."""
    found = gauge.angles(state), gauge.point(state)
    return state.q.copy(), *found, result.error_norm, result.num_iterations


def measure_saving(gauge: Gauge, state: State, frames: Vector) -> Saving:
    """Measure how long it takes to read results in each frame, with and without a cache.

    Parameters
    ----------
    gauge : Gauge
    state : State
        State to write.
    frames : (n, nq) array_like
        Vectors q.
    """
    poses = [bar.pose for bar in gauge.bars]
    results: tuple[CacheEntry[Any], ...] = (gauge.angles, gauge.point, *poses)

    def turn(*read: CacheEntry[Any]) -> Vector:
        seconds = np.zeros(2)
        for q in frames:
            begin = perf_counter()
            state.q = q
            for entry in read:
                entry(state)
            after = perf_counter()
            for entry in read:
                entry(state)
            seconds += after - begin, perf_counter() - after
        return seconds

    cached, again = turn(*results)
    uncached = sum(turn(result)[0] for result in results)
    return Saving(tuple([str(result) for result in results]), cached, again, uncached)
