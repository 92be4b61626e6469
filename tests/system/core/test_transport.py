"""Systems, Subsystems, handles and States that go to other processes and come back."""

import copy
import gc
import multiprocessing
import os
import pickle
import re
from typing import TypeVar

import numpy as np
import pytest

from stagecache import Stage, State, Subsystem, System, auto_update, cached, parameter, q_variable
from stagecache.errors import (
    ConstModelError,
    ForeignStateError,
    NotPicklableError,
    TopologyVersionError,
    UnknownItemError,
)
from tests.system.models import Chain, Crane, Joint, Springs, state_of

T = TypeVar("T")


class Latch(Subsystem):
    mode = auto_update(1.0, invalidates=Stage.VELOCITY, available_from=Stage.TIME)
    table = parameter(np.array([1.0, 2.0]))
    x = q_variable(0.5)

    def __init__(self, label: str = "a") -> None:
        self.label = label
        self.held = self.x  # a handle as an attribute

    @mode.update
    def next_mode(self, state: State) -> float:
        return self.mode(state) + 1

    @cached(prerequisites=(x, table))
    def product(self, state: State) -> float:
        return float(self.x(state) * self.table(state).sum())


class Gain(Subsystem):
    x = q_variable(1.0)

    def __init__(self, factor: float) -> None:
        self.factor = factor

    @cached(prerequisites=(x,))
    def output(self, state: State) -> float:
        return self.factor * self.x(state)


class Follower(Subsystem):
    """Keeps a handle of another subsystem, and some that its hook allocates."""

    def __init__(self, latch: Latch) -> None:
        self.seen = latch.x

    def realize_topology(self, state: State) -> None:
        self.entry = state[self].allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (), compute=lambda state: 1.0
        )
        self.entries = [self.entry]


class Marker:
    """Something that a subsystem keeps, made with that, and with its System if it has one."""

    def __init__(self, part: Subsystem) -> None:
        self.part = part
        self.system = part.system if part.is_adopted else None

    def __reduce__(self) -> tuple[type["Marker"], tuple[Subsystem]]:
        return Marker, (self.part,)


class Marked(Subsystem):
    """Keeps a marker of another subsystem."""

    def __init__(self, part: Subsystem) -> None:
        self.marker = Marker(part)


def travelled(thing: T) -> T:
    found: T = pickle.loads(pickle.dumps(thing))
    return found


def where_it_is_unknown(data: bytes) -> object:
    """What is unpickled as in another process: one that knows no System."""
    from stagecache.system.core import transport  # noqa: PLC0415  # its registry is what is emptied

    known = dict(transport.KNOWN)
    transport.KNOWN.clear()
    try:
        return pickle.loads(data)
    finally:
        transport.KNOWN.update(known)


# ---------------------------------------------------------------------- here


def test_a_system_that_is_known_is_itself_again() -> None:
    crane = Crane()
    state = crane.state_at(Stage.POSITION)
    assert travelled(crane) is crane
    assert travelled(crane.body) is crane.body
    assert crane.default_state.system is crane
    twin = travelled(state)
    assert twin is not state
    assert twin.system is crane
    assert (twin.stage, crane.joint.angle(twin)) == (Stage.INSTANCE, 0.5)


def test_handles_are_themselves_again() -> None:
    springs, latch, joint = Springs(2), Latch(), Joint([])
    system = System(springs, latch, joint)
    handles = [
        joint.tip,
        joint.angle,
        joint.length,
        joint.is_free,
        joint.q,
        springs.force[1],
        springs.stiffness[0],
        springs.place[2],
        latch.mode,
        latch.mode.update,
        latch.next_mode,
        system.q,
        system.time,
        joint.time,
    ]
    assert all(a is b for a, b in zip(travelled(handles), handles, strict=True))
    system.realize_topology()
    assert all(a is b for a, b in zip(travelled(handles), handles, strict=True))


def test_a_family_is_itself_again() -> None:
    springs = Springs(2)
    System(springs)
    assert copy.deepcopy([springs.force])[0] is springs.force
    assert travelled(springs.force) is springs.force


def test_a_family_without_a_system_goes_with_its_subsystem() -> None:
    springs = Springs(2)
    for copied in (travelled, copy.deepcopy):
        force, twin = copied((springs.force, springs))
        assert twin is not springs
        assert force is twin.force


