"""What the demonstration does to its model, and what came of it each time.

The model is `pendulum.py`, a link to the example of that name. It knows nothing of being watched:
that an entry was computed is seen from its version, that a stage was realized from the statistics
of the System, and that a value is valid from `is_realized`::

    observe:   versions, counts  ->  action  ->  versions, counts, stage, values
"""

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any, Final

import numpy as np
from attrs import frozen

from stagecache.demo.pendulum import Anchor, Pendulum
from stagecache.errors import DerivedNodeError, OutOfRangeError, UnknownItemError
from stagecache.state import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
    Stage,
    State,
)
from stagecache.state.vectors import CONTINUOUS
from stagecache.system import Subsystem, System
from stagecache.system.computations import AbstractComputation

STAGES_WITH_HOOKS: Final = tuple(Stage)[Stage.TOPOLOGY : Stage.INFINITY]

READ_AT: Final = Stage.VELOCITY
"""Where the State is when it is read and written: all entries of the model can be computed."""


@frozen
class Part:
    """A subsystem, and what its class says."""

    subsystem: Subsystem
    variables: tuple[AbstractHandle, ...]
    stages: dict[AbstractHandle, Stage]
    """By variable: what a write makes stale, and what comes after it."""

    entries: tuple[CacheEntry[Any], ...]
    hooks: dict[Stage, str]
    """What it overrides, by the stage whose realization calls it."""


@frozen
class Model:
    """The System of the demonstration."""

    system: System
    parts: tuple[Part, ...]
    """Without the default subsystem."""

    named_stages: dict[AbstractHandle, Stage]
    """On which entries depend by declaration, beside their prerequisites."""

    read: tuple[CacheEntry[Any], ...]
    """The entries that the demonstration reads: those on which no other depends."""

    @property
    def variables(self) -> tuple[AbstractHandle, ...]:
        """Those of all parts."""
        return tuple(variable for part in self.parts for variable in part.variables)

    @property
    def entries(self) -> tuple[CacheEntry[Any], ...]:
        """Those of all parts."""
        return tuple(entry for part in self.parts for entry in part.entries)


@frozen
class Step:
    """What was done to a State, what that computed, and how the State was afterwards."""

    command: str
    result: object
    realized: tuple[Stage, ...]
    computed: tuple[CacheEntry[Any], ...]
    """Each after what it depends on."""

    stage: Stage
    values: dict[AbstractHandle, object]
    """Of all variables, and of the entries that are realized."""

    versions: dict[AbstractHandle, int]
    """Of all variables and entries."""


@frozen
class Demonstration:
    """All steps, in order."""

    start: Step
    realize: Step
    first: tuple[Step, ...]
    second: tuple[Step, ...]
    write: Step
    climb: tuple[Step, ...]
    """One for each stage that was realized."""

    udot: Step
    last: tuple[Step, ...]


def build_model() -> Model:
    """Build the model. Its topology is not realized yet."""
    pendulum = Pendulum()
    anchor = Anchor(pendulum)
    subsystems = pendulum, anchor
    named_stages = {
        handle: declaration.depends_on
        for subsystem in subsystems
        for declaration in type(subsystem).declarations.values()
        if isinstance(declaration, AbstractComputation) and declaration.depends_on is not None
        for handle in declaration.items(subsystem)
    }
    return Model(
        System(pendulum, anchor=anchor),
        tuple(map(_part, subsystems)),
        named_stages,
        (anchor.torque, pendulum.kinetic_energy),
    )


def _part(subsystem: Subsystem) -> Part:
    cls = type(subsystem)
    declared = [
        (declaration.is_variable, handle)
        for declaration in cls.declarations.values()
        for handle in declaration.items(subsystem)
    ]
    variables = tuple(handle for is_variable, handle in declared if is_variable)
    hooks = {stage: f"realize_{stage.name.lower()}" for stage in STAGES_WITH_HOOKS}
    return Part(
        subsystem,
        variables,
        {variable: _stage_of(variable) for variable in variables},
        tuple(handle for _, handle in declared if isinstance(handle, CacheEntry)),
        {s: name for s, name in hooks.items() if getattr(cls, name) != getattr(Subsystem, name)},
    )


