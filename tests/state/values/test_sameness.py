"""Sameness of values: of what they hold, not of what they are made of."""

import copy
import copyreg
import pickle
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
import pytest

from stagecache.state.values.sameness import same, shown


class Disk:
    """An object without a comparison, which remembers what it has computed."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    @cached_property
    def area(self) -> float:
        return 3 * self.radius**2

    def grown(self, by: float) -> float:
        return self.radius + by


class Odd:
    """An object that cannot be taken apart."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError


class Named:
    """An object that says how it is shown."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Ring:
    """An object that holds itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.me = self


class Global:
    """An object that pickle takes for something global."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> str:
        return self.name


class Row:
    """An object that hands out its items one by one when it is taken apart."""

    def __init__(self, *items: object) -> None:
        self.items = items

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (), None, (item for item in self.items)


class Registered:
    """An object that is taken apart by a function that was registered for its class."""

    def __init__(self, name: str, note: str = "") -> None:
        self.name = name
        self.note = note


copyreg.pickle(Registered, lambda one: (Registered, (one.name,)))


def scaled(factor: Any) -> Callable[[float], Any]:
    return lambda x: factor * x


def unfilled() -> Callable[[], Any]:
    def inner() -> Any:
        return later

    if inner is None:
        later: Any = 1
    return inner


def used(disk: Disk) -> Disk:
    assert disk.area
    return disk


OBJECTS = np.array([1.0, "two", [3]], dtype=object)
RECORD = np.dtype([("x", float), ("n", int)])

SAME: dict[str, tuple[Any, Any]] = {
    "numbers": (1.0, 1.0),
    "NaN": (float("nan"), float("nan")),
    "a number of another type": (1, 1.0),
    "arrays": (np.array([1.0, np.nan]), np.array([1.0, np.nan])),
    "arrays of texts": (np.array(["a"]), np.array(["a"])),
    "arrays of objects": (OBJECTS, OBJECTS.copy()),
    "arrays of objects with NaN": (
        np.array([float("nan"), "a"], dtype=object),
        np.array([float("nan"), "a"], dtype=object),
    ),
    "records": (np.array([(np.nan, 2)], RECORD), np.array([(np.nan, 2)], RECORD)),
    "lists": ([1, [np.zeros(2)]], [1, [np.zeros(2)]]),
    "dictionaries": ({"a": np.ones(2)}, {"a": np.ones(2)}),
    "functions": (scaled(np.ones(2)), scaled(np.ones(2))),
    "functions that are not filled yet": (unfilled(), unfilled()),
    "methods": (Disk(1.0).grown, Disk(1.0).grown),
    "builtin methods": ([1, 2].index, [1, 2].index),
    "objects": (Disk(2.0), Disk(2.0)),
    "objects, one of which has computed": (Disk(2.0), used(Disk(2.0))),
    "partial functions": (partial(Disk, 1.0), partial(Disk, 1.0)),
    "rings": (Ring("a"), Ring("a")),
    "globals": (Global("scaled"), Global("scaled")),
    "what cannot be taken apart": (Odd(), Odd()),
    "iterators": (iter([1, 2]), iter([1, 2])),
    "items, one by one": (Row(1, 2), Row(1, 2)),
    "what a registered function takes apart": (Registered("a"), Registered("a", "new")),
    "fractions": (Fraction(1, 2), Fraction(2, 4)),
    "classes": (Disk, Disk),
}

DIFFERENT: dict[str, tuple[Any, Any]] = {
    "numbers": (1.0, 2.0),
    "a number and NaN": (1.0, float("nan")),
    "shapes": (np.zeros(2), np.zeros(3)),
    "types of numbers": (np.zeros(2), np.zeros(2, dtype=int)),
    "classes of arrays": (np.zeros(2), np.ma.zeros(2)),
    "arrays": (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
    "arrays of objects": (OBJECTS, np.array([1.0, "two", [4]], dtype=object)),
    "records": (np.array([(1.0, 2)], RECORD), np.array([(1.0, 3)], RECORD)),
    "lengths": ([1], [1, 2]),
    "items": ([1, [np.zeros(2)]], [1, [np.ones(2)]]),
    "keys": ({"a": 1}, {"b": 1}),
    "values": ({"a": 1, "b": 2}, {"a": 1, "b": 3}),
    "classes of dictionaries that == cannot compare": (
        {"a": np.ones(2)},
        OrderedDict(a=np.ones(2)),
    ),
    "functions by what they enclose": (scaled(1.0), scaled(2.0)),
    "functions": (scaled(1.0), lambda x: 1.0 * x),
    "methods by their object": (Disk(1.0).grown, Disk(2.0).grown),
    "methods": (Disk(1.0).grown, Disk(1.0).__repr__),
    "builtin methods by their object": ([1, 2].index, [1, 3].index),
    "builtin methods": ([1].index, [1].count),
    "objects": (Disk(2.0), Disk(3.0)),
    "partial functions": (partial(Disk, 1.0), partial(Disk, 2.0)),
    "rings": (Ring("a"), Ring("b")),
    "globals": (Global("scaled"), Global("used")),
    "iterators": (iter([1, 2]), iter([1, 3])),
    "items, one by one": (Row(1, 2), Row(1, 3)),
    "what a registered function takes apart": (Registered("a"), Registered("b")),
    "an array and a list": (np.zeros(2), [0.0, 0.0]),
    "an array and a number": (np.ones(1), 1.0),
    "classes": (Disk, Ring),
    "modules": (copy, pickle),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_values_are_the_same_if_they_hold_the_same(pair: tuple[Any, Any]) -> None:
    assert same(*pair)
    assert same(*reversed(pair))


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_values_differ_if_anything_in_them_does(pair: tuple[Any, Any]) -> None:
    assert not same(*pair)
    assert not same(*reversed(pair))


def test_objects_that_are_taken_apart_one_after_another_are_not_confused() -> None:
    alike = [Disk(1.0) for _ in range(30)]  # whose parts take the same place in memory, in turn
    assert not same([*alike, Disk(2.0)], [*map(copy.copy, alike), Disk(3.0)])


def test_objects_that_differ_are_shown_by_what_differs_in_them() -> None:
    less = Disk(2.0)
    del less.radius
    assert shown(1.0, 2) == ("1.0", "2")
    assert shown([1], [2]) == ("[1]", "[2]")
    assert shown(Disk(2.0), Disk(3.0)) == ("Disk(radius=2.0)", "Disk(radius=3.0)")
    assert shown(Named("a"), Named("b")) == ("<a>", "<b>")
    assert "radius" not in shown(Disk(2.0), Named("a"))[0]
    assert shown(Disk(2.0), less) == ("Disk(radius=2.0)", "Disk(no radius)")
    for text in shown(Disk(2.0), Disk(2.0)):
        assert "radius" not in text
