"""A model: subsystems, and the realization of States stage by stage."""

from collections.abc import Iterator, Sequence
from threading import RLock
from typing import Any, NoReturn, SupportsIndex, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

from stagecache.errors import (
    AdoptionError,
    ConstModelError,
    DuplicateNameError,
    ForeignStateError,
    InvalidNameError,
    RealizationOrderError,
    StagecacheError,
    StageTooLowError,
    TopologyVersionError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.sources import Source
from stagecache.inspection.graph_view import graph_view
from stagecache.inspection.strict.coverage import Gap
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.guards import DEFAULT, FROZEN, REALIZING
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.refusals import check_count, check_subsystem, unknown_subsystem
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State
from stagecache.system.core.eventful import AbstractEventfulSystem
from stagecache.system.core.realizing import Schedule
from stagecache.system.core.scheduling import schedule_of
from stagecache.system.core.snapshot import restore_state, snapshot
from stagecache.system.core.topology import allocate_declared, declared_handles
from stagecache.system.core.transport import complete_system, reduce_system
from stagecache.system.declare.declaration import source_of
from stagecache.system.declare.subsystem import DefaultSystemSubsystem, Subsystem
from stagecache.system.events.table import EventTable
from stagecache.system.hints.hints import hint_of
from stagecache.system.hints.variants import variant_of
from stagecache.system.statistics import SystemStatistics
from stagecache.views.view import GraphView

MODEL, TOPOLOGY = Stage.MODEL, Stage.TOPOLOGY


Part = TypeVar("Part", bound=Subsystem)


class System(AbstractEventfulSystem):
    """A model made of subsystems.

    A System is const once its topology is realized: all that varies is in States, of which it
    serves any number. `realize_topology` makes the first one, the default State; copy it, write its
    variables, and `realize` it as far as needed.

    Parameters
    ----------
    *subsystems : Subsystem
        To be adopted, under the names of their classes: ``DoublePendulum()`` as "double_pendulum".
    name : str
        What messages call it.
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
    ...
    ...     def realize_velocity(self, state: State) -> None:
    ...         state[self].upd_qdot()[0] = self.speed(state)
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
        super().__init__(_checked_name(name, "the name of a System"))
        self._start(uuid4().hex, 1)
        self._version = _checked_text(version, "the version of a System")
        self._subsystems: list[Subsystem] = []
        try:
            self.add(DefaultSystemSubsystem())
            for subsystem in subsystems:
                self.add(subsystem)
            for key, subsystem in named.items():
                self.add(subsystem, key)
        except StagecacheError:
            for subsystem in self._subsystems:
                subsystem._released()
            raise

    def _start(self, identity: str, topology_version: int) -> None:
        self._identity = identity
        self._topology_version = topology_version
        self._statistics = SystemStatistics()
        self._default: State | None = None
        self._schedule = Schedule([], 0)
        self._events: EventTable | None = None
        self._handling: set[int] = set()  # the States that are given to handlers now
        self._content = ""  # the identity of what is in it now, once it was asked for
        self._allocating = RLock()  # who holds it makes the default State
        self._is_allocating = False
        self._states: WeakValueDictionary[int, State] = WeakValueDictionary()

    # ------------------------------------------------------------------ subsystems

    @property
    def version(self) -> str:
        """The version of the model: a text of the author's choice."""
        return self._version

    def add(self, subsystem: Part, name: str | None = None) -> Part:
        """Make a subsystem part of the System, and return it. A change of topology.

        Parameters
        ----------
        subsystem : Subsystem
            Without a System.
        name : str, optional
            The default is that of its class, in snake case.

        Raises
        ------
        WrongTypeError, AdoptionError, DuplicateNameError, InvalidNameError
        """
        if not isinstance(subsystem, Subsystem):
            raise WrongTypeError(
                f"{short_repr(subsystem)}: cannot be adopted",
                "a Subsystem",
                "a class; an instance of it is needed"
                if isinstance(subsystem, type)
                else f"an object of type {type(subsystem).__name__}",
                "pass an instance of a class that derives from Subsystem",
            )
        if getattr(type(subsystem), "__attrs_own_setattr__", False):
            raise AdoptionError(
                f"{subsystem!r}: cannot be adopted",
                "a subsystem whose __setattr__ is that of Subsystem, which notices changes",
                "one of a class for which attrs wrote another, for validators and converters",
                "write @attrs.define(on_setattr=attrs.setters.NO_OP)",
            )
        if subsystem.is_adopted:
            raise AdoptionError(
                f"{subsystem!r}: cannot be adopted",
                "a subsystem without a System",
                f"one of {subsystem.system!r}",
                "make another instance",
            )
        name = subsystem.name if name is None else _checked_name(name, "the name of a subsystem")
        if name in [other.name for other in self._subsystems]:
            raise DuplicateNameError(
                f"subsystem {name!r}: there is one already",
                "a name for each subsystem of its own",
                f"{name!r} for {short_repr(subsystem)}",
                f"name it: System(..., another_{name}=...) or add(..., 'name')",
            )
        self._require_idle(f"the subsystems of {self._name}")
        self._refuse_in_hook("add()")
        subsystem._adopted(self, len(self._subsystems), name)
        self._subsystems.append(subsystem)
        self._topology_changed(f"{name} was added")
        return subsystem

    @property
    def subsystems(self) -> tuple[Subsystem, ...]:
        """All subsystems, the default one first."""
        return tuple(self._subsystems)

    @property
    def num_subsystems(self) -> int:
        """Their number, including the default one."""
        return len(self._subsystems)

    def subsystem(self, which: SupportsIndex | str) -> Subsystem:
        """Return the subsystem of an index or a name.

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

    def is_same_system(self, other: object) -> bool:
        """Whether it is the same System, here or where it was pickled."""
        return isinstance(other, System) and self._identity == other._identity

    # ------------------------------------------------------------------ topology

    @property
    def topology_has_been_realized(self) -> bool:
        """Whether there is a default State, and the topology has not changed since it was made."""
        return self._default is not None

    @property
    def topology_cache_version(self) -> int:
        """The number of the topology: it rises with each change after a realization.

        `State.topology_version` must equal it. Setting it is for those who manage versions
        themselves; States of other versions are refused.

        Raises
        ------
        OutOfRangeError
        """
        return self._topology_version

    @topology_cache_version.setter
    def topology_cache_version(self, version: int) -> None:
        version = check_count(version, 1, "the topology version")
        if self._default is not None:
            self._default._contents.realization.machine.versions.system[TOPOLOGY] = version - 1
        self._topology_version = version

    def invalidate_topology_cache(self) -> None:
        """Count a change of topology: the default State is gone, and all others are useless.

        Raises
        ------
        ConstModelError
            A State is being realized, or an entry computed.
        """
        self._require_idle(f"the topology of {self._name}")
        self._topology_changed("invalidate_topology_cache() was called")

    def realize_topology(self) -> State:
        """Allocate what the subsystems declare, and return the default State, at Model.

        It is made once, and again after a change of topology. It is only for reading: copy it.
        Cost O(items and prerequisites) when it is made.

        Raises
        ------
        StagecacheError
            What is declared cannot be allocated; the topology is then not realized.
        """
        default = self._default
        if default is None:
            with self._allocating:
                self._refuse_in_hook("realize_topology()")
                default = self._default = self._default or self._make_default_state()
        return default

    def new_state(self) -> State:
        """Return a copy of the default State, at Model, to be changed. Realizes the topology.

        Cost of the first call O(items and prerequisites), then that of a copy, O(items).

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
        stage: Stage,  # noqa: ARG002  # for those who override it
        subsystems: tuple[Subsystem, ...],
    ) -> Sequence[Subsystem]:
        """Return the order in which subsystems are realized at a stage; to be overridden.

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
            self._schedule = schedule_of(self._subsystems, planned, self._checked_order)
            self._realize(state, contents, TOPOLOGY)
        finally:
            self._is_allocating = False
        contents.realization.machine.versions.system[TOPOLOGY] = self._topology_version - 1
        self._realize(state, contents, MODEL)
        contents.guard = DEFAULT
        return state

    def _is_allocating_here(self) -> bool:
        """Whether this thread is making the default State."""
        if not self._is_allocating or not self._allocating.acquire(blocking=False):
            return False
        self._allocating.release()
        return True

    def _refuse_in_hook(self, what: str) -> None:
        if self._is_allocating_here():
            raise ConstModelError(
                f"{what}: is refused",
                "a System whose topology is not being realized",
                "a call by what realize_topology() calls",
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
        if self._is_allocating_here():
            return  # what realize_topology() of a subsystem stores belongs to this topology
        states = [reference() for reference in self._states.valuerefs()]
        is_busy = (
            self._is_allocating
            or bool(self._handling)
            or any(
                state._contents.guard is REALIZING or state._contents.realization.evaluator.running
                for state in states
                if state is not None and state.system is self
            )
        )
        if is_busy:
            raise ConstModelError(
                f"{what}: cannot be changed while something is computed with it",
                "a model that is const, and States in which all that varies is",
                "a change by a hook, computation or event handler, or while a thread runs one",
                "let an event handler set a discrete variable of the State"
                if self._handling
                else "store this in a cache entry: declare it with @cached, or allocate it",
            )

    def _topology_changed(self, what: str) -> None:
        if self._is_allocating_here():
            return
        self._content = ""
        self._events = None
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
        """Realize all stages up to one that are not realized.

        At each stage, subsystem by subsystem: the hook is called, if it is overridden; then the
        declared entries are computed which are to be at that stage. If one raises, the State stays
        at the last stage that was reached, and the next call continues there.

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

    def _realize(self, state: State, contents: Contents, stage: Stage) -> None:
        guard = contents.guard
        if guard in (REALIZING, FROZEN) or contents.is_computing_here():
            contents.require_unguarded("realize()")
        try:
            contents.guard = REALIZING
            self._schedule.realize(state, contents, stage, self._statistics._realizations)
            contents.guard = guard
        except BaseException:
            contents.guard = guard
            contents.realization.is_torn = True
            contents.mend()
            raise

    def _require_own(self, state: State) -> None:
        self._contents_of(state)

    def _contents_of(self, state: State) -> Contents:
        """What is in a State of this System."""
        if type(state) is State:
            contents = state._contents
            if contents.realization.is_torn:
                contents.mend()
            if (
                contents.system is self
                and contents.realization.machine.versions.system[TOPOLOGY]
                == self._topology_version - 1
                and not contents.outdated_by
            ):
                return contents
        raise self._refusal_of(state)

    def _refusal_of(self, state: object) -> StagecacheError:
        if not isinstance(state, State):
            return WrongTypeError(
                f"{short_repr(state)}: is not a State",
                f"a State of {self!r}",
                f"an object of type {type(state).__name__}",
                "pass the whole State, as realize_topology().copy() gives it",
            )
        if state.system is not self:
            theirs = f"a State of {state.system!r}"
            if state.system is None:
                theirs = "a State without a System"
            elif repr(state.system) == repr(self):
                theirs = "a State of another System, which has the same name and subsystems"
            return ForeignStateError(
                f"{state!r}: is not a State of {self!r}",
                f"a State of {self!r}",
                theirs,
                "use the System to which it belongs, or a copy of this one's default_state",
            )
        return TopologyVersionError(
            f"{state!r}: was made for another topology of {self!r}",
            f"a State of topology version {self._topology_version}",
            f"one of version {state.topology_version}"
            + (f"; {state._contents.outdated_by}" if state._contents.outdated_by else ""),
            "call realize_topology() after a change of the model, and copy the State it returns",
        )

    # ------------------------------------------------------------------ looking at it

    @property
    def statistics(self) -> SystemStatistics:
        """Counters of what was done with all its States so far."""
        return self._statistics

    @property
    def graph(self) -> GraphView:
        """A view of all that every State has, and of what depends on what. Cost O(nodes + edges).

        If the topology is not realized, it is now.
        """
        return graph_view(self.realize_topology()._contents, self._name, is_static=True)

    def calc_decorative_geometry_and_append(
        self, state: State, stage: Stage, geometry: list[Any]
    ) -> None:
        """Append what there is to be drawn from a stage on, and not before.

        Parameters
        ----------
        state : State
            Realized to that stage.
        stage : Stage
        geometry : list of AbstractDecoration
            To which is appended, subsystem by subsystem.

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
        """What kind of declaration an entry comes from, for views."""
        return variant_of(entry)

    def _source_of(self, variable: AbstractHandle) -> Source:
        """Where a variable is declared, for views."""
        return source_of(variable)

    def _cure_of(self, entry: CacheEntry[Any], gap: Gap) -> str:
        """What to declare for what an entry reads to be covered, in strict mode."""
        return hint_of(entry, gap)

    def __repr__(self) -> str:
        names = ", ".join(subsystem.name for subsystem in self._subsystems[1:])
        return f"{type(self).__name__}({self._name!r}: {names or 'no subsystems'})"

    # ------------------------------------------------------------------ other processes

    def __reduce__(self) -> Any:
        return reduce_system(self)

    def __setstate__(self, state: Any) -> None:
        complete_system(self, state)

    def _reduce_state(self, state: State) -> Any:
        self._contents_of(state)
        return restore_state, (self, snapshot(state))

    def __copy__(self) -> NoReturn:
        raise ConstModelError(
            f"{self!r}: is not copied",
            "one System for any number of States",
            "a copy of a System",
            "copy a State; for another model, build it anew of new subsystems",
        )

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()


def _checked_name(name: object, what: str) -> str:
    if not _checked_text(name, what):
        raise InvalidNameError(f"{what}: is empty", "a name", "''", "give one")
    return str(name)


def _checked_text(text: object, what: str) -> str:
    if isinstance(text, str):
        return text
    raise InvalidNameError(f"{what}: is no string", "a string", short_repr(text), "write it as one")
