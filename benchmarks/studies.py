"""The command for the rows of studies alone: `python -m benchmarks.studies --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows import STUDIES

HELP: Final = """Measure the overhead of a member of a study, and print one table.

A member is a copy of a State with other values, and a function of it. The figures are the time of a
study beyond that of the functions, by member.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.studies                 all rows, in a minute
  python -m benchmarks.studies --quick         all rows, roughly
  python -m benchmarks.studies --rows process  the rows of other processes
  python -m benchmarks.studies --both-forms --write
                                               the table for both forms, put into RESULTS.md
"""

main = command([STUDIES], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.studies")
