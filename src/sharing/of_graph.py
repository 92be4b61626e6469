"""Compute functions of shared entries of a Graph; they get the handles of their prerequisites."""

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from stagecache.graph.handles import Handles
from stagecache.sharing.code import code_of, hash_of
from stagecache.sharing.function import AbstractSharedFunction, Place, Recipe

BEYOND: Final = ("prerequisites", "dependents", "version", "is_valid")
"""Attributes of a handle that say more than its value and its name."""


@final
class SharedGraphFunction(AbstractSharedFunction):
    """The compute function of a shared entry of a Graph.

    Parameters
    ----------
    compute : callable
    name : str
        Name of the entry.
    above : tuple of str
        Names of its prerequisites.
    version : str
    """

    __slots__ = ("_name",)

    def __init__(
        self, compute: Callable[..., Any], name: str, above: tuple[str, ...], version: str
    ) -> None:
        def recipe(_is_fresh: bool) -> Recipe:
            code = code_of(compute)
            beyond = [attribute for attribute in BEYOND if attribute in code.names]
            if not code.hash or beyond:
                unknown = code.unknown or f"the attribute {beyond[0]!r} of a handle, by its name"
                return Recipe.unknown(unknown)
            return Recipe(hash_of([code.hash, above, version]), is_constant=True)

        super().__init__(compute, recipe, name.__str__)
        self._name = name

    def _place(self, arguments: Sequence[Any]) -> Place:
        handles: Handles = arguments[0]._handles
        node = handles.numbers[self._name]
        evaluator = handles.evaluator
        functions, equals = evaluator.functions, evaluator.equals
        return Place(handles.store, functions, equals, node, arguments, arguments)

    def _read(self, handle: Any, place: Place) -> Any:  # noqa: ARG002  # a State is read by it
        return handle()

    def _arguments_of(self, handle: Any, place: Place) -> Sequence[Any]:  # noqa: ARG002  # a State needs it
        return handle.prerequisites  # type: ignore[no-any-return]  # a tuple of handles
