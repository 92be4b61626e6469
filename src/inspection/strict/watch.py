"""What is done at each read of a State in strict mode: noting it, judging it, verifying it."""

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, Final, final

from stagecache.errors import StagecacheError
from stagecache.inspection.place_of_read import Place, place_of_read
from stagecache.inspection.strict.beginnings import hook
from stagecache.inspection.strict.computations import Computations, being_computed
from stagecache.inspection.strict.coverage import gap_of
from stagecache.inspection.strict.digest import Observations
from stagecache.inspection.strict.reads import Item, ReadLog, UndeclaredRead
from stagecache.inspection.strict.undeclared import hint_of, titles_of, undeclared_error
from stagecache.inspection.strict.verification import Verification, verify_upstream
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.stage import Stage

FEWEST: Final = 100
"""How many computations there are at least before it is seen to what can be forgotten."""


@final
class Watch:
    """Watches the reads of one State.

    Attributes
    ----------
    logs : tuple of ReadLog
        One for each block that watches it, the innermost last, which says what is raised.
    """

    __slots__ = (
        "_computations",
        "_found",
        "_observations",
        "_until_forgetting",
        "_verifications",
        "logs",
    )

    def __init__(self, logs: tuple[ReadLog, ...] = ()) -> None:
        self.logs = logs
        self._observations = Observations()
        self._verifications: dict[int, Verification] = {}  # by thread
        self._computations = Computations()
        self._found: dict[int, StagecacheError] = {}  # by thread: raised in a computation
        self._until_forgetting = FEWEST  # computations

    def inherited(self) -> "Watch | None":
        """That of a copy of the State; None if it is not strict from the beginning."""
        if any(log._is_permanent for log in self.logs):
            return Watch((ReadLog(is_permanent=True),))
        return None

    # ------------------------------------------------------------------ reads

    def read(self, contents: Contents, items: Sequence[Item], title: str = "") -> None:
        """Note a read of these items, which `title` calls if they have no handle.

        Raises
        ------
        UndeclaredPrerequisiteError
            A computation reads them, and its entry does not declare them.
        MutatedValueError
            A value was changed in place since it was last read.
        """
        place = place_of_read()
        if place is None:
            return
        entry = being_computed(contents)
        if entry is None:
            self._look(contents, items, None)
            return
        try:
            self._settle(contents)
            self._look(contents, items, entry)
            self._judge(contents, entry, items, title, place)
        except StagecacheError as error:
            self._found.setdefault(get_ident(), error)
            raise

    def _judge(
        self,
        contents: Contents,
        entry: CacheEntry[Any],
        items: Sequence[Item],
        title: str,
        place: Place,
    ) -> None:
        """Note what a computation reads, and whether that is declared."""
        again = self._undeclared_again(entry)
        versions = contents.realization.store.versions
        for item in items:
            version = versions[item._node] if isinstance(item, AbstractHandle) else 0
            for log in self.logs:
                log._add_read(entry, item, version if again is None else None)
        gap = gap_of(contents.realization, entry, items)
        if gap is None:
            return
        hint = hint_of(contents, entry, gap)
        lacking: list[Item] = [*gap.handles] or [item for item in items if isinstance(item, Stage)]
        found = [UndeclaredRead(entry, item, *place, hint) for item in lacking]
        if again is not None:
            again.extend(found)
        for log in self.logs:
            for read in found:
                log._add_undeclared(read)
        if again is None and self.logs and self.logs[-1]._is_raising:
            title = title or titles_of(contents, items)
            raise undeclared_error(contents, entry, title, place, hint)

    def observe(self, contents: Contents, entry: CacheEntry[Any]) -> None:
        """Remember the value of an entry that was computed to be read.

        Raises
        ------
        MutatedValueError
        """
        self._look(contents, (entry,), being_computed(contents))

    def verify(self, contents: Contents, entry: CacheEntry[Any]) -> None:
        """Compute a valid entry again, and compare, if a block asks for it.

        Raises
        ------
        StaleValueError
        """
        logs = self.logs
        if not any(log._is_verifying for log in logs):
            return
        me = get_ident()
        verification = self._verifications.get(me)
        if verification is not None and verification.stack:
            verify_upstream(contents, entry, verification, logs)
            return
        verification = self._verifications[me] = Verification()
        try:
            verify_upstream(contents, entry, verification, logs)
        finally:
            del self._verifications[me]

    def _undeclared_again(self, entry: CacheEntry[Any]) -> list[UndeclaredRead] | None:
        """Where this is noted of an entry that is being verified; None of any other."""
        verification = self._verifications.get(get_ident())
        if verification is not None and verification.stack:
            node, undeclared = verification.stack[-1]
            return undeclared if node == entry._node else None
        return None

    # ------------------------------------------------------------------ computations

    def compute(self, contents: Contents, function: Callable[..., Any], *arguments: object) -> Any:
        """Call what may compute entries: `function(contents, *arguments)`.

        Raises
        ------
        UndeclaredPrerequisiteError, MutatedValueError
            Also if a computation has caught it.
        Exception
            Whatever the function raises.
        """
        hook(contents)
        is_outermost = being_computed(contents) is None
        found = None
        if is_outermost:
            self._computations.forget()
        try:
            value = function(contents, *arguments)
            self._settle(contents)
        finally:
            if is_outermost:
                self._ended(contents)
                found = self._found.pop(get_ident(), None)
        if found is not None:
            raise found
        return value

    def began(self, contents: Contents, node: int) -> None:
        """Note that this thread begins to compute an entry."""
        entry = contents.realization.store.keys[node]
        assert isinstance(entry, CacheEntry)
        if self._undeclared_again(entry) is None:
            self._computations.begin(entry)
        self._until_forgetting -= 1
        if self._until_forgetting <= 0:
            self._forget(contents)

    def _ended(self, contents: Contents) -> list[CacheEntry[Any]]:
        """The computations of this thread that have ended; note those that gave a value."""
        ended = self._computations.ended(contents)
        for entry in ended:
            if contents.realization.store.is_valid(entry._node):
                for log in self.logs:
                    log._add_computed(entry, contents.prerequisites(entry))
        return ended

    def _settle(self, contents: Contents) -> None:
        """See whether computations of this thread that have ended have changed what they read."""
        for entry in self._ended(contents):
            for item in self.logs[-1].of(entry) if self.logs else ():
                if isinstance(item, AbstractHandle):
                    self._observations.check(contents, item)

    def _forget(self, contents: Contents) -> None:
        """Drop what is known of items that there are no more; cost O(1) for each computation."""
        keys = contents.realization.store.keys
        self._until_forgetting = max(FEWEST, len(keys))

        def is_there(handle: AbstractHandle) -> bool:
            return handle._node < len(keys) and keys[handle._node] is handle

        self._observations.keep(is_there)
        for log in self.logs:
            if log._is_permanent:  # which nobody looks into
                log._keep(is_there)

    # ------------------------------------------------------------------ values

    def handed_out(self, handle: AbstractHandle) -> None:
        """Note that a value may be changed now."""
        self._observations.open(handle)

    def check(self, contents: Contents) -> None:
        """See whether any value that was read has been changed in place.

        Raises
        ------
        MutatedValueError
        """
        self._observations.check_all(contents)

    def _look(
        self, contents: Contents, items: Sequence[Item], entry: CacheEntry[Any] | None
    ) -> None:
        store = contents.realization.store
        reader = "outside of computations"
        if entry is not None:
            reader = f"by {contents.realization.layout.path(entry)}"
        for item in items:
            if isinstance(item, AbstractContinuousVariable | DiscreteVariable) or (
                isinstance(item, CacheEntry) and store.is_valid(item._node)
            ):
                self._observations.look(contents, item, reader, computes=entry is not None)
