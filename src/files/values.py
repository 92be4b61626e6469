"""Values as JSON and blobs: self-describing, exact, and nothing in them can be executed.

::

    None, True, 3, 1.5, "text", [...]      as JSON has them
    nan, 2**70, 1+2j, b"...", (...)        {"float": "nan"}, {"int": "0x..."}, ...
    {...}, arrays                          {"dict": [[key, value], ...]}, {"array": {...}}
    Color.RED                              {"enum": ["paint", "Color", ["RED"]]}
    Material(name="oak", density=700.0)    {"object": ["wood", "Material", {"name": "oak", ...}]}
    others                                 {"registered": [name, what the first function returned]}

A class is found among the modules that the program has imported; a file cannot import one. An
object is made of its fields without a call of its class, as pickle makes one of attrs.
"""

import dataclasses
import math
import operator
import re
import sys
from collections.abc import Callable, MutableSequence, Sequence
from datetime import date, datetime, timedelta, timezone
from enum import Enum, Flag
from functools import reduce
from numbers import Real
from types import ModuleType
from typing import Any, Final
from zoneinfo import ZoneInfo

import attrs
import numpy as np
from attrs import frozen

from stagecache.errors import FileFormatError, UnsavableValueError, WrongTypeError, short_repr

MOST_NESTED: Final = 100
"""Values in values."""

MOST_DIMENSIONS: Final = 32
LARGE: Final = 2**63
"""Integers from here on are written in hexadecimal digits."""

PLAIN: Final = frozenset("biufcSUmM")
"""The kinds of dtypes whose arrays are bytes."""

DTYPE: Final = re.compile(r"[<>|][biufcSUmM]\d{1,9}(\[\d{0,9}[a-zA-Z]{1,2}\])?")

ITEMS: Final[dict[str, Any]] = {"object": object}
"""Dtypes of arrays that are saved item by item."""

if hasattr(np.dtypes, "StringDType"):  # since NumPy 2
    ITEMS["text"] = np.dtypes.StringDType()

Blobs = list[bytes]
"""Bytes to which JSON refers by number."""


# ---------------------------------------------------------------------- registered classes


@frozen
class Registered:
    """A class, and the functions by which its instances are saved and made."""

    name: str
    cls: type
    to: Callable[[Any], object]
    of: Callable[[Any], object]


_BY_CLASS: Final[dict[type, Registered]] = {}
_BY_NAME: Final[dict[str, Registered]] = {}


def register_value(
    cls: type, *, to: Callable[[Any], object], of: Callable[[Any], object], name: str = ""
) -> None:
    """Tell how values of a class are saved, for all States and trajectories of the program.

    Numbers, texts, enums, arrays, lists, tuples, dicts, sets, and frozen classes of attrs and of
    dataclasses need no registration.

    Parameters
    ----------
    cls : type
        Class of the values; subclasses are not meant.
    to : callable
        Takes a value, returns one that can be saved.
    of : callable
        Takes what `to` has returned, returns the value. It is called with what a file says.
    name : str, optional
        Name in files; module and name of the class by default.

    Raises
    ------
    WrongTypeError
        `cls` is not a class, a function cannot be called, or the name belongs to another class.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from stagecache import register_value
    >>> register_value(
    ...     Fraction, to=lambda x: (x.numerator, x.denominator), of=lambda pair: Fraction(*pair)
    ... )
    """
    given: Any = cls
    functions: tuple[Any, ...] = (to, of)
    wrong = [f for f in functions if not callable(f)] if isinstance(given, type) else [given]
    if wrong:
        raise WrongTypeError(
            "register_value(): cannot register this",
            "a class and two functions",
            short_repr(wrong[0]),
            "write register_value(Material, to=function_of_a_value, of=function_that_makes_it)",
        )
    name = name or f"{cls.__module__}.{cls.__qualname__}"
    known = _BY_NAME.get(name)
    if known is not None and (known.cls.__module__, known.cls.__qualname__) != (
        cls.__module__,
        cls.__qualname__,
    ):
        raise WrongTypeError(
            f"register_value(): the name {name!r} is taken",
            "a name of its own for each class",
            f"the name of {known.cls.__qualname__}",
            "pass name=...",
        )
    _BY_CLASS[cls] = _BY_NAME[name] = Registered(name, cls, to, of)


