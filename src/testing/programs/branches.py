"""Operations that make States: copies, checkpoints, and going back to these."""

from attrs import frozen

from stagecache.testing.oracle.oracle import Snapshot, entries_now
from stagecache.testing.programs.operation import AbstractOperation
from stagecache.testing.programs.run import (
    MOST_MARKS,
    MOST_STATES,
    Mark,
    Run,
    mark_name,
    state_name,
)


@frozen
class Copy(AbstractOperation):
    """Copy a State; both go on being used."""

    keep_cache: bool = False

    def is_possible(self, run: Run) -> bool:
        """Return True if there are not many already."""
        return len(run.states) < MOST_STATES

    def code(self, run: Run) -> str:
        """``state_2 = state.copy()``."""
        how = "keep_cache=True" if self.keep_cache else ""
        return f"{state_name(len(run.states))} = {run.name(self.where)}.copy({how})"

    def apply(self, run: Run) -> None:
        """Copy it."""
        state = run.state(self.where)
        run.add(state.copy(keep_cache=self.keep_cache), run.number(self.where))


@frozen
class MakeMark(AbstractOperation):
    """Make a checkpoint."""

    def is_possible(self, run: Run) -> bool:
        """Return True if there are not many already."""
        return len(run.marks) < MOST_MARKS

    def code(self, run: Run) -> str:
        """``mark = state.checkpoint()``."""
        return f"{mark_name(len(run.marks))} = {run.name(self.where)}.checkpoint()"

    def apply(self, run: Run) -> None:
        """Make it."""
        state = run.state(self.where)
        valid = tuple(entries_now(state, valid=True))
        run.marks.append(
            Mark(run.number(self.where), state.checkpoint(), Snapshot.of(state), valid)
        )


@frozen
class RollBack(AbstractOperation):
    """Go back to a checkpoint, and keep it; `where` says to which, modulo their number."""

    def mark(self, run: Run) -> Mark | None:
        """That checkpoint."""
        marks = [mark for mark in run.marks if not mark.checkpoint.is_released]
        return marks[self.where % len(marks)] if marks else None

    def number(self, run: Run) -> int:
        """The number of the State that goes back."""
        mark = self.mark(run)
        return 0 if mark is None else mark.number

    def is_possible(self, run: Run) -> bool:
        """Return True if there is a checkpoint."""
        return self.mark(run) is not None

    def code(self, run: Run) -> str:
        """``state.rollback(mark)``."""
        mark = self.mark(run)
        assert mark is not None
        return f"{state_name(mark.number)}.rollback({mark_name(run.marks.index(mark))})"

    def apply(self, run: Run) -> None:
        """Go back."""
        mark = self.mark(run)
        assert mark is not None
        run.states[mark.number].rollback(mark.checkpoint)
