"""What a Subsystem declares: what its handles do, and how declarations find each other."""

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import attrs
import numpy as np
import pytest

from stagecache import (
    CacheEntry,
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    modeling_option,
    parameter,
    q_variable,
    simbody,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    NotANumberError,
    ShapeError,
    StageTooLowError,
    UnknownItemError,
    WrongTypeError,
)
from stagecache.state.handles import Vector
from tests.system.models import Chain, Crane, Springs, state_of

TOPOLOGY, MODEL, INSTANCE, TIME = Stage.TOPOLOGY, Stage.MODEL, Stage.INSTANCE, Stage.TIME
POSITION, VELOCITY = Stage.POSITION, Stage.VELOCITY
REPORT, INFINITY = Stage.REPORT, Stage.INFINITY


class Everything(Subsystem):
    """One item of each kind."""

    number = parameter(1.5)
    array = parameter(np.array([1.0, 2.0]))
    names = parameter(factory=lambda self: ["a", "b"])
    option = modeling_option(3)
    late = discrete("x", invalidates=REPORT)
    latched = auto_update(1.0, invalidates=VELOCITY, available_from=POSITION)
    q0 = q_variable(0.25)
    qs = q_variable([1.0, 2.0])
    free = q_variable(factory=lambda self, state: [0.5] * self.option(state))
    u0 = u_variable(2)
    z0 = z_variable(())

    @latched.update
    def next_latched(self, state: State) -> float:
        return self.latched(state) + self.q0(state)

    @cached(prerequisites=(q0, number))
    def product(self, state: State) -> float:
        return self.q0(state) * self.number(state)

    @cached(available_from=POSITION)
    def doubled(self, state: State) -> Vector:
        return 2 * self.qs(state)


@pytest.fixture
def thing() -> Everything:
    return Everything()


# ---------------------------------------------------------------------- variables


def test_initial_values_are_read_from_the_first_state(thing: Everything) -> None:
    state = state_of(thing)
    assert (thing.number(state), thing.option(state), thing.late(state)) == (1.5, 3, "x")
    assert (list(thing.array(state)), thing.names(state)) == ([1.0, 2.0], ["a", "b"])
    assert thing.latched(state) == 1.0
    assert type(thing.q0(state)) is float
    assert (thing.q0(state), thing.u0(state)) == (0.25, 2.0)
    assert (list(thing.qs(state)), list(thing.free(state))) == ([1.0, 2.0], [0.5] * 3)
    assert (thing.z0(state).shape, list(state.q)) == ((0,), [0.25, 1, 2, 0.5, 0.5, 0.5])


def test_variables_are_set_and_their_versions_rise(thing: Everything) -> None:
    state = state_of(thing)
    other = state.copy()
    writes: list[tuple[Any, object]] = [
        (thing.number, 9.0),
        (thing.late, "y"),
        (thing.latched, 9.0),
        (thing.q0, 9.0),
        (thing.u0, 9.0),
        (thing.time, 9.0),
    ]
    for handle, value in writes:
        version = handle.version(state)
        handle.set(state, value)
        assert (handle(state), handle.version(state)) == (value, version + 1)
        assert (handle(other) == value, handle.version(other)) == (False, version)


def test_vectors_are_set_and_updated_in_place(thing: Everything) -> None:
    state = state_of(thing)
    thing.qs.set(state, [3, 4])
    thing.qs.upd(state)[1] = 5
    thing.array.upd(state)[0] = 6
    thing.q0.upd(state)[0] = 7
    assert (list(thing.qs(state)), list(thing.array(state)), thing.q0(state)) == ([3, 5], [6, 2], 7)
    assert (list(state.q[:3]), thing.qs.place(state)) == ([7, 3, 5], slice(1, 3))
    with pytest.raises(ShapeError, match="'qs' of subsystem 1 'everything'"):
        thing.qs.set(state, [1.0])
    with pytest.raises(NotANumberError, match="'qs' of subsystem 1 'everything'"):
        thing.qs.set(state, ["x", "y"])
    with pytest.raises((NotANumberError, ShapeError)):
        thing.q0.set(state, [1.0, 2.0])  # type: ignore[arg-type]  # is refused
    assert list(state.q[:3]) == [7, 3, 5]


