"""Suggestions about entries that are computed in vain, and about writes that make them so.

A run shows what was read in it, and another one may read more: so such suggestions say "if it
never does".
"""

from operator import itemgetter
from typing import Final, final

from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.trace.log import Changes, EntryTally, TraceLog
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State

WORTH_A_WORD: Final = 0.05
"""The share of the computations from which on those in vain are worth a suggestion."""


@final
class Adviser:
    """Knows what to do, from a trace of a run.

    Parameters
    ----------
    log : TraceLog
    state : State
        As it was left by the run.
    """

    def __init__(self, log: TraceLog, state: State) -> None:
        self._entries = log.entries
        self._writes = log.writes
        self._contents = state._contents
        self._paths = NodePaths(state._contents).of

    # ------------------------------------------------------------------ entries

    def about_entry(self, path: str, share: float) -> str:
        """Return a suggestion about an entry, or ""."""
        tally = self._entries[path]
        recomputed = sum(tally.recomputed.values())
        if tally.unchanged < max(1, WORTH_A_WORD * recomputed):
            if share >= 0.5 and recomputed:
                return (
                    f"{path} took {share:.0%} of the time, and nearly each of its "
                    f"{tally.computed:,} values was another one: make the computation itself faster"
                )
            return ""
        for changed, number in most_first(tally):
            hint = self._hint(path, changed)
            if hint:
                same = (
                    "every time" if recomputed == tally.unchanged > 1 else _times(tally.unchanged)
                )
                return (
                    f"{path} was recomputed {_times(recomputed)} and came out the same "
                    f"{same}; {number:,} of them only {', '.join(changed)} had "
                    f"changed. {hint}"
                )
        return ""

    def _hint(self, path: str, changed: Changes) -> str:
        """Return the hint for an entry that comes out the same after writes."""
        if not changed or not all(self._writes[name].writes for name in changed):
            return ""  # rollback() and the like
        tally = self._entries[path]
        if not self._has(tally.handle):
            return ""
        parts = {name: self._writes[name].parts for name in changed}
        above = self._prerequisites(tally)
        read = {*tally.read.values()}
        nameless = [name for item, name in tally.read.items() if isinstance(item, str)]
        unread = [name for name in changed if name in above and not parts[name] & read]
        if unread and not nameless:
            names = ", ".join(unread)
            return f"It did not read {names}: if it never does, do not name that as a prerequisite"
        written = frozenset[str]().union(*parts.values())
        if written & self._read_by(path):
            return self._hint_of_reader(tally, written)
        if nameless:
            return (
                f"It reads {', '.join(nameless)}, for which it may need stage "
                f"{tally.handle.available_from}: compute what else it does in an entry of its own"
            )
        return _hint_of_stage(tally, above)

    def _hint_of_reader(self, tally: EntryTally, written: frozenset[str]) -> str:
        """Return the hint for an entry that has read what was written, and came out the same."""
        if not tally.is_compared and any(
            not written & self._upstream(below, without=tally.handle)
            for below in self._contents.dependents(tally.handle)
        ):
            return "Declare it with equal=..., so that what depends on it is not computed again"
        return "If that was written with the value that it had, write it only where it changes"

    def _prerequisites(self, tally: EntryTally) -> dict[str, AbstractHandle]:
        """Return the declared prerequisites of an entry, by path."""
        if not self._has(tally.handle):
            return {}
        found = self._contents.prerequisites(tally.handle)
        return {self._paths[handle._node]: handle for handle in found}

    def _has(self, entry: CacheEntry[object]) -> bool:
        """Return whether the State after the run has the entry."""
        keys = self._contents.realization.store.keys
        return entry._node < len(keys) and keys[entry._node] is entry

    def _read_by(self, path: str) -> set[str]:
        """Return all that an entry has read, directly or through other entries."""
        found: set[str] = set()
        queue = [path]
        for name in queue:
            for read in self._entries[name].read.values() if name in self._entries else ():
                if read not in found:
                    found.add(read)
                    queue.append(read)
        return found

    def _upstream(
        self, entry: CacheEntry[object], *, without: CacheEntry[object] | None = None
    ) -> set[str]:
        """Return the paths of all that makes an entry stale, without passing another one."""
        prerequisites = self._contents.realization.store.structure.prerequisites
        seen = {entry._node} if without is None else {entry._node, without._node}
        queue = [entry._node]
        for node in queue:
            new = [above for above in prerequisites[node] if above not in seen]
            seen.update(new)
            queue += new
        return {self._paths[node] for node in queue if node in self._paths}

    # ------------------------------------------------------------------ writes

    def about_write(self, path: str, recomputed: int, unchanged: int) -> str:
        """Return a suggestion about a variable that is written, or "".

        Parameters
        ----------
        path : str
        recomputed, unchanged : int
            How often an entry was computed again after it, and was then the same as before.
        """
        if unchanged < max(1, 0.5 * recomputed):
            return ""
        tally = self._writes[path]
        hint = self._hint_of_write(path) if tally.writes else ""
        if not hint:
            return ""
        return (
            f"{path} was written {_times(tally.writes)}, and {unchanged:,} of the {recomputed:,} "
            f"values computed after that were the same as before: {hint}"
        )

    def _hint_of_write(self, path: str) -> str:
        cause = self._writes[path].cause
        if (isinstance(cause, AbstractContinuousVariable) and cause.slot < 0) or cause == "y":
            return "if not all of it changes, write the blocks that do, each by its handle"
        if not self._is_stale_by_stage(path):
            return "if it often gets the value that it has, write it only where it changes"
        if isinstance(cause, DiscreteVariable) and cause.invalidates < Stage.REPORT:
            return (
                f"declare it with a later invalidates= than {cause.invalidates}, if what reads it "
                "comes later or names it as a prerequisite"
            )
        return "let what does not read it name its prerequisites, in place of a stage"

    def _is_stale_by_stage(self, path: str) -> bool:
        """Return whether entries come out the same that do not depend on the variable."""
        return any(
            count_after(path, tally.unchanged_after)
            and self._has(tally.handle)
            and not self._writes[path].parts & self._read_by(entry)
            and path not in self._upstream(tally.handle)
            for entry, tally in self._entries.items()
        )


def _hint_of_stage(tally: EntryTally, above: dict[str, AbstractHandle]) -> str:
    """Return the hint for an entry that reads nothing of what was written, but needs its stage."""
    stage = tally.handle.available_from
    if any(
        isinstance(item, CacheEntry) and item.available_from >= stage for item in above.values()
    ):
        return ""  # they need that stage, too
    missing = ", ".join([name for name in tally.read.values() if name not in above])
    if above and missing:
        return (
            f"It depends on stage {stage}: if it never reads anything else, name {missing} as "
            "prerequisites, too, and leave available_from away"
        )
    if above:
        return (
            f"It depends on stage {stage}: if it never reads anything but its prerequisites, leave "
            "available_from away"
        )
    if missing:
        return (
            f"It read nothing but {missing}: if it never does, name that as prerequisites=(...), "
            "not the stage"
        )
    return "It read nothing of the State: if it never does, compute it once, outside of it"


def most_first(tally: EntryTally) -> list[tuple[Changes, int]]:
    """Return the changes after which an entry came out the same, and their number; most first."""
    return sorted(tally.unchanged_after.items(), key=itemgetter(1), reverse=True)


def count_after(path: str, counts: dict[Changes, int]) -> int:
    """Return how many of these come after a write of a variable."""
    return sum(number for changed, number in counts.items() if path in changed)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
