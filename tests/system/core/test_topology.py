"""The topology of a System: its default State, its version, its subsystems and properties."""

import copy
import gc
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    CoordinateDirection,
    PeriodicEventHandler,
    PeriodicEventReporter,
    Stage,
    State,
    Subsystem,
    System,
    acceleration_error,
    auto_update,
    cached,
    discrete,
    parameter,
    position_error,
    q_variable,
    simbody,
    u_variable,
)
from stagecache.errors import (
    AdoptionError,
    ConstModelError,
    DuplicateNameError,
    ForeignNodeError,
    ForeignStateError,
    InvalidNameError,
    OutOfRangeError,
    PrerequisiteStageError,
    ReadOnlyError,
    StagecacheError,
    StageTooLowError,
    TopologyVersionError,
    UnknownSubsystemError,
    WrongTypeError,
)
from stagecache.system import (
    DefaultSystemSubsystem,
)
from stagecache.system.core.topology import collection_paused
from tests.system.models import Crane, Joint, Noting, Springs


class Pump(Subsystem):
    colour: str

    volume = parameter(np.array([1.0, 2.0]))
    level = q_variable(0.5)
    flow = auto_update(1.0, invalidates=Stage.VELOCITY, available_from=Stage.TIME)


class Modern(Pump):
    version = "2.1"


def pumped() -> tuple[System, Pump, State]:
    pump = Pump()
    system = System(pump, name="plant")
    return system, pump, system.realize_topology()


# ---------------------------------------------------------------------- the default State


def test_realize_topology_returns_the_default_state_at_model_and_always_the_same() -> None:
    crane = Crane()
    with pytest.raises(StageTooLowError, match="default State") as caught:
        crane.default_state  # noqa: B018  # the read is what raises
    assert isinstance(caught.value, RuntimeError)
    assert "realize_topology()" in caught.value.hint
    assert not crane.topology_has_been_realized
    state = crane.realize_topology()
    calls = crane.log.copy()
    assert state.stage is Stage.MODEL
    assert crane.realize_topology() is state
    assert crane.default_state is state
    assert crane.topology_has_been_realized
    assert crane.log == calls
    assert (crane.joint.length(state), crane.joint.angle(state), state.time) == (2.0, 0.5, 0.0)


def test_the_default_state_can_be_realized_further() -> None:
    crane = Crane()
    state = crane.realize_topology()
    crane.realize(state, Stage.POSITION)
    assert crane.load.height(state) == 4.0
    assert state.copy().stage is Stage.INSTANCE


