"""Questions to a State: why an entry is stale, what a write would cost."""

from stagecache.inspection.compare import Comparison, Difference, compare
from stagecache.inspection.explain.explanation import Cause, CauseKind, Explanation
from stagecache.inspection.explain.impact import Impact
from stagecache.inspection.strict.reads import OverDeclared, ReadLog, UndeclaredRead
from stagecache.inspection.strict.strict import strict, verify
from stagecache.inspection.strict.uncached import uncached
from stagecache.inspection.trace.events import (
    AbstractTraceEvent,
    ComputationEvent,
    HitEvent,
    InvalidationEvent,
    StageEvent,
    WriteEvent,
)
from stagecache.inspection.trace.summary import EntrySummary, TraceSummary
from stagecache.inspection.trace.trace import Trace

__all__ = [
    "AbstractTraceEvent",
    "Cause",
    "CauseKind",
    "Comparison",
    "ComputationEvent",
    "Difference",
    "EntrySummary",
    "Explanation",
    "HitEvent",
    "Impact",
    "InvalidationEvent",
    "OverDeclared",
    "ReadLog",
    "StageEvent",
    "Trace",
    "TraceSummary",
    "UndeclaredRead",
    "WriteEvent",
    "compare",
    "strict",
    "uncached",
    "verify",
]