def registered_as(name: str) -> tuple[Any, ...]:
    """Return the class that is registered under a name, and its two functions."""
    known = _BY_NAME[name]
    return known.cls, known.to, known.of


def _parts_of_moment(moment: datetime) -> list[Any]:
    """Return text, fold, and name of the time zone, where the offset in the text is not all."""
    zone = moment.tzinfo
    if zone is None or type(zone) is timezone:
        return [moment.isoformat(), moment.fold, None]
    key = getattr(zone, "key", None)
    if isinstance(zone, ZoneInfo) and isinstance(key, str):
        return [moment.replace(tzinfo=None).isoformat(), moment.fold, key]
    raise ValueError(f"the time zone {short_repr(zone)} has no name by which it is found again")


def _moment(parts: Any) -> datetime:
    if isinstance(parts, str):  # as the first releases have written it
        return datetime.fromisoformat(parts)
    text, fold, key = parts
    moment = datetime.fromisoformat(text).replace(fold=fold)
    return moment if key is None else moment.replace(tzinfo=ZoneInfo(key))


register_value(date, to=date.isoformat, of=date.fromisoformat)
register_value(datetime, to=_parts_of_moment, of=_moment)
register_value(
    timedelta,
    to=lambda span: [span.days, span.seconds, span.microseconds],
    of=lambda parts: timedelta(*parts),
)


# ---------------------------------------------------------------------- forms


def form_of(value: object) -> str:
    """Return the form of a value: values of one form can take each other's place."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, shape {value.shape}"
    if isinstance(value, Real) and not isinstance(value, bool):
        return "a number"
    return f"of type {type(value).__module__}.{type(value).__qualname__}"


# ---------------------------------------------------------------------- saving


def encode(value: object, where: str, blobs: Blobs) -> Any:
    """Return a value as JSON has it; bytes and arrays are appended to the blobs.

    Raises
    ------
    UnsavableValueError
        The value, or one in it, cannot be saved. `where` is its path.
    """
    return _encode(value, where, blobs, 0)


def _encode(value: Any, where: str, blobs: Blobs, depth: int) -> Any:
    cls = type(value)
    if cls is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if value is None or cls is bool or cls is str:
        return _text(value) if cls is str else value
    if cls is int:
        return value if -LARGE <= value < LARGE else {"int": hex(value)}
    if depth == MOST_NESTED:
        raise UnsavableValueError(
            f"{where}: is nested too deeply",
            f"at most {MOST_NESTED} values in each other",
            "more, or a value that contains itself",
            "save a flatter value",
        )

    def inner(values: Sequence[Any]) -> list[Any]:
        return [_encode(v, f"{where}[{i}]", blobs, depth + 1) for i, v in enumerate(values)]

    registered = _BY_CLASS.get(cls)
    if registered is not None:
        made = _encode(_prepared(registered, value, where), where, blobs, depth + 1)
        return {"registered": [registered.name, made]}
    if cls is complex:
        return {"complex": inner((value.real, value.imag))}
    if cls is bytes:
        blobs.append(value)
        return {"bytes": len(blobs) - 1}
    if cls is list:
        return inner(value)
    if cls is tuple:
        return {"tuple": inner(value)}
    if cls in (set, frozenset):
        return {cls.__name__: inner(sorted(value, key=_place))}
    if cls is dict:
        return {
            "dict": [
                [
                    _encode(k, f"{where}, its key {short_repr(k)}", blobs, depth + 2),
                    _encode(v, f"{where}[{short_repr(k)}]", blobs, depth + 2),
                ]
                for k, v in value.items()
            ]
        }
    if cls is np.ndarray:
        return {"array": _encode_array(value, where, blobs, depth)}
    if isinstance(value, np.generic) and value.dtype.kind in PLAIN:
        array = np.asarray(value)
        if array[()].tobytes() == value.tobytes():  # NumPy drops zeros at the end of a text
            return {"scalar": _encode_array(array, where, blobs, depth)}
    if isinstance(value, Enum):
        members = value.name.split("|") if value.name else []
        if members_of(cls, members) is value:
            return {"enum": [*_address(cls, where), members]}
    names = _fields(cls)
    others = {*getattr(value, "__dict__", ())} - {*(names or ())}
    if names is not None and not others and all(hasattr(value, name) for name in names):
        fields = {
            name: _encode(getattr(value, name), f"{where}.{name}", blobs, depth + 1)
            for name in names
        }
        return {"object": [*_address(cls, where), fields]}
    raise UnsavableValueError(
        f"{where}: cannot be saved",
        "numbers, texts, enums, arrays, lists, tuples, dicts, sets, frozen classes of these, or a "
        "registered class",
        f"{short_repr(value)} of type {cls.__module__}.{cls.__qualname__}",
        f"register it: stagecache.register_value({cls.__name__}, to=..., of=...); or make it "
        "a frozen attrs class",
    )


def _prepared(registered: Registered, value: Any, where: str) -> Any:
    """Return what the function of a registered class makes of a value."""
    try:
        return registered.to(value)
    except Exception as error:
        raise UnsavableValueError(
            f"{where}: cannot be saved",
            f"a {registered.cls.__qualname__} that its registered function takes",
            f"{short_repr(value)}: {_said(error)}",
            "give another value, or change register_value(..., to=...)",
        ) from error


def _place(value: object) -> str:
    """Return a text by which values of a set are sorted, as it is the same in each process."""
    try:
        return repr(value)
    except Exception:  # of a class; or Python refuses to convert that many digits
        return ""


def _text(value: str) -> Any:
    """Return a text as JSON has it; one with half a surrogate pair in digits."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"surrogates": value.encode("utf-16-le", "surrogatepass").hex()}
    return value


