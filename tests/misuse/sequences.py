"""Misuse in time: calls inside of computations, hooks and handlers, errors there, and dead marks.

Each sequence makes a State or a Graph, does something that must be refused or must fail, and is
compared with before.
"""

from collections.abc import Callable
from typing import Final

from attrs import evolve

from stagecache import (
    Assembler,
    Event,
    EventCause,
    Graph,
    Integrator,
    PeriodicEventHandler,
    PeriodicEventReporter,
    Stage,
    State,
    Subsystem,
    System,
    TimeStepper,
    cached,
    parameter,
    q_variable,
    simulate,
    u_variable,
)
from stagecache.errors import StagecacheError
from tests.misuse.models import Reach, cart_system
from tests.misuse.recipe import call
from tests.misuse.surface import PublicCallable
from tests.misuse.trial import Case, Outcome, complaint_of, differences
from tests.misuse.world import seen_of_graph, seen_of_state

Sees = Callable[[], object]
Does = Callable[[], object]
Sequence = Callable[[], tuple[Sees, Does]]


class OwnError(Exception):
    """An error of a function that a user has written."""


class Bead(Subsystem):
    """A bead on a wire, whose functions do what a test wants."""

    weight = parameter(2.0)
    place = q_variable(0.5)
    speed = u_variable(0.25)

    def __init__(self) -> None:
        self.acts: dict[str, Callable[[State], object]] = {}  # by place

    def do(self, where: str, state: State) -> None:
        """Do what the test wants, if it wants it here."""
        if where in self.acts:
            self.acts[where](state)

    @cached(prerequisites=(place, weight))
    def force(self, state: State) -> float:
        """A force."""
        self.do("entry", state)
        return self.place(state) * self.weight(state)

    @cached(prerequisites=(place,), equal=lambda _, __: raising(True))
    def compared(self, state: State) -> float:
        """A number, whose comparison raises."""
        return self.place(state)

    @cached(prerequisites=(compared,))
    def below(self, state: State) -> float:
        """Another number."""
        return self.compared(state)

    def realize_velocity(self, state: State) -> None:
        """A hook."""
        self.do("hook", state)

    def realize_acceleration(self, state: State) -> None:
        """Nothing accelerates it."""
        state[self].upd_udot()[:] = 0.0


def raising(value: object) -> bool:
    """Raise an error of the user."""
    raise OwnError(f"on purpose, at {value!r}")


# ---------------------------------------------------------------------- inside of functions

INSIDE: Final[dict[str, Callable[[Bead, State], object]]] = {
    "writes a parameter": lambda bead, state: bead.weight.set(state, 3.0),
    "writes q": lambda bead, state: setattr(state, "q", [1.0]),
    "writes by a block": lambda bead, state: bead.place.set(state, 1.0),
    "asks for a writable view": lambda bead, state: state.upd_q(),
    "writes the time": lambda bead, state: setattr(state, "time", 1.0),
    "invalidates a stage": lambda bead, state: state.invalidate_all(Stage.INSTANCE),
    "makes a checkpoint": lambda bead, state: state.checkpoint(),
    "assigns the State": lambda bead, state: state.assign(state.system.new_state()),
    "clears the State": lambda bead, state: state.clear(),
    "changes the model": lambda bead, state: setattr(bead, "colour", "red"),
    "adds a subsystem": lambda bead, state: bead.system.add(Bead(), "other"),
    "changes the topology": lambda bead, state: bead.system.invalidate_topology_cache(),
    "adds a handler": lambda bead, state: bead.system.add_event_handler(
        PeriodicEventHandler(1.0, lambda _: None)
    ),
    "reads itself": lambda bead, state: bead.force(state),
    "reads a later stage": lambda bead, state: state.udoterr,
    "raises": lambda bead, state: raising(state.time),
}


