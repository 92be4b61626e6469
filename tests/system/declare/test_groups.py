"""Groups of prerequisites, against what a write must make stale, and what recomputation gives."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    CacheEntry,
    DiscreteVariable,
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    cached,
    discrete,
    modeling_option,
    parameter,
    position_error,
    profile,
    q_variable,
    strict,
    u_variable,
    z_variable,
)
from stagecache.errors import ForeignNodeError, ImpreciseError, UndeclaredPrerequisiteError
from stagecache.system import ALL
from stagecache.testing import check_precision
from tests.profiles import examples


class Cart(Subsystem):
    mode = modeling_option(1)
    mass = parameter(2.0)
    rates = discrete(factory=lambda self, i: float(i), invalidates=Stage.INSTANCE, count=2)
    place = q_variable(0.5)
    speed = u_variable(0.25)
    heat = z_variable([1.0, 2.0])
    gear = discrete(3, invalidates=Stage.DYNAMICS)
    count = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.TIME)

    @count.update(prerequisites=ALL)
    def next_count(self, state: State) -> float:
        return self.count(state) + self.mass(state)

    @cached(prerequisites=(speed,), equal=True)
    def direction(self, state: State) -> float:
        return float(np.sign(self.speed(state)))


class Watcher(Subsystem):
    shift = q_variable(0.0)

    def __init__(self, cart: Cart) -> None:
        self.cart = cart

    @cached(prerequisites=ALL)
    def all(self, state: State) -> tuple[Any, ...]:
        cart = self.cart
        return (
            *(state.time, self.shift(state), cart.mode(state), cart.mass(state)),
            *(rate(state) for rate in cart.rates),
            *(cart.place(state), cart.speed(state), *cart.heat(state)),
            *(cart.gear(state), cart.count(state), cart.direction(state)),
        )

    @cached(prerequisites=lambda self: self.cart.all_parameters)
    def parameters(self, state: State) -> float:
        return self.cart.mass(state) + self.cart.rates[1](state)

    @cached(prerequisites=lambda self: (self.cart.all_discrete, self.cart.gear, self.time))
    def discretes(self, state: State) -> float:
        return self.cart.gear(state) + self.cart.count(state)

    @cached(
        count=2, prerequisites=lambda self, i: (self.cart.all_variables, self.cart.all_parameters)
    )
    def variables(self, state: State, i: int) -> float:
        return self.cart.mode(state) + float(self.cart.heat(state)[i]) + self.cart.place(state)

    @cached(prerequisites=ALL)
    def mean(self, state: State) -> float:
        return (self.cart.mass(state) + self.cart.direction(state)) / 2


class Door(Subsystem):
    angle = q_variable(0.0)

    @position_error(prerequisites=ALL)
    def closed(self, state: State) -> float:
        return self.angle(state)

    @closed.bias(prerequisites=ALL)
    def closed_bias(self, state: State) -> float:
        return 0.0


def model() -> tuple[System, Cart, Watcher]:
    cart = Cart()
    watcher = Watcher(cart)
    return System(cart, watcher), cart, watcher


def names(handles: Any) -> set[str]:
    return {str(handle) for handle in handles}


PARAMETERS = {"cart.mass", "cart.rates[0]", "cart.rates[1]"}
DISCRETE = {"cart.gear", "cart.count"}
REST = {"cart.q", "cart.u", "cart.z", "cart.mode"}


def test_a_group_is_each_variable_of_its_kind_once() -> None:
    system, cart, watcher = model()
    state = system.new_state()
    assert names(watcher.parameters.prerequisites(state)) == PARAMETERS
    assert names(watcher.discretes.prerequisites(state)) == DISCRETE | {"time"}
    for entry in watcher.variables:
        assert names(entry.prerequisites(state)) == PARAMETERS | DISCRETE | REST
    whole = {"time", "system.q", "system.u", "system.z", "cart.mode"} | PARAMETERS | DISCRETE
    assert names(watcher.all.prerequisites(state)) == whole
    assert names(cart.count.update.prerequisites(state)) == whole


WRITES: dict[str, Any] = {
    "time": lambda s, c, w, x: s._contents.system.time.set(s, x),
    "mode": lambda s, c, w, x: c.mode.set(s, int(x)),
    "mass": lambda s, c, w, x: c.mass.set(s, x),
    "rate": lambda s, c, w, x: c.rates[1].set(s, x),
    "place": lambda s, c, w, x: c.place.set(s, x),
    "speed": lambda s, c, w, x: c.speed.set(s, x - 2.0),
    "heat": lambda s, c, w, x: c.heat.set(s, [x, 0.0]),
    "gear": lambda s, c, w, x: c.gear.set(s, x),
    "count": lambda s, c, w, x: c.count.set(s, x),
    "shift": lambda s, c, w, x: w.shift.set(s, x),
    "exchange": lambda s, c, w, x: s.auto_update_discrete_variables(),
}


@pytest.mark.parametrize("name", [name for name in WRITES if name != "exchange"])
def test_each_write_makes_stale_what_names_all(name: str) -> None:
    system, cart, watcher = model()
    state = system.new_state()
    _ = watcher.all(state), watcher.parameters(state), watcher.discretes(state)
    WRITES[name](state, cart, watcher, 7.0)
    assert not watcher.all.is_valid(state)
    assert watcher.parameters.is_valid(state) == (name not in {"mass", "rate"})
    assert watcher.discretes.is_valid(state) == (name not in {"gear", "count", "time"})


@given(
    st.lists(st.tuples(st.sampled_from([*WRITES]), st.integers(0, 4)), max_size=12),
)
@examples(200)
def test_values_after_any_writes_are_those_of_a_state_without_a_cache(
    writes: list[tuple[str, int]],
) -> None:
    system, cart, watcher = model()
    state = system.new_state()
    entries: list[CacheEntry[Any]] = [
        watcher.all,
        watcher.parameters,
        watcher.discretes,
        *watcher.variables,
    ]
    with strict(state):
        for name, number in writes:
            system.realize(state, Stage.TIME)
            WRITES[name](state, cart, watcher, float(number))
            system.realize(state, Stage.MODEL)
            anew = state.copy()  # without the cache
            assert [entry(state) for entry in entries] == [entry(anew) for entry in entries]


def test_a_variable_that_is_added_later_is_among_all() -> None:
    system, _, watcher = model()
    system.new_state()
    other = system.add(Cart())
    state = system.new_state()
    before = watcher.all(state)
    assert other.mass in watcher.all.prerequisites(state)
    other.mass.set(state, 5.0)
    assert not watcher.all.is_valid(state)
    assert watcher.all(state) == before


def test_of_a_computation_of_a_stage_all_is_its_stage() -> None:
    door = Door()
    state = System(door).new_state()
    assert door.closed.available_from == Stage.POSITION
    assert door.closed_bias.available_from == Stage.VELOCITY
    door.angle.set(state, 0.5)
    door.system.realize(state, Stage.POSITION)
    assert state.qerr.tolist() == [0.5]
    door.angle.set(state, 0.25)
    assert not door.closed.is_valid(state)


def test_strict_mode_lets_all_read_what_is_computed_from_variables() -> None:
    system, cart, watcher = model()
    state = system.new_state()
    with strict(state):
        assert watcher.mean(state) == 1.5
        cart.speed.set(state, -1.0)
        assert watcher.mean(state) == 0.5


class Late(Subsystem):
    def __init__(self, other: "Late | None" = None) -> None:
        self.other = other

    @cached(available_from=Stage.POSITION)
    def at_position(self, state: State) -> float:
        return 1.0

    @cached(prerequisites=ALL)
    def early(self, state: State) -> float:
        return self.at_position(state)


def test_strict_mode_demands_the_stage_that_all_does_not_imply() -> None:
    late = Late()
    system = System(late)
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    with strict(state), pytest.raises(UndeclaredPrerequisiteError) as caught:
        late.early(state)
    assert caught.value.hint == "write @cached(prerequisites=ALL, available_from=Stage.POSITION)"


class ByHand(Subsystem):
    made: DiscreteVariable[float]

    def realize_topology(self, state: State) -> None:
        self.made = state[self].allocate_discrete_variable(Stage.REPORT, 1.0)

    @cached(prerequisites=ALL)
    def read(self, state: State) -> float:
        return float(self.made(state))


def test_strict_mode_finds_a_read_of_what_was_allocated_by_hand() -> None:
    by_hand = ByHand()
    state = System(by_hand).new_state()
    with strict(state), pytest.raises(UndeclaredPrerequisiteError, match="allocated by hand"):
        by_hand.read(state)


def test_profile_suggests_what_was_read_in_place_of_all() -> None:
    system, _, watcher = model()

    def run(state: State) -> None:
        for step in range(10):
            state.time = 0.1 * step
            watcher.mean(state)

    [found] = [entry for entry in profile(system, run).entries if entry.entry == "watcher.mean"]
    assert found.suggestion.endswith(
        "It read nothing but cart.direction, cart.mass: if it never does, write "
        "@cached(prerequisites=lambda self: (self.cart.mass, self.cart.direction))"
    )


class Spring(Subsystem):
    stiffness = parameter(100.0)
    stretch = q_variable(0.1)
    unused = parameter(0.0)

    @cached(prerequisites=ALL, equal=True)
    def force(self, state: State) -> float:
        return -self.stiffness(state) * self.stretch(state)


def test_check_precision_suggests_what_was_read_in_place_of_all() -> None:
    with pytest.raises(ImpreciseError) as caught:
        check_precision(System(Spring()))
    assert caught.value.hint == "write @cached(prerequisites=(stiffness, stretch), equal=...)"


def test_a_group_of_a_foreign_subsystem_is_refused() -> None:
    watcher = Watcher(Cart())
    with pytest.raises(ForeignNodeError, match="a prerequisite is not in the System"):
        System(watcher).new_state()


def test_a_group_has_the_name_of_its_subsystem() -> None:
    _, cart, _ = model()
    assert repr(ALL) == "ALL"
    assert repr(cart.all_parameters) == "cart.all_parameters"
