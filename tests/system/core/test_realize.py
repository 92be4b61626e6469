"""Realizing a State: which hooks and computations run, and in which order."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from types import FrameType
from typing import Any

import numpy as np
import pytest

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    event_trigger,
    parameter,
    position_error,
    q_variable,
    simbody,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    CacheEntryOutOfDateError,
    ConstModelError,
    ForeignStateError,
    ReadOnlyError,
    RealizationOrderError,
    StageOutOfRangeError,
    StageTooHighError,
    StageTooLowError,
    WrongTypeError,
)
from stagecache.system.core import realizing
from stagecache.system.dynamics.dynamics import generalized_force, mass_matrix
from tests.state.realizing import realize as advance_by_hand
from tests.system.models import (
    REALIZED,
    RUNTIME,
    Chain,
    Crane,
    HookError,
    Joint,
    Log,
    Noting,
    Springs,
    state_of,
)

MODEL, INSTANCE, TIME, POSITION = Stage.MODEL, Stage.INSTANCE, Stage.TIME, Stage.POSITION
VELOCITY, DYNAMICS, ACCELERATION = Stage.VELOCITY, Stage.DYNAMICS, Stage.ACCELERATION
TOPOLOGY, REPORT = Stage.TOPOLOGY, Stage.REPORT


def order(stage: Stage) -> Sequence[str]:
    if stage == POSITION:
        return ("joint", "body", "load")
    return ("load", "joint", "body") if stage == VELOCITY else ("load", "body", "joint")


def hooks(first: Stage, last: Stage) -> Log:
    """What the hooks of a crane note when these stages are realized."""
    return [(stage, name) for stage in REALIZED if first <= stage <= last for name in order(stage)]


def hooks_in(log: Log) -> Log:
    return [item for item in log if isinstance(item[0], Stage)]


def entries_in(log: Log) -> list[str]:
    return [f"{name}.{what}" for what, name in log if isinstance(what, str)]


# ---------------------------------------------------------------------- which hooks, in which order


@pytest.mark.parametrize("stage", RUNTIME)
def test_realize_calls_each_hook_once_stage_by_stage(stage: Stage) -> None:
    crane = Crane()
    state = crane.new_state()
    assert crane.log == hooks(TOPOLOGY, MODEL)
    crane.realize(state, stage)
    assert hooks_in(crane.log) == hooks(TOPOLOGY, stage)
    assert state.stage is stage
    assert [part.stage for part in state] == [stage] * 4


def test_realize_goes_to_report_if_nothing_is_said() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.realize(state)
    assert state.stage is REPORT


def test_realize_to_a_stage_that_is_reached_calls_nothing() -> None:
    crane = Crane()
    state = crane.state_at(VELOCITY)
    for stage in (Stage.EMPTY, POSITION, VELOCITY):
        crane.realize(state, stage)
        crane.realize(state.frozen(), stage)
    assert (crane.log, state.stage) == ([], VELOCITY)


def test_several_steps_are_the_same_as_one() -> None:
    crane = Crane()
    state = crane.state_at()
    for stage in RUNTIME:
        crane.realize(state, stage)
    assert hooks_in(crane.log) == hooks(INSTANCE, REPORT)


WRITES: list[tuple[Callable[[Crane, State], object], Stage]] = [
    (lambda crane, state: setattr(state, "time", 1.0), TIME),
    (lambda crane, state: crane.time.set(state, 1.0), TIME),
    (lambda crane, state: setattr(state, "y", np.zeros(3)), POSITION),
    (lambda crane, state: state.upd_y(), POSITION),
    (lambda crane, state: setattr(state, "q", [1.0]), POSITION),
    (lambda crane, state: crane.joint.angle.set(state, 1.0), POSITION),
    (lambda crane, state: crane.joint.angle.upd(state), POSITION),
    (lambda crane, state: crane.joint.q.set(state, [1.0]), POSITION),
    (lambda crane, state: crane.q.set(state, [1.0]), POSITION),
    (lambda crane, state: state[crane.load].upd_q(), POSITION),
    (lambda crane, state: setattr(state, "u", [1.0]), VELOCITY),
    (lambda crane, state: crane.joint.rate.set(state, 1.0), VELOCITY),
    (lambda crane, state: setattr(state, "z", [1.0]), DYNAMICS),
    (lambda crane, state: crane.joint.fatigue.set(state, 1.0), DYNAMICS),
    (lambda crane, state: crane.body.mass.set(state, 1.0), INSTANCE),
    (lambda crane, state: crane.joint.length.upd(state), INSTANCE),
    (lambda crane, state: crane.joint.is_free.set(state, False), MODEL),
    (lambda crane, state: crane.load.pull.set(state, 1.0), DYNAMICS),
    (lambda crane, state: setattr(state, "u_weights", [2.0]), REPORT),
    (lambda crane, state: setattr(state, "z_weights", [2.0]), REPORT),
    (lambda crane, state: state[crane.joint].upd_u_weights(), REPORT),
    (lambda crane, state: state.upd_qerr_weights(), POSITION),
    (lambda crane, state: state.upd_uerr_weights(), VELOCITY),
    *[(lambda crane, state, g=g: state.invalidate_all(g), g) for g in (MODEL, *RUNTIME)],
]


@pytest.mark.parametrize(("write", "first"), WRITES)
def test_a_write_makes_the_hooks_from_its_stage_on_run_again(
    write: Callable[[Crane, State], object], first: Stage
) -> None:
    crane = Crane()
    state = crane.state_at(REPORT)
    crane.statistics.reset()
    write(crane, state)
    assert (state.stage, crane.log) == (first.prev(), [])
    crane.realize(state)
    assert hooks_in(crane.log) == hooks(first, REPORT)
    counts = [crane.statistics.num_realizations(stage) for stage in Stage]
    assert counts == [int(first <= stage <= REPORT) for stage in Stage]


def test_a_discrete_variable_makes_the_hooks_of_its_own_stage_run() -> None:
    class Switches(Noting):
        m = discrete(0, invalidates=MODEL)
        i = discrete(0, invalidates=INSTANCE)
        t = discrete(0, invalidates=TIME)
        p = discrete(0, invalidates=POSITION)
        v = discrete(0, invalidates=VELOCITY)
        d = discrete(0, invalidates=DYNAMICS)
        a = discrete(0, invalidates=ACCELERATION)
        r = discrete(0, invalidates=REPORT)

    switches = Switches([])
    state = state_of(switches, stage=REPORT)
    for stage in (MODEL, *RUNTIME):
        switches.log.clear()
        getattr(switches, stage.name[0].lower()).set(state, 1)
        state.system.realize(state)
        assert switches.log == [(g, "switches") for g in REALIZED if g >= stage]


def test_a_write_below_what_is_realized_calls_nothing_twice() -> None:
    crane = Crane()
    state = crane.state_at(TIME)
    crane.joint.rate.set(state, 1.0)
    crane.realize(state, VELOCITY)
    assert hooks_in(crane.log) == hooks(POSITION, VELOCITY)


def test_a_hook_that_is_not_overridden_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    for stage in REALIZED:
        hook = f"realize_{stage.name.lower()}"
        monkeypatch.setattr(Subsystem, hook, lambda self, state, hook=hook: called.append(hook))

    class Idle(Subsystem):
        x = q_variable(1.0)

    class Busy(Subsystem):
        def realize_velocity(self, state: State) -> None:
            called.append("busy")

    class Busier(Busy):
        pass

    state_of(Idle(), Busier(), stage=REPORT)
    assert called == ["busy"]


def test_an_order_of_the_system_replaces_that_of_a_stage() -> None:
    class Reversed(Crane):
        def order_subsystems(
            self, stage: Stage, subsystems: tuple[Subsystem, ...]
        ) -> Sequence[Subsystem]:
            assert [s.name for s in subsystems] == ["default_system_subsystem", *order(stage)]
            return subsystems[::-1] if stage in (MODEL, DYNAMICS) else subsystems

    crane = Reversed()
    crane.realize(crane.new_state())
    for stage in REALIZED:
        wanted = order(stage)[::-1] if stage in (MODEL, DYNAMICS) else order(stage)
        assert [name for what, name in crane.log if what is stage] == list(wanted)


@pytest.mark.parametrize("wrong", [lambda s: s[1:], lambda s: [*s, s[1]], lambda s: [*s[1:], s[1]]])
def test_an_order_that_does_not_have_each_subsystem_once_is_refused(
    wrong: Callable[[tuple[Subsystem, ...]], list[Subsystem]],
) -> None:
    class Wrong(Crane):
        def order_subsystems(
            self, stage: Stage, subsystems: tuple[Subsystem, ...]
        ) -> Sequence[Subsystem]:
            return wrong(subsystems) if stage == VELOCITY else subsystems

    crane = Wrong()
    with pytest.raises(RealizationOrderError, match=r"order_subsystems\(Velocity\)") as caught:
        crane.realize_topology()
    assert isinstance(caught.value, ValueError)
    assert "load, joint, body" in caught.value.expected
    assert not crane.topology_has_been_realized


# ---------------------------------------------------------------------- statistics


def test_statistics_count_calls_and_stages_and_forget_them() -> None:
    crane = Crane()
    statistics = crane.statistics
    assert str(statistics) == "nothing was done yet"
    state = crane.new_state()
    crane.realize(state, VELOCITY)
    crane.realize(state, VELOCITY)
    crane.joint.angle.set(state, 1.0)
    crane.realize(state, POSITION)
    counted = {stage: statistics.num_realizations(stage) for stage in Stage}
    once = (TOPOLOGY, MODEL, INSTANCE, TIME, VELOCITY)
    assert counted == {stage: (stage in once) + 2 * (stage == POSITION) for stage in Stage}
    assert statistics.num_realize_calls == 3
    assert "2  realizations of Position" in repr(statistics)
    assert "3  realize calls" in repr(statistics)
    assert "Acceleration" not in repr(statistics)
    statistics.reset()
    assert (statistics.num_realize_calls, statistics.num_realizations(POSITION)) == (0, 0)
    assert crane.statistics is statistics


class Watched(Subsystem):
    """Counts how often its trigger is computed."""

    x = q_variable(0.5)
    v = u_variable(2.0)
    count = 0

    @position_error()
    def stop(self, state: State) -> float:
        return 3 * self.x(state) - 1

    @stop.velocity
    def stop_rate(self, state: State) -> float:
        return 3 * self.v(state)

    @stop.acceleration
    def stop_acceleration(self, state: State) -> float:
        return float(3 * state[self].udot[0])

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[:] = 4.0

    @event_trigger(stage=POSITION)
    def zero(self, state: State) -> float:
        type(self).count += 1
        return self.x(state)


def test_rates_are_realized_as_ever_and_triggers_when_they_are_read() -> None:
    watched = Watched()
    system = System(watched)
    state, other = system.new_state(), system.new_state()
    system.realize(other, ACCELERATION)
    counts = system.statistics
    before, calls = watched.count, counts.num_realize_calls
    for stage in (POSITION, ACCELERATION, ACCELERATION):
        system._realize_rates(state, state._contents, stage)
    assert (watched.count, counts.num_realize_calls) == (before, calls + 3)
    assert state.stage is ACCELERATION
    for name in ("yerr", "ydot", "udoterr", "event_triggers"):
        assert list(getattr(state, name)) == list(getattr(other, name))
    assert watched.count == before + 1


def test_statistics_count_prescribed_motion() -> None:
    crane = Crane()
    state = crane.new_state()
    for _ in range(3):
        crane.prescribe(state)
    counts = crane.statistics
    assert (counts.num_prescribe_q_calls, counts.num_prescribe_u_calls) == (3, 3)


def test_statistics_are_of_all_states_of_one_system() -> None:
    crane, other = Crane(), Crane()
    for _ in range(3):
        crane.state_at(INSTANCE)
    assert crane.statistics.num_realizations(INSTANCE) == 3
    assert other.statistics.num_realizations(INSTANCE) == 0
    with pytest.raises(StageOutOfRangeError):
        crane.statistics.num_realizations(11)  # type: ignore[arg-type]  # is none


def test_a_stage_that_failed_is_not_counted() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.fails.append((POSITION, "body"))
    with pytest.raises(HookError):
        crane.realize(state)
    assert crane.statistics.num_realizations(TIME) == 1
    assert crane.statistics.num_realizations(POSITION) == 0


# ---------------------------------------------------------------------- hooks that fail


@pytest.mark.parametrize("stage", RUNTIME)
def test_a_hook_that_raises_leaves_the_state_at_the_last_stage_and_the_next_call_goes_on(
    stage: Stage,
) -> None:
    crane = Crane()
    state = crane.state_at()
    crane.fails.append((stage, "body"))
    with pytest.raises(HookError):
        crane.realize(state)
    assert state.stage is stage.prev()
    place = order(stage).index("body")
    done = ("default_system_subsystem", *order(stage)[:place])
    for part in state:
        assert part.stage is (stage if part.name in done else stage.prev())
    crane.log.clear()
    crane.realize(state)
    assert hooks_in(crane.log) == hooks(stage, REPORT)[place:]
    assert [part.stage for part in state] == [REPORT] * 4


def test_a_write_after_a_failure_takes_back_what_was_done() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.fails.append((POSITION, "body"))
    with pytest.raises(HookError):
        crane.realize(state)
    assert state[crane.joint].stage is POSITION
    crane.joint.angle.set(state, 4.0)
    assert state[crane.joint].stage is TIME
    crane.log.clear()
    crane.realize(state, POSITION)
    assert hooks_in(crane.log) == hooks(POSITION, POSITION)
    assert crane.load.height(state) == 18.0


def test_a_state_that_is_half_done_is_copied_and_read() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.fails.append((POSITION, "body"))
    with pytest.raises(HookError):
        crane.realize(state)
    assert crane.joint.tip(state) == 1.0
    with pytest.raises(StageTooLowError, match="'place' of subsystem 2 'body'"):
        crane.body.place(state)
    twin = state.copy()
    for s in (state, twin):
        crane.realize(s)
        assert (crane.body.place(s), crane.load.height(s)) == (2.0, 4.0)


def test_what_a_failing_hook_computed_is_not_there_at_once() -> None:
    class Failing(Subsystem):
        x = q_variable(1.0)

        @cached(available_from=POSITION)
        def place(self, state: State) -> float:
            return self.x(state)

        def realize_position(self, state: State) -> None:
            assert self.place(state) == 1.0
            raise HookError

    failing = Failing()
    state = state_of(failing)
    with pytest.raises(HookError):
        state.system.realize(state)
    with pytest.raises(StageTooLowError):
        failing.place(state)


def test_after_a_failure_no_hook_of_model_is_called_twice() -> None:
    class First(Noting):
        option = discrete(0, invalidates=MODEL)

    class Second(Noting):
        pass

    log: Log = []
    first, second = First(log), Second(log)
    state = state_of(first, second)
    first.option.set(state, 1)
    second.fails.append((MODEL, "second"))
    log.clear()
    with pytest.raises(HookError):
        state.system.realize(state)
    state.system.realize_model(state)
    assert log == [(MODEL, "first"), (MODEL, "second"), (MODEL, "second")]


def test_what_was_discarded_after_a_failure_is_not_presumed_computed_once_more() -> None:
    class Failing(Noting):
        pass

    waiting, failing = Waiting(), Failing([])
    state = state_of(waiting, failing)
    failing.fails.append((POSITION, "failing"))
    with pytest.raises(HookError):
        state.system.realize(state)
    assert waiting.presumed.is_valid(state)
    waiting.presumed.invalidate(state)
    state.system.realize(state)
    assert not waiting.presumed.is_valid(state)


def test_what_a_failing_hook_allocated_is_forgotten() -> None:
    class Grabber(Noting):
        option = discrete(0, invalidates=MODEL)

        def realize_model(self, state: State) -> None:
            state[self].allocate_q([1.0])
            state[self].allocate_qerr(1)
            self.note(MODEL)

        def realize_instance(self, state: State) -> None:
            state[self].allocate_qerr(2)
            state[self].allocate_lazy_cache_entry(POSITION, 5.0)
            self.note(INSTANCE)

    grabber = Grabber([])
    state = state_of(grabber)
    for stage in (MODEL, INSTANCE):
        grabber.option.set(state, 1)
        grabber.fails.append((stage, "grabber"))
        with pytest.raises(HookError):
            state.system.realize(state)
        assert state.stage is stage.prev()
        state.system.realize(state, INSTANCE)
        assert (state.nq, state.nqerr) == (1, 3)
        assert simbody.cache_entry_info(state[grabber], 0).available_from is POSITION
        assert not simbody.has_cache_entry(state[grabber], 1)


def test_a_failing_topology_is_realized_anew() -> None:
    crane = Crane()
    crane.fails += [(TOPOLOGY, "joint"), (MODEL, "body")]
    for _ in range(2):
        with pytest.raises(HookError):
            crane.realize_topology()
        assert not crane.topology_has_been_realized
    crane.log.clear()
    assert crane.realize_topology().stage is MODEL
    assert crane.log == hooks(TOPOLOGY, MODEL)
    assert crane.topology_cache_version == 1


def test_an_interrupt_leaves_the_state_at_the_last_stage() -> None:
    class Interrupted(Noting):
        def realize_time(self, state: State) -> None:
            if not self.log.count((TIME, "")):
                self.log.append((TIME, ""))
                raise KeyboardInterrupt

    subsystem = Interrupted([])
    with pytest.raises(KeyboardInterrupt):
        state_of(subsystem, stage=REPORT)
    assert state_of(Interrupted([(TIME, "")]), stage=REPORT).stage is REPORT


class Eager(Subsystem):
    """What realizes its State in a computation."""

    angle = q_variable(0.1)

    @cached(prerequisites=(angle,))
    def wrong(self, state: State) -> float:
        assert isinstance(self.system, System)
        self.system.realize(state, VELOCITY)
        return self.angle(state)


def test_a_computation_does_not_take_its_state_on() -> None:
    eager = Eager()
    state = System(eager).new_state()
    with pytest.raises(ReadOnlyError, match=r"realize\(\): is refused"):
        eager.wrong(state)
    assert state.stage is MODEL
    System.realize(eager.system, state, POSITION)
    with pytest.raises(ReadOnlyError):
        eager.wrong(state)
    assert state.stage is POSITION


class Slider(Subsystem):
    """What is busy at Position, and has an entry that waits for it."""

    x = q_variable(1.0)

    @cached(available_from=POSITION)
    def place(self, state: State) -> float:
        return self.x(state) * 2

    @position_error()
    def gap(self, state: State) -> float:
        return self.x(state) - 1

    def realize_position(self, state: State) -> None:
        self.place(state)


class Idle(Subsystem):
    """What has nothing to do at Position but to let entries wait for it."""

    x = q_variable(3.0)

    def __init__(self, slider: Slider) -> None:
        self.slider = slider

    @cached(available_from=POSITION)
    def place(self, state: State) -> float:
        return self.x(state) * 2

    @cached(prerequisites=lambda self: (self.place, self.slider.place), computed_by=POSITION)
    def sum(self, state: State) -> float:
        return self.place(state) + self.slider.place(state)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()


class Waiting(Subsystem):
    """What is idle at all stages, with an entry whose value a stage presumes."""

    x = q_variable(3.0)

    @cached(available_from=POSITION)
    def place(self, state: State) -> float:
        return self.x(state) * 2

    def realize_topology(self, state: State) -> None:
        self.presumed = state[self].allocate_cache_entry(POSITION, POSITION, 1.0)


class Struck(BaseException):
    """An interrupt."""


def strike(realize: Callable[[], None], line: int) -> bool:
    """Raise before the line of that number that realizing executes; say whether there is one."""
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != realizing.__file__:
            return None
        lines += event == "line"
        if event == "line" and lines == line:
            raise Struck
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        realize()
    except Struck:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.skipif(not realizing.__file__.endswith(".py"), reason="compiled: has no lines")
def test_a_state_that_was_interrupted_anywhere_is_realized_as_a_new_one() -> None:
    slider, waiting = Slider(), Waiting()
    idle = Idle(slider)
    system = System(slider, idle, waiting)
    default = system.realize_topology()

    def found(state: State) -> list[float]:
        system.realize(state)
        assert waiting.presumed.is_valid(state)
        entries = (slider.place, idle.place, waiting.place, idle.sum)
        return [*(entry(state) for entry in entries), *state.qerr]

    def write(state: State) -> None:
        for subsystem in (slider, idle, waiting):
            subsystem.x.set(state, 10.0)

    fresh, written = default.copy(), default.copy()
    write(written)
    wanted = [found(fresh), found(written)]
    assert wanted == [[2.0, 6.0, 6.0, 8.0, 0.0], [20.0, 20.0, 20.0, 40.0, 9.0]]
    for line in count(1):
        state = default.copy()
        state.invalidate_all(MODEL)
        if not strike(partial(system.realize, state), line):
            break
        if line % 2:
            system.realize_model(state)
            write(state)
        assert found(state) == wanted[line % 2], line
        assert found(state.copy()) == wanted[line % 2], line
    assert line > 100


# ---------------------------------------------------------------------- entries


def test_an_entry_is_computed_by_the_stage_that_it_names_and_once() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.realize(state, TIME)
    assert entries_in(crane.log) == []
    crane.realize(state, POSITION)
    assert entries_in(crane.log) == ["load.height", "body.place", "joint.tip"]
    crane.realize(state, VELOCITY)
    assert len(entries_in(crane.log)) == 3
    crane.realize(state)
    assert entries_in(crane.log)[3:] == ["body.momentum", "joint.speed"]
    crane.log.clear()
    for entry in (crane.load.height, crane.body.momentum, crane.joint.tip):
        assert entry.is_valid(state)
        entry(state)
    assert crane.log == []


def test_an_entry_is_computed_after_the_hook_of_its_stage() -> None:
    crane = Crane()
    state = crane.state_at(VELOCITY)
    crane.realize(state, DYNAMICS)
    log = crane.log
    assert log.index((DYNAMICS, "body")) < log.index(("momentum", "body"))
    assert log.index(("momentum", "body")) < log.index((DYNAMICS, "joint"))


class Storing(Subsystem):
    """Its hook computes an entry, and stores the value."""

    def realize_topology(self, state: State) -> None:
        self.place = state[self].allocate_cache_entry(POSITION, POSITION, 0.0, name="place")

    def realize_position(self, state: State) -> None:
        self.place.set(state, state.time)


def test_an_entry_that_a_hook_has_stored_is_valid_when_its_stage_is_reached() -> None:
    storing = Storing()
    system = System(storing)
    state = system.new_state()
    for time in (1.0, 2.0):
        state.time = time
        system.realize(state, TIME)
        assert not storing.place.is_valid(state)
        system.realize(state, POSITION)
        assert storing.place(state) == time


class Mass(Subsystem):
    """Its acceleration comes from dynamics; it does not have a hook."""

    x = q_variable(0.0)
    v = u_variable(0.0)

    @mass_matrix(v, prerequisites=())
    def inertia(self, state: State) -> Any:
        return [[2.0]]

    @generalized_force(v, prerequisites=())
    def force(self, state: State) -> Any:
        return [6.0]


class Meter(Subsystem):
    """Reads the acceleration of a mass."""

    def __init__(self, mass: Mass) -> None:
        self.mass = mass
        self.read: list[float] = []

    def realize_acceleration(self, state: State) -> None:
        self.read.append(float(state[self.mass].udot[0]))


def test_hooks_of_acceleration_may_read_what_dynamics_have_computed() -> None:
    mass = Mass()
    meter = Meter(mass)
    system = System(meter, mass)
    system.realize(system.new_state())
    assert meter.read == pytest.approx([3.0])


def test_a_subsystem_with_dynamics_and_a_hook_keeps_its_place() -> None:
    class Noticed(Mass):
        def realize_acceleration(self, state: State) -> None:
            pass

    noticed = Noticed()
    system = System(Meter(noticed), noticed)
    with pytest.raises(StageTooLowError, match="noticed"):
        system.realize(system.new_state())


def test_an_entry_that_is_up_to_date_is_not_computed_again_by_its_stage() -> None:
    crane = Crane()
    state = crane.state_at(REPORT)
    crane.load.pull.set(state, 5.0)  # takes Dynamics back, and is nothing to the momentum
    crane.realize(state)
    assert entries_in(crane.log) == []
    crane.body.mass.set(state, 5.0)
    crane.realize(state)
    assert entries_in(crane.log).count("body.momentum") == 1


def test_an_entry_that_model_computes_is_tried_again_where_it_failed() -> None:
    class Sized(Subsystem):
        number = discrete(3, invalidates=MODEL)

        def __init__(self) -> None:
            self.bad = [4]

        @cached(computed_by=MODEL, prerequisites=(number,))
        def size(self, state: State) -> int:
            number: int = self.number(state)
            if number in self.bad:
                self.bad.remove(number)
                raise HookError
            return number

    sized = Sized()
    state = state_of(sized)
    assert sized.size.is_valid(state)
    sized.number.set(state, 4)
    with pytest.raises(HookError):
        state.system.realize_model(state)
    assert state[sized].stage is TOPOLOGY
    state.system.realize_model(state)
    assert sized.size.is_valid(state)


def test_an_entry_that_needs_the_sizes_is_read_in_the_hook_of_model() -> None:
    class Counting(Subsystem):
        number = discrete(3, invalidates=MODEL)

        @cached(available_from=MODEL)
        def size(self, state: State) -> int:
            return self.number(state)

        def realize_model(self, state: State) -> None:
            state[self].allocate_q([0.0] * self.size(state))

    assert state_of(Counting()).nq == 3


def test_an_entry_is_read_in_the_hook_of_its_stage_and_computed_once() -> None:
    log: Log = []

    class Reader(Noting):
        length = parameter(2.0)

        @cached(available_from=POSITION, computed_by=POSITION, prerequisites=(length,))
        def mine(self, state: State) -> float:
            self.note("mine")
            return self.length(state)

        def realize_time(self, state: State) -> None:
            with pytest.raises(StageTooLowError, match="'mine' of subsystem 1 'reader'"):
                self.mine(state)

        def realize_position(self, state: State) -> None:
            assert not self.mine.is_valid(state)
            assert self.mine(state) + self.mine(state) == 4.0
            self.note(POSITION)

    reader = Reader(log)
    state = state_of(reader, stage=POSITION)
    assert reader.mine(state) == 2.0
    assert entries_in(log) == ["reader.mine"]


def test_the_hook_of_a_stage_reads_entries_of_those_already_done_and_not_of_those_to_come() -> None:
    seen: list[str] = []

    class Peeking(Crane):
        def __init__(self) -> None:
            super().__init__()
            self.add(Peeker(self), "peeker")

        def order_subsystems(
            self, stage: Stage, subsystems: tuple[Subsystem, ...]
        ) -> Sequence[Subsystem]:
            by_name = {s.name: s for s in subsystems}
            names = ("default_system_subsystem", "joint", "peeker", "body", "load")
            return [by_name[name] for name in names]

    class Peeker(Subsystem):
        def __init__(self, crane: Crane) -> None:
            self.crane = crane

        def realize_position(self, state: State) -> None:
            crane = self.crane
            seen.append(f"{crane.joint.tip(state)}")
            for entry in (crane.body.place, crane.load.height):
                with pytest.raises(StageTooLowError, match=f"'{entry.name}' of subsystem"):
                    entry(state)
                seen.append(str(entry))

    crane = Peeking()
    state = crane.state_at(POSITION)
    assert seen == ["1.0", "body.place", "load.height"]
    assert crane.load.height(state) == 4.0


def test_an_entry_of_a_subsystem_at_a_later_place_waits_for_it_also_after_a_write() -> None:
    crane = Crane()
    state = crane.state_at(REPORT)
    crane.joint.angle.set(state, 1.0)
    with pytest.raises(StageTooLowError, match="'tip' of subsystem 3 'joint'"):
        crane.joint.tip(state)
    crane.realize(state, POSITION)
    assert crane.load.height(state) == 6.0


def test_subsystems_that_need_each_other_at_one_stage_are_computed_in_a_circle() -> None:
    """First's far needs second's near, which needs first's near: no cycle of entries."""
    log: Log = []

    class First(Noting):
        x = q_variable(1.0)
        other: "Second"

        @cached(available_from=POSITION, prerequisites=(x,))
        def near(self, state: State) -> float:
            return self.x(state) + 1

        @cached(
            available_from=POSITION,
            computed_by=POSITION,
            prerequisites=lambda self: (self.other.near,),
        )
        def far(self, state: State) -> float:
            return 10 * self.other.near(state)

    class Second(Noting):
        other: First

        @cached(
            available_from=POSITION,
            computed_by=POSITION,
            prerequisites=lambda self: (self.other.near,),
        )
        def near(self, state: State) -> float:
            return 10 * self.other.near(state)

    first, second = First(log), Second(log)
    first.other, second.other = second, first
    system = System(second, first)
    state = system.new_state()
    system.realize(state)
    assert (first.near(state), second.near(state), first.far(state)) == (2.0, 20.0, 200.0)
    assert [name for what, name in log if what is POSITION] == ["second", "first"]
    first.x.set(state, 2.0)
    system.realize(state, POSITION)
    assert first.far(state) == 300.0


