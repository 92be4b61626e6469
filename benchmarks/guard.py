"""The guard against slower code: `python -m benchmarks.guard --help`."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
from attrs import asdict, frozen
from rich.console import Console
from rich.table import Table

from benchmarks.errors import FailedProgramError
from benchmarks.instructions.operations import OPERATIONS
from benchmarks.machine import is_compiled

HELP: Final = """Count the instructions of ten hot operations, and compare them with a baseline.

Counts hardly depend on the machine or on what else it does. They need stagecache compiled, a C
compiler, and valgrind (a package of Debian). The exit code is 1 if an operation takes 5 % more
instructions than in the baseline, and 2 if nothing can be counted.
"""

HERE: Final = Path(__file__).with_name("instructions")
BASELINE: Final = HERE / "baseline.json"
TOLERANCE: Final = 0.05
NEEDED: Final = ("gcc", "valgrind")

Counts = Mapping[str, float]
"""Instructions of one repetition, by operation."""


@frozen
class Baseline:
    """Counts, and the things on which they depend.

    Attributes
    ----------
    python, machine : str
        Counts of another Python or of another processor are not compared.
    instructions : mapping of str to float
    """

    python: str
    machine: str
    instructions: Counts

    def is_comparable(self, other: "Baseline") -> bool:
        """Whether counts of the other are of the same Python, on the same kind of processor."""
        return (self.python, self.machine) == (other.python, other.machine)


@click.command(help=HELP)
@click.option("--update", is_flag=True, help="Write the counts as the new baseline.")
def main(update: bool) -> None:
    """Count, and compare or update."""
    if not is_compiled():
        raise _Impossible("stagecache is plain Python here; the baseline is for compiled modules")
    try:
        counted = Baseline(_python(), platform.machine(), count())
    except (FileNotFoundError, FailedProgramError) as error:
        raise _Impossible(str(error)) from error
    if update:
        text = json.dumps(asdict(counted), indent=2, ensure_ascii=False)
        BASELINE.write_text(f"{text}\n", encoding="utf-8")
        return
    baseline = Baseline(**json.loads(BASELINE.read_text(encoding="utf-8")))
    Console(width=120).print(tabulate(counted.instructions, baseline.instructions))
    if not baseline.is_comparable(counted):
        click.echo(f"Not compared: the baseline is for {baseline.python} on {baseline.machine}.")
        return
    slower = exceeding(counted.instructions, baseline.instructions)
    if slower:
        click.echo(
            f"More than {TOLERANCE:.0%} above the baseline: {', '.join(slower)}.\n"
            "If that is worth it: python -m benchmarks.guard --update"
        )
        sys.exit(1)


def count() -> Counts:
    """Return the instructions of each operation.

    Raises
    ------
    FileNotFoundError
        gcc or valgrind is missing.
    FailedProgramError
    """
    with TemporaryDirectory(prefix="stagecache-benchmarks-") as folder:
        library = str(Path(folder, "requests.so"))
        _run(["gcc", "-O2", "-shared", "-fPIC", str(HERE / "requests.c"), "-o", library])
        dumps = Path(folder, "counts")
        _run(
            [
                *("valgrind", "--tool=callgrind", "--instr-atstart=no", "--combine-dumps=yes"),
                *(f"--callgrind-out-file={dumps}", "--", sys.executable),
                *("-m", "benchmarks.instructions.counted", library),
            ]
        )
        totals = read_dumps(dumps.read_text(encoding="utf-8"))
    return {
        one.name: (totals[number, 2] - totals[number, 1]) / one.repetitions
        for number, one in enumerate(OPERATIONS)
    }


def read_dumps(text: str) -> dict[tuple[int, int], int]:
    """Return the totals of callgrind, by operation and by how often n times it ran."""
    totals: dict[tuple[int, int], int] = {}
    label: tuple[int, int] | None = None
    for line in text.splitlines():
        if line.startswith("desc: Trigger: Client Request: "):
            number, times = line.rpartition(":")[2].split()
            label = int(number), int(times)
        elif line.startswith("totals: ") and label is not None:
            totals[label] = int(line.split()[1])
            label = None
    return totals


def exceeding(counted: Counts, baseline: Counts) -> list[str]:
    """Return the operations that take more than the baseline and the tolerance, or that are new."""
    return [
        name
        for name, instructions in counted.items()
        if name not in baseline or instructions > baseline[name] * (1 + TOLERANCE)
    ]


def tabulate(counted: Counts, baseline: Counts) -> Table:
    """Return a table of the counts beside the baseline."""
    table = Table("operation", "instructions", "baseline", "change")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, instructions in counted.items():
        before = baseline.get(name)
        beside = (
            ("", "") if before is None else (f"{before:,.0f}", f"{instructions / before - 1:+.1%}")
        )
        table.add_row(name, f"{instructions:,.0f}", *beside)
    return table


class _Impossible(click.ClickException):
    exit_code = 2


def _python() -> str:
    return f"{platform.python_implementation()} {'.'.join(platform.python_version_tuple()[:2])}"


def _run(command: list[str]) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise FailedProgramError(command, done.returncode, done.stderr)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.guard")
