"""The State: stages, variables, cache entries and partitions, built on the graph."""

from stagecache.state.checkpoint import Checkpoint
from stagecache.state.compare import Comparison, Difference, compare
from stagecache.state.continuous_state import AbstractContinuousState, ContinuousState
from stagecache.state.diagram_continuous_state import DiagramContinuousState
from stagecache.state.element_views import AbstractElementView
from stagecache.state.explanation import Cause, CauseKind, Explanation
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    AutoUpdateVariable,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    ScalarVariable,
    TimeVariable,
)
from stagecache.state.impact import Impact
from stagecache.state.reads import OverDeclared, ReadLog, UndeclaredRead
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.strict import strict, verify
from stagecache.state.subsystem_state import SubsystemState
from stagecache.state.timeline import Timeline
from stagecache.state.trace import Trace
from stagecache.state.trace_events import (
    AbstractTraceEvent,
    ComputationEvent,
    HitEvent,
    InvalidationEvent,
    StageEvent,
    WriteEvent,
)
from stagecache.state.trace_summary import EntrySummary, TraceSummary

__all__ = [
    "AbstractContinuousState",
    "AbstractContinuousVariable",
    "AbstractElementView",
    "AbstractHandle",
    "AbstractTraceEvent",
    "AutoUpdateVariable",
    "CacheEntry",
    "Cause",
    "CauseKind",
    "Checkpoint",
    "Comparison",
    "ComputationEvent",
    "ContinuousState",
    "ContinuousVariable",
    "DiagramContinuousState",
    "Difference",
    "DiscreteVariable",
    "EntrySummary",
    "Explanation",
    "HitEvent",
    "Impact",
    "InvalidationEvent",
    "OverDeclared",
    "ReadLog",
    "ScalarVariable",
    "Stage",
    "StageEvent",
    "State",
    "SubsystemState",
    "TimeVariable",
    "Timeline",
    "Trace",
    "TraceSummary",
    "UndeclaredRead",
    "WriteEvent",
    "compare",
    "strict",
    "verify",
]
