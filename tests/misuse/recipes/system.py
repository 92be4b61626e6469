"""Valid calls of Systems and Subsystems, of declarations, events, projection and dynamics."""

from typing import Any, Final

import numpy as np
from attrs import evolve

import stagecache
from stagecache import (
    EventCause,
    HandleEventsOptions,
    PeriodicEventHandler,
    PeriodicEventReporter,
    ProjectOptions,
    ScheduledEventHandler,
    ScheduledEventReporter,
    Stage,
    State,
    Study,
    Subsystem,
    System,
    TriggerDirection,
    TriggeredEventHandler,
    TriggeredEventReporter,
    at_initialization,
    at_termination,
    auto_update,
    cached,
    discrete,
    event_trigger,
    generalized_force,
    input_port,
    inverse_mass_matrix,
    kinematics,
    load_state,
    mass_matrix,
    modeling_option,
    parameter,
    periodic,
    profile,
    q_variable,
    quaternion_kinematics,
    quaternion_normalization,
    scheduled,
    solve_constrained,
    u_variable,
)
from stagecache.system import (
    ALL,
    InitializationEventHandler,
    InitializationEventReporter,
    TerminationEventHandler,
    TerminationEventReporter,
    kinematic_blocks,
)
from tests.misuse.models import Cart
from tests.misuse.recipe import Call, Recipe, Recipes, call, item, setting
from tests.misuse.world import World


def of_state(name: str) -> Recipe:
    """Return a recipe of a method of the System that takes a State alone."""
    return lambda w: call(getattr(w.system, name), w.state)


def product(name: str, size: str) -> Recipe:
    """Return a recipe of a product with the matrix N."""
    return lambda w: call(getattr(w.system, name), w.state, np.ones(getattr(w.state, size)))


def of_constraints(name: str, *sizes: int) -> Recipe:
    """Return a recipe of a product with a Jacobian of constraints, or of the matrix itself."""
    return lambda w: call(getattr(w.multibody, name), w.pose, *map(np.ones, sizes))


def variable(declare: Any) -> Recipe:
    """Return a recipe of a declaration of a variable."""
    return lambda _: call(declare, 1.0).but(
        count=[0.5, "x"], factory=["x", lambda: 1.0], invalidates=Stage.EMPTY
    )


def errors(name: str) -> Recipe:
    """Return a recipe of a declaration of a constraint error, as a decorator."""
    return lambda _: call(
        lambda **options: getattr(stagecache, name)(**options)(lambda self, state: 0.0)
    ).but(prerequisites=[3, "force", [3], ["force"]], size=[-1, 1.5])


def decorating(declare: Any, function: Any, *arguments: object, **options: object) -> Call:
    """Return the declaration of an entry by a decorator."""
    return call(lambda *given, **named: declare(*given, **named)(function), *arguments, **options)


def _event(w: World) -> Any:
    state = w.system.new_state()
    w.system.realize(state, Stage.INSTANCE)
    return w.system.calc_event_trigger_info(state)[0].event


def _with_reporter(w: World) -> tuple[Any, Any]:
    w.system.add_event_reporter(PeriodicEventReporter(1.0, _nothing))
    state = w.system.new_state()
    w.kept["reported"] = state
    return state, w.system.calc_time_of_next_scheduled_report(state)[1]


def _nothing(state: State) -> None:
    assert state


def _spring() -> Any:
    class Spring(Subsystem):
        place = q_variable(1.0)

    return Spring()


Q, U = q_variable(np.array([1.0, 0.0, 0.0, 0.0])), u_variable(np.zeros(3))


def masses(declare: Any) -> Recipe:
    """Return a recipe of a declaration that is called with variables and decorates a function."""
    return lambda _: call(
        lambda *variables, **options: declare(*variables, **options)(lambda self, state: np.eye(3)),
        U,
    ).but(variables=[3, "u", None, parameter(1.0)], prerequisites=[3, ["u"]])


def _at_cause(kind: Any) -> Recipe:
    """Return a recipe of a listener to the beginning or the end of a study."""
    return lambda _: call(kind, lambda state: None)