def _encode_array(value: Any, where: str, blobs: Blobs, depth: int) -> dict[str, Any]:
    dtype, shape = value.dtype, list(value.shape)
    if len(shape) > MOST_DIMENSIONS:
        raise UnsavableValueError(
            f"{where}: cannot be saved",
            f"an array of at most {MOST_DIMENSIONS} dimensions",
            f"one of {len(shape)}",
            "reshape it",
        )
    kind = next((kind for kind, its in ITEMS.items() if its == dtype), None)
    if kind is not None:
        items = value.ravel().tolist()
        inner = [_encode(v, f"{where}.flat[{i}]", blobs, depth + 1) for i, v in enumerate(items)]
        return {"dtype": kind, "shape": shape, "items": inner}
    blobs.append(value.tobytes())
    return {"dtype": _encode_dtype(dtype, where), "shape": shape, "blob": len(blobs) - 1}


def _encode_dtype(dtype: Any, where: str) -> Any:
    """Return the text of a dtype, or name, dtype and shape of each field."""
    if dtype.kind in PLAIN:
        return dtype.str
    encoded = [
        [name, _encode_dtype(dtype[name].base, where), list(dtype[name].shape)]
        for name in dtype.names or ()
    ]
    if not encoded or _dtype(encoded, where) != dtype:
        raise UnsavableValueError(
            f"{where}: cannot be saved",
            "an array of numbers, texts, times, objects, or records of these without gaps",
            f"an array of dtype {dtype}",
            "convert it by astype()",
        )
    return encoded