WRITES: dict[str, Callable[[System, Pump, State], object]] = {
    "set parameter": lambda system, pump, state: pump.volume.set(state, np.zeros(2)),
    "upd parameter": lambda system, pump, state: pump.volume.upd(state),
    "set auto update": lambda system, pump, state: pump.flow.set(state, 2.0),
    "by index": lambda system, pump, state: simbody.set_discrete_variable(state[1], 0, 2.0),
    "set q": lambda system, pump, state: pump.level.set(state, 2.0),
    "upd q": lambda system, pump, state: pump.level.upd(state),
    "q of subsystem": lambda system, pump, state: pump.q.set(state, [2.0]),
    "q of system": lambda system, pump, state: system.q.upd(state),
    "state.q": lambda system, pump, state: setattr(state, "q", [2.0]),
    "state.upd_q": lambda system, pump, state: state.upd_q(),
    "state.y": lambda system, pump, state: setattr(state, "y", [2.0]),
    "state.upd_y": lambda system, pump, state: state.upd_y(),
    "partition q": lambda system, pump, state: setattr(state[pump], "q", [2.0]),
    "partition upd_q": lambda system, pump, state: state[pump].upd_q(),
    "time": lambda system, pump, state: setattr(state, "time", 2.0),
    "set time": lambda system, pump, state: system.time.set(state, 2.0),
    "weights": lambda system, pump, state: setattr(state, "u_weights", []),
    "upd weights": lambda system, pump, state: state.upd_z_weights(),
    "invalidate": lambda system, pump, state: state.invalidate_all(Stage.MODEL),
    "assign": lambda system, pump, state: state.assign(state.copy()),
    "clear": lambda system, pump, state: state.clear(),
    "auto update": lambda system, pump, state: state.auto_update_discrete_variables(),
    "allocate entry": lambda system, pump, state: state[pump].allocate_lazy_cache_entry(
        Stage.TIME, 1
    ),
    "allocate qerr": lambda system, pump, state: state[pump].allocate_qerr(1),
    "topology version": lambda system, pump, state: setattr(state, "topology_version", 7),
    "name": lambda system, pump, state: simbody.initialize_subsystem(state, 1, "x", ""),
    "count": lambda system, pump, state: simbody.set_num_subsystems(state, 2),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_of_the_default_state_is_refused_and_changes_nothing(name: str) -> None:
    system, pump, state = pumped()
    before = (str(state), state.cache_to_string(), state.stage_versions, pump.level.version(state))
    with pytest.raises(ReadOnlyError, match=r"copy") as caught:
        WRITES[name](system, pump, state)
    assert isinstance(caught.value, ValueError)
    assert "default State" in caught.value.got
    assert "copy()" in caught.value.hint
    after = (str(state), state.cache_to_string(), state.stage_versions, pump.level.version(state))
    assert after == before
    copy = state.copy()
    WRITES[name](system, pump, copy)  # which may be written
    assert system.default_state is state


def test_arrays_of_the_default_state_are_only_for_reading() -> None:
    _, pump, state = pumped()
    for array in (pump.volume(state), state.q, state.y, state[pump].q):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9.0


# ---------------------------------------------------------------------- changes of topology

CHANGES: dict[str, Callable[[System, Pump], object]] = {
    "attribute": lambda system, pump: setattr(pump, "colour", "red"),
    "adoption": lambda system, pump: system.add(Joint([])),
    "invalidate": lambda system, pump: system.invalidate_topology_cache(),
    "up": lambda system, pump: setattr(system, "up_direction", CoordinateDirection.Z),
    "background": lambda system, pump: setattr(system, "use_uniform_background", True),
    "time scale": lambda system, pump: setattr(system, "default_time_scale", 2.0),
    "length scale": lambda system, pump: setattr(system, "default_length_scale", 2.0),
    "events": lambda system, pump: setattr(system, "has_time_advanced_events", True),
    "handler": lambda system, pump: system.add_event_handler(PeriodicEventHandler(1.0, nothing)),
    "reporter": lambda system, pump: system.add_event_reporter(PeriodicEventReporter(1.0, nothing)),
}


def nothing(_: State) -> None:
    pass


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_topology_makes_all_states_useless_and_raises_the_version(name: str) -> None:
    system, pump, default = pumped()
    state = default.copy()
    assert (system.topology_cache_version, state.topology_version) == (1, 1)
    CHANGES[name](system, pump)
    assert (system.topology_has_been_realized, system.topology_cache_version) == (False, 2)
    uses: list[Callable[[], object]] = [
        lambda: system.realize(state),
        lambda: system.realize(default),
        lambda: system.realize_model(state),
        lambda: system.calc_decorative_geometry_and_append(state, Stage.MODEL, []),
    ]
    for use in uses:
        with pytest.raises(TopologyVersionError, match="plant") as caught:
            use()
        assert isinstance(caught.value, ValueError)
        assert "version 2" in caught.value.expected
        assert "version 1" in caught.value.got
        assert "new_state()" in caught.value.hint
    new = system.realize_topology()
    assert new is not default
    assert new.topology_version == 2
    system.realize(new.copy(), Stage.REPORT)
    with pytest.raises(TopologyVersionError):
        system.realize(state)


def test_changes_before_topology_is_realized_again_are_one_change() -> None:
    system, pump, _ = pumped()
    pump.colour = "red"
    del pump.colour
    system.default_time_scale = 3.0
    assert system.topology_cache_version == 2
    system.realize_topology()
    pump.colour = "blue"
    assert system.topology_cache_version == 3


def test_deleting_an_attribute_is_a_change_of_topology() -> None:
    pump = Pump()
    pump.colour = "red"
    system = System(pump)
    system.realize_topology()
    del pump.colour
    assert not system.topology_has_been_realized


def test_the_topology_version_can_be_managed_by_hand() -> None:
    system, _, default = pumped()
    state = default.copy()
    system.topology_cache_version = 5
    assert (default.topology_version, system.topology_has_been_realized) == (5, True)
    with pytest.raises(TopologyVersionError, match="plant") as caught:
        system.realize(state)
    assert caught.value.got == "one of version 1"
    state.topology_version = 5
    system.realize(state)
    assert state.stage is Stage.REPORT
    for bad in (0, -1, 1.5, "2", None):
        with pytest.raises(OutOfRangeError):
            system.topology_cache_version = bad  # type: ignore[assignment]  # is refused
    assert system.topology_cache_version == 5
    system.topology_cache_version = 1
    assert default.topology_version == 1


def test_what_a_topology_hook_stores_is_no_change_of_topology() -> None:
    class Counting(Noting):
        def realize_topology(self, state: State) -> None:
            self.counted = len(self.system.name)

    counting = Counting([])
    system = System(counting)
    system.realize_topology()
    assert (counting.counted, system.topology_has_been_realized) == (6, True)
    assert system.topology_cache_version == 1
    system.invalidate_topology_cache()
    other = threading.Thread(target=system.realize_topology, daemon=True)
    other.start()
    other.join(10)
    assert not other.is_alive(), "nothing keeps another thread from doing it the next time"


def test_a_model_is_const_in_hooks_and_computations() -> None:
    class Storing(Subsystem):
        x = q_variable(1.0)

        def realize_time(self, state: State) -> None:
            self.stored = 1.0

    storing = Storing()
    system = System(storing)
    state = system.new_state()
    with pytest.raises(ConstModelError, match=r"storing\.stored") as caught:
        system.realize(state)
    assert isinstance(caught.value, AttributeError)
    assert "@cached" in caught.value.hint
    assert (state.stage, system.topology_cache_version) == (Stage.INSTANCE, 1)
    assert not hasattr(storing, "stored")
    storing.stored = 2.0
    assert system.topology_cache_version == 2


@pytest.mark.parametrize("name", CHANGES)
def test_a_hook_cannot_change_the_topology(name: str) -> None:
    class Changing(Pump):
        def realize_time(self, state: State) -> None:
            CHANGES[name](system, self)

    system = System(Changing())
    state = system.new_state()
    with pytest.raises(ConstModelError):
        system.realize(state)
    assert system.topology_has_been_realized
    assert state.stage is Stage.INSTANCE
    assert not system.event_handlers
    assert not system.event_reporters


@pytest.mark.parametrize("name", ["adoption", "handler", "reporter"])
def test_the_hook_that_makes_the_topology_adds_nothing_to_its_system(name: str) -> None:
    class Changing(Pump):
        def realize_topology(self, state: State) -> None:
            super().realize_topology(state)
            CHANGES[name](system, self)

    system = System(Changing())
    with pytest.raises(ConstModelError):
        system.realize_topology()
    assert not system.topology_has_been_realized
    assert not system.event_handlers
    assert not system.event_reporters


# ---------------------------------------------------------------------- foreign States and handles


def test_a_state_of_another_system_is_refused_and_both_are_named() -> None:
    _, _, state = pumped()
    other = Crane()
    other.realize_topology()
    uses: list[Callable[[], object]] = [
        lambda: other.realize(state.copy()),
        lambda: other.realize_model(state),
        lambda: other.calc_decorative_geometry_and_append(state, Stage.MODEL, []),
    ]
    for use in uses:
        with pytest.raises(ForeignStateError, match="plant") as caught:
            use()
        assert isinstance(caught.value, ValueError)
        assert "crane" in caught.value.expected
        assert "plant" in caught.value.got


def test_a_state_of_another_system_that_looks_the_same_is_told_from_its_own() -> None:
    one, other = Crane(), Crane()
    other.realize_topology()
    with pytest.raises(ForeignStateError) as caught:
        other.realize(one.new_state())
    assert caught.value.got != caught.value.expected
    assert "another System" in caught.value.got


def test_a_state_is_not_indexed_by_a_subsystem_of_another_system() -> None:
    system, pump, state = pumped()
    other = Crane()
    assert state[pump].name == "pump"
    for s in (state, State()):
        with pytest.raises(ForeignStateError, match="crane"):
            s[other.joint]
    with pytest.raises(UnknownSubsystemError):
        state[2]
    assert state[system.default_subsystem].index == 0


def test_a_handle_is_not_used_with_a_state_of_another_system() -> None:
    _, pump, state = pumped()
    crane = Crane()
    for handle in (crane.joint.length, crane.joint.angle, crane.joint.tip, crane.q, crane.time):
        with pytest.raises(ForeignNodeError) as caught:
            handle(state)
        assert "plant" in caught.value.got
    with pytest.raises(ForeignNodeError):
        pump.level(State())


def test_handles_are_taken_before_there_is_a_state() -> None:
    pump = Pump()
    level, volume, q, flow = pump.level, pump.volume, pump.q, pump.flow
    system = System(pump)
    time, whole = pump.time, system.q
    for _ in range(2):
        state = system.new_state()
        level.set(state, 3.0)
        time.set(state, 4.0)
        assert (level(state), list(volume(state)), flow(state)) == (3.0, [1.0, 2.0], 1.0)
        assert (list(q(state)), list(whole(state)), time(state)) == ([3.0], [3.0], 4.0)
        assert level.dependents(state) == ()
        system.invalidate_topology_cache()
    assert pump.level is level


def outdated() -> tuple[Crane, State]:
    """A State with values at all stages, whose System has changed since."""
    crane = Crane()
    state = crane.state_at(Stage.REPORT)
    assert crane.load.work(state) == 20.0
    crane.invalidate_topology_cache()
    return crane, state


def assigned(state: State) -> State:
    """Another State that has become a copy of this one."""
    other: State = state.system.new_state()
    other.assign(state)
    return other


COPIES: dict[str, Callable[[State], State]] = {
    "itself": lambda state: state,
    "copy": lambda state: state.copy(),
    "deepcopy": copy.deepcopy,
    "copy of a copy": lambda state: state.copy().copy(),
    "assigned": assigned,
}


@pytest.mark.parametrize("name", COPIES)
def test_nothing_is_computed_in_an_old_state_or_a_copy_of_it(name: str) -> None:
    crane, state = outdated()
    old = COPIES[name](state)
    for entry in (crane.load.work, crane.joint.tip, crane.load.height):
        assert not entry.is_valid(old)
        with pytest.raises(TopologyVersionError, match=str(entry.name)) as caught:
            entry(old)
        assert "new_state()" in caught.value.hint
    with pytest.raises(TopologyVersionError):
        crane.realize(old)
    assert crane.load.work(crane.state_at(Stage.REPORT)) == 20.0


@pytest.mark.parametrize("name", COPIES)
def test_variables_and_vectors_of_an_old_state_are_read_and_not_written(name: str) -> None:
    crane, state = outdated()
    old = COPIES[name](state)
    load, joint = crane.load, crane.joint
    assert (joint.angle(old), joint.length(old), list(old.q), old.time) == (0.5, 2.0, [0.5], 0.0)
    writes: list[Callable[[], object]] = [
        lambda: joint.angle.set(old, 1.0),
        lambda: joint.length.set(old, 1.0),
        lambda: load.pull.set(old, 1.0),
        lambda: joint.angle.upd(old),
        lambda: setattr(old, "time", 1.0),
        lambda: setattr(old, "y", old.y),
        old.upd_q,
        lambda: old.invalidate_all(Stage.MODEL),
        old.auto_update_discrete_variables,
    ]
    for write in writes:
        with pytest.raises(ReadOnlyError) as caught:
            write()
        assert "older topology" in caught.value.got
    assert (joint.angle(old), old.time) == (0.5, 0.0)


def test_no_value_mixes_two_topologies() -> None:
    class Mixing(Subsystem):
        x = q_variable(1.0)

        def __init__(self) -> None:
            self.factor = 1.0

        @cached(prerequisites=(x,))
        def product(self, state: State) -> float:
            return self.factor * self.x(state)

        @cached(prerequisites=(product, x))
        def pair(self, state: State) -> tuple[float, float]:
            return self.factor, self.product(state)

    mixing = Mixing()
    system = System(mixing)
    state = system.new_state()
    assert mixing.product(state) == 1.0
    mixing.factor = 5.0
    for entry in (mixing.product, mixing.pair):
        with pytest.raises(TopologyVersionError):
            entry(state)
    assert mixing.pair(system.new_state()) == (5.0, 5.0)


def test_a_state_does_not_come_to_the_version_of_another_topology_by_itself() -> None:
    class Sized(Subsystem):
        size = 1
        x = q_variable(1.0)

    sized = Sized()
    system = System(sized)
    emptied, state = (system.new_state() for _ in range(2))
    emptied.invalidate_all(Stage.TOPOLOGY)
    with pytest.raises(TopologyVersionError):  # only realize_topology() makes what is declared
        system.realize(emptied)
    sized.size = 2
    system.realize_topology()
    assert emptied.topology_version == system.topology_cache_version
    with pytest.raises(ReadOnlyError):
        state.invalidate_all(Stage.TOPOLOGY)
    for old in (emptied, state):
        with pytest.raises(TopologyVersionError):
            system.realize(old)


# ---------------------------------------------------------------------- threads


def test_threads_that_want_the_default_state_get_the_same_and_it_is_made_once() -> None:
    together = threading.Barrier(4)

    class Slow(Noting):
        def realize_topology(self, state: State) -> None:
            super().realize_topology(state)
            threading.Event().wait(0.02)

    slow = Slow([])
    system = System(slow)

    def ask(_: int) -> State:
        together.wait()
        return system.realize_topology()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))
    assert all(state is system.default_state for state in found)
    assert slow.log.count((Stage.TOPOLOGY, "slow")) == 1


