"""Judges of reads: what entries of a State or a Graph declare, and which values can be compared.

`Watch` notes reads of either. What it cannot know of both in one way, it asks the judge::

    Watch, Digest, Verification --> Judge <-- StateJudge     stages, vectors, allocation
                                          <-- GraphJudge     prerequisites
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import numpy as np

from stagecache.errors import UndeclaredPrerequisiteError
from stagecache.graph.evaluation import Arguments, Evaluator
from stagecache.graph.handles import AbstractNode, Handles, Variable
from stagecache.inspection.place_of_read import Place
from stagecache.inspection.strict.coverage import Gap, gap_of
from stagecache.inspection.strict.reads import path_of
from stagecache.inspection.subject import GraphSubject, StateSubject, Subject
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import FROZEN
from stagecache.state.contents.observer import Item
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.values.values import IMMUTABLE

Undeclared = tuple[Sequence[Any], str]
"""Items that a declaration lacks, and the hint that says how to declare them."""

COPY: Final = "copy it first, or return a tuple or an array, which cannot be changed"


class Judge(ABC):
    """Judge of the reads of one State or Graph."""

    @property
    @abstractmethod
    def subject(self) -> Subject:
        """The State or the Graph."""

    @property
    @abstractmethod
    def is_frozen(self) -> bool:
        """True if nothing may be computed."""

    @abstractmethod
    def path(self, handle: Any) -> str:
        """Return the name of an item in messages."""

    @abstractmethod
    def label(self, item: Any) -> str:
        """Return a short name of an item, where its place is known."""

    @abstractmethod
    def undeclared(self, entry: Any, items: Sequence[Any]) -> Undeclared | None:
        """Return what the declaration of an entry lacks for reads of these items."""

    @abstractmethod
    def guaranteed(self, entry: Any) -> str:
        """Return what an entry may read besides its prerequisites, in messages."""

    @abstractmethod
    def value(self, handle: Any) -> Any:
        """Return the value of a variable or a valid entry."""

    @abstractmethod
    def can_change(self, handle: Any) -> bool:
        """Return True if a value could be changed in place without being handed out anew."""

    @abstractmethod
    def is_comparable(self, item: Any) -> bool:
        """Return True if an item has a value that can be compared later."""

    @abstractmethod
    def is_same_object(self, handle: Any, value: object) -> bool:
        """Return True if an item has a value that was not replaced."""

    @abstractmethod
    def hint_of_change(self, handle: Any) -> str:
        """Return the hint for a value that was changed in place."""

    @abstractmethod
    def hook(self) -> None:
        """Let the watch be told when a computation begins."""

    @abstractmethod
    def unhook(self) -> None:
        """Let computations begin unnoticed."""

    def refusal(
        self, entry: Any, title: str, place: Place, hint: str
    ) -> UndeclaredPrerequisiteError:
        """Return the error of an undeclared read."""
        names = ", ".join(map(self.label, self.subject.prerequisites(entry))) or "none"
        file, line = place
        return UndeclaredPrerequisiteError(
            f"{self.path(entry)}: reads {title}, which it does not declare",
            f"reads of its prerequisites ({names}){self.guaranteed(entry)}",
            f"a read in {file}:{line}",
            hint,
        )


# ---------------------------------------------------------------------- states


@final
class StateJudge(Judge):
    """Judge of the reads of a State."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._subject = StateSubject(contents)

    @property
    def subject(self) -> Subject:
        """The State."""
        return self._subject

    @property
    def is_frozen(self) -> bool:
        """True if nothing may be computed."""
        return self._contents.guard is FROZEN

    def path(self, handle: AbstractHandle) -> str:
        """Return the name of an item in messages."""
        return path_of(self._contents.realization.layout, handle)

    def label(self, item: Item) -> str:
        """Return a short name of an item, where its place is known."""
        return str(item)

    def undeclared(self, entry: CacheEntry[Any], items: Sequence[Item]) -> Undeclared | None:
        """Return what the declaration of an entry lacks for reads of these items."""
        gap = gap_of(self._contents.realization, entry, items)
        if gap is None:
            return None
        lacking: list[Item] = [*gap.handles] or [item for item in items if isinstance(item, Stage)]
        return lacking, hint_of(self._contents, entry, gap)

    def guaranteed(self, entry: CacheEntry[Any]) -> str:
        """Return what an entry may read besides its prerequisites."""
        return f", and of what {entry.available_from} guarantees"

    def value(self, handle: AbstractHandle) -> Any:
        """Return the value of a variable or a valid entry."""
        contents = self._contents
        if isinstance(handle, AbstractContinuousVariable):
            return contents.pools.y[contents.pools.places[handle._node]]
        return contents.realization.store.values[handle._node]

    def can_change(self, handle: AbstractHandle) -> bool:
        """Return True if a value could be changed in place without being handed out anew."""
        if isinstance(handle, AbstractContinuousVariable):
            return self._is_settled()
        value = self.value(handle)
        if type(value) in IMMUTABLE:
            return False
        if isinstance(value, np.ndarray):
            is_sealed = not value.flags.writeable
            was_handed_out = handle._node in self._contents.handed_out
            return is_sealed and (value.dtype.hasobject or was_handed_out)
        return True

    def is_comparable(self, item: Item) -> bool:
        """Return True for variables but time, and for valid entries."""
        if isinstance(item, CacheEntry):
            return self._contents.realization.store.is_valid(item._node)
        return isinstance(item, AbstractContinuousVariable | DiscreteVariable)

    def is_same_object(self, handle: AbstractHandle, value: object) -> bool:
        """Return True if an item has a value that was not replaced."""
        if isinstance(handle, AbstractContinuousVariable):
            return self._is_settled()
        return self._contents.realization.store.values[handle._node] is value

    def _is_settled(self) -> bool:
        """Return True if q, u and z exist, and no view of them is writable any more."""
        contents = self._contents
        return contents.realization.machine.stage >= Stage.MODEL and not contents.pools.writable

    def hint_of_change(self, handle: AbstractHandle) -> str:
        """Return the hint for a value that was changed in place."""
        return "do not change what was read, nor keep what upd_...() returned: " + (
            COPY
            if isinstance(handle, CacheEntry)
            else f"write by {handle}.set(state, value), or call upd() anew before each change"
        )

    def hook(self) -> None:
        """Let the watch be told when a computation begins."""
        evaluator = self._contents.realization.evaluator
        if not isinstance(evaluator._bind, StateBind):
            evaluator._bind = StateBind(evaluator._bind)

    def unhook(self) -> None:
        """Let computations begin unnoticed."""
        _unhook(self._contents.realization.evaluator)


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


