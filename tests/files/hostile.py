"""Load mutated files under limits of time and memory, and count what becomes of them.

Run it: python -m tests.files.hostile [--trajectories] [--cases 1000000] [--seed 0]

Each mutated file gives a State or a trajectory, or a StagecacheError; never another exception,
within a second and 200 MB. Where the checksums were not made right again, the State is equal to the
one that was saved; so are the rows of the trajectory, which are those of its first whole batches.
"""

import resource
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, Final
from unittest.mock import patch

import click
from attrs import Factory, define

from stagecache import State, System, Trajectory, compare, load_trajectory
from stagecache.errors import StagecacheError
from stagecache.files.envelope import pack
from tests.files.models import STATES, chain_state, chain_trajectory, write_trajectory
from tests.files.mutations import edited, is_sealed, mutant, of_bytes

MOST_SECONDS: Final = 1.0
MOST_BYTES: Final = 200 * 2**20
MOST_FAULTS: Final = 20


@define
class Outcome:
    """Counts of what became of mutated files, and the worst that was seen."""

    counts: Counter[tuple[str, str]] = Factory(Counter)
    faults: list[str] = Factory(list)
    seconds: float = 0.0

    def table(self) -> str:
        """Return the counts, one line for each mutation and result, and the faults."""
        lines = [f"{n:9,} {name:10} {result}" for (name, result), n in sorted(self.counts.items())]
        return "\n".join([*self.faults, *lines, f"slowest: {self.seconds:.3f} s"])

    def note(self, mutation: str, result: str, seconds: float) -> None:
        self.counts[mutation, result] += 1
        self.seconds = max(self.seconds, seconds)


def limit_memory() -> None:
    """Let this process have 200 MB more than it has: an allocation beyond is a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


Case = Callable[[int], tuple[str, Callable[[], str]]]
"""A function of the number of a case: the name of its mutation, and what becomes of the file."""


def search(make: Callable[[Random], Case], cases: int, seed: int) -> Outcome:
    """Load that many mutated files."""
    outcome, case_of = Outcome(), make(Random(seed))
    limit_memory()
    for case in range(cases):
        name, load = case_of(case)
        start = time.process_time()
        try:
            result = load()
        except Exception:  # a fault, whatever it is
            result = "FAULT"
            outcome.faults.append(f"case {case}, {name}: {traceback.format_exc(limit=-6)}")
        seconds = time.process_time() - start
        if seconds > MOST_SECONDS:
            outcome.faults.append(f"case {case}, {name}: {seconds:.3} s")
        outcome.note(name, result, seconds)
        if len(outcome.faults) >= MOST_FAULTS:
            break
    return outcome


# ---------------------------------------------------------------------- States


def mutated_states(random: Random) -> Case:
    """Return cases of mutated States."""
    saved = []
    for make in STATES.values():
        state = make()
        for data in (state.to_bytes(), state.to_bytes(cache=True)):
            assert state.system is not None
            saved.append((data, state.system, State.from_bytes(data, state.system)))

    def case_of(case: int) -> tuple[str, Callable[[], str]]:
        data, system, state = random.choice(saved)
        name, mutated = mutant(data, random)
        same = None if is_sealed(name) else state
        return name, lambda: judge(mutated, system, same, strict=case % 2 > 0)

    return case_of


def judge(data: bytes, system: System, state: State | None, *, strict: bool) -> str:
    """Return the name of the error of a mutated file, or "a State".

    It must be equal to a State, if that is given; else it can be saved and loaded again.
    """
    try:
        loaded = State.from_bytes(data, system, strict=strict)
    except StagecacheError as error:
        return type(error).__name__
    found = loaded[0] if isinstance(loaded, tuple) else loaded
    if state is not None:
        assert not compare(found, state), compare(found, state)
        return "a State"
    again = State.from_bytes(found.to_bytes(cache=True), system)
    differences = compare(found, again).differences
    wrong = [d for d in differences if "nan" not in d.first]  # NaN as a key equals nothing
    assert not wrong, wrong
    return "a State"


# ---------------------------------------------------------------------- trajectories


class Agreeing(int):
    """A checksum that agrees with any other."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


def mutated_trajectories(random: Random) -> Case:
    """Return cases of mutated trajectories.

    "bytes" are told by checksums; "unchecked" are the same bytes for a reader that agrees with any
    checksum of a column; "edited" are written with other JSON in the header, a batch or a row.
    """
    path = Path(mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None), "mutated")
    write_trajectory(path)
    data, system, expected = path.read_bytes(), chain_state().system, chain_trajectory(rows=24)
    reader = "stagecache.study.trajectory.file"

    def agrees(*_: object) -> int:
        return Agreeing()

    def case_of(case: int) -> tuple[str, Callable[[], str]]:
        model = system if case % 2 else None
        name = random.choice(("bytes", "unchecked", "edited"))
        if name == "edited":
            write_edited(path, random)
        else:
            path.unlink()  # a file that is mapped must not become shorter
            path.write_bytes(of_bytes(data, random))
        if name == "bytes":
            return name, lambda: judge_trajectory(path, model, expected)
        if name == "edited":
            return name, lambda: judge_trajectory(path, model, None)

        def load() -> str:
            with patch(f"{reader}.crc32", agrees), patch(f"{reader}.checksum", agrees):
                return judge_trajectory(path, model, None)

        return name, load

    return case_of


def write_edited(path: Path, random: Random) -> None:
    """Write a trajectory in which the JSON of one part was edited."""
    part = random.choice((0, *range(12)))
    parts = iter(range(1000))

    def pack_edited(*args: Any) -> bytes:
        packed = pack(*args)
        return edited(packed, random) if next(parts) == part else packed

    with (
        patch("stagecache.study.trajectory.stream.pack", pack_edited),
        patch("stagecache.study.trajectory.header.pack", pack_edited),
    ):
        write_trajectory(path)


def judge_trajectory(path: Path, system: System | None, expected: Trajectory | None) -> str:
    """Return the name of the error of a mutated file, or "rows", which can all be read.

    They must be those of the first whole batches of a trajectory, if that is given.
    """
    try:
        loaded = load_trajectory(path, system)
        columns = {name: loaded[name] for name in ("time", *loaded.columns)}
        states = [loaded.state(row) for row in (0, -1)] if system else []
    except StagecacheError as error:
        return type(error).__name__
    if expected is not None:
        assert len(loaded) in (8, 16, 24), len(loaded)
        for name in ("time", *expected.columns):
            assert (columns[name] == expected[name][: len(loaded)]).all(), name
        for row, state in zip((0, len(loaded) - 1), states, strict=False):
            assert not compare(state, expected.state(row)), row
    return "rows"


@click.command()
@click.option("--trajectories", is_flag=True, help="Trajectories instead of States.")
@click.option("--cases", default=1_000_000, show_default=True, help="How many files are loaded.")
@click.option("--seed", default=0, show_default=True, help="With which they are mutated.")
@click.pass_context
def main(context: click.Context, trajectories: bool, cases: int, seed: int) -> None:
    """Print what became of mutated files; exit with 1 if there is a fault."""
    outcome = search(mutated_trajectories if trajectories else mutated_states, cases, seed)
    click.echo(outcome.table())
    if outcome.faults:
        context.exit(1)


if __name__ == "__main__":
    main()
