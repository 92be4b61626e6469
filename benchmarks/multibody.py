"""The command for the rows of trees of bodies alone: `python -m benchmarks.multibody --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows import MULTIBODY

HELP: Final = """Measure the kinematics of trees of bodies beside MuJoCo and Pinocchio.

A cell is the time of a write, and of what depends on it: poses of all bodies, their motions, or
Jacobians of markers. Cells are as in `python -m benchmarks`.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks.multibody                 all rows, in a minute
  python -m benchmarks.multibody --quick         all rows, roughly, in some seconds
  python -m benchmarks.multibody --rows markers  the rows of 40 markers
  python -m benchmarks.multibody --both-forms --write
                                                 the table for both forms, put into RESULTS.md
"""

main = command([MULTIBODY], HELP, EXAMPLES)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks.multibody")
