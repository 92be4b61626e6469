"""Taking Systems to other processes; `snapshot` takes their States.

A System has an identity, and so has what it contains, until that changes. Both travel with it:
unpickled where a System of that content is known, it is the System that is there, so that States
which come one by one belong to the same one.
"""

from typing import Any, Final
from uuid import uuid4
from weakref import WeakValueDictionary

from stagecache.system.core.abstract_system import AbstractSystem
from stagecache.system.declare.subsystem import Subsystem

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
