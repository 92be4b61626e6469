"""The profile of a run: the cost of its entries, and suggestions for its declarations.

::

    def run(state):
        for time in times:
            state.time = time
            system.realize(state)

    print(profile(system, run))

Suggestions are about entries that are recomputed in vain, and writes that make them stale. A run
shows what was read in it, and another one may read more: so they say "if it never does".
"""

from collections.abc import Callable
from math import inf
from operator import itemgetter
from typing import Any, Final, final

from attrs import asdict, frozen

from stagecache.display import html
from stagecache.display.text import duration, table, wrapped
from stagecache.errors import WrongTypeError, short_repr
from stagecache.graph.declaration import check_returns
from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.trace.log import Changes, EntryTally, TraceLog
from stagecache.inspection.trace.trace import Trace
from stagecache.progress import Progress, ProgressBar
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.system.declare.ports import INPUT
from stagecache.system.hints.hints import precise_hint, variant_of

MOST_SHOWN: Final = 10

COSTS: Final = ("entry", "time", "share", "computed", "hit rate")
NEEDLESS: Final = ("entry", "recomputed", "unchanged", "in vain")
NOTIFIED: Final = ("entry", "writes upstream", "made stale", "stale already", "unchanged")
WRITES: Final = ("written", "writes", "made stale", "unchanged")

WORTH_A_WORD: Final = 0.05
"""The share of the computations from which on those in vain are worth a suggestion."""


@final
@frozen
class EntryProfile:
    """Cost of an entry.

    Attributes
    ----------
    entry : str
    computed, hits, found : int
        Computations, reads that found a value, and reads that found a shared value elsewhere.
    seconds, share : float
        Its own time, and what part that is of all computations.
    recomputed : int
        How often it was computed again, as far as the values could be compared.
    unchanged : int
        How often the value was then the same as before.
    wasted_seconds : float
        About the time that these took.
    changed : dict of str to int
        Changes after which the value was the same as before; several joined by ", ".
    suggestion : str
        Empty if there is nothing to gain.
    notified, made_stale : int
        Writes of something on which it depends, and how many of these found it valid. The others
        found it stale already: it was not read in between.
    """

    entry: str
    computed: int
    hits: int
    seconds: float
    share: float
    recomputed: int
    unchanged: int
    wasted_seconds: float
    changed: dict[str, int]
    suggestion: str
    found: int = 0
    notified: int = 0
    made_stale: int = 0

    @property
    def hit_rate(self) -> float:
        """The share of reads that found a value."""
        return (self.hits + self.found) / (self.hits + self.found + self.computed)

    @property
    def stale_already(self) -> int:
        """The writes that found it stale, as it had not been read since an earlier one."""
        return self.notified - self.made_stale


@final
@frozen
class WriteProfile:
    """Consequences of the writes of a variable.

    Attributes
    ----------
    variable : str
        Or what else made entries stale: "rollback()".
    writes, invalidated : int
        How often it was written, and how many entries that made stale, in all.
    recomputed, unchanged : int
        How often an entry was computed again after it, and was then the same as before.
    suggestion : str
    """

    variable: str
    writes: int
    invalidated: int
    recomputed: int
    unchanged: int
    suggestion: str


