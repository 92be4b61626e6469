r"""Sparsity of a linear model: the columns that each row can depend on.

It follows the graph upstream from each row, along declared prerequisites and observed reads::

    udot of mass_3  <--  hook of mass_3  <--  spring_3.force  <--  mass_2.place, mass_3.place
                                         <--  spring_4.force  <--  mass_3.place, mass_4.place

    entry           its prerequisites; and what its computation has read, or all that invalidates
                    its stage if it was not observed
    hook            what it has read
    qdot, udot,     what the System computes them from, and the hooks that have written them
      zdot
    stage           all that invalidates it
    prescribed q,   the entry of the prescribed values: the number itself is not moved
      u
"""

from collections.abc import Iterable, Sequence
from typing import Any, final

from stagecache.graph.evaluation import NO_FUNCTION
from stagecache.inspection.reads import AT_ONCE, KINDS, RATES, Key, Reads, VectorPart
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.linear.columns import Columns, bits
from stagecache.system.constraints.errors import ImpliedDerivative
from stagecache.system.declare.declaration import item_of
from stagecache.system.dynamics.accelerating import Dynamics
from stagecache.system.dynamics.sources import rate_sources
from stagecache.system.motion.prescribing import motions

Sources = tuple[int, Iterable[Key]]
"""Columns, as bits, and items that something depends on."""


@final
class Sparsity:
    """The columns that rows depend on, as far as reads so far show.

    Parameters
    ----------
    state : State
        Realized to Acceleration.
    columns : Columns
    reads : Reads
        Observations, which may grow.

    Attributes
    ----------
    prescribed : frozenset of int
        Indices in y of prescribed q and u: these are not states, so their columns are not moved and
        their rows are zero.
    """

    def __init__(self, state: State, columns: Columns, reads: Reads) -> None:
        self._state, self._columns, self._reads = state, columns, reads
        self._entries = {  # of prescribed values, by index in y
            i: motion.entry
            for kind in "qu"
            for motion in motions(state, kind)
            for i in range(motion.rows(state).start, motion.rows(state).stop)
        }
        self.prescribed = frozenset(self._entries)
        starts = state._contents.pools.starts
        self._parts = [  # by index in ydot
            VectorPart(name, x)
            for name, kind in zip(RATES, "quz", strict=True)
            for x in range(len(starts[kind]) - 1)
            for _ in range(starts[kind][x], starts[kind][x + 1])
        ]
        self._rows: list[list[Sources]] = [[] for _ in range(columns.ny)]
        for source in rate_sources(Dynamics(state.system.subsystems), state):
            own: list[Sources] = [self._of_y(source.y.tolist()), (0, (*source.entries,))]
            if source.stage > Stage.EMPTY:
                own.append((0, (source.stage,)))
            for row in source.rows.tolist():
                self._rows[row] += own
        self._of_part: dict[VectorPart, list[Sources]] = {}
        for part, own in zip(self._parts, self._rows, strict=True):
            self._of_part.setdefault(part, []).extend(own)

    def rows(self, outputs: Sequence[AbstractHandle], sizes: Sequence[int]) -> list[int]:
        """Return the columns of each row of ydot, and of the numbers of outputs, as bits.

        Cost O(items upstream of them, and reads).

        Parameters
        ----------
        outputs : sequence of handles
        sizes : sequence of int
            Count of numbers of each output.
        """
        found = _Reach(self)
        masks = []
        for row, part in enumerate(self._parts):
            own = [*self._rows[row], (0, self._writers(part))]
            masks.append(0 if row in self.prescribed else found.of_all(own))
        for handle, size in zip(outputs, sizes, strict=True):
            if isinstance(handle, AbstractContinuousVariable):
                masks += [found.of_all([self._of_y([i])]) for i in self._columns.of(handle)]
            else:
                masks += [found.of(handle)] * size
        return masks

    # ------------------------------------------------------------------ sources of one thing

    def sources(self, key: Key) -> list[Sources]:
        """Return the direct sources of one thing."""
        if isinstance(key, Stage):
            # Prescribed numbers depend on an earlier stage, whose columns are among these.
            return [(self._columns.below(key) & ~bits(sorted(self.prescribed)), ())]
        if isinstance(key, VectorPart) and key.kind in RATES:
            return [(0, self._writers(key)), *self._of_part.get(key, ())]
        if isinstance(key, VectorPart):  # weights do not depend on what is linearized
            kind = KINDS[key.kind]
            return [] if kind.is_variable else [(0, (kind.read,))]
        if isinstance(key, CacheEntry):
            return [(0, self._of_entry(key))]
        if isinstance(key, AbstractContinuousVariable):
            return [self._of_y(self._columns.of(key))]
        if isinstance(key, AbstractHandle):
            return [(bits(self._columns.of(key)), ())]
        return [(0, self._reads.sources.get(key, ()))]

    def _of_entry(self, entry: CacheEntry[Any]) -> set[Key]:
        contents = self._state._contents
        found: set[Key] = {*contents.prerequisites(entry), *self._writers(entry)}
        has_function = contents.realization.layout.functions[entry._node] is not NO_FUNCTION
        read = self._reads.sources.get(entry) if has_function else self._writers(entry)
        if read and not _reads_unseen(entry):
            found.update(read)
        else:
            found.add(entry.available_from)
        return found

    def _of_y(self, indices: Iterable[int]) -> Sources:
        """Return the sources of numbers of y: the numbers themselves, unless prescribed."""
        if not self._entries:
            return bits(indices), ()
        free = [i for i in indices if i not in self._entries]
        return bits(free), {self._entries[i] for i in indices if i in self._entries}

    def _writers(self, key: Key) -> Iterable[Key]:
        """Return the steps and computations that write something, which may be any of them."""
        found = self._reads.writers.get(key, ())
        if isinstance(key, VectorPart) and AT_ONCE in self._reads.sources:
            return {*found, AT_ONCE}
        return found


