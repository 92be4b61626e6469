"""Compute functions of shared entries of a Graph, which get the handles of their prerequisites."""

from collections.abc import Callable, Sequence
from typing import Any, final

from stagecache.graph.handles import Handles
from stagecache.sharing.code import Code, code_of, hash_of
from stagecache.sharing.function import AbstractSharedFunction, Place


@final
class SharedGraphFunction(AbstractSharedFunction):
    """The compute function of a shared entry of a Graph.

    Parameters
    ----------
    compute : callable
    name : str
        Name of the entry.
    version : str
    """

    __slots__ = ("_name",)

    def __init__(self, compute: Callable[..., Any], name: str, version: str) -> None:
        def recipe() -> Code:
            code = code_of(compute)
            hashed = hash_of([code.hash, version]) if code.hash else ""
            return Code(hashed, code.unknown, code.names)

        super().__init__(compute, recipe, name.__str__)
        self._name = name

    def _place(self, arguments: Sequence[Any]) -> Place:
        handles: Handles = arguments[0]._handles
        return Place(handles.store, handles.evaluator, handles.numbers[self._name], arguments)

    def _read(self, handle: Any, arguments: Sequence[Any]) -> Any:  # noqa: ARG002  # of a State they matter
        return handle()

    def _arguments(self, handle: Any, arguments: Sequence[Any]) -> Sequence[Any]:  # noqa: ARG002  # likewise
        return handle.prerequisites  # type: ignore[no-any-return]  # a tuple of handles
