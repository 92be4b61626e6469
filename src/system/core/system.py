"""The System: subsystems, and the realization of States stage by stage."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from threading import RLock
from typing import Any, Generic, NoReturn, Self, SupportsIndex, TypeVar, overload
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.checks import (
    require_bool,
    require_count,
    require_name,
    require_new_name,
    require_positive,
    require_text,
    wrong_type,
)
from stagecache.decorations.coordinate_direction import CoordinateDirection
from stagecache.display.html import MOST_ROWS, heading, output, table
from stagecache.display.words import counted
from stagecache.errors import (
    AdoptionError,
    ConstModelError,
    DeclarationError,
    ForeignStateError,
    RealizationOrderError,
    StagecacheError,
    StageTooLowError,
    TopologyVersionError,
    UnknownSubsystemError,
    listed,
    short_repr,
)
from stagecache.graph.sources import Source
from stagecache.inspection.graph_view import graph_view
from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.reads import RecordedHooks
from stagecache.inspection.strict.coverage import Gap
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import DEFAULT, FROZEN, REALIZING
from stagecache.state.handles import (
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    TimeVariable,
    Vector,
)
from stagecache.state.items.realization import new_variables
from stagecache.state.refusals import check_subsystem, unknown_subsystem
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State
from stagecache.system.constraints import products
from stagecache.system.core.hooks import HookRecords
from stagecache.system.core.realizing import Schedule
from stagecache.system.core.scheduling import schedule_of
from stagecache.system.core.topology import allocate_declared, declared_handles
from stagecache.system.core.transport import complete_system, identify, reduce_system
from stagecache.system.declare import fast_variables, ports
from stagecache.system.declare.declaration import source_of
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.declare.trigger_rows import TriggerRows
from stagecache.system.declare.units import declared_units
from stagecache.system.dynamics.projected import projected_m_inv
from stagecache.system.events.default_subsystem import DefaultSystemSubsystem, kind_name
from stagecache.system.events.dispatcher import EventDispatcher
from stagecache.system.events.events import Event, EventCause, EventTriggerInfo
from stagecache.system.events.handlers import (
    AbstractEventHandler,
    AbstractEventListener,
    AbstractEventReporter,
)
from stagecache.system.events.options import HandleEventsOptions, HandleEventsResults
from stagecache.system.hints.hints import hint_of, variant_of
from stagecache.system.motion import operators, prescribing
from stagecache.system.projection.options import ProjectOptions, ProjectResults
from stagecache.system.saved.restoring import unpickled_state
from stagecache.system.saved.snapshot import snapshot
from stagecache.system.statistics import SystemStatistics
from stagecache.views.view import GraphView

MODEL, TOPOLOGY = Stage.MODEL, Stage.TOPOLOGY

G = TypeVar("G")
V = TypeVar("V")
T = TypeVar("T")
Part = TypeVar("Part", bound=Subsystem)
H = TypeVar("H", bound=AbstractEventHandler)
R = TypeVar("R", bound=AbstractEventReporter)


class Setting(Generic[G, V]):
    """A setting of a System: an attribute whose assignment is a change of topology.

    Parameters
    ----------
    default : object
    check : callable
        The function ``(value, name)`` that returns an assigned value as it is stored, or raises.
    """

    def __init__(self, default: V, check: Callable[[G, str], V]) -> None:
        self._default = default
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._key = name, f"_{name}"

    @overload
    def __get__(self, system: None, owner: type) -> Self: ...
    @overload
    def __get__(self, system: object, owner: type) -> V: ...
    def __get__(self, system: object | None, owner: type) -> Self | V:
        if system is None:
            return self
        value: V = vars(system).get(self._key, self._default)
        return value

    def __set__(self, system: "System", value: G) -> None:
        checked = self._check(value, self._name)
        system._require_idle(self._name)
        vars(system)[self._key] = checked
        system._topology_changed(f"{self._name} was set")


def _checked_direction(direction: CoordinateDirection | str, what: str) -> CoordinateDirection:
    try:
        return CoordinateDirection(direction)
    except ValueError:
        raise DeclarationError(
            f"{what}: not a direction",
            "one of " + ", ".join(map(str, CoordinateDirection)),
            short_repr(direction),
            "write CoordinateDirection.Z, or '+Z'",
        ) from None


def _checked_scale(scale: float, what: str) -> float:
    return require_positive(scale, what, "give one in SI units")


class System:
    """A model made of subsystems.

    A System is const once its topology is realized: all values that vary are in States, of which it
    serves any number. `realize_topology` makes the first one, the default State; copy it, write its
    variables, and `realize` it as far as needed.

    ::

        prescribe:   q of prescribed motion  ->  Position  ->  u of prescribed motion
        project:     the same, and after each of them the free ones are moved onto the constraints

        calc_event_trigger_info              an integrator watches the signs of triggers, ...
        calc_time_of_next_scheduled_event    ... does not step beyond that time, ...
        handle_events, report_events         ... and calls these

    Prescribed motion is set exactly and comes first: no constraint moves it.

    Parameters
    ----------
    *subsystems : Subsystem
        Named after their classes: ``DoublePendulum()`` is "double_pendulum". Where that name is
        taken, a number follows: ``System(Room(), Room())`` has "room" and "room_2".
    name : str
        The name in messages.
    version : str
        A text of the author's choice.
    **named : Subsystem
        More subsystems, with their names.

    Raises
    ------
    WrongTypeError, AdoptionError, DuplicateNameError, InvalidNameError

    Examples
    --------
    >>> from stagecache import Stage, State, Subsystem, System, q_variable, u_variable
    >>> class Cart(Subsystem):
    ...     position = q_variable(0.0)
    ...     speed = u_variable(2.0)
    >>> cart = Cart()
    >>> system = System(cart)
    >>> state = system.new_state()
    >>> system.realize(state, Stage.VELOCITY)
    >>> state.qdot
    array([2.])
    >>> cart.speed.set(state, 3.0)
    >>> state.stage
    <Stage.POSITION: 5>
    """

    def __init__(
        self, *subsystems: Subsystem, name: str = "system", version: str = "", **named: Subsystem
    ) -> None:
        self._start(require_name(name, "the name of a System"), uuid4().hex, 1)
        self._version = require_text(version, "the version of a System")
        try:
            self.add(DefaultSystemSubsystem())
            for subsystem in subsystems:
                self.add(subsystem, self._free_name(subsystem, named))
            for key, subsystem in named.items():
                self.add(subsystem, key)
        except StagecacheError:
            for subsystem in self._subsystems:
                subsystem._released()
            raise

    def _start(self, name: str, identity: str, topology_version: int) -> None:
        """Set the attributes of a System without subsystems."""
        self._name = name
        self._identity = identity
        self._topology_version = topology_version
        self._subsystems: list[Subsystem] = []
        self._known_names: set[str] = set()
        self._next_numbers: dict[str, int] = {}  # by name of a class: the first that may be free
        self._variables = new_variables()
        for attribute, handle in self._variables.items():
            handle._declared(self, attribute)
        self._statistics = SystemStatistics()
        self._events = EventDispatcher(self)
        self._hooks = HookRecords()
        self._sources: dict[CacheEntry[Any], Any] = {}  # of inputs, but for defaults
        self._default: State | None = None
        self._schedule = Schedule([], 0)
        self._schedule_of_rates = Schedule([], 0)  # without event triggers
        self._triggers = TriggerRows([])
        self._driven: list[Subsystem] = []  # in any of its States
        self._content = ""  # the identity of the present content, once its topology is realized
        self._allocating = RLock()  # its holder makes the default State
        self._is_allocating = False
        self._states: WeakValueDictionary[int, State] = WeakValueDictionary()

    # ------------------------------------------------------------------ settings

    up_direction = Setting[CoordinateDirection | str, CoordinateDirection](
        CoordinateDirection.Y, _checked_direction
    )
    """The upward direction, for drawings; +Y. Assigning it is a change of topology.

    Raises
    ------
    DeclarationError
        The value is not a direction.
    """

    use_uniform_background = Setting[bool, bool](False, require_bool)
    """True to draw the model without a ground; False by default. As `up_direction`."""

    default_time_scale = Setting[float, float](0.1, _checked_scale)
    """A time in which the model changes noticeably [s]; 0.1. Assigning it is a change of topology.

    Raises
    ------
    OutOfRangeError, NotANumberError
        The value is not a positive number.
    """

    default_length_scale = Setting[float, float](1.0, _checked_scale)
    """A length of the order of the model's parts [m]; 1. As `default_time_scale`."""

    has_time_advanced_events = Setting[bool, bool](False, require_bool)
    """True to call `Subsystem.handle_time_advanced`; False by default. As `up_direction`."""

    @property
    def name(self) -> str:
        """The name in messages."""
        return self._name

    @property
    def version(self) -> str:
        """The version of the model: a text of the author's choice."""
        return self._version

    # ------------------------------------------------------------------ variables

    @property
    def time(self) -> TimeVariable:
        """The handle of the time."""
        handle = self._variables["time"]
        assert isinstance(handle, TimeVariable)
        return handle

    @property
    def q(self) -> ContinuousVariable:
        """The handle of the whole q."""
        return self._whole("q")

    @property
    def u(self) -> ContinuousVariable:
        """The handle of the whole u."""
        return self._whole("u")

    @property
    def z(self) -> ContinuousVariable:
        """The handle of the whole z."""
        return self._whole("z")

    def _whole(self, kind: str) -> ContinuousVariable:
        handle = self._variables[kind]
        assert isinstance(handle, ContinuousVariable)
        return handle

    # ------------------------------------------------------------------ subsystems

    def add(self, subsystem: Part, name: str | None = None) -> Part:
        """Make a subsystem part of the System, and return it. A change of topology.

        Parameters
        ----------
        subsystem : Subsystem
            Without a System.
        name : str, optional
            The default is the name of its class, in snake case; with a number where that is taken:
            "room", "room_2", "room_3".

        Raises
        ------
        WrongTypeError, AdoptionError, DuplicateNameError, InvalidNameError
        """
        if not isinstance(subsystem, Subsystem):
            raise wrong_type(
                subsystem,
                f"{short_repr(subsystem)}: not a subsystem",
                "a Subsystem",
                "pass an instance of a class that derives from Subsystem",
            )
        if getattr(type(subsystem), "__attrs_own_setattr__", False):
            raise AdoptionError(
                f"{subsystem!r}: cannot be added",
                "a subsystem with the __setattr__ of Subsystem, which notices changes",
                "one of a class for which attrs wrote another, for validators and converters",
                "write @attrs.define(on_setattr=attrs.setters.NO_OP)",
            )
        if subsystem.is_adopted:
            raise AdoptionError(
                f"{subsystem!r}: cannot be added",
                "a subsystem without a System",
                f"one of {subsystem.system!r}",
                "make another instance",
            )
        if name is None:
            name = self._free_name(subsystem) or subsystem.name
        name = require_name(name, "the name of a subsystem")
        require_new_name(
            name,
            self._names,
            "subsystem",
            "choose another name, or leave it out for a free one",
        )
        self._require_idle(f"the subsystems of {self._name}")
        self._refuse_in_hook("add()")
        subsystem._adopted(self, len(self._subsystems), name)
        self._known_names.add(name)
        self._subsystems.append(subsystem)
        self._topology_changed(f"{name} was added")
        subsystem._joined()
        return subsystem

    def _free_name(self, subsystem: object, reserved: Collection[str] = ()) -> str | None:
        """Return the name of the class of a subsystem, with a number if it is taken."""
        if not isinstance(subsystem, Subsystem) or subsystem.is_adopted:
            return None  # it is refused later
        name, taken = subsystem.name, self._names
        if name not in taken and name not in reserved:
            return name
        numbers = count(self._next_numbers.get(name, 2))
        number = next(
            i for i in numbers if f"{name}_{i}" not in taken and f"{name}_{i}" not in reserved
        )
        self._next_numbers[name] = number
        return f"{name}_{number}"

    @property
    def _names(self) -> set[str]:
        """Names of all subsystems. Cost O(1), except after unpickling."""
        if len(self._known_names) != len(self._subsystems):
            self._known_names = {subsystem.name for subsystem in self._subsystems}
        return self._known_names

    @property
    def subsystems(self) -> tuple[Subsystem, ...]:
        """All subsystems, the default one first."""
        return tuple(self._subsystems)

    @property
    def num_subsystems(self) -> int:
        """The number of subsystems, including the default one."""
        return len(self._subsystems)

    def subsystem(self, which: SupportsIndex | str) -> Subsystem:
        """Return the subsystem with an index or a name; `get` returns it with its type.

        Raises
        ------
        UnknownSubsystemError
        """
        if isinstance(which, Subsystem):
            if which not in self._subsystems:
                raise unknown_subsystem(which, self._subsystems, repr(self))
            return which
        return self._subsystems[check_subsystem(which, self._subsystems, self.__repr__)]

    __getitem__ = subsystem

    def get(self, kind: type[Part], name: str | None = None) -> Part:
        """Return the only subsystem of a class, or the one of that class with a given name.

        Parameters
        ----------
        kind : type
            A subclass of Subsystem; instances of its subclasses count, too.
        name : str, optional
            Needed if there are several.

        Raises
        ------
        UnknownSubsystemError

        Examples
        --------
        >>> from stagecache import Subsystem, System, q_variable
        >>> class Ball(Subsystem):
        ...     height = q_variable(1.0)
        >>> system = System(Ball(), other=Ball())
        >>> system.get(Ball, "other").height(system.new_state())
        1.0
        """
        if not isinstance(kind, type):
            what = f"get({short_repr(kind)}): not a class"
            raise wrong_type(kind, what, "a class", "pass the class of the subsystem")
        same = [subsystem for subsystem in self._subsystems if isinstance(subsystem, kind)]
        found = same if name is None else [s for s in same if s.name == name]
        if len(found) == 1:
            return found[0]
        what = getattr(kind, "__name__", short_repr(kind))
        named = "" if name is None else f" with the name {name!r}"
        number = "several subsystems" if found else "no subsystem"
        others = same or self._subsystems
        raise UnknownSubsystemError(
            f"get({what}): {number} of this class{named}",
            f"one {what}{named} in {self!r}",
            f"{len(found)}; there "
            + ("are " if len(others) > 1 else "is ")
            + ", ".join(f"{s.name!r} of class {type(s).__name__}" for s in others),
            f"name it: get({what}, {same[0].name!r})" if same else "add one, or ask for its class",
        )

    def __len__(self) -> int:
        return len(self._subsystems)

    def __iter__(self) -> Iterator[Subsystem]:
        return iter(self._subsystems)

    def __bool__(self) -> bool:
        return True

    @property
    def default_subsystem(self) -> DefaultSystemSubsystem:
        """The subsystem of index 0."""
        first = self._subsystems[0]
        assert isinstance(first, DefaultSystemSubsystem)
        return first

    # ------------------------------------------------------------------ inputs

    def connect(self, source: Callable[[Any], T], port: CacheEntry[T]) -> None:
        """Feed an input of a subsystem from elsewhere. A change of topology.

        Parameters
        ----------
        source : handle or callable
            A variable or a cache entry of any subsystem, also another input: what depends on the
            input then depends on that. Or a function of the time [s], such as
            ``trajectory.curve("motor.force")``.
        port : CacheEntry
            The handle of an input, declared by `input_port`, without a source but its default.

        Raises
        ------
        WrongTypeError, ComputeSignatureError, ForeignNodeError, NodeKindError
        InputError
            The input has a source already.
        ConstModelError
            A State is being realized, an entry computed, or an event handled.

        Notes
        -----
        When the topology is realized, types, shapes, units and stages of connected items are
        compared as far as they are known, and values when they are read; and a cycle is refused.
        """
        ports.declaration_of(port, self)
        ports.check_source(source, port, self)
        self._feed(port, source, "connect", "connected")

    def fix(self, port: CacheEntry[T], value: T) -> DiscreteVariable[T]:
        """Feed an input from a variable of each State. A change of topology.

        Parameters
        ----------
        port : CacheEntry
            As for `connect`.
        value : object
            The value in the default State.

        Returns
        -------
        DiscreteVariable
            A write of it makes stale what depends on the input, and the stage that the input
            invalidates.

        Raises
        ------
        WrongTypeError, ShapeError, NotANumberError, ForeignNodeError, NodeKindError
        InputError, ConstModelError
        """
        form = ports.declaration_of(port, self).form
        first = form.checked(value, port, "its fixed value")
        self._feed(port, ports.Fixed.of(first), "fix", "fixed")
        return ports.variable_of(port)

    def disconnect(self, port: CacheEntry[Any]) -> None:
        """Take its source from an input, whether connected or fixed. A change of topology.

        A default is a source again.

        Raises
        ------
        WrongTypeError, ForeignNodeError, NodeKindError, ConstModelError
        InputError
            It has none.
        """
        ports.declaration_of(port, self)
        if port not in self._sources:
            raise ports.nothing_connected(port)
        self._require_idle(f"the source of {port}")
        self._refuse_in_hook("disconnect()")
        del self._sources[port]
        self._topology_changed(f"{port} was disconnected")

    def _feed(self, port: CacheEntry[Any], source: object, verb: str, how: str) -> None:
        ports.check_free(port, self)
        self._require_idle(f"the source of {port}")
        self._refuse_in_hook(f"{verb}()")
        self._sources[port] = source
        self._topology_changed(f"{port} was {how}")

    def source_of(self, port: CacheEntry[Any]) -> Any:
        """Return what feeds an input, or None: a handle, or a function of the time. Cost O(1).

        Of an input that is fixed, or has its default, it is the variable in each State. A function
        of prerequisites may ask for it, since a connection is a change of topology.

        Raises
        ------
        WrongTypeError, ForeignNodeError, NodeKindError
        """
        return ports.source_of(port, self)

    @property
    def connections(self) -> dict[CacheEntry[Any], Any]:
        """The inputs that have a source, with it, as `source_of` returns it. Cost O(items)."""
        inputs = [port for subsystem in self._subsystems for port in ports.inputs_of(subsystem)]
        found = {port: ports.source_of(port, self) for port in inputs}
        return {port: source for port, source in found.items() if source is not None}

    # ------------------------------------------------------------------ identity

    def is_same_system(self, other: object) -> bool:
        """Return whether it is the same System, here or where it was pickled."""
        return isinstance(other, System) and self._identity == other._identity

    # ------------------------------------------------------------------ topology

    @property
    def topology_has_been_realized(self) -> bool:
        """True if there is a default State, and the topology has not changed since it was made."""
        return self._default is not None

    @property
    def topology_cache_version(self) -> int:
        """The number of the topology: it rises with each change after a realization.

        `State.topology_version` must equal it; States of other versions are refused. Assign it only
        to manage versions yourself.

        Raises
        ------
        OutOfRangeError
        """
        return self._topology_version

    @topology_cache_version.setter
    def topology_cache_version(self, version: int) -> None:
        version = require_count(version, 1, "the topology version")
        if self._default is not None:
            self._default._contents.realization.machine.versions.system[TOPOLOGY] = version - 1
        self._topology_version = version

    def invalidate_topology_cache(self) -> None:
        """Count a change of topology: the default State is dropped, all others become useless.

        Raises
        ------
        ConstModelError
            A State is being realized, or an entry computed.
        """
        self._require_idle(f"the topology of {self._name}")
        self._topology_changed("invalidate_topology_cache() was called")

    def realize_topology(self) -> State:
        """Allocate the declared items of all subsystems, and return the default State, at Model.

        It is made once, and again after a change of topology. It is only for reading: copy it.
        Cost O(items and prerequisites) when it is made.

        Raises
        ------
        StagecacheError
            A declared item cannot be allocated; the topology is then not realized.
        """
        default = self._default
        if default is None:
            with self._allocating:
                self._refuse_in_hook("realize_topology()")
                default = self._default = self._default or self._make_default_state()
                identify(self)
        return default

    def new_state(self) -> State:
        """Return a copy of the default State, at Model, to be changed. Realizes the topology.

        Cost of the first call O(items and prerequisites), then O(items), as for a copy.

        Raises
        ------
        StagecacheError
            The topology cannot be realized.
        """
        return self.realize_topology().copy()

    @property
    def default_state(self) -> State:
        """The default State, realized to Model or further. Copy it to change it.

        Raises
        ------
        StageTooLowError
            The topology is not realized.
        """
        if self._default is None:
            raise StageTooLowError(
                f"the default State of {self!r}: does not exist",
                "a System whose topology is realized",
                "one that was changed since, or never realized",
                "call realize_topology(), which returns it",
            )
        return self._default

    def order_subsystems(
        self,
        stage: Stage,  # noqa: ARG002  # for subclasses
        subsystems: tuple[Subsystem, ...],
    ) -> Sequence[Subsystem]:
        """Return the order in which subsystems are realized at a stage; subclasses may override it.

        Parameters
        ----------
        stage : Stage
        subsystems : tuple of Subsystem
            All, in the order of their declared prerequisites at that stage, then of their indices.
        """
        return subsystems

    def _make_default_state(self) -> State:
        state = State._of_system(self, self._variables)
        contents = state._contents
        self.default_subsystem._declare_triggers()
        contents.realization.reserve(declared_handles(self._subsystems, self._variables.values()))
        for subsystem in self._subsystems:
            contents.realization.add_subsystem(subsystem.name, subsystem.version, subsystem._wholes)
        self._is_allocating = True
        try:
            planned = allocate_declared(contents, self._subsystems)
            self._driven = [s for s in self._subsystems if prescribing.may_be_driven(s)]
            schedules = schedule_of(self._subsystems, planned, self._checked_order)
            self._schedule, self._schedule_of_rates = schedules
            self._triggers = TriggerRows([e.trigger for e in planned if e.trigger is not None])
            self._realize(state, contents, TOPOLOGY)
        finally:
            self._is_allocating = False
        contents.realization.machine.versions.system[TOPOLOGY] = self._topology_version - 1
        self._realize(state, contents, MODEL)
        contents.guard = DEFAULT
        return state

    def _is_allocating_here(self) -> bool:
        """Return whether this thread is making the default State."""
        if not self._is_allocating or not self._allocating.acquire(blocking=False):
            return False
        self._allocating.release()
        return True

    def _refuse_in_hook(self, what: str) -> None:
        if self._is_allocating_here():
            raise ConstModelError(
                f"{what}: refused",
                "a System whose topology is not being realized",
                "a call within realize_topology()",
                "let the hook realize_topology() of a subsystem allocate in its State only",
            )

    def _checked_order(
        self, stage: Stage, subsystems: tuple[Subsystem, ...]
    ) -> Sequence[Subsystem]:
        chosen = list(self.order_subsystems(stage, subsystems))
        if sorted(map(id, chosen)) != sorted(map(id, subsystems)):
            raise RealizationOrderError(
                f"{self!r}: order_subsystems({stage}) does not return each subsystem once",
                ", ".join(subsystem.name for subsystem in subsystems),
                ", ".join(getattr(s, "name", short_repr(s)) for s in chosen) or "none",
                "return all that were given, in another order",
            )
        return chosen

    def _require_idle(self, what: str) -> None:
        """Refuse a change of topology while something is computed."""
        if self._is_allocating_here():
            return  # realize_topology() of a subsystem may assign attributes
        states = [reference() for reference in self._states.valuerefs()]
        is_busy = (
            self._is_allocating
            or bool(self._events.handling)
            or any(
                state._contents.guard is REALIZING or state._contents.realization.evaluator.running
                for state in states
                if state is not None and state.system is self
            )
        )
        if is_busy:
            raise ConstModelError(
                f"{what}: cannot be changed while something is computed with it",
                "a const model; values that vary are in States",
                "a change by a hook, computation or event handler, or while a thread runs one",
                "let an event handler set a discrete variable of the State"
                if self._events.handling
                else "store this in a cache entry: declare it with @cached, or allocate it",
            )

    def _topology_changed(self, what: str) -> None:
        """Count a change of topology, which errors about older States name."""
        if self._is_allocating_here():
            return
        self._content = ""
        self._events.forget()
        self._hooks.forget()
        if self._default is not None:
            self._default = None
            self._topology_version += 1
            for reference in self._states.valuerefs():
                state = reference()
                if state is not None and state.system is self:  # it may have been assigned to
                    state._contents.outdate(what)

    # ------------------------------------------------------------------ realization

    def realize_model(self, state: State) -> None:
        """Realize Model, at which modeling options take effect: q, u and z get sizes and values.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        """
        self._realize(state, self._contents_of(state), MODEL)

    def realize(self, state: State, stage: Stage = Stage.HIGHEST_RUNTIME) -> None:
        """Realize all stages up to one, except those that are realized.

        At each stage, subsystem by subsystem: the hook is called, if it is overridden; then the
        declared entries are computed that are `computed_by` that stage. If one raises, the State
        stays at the last stage that was reached, and the next call continues there.

        Parameters
        ----------
        state : State
        stage : Stage
            Empty to Report.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageOutOfRangeError
        Exception
            Whatever a hook or a computation raises.
        """
        contents = self._contents_of(state)
        if type(stage) is not Stage or stage > Stage.REPORT:
            stage = check_stage(stage, Stage.EMPTY, Stage.REPORT, "realize()")
        self._statistics.num_realize_calls += 1
        if contents.realization.machine.stage < stage:
            self._realize(state, contents, stage)

    def _realize_rates(
        self, state: State, contents: Contents, stage: Stage, schedule: Schedule | None = None
    ) -> None:
        """Realize a State at Instance or further, as `realize` does, but for event triggers.

        Only those who look for events need them; a read completes them. A schedule may be given
        whose calls note what they do.
        """
        self._statistics.num_realize_calls += 1
        at = contents.realization.machine.stage
        if at < stage:
            if at < self._triggers.last:
                contents.pools.lacks_triggers = True
            schedule = schedule or self._schedule_of_rates
            schedule.realize(state, contents, stage, self._statistics._realizations)

    def _realize(self, state: State, contents: Contents, stage: Stage) -> None:
        self._schedule.realize(state, contents, stage, self._statistics._realizations)

    def _complete_qdotdot(self, contents: Contents, subsystem: int) -> None:
        """Complete qdotdot of a subsystem for a read while others are yet to be realized."""
        if contents.realization.machine.stage < Stage.ACCELERATION:
            self._schedule.rates.fill_qdotdot_of(contents, subsystem)

    def _require_own(self, state: State) -> State:
        """Return a State of this System; refuse others."""
        self._contents_of(state)
        return state

    def _contents_of(self, state: State) -> Contents:
        """Return the contents of a State of this System."""
        if type(state) is State:
            contents = state._contents
            if contents.belongs_to(self, self._topology_version):
                return contents
        raise self._refusal_of(state)

    def _refusal_of(self, state: object) -> StagecacheError:
        if not isinstance(state, State):
            return wrong_type(
                state,
                f"{short_repr(state)}: not a State",
                f"a State of {self!r}",
                "pass the whole State, as new_state() returns it",
            )
        if state.system is not self:
            theirs = f"a State of {state.system!r}"
            if state.system is None:
                theirs = "a State without a System"
            elif repr(state.system) == repr(self):
                theirs = "a State of another System, which has the same name and subsystems"
            return ForeignStateError(
                f"{state!r}: not a State of {self!r}",
                f"a State of {self!r}",
                theirs,
                "use the System to which it belongs, or a copy of this one's default_state",
            )
        return TopologyVersionError(
            f"{state!r}: was made for another topology of {self!r}",
            f"a State of topology version {self._topology_version}",
            f"one of version {state.topology_version}"
            + (f"; {state._contents.outdated_by}" if state._contents.outdated_by else ""),
            "make a new State after a change of the model: system.new_state()",
        )

    # ------------------------------------------------------------------ kinematics

    def multiply_by_n(self, state: State, u: ArrayLike) -> Vector:
        """Return N u, which is qdot if u are the generalized speeds.

        N is the identity but for the blocks that subsystems declare with `kinematics`. Cost O(n).

        Parameters
        ----------
        state : State
            Realized to Position or further.
        u : array_like
            Array of shape (nu,) or (nu, k); empty for zeros.

        Returns
        -------
        ndarray
            Array of shape (nq,) or (nq, k).

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        ShapeError, NotANumberError
        KinematicsError
            A subsystem has other numbers of q and u, and declares nothing that relates them.
        """
        return operators.multiply_by_n(self._require_own(state), u)

    def multiply_by_n_transpose(self, state: State, fq: ArrayLike) -> Vector:
        """Return N' fq: generalized forces on u from forces on q. As `multiply_by_n`."""
        return operators.multiply_by_n_transpose(self._require_own(state), fq)

    def multiply_by_n_pinv(self, state: State, qdot: ArrayLike) -> Vector:
        """Return pinv(N) qdot, which is u if there is one with N u = qdot. As `multiply_by_n`."""
        return operators.multiply_by_n_pinv(self._require_own(state), qdot)

    def multiply_by_n_pinv_transpose(self, state: State, fu: ArrayLike) -> Vector:
        """Return pinv(N)' fu: forces on q from forces on u. As `multiply_by_n`."""
        return operators.multiply_by_n_pinv_transpose(self._require_own(state), fu)

    # ------------------------------------------------------------------ Jacobians of constraints

    def multiply_by_g(self, state: State, udot: ArrayLike) -> Vector:
        """Return G udot: acceleration errors without their bias. Cost O(numbers in G).

        G has the derivatives of all rows of udoterr by udot, (nudoterr, nu). It is not formed: the
        Jacobian of each constraint, or of those that are computed together, is multiplied.

        Parameters
        ----------
        state : State
            Realized to Velocity or further.
        udot : array_like
            Array of shape (nu,) or (nu, k); empty for zeros.

        Returns
        -------
        ndarray
            Array of shape (nudoterr,) or (nudoterr, k).

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        ShapeError, NotANumberError
        KinematicsError
            A Jacobian has to be computed by differences, but N is not known.
        """
        return products.multiply(self._require_own(state), "g", udot)

    def multiply_by_g_transpose(self, state: State, multipliers: ArrayLike) -> Vector:
        """Return G' multipliers: forces on u of shape (nu,). As `multiply_by_g`."""
        return products.multiply_transpose(self._require_own(state), "g", multipliers)

    def multiply_by_v(self, state: State, u: ArrayLike) -> Vector:
        """Return V u, by the derivatives V of all rows of uerr by u. As `multiply_by_g`."""
        return products.multiply(self._require_own(state), "v", u)

    def multiply_by_v_transpose(self, state: State, multipliers: ArrayLike) -> Vector:
        """Return V' multipliers: forces on u of shape (nu,). As `multiply_by_g`."""
        return products.multiply_transpose(self._require_own(state), "v", multipliers)

    def multiply_by_p(self, state: State, u: ArrayLike) -> Vector:
        """Return P u: the rates of position errors along N u. Needs Position. As `multiply_by_g`.

        P has a row for each of qerr that restricts motion: all but those that only normalize q.
        """
        return products.multiply(self._require_own(state), "p", u)

    def multiply_by_p_transpose(self, state: State, multipliers: ArrayLike) -> Vector:
        """Return P' multipliers: forces on u of shape (nu,). As `multiply_by_p`."""
        return products.multiply_transpose(self._require_own(state), "p", multipliers)

    def multiply_by_pq(self, state: State, qdot: ArrayLike) -> Vector:
        """Return Pq qdot, with the derivatives Pq = P pinv(N) of position errors by q.

        A part of qdot that no u makes, as along a quaternion, counts for nothing. As
        `multiply_by_p`.
        """
        return products.multiply_pq(self._require_own(state), qdot)

    def multiply_by_pq_transpose(self, state: State, multipliers: ArrayLike) -> Vector:
        """Return Pq' multipliers: forces on q of shape (nq,). As `multiply_by_pq`."""
        return products.multiply_pq_transpose(self._require_own(state), multipliers)

    def calc_g(self, state: State) -> Vector:
        """Return G as a dense array, (nudoterr, nu). As `multiply_by_g`."""
        return products.dense(self._require_own(state), "g")

    def calc_v(self, state: State) -> Vector:
        """Return V as a dense array, (nuerr, nu). As `multiply_by_v`."""
        return products.dense(self._require_own(state), "v")

    def calc_p(self, state: State) -> Vector:
        """Return P as a dense array of nu columns. As `multiply_by_p`."""
        return products.dense(self._require_own(state), "p")

    def calc_pq(self, state: State) -> Vector:
        """Return P pinv(N), a dense array of nq columns: position errors by q. As `multiply_by_p`.

        Along q that no u moves, as the length of a quaternion, its derivatives are 0.
        """
        return products.calc_pq(self._require_own(state))

    def calc_constraint_acceleration_errors(self, state: State, udot: ArrayLike) -> Vector:
        """Return G udot + bias: the acceleration errors that some udot would have.

        Parameters and errors are as of `multiply_by_g`; nothing is written.
        """
        return products.acceleration_errors(self._require_own(state), udot)

    def calc_projected_m_inv(self, state: State) -> Vector:
        """Return G inv(M) G': the accelerations of constraints by multipliers of 1.

        All u count as free, whatever prescribes them.

        Parameters
        ----------
        state : State
            Realized to Dynamics or further.

        Returns
        -------
        ndarray
            Array of shape (nudoterr, nudoterr), symmetric.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        MassMatrixError
            A constraint acts on a u without mass.
        """
        return projected_m_inv(self._require_own(state))

    # ------------------------------------------------------------------ prescribed motion

    def prescribe(self, state: State) -> bool:
        """Set all q and u of prescribed motion; the State is realized to Position for that.

        Returns
        -------
        bool
            True if anything changed. If not, the State keeps its stages.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        Exception
            A hook or a computation raised it.
        """
        self.realize(state, Stage.TIME)
        has_changed = self.prescribe_q(state)
        self.realize(state, Stage.POSITION)
        return self.prescribe_u(state) or has_changed

    def prescribe_q(self, state: State) -> bool:
        """Set the q of prescribed motion, which depend on the time. Needs stage Time.

        Returns
        -------
        bool
            True if anything changed. The State is then at Time.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        ShapeError, NotANumberError
            The values of a motion do not fit its variable.
        """
        self._require_own(state)
        self._statistics.num_prescribe_q_calls += 1
        return prescribing.prescribe_q(state)

    def prescribe_u(self, state: State) -> bool:
        """Set the u of prescribed motion. Needs stage Position. As `prescribe_q`."""
        self._require_own(state)
        self._statistics.num_prescribe_u_calls += 1
        return prescribing.prescribe_u(state)

    def free_q_index(self, state: State) -> NDArray[np.intp]:
        """Return the indices of the q that are not prescribed, ascending. Needs Instance.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        """
        return prescribing.free_q_index(self._require_own(state))

    def free_u_index(self, state: State) -> NDArray[np.intp]:
        """Return the indices of the u that are not prescribed. As `free_q_index`."""
        return prescribing.free_u_index(self._require_own(state))

    # ------------------------------------------------------------------ constraints

    def project(self, state: State, accuracy: float | None = None) -> None:
        """Set prescribed motion, and move the free q and u onto the constraints.

        That is `prescribe_q`, `project_q`, `prescribe_u` and `project_u`, with the realizations
        that they need. The State is then at Velocity.

        Parameters
        ----------
        state : State
            At Model or further.
        accuracy : float, optional
            1e-4 by default, as in `ProjectOptions`.

        Raises
        ------
        ProjectionError
            The accuracy cannot be reached. The State is not changed.
        """
        from stagecache.system.projection.projection import project  # noqa: PLC0415  # it needs SciPy

        project(self, self._require_own(state), accuracy)

    def project_q(
        self,
        state: State,
        accuracy: float | None = None,
        *,
        options: ProjectOptions | None = None,
        error_estimate: Vector | None = None,
    ) -> ProjectResults:
        """Move the free q onto the position constraints, as little as possible.

        That is: the length of Wq dq becomes least, such that the norm of Tp qerr is at most the
        accuracy, with Wq = N Wu pinv(N), where Wu are the `u_weights`, and Tp the `qerr_weights` of
        the State. The norm of the errors is the root of the mean of squares, or the largest one.

        Called with an accuracy, or nothing, it realizes the State and sets prescribed motion as
        needed. Called with options or an error estimate, as by an integrator, it needs a State at
        Position with its prescribed motion set. In both cases the State is then at Position.

        Parameters
        ----------
        state : State
        accuracy : float, optional
        options : ProjectOptions, optional
        error_estimate : ndarray, optional
            Array of shape (nq,). Changed in place if q was changed: the part normal to the
            constraints is removed.

        Returns
        -------
        ProjectResults

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        OutOfRangeError, ShapeError, NotANumberError
        ProjectionError
            The accuracy cannot be reached, and the options do not say ``dont_raise``. The State is
            as it was.
        """
        from stagecache.system.projection.projection import project_q  # noqa: PLC0415  # it needs SciPy

        return project_q(self, self._require_own(state), accuracy, options, error_estimate)

    def project_u(
        self,
        state: State,
        accuracy: float | None = None,
        *,
        options: ProjectOptions | None = None,
        error_estimate: Vector | None = None,
    ) -> ProjectResults:
        """Move the free u onto the velocity constraints, as little as possible.

        As `project_q`, with stage Velocity. The length of Eu du becomes least, such that the norm
        of Tpv uerr is at most the accuracy. Eu is the lesser of Wu and 1 / abs(u); Tpv are the
        `uerr_weights`, and for derivatives of position errors their `qerr_weights` times
        `default_time_scale`.
        """
        from stagecache.system.projection.projection import project_u  # noqa: PLC0415  # it needs SciPy

        return project_u(self, self._require_own(state), accuracy, options, error_estimate)

    # ------------------------------------------------------------------ fast variables

    def relax(self, state: State, stage: Stage, accuracy: float = 1e-4) -> bool:
        """Move fast variables to the equilibrium that is declared at a stage.

        All conditions of that stage are solved together. The State is then realized to it.

        Parameters
        ----------
        state : State
            At Model or further.
        stage : Stage
            Instance to Report.
        accuracy : float
            The largest allowed residual.

        Returns
        -------
        bool
            True if anything changed.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        StageOutOfRangeError, OutOfRangeError
        EquilibriumError
            No equilibrium was found. The State is not changed.
        """
        return fast_variables.relax(self, self._require_own(state), stage, accuracy)

    # ------------------------------------------------------------------ handlers and reporters

    def _why_it_stays(self, state: State) -> str:  # noqa: ARG002  # for overrides
        """Return why a simulation would move nothing; "" if it may. `simulate` warns of it."""
        return ""

    def add_event_handler(self, handler: H, name: str | None = None) -> H:
        """Let a handler change States when an event takes place. A change of topology.

        The values of a trigger get a row among the event triggers of the default subsystem.

        Parameters
        ----------
        handler : ScheduledEventHandler, PeriodicEventHandler or TriggeredEventHandler
            It belongs to one System.
        name : str, optional
            The name in messages. The default is the name of its class in snake case, or of its
            function; else "handler 1" and so on.

        Returns
        -------
        the handler

        Raises
        ------
        WrongTypeError, AdoptionError, DuplicateNameError, InvalidNameError
        ConstModelError
            A State is being realized, an entry computed, or an event handled.
        """
        self._add_listener(handler, name, AbstractEventHandler)
        return handler

    def add_event_reporter(self, reporter: R, name: str | None = None) -> R:
        """Let a reporter look at States when an event takes place. As `add_event_handler`."""
        self._add_listener(reporter, name, AbstractEventReporter)
        return reporter

    @property
    def event_handlers(self) -> tuple[AbstractEventHandler, ...]:
        """The handlers that were added, in that order."""
        known = self.default_subsystem._listeners.values()
        return tuple(o for o in known if isinstance(o, AbstractEventHandler))

    @property
    def event_reporters(self) -> tuple[AbstractEventReporter, ...]:
        """The reporters that were added, in that order."""
        known = self.default_subsystem._listeners.values()
        return tuple(o for o in known if isinstance(o, AbstractEventReporter))

    def _add_listener(
        self,
        listener: AbstractEventListener[Any],
        name: str | None,
        kind: type[AbstractEventListener[Any]],
    ) -> None:
        default, who = self.default_subsystem, kind_name(kind)
        name = default._name_for(listener, name, kind)
        self._require_idle(f"the event {who}s of {self.name}")
        self._refuse_in_hook(f"add_event_{who}()")
        default._listen(listener, name)
        self._topology_changed(f"the event {who} {name} was added")

    # ------------------------------------------------------------------ what comes next

    def calc_event_trigger_info(self, state: State) -> tuple[EventTriggerInfo, ...]:
        """Return the conditions under which each of `State.event_triggers` is an event.

        Triggers that were allocated by hand are there, too: any direction counts, and their events
        have no handler. Cost O(rows).

        Parameters
        ----------
        state : State
            Realized to Instance or further.

        Returns
        -------
        tuple of EventTriggerInfo
            One for each row, in that order.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        """
        return self._events.trigger_info(self._require_own(state))

    def calc_time_of_next_scheduled_event(
        self,
        state: State,
        include_current_time: bool = True,  # as the original
    ) -> tuple[float, tuple[Event, ...]]:
        """Return the time of the next scheduled events, and these events.

        Times in the past are ignored. Times that differ by rounding are one time, if one of them is
        of a periodic event. Cost O(scheduled handlers).

        Parameters
        ----------
        state : State
        include_current_time : bool
            True if it may be the present time; else only later ones count.

        Returns
        -------
        time : float
            [s]; infinite without any.
        events : tuple of Event
            By id.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, NotANumberError
        EventTimeError
            A handler returns an invalid time.
        """
        return self._events.next_event(self._require_own(state), include_current_time)

    def calc_time_of_next_scheduled_report(
        self,
        state: State,
        include_current_time: bool = True,  # as the original
    ) -> tuple[float, tuple[Event, ...]]:
        """Return the time of the next scheduled reports, and their events."""
        return self._events.next_report(self._require_own(state), include_current_time)

    # ------------------------------------------------------------------ events take place

    def handle_events(
        self,
        state: State,
        cause: EventCause,
        events: Sequence[Event] = (),
        options: HandleEventsOptions | None = None,
    ) -> HandleEventsResults:
        """Call the handlers of these events, and satisfy the constraints afterwards.

        The handlers are called by the ids of the events, each once. With the cause TIME_ADVANCED,
        and if `has_time_advanced_events` is True, the hooks `handle_time_advanced` of subsystems
        follow. If anything was written, prescribed motion is set, and the State is projected where
        the norm of constraint errors exceeds the tolerance. Reporters among them come last.

        Parameters
        ----------
        state : State
            At Model or further. It is written, except its time.
        cause : EventCause
        events : sequence of Event
            From `calc_time_of_next_scheduled_event` and `calc_event_trigger_info`.
        options : HandleEventsOptions, optional

        Returns
        -------
        HandleEventsResults
            With the lowest stage that was modified, from which on stages must be realized anew.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError, ReadOnlyError
        UnknownEventError
        EventHandlerError
            A handler raised. The State is as it was before all of them; also in the cases below.
        EventTimeError
            A handler changed the time.
        ProjectionError
            The State that the handlers left cannot be projected.
        StagecacheError
            A handler raised it itself.
        """
        return self._events.handle(self._require_own(state), cause, events, options)

    def report_events(self, state: State, cause: EventCause, events: Sequence[Event] = ()) -> None:
        """Call the reporters of these events, by the ids of the events, each once.

        Parameters
        ----------
        state : State
            Reporters can realize it, but not write it.
        cause : EventCause
        events : sequence of Event
            From `calc_time_of_next_scheduled_report`.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        UnknownEventError
            An event is unknown, or is handled and not reported.
        EventHandlerError
            A reporter raised.
        ReadOnlyError
            A reporter tried to write the State.
        StagecacheError
            A reporter raised it itself.
        """
        self._events.report(self._require_own(state), cause, events)

    # ------------------------------------------------------------------ inspection

    @property
    def statistics(self) -> SystemStatistics:
        """Counters of its operations, over all its States."""
        return self._statistics

    @property
    def graph(self) -> GraphView:
        """A view of the items that every State has, and their dependencies. Cost O(nodes + edges).

        Realizes the topology.
        """
        contents = self.realize_topology()._contents
        recorded = self._recorded(self.new_state())
        return graph_view(contents, self._name, recorded, is_static=True)

    def record_hooks(self, state: State) -> None:
        """Note what hooks read and write in one more run, for views and for `State.impact`.

        A copy of the State is realized through Report. That is done once for each topology without
        this call; call it where hooks branch, so that they read something else in this State.

        Parameters
        ----------
        state : State

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError
        Exception
            Whatever a hook or a computation raises.
        """
        self._contents_of(state)
        self._hooks.record(self, state)

    def _recorded(self, state: State) -> RecordedHooks:
        """Return what is known of the hooks, for views."""
        return self._hooks.of(self, state)

    @property
    def units(self) -> dict[str, str]:
        """The declared units by path, as "pendulum.angle": "rad". Cost O(nodes).

        Realizes the topology.
        """
        contents = self.realize_topology()._contents
        return declared_units(contents, NodePaths(contents))

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append the geometry that can be drawn from a stage on, and not before.

        Parameters
        ----------
        state : State
            Realized to that stage.
        stage : Stage
        geometry : list of AbstractDecoration
            The list to append to, subsystem by subsystem.

        Raises
        ------
        StageTooLowError
        """
        contents = self._contents_of(state)
        stage = check_stage(stage, TOPOLOGY, Stage.REPORT, "calc_decorative_geometry_and_append()")
        contents.require_stage(stage, None, f"the geometry of {self._name} at {stage}")

        def append() -> None:
            for subsystem in self._subsystems:
                subsystem.calc_decorative_geometry_and_append(state, stage, geometry)

        contents.guarded(FROZEN if contents.guard is FROZEN else REALIZING, append)

    def _variant_of(self, entry: CacheEntry[Any]) -> str:
        """Return the kind of declaration of an entry, for views."""
        return variant_of(entry)

    def _source_of(self, variable: AbstractHandle) -> Source:
        """Return the file and line where a variable is declared, for views."""
        return source_of(variable)

    def _hint_of(self, entry: CacheEntry[Any], gap: Gap) -> str:
        """Return the declaration that covers the reads of an entry, for strict mode."""
        return hint_of(entry, gap)

    def __repr__(self) -> str:
        names = ", ".join(subsystem.name for subsystem in self._subsystems[1:])
        return f"{type(self).__name__}({self._name!r}: {names or 'no subsystems'})"

    def _repr_html_(self) -> str:
        default = self._default
        layouts = [] if default is None else default._contents.realization.layout.subsystems
        rows = []
        for x, subsystem in enumerate(self._subsystems[:MOST_ROWS]):
            variables = entries = ""
            if x < len(layouts):
                blocks = [block for blocks in layouts[x].blocks.values() for block in blocks]
                variables = listed(item.name for item in (*blocks, *layouts[x].discrete))
                entries = listed(entry.name for entry in layouts[x].entries)
            rows.append((subsystem.name, type(subsystem).__name__, variables, entries))
        about = f"{self._name}: {counted(len(self._subsystems), 'subsystem')}"
        if default is None:
            about += ", topology not realized"
        more = len(self._subsystems) - len(rows)
        heads = ("subsystem", "class", "variables", "entries")
        subsystems = table(heads, rows, texts=len(heads), more=more, what="subsystems")
        return output(heading(type(self).__name__, about), subsystems)

    # ------------------------------------------------------------------ other processes

    def __reduce__(self) -> Any:
        return reduce_system(self)

    def __setstate__(self, state: Any) -> None:
        complete_system(self, state)

    def _reduce_state(self, state: State) -> Any:
        self._contents_of(state)
        return unpickled_state, (self, snapshot(state))

    def __copy__(self) -> NoReturn:
        raise ConstModelError(
            f"{self!r}: not copied",
            "one System for any number of States",
            "a copy of a System",
            "copy a State; for another model, build it anew of new subsystems",
        )

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()