def _reads_unseen(entry: CacheEntry[Any]) -> bool:
    """Return True if a computation has reads that observers do not see.

    Derivatives of constraint errors along the motion are computed together, by differences.
    """
    declared = getattr(entry._owner, "declarations", {}).get(entry._declared_as)
    return isinstance(item_of(declared), ImpliedDerivative)


@final
class _Reach:
    """Columns upstream of things, each found once."""

    def __init__(self, sparsity: Sparsity) -> None:
        self._sparsity = sparsity
        self._found: dict[Key, int] = {}

    def of_all(self, sources: Iterable[Sources]) -> int:
        """Return the columns upstream of several sources."""
        found = 0
        for own, keys in sources:
            found |= own
            for key in keys:
                found |= self.of(key)
        return found

    def of(self, key: Key) -> int:
        """Return the columns upstream of a thing.

        Things may depend on each other: a hook reads the vector that it writes. So columns are
        passed on, the deepest first, until nothing changes.
        """
        if key not in self._found:
            own, above = self._upstream(key)
            found = own
            is_changing = True
            while is_changing:
                is_changing = False
                for each in reversed(above):
                    union = found[each]
                    for other in above[each]:
                        union |= found[other] if other in found else self._found[other]
                    if union != found[each]:
                        found[each] = union
                        is_changing = True
            self._found |= found
        return self._found[key]

    def _upstream(self, key: Key) -> tuple[dict[Key, int], dict[Key, list[Key]]]:
        """Return columns and direct sources of a thing, and of all unknown things upstream."""
        own: dict[Key, int] = {}
        above: dict[Key, list[Key]] = {}
        stack = [key]
        while stack:
            each = stack.pop()
            if each in own or each in self._found:
                continue
            own[each] = 0
            above[each] = []
            for columns, keys in self._sparsity.sources(each):
                own[each] |= columns
                above[each] += keys
            stack += above[each]
        return own, above
