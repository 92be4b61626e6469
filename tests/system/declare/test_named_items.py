"""Families whose items have names."""

import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from stagecache import State, Subsystem, System, cached, parameter, q_variable
from stagecache.errors import DuplicateNameError, InvalidNameError, UnknownItemError


class House(Subsystem):
    def __init__(self, rooms: Sequence[Any] = ("kitchen", "bath")) -> None:
        self.rooms = rooms

    heat = parameter(factory=lambda self, i: float(i), count=lambda self: self.rooms)
    doors = q_variable(0.0, count=("front", "back"))
    windows = parameter(1.0, count=2)

    @cached(count=lambda self: self.rooms, prerequisites=lambda self, i: (self.heat[i],))
    def twice(self, state: State, i: int) -> float:
        return 2 * self.heat[i](state)


def test_items_are_found_by_name_and_by_number() -> None:
    house = House()
    state = System(house).new_state()
    assert house.heat["bath"] is house.heat[1] is house.heat[-1]
    house.heat["bath"].set(state, 5.0)
    assert (house.heat[1](state), house.twice["bath"](state)) == (5.0, 10.0)
    assert [h.name for h in house.doors] == ["doors[front]", "doors[back]"]
    assert list(house.heat.labels) == ["kitchen", "bath"]
    assert list(house.windows.labels) == [0, 1]


def test_paths_have_the_names() -> None:
    house = House()
    state = System(house).new_state()
    paths = {node.path for node in state.graph}
    assert {"house.heat[bath]", "house.twice[kitchen]", "house.doors[back]"} <= paths
    assert "house.windows[1]" in paths


def test_names_follow_the_topology() -> None:
    house = House()
    system = System(house)
    first = system.new_state()
    assert house.heat["bath"](first) == 1.0
    house.rooms = ("kitchen", "bath", "attic")
    state = system.new_state()
    assert house.heat["attic"](state) == 2.0


@pytest.mark.parametrize("wrong", ["attic", 2, -3, 1.5])
def test_an_item_that_is_not_there_is_refused(wrong: Any) -> None:
    with pytest.raises(UnknownItemError, match=r"House|house\.heat"):
        House().heat[wrong]


@pytest.mark.parametrize(
    ("rooms", "error"),
    [
        (("a", "a"), DuplicateNameError),
        (("a", ""), InvalidNameError),
        (("a", 3), InvalidNameError),
    ],
)
def test_names_that_do_not_tell_items_apart_are_refused(
    rooms: Sequence[Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"house\.heat"):
        System(House(rooms)).realize_topology()


def test_a_saved_value_finds_its_item_by_name() -> None:
    """A file names the item: the order of the items does not matter."""
    house = House()
    state = System(house).new_state()
    house.heat["kitchen"].set(state, 20.0)
    house.heat["bath"].set(state, 24.0)
    data = state.to_bytes()
    later = House(("bath", "attic", "kitchen"))
    loaded, report = State.from_bytes(data, System(later), strict=False)
    assert [h(loaded) for h in later.heat] == [24.0, 1.0, 20.0]
    assert [str(d) for d in report.differences] == [
        "house.heat[attic] is new: a parameter, a number"
    ]


def test_a_handle_of_an_item_can_be_pickled() -> None:
    house = House()
    state = System(house).new_state()
    house.heat["bath"].set(state, 24.0)
    twin, handle = pickle.loads(pickle.dumps((state, house.heat["bath"])))
    assert handle(twin) == 24.0
    assert twin.stage == state.stage