def _fields(cls: type) -> Sequence[str] | None:
    """Return the names of the fields of a frozen class of attrs or of a dataclass; else None.

    Python must be able to make an object of it without a call, and to forget it without one.
    """
    made_by: Any = cls.__new__
    if made_by is not object.__new__ or hasattr(cls, "__del__"):
        return None
    names: list[str] | None = None
    parameters = cls.__dict__.get("__dataclass_params__")
    if attrs.has(cls) and cls.__setattr__ is Registered.__setattr__:  # as in all frozen classes
        names = [field.name for field in attrs.fields(cls)]
    elif parameters is not None and parameters.frozen:
        names = [field.name for field in dataclasses.fields(cls)]
    slots = {slot for base in cls.__mro__ for slot in base.__dict__.get("__slots__", ())}
    has_more = not slots <= {*(names or ()), "__weakref__", "__dict__", "_attrs_cached_hash"}
    return None if has_more else names


def _address(cls: type, where: str) -> list[str]:
    """Return the module and the name by which a class is found again."""
    module = "__main__" if cls.__module__ == "__mp_main__" else cls.__module__
    if found_in(module, cls.__qualname__) is not cls:
        raise UnsavableValueError(
            f"{where}: its class cannot be found again",
            "a class that its module has by name",
            f"{module}.{cls.__qualname__}",
            "define the class in a module, not in a function; or register it: "
            f"stagecache.register_value({cls.__name__}, to=..., of=..., name=...)",
        )
    return [module, cls.__qualname__]


def found_in(module: str, qualname: str) -> Any:
    """Return what an imported module has under a name; None if it has nothing. It runs no code."""
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        if not issubclass(type(found), type | ModuleType):
            return None
        found = object.__getattribute__(found, "__dict__").get(name)  # a lazy module stays unloaded
    return found


# ---------------------------------------------------------------------- loading


def decode(found: Any, where: str, blobs: MutableSequence[Any]) -> Any:
    """Return the value that JSON and blobs describe. Cost O(its size).

    The blobs that it refers to are taken out: no other value can refer to them, so a small file
    cannot describe a large value.

    Raises
    ------
    FileFormatError
        It does not describe a value, or one of a class that the program does not know, or a
        registered function raises an exception. `where` is the path of the value.
    """
    return _decode(found, where, blobs, 0)


def _decode(found: Any, where: str, blobs: MutableSequence[Any], depth: int) -> Any:
    if depth > MOST_NESTED:
        raise bad_file(f"{where}: is nested too deeply", f"at most {MOST_NESTED} values", "more")
    if isinstance(found, list):
        return _decoded(found, where, blobs, depth)
    if not isinstance(found, dict):
        return found
    if len(found) != 1:
        raise bad_file(f"{where}: is not a value", "one kind of value", listed_keys(found))
    ((kind, content),) = found.items()
    decoder = DECODERS.get(kind)
    if decoder is None:
        raise bad_file(f"{where}: is not a value", f"one of {', '.join(DECODERS)}", repr(kind))
    return decoder(content, where, blobs, depth)


def _decoded(found: Any, where: str, blobs: MutableSequence[Any], depth: int) -> list[Any]:
    if not isinstance(found, list):
        raise bad_file(f"{where}: is not a list of values", "a list", short_repr(found))
    return [_decode(v, f"{where}[{i}]", blobs, depth + 1) for i, v in enumerate(found)]


def _decode_float(found: Any, where: str, *_: Any) -> float:
    if found not in ("nan", "inf", "-inf"):
        raise bad_file(f"{where}: is not a number", "nan, inf or -inf", short_repr(found))
    return float(found)


def _decode_int(found: Any, where: str, *_: Any) -> int:
    if not isinstance(found, str) or not re.fullmatch(r"-?0x[0-9a-f]+", found):
        raise bad_file(f"{where}: is not an integer", "hexadecimal digits", short_repr(found))
    return int(found, 16)


def _decode_text(found: Any, where: str, *_: Any) -> str:
    try:
        return bytes.fromhex(found).decode("utf-16-le", "surrogatepass")
    except (TypeError, ValueError):
        raise bad_file(f"{where}: is not a text", "hexadecimal digits", short_repr(found)) from None


