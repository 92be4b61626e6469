"""New names of what was saved: the most special one counts."""

from typing import Any

import pytest

from stagecache import State, Subsystem, System, parameter
from stagecache.errors import LayoutMismatchError, UnknownPathError, WrongTypeError
from stagecache.files.renaming import Renaming

KNOWN = ("room", "room.heater", "room_2.heater", "room_2", "room.walls[n]", "room.walls[s]", "x")


@pytest.mark.parametrize(
    ("renamed", "moved"),
    [
        ({}, {}),
        ({"x": "y"}, {"x": "y"}),
        ({"room.heater": "room.power"}, {"room.heater": "room.power"}),
        ({"*.heater": "*.power"}, {"room.heater": "room.power", "room_2.heater": "room_2.power"}),
        (
            {"*.heater": "*.power", "room_2.heater": "room_2.stove"},
            {"room.heater": "room.power", "room_2.heater": "room_2.stove"},
        ),
        (
            {"*.heater": "*.power", "room_2": "bath"},
            {"room.heater": "room.power", "room_2.heater": "bath.power", "room_2": "bath"},
        ),
        (
            {"room.walls": "room.sides", "room.walls[n]": "room.roof"},
            {"room.walls[n]": "room.roof", "room.walls[s]": "room.sides[s]"},
        ),
        (
            {"*.walls": "*.sides", "*.walls[n]": "*.roof"},
            {"room.walls[n]": "room.roof", "room.walls[s]": "room.sides[s]"},
        ),
    ],
)
def test_the_most_special_name_counts(renamed: dict[str, str], moved: dict[str, str]) -> None:
    naming = Renaming(renamed, KNOWN, "a file")
    assert {path: naming(path) for path in KNOWN if naming(path) != path} == moved


@pytest.mark.parametrize(
    ("renamed", "error"),
    [
        ({"*.heatre": "*.power"}, UnknownPathError),
        ({"*": "*"}, UnknownPathError),
        ({"*.heater": "power"}, WrongTypeError),
        ({"room.heater": "*.power"}, WrongTypeError),
        ({"room.heater": 3}, WrongTypeError),
    ],
)
def test_other_names_are_refused(renamed: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="renamed="):
        Renaming(renamed, KNOWN, "a file")


class Room(Subsystem):
    heater = parameter(1000.0)
    walls = parameter(1.0, count=("n", "s"))


class Powered(Subsystem):
    power = parameter(0.0)
    sides = parameter(0.0, count=("n", "s"))


def test_a_new_name_that_the_model_does_not_have_is_refused() -> None:
    data = System(Room()).new_state().to_bytes()
    system = System(room=Powered())
    for strict in (True, False):
        with pytest.raises(UnknownPathError, match=r"did you mean 'room.power'"):
            State.from_bytes(data, system, strict=strict, renamed={"*.heater": "*.powr"})
    _, report = State.from_bytes(data, system, strict=False)
    assert report.not_taken == {"room.heater": 1000.0, "room.walls[n]": 1.0, "room.walls[s]": 1.0}


def test_the_hint_has_one_name_for_those_of_all_subsystems() -> None:
    data = System(Room(), Room(), Room()).new_state().to_bytes()
    system = System(room=Powered(), room_2=Powered(), room_3=Powered())
    with pytest.raises(LayoutMismatchError) as caught:
        State.from_bytes(data, system)
    renamed = {"*.heater": "*.power", "*.walls": "*.sides"}
    assert f"pass renamed={renamed}" in caught.value.hint
    assert "room.heater (and 2 more, to room_3.heater) is not here" in str(caught.value)
    state, report = State.from_bytes(data, system, strict=False, renamed=renamed)
    assert (report.is_complete, repr(report)) == (
        True,
        "<LoadReport of 'system': 9 taken, 0 differences>",
    )
    values = [part.power(state) for part in system.subsystems[1:]]  # type: ignore[attr-defined]
    assert values == [1000.0] * 3
