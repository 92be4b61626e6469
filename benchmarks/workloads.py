"""The command for simulations as users write them: `python -m benchmarks.workloads --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows.workloads import WORKLOADS

HELP: Final = """Measure four simulations beside the same by hand, with NumPy and SciPy, and print a
table.

Below a figure is what it took: the steps, and the evaluations of the derivatives. Other cells are
as in `python -m benchmarks`.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.workloads                   all rows, in a minute
  python -m benchmarks.workloads --quick           all rows, roughly, in some seconds
  python -m benchmarks.workloads --rows springs    the rows of the chain
  python -m benchmarks.workloads --both-forms --write
                                                   the table for both forms, put into RESULTS.md
"""

main = command([WORKLOADS], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.workloads")
