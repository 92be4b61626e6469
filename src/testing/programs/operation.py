"""Operations on a State, each as an object that performs it and shows it as code.

Here are reads, changes of stage, copies and checkpoints; `writes` has the others. A program skips
operations that are impossible at the time, such as a write of q before Model is realized.
"""

from typing import ClassVar

from attrs import frozen

from stagecache.state.stage import Stage
from stagecache.testing.items import Item, has_item, is_open
from stagecache.testing.oracle.comparison import outcome_of
from stagecache.testing.oracle.oracle import Snapshot, Subject, entries_now
from stagecache.testing.programs.run import (
    MOST_MARKS,
    MOST_STATES,
    Mark,
    Run,
    mark_name,
    state_name,
)


@frozen(kw_only=True)
class AbstractOperation:
    """Operation on a State.

    Attributes
    ----------
    where : int
        The number of the State, modulo their count.
    """

    may_raise: ClassVar[bool] = False
    """True if the model may raise an exception during the operation, apart from reads."""

    realizes: ClassVar[bool] = False
    """True if an exception means that a stage cannot be realized."""

    where: int = 0

    def number(self, run: Run) -> int:
        """Return the number of the State."""
        return self.where % len(run.states)

    def is_possible(self, run: Run) -> bool:  # noqa: ARG002  # others need it
        """Return True if it can be done now."""
        return True

    def code(self, run: Run) -> str:
        """Return the operation as Python, one line or several. Call it before `apply`."""
        raise NotImplementedError

    def apply(self, run: Run) -> None:
        """Perform the operation."""
        raise NotImplementedError

    def written(self, run: Run) -> list[Item | str]:  # noqa: ARG002  # others need it
        """Return the written variables, and the names of written weights."""
        return []


# ---------------------------------------------------------------------- reads


@frozen
class ReadEntry(AbstractOperation):
    """Read of an entry whose stage is realized."""

    item: Item

    def is_possible(self, run: Run) -> bool:
        """Return True if the State has the entry, and it can be read."""
        state = run.state(self.where)
        if not has_item(state, self.item):
            return False
        return Subject(self.item) in entries_now(state, valid=False) and is_open(
            state, self.item.handle(state)
        )

    def code(self, run: Run) -> str:
        """Return a call of the handle."""
        return run.code(self.where, Subject(self.item))

    def apply(self, run: Run) -> None:
        """Call the handle."""
        subject, state = Subject(self.item), run.state(self.where)
        run.read(self.where, subject, outcome_of(lambda: subject.read(state)))


@frozen
class ReadAll(AbstractOperation):
    """Read of all entries that can be read, in the order of allocation, or backwards."""

    backwards: bool = False

    def subjects(self, run: Run) -> list[Subject]:
        """Return the entries that can be read."""
        found = entries_now(run.state(self.where), valid=False)
        return found[::-1] if self.backwards else found

    def code(self, run: Run) -> str:
        """Return a call of each handle."""
        return "\n".join(run.code(self.where, subject) for subject in self.subjects(run))

    def apply(self, run: Run) -> None:
        """Call each handle."""
        state = run.state(self.where)
        for subject in self.subjects(run):
            run.read(self.where, subject, outcome_of(lambda s=subject: s.read(state)))  # type: ignore[misc]  # a default binds it


# ---------------------------------------------------------------------- stages


@frozen
class Realize(AbstractOperation):
    """Realization of a stage."""

    may_raise: ClassVar[bool] = True
    realizes: ClassVar[bool] = True

    stage: Stage = Stage.REPORT

    def is_possible(self, run: Run) -> bool:
        """Return True if the stage is not realized yet."""
        return run.state(self.where).stage < self.stage

    def code(self, run: Run) -> str:
        """``system.realize(state, Stage.POSITION)``."""
        stage = "" if self.stage == Stage.REPORT else f", Stage.{self.stage.name}"
        return f"system.realize({run.name(self.where)}{stage})"

    def apply(self, run: Run) -> None:
        """Realize the stage."""
        run.system.realize(run.state(self.where), self.stage)


@frozen
class Invalidate(AbstractOperation):
    """Invalidation of a stage and all later ones."""

    stage: Stage

    def is_possible(self, run: Run) -> bool:
        """Return True if the stage is realized."""
        return run.state(self.where).stage >= self.stage

    def code(self, run: Run) -> str:
        """``state.invalidate_all(Stage.POSITION)``."""
        return f"{run.name(self.where)}.invalidate_all(Stage.{self.stage.name})"

    def apply(self, run: Run) -> None:
        """Invalidate the stage."""
        run.state(self.where).invalidate_all(self.stage)


@frozen
class AutoUpdate(AbstractOperation):
    """Exchange of auto-update variables with their next values."""

    def code(self, run: Run) -> str:
        """``state.auto_update_discrete_variables()``."""
        return f"{run.name(self.where)}.auto_update_discrete_variables()"

    def apply(self, run: Run) -> None:
        """Exchange them."""
        run.state(self.where).auto_update_discrete_variables()


@frozen
class Copy(AbstractOperation):
    """Copy of a State; the program goes on with both."""

    keep_cache: bool = False

    def is_possible(self, run: Run) -> bool:
        """Return True if there are not many already."""
        return len(run.states) < MOST_STATES

    def code(self, run: Run) -> str:
        """``state_2 = state.copy()``."""
        how = "keep_cache=True" if self.keep_cache else ""
        return f"{state_name(len(run.states))} = {run.name(self.where)}.copy({how})"

    def apply(self, run: Run) -> None:
        """Copy the State."""
        state = run.state(self.where)
        run.add(state.copy(keep_cache=self.keep_cache), run.number(self.where))


@frozen
class MakeMark(AbstractOperation):
    """Creation of a checkpoint."""

    def is_possible(self, run: Run) -> bool:
        """Return True if there are not many already."""
        return len(run.marks) < MOST_MARKS

    def code(self, run: Run) -> str:
        """``mark = state.checkpoint()``."""
        return f"{mark_name(len(run.marks))} = {run.name(self.where)}.checkpoint()"

    def apply(self, run: Run) -> None:
        """Make the checkpoint."""
        state = run.state(self.where)
        valid = tuple(entries_now(state, valid=True))
        run.marks.append(
            Mark(run.number(self.where), state, state.checkpoint(), Snapshot.of(state), valid)
        )


@frozen
class RollBack(AbstractOperation):
    """Rollback to a checkpoint, which is kept; `where` is its number, modulo their count."""

    def mark(self, run: Run) -> Mark | None:
        """Return the checkpoint; None if all are released, or their States replaced."""
        marks = [
            mark
            for mark in run.marks
            if not mark.checkpoint.is_released and mark.state is run.states[mark.number]
        ]
        return marks[self.where % len(marks)] if marks else None

    def number(self, run: Run) -> int:
        """Return the number of the State that is rolled back."""
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
        """Roll the State back."""
        mark = self.mark(run)
        assert mark is not None
        run.states[mark.number].rollback(mark.checkpoint)