@pytest.mark.parametrize("where", ["hook", "factory"])
def test_another_thread_cannot_change_the_model_while_its_topology_is_realized(where: str) -> None:
    started, done = threading.Event(), threading.Event()

    class Slow(Subsystem):
        gain = 1.0
        start = parameter(factory=lambda self: self.wait_in("factory"))

        def wait_in(self, place: str) -> float:
            gain = self.gain
            if place == where:
                started.set()
                done.wait(10)
            return gain

        def realize_topology(self, state: State) -> None:
            self.wait_in("hook")

    slow = Slow()
    system = System(slow)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(system.realize_topology)
        try:
            assert started.wait(10)
            with pytest.raises(ConstModelError):
                slow.gain = 2.0
            with pytest.raises(ConstModelError):
                system.add(Pump())
        finally:
            done.set()
        assert future.result().num_subsystems == 2
    assert slow.start(system.default_state) == 1.0


# ---------------------------------------------------------------------- old States, handles


def test_an_old_state_is_still_shown() -> None:
    system, _, default = pumped()
    state = default.copy()
    shown = (repr(state), str(state))
    system.add(Joint([]))
    system.realize_topology()
    assert (repr(state), str(state)) == shown
    assert state.copy().topology_version == 1


def test_an_item_that_is_elsewhere_now_is_never_read_wrong_from_an_old_state() -> None:
    springs, joint = Springs(2), Joint([])
    system = System(springs, joint)
    old = system.new_state()
    joint.length.set(old, 7.0)
    joint.angle.set(old, 8.0)
    springs.count = 9
    state = system.new_state()
    assert (joint.length(state), joint.angle(state), len(state.q)) == (2.0, 0.5, 11)
    for handle, value in [(joint.length, 7.0), (joint.angle, 8.0)]:
        try:
            found = handle(old)
        except ForeignNodeError:
            continue  # which is right, too
        assert found == value


