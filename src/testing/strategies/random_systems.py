r"""Strategies for whole Systems, of random subsystems that are coherent by construction.

A System is built from a plan: items in an order in which each entry reads earlier items only, of
any subsystem, and names exactly these as its prerequisites::

    part_0   option  q (as many as the option says)   parameter      entry   rows of qerr   hook
                 \______________________\_________________________  /
    part_1   u   auto-update variable   parameters and entries of a family   trigger

The classes are made by `part_class`, and pickle takes the plan for a class.
"""

import copyreg
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
from attrs import frozen
from hypothesis import strategies as st

from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.constraints.errors import position_error
from stagecache.system.core.system import System
from stagecache.system.declare.auto_update import auto_update
from stagecache.system.declare.cached import cached
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.declare.variables import (
    discrete,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.system.events.triggers import event_trigger

BLOCKS: Final[dict[str, Callable[..., Any]]] = {"q": q_variable, "u": u_variable, "z": z_variable}
KINDS: Final = (
    *("parameter", "q", "u", "z", "discrete", "option", "auto update", "family"),
    *("entry", "entry", "entry", "entry", "entries", "rows", "trigger", "hook"),
)
READABLE: Final = frozenset(KINDS) - {"rows", "trigger", "hook"}
MODULUS: Final = 1009
FAMILY: Final = 2


@frozen
class PlannedItem:
    """An item of a subsystem.

    Attributes
    ----------
    part : int
        The number of the subsystem.
    name : str
    kind : str
        One of `KINDS`.
    first : int
        The value with which a variable starts; of a block, for each of its numbers.
    size : int
        Numbers of a block; -1 if an option of its subsystem decides.
    stage : Stage or None
        Stage that a discrete variable invalidates, or on which an entry depends, if any.
    reads : tuple of int
        The items that are read, by their places in the plan.
    is_shared : bool
        True for an entry whose values are found by those of its prerequisites.
    """

    part: int
    name: str
    kind: str
    first: int = 0
    size: int = 1
    stage: Stage | None = None
    reads: tuple[int, ...] = ()
    is_shared: bool = False


@frozen
class Plan:
    """Items of a System."""

    parts: int
    items: tuple[PlannedItem, ...]


def systems(*, max_subsystems: int = 3, max_items: int = 10) -> st.SearchStrategy[System]:
    """Systems of random subsystems, with all kinds of declarations, whose caches are right.

    Parameters
    ----------
    max_subsystems : int
        There is at least one, beside the default subsystem.
    max_items : int
        Most items of all subsystems together; there is at least one. A family counts as one item.
    """
    return plans(max_subsystems, max_items).map(built)


def built(plan: Plan) -> System:
    """Return the System of a plan."""
    system = System()
    for number in range(plan.parts):
        system.add(part_class(plan, number)(), f"part_{number}")
    return system


@st.composite
def plans(draw: st.DrawFn, max_subsystems: int, max_items: int) -> Plan:
    """Plans of Systems."""
    parts = draw(st.integers(1, max_subsystems))
    items: list[PlannedItem] = []
    for number in range(draw(st.integers(1, max_items))):
        kind = draw(st.sampled_from(KINDS))
        part = draw(st.integers(0, parts - 1))
        items.append(_planned(draw, items, part, kind, f"{kind[0]}{number}"))
    return Plan(parts, tuple(items))


def _planned(
    draw: st.DrawFn, items: list[PlannedItem], part: int, kind: str, name: str
) -> PlannedItem:
    first = draw(st.integers(0, 3))
    if kind in BLOCKS:
        options = [x for x in items if x.kind == "option" and x.part == part]
        size = draw(st.sampled_from([1, 0, 2, *([-1] if options else [])]))
        return PlannedItem(part, name, kind, first, size)
    if kind == "discrete":
        invalidated = draw(st.sampled_from(tuple(Stage)[Stage.TIME : Stage.INFINITY]))
        return PlannedItem(part, name, kind, first, stage=invalidated)
    if kind in ("rows", "trigger", "hook"):  # they read what a write of makes their stage stale
        own = [i for i, x in enumerate(items) if x.part == part and x.kind in ("q", "parameter")]
        return PlannedItem(part, name, kind, reads=_chosen(draw, own))
    if kind in ("entry", "entries", "auto update"):
        every = [i for i, x in enumerate(items) if x.kind in READABLE]
        if kind == "auto update":  # its next value depends on Time
            every = [i for i in every if items[i].kind in ("parameter", "family")]
        reads = _chosen(draw, every)
        stage = draw(st.sampled_from((None, None, Stage.REPORT))) if kind == "entry" else None
        is_shared = bool(stage is None and reads and kind != "auto update" and draw(st.booleans()))
        return PlannedItem(part, name, kind, first, stage=stage, reads=reads, is_shared=is_shared)
    return PlannedItem(part, name, kind, first)


def _chosen(draw: st.DrawFn, candidates: list[int]) -> tuple[int, ...]:
    if not candidates:
        return ()
    return tuple(draw(st.lists(st.sampled_from(candidates), unique=True, max_size=3)))


# ---------------------------------------------------------------------- classes


class PartClass(type):
    """The class of the classes that are made from plans, so that pickle knows them."""

    plan: Plan
    number: int


def _reduce_class(cls: PartClass) -> Any:
    return part_class, (cls.plan, cls.number)


copyreg.pickle(PartClass, _reduce_class)


@cache
def part_class(plan: Plan, number: int) -> type[Subsystem]:
    """The class of a subsystem of a plan."""
    body: dict[str, Any] = {"plan": plan, "number": number}
    for item in plan.items:
        if item.part == number:
            body.update(_declared(plan, item))
    return PartClass(f"Part{number}", (Subsystem,), body)  # type: ignore[return-value]  # it is one


def _declared(plan: Plan, item: PlannedItem) -> dict[str, Any]:
    """Return the declaration of an item in the body of the class."""
    name, first = item.name, float(item.first)
    prerequisites: Any = lambda self, *_: _handles(self, plan, item)  # noqa: E731
    if item.kind == "option":
        return {name: modeling_option(item.first)}
    if item.kind == "parameter":
        return {name: parameter(first)}
    if item.kind == "discrete":
        assert item.stage is not None
        return {name: discrete(first, invalidates=item.stage)}
    if item.kind == "family":
        return {name: parameter(first, count=FAMILY)}
    if item.kind in BLOCKS:
        return {name: _block(plan, item)}
    if item.kind == "entry":
        declare = cached(
            prerequisites=prerequisites, available_from=item.stage, shared=item.is_shared
        )
        return {name: declare(_sum(plan, item))}
    if item.kind == "entries":
        family = cached(count=FAMILY, prerequisites=prerequisites, shared=item.is_shared)
        return {name: family(_sum(plan, item))}
    if item.kind == "auto update":
        variable = auto_update(first, invalidates=Stage.DYNAMICS, available_from=Stage.TIME)
        variable.__set_name__(Subsystem, name)
        following = variable.update(prerequisites=prerequisites)(_sum(plan, item, with_own=True))
        return {name: variable, f"next_{name}": following}
    if item.kind == "rows":
        return {name: position_error()(_sum(plan, item))}
    if item.kind == "trigger":
        return {name: event_trigger(stage=Stage.POSITION)(_sum(plan, item))}
    return {"realize_velocity": _hook(_sum(plan, item))}


def _block(plan: Plan, item: PlannedItem) -> Any:
    declare, first = BLOCKS[item.kind], float(item.first)
    if item.size == 1:
        return declare(first)
    if item.size >= 0:
        return declare([first] * item.size)
    option = next(x.name for x in plan.items if x.kind == "option" and x.part == item.part)
    return declare(
        factory=lambda self, state: np.full(max(0, int(getattr(self, option)(state))), first)
    )


def _handles(self: Any, plan: Plan, item: PlannedItem) -> list[Any]:
    """Return what an item reads: handles, and families of them."""
    owners = self.system.subsystems[1:]
    return [getattr(owners[plan.items[i].part], plan.items[i].name) for i in item.reads]


def _sum(plan: Plan, item: PlannedItem, *, with_own: bool = False) -> Callable[..., float]:
    """Return a computation from the reads of an item; a next value also reads the present one."""

    def total(self: Any, state: State, i: int) -> float:
        found = float(item.first + i)
        for factor, handle in enumerate(_handles(self, plan, item), 2):
            members = [handle] if callable(handle) else handle
            found += factor * sum(float(np.sum(member(state))) for member in members)
        if with_own:
            found += 1 + getattr(self, item.name)(state)
        return found % MODULUS

    if item.kind == "entries":
        return total
    return lambda self, state: total(self, state, 0)


def _hook(compute: Callable[..., float]) -> Callable[[Any, State], None]:
    def realize_velocity(self: Any, state: State) -> None:
        state[self].upd_qdot()[:] = compute(self, state)

    return realize_velocity