def test_a_failure_inside_of_a_circle_shuts_the_entries_of_those_not_done() -> None:
    class First(Noting):
        other: "Second"

        @cached(available_from=POSITION, prerequisites=lambda self: (self.other.near,))
        def far(self, state: State) -> float:
            return 10 * self.other.near(state)

    class Second(Noting):
        x = q_variable(1.0)
        other: First

        @cached(available_from=POSITION, prerequisites=(x,))
        def near(self, state: State) -> float:
            return self.x(state)

        @cached(available_from=POSITION, prerequisites=lambda self: (self.other.far,))
        def furthest(self, state: State) -> float:
            return 10 * self.other.far(state)

    first, second = First([]), Second([])
    first.other, second.other = second, first
    system = System(first, second)
    state = system.new_state()
    second.fails.append((POSITION, "second"))
    with pytest.raises(HookError):
        system.realize(state)
    assert (state[first].stage, state[second].stage) == (POSITION, TIME)
    for entry in (second.near, first.far, second.furthest):
        assert not entry.is_valid(state)
        with pytest.raises(StageTooLowError):
            entry(state)
    system.realize(state)
    assert second.furthest(state) == 100.0


def test_a_computation_that_fails_is_tried_again() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.fails.append(("height", "load"))
    with pytest.raises(HookError):
        crane.realize(state)
    assert (state.stage, state[crane.body].stage, state[crane.load].stage) == (TIME, POSITION, TIME)
    crane.realize(state)
    assert crane.load.height(state) == 4.0


