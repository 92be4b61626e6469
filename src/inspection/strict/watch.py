"""Watching the reads of a State in strict mode: each is noted, judged, and maybe verified.

Not each computation is asked for by a read that is watched: deep in a chain, and above an entry
that compares its values, the evaluator computes on its own. But before each it asks for the
arguments::

    evaluator --> bind --> (state,)                      off
    evaluator --> WatchedBind --> bind --> (state,)      strict, from the first computation on
"""

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, Final, final

from stagecache.errors import StagecacheError, UndeclaredPrerequisiteError
from stagecache.graph.evaluation import Arguments
from stagecache.inspection.place_of_read import Place, place_of_read
from stagecache.inspection.strict.coverage import Gap, gap_of
from stagecache.inspection.strict.digest import Observations
from stagecache.inspection.strict.reads import ReadLog, UndeclaredRead, path_of
from stagecache.inspection.strict.verification import Verification, verify_upstream
from stagecache.state.contents.contents import Contents
from stagecache.graph.observing import Act
from stagecache.state.contents.observer import Item, Observer
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.stage import Stage

FEWEST: Final = 100
"""Least number of computations before items that were removed are forgotten."""


def being_computed(contents: Contents) -> CacheEntry[Any] | None:
    """Return the innermost entry that this thread is computing, or None."""
    realization = contents.realization
    running = realization.evaluator.running
    if running:
        me = get_ident()
        for node, thread in reversed(list(running.items())):
            if thread == me:
                entry = realization.store.keys[node]
                assert isinstance(entry, CacheEntry)
                return entry
    return None


@final
class Computations:
    """Computations that have begun, by thread, in order.

    Nobody tells that one has ended: it is not running any more when it is looked for.
    """

    __slots__ = ("_begun",)

    def __init__(self) -> None:
        self._begun: dict[int, list[CacheEntry[Any]]] = {}  # by thread

    def begin(self, entry: CacheEntry[Any]) -> None:
        """Note that this thread begins to compute an entry."""
        self._begun.setdefault(get_ident(), []).append(entry)

    def ended(self, contents: Contents) -> list[CacheEntry[Any]]:
        """Return the computations of this thread that have ended since the last call."""
        me = get_ident()
        running = contents.realization.evaluator.running
        begun = self._begun.get(me, [])
        ended = []
        while begun and running.get(begun[-1]._node) != me:
            ended.append(begun.pop())
        if not begun:
            self._begun.pop(me, None)
        return ended

    def forget(self) -> None:
        """Forget computations of this thread that Control-C has left."""
        self._begun.pop(get_ident(), None)


