"""Runs that are killed at random moments, and resumed: the file is that of a run without a kill.

Run it: python -m tests.study.killed [--times 200] [--seed 0]

A child process begins a run, or resumes one, and is killed (`kill -9`). Then the file opens, and
its rows are the first ones of the whole run. Half of the runs are killed a second time, while they
are resumed. At last the run is resumed to its end, and each byte of the file compared. The table
counts what the file was like after a kill.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

from stagecache import load_trajectory, resume, simulate
from stagecache.study.trajectory.file import TrajectoryFile
from tests.study.streamed_models import MODELS

RUNS: Final[dict[str, tuple[str, float, dict[str, Any]]]] = {
    "together": ("together", 6.0, {"method": "RK45", "accuracy": 1e-4, "batch": 8}),
    "rod": ("rod", 5.0, {"method": "Verlet", "every": 0.02, "batch": 8}),
    "counting": ("counting", 40.0, {"method": "DOP853", "every": 0.05, "batch": 8}),
    "oscillator": ("oscillator", 10.0, {"method": "BDF", "batch": 5}),
}
"""Model, time of the end, and arguments of `simulate`, by name."""


def begin(name: str, path: Path) -> None:
    """Begin a run."""
    model, until, how = RUNS[name]
    system = MODELS[model][0]()
    simulate(system, system.new_state(), until, into=path, progress=False, **how)


def go_on(name: str, path: Path) -> None:
    """Resume a run."""
    resume(path, MODELS[RUNS[name][0]][0](), progress=False)


def killed_after(seconds: float, action: str, name: str, path: Path) -> None:
    """Let a child begin or resume a run, and kill it, unless it has ended by then."""
    command = [sys.executable, "-m", "tests.study.killed", "--child", action, name, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(seconds)
        child.kill()
        child.stdout.read()
    assert child.returncode in (0, -signal.SIGKILL), child.returncode


def condition(name: str, path: Path, whole: Path) -> str:
    """Check a file after a kill, and return what it is like."""
    if not path.exists():
        return "no file yet"
    file = TrajectoryFile(path)
    file.verify()
    found = load_trajectory(path, MODELS[RUNS[name][0]][0]())
    expected = load_trajectory(whole)
    count = len(found)
    assert found.times.tobytes() == expected.times[:count].tobytes()
    assert found.y.tobytes() == expected.y[:count].tobytes()
    if file.is_finished:
        return "finished"
    data, stop = path.read_bytes(), file._file.batches[-1].stop
    assert whole.read_bytes().startswith(data)  # nothing was cut in another place
    return "whole batches" if stop == len(data) else "whole batches, and one cut short"


def timed(name: str, path: Path) -> float:
    """Make the file of a whole run, and return the seconds that it takes."""
    start = time.perf_counter()
    begin(name, path)
    return time.perf_counter() - start


def kill_and_resume(name: str, seconds: float, random: Random, folder: Path) -> list[str]:
    """Kill a run once or twice, resume it to the end, and return what the file was like."""
    whole, path = folder / f"{name}.whole", folder / f"{name}.arrows"
    longest = 1.1 * seconds
    path.unlink(missing_ok=True)
    killed_after(random.uniform(0, longest), "begin", name, path)
    found = [condition(name, path, whole)]
    if path.exists() and random.random() < 0.5:
        killed_after(random.uniform(0, longest / 2), "go_on", name, path)
        found.append("resumed: " + condition(name, path, whole))
    (go_on if path.exists() else begin)(name, path)
    assert path.read_bytes() == whole.read_bytes()
    return found


def table(times: int, seed: int) -> Counter[tuple[str, str]]:
    """Kill a number of runs, and count what their files were like, by run."""
    random = Random(seed)
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        seconds = {name: timed(name, Path(folder, f"{name}.whole")) for name in RUNS}
        for number in range(times):
            name = list(RUNS)[number % len(RUNS)]
            for found in kill_and_resume(name, seconds[name], random, Path(folder)):
                counts[name, found] += 1
    return counts


def main() -> None:
    """Kill runs, and print the table; or be the child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", nargs=3)
    given = parser.parse_args()
    if given.child:
        action, name, path = given.child
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        {"begin": begin, "go_on": go_on}[action](name, Path(path))
        return
    counts = table(given.times, given.seed)
    for (name, found), number in sorted(counts.items()):
        sys.stdout.write(f"{number:5}  {name:12} {found}\n")
    total = sum(counts.values())
    sys.stdout.write(f"{total:5}  kills; every file ended as that of a run without one\n")


if __name__ == "__main__":
    main()
