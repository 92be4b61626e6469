"""Recipes of shared entries: fingerprints of all that is constant while the entry exists.

::

    path, declared version, paths of prerequisites
    code          the function, and all that it uses
    attributes    of its subsystem, and of those to which these refer, and so on
                  of the whole System, where the code looks for something in it
"""

from typing import Any, Final

from stagecache.sharing.code import Code, code_of, hash_of
from stagecache.sharing.of_state import SharedStateFunction
from stagecache.state.handles import AbstractHandle
from stagecache.system.declare.computations import AbstractComputation
from stagecache.system.declare.declaration import PlannedEntry, item_of
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.saved.fingerprints import attributes_of, model_hash

SYSTEM: Final = "system"
"""Attribute by which a function finds the System, and in it any other subsystem."""


def shared_function(entry: PlannedEntry, compute: Any) -> SharedStateFunction:
    """Return the function of a shared entry, which returns values in their stored form."""

    def recipe() -> Code:
        return recipe_of(entry.handle, entry.prerequisites)

    return SharedStateFunction(compute, entry.handle, entry.prerequisites, recipe)


def recipe_of(handle: AbstractHandle, prerequisites: tuple[AbstractHandle, ...]) -> Code:
    """Return the code of a declared entry, with the attributes on which it depends.

    Cost O(code and attributes): some milliseconds.
    """
    owner: Any = handle._owner
    declared: AbstractComputation[Any] = item_of(type(owner).declarations[handle._declared_as])
    subsystems = _referred(owner)
    own = attributes_of(owner.system, [s.__getstate__() for s in subsystems])
    if own is None:
        return Code("", f"an attribute of {_first_unknown(owner, subsystems)}", frozenset())
    classes = [type(subsystem) for subsystem in subsystems]
    code = code_of(declared.compute, type(owner), classes, {*own.used, *classes})
    whole = ""
    if SYSTEM in code.names:
        whole = model_hash(owner.system)
        if not whole:
            return Code("", "an attribute or the code of another subsystem", code.names)
    paths = [str(handle), declared.version or "", *map(str, prerequisites)]
    names = [subsystem.name for subsystem in subsystems]
    parts = [code.hash, own.hash, names, paths, whole]
    return Code(hash_of(parts) if code.hash else "", code.unknown, code.names)


def _referred(subsystem: Subsystem) -> list[Subsystem]:
    """Return a subsystem, and those to which attributes refer, by name."""
    found = {subsystem.name: subsystem}
    stack = [subsystem]
    while stack:
        attributes = attributes_of(subsystem.system, [stack.pop().__getstate__()])
        if attributes is not None:
            new = {s.name: s for s in attributes.referred if s.name not in found}
            found |= new
            stack += new.values()
    return [found[name] for name in sorted(found)]


def _first_unknown(owner: Subsystem, subsystems: list[Subsystem]) -> str:
    """Return the path of an attribute that pickle does not take."""
    for subsystem in subsystems:
        for name, value in subsystem.__getstate__().items():
            if attributes_of(owner.system, [{name: value}]) is None:
                return f"{subsystem.name}.{name}"
    return owner.name
