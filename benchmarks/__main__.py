"""The command: `python -m benchmarks --help`."""

from typing import Final

from benchmarks.command import command
from benchmarks.rows import SECTIONS

HELP: Final = """Measure stagecache beside its peers, and print tables for Graph, State and System.

Each cell is the median of samples that are taken in turns with those of the other libraries, with
half of their interquartile range. stagecache has two columns: compiled, as users install it, and
plain Python. The form that is not installed here runs in a second process. The last column compares
the compiled form with a peer: with the limit that it has to keep or, where there is none, with the
fastest. A complete run writes its tables into benchmarks/RESULTS.md.
"""

EXAMPLES: Final = """\b
Examples:
  python -m benchmarks                  everything, which takes some minutes
  python -m benchmarks --quick          everything, roughly, in about a minute
  python -m benchmarks --rows ladder    the rows with "ladder" in their names
  python -m benchmarks --rows ^write,   the rows whose names begin with "write,"
  python -m benchmarks.state            the rows of the State alone
  python -m benchmarks.realize          the rows of realizing alone
  python -m benchmarks.projection       the rows of projection alone
  python -m benchmarks.simulate         the rows of simulating alone
  python -m benchmarks.workloads        four simulations beside the same by hand
  python -m benchmarks.scale            the growth of costs, which is not part of everything
  python -m benchmarks.multibody        the rows of trees of bodies alone
  python -m benchmarks.files            the rows of files alone
  python -m benchmarks.studies          the rows of studies alone
  python -m benchmarks.assembler        the rows of inverse kinematics alone
"""

main = command(SECTIONS, HELP, EXAMPLES, is_everything=True)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