@final
@frozen
class Profile:
    """Costs of a run, and their causes.

    Attributes
    ----------
    entries : tuple of EntryProfile
        In the order of time, most first.
    writes : tuple of WriteProfile
        In the order of entries made stale, most first.
    trace : Trace
        The trace of the whole run.
    """

    entries: tuple[EntryProfile, ...]
    writes: tuple[WriteProfile, ...]
    trace: Trace

    @property
    def needless(self) -> tuple[EntryProfile, ...]:
        """The entries that were computed again in vain, in the order of wasted time."""
        found = [entry for entry in self.entries if entry.unchanged]
        return tuple(sorted(found, key=lambda entry: -entry.wasted_seconds))

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Suggestions, the most promising first."""
        found = [entry.suggestion for entry in (*self.needless, *self.entries)]
        found += [write.suggestion for write in self.writes]
        return tuple([suggestion for suggestion in dict.fromkeys(found) if suggestion])

    def as_dict(self) -> dict[str, Any]:
        """Return the profile in plain values, for JSON."""
        return {
            "entries": [asdict(entry) | {"hit_rate": entry.hit_rate} for entry in self.entries],
            "writes": [asdict(write) for write in self.writes],
            "suggestions": list(self.suggestions),
            "untraced": list(self.trace.untraced),
        }

    @property
    def notified_in_vain(self) -> tuple[EntryProfile, ...]:
        """The entries that writes reach in vain, most often first.

        Either the entry was stale already, as nobody had read it, or its value came out the same.
        """
        found = [entry for entry in self.entries if entry.stale_already or entry.unchanged]
        found = [entry for entry in found if entry.notified]
        return tuple(sorted(found, key=lambda entry: -entry.stale_already - entry.unchanged))

    def _tables(self) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
        costs: list[tuple[str, ...]] = [
            (e.entry, duration(e.seconds), f"{e.share:.0%}", f"{e.computed:,}", f"{e.hit_rate:.0%}")
            for e in self.entries[:MOST_SHOWN]
        ]
        needless: list[tuple[str, ...]] = [
            (e.entry, f"{e.recomputed:,}", f"{e.unchanged:,}", duration(e.wasted_seconds))
            for e in self.needless[:MOST_SHOWN]
        ]
        notified: list[tuple[str, ...]] = [
            (
                e.entry,
                *map("{:,}".format, (e.notified, e.made_stale, e.stale_already, e.unchanged)),
            )
            for e in self.notified_in_vain[:MOST_SHOWN]
        ]
        writes: list[tuple[str, ...]] = [
            (w.variable, f"{w.writes:,}", f"{w.invalidated:,}", f"{w.unchanged:,}")
            for w in self.writes[:MOST_SHOWN]
        ]
        return [
            ("What costs most", COSTS, costs),
            ("Computed again in vain", NEEDLESS, needless),
            ("Reached by writes in vain", NOTIFIED, notified),
            ("What makes entries stale", WRITES, writes),
        ]

    def __str__(self) -> str:
        parts = [f"{title}\n{table(head, rows)}" for title, head, rows in self._tables() if rows]
        if self.suggestions:
            lines = [wrapped(f"- {suggestion}") for suggestion in self.suggestions[:MOST_SHOWN]]
            parts.append("\n".join(["Suggestions", *lines]))
        return "\n\n".join([*(parts or ["no entry was read"]), *self.trace.untraced])

    def __repr__(self) -> str:
        return f"Profile({len(self.entries)} entries, {len(self.suggestions)} suggestions)"

    def _repr_html_(self) -> str:
        parts = [
            part
            for title, head, rows in self._tables()
            if rows
            for part in (html.heading(title), html.table(head, rows))
        ]
        if self.suggestions:
            parts.append(html.heading("Suggestions"))
            parts.append(html.bullets(self.suggestions[:MOST_SHOWN]))
        parts += map(html.paragraph, self.trace.untraced)
        return html.output(*(parts or [html.heading("Profile", "no entry was read")]))


def profile(
    system: System, run: Callable[[State], object], *, progress: Progress = None
) -> Profile:
    """Trace a run with a fresh State; report its cost, and suggest changes.

    All States that the run makes are traced, if they are copies of its State or of the default
    State: so the profile has what `simulate`, an Assembler that it makes, or `run_study` computes,
    in any thread. Members of a study in other processes are not traced; the profile says so.

    Parameters
    ----------
    system : System
        System to profile; its topology is realized if needed.
    run : callable
        Called with a copy of the default State.
    progress : bool or rich.console.Console, optional
        Same as for `simulate`: a bar with the number of events, unless what runs has a bar itself.

    Returns
    -------
    Profile

    Raises
    ------
    WrongTypeError, NotANumberError
    Exception
        Whatever the run raises.

    Examples
    --------
    >>> from stagecache import Stage, State, Subsystem, System, cached, q_variable, profile
    >>> class Spring(Subsystem):
    ...     stretch = q_variable(0.1)
    ...
    ...     @cached(available_from=Stage.POSITION)
    ...     def force(self, state: State) -> float:
    ...         return -100.0 * self.stretch(state)
    >>> spring = Spring()
    >>> system = System(spring)
    >>> def run(state: State) -> None:
    ...     for step in range(10):
    ...         state.time = 0.1 * step
    ...         system.realize(state, Stage.POSITION)
    ...         spring.force(state)
    >>> print(profile(system, run).suggestions[0])
    spring.force was recomputed 9 times and came out the same every time; 9 of them only time had \
