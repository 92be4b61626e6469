"""Which events there are: declared ones and added ones, their triggers, names and refusals."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    TriggerDirection,
    event_trigger,
    position_error,
    q_variable,
    simbody,
    strict,
    u_variable,
)
from stagecache.errors import (
    AdoptionError,
    ComputeSignatureError,
    ConstModelError,
    DeclarationError,
    DuplicateNameError,
    EventTimeError,
    ForeignStateError,
    InvalidNameError,
    NotANumberError,
    NoValueError,
    OutOfRangeError,
    StagecacheError,
    StageOutOfRangeError,
    StageTooLowError,
    TopologyVersionError,
    WrongTypeError,
)
from stagecache.system.events.events import EventCause
from stagecache.system.events.handlers import (
    AbstractEventHandler,
    PeriodicEventHandler,
    PeriodicEventReporter,
    ScheduledEventHandler,
    ScheduledEventReporter,
    TriggeredEventHandler,
    TriggeredEventReporter,
)
from stagecache.testing import check_coherence, check_pickle, check_strict, check_threads
from tests.profiles import examples
from tests.system.event_models import Ball, started

POSITION, VELOCITY, ACCELERATION = Stage.POSITION, Stage.VELOCITY, Stage.ACCELERATION


def nothing(state: State) -> None:
    pass


def speed(state: State) -> float:
    return float(state.u[0])


def speed_of(self: Any, state: State) -> float:  # as a trigger is computed
    return speed(state)


def energy(state: State) -> float:
    """Of a ball, by the vectors of the whole System."""
    return float(state.qdot[0] ** 2 / 2 + 9.8 * state.q[0])


# ---------------------------------------------------------------------- triggers of both kinds


def watched() -> tuple[System, State]:
    """Two balls, and three triggers that were added."""
    system = System(one=Ball(), two=Ball())
    system.add_event_handler(TriggeredEventHandler(ACCELERATION, lambda s: s.udot[1], nothing))
    system.add_event_handler(TriggeredEventHandler(VELOCITY, energy, nothing, "rising", 0.5))
    system.add_event_reporter(
        TriggeredEventReporter(VELOCITY, speed, nothing, TriggerDirection.FALLING), "slow"
    )
    state = system.new_state()
    state.q = [1.0, 3.0]
    state.u = [-0.5, 0.75]
    system.realize(state, ACCELERATION)
    return system, state


def test_values_of_declared_and_added_triggers_stand_side_by_side() -> None:
    _, state = watched()
    assert list(state.event_triggers_by_stage(POSITION)) == [1.0, -1.0, 3.0, 1.0]
    energy_of_one = 0.125 + 9.8
    assert list(state.event_triggers_by_stage(VELOCITY)) == [
        *(energy_of_one, -0.5),
        *(0.5, -0.5, -0.75, 0.75),
    ]
    assert list(state.event_triggers_by_stage(ACCELERATION)) == [-9.8]


def test_infos_tell_of_each_row_in_the_order_of_the_vector() -> None:
    system, state = watched()
    infos = system.calc_event_trigger_info(state)
    assert [info.index for info in infos] == list(range(state.num_event_triggers))
    found = [(i.name, i.event.name, i.stage, i.direction, i.localization_window) for i in infos]
    rising, falling, any_ = (TriggerDirection(d) for d in ("rising", "falling", "any"))
    assert found == [
        ("one.ground", "one.ground", POSITION, falling, 0.01),
        ("one.top", "one.top", POSITION, rising, 0.1),
        ("two.ground", "two.ground", POSITION, falling, 0.01),
        ("two.top", "two.top", POSITION, rising, 0.1),
        ("nothing 2", "nothing 2", VELOCITY, rising, 0.5),
        ("slow", "slow", VELOCITY, falling, 0.1),
        ("one.limits[0]", "one.limits", VELOCITY, any_, 0.1),
        ("one.limits[1]", "one.limits", VELOCITY, any_, 0.1),
        ("two.limits[0]", "two.limits", VELOCITY, any_, 0.1),
        ("two.limits[1]", "two.limits", VELOCITY, any_, 0.1),
        ("nothing", "nothing", ACCELERATION, any_, 0.1),
    ]


def test_events_have_ids_of_their_own_and_one_for_all_rows_of_a_declaration() -> None:
    system, state = watched()
    events = {info.event for info in system.calc_event_trigger_info(state)}
    assert sorted(event.id for event in events) == list(range(9))
    assert {event.name for event in events if event.is_report} == {"slow"}
    handled = {event.name for event in events if event.handled_by is not None}
    assert handled == {"nothing", "nothing 2", "slow"} | {
        f"{x}.{name}" for x in ("one", "two") for name in ("ground", "top")
    }


def test_ids_stay_the_same_where_sizes_differ() -> None:
    ball = Ball()
    system, state = started(ball)
    before = {info.event for info in system.calc_event_trigger_info(state)}
    ball.is_round.set(state, False)
    system.realize(state, Stage.INSTANCE)
    infos = system.calc_event_trigger_info(state)
    assert {info.event for info in infos} == before
    assert [info.name for info in infos] == ["ball.ground", "ball.top", "ball.limits"]


class ByHand(Subsystem):
    x = q_variable(0.5)

    def realize_instance(self, state: State) -> None:
        state[self].allocate_event_trigger(POSITION, 2)

    def realize_position(self, state: State) -> None:
        state[self].upd_event_triggers_by_stage(POSITION)[-2:] = (6.0, 7.0)

    @event_trigger(stage=POSITION)
    def zero(self, state: State) -> float:
        return self.x(state)


class Allocating(Subsystem):
    def realize_instance(self, state: State) -> None:
        state[self].allocate_event_trigger(POSITION, 1)


def test_triggers_allocated_by_hand_have_events_that_nobody_handles() -> None:
    system = System(ByHand())
    system.add_event_handler(TriggeredEventHandler(POSITION, lambda s: s.q[0], nothing), "of q")
    state = system.new_state()
    system.realize(state, ACCELERATION)
    assert list(state.event_triggers) == [0.5, 0.5, 6.0, 7.0]
    infos = system.calc_event_trigger_info(state)
    assert [info.name for info in infos] == [
        *("of q", "by_hand.zero"),
        *("by_hand.trigger 1 of Position", "by_hand.trigger 2 of Position"),
    ]
    assert [info.event.id for info in infos] == [0, 1, 4, 5]
    assert [info.event.handled_by is None for info in infos] == [False, True, True, True]
    only_by_hand = Allocating()
    for model, row in ((system, 3), (System(only_by_hand), 0)):
        state = model.new_state()
        model.realize(state, ACCELERATION)
        event = model.calc_event_trigger_info(state)[row].event
        results = model.handle_events(state, EventCause.TRIGGERED, [event])
        assert results.has_succeeded
        assert not results.any_change_made


def test_infos_need_instance_and_a_state_of_the_system() -> None:
    system, state = started(Ball(), stage=Stage.MODEL)
    with pytest.raises(StageTooLowError, match="calc_event_trigger_info"):
        system.calc_event_trigger_info(state)
    with pytest.raises(ForeignStateError):
        System(Ball()).calc_event_trigger_info(state)


@given(q=st.floats(-9, 9), u=st.floats(-9, 9), wind=st.floats(-9, 9))
def test_an_added_trigger_is_computed_anew_after_each_write(
    q: float, u: float, wind: float
) -> None:
    ball = Ball()
    system = System(ball)
    values: dict[Stage, Callable[[State], float]] = {
        Stage.TIME: lambda s: s.time + ball.wind(s),
        POSITION: lambda s: ball.height(s) + s.time,
        VELOCITY: lambda s: s.qdot[0] + ball.energy(s),
        Stage.DYNAMICS: lambda s: ball.drag(s) + ball.heat(s),
        ACCELERATION: lambda s: s.udot[0] * ball.mass(s),
    }
    for stage, value in values.items():
        system.add_event_handler(TriggeredEventHandler(stage, value, nothing), f"of {stage}")
    state = system.new_state()
    infos = [i for i in system.calc_event_trigger_info(_at(system, state)) if "of " in i.name]
    rows = [info.index for info in infos]
    writes: list[Callable[[], object]] = [
        lambda: ball.height.set(state, q),
        lambda: ball.speed.set(state, u),
        lambda: ball.wind.set(state, wind),
        lambda: ball.drag.set(state, q + u),
        lambda: ball.mass.set(state, u * wind),
        lambda: setattr(state, "time", q),
    ]
    for write in writes:
        write()
        system.realize(state, ACCELERATION)
        expected = [value(state) for value in values.values()]
        assert np.array_equal(state.event_triggers[rows], expected)


class Slider(Subsystem):
    """Its velocity error follows from the position error, once all hooks have run."""

    x = q_variable(0.5)
    v = u_variable(2.0)

    @position_error()
    def stop(self, state: State) -> float:
        return 3 * self.x(state) - 1

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[:] = self.v(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = 4.0


def test_an_added_trigger_sees_all_that_its_stage_computes() -> None:
    system = System(Slider())
    system.add_event_handler(TriggeredEventHandler(VELOCITY, lambda s: s.uerr[0], nothing))
    system.add_event_handler(
        TriggeredEventHandler(ACCELERATION, lambda s: s.ydot.sum() + s.udoterr[0], nothing)
    )
    state = system.new_state()
    for v in (2.0, 5.0):
        state.u = [v]
        system.realize(state, ACCELERATION)
        assert state.event_triggers == pytest.approx([3 * v, v + 4 + 12])


def _at(system: System, state: State) -> State:
    system.realize(state, ACCELERATION)
    return state


def test_a_value_that_raises_leaves_the_state_at_the_stage_before_and_is_asked_again() -> None:
    class Failing(TriggeredEventHandler):
        fails = True

        def value(self, state: State) -> float:
            if self.fails:
                raise RuntimeError("no value yet")
            return float(state.qdot[0])

        def handle_event(self, state: State) -> None:
            pass

    system = System(Ball())
    system.add_event_handler(TriggeredEventHandler(VELOCITY, speed, nothing))
    failing = system.add_event_handler(Failing(VELOCITY))
    state = system.new_state()
    with pytest.raises(RuntimeError, match="no value yet") as caught:
        system.realize(state)
    assert caught.value.__notes__[0] == "in the value of the trigger failing, at time 0"
    assert state.stage == POSITION
    with pytest.raises(StageTooLowError):
        _ = state.qdot
    failing.fails = False
    system.realize(state)
    assert list(state.event_triggers_by_stage(VELOCITY)[:2]) == [-0.5, -0.5]


def test_a_value_that_is_none_is_refused() -> None:
    system = System(Ball())
    system.add_event_handler(TriggeredEventHandler(POSITION, lambda s: None, nothing), "none")  # type: ignore[arg-type,return-value]  # is refused
    with pytest.raises(NoValueError, match="none"):
        system.realize(system.new_state())


def test_a_system_without_added_triggers_computes_nothing_for_them() -> None:
    system = System(Ball())
    system.add_event_handler(PeriodicEventHandler(0.1, nothing))
    state = system.new_state()
    system.realize(state)
    assert simbody.num_event_triggers_by_stage(state[0], POSITION) == 0
    assert not system.default_subsystem.declarations


def test_the_handle_of_an_added_trigger_outlasts_changes_of_topology_and_travels() -> None:
    system = handled_system()
    system.realize_topology()
    floor = vars(system.default_subsystem)["floor"]
    system.add_event_handler(TriggeredEventHandler(POSITION, speed, bounce), "another")
    state = system.new_state()
    system.realize(state, POSITION)
    assert list(floor(state)) == [1.0]
    assert pickle.loads(pickle.dumps(floor)) is floor


def test_added_triggers_are_in_the_graph_and_can_be_explained() -> None:
    system, state = watched()
    path = "default_system_subsystem.slow"
    node = system.graph[path]
    assert node.variant == "event_trigger"
    assert "is valid" in str(state.explain(path))


def test_a_trigger_has_one_handler() -> None:
    trigger = event_trigger(stage=POSITION)(speed_of)
    assert trigger.handler(speed_of) is speed_of
    with pytest.raises(DeclarationError, match="there is one already"):
        trigger.handler(speed_of)


def test_causes_are_shown_in_plain_words() -> None:
    assert f"{EventCause.TIME_ADVANCED}, {EventCause.TRIGGERED!r}" == (
        "time advanced, EventCause.TRIGGERED"
    )


# ---------------------------------------------------------------------- declared handlers


def test_a_subclass_that_declares_a_trigger_anew_keeps_its_handler() -> None:
    class Higher(Ball):
        @event_trigger(stage=POSITION, direction="falling")
        def ground(self, state: State) -> float:
            return self.height(state) - 0.5

        def stop(self, state: State) -> None:  # type: ignore[override]  # of another class
            self.kicks.set(state, 100)

    higher = Higher()
    system, state = started(higher)
    events = {i.event.name: i.event for i in system.calc_event_trigger_info(state)}
    system.handle_events(state, EventCause.TRIGGERED, [events["higher.ground"]])
    assert (higher.speed(state), higher.kicks(state)) == (0.5, 1)
    system.handle_events(state, EventCause.TRIGGERED, [events["higher.top"]])
    assert higher.kicks(state) == 100


@pytest.mark.parametrize(
    ("direction", "rising", "falling"),
    [("rising", True, False), ("falling", False, True), ("any", True, True)],
)
def test_a_direction_tells_which_changes_it_includes(
    direction: str,
    rising: bool,
    falling: bool,  # parameters of a test
) -> None:
    found = TriggerDirection(direction)
    assert (found.includes(rising=True), found.includes(rising=False)) == (rising, falling)


# ---------------------------------------------------------------------- adding


def test_adding_is_a_change_of_topology() -> None:
    ball = Ball()
    system, state = started(ball)
    version = system.topology_cache_version
    system.add_event_handler(PeriodicEventHandler(0.1, nothing), "tick")
    assert not system.topology_has_been_realized
    assert system.topology_cache_version == version + 1
    with pytest.raises(TopologyVersionError, match="the event handler tick was added"):
        system.realize(state)
    fresh = system.new_state()
    system.add_event_reporter(TriggeredEventReporter(POSITION, speed, nothing))
    with pytest.raises(TopologyVersionError, match="the event reporter nothing was added"):
        system.calc_event_trigger_info(fresh)
    state = system.new_state()
    system.realize(state)
    assert state.event_triggers[0] == -0.5


def test_the_events_of_what_is_added_later_are_known() -> None:
    system, state = started(Ball())
    assert system.calc_time_of_next_scheduled_event(state) == (np.inf, ())
    for interval, name in ((2.0, "slow"), (1.0, "quick")):
        system.add_event_handler(PeriodicEventHandler(interval, nothing), name)
        time, events = system.calc_time_of_next_scheduled_event(system.new_state(), False)
        assert (time, [event.name for event in events]) == (interval, [name])


def bounce(state: State) -> None:
    pass


class KickIt(PeriodicEventHandler):
    def handle_event(self, state: State) -> None:
        pass


def index(state: State) -> None:
    pass


def _hidden(state: State) -> None:
    pass


def test_names_come_from_classes_functions_or_numbers() -> None:
    system = System()
    added = [
        system.add_event_handler(PeriodicEventHandler(1.0, bounce)),
        system.add_event_handler(PeriodicEventHandler(1.0, bounce)),
        system.add_event_handler(KickIt(1.0)),
        system.add_event_handler(PeriodicEventHandler(1.0, lambda state: None)),
        system.add_event_handler(PeriodicEventHandler(1.0, bounce), "by name"),
        *[
            system.add_event_handler(PeriodicEventHandler(1.0, action))
            for action in (bounce, index, _hidden)
        ],
    ]
    reporter = system.add_event_reporter(PeriodicEventReporter(1.0, lambda state: None))
    names = ["bounce", "bounce 2", "kick_it", "handler 4", "by name"]
    names += ["bounce 3", "handler 7", "handler 8"]
    assert [handler.name for handler in added] == names
    assert reporter.name == "reporter 1"
    assert system.event_handlers == tuple(added)
    assert system.event_reporters == (reporter,)
    assert repr(reporter) == "<PeriodicEventReporter 'reporter 1' of 'system'>"
    assert repr(KickIt(2.0)) == "<KickIt of no System>"


def adding(who: Any, name: Any = None) -> Callable[[System], object]:
    return lambda system: system.add_event_handler(who, name)


@pytest.mark.parametrize(
    ("error", "hint", "act"),
    [
        (WrongTypeError, "pass PeriodicEventHandler(...)", adding(nothing)),
        (WrongTypeError, "pass PeriodicEventHandler(...)", adding(PeriodicEventHandler)),
        (WrongTypeError, "pass PeriodicEventHandler(...)", adding(AbstractEventHandler())),
        (WrongTypeError, "call add_event_reporter()", adding(PeriodicEventReporter(1.0, nothing))),
        (
            WrongTypeError,
            "call add_event_handler()",
            lambda system: system.add_event_reporter(PeriodicEventHandler(1.0, nothing)),
        ),
        (
            AdoptionError,
            "another instance",
            lambda system: system.add_event_handler(system.event_handlers[0]),
        ),
        (
            AdoptionError,
            "another instance",
            lambda system: System().add_event_handler(system.event_handlers[0]),
        ),
        (DuplicateNameError, "choose another", adding(KickIt(1.0), "tick")),
        (InvalidNameError, "", adding(KickIt(1.0), "")),
        (InvalidNameError, "", adding(KickIt(1.0), 3)),
        (InvalidNameError, "", adding(KickIt(1.0), "index")),
        (InvalidNameError, "", adding(KickIt(1.0), "_system")),
        (InvalidNameError, "", adding(KickIt(1.0), "ball.ground")),
    ],
)
def test_what_cannot_be_added_changes_nothing(
    error: type[StagecacheError], hint: str, act: Callable[[System], object]
) -> None:
    system = System(Ball())
    system.add_event_handler(PeriodicEventHandler(0.1, nothing), "tick")
    state = system.new_state()
    with pytest.raises(error) as caught:
        act(system)
    assert hint in caught.value.hint
    system.realize(state)
    assert len(system.event_handlers) == 1


def test_nothing_is_added_while_the_model_is_realized_or_an_event_handled() -> None:
    class Adding(Subsystem):
        def realize_time(self, state: State) -> None:
            self.system.add_event_handler(KickIt(1.0))

    system = System(Adding())
    with pytest.raises(ConstModelError):
        system.realize(system.new_state())

    def extend(state: State) -> None:
        state.system.add_event_handler(KickIt(1.0))

    for method in ("handle_events", "report_events"):
        system = System(Ball())
        if method == "handle_events":
            system.add_event_handler(PeriodicEventHandler(1.0, extend))
            find = system.calc_time_of_next_scheduled_event
        else:
            system.add_event_reporter(PeriodicEventReporter(1.0, extend))
            find = system.calc_time_of_next_scheduled_report
        state = system.new_state()
        with pytest.raises(ConstModelError):
            getattr(system, method)(state, EventCause.SCHEDULED, find(state)[1])
        system.realize(state)
        system.add_event_handler(KickIt(1.0))  # now it can be


# ---------------------------------------------------------------------- making them


class Waiting(PeriodicEventHandler):
    async def handle_event(self, state: State) -> None:  # type: ignore[override]  # is refused
        pass


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (DeclarationError, lambda: PeriodicEventHandler(1.0)),
        (DeclarationError, lambda: KickIt(1.0, bounce)),
        (DeclarationError, lambda: ScheduledEventHandler(bounce)),
        (DeclarationError, lambda: TriggeredEventHandler(POSITION, None, bounce)),
        (DeclarationError, lambda: TriggeredEventHandler(POSITION, speed, bounce, "up")),
        (DeclarationError, lambda: TriggeredEventReporter(POSITION, speed)),
        (DeclarationError, lambda: ScheduledEventReporter(None, 1.0)),
        (DeclarationError, lambda: PeriodicEventReporter(1.0)),
        (WrongTypeError, lambda: PeriodicEventHandler(1.0, 3)),  # type: ignore[arg-type]
        (WrongTypeError, lambda: Waiting(1.0)),
        (ComputeSignatureError, lambda: PeriodicEventHandler(1.0, lambda: None)),  # type: ignore[arg-type,misc]
        (ComputeSignatureError, lambda: ScheduledEventHandler(bounce, lambda state: 1.0)),  # type: ignore[arg-type,misc]
        (StageOutOfRangeError, lambda: TriggeredEventHandler(Stage.REPORT, speed, bounce)),
        (StageOutOfRangeError, lambda: TriggeredEventReporter(Stage.INSTANCE, speed, bounce)),
        (OutOfRangeError, lambda: TriggeredEventHandler(POSITION, speed, bounce, "any", 0.0)),
        (OutOfRangeError, lambda: event_trigger(stage=POSITION, localization_window=-1.0)),
        (DeclarationError, lambda: event_trigger(stage=POSITION, initially=True)),
        (OutOfRangeError, lambda: event_trigger(stage=POSITION, size=0)),
        (OutOfRangeError, lambda: PeriodicEventHandler(0.0, bounce)),
        (OutOfRangeError, lambda: PeriodicEventReporter(-1.0, bounce)),
        (EventTimeError, lambda: PeriodicEventHandler(float("nan"), bounce)),
        (EventTimeError, lambda: PeriodicEventHandler(1.0, bounce, float("inf"))),
        (EventTimeError, lambda: ScheduledEventHandler(bounce, float("inf"))),
        (NotANumberError, lambda: PeriodicEventHandler("1 s", bounce)),  # type: ignore[arg-type]
        (ComputeSignatureError, lambda: event_trigger(stage=POSITION)(speed_of).handler(nothing)),
    ],
)
def test_a_handler_that_makes_no_sense_is_refused_when_it_is_made(
    error: type[StagecacheError], make: Callable[[], object]
) -> None:
    with pytest.raises(error) as caught:
        make()
    assert caught.value.hint


# ---------------------------------------------------------------------- other processes


class Floor(TriggeredEventHandler):
    """Knows the ball, as handlers do."""

    def __init__(self, ball: Ball) -> None:
        super().__init__(POSITION, direction="falling")
        self.ball = ball

    def value(self, state: State) -> float:
        return self.ball.height(state)

    def handle_event(self, state: State) -> None:
        self.ball.speed.set(state, -self.ball.speed(state))


def handled_system() -> System:
    ball = Ball()
    system = System(ball)
    system.add_event_handler(Floor(ball))
    system.add_event_handler(PeriodicEventHandler(0.5, bounce))
    system.add_event_reporter(ScheduledEventReporter(nothing, 2.0))
    return system


@pytest.mark.parametrize("through", ["system", "handler", "state", "subsystem"])
def test_a_system_with_handlers_can_be_pickled(through: str) -> None:
    system = handled_system()
    state = system.new_state()
    what = {
        "system": system,
        "handler": system.event_handlers[0],
        "state": state,
        "subsystem": system["ball"],
    }[through]
    text = pickle.dumps((what, system, state))
    ball, identity = system["ball"], system._identity
    assert isinstance(ball, Ball)
    system.add_event_handler(KickIt(1.0))  # so that it is not that one which comes back
    _, twin, there = pickle.loads(text)
    assert twin is not system
    assert twin._identity == identity
    assert [handler.name for handler in twin.event_handlers] == ["floor", "bounce"]
    floor = twin.event_handlers[0]
    assert floor.ball is twin["ball"]
    assert floor.is_adopted
    twin.realize(there, ACCELERATION)
    assert list(there.event_triggers) == [1.0, 1.0, -1.0, 0.5, -0.5]
    assert twin.calc_time_of_next_scheduled_event(there, False)[0] == 0.5
    events = [info.event for info in twin.calc_event_trigger_info(there)]
    twin.handle_events(there, EventCause.TRIGGERED, events[:1])
    assert there.u == 0.5
    with pytest.raises(AdoptionError):
        twin.add_event_handler(floor, "again")


def test_a_system_with_a_lambda_expression_cannot_be_pickled() -> None:
    system = System()
    system.add_event_handler(PeriodicEventHandler(0.5, lambda state: None))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(system)


def test_a_copy_of_a_handler_can_be_added_to_another_system() -> None:
    system = handled_system()
    twin = copy.deepcopy(system.event_handlers[1])
    assert not twin.is_adopted
    other = System(Ball())
    assert other.add_event_handler(twin).name == "bounce"
    assert system.event_handlers[1].is_adopted


# ---------------------------------------------------------------------- the testing kit


def test_reads_of_added_triggers_are_watched_in_strict_mode() -> None:
    system, state = watched()
    with strict():
        state.q = [2.0, 2.0]
        system.realize(state, ACCELERATION)
    assert list(state.event_triggers_by_stage(POSITION)) == [2.0, 0.0, 2.0, 0.0]


def test_a_model_with_added_triggers_is_coherent() -> None:
    ball = Ball()
    system = System(ball)
    system.add_event_handler(TriggeredEventHandler(VELOCITY, lambda s: s.qdot[0], nothing))
    system.add_event_handler(TriggeredEventHandler(POSITION, ball.height, nothing))
    system.add_event_reporter(PeriodicEventReporter(0.1, nothing))
    check_coherence(system, settings=examples(30), seed=0)


def test_a_model_with_handlers_passes_the_other_checks_of_the_testing_kit() -> None:
    system = handled_system()
    few = examples(10)
    check_pickle(system, settings=few, seed=0)
    check_strict(system, settings=few, seed=0)
    check_threads(system, settings=few, seed=0)