# ---------------------------------------------------------------------- what hooks must not do

FORBIDDEN: dict[str, Callable[[Crane, State], object]] = {
    "time": lambda crane, state: setattr(state, "time", 1.0),
    "set time": lambda crane, state: crane.time.set(state, 1.0),
    "q": lambda crane, state: setattr(state, "q", [1.0]),
    "upd_q": lambda crane, state: state.upd_q(),
    "upd_y": lambda crane, state: state.upd_y(),
    "partition": lambda crane, state: state[crane.joint].upd_u(),
    "weights": lambda crane, state: setattr(state, "u_weights", [1.0]),
    "scalar": lambda crane, state: crane.joint.angle.set(state, 1.0),
    "block": lambda crane, state: crane.joint.angle.upd(state),
    "parameter": lambda crane, state: crane.joint.length.set(state, 1.0),
    "upd parameter": lambda crane, state: crane.joint.length.upd(state),
    "option": lambda crane, state: crane.joint.is_free.set(state, False),
    "late": lambda crane, state: crane.load.pull.set(state, 1.0),
    "invalidate": lambda crane, state: state.invalidate_all(INSTANCE),
    "assign": lambda crane, state: state.assign(state.copy()),
    "clear": lambda crane, state: state.clear(),
    "auto update": lambda crane, state: state.auto_update_discrete_variables(),
    "topology version": lambda crane, state: setattr(state, "topology_version", 5),
    "realize": lambda crane, state: crane.realize(state, REPORT),
    "advance": lambda crane, state: state[crane.load].advance_to_stage(state.stage.next()),
}