@final
class Watch(Observer):
    """An observer of the reads of one State.

    Attributes
    ----------
    contents : Contents
        Contents of the State.
    logs : tuple of ReadLog
        One for each block that watches it, the innermost last, which decides about raising.
    """

    __slots__ = (
        "_computations",
        "_found",
        "_observations",
        "_until_forgetting",
        "_verifications",
        "contents",
        "logs",
    )

    is_strict = True

    def __init__(self, contents: Contents, logs: tuple[ReadLog, ...]) -> None:
        self.contents = contents
        self.logs = logs
        self._observations = Observations()
        self._verifications: dict[int, Verification] = {}  # by thread
        self._computations = Computations()
        self._found: dict[int, StagecacheError] = {}  # by thread: raised in a computation
        self._until_forgetting = FEWEST  # computations

    def inherited(self, contents: Contents) -> "Watch | None":
        """Return a watch of a copy of the State; None if it is not strict from the beginning."""
        if any(log._is_permanent for log in self.logs):
            return Watch(contents, (ReadLog(is_permanent=True),))
        return None

    # ------------------------------------------------------------------ reads

    def read(self, items: Sequence[Item], title: str = "") -> None:
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
        entry = being_computed(self.contents)
        if entry is None:
            self._look(items, None)
            return
        try:
            self._settle()
            self._look(items, entry)
            self._judge(entry, items, title, place)
        except StagecacheError as error:
            self._found.setdefault(get_ident(), error)
            raise

    def read_valid(self, entry: CacheEntry[Any]) -> None:
        """Note a read of an entry, and verify its value."""
        self.read((entry,))
        self._verify(entry)

    def read_entry(self, entry: CacheEntry[Any], act: Act) -> Any:
        """Note a read of an entry, and watch its computation."""
        self.read((entry,))
        value = self.compute(act)
        self._look((entry,), being_computed(self.contents))
        return value

    def _judge(
        self,
        entry: CacheEntry[Any],
        items: Sequence[Item],
        title: str,
        place: Place,
    ) -> None:
        """Note the reads of a computation, and raise if they are not declared."""
        contents, logs = self.contents, self.logs
        again = self._undeclared_again(entry)
        versions = contents.realization.store.versions
        for item in items:
            version = versions[item._node] if isinstance(item, AbstractHandle) else 0
            for log in logs:
                log._add_read(entry, item, version if again is None else None)
        gap = gap_of(contents.realization, entry, items)
        if gap is None:
            return
        hint = hint_of(contents, entry, gap)
        lacking: list[Item] = [*gap.handles] or [item for item in items if isinstance(item, Stage)]
        found = [UndeclaredRead(entry, item, *place, hint) for item in lacking]
        if again is not None:
            again.extend(found)
        for log in logs:
            for read in found:
                log._add_undeclared(read)
        if again is None and logs and logs[-1]._is_raising:
            title = title or titles_of(contents, items)
            raise undeclared_error(contents, entry, title, place, hint)

    def _verify(self, entry: CacheEntry[Any]) -> None:
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
            verify_upstream(self.contents, entry, verification, logs)
            return
        verification = self._verifications[me] = Verification()
        try:
            verify_upstream(self.contents, entry, verification, logs)
        finally:
            del self._verifications[me]

    def _undeclared_again(self, entry: CacheEntry[Any]) -> list[UndeclaredRead] | None:
        """Return the list of undeclared reads of an entry that is being verified, or None."""
        verification = self._verifications.get(get_ident())
        if verification is not None and verification.stack:
            node, undeclared = verification.stack[-1]
            return undeclared if node == entry._node else None
        return None

    # ------------------------------------------------------------------ computations

    def compute(self, act: Act) -> Any:
        """Call what may compute entries.

        Raises
        ------
        UndeclaredPrerequisiteError, MutatedValueError
            Also if a computation has caught it.
        Exception
            Whatever it raises.
        """
        evaluator = self.contents.realization.evaluator
        if not isinstance(evaluator._bind, WatchedBind):
            evaluator._bind = WatchedBind(evaluator._bind)
        is_outermost = being_computed(self.contents) is None
        found = None
        if is_outermost:
            self._computations.forget()
        try:
            value = act()
            self._settle()
        finally:
            if is_outermost:
                self._ended()
                found = self._found.pop(get_ident(), None)
        if found is not None:
            raise found
        return value

    def began(self, node: int) -> None:
        """Note that this thread begins to compute an entry."""
        entry = self.contents.realization.store.keys[node]
        assert isinstance(entry, CacheEntry)
        if self._undeclared_again(entry) is None:
            self._computations.begin(entry)
        self._until_forgetting -= 1
        if self._until_forgetting <= 0:
            self._forget()

    def _ended(self) -> list[CacheEntry[Any]]:
        """Return computations of this thread that have ended; note those that gave a value."""
        contents = self.contents
        ended = self._computations.ended(contents)
        for entry in ended:
            if contents.realization.store.is_valid(entry._node):
                for log in self.logs:
                    log._add_computed(entry, contents.prerequisites(entry))
        return ended

    def _settle(self) -> None:
        """Check that computations of this thread that have ended have not changed values read."""
        for entry in self._ended():
            for log in self.logs[-1:]:
                for item in log.of(entry):
                    if isinstance(item, AbstractHandle):
                        self._observations.check(self.contents, item)

    def _forget(self) -> None:
        """Forget items that were removed; cost O(1) for each computation."""
        keys = self.contents.realization.store.keys
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

    def check(self) -> None:
        """Check that values that were read have not been changed in place.

        Raises
        ------
        MutatedValueError
        """
        self._observations.check_all(self.contents)

    def _look(self, items: Sequence[Item], entry: CacheEntry[Any] | None) -> None:
        contents = self.contents
        store = contents.realization.store
        reader = "outside of computations"
        if entry is not None:
            reader = f"by {contents.realization.layout.path(entry)}"
        for item in items:
            if isinstance(item, AbstractContinuousVariable | DiscreteVariable) or (
                isinstance(item, CacheEntry) and store.is_valid(item._node)
            ):
                self._observations.look(contents, item, reader, computes=entry is not None)


