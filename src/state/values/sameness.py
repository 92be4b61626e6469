"""Comparison of values: of two computations of one entry, or of a value then and now.

Arrays are the same if shape, type and all elements are, containers if their items are, functions if
their code and what it refers to is. NaN is the same as NaN. Numbers, text and sets are compared by
``==``. Other objects are compared by what pickle would take of them, whatever their ``==`` says: it
may leave out a part. A value that `functools.cached_property` remembers is not a part.
Objects that pickle cannot take pass for the same, for nothing is known of them.
"""

import copyreg
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from stagecache.errors import short_repr

OPAQUE = (type, ModuleType)
ATOMS = (bool, int, float, complex, str, bytes, set, frozenset, np.generic)

Pairs = set[tuple[int, int]]
"""Values that are being compared, by identity: a value may contain itself."""


def same(one: object, other: object) -> bool:
    """Return True if two values are the same."""
    return _same(one, other, set())


def _same(one: Any, other: Any, pairs: Pairs) -> bool:
    if one is other or (id(one), id(other)) in pairs:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _same_arrays(one, other, pairs)
    if isinstance(one, OPAQUE):
        return bool(one == other)
    if type(one) is not type(other):
        return _equal(one, other)
    pair = (id(one), id(other))
    pairs.add(pair)
    try:
        return _same_type(one, other, pairs)
    finally:
        pairs.discard(pair)


def _same_type(one: Any, other: Any, pairs: Pairs) -> bool:
    if isinstance(one, list | tuple):
        return _same_items(one, other, pairs)
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[k], other[k], pairs) for k in one)
    if isinstance(one, FunctionType):
        return one.__code__ is other.__code__ and all(
            _same(getattr(one, part), getattr(other, part), pairs)
            for part in ("__closure__", "__defaults__", "__kwdefaults__", "__dict__")
        )
    if isinstance(one, MethodType):
        return one.__func__ is other.__func__ and _same(one.__self__, other.__self__, pairs)
    if isinstance(one, BuiltinFunctionType):
        return one.__name__ == other.__name__ and _same(one.__self__, other.__self__, pairs)
    if isinstance(one, CellType):  # of what a function refers to
        return _same(_content(one), _content(other), pairs)
    if isinstance(one, ATOMS):
        return _equal(one, other)
    return _same_parts(one, other, pairs)


def _same_arrays(one: Any, other: Any, pairs: Pairs) -> bool:
    if type(one) is not type(other) or one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.names:
        return all(_same_arrays(one[name], other[name], pairs) for name in one.dtype.names)
    if one.dtype.hasobject:
        return _same_items(one.ravel().tolist(), other.ravel().tolist(), pairs)
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fcmM"))


def _same_items(one: Any, other: Any, pairs: Pairs) -> bool:
    return len(one) == len(other) and all(
        _same(a, b, pairs) for a, b in zip(one, other, strict=True)
    )


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other) or bool(one != one and other != other)  # noqa: PLR0124  # NaN
    except Exception:  # of arrays inside, say
        return False


def _same_parts(one: object, other: object, pairs: Pairs) -> bool:
    """Return True if pickle would take the same of both."""
    try:
        parts = _parts(one), _parts(other)
    except Exception:
        return True  # nothing is known of them
    return _same(*parts, pairs)


def _parts(value: object) -> object:
    reduce = copyreg.dispatch_table.get(type(value))
    found = reduce(value) if reduce is not None else value.__reduce_ex__(4)
    if isinstance(found, str):  # the name of something global
        return found
    parts = [list(part) if isinstance(part, Iterator) else part for part in found]
    memories = _memories(type(value))
    return [
        {name: item for name, item in part.items() if name not in memories}
        if memories and isinstance(part, dict)
        else part
        for part in parts
    ]


def _memories(cls: type) -> set[str]:
    """Return the attributes in which objects of a class remember what they have computed."""
    return {
        name
        for base in cls.__mro__
        for name, attribute in vars(base).items()
        if isinstance(attribute, cached_property)
    }


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


# ---------------------------------------------------------------------- showing


def shown(one: object, other: object) -> tuple[str, str]:
    """Two values that differ on a short line each; where that tells nothing, what differs in them.

    An object whose class does not say how it is shown is shown by its attributes.
    """
    if type(one) is not type(other) or type(one).__repr__ is not object.__repr__:
        return short_repr(one), short_repr(other)
    mine, others = getattr(one, "__dict__", {}), getattr(other, "__dict__", {})
    names = [
        name
        for name in {**mine, **others}
        if name not in mine or name not in others or not same(mine[name], others[name])
    ]
    if not names:
        return short_repr(one), short_repr(other)
    return _attributes(one, names), _attributes(other, names)


def _attributes(value: object, names: list[str]) -> str:
    there = vars(value)
    parts = [f"{n}={short_repr(there[n])}" if n in there else f"no {n}" for n in names]
    return f"{type(value).__name__}({', '.join(parts)})"