def _decode_complex(found: Any, where: str, blobs: MutableSequence[Any], depth: int) -> complex:
    parts = _decoded(found, where, blobs, depth)
    if [type(part) for part in parts] != [float, float]:
        raise bad_file(f"{where}: is not a complex number", "two numbers", short_repr(found))
    return complex(*parts)


def _decode_bytes(found: Any, where: str, blobs: MutableSequence[Any], *_: Any) -> bytes:
    return bytes(_blob(found, where, blobs))


def _blob(number: Any, where: str, blobs: MutableSequence[Any]) -> Any:
    if type(number) is not int or not 0 <= number < len(blobs):
        raise bad_file(f"{where}: has no bytes", f"a number below {len(blobs)}", short_repr(number))
    blob, blobs[number] = blobs[number], None
    if blob is None:
        raise bad_file(f"{where}: has no bytes", "bytes of its own", f"number {number} again")
    return blob


def _collection(make: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    def decoded(found: Any, where: str, blobs: MutableSequence[Any], depth: int) -> Any:
        return _made(make, _decoded(found, where, blobs, depth), where)

    return decoded


def _made(make: Callable[[Any], Any], items: Any, where: str) -> Any:
    try:
        return make(items)
    except Exception as error:  # not a pair, not hashable, or refused by a method of its class
        raise bad_file(f"{where}: cannot be made", "what it is made of", _said(error)) from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _pairs(pairs: list[Any]) -> dict[Any, Any]:
    made = {key: value for key, value in pairs}  # noqa: C416  # pairs may have another length
    if len(made) != len(pairs):
        raise ValueError("a key that occurs twice")
    return made


def _decode_array(found: Any, where: str, blobs: MutableSequence[Any], depth: int) -> Any:
    if not isinstance(found, dict) or set(found) not in (
        {"dtype", "shape", "blob"},
        {"dtype", "shape", "items"},
    ):
        raise bad_file(f"{where}: is not an array", "dtype, shape and numbers", short_repr(found))
    shape = found["shape"]
    is_shape = isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS
    if not is_shape or not all(type(n) is int and 0 <= n < LARGE for n in shape):
        raise bad_file(f"{where}: is not an array", "a shape", short_repr(shape))
    count = math.prod(shape)
    if "items" in found:
        items = _decoded(found["items"], where, blobs, depth)
        dtype = ITEMS.get(str(found["dtype"]))
        if len(items) != count or dtype is None:
            raise bad_file(
                f"{where}: is not an array",
                f"{count} items, of {' or '.join(ITEMS)}",
                f"{len(items)} items of {short_repr(found['dtype'])}",
            )
        flat = np.empty(count, dtype)
        for i, item in enumerate(items):
            if dtype is not object and type(item) is not str:
                raise bad_file(f"{where}: is not an array of texts", "a text", short_repr(item))
            flat[i] = item
        return _made(flat.reshape, shape, where)
    data, dtype = _blob(found["blob"], where, blobs), _dtype(found["dtype"], where)
    if count * dtype.itemsize != len(data) or (not dtype.itemsize and count > len(data)):
        raise bad_file(
            f"{where}: is not an array",
            f"{count * dtype.itemsize} bytes, of shape {tuple(shape)}",
            f"{len(data)} bytes",
        )
    return _made(lambda d: np.frombuffer(d, dtype).reshape(shape).copy(), data, where)


def _decode_scalar(found: Any, where: str, blobs: MutableSequence[Any], depth: int) -> Any:
    array = _decode_array(found, where, blobs, depth)
    if array.shape:
        raise bad_file(f"{where}: is not a number", "shape ()", f"shape {array.shape}")
    return array[()]


def _dtype(found: Any, where: str) -> Any:
    """Return the dtype of a text, or of fields."""
    good = isinstance(found, str) and DTYPE.fullmatch(found)
    if not good and not (isinstance(found, list) and found):
        raise bad_file(f"{where}: is not an array", "a dtype", short_repr(found))
    try:
        if good:
            return np.dtype(found)
        fields = [(str(name), _dtype(part, where), tuple(shape)) for name, part, shape in found]
        return np.dtype(fields)
    except FileFormatError:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise bad_file(f"{where}: is not an array", "a dtype", str(error)) from None


def _named_class(found: Any, where: str, content: type) -> tuple[Any, Any]:
    """Return the class that a file names, and what it says beside."""
    good = isinstance(found, list) and [type(part) for part in found] == [str, str, content]
    if not good:
        raise bad_file(f"{where}: is not an object", "module, class and content", short_repr(found))
    module, qualname, inside = found
    cls = found_in(module, qualname)
    if not isinstance(cls, type):
        raise FileFormatError(
            f"{where}: is an object of a class that is not known here",
            "a class of a module that is imported",
            f"{module}.{qualname}",
            f"import {module} before; or register the class under the name that it had",
        )
    return cls, inside


def _decode_enum(found: Any, where: str, *_: Any) -> Any:
    cls, names = _named_class(found, where, list)
    member = members_of(cls, names) if issubclass(cls, Enum) else None
    if member is None:
        got = f"{short_repr(names)} of {cls.__qualname__}"
        raise bad_file(f"{where}: is not a member of an enum", "a member", got)
    return member


def members_of(cls: type[Enum], names: list[Any]) -> Enum | None:
    """Return the member of an enum of that name, or of a flag of those names; else None."""
    known = cls.__members__
    if not all(isinstance(name, str) and name in known for name in names):
        return None
    if issubclass(cls, Flag):
        return reduce(operator.or_, (known[name] for name in names), cls(0))
    return known[names[0]] if len(names) == 1 else None


def _decode_object(found: Any, where: str, blobs: MutableSequence[Any], depth: int) -> Any:
    cls, values = _named_class(found, where, dict)
    names = _fields(cls)
    if names is None or set(names) != set(values):
        raise FileFormatError(
            f"{where}: does not fit its class",
            f"the fields {', '.join(names)} of {cls.__qualname__}"
            if names is not None
            else "a frozen class of attrs or of a dataclass",
            f"{cls.__qualname__} with {', '.join(values) or 'no fields'}",
            "register the class with a function that takes old values",
        )
    made = _made(object.__new__, cls, where)
    for name in names:
        value = _decode(values[name], f"{where}.{name}", blobs, depth + 1)
        object.__setattr__(made, name, value)
    return made


def _decode_registered(found: Any, where: str, blobs: MutableSequence[Any], depth: int) -> Any:
    if not isinstance(found, list) or len(found) != 2 or not isinstance(found[0], str):
        raise bad_file(f"{where}: is not an object", "name and content", short_repr(found))
    name, content = found
    if name not in _BY_NAME:
        raise FileFormatError(
            f"{where}: is of a class that is not registered here",
            "the name of a registered class",
            repr(name),
            f"call stagecache.register_value(..., name={name!r}) before",
        )
    return _made(_BY_NAME[name].of, _decode(content, where, blobs, depth + 1), where)


DECODERS: Final[dict[str, Callable[..., Any]]] = {
    "float": _decode_float,
    "int": _decode_int,
    "surrogates": _decode_text,
    "complex": _decode_complex,
    "bytes": _decode_bytes,
    "tuple": _collection(tuple),
    "set": _collection(set),
    "frozenset": _collection(frozenset),
    "dict": _collection(_pairs),
    "array": _decode_array,
    "scalar": _decode_scalar,
    "enum": _decode_enum,
    "object": _decode_object,
    "registered": _decode_registered,
}
"""Decoders by the kind of a value, as JSON names it."""


def bad_file(what: str, expected: str, got: str) -> FileFormatError:
    """Return the error of a file that says what it must not."""
    return FileFormatError(what, expected, got, "take an undamaged copy of the file")


def listed_keys(found: dict[str, Any]) -> str:
    """Return the names that JSON has there."""
    return short_repr(list(found))
