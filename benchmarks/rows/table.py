"""All rows, in the order of the table."""

from typing import Final

from benchmarks.rows.base import Group
from benchmarks.rows.chains import CHAINS, LADDER, LONG_LADDERS
from benchmarks.rows.footprint import FOOTPRINT
from benchmarks.rows.operations import READS, WRITES, WRITES_AND_READS
from benchmarks.rows.shapes import SHAPE_GROUPS

GROUPS: Final[tuple[Group, ...]] = (
    READS,
    WRITES,
    WRITES_AND_READS,
    CHAINS,
    LADDER,
    *LONG_LADDERS,
    FOOTPRINT,
    *SHAPE_GROUPS,
)
