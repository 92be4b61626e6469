"""Records of a trace as they are noted: tuples, for an event must cost little."""

from typing import Any, Final

HIT: Final = 0
"""(HIT, time, thread, tracer, entry, reader)"""
COMPUTED: Final = 1
"""(COMPUTED, time, thread, tracer, entry, end, own time, reads, is unchanged, error, reader)"""
WRITTEN: Final = 2
"""(WRITTEN, time, thread, tracer, cause, version before, and after, place, downstream, parts)"""
INVALIDATED: Final = 3
"""(INVALIDATED, time, thread, tracer, list of entries, cause)"""
STAGED: Final = 4
"""(STAGED, time, thread, tracer, stage before, stage after, end, cause, subsystem)"""

Record = tuple[Any, ...]
