"""Declared units: each item has the unit of its declaration, by its path."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from stagecache import (
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
    u_variable,
    z_variable,
)
from stagecache.errors import InvalidNameError, LayoutMismatchError
from stagecache.files.envelope import unpack
from stagecache.state.handles import Vector


class Machine(Subsystem):
    """One declaration of each kind, alone and in a family."""

    rows = modeling_option(2, unit="rows")
    length = parameter(1.0, unit="m")
    masses = parameter(2.0, count=2, unit="kg")
    force = discrete(factory=lambda self: 0.0, invalidates=Stage.DYNAMICS, unit="N")
    loads = discrete(0.0, invalidates=Stage.DYNAMICS, count=("left", "right"), unit="N")
    angle = q_variable(0.1, unit="rad")
    places = q_variable((1.0, 2.0), count=2, unit="m")
    rate = u_variable(factory=lambda self, state: [0.0], unit="rad/s")
    speeds = u_variable(0.0, count=4, unit="m/s")
    heat = z_variable([0.0, 0.0], unit="J")
    heats = z_variable(factory=lambda self, state, i: [0.0], count=1, unit="J")
    peak = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.TIME, unit="K")
    plain = parameter("text")

    @angle.prescribed
    def drive(self, state: State) -> float:
        return state.time

    @peak.update
    def next_peak(self, state: State) -> float:
        return self.peak(state) + 1.0

    @cached(prerequisites=(length,), unit="m²")
    def area(self, state: State) -> float:
        return self.length(state) ** 2

    @cached(prerequisites=(masses,), count=2, unit="kg")
    def doubled(self, state: State, i: int) -> float:
        return 2 * self.masses[i](state)

    @cached(prerequisites=(length,))
    def bare(self, state: State) -> float:
        return self.length(state)


UNITS = {
    "rows": "rows",
    "length": "m",
    "masses[0]": "kg",
    "masses[1]": "kg",
    "force": "N",
    "loads[left]": "N",
    "loads[right]": "N",
    "angle": "rad",
    "places[0]": "m",
    "places[1]": "m",
    "rate": "rad/s",
    **{f"speeds[{i}]": "m/s" for i in range(4)},
    "heat": "J",
    "heats[0]": "J",
    "peak": "K",
    "peak.update": "K",
    "drive": "rad",
    "area": "m²",
    "doubled[0]": "kg",
    "doubled[1]": "kg",
}


def of(name: str, units: dict[str, str]) -> dict[str, str]:
    """Those of a subsystem with this name."""
    return {f"{name}.{item}": unit for item, unit in units.items()}


def test_every_item_has_the_unit_of_its_declaration() -> None:
    system = System(Machine(), second=Machine())
    assert system.units == of("machine", UNITS) | of("second", UNITS)
    assert set(system.units) <= {node.path for node in system.graph.nodes}
    assert Machine.length.unit == Machine.masses.unit.replace("kg", "m") == "m"
    assert Machine.plain.unit == ""


def test_a_subclass_declares_its_own_unit_and_what_belongs_to_the_variable_follows() -> None:
    class Other(Machine):
        angle = q_variable(5.0, unit="deg")
        peak = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.TIME)

    units = UNITS | {"angle": "deg", "drive": "deg"}
    del units["peak"], units["peak.update"]
    assert System(Other()).units == of("other", units)


def test_the_unit_is_that_of_the_item_which_has_the_path() -> None:
    class Hidden(Subsystem):
        load = parameter(1.0, unit="N")

        def realize_topology(self, state: State) -> None:
            state[self].allocate_q([1.0], name="load")

    system = System(Hidden())
    (path,) = system.units
    assert system.graph[path].variant == "parameter"


def test_units_are_changed_by_nobody_who_reads_them() -> None:
    system = System(Machine())
    system.units.clear()
    assert system.units == of("machine", UNITS)
    assert pickle.loads(pickle.dumps(system)).units == of("machine", UNITS)


def test_the_file_of_a_state_has_the_units_of_its_variables() -> None:
    data = System(Machine()).new_state().to_bytes()
    content, _ = unpack(data, "State", "these bytes")
    entries = {"peak.update", "drive", "area", "doubled[0]", "doubled[1]"}
    variables = {item: unit for item, unit in UNITS.items() if item not in entries}
    found = {path: g["unit"] for g in content["variables"] for path in g["values"] if g["unit"]}
    assert found == of("machine", variables)


def test_a_value_of_another_unit_is_not_taken() -> None:
    class Metres(Subsystem):
        length = parameter(1.0, unit="m")
        width = parameter(1.0, unit="m")

    class Millimetres(Subsystem):
        length = parameter(1000.0, unit="mm")
        width = parameter(1.0)

    data = System(rod=Metres()).new_state().to_bytes()
    model = System(rod=(rod := Millimetres()))
    kind = "a parameter, a number"
    text = rf"rod\.length is {kind} \[mm\] \(it was {kind} \[m\]\)"
    with pytest.raises(LayoutMismatchError, match=text):
        State.from_bytes(data, model)
    state, report = State.from_bytes(data, model, strict=False)
    assert (rod.length(state), rod.width(state), len(report.differences)) == (1000.0, 1.0, 1)


def one(self: Any, state: State) -> float:
    """A computation."""
    return 1.0


def ones(self: Any, state: State, i: int) -> Vector:
    """A computation of a family."""
    raise NotImplementedError


BAD: dict[str, Callable[[Any], object]] = {
    "parameter": lambda unit: parameter(1.0, unit=unit),
    "modeling_option": lambda unit: modeling_option(1, unit=unit),
    "discrete": lambda unit: discrete(1, invalidates=Stage.TIME, count=2, unit=unit),
    "q_variable": lambda unit: q_variable(1.0, unit=unit),
    "u_variable": lambda unit: u_variable((1.0,), unit=unit),
    "z_variable": lambda unit: z_variable(factory=lambda self, state: [1.0], unit=unit),
    "auto_update": lambda unit: auto_update(
        1, invalidates=Stage.REPORT, available_from=Stage.TIME, unit=unit
    ),
    "cached": lambda unit: cached(prerequisites=(), unit=unit)(one),
    "family": lambda unit: cached(prerequisites=(), count=2, unit=unit)(ones),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("unit", [None, 1, b"m", Machine.length])
def test_a_unit_that_is_not_a_text_is_refused(name: str, unit: object) -> None:
    what = "cached" if name == "family" else name
    with pytest.raises(InvalidNameError, match=rf"{what}\(unit=\.\.\.\)"):
        BAD[name](unit)
