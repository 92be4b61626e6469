"""Pools: the contiguous arrays of one State; each vector is a view of a part of one.

Views for writing are remembered, and *sealed* (made read-only) as soon as something is computed
from them. So a late write through a view that someone kept raises, and does not leave wrong values
in the cache. Slices taken from such a view cannot be sealed.
"""

from itertools import accumulate
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from stagecache.state.handles import Vector
from stagecache.state.items.layout import Layout, total
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import (
    CONTINUOUS,
    EVENT_TRIGGERS,
    QDOT,
    QDOTDOT,
    VECTORS,
    YDOT,
    VectorKind,
)

MODEL: Final = Stage.MODEL
INSTANCE: Final = Stage.INSTANCE
EMPTY: Final = int(Stage.EMPTY)
POSITION: Final = int(Stage.POSITION)
NO_ITEMS: Final = np.empty(0)
Rows = slice | NDArray[np.intp]
PoolsSnapshot = tuple[
    dict[str, Vector], dict[str, list[int]], list[list[int]], dict[int, slice], bool
]
"""The arrays of a State at some time, how they are divided, and whether they lack triggers."""


@final
class Handed:  # no attrs: it is compiled
    """A vector, or a part of one, that can be handed out for writing.

    Attributes
    ----------
    kind : VectorKind
    owner : int or None
        The subsystem whose part it is; None for the whole vector.
    sealed : int
        The stage of the owner at which the view is sealed.
    place : slice
        Place in the array of the vector.
    view : ndarray or None
        The view that was handed out last, and not sealed yet.
    """

    __slots__ = ("kind", "owner", "place", "sealed", "view")

    def __init__(self, kind: VectorKind, owner: int | None, sealed: int, place: slice) -> None:
        self.kind = kind
        self.owner = owner
        self.sealed = sealed
        self.place = place
        self.view: Any = None

    def seal(self) -> None:
        """Make the view read-only. Several threads may do so at a time."""
        view = self.view
        if view is not None:
            view.setflags(write=False)
            self.view = None


