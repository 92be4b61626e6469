"""Random models whose hooks and entries read anything, and their derivatives by brute force.

Values are smooth functions of what is read, but for switches: a hook may read something else
beyond the value that a variable has at first, so that a step forward finds new dependencies.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from attrs import frozen
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    generalized_force,
    mass_matrix,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.state.handles import Vector

STAGES = {"time": 4, "parameter": 3, "q": 5, "u": 6, "z": 7}
HOOKS = {"qdot": Stage.VELOCITY, "zdot": Stage.DYNAMICS, "udot": Stage.ACCELERATION}
WHOLES = ("q", "u", "z", "qdot", "udot", "zdot", "time")
READ_AT = {"q": 5, "u": 6, "z": 7, "qdot": 7, "zdot": 8, "udot": 9, "time": 4}
"""First stages at which hooks read these, of the whole State or of another subsystem."""


@frozen
class Item:
    """A variable or an entry.

    `stage` is the first at which any hook can read it; of an entry that depends on a whole stage,
    the one after that.
    """

    owner: int
    name: str
    kind: str
    stage: int
    size: int = 1
    reads: "tuple[Read, ...]" = ()
    by_stage: bool = False


@frozen
class Read:
    """A read of an item, or of a vector (of a subsystem, or of the whole State: -1)."""

    item: int = -1
    vector: str = ""
    owner: int = -1
    switch: int = -1  # an item: read this only if that is beyond its first value


@frozen
class Hook:
    owner: int
    target: str
    reads: tuple[Read, ...]
    also: int = -1  # a subsystem to whose rows it adds


@frozen
class Model:
    count: int
    sizes: tuple[tuple[int, int], ...]  # numbers of q (and u), and of z
    masses: tuple[str, ...]
    items: tuple[Item, ...]
    hooks: tuple[Hook, ...]


@st.composite
def models(draw: st.DrawFn) -> Model:
    count = draw(st.integers(1, 4))
    sizes, masses, items = [], [], []
    for s in range(count):
        nq, nz = draw(st.integers(0, 3)), draw(st.integers(0, 2))
        sizes.append((nq, nz))
        masses.append(draw(st.sampled_from(["", "", "full", "diagonal"])) if nq else "")
        for kind, size in (("q", nq), ("u", nq), ("z", nz)):
            if size:
                items.append(Item(s, kind * 3, kind, STAGES[kind], size))
        if draw(st.booleans()):
            items.append(Item(s, "p", "parameter", 3, draw(st.sampled_from([1, 2]))))
        if draw(st.booleans()):
            stage = draw(st.sampled_from([5, 6, 7, 8]))
            items.append(Item(s, "d", "discrete", stage))
    for n in range(draw(st.integers(0, 5))):
        owner = draw(st.integers(0, count - 1))
        by_stage = draw(st.booleans())
        stage = draw(st.sampled_from([5, 6, 7]))
        reads = draw(reads_of(items, stage, handles_only=not by_stage))
        latest = stage + 1 if by_stage else max([3, *(items[r.item].stage for r in reads)])
        items.append(Item(owner, f"e{n}", "entry", latest, 1, reads, by_stage))
    hooks = []
    for s, (nq, nz) in enumerate(sizes):
        if nq and draw(st.booleans()):
            hooks.append(Hook(s, "qdot", draw(reads_of(items, 6, own=s))))
        if nz:
            hooks.append(Hook(s, "zdot", draw(reads_of(items, 7, own=s))))
        if nq and not masses[s]:
            others = [x for x in range(s) if sizes[x][0]]
            also = draw(st.sampled_from([-1, *others]))
            hooks.append(Hook(s, "udot", draw(reads_of(items, 8, own=s)), also))
    return Model(count, tuple(sizes), tuple(masses), tuple(items), tuple(hooks))


@st.composite
def reads_of(
    draw: st.DrawFn, items: list[Item], stage: int, *, handles_only: bool = False, own: int = -1
) -> tuple[Read, ...]:
    known = [i for i, item in enumerate(items) if item.stage <= stage]
    found = []
    for _ in range(draw(st.integers(0, 3))):
        is_vector = not handles_only and draw(st.integers(0, 5)) == 0
        if is_vector or not known:
            if handles_only:
                continue
            names = [name for name in WHOLES if READ_AT[name] <= stage]
            of_others = own if own >= 0 else -1
            found.append(Read(vector=draw(st.sampled_from(names)), owner=of_others))
            continue
        item = draw(st.sampled_from(known))
        switch = -1 if handles_only else draw(st.sampled_from([-1, -1, *known]))
        found.append(Read(item=item, switch=switch))
    return tuple(dict.fromkeys(found))


# ---------------------------------------------------------------------- the System


def built(model: Model) -> System:
    """Return a System of a model, whose subsystems are s0, s1, ..."""
    subsystems = [_class_of(model, s)() for s in range(model.count)]
    system = System()
    for s, subsystem in enumerate(subsystems):
        system.add(subsystem, f"s{s}")
    return system


def handle(system: System, model: Model, item: int) -> Any:
    found = model.items[item]
    return getattr(system[f"s{found.owner}"], found.name)


def first_value(item: Item, number: int) -> Any:
    values = [0.3 + 0.1 * number + 0.05 * k for k in range(item.size)]
    return values[0] if item.size == 1 else np.array(values)


def total(model: Model, state: State, reads: Iterable[Read]) -> float:
    """Return a smooth function of what is read."""
    found = 0.1
    for k, read in enumerate(reads, 2):
        if read.switch >= 0:
            limit = float(np.sum(first_value(model.items[read.switch], read.switch)))
            if float(np.sum(handle(state.system, model, read.switch)(state))) <= limit + 1e-13:
                continue
        if read.item >= 0:
            value = np.sum(handle(state.system, model, read.item)(state))
        elif read.vector == "time":
            value = state.time
        else:
            part: Any = state if read.owner < 0 else state[f"s{read.owner}"]
            value = np.nansum(getattr(part, read.vector))
        found += math.sin(k * float(value)) / k + 0.2 * found * float(value)
    return found


def _class_of(model: Model, s: int) -> type[Subsystem]:
    body: dict[str, Any] = {}
    declare: dict[str, Callable[..., Any]] = {"q": q_variable, "u": u_variable, "z": z_variable}
    for n, item in enumerate(model.items):
        if item.owner != s:
            continue
        if item.kind == "entry":
            body[item.name] = _entry(model, item)
        elif item.kind == "parameter":
            body[item.name] = parameter(first_value(item, n))
        elif item.kind == "discrete":
            body[item.name] = discrete(first_value(item, n), invalidates=Stage(item.stage))
        else:
            body[item.name] = declare[item.kind](first_value(item, n))
    if model.masses[s]:
        body |= _dynamics(model, s, body["qqq"], body["uuu"])
    for hook in model.hooks:
        if hook.owner == s:
            body[f"realize_{HOOKS[hook.target].name.lower()}"] = _hook(model, hook)
    return type(f"Part{s}", (Subsystem,), body)


def _entry(model: Model, item: Item) -> Any:
    def compute(_: Any, state: State) -> float:
        return total(model, state, item.reads)

    if item.by_stage:
        return cached(available_from=Stage(item.stage - 1))(compute)
    return cached(
        prerequisites=lambda self: [handle(self.system, model, r.item) for r in item.reads]
    )(compute)


def _dynamics(model: Model, s: int, q: Any, u: Any) -> dict[str, Any]:

    def inertia(self: Any, state: State) -> Vector:
        diagonal = 2.0 + np.cos(np.atleast_1d(self.qqq(state)))
        if model.masses[s] == "diagonal":
            return np.asarray(diagonal)
        return np.asarray(np.diag(diagonal) + 0.1)

    def push(self: Any, state: State) -> Vector:
        return np.asarray(np.atleast_1d(self.uuu(state)) ** 2 - 1.0)

    return {
        "inertia": mass_matrix(u, prerequisites=(q,))(inertia),
        "push": generalized_force(u, prerequisites=(u,))(push),
    }


def _hook(model: Model, hook: Hook) -> Callable[[Any, State], None]:
    def realize(self: Any, state: State) -> None:
        value = total(model, state, hook.reads)
        rows = getattr(state[self], f"upd_{hook.target}")()
        rows[:] = value * np.arange(1.0, len(rows) + 1)
        if hook.also >= 0:
            getattr(state[f"s{hook.also}"], f"upd_{hook.target}")()[0] += value

    return realize


# ---------------------------------------------------------------------- brute force


def brute(
    system: System,
    state: State,
    inputs: Iterable[Any],
    outputs: Iterable[Any],
    *,
    relative: float = 2.0**-26,
    is_central: bool = False,
) -> Vector:
    """Return [[A, B], [C, D]], each column moved alone, in a fresh copy of the State."""
    inputs, outputs = list(inputs), list(outputs)
    y = np.array(state.y)
    starts = [np.atleast_1d(np.array(handle(state))).ravel() for handle in inputs]
    x = np.concatenate([y, *starts])
    least = np.ones(len(x))  # the least size, to which a step is relative
    start = len(y)
    for each, first in zip(inputs, starts, strict=True):
        if getattr(each, "invalidates", None) == Stage.INSTANCE:  # a parameter
            least[start : start + len(first)] = 0.0
        start += len(first)

    def values(at: Vector) -> Vector:
        moved = state.copy()
        start = len(y)
        for handle, first in zip(inputs, starts, strict=True):
            part = at[start : start + len(first)]
            start += len(first)
            is_one = np.ndim(handle(state)) == 0
            handle.set(moved, float(part[0]) if is_one else part.reshape(handle(state).shape))
        moved.y = at[: len(y)]
        system.realize(moved, Stage.TIME)
        system.prescribe_q(moved)
        system.realize(moved, Stage.POSITION)
        system.prescribe_u(moved)
        system.realize(moved, Stage.REPORT)
        read = [np.ravel(handle(moved)) for handle in outputs]
        return np.concatenate([moved.ydot, *read])

    base = values(x)
    found = np.zeros((len(base), len(x)))
    for column in range(len(x)):
        step = relative * max(least[column], abs(x[column]))
        above, below = x.copy(), x.copy()
        above[column] += step
        if is_central:
            below[column] -= step
        there = values(above) - (values(below) if is_central else base)
        found[:, column] = there / (above[column] - below[column])
    return found
