"""Starting: what a process takes until it has imported something, or printed a version."""

import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Final, final

from benchmarks.limits import OfPeer
from benchmarks.peers import OWN, Peer
from benchmarks.probes import MANY, AbstractProbe
from benchmarks.rows.base import Row, Section

NOTHING: Final = "python"
NUMPY: Final = "import numpy"
SCIPY: Final = "import scipy.integrate"

VERSION: Final = "from stagecache.cli.main import main; main(['--version'])"


@final
class Started(AbstractProbe):
    """A process that runs a statement. The form of stagecache is the one that is imported here."""

    def __init__(self, statement: str) -> None:
        self.note = ""
        self.enough = MANY
        self._command = [sys.executable, "-c", statement]

    def calibrate(self, budget: float) -> None:
        """Run it once, so that its files are in memory."""
        self.sample()

    def sample(self) -> float:
        start = perf_counter()
        subprocess.run(self._command, check=True, stdout=subprocess.DEVNULL)
        return perf_counter() - start


def started(statement: str) -> Callable[..., AbstractProbe]:
    """Return the row of a process."""

    def build(*_: Peer) -> AbstractProbe:
        return Started(statement)

    return build


def _row(name: str, statement: str, factor: float, column: str) -> Row:
    beside = {one: started(one) for one in (NUMPY, SCIPY)}
    return Row(
        name,
        started(statement),
        limits=[OfPeer(factor, column)],
        beside={NOTHING: started("pass"), **beside},
    )


START: Final = Section(
    "Starting",
    (
        (
            _row("stagecache --version", VERSION, 0.75, NUMPY),
            _row("from stagecache import Graph", "from stagecache import Graph", 1.5, NUMPY),
            _row("from stagecache import System", "from stagecache import System", 0.75, SCIPY),
        ),
    ),
    peers=(OWN,),
    columns=(NOTHING, NUMPY, SCIPY),
)