def test_systems_are_the_same_or_not() -> None:
    one, other = Crane(), Crane()
    assert one.is_same_system(one)
    assert not one.is_same_system(other)
    assert not one.is_same_system(3)


# ---------------------------------------------------------------------- subsystems


def test_subsystems_have_names_and_indices() -> None:
    springs, pump, joint = Springs(1), Modern(), Joint([])
    system = System(springs, pump, left=joint, name="plant", version="7")
    assert (system.name, system.version, system.num_subsystems) == ("plant", "7", 4)
    assert list(system) == list(system.subsystems)
    assert [s.name for s in system] == ["default_system_subsystem", "springs", "modern", "left"]
    assert [s.index for s in system] == [0, 1, 2, 3]
    assert isinstance(system.default_subsystem, DefaultSystemSubsystem)
    assert system.default_subsystem is system[0]
    for which in (3, "left", joint, np.int64(3)):
        assert system[which] is joint
        assert system.subsystem(which) is joint
    assert joint.system is system
    assert system.add(Pump(), "right").index == 4
    state = system.realize_topology()
    assert [part.name for part in state] == [s.name for s in system]
    assert [part.version for part in state] == ["", "", "2.1", "", ""]
    assert state[joint].index == 3


def test_default_names_are_those_of_classes_in_snake_case() -> None:
    names = ["DoublePendulum", "HTTPServer", "Box2D", "A", "SpringDamperNo3"]
    wanted = ["double_pendulum", "http_server", "box2_d", "a", "spring_damper_no3"]
    assert [type(name, (Subsystem,), {})().name for name in names] == wanted