LISTENERS: Final[Recipes] = {
    "ScheduledEventHandler": lambda _: call(ScheduledEventHandler, lambda state: None, 1.0),
    "ScheduledEventReporter": lambda _: call(ScheduledEventReporter, lambda state: None, 1.0),
    "PeriodicEventHandler": lambda _: call(PeriodicEventHandler, 1.0, lambda state: None).but(
        interval=[0.0, -1.0]
    ),
    "PeriodicEventReporter": lambda _: call(PeriodicEventReporter, 1.0, lambda state: None).but(
        interval=[0.0, -1.0]
    ),
    "InitializationEventHandler": _at_cause(InitializationEventHandler),
    "InitializationEventReporter": _at_cause(InitializationEventReporter),
    "TerminationEventHandler": _at_cause(TerminationEventHandler),
    "TerminationEventReporter": _at_cause(TerminationEventReporter),
    "TriggeredEventHandler": lambda _: call(
        TriggeredEventHandler, Stage.POSITION, lambda state: 1.0, lambda state: None
    ).but(direction="sideways", localization_window=[0.0, -1.0], look_every=[0.0, -1.0]),
    "TriggeredEventReporter": lambda _: call(
        TriggeredEventReporter, Stage.POSITION, lambda state: 1.0, lambda state: None
    ).but(direction="sideways", localization_window=[0.0, -1.0], look_every=[0.0, -1.0]),
}

