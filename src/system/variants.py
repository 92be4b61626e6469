"""What kind of declaration a cache entry comes from, in a word."""

from typing import Any, Final

from stagecache.state.handles import CacheEntry
from stagecache.state.vectors import QERR, UERR
from stagecache.system.auto_update import UpdateDeclaration
from stagecache.system.constraint_errors import BiasDeclaration
from stagecache.system.constraint_jacobians import JacobianDeclaration
from stagecache.system.declaration import AbstractDeclaration
from stagecache.system.error_rows import AbstractErrors
from stagecache.system.event_triggers import TriggerDeclaration
from stagecache.system.fast_variables import EquilibriumDeclaration
from stagecache.system.normalization import NormalizationDeclaration
from stagecache.system.prescribed import AbstractMotion

ERRORS: Final = {QERR.name: "position_error", UERR.name: "velocity_error"}


def variant_of(entry: CacheEntry[Any]) -> str:
    """What its decorator is called: "cached", "position_error" and so on."""
    owner = entry._owner
    for declared in () if owner is None else type(owner).declarations.values():
        if _declares(declared, entry):
            return _variant(declared)
    return "update" if entry._declared_as.endswith(".update") else "cached"


def _declares(declared: AbstractDeclaration[Any], entry: CacheEntry[Any]) -> bool:
    if isinstance(declared, UpdateDeclaration):
        return entry._declared_as == f"{declared.of.name}.update"
    return declared.name == entry._declared_as


def _variant(declared: AbstractDeclaration[Any]) -> str:
    if isinstance(declared, BiasDeclaration):
        return "bias"
    if isinstance(declared, NormalizationDeclaration):
        return "normalization_error"
    if isinstance(declared, AbstractErrors):
        return ERRORS.get(declared.kind.name, "acceleration_error")
    if isinstance(declared, TriggerDeclaration):
        return "event_trigger"
    if isinstance(declared, JacobianDeclaration):
        return "jacobian"
    item = getattr(declared, "item", declared)
    if isinstance(item, AbstractMotion):
        return f"prescribed {item.role}" if item.role == "acceleration" else "prescribed"
    if isinstance(item, EquilibriumDeclaration):
        return "equilibrium"
    return "update" if isinstance(declared, UpdateDeclaration) else "cached"
