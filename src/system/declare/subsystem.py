"""The Subsystem, a part of a model: its variables, and the computation of all else."""

import copyreg
from collections.abc import Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from stagecache.errors import AdoptionError, DeclaredNameError
from stagecache.state.display import snake_case
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    ContinuousVariable,
    TimeVariable,
)
from stagecache.state.items.realization import new_wholes
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.declare.class_declarations import declarations_of
from stagecache.system.declare.declaration import AbstractDeclaration
from stagecache.system.declare.groups import Group

if TYPE_CHECKING:
    from stagecache.system.core.system import System
    from stagecache.system.events.events import EventAction


class Subsystem:
    """A part of a model, to be subclassed.

    A subclass declares its items as class attributes, and overrides hooks where computing an item
    when it is read is not enough. It needs no ``__init__``; if it has one, that need not call
    this one. Values that vary are in States: once the subsystem is part of a System, assigning one
    of its attributes is a change of topology, which makes all States of the System useless.

    Examples
    --------
    >>> import math
    >>> from stagecache import State, Subsystem, System, cached, parameter, q_variable
    >>> class Pendulum(Subsystem):
    ...     length = parameter(2.0)
    ...     angle = q_variable(0.0)
    ...
    ...     @cached(prerequisites=(length, angle))
    ...     def height(self, state: State) -> float:
    ...         return -self.length(state) * math.cos(self.angle(state))
    >>> pendulum = Pendulum()
    >>> state = System(pendulum).new_state()
    >>> pendulum.height(state)
    -2.0
    >>> pendulum.angle.set(state, math.pi)
    >>> pendulum.height(state)
    2.0
    """

    version: str = ""
    """A text of the author's choice; a State can be read only by the version that wrote it."""

    declarations: ClassVar[Mapping[str, AbstractDeclaration[Any]]] = MappingProxyType({})
    """Declarations of the class by name, in order: inherited ones come first."""

    _fills_rates: ClassVar[bool] = False
    """True for a class whose hooks compute qdot and qdotdot of all its q, with mass or without."""

    _system: "System | None" = None
    _index = -1
    _name = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.declarations = MappingProxyType(declarations_of(cls, Subsystem))

    # ------------------------------------------------------------------ where it is

    @property
    def name(self) -> str:
        """The name in the System; before it is adopted, the name that it would get."""
        return self._name or snake_case(type(self).__name__)

    @property
    def index(self) -> int:
        """The index in the System.

        Raises
        ------
        AdoptionError
            It has no System.
        """
        return self.__index__()

    def __index__(self) -> int:
        _ = self.system  # raises without one
        return self._index

    @property
    def system(self) -> "System":
        """The System to which it belongs.

        Raises
        ------
        AdoptionError
            It has no System.
        """
        if self._system is not None:
            return self._system
        raise AdoptionError(
            f"{self!r}: has no System",
            "a subsystem of a System",
            "one without a System",
            "write System(subsystem), or call system.add(subsystem)",
        )

    @property
    def is_adopted(self) -> bool:
        """True if it belongs to a System."""
        return self._system is not None

    def _adopted(self, system: "System", index: int, name: str) -> None:
        self.__dict__.update(_system=system, _index=index, _name=name)

    def _joined(self) -> None:
        """Note that it is among the subsystems of the System, which may take others from here."""

    def _meaning_of(self, item: str) -> str:  # noqa: ARG002  # for subclasses
        """Return what the numbers of a variable mean; a saved State is refused where it differs."""
        return ""

    def _number_names(self, of: AbstractContinuousVariable) -> tuple[str, ...]:  # noqa: ARG002  # as above
        """Return names of the numbers of a variable, for tables and messages; () without any."""
        return ()

    def _released(self) -> None:
        for attribute in ("_system", "_index", "_name"):
            del self.__dict__[attribute]

    # ------------------------------------------------------------------ handles

    @property
    def q(self) -> ContinuousVariable:
        """The handle of all its q, as a prerequisite, or to read and write them."""
        return self._wholes["q"]

    @property
    def u(self) -> ContinuousVariable:
        """The handle of all its u."""
        return self._wholes["u"]

    @property
    def z(self) -> ContinuousVariable:
        """The handle of all its z."""
        return self._wholes["z"]

    @property
    def time(self) -> TimeVariable:
        """The handle of the time of the State. Needs a System."""
        return self.system.time

    @property
    def all_parameters(self) -> Group:
        """All its declared variables that invalidate Instance, as a prerequisite."""
        return Group("all_parameters", self)

    @property
    def all_discrete(self) -> Group:
        """All its declared discrete variables that invalidate a stage after Instance."""
        return Group("all_discrete", self)

    @property
    def all_variables(self) -> Group:
        """All its q, u and z, and all its declared discrete variables, as a prerequisite."""
        return Group("all_variables", self)

    @property
    def _wholes(self) -> dict[str, ContinuousVariable]:
        found: dict[str, ContinuousVariable] | None = self.__dict__.get("_handles")
        if found is None:
            found = self.__dict__["_handles"] = new_wholes()
            for kind, handle in found.items():
                handle._declared(self, kind)
        return found

    # ------------------------------------------------------------------ hooks

    def realize_topology(self, state: State) -> None:
        """Allocate items that are not declared. Attributes of self may be assigned here."""

    def realize_model(self, state: State) -> None:
        """Allocate items that depend on modeling options. Needs Topology."""

    def realize_instance(self, state: State) -> None:
        """Compute items that depend on parameters only."""

    def realize_time(self, state: State) -> None:
        """Compute items that depend on the time."""

    def realize_position(self, state: State) -> None:
        """Compute items that depend on q."""

    def realize_velocity(self, state: State) -> None:
        """Compute items that depend on u, such as qdot.

        Where a subsystem has as many u as q, qdot is u already; with a mass matrix, it is N u. Both
        may be changed.
        """

    def realize_dynamics(self, state: State) -> None:
        """Compute items that depend on z: forces, and zdot, by ``state[self].upd_zdot()``."""

    def realize_acceleration(self, state: State) -> None:
        """Compute accelerations: udot, qdotdot, multipliers.

        Where a mass matrix is declared, they are there already, and may be changed. Where qdot is
        u, qdotdot becomes udot after the hook, unless the hook writes it.
        """

    def realize_report(self, state: State) -> None:
        """Compute items that are only for output."""

    def handle_time_advanced(self, state: State) -> "EventAction | None":
        """Change the State after a step, when time has advanced for good.

        It is called if `System.has_time_advanced_events` is True. It must not write the time.
        """

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append the geometry that can be drawn from that stage on, and not before."""

    # ------------------------------------------------------------------ a const object

    if not TYPE_CHECKING:  # for which any name could be assigned, then

        def __setattr__(self, name: str, value: object) -> None:
            self._refuse_change(name, "assigned")
            object.__setattr__(self, name, value)
            if self._system is not None:
                self._system._topology_changed(f"{self.name}.{name} was assigned")

        def __delattr__(self, name: str) -> None:
            self._refuse_change(name, "deleted")
            object.__delattr__(self, name)
            if self._system is not None:
                self._system._topology_changed(f"{self.name}.{name} was deleted")

    def _refuse_change(self, name: str, how: str) -> None:
        declared = type(self).declarations.get(name)
        if declared is not None or name in ("q", "u", "z", "time"):
            handle = f"{self.name}.{name}"
            raise DeclaredNameError(
                f"{handle}: is a declared item, and cannot be {how}",
                "a value for it in a State",
                "an attribute of the model, which all States share",
                self._hint(name, is_variable=declared is None or declared.is_variable)
                if declared is None or not declared.instead
                else declared.instead.format(handle),
            )
        if self._system is not None:
            self._system._require_idle(f"{self.name}.{name}")

    def _hint(self, name: str, *, is_variable: bool) -> str:
        handle = f"{self.name}.{name}"
        if not is_variable:
            return f"it is computed, by calling {handle}(state); declare it anew in a subclass"
        if self._system is not None:
            return f"call {handle}.set(state, value)"
        return (
            f"call {handle}.set(state, value); for a first value of this instance, assign "
            f"self.first_{name}, and declare it with factory=lambda self: self.first_{name}"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes but its own handles, which are made anew after unpickling."""
        found: Any = object.__getstate__(self)
        if isinstance(found, tuple):  # of a class with slots
            found = (found[0] or {}) | found[1]
        own = self.declarations.keys() | {"_handles"}
        return {k: v for k, v in (found or {}).items() if k not in own and not _is_allocated(v)}

    def __reduce__(self) -> Any:
        if self._system is not None:
            return _subsystem_of, (self._system, self._index)
        return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]  # it is there

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Subsystem":
        """Return itself if it belongs to a System; else a copy."""
        if self.is_adopted:
            return self
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__setstate__(deepcopy(self.__getstate__(), memo))
        return twin

    def __repr__(self) -> str:
        where = f" of {self.system.name!r}" if self.is_adopted else ", which has no System"
        return f"{type(self).__name__}({self.name!r}{where})"


def _is_allocated(value: object) -> bool:
    """Return whether a value consists of handles that a hook allocated, and will allocate again."""
    if isinstance(value, dict):
        return _is_allocated(tuple(value.values()))
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_allocated, value))
    return isinstance(value, AbstractHandle) and value._owner is None


def _subsystem_of(system: Any, index: int) -> "Subsystem":
    return system.subsystems[index]  # type: ignore[no-any-return]  # a Subsystem
