"""Counts of machine instructions, which do not depend on what else the machine does."""

from benchmarks.instructions.operations import OPERATIONS, Operation

__all__ = ["OPERATIONS", "Operation"]
