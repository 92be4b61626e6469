"""Taking Systems and States to other processes.

A System has an identity, and so has what it contains, until that changes. Both travel with it:
unpickled where a System of that content is known, it is the System that is there, so that States
which come one by one belong to the same one. A State travels as its variables; what is computed
from them is computed again where it arrives.
"""

from typing import Any, Final
from uuid import uuid4
from weakref import WeakValueDictionary

from attrs import frozen

from stagecache.errors import TopologyVersionError
from stagecache.state.contents import Contents
from stagecache.state.handles import AbstractHandle, DiscreteVariable, Vector
from stagecache.state.layout import Layout
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors import WEIGHTS, VectorKind, Y
from stagecache.system.abstract_system import AbstractSystem
from stagecache.system.subsystem import Subsystem

INSTANCE, MODEL = Stage.INSTANCE, Stage.MODEL

KNOWN: Final[WeakValueDictionary[str, Any]] = WeakValueDictionary()
"""The Systems that came here or went away, by content; the one thing that all code shares."""


TRANSIENT: Final = frozenset(
    {
        *("_allocating", "_content", "_default", "_events", "_handling", "_identity"),
        *("_is_allocating", "_schedule"),
        *("_states", "_statistics", "_subsystems", "_topology_version", "_variables"),
    }
)
"""The attributes of a System that do not travel, or not as they are."""

# ---------------------------------------------------------------------- Systems


def reduce_system(system: Any) -> Any:
    """What pickle asks for: how to make the System, and what is in it.

    Subsystems are made empty together with it, since they refer to it and to each other.
    """
    system._content = system._content or uuid4().hex
    KNOWN[system._content] = system
    types = tuple(type(subsystem) for subsystem in system._subsystems)
    made_of = (type(system), system._identity, system._content, system._topology_version, types)
    own = {k: v for k, v in system.__dict__.items() if k not in TRANSIENT}
    parts = [subsystem.__getstate__() for subsystem in system._subsystems]
    return restore_system, made_of, (own, parts)


def restore_system(
    cls: Any,
    identity: str,
    content: str,
    topology_version: int,
    types: tuple[type[Subsystem], ...],
) -> Any:
    """The System of that content: the one that is known, or a new one, to be completed."""
    known = KNOWN.get(content)
    if known is not None and known._content == content:
        return known
    system = cls.__new__(cls)
    AbstractSystem.__init__(system, "")
    system._start(identity, topology_version)
    system._content = content
    system._subsystems = [subsystem.__new__(subsystem) for subsystem in types]
    for x, subsystem in enumerate(system._subsystems):
        subsystem._adopted(system, x, "")
    return system


def complete_system(system: Any, state: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """Put into a System that was restored what is in it, unless it was known already."""
    if "_version" in system.__dict__:
        return
    own, parts = state
    for subsystem, part in zip(system._subsystems, parts, strict=True):
        subsystem.__setstate__(part)
    system.__dict__.update(own)
    KNOWN[system._content] = system


# ---------------------------------------------------------------------- States


@frozen(eq=False)
class Snapshot:
    """The variables of a State, and how often each was written."""

    subsystems: list[tuple[str, str]]
    """Their names and versions."""

    stage: Stage
    time: float
    vectors: dict[str, Vector]
    """y, and the weights, as far as they exist."""

    discrete: list[list[tuple[Any, float]]]
    """By subsystem: the values, each with its update time."""

    versions: list[int]
    """Of all variables, in the order of `_variable_nodes`."""

    left: tuple[list[int], list[int], list[list[int]]]
    """How often stages were left, as in `StageVersions`."""


def snapshot(state: State) -> Snapshot:
    """What of a State travels: that of a copy."""
    contents = state.copy()._contents
    realization = contents.realization
    store, layout = realization.store, realization.layout
    return Snapshot(
        [(subsystem.name, subsystem.version) for subsystem in layout.subsystems],
        Stage(realization.stage),
        contents.time,
        {k.name: contents.pools.whole[k.name] for k in _written_vectors(realization.stage)},
        [
            [(store.values[v._node], contents.update_time(v)) for v in subsystem.discrete]
            for subsystem in layout.subsystems
        ],
        [store.versions[node] for node in _variable_nodes(layout)],
        (realization.versions.system, realization.versions.together, realization.versions.alone),
    )


def restore_state(system: Any, taken: Snapshot) -> State:
    """A State of the System with those variables.

    Raises
    ------
    TopologyVersionError
        The System has other subsystems, or other versions of them.
    """
    state: State = system.realize_topology().copy()
    contents = state._contents
    here = [
        (subsystem.name, subsystem.version) for subsystem in contents.realization.layout.subsystems
    ]
    if here != taken.subsystems:
        raise TopologyVersionError(
            f"a State of {system!r}: was pickled by another version of it",
            "subsystems with names and versions " + ", ".join(map(str, here)),
            ", ".join(map(str, taken.subsystems)),
            "unpickle it with the version of the model that pickled it",
        )
    _write_discrete(contents, taken, [Stage.EMPTY])
    if taken.stage >= MODEL:
        system.realize_model(state)
        _write_discrete(contents, taken, [Stage.TOPOLOGY])
    state.time = taken.time
    if taken.stage >= INSTANCE:
        system.realize(state, INSTANCE)
    state.invalidate_all(taken.stage.next())
    for kind in _written_vectors(taken.stage):
        contents.assign_vector(kind, None, taken.vectors[kind.name])
    realization = contents.realization
    for node, version in zip(_variable_nodes(realization.layout), taken.versions, strict=True):
        realization.store.versions[node] = version
    versions = realization.versions
    versions.system, versions.together, versions.alone = taken.left
    for variable, (_, time) in _with_values(contents, taken):
        contents.update_times[variable._node] = time
    return state


def _write_discrete(contents: Contents, taken: Snapshot, allocated_at: list[Stage]) -> None:
    """Write the discrete variables that were allocated at one of these stages."""
    for variable, (value, _) in _with_values(contents, taken):
        if variable.allocated_at in allocated_at:
            contents.set_discrete(variable, value)


def _with_values(
    contents: Contents, taken: Snapshot
) -> list[tuple[DiscreteVariable[Any], tuple[Any, float]]]:
    """The discrete variables that there are, each with its value and update time."""
    return [
        pair
        for subsystem, values in zip(
            contents.realization.layout.subsystems, taken.discrete, strict=True
        )
        for pair in zip(subsystem.discrete, values, strict=False)
    ]


def _written_vectors(stage: int) -> list[VectorKind]:
    """The vectors of variables that exist at a stage."""
    return [kind for kind in (Y, *WEIGHTS) if stage >= kind.exists]


def _variable_nodes(layout: Layout) -> list[int]:
    """The nodes of all that can be written, in an order that is the same in every process."""
    handles: list[AbstractHandle] = [*layout.variables.values()]
    for subsystem in layout.subsystems:
        handles += subsystem.whole.values()
        handles += [block for blocks in subsystem.blocks.values() for block in blocks]
        handles += subsystem.discrete
    return [*layout.weights.values(), *[handle._node for handle in handles]]
