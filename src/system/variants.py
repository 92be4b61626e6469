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
from stagecache.system.kinematics import KinematicsDeclaration, PinvDeclaration
from stagecache.system.normalization import NormalizationDeclaration
from stagecache.system.prescribed import (
    PrescribedAccelerationDeclaration,
    PrescribedDeclaration,
)

VARIANTS: Final[dict[type, str]] = {
    BiasDeclaration: "bias",
    EquilibriumDeclaration: "equilibrium",
    JacobianDeclaration: "jacobian",
    KinematicsDeclaration: "kinematics",
    NormalizationDeclaration: "normalization_error",
    PinvDeclaration: "pinv",
    PrescribedAccelerationDeclaration: "prescribed acceleration",
    PrescribedDeclaration: "prescribed",
    TriggerDeclaration: "event_trigger",
    UpdateDeclaration: "update",
}
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
    item = getattr(declared, "item", declared)  # of a family
    found = VARIANTS.get(type(item))
    if found is None and isinstance(item, AbstractErrors):
        return ERRORS.get(item.kind.name, "acceleration_error")
    return found or "cached"
