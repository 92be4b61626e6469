"""The command for the rows of projection alone: `python -m benchmarks.projection --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows import PROJECTION

HELP: Final = """Measure projection onto constraints, and print one table.

A chain of points in the plane has a rod between neighbours. A cell is as in `python -m benchmarks`;
below it is how many iterations were made. The last column has the exponent e of time ~ n^e, fitted
to the rows of 10, 100 and 1,000 rods.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.projection                 all rows, in some seconds
  python -m benchmarks.projection --quick         all rows, roughly, in a second
  python -m benchmarks.projection --rows within   the rows where nothing is to be done
  python -m benchmarks.projection --both-forms --write
                                                  the table for both forms, put into RESULTS.md
"""

main = command([PROJECTION], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.projection")
