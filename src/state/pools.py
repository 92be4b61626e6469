"""The vectors of one State: contiguous arrays, of which all else is a view.

What is handed out for writing is remembered, and *sealed* (made read-only) as soon as something is
computed from it, so that a late write through a view that someone kept raises, rather than leave
wrong values in the cache. Slices that were taken from such a view cannot be sealed.
"""

from typing import Any, Final

import numpy as np

from stagecache.state.handles import Vector
from stagecache.state.layout import Layout
from stagecache.state.stage import Stage
from stagecache.state.vectors import VECTORS, VectorKind

MODEL, INSTANCE = Stage.MODEL, Stage.INSTANCE
FIRST: Final = {"u_weights": 1.0, "z_weights": 1.0, "qerr_weights": 1.0, "uerr_weights": 1.0}


class Pools:
    """The arrays of one State.

    Attributes
    ----------
    starts : dict of str to list of int
        By part (q, u, z; qerr, uerr, udoterr): where each subsystem's items start among all; the
        last item is their number. The parts that exist are there.
    trigger_starts : list of list of int
        By stage: the same for event triggers.
    whole : dict of str to ndarray
        By name of a vector: a read-only view. Those that exist are there.
    writable : dict of tuple to ndarray
        Views of variables that were handed out and not sealed yet.
    """

    __slots__ = (
        "_arrays",
        "_places",
        "_writable_caches",
        "starts",
        "trigger_starts",
        "whole",
        "writable",
    )

    def __init__(self) -> None:
        self._arrays: dict[str, Vector] = {}
        self.starts: dict[str, list[int]] = {}
        self.trigger_starts: list[list[int]] = []
        self.whole: dict[str, Vector] = {}
        self._places: dict[str, slice] = {}
        self.writable: dict[tuple[Any, ...], Any] = {}
        self._writable_caches: dict[tuple[Any, ...], tuple[Stage, int | None, Vector]] = {}

    # ------------------------------------------------------------------ allocation

    def allocate(self, stage: Stage, layout: Layout) -> None:
        """Make the vectors that exist from `stage` on, Model or Instance."""
        subsystems = layout.subsystems
        parts = ("q", "u", "z") if stage == MODEL else ("qerr", "uerr", "udoterr")
        for part in parts:
            self.starts[part] = _starts([subsystem.size(part) for subsystem in subsystems])
        if stage == INSTANCE:
            self.trigger_starts = [
                _starts([sum(rows.count for rows in s.triggers[g]) for s in subsystems])
                for g in Stage
            ]
            self._make("event_triggers", sum(starts[-1] for starts in self.trigger_starts))
        for kind in VECTORS:
            if kind.exists == stage and kind.pool not in self._arrays:
                members = [k for k in VECTORS if k.pool == kind.pool and k.part]
                self._make(kind.pool, sum(self.starts[k.part][-1] for k in members))
        if stage == MODEL:
            y = self._arrays["y"]
            blocks = [b.initial for part in parts for s in subsystems for b in s.blocks[part]]
            y[:] = np.concatenate([np.empty(0), *blocks])
        self._make_views()

    def drop(self, stage: Stage) -> None:
        """Drop the vectors that exist from `stage` on; views of them are sealed and detached."""
        gone = {"event_triggers", *(kind.name for kind in VECTORS if kind.exists >= stage)}
        if gone.isdisjoint(self.whole):
            return
        for key in [key for key in self.writable if key[0] in gone]:
            self.writable.pop(key).flags.writeable = False
        self._seal_caches([key for key in self._writable_caches if key[0] in gone])
        pools = {kind.pool for kind in VECTORS if kind.exists >= stage} | {"event_triggers"}
        for pool in pools:
            self._arrays.pop(pool, None)
        for part in ("qerr", "uerr", "udoterr") + (("q", "u", "z") if stage <= MODEL else ()):
            self.starts.pop(part, None)
        self.trigger_starts = []
        self._make_views()

    def _make(self, pool: str, size: int) -> None:
        self._arrays[pool] = np.full(size, FIRST.get(pool, np.nan))

    def _make_views(self) -> None:
        self.whole = {}
        self._places = {}
        for kind in VECTORS:
            if kind.pool in self._arrays:
                self._places[kind.name] = place = self._place(kind)
                self.whole[kind.name] = view = self._arrays[kind.pool][place]
                view.flags.writeable = False
        if "event_triggers" in self._arrays:
            self.whole["event_triggers"] = view = self._arrays["event_triggers"][:]
            view.flags.writeable = False

    # ------------------------------------------------------------------ views

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """A read-only view of a vector that exists, or of a subsystem's part of it."""
        whole = self.whole[kind.name]
        if subsystem is None:
            return whole
        starts = self.starts[kind.part]
        return whole[starts[subsystem] : starts[subsystem + 1]]

    def writable_view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """The same for writing, until it is sealed."""
        key = (kind.name, subsystem)
        if kind.is_variable:
            view = self.writable.get(key)
            if view is None:
                view = self.writable[key] = self._arrays[kind.pool][self._slice(kind, subsystem)]
            return view
        if key not in self._writable_caches:
            view = self._arrays[kind.pool][self._slice(kind, subsystem)]
            self._writable_caches[key] = (kind.read, subsystem, view)
        return self._writable_caches[key][2]

    def write(
        self, kind: VectorKind, subsystem: int | None, values: Vector, start: int = 0
    ) -> None:
        """Write values of a variable, from one of a subsystem's part on."""
        at = self._slice(kind, subsystem).start + start
        self._arrays[kind.pool][at : at + len(values)] = values

    def writable_block(self, kind: VectorKind, subsystem: int, start: int, stop: int) -> Vector:
        """The same of some items of a subsystem's part of a variable."""
        key = (kind.name, subsystem, start, stop)
        view = self.writable.get(key)
        if view is None:
            part = self._slice(kind, subsystem)
            array = self._arrays[kind.pool]
            view = self.writable[key] = array[part.start + start : part.start + stop]
        return view

    def start(self, part: str, subsystem: int | None) -> int:
        """Where q, u, z, qerr or uerr starts in y or yerr; a subsystem's, in that vector."""
        if subsystem is not None:
            return self.starts[part][subsystem]
        before = {"u": ("q",), "z": ("q", "u"), "uerr": ("qerr",)}.get(part, ())
        return sum(self.starts[p][-1] for p in before)

    def size(self, part: str, subsystem: int | None) -> int:
        """The number of items."""
        starts = self.starts[part]
        return starts[-1] if subsystem is None else starts[subsystem + 1] - starts[subsystem]

    def _slice(self, kind: VectorKind, subsystem: int | None) -> slice:
        place = self._places[kind.name]
        if subsystem is None:
            return place
        starts = self.starts[kind.part]
        return slice(place.start + starts[subsystem], place.start + starts[subsystem + 1])

    def _place(self, kind: VectorKind) -> slice:
        """Where a vector lies in its pool."""
        if not kind.part:
            return slice(0, None)
        start = sum(self.starts[part][-1] for part in kind.before)
        return slice(start, start + self.starts[kind.part][-1])

    # ------------------------------------------------------------------ event triggers

    def trigger_slice(self, stage: Stage, subsystem: int | None) -> slice:
        """Where the triggers of a stage lie among all."""
        base = sum(starts[-1] for starts in self.trigger_starts[:stage])
        starts = self.trigger_starts[stage]
        if subsystem is None:
            return slice(base, base + starts[-1])
        return slice(base + starts[subsystem], base + starts[subsystem + 1])

    def writable_triggers(self, stage: Stage | None, subsystem: int | None) -> Vector:
        """A writable view of the triggers of a stage, or of all."""
        key = ("event_triggers", stage, subsystem)
        if key not in self._writable_caches:
            part = slice(0, None) if stage is None else self.trigger_slice(stage, subsystem)
            view = self._arrays["event_triggers"][part]
            read = Stage.ACCELERATION if stage is None else max(stage, INSTANCE)
            self._writable_caches[key] = (read, subsystem, view)
        return self._writable_caches[key][2]

    # ------------------------------------------------------------------ sealing

    def seal(self) -> None:
        """Make the views of variables read-only that were handed out for writing."""
        for view in self.writable.values():
            view.flags.writeable = False
        self.writable.clear()

    def seal_reached(self, stage: int, subsystem: int | None) -> None:
        """Seal all variables, and the caches that are read from the stage on that is reached."""
        if self.writable:
            self.seal()
        if self._writable_caches:
            reached = [
                key
                for key, (read, whose, _) in self._writable_caches.items()
                if read <= stage and whose == subsystem
            ]
            self._seal_caches(reached)

    def _seal_caches(self, keys: list[tuple[Any, ...]]) -> None:
        for key in keys:
            self._writable_caches.pop(key)[2].flags.writeable = False

    # ------------------------------------------------------------------ copies

    def copy(self) -> "Pools":
        """Return equal variables; the caches hold NaN."""
        twin = Pools()
        twin.starts = self.starts.copy()
        twin.trigger_starts = self.trigger_starts
        caches = {kind.pool for kind in VECTORS if not kind.is_variable} | {"event_triggers"}
        for pool, array in self._arrays.items():
            twin._arrays[pool] = np.full_like(array, np.nan) if pool in caches else array.copy()
        twin._make_views()
        return twin

    def assign(self, other: "Pools") -> None:
        """Take over what `copy` of another State's returned, in place where the sizes are equal."""
        self.seal()
        self._seal_caches(list(self._writable_caches))
        for pool, array in other._arrays.items():
            mine = self._arrays.get(pool)
            if mine is not None and mine.shape == array.shape:
                mine[:] = array
                other._arrays[pool] = mine
        self._arrays = other._arrays
        self.starts = other.starts
        self.trigger_starts = other.trigger_starts
        self._make_views()


def _starts(sizes: list[int]) -> list[int]:
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    return starts