class Trying(Noting):
    """Does, in its hook of a stage, what must be refused there."""

    crane: Crane
    at: Stage
    act: Callable[[Crane, State], object]

    def note(self, what: Stage | str) -> None:
        pass

    def attempt(self, state: State, stage: Stage) -> None:
        if stage == self.at and not self.log:
            self.log.append((stage, self.name))
            type(self).act(self.crane, state)

    def realize_time(self, state: State) -> None:
        self.attempt(state, TIME)

    def realize_dynamics(self, state: State) -> None:
        self.attempt(state, DYNAMICS)


@pytest.mark.parametrize("stage", [TIME, DYNAMICS])
@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_hook_must_not_write_variables(stage: Stage, name: str) -> None:
    trying = type("Trying", (Trying,), {"at": stage, "act": staticmethod(FORBIDDEN[name])})([])
    crane = trying.crane = Crane()
    crane.add(trying)
    state = crane.state_at()
    before = state.y.copy()
    with pytest.raises(ReadOnlyError) as caught:
        crane.realize(state)
    assert isinstance(caught.value, ValueError)
    assert "being realized" in caught.value.got
    assert (state.stage, state.time, list(state.y)) == (stage.prev(), 0.0, list(before))
    crane.realize(state)
    crane.joint.angle.set(state, 2.0)
    assert state.stage is TIME


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_computation_must_not_write_variables_while_a_stage_is_realized(name: str) -> None:
    refused: list[str] = []

    class Writer(Subsystem):
        crane: Crane

        @cached(available_from=POSITION, computed_by=POSITION)
        def bad(self, state: State) -> float:
            with pytest.raises(ReadOnlyError) as caught:
                FORBIDDEN[name](self.crane, state)
            refused.append(caught.value.what)
            return 1.0

    writer = Writer()
    crane = writer.crane = Crane()
    crane.add(writer)
    crane.realize(crane.new_state(), POSITION)
    assert len(refused) == 1


