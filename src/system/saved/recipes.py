"""Recipes of shared entries: fingerprints of all that is constant while the entry exists.

::

    path, declared version, paths of prerequisites
    code          the function, and all that it uses
    attributes    of its subsystem, of subsystems that these refer to, and so on
                  of the whole System, where code or attributes refer to it
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, final

from attrs import define, field

from stagecache.sharing.code import Code, code_of, hash_of
from stagecache.sharing.function import Recipe
from stagecache.sharing.of_state import SharedStateFunction
from stagecache.state.handles import AbstractHandle
from stagecache.system.declare.computations import AbstractComputation
from stagecache.system.declare.declaration import PlannedEntry, item_of
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.saved.fingerprints import attributes_of, model_hash, unknown_attribute

SYSTEM: Final = "system"
"""Attribute by which a function finds the System, and in it any other subsystem."""

INDEX: Final = "index"
PLACE: Final = ("_system", "_index", "_name")
"""Attributes by which a subsystem knows its place in the System."""

CONSTANT: Final = (
    *(type(None), bool, int, float, complex, str, bytes),
    *(AbstractHandle, Subsystem),
)
"""Classes of attributes that are not changed in place. Those of other subsystems count as well."""


@final
@define(eq=False)
class Recipes:
    """Recipes of the shared entries of a System, for one realization of its topology.

    Attributes
    ----------
    codes : dict
        Code by declaration and subsystem: items of a family have the same.
    """

    codes: dict[tuple[int, int], Code] = field(factory=dict)

    def shared_function(
        self, entry: PlannedEntry, compute: Callable[[Any], Any]
    ) -> SharedStateFunction:
        """Return the function of a shared entry, for one that returns values in stored form."""
        handle, above = entry.handle, entry.prerequisites
        return SharedStateFunction(compute, handle, above, partial(self._recipe, handle, above))

    def _recipe(
        self, handle: AbstractHandle, above: tuple[AbstractHandle, ...], is_fresh: bool
    ) -> Recipe:
        """Return the recipe of an entry. Cost O(attributes), and of its code some milliseconds.

        `is_fresh` to look at the code again.
        """
        owner: Any = handle._owner
        declared: AbstractComputation[Any] = item_of(type(owner).declarations[handle._declared_as])
        subsystems = _referred(owner)
        parts = [_attributes_of(subsystem) for subsystem in subsystems]
        own = attributes_of(owner.system, parts)
        if own is None:
            named = [(s.name, part) for s, part in zip(subsystems, parts, strict=True)]
            unknown = unknown_attribute(owner.system, named) or owner.name
            return Recipe.unknown(f"attribute {unknown}")
        key = (id(declared), id(owner))
        code = self.codes.get(key)
        if code is None or is_fresh:
            classes = [type(subsystem) for subsystem in subsystems]
            code = code_of(declared.compute, type(owner), classes, {*own.used, *classes})
            self.codes[key] = code
        if not code.hash:
            return Recipe.unknown(code.unknown)
        whole, found_in = "", parts
        if own.has_system or SYSTEM in code.names:
            whole = model_hash(owner.system)
            own_of_system, _ = owner.system.__reduce__()[2]  # as `model_hash` takes them
            found_in = [own_of_system, *map(_attributes_of, owner.system.subsystems)]
            if not whole:
                return Recipe.unknown("an attribute or the code of another subsystem")
        names = [[s.name, type(s).__module__, type(s).__qualname__] for s in subsystems]
        index = owner.index if INDEX in code.names else -1
        paths = [str(handle), declared.version or "", *map(str, above)]
        hashed = hash_of([code.hash, own.hash, names, index, paths, whole])
        is_constant = all(_is_constant(value) for part in found_in for value in part.values())
        return Recipe(hashed, is_constant=is_constant)


def _attributes_of(subsystem: Subsystem) -> dict[str, Any]:
    """Return the attributes of a subsystem, but its place in the System."""
    return {k: v for k, v in subsystem.__getstate__().items() if k not in PLACE}


def _is_constant(value: Any) -> bool:
    """Return True for a value that cannot be changed in place, nor refer to one that can."""
    if isinstance(value, tuple | frozenset):
        return all(map(_is_constant, value))
    return isinstance(value, CONSTANT)


def _referred(subsystem: Subsystem) -> list[Subsystem]:
    """Return a subsystem, and those to which attributes refer, by name."""
    found = {subsystem.name: subsystem}
    stack = [subsystem]
    while stack:
        subsystem = stack.pop()
        attributes = attributes_of(subsystem.system, [_attributes_of(subsystem)])
        if attributes is not None:
            new = {s.name: s for s in attributes.referred if s.name not in found}
            found |= new
            stack += new.values()
    return [found[name] for name in sorted(found)]