RECIPES: Final[Recipes] = {
    "System": lambda _: call(System, Cart()).but(subsystems=[Cart, System(), 3]),
    "System.add": lambda w: call(w.system.add, Cart(), "third").but(
        subsystem=[Cart, w.cart, None], name=["cart", ""]
    ),
    "System.add_event_handler": lambda w: call(
        w.system.add_event_handler, PeriodicEventHandler(1.0, _nothing_done)
    ).but(handler=[3, None, PeriodicEventReporter(1.0, _nothing), PeriodicEventHandler], name=[""]),
    "System.add_event_reporter": lambda w: call(
        w.system.add_event_reporter, PeriodicEventReporter(1.0, _nothing)
    ).but(
        reporter=[3, None, PeriodicEventHandler(1.0, _nothing_done), PeriodicEventReporter],
        name=[""],
    ),
    "System.calc_decorative_geometry_and_append": lambda w: call(
        w.system.calc_decorative_geometry_and_append, w.state, Stage.POSITION, []
    ),
    **{
        f"System.{name}": of_state(name)
        for name in (
            "calc_event_trigger_info",
            "calc_time_of_next_scheduled_event",
            "calc_time_of_next_scheduled_report",
            "free_q_index",
            "free_u_index",
            "prescribe",
            "prescribe_q",
            "prescribe_u",
            "project",
            "project_q",
            "project_u",
            "realize_model",
            "record_hooks",
        )
    },
    "System.realize": lambda w: call(w.system.realize, w.state, Stage.REPORT),
    "System.get": lambda w: call(w.system.get, Cart, "cart").but(
        kind=[State, None, 3, "Cart"], name="nonsense"
    ),
    "System.handle_events": lambda w: call(
        w.system.handle_events, w.state, EventCause.TRIGGERED, [_event(w)]
    ).but(cause=[3, None, "TRIGGERED"], events=[[3], [None], _event(w)], options=3),
    "System.report_events": lambda w: _report(w).but(
        cause=[3, None, "TRIGGERED"], events=[[3], [None], [_event(w)]]
    ),
    "System.connect": lambda w: call(w.system.connect, w.cart.force, w.cart.push).but(
        source=[Cart.force, w.cart, w.cart.springs, 3.0, lambda: 1.0, w.foreign.cart.force],
        port=[Cart.push, w.cart.force, w.cart.stiffness, "cart.push", w.foreign.cart.push],
    ),
    "System.fix": lambda w: call(w.system.fix, w.cart.push, 1.0).but(
        port=[Cart.push, w.cart.force, "cart.push", w.foreign.cart.push], value=["x", None, True]
    ),
    "System.disconnect": lambda w: call(w.system.disconnect, _connected(w)).but(
        port=[Cart.push, w.cart.force, "cart.push", w.foreign.cart.push]
    ),
    "System.source_of": lambda w: call(w.system.source_of, w.cart.push).but(
        port=[Cart.push, w.cart.force, "cart.push", w.foreign.cart.push]
    ),
    "System.invalidate_topology_cache": lambda w: call(w.system.invalidate_topology_cache),
    "System.is_same_system": lambda w: call(w.system.is_same_system, w.system),
    "System.multiply_by_n": product("multiply_by_n", "nu"),
    "System.multiply_by_g": of_constraints("multiply_by_g", 2),
    "System.multiply_by_v": of_constraints("multiply_by_v", 2),
    "System.multiply_by_p": of_constraints("multiply_by_p", 2),
    "System.multiply_by_pq": of_constraints("multiply_by_pq", 2),
    "System.multiply_by_g_transpose": of_constraints("multiply_by_g_transpose", 0),
    "System.multiply_by_v_transpose": of_constraints("multiply_by_v_transpose", 0),
    "System.multiply_by_p_transpose": of_constraints("multiply_by_p_transpose", 0),
    "System.multiply_by_pq_transpose": of_constraints("multiply_by_pq_transpose", 0),
    "System.calc_g": of_constraints("calc_g"),
    "System.calc_v": of_constraints("calc_v"),
    "System.calc_p": of_constraints("calc_p"),
    "System.calc_pq": of_constraints("calc_pq"),
    "System.calc_projected_m_inv": of_constraints("calc_projected_m_inv"),
    "System.calc_constraint_acceleration_errors": of_constraints(
        "calc_constraint_acceleration_errors", 2
    ),
    "System.multiply_by_n_transpose": product("multiply_by_n_transpose", "nq"),
    "System.multiply_by_n_pinv": product("multiply_by_n_pinv", "nq"),
    "System.multiply_by_n_pinv_transpose": product("multiply_by_n_pinv_transpose", "nu"),
    "System.new_state": lambda w: call(w.system.new_state),
    "System.realize_topology": lambda w: call(w.system.realize_topology),
    "System.relax": lambda w: call(w.system.relax, w.state, Stage.POSITION),
    "System.subsystem": lambda w: call(w.system.subsystem, "cart"),
    "System.topology_cache_version =": lambda w: setting(w.system, "topology_cache_version", 9),
    "SystemStatistics.num_realizations": lambda w: call(
        w.system.statistics.num_realizations, Stage.POSITION
    ),
    "SystemStatistics.num_handler_calls_that_changed_stage": lambda w: call(
        w.system.statistics.num_handler_calls_that_changed_stage, Stage.POSITION
    ),
    "SystemStatistics.reset": lambda w: call(w.system.statistics.reset),
    "Subsystem": lambda _: call(Subsystem),
    "load_state": lambda w: call(
        load_state, w.file("state", lambda path: path.write_bytes(w.state.to_bytes())), w.system
    ).but(
        path=[
            w.file("damaged", lambda path: path.write_bytes(b"damaged")),
            w.file("cut", lambda path: path.write_bytes(w.state.to_bytes()[:-9])),
        ],
        system=_other_system(),
        renamed={"nonsense": "cart.stiffness"},
    ),
    # ------------------------------------------------------------------ declarations
    "parameter": variable(parameter),
    "modeling_option": variable(modeling_option),
    "q_variable": variable(q_variable),
    "u_variable": variable(u_variable),
    "z_variable": variable(stagecache.z_variable),
    "discrete": lambda _: call(discrete, 1.0, invalidates=Stage.REPORT),
    "auto_update": lambda _: call(
        auto_update, 1.0, invalidates=Stage.REPORT, available_from=Stage.POSITION
    ),
    "cached": lambda _: evolve(
        decorating(cached, lambda self, state: 1.0, prerequisites=(Q,)).but(
            prerequisites=[3, "q", (Q, Q), [ALL, 3], type(ALL), "ALL"], equal=[3, "x"], version=3
        ),
        only=frozenset({"prerequisites", "equal", "version", "computed_by", "available_from"}),
    ),
    "input_port": lambda _: call(input_port, float, default=0.0).but(
        kind=[3.0, "float", None, list[float]], default=["x", True], invalidates=Stage.MODEL
    ),
    "position_error": errors("position_error"),
    "velocity_error": errors("velocity_error"),
    "acceleration_error": errors("acceleration_error"),
    "normalization_error": errors("normalization_error"),
    "periodic": lambda _: decorating(periodic, lambda self, state: None, 0.5).but(
        interval=[0.0, -1.0, lambda: 1.0]
    ),
    "scheduled": lambda _: decorating(scheduled, lambda self, state: None, 0.5).but(
        next_time=[lambda state: 1.0]
    ),
    "at_initialization": lambda _: decorating(at_initialization, lambda self, state: None),
    "at_termination": lambda _: decorating(at_termination, lambda self, state: None),
    "event_trigger": lambda _: decorating(
        event_trigger, lambda self, state: 1.0, stage=Stage.POSITION
    ).but(direction="sideways", localization_window=[0.0, -1.0], prerequisites=[3, ["q"]]),
    "kinematics": lambda _: call(
        lambda *variables, **options: kinematics(*variables, **options)(
            lambda self, state: np.eye(3)
        ),
        Q,
        U,
    ).but(variables=[3, "u", None, parameter(1.0)], prerequisites=[3, ["u"]]),
    "quaternion_kinematics": lambda _: call(quaternion_kinematics, Q, U).but(
        orientation=[U, 3], spin=[Q, 3], frame="sideways"
    ),
    "quaternion_normalization": lambda _: call(quaternion_normalization, Q).but(orientation=[U, 3]),
    "mass_matrix": masses(mass_matrix),
    "inverse_mass_matrix": masses(inverse_mass_matrix),
    "generalized_force": masses(generalized_force),
    "Family[...]": lambda w: item(w.cart.springs, 0).but(
        index=[2, -3, "nonsense", None, 1.5, 10**30]
    ),
    "Family.member": lambda w: call(w.cart.springs.member, 0).but(number=["x", None, 1.5]),
    # ------------------------------------------------------------------ events
    **LISTENERS,
    "TriggerDirection.includes": lambda _: call(TriggerDirection.ANY.includes, rising=True),
    "HandleEventsOptions": lambda _: call(HandleEventsOptions, 1e-3).but(
        accuracy=[0.0, -1.0], constraint_tolerance=[0.0, -1.0]
    ),
    "ProjectOptions": lambda _: call(ProjectOptions, 1e-3).but(
        accuracy=[0.0, -1.0], overshoot=[0.0, -1.0, 2.0], projection_limit=[-1.0]
    ),
    "kinematic_blocks": lambda w: call(kinematic_blocks, w.state),
    "solve_constrained": lambda _: call(
        solve_constrained, np.eye(2), np.array([[1.0, 0.0]]), np.ones(2), np.zeros(1)
    ).but(mass=[-np.eye(2), np.eye(3), np.zeros((2, 2))], jacobian=np.ones((1, 3))),
    "profile": lambda w: call(profile, w.system, w.cart.force),
    "Study": lambda w: call(_OwnStudy, w.system, "study"),
}


class _OwnStudy(Study):
    @property
    def state(self) -> State:
        """A State."""
        return self.system.default_state


def _nothing_done(state: State) -> None:
    assert state


def _report(w: World) -> Call:
    state, events = _with_reporter(w)
    return call(w.system.report_events, state, EventCause.SCHEDULED, events)


def _connected(w: World) -> Any:
    if w.system.source_of(w.cart.push) is not w.cart.force:  # the world is that of an earlier call
        w.system.connect(w.cart.force, w.cart.push)
    return w.cart.push


def _other_system() -> System:
    return System(_spring(), name="springs")
