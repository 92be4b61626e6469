"""Checks of arguments: what they return, and how they refuse."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from stagecache import checks
from stagecache.errors import (
    DuplicateNameError,
    InvalidNameError,
    MissingExtraError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    UnknownChoiceError,
    UnknownItemError,
    WrongTypeError,
)


@pytest.mark.parametrize(
    "value", [2, 2.0, np.float32(2), np.int8(2), np.array(2), Fraction(2), Decimal(2)]
)
def test_a_number_of_any_type_becomes_a_float(value: object) -> None:
    number = checks.require_number(value, "x")
    assert (number, type(number)) == (2.0, float)


@pytest.mark.parametrize(
    "value",
    [True, np.True_, "2", b"2", None, 2j, np.complex128(2), np.ma.masked, np.str_("2"), 10**400],
)
def test_what_is_not_a_real_number_is_refused(value: object) -> None:
    with pytest.raises(NotANumberError, match="x: not a number"):
        checks.require_number(value, "x")


@pytest.mark.parametrize("value", [[2], (2.0,), np.array([2.0])])
def test_several_numbers_are_refused_where_one_is_expected(value: object) -> None:
    with pytest.raises(ShapeError, match="x: not a single number"):
        checks.require_number(value, "x")


def test_limits_of_a_number_are_named_and_kept() -> None:
    assert checks.require_number(1, "x", least=1, below=2) == 1
    for value in (0.5, 2, nan):
        with pytest.raises(OutOfRangeError, match="expected: a finite number from 1 below 2\n"):
            checks.require_number(value, "x", least=1, below=2)
    with pytest.raises(OutOfRangeError, match="positive"):
        checks.require_positive(0, "x")
    assert checks.require_number(inf, "x", above=0, may_be_infinite=True) == inf
    for value in (inf, -inf, nan):
        with pytest.raises(OutOfRangeError):
            checks.require_number(value, "x")


def test_a_bool_is_one_of_python_or_numpy() -> None:
    assert checks.require_bool(np.True_, "x") is True
    assert checks.require_bool(False, "x") is False
    for value in (1, None, "True", np.int8(1)):
        with pytest.raises(NotANumberError, match="x: not a bool"):
            checks.require_bool(value, "x")


def test_counts_and_indices_are_integers_in_a_range() -> None:
    assert checks.require_count(np.int64(3), 1, "x") == 3
    for value in (0, True, 1.0, None):
        with pytest.raises(OutOfRangeError, match="from 1 up"):
            checks.require_count(value, 1, "x")
    assert checks.require_index(1, 2, UnknownItemError, "row 1", "hint") == 1
    for index in (2, -1, "0"):
        with pytest.raises(UnknownItemError, match="from 0 to 1"):
            checks.require_index(index, 2, UnknownItemError, f"row {index}", "hint")


def test_a_class_in_place_of_its_instance_is_told_apart() -> None:
    assert checks.require_type(3, int, "x", "a number", "hint") == 3
    with pytest.raises(WrongTypeError, match="the class int; an instance of it is needed"):
        checks.require_type(int, int, "x", "a number", "hint")
    with pytest.raises(WrongTypeError, match="'3', of type str"):
        checks.require_type("3", int, "x", "a number", "hint")


def test_names_and_texts() -> None:
    assert (checks.require_text("", "x"), checks.require_name("a", "x")) == ("", "a")
    for check, value in ((checks.require_text, 1), (checks.require_name, "")):
        with pytest.raises(InvalidNameError, match="x: not a"):
            check(value, "x")
    assert checks.require_new_name("a", {"b"}, "body") == "a"
    with pytest.raises(DuplicateNameError, match="body 'b': the name is taken"):
        checks.require_new_name("b", {"b"}, "body")


def test_a_choice_that_is_misspelled_is_suggested() -> None:
    assert checks.require_choice("raise", ["raise", "skip"], "x") == "raise"
    with pytest.raises(UnknownChoiceError, match="did you mean 'raise'"):
        checks.require_choice("rise", ["raise", "skip"], "x")
    with pytest.raises(UnknownChoiceError, match="use one of these"):
        checks.require_choice(1, ["raise", "skip"], "x")


def test_what_cannot_be_called_is_refused() -> None:
    assert checks.require_callable(len, "x", "a function", "hint") is len
    given: Any = 3
    with pytest.raises(WrongTypeError, match="x: cannot be called"):
        checks.require_callable(given, "x", "a function", "hint")


def test_an_extra_that_is_missing_is_named_with_the_command_that_installs_it() -> None:
    assert checks.require_extra("math", "viz", "draw()").pi > 3
    with pytest.raises(MissingExtraError) as caught:
        checks.require_extra("no_such_module.part", "viz", "draw()", "use to_svg()")
    assert str(caught.value) == (
        "draw(): no_such_module is not installed\n"
        "  expected: the extra viz\n"
        "  got:      none\n"
        "  hint:     pip install 'stagecache[viz]', or use to_svg()"
    )


def test_repeated_items_are_listed_once() -> None:
    assert checks.repeated("abacba") == ["a", "b"]
