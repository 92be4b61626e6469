"""Event triggers of States that were realized without them.

An integrator evaluates derivatives many times within a step, where nobody looks for events. There
it realizes a State without declared triggers::

    realize, without triggers   ->   the State lacks them   ->   a read completes them
"""

from typing import Any

from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage

TriggerRow = tuple[CacheEntry[Any], int, Stage, int, bool]
"""The entry of a declared trigger; its subsystem, its stage, and its slot among the triggers of
both; and True if it waits until all subsystems have reached the stage."""


class TriggerRows:
    """The declared triggers of a System.

    Attributes
    ----------
    last : int
        Stage from which on a State that has them lacks none; 0 without triggers.
    """

    __slots__ = ("_rows", "last")

    def __init__(self, rows: list[TriggerRow]) -> None:
        self._rows = rows
        self.last: int = max([stage for _, _, stage, _, _ in rows], default=0)

    def complete(self, contents: Contents) -> None:
        """Compute the triggers of the stages that a State has reached."""
        machine = contents.realization.machine
        subsystems = contents.realization.layout.subsystems
        pools = contents.pools
        for entry, x, stage, slot, is_last in self._rows:
            if stage <= (machine.stage if is_last else machine.stages[x]):
                start = subsystems[x].triggers[stage][slot].start
                pools.write_triggers(stage, x, start, contents.read_stale(entry))
        if machine.stage >= self.last:
            pools.lacks_triggers = False
