"""Checkpoints: marks in the life of a State or a Graph, to which it can go back."""

from types import TracebackType
from typing import Any, Protocol, Self, final
from weakref import ref

from stagecache.errors import CheckpointError, NotPicklableError, short_repr
from stagecache.graph.rollback import release
from stagecache.graph.store import Journal, Store


class IsSnapshot(Protocol):
    """Goal of a checkpoint; its `str` says where that is."""

    @property
    def journal(self) -> Journal:
        """The notes of what has changed since."""

    def release(self) -> None:
        """Let the store stop noting changes for it."""


class GoesBack(Protocol):
    """A State or a Graph, as far as its checkpoints know it."""

    def rollback(self, mark: "Checkpoint") -> None:
        """Go back."""

    def _mended(self) -> object:
        """Complete a rollback that was cut short."""


Marks = list[tuple[Any, Any]]
"""Weak references to checkpoints, each with its snapshot, the oldest first."""


@final
class Checkpoint:
    """A State or a Graph as it was when `checkpoint` was called.

    As a context manager it goes back if the block raises, and is released in any case. Changes are
    noted for it until it is released, or there is no reference to it when the next one is made.

    Examples
    --------
    >>> from stagecache import Stage, State
    >>> state = State()
    >>> part = state[state.add_subsystem()]
    >>> mass = part.allocate_discrete_variable(Stage.INSTANCE, 1.0)
    >>> mark = state.checkpoint()
    >>> mass.set(state, 2.0)
    >>> state.rollback(mark)
    >>> mass(state), mass.version(state)
    (1.0, 1)
    """

    __slots__ = ("__weakref__", "_end", "_marks", "_owner", "_snapshot")

    def __init__(self, owner: GoesBack, marks: Marks, snapshot: IsSnapshot) -> None:
        self._owner = owner
        self._marks = marks
        self._end = ""  # why it is of no use any more
        self._snapshot: IsSnapshot | None = snapshot
        marks.append((ref(self), snapshot))

    @property
    def is_released(self) -> bool:
        """True if a rollback to it is not possible any more."""
        return self._snapshot is None

    def release(self) -> None:
        """Release it: a rollback to it is not possible any more. No effect if it was released."""
        snapshot = self._snapshot
        if snapshot is not None:
            self._owner._mended()
            self._ended(
                "released"
            )  # first: if the rest is cut short, the next checkpoint() does it
            self._marks[:] = [(mark, each) for mark, each in self._marks if each is not snapshot]
            snapshot.release()

    def _ended(self, why: str) -> None:
        self._end = why
        self._snapshot = None

    def __enter__(self) -> Self:
        if self._snapshot is None:
            raise self._ended_already("with: cannot go back")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None and self._snapshot is not None:
            self._owner.rollback(self)
        self.release()

    def __reduce__(self) -> Any:
        raise NotPicklableError(
            f"{self!r}: cannot be pickled",
            "something that means the same in another process",
            "a checkpoint, which is one of a State or a Graph that is here",
            "pickle a copy of the State or the Graph",
        )

    def __repr__(self) -> str:
        return f"Checkpoint({self._end or self._snapshot})"

    def _ended_already(self, what: str) -> CheckpointError:
        return CheckpointError(
            f"{what} to {self!r}",
            "a checkpoint of this State or Graph to which it can still go back",
            f"one that was {self._end}" if self._end else "one of another State or Graph",
            "make a new one",
        )


def snapshot_of(mark: object, marks: Marks) -> Any:
    """Return the snapshot of a checkpoint.

    Raises
    ------
    CheckpointError
        It is not among these, or was released, or given up by going back further.
    """
    if not isinstance(mark, Checkpoint):
        raise CheckpointError(
            f"rollback(): cannot go back to {short_repr(mark)}",
            "what checkpoint() of this State or Graph returned",
            f"an object of type {type(mark).__name__}",
            "write mark = state.checkpoint(), and later state.rollback(mark)",
        )
    chosen = mark._snapshot
    if chosen is None or all(each is not chosen for _, each in marks):
        raise mark._ended_already("rollback(): cannot go back")
    return chosen


def give_up_later(marks: Marks, chosen: IsSnapshot) -> None:
    """Give up the checkpoints after one to which all has gone back."""
    at = next(x for x, (_, each) in enumerate(marks) if each is chosen)
    for later, _ in marks[at + 1 :]:
        given_up = later()
        if given_up is not None:
            given_up._ended("given up, by going back further")
    del marks[at + 1 :]


def _is_needed(mark: Checkpoint | None) -> bool:
    return mark is not None and not mark.is_released


def release_forgotten(marks: Marks, store: Store) -> None:
    """Release checkpoints without a reference, and those whose release was cut short."""
    marks[:] = [(mark, each) for mark, each in marks if _is_needed(mark())]
    wanted = [each.journal for _, each in marks]
    for journal in list(store.journals):
        if journal not in wanted:
            release(store, journal)
