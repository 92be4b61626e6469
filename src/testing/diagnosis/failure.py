"""Failure of a check, before it becomes an error."""

from stagecache.testing.items import Item
from stagecache.testing.oracle.comparison import NOTHING, Outcome
from stagecache.testing.oracle.oracle import Subject
from stagecache.testing.programs.run import Run


class Failure(Exception):  # noqa: N818  # it never leaves the kit
    """Something that must not be, in a State of a program.

    Attributes
    ----------
    kind : str
        "value": it is not that of a fresh State. "realization": it raises, and that of a fresh
        State does not, or the other way around. "exchange": a variable was exchanged for another
        value than its next one. "changed": a value is another one, but not its version. "lost": an
        entry is invalidated by a variable that is not upstream of it. "version": that of a variable
        does not count its writes. "rollback": something is not as it was at the checkpoint.
    run : Run
    number : int
        Of the State.
    subject : Subject
    expected, got : Outcome
    variable : Item or None
        That which was exchanged.
    lines : int or None
        How many lines of the program come before the one that shows it; all by default.
    """

    def __init__(
        self,
        kind: str,
        run: Run,
        number: int,
        subject: Subject,
        expected: Outcome = NOTHING,
        got: Outcome = NOTHING,
        *,
        variable: Item | None = None,
        lines: int | None = None,
    ) -> None:
        super().__init__(kind, subject)
        self.kind = kind
        self.run = run
        self.number = number
        self.subject = subject
        self.expected = expected
        self.got = got
        self.variable = variable
        self.lines = len(run.lines) if lines is None else lines

    def is_like(self, other: "Failure") -> bool:
        """Return True if it is the same fault, as far as can be told."""
        return self.kind == other.kind and self.subject == other.subject