IN_TOPOLOGY: dict[str, Callable[[System, Subsystem, State], object]] = {
    "realize": lambda system, subsystem, state: system.realize(state),
    "realize topology": lambda system, subsystem, state: system.realize_topology(),
    "adopt": lambda system, subsystem, state: system.add(Chain()),
    "clear": lambda system, subsystem, state: state.clear(),
    "add": lambda system, subsystem, state: state.add_subsystem("x"),
    "advance": lambda system, subsystem, state: state[subsystem].advance_to_stage(TOPOLOGY),
}


@pytest.mark.parametrize("name", IN_TOPOLOGY)
def test_a_hook_of_topology_must_not_change_the_model_or_realize(name: str) -> None:
    class Restless(Noting):
        def realize_topology(self, state: State) -> None:
            assert not self.log, "it was called inside of itself"
            self.log.append((TOPOLOGY, name))
            IN_TOPOLOGY[name](state.system, self, state)

    system = System(Restless([]))
    with pytest.raises((ReadOnlyError, ConstModelError)):
        system.realize_topology()
    assert (system.num_subsystems, system.topology_has_been_realized) == (2, False)


def test_a_state_can_be_written_again_after_a_hook_failed() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.fails.append((POSITION, "body"))
    with pytest.raises(HookError):
        crane.realize(state)
    state.q = [3.0]
    crane.realize(state)
    assert crane.joint.tip(state) == 6.0


