"""Failure of a check, before it becomes an error."""

from stagecache.testing.items import Item
from stagecache.testing.oracle.comparison import NOTHING, Outcome
from stagecache.testing.oracle.oracle import Subject
from stagecache.testing.programs.run import Run


class Failure(Exception):  # noqa: N818  # it never leaves the kit
    """Violated condition in a State of a program.

    Attributes
    ----------
    kind : str
        "value": the value differs from a fresh State's. "realization": a realization raises, and
        the one of a fresh State does not, or the other way around. "exchange": an automatic update
        did not write the next value. "changed": a value has changed, but not its version. "lost":
        a write has made an entry stale that is not downstream of it. "version": a version does not
        count writes. "rollback": a value or a valid entry differs from the checkpoint. "saved": a
        variable has another value once it was saved and loaded.
    run : Run
    number : int
        The number of the State.
    subject : Subject
    expected, got : Outcome
    variable : Item, str or None
        The variable that was exchanged, or saved; the name of weights.
    lines : int or None
        The number of lines of the program before the one that shows it; all by default.
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
        variable: Item | str | None = None,
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
        """Return True if another failure is of the same kind and subject."""
        return self.kind == other.kind and self.subject == other.subject
