"""The work of the demonstration: a model is assembled, then driven through a turn four times.

The model is `stagecache.examples.four_bar`::

    poor start  --assemble-->  closed  --track, track, ...-->  a full turn, timed
                                  |
                                  |-----track, track, ...-->   the same, with a trace
                                  |-----track, track, ...-->   the same, for comparison with:
                                  '-----track, track, ...-->   the same, without a cache

A trace takes time, so times are measured in the first turn, and computations are counted in the
second one. In the last one, each computed value serves one read only.
"""

from collections.abc import Callable
from itertools import count
from time import perf_counter, process_time
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.assembly import Assembler, AssemblyResult, QValue
from stagecache.examples.four_bar import ACCURACY, POOR_START, Gauge, closed_form, system
from stagecache.graph.evaluation import NO_FUNCTION
from stagecache.inspection.trace.summary import TraceSummary
from stagecache.progress import ProgressBar
from stagecache.state import CacheEntry, State
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import Act, Observer, observe
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
    """Times of the same turn with and without a cache.

    Attributes
    ----------
    cached : float
        Processor time of the turn [s].
    uncached : float
        Processor time of the turn in which each computed value serves one read only [s].
    difference : float
        Largest difference of q between both [rad].
    """

    cached: float
    uncached: float
    difference: float


@final
class Forgetful(Observer):
    """An observer that drops each value after one read, so that the next read computes it again.

    Parameters
    ----------
    contents : Contents
        Contents of a State.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    def read_valid(self, entry: CacheEntry[Any]) -> None:
        """Drop the value that is read now."""
        realization = self._contents.realization
        if realization.layout.functions[entry._node] is not NO_FUNCTION:
            realization.store.invalidate(entry._node)

    def read_entry(self, entry: CacheEntry[Any], act: Act) -> Any:
        """Compute a value, and drop it."""
        value = act()
        self.read_valid(entry)
        return value


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
    with ProgressBar("tracking", 0, 4 * num_frames, progress, counted="frame") as bar:
        numbers = count(0, num_frames)

        def turn() -> tuple[list[Row], list[float]]:
            done = next(numbers)
            return drive(assembler, crank, num_frames, lambda frame: bar.show(done + frame))

        def begin_again() -> State:
            """Go back to frame 0, which is not counted."""
            crank.value = 0.0
            assembler.set_internal_state(state)
            assembler.calc_current_error_norm()
            measured(gauge, assembler.internal_state, assembled)
            return assembler.internal_state

        def drive_observed(observer: Callable[[Contents], Observer]) -> Vector:
            contents = begin_again()._contents
            observe(contents, observer(contents))
            return np.array([row[0] for row in turn()[0]])

        frames, seconds = turn()
        with begin_again().trace(most=0) as trace:
            turn()
        graph = assembler.internal_state.graph
        saving = measure_saving(drive_observed)
    q, angles, points, norms, iterations = map(np.array, zip(first, *frames, strict=True))
    return Demonstration(
        model,
        state,
        poor_error,
        assembler.error_tolerance,
        assembled,
        Turn(q, angles, points, norms, iterations, np.array(seconds)),
        trace.summary(),
        graph,
        saving,
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


def measure_saving(drive_observed: Callable[[Callable[[Contents], Observer]], Vector]) -> Saving:
    """Measure the same turn with a cache, and without one.

    Parameters
    ----------
    drive_observed : callable
        Drives the turn while an observer, which it makes from the contents of the State, observes
        it; returns q in all frames. Both turns have an observer, so both pay for one.
    """
    start = process_time()
    cached_q = drive_observed(lambda _: Observer())
    middle = process_time()
    uncached_q = drive_observed(Forgetful)
    end = process_time()
    return Saving(middle - start, end - middle, float(np.abs(cached_q - uncached_q).max()))