@final
class StateBind:
    """Binds like another, and tells the watch of the State that a computation begins."""

    __slots__ = ("bind",)

    def __init__(self, bind: Callable[[int], Arguments]) -> None:
        self.bind = bind

    def __call__(self, node: int) -> Arguments:
        """Return what the function of an entry is called with."""
        arguments = self.bind(node)
        contents: Contents = arguments[0]._contents
        _tell(contents.observers, node, contents.realization.evaluator)
        return arguments


# ---------------------------------------------------------------------- graphs


@final
class GraphJudge(Judge):
    """Judge of the reads of a Graph: an entry may read its prerequisites."""

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        self._subject = GraphSubject(handles)

    @property
    def subject(self) -> Subject:
        """The Graph."""
        return self._subject

    @property
    def is_frozen(self) -> bool:
        """False: a Graph cannot be frozen."""
        return False

    def path(self, handle: AbstractNode) -> str:
        """Return the name of a node."""
        return handle.name

    def label(self, item: AbstractNode) -> str:
        """Return the name of a node."""
        return item.name

    def undeclared(self, entry: AbstractNode, items: Sequence[AbstractNode]) -> Undeclared | None:
        """Return the nodes that an entry does not name; itself apart, which is a cycle."""
        declared = entry.prerequisites
        lacking = [item for item in items if item not in declared and item is not entry]
        if not lacking:
            return None
        names = ", ".join([node.name for node in (*declared, *lacking)])
        comma = "," if len(declared) + len(lacking) == 1 else ""
        return lacking, f"declare {entry.name!r} with prerequisites=({names}{comma})"

    def guaranteed(self, entry: AbstractNode) -> str:  # noqa: ARG002  # a State has stages
        """Return "", as there is nothing else to read."""
        return ""

    def value(self, handle: AbstractNode) -> Any:
        """Return the value of a variable or a valid entry."""
        return self._handles.store.values[handle._node]

    def can_change(self, handle: AbstractNode) -> bool:
        """Return True if a value could be changed in place: a Graph does not copy any."""
        value = self.value(handle)
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            return bool(value.dtype.hasobject)
        return type(value) not in IMMUTABLE

    def is_comparable(self, item: AbstractNode) -> bool:
        """Return True for variables and valid entries."""
        return self._handles.store.is_valid(item._node)

    def is_same_object(self, handle: AbstractNode, value: object) -> bool:
        """Return True if a node has a value that was not replaced."""
        return self.value(handle) is value

    def hint_of_change(self, handle: AbstractNode) -> str:
        """Return the hint for a value that was changed in place."""
        return "do not change what was read: " + (
            f"write another value by {handle.name}.set(value)"
            if isinstance(handle, Variable)
            else COPY
        )

    def hook(self) -> None:
        """Let the watch be told when a computation begins."""
        evaluator = self._handles.evaluator
        if not isinstance(evaluator._bind, GraphBind):
            evaluator._bind = GraphBind(self._handles)

    def unhook(self) -> None:
        """Let computations begin unnoticed."""
        _unhook(self._handles.evaluator)


@final
class GraphBind:
    """Binds like the handles of a Graph, and tells its watch that a computation begins."""

    __slots__ = ("_handles",)

    def __init__(self, handles: Handles) -> None:
        self._handles = handles

    @property
    def bind(self) -> Callable[[int], Arguments]:
        """Function that binds if nobody watches."""
        return self._handles.bind

    def __call__(self, node: int) -> Arguments:
        """Return what the function of an entry is called with."""
        handles = self._handles
        _tell(handles.observers, node, handles.evaluator)
        return handles.bind(node)


# ---------------------------------------------------------------------- both


def _tell(observers: Sequence[Any], node: int, evaluator: Evaluator) -> None:
    for observer in observers:
        if observer.is_strict:
            observer.began(node)
            return
    _unhook(evaluator)  # it is from before a rollback, or another thread has just left


def _unhook(evaluator: Evaluator) -> None:
    bind = evaluator._bind
    if isinstance(bind, StateBind | GraphBind):
        evaluator._bind = bind.bind


def judge_of(subject: Subject) -> Judge:
    """Return the judge of a State or a Graph."""
    if isinstance(subject, GraphSubject):
        return GraphJudge(subject.handles)
    assert isinstance(subject, StateSubject)
    return StateJudge(subject.contents)
