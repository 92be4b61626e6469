"""Switches of constraints and prescribed motion: bools of a State that turn them on and off.

::

    is_tied = parameter(True)

    @position_error(enabled=is_tied)      no rows where is_tied is False; they come back
    def rod(self, state): ...             when it is True, and Instance is realized

The switch is a bool variable that invalidates Instance or Model, so a write of it invalidates all
that depends on the items it switches. A family has one switch for all items, or a family of as many
switches, one for each item.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stagecache.errors import DeclarationError, NotANumberError, short_repr
from stagecache.state.handles import NO_NUMBER, DiscreteVariable
from stagecache.state.stage import Stage
from stagecache.system.declare.declaration import AbstractDeclaration, item_of

Enabling = AbstractDeclaration[DiscreteVariable[bool]] | None
"""The declared switch, or a family of switches; None: always enabled."""


def check_enabling(enabled: Any, what: str, *, in_family: bool = False) -> Enabling:
    """Return the argument `enabled`, if it is a switch.

    Parameters
    ----------
    enabled : object
    what : str
        The thing that it switches, named in errors.
    in_family : bool
        True for a family, which may have a switch for each item.

    Raises
    ------
    DeclarationError
        It is not a declared discrete variable, its first value is not a bool, or a write of it
        does not invalidate Instance; or it is a family, and `what` is not.
    """
    if enabled is None:
        return None
    switch = item_of(enabled)
    if not isinstance(enabled, AbstractDeclaration) or not _is_early_variable(switch):
        expected = "a declared variable that holds a bool and invalidates Instance or Model"
        got = f"an object of type {type(enabled).__name__}"
        if isinstance(getattr(switch, "invalidates", None), Stage):
            got = f"one that invalidates {switch.invalidates}"
    elif switch is not enabled and not in_family:
        expected, got = "one switch, as it is not a family", "a family of switches"
    else:
        initial: Any = getattr(switch, "initial", None)
        if initial.factory is not None or isinstance(initial.value, bool | np.bool_):
            return enabled
        expected = "a variable that holds a bool"
        got = f"one that starts with {short_repr(initial.value)}"
    raise DeclarationError(
        f"{what}: cannot be enabled by {short_repr(enabled)}",
        expected,
        got,
        "declare is_enabled = parameter(True) in the class, and write enabled=is_enabled",
    )


def check_enabling_in(
    cls: type, declared: AbstractDeclaration[Any], found: Mapping[str, AbstractDeclaration[Any]]
) -> None:
    """Refuse a declaration enabled by something that its class does not declare as a switch.

    Parameters
    ----------
    cls : type
    declared : AbstractDeclaration
    found : dict of str to AbstractDeclaration
        All that the class declares and inherits.

    Raises
    ------
    DeclarationError
    """
    enabled = declared.enabled
    if enabled is None:
        return
    if enabled.name not in found or enabled.owner not in cls.__mro__:
        raise DeclarationError(
            f"{cls.__name__}.{declared.name}: enabled by something that the class does not declare",
            f"a variable that {cls.__name__} declares or inherits",
            f"{enabled}",
            "declare a parameter(True) in the same class, and name that",
        )
    what = f"{cls.__name__}.{declared.name}"
    check_enabling(found[enabled.name], what, in_family=item_of(declared) is not declared)


def check_number_of_switches(declared: Any, subsystem: Any, count: int) -> None:
    """Refuse a family of switches of another number than there are items.

    Parameters
    ----------
    declared : AbstractDeclaration
        The family that is switched.
    subsystem : Subsystem
    count : int
        The number of its items there.

    Raises
    ------
    DeclarationError
    """
    if declared.enabled is None:
        return
    switches: Any = getattr(subsystem, declared.enabled.name)
    if isinstance(switches, Sequence) and len(switches) != count:
        raise DeclarationError(
            f"{subsystem.name}.{declared.name}: has another number of items than of switches",
            f"{count} switches, one for each item, or a single one",
            f"{len(switches)} in {subsystem.name}.{declared.enabled.name}",
            "declare both families with the same count=",
        )


def is_enabled(enabled: Enabling, subsystem: Any, state: Any, number: int = NO_NUMBER) -> bool:
    """Tell whether something is switched on in a State, which has reached Topology. Cost O(1).

    Parameters
    ----------
    enabled : Enabling
    subsystem : Subsystem
    state : State
    number : int
        The number of the item in a family.

    Raises
    ------
    NotANumberError
        The switch does not hold a bool.
    """
    if enabled is None:
        return True
    handle: Any = getattr(subsystem, enabled.name)
    if isinstance(handle, Sequence):  # a family
        handle = handle[number]
    return switched_on(handle, state)


def switched_on(switch: DiscreteVariable[bool], state: Any) -> bool:
    """Return the value of a switch in a State.

    Raises
    ------
    NotANumberError
        It is not a bool: writes of a switch are not checked.
    """
    value: Any = switch(state)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise NotANumberError(
        f"{switch}: not a bool",
        "a bool, as it switches something on and off",
        short_repr(value),
        f"call {switch}.set(state, True), or with False",
    )


def _is_early_variable(declared: Any) -> bool:
    invalidates = getattr(declared, "invalidates", None)
    return declared.is_variable and isinstance(invalidates, Stage) and invalidates <= Stage.INSTANCE