def inside(where: str, act: Callable[[Bead, State], object]) -> Sequence:
    """Return a sequence that does something inside of an entry, or of a hook."""

    def sequence() -> tuple[Sees, Does]:
        bead = Bead()
        system = System(bead, name="wire")
        state = system.new_state()
        system.realize(state, Stage.POSITION)
        bead.acts[where] = lambda given: act(bead, given)

        def do() -> None:
            if where == "entry":
                bead.force(state)
            else:
                system.realize(state, Stage.ACCELERATION)

        def sees() -> object:
            seen = seen_of_state(state)
            del seen["subsystems"]  # those before this one have reached the stage
            return seen, repr(system.subsystems)

        return sees, do

    return sequence


def inside_of_graph(act: Callable[[Graph], object]) -> Sequence:
    """Return a sequence that does something inside of an entry of a Graph."""

    def sequence() -> tuple[Sees, Does]:
        graph = Graph("pendulum")
        graph.variable("angle", 1.0)
        graph.entry("tip", lambda: act(graph))
        return (lambda: seen_of_graph(graph)), graph["tip"]

    return sequence


def in_event(kind: str, act: Callable[[State], object]) -> Sequence:
    """Return a sequence in which a handler or a reporter does something."""

    def sequence() -> tuple[Sees, Does]:
        system = cart_system()
        if kind == "handler":
            system.add_event_handler(PeriodicEventHandler(1.0, act))  # type: ignore[arg-type]  # is refused
        else:
            system.add_event_reporter(PeriodicEventReporter(1.0, act))
        state = system.new_state()
        system.realize(state)

        def do() -> None:
            if kind == "handler":
                _, events = system.calc_time_of_next_scheduled_event(state)
                system.handle_events(state, EventCause.SCHEDULED, events)
            else:
                _, events = system.calc_time_of_next_scheduled_report(state)
                system.report_events(state, EventCause.SCHEDULED, events)

        return (lambda: seen_of_state(state)), do

    return sequence


# ---------------------------------------------------------------------- others


def rollback_to(what: str) -> Sequence:
    """Return a sequence that goes back to a mark that is dead, or another State's."""

    def sequence() -> tuple[Sees, Does]:
        system = cart_system()
        state = system.new_state()
        system.realize(state)
        mark = state.checkpoint()
        if what == "released":
            mark.release()
        elif what == "given up":
            first, mark = mark, state.checkpoint()
            state.time = 1.0
            state.rollback(first)
        elif what == "of a copy":
            mark = state.copy().checkpoint()
        return (lambda: seen_of_state(state)), lambda: state.rollback(mark)

    return sequence


def handle_after_rollback() -> tuple[Sees, Does]:
    """Use a handle that was allocated after the checkpoint."""
    state = State()
    part = state[state.add_subsystem("pendulum")]
    mark = state.checkpoint()
    variable = part.allocate_discrete_variable(Stage.REPORT, 1.0)
    state.rollback(mark)
    return (lambda: seen_of_state(state)), lambda: variable.set(state, 2.0)


def node_after_rollback() -> tuple[Sees, Does]:
    """Use a node of a Graph that was declared after the checkpoint."""
    graph = Graph("pendulum")
    mark = graph.checkpoint()
    variable = graph.variable("angle", 1.0)
    graph.rollback(mark)
    return (lambda: seen_of_graph(graph)), lambda: variable.set(2.0)


def raising_comparison() -> tuple[Sees, Does]:
    """Let the comparison of an entry raise."""
    bead = Bead()
    system = System(bead)
    state = system.new_state()
    system.realize(state)
    bead.below(state)
    bead.place.set(state, 1.0)
    return (lambda: seen_of_state(state)), lambda: bead.below(state)


def before_initialize(what: str) -> Sequence:
    """Return a sequence that uses a study before it is initialized."""

    def sequence() -> tuple[Sees, Does]:
        system = cart_system()
        state = system.new_state()
        does: dict[str, Does] = {
            "Integrator": lambda: Integrator(system).step_to(1.0),
            "TimeStepper": lambda: TimeStepper(system, Integrator(system)).step_to(1.0),
        }
        return (lambda: seen_of_state(state)), does[what]

    return sequence


