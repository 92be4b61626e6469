"""The command for the rows of files alone: `python -m benchmarks.files --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows import FILES

HELP: Final = """Measure States and trajectories in files, and print one table.

A State of 30 Pins becomes bytes, and comes back; a file of 100,000 rows and 100 columns is opened,
and a column is read; rows of a simulation are streamed into a file.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.files                 all rows, in some seconds
  python -m benchmarks.files --quick         all rows, roughly
  python -m benchmarks.files --rows State    the rows of a State
  python -m benchmarks.files --both-forms --write
                                             the table for both forms, put into RESULTS.md
"""

main = command([FILES], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.files")