def _stage_of(variable: AbstractHandle) -> Stage:
    if isinstance(variable, AbstractContinuousVariable):
        stage = CONTINUOUS[variable.kind].invalidates
        assert stage is not None
        return stage
    assert isinstance(variable, DiscreteVariable)
    return variable.invalidates


def observe(model: Model, state: State, command: str, action: Callable[[], object]) -> Step:
    """Do something to a State and note what comes of it, without computing anything more."""
    counts = {stage: model.system.statistics.num_realizations(stage) for stage in Stage}
    versions = {entry: entry.version(state) for entry in model.entries}
    result = action()
    valid = [entry for entry in model.entries if entry.is_realized(state)]
    return Step(
        command,
        result,
        tuple(s for s, n in counts.items() if model.system.statistics.num_realizations(s) > n),
        _ordered(
            [entry for entry, version in versions.items() if entry.version(state) > version], state
        ),
        state.stage,
        {handle: handle(state) for handle in (*model.variables, *valid)},
        {handle: handle.version(state) for handle in (*model.variables, *model.entries)},
    )


def demonstrate(model: Model, name: str, value: float) -> Demonstration:
    """Read twice, write a variable, realize Acceleration stage by stage, and read again.

    Raises
    ------
    UnknownItemError, DerivedNodeError
        There is no variable of that name.
    OutOfRangeError
        With that value, the model cannot be computed.
    """
    variable = find_variable(model, name)
    system = model.system
    state = system.realize_topology().copy()

    def read_all() -> tuple[Step, ...]:
        return tuple(
            observe(model, state, f"{entry}(state)", partial(entry, state)) for entry in model.read
        )

    def realize(stage: Stage) -> Step:
        command = f"system.realize(state, Stage.{stage.name})"
        return observe(model, state, command, lambda: system.realize(state, stage))

    start = observe(model, state, "", lambda: None)
    realized = realize(READ_AT)
    first, second = read_all(), read_all()
    command = f"{variable}.set(state, {value:g})"
    write = observe(model, state, command, lambda: variable.set(state, value))
    climb: list[Step] = []
    try:
        while state.stage < Stage.ACCELERATION:
            climb.append(realize(state.stage.next()))
        udot = observe(model, state, "state.udot", lambda: np.array(state.udot))
        last = read_all()
    except ArithmeticError as error:
        raise OutOfRangeError(
            f"{variable}: the model cannot be computed with this value",
            f"one with which stage {state.stage.next()} can be realized",
            f"{value:g}, which gives {type(error).__name__}: {error}",
            f"write another, as in --write {name} {start.values[variable]}",
        ) from error
    return Demonstration(start, realized, first, second, write, tuple(climb), udot, last)


def find_variable(model: Model, name: str) -> Any:  # a handle with `set`, of one of several types
    """The variable that a subsystem declares under a name.

    Raises
    ------
    UnknownItemError
        No subsystem declares anything of that name.
    DerivedNodeError
        What is declared is an entry.
    """
    for handle in model.variables:
        if handle.name == name:
            return handle
    names = [handle.name for handle in model.variables]
    for entry in model.entries:
        if entry.name == name:
            raise DerivedNodeError(
                f"{entry}: cannot be written",
                "a variable",
                "an entry, which is computed",
                f"write one of {', '.join(names)}",
            )
    close = get_close_matches(name, names, n=1)
    raise UnknownItemError(
        f"{model.system!r}: has no variable of that name",
        f"one of {', '.join(names)}",
        repr(name),
        f"did you mean {close[0]!r}?" if close else "use a name of that list",
    )


def _ordered(entries: list[CacheEntry[Any]], state: State) -> tuple[CacheEntry[Any], ...]:
    """Put each after those on which it depends."""
    found: list[CacheEntry[Any]] = []

    def visit(entry: CacheEntry[Any]) -> None:
        for above in entry.prerequisites(state):
            if isinstance(above, CacheEntry):
                visit(above)
        if entry in entries and entry not in found:
            found.append(entry)

    for entry in entries:
        visit(entry)
    return tuple(found)
