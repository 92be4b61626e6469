"""Prescribed motion: writes of prescribed q and u, their udot, and the variables left free.

Only values that differ are written: a State that has them keeps its stages and versions.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.state.handles import AbstractContinuousVariable, CacheEntry, Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.declaration import item_of
from stagecache.system.declare.enabling import is_enabled
from stagecache.system.declare.prescribed import (
    STAGES,
    PrescribedAccelerationDeclaration,
    PrescribedDeclaration,
)
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.motion.differences import derivative_along, known_qdot
from stagecache.system.motion.operators import multiply_by_n

Index = NDArray[np.intp]


ALL: Final = slice(None)


@frozen
class PrescribedVariable:
    """A variable that is prescribed in a State."""

    variable: AbstractContinuousVariable
    entry: CacheEntry[Vector]
    """Prescribed values."""

    acceleration: CacheEntry[Vector] | None
    """The udot of a u, if that is declared."""

    part: slice = ALL
    """The variable's own values in these entries, where they serve several variables."""

    within: slice = ALL
    """The numbers of the variable that are prescribed, where not all of them are."""

    def rows(self, state: State) -> slice:
        """Return the place of what is prescribed in y."""
        place: slice = state._contents.pools.places[self.variable._node]
        if self.within is ALL:
            return place
        return slice(place.start + self.within.start, place.start + self.within.stop)

    def values(self, state: State) -> Vector:
        """Return the prescribed values."""
        return self.entry(state)[self.part]


def is_choosing(subsystem: Subsystem) -> bool:
    """Tell whether a subsystem says by a method which of its variables are prescribed.

    The method ``_prescribed_variables(state, kind)`` returns or yields each `PrescribedVariable` of
    "q", "u", or "udot", in a State at Model or further; the choice may depend on parameters and
    modeling options only. Those of "udot" are u that are free, with a prescribed udot. The method
    is for many items, few of which are prescribed in a State: declared motion needs an entry for
    each item and level in all States.
    """
    return hasattr(subsystem, "_prescribed_variables")


# ---------------------------------------------------------------------- setting


def prescribe_q(state: State) -> bool:
    """Set all prescribed q to their values at the time of the State. Needs Time.

    A write invalidates Position, as any of q does. Cost O(subsystems + prescribed numbers), beside
    the computations, which realizing Time has done.

    Returns
    -------
    bool
        True if anything changed.

    Raises
    ------
    StageTooLowError
    ReadOnlyError
        Something would change in a State that is only for reading.
    """
    return _prescribe(state, "q")


def prescribe_u(state: State) -> bool:
    """Set all prescribed u, as `prescribe_q` does. Needs Position; a write invalidates Velocity."""
    return _prescribe(state, "u")


def _prescribe(state: State, kind: str) -> bool:
    contents = state._contents
    contents.require_stage(STAGES[kind], None, f"prescribed {kind}")
    found = list(motions(state, kind))
    if not found:
        return False
    y = contents.pools.y
    present = [y[motion.rows(state)] for motion in found]
    wanted = [motion.values(state) for motion in found]
    if np.array_equal(np.concatenate(present), np.concatenate(wanted)):
        return False
    due = [not np.array_equal(p, w) for p, w in zip(present, wanted, strict=True)]
    for motion, is_due, values in zip(found, due, wanted, strict=True):
        if is_due:
            contents.set_block(motion.variable, _whole(state, motion, values))
    return True


def _whole(state: State, motion: PrescribedVariable, values: Vector) -> Vector:
    """Return the values of the whole variable, with those that are prescribed."""
    if motion.within is ALL:
        return values
    found: Vector = state._contents.pools.y[state._contents.pools.places[motion.variable._node]]
    found = found.copy()
    found[motion.within] = values
    return found


# ---------------------------------------------------------------------- what is free


def free_q_index(state: State) -> Index:
    """Return the indices in the whole q of those that are not prescribed. Cost O(nq).

    Needs Instance.

    Returns
    -------
    ndarray of shape (number of free q,), int
        Ascending, read-only.

    Raises
    ------
    StageTooLowError
    """
    return _free_index(state, "q")


def free_u_index(state: State) -> Index:
    """Return the indices of the u that are not prescribed, as `free_q_index`."""
    return _free_index(state, "u")


def _free_index(state: State, kind: str) -> Index:
    contents = state._contents
    contents.require_stage(Stage.INSTANCE, None, f"the index of free {kind}")
    is_free = np.ones(contents.pools.size("q", None) + contents.pools.size("u", None), bool)
    for motion in motions(state, kind):
        is_free[motion.rows(state)] = False
    start = _start(state, kind)
    index = np.flatnonzero(is_free[start : start + contents.pools.size(kind, None)])
    index.flags.writeable = False
    return index


