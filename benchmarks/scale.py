"""The command for the growth of costs: `python -m benchmarks.scale --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows.scale import SCALE

HELP: Final = """Measure operations in Graphs and States of 1,000 to 100,000 entries, and print a
table with the exponents of their growth.

Cells are as in `python -m benchmarks`.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.scale                       all rows, in some minutes
  python -m benchmarks.scale --quick               all rows, roughly, in a minute
  python -m benchmarks.scale --rows Graph          the rows of the Graph
  python -m benchmarks.scale --both-forms --write
                                                   the table for both forms, put into RESULTS.md
"""

main = command([SCALE], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.scale")
