"""Decorations: what they take, what they refuse, and that nobody can change them."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from stagecache.decorations.decorations import (
    AbstractDecoration,
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeFrame,
    DecorativeLine,
    DecorativeMesh,
    DecorativePoint,
    DecorativeSphere,
    DecorativeText,
)
from stagecache.errors import (
    InvalidNameError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
)

NAN, INF = float("nan"), float("inf")
QUARTER_TURN = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]

# Each class with what it is made of.
SHAPES: list[tuple[Callable[..., AbstractDecoration], dict[str, Any]]] = [
    (DecorativePoint, {"point": [1, 2, 3]}),
    (DecorativeLine, {"point1": [1, 2, 3], "point2": [4, 5, 6]}),
    (DecorativeSphere, {"radius": 2}),
    (DecorativeBrick, {"half_lengths": [1, 2, 3]}),
    (DecorativeCylinder, {"radius": 2, "half_height": 3}),
    (DecorativeFrame, {"axis_length": 2}),
    (DecorativeMesh, {"vertices": CORNERS, "faces": [[0, 1, 2], [0, 1, 3]]}),
    (DecorativeText, {"text": "hello"}),
]
LOOK: dict[str, Any] = {
    "rotation": QUARTER_TURN,
    "translation": [7, 8, 9],
    "color": (1, 0.5, 0),
    "opacity": 0.5,
    "line_width": 2,
    "label": "arm",
}
every_shape = pytest.mark.parametrize(("shape", "fields"), SHAPES)

BAD_VECTORS: list[tuple[object, type[StagecacheError], type[Exception]]] = [
    ([1, 2], ShapeError, ValueError),
    ([[1, 2, 3]], ShapeError, ValueError),
    ([1, [2, 3], 4], ShapeError, ValueError),
    (1.0, ShapeError, ValueError),
    (None, ShapeError, ValueError),
    (["a", "b", "c"], NotANumberError, TypeError),
    ([1, 2, None], NotANumberError, TypeError),
    ([1, 2, 3j], NotANumberError, TypeError),
    ([True, True, True], NotANumberError, TypeError),
    ([1, 2, NAN], OutOfRangeError, ValueError),
    ([1, 2, -INF], OutOfRangeError, ValueError),
]
BAD_LENGTHS: list[tuple[object, type[StagecacheError], type[Exception]]] = [
    ([1.0], ShapeError, ValueError),
    ("1", NotANumberError, TypeError),
    (None, NotANumberError, TypeError),
    (1j, NotANumberError, TypeError),
    (True, NotANumberError, TypeError),
    (10**400, NotANumberError, TypeError),
    (0, OutOfRangeError, ValueError),
    (-1.0, OutOfRangeError, ValueError),
    (NAN, OutOfRangeError, ValueError),
    (INF, OutOfRangeError, ValueError),
]
BAD_TRIPLES: list[tuple[object, type[StagecacheError], type[Exception]]] = [
    ([1, 2, 3], ShapeError, ValueError),
    ([[1, 2]], ShapeError, ValueError),
    ([[1, 2, 3], [1]], ShapeError, ValueError),
    ([], ShapeError, ValueError),
    ([["a", "b", "c"]], NotANumberError, TypeError),
]
BAD: dict[str, list[tuple[object, type[StagecacheError], type[Exception]]]] = {
    "point": BAD_VECTORS,
    "point1": BAD_VECTORS,
    "point2": BAD_VECTORS,
    "translation": BAD_VECTORS,
    "radius": BAD_LENGTHS,
    "half_height": BAD_LENGTHS,
    "axis_length": BAD_LENGTHS,
    "line_width": BAD_LENGTHS,
    "half_lengths": [
        *BAD_VECTORS,
        ([1, 0, 1], OutOfRangeError, ValueError),
        ([1, 1, -1], OutOfRangeError, ValueError),
    ],
    "vertices": [*BAD_TRIPLES, ([[0, 0, NAN]], OutOfRangeError, ValueError)],
    "faces": [
        *BAD_TRIPLES,
        ([[0.0, 1.0, 2.0]], NotANumberError, TypeError),
        ([[0, 1, NAN]], NotANumberError, TypeError),
        ([[0, 1, 4]], OutOfRangeError, ValueError),
        ([[0, 1, -1]], OutOfRangeError, ValueError),
    ],
    "text": [
        ("", InvalidNameError, TypeError),
        (3, InvalidNameError, TypeError),
        (None, InvalidNameError, TypeError),
        (b"hello", InvalidNameError, TypeError),
    ],
    "label": [(3, InvalidNameError, TypeError), (None, InvalidNameError, TypeError)],
    "rotation": [
        (np.eye(2), ShapeError, ValueError),
        ([0, 0, 1], ShapeError, ValueError),
        (None, ShapeError, ValueError),
        ([["a"] * 3] * 3, NotANumberError, TypeError),
        (np.full((3, 3), NAN), OutOfRangeError, ValueError),
        (np.full((3, 3), 1e300), OutOfRangeError, ValueError),
        (np.zeros((3, 3)), OutOfRangeError, ValueError),
        (np.diag([1.0, 1.0, -1.0]), OutOfRangeError, ValueError),
        (np.diag([1.0, 2.0, 0.5]), OutOfRangeError, ValueError),
        (np.diag([1.0, 1.0, 1 + 2e-6]), OutOfRangeError, ValueError),
    ],
    "color": [
        ((1, 0), ShapeError, ValueError),
        (0.5, ShapeError, ValueError),
        ("red", ShapeError, ValueError),
        (("r", "g", "b"), NotANumberError, TypeError),
        ((0, 0, 1.01), OutOfRangeError, ValueError),
        ((0, -0.01, 1), OutOfRangeError, ValueError),
        ((0, 0, NAN), OutOfRangeError, ValueError),
    ],
    "opacity": [
        ([0.5], ShapeError, ValueError),
        ("0.5", NotANumberError, TypeError),
        (None, NotANumberError, TypeError),
        (-0.01, OutOfRangeError, ValueError),
        (1.01, OutOfRangeError, ValueError),
        (NAN, OutOfRangeError, ValueError),
    ],
}


def arrays_of(decoration: AbstractDecoration) -> dict[str, np.ndarray[Any, Any]]:
    values = attrs.asdict(decoration, recurse=False)
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def test_every_field_has_bad_values_here() -> None:
    assert set(BAD) == set(LOOK).union(*(fields for _, fields in SHAPES))


def cases() -> list[Any]:
    found = []
    for shape, fields in SHAPES:
        # A look is checked in one place, so that one shape stands for all.
        names = [*fields, *LOOK] if shape is DecorativeSphere else list(fields)
        for name in names:
            for number, bad in enumerate(BAD[name]):
                label = f"{getattr(shape, '__name__', '')}-{name}-{number}"
                found.append(pytest.param(shape, fields, name, *bad, id=label))
    return found


@pytest.mark.parametrize(("shape", "fields", "name", "value", "error_class", "builtin"), cases())
def test_bad_input_is_refused_by_the_name_of_the_field(
    shape: Callable[..., AbstractDecoration],
    fields: dict[str, Any],
    name: str,
    value: object,
    error_class: type[StagecacheError],
    builtin: type[Exception],
) -> None:
    with pytest.raises(builtin) as caught:
        shape(**{**fields, name: value})
    error = caught.value
    assert type(error) is error_class
    assert isinstance(error, StagecacheError)
    assert error.what.startswith(f"{name} of a decoration: ")
    assert all([error.expected, error.got, error.hint])
    assert "upd_" not in str(error)
    assert len(str(error).splitlines()) == 4


def test_a_message_says_what_to_do() -> None:
    with pytest.raises(OutOfRangeError) as caught:
        DecorativeMesh(CORNERS, [[0, 1, 4]])
    assert str(caught.value).splitlines() == [
        "faces of a decoration: out of range",
        "  expected: from 0 to 3, the rows of vertices",
        "  got:      4",
        "  hint:     count vertices from 0, or give those that are missing",
    ]
    with pytest.raises(ShapeError, match=r"expected: shape \(n, 3\)"):
        DecorativeMesh(CORNERS, [0, 1, 2])


@every_shape
def test_values_are_those_given(
    shape: Callable[..., AbstractDecoration], fields: dict[str, Any]
) -> None:
    decoration = shape(*fields.values(), **LOOK)
    for name, value in {**fields, **LOOK}.items():
        assert np.array_equal(getattr(decoration, name), value), name
    for name, array in arrays_of(decoration).items():
        assert array.dtype == (np.int64 if name == "faces" else np.float64)
    assert isinstance(decoration, AbstractDecoration)


@every_shape
def test_the_look_has_defaults(
    shape: Callable[..., AbstractDecoration], fields: dict[str, Any]
) -> None:
    decoration = shape(**fields)
    assert np.array_equal(decoration.rotation, np.eye(3))
    assert np.array_equal(decoration.translation, np.zeros(3))
    assert decoration.color is None
    assert (decoration.opacity, decoration.line_width, decoration.label) == (1.0, 1.0, "")


def test_limits_of_ranges_are_allowed() -> None:
    sphere = DecorativeSphere(5e-324, color=(0, 1, 0), opacity=0)
    assert (sphere.radius, sphere.color, sphere.opacity) == (5e-324, (0.0, 1.0, 0.0), 0.0)
    assert isinstance(sphere.opacity, float)
    tilted = np.diag([1.0, 1.0, 1 + 4e-7])
    assert np.array_equal(DecorativeSphere(1, rotation=tilted).rotation, tilted)
    empty = DecorativeMesh(np.zeros((0, 3)), np.zeros((0, 3), int))
    assert (empty.vertices.shape, empty.faces.shape) == ((0, 3), (0, 3))
    with pytest.raises(OutOfRangeError, match="no vertices"):
        DecorativeMesh(np.zeros((0, 3)), [[0, 0, 0]])


@every_shape
def test_arrays_are_private_and_read_only(
    shape: Callable[..., AbstractDecoration], fields: dict[str, Any]
) -> None:
    given = {
        name: np.array(value, np.int64 if name == "faces" else float)
        for name, value in {**fields, **LOOK}.items()
        if isinstance(value, list)
    }
    decoration = shape(**{**fields, **LOOK, **given})
    assert set(arrays_of(decoration)) == set(given)
    for name, array in arrays_of(decoration).items():
        before = array.copy()
        given[name][...] = 0
        assert np.array_equal(array, before)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@every_shape
def test_decorations_are_frozen_and_have_no_hash(
    shape: Callable[..., AbstractDecoration], fields: dict[str, Any]
) -> None:
    decoration = shape(**fields)
    for name in (*fields, *LOOK):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(decoration, name, getattr(decoration, name))
    with pytest.raises(TypeError, match="unhashable"):
        hash(decoration)


OTHERS: dict[str, object] = {
    "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]],
    "faces": [[0, 1, 2]],
    "text": "bye",
    "rotation": np.eye(3),
    "color": None,
    "opacity": 0.25,
    "label": "leg",
    **dict.fromkeys(("point", "point1", "point2", "half_lengths", "translation"), (9, 9, 9)),
    **dict.fromkeys(("radius", "half_height", "axis_length", "line_width"), 9),
}


@every_shape
def test_decorations_are_equal_by_value(
    shape: Callable[..., AbstractDecoration], fields: dict[str, Any]
) -> None:
    decoration = shape(**fields, **LOOK)
    assert decoration == shape(**fields, **LOOK)
    for name in (*fields, *LOOK):
        assert decoration != shape(**{**fields, **LOOK, name: OTHERS[name]}), name


def test_decorations_of_two_classes_differ() -> None:
    plain = [shape(**fields) for shape, fields in SHAPES]
    for i, one in enumerate(plain):
        assert [one == other for other in plain] == [i == j for j in range(len(plain))]


@every_shape
@pytest.mark.parametrize("twin_of", [lambda d: pickle.loads(pickle.dumps(d)), copy.deepcopy])
def test_what_is_pickled_or_copied_is_equal_and_still_read_only(
    twin_of: Callable[[AbstractDecoration], AbstractDecoration],
    shape: Callable[..., AbstractDecoration],
    fields: dict[str, Any],
) -> None:
    decoration = shape(**fields, **LOOK)
    twin = twin_of(decoration)
    assert twin is not decoration
    assert twin == decoration
    assert arrays_of(twin)
    assert not any(array.flags.writeable for array in arrays_of(twin).values())


def test_a_repr_leaves_out_what_is_as_by_default() -> None:
    assert repr(DecorativeSphere(2)) == "DecorativeSphere(radius=2.0)"
    assert repr(DecorativePoint([1, 2, 3], label="tip", rotation=QUARTER_TURN)) == (
        "DecorativePoint(point=[1.0, 2.0, 3.0], "
        "rotation=[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], label='tip')"
    )
    assert repr(DecorativeMesh(CORNERS, [[0, 1, 2]], color=(1, 0, 0))) == (
        "DecorativeMesh(vertices=<float64 array of shape (4, 3)>, faces=[[0, 1, 2]], "
        "color=(1.0, 0.0, 0.0))"
    )


@every_shape
def test_a_repr_without_long_arrays_is_a_program(
    shape: Callable[..., AbstractDecoration], fields: dict[str, Any]
) -> None:
    if shape is DecorativeMesh:
        fields = {"vertices": CORNERS[:3], "faces": [[0, 1, 2]]}
    decoration = shape(**fields, **LOOK)
    assert eval(repr(decoration)) == decoration


def test_the_base_cannot_be_instantiated() -> None:
    with pytest.raises(TypeError, match="abstract class AbstractDecoration"):
        AbstractDecoration()


def test_the_look_is_given_by_keyword_only() -> None:
    with pytest.raises(TypeError, match="positional"):
        DecorativeSphere(1.0, np.eye(3))  # type: ignore[call-arg]  # is refused
