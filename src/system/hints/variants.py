"""What kind of declaration a cache entry comes from, in a word."""

from typing import Any

from stagecache.state.handles import CacheEntry
from stagecache.system.declare.auto_update import UpdateDeclaration
from stagecache.system.declare.computations import AbstractComputation
from stagecache.system.declare.declaration import AbstractDeclaration, item_of


def variant_of(entry: CacheEntry[Any]) -> str:
    """What its decorator is called: "cached", "position_error" and so on."""
    owner = entry._owner
    for declared in () if owner is None else owner.declarations.values():
        item = item_of(declared)
        if isinstance(item, AbstractComputation) and _declares(declared, entry):
            return item.decorator
    return "update" if entry._declared_as.endswith(".update") else "cached"


def _declares(declared: AbstractDeclaration[Any], entry: CacheEntry[Any]) -> bool:
    if isinstance(declared, UpdateDeclaration):
        return entry._declared_as == f"{declared.of.name}.update"
    return declared.name == entry._declared_as
