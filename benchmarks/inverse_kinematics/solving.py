"""Problems of inverse kinematics, solved by stagecache's Assembler."""

from time import perf_counter
from typing import final

import numpy as np

from benchmarks.inverse_kinematics.problem import Frame, Problem
from benchmarks.inverse_kinematics.run import Run
from benchmarks.inverse_kinematics.tree import Tree
from benchmarks.peers import OWN
from benchmarks.probes import MANY, AbstractProbe
from stagecache import Assembler, QValue
from stagecache.errors import AssembleFailed, NoObservationError, TrackFailed
from stagecache.multibody import Markers


@final
class Solver:
    """An Assembler with the conditions of a problem.

    Parameters
    ----------
    problem : Problem
    accuracy, tolerance : float

    Attributes
    ----------
    tree : Tree
    assembler : Assembler
    markers : Markers or None
    aim : QValue or None

    Raises
    ------
    ProblemFileError
        As `Tree` does.
    """

    def __init__(self, problem: Problem, accuracy: float, tolerance: float) -> None:
        self.problem = problem
        self.tree = Tree(problem)
        self.assembler = Assembler(self.tree.system)
        self.assembler.accuracy = accuracy
        self.assembler.error_tolerance = tolerance
        self.markers: Markers | None = None
        self.aim: QValue | None = None
        if problem.markers:
            self.markers = self.assembler.add_goal(Markers())
            for marker in problem.markers:
                body = self.tree.body(marker.body)
                self.markers.add_marker(body, marker.station, marker.weight, marker.name)
        if problem.aim is not None:
            body = self.tree.body(problem.aim.body)
            self.aim = self.assembler.add_goal(QValue(body, problem.aim.index, 0.0))

    def solve(self) -> Run:
        """Solve all frames: assemble the first one from the start, and track the others.

        A frame that fails has NaN in all but `seconds`; the next is tracked from the one before it.
        """
        assembler, problem = self.assembler, self.problem
        assembler.initialize(self.tree.state)
        columns: list[tuple[float, ...]] = []
        for number, frame in enumerate(problem.frames):
            start = perf_counter()
            try:
                self._want(frame)
                result = assembler.track(frame.time) if number else assembler.assemble()
            except (AssembleFailed, TrackFailed, NoObservationError):
                columns.append((perf_counter() - start, *[np.nan] * 4))
            else:
                seconds = perf_counter() - start
                rms = np.nan if self.markers is None else self._rms(self.markers)
                found = result.goal, result.error_norm, rms, result.num_iterations
                columns.append((seconds, *found))
        seconds_of, goals, errors, rms_of, iterations = np.array(columns).T
        return Run(
            OWN,
            assembler.accuracy,
            assembler.error_tolerance,
            seconds=seconds_of,
            goals=goals,
            rms=rms_of if problem.markers else np.zeros(0),
            errors=errors,
            evaluations=iterations,
        )

    def _rms(self, markers: Markers) -> float:
        """That of the distances of all markers that were seen, whatever their weight [m]."""
        errors = markers.current_errors()
        return float(np.sqrt(np.mean(errors[np.isfinite(errors)] ** 2)))

    def _want(self, frame: Frame) -> None:
        """Say what is wanted in a frame."""
        if self.markers is not None:
            self.markers.move_all_observations(frame.observations)
        if self.aim is not None and frame.value is not None:
            self.aim.value = frame.value


@final
class Tracking(AbstractProbe):
    """What a frame takes: the mean of all that are tracked. A sample is all frames, once.

    Parameters
    ----------
    problem : Problem
    accuracy, tolerance : float
    """

    def __init__(self, problem: Problem, accuracy: float, tolerance: float) -> None:
        self._solver = Solver(problem, accuracy, tolerance)
        self.first = self._solver.solve()
        self.note = self.first.note
        self.enough = MANY

    def calibrate(self, budget: float) -> None:
        """It is what it is: all frames, once."""

    def sample(self) -> float:
        return self._solver.solve().seconds_per_frame
