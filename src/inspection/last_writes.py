"""The last writes of variables as they were traced until now, for a view that is asked later."""

from collections.abc import Iterable
from typing import final

from stagecache.graph.observing import Observers, TracedWrite, last_write
from stagecache.state.contents.observer import Observer


def kept_writes(observers: Observers, variables: Iterable[int]) -> Observers:
    """Return observers of a copy that know the last writes as they are now."""
    return (LastWrites(observers, variables),) if observers else ()


@final
class LastWrites(Observer):
    """An observer that knows the last writes of some variables, and does not follow later ones.

    Parameters
    ----------
    observers : tuple of Observer
        Those of the State or Graph that is written.
    variables : iterable of int
        Nodes.
    """

    def __init__(self, observers: Observers, variables: Iterable[int]) -> None:
        self._found = {
            node: write for node in variables if (write := last_write(observers, node)) is not None
        }

    def last_write(self, node: int) -> TracedWrite | None:
        """Return the last write of a variable, if it was traced."""
        return self._found.get(node)
