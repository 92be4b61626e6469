"""The summary of a trace: a table with a row for each entry that was read."""

from typing import Any, Final, final

from attrs import asdict, frozen

from stagecache.checks import did_you_mean
from stagecache.display import html
from stagecache.display.html import heading, output, paragraph
from stagecache.display.text import duration, table
from stagecache.errors import UnknownPathError, short_repr
from stagecache.graph.handles import AbstractNode
from stagecache.inspection.trace.log import Notified, TraceLog
from stagecache.inspection.trace.tracer import NS

HEADINGS: Final = (
    "entry",
    "computed",
    "hits",
    "hit rate",
    "time",
    "share",
    "unchanged",
    "needless",
)


@final
@frozen
class EntrySummary:
    """Counts and times of an entry.

    Attributes
    ----------
    entry : str
    computed, hits : int
        The reads of it, by whether they had to compute. What is computed ahead of a read, as in
        long chains, belongs to the first read that finds it.
    found : int
        The reads that found a shared value (`@cached(shared=True)`) which this State did not have.
    seconds : float
        Time of its computations and of the search for shared values, without computations of other
        entries that they began.
    total_seconds : float
        Time of its computations, with these.
    last_seconds : float
        Time of the last one, with these; 0 if there was none.
    share : float
        Part of the time of all computations.
    unchanged : int
        The times that it was computed again and had the same value as before: in vain.
    needless : int
        The times that it was computed again although no variable that it had read was written, and
        no entry that it had read has another value: what made it stale, it does not need. What
        vectors other than q, u and z it reads, counts as changed.
    failed : int
        The computations that raised.
    notified, made_stale : int
        Writes of something on which it depends, and how many of these found it valid. The others
        found it stale already: it was not read in between.
    """

    entry: str
    computed: int
    hits: int
    seconds: float
    total_seconds: float
    last_seconds: float
    share: float
    unchanged: int
    needless: int
    failed: int
    found: int = 0
    notified: int = 0
    made_stale: int = 0

    @property
    def reads(self) -> int:
        """Number of reads: computations, hits, and shared values that were found."""
        return self.computed + self.hits + self.found

    @property
    def hit_rate(self) -> float:
        """Part of the reads that found a value."""
        return (self.hits + self.found) / self.reads

    def _cells(self) -> tuple[str, ...]:
        return (
            self.entry,
            f"{self.computed:,}",
            f"{self.hits:,}" + (f" + {self.found:,} shared" if self.found else ""),
            f"{self.hit_rate:.0%}",
            duration(self.seconds),
            f"{self.share:.0%}",
            f"{self.unchanged:,}",
            f"{self.needless:,}",
        )


@final
@frozen
class TraceSummary:
    """A table of the entries that were read, those first that took the most time.

    Attributes
    ----------
    rows : tuple of EntrySummary
    untraced : tuple of str
        Same as for `Trace`.
    """

    rows: tuple[EntrySummary, ...]
    untraced: tuple[str, ...] = ()

    @classmethod
    def _of(cls, log: TraceLog) -> "TraceSummary":
        tallies, notified, nothing = dict(log.entries), log.notified, Notified()
        whole = sum(tally.own_nanoseconds for tally in tallies.values()) or 1
        rows = [
            EntrySummary(
                path,
                tally.computed,
                tally.hits,
                tally.own_nanoseconds * NS,
                tally.nanoseconds * NS,
                tally.last_nanoseconds * NS,
                tally.own_nanoseconds / whole,
                tally.unchanged,
                tally.needless,
                tally.failed,
                tally.found,
                notified.get(path, nothing).writes,
                notified.get(path, nothing).made_stale,
            )
            for path, tally in tallies.items()
        ]
        return cls(
            tuple(sorted(rows, key=lambda row: (-row.seconds, row.entry))), tuple(log.untraced)
        )

    def __getitem__(self, entry: object) -> EntrySummary:
        """Return the row of an entry, by its handle or its path.

        Raises
        ------
        UnknownPathError
            It was not read.
        """
        found = {row.entry: row for row in self.rows}
        path = entry.name if isinstance(entry, AbstractNode) else str(entry)
        if path not in found:
            raise UnknownPathError(
                f"entry {short_repr(path)}: was not read in this trace",
                "an entry that was read",
                short_repr(entry),
                did_you_mean(path, found) or "read it in the block that is traced",
            )
        return found[path]

    @property
    def computed(self) -> int:
        """The number of computations."""
        return self._sum("computed")

    @property
    def hits(self) -> int:
        """The number of reads that found a value."""
        return self._sum("hits")

    @property
    def found(self) -> int:
        """The number of shared values that were found in place of a computation."""
        return self._sum("found")

    @property
    def reads(self) -> int:
        """The number of reads."""
        return self.computed + self.hits + self.found

    @property
    def seconds(self) -> float:
        """The time that all computations took."""
        return sum(row.seconds for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the summary in plain values, for JSON."""
        rows = [asdict(row) | {"hit_rate": row.hit_rate} for row in self.rows]
        total = {
            "computed": self.computed,
            "hits": self.hits,
            "found": self.found,
            "seconds": self.seconds,
        }
        return {"entries": rows, "total": total, "untraced": list(self.untraced)}

    def _lines(self) -> list[tuple[str, ...]]:
        total = EntrySummary(
            "all",
            self.computed,
            self.hits,
            self.seconds,
            self.seconds,
            0.0,
            1.0,
            self._sum("unchanged"),
            self._sum("needless"),
            0,
            self.found,
        )
        return [row._cells() for row in (*self.rows, *([total] if self.rows else []))]

    def _sum(self, column: str) -> int:
        return sum(getattr(row, column) for row in self.rows)

    def __str__(self) -> str:
        found = table(HEADINGS, self._lines()) if self.rows else "no entry was read"
        return "\n".join([found, *self.untraced])

    def __repr__(self) -> str:
        return f"TraceSummary({len(self.rows)} entries, {self.computed} computed, {self.hits} hits)"

    def _repr_html_(self) -> str:
        notes = map(paragraph, self.untraced)
        counts = f"{self.computed:,} computed, {self.hits:,} hits, {duration(self.seconds)}"
        if not self.rows:
            return output(heading("Trace", "no entry was read"), *notes)
        *rows, total = self._lines()
        lines = [total, *rows]
        return output(heading("Trace", counts), html.table(HEADINGS, lines, what="entries"), *notes)