@final
class WatchedBind:
    """Binds like another, and tells the watch of the State that a computation begins."""

    __slots__ = ("bind",)

    def __init__(self, bind: Callable[[int], Arguments]) -> None:
        self.bind = bind

    def __call__(self, node: int) -> Arguments:
        """Return what the function of an entry is called with."""
        arguments = self.bind(node)
        contents: Contents = arguments[0]._contents
        watch = watch_of(contents)
        if watch is None:  # it is from before a rollback, or another thread has just left
            unhook(contents)
        else:
            watch.began(node)
        return arguments


def unhook(contents: Contents) -> None:
    """Let computations of a State begin unnoticed."""
    evaluator = contents.realization.evaluator
    bind = evaluator._bind
    if isinstance(bind, WatchedBind):
        evaluator._bind = bind.bind


def watch_of(contents: Contents) -> Watch | None:
    """The watch of a State, if it is strict."""
    return next((o for o in contents.observers if isinstance(o, Watch)), None)


# ---------------------------------------------------------------------- undeclared reads


def hint_of(contents: Contents, entry: CacheEntry[Any], gap: Gap) -> str:
    """Return the declaration that would cover a read."""
    if contents.system is not None and entry._owner is not None:
        return str(contents.system._hint_of(entry, gap))
    hints = []
    if gap.handles:
        names = ", ".join(map(_expression, (*contents.prerequisites(entry), *gap.handles)))
        comma = "," if "," not in names else ""
        hints.append(f"allocate it with the prerequisites ({names}{comma})")
    if gap.stage is not None:
        hints.append(f"allocate it with available_from=Stage.{gap.stage.name}")
    return ", and ".join(hints)


def _expression(handle: AbstractHandle) -> str:
    """Return the expression for a handle in a program, as far as it is known."""
    if handle._owner is not None or handle._name:
        return str(handle) if handle._owner is not None else handle._name
    if isinstance(handle, AbstractContinuousVariable) and handle.slot < 0:
        part = "" if handle.subsystem is None else f"[{handle.subsystem}]"
        return f'state{part}.variable("{handle.kind}")'
    return 'state.variable("time")' if handle.subsystem is None else f"<{handle}>"


def titles_of(contents: Contents, items: Sequence[Item]) -> str:
    """Return the names of several items in messages."""
    layout = contents.realization.layout
    return ", ".join(path_of(layout, item) for item in items if isinstance(item, AbstractHandle))


def undeclared_error(
    contents: Contents, entry: CacheEntry[Any], title: str, place: Place, hint: str
) -> UndeclaredPrerequisiteError:
    """Return the error of an undeclared read."""
    names = ", ".join(map(str, contents.prerequisites(entry))) or "none"
    file, line = place
    return UndeclaredPrerequisiteError(
        f"{contents.realization.layout.path(entry)}: reads {title}, which it does not declare",
        f"reads of its prerequisites ({names}), and of what {entry.available_from} guarantees",
        f"a read in {file}:{line}",
        hint,
    )