@pytest.mark.parametrize("which", [4, -1, "nobody", 1.0, None, Joint([]), True])
def test_a_subsystem_that_is_not_there_is_refused(which: Any) -> None:
    with pytest.raises(UnknownSubsystemError, match="crane") as caught:
        Crane()[which]
    assert isinstance(caught.value, IndexError)
    assert "1 'load', 2 'body', 3 'joint'" in caught.value.hint


def test_two_subsystems_of_one_name_are_refused() -> None:
    system = System(Pump())
    attempts: list[Callable[[], object]] = [
        lambda: system.add(Pump(), "pump"),
        lambda: system.add(Joint([]), "pump"),
        lambda: System(default_system_subsystem=Pump()),
    ]
    for adopt in attempts:
        with pytest.raises(DuplicateNameError, match=r"'pump'|'default") as caught:
            adopt()
        assert isinstance(caught.value, ValueError)
    assert system.num_subsystems == 2


@given(st.lists(st.sampled_from([Pump, Joint]), max_size=6), st.integers(0, 6), st.booleans())
def test_subsystems_without_a_name_get_that_of_their_class_and_a_number(
    kinds: list[Any], first: int, is_named: bool
) -> None:
    parts = [kind([]) if kind is Joint else kind() for kind in kinds]
    system = System(*parts[:first], pump_2=Pump()) if is_named else System(*parts[:first])
    for part in parts[first:]:
        system.add(part)
    names = [subsystem.name for subsystem in system.subsystems]
    assert len(set(names)) == len(names)
    joints = [part.name for part in parts if isinstance(part, Joint)]
    assert joints == ["joint", *(f"joint_{i}" for i in range(2, 9))][: len(joints)]
    pumps = [part.name for part in parts if isinstance(part, Pump)]
    numbers = [f"pump_{i}" for i in range(2, 9) if not (is_named and i == 2)]
    assert pumps == ["pump", *numbers][: len(pumps)]
    for part in parts:
        assert system[part.name] is part
        assert system.new_state()[part.name].q.tolist() == [0.5]


