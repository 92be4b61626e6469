"""Noticing that a computation begins, in strict mode.

Not each of them is asked for by a read that is watched: deep in a chain, and above an entry that
compares its values, the evaluator computes on its own. But before each it asks for the arguments::

    evaluator --> bind --> (state,)                      off
    evaluator --> WatchedBind --> bind --> (state,)      strict, from the first computation on
"""

from collections.abc import Callable
from typing import final

from stagecache.graph.evaluation import Arguments
from stagecache.state.contents.contents import Contents


@final
class WatchedBind:
    """Binds like another, and says to what watches the State that a computation begins."""

    __slots__ = ("bind",)

    def __init__(self, bind: Callable[[int], Arguments]) -> None:
        self.bind = bind

    def __call__(self, node: int) -> Arguments:
        """Return what the function of an entry is called with."""
        arguments = self.bind(node)
        contents: Contents = arguments[0]._contents
        watch = contents.watch
        if watch is None:  # it is from before a rollback, or another thread has just left
            unhook(contents)
        else:
            watch.began(contents, node)
        return arguments


def hook(contents: Contents) -> None:
    """Let the computations of a State be noticed."""
    evaluator = contents.realization.evaluator
    if not isinstance(evaluator._bind, WatchedBind):
        evaluator._bind = WatchedBind(evaluator._bind)


def unhook(contents: Contents) -> None:
    """Undo that."""
    evaluator = contents.realization.evaluator
    if isinstance(evaluator._bind, WatchedBind):
        evaluator._bind = evaluator._bind.bind
