"""All rows, in the order of the tables."""

from typing import Final

from benchmarks.peers import HOMES
from benchmarks.rows.assembler import ASSEMBLER
from benchmarks.rows.base import Section
from benchmarks.rows.chains import CHAINS, LADDER, LONG_LADDERS
from benchmarks.rows.files import FILES
from benchmarks.rows.footprint import FOOTPRINT
from benchmarks.rows.multibody import MULTIBODY
from benchmarks.rows.operations import READS, WRITES, WRITES_AND_READS
from benchmarks.rows.projection import PROJECTION
from benchmarks.rows.realize import REALIZE
from benchmarks.rows.shapes import SHAPE_GROUPS
from benchmarks.rows.simulate import SIMULATE
from benchmarks.rows.start import START
from benchmarks.rows.state import STATE
from benchmarks.rows.studies import STUDIES
from benchmarks.rows.workloads import WORKLOADS

GRAPH: Final = Section(
    "Graph",
    (
        READS,
        WRITES,
        WRITES_AND_READS,
        CHAINS,
        LADDER,
        *LONG_LADDERS,
        FOOTPRINT,
        *SHAPE_GROUPS,
    ),
    peers=tuple(HOMES),
)

SECTIONS: Final = (
    GRAPH,
    STATE,
    REALIZE,
    PROJECTION,
    SIMULATE,
    WORKLOADS,
    MULTIBODY,
    ASSEMBLER,
    FILES,
    STUDIES,
    START,
)