# ---------------------------------------------------------------------- accelerations


def prescribed_udot(state: State) -> tuple[Index, Vector]:
    """Return the indices of u with a prescribed udot, and that udot. Needs Velocity.

    Without a declared function, udot is the derivative of the prescribed u along the motion
    of the State, qdot = N u, by central differences: two realizations of Position for all of them.

    Returns
    -------
    rows : ndarray of shape (n,), int
        Indices in the whole u, ascending.
    udot : ndarray of shape (n,), float

    Raises
    ------
    StageTooLowError
    Exception
        Whatever a computation raises.
    """
    state._contents.require_stage(Stage.VELOCITY, None, "prescribed udot")
    found = [*motions(state, "u"), *motions(state, "udot")]
    if not found:
        return np.empty(0, np.intp), np.empty(0)
    missing = [motion for motion in found if motion.acceleration is None]
    values = iter(_derivatives(state, missing))
    udot = np.concatenate(
        [next(values) if m.acceleration is None else m.acceleration(state)[m.part] for m in found]
    )
    start = _start(state, "u")
    places = [motion.rows(state) for motion in found]
    rows = np.concatenate([np.arange(p.start - start, p.stop - start) for p in places])
    order = np.argsort(rows)
    return rows[order], udot[order]


def _derivatives(state: State, moved: list[PrescribedVariable]) -> list[Vector]:
    """Return the time derivatives of prescribed u."""
    if not moved:
        return []
    sizes = [motion.values(state).size for motion in moved]
    qdot = known_qdot(state)
    if qdot is None:
        qdot = multiply_by_n(state, state.u)  # raises an error that names what is missing

    def read(scratch: State) -> Vector:
        return np.concatenate([motion.values(scratch) for motion in moved])

    try:
        found = derivative_along(
            state.system, state, read, stage=Stage.POSITION, qdot=qdot, time=1.0
        )
    except Exception as error:
        names = ", ".join(f"{motion.entry}" for motion in moved)
        error.add_note(f"while udot was computed by differences of {names}: declare .acceleration")
        raise
    return np.split(found, np.cumsum(sizes)[:-1])


# ---------------------------------------------------------------------- what is declared


def motions(state: State, kind: str) -> Iterator[PrescribedVariable]:
    """Yield the motions of "q", "u" or "udot" that are enabled in a State at Model or further."""
    for subsystem in state.system._driven:
        for declared, acceleration in _declared_in(type(subsystem), kind):
            motion = item_of(declared)
            entries: Any = declared.bound(subsystem)
            variables: Any = getattr(subsystem, motion.of.name)
            udots: Any = None if acceleration is None else acceleration.bound(subsystem)
            if isinstance(entries, CacheEntry):
                if is_enabled(motion.enabled, subsystem, state):
                    yield PrescribedVariable(variables, entries, udots)
                continue
            for i, entry in enumerate(entries):
                if is_enabled(motion.enabled, subsystem, state, i):
                    udot = None if udots is None else udots.member(i)
                    yield PrescribedVariable(variables.member(i), entry, udot)
        if is_choosing(subsystem):
            choosing: Any = subsystem
            yield from choosing._prescribed_variables(state, kind)


def may_be_driven(subsystem: Subsystem) -> bool:
    """Tell whether q or u of a subsystem are prescribed in any State."""
    return is_choosing(subsystem) or any(declares_motion(subsystem, kind) for kind in "qu")


def declares_motion(subsystem: Subsystem, kind: str) -> bool:
    """Tell whether a subsystem declares motions of q, or of u."""
    return bool(_declared_in(type(subsystem), kind))


def _declared_in(cls: Any, kind: str) -> list[tuple[Any, Any]]:
    """Return declared motions, or families of them, of a class; each with its declared udot."""
    known: dict[str, list[tuple[Any, Any]]] | None = vars(cls).get("_declared_motions")
    if known is None:  # kept in the class, whose declarations are final
        known = {"q": [], "u": [], "udot": [], "z": []}  # udot alone is not declared, but chosen
        items = [(d, item_of(d)) for d in cls.declarations.values()]
        udots = {
            item.of.name: declared
            for declared, item in items
            if isinstance(item, PrescribedAccelerationDeclaration)
        }
        for declared, item in items:
            if isinstance(item, PrescribedDeclaration):
                known[item.kind].append((declared, udots.get(declared.name)))
        cls._declared_motions = known
    return known[kind]


def _start(state: State, kind: str) -> int:
    """Return the start of q, or u, in y."""
    return 0 if kind == "q" else state._contents.pools.size("q", None)
