"""Studies of many members: the overhead of each, beside loops and pools by hand."""

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, final

from benchmarks.limits import OfPeer
from benchmarks.peers import OWN
from benchmarks.probes import AbstractProbe
from benchmarks.rows.base import Row, Section
from stagecache import State, Subsystem, System, parameter, q_variable, run_study

BY_HAND: Final = "by hand"
NUMBER: Final = 500
WORKERS: Final = 2
CHUNK: Final = 10
"""Members that `Executor.map` sends at once: a tenth of a second of work, as run_study does."""


@final
class Part(Subsystem):
    """Something with a parameter."""

    size = parameter(1.0)
    angle = q_variable(0.0)


@cache
def system() -> System:
    """Return the System, one in each process."""
    return System(Part())


def result(state: State) -> float:
    """Return a number at once."""
    part: Part = state.system.get(Part)
    return part.size(state)


def late(state: State) -> float:
    """Return a number after 10 ms."""
    time.sleep(0.01)
    return result(state)


def by_hand(study: Callable[[State], float], size: float) -> float:
    """Return the result of a member."""
    state = system().new_state()
    system().get(Part).size.set(state, size)
    return study(state)


def by_hand_at_once(size: float) -> float:
    """Return the number of a member at once."""
    return by_hand(result, size)


def by_hand_late(size: float) -> float:
    """Return the number of a member after 10 ms."""
    return by_hand(late, size)


@cache
def processes() -> ProcessPoolExecutor:
    """Return a pool of processes, which all rows share."""
    return ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn"))


@final
class Overhead(AbstractProbe):
    """The time of a study by member, beyond that of its functions on all workers.

    Parameters
    ----------
    run : callable
        Runs members with these values.
    seconds : float
        Time of the function of a member, as it is waited for on each worker.
    """

    def __init__(self, run: Callable[[list[float]], Any], seconds: float = 0.0) -> None:
        self.note = ""
        self.enough = 20
        self._run = run
        self._seconds = seconds

    def calibrate(self, budget: float) -> None:
        self._run([1.0] * 2 * WORKERS)

    def sample(self) -> float:
        start = time.perf_counter()
        self._run([float(k) for k in range(NUMBER)])
        return (time.perf_counter() - start) / NUMBER - self._seconds


def _into_folder(sizes: list[float]) -> None:
    with TemporaryDirectory() as folder:
        run_study(system(), {"part.size": sizes}, result, into=Path(folder, "study"))


STUDIES: Final = Section(
    "Studies",
    (
        (
            Row(
                f"{NUMBER} members, in this thread",
                lambda _: Overhead(lambda sizes: run_study(system(), {"part.size": sizes}, result)),
                limits=[OfPeer(10.0, BY_HAND)],
                beside={BY_HAND: lambda: Overhead(lambda sizes: [*map(by_hand_at_once, sizes)])},
            ),
            Row(
                f"{NUMBER} members, into a folder",
                lambda _: Overhead(_into_folder),
                alone="nothing beside writes each result",
            ),
        ),
        (
            Row(
                f"{NUMBER} members, in {WORKERS} processes",
                lambda _: Overhead(
                    lambda sizes: run_study(
                        system(), {"part.size": sizes}, result, executor=processes()
                    )
                ),
                limits=[OfPeer(10.0, BY_HAND)],
                beside={
                    BY_HAND: lambda: Overhead(
                        lambda sizes: [*processes().map(by_hand_at_once, sizes, chunksize=CHUNK)]
                    )
                },
            ),
            Row(
                f"{NUMBER} members of 10 ms, in {WORKERS} processes",
                lambda _: Overhead(
                    lambda sizes: run_study(
                        system(), {"part.size": sizes}, late, executor=processes()
                    ),
                    0.01 / WORKERS,
                ),
                limits=[OfPeer(3.0, BY_HAND)],
                beside={
                    BY_HAND: lambda: Overhead(
                        lambda sizes: [*processes().map(by_hand_late, sizes, chunksize=CHUNK)],
                        0.01 / WORKERS,
                    )
                },
            ),
        ),
    ),
    peers=(OWN,),
    columns=(BY_HAND,),
)