changed. It read nothing but spring.stretch: if it never does, name that as prerequisites=(...), \
not the stage
    """
    if not isinstance(system, System):
        raise WrongTypeError(
            f"profile({short_repr(system)}, ...): not a System",
            "a System",
            f"an object of type {type(system).__name__}",
            "pass the System first, and then the function to run",
        )
    if not callable(run):
        raise WrongTypeError(
            f"profile(..., {short_repr(run)}): cannot be called",
            "a function of a State",
            f"an object of type {type(run).__name__}",
            "write a function that takes a State, and runs with it",
        )
    check_returns(run, f"profile(..., {short_repr(run)})")
    default = system.realize_topology()
    bar = ProgressBar(system.name, 0.0, inf, progress, counted="event")
    with bar, Trace((default,), show=bar.show) as trace:
        state = default.copy()
        run(state)
    return _profile_of(trace, state)


def _profile_of(trace: Trace, state: State) -> Profile:
    summary = trace.summary()
    tallies = trace._log.entries
    adviser = Adviser(trace._log, state)
    entries = []
    for row in summary.rows:
        tally = tallies[row.entry]
        entries.append(
            EntryProfile(
                row.entry,
                row.computed,
                row.hits,
                row.seconds,
                row.share,
                sum(tally.recomputed.values()),
                row.unchanged,
                row.seconds * row.unchanged / max(row.computed, 1),
                {", ".join(changed): n for changed, n in most_first(tally)},
                adviser.about_entry(row.entry, row.share),
                row.found,
                row.notified,
                row.made_stale,
            )
        )
    writes = []
    for path, write in trace._log.writes.items():
        recomputed = sum(count_after(path, tally.recomputed) for tally in tallies.values())
        unchanged = sum(count_after(path, tally.unchanged_after) for tally in tallies.values())
        suggestion = adviser.about_write(path, recomputed, unchanged)
        numbers = (write.writes, write.invalidated, recomputed, unchanged)
        writes.append(WriteProfile(path, *numbers, suggestion))
    return Profile(
        tuple(entries), tuple(sorted(writes, key=lambda w: (-w.invalidated, w.variable))), trace
    )


# ---------------------------------------------------------------------- suggestions


@final
class Adviser:
    """Knows what to do, from a trace of a run.

    Parameters
    ----------
    log : TraceLog
    state : State
        State at the end of the run.
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
        if variant_of(tally.handle) == INPUT:
            return ""  # what is to be changed is its source
        recomputed = sum(tally.recomputed.values())
        if self._is_unread(tally):
            return (
                f"{path} was computed {_times(tally.computed)}, by stage "
                f"{tally.handle.computed_by}, and nothing read it: leave computed_by away, so that "
                "only a read computes it"
            )
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

    def _is_unread(self, tally: EntryTally) -> bool:
        """Return whether only the stage has computed an entry, for no one to read."""
        is_due = tally.handle.computed_by < Stage.INFINITY
        is_read = tally.hits or tally.is_read or tally.found
        return is_due and not is_read and variant_of(tally.handle) == "cached"

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
        precise = precise_hint(tally.handle, tally.read)
        if precise:
            return f"It read nothing but {', '.join(sorted(read))}: if it never does, {precise}"
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