def test_a_subsystem_without_a_system_is_copied_by_pickle() -> None:
    latch = Latch("b")
    twin, angle = travelled((latch, latch.x))
    assert twin is not latch
    assert (twin.label, twin.is_adopted) == ("b", False)
    assert angle is twin.x
    assert twin.held is twin.x
    assert twin.x(state_of(twin)) == 0.5
    assert not latch.is_adopted


def test_a_state_comes_back_with_its_values_versions_and_times() -> None:
    latch, chain = Latch(), Chain()
    system = System(latch, chain, name="both")
    state = system.new_state()
    chain.num_links.set(state, 4)
    system.realize(state, Stage.TIME)
    state.time = 2.5
    chain.angles.set(state, [1.0, 2.0, 3.0, 4.0])
    latch.x.set(state, 7.0)
    latch.x.set(state, 8.0)
    latch.table.upd(state)[1] = 9.0
    latch.mode.set(state, 5.0)
    system.realize(state, Stage.INSTANCE)
    state.qerr_weights = [2.0] * 5
    system.realize(state, Stage.REPORT)
    state.auto_update_discrete_variables()
    twin, other = travelled(state), state.copy()
    assert (twin.stage, twin.time) == (other.stage, 2.5)
    assert str(twin) == str(other)
    assert list(twin.y) == list(state.y)
    assert list(twin.qerr_weights) == [2.0] * 5
    assert twin.stage_versions == other.stage_versions
    assert [p.stage_versions for p in twin] == [p.stage_versions for p in other]
    for handle in (latch.x, latch.table, latch.mode, chain.num_links, chain.angles, system.q):
        assert handle.version(twin) == handle.version(state)
        assert np.array_equal(handle(twin), handle(state))
    assert twin.variable("q").version(twin) == state.variable("q").version(state)
    last = [latch.mode.last_update_time(s) for s in (twin, state)]
    assert last == [2.5, 2.5]
    system.realize(twin)
    assert (latch.product(twin), list(twin.qerr)) == (80.0, [0.0, 1.0, 2.0, 3.0, 100.25])
    with pytest.raises(ValueError, match="read-only"):
        latch.table(twin)[0] = 0.0
    latch.x.set(twin, 1.0)
    assert latch.x(state) == 8.0


def test_a_state_at_topology_travels() -> None:
    chain = Chain()
    state = state_of(chain)
    state.time = 3.0
    chain.num_links.set(state, 5)
    twin = travelled(state)
    assert (twin.stage, twin.time, chain.num_links(twin)) == (Stage.TOPOLOGY, 3.0, 5)
    twin.system.realize(twin)
    assert twin.nq == 6


def test_states_that_travel_together_are_of_one_system() -> None:
    crane = Crane()
    one, two = crane.state_at(), crane.state_at()
    crane.joint.angle.set(two, 9.0)
    found_crane, found_one, found_two, angle = travelled((crane, one, two, crane.joint.angle))
    assert found_one.system is found_two.system is found_crane
    assert (angle(found_one), angle(found_two)) == (0.5, 9.0)


def test_an_old_state_is_not_pickled() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.invalidate_topology_cache()
    with pytest.raises(TopologyVersionError, match="crane"):
        pickle.dumps(state)


def test_a_state_without_a_system_and_its_handles_are_not_pickled() -> None:
    state = State()
    state.add_subsystem()
    with pytest.raises(NotPicklableError, match="cannot be pickled"):
        pickle.dumps(state)
    with pytest.raises(NotPicklableError, match="cannot be pickled"):
        pickle.dumps(state[0].allocate_q([1.0]))


# ---------------------------------------------------------------------- where it is not known


def test_where_the_system_is_not_known_it_is_made_anew() -> None:
    latch, springs = Latch("b"), Springs(3)
    system = System(latch, right=springs, name="both", version="7")
    system.default_time_scale = 4.0
    state = system.new_state()
    latch.x.set(state, 3.0)
    found = where_it_is_unknown(pickle.dumps((system, latch, springs.force[2], state)))
    assert isinstance(found, tuple)
    new_system, new_latch, force, new_state = found
    assert new_system is not system
    assert new_system.is_same_system(system)
    assert repr(new_system) == repr(system)
    assert (new_system.version, new_system.default_time_scale) == ("7", 4.0)
    assert new_system.topology_cache_version == system.topology_cache_version
    assert new_system[1] is new_latch
    assert (new_latch.label, new_latch.held) == ("b", new_latch.x)
    assert (new_system["right"].count, force) == (3, new_system["right"].force[2])
    assert (new_latch.x(new_state), new_latch.product(new_state)) == (3.0, 9.0)
    new_system.realize(new_state)
    with pytest.raises(ForeignStateError):
        system.realize(new_state)
    with pytest.raises(ForeignStateError):
        new_system.realize(state)


