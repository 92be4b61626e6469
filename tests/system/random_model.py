"""Random models, and what they would be without a cache: all is evaluated anew, every time.

Each item is known by its number. First come the time and the wholes of q, u and z, then variables
and entries in an order in which each entry depends on earlier items only, of any subsystem.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from tests.interrupting import FUSE

KINDS = {"q": Stage.POSITION, "u": Stage.VELOCITY, "z": Stage.DYNAMICS}
DECLARE: dict[str, Callable[..., Any]] = {"q": q_variable, "u": u_variable, "z": z_variable}
STAGES = list(Stage)
OFTEN = (Stage.POSITION, Stage.DYNAMICS)


class HookError(Exception):
    """What a hook raises when it is told to."""


@dataclass(repr=False)
class Item:
    """A variable or an entry.

    `kind` is "time", "whole", "q", "u", "z", "discrete" or "entry".
    """

    kind: str
    subsystem: int | None  # None: the system's
    name: str
    invalidates: Stage = Stage.INFINITY
    initial: tuple[int, ...] = ()  # one number is a scalar
    sized_by: int | None = None  # the option that says how many there are
    is_option: bool = False
    prerequisites: tuple[int, ...] = ()
    extras: tuple[int, ...] = ()  # variables that are read because of the stage
    declared: Stage | None = None
    available_from: Stage = Stage.INFINITY  # as declared, or as it must be inferred
    computed_by: Stage = Stage.INFINITY
    is_array: bool = False
    is_moving: bool = False  # something upstream of it exists from Model on only

    @property
    def is_continuous(self) -> bool:
        return self.kind in KINDS or self.kind == "whole"

    def __repr__(self) -> str:
        """What is not as by default, so that a failure is short."""
        shown = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in fields(self)
            if getattr(self, f.name) != f.default
        ]
        return f"Item({', '.join(shown)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


@dataclass
class Spec:
    """A model: its items, by subsystem which stages have a hook, and which class is split."""

    count: int
    items: list[Item]
    hooks: list[set[Stage]]
    split: list[int]

    def members(self, whole: int) -> list[int]:
        """What lies in a whole q, u or z."""
        item = self.items[whole]
        of = [i for i, other in enumerate(self.items) if other.kind == item.name]
        found = [i for i in of if item.subsystem in (None, self.items[i].subsystem)]
        return sorted(found, key=lambda i: (self.items[i].subsystem, i))

    def entries(self) -> list[int]:
        return [i for i, item in enumerate(self.items) if item.kind == "entry"]

    def upstream(self, entry: int) -> set[int]:
        """The entry, and all items upstream of it."""
        found = {entry}
        for above in self.items[entry].prerequisites:
            found |= self.upstream(above)
        return found


def wholes(count: int) -> list[Item]:
    owners = [None, *range(count)]
    return [Item("whole", s, kind, stage) for s in owners for kind, stage in KINDS.items()]


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    count = draw(st.integers(1, 3))
    items = [Item("time", None, "time", Stage.TIME), *wholes(count)]
    for n in range(len(items), len(items) + draw(st.integers(2, 10))):
        subsystem = draw(st.integers(0, count - 1))
        kind = draw(st.sampled_from(["q", "u", "z", "discrete", "entry", "entry", "entry"]))
        if kind == "entry":
            items.append(draw(entries(items, subsystem, f"e{n}")))
        elif kind == "discrete":
            stage = draw(st.sampled_from(STAGES[Stage.MODEL : Stage.INFINITY]))
            is_option = stage == Stage.MODEL
            first = (draw(st.integers(0, 3)),)
            items.append(Item(kind, subsystem, f"v{n}", stage, first, is_option=is_option))
        else:
            initial = tuple(draw(st.lists(st.integers(0, 9), max_size=3)))
            options = [i for i, x in enumerate(items) if x.is_option and x.subsystem == subsystem]
            sized_by = draw(st.sampled_from([None, *options]))
            items.append(Item(kind, subsystem, f"v{n}", KINDS[kind], initial, sized_by))
    runtime = STAGES[Stage.INSTANCE : Stage.INFINITY]
    stages = st.sets(st.sampled_from([*runtime, *OFTEN]), max_size=4)
    hooks = [draw(stages) for _ in range(count)]
    return Spec(count, items, hooks, [draw(st.integers(0, 4)) for _ in range(count)])


@st.composite
def entries(draw: st.DrawFn, items: list[Item], subsystem: int, name: str) -> Item:
    of_others = [i for i, x in enumerate(items) if x.kind == "entry" and x.subsystem != subsystem]
    candidates = [*range(len(items)), *3 * of_others]
    chosen = draw(st.lists(st.sampled_from(candidates), unique=True, max_size=4))
    above = [items[i] for i in chosen]
    is_moving = any(x.is_continuous or x.is_moving for x in above)
    lowest = max(
        [Stage.TOPOLOGY]
        + [Stage.MODEL for x in above if x.is_continuous]
        + [x.available_from for x in above if x.kind == "entry"]
    )
    later = [g for g in STAGES[lowest : Stage.INFINITY] if g not in OFTEN]
    often = [g for g in OFTEN if g >= lowest]  # so that there are many of one stage
    declared = draw(st.sampled_from([None, *6 * often, *later]))
    available_from = lowest if declared is None else declared
    readable = [
        i for i, x in enumerate(items) if x.invalidates <= available_from and i not in chosen
    ]
    extras = draw(st.lists(st.sampled_from(readable), unique=True, max_size=2)) if readable else []
    is_moving |= any(items[i].is_continuous for i in extras)
    first = max(available_from, Stage.INSTANCE) if is_moving else available_from
    return Item(
        "entry",
        subsystem,
        name,
        prerequisites=tuple(chosen),
        extras=tuple(extras),
        declared=declared,
        available_from=available_from,
        computed_by=draw(st.sampled_from([Stage.INFINITY, *STAGES[first : Stage.INFINITY]])),
        is_array=draw(st.booleans()),
        is_moving=is_moving,
    )


def combined(number: int, read: list[float]) -> float:
    """What an entry makes of what it reads."""
    return (number + sum((k + 1) * value for k, value in enumerate(read))) % 1009


# ---------------------------------------------------------------------- the real thing


class Built:
    """A System that is made of a spec, and what was called in it."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.calls: list[int] = []
        self.seen: list[tuple[int, float]] = []  # entries that hooks read
        self.fails: list[tuple[Stage, int]] = []
        self.subsystems = [self._class_of(s)() for s in range(spec.count)]
        self.system = System()
        for s, subsystem in enumerate(self.subsystems):
            self.system.add(subsystem, f"s{s}")

    def handle(self, number: int) -> Any:
        item = self.spec.items[number]
        owner = self.system if item.subsystem is None else self.subsystems[item.subsystem]
        return getattr(owner, item.name)

    def read(self, state: State, number: int) -> float:
        return float(np.sum(self.handle(number)(state)))

    def _class_of(self, subsystem: int) -> type[Subsystem]:
        """The class, some of whose items are those of a base class."""
        mine = [i for i, item in enumerate(self.spec.items) if item.subsystem == subsystem]
        mine = [i for i in mine if self.spec.items[i].kind != "whole"]
        body = {self.spec.items[i].name: self._declaration(i) for i in mine}
        split = self.spec.split[subsystem]
        base = type("Base", (Subsystem,), dict(list(body.items())[:split]))
        rest: dict[str, Any] = dict(list(body.items())[split:])
        for stage in self.spec.hooks[subsystem]:
            rest[f"realize_{stage.name.lower()}"] = self._hook(subsystem, stage)
        return type("Derived", (base,), rest)

    def _declaration(self, number: int) -> Any:
        item = self.spec.items[number]
        if item.kind == "entry":
            declare = cached(
                prerequisites=lambda _: tuple(map(self.handle, item.prerequisites)),
                available_from=item.declared,
                computed_by=item.computed_by,
            )
            return declare(self._compute(number))
        if item.kind == "discrete":
            value = float(item.initial[0])
            if item.is_option:
                return modeling_option(value)
            if item.invalidates == Stage.INSTANCE:
                return parameter(value)
            return discrete(value, invalidates=item.invalidates)
        if item.sized_by is not None:
            option, start = item.sized_by, float(sum(item.initial))
            return DECLARE[item.kind](
                factory=lambda _, state: np.full(int(self.handle(option)(state)), start)
            )
        initial = item.initial
        return DECLARE[item.kind](initial[0] if len(initial) == 1 else [*map(float, initial)])

    def _compute(self, number: int) -> Callable[[Any, State], Any]:
        item = self.spec.items[number]

        def compute(subsystem: Any, state: State) -> Any:
            self.calls.append(number)
            FUSE.pass_by()
            reads = [self.read(state, i) for i in (*item.prerequisites, *item.extras)]
            value = combined(number, reads)
            FUSE.pass_by()
            return np.array([value, 1.0]) if item.is_array else value

        return compute

    def _hook(self, subsystem: int, stage: Stage) -> Callable[[Any, State], None]:
        def hook(_: Any, state: State) -> None:
            FUSE.pass_by()
            for number in hook_reads(self.spec, subsystem, stage):
                self.seen.append((number, self.read(state, number)))
            if (stage, subsystem) in self.fails:
                self.fails.remove((stage, subsystem))
                raise HookError(stage, subsystem)
            FUSE.pass_by()

        return hook


