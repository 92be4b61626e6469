"""Programs that suit the costs of entries: few computations of expensive ones, decisive ones first.

After each program, entries that have proved expensive are looked at::

    covered    the variables whose writes make the entry stale
    others     it must not depend on these: scouts write all of them at once and compare
    costly     covered by any expensive entry: later programs write one of these at most
"""

import time
from contextlib import suppress
from typing import Final

from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.testing.items import TIME, Item, is_valid, variables_of
from stagecache.testing.oracle.comparison import copied
from stagecache.testing.oracle.memory import EXPENSIVE, Memory, nothing_remembered
from stagecache.testing.programs.inventory import Inventory

SCOUTS: Final = 2
"""Number of scouts for each expensive entry."""

CHEAP: Final = 20
"""Number of programs that write no costly variable, before others do."""


class Expense:
    """Knowledge of a check about expensive entries.

    Parameters
    ----------
    has : Inventory
    memory : Memory
    system : System
        A System with this memory.
    has_scouts : bool
        True if scouts judge each entry, before its values are remembered by the covered variables.
    """

    def __init__(
        self, has: Inventory, memory: Memory, system: System, has_scouts: bool = False
    ) -> None:
        self._has = has
        self._memory = memory
        self._system = system
        self._has_scouts = has_scouts
        self._looked_at: set[Item] = set()
        self._had_cheap_round = False
        self._waiting: list[Item] = []

    def has_changed(self) -> bool:
        """Look at entries that have proved expensive; return True if programs change thereby."""
        new = sorted(self._memory.seconds.keys() - self._looked_at, key=str)
        return bool(new) and self._look_at(new)

    def next_round(self) -> int:
        """Choose what the next programs are for, and return their number; 0 for all others.

        At first there are scouts, then programs in which no expensive entry is computed again.
        """
        has = self._has
        if has.scout is not None:
            item, _ = has.scout
            self._trust(item)
            has.scout = None
        for item in self._waiting.copy():
            covered = self._memory.covered[item]
            others = [x for x in (TIME, *has.variables) if x not in covered]
            if others and self._has_scouts:
                has.scout = item, others
                return SCOUTS
            self._trust(item)
        has.writes_costly = not has.costly or self._had_cheap_round
        self._had_cheap_round |= bool(has.costly)
        return 0 if has.writes_costly else CHEAP

    def distrust(self) -> bool:
        """Compute values anew for each State from here on; return False if that was so before."""
        self._has.scout = None
        self._waiting.clear()
        was_trusting = bool(self._memory.trusted)
        self._memory.trusted.clear()
        return was_trusting

    def _trust(self, item: Item) -> None:
        self._memory.trusted.add(item)
        self._waiting.remove(item)

    def _look_at(self, items: list[Item]) -> bool:
        state = self._system.new_state()
        with suppress(Exception):  # whatever the model raises
            self._system.realize(state)
        found = [item for item in items if self._is_expensive(state, item)]
        covered: dict[Item, set[Item]] = {item: set() for item in found}
        for variable, _ in variables_of(state):
            twin = state.copy(keep_cache=True)
            _write_again(twin, variable)
            for item in found:
                if not is_valid(twin, item.handle(twin)):
                    covered[item].add(variable)
        for item in found:
            self._memory.covered[item] = frozenset(covered[item])
            self._waiting.append(item)
        self._has.costly = self._has.costly.union(*covered.values())
        return bool(found)

    def _is_expensive(self, state: State, item: Item) -> bool:
        """Return True if an entry is valid, and was not slow by chance, as another time tells."""
        self._looked_at.add(item)
        entry, seconds = item.handle(state), self._memory.seconds[item]
        with suppress(Exception):
            entry(state)
        if not is_valid(state, entry):
            return False
        if len(seconds) == 1:
            entry.invalidate(state)
            with nothing_remembered():
                start = time.perf_counter()
                entry(state)
                seconds.append(time.perf_counter() - start)
        if min(seconds) < EXPENSIVE:
            self._memory.forget(item)
            self._looked_at.remove(item)
            return False
        return True


def _write_again(state: State, item: Item) -> None:
    """Write the value that a variable has."""
    handle = item.handle(state)
    if item.kind in ("discrete", "time"):
        handle.set(state, copied(handle(state)))
    else:
        handle.upd(state)