def test_subsystems_belong_to_their_system_while_what_they_keep_is_made_anew() -> None:
    latch = Latch()
    system = where_it_is_unknown(pickle.dumps(System(Marked(latch), latch)))
    assert isinstance(system, System)
    marker = system.get(Marked).marker
    assert marker.part is system.get(Latch)
    assert marker.system is system


def test_a_state_alone_brings_its_system() -> None:
    crane = Crane()
    state = crane.state_at(Stage.REPORT)
    crane.joint.angle.set(state, 4.0)
    found = where_it_is_unknown(pickle.dumps(state))
    assert isinstance(found, State)
    new = found.system
    assert isinstance(new, Crane)
    assert new is not crane
    assert new.body.joint is new.joint
    new.realize(found)
    assert new.load.height(found) == 18.0
    assert crane.load.height(crane.state_at(Stage.POSITION)) == 4.0


def test_another_topology_of_a_known_system_is_another_system() -> None:
    crane = Crane()
    crane.state_at()
    data = pickle.dumps(crane)
    crane.invalidate_topology_cache()
    found = pickle.loads(data)
    assert found is not crane
    assert found.topology_cache_version == 1
    assert found.is_same_system(crane)


def test_a_system_that_changes_before_its_topology_is_realized_is_another_one_each_time() -> None:
    gain = Gain(0.0)
    system = System(gain)
    sent = []
    for factor in (1.0, 2.0, 3.0):
        gain.factor = factor
        sent.append(pickle.dumps(system))
    found = [pickle.loads(data) for data in sent]
    outputs = [s["gain"].output(s.new_state()) for s in found]
    assert outputs == [1.0, 2.0, 3.0]
    assert found[2] is system


def changed_elsewhere(data: bytes) -> bytes:
    """A State of the System of a Gain, as another process sends it that has changed the System."""
    system = where_it_is_unknown(data)
    assert isinstance(system, System)
    system.realize_topology()
    gain = system["gain"]
    assert isinstance(gain, Gain)
    gain.factor = 100.0
    return pickle.dumps(system.new_state())


def test_a_state_of_a_system_that_was_changed_elsewhere_is_not_one_of_that_here() -> None:
    gain = Gain(1.0)
    system = System(gain)
    system.realize_topology()
    data = changed_elsewhere(pickle.dumps(system))
    gc.collect()  # the System there is not here
    gain.factor = 7.0
    system.realize_topology()
    pickle.dumps(system)
    back = pickle.loads(data)
    assert back.topology_version == system.topology_cache_version
    assert back.system["gain"].output(back) == 100.0
    with pytest.raises(ForeignStateError):
        system.realize(back)


def test_states_of_an_older_topology_that_come_one_by_one_are_of_one_system() -> None:
    gain = Gain(1.0)
    system = System(gain)
    sent = [pickle.dumps(system.new_state()) for _ in range(2)]
    gain.factor = 2.0
    one, two = map(pickle.loads, sent)
    assert one.system is two.system
    assert one.system is not system
    assert one.system["gain"].output(one) == 1.0


def test_a_system_that_nobody_needs_is_forgotten() -> None:
    crane = Crane()
    identity = crane._identity
    data = pickle.dumps(crane)
    del crane
    gc.collect()
    first, second = pickle.loads(data), pickle.loads(data)
    assert first is second
    assert first._identity == identity


# ---------------------------------------------------------------------- another process


def elsewhere(state: State, crane: Crane, height: object) -> tuple[State, float, bool]:
    """What another process does with a State that it gets."""
    crane.joint.angle.set(state, crane.joint.angle(state) + 1)
    crane.realize(state, Stage.POSITION)
    same = state.system is crane and height is crane.load.height
    return state, crane.load.height(state), same


