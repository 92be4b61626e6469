"""Assembly: configurations that satisfy conditions, and inverse kinematics."""

from stagecache.assembly.assembler import Assembler
from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.assembly.conditions.q_value import QValue
from stagecache.assembly.results import AssemblerStatistics, AssemblyResult, FrameResult
from stagecache.assembly.studies import Assembly, Tracking

__all__ = [
    "Assembler",
    "AssemblerStatistics",
    "Assembly",
    "AssemblyCondition",
    "AssemblyResult",
    "FrameResult",
    "QValue",
    "Tracking",
]
