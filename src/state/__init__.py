"""The State: stages, variables, cache entries and partitions, built on the graph."""

from stagecache.state.handles import (
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    TimeVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.subsystem_state import SubsystemState

__all__ = [
    "AbstractHandle",
    "CacheEntry",
    "ContinuousVariable",
    "DiscreteVariable",
    "Stage",
    "State",
    "SubsystemState",
    "TimeVariable",
]
