"""Answers of `State.explain`: the cause, other changes, and the computations of a call."""

from enum import StrEnum
from typing import Any, Final, final

from attrs import asdict, evolve, frozen

from stagecache.display.html import output, paragraph, tree
from stagecache.display.text import duration, wrapped
from stagecache.graph.observing import TracedWrite
from stagecache.graph.sources import shown_file
from stagecache.state.vectors.vectors import Y
from stagecache.views.nodes import Status

MOST_NAMED: Final = 8  # entries that a paragraph names


class CauseKind(StrEnum):
    """Reason for which an entry is not valid."""

    NEVER = "never computed"
    """The entry was not computed since it was allocated, or raised whenever it was."""

    CHANGED = "changed"
    """A variable has changed since, on which it depends, or a stage."""

    INVALIDATED = "invalidated"
    """The entry, or something upstream, was invalidated explicitly, and not computed since."""

    OUTDATED = "the System was changed"
    """All entries are stale for ever: the State is one of an older topology."""

    WAITING = "waits for a stage"
    """The subsystem of the entry, or of one upstream, is below its stage; maybe since a write."""

    COMPUTING = "being computed"
    """The entry is being computed now."""

    UNKNOWN = "something upstream has changed"
    """The State does not know any more what has changed."""


@frozen
class Cause:
    """Cause why an entry is stale or not computed.

    Attributes
    ----------
    kind : CauseKind
    what : str
        The path of what has changed, is missing or was invalidated: a variable, a stage, an entry.
    variable : str
        The path of the variable that was written; "" if none was, or if that is not known.
    version, version_before : int or None
        Versions of that variable: now, and, while a trace is on, before the write.
    written_as : str
        What the write was called: "q" for one of the whole q; "invalidate_all(Position)" and the
        like where it was none, or how the System was changed. "" if that is not known.
    subsystem : str
        The one that has not reached a stage.
    file, line : str and int
        Where it was written, while a trace is on; "" and 0 otherwise.
    seconds : float or None
        Time of the write since the trace began, while a trace is on.
    """

    kind: CauseKind
    what: str = ""
    variable: str = ""
    version: int | None = None
    version_before: int | None = None
    written_as: str = ""
    subsystem: str = ""
    file: str = ""
    line: int = 0
    seconds: float | None = None

    def with_trace(self, write: TracedWrite | None) -> "Cause":
        """Return the cause with all that a trace knows of the write."""
        return self if write is None else evolve(self, **asdict(write))

    def without_trace(self) -> "Cause":
        """Return the cause as it is told without a trace."""
        return evolve(self, version_before=None, file="", line=0, seconds=None)

    def __str__(self) -> str:
        if self.kind is CauseKind.WAITING:
            since = f", since {self._write()}" if self._write() else ""
            is_written = " was written" if self.variable or self.written_as == Y.name else ""
            return f"{self.subsystem} has not reached {self.what}{since}{is_written}"
        if self.kind is CauseKind.INVALIDATED:
            return f"{self.what} was invalidated or allocated, and not computed since"
        if self.kind is CauseKind.OUTDATED:
            return f"{self.kind}: {self.written_as}"
        if self.kind is CauseKind.CHANGED and self.what != self.variable:
            by = f" by {self._write()}" if self._write() else ""
            return f"{self.what} was invalidated{by}"
        if self.kind is CauseKind.CHANGED:
            return f"{self._write()} has changed since it was computed"
        if self.kind is CauseKind.UNKNOWN:
            return str(self.kind)
        return "no call has computed it" if self.kind is CauseKind.NEVER else f"it is {self.kind}"

    def _write(self) -> str:
        """Return the variable written, with its versions, and the place."""
        if not self.variable:
            return self.written_as
        before = f"from version {self.version_before} to" if self.version_before else "now version"
        as_what = f", as {self.written_as}" if self.written_as not in ("", self.variable) else ""
        when = "" if self.seconds is None else f", {duration(self.seconds)} after the trace began"
        where = f", in {shown_file(self.file)}:{self.line}" if self.file else ""
        return f"{self.variable} ({before} {self.version}{as_what}{when}{where})"


@final
@frozen(repr=False, str=False)
class Explanation:
    """Status of an entry, and why it is stale or not computed. It prints as a paragraph and a tree.

    Attributes
    ----------
    entry : str
        Its path.
    status : Status
        Valid, stale or not computed.
    cause : Cause or None
        None if it is valid. Where several things have changed, the first that is known: which
        has made it stale.
    others : tuple of str
        What has changed since then, as far as it is known, and would have made it stale as well:
        variables, and stages that were invalidated otherwise.
    path : tuple of str
        From what has changed, is missing or was invalidated, down to the entry: a shortest path
        along edges of `State.graph`.
    computes : tuple of str
        What a call would compute, in this order. What a function does not read is left out then.
    is_at_most : bool
        Whether new values are compared with those before, so that some of these may be left out.
    refuses : str
        Why a call would raise instead; "" if it would not.
    shared : str
        Where its value was computed, if it was taken from shared results; "" otherwise.
    tree : str
        The entry and what it depends on, in lines of text.
    """

    entry: str
    status: Status
    cause: Cause | None
    others: tuple[str, ...]
    path: tuple[str, ...]
    computes: tuple[str, ...]
    is_at_most: bool
    refuses: str
    shared: str
    tree: str

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        return {
            **asdict(self, filter=lambda attribute, _: attribute.name != "tree"),
            "others": list(self.others),
            "path": list(self.path),
            "computes": list(self.computes),
        }

    @property
    def is_valid(self) -> bool:
        """True if the entry is valid."""
        return self.status is Status.VALID

    @property
    def text(self) -> str:
        """The paragraph."""
        if self.shared:
            return f"{self.entry} is valid: taken from shared results, {self.shared}."
        if self.is_valid:
            return f"{self.entry} is valid: nothing upstream has changed since it was computed."
        parts = [f"{self.entry} is {self.status}: {self.cause}."]
        if len(self.path) > 2:
            way = self.path
            if len(way) > MOST_NAMED:
                way = (*way[: MOST_NAMED // 2], "...", *way[-MOST_NAMED // 2 :])
            parts.append(f"Path: {' -> '.join(way)}.")
        if self.others:
            parts.append(f"Changed since, too: {_few(self.others)}.")
        if self.refuses:
            why = "" if self.refuses == str(self.cause) else f": {self.refuses}"
            parts.append(f"A call raises{why}.")
        elif self.computes:
            number = f"{len(self.computes)} entries: " * (len(self.computes) > MOST_NAMED)
            at_most = "at most " * self.is_at_most
            parts.append(f"A call computes {at_most}{number}{_few(self.computes)}.")
        return "\n".join(parts)

    def __str__(self) -> str:
        return f"{wrapped(self.text)}\n{self.tree}"

    def __repr__(self) -> str:
        return f"Explanation({self.entry}: {self.cause or self.status})"

    def _repr_html_(self) -> str:
        return output(paragraph(self.text), tree(self.tree))


def _few(paths: tuple[str, ...]) -> str:
    if len(paths) > MOST_NAMED:
        paths = (*paths[:MOST_NAMED], "...", paths[-1])
    return ", ".join(paths)
