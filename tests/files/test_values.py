"""Values as JSON and blobs: each is the same after a round trip, or is refused when it is saved."""

import json
import math
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntFlag
from fractions import Fraction
from types import ModuleType
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from stagecache import register_value
from stagecache.errors import FileFormatError, UnsavableValueError, WrongTypeError
from stagecache.files.values import MOST_NESTED, Blobs, decode, encode
from tests.files.models import OAK, Colour, Material, Part, Side, register
from tests.profiles import examples

register()


def round_trip(value: object) -> Any:
    """Return what becomes of a value in a file."""
    blobs: Blobs = []
    text = json.dumps(encode(value, "x", blobs), allow_nan=False)
    return decode(json.loads(text), "x", [memoryview(blob) for blob in blobs])


def read(found: object, *blobs: bytes) -> Any:
    """Return the value that a file describes so."""
    return decode(found, "arm.x", list(blobs))


def is_same(first: Any, second: Any) -> bool:
    """Return whether values are of one type and equal, NaN and the sign of zero included."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        if first.dtype != second.dtype or first.shape != second.shape:
            return False
        if first.dtype == object:
            return is_same(first.ravel().tolist(), second.ravel().tolist())
        return bool(first.tobytes() == second.tobytes())
    if isinstance(first, np.generic):
        return bool(first.dtype == second.dtype and first.tobytes() == second.tobytes())
    if isinstance(first, float):
        return repr(first) == repr(second)
    if isinstance(first, complex):
        return is_same([first.real, first.imag], [second.real, second.imag])
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(is_same, first, second))
    if isinstance(first, dict):
        return is_same(list(first.items()), list(second.items()))
    if isinstance(first, set | frozenset):  # in any order; a NaN that was read is another one
        return sorted(map(repr, first)) == sorted(map(repr, second))
    if attrs.has(type(first)):
        return is_same(attrs.astuple(first, recurse=False), attrs.astuple(second, recurse=False))
    if isinstance(first, Part):
        return is_same([first.material, first.sizes], [second.material, second.sizes])
    return bool(first == second)


# ---------------------------------------------------------------------- round trips

NUMBERS = st.integers() | st.integers(-(2**200), 2**200) | st.floats() | st.complex_numbers()
TEXTS = st.text(st.characters(codec=None, exclude_categories=()))
HASHABLE = (
    st.none()
    | st.booleans()
    | NUMBERS
    | TEXTS
    | st.binary()
    | st.sampled_from([*Colour])
    | st.sampled_from([Side(0), Side.LEFT, Side.LEFT | Side.RIGHT])
    | st.fractions()
    | st.builds(Material, TEXTS, st.floats(), st.lists(st.sampled_from(Colour)).map(tuple))
)


def _without_titles(dtype: Any) -> Any:
    return np.dtype([(name, dtype[name]) for name in dtype.names])


DTYPES = (
    arrays.scalar_dtypes()
    | arrays.array_dtypes(arrays.scalar_dtypes(), max_size=3).map(_without_titles)
    | st.sampled_from([np.dtype([("a", "<f8", (2, 3)), ("b", [("c", "<i2")])])])
)
SHAPES = arrays.array_shapes(min_dims=0, min_side=0, max_dims=4, max_side=4)


def _objects(items: list[Any]) -> Any:
    made = np.empty(len(items), object)
    for i, item in enumerate(items):
        made[i] = item
    return made


def _orders(array: Any) -> Any:
    """The same array in other orders of memory."""
    return st.sampled_from([array, array.copy("F"), array[::-1] if array.ndim else array, array.T])


ARRAYS = arrays.arrays(DTYPES, SHAPES).flatmap(_orders)
VALUES = st.recursive(
    HASHABLE | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=4)
        | st.sets(HASHABLE, max_size=4)
        | st.frozensets(HASHABLE, max_size=4)
        | st.builds(Part, st.just(OAK), st.lists(inner, max_size=2))
        | st.lists(inner, min_size=1, max_size=4).map(_objects)
    ),
    max_leaves=8,
)


@given(value=VALUES)
@examples(300)
def test_values_are_the_same_after_a_round_trip(value: object) -> None:
    assert is_same(round_trip(value), value)


@given(value=ARRAYS)
@examples(200)
def test_arrays_keep_dtype_shape_and_bits(value: Any) -> None:
    found = round_trip(value)
    assert found.dtype == value.dtype
    assert found.shape == value.shape
    assert found.tobytes() == value.tobytes()
    assert found.flags.writeable
    assert found.flags.owndata or found.base.flags.owndata


def test_a_read_only_array_can_be_saved() -> None:
    value = np.arange(3.0)
    value.flags.writeable = False
    assert is_same(round_trip(value), value)


@pytest.mark.parametrize(
    "value",
    [
        *(np.float32(0.1), np.bool_(True), np.int8(-3), np.complex64(1j), np.str_("ä")),
        *(
            np.datetime64("NaT", "s"),
            np.datetime64("2026-11-23", "D"),
            np.timedelta64(7, ("s", 25)),
        ),
        *(np.float64("nan"), -0.0, 5e-324, 2**63, -(2**63) - 1, 2**63 - 1, "", b"", (), {}, set()),
        *("\ud800", "a\udfffb", "\x00", Side(0), Side.LEFT | Side.RIGHT, Fraction(1, 3)),
        *(np.array(5.0), np.array("text"), np.empty((0, 3)), np.empty((3, 0), "<U5")),
        *(np.array(["", ""]), np.array([b"", b"a\0b"]), np.zeros(2, [("s", "S3")])),
    ],
    ids=repr,
)
def test_a_special_value_is_the_same_after_a_round_trip(value: object) -> None:
    assert is_same(round_trip(value), value)


@pytest.mark.parametrize("number", [10**5000, -(10**5000)], ids=["positive", "negative"])
def test_numbers_with_more_digits_than_python_converts_are_saved_wherever_they_stand(
    number: int,
) -> None:
    for value in (number, [number], {number: number}, {number, (1, number), 3}, {(number,)}):
        found: Any = round_trip(value)
        assert found == value


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_an_array_of_texts_of_any_length_is_the_same_after_a_round_trip() -> None:
    value = np.array([["a", "longer " * 9]], np.dtypes.StringDType())
    found = round_trip(value)
    assert found.dtype == value.dtype
    assert found.tolist() == value.tolist()


def test_a_value_in_two_places_becomes_two() -> None:
    first, second = round_trip([array := np.zeros(2), array])
    assert first is not second


# ---------------------------------------------------------------------- refusals at save


@attrs.define
class Open:
    """An attrs class that is not frozen."""

    x: int = 0


class Plain:
    """Neither attrs nor dataclass."""


class Partial(IntFlag):
    """A flag that may have bits without a name."""

    ONE = 1


@frozen(order=False)
class Number(float):
    """A frozen class whose objects are numbers as well."""

    unit: str = ""


@frozen
class Late:
    """A field without a value at first."""

    x: int = attrs.field(init=False)


@frozen
class Closing:
    """Code runs when an object of it is forgotten."""

    x: int = 0

    def __del__(self) -> None: ...


class Deck(Enum):
    """An enum whose members are changed by a function."""

    ONE = 1


def _itself() -> object:
    value: list[Any] = []
    value.append(value)
    return value


def _of_a_function() -> object:
    @frozen
    class Local:
        x: int = 0

    return Local()


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Plain(), "x"),
        (Open(), "x"),
        ([1, {"a": (2, Plain())}], "x[1]['a'][1]"),
        ({Colour.RED: Open()}, "x[<Colour.RED: 'red'>]"),
        (Part(OAK, [Plain()]), "x.sizes[0]"),  # type: ignore[list-item]  # as it must not be
        (np.array([None, Plain()]), "x.flat[1]"),
        (lambda: 0, "x"),
        (print, "x"),
        (Plain, "x"),
        (bytearray(b"x"), "x"),
        (OrderedDict(), "x"),
        (range(3), "x"),
        (_itself(), "x[0][0]"),
        (_of_a_function(), "x"),
        (Partial(1 | 8), "x"),
        (Number(), "x"),
        (Late(), "x"),
        (Closing(), "x"),
        (np.zeros(2, [("a", object)]), "x"),
        (np.zeros(2, {"names": ["a"], "formats": ["<f8"], "offsets": [8], "itemsize": 24}), "x"),
        (np.void(b"abc"), "x"),
        (np.zeros(2, "V4"), "x"),
        (np.zeros(2, [("a", "<f8")])[0], "x"),
        (np.ma.masked_array([1.0]), "x"),
        (np.str_("a\0"), "x"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_without_a_form_is_refused_at_save(value: object, path: str) -> None:
    with pytest.raises(UnsavableValueError) as caught:
        encode(value, "x", [])
    assert str(caught.value).startswith(path)


def test_the_refusal_says_how_to_register() -> None:
    with pytest.raises(UnsavableValueError, match=r"register_value\(Plain, "):
        encode(Plain(), "arm.x", [])


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_texts_with_a_mark_for_what_is_missing_are_refused() -> None:
    value = np.array(["a", None], np.dtypes.StringDType(na_object=None))
    with pytest.raises(UnsavableValueError):
        encode(value, "x", [])


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="needs NumPy 2")
def test_an_array_of_too_many_dimensions_is_refused() -> None:
    with pytest.raises(UnsavableValueError, match="32 dimensions"):
        encode(np.zeros((1,) * 33), "x", [])


def test_values_nested_as_deeply_as_allowed_are_read_again() -> None:
    value: object = 1
    for _ in range(MOST_NESTED):
        value = (value,)
    assert round_trip(value) == value
    with pytest.raises(UnsavableValueError, match="too deeply"):
        encode((value,), "x", [])


# ---------------------------------------------------------------------- refusals at load

ARRAY = {"dtype": "<f8", "shape": [2], "blob": 0}


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"float": "nan", "int": "0x1"},
        {"pickle": "x"},
        {"float": "1.5"},
        {"int": "1_0"},
        {"int": 3},
        {"surrogates": "zz"},
        {"complex": [1.0]},
        {"complex": [1, 2]},
        {"bytes": 1},
        {"bytes": True},
        {"tuple": {"a": 1}},
        {"set": [[1]]},
        {"dict": [[1, 2], [1, 3]]},
        {"dict": [[1]]},
        {"enum": ["tests.files.models", "Colour", ["GREEN"]]},
        {"enum": ["tests.files.models", "Colour", ["RED", "BLUE"]]},
        {"enum": ["tests.files.models", "Colour", []]},
        {"enum": ["tests.files.models", "Material", ["name"]]},
        {"object": ["tests.files.models", "Material", {"name": "x"}]},
        {"object": ["tests.files.models", "Colour", {}]},
        {"object": ["tests.files.models", "Values", {}]},
        {"registered": ["fractions.Fraction", 5]},
        {"registered": ["somewhere.Else", 5]},
        {"array": []},
        {"array": ARRAY | {"shape": [3]}},
        {"array": ARRAY | {"shape": [-2]}},
        {"array": ARRAY | {"shape": [2**63]}},
        {"array": ARRAY | {"shape": [2.0]}},
        {"array": ARRAY | {"shape": [True, 2]}},
        {"array": ARRAY | {"shape": [1] * 33 + [2]}},
        {"array": ARRAY | {"shape": [0, 2**62]}},
        {"array": ARRAY | {"dtype": "|O8"}},
        {"array": ARRAY | {"dtype": "|V8"}},
        {"array": ARRAY | {"dtype": "<f7"}},
        {"array": ARRAY | {"dtype": "<U999999999"}},
        {"array": ARRAY | {"dtype": "f8,f8"}},
        {"array": ARRAY | {"dtype": []}},
        {"array": ARRAY | {"dtype": [["a", "|O8", []]]}},
        {"array": ARRAY | {"dtype": [["a", "<f8", []], ["a", "<f8", []]]}},
        {"array": ARRAY | {"blob": 1}},
        {"array": {"dtype": "object", "shape": [0, 2**62, 2**62], "items": []}},
        {"array": {"dtype": "object", "shape": [2], "items": [1]}},
        {"array": {"dtype": "<f8", "shape": [1], "items": [1.0]}},
        {"array": {"dtype": "text", "shape": [1], "items": [1]}},
        {"scalar": ARRAY},
        [{"array": ARRAY}, {"array": ARRAY}],
    ],
    ids=str,
)
def test_what_does_not_describe_a_value_is_refused_at_load(found: object) -> None:
    with pytest.raises(FileFormatError, match=r"^arm\.x"):
        read(found, bytes(16))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("builtins", "object"),
        ("sys", "modules"),
        ("os", "path.join"),
        ("stagecache", "State"),
        ("tests.files.models", "OAK"),
        ("tests.files.models", "Subsystem.__init__"),
        ("not.imported", "Thing"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("kind", ["object", "enum"])
def test_no_class_is_called_that_is_not_a_value(kind: str, module: str, name: str) -> None:
    for content in ({}, {"args": "true"}, [], ["x"]):
        with pytest.raises(FileFormatError):
            read({kind: [module, name, content]})


def test_nothing_is_imported() -> None:
    assert "antigravity" not in sys.modules
    with pytest.raises(FileFormatError, match="import antigravity before"):
        read({"object": ["antigravity", "Thing", {}]})
    assert "antigravity" not in sys.modules


def test_a_module_is_not_asked_for_names_that_it_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lazy(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("code of the module has run")

    monkeypatch.setitem(sys.modules, "lazy", Lazy("lazy"))
    with pytest.raises(FileFormatError, match="not known here"):
        read({"object": ["lazy", "Thing", {}]})


@dataclass(frozen=True)
class Changed:
    """A class that has another field than a file says."""

    new: int


def test_a_class_whose_fields_changed_is_refused_with_both_lists() -> None:
    with pytest.raises(FileFormatError, match=r"the fields new of Changed\n.*Changed with old"):
        read({"object": [__name__, "Changed", {"old": 1}]})


def test_an_object_is_made_without_a_call_of_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    def called(*_: object) -> None:
        raise AssertionError("the class was called")

    monkeypatch.setattr(Changed, "__init__", called)
    made: Changed = read({"object": [__name__, "Changed", {"new": 1}]})
    assert made.new == 1


def test_an_exception_of_a_registered_function_is_the_cause() -> None:
    with pytest.raises(FileFormatError, match="ZeroDivisionError") as caught:
        read({"registered": ["fractions.Fraction", {"tuple": [1, 0]}]})
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("wrong", [3, "Plain", None])
def test_only_classes_and_functions_are_registered(wrong: Any) -> None:
    identity: Callable[[Any], Any] = lambda x: x  # noqa: E731
    with pytest.raises(WrongTypeError):
        register_value(wrong, to=identity, of=identity)
    with pytest.raises(WrongTypeError):
        register_value(Plain, to=wrong, of=identity)
    with pytest.raises(WrongTypeError):
        register_value(Plain, to=identity, of=wrong)
    with pytest.raises(UnsavableValueError):
        encode(Plain(), "x", [])


def test_a_name_in_files_belongs_to_one_class() -> None:
    with pytest.raises(WrongTypeError, match="is taken"):
        register_value(Plain, to=str, of=str, name="fractions.Fraction")


def test_huge_integers_are_shown_in_errors() -> None:
    with pytest.raises(FileFormatError, match="0x1000"):
        read({"array": ARRAY | {"shape": [16 ** (10**5)]}})


def test_nan_is_nan() -> None:
    assert math.isnan(round_trip(math.nan))
