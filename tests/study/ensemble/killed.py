"""A study whose driver is killed at random moments, and that is resumed to the same dataset.

Run it: python -m tests.study.ensemble.killed [--members 200] [--kills 2] [--workers 2] [--seed 0]

A child process runs a study of carts and poles into a folder, and is killed (`kill -9`); the next
one resumes it. The last one is not killed. The dataset is compared, bit for bit, with that of a
study in one go, and the rows of the files are counted: each member has one.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from stagecache import Simulation, load_study, run_study, sobol
from stagecache.examples.cart_pole import make_system
from stagecache.study import Members
from stagecache.study.ensemble import folder as folders
from stagecache.study.ensemble.folder import Folder

STUDY = Simulation(
    0.1,
    {"energy": "cart_pole.energy", "place": "cart_pole.position", "rows": len},
    method="RK45",
    accuracy=1e-6,
)


def members(number: int) -> Members:
    """Carts and poles that begin elsewhere."""
    bounds = {"cart_pole.length": (0.3, 1.0), "cart_pole.position[1]": (-0.2, 0.2)}
    return sobol(bounds, number, seed=1)


def run(path: Path | None, number: int, workers: int) -> Any:
    """Run or resume the study."""
    return run_study(
        make_system(0.02),
        members(number),
        STUDY,
        into=path,
        resume=path is not None,
        workers=workers or None,
        progress=False,
    )


def killed_after(count: int, path: Path, number: int, workers: int) -> int:
    """Let a child run, kill it when the folder has that many results, and return their number."""
    arguments = [str(path), str(number), str(workers)]
    command = [sys.executable, "-m", "tests.study.ensemble.killed", "--child", *arguments]
    with subprocess.Popen(command) as child:
        while child.poll() is None and results_in(path) < count:
            time.sleep(0.01)
        child.kill()
    assert child.returncode in (0, -signal.SIGKILL), child.returncode
    return results_in(path)


def results_in(path: Path) -> int:
    """Number of members that have a result."""
    if not (path / "study.json").exists():
        return 0
    folder = Folder(path)
    folder.close()
    return len(folder.statuses())


def check(number: int, kills: int, workers: int, seed: int) -> list[int]:
    """Kill and resume a study; return the numbers of results after each kill."""
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study")
        counts: list[int] = []
        for k in range(kills):
            least = random.randint(k * number // (kills + 1) + 1, (k + 1) * number // (kills + 1))
            counts.append(killed_after(least, path, number, workers))
        resumed = run(path, number, 0).to_xarray()
        rows = [
            row
            for file in Folder(path)._files
            for n in range(file.num_batches)
            for row in file.members(n)
        ]
        assert sorted(rows) == list(range(number))
        loaded = load_study(path).to_xarray()
    whole = run(None, number, 0).to_xarray()
    assert whole.identical(resumed)
    assert whole.identical(loaded)
    for name in whole.variables:
        assert whole[name].values.tobytes() == resumed[name].values.tobytes()
    return counts


def main() -> None:
    """Kill a study, and compare; or be the child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2, help="0: none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", nargs=3)
    given = parser.parse_args()
    if given.child:
        path, number, workers = given.child
        vars(folders)["FLUSH_SECONDS"] = 0.05  # so that a small study is killed between batches
        run(Path(path), int(number), int(workers))
        return
    counts = check(given.members, given.kills, given.workers, given.seed)
    sys.stdout.write(
        f"killed with {', '.join(map(str, counts))} of {given.members} results; "
        "the dataset is that of a study in one go\n"
    )


if __name__ == "__main__":
    main()
