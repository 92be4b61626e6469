"""The rows of the table, in groups that are measured together."""

from benchmarks.rows.base import CUT_SHORT, Group, Row
from benchmarks.rows.table import GROUPS

__all__ = ["CUT_SHORT", "GROUPS", "Group", "Row"]