def test_other_mutable_values_are_changed_by_upd(thing: Everything) -> None:
    state = state_of(thing)
    other = state.copy()
    version = thing.names.version(state)
    thing.names.upd(state).append("c")
    assert (thing.names(state), thing.names(other)) == (["a", "b", "c"], ["a", "b"])
    assert thing.names.version(state) == version + 1
    assert thing.names(state.system.default_state) == ["a", "b"]


def test_arrays_of_variables_and_entries_are_only_for_reading(thing: Everything) -> None:
    given = np.array([1.0, 2.0])
    state = state_of(thing, stage=POSITION)
    thing.array.set(state, given)
    state.system.realize(state, POSITION)
    given[0] = 99.0
    assert list(thing.array(state)) == [1.0, 2.0]
    for array in (thing.array(state), thing.qs(state), thing.doubled(state)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_the_array_of_an_entry_is_its_own() -> None:
    class Keeper(Subsystem):
        def __init__(self) -> None:
            self.kept = np.array([1.0, 2.0, 3.0])

        @cached(prerequisites=())
        def part(self, state: State) -> Vector:
            return self.kept[:2]

    keeper = Keeper()
    state = state_of(keeper)
    assert list(keeper.part(state)) == [1.0, 2.0]
    keeper.kept[0] = 9.0
    assert list(keeper.part(state)) == [1.0, 2.0]


def test_initial_values_are_those_of_each_instance() -> None:
    class Sized(Subsystem):
        def __init__(self, size: int) -> None:
            self.size = size

        masses = parameter(factory=lambda self: np.ones(self.size))
        x = q_variable(factory=lambda self, state: self.masses(state) * 2)

    one, two = Sized(1), Sized(2)
    system = System(one=one, two=two)
    state = system.new_state()
    assert (list(one.masses(state)), list(two.x(state)), list(state.q)) == ([1], [2, 2], [2, 2, 2])


def test_initial_values_that_can_be_changed_belong_to_one_state_each() -> None:
    given = [1]

    class Listing(Subsystem):
        option = modeling_option(given)
        latched = auto_update(given, invalidates=REPORT, available_from=TIME)
        many = parameter(given, count=2)

        def realize_topology(self, state: State) -> None:
            for handle in (self.option, self.latched, *self.many):
                handle(state).append(2)

    for _ in range(2):
        listing = Listing()
        state = state_of(listing)
        handles = (listing.option, listing.latched, *listing.many)
        assert [handle(state) for handle in handles] == [[1, 2]] * 4
    assert given == [1]


def test_the_array_of_an_initial_value_is_copied_where_it_is_declared() -> None:
    given = np.array([1.0, 2.0])

    class Keeper(Subsystem):
        number = parameter(given)
        x = q_variable(given)

    given[0] = 9.0
    keeper = Keeper()
    state = state_of(keeper)
    assert (list(keeper.x(state)), list(keeper.number(state))) == ([1, 2], [1, 2])


def test_a_factory_may_return_one_number_for_a_vector_of_one() -> None:
    class One(Subsystem):
        x = u_variable(factory=lambda self, state: 3)

    one = One()
    state = state_of(one)
    assert list(one.x(state)) == [3.0]


# ---------------------------------------------------------------------- modeling options


def test_a_modeling_option_changes_sizes_when_model_is_realized_again() -> None:
    chain = Chain()
    state = state_of(chain, stage=REPORT)
    system, other = state.system, state.copy()
    assert (state.nq, state.nqerr, state.num_event_triggers) == (3, 3, 3)
    for links in (0, 4, 1):
        chain.num_links.set(state, links)
        assert state.stage is TOPOLOGY
        with pytest.raises(StageTooLowError):
            chain.angles(state)
        system.realize(state)
        assert (state.nq, state.nqerr, state.nuerr, state.nudoterr) == (links + 1,) * 4
        assert list(chain.angles(state)) == [0.5] * links
        assert chain.twist.place(state) == slice(links, links + 1)
        assert list(state.qerr) == [-0.5] * links + [100.25]
        assert list(state.event_triggers) == [10.5] * links + [20.25]
    system.realize(other)
    assert (other.nq, list(other.qerr)) == (3, [-0.5, -0.5, 100.25])


def test_slots_of_declared_items_stay_when_sizes_change() -> None:
    chain = Chain()
    state = state_of(chain)
    handles = (chain.angles, chain.twist, chain.gaps, chain.twisted)
    places = [(h.subsystem, h.index) for h in (chain.gaps, chain.twisted)]
    chain.num_links.set(state, 7)
    state.system.realize(state)
    assert handles == (chain.angles, chain.twist, chain.gaps, chain.twisted)
    assert [(h.subsystem, h.index) for h in (chain.gaps, chain.twisted)] == places


# ---------------------------------------------------------------------- entries


def test_an_entry_is_computed_when_it_is_called_and_then_kept() -> None:
    crane = Crane()
    state = crane.state_at(TIME)
    work, pull = crane.load.work, crane.load.pull
    crane.realize(state, POSITION)
    assert not work.is_valid(state)
    assert (work(state), work.is_valid(state), work.version(state)) == (20.0, True, 1)
    crane.log.clear()
    assert (work(state), crane.log) == (20.0, [])
    pull.set(state, 1.0)
    assert not work.is_valid(state)
    assert (work(state), work.version(state)) == (2.0, 2)
    assert crane.log == [("work", "load")]
    work.invalidate(state)
    assert not work.is_valid(state)
    crane.joint.tip.invalidate(state)
    assert [e.is_valid(state) for e in (crane.body.place, crane.load.height)] == [False, False]
    assert crane.body.place(state) == 2.0


def test_entries_know_what_is_upstream_and_downstream() -> None:
    crane = Crane()
    state = crane.state_at()
    load, body, joint = crane.load, crane.body, crane.joint
    assert load.work.prerequisites(state) == (body.place, load.pull)
    assert body.place.dependents(state) == (load.height, load.work)
    assert joint.length.dependents(state) == (joint.tip, joint.speed)
    assert joint.angle.dependents(state) == (joint.tip,)
    assert load.work.dependents(state) == ()
    assert (load.work.available_from, load.work.computed_by) == (POSITION, INFINITY)
    assert (load.height.available_from, load.height.computed_by) == (POSITION, POSITION)
    assert (body.momentum.available_from, body.momentum.computed_by) == (VELOCITY, Stage.DYNAMICS)


def test_depends_on_is_the_lowest_stage_at_which_the_prerequisites_can_be_read() -> None:
    class Inferring(Subsystem):
        p = parameter(1.0)
        late = discrete(1.0, invalidates=REPORT)
        x = q_variable(1.0)

        @cached(prerequisites=())
        def constant(self, state: State) -> float:
            return 1.0

        @cached(prerequisites=(p, late))
        def from_discrete(self, state: State) -> float:
            return self.p(state)

        @cached(prerequisites=(x, p))
        def from_q(self, state: State) -> float:
            return self.x(state)

        @cached(available_from=VELOCITY, prerequisites=(x,))
        def declared(self, state: State) -> float:
            return self.x(state)

        @cached(prerequisites=(declared, from_q))
        def from_entry(self, state: State) -> float:
            return self.declared(state)

        @cached(prerequisites=lambda self: (self.time,))
        def from_time(self, state: State) -> float:
            return self.time(state)

    inferring = Inferring()
    names = ("constant", "from_discrete", "from_q", "declared", "from_entry", "from_time")
    assert getattr(inferring, names[0]).available_from is Stage.EMPTY  # not known yet
    state = state_of(inferring)
    found = [getattr(inferring, name).available_from for name in names]
    assert found == [TOPOLOGY, TOPOLOGY, MODEL, VELOCITY, VELOCITY, TOPOLOGY]
    assert inferring.from_q(state) == 1.0
    inferring.x.set(state, 2.0)  # at Model: only the explicit prerequisite says that it changed
    assert (inferring.from_q(state), inferring.from_q.is_valid(state)) == (2.0, True)
    with pytest.raises(StageTooLowError):
        inferring.from_entry(state)


def test_time_and_wholes_are_prerequisites() -> None:
    class Left(Subsystem):
        x = q_variable(1.0)
        v = u_variable(1.0)

        @cached(prerequisites=lambda self: (self.q,))
        def own(self, state: State) -> float:
            return float(self.q(state).sum())

        @cached(prerequisites=lambda self: (self.system.q, self.time))
        def all_and_time(self, state: State) -> float:
            return float(self.system.q(state).sum()) + self.time(state)

    class Right(Subsystem):
        y = q_variable([2.0, 3.0])

    left, right = Left(), Right()
    system = System(left, right)
    state = system.new_state()
    assert (left.own(state), left.all_and_time(state)) == (1.0, 6.0)
    right.y.set(state, [0.0, 0.0])
    assert (left.own.is_valid(state), left.all_and_time.is_valid(state)) == (True, False)
    assert left.all_and_time(state) == 1.0
    left.v.set(state, 9.0)
    assert left.all_and_time.is_valid(state)
    state.time = 10.0
    assert (left.own.is_valid(state), left.all_and_time(state)) == (True, 11.0)
    left.x.set(state, 5.0)
    assert (left.own(state), left.all_and_time(state)) == (5.0, 15.0)
    state.y = [1.0, 1.0, 1.0, 1.0]
    assert (left.own(state), left.all_and_time(state)) == (1.0, 13.0)


def test_a_list_and_a_function_name_prerequisites_as_a_tuple_does() -> None:
    class Naming(Subsystem):
        a = parameter(1.0)
        b = parameter(2.0, count=2)

        @cached(prerequisites=[a])
        def by_list(self, state: State) -> float:
            return self.a(state)

        @cached(prerequisites=lambda self: [self.a, self.b])
        def by_function(self, state: State) -> float:
            return self.a(state)

        @cached(prerequisites=lambda self: (Naming.a, *self.b[1:]))
        def mixed(self, state: State) -> float:
            return self.a(state)

        @cached(prerequisites=lambda self: (h for h in self.b))
        def by_generator(self, state: State) -> float:
            return self.a(state)

    naming = Naming()
    state = state_of(naming)
    a, (b0, b1) = naming.a, naming.b
    assert naming.by_list.prerequisites(state) == (a,)
    assert naming.by_function.prerequisites(state) == (a, b0, b1)
    assert naming.mixed.prerequisites(state) == (a, b1)
    assert naming.by_generator.prerequisites(state) == (b0, b1)


def test_none_is_a_value_where_it_is_promised() -> None:
    class Seeking(Subsystem):
        target = parameter(0.0)

        @cached(prerequisites=(target,))
        def found(self, state: State) -> float | None:
            return self.target(state) or None

    seeking = Seeking()
    state = state_of(seeking)
    assert (seeking.found(state), seeking.found.is_valid(state)) == (None, True)
    seeking.target.set(state, 2.0)
    assert seeking.found(state) == 2.0


def test_none_is_a_value_where_any_object_is_promised() -> None:
    class Seeking(Subsystem):
        @cached(prerequisites=())
        def found(self, state: State) -> object:
            return None

    seeking = Seeking()
    state = state_of(seeking)
    assert (seeking.found(state), seeking.found.is_valid(state)) == (None, True)


def test_an_entry_of_a_later_stage_waits_for_it(thing: Everything) -> None:
    state = state_of(thing)
    with pytest.raises(StageTooLowError, match="'doubled' of subsystem 1 'everything'"):
        thing.doubled(state)
    state.system.realize(state, POSITION)
    assert list(thing.doubled(state)) == [2.0, 4.0]
    thing.q0.set(state, 1.0)
    with pytest.raises(StageTooLowError):
        thing.doubled(state)


# ---------------------------------------------------------------------- auto-update variables


def test_an_update_is_computed_by_its_stage_and_exchanged(thing: Everything) -> None:
    state = state_of(thing, stage=TIME)
    update = thing.latched.update
    assert update is not None
    assert not update.is_valid(state)
    state.system.realize(state, POSITION)
    assert update.is_valid(state)
    saved = state.stage_versions
    state.auto_update_discrete_variables()
    assert (thing.latched(state), state.stage_versions) == (1.25, saved)
    assert not update.is_valid(state)
    assert update(state) == 1.5
    state.auto_update_discrete_variables()
    assert thing.latched(state) == 1.5
    assert thing.next_latched is update


def test_an_update_is_stale_when_what_it_names_was_written() -> None:
    class Following(Subsystem):
        x = auto_update(1.0, invalidates=REPORT, available_from=TIME)
        y = auto_update(2.0, invalidates=REPORT, available_from=TIME)

        @y.update(prerequisites=(x,))
        def next_y(self, state: State) -> float:
            return self.x(state)

    following = Following()
    state = state_of(following, stage=REPORT)
    x, y = following.x, following.y
    assert following.next_y is y.update
    assert (y.update.prerequisites(state), x.dependents(state)) == ((x,), (y.update,))
    assert y.update.is_valid(state)
    x.set(state, 10.0)
    assert not y.update.is_valid(state)
    state.system.realize(state)
    state.auto_update_discrete_variables()
    assert (x(state), y(state)) == (10.0, 10.0)
    x.set(state, 20.0)
    state.time = 1.0
    state.system.realize(state, INSTANCE)
    state.auto_update_discrete_variables()
    assert y(state) == 10.0  # Time has to be realized


def test_a_second_exchange_takes_nothing_before_the_stage_is_realized_again() -> None:
    class Counting(Subsystem):
        count = auto_update(0, invalidates=REPORT, available_from=TIME)

        @count.update
        def next_count(self, state: State) -> int:
            return self.count(state) + 1

    counting = Counting()
    state = state_of(counting, stage=REPORT)
    state.auto_update_discrete_variables()
    state.auto_update_discrete_variables()
    assert counting.count(state) == 1


def test_an_update_that_nobody_computes_is_left_to_hooks() -> None:
    class Manual(Subsystem):
        mode = auto_update("off", invalidates=POSITION, available_from=TIME)

        def realize_time(self, state: State) -> None:
            self.mode.update.set(state, "on")
            self.mode.update.mark_valid(state)

    manual = Manual()
    state = state_of(manual)
    state.auto_update_discrete_variables()
    assert manual.mode(state) == "off"
    state.system.realize(state, TIME)
    state.auto_update_discrete_variables()
    assert manual.mode(state) == "on"


# ---------------------------------------------------------------------- inheritance


class Base(Subsystem):
    size = parameter(1.0)
    other = parameter(10.0)

    @cached(prerequisites=(size,))
    def tip(self, state: State) -> float:
        return self.size(state)

    @cached(prerequisites=(tip,))
    def twice(self, state: State) -> float:
        return 2 * self.tip(state)


class Derived(Base):
    size = parameter(3.0)

    @cached(prerequisites=(Base.size, Base.other))
    def tip(self, state: State) -> float:
        return Base.tip.compute(self, state) + self.other(state)


class Again(Derived):
    extra = parameter(5.0)

    @cached(prerequisites=(Base.twice, extra))
    def more(self, state: State) -> float:
        return self.twice(state) + self.extra(state)


def test_an_override_replaces_its_base_everywhere() -> None:
    base, derived, again = Base(), Derived(), Again()
    system = System(base, derived, again)
    state = system.new_state()
    assert (base.twice(state), derived.twice(state), again.more(state)) == (2.0, 26.0, 31.0)
    assert derived.tip.prerequisites(state) == (derived.size, derived.other)
    assert derived.twice.prerequisites(state) == (derived.tip,)
    derived.other.set(state, 0.0)
    assert [x.twice.is_valid(state) for x in (base, derived, again)] == [True, False, True]
    assert derived.twice(state) == 6.0


def test_declarations_are_listed_by_name_with_inherited_ones_first() -> None:
    assert list(Again.declarations) == ["size", "other", "tip", "twice", "extra", "more"]
    assert Again.declarations["size"] is Derived.size
    assert Base.declarations["size"] is Base.size
    with pytest.raises(TypeError):
        Base.declarations["x"] = Base.size  # type: ignore[index]  # is refused


def test_a_mixin_declares_items_too() -> None:
    class Massive(Subsystem):
        mass = parameter(2.0)

    class Placed(Subsystem):
        x = q_variable(3.0)

    class Particle(Placed, Massive):
        @cached(prerequisites=(Massive.mass, Placed.x))
        def moment(self, state: State) -> float:
            return self.mass(state) * self.x(state)

    particle = Particle()
    assert particle.moment(state_of(particle)) == 6.0


def test_a_subclass_needs_not_call_the_init_of_its_base() -> None:
    class Bare(Subsystem):
        x = q_variable(1.0)

        def __init__(self, label: str) -> None:
            self.label = label

    bare = Bare("b")
    assert bare.name == "bare"
    assert bare.x(state_of(bare)) == 1.0


# ---------------------------------------------------------------------- classes that are made twice


@dataclass(slots=True)
class WithSlots(Subsystem):
    factor: float = 1.0
    x = q_variable(2.0)

    @cached(prerequisites=(x,))
    def product(self, state: State) -> float:
        return self.factor * self.x(state)


@attrs.define
class Defined(Subsystem):
    factor: float = 1.0
    x = q_variable(2.0)

    @cached(prerequisites=(x,))
    def product(self, state: State) -> float:
        return self.factor * self.x(state)


@attrs.define(on_setattr=attrs.setters.NO_OP)
class Converting(Subsystem):
    factor: float = attrs.field(default=1.0, converter=float)
    x = q_variable(2.0)

    @cached(prerequisites=(x,))
    def product(self, state: State) -> float:
        return self.factor * self.x(state)


@pytest.mark.parametrize("cls", [WithSlots, Defined, Converting])
def test_a_class_with_slots_is_a_subsystem_as_any_other(
    cls: type[WithSlots | Defined | Converting],
) -> None:
    one = cls(3.0)
    two, three = copy.deepcopy(one), pickle.loads(pickle.dumps(one))
    system = System(one, two=two, three=three)
    state = system.new_state()
    assert [s.product(state) for s in (one, two, three)] == [6.0, 6.0, 6.0]
    one.x.set(state, 5.0)
    assert [s.product(state) for s in (one, two, three)] == [15.0, 6.0, 6.0]
    one.factor = 4.0
    assert not system.topology_has_been_realized
    assert one.product(system.new_state()) == 8.0


# ---------------------------------------------------------------------- families


def test_a_family_is_a_sequence_of_handles() -> None:
    springs = Springs(3)
    state = state_of(springs)
    assert (len(springs.force), len(springs.place)) == (3, 4)
    assert [k(state) for k in springs.stiffness] == [10.0, 20.0, 30.0]
    assert springs.force[-1] is springs.force[2]
    assert springs.force[int(np.int64(1))] is springs.force[1]
    assert springs.force[1:] == [springs.force[1], springs.force[2]]
    assert list(springs.force) == [springs.force[i] for i in range(3)]
    assert springs.force[1] in springs.force
    bad_indices: list[Any] = [3, -4, 1.0, "1", None, True]
    for bad in bad_indices:
        with pytest.raises(UnknownItemError, match=r"springs\.force") as caught:
            springs.force[bad]
        assert isinstance(caught.value, IndexError)
    assert str(springs.force[1]) == "springs.force[1]"


def test_members_of_a_family_are_stale_one_by_one() -> None:
    springs = Springs(3)
    state = state_of(springs)
    springs.place[1].set(state, 1.5)
    assert [force(state) for force in springs.force] == [10.0, -20.0, 0.0]
    assert springs.total(state) == -10.0
    springs.stiffness[2].set(state, 5.0)
    assert [f.is_valid(state) for f in springs.force] == [True, True, False]
    springs.place[0].set(state, 1.0)
    assert [f.is_valid(state) for f in springs.force] == [False, True, False]
    assert not springs.total.is_valid(state)
    assert springs.total.prerequisites(state) == tuple(springs.force)
    assert springs.total(state) == 5.0 - 20.0 + 0.0


def test_there_are_families_of_each_kind() -> None:
    class Many(Subsystem):
        d = discrete(factory=lambda self, i: i * i, invalidates=REPORT, count=3)
        n = modeling_option(2)
        qs = q_variable(factory=lambda self, state, i: [i] * self.n(state), count=2)
        us = u_variable([1.0, 2.0], count=2)
        zs = z_variable(4.0, count=2)

        @cached(count=2, available_from=VELOCITY, computed_by=VELOCITY)
        def speed(self, state: State, i: int) -> float:
            return float(self.us[i](state).sum())

    many = Many()
    state = state_of(many, stage=VELOCITY)
    assert ([d(state) for d in many.d], list(state.q)) == ([0, 1, 4], [0, 0, 1, 1])
    assert (list(state.u), [z(state) for z in many.zs]) == ([1, 2, 1, 2], [4.0, 4.0])
    assert [s.is_valid(state) for s in many.speed] == [True, True]
    many.us[1].set(state, [5.0, 5.0])
    state.system.realize(state, VELOCITY)
    assert [s(state) for s in many.speed] == [3.0, 10.0]
    many.n.set(state, 1)
    state.system.realize_model(state)
    assert (list(state.q), list(many.qs[1](state))) == ([0, 1], [1])


def test_a_family_has_as_many_items_as_when_the_topology_was_realized() -> None:
    class Listing(Subsystem):
        def __init__(self) -> None:
            self.names = ["a", "b"]

        @cached(count=lambda self: len(self.names), prerequisites=())
        def length(self, state: State, i: int) -> int:
            return len(self.names[i])

    listing = Listing()
    state = state_of(listing)
    listing.names.append("c")  # which nobody can notice
    assert len(listing.length) == 2
    with pytest.raises(UnknownItemError, match="from 0 to 1"):
        listing.length[2]
    state.system.invalidate_topology_cache()
    state = state.system.new_state()
    assert [length(state) for length in listing.length] == [1, 1, 1]


def test_an_empty_family_is_nothing() -> None:
    springs = Springs(0)
    state = state_of(springs)
    assert (list(springs.force), springs.total(state)) == ([], 0)
    with pytest.raises(UnknownItemError, match="not empty"):
        springs.force[0]


# ---------------------------------------------------------------------- handles


def test_handles_are_const_hashable_and_the_same_each_time(thing: Everything) -> None:
    twin = Everything()
    state = state_of(thing)
    handles: dict[Any, str] = {
        thing.number: "number",
        thing.q0: "q0",
        thing.product: "product",
        thing.q: "q",
        thing.time: "time",
    }
    assert [handles[h] for h in (thing.product, thing.q0, thing.q)] == ["product", "q0", "q"]
    assert thing.product is thing.product
    assert thing.product != twin.product
    assert thing.number != twin.number
    assert copy.copy(thing.product) is thing.product
    assert copy.deepcopy(thing.q0) is thing.q0
    with pytest.raises(WrongTypeError):
        bool(thing.product)
    assert isinstance(thing.product, CacheEntry)
    assert thing.product(state) == 0.375


def test_handles_are_named_by_their_path(thing: Everything) -> None:
    system = System(big=thing)
    paths = [str(h) for h in (thing.product, thing.q0, thing.q, thing.latched.update)]
    assert paths == ["big.product", "big.q0", "big.q", "big.latched.update"]
    assert repr(thing.product) == "CacheEntry('big.product')"
    assert repr(thing.q0) == "ScalarVariable('big.q0')"
    assert repr(thing.number) == "DiscreteVariable('big.number')"
    assert (str(system.time), str(thing.time)) == ("time", "time")
    assert repr(thing.qs) == "ContinuousVariable('big.qs')"


def test_on_the_class_an_item_is_its_declaration() -> None:
    assert str(Everything.product) == "Everything.product"
    assert Everything.q0.name == "q0"
    assert Everything.q0.owner is Everything
    assert repr(Everything.q0) == "<ScalarDeclaration Everything.q0>"
    assert (Everything.q0.is_variable, Everything.product.is_variable) == (True, False)


def test_declared_items_come_before_those_that_hooks_allocate() -> None:
    class Both(Subsystem):
        size = modeling_option(2)
        p = parameter(1.0)
        x = q_variable(factory=lambda self, state: np.full(self.size(state), 1.0))

        @cached(prerequisites=(p,))
        def e(self, state: State) -> float:
            return 1.0

        def realize_topology(self, state: State) -> None:
            state[self].allocate_discrete_variable(REPORT, 7)
            state[self].allocate_lazy_cache_entry(POSITION, 8)

        def realize_model(self, state: State) -> None:
            state[self].allocate_q([9.0])

    both = Both()
    state = state_of(both)
    assert (both.size.index, both.p.index, both.e.index) == (0, 1, 0)
    assert simbody.get_discrete_variable(state[both], 2) == 7
    assert simbody.cache_entry_info(state[both], 1).available_from is POSITION
    assert list(state.q) == [1.0, 1.0, 9.0]
    both.size.set(state, 1)
    state.system.realize_model(state)
    assert list(state.q) == [1.0, 9.0]
    assert state.copy().nq == 2