def test_names_are_known_after_a_journey() -> None:
    data = pickle.dumps(System(Pump()))
    gc.collect()  # the System, which would come back itself
    system = pickle.loads(data)
    assert system.add(Pump()).name == "pump_2"


def test_a_subsystem_is_adopted_once() -> None:
    pump = Pump()
    system = System(pump, name="plant")
    for adopt in (lambda: System(pump), lambda: system.add(pump, "again")):
        with pytest.raises(AdoptionError, match="plant") as caught:
            adopt()
        assert isinstance(caught.value, ValueError)
    assert (pump.system, pump.index, system.num_subsystems) == (system, 1, 2)


def test_only_subsystems_are_adopted() -> None:
    for bad in (3, Pump, None, State()):
        with pytest.raises(WrongTypeError) as caught:
            System(bad)  # type: ignore[arg-type]  # is refused
        assert isinstance(caught.value, TypeError)
    system = System()
    for name in ("", 3, b"x"):
        with pytest.raises(InvalidNameError):
            system.add(Pump(), name)  # type: ignore[arg-type]  # is refused
        with pytest.raises(InvalidNameError):
            System(name=name)  # type: ignore[arg-type]  # is refused
    assert len(system) == 1


def test_a_refused_adoption_leaves_the_topology_realized() -> None:
    system, _, state = pumped()
    with pytest.raises(DuplicateNameError):
        system.add(Pump(), "pump")
    assert system.default_state is state


def test_a_subsystem_without_a_system_knows_only_its_name() -> None:
    pump = Pump()
    assert (pump.name, pump.is_adopted) == ("pump", False)
    for ask in (lambda: pump.index, lambda: pump.system, lambda: pump.time):
        with pytest.raises(AdoptionError, match="pump"):
            ask()
    pump.level  # noqa: B018  # handles are there
    assert System(pump)[1].is_adopted


