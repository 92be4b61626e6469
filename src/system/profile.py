"""The profile of a run: the cost of its entries, and suggestions for its declarations.

::

    def run(state):
        for time in times:
            state.time = time
            system.realize(state)

    print(profile(system, run))
"""

from collections.abc import Callable
from html import escape
from typing import Any, Final, final

from attrs import asdict, frozen

from stagecache.errors import WrongTypeError, short_repr
from stagecache.graph.declaration import check_returns
from stagecache.inspection.trace.summary import duration, html_table, table
from stagecache.inspection.trace.trace import Trace
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.system.hints.suggestions import Adviser, count_after, most_first

MOST_SHOWN: Final = 10

COSTS: Final = ("entry", "time", "share", "computed", "hit rate")
NEEDLESS: Final = ("entry", "recomputed", "unchanged", "in vain")
WRITES: Final = ("written", "writes", "made stale", "unchanged")


@final
@frozen
class EntryProfile:
    """Cost of an entry.

    Attributes
    ----------
    entry : str
    computed, hits : int
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

    @property
    def hit_rate(self) -> float:
        """The share of reads that found a valid value."""
        return self.hits / (self.hits + self.computed)


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
        }

    def _tables(self) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
        costs: list[tuple[str, ...]] = [
            (e.entry, duration(e.seconds), f"{e.share:.0%}", f"{e.computed:,}", f"{e.hit_rate:.0%}")
            for e in self.entries[:MOST_SHOWN]
        ]
        needless: list[tuple[str, ...]] = [
            (e.entry, f"{e.recomputed:,}", f"{e.unchanged:,}", duration(e.wasted_seconds))
            for e in self.needless[:MOST_SHOWN]
        ]
        writes: list[tuple[str, ...]] = [
            (w.variable, f"{w.writes:,}", f"{w.invalidated:,}", f"{w.unchanged:,}")
            for w in self.writes[:MOST_SHOWN]
        ]
        return [
            ("What costs most", COSTS, costs),
            ("Computed again in vain", NEEDLESS, needless),
            ("What makes entries stale", WRITES, writes),
        ]

    def __str__(self) -> str:
        parts = [f"{title}\n{table(head, rows)}" for title, head, rows in self._tables() if rows]
        if self.suggestions:
            lines = [f"- {suggestion}" for suggestion in self.suggestions[:MOST_SHOWN]]
            parts.append("\n".join(["Suggestions", *lines]))
        return "\n\n".join(parts or ["no entry was read"])

    def __repr__(self) -> str:
        return f"Profile({len(self.entries)} entries, {len(self.suggestions)} suggestions)"

    def _repr_html_(self) -> str:
        parts = [
            f"<h4>{title}</h4>{html_table(head, rows)}" for title, head, rows in self._tables()
        ]
        lines = "".join(f"<li>{escape(s)}</li>" for s in self.suggestions[:MOST_SHOWN])
        return "".join(parts) + f"<h4>Suggestions</h4><ul>{lines}</ul>"


def profile(system: System, run: Callable[[State], object]) -> Profile:
    """Trace a run with a fresh State, and say what it cost and what could be changed.

    Parameters
    ----------
    system : System
        Its topology is realized if it is not.
    run : callable
        Called with a copy of the default State. Copies that it makes are not traced.

    Returns
    -------
    Profile

    Raises
    ------
    WrongTypeError
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
            "pass the System first, and then what is to be run",
        )
    if not callable(run):
        raise WrongTypeError(
            f"profile(..., {short_repr(run)}): cannot be called",
            "a function of a State",
            f"an object of type {type(run).__name__}",
            "write a function that takes a State and does with it what is to be profiled",
        )
    check_returns(run, f"profile(..., {short_repr(run)})")
    state = system.new_state()
    with state.trace() as trace:
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