class Pools:
    """The arrays of one State.

    Attributes
    ----------
    starts : dict of str to list of int
        Start of each subsystem's items among all, by part (q, u, z; qerr, uerr, udoterr); the last
        item is their number. Parts that do not exist are absent.
    trigger_starts : list of list of int
        Starts of event triggers, by stage.
    trigger_bases : list of int
        Start of the triggers of each stage among all.
    whole : dict of str to ndarray
        Read-only views of the vectors that exist, by name.
    y : ndarray
        The whole y among them, one step nearer; empty if it does not exist.
    places : dict of int to slice
        Places in y of the blocks and wholes of q, u and z that exist, by node.
    writable : list of Handed
        Variables, and caches that can be read, that were handed out and not sealed yet.
    writable_caches : list of Handed
        Caches that cannot be read yet, likewise.
    writable_values, writable_entries : dict of int to ndarray
        Values of discrete variables and of cache entries that were handed out and not sealed yet,
        by node.
    is_open : bool
        False if these four are empty.
    own_rates : frozenset of (int or None)
        Owners of qdot, ydot or qdotdot that were handed out for writing; None is the whole State.
        A System does not derive qdotdot of these from udot.
    early_qdot : frozenset of (int or None)
        Those that were written before Velocity was begun. A System does not derive them from u.
    constraints : object
        Table of a System that says to which subsystem each row of errors belongs; None if it was
        not asked for since they were allocated.
    lacks_triggers : bool
        True if declared event triggers may be older than what they depend on, since a System has
        left them out. A read completes them first.
    differences : dict of str to object
        Derivatives that a System has computed by differences, with the versions they are good for.
    sizes : object
        The `sizes` of the layout for which the vectors of Instance were made; None before.
    """

    __slots__ = (
        "_arrays",
        "_handed",
        "_places",
        "_writable_whole",
        "constraints",
        "differences",
        "early_qdot",
        "is_open",
        "lacks_triggers",
        "own_rates",
        "places",
        "sizes",
        "starts",
        "trigger_bases",
        "trigger_starts",
        "whole",
        "writable",
        "writable_caches",
        "writable_entries",
        "writable_values",
        "y",
    )

    def __init__(self) -> None:
        self.writable_entries: dict[int, Any] = {}
        self.writable_values: dict[int, Any] = {}
        self._arrays: dict[str, Vector] = {}
        self.starts: dict[str, list[int]] = {}
        self.trigger_starts: list[list[int]] = []
        self.whole: dict[str, Vector] = {}
        self.y: Vector = NO_ITEMS
        self.places: dict[int, slice] = {}
        self._places: dict[str, slice] = {}
        self._writable_whole: dict[str, Vector] = {}
        self.writable: list[Handed] = []
        self.constraints: Any = None
        self.differences: dict[str, Any] = {}
        self.is_open = False
        self.lacks_triggers = False
        self.trigger_bases: list[int] = []
        self.writable_caches: list[Handed] = []
        self.own_rates: frozenset[int | None] = frozenset()
        self.early_qdot: frozenset[int | None] = frozenset()
        self.sizes: object = None

    # ------------------------------------------------------------------ allocation

    def allocate(self, stage: Stage, layout: Layout) -> None:
        """Make the vectors that exist from `stage` on, Model or Instance.

        Those of Instance stay what they are where no size has changed, with their first values. So
        a write of a parameter costs nothing for the other subsystems.
        """
        if stage == INSTANCE and self.sizes is layout.sizes:
            for pool, first in OF_INSTANCE.items():
                array = self._arrays[pool]
                if len(array):
                    array.fill(first)
            return
        subsystems = layout.subsystems
        starts = self.starts.copy()
        for part in _parts(stage):
            starts[part] = _starts([subsystem.size(part) for subsystem in subsystems])
        earlier = {kind.pool for kind in VECTORS if kind.exists < stage}
        arrays = {pool: array for pool, array in self._arrays.items() if pool in earlier}
        trigger_starts = self.trigger_starts
        if stage == INSTANCE:
            trigger_starts = [_starts([total(s.triggers[g]) for s in subsystems]) for g in Stage]
            arrays[EVENT_TRIGGERS.pool] = np.full(sum(s[-1] for s in trigger_starts), np.nan)
        for kind in VECTORS:
            if kind.exists == stage and kind.pool not in arrays:
                members = [k for k in VECTORS if k.pool == kind.pool and k.part]
                size = sum(starts[k.part][-1] for k in members)
                arrays[kind.pool] = np.full(size, kind.initial)
        if stage == MODEL:
            rows = [rows for part in _parts(MODEL) for s in subsystems for rows in s.rows[part]]
            initial = [r.initial for r in rows if r.initial is not None]
            arrays["y"][:] = np.concatenate([NO_ITEMS, *initial])
        self._become(arrays, starts, trigger_starts)
        if stage == INSTANCE:
            self.sizes = layout.sizes
        if stage == MODEL:
            self._find_places(layout)
            self.own_rates, self.early_qdot = frozenset(), frozenset()

    def _find_places(self, layout: Layout) -> None:
        """Note the places of blocks and wholes in y."""
        self.places = places = {}
        for kind in CONTINUOUS.values():
            places[layout.variables[kind.name]._node] = self._slice(kind, None)
            for x, subsystem in enumerate(layout.subsystems):
                part = self._slice(kind, x)
                places[subsystem.whole[kind.name]._node] = part
                for block, rows in zip(
                    subsystem.blocks[kind.name], subsystem.rows[kind.name], strict=True
                ):
                    start = part.start + rows.start
                    places[block._node] = slice(start, start + rows.count)

    def drop(self, stage: Stage) -> None:
        """Drop the vectors that exist from `stage` on; views of them are sealed.

        If an error cuts this short, call it again. Vectors of Instance are kept for `allocate`.
        """
        if stage == INSTANCE:
            if self.is_open:
                self._seal_of([kind for kind in VECTORS if kind.exists == INSTANCE])
            return
        gone = [kind for kind in VECTORS if kind.exists >= stage]
        if self.whole.keys().isdisjoint([kind.name for kind in gone]):
            return
        self._seal_of(gone)
        self._become({}, {}, [])

    def _become(
        self,
        arrays: dict[str, Vector],
        starts: dict[str, list[int]],
        trigger_starts: list[list[int]],
    ) -> None:
        """Take these arrays, and make read-only views of the vectors in them."""
        places: dict[str, slice] = {}
        whole: dict[str, Vector] = {}
        for kind in VECTORS:
            if kind.pool in arrays:
                start = sum(starts[part][-1] for part in kind.before)
                stop = start + starts[kind.part][-1] if kind.part else len(arrays[kind.pool])
                places[kind.name] = slice(start, stop)
                whole[kind.name] = arrays[kind.pool][start:stop]
        for view in whole.values():
            view.flags.writeable = False
        if "y" not in whole:
            self.places = {}
        self._handed: dict[tuple[object, ...], Handed] = {}  # hooks ask for the same again
        self.differences = {}
        self._writable_whole = {}
        bases = _starts([starts_of_stage[-1] for starts_of_stage in trigger_starts])
        y = whole.get("y", NO_ITEMS)
        # From here on nothing is called or allocated: a copy by a finalizer finds all or nothing.
        self.constraints = None
        self.sizes = None
        self.trigger_starts, self.trigger_bases = trigger_starts, bases
        self.y, self._places = y, places
        # Last: where these are what they were, so is all the rest.
        self.whole, self._arrays, self.starts = whole, arrays, starts

    # ------------------------------------------------------------------ views

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """Return a read-only view of a vector that exists, or of a subsystem's part of it."""
        whole = self.whole[kind.name]
        if subsystem is None:
            return whole
        starts = self.starts[kind.part]
        return whole[starts[subsystem] : starts[subsystem + 1]]

    def writable_view(self, kind: VectorKind, subsystem: int | None, at: int) -> Vector:
        """Return a view for writing, until it is sealed; `at` is the stage of its owner."""
        key = kind.name, subsystem, at < kind.sealed_at
        handed = self._handed.get(key)
        if handed is None:
            place = self._slice(kind, subsystem)
            handed = self._handed[key] = Handed(kind, subsystem, kind.sealed_at, place)
        return self._hand_out(handed, kind, at)

    def writable_block(self, kind: VectorKind, subsystem: int, place: slice) -> Vector:
        """Return a view for writing some items of y."""
        key = kind.name, (place.start, place.stop)
        handed = self._handed.get(key)
        if handed is None:
            handed = self._handed[key] = Handed(kind, subsystem, EMPTY, place)
        return self._hand_out(handed, kind, EMPTY)

    def writable_triggers(self, stage: Stage, subsystem: int | None, at: int) -> Vector:
        """Return a view for writing the event triggers of a stage."""
        sealed = max(int(stage), INSTANCE)
        key = stage, subsystem, at < sealed
        handed = self._handed.get(key)
        if handed is None:
            place = self.trigger_slice(stage, subsystem)
            handed = self._handed[key] = Handed(EVENT_TRIGGERS, subsystem, sealed, place)
        return self._hand_out(handed, EVENT_TRIGGERS, at)

    def _hand_out(self, handed: Handed, kind: VectorKind, at: int) -> Vector:
        """Return a view that is sealed when its stage is reached, or with the next computation."""
        view: Vector | None = handed.view
        if view is not None and view.flags.writeable:  # if not, sealing it was cut short
            return view
        view = handed.view = self._arrays[kind.pool][handed.place]
        (self.writable if at >= handed.sealed else self.writable_caches).append(handed)
        self.is_open = True
        if kind is QDOT or kind is QDOTDOT or kind is YDOT:
            if handed.owner not in self.own_rates:
                self.own_rates |= {handed.owner}
            if at < POSITION and kind is not QDOTDOT and handed.owner not in self.early_qdot:
                self.early_qdot |= {handed.owner}
        return view

    def place(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """Return the place of a vector, for a write at once; do not hand it out."""
        if subsystem is not None:
            return self._arrays[kind.pool][self._slice(kind, subsystem)]
        found = self._writable_whole.get(kind.name)
        if found is None:  # it is kept, since it is written again and again
            found = self._writable_whole[kind.name] = self._arrays[kind.pool][
                self._slice(kind, None)
            ]
        return found

    def write(self, kind: VectorKind, subsystem: int | None, values: Vector) -> None:
        """Write all values of a vector."""
        self._arrays[kind.pool][self._slice(kind, subsystem)] = values

    def write_rows(self, kind: VectorKind, subsystem: int, start: int, values: Vector) -> None:
        """Write some values of a subsystem's part of a vector."""
        at = self._slice(kind, subsystem).start + start
        self._arrays[kind.pool][at : at + len(values)] = values

    def copy_rows(self, pool: str, rows: Rows, source: str, source_rows: Rows) -> None:
        """Copy some items of an array into another one."""
        self._arrays[pool][rows] = self._arrays[source][source_rows]

    def note_early_qdot(self) -> None:
        """Note views of qdot that were handed out since Velocity was left."""
        for handed in self.writable_caches:
            if handed.kind in (QDOT, YDOT):
                self.early_qdot |= {handed.owner}

    def write_y(self, place: slice, values: Vector | float) -> None:
        """Write some items of y."""
        self._arrays["y"][place] = values

    def write_item(self, index: int, value: float) -> None:
        """Write one item of y."""
        self._arrays["y"][index] = value

    def write_triggers(self, stage: Stage, subsystem: int, start: int, values: Vector) -> None:
        """Write some of a subsystem's event triggers of a stage."""
        at = self.trigger_bases[stage] + self.trigger_starts[stage][subsystem] + start
        self._arrays[EVENT_TRIGGERS.pool][at : at + len(values)] = values

    def start(self, part: str, subsystem: int | None) -> int:
        """Return the start of q, u, z, qerr or uerr in y or yerr, or a subsystem's in that."""
        if subsystem is not None:
            return self.starts[part][subsystem]
        return self._places[part].start  # type: ignore[no-any-return]  # an integer

    def size(self, part: str, subsystem: int | None) -> int:
        """Return the number of items."""
        starts = self.starts[part]
        return starts[-1] if subsystem is None else starts[subsystem + 1] - starts[subsystem]

    def _slice(self, kind: VectorKind, subsystem: int | None) -> slice:
        place = self._places[kind.name]
        if subsystem is None:
            return place
        starts = self.starts[kind.part]
        return slice(place.start + starts[subsystem], place.start + starts[subsystem + 1])

    # ------------------------------------------------------------------ event triggers

    def trigger_slice(self, stage: Stage, subsystem: int | None) -> slice:
        """Return the place of the triggers of a stage among all."""
        base = self.trigger_bases[stage]
        starts = self.trigger_starts[stage]
        if subsystem is None:
            return slice(base, base + starts[-1])
        return slice(base + starts[subsystem], base + starts[subsystem + 1])

    # ------------------------------------------------------------------ sealing

    def seal(self) -> None:
        """Seal variables that were handed out for writing."""
        for handed in list(self.writable):  # other threads may seal as well
            handed.seal()
        self.writable = []
        for value in list(self.writable_values.values()):
            value.setflags(write=False)
        self.writable_values = {}

    def seal_reached(self, stage: int, subsystem: int | None) -> None:
        """Seal all views that were handed out; of caches, those that a stage makes readable."""
        if self.writable or self.writable_values:
            self.seal()
        if self.writable_entries:
            for value in self.writable_entries.values():
                value.flags.writeable = False
            self.writable_entries.clear()
        if self.writable_caches:
            left: list[Handed] = []
            for handed in self.writable_caches:
                whose = handed.owner
                if handed.sealed <= stage and (
                    whose is None or subsystem is None or whose == subsystem
                ):
                    handed.seal()
                else:
                    left.append(handed)
            self.writable_caches = left
        self.is_open = bool(self.writable_caches)

    def _seal_of(self, kinds: list[VectorKind]) -> None:
        """Seal the views of some vectors."""
        for handed in [*self.writable, *self.writable_caches]:
            if handed.kind in kinds:
                handed.seal()
        self.writable = [handed for handed in self.writable if handed.view is not None]
        self.writable_caches = [h for h in self.writable_caches if h.view is not None]

    # ------------------------------------------------------------------ copies

    def copy(self, *, with_caches: bool = False) -> "Pools":
        """Return pools with equal variables, and equal caches or NaN in them."""
        twin = Pools()
        caches = set() if with_caches else {kind.pool for kind in VECTORS if not kind.is_variable}
        arrays = {
            pool: np.full_like(array, np.nan) if pool in caches else array.copy()
            for pool, array in self._arrays.items()
        }
        twin._become(arrays, self.starts, self.trigger_starts)
        twin.places = self.places
        twin.constraints = self.constraints
        twin.sizes = self.sizes
        twin.own_rates, twin.early_qdot = self.own_rates, self.early_qdot
        twin.lacks_triggers = with_caches and self.lacks_triggers
        return twin

    def snapshot(self) -> PoolsSnapshot:
        """Return copies of all arrays, for `restore`."""
        arrays = {pool: array.copy() for pool, array in self._arrays.items()}
        return arrays, self.starts, self.trigger_starts, self.places, self.lacks_triggers

    def restore(self, snapshot: PoolsSnapshot) -> None:
        """Restore the earlier vectors, in place where the sizes are equal."""
        self.seal_reached(Stage.INFINITY, None)
        self.differences = {}
        arrays, starts, trigger_starts, places, lacks_triggers = snapshot
        self.lacks_triggers = True  # until the arrays are the snapshot's
        if starts is self.starts:  # then so are those of triggers
            for pool, array in arrays.items():
                self._arrays[pool][:] = array
        else:
            self._take(arrays, starts, trigger_starts)
        self.places = places
        self.lacks_triggers = lacks_triggers

    def assign(self, other: "Pools") -> None:
        """Take over a copy of another State's pools, in place where the sizes are equal."""
        self.seal_reached(Stage.INFINITY, None)
        self._take(other._arrays, other.starts, other.trigger_starts)
        self.places = other.places
        self.own_rates, self.early_qdot = other.own_rates, other.early_qdot
        self.lacks_triggers = other.lacks_triggers

    def _take(
        self, arrays: dict[str, Vector], starts: dict[str, list[int]], triggers: list[list[int]]
    ) -> None:
        """Take copies of these arrays, in place where the sizes are equal."""
        taken = {}
        for pool, array in arrays.items():
            mine = self._arrays.get(pool)
            if mine is not None and mine.shape == array.shape:
                mine[:] = array
                taken[pool] = mine
            else:
                taken[pool] = array.copy()
        self._become(taken, starts, triggers)


OF_INSTANCE: Final = {kind.pool: kind.initial for kind in VECTORS if kind.exists == INSTANCE}
"""First values of the arrays that exist from Instance on."""


def _parts(stage: Stage) -> tuple[str, ...]:
    """Return the parts whose sizes are known from Model, or from Instance on."""
    return ("q", "u", "z") if stage == MODEL else ("qerr", "uerr", "udoterr")


def _starts(sizes: list[int]) -> list[int]:
    return list(accumulate(sizes, initial=0))
