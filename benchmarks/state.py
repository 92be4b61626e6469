"""The command for the rows of the State alone: `python -m benchmarks.state --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows import STATE

HELP: Final = """Measure State beside Simbody's in C++, and print one table.

Simbody's figures come from a program that is compiled for them, where Simbody and g++ are
installed. Cells are as in `python -m benchmarks`.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.state                 all rows, in about a minute
  python -m benchmarks.state --quick         all rows, roughly, in some seconds
  python -m benchmarks.state --rows upd_q    the rows with "upd_q" in their names
  python -m benchmarks.state --both-forms --write
                                             the table for both forms, put into RESULTS.md
"""

main = command([STATE], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.state")