def test_an_empty_system_has_the_default_subsystem_only() -> None:
    system = System()
    state = system.new_state()
    system.realize(state)
    assert (state.stage, state.ny, state.num_subsystems) == (Stage.REPORT, 0, 1)


# ---------------------------------------------------------------------- properties


def test_properties_have_their_documented_defaults() -> None:
    system = System()
    assert system.up_direction is CoordinateDirection.Y
    assert system.use_uniform_background is False
    assert (system.default_time_scale, system.default_length_scale) == (0.1, 1.0)
    assert system.has_time_advanced_events is False
    assert list(system.up_direction.vector) == [0.0, 1.0, 0.0]
    assert list(CoordinateDirection.NEGATIVE_Z.vector) == [0.0, 0.0, -1.0]


def test_properties_are_set() -> None:
    system = System()
    system.up_direction = "-X"
    system.use_uniform_background = True
    system.default_time_scale = 2
    system.default_length_scale = 0.5
    system.has_time_advanced_events = True
    assert system.up_direction is CoordinateDirection.NEGATIVE_X
    assert (system.use_uniform_background, system.has_time_advanced_events) == (True, True)
    assert (system.default_time_scale, system.default_length_scale) == (2.0, 0.5)


@pytest.mark.parametrize(
    ("name", "bad", "builtin"),
    [
        ("up_direction", "up", TypeError),
        ("up_direction", 1, TypeError),
        ("use_uniform_background", 1, TypeError),
        ("has_time_advanced_events", "no", TypeError),
        ("default_time_scale", 0.0, ValueError),
        ("default_time_scale", -1.0, ValueError),
        ("default_length_scale", float("nan"), ValueError),
        ("default_length_scale", float("inf"), ValueError),
        ("default_length_scale", "1 m", TypeError),
        ("default_length_scale", [1.0], ValueError),
    ],
)
def test_a_bad_property_is_refused_by_name_and_changes_nothing(
    name: str, bad: object, builtin: type[Exception]
) -> None:
    system, _, default = pumped()
    before = getattr(system, name)
    with pytest.raises(StagecacheError, match=name) as caught:
        setattr(system, name, bad)
    assert isinstance(caught.value, builtin)
    assert getattr(system, name) == before
    assert system.default_state is default


def test_a_repr_names_the_subsystems() -> None:
    crane = Crane()
    assert repr(crane) == "Crane('crane': load, body, joint)"
    assert repr(System()) == "System('system': no subsystems)"
    assert repr(crane.joint) == "Joint('joint' of 'crane')"
    assert "no System" in repr(Pump())
    assert bool(System())


def test_a_system_that_cannot_be_made_leaves_its_subsystems_free() -> None:
    joint = Joint([])
    with pytest.raises(DuplicateNameError):
        System(joint, default_system_subsystem=Joint([]))
    assert not joint.is_adopted
    assert System(joint, other=Joint([])).subsystem("joint") is joint


@pytest.mark.parametrize("is_later_first", [True, False])
def test_values_of_a_stage_cannot_depend_on_a_variable_of_a_later_one(is_later_first: bool) -> None:
    class Wrong(Subsystem):
        x = q_variable(0.0)
        v = u_variable(0.0)

        @position_error(prerequisites=(v, x) if is_later_first else (x, v))
        def gap(self, state: State) -> float:
            return self.x(state) + self.v(state)

    with pytest.raises(PrerequisiteStageError, match="a write upstream would leave") as caught:
        System(Wrong()).realize_topology()
    assert "wrong.v" in caught.value.got


def test_values_of_a_stage_cannot_depend_on_a_variable_that_is_updated_automatically() -> None:
    class Wrong(Subsystem):
        mode = auto_update(1.0, invalidates=Stage.POSITION, available_from=Stage.TIME)

        @acceleration_error(prerequisites=(mode,))
        def gap(self, state: State) -> float:
            return self.mode(state)

    with pytest.raises(PrerequisiteStageError, match="a write upstream would leave") as caught:
        System(Wrong()).realize_topology()
    assert caught.value.got == (
        "wrong.mode, which may be updated automatically, without invalidating any"
    )


