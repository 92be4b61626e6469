"""Assembly: configurations that satisfy conditions, and inverse kinematics."""

from stagecache.assembly.assembler import Assembler
from stagecache.assembly.assembler_statistics import AssemblerStatistics
from stagecache.assembly.assembly_result import AssemblyResult
from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.assembly.conditions.q_value import QValue

__all__ = [
    "Assembler",
    "AssemblerStatistics",
    "AssemblyCondition",
    "AssemblyResult",
    "QValue",
]
