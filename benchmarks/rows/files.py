"""States and trajectories in files, beside pickle, pyarrow, and the same in memory."""

import pickle
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, final

from benchmarks.errors import NotInstalledError
from benchmarks.figures import Unit
from benchmarks.limits import OfPeer
from benchmarks.peers import OWN
from benchmarks.probes import AbstractProbe, Repeated
from benchmarks.rows.base import Row, Section
from benchmarks.trees import Measured
from stagecache import State, Subsystem, System, Trajectory, load_trajectory, q_variable, simulate
from stagecache.multibody import Pin

PICKLE: Final = "pickle"
PYARROW: Final = "pyarrow"
MEMORY: Final = "in memory"

NUM_ROWS: Final = 100_000
NUM_COLUMNS: Final = 100
COLUMN: Final = "line.place[50]"


@final
class Line(Subsystem):
    """Places that move at one speed."""

    place = q_variable(0.0, count=NUM_COLUMNS)

    def realize_velocity(self, state: State) -> None:
        """Write the time derivatives of all places."""
        state[self].upd_qdot()[:] = 1.0


@final
class Files:
    """A State of 30 Pins, and a folder with a large trajectory."""

    def __init__(self) -> None:
        tree = Measured([Pin] * 30, is_bushy=False)
        self.state = tree.state
        self.system = tree.system
        self.line = System(Line())
        self._folder = TemporaryDirectory()
        self.path = Path(self._folder.name, "line.arrows")
        self.run = Path(self._folder.name, "run.arrows")
        state = self.line.new_state()
        rows = Trajectory(state)
        for k in range(NUM_ROWS):
            state.time = 0.01 * k
            state.upd_q()[k % NUM_COLUMNS] = k
            rows.append(state)
        rows.save(self.path)

    def simulate(self, into: Path | None) -> Trajectory:
        """Return a trajectory of 2,001 rows, in memory or in a file."""
        return simulate(self.line, self.line.new_state(), 20.0, every=0.01, into=into)


_files = cache(Files)


def _repeated(
    statement: str, make: Callable[[Files], dict[str, Any]]
) -> Callable[..., AbstractProbe]:
    """Return a function that builds the probe of a statement."""

    def build(*_: object) -> AbstractProbe:
        return Repeated(statement, make(_files()))

    return build


@final
class Size(AbstractProbe):
    """The number of bytes that something makes."""

    def __init__(self, data: bytes) -> None:
        self.note = ""
        self.enough = 1
        self._size = len(data)

    def calibrate(self, budget: float) -> None:
        """Do nothing: it is always the same."""

    def sample(self) -> float:
        return self._size


def _pyarrow(statement: str) -> Callable[..., AbstractProbe]:
    """Return a function that builds the probe of a statement about a table of pyarrow."""

    def build(*_: object) -> AbstractProbe:
        try:
            pyarrow: Any = import_module("pyarrow")
            ipc: Any = import_module("pyarrow.ipc")
        except ImportError as error:
            raise NotInstalledError("pyarrow is not installed") from error

        path = str(_files().path)

        def opened() -> Any:
            return ipc.open_stream(pyarrow.memory_map(path)).read_all()

        return Repeated(statement, {"opened": opened, "table": opened(), "column": COLUMN})

    return build


FILES: Final = Section(
    "Files",
    (
        (
            Row(
                "State of 30 Pins: size of its bytes",
                lambda _: Size(_files().state.to_bytes()),
                Unit.BYTES,
                limits=[OfPeer(0.33, PICKLE)],
                beside={PICKLE: lambda: Size(pickle.dumps(_files().state))},
            ),
            Row(
                "State of 30 Pins: to_bytes()",
                _repeated("state.to_bytes()", lambda files: {"state": files.state}),
                beside={
                    PICKLE: _repeated(
                        "dumps(state)", lambda files: {"dumps": pickle.dumps, "state": files.state}
                    )
                },
            ),
            Row(
                "State of 30 Pins: from_bytes()",
                _repeated(
                    "State.from_bytes(data, system)",
                    lambda files: {
                        "State": State,
                        "data": files.state.to_bytes(),
                        "system": files.system,
                    },
                ),
                limits=[OfPeer(1.0, PICKLE)],
                beside={
                    PICKLE: _repeated(
                        "loads(data)",
                        lambda files: {"loads": pickle.loads, "data": pickle.dumps(files.state)},
                    )
                },
            ),
        ),
        (
            Row(
                "100,000 rows, 100 columns: open",
                _repeated(
                    "load(path)", lambda files: {"load": load_trajectory, "path": files.path}
                ),
                limits=[OfPeer(1.0, PYARROW)],
                beside={PYARROW: _pyarrow("opened()")},
            ),
            Row(
                "100,000 rows, 100 columns: one column",
                _repeated(
                    "rows[column]",
                    lambda files: {"rows": load_trajectory(files.path), "column": COLUMN},
                ),
                beside={PYARROW: _pyarrow("table[column].to_numpy()")},
            ),
        ),
        (
            Row(
                "2,001 rows of a simulation, into a file",
                _repeated(
                    "simulate(path)",
                    lambda files: {"simulate": files.simulate, "path": files.run},
                ),
                limits=[OfPeer(1.5, MEMORY)],
                beside={
                    MEMORY: _repeated("simulate(None)", lambda files: {"simulate": files.simulate})
                },
            ),
        ),
    ),
    peers=(OWN,),
    columns=(PICKLE, PYARROW, MEMORY),
)