ALLOCATIONS: dict[str, tuple[Callable[[Subsystem, State], object], Stage]] = {
    "q": (lambda s, state: state[s].allocate_q([1.0]), MODEL),
    "option": (lambda s, state: state[s].allocate_discrete_variable(MODEL, 1), TOPOLOGY),
    "discrete": (lambda s, state: state[s].allocate_discrete_variable(REPORT, 1), MODEL),
    "entry": (lambda s, state: state[s].allocate_lazy_cache_entry(POSITION, 1), INSTANCE),
    "qerr": (lambda s, state: state[s].allocate_qerr(1), INSTANCE),
    "trigger": (lambda s, state: state[s].allocate_event_trigger(TIME, 1), INSTANCE),
}


@pytest.mark.parametrize("name", ALLOCATIONS)
def test_a_hook_allocates_up_to_the_stage_at_which_that_is_allowed(name: str) -> None:
    allocate, last = ALLOCATIONS[name]
    outcomes: list[tuple[Stage, bool]] = []

    def hook(stage: Stage) -> Callable[[Subsystem, State], None]:
        def realize(self: Subsystem, state: State) -> None:
            try:
                allocate(self, state)
            except StageTooHighError:
                outcomes.append((stage, False))
            else:
                outcomes.append((stage, True))

        return realize

    body = {f"realize_{stage.name.lower()}": hook(stage) for stage in REALIZED}
    state_of(type("Allocator", (Subsystem,), body)(), stage=REPORT)
    assert outcomes == [(stage, stage <= last) for stage in REALIZED]


