"""The State: stages, variables, cache entries and partitions, built on the graph."""

from stagecache.state.continuous.continuous_state import (
    AbstractContinuousState,
    ContinuousState,
    DiagramContinuousState,
)
from stagecache.state.continuous.element_views import AbstractElementView
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    AutoUpdateVariable,
    CacheEntry,
    ContinuousElement,
    ContinuousVariable,
    DiscreteVariable,
    ScalarVariable,
    TimeVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.subsystem_state import SubsystemState

__all__ = [
    "AbstractContinuousState",
    "AbstractContinuousVariable",
    "AbstractElementView",
    "AbstractHandle",
    "AutoUpdateVariable",
    "CacheEntry",
    "ContinuousElement",
    "ContinuousState",
    "ContinuousVariable",
    "DiagramContinuousState",
    "DiscreteVariable",
    "ScalarVariable",
    "Stage",
    "State",
    "SubsystemState",
    "TimeVariable",
]
