"""Kill a program at random moments while it saves a State, and open the file that is there.

Run it: python -m tests.files.killing [--kills 200] [--seed 0]

A child saves States again and again, small and large ones in turn, each with the next number in all
of its values, and tells the number after each save. It is killed by SIGKILL. The file must hold the
State of the last number that was told, or the one after it, whole.
"""

import os
import signal
import struct
import time
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import click
import numpy as np

from stagecache import Subsystem, System, load_state, parameter

SIZES: Final = (10, 500_000)
"""Numbers in a small and in a large State."""

TOLD: Final = struct.Struct("<q")
LONGEST: Final = 0.06
"""Seconds until a kill: some saves of both sizes."""


class Counted(Subsystem):
    """Values that are all the same number."""

    number = parameter(0)
    numbers = parameter(np.zeros(0))


def kill_savers(kills: int, seed: int) -> Counter[str]:
    """Return how often the old and the new file were there, and how often something else."""
    random = Random(seed)
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        path = Path(folder, "saved.state")
        number = 0
        for _ in range(kills):
            told = _killed_saver(path, number, random.random() * LONGEST)
            number, result = found_in(path, told)
            counts[result] += 1
            left = [file for file in Path(folder).iterdir() if file != path]
            counts["a temporary file left beside"] += len(left)
            for file in left:
                file.unlink()
    return counts


def found_in(path: Path, told: int) -> tuple[int, str]:
    """Return the number in a file, and what that is after the number that was told."""
    system = System(counted := Counted())
    state = load_state(path, system)
    number = counted.number(state)
    is_whole = (counted.numbers(state) == number).all() and state.time == number
    if not is_whole or len(counted.numbers(state)) != SIZES[number % 2]:
        return number, "FAULT: values of several States"
    names = {told: "the old State, whole", told + 1: "the new State, whole"}
    return number, names.get(number, f"FAULT: State {number} after {told}")


def _killed_saver(path: Path, first: int, seconds: float) -> int:
    """Let a child save States, kill it, and return the last number that it told."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            _save_for_ever(path, first, write)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read(TOLD.size)  # it has begun
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        told += pipe.read()
    last: int = TOLD.unpack(told[-TOLD.size :])[0]
    return last


def _save_for_ever(path: Path, number: int, pipe: int) -> None:
    system = System(counted := Counted())
    state = system.new_state()
    while True:
        number += 1
        counted.number.set(state, number)
        counted.numbers.set(state, np.full(SIZES[number % 2], float(number)))
        state.time = float(number)
        state.save(path)
        os.write(pipe, TOLD.pack(number))


@click.command()
@click.option("--kills", default=200, show_default=True, help="How many programs are killed.")
@click.option("--seed", default=0, show_default=True, help="Of the moments.")
@click.pass_context
def main(context: click.Context, kills: int, seed: int) -> None:
    """Print what was found after kills; exit with 1 if there is a fault."""
    counts = kill_savers(kills, seed)
    for result, count in sorted(counts.items()):
        click.echo(f"{count:6} {result}")
    if any(result.startswith("FAULT") for result in counts):
        context.exit(1)


if __name__ == "__main__":
    main()