def test_an_entry_may_depend_on_a_variable_that_invalidates_a_later_stage_than_computes_it() -> (
    None
):
    class Right(Subsystem):
        load = discrete(1.0, invalidates=Stage.DYNAMICS)

        @cached(prerequisites=(load,), computed_by=Stage.POSITION)
        def twice(self, state: State) -> float:
            return 2 * self.load(state)

    right = Right()
    state = System(right).new_state()
    right.system.realize(state)
    right.load.set(state, 3.0)
    assert state.stage is Stage.VELOCITY
    assert right.twice(state) == 6.0


def test_an_entry_can_be_read_as_soon_as_its_prerequisites_can() -> None:
    class Entries(Pump):
        @cached(prerequisites=(Pump.volume,))
        def of_volume(self, state: State) -> float:
            return float(self.volume(state)[0])

        @cached(prerequisites=(of_volume, Pump.level))
        def of_level(self, state: State) -> float:
            return self.level(state)

    entries = Entries()
    System(entries).realize_topology()
    assert entries.of_volume.available_from is Stage.TOPOLOGY
    assert entries.of_level.available_from is Stage.MODEL


def test_an_outdated_state_says_what_was_changed() -> None:
    joint = Joint([])
    system = System(joint)
    state = system.new_state()
    joint.colour = "red"  # type: ignore[attr-defined]  # a slip of the pen, as it were
    with pytest.raises(TopologyVersionError, match=r"joint\.colour was assigned"):
        system.realize(state)
    new = system.new_state()
    system.realize(new)
    assert new.stage is Stage.REPORT


def test_a_state_of_another_system_cannot_be_assigned() -> None:
    state, other = Crane().state_at(Stage.POSITION), Crane().state_at(Stage.POSITION)
    other.system.joint.angle.set(other, 3.0)  # type: ignore[union-attr]  # of this model
    before = str(state), state.stage_versions
    with pytest.raises(ForeignStateError, match="which has the same name and subsystems"):
        state.assign(other)
    assert (str(state), state.stage_versions, state.system is other.system) == (*before, False)
    with pytest.raises(ForeignStateError, match=r"one of System.*pump"):
        state.assign(System(Pump()).realize_topology())
    by_hand = State()
    by_hand.assign(other)
    assert by_hand.system is other.system
    first = state.system
    state.clear()
    state.assign(other)
    first.invalidate_topology_cache()
    other.system.realize(state)
    assert other.system.joint.angle(state) == 3.0  # type: ignore[union-attr]  # of this model


def test_a_system_can_change_while_a_state_that_it_once_had_is_realized_by_another() -> None:
    class Changing(Subsystem):
        def realize_time(self, state: State) -> None:
            first.default_time_scale = 2.0

    first, second = System(Pump()), System(Changing())
    state = first.new_state()
    state.clear()
    state.assign(second.new_state())
    second.realize(state)
    assert (first.default_time_scale, state.stage) == (2.0, Stage.REPORT)


def test_get_returns_the_one_subsystem_of_a_class_and_names_what_there_is() -> None:
    class Left(Subsystem):
        angle = q_variable(0.0)

    class Right(Left):
        pass

    right = Right()
    system = System(Left(), another=Left(), right=right)
    assert system.get(Right) is system.get(Left, "right") is right
    assert system.get(Left, "another") is system["another"]
    with pytest.raises(UnknownSubsystemError, match="several subsystems") as caught:
        system.get(Left)
    assert "'left' of class Left, 'another' of class Left, 'right' of class Right" in str(
        caught.value
    )
    with pytest.raises(UnknownSubsystemError, match="no subsystem") as caught:
        system.get(Right, "left")
    assert "get(Right, 'right')" in caught.value.hint
    assert caught.value.what.endswith("of this class with the name 'left'")
    with pytest.raises(UnknownSubsystemError, match="no subsystem") as caught:
        System(Left()).get(Right)
    assert "'left' of class Left" in caught.value.got
    assert caught.value.what.endswith("of this class")


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collection_of_garbage_is_as_before_when_the_topology_is_realized(
    is_enabled: bool,
) -> None:
    was_enabled = gc.isenabled()
    try:
        (gc.enable if is_enabled else gc.disable)()
        with collection_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is is_enabled
        System(Pump()).realize_topology()
        assert gc.isenabled() is is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
