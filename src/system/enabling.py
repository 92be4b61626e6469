"""What can be switched off in a State: constraints, and prescribed motion.

::

    is_tied = parameter(True)

    @position_error(enabled=is_tied)      no rows where is_tied is False; they come back
    def rod(self, state): ...             when it is True, and Instance is realized

The variable that decides is a bool that invalidates Instance or Model, so a write of it takes all
back that depends on what is switched.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from stagecache.errors import DeclarationError, NotANumberError, brief
from stagecache.state.handles import DiscreteVariable
from stagecache.state.stage import Stage
from stagecache.system.declaration import AbstractDeclaration

Enabling = AbstractDeclaration[DiscreteVariable[bool]] | None
"""The declared variable that decides; None: always."""


def check_enabling(enabled: Any, what: str) -> Enabling:
    """Return what was given as `enabled`, if it can decide.

    Raises
    ------
    DeclarationError
        It is no declaration of a discrete variable, its first value is no bool, or a write of it
        does not invalidate Instance.
    """
    if enabled is None:
        return None
    if not isinstance(enabled, AbstractDeclaration) or not _is_early_variable(enabled):
        raise DeclarationError(
            f"{what}: cannot be enabled by {brief(enabled)}",
            "a declared variable that holds a bool and invalidates Instance or Model",
            f"an object of type {type(enabled).__name__}"
            if not isinstance(getattr(enabled, "invalidates", None), Stage)
            else f"one that invalidates {enabled.invalidates}",
            "declare is_enabled = parameter(True) in the class, and write enabled=is_enabled",
        )
    initial: Any = getattr(enabled, "initial", None)
    if initial.factory is None and not isinstance(initial.value, bool | np.bool_):
        raise DeclarationError(
            f"{what}: cannot be enabled by {enabled}",
            "a variable that holds a bool",
            f"one that starts with {brief(initial.value)}",
            "declare it as parameter(True), or parameter(False)",
        )
    return enabled


def check_enabling_in(
    cls: type, declared: AbstractDeclaration[Any], found: Mapping[str, AbstractDeclaration[Any]]
) -> None:
    """Refuse what is enabled by something that its class does not declare, or not as a switch.

    Parameters
    ----------
    cls : type
    declared : AbstractDeclaration
    found : dict of str to AbstractDeclaration
        What the class declares and inherits.

    Raises
    ------
    DeclarationError
    """
    enabled = declared.enabled
    if enabled is None:
        return
    if enabled.name not in found or enabled.owner not in cls.__mro__:
        raise DeclarationError(
            f"{cls.__name__}.{declared.name}: is enabled by what the class does not declare",
            f"a variable that {cls.__name__} declares or inherits",
            f"{enabled}",
            "declare a parameter(True) in the same class, and name that",
        )
    check_enabling(found[enabled.name], f"{cls.__name__}.{declared.name}")


def is_enabled(enabled: Enabling, subsystem: Any, state: Any) -> bool:
    """Whether something is switched on in a State, which has reached Topology. Cost O(1).

    Raises
    ------
    NotANumberError
        The variable that decides does not hold a bool.
    """
    if enabled is None:
        return True
    handle = getattr(subsystem, enabled.name)
    value = handle(state)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise NotANumberError(
        f"{handle}: is no truth value",
        "a bool, as it switches something on and off",
        brief(value),
        f"call {handle}.set(state, True), or with False",
    )


def _is_early_variable(declared: Any) -> bool:
    invalidates = getattr(declared, "invalidates", None)
    return declared.is_variable and isinstance(invalidates, Stage) and invalidates <= Stage.INSTANCE
