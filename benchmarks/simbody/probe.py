"""A probe of Simbody: each sample is a run of the program, in a process of its own."""

from collections.abc import Callable
from functools import partial
from typing import Final, final

from benchmarks.probes import MANY, AbstractProbe
from benchmarks.simbody.program import STATE, require_installed, run

SIMBODY: Final = "Simbody"
"""The head of its column."""


@final
class Simbody(AbstractProbe):
    """What Simbody's State takes for a workload of `state.cpp`.

    Parameters
    ----------
    workload : str
        Its name there.
    size : int
        How many entries, where that varies.

    Raises
    ------
    NotInstalledError
    """

    def __init__(self, workload: str, size: int) -> None:
        require_installed()
        self.note = ""
        self.enough = MANY
        self._workload = workload
        self._size = size
        self._budget = 0.0

    def calibrate(self, budget: float) -> None:
        self._budget = budget
        self.sample()

    def sample(self) -> float:
        return float(run(STATE, self._workload, str(self._size), f"{self._budget:.6f}"))


def simbody(workload: str, size: int = 0) -> Callable[[], AbstractProbe]:
    """Return what builds the probe, for a row."""
    return partial(Simbody, workload, size)
