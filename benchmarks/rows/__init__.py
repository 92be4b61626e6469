"""The rows of the tables, in groups that are measured together."""

from benchmarks.rows.base import CUT_SHORT, Group, Row, Section
from benchmarks.rows.projection import PROJECTION
from benchmarks.rows.realize import REALIZE
from benchmarks.rows.simulate import SIMULATE
from benchmarks.rows.state import STATE
from benchmarks.rows.table import SECTIONS

__all__ = [
    "CUT_SHORT",
    "PROJECTION",
    "REALIZE",
    "SECTIONS",
    "SIMULATE",
    "STATE",
    "Group",
    "Row",
    "Section",
]
