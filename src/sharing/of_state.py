"""Compute functions of shared entries of a State.

A shared value is found by the values of its prerequisites, so its computation must read nothing
else. Other entries may also read what their stage guarantees, but a stage has no value. So the
function reads from a view of the State that refuses other reads. The view costs a few microseconds.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

from stagecache.errors import UndeclaredPrerequisiteError
from stagecache.inspection.place_of_read import place_of_read
from stagecache.inspection.strict.reads import path_of
from stagecache.sharing.function import AbstractSharedFunction, Place, Recipe
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import Act, Item, Observer
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, CacheEntry


@final
class SharedStateFunction(AbstractSharedFunction):
    """The compute function of a shared entry of a State: its argument is the State.

    Parameters
    ----------
    compute : callable
    entry : CacheEntry
    prerequisites : sequence of AbstractHandle
    recipe : callable
        Same as for `AbstractSharedFunction`.
    """

    __slots__ = ("_entry", "_prerequisites")

    def __init__(
        self,
        compute: Callable[[Any], Any],
        entry: CacheEntry[Any],
        prerequisites: Sequence[AbstractHandle],
        recipe: Callable[[bool], Recipe],
    ) -> None:
        super().__init__(compute, recipe, entry.__str__)
        self._entry = entry
        self._prerequisites = prerequisites

    def _place(self, arguments: Sequence[Any]) -> Place:
        realization = arguments[0]._contents.realization
        above = self._prerequisites
        store, layout = realization.store, realization.layout
        return Place(store, layout.functions, layout.equals, self._entry._node, above, arguments)

    def _read(self, handle: Any, place: Place) -> Any:
        state = place.arguments[0]
        if state._contents.observers:
            state = state._seen_by()  # it is for the key: the computation does not read it
        return handle(state)

    def _arguments_of(self, handle: Any, place: Place) -> Sequence[Any]:  # noqa: ARG002  # each has the State
        return place.arguments

    def _is_watched(self, arguments: Sequence[Any]) -> bool:
        return bool(arguments[0].is_strict)

    def _compute(self, place: Place) -> Any:
        state = place.arguments[0]
        return self.compute(
            state._seen_by(*state._contents.observers, OnlyDeclared(state._contents, self._entry))
        )


@final
class OnlyDeclared(Observer):
    """An observer of a computation that refuses reads of items its entry does not name.

    Parameters
    ----------
    contents : Contents
    entry : CacheEntry
    """

    def __init__(self, contents: Contents, entry: CacheEntry[Any]) -> None:
        self._contents = contents
        self._entry = entry
        self._declared = set(contents.prerequisites(entry))

    def inherited(self, contents: Contents) -> Observer:
        """Return an observer of a copy, in which a computation may try other values."""
        return OnlyDeclared(contents, self._entry)

    def _names(self, handle: AbstractHandle) -> bool:
        """Return True if an item is a prerequisite, or a part of one."""
        if handle in self._declared:
            return True
        if not isinstance(handle, AbstractContinuousVariable):
            return False
        layout = self._contents.realization.layout
        if layout.variables[handle.kind] in self._declared:
            return True
        if handle.subsystem is None or handle.slot < 0:
            return False
        return layout.subsystems[handle.subsystem].whole[handle.kind] in self._declared

    def read(self, items: Sequence[Item], title: str = "") -> None:
        """Refuse a read of items, unless all are prerequisites.

        Raises
        ------
        UndeclaredPrerequisiteError
        """
        for item in items:
            if isinstance(item, AbstractHandle):
                if self._names(item):
                    continue
                title = path_of(self._contents.realization.layout, item)
            place = place_of_read()
            if place is not None:
                file, line = place
                raise UndeclaredPrerequisiteError(
                    f"{self._entry}: is shared, and reads {title}, which it does not declare",
                    "reads of its prerequisites only; their values decide which value is found",
                    f"a read in {file}:{line}",
                    "name it in prerequisites=(...); or leave shared=True out",
                )

    def read_valid(self, entry: CacheEntry[Any]) -> None:
        """Refuse a read of an entry that is not a prerequisite."""
        self.read((entry,))

    def read_entry(self, entry: CacheEntry[Any], act: Act) -> Any:
        """Refuse a read of an entry that is not a prerequisite."""
        self.read((entry,))
        return act()
