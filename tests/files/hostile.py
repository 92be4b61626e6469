"""Load mutated files under limits of time and memory, and count what becomes of them.

Run it: python -m tests.files.hostile [--cases 1000000] [--seed 0]

Each mutated State gives a State, or a StagecacheError; never another exception, within a second and
200 MB. Where the checksum was not made right again, the State is equal to the one that was saved.
"""

import resource
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final

import click
from attrs import Factory, define

from stagecache import State, System, compare
from stagecache.errors import StagecacheError
from tests.files.models import STATES
from tests.files.mutations import is_sealed, mutant

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


def search(cases: int, seed: int) -> Outcome:
    """Load that many mutated States."""
    outcome, random = Outcome(), Random(seed)
    saved = []
    for make in STATES.values():
        state = make()
        for data in (state.to_bytes(), state.to_bytes(cache=True)):
            assert state.system is not None
            saved.append((data, state.system, State.from_bytes(data, state.system)))
    limit_memory()
    for case in range(cases):
        data, system, state = random.choice(saved)
        name, mutated = mutant(data, random)
        start = time.process_time()
        try:
            result = judge(mutated, system, None if is_sealed(name) else state, strict=case % 2 > 0)
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


def judge(data: bytes, system: System, state: State | None, *, strict: bool) -> str:
    """Return the name of the error of a mutated file, or "a State" that holds together.

    It must be equal to a State, if that is given.
    """
    try:
        loaded = State.from_bytes(data, system, strict=strict)
    except StagecacheError as error:
        return type(error).__name__
    found = loaded[0] if isinstance(loaded, tuple) else loaded
    same = State.from_bytes(found.to_bytes(cache=True), system) if state is None else state
    assert not compare(found, same), compare(found, same)
    return "a State"


@click.command()
@click.option("--cases", default=1_000_000, show_default=True, help="How many files are loaded.")
@click.option("--seed", default=0, show_default=True, help="With which they are mutated.")
@click.pass_context
def main(context: click.Context, cases: int, seed: int) -> None:
    """Print what became of mutated files; exit with 1 if there is a fault."""
    outcome = search(cases, seed)
    click.echo(outcome.table())
    if outcome.faults:
        context.exit(1)


if __name__ == "__main__":
    main()
