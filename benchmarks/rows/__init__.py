"""The rows of the tables, in groups that are measured together."""

from benchmarks.rows.assembler import ASSEMBLER
from benchmarks.rows.base import CUT_SHORT, Group, Row, Section
from benchmarks.rows.files import FILES
from benchmarks.rows.multibody import MULTIBODY
from benchmarks.rows.projection import PROJECTION
from benchmarks.rows.realize import REALIZE
from benchmarks.rows.simulate import SIMULATE
from benchmarks.rows.state import STATE
from benchmarks.rows.studies import STUDIES
from benchmarks.rows.table import SECTIONS
from benchmarks.rows.workloads import WORKLOADS

__all__ = [
    "ASSEMBLER",
    "CUT_SHORT",
    "FILES",
    "MULTIBODY",
    "PROJECTION",
    "REALIZE",
    "SECTIONS",
    "SIMULATE",
    "STATE",
    "STUDIES",
    "WORKLOADS",
    "Group",
    "Row",
    "Section",
]
