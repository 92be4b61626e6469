"""Pickling of Systems; `snapshot` pickles their States.

A System has an identity, and so has its content, until the content changes. Both travel with it:
unpickled where a System of that content is known, the result is that System. States that come one
by one thus belong to the same System.
"""

from typing import Any, Final
from uuid import uuid4
from weakref import WeakValueDictionary

from stagecache.system.declare.subsystem import Subsystem

KNOWN: Final[WeakValueDictionary[str, Any]] = WeakValueDictionary()
"""The Systems that were pickled or unpickled here, by content."""


TRANSIENT: Final = frozenset(
    {
        *("_allocating", "_content", "_default", "_events", "_identity"),
        *("_hooks", "_is_allocating", "_schedule", "_schedule_of_rates", "_driven"),
        *("_triggers", "_known_names", "_next_numbers"),
        *("_states", "_statistics", "_subsystems", "_topology_version", "_variables"),
    }
)
"""The attributes of a System that do not travel, or travel in another form."""


def identify(system: Any) -> None:
    """Give the content of a System its identity, by which forked processes know it, too."""
    system._content = system._content or uuid4().hex
    KNOWN[system._content] = system


def reduce_system(system: Any) -> Any:
    """Return the call that makes the System, and its content, for pickle.

    Subsystems are made empty together with it, since they refer to it and to each other.
    """
    identify(system)
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
    """Return the System of that content: the known one, or a new one, to be completed."""
    known = KNOWN.get(content)
    if known is not None and known._content == content:
        return known
    system = cls.__new__(cls)
    system._start("", identity, topology_version)
    system._content = content
    system._subsystems = [subsystem.__new__(subsystem) for subsystem in types]
    for x, subsystem in enumerate(system._subsystems):
        subsystem._adopted(system, x, "")
    return system


def complete_system(system: Any, state: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """Set the content of a System that was restored, unless it was known already."""
    if "_version" in system.__dict__:
        return
    own, parts = state
    for subsystem, part in zip(system._subsystems, parts, strict=True):
        subsystem.__setstate__(part)
    system.__dict__.update(own)
    KNOWN[system._content] = system