def test_views_that_a_hook_was_given_are_sealed_after_it() -> None:
    held: dict[str, np.ndarray] = {}

    class Mover(Subsystem):
        x = q_variable(1.0)

        def realize_velocity(self, state: State) -> None:
            held["qdot"] = state[self].upd_qdot()
            held["qdot"][0] = 7.0

        def realize_acceleration(self, state: State) -> None:
            held["qdotdot"] = state.upd_qdotdot()
            held["qdotdot"][0] = 8.0

    class Watcher(Subsystem):
        def realize_velocity(self, state: State) -> None:
            assert not held["qdot"].flags.writeable

    state = state_of(Mover(), Watcher(), stage=ACCELERATION)
    assert (list(state.qdot), list(state.qdotdot)) == ([7.0], [8.0])
    for view in held.values():
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 9.0


def test_a_view_that_a_computation_was_given_is_sealed_when_its_stage_is_reached() -> None:
    class Writing(Subsystem):
        x = q_variable(1.0)
        v = u_variable(2.0)

        @cached(computed_by=VELOCITY, prerequisites=(x,))
        def doubled(self, state: State) -> float:
            views.append(state[self].upd_qdot())
            views[-1][:] = 4.0
            return 2 * self.x(state)

    views: list[np.ndarray] = []
    state = state_of(Writing(), stage=VELOCITY)
    assert state.qdot.tolist() == [4.0]
    assert [view.flags.writeable for view in views] == [False]


def test_views_of_an_idle_subsystem_are_sealed_before_the_hooks_of_others() -> None:
    class Idle(Subsystem):
        x = q_variable(1.0)
        v = u_variable(2.0)

    class Looking(Subsystem):
        def realize_velocity(self, state: State) -> None:
            seen.append((view.flags.writeable, state[idle].stage))

    idle, looking = Idle(), Looking()
    seen: list[tuple[bool, Stage]] = []
    state = state_of(looking, idle, stage=POSITION)
    view = state[idle].upd_qdot()
    state.system.realize(state, VELOCITY)
    assert seen == [(False, VELOCITY)]
    state.u = [3.0]
    assert state.stage is POSITION


def test_versions_of_stages_are_those_of_a_state_that_is_advanced_by_hand() -> None:
    crane = Crane()
    state = crane.new_state()
    by_hand = State()
    for _ in crane:
        by_hand.add_subsystem()
    by_hand[3].allocate_q([0.0])
    by_hand[3].allocate_u([0.0])
    by_hand = advance_by_hand(by_hand, MODEL).copy()
    for stage, write in [
        (REPORT, "q"),
        (VELOCITY, "u"),
        (DYNAMICS, "q"),
        (POSITION, "u"),
        (REPORT, "time"),
        (REPORT, "u"),
        (ACCELERATION, "q"),
    ]:
        crane.realize(state, stage)
        advance_by_hand(by_hand, stage)
        assert state.stage_versions == by_hand.stage_versions
        for s in (state, by_hand):
            setattr(s, write, 1.0 if write == "time" else [1.0])
        assert state.stage_versions == by_hand.stage_versions
        for mine, theirs in zip(state, by_hand, strict=True):
            assert (mine.stage, mine.stage_versions) == (theirs.stage, theirs.stage_versions)


