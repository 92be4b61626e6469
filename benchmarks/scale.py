"""The command for the growth of costs: `python -m benchmarks.scale --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows.scale import SCALE

HELP: Final = """Measure operations in Graphs and States of 10,000 to 1,000,000 entries, and print a
table with the exponents of their growth. The largest models take 6 GB.

Cells are as in `python -m benchmarks`.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.scale                       all rows, in a quarter of an hour
  python -m benchmarks.scale --quick               all rows, roughly, in some minutes
  python -m benchmarks.scale --rows ^Graph          the rows of the Graph
  python -m benchmarks.scale --both-forms --write
                                                   the table for both forms, put into RESULTS.md
"""

main = command([SCALE], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.scale")
