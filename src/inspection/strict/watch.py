"""Watching the reads of a State or a Graph in strict mode: each is noted and judged.

Not each computation is asked for by a read that is watched: deep in a chain, and above an entry
that compares its values, the evaluator computes on its own. But before each it asks for the
arguments::

    evaluator --> bind --> (state,)                    off
    evaluator --> StateBind --> bind --> (state,)      strict, from the first computation on
"""

from collections.abc import Sequence
from threading import get_ident
from typing import Any, Final, final

from stagecache.errors import StagecacheError
from stagecache.graph.evaluation import Evaluator
from stagecache.graph.observing import Act
from stagecache.inspection.place_of_read import Place, place_of_read
from stagecache.inspection.strict.digest import Observations
from stagecache.inspection.strict.judge import judge_of
from stagecache.inspection.strict.reads import ReadLog, UndeclaredRead
from stagecache.inspection.strict.verification import Verification, verify_upstream
from stagecache.inspection.subject import StateSubject, Subject
from stagecache.state.contents.observer import Observer
from stagecache.state.stage import Stage

FEWEST: Final = 100
"""Least number of computations before items that were removed are forgotten."""


def being_computed(subject: Subject) -> Any:
    """Return the innermost entry that this thread is computing, or None."""
    running = subject.evaluator.running
    if running:
        me = get_ident()
        for node in reversed(list(running)):
            if running.get(node) == me:
                return subject.handle(node)
    return None


@final
class Computations:
    """Computations that have begun, by thread, in order.

    Nobody tells that one has ended: it is not running any more when it is looked for.
    """

    __slots__ = ("_begun",)

    def __init__(self) -> None:
        self._begun: dict[int, list[Any]] = {}  # by thread

    def begin(self, entry: Any) -> None:
        """Note that this thread begins to compute an entry."""
        self._begun.setdefault(get_ident(), []).append(entry)

    def ended(self, evaluator: Evaluator) -> list[Any]:
        """Return the computations of this thread that have ended since the last call."""
        me = get_ident()
        running = evaluator.running
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
    """An observer of the reads of one State or Graph.

    Attributes
    ----------
    subject : Subject
        The State or the Graph.
    logs : tuple of ReadLog
        One for each block that watches it, the innermost last, which decides about raising.
    """

    __slots__ = (
        "_computations",
        "_found",
        "_judge",
        "_observations",
        "_until_forgetting",
        "_verifications",
        "logs",
        "subject",
    )

    is_strict = True

    def __init__(self, subject: Subject, logs: tuple[ReadLog, ...]) -> None:
        self.subject = subject
        self.logs = logs
        self._judge = judge_of(subject)
        self._observations = Observations(self._judge)
        self._verifications: dict[int, Verification] = {}  # by thread
        self._computations = Computations()
        self._found: dict[int, StagecacheError] = {}  # by thread: raised in a computation
        self._until_forgetting = FEWEST  # computations

    def inherited(self, contents: Any) -> "Watch | None":
        """Return a watch of a copy of the State; None if it is not strict from the beginning."""
        if any(log._is_permanent for log in self.logs):
            return Watch(StateSubject(contents), (ReadLog(is_permanent=True),))
        return None

    # ------------------------------------------------------------------ reads

    def read(self, items: Sequence[Any], title: str = "") -> None:
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
        entry = being_computed(self.subject)
        if entry is None:
            self._look(items, None)
            return
        try:
            self._settle()
            self._look(items, entry)
            self._note(entry, items, title, place)
        except StagecacheError as error:
            self._found.setdefault(get_ident(), error)
            raise

    def read_valid(self, entry: Any) -> None:
        """Note a read of an entry, and verify its value."""
        self.read((entry,))
        self._verify(entry)

    def read_entry(self, entry: Any, act: Act) -> Any:
        """Note a read of an entry, and watch its computation."""
        self.read((entry,))
        value = self.compute(act)
        reader = being_computed(self.subject)
        self._look((entry,), reader)
        if reader is not None and self._undeclared_again(reader) is None:
            version = self.subject.store.versions[entry._node]
            for log in self.logs:
                log._add_version(reader, entry, version)
        return value

    def _note(self, entry: Any, items: Sequence[Any], title: str, place: Place) -> None:
        """Note the reads of a computation, and raise if they are not declared."""
        logs = self.logs
        again = self._undeclared_again(entry)
        versions = self.subject.store.versions
        for item in items:
            version = 0 if isinstance(item, Stage) else versions[item._node]
            for log in logs:
                log._add_read(entry, item, version if again is None else None)
        undeclared = self._judge.undeclared(entry, items)
        if undeclared is None:
            return
        lacking, hint = undeclared
        found = [UndeclaredRead(entry, item, *place, hint) for item in lacking]
        if again is not None:
            again.extend(found)
        for log in logs:
            for read in found:
                log._add_undeclared(read)
        if again is None and logs and logs[-1]._is_raising:
            handles = [item for item in items if not isinstance(item, Stage)]
            title = title or ", ".join(map(self._judge.path, handles))
            raise self._judge.refusal(entry, title, place, hint)

    def _verify(self, entry: Any) -> None:
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
            verify_upstream(self._judge, entry, verification, logs)
            return
        verification = self._verifications[me] = Verification()
        try:
            verify_upstream(self._judge, entry, verification, logs)
        finally:
            del self._verifications[me]

    def _undeclared_again(self, entry: Any) -> list[UndeclaredRead] | None:
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
        self._judge.hook()
        is_outermost = being_computed(self.subject) is None
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
        entry = self.subject.handle(node)
        if self._undeclared_again(entry) is None:
            self._computations.begin(entry)
        self._until_forgetting -= 1
        if self._until_forgetting <= 0:
            self._forget()

    def _ended(self) -> list[Any]:
        """Return computations of this thread that have ended; note those that gave a value."""
        subject = self.subject
        ended = self._computations.ended(subject.evaluator)
        for entry in ended:
            if subject.store.is_valid(entry._node):
                for log in self.logs:
                    log._add_computed(entry, tuple(subject.prerequisites(entry)))
        return ended

    def _settle(self) -> None:
        """Check that computations of this thread that have ended have not changed values read."""
        for entry in self._ended():
            for log in self.logs[-1:]:
                for item in log.of(entry):
                    if not isinstance(item, Stage):
                        self._observations.check(item)

    def _forget(self) -> None:
        """Forget items that were removed; cost O(1) for each computation."""
        self._until_forgetting = max(FEWEST, len(self.subject.store.keys))
        self._observations.keep(self.subject.is_there)
        for log in self.logs:
            if log._is_permanent:  # which nobody looks into
                log._keep(self.subject.is_there)

    # ------------------------------------------------------------------ values

    def handed_out(self, handle: Any) -> None:
        """Note that a value may be changed now."""
        self._observations.open(handle)

    def renumbered(self) -> None:
        """Forget values that were read: they are known by their versions."""
        self._observations = Observations(self._judge)

    def check(self) -> None:
        """Check that values that were read have not been changed in place.

        Raises
        ------
        MutatedValueError
        """
        self._observations.check_all()

    def _look(self, items: Sequence[Any], entry: Any) -> None:
        judge = self._judge
        reader = "outside of computations" if entry is None else f"by {judge.path(entry)}"
        for item in items:
            if judge.is_comparable(item):
                self._observations.look(item, reader, computes=entry is not None)


def watch_of(subject: Subject) -> Watch | None:
    """The watch of a State or a Graph, if it is strict."""
    return next((o for o in subject.observers if isinstance(o, Watch)), None)
