"""The command for the rows of realizing alone: `python -m benchmarks.realize --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows import REALIZE

HELP: Final = """Measure realizing a System beside Drake, and print one table.

Hooks and calcs do nothing: what is measured is the bookkeeping. Cells are as in
`python -m benchmarks`.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.realize               all rows, in some seconds
  python -m benchmarks.realize --quick       all rows, roughly, in a second
  python -m benchmarks.realize --rows ÷      the rows by stage and subsystem
  python -m benchmarks.realize --both-forms --write
                                             the table for both forms, put into RESULTS.md
"""

main = command([REALIZE], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.realize")