def hook_reads(spec: Spec, subsystem: int, stage: Stage) -> list[int]:
    """What the hook of a stage reads: all that the subsystem can compute by then."""
    mine = [i for i in spec.entries() if spec.items[i].subsystem == subsystem]
    return [i for i in mine if spec.items[i].available_from <= stage]


# ---------------------------------------------------------------------- without a cache


@dataclass(repr=False, eq=False)
class Brute:
    """The variables of one State, and when what changed."""

    spec: Spec
    values: dict[int, list[float]] = field(default_factory=dict)
    stage: int = Stage.EMPTY
    stages: list[int] = field(default_factory=list)
    tick: int = 0
    changed: dict[int, int] = field(default_factory=dict)  # by item
    stage_changed: list[int] = field(default_factory=lambda: [0] * len(Stage))
    computed: dict[int, int] = field(default_factory=dict)
    unsure: set[int] = field(default_factory=set)  # computed by a realization that failed

    def start(self) -> None:
        self.stages = [Stage.EMPTY] * self.spec.count
        for i, item in enumerate(self.spec.items):
            if item.kind in ("discrete", "time"):
                self.values[i] = [float(x) for x in item.initial or (0,)]
        self.realize(Stage.MODEL)

    def _reset_continuous(self) -> None:
        self.tick += 1
        for i, item in enumerate(self.spec.items):
            if item.is_continuous:
                self.changed[i] = self.tick
            if item.kind in KINDS:
                self.values[i] = [float(x) for x in item.initial]
                if item.sized_by is not None:
                    count = int(self.values[item.sized_by][0])
                    self.values[i] = [float(sum(item.initial))] * count

    def fresh(self, number: int) -> float:
        """The sum of the values of an item, from scratch."""
        item = self.spec.items[number]
        if item.kind == "entry":
            value = combined(number, [self.fresh(i) for i in (*item.prerequisites, *item.extras)])
            return value + 1.0 if item.is_array else value
        if item.kind == "whole":
            return sum(self.fresh(i) for i in self.spec.members(number))
        return sum(self.values[number])

    def is_valid(self, number: int) -> bool:
        changes = [self.changed.get(i, 0) for i in self.spec.upstream(number)]
        available_from = self.spec.items[number].available_from
        latest = max([*changes, *self.stage_changed[: available_from + 1]])
        return self.computed.get(number, -1) >= latest

    def is_readable(self, number: int) -> bool:
        upstream = [self.spec.items[i] for i in self.spec.upstream(number)]
        return all(
            self.stages[x.subsystem or 0] >= x.available_from for x in upstream if x.kind == "entry"
        )

    def read(self, number: int, calls: list[int]) -> None:
        """Note which entries a read computes."""
        item = self.spec.items[number]
        if item.kind == "entry" and not self.is_valid(number):
            for i in item.prerequisites:
                self.read(i, calls)
            calls.append(number)
            self.computed[number] = self.tick

    def realize(self, stage: int) -> list[int]:
        """Note which entries are computed."""
        calls: list[int] = []
        for g in range(self.stage + 1, stage + 1):
            for s in range(self.spec.count):
                if self.stages[s] >= g:
                    continue
                if g in self.spec.hooks[s]:
                    for i in hook_reads(self.spec, s, STAGES[g]):
                        self.read(i, calls)
                for i in self.spec.entries():
                    item = self.spec.items[i]
                    if item.subsystem == s and item.computed_by == g:
                        self.read(i, calls)
            if g == Stage.TOPOLOGY:  # from now on the time is 0, and no longer NaN
                self.tick += 1
                self.changed[0] = self.tick
            if g == Stage.MODEL:
                self._reset_continuous()
            self.stage = g
            self.stages = [g] * self.spec.count
        return calls

    def write(self, number: int, values: list[float]) -> None:
        item = self.spec.items[number]
        self.tick += 1
        written = [number]
        if item.is_continuous:
            kind = item.name if item.kind == "whole" else item.kind
            members = self.spec.members(number) if item.kind == "whole" else [number]
            for i, other in enumerate(self.spec.items):
                is_overlapping = item.subsystem is None or other.subsystem in (None, item.subsystem)
                if other.kind == "whole" and other.name == kind and is_overlapping:
                    written.append(i)
            written += members
            for i in members:
                own = len(self.values[i])
                self.values[i], values = values[:own], values[own:]
        else:
            self.values[number] = values
        for i in written:
            self.changed[i] = self.tick
        self._back_up(item.invalidates)

    def invalidate(self, number: int) -> None:
        self.tick += 1
        self.changed[number] = self.tick

    def invalidate_all(self, stage: Stage) -> None:
        if max(self.stages) >= stage:
            self.tick += 1
            self._back_up(stage)

    def _back_up(self, stage: Stage) -> None:
        self.stage_changed[stage] = self.tick
        self.stage = min(self.stage, stage - 1)
        self.stages = [min(at, stage - 1) for at in self.stages]

    def copied(self) -> None:
        """Become what a copy is."""
        self.tick += 1
        self.stage_changed[Stage.TIME] = self.tick
        self.stage = min(self.stage, Stage.INSTANCE)
        self.stages = [min(at, Stage.INSTANCE) for at in self.stages]