@pytest.mark.parametrize("at", [TIME, POSITION, REPORT])
def test_versions_of_stages_that_were_rolled_back_are_not_given_again(at: Stage) -> None:
    crane = Crane()
    state = crane.state_at(at)
    mark = state.checkpoint()
    given: list[tuple[int, ...]] = []
    for _ in range(3):
        if at > TIME:
            state.q = [1.0]
        crane.realize(state, REPORT)
        given.append(tuple(state.stage_versions))
        state.rollback(mark)
    for stage in (POSITION, VELOCITY, REPORT):
        assert len({versions[stage] for versions in given}) == 3


# ---------------------------------------------------------------------- bad arguments


def test_what_is_realized_must_be_a_state_of_the_system() -> None:
    crane = Crane()
    state = crane.new_state()
    with pytest.raises(WrongTypeError, match="not a State") as caught:
        crane.realize(state[1])  # type: ignore[arg-type]  # is refused
    assert isinstance(caught.value, TypeError)
    others = (crane.prescribe, crane.prescribe_q, crane.prescribe_u)
    for call in (crane.realize, crane.realize_model, *others):
        with pytest.raises(ForeignStateError, match="without a System"):
            call(State())
    for stage in (Stage.INFINITY, -1, 10, "Time", None, 4.0, True):
        with pytest.raises(StageOutOfRangeError, match=r"realize\(\)"):
            crane.realize(state, stage)  # type: ignore[arg-type]  # is refused
    assert state.stage is MODEL


def test_realize_model_makes_the_sizes_that_options_say() -> None:
    chain = Chain()
    system = System(chain, Springs(2), Joint([]))
    state = system.new_state()
    chain.num_links.set(state, 5)
    assert state.stage is TOPOLOGY
    with pytest.raises(StageTooLowError):
        state.nq  # noqa: B018  # the read is what raises
    system.realize_model(state)
    assert (state.stage, state[chain].nq, state.nq) == (MODEL, 6, 10)


def test_a_state_is_const_while_it_is_drawn() -> None:
    class Drawing(Subsystem):
        x = q_variable(1.0)

        def calc_decorative_geometry_and_append(
            self, state: State, stage: Stage, geometry: list[Any]
        ) -> None:
            self.x.set(state, 5.0)

    drawing = Drawing()
    state = state_of(drawing, stage=POSITION)
    with pytest.raises(ReadOnlyError, match="drawing"):
        state.system.calc_decorative_geometry_and_append(state, POSITION, [])
    assert (state.stage, drawing.x(state)) == (POSITION, 1.0)
    drawing.x.set(state, 2.0)


def test_entries_are_computed_to_draw_a_state_but_not_a_frozen_one() -> None:
    class Drawing(Subsystem):
        x = q_variable(1.0)

        @cached(prerequisites=(x,))
        def place(self, state: State) -> float:
            return 2 * self.x(state)

        def calc_decorative_geometry_and_append(
            self, state: State, stage: Stage, geometry: list[Any]
        ) -> None:
            geometry.append(self.place(state))

    state = state_of(Drawing(), stage=POSITION)
    frozen = state.frozen()
    geometry: list[Any] = []
    state.system.calc_decorative_geometry_and_append(state, POSITION, geometry)
    assert geometry == [2.0]
    with pytest.raises(CacheEntryOutOfDateError):
        state.system.calc_decorative_geometry_and_append(frozen, POSITION, geometry)


def test_a_hook_that_an_instance_was_given_is_called() -> None:
    subsystem, log = Subsystem(), list[Stage]()
    subsystem.realize_time = lambda state: log.append(state.stage)  # type: ignore[method-assign]
    state_of(subsystem, stage=POSITION)
    assert log == [INSTANCE]


def test_a_hook_that_comes_too_early_for_an_entry_is_told_to_come_later() -> None:
    class Late(Subsystem):
        @cached(available_from=Stage.POSITION)
        def tip(self, state: State) -> float:
            return 1.0

        def realize_position(self, state: State) -> None:
            pass

    class Early(Subsystem):
        late = Late()

        def realize_position(self, state: State) -> None:
            self.late.tip(state)

    early = Early()
    system = System(early, early.late)
    with pytest.raises(StageTooLowError) as caught:
        system.realize(system.new_state())
    assert "order_subsystems" in caught.value.hint


def test_a_hook_goes_on_writing_a_vector_of_a_subsystem_that_is_done_after_it_reads_an_entry() -> (
    None
):
    class Tank(Subsystem):
        level = z_variable(1.0)

    class Pump(Subsystem):
        flow = parameter(2.0)

        def __init__(self, tank: Tank) -> None:
            self.tank = tank

        @cached(prerequisites=(flow,))
        def inflow(self, state: State) -> float:
            return self.flow(state)

        def realize_dynamics(self, state: State) -> None:
            zdot = state[self.tank].upd_zdot()
            zdot[0] = self.inflow(state)
            views.append(zdot)

    views: list[Any] = []
    tank = Tank()
    system = System(tank, Pump(tank))
    state = system.new_state()
    system.realize(state, Stage.DYNAMICS)
    assert state.zdot == [2.0]
    with pytest.raises(ValueError, match="read-only"):
        views[0][0] = 3.0


def test_geometry_of_a_stage_that_is_not_reached_is_refused_by_name() -> None:
    crane = Crane()
    state = crane.state_at(TIME)
    geometry: list[object] = []
    with pytest.raises(StageTooLowError, match="the geometry of crane at Position"):
        crane.calc_decorative_geometry_and_append(state, POSITION, geometry)
    assert not geometry
