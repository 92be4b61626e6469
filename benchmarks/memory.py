"""How much memory something takes: by tracemalloc or, outside the Python heap, of a process."""

import gc
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from os import sysconf
from pathlib import Path
from typing import Final, final

from benchmarks.peers import AbstractPeer, load_peer
from benchmarks.probes import AbstractProbe

STATUS: Final = Path("/proc/self/statm")


@final
class Memory(AbstractProbe):
    """The memory of what a function builds on a peer.

    The Python heap is traced. Where the nodes live outside it, a fresh process builds them, and
    what it grows by is taken, which is exact to a page.

    Parameters
    ----------
    build : callable
        A function of the module level, or a `partial` of one, since a process must find it. What
        it returns keeps alive what is to be measured.
    peer : str
    operations : int
        By what to divide.
    """

    def __init__(
        self, build: Callable[[AbstractPeer[object]], object], peer: str, *, operations: int
    ) -> None:
        self.note = ""
        self.enough = 2
        self._build = build
        self._peer = peer
        self._operations = operations

    def calibrate(self, budget: float) -> None:
        pass

    def sample(self) -> float:
        if load_peer(self._peer).native:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                size = process.submit(_growth, self._build, self._peer).result()
        else:
            size = _traced(self._build, self._peer)
        return size / self._operations


def _traced(build: Callable[[AbstractPeer[object]], object], name: str) -> int:
    peer = load_peer(name)()
    tracemalloc.start()
    try:
        built = build(peer)
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
        del built
        return size
    finally:
        tracemalloc.stop()


def _growth(build: Callable[[AbstractPeer[object]], object], name: str) -> int:
    peer = load_peer(name)
    first = build(peer())  # what is loaded or made only once is there then
    gc.collect()
    before = _resident()
    built = build(peer())
    gc.collect()
    size = _resident() - before
    del first, built
    return size


def _resident() -> int:
    return int(STATUS.read_text().split()[1]) * sysconf("SC_PAGE_SIZE")