def raising_condition() -> tuple[Sees, Does]:
    """Let a condition of an Assembler raise."""
    system = cart_system()
    state = system.new_state()
    assembler = Assembler(system)

    class Broken(Reach):
        def calc_errors(self, state: State) -> None:  # type: ignore[override]  # it raises
            raising(state)

    assembler.add_goal(Broken(system.subsystem("cart")))  # type: ignore[arg-type]  # it is a Cart
    return (lambda: seen_of_state(state)), lambda: assembler.assemble(state)


def raising_simulation() -> tuple[Sees, Does]:
    """Let a hook raise in a simulation."""
    bead = Bead()
    system = System(bead)
    state = system.new_state()
    bead.acts["hook"] = raising
    return (lambda: seen_of_state(state)), lambda: simulate(system, state, 1.0)


def unknown_event() -> tuple[Sees, Does]:
    """Handle an event of no System."""
    system = cart_system()
    state = system.new_state()
    system.realize(state)
    events = [Event(0, "nonsense")]
    return (lambda: seen_of_state(state)), lambda: system.handle_events(
        state, EventCause.TRIGGERED, events
    )


def _of_graph() -> dict[str, Callable[[Graph], object]]:
    return {
        "reads itself": lambda graph: graph["tip"](),
        "is removed": lambda graph: graph.remove(graph["tip"]),
        "makes a checkpoint": lambda graph: graph.checkpoint(),
        "raises": raising,
    }


SEQUENCES: Final[dict[str, Sequence]] = {
    **{f"an entry {name}": inside("entry", act) for name, act in INSIDE.items()},
    **{
        f"a hook {name}": inside("hook", act)
        for name, act in INSIDE.items()
        if name != "reads itself"
    },
    **{f"an entry of a Graph {name}": inside_of_graph(act) for name, act in _of_graph().items()},
    "a handler raises": in_event("handler", raising),
    "a handler writes the time": in_event("handler", lambda state: setattr(state, "time", 2.0)),
    "a handler returns a number": in_event("handler", lambda _: 3),
    "a reporter raises": in_event("reporter", raising),
    "a reporter writes": in_event("reporter", lambda state: setattr(state, "time", 2.0)),
    "a mark was released": rollback_to("released"),
    "a mark was given up": rollback_to("given up"),
    "a mark is of a copy": rollback_to("of a copy"),
    "a handle was rolled back": handle_after_rollback,
    "a node was rolled back": node_after_rollback,
    "a comparison raises": raising_comparison,
    "a condition raises": raising_condition,
    "a hook raises in a simulation": raising_simulation,
    "an event is unknown": unknown_event,
    **{
        f"{name} before initialize": before_initialize(name)
        for name in ("Integrator", "TimeStepper")
    },
}


def try_sequence(name: str) -> Outcome:
    """Go through a sequence; an error of the user comes through as it is, and any other is ours."""
    sees, does = SEQUENCES[name]()
    before = {"all": sees()}
    case = Case("in time", "sequence", name, call(does))
    try:
        does()
    except OwnError:
        return _compared(case, "OwnError", before, sees)
    except StagecacheError as error:
        anything = PublicCallable("", (), frozenset({type(error).__name__}))
        complaint = complaint_of(error, anything)
        outcome = _compared(case, type(error).__name__, before, sees)
        return outcome if outcome.complaint else evolve(outcome, complaint=complaint)
    return Outcome(case, "", "is accepted")


def _compared(case: Case, error: str, before: dict[str, object], sees: Sees) -> Outcome:
    changed = differences(before, {"all": sees()})
    return Outcome(case, error, f"something has changed: {changed}" if changed else "")
