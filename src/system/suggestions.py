"""What a person can do about an entry that is computed in vain, or a write that makes it so."""

from operator import itemgetter
from typing import Final

from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, DiscreteVariable
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.trace import Trace
from stagecache.state.trace_log import Changes, EntryTally, WriteTally

WORTH_A_WORD: Final = 0.05
"""The share of the computations from which on those in vain are worth a suggestion."""


def about_entry(path: str, trace: Trace, share: float, state: State) -> str:
    """What a person can do about an entry."""
    tally = trace._log.entries[path]
    recomputed = sum(tally.recomputed.values())
    if tally.unchanged < max(1, WORTH_A_WORD * recomputed):
        if share >= 0.5 and recomputed:
            return (
                f"{path} took {share:.0%} of the time, and nearly each of its {tally.computed:,} "
                "values was another one: make the computation itself faster"
            )
        return ""
    changed, number = most_first(tally)[0]
    said = (
        f"{path} was recomputed {_times(recomputed)} and came out the same "
        f"{_times(tally.unchanged)}; {number:,} of them only "
        f"{', '.join(changed) or 'nothing that is known'} had changed. "
    )
    return said + _cure(path, changed, trace, state)


def _cure(path: str, changed: tuple[str, ...], trace: Trace, state: State) -> str:
    """What to do about an entry that comes out the same where something has changed."""
    tally = trace._log.entries[path]
    stage = tally.handle.depends_on
    declared = _declared(tally, state)
    written = {name: trace._log.writes[name].parts | {name} for name in changed}
    unread = [n for n in changed if n in declared and not written[n] & {*tally.read.values()}]
    if unread:
        return f"It did not read {', '.join(unread)}: do not name that as a prerequisite"
    is_read = any(written[name] & _read_by(path, trace) for name in changed)
    if not is_read and declared:
        return (
            f"It reads none of that, but depends on stage {stage}: leave depends_on away, so that "
            "its prerequisites alone decide"
        )
    if not is_read:
        nameless = [name for item, name in tally.read.items() if isinstance(item, str)]
        if nameless:
            return (
                f"It reads {', '.join(nameless)}, for which it needs stage {stage}: compute what "
                "else it does in an entry of its own"
            )
        names = ", ".join(tally.read.values())
        if names:
            return f"It reads nothing but {names}: name that as prerequisites=(...), not the stage"
        return "It reads nothing of the State: compute it once, outside of it"
    if not tally.is_compared and tally.handle.dependents(state):
        return "Declare it with equal=..., so that what depends on it is not computed again"
    return "Write that only where it changes"


def about_write(path: str, tally: WriteTally, recomputed: int, unchanged: int) -> str:
    """What a person can do about a variable that is written."""
    if unchanged < max(1, 0.5 * recomputed):
        return ""
    said = (
        f"{path} was written {_times(tally.writes)}, and {unchanged:,} of the "
        f"{recomputed:,} values computed after that were the same as before"
    )
    cause = tally.cause
    if isinstance(cause, AbstractContinuousVariable) and cause.slot >= 0:
        return f"{said}: write it only where it changes"
    if isinstance(cause, AbstractContinuousVariable) or cause == "y":
        return f"{said}: write only the blocks that change, each by its handle"
    if isinstance(cause, DiscreteVariable) and cause.invalidates < Stage.REPORT:
        return (
            f"{said}: declare it with a later invalidates= than {cause.invalidates}, if what "
            "reads it comes later or names it as a prerequisite"
        )
    if isinstance(cause, AbstractHandle):
        return f"{said}: let what does not read it name its prerequisites, in place of a stage"
    return ""


def _read_by(path: str, trace: Trace) -> set[str]:
    """All that the computations of an entry have read, also by what they have read."""
    tallies = trace._log.entries
    found: set[str] = set()
    queue = [path]
    for name in queue:
        for read in tallies[name].read.values() if name in tallies else ():
            if read not in found:
                found.add(read)
                queue.append(read)
    return found


def _declared(tally: EntryTally, state: State) -> set[str]:
    """The paths of what an entry names as prerequisites."""
    try:
        return {str(handle) for handle in tally.handle.prerequisites(state)}
    except LookupError:  # it was forgotten meanwhile
        return set()


def most_first(tally: EntryTally) -> list[tuple[Changes, int]]:
    """What had changed where an entry came out the same, and how often; the most first."""
    return sorted(tally.unchanged_after.items(), key=itemgetter(1), reverse=True)


def count_after(path: str, counts: dict[Changes, int]) -> int:
    """How many of these come after a write of a variable."""
    return sum(number for changed, number in counts.items() if path in changed)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