def test_a_state_goes_to_another_process_and_comes_back() -> None:
    crane = Crane()
    state = crane.state_at()
    crane.joint.length.set(state, 3.0)
    arguments = [(state, crane, crane.load.height)]
    for angle in (1.0, 2.0):
        another = state.copy()
        crane.joint.angle.set(another, angle)
        arguments.append((another, crane, crane.load.height))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap(elsewhere, arguments)
    assert [height for _, height, _ in found] == [11.0, 14.0, 20.0]
    assert [same for _, _, same in found] == [True] * 3
    for (back, height, _), (sent, _, _) in zip(found, arguments, strict=True):
        assert back.system is crane
        assert crane.joint.angle(back) == crane.joint.angle(sent) + 1
        assert crane.joint.angle.version(back) == crane.joint.angle.version(sent) + 1
        crane.realize(back)
        assert crane.load.height(back) == height


# ---------------------------------------------------------------------- copies


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_state_that_a_forked_process_sends_is_of_the_system_here() -> None:
    system = System(Latch())
    state = system.new_state()
    reader, writer = os.pipe()
    if os.fork() == 0:
        with open(writer, "wb") as file:
            file.write(pickle.dumps(State.from_bytes(state.to_bytes(), system)))
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        assert pickle.load(file).system is system
    os.wait()


def test_a_system_is_not_copied() -> None:
    crane = Crane()
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(ConstModelError, match="not copied"):
            copied(crane)


def test_what_is_adopted_is_const_and_not_copied() -> None:
    crane = Crane()
    state = crane.state_at()
    kept = copy.deepcopy({"joint": crane.joint, "tip": crane.joint.tip, "state": state})
    assert kept["joint"] is crane.joint
    assert kept["tip"] is crane.joint.tip
    twin = kept["state"]
    assert isinstance(twin, State)
    assert twin is not state
    assert twin.system is crane


def test_what_is_not_adopted_is_copied_with_its_handles() -> None:
    latch = Latch("b")
    twin, x = copy.deepcopy((latch, latch.x))
    assert twin is not latch
    assert (twin.label, x is twin.x, twin.held is twin.x) == ("b", True, True)
    system = System(one=latch, two=twin)
    state = system.new_state()
    twin.x.set(state, 3.0)
    assert (latch.x(state), twin.x(state)) == (0.5, 3.0)


def test_a_kept_handle_of_another_subsystem_is_copied_with_that_in_any_order() -> None:
    latch = Latch()
    follower = Follower(latch)
    for copied in (travelled, copy.deepcopy):
        twin, twin_follower = copied((latch, follower))
        assert twin_follower.seen is twin.x
        twin_follower, twin = copied((follower, latch))
        assert twin_follower.seen is twin.x
        assert twin.x is not latch.x


def test_handles_that_a_hook_keeps_in_self_are_made_anew_where_they_arrive() -> None:
    latch = Latch()
    system = System(latch, Follower(latch))
    state = system.new_state()
    assert travelled(state).system is system
    found = where_it_is_unknown(pickle.dumps(state))
    assert isinstance(found, State)
    new = found.system["follower"]
    assert isinstance(new, Follower)
    assert new.entries == [new.entry]
    assert new.entry(found) == 1.0
    assert new.seen is found.system["latch"].x  # type: ignore[union-attr]  # of this model


def test_a_shallow_copy_of_a_subsystem_has_handles_of_its_own() -> None:
    latch = Latch()
    latch.product  # noqa: B018  # the handle is there now
    twin = copy.copy(latch)
    assert twin is not latch
    assert twin.product is not latch.product
    assert str(twin.q) == "latch.q"
    assert twin.q is not latch.q


class Keeper(Subsystem):
    """Keeps handles of its own and of another."""

    x = q_variable(1.0)

    def __init__(self, springs: Springs) -> None:
        self.kept = (self.x, springs.force[1])


@pytest.mark.parametrize(
    ("cls", "name", "item"), [(Keeper, "x", "Keeper.x:"), (Springs, "force", "Springs.force[1]:")]
)
def test_a_kept_handle_of_an_item_that_is_not_declared_any_more_is_named(
    cls: type[Subsystem], name: str, item: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    springs = Springs(2)
    dump = pickle.dumps(System(springs, Keeper(springs)))
    monkeypatch.setattr(cls, "declarations", {})
    monkeypatch.delattr(cls, name)
    with pytest.raises(UnknownItemError, match=f"^{re.escape(item)}"):
        where_it_is_unknown(dump)
