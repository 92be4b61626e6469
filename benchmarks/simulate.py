"""The command for the rows of simulating alone: `python -m benchmarks.simulate --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows import SIMULATE

HELP: Final = """Measure ten seconds of a double pendulum beside SciPy and Drake, and print a table.

All call the same right-hand side, with an accuracy of 1e-6. Below a figure is what it took, and how
far the result is from the reference. Other cells are as in `python -m benchmarks`.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.simulate                  all rows, in half a minute
  python -m benchmarks.simulate --quick          all rows, roughly, in some seconds
  python -m benchmarks.simulate --rows DOP853    the rows of one method
  python -m benchmarks.simulate --both-forms --write
                                                 the table for both forms, put into RESULTS.md
"""

main = command([SIMULATE], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.simulate")
