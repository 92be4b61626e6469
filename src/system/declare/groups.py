"""Groups of prerequisites: all variables of a kind, of one subsystem or of the whole System.

A group stands for the variables that there are when the topology is realized, so one that is added
later is among them::

    @cached(prerequisites=ALL)                                  all that can be written
    @cached(prerequisites=lambda self: (self.all_parameters,))  all parameters of this subsystem
    @cached(prerequisites=lambda self: (self.cart.all_variables, self.q))

A group names variables, not entries: what is computed follows from these.
"""

from collections.abc import Iterator
from typing import Any, Final, final

from stagecache.state.handles import AbstractHandle, DiscreteVariable
from stagecache.state.stage import Stage

VECTORS: Final = ("q", "u", "z")

SPANS: Final = {
    "all_parameters": range(Stage.INSTANCE, Stage.INSTANCE + 1),
    "all_discrete": range(Stage.INSTANCE + 1, Stage.INFINITY),
    "all_variables": range(Stage.EMPTY, Stage.INFINITY),
}
"""Stages that the discrete variables of a group invalidate, by its name."""


@final
class Group:
    """All variables of a kind, as a prerequisite.

    Parameters
    ----------
    name : str
        "all_parameters", "all_discrete" or "all_variables".
    subsystem : Subsystem, optional
        By default, the System of the computation: then the time belongs to it.
    """

    __slots__ = ("_name", "_subsystem")

    def __init__(self, name: str, subsystem: Any = None) -> None:
        self._name = name
        self._subsystem = subsystem

    def handles(self, reader: Any) -> Iterator[AbstractHandle]:
        """Return the variables, for a computation of a subsystem that belongs to a System."""
        if self._subsystem is not None:
            yield from self._of(self._subsystem)
            return
        system = reader.system
        yield from (system.time, system.q, system.u, system.z)
        for subsystem in system.subsystems:
            yield from self._discrete(subsystem)

    def _of(self, subsystem: Any) -> Iterator[AbstractHandle]:
        if self._name == "all_variables":
            yield from (subsystem.q, subsystem.u, subsystem.z)
        yield from self._discrete(subsystem)

    def _discrete(self, subsystem: Any) -> Iterator[AbstractHandle]:
        for declared in subsystem.declarations.values():
            for handle in declared.items(subsystem) if declared.is_variable else ():
                if isinstance(handle, DiscreteVariable) and handle.invalidates in SPANS[self._name]:
                    yield handle

    def __repr__(self) -> str:
        return "ALL" if self._subsystem is None else f"{self._subsystem.name}.{self._name}"


ALL: Final = Group("all_variables")
"""All that can be written: the time, q, u and z, and all declared discrete variables.

As the prerequisites of a computation that does not say on what it depends, it is correct and slow:
each write makes the value stale. `profile` and strict mode suggest the precise prerequisites.
"""
