"""Problems of inverse kinematics, solved by Simbody's Assembler."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import final

import numpy as np

from benchmarks.inverse_kinematics.problem import Problem
from benchmarks.inverse_kinematics.run import Run
from benchmarks.inverse_kinematics.text import text_of
from benchmarks.probes import MANY, AbstractProbe
from benchmarks.simbody.probe import SIMBODY
from benchmarks.simbody.program import ASSEMBLER, run


def solve_by_simbody(problem: Problem, accuracy: float, tolerance: float, *, turns: int = 1) -> Run:
    """Solve all frames, the first by assemble() and the others by track().

    Parameters
    ----------
    problem : Problem
    accuracy, tolerance : float
    turns : int
        How often; the seconds are the least that are seen.

    Raises
    ------
    NotInstalledError, FailedProgramError
    """
    with TemporaryDirectory(prefix="stagecache-benchmarks-") as folder:
        path = Path(folder) / "problem.txt"
        path.write_text(text_of(problem), encoding="utf-8")
        arguments = (str(path), repr(accuracy), repr(tolerance), str(turns))
        lines = run(ASSEMBLER, *arguments).splitlines()
    columns = np.array([line.split() for line in lines], float).T
    columns[1:, columns[4] == 0] = np.nan  # where it did not succeed
    seconds, goals, errors, rms, _, evaluations = columns
    return Run(
        SIMBODY,
        accuracy,
        tolerance,
        seconds=seconds,
        goals=goals,
        rms=rms if problem.markers else np.zeros(0),
        errors=errors,
        evaluations=evaluations,
    )


@final
class SimbodyTracking(AbstractProbe):
    """What a frame takes by Simbody: the mean of all that are tracked. A sample is a process.

    Parameters
    ----------
    problem : Problem
    accuracy, tolerance : float

    Raises
    ------
    NotInstalledError, FailedProgramError
    """

    def __init__(self, problem: Problem, accuracy: float, tolerance: float) -> None:
        self._arguments = (problem, accuracy, tolerance)
        self.note = solve_by_simbody(*self._arguments).note
        self.enough = MANY

    def calibrate(self, budget: float) -> None:
        """It is what it is: all frames, once."""

    def sample(self) -> float:
        return solve_by_simbody(*self._arguments).seconds_per_frame
