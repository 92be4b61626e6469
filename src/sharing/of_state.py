"""Compute functions of shared entries of a State.

A computation whose value is shared must read nothing but the prerequisites of its entry: the stage
of the entry does not count here, as it has no value. So the function reads from a view of the State
that watches it, which costs little beside a computation that is worth sharing.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

from stagecache.errors import UndeclaredPrerequisiteError
from stagecache.inspection.place_of_read import place_of_read
from stagecache.inspection.strict.coverage import Declared
from stagecache.inspection.strict.reads import path_of
from stagecache.sharing.code import Code
from stagecache.sharing.function import AbstractSharedFunction, Place
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import Act, Item, Observer
from stagecache.state.handles import AbstractHandle, CacheEntry


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
        recipe: Callable[[], Code],
    ) -> None:
        super().__init__(compute, recipe, entry.__str__)
        self._entry = entry
        self._prerequisites = prerequisites

    def _place(self, arguments: Sequence[Any]) -> Place:
        realization = arguments[0]._contents.realization
        above = self._prerequisites
        return Place(realization.store, realization.evaluator, self._entry._node, above)

    def _read(self, handle: Any, arguments: Sequence[Any]) -> Any:
        return handle(arguments[0])

    def _arguments(self, handle: Any, arguments: Sequence[Any]) -> Sequence[Any]:  # noqa: ARG002  # of a Graph they differ
        return arguments

    def _may_share(self, arguments: Sequence[Any]) -> bool:
        """Return False in strict mode, which watches and verifies each computation."""
        return not arguments[0].is_strict

    def _compute_alone(self, arguments: Sequence[Any]) -> Any:
        state = arguments[0]
        return self.compute(state._watched_by(OnlyDeclared(state._contents, self._entry)))


@final
class OnlyDeclared(Observer):
    """An observer of a computation, which refuses reads of what its entry does not name.

    Parameters
    ----------
    contents : Contents
    entry : CacheEntry
    """

    def __init__(self, contents: Contents, entry: CacheEntry[Any]) -> None:
        self._contents = contents
        self._entry = entry
        self._declared = Declared(contents.realization, entry)

    def read(self, items: Sequence[Item], title: str = "") -> None:
        """Refuse a read of items, unless all are prerequisites.

        Raises
        ------
        UndeclaredPrerequisiteError
        """
        for item in items:
            if isinstance(item, AbstractHandle):
                if self._declared.names(item):
                    continue
                title = path_of(self._contents.realization.layout, item)
            place = place_of_read()
            if place is not None:
                file, line = place
                raise UndeclaredPrerequisiteError(
                    f"{self._entry}: is shared, and reads {title}, which it does not declare",
                    "reads of its prerequisites only, by whose values its value is found",
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
