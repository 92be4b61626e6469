"""Mutations of files: bytes edited at random, also with the checksum made right again.

::

    bytes      flipped, cut, inserted, doubled, swapped
    sealed     the same, then length and checksum made right: the checks behind them are reached
    edited     the JSON of the header changed at a random place: hostile numbers, names, types
    renamed    a name in the JSON written twice
"""

import json
from collections.abc import Callable
from copy import deepcopy
from hashlib import sha256
from random import Random
from typing import Any, Final

from stagecache.files.envelope import FRAME, MAGIC, SUM, VERSION

HOSTILE: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 2, 7, 2**31, 2**62, 2**63, -(2**63), 2**64, 10**40),
    *(0.0, -0.0, 1e308, float("nan"), float("inf"), float("-inf"), 0.5),
    *("", "x", "../../x", "/etc/passwd", "\x00", "a.b", "time", "Time", "Infinity", "O", "|O8"),
    *("<f8", "|V8", "<U999999999", "<M8[Y]", "<f8" * 100, "a" * 10_000, "a number", "1 number"),
    *([], {}, [[]], [{}], [0.0], [1, "two"], [2**63], [-1], [2**62, 2**62], [0, 2**63 - 1]),
    *([0] * 33, [1.0] * 5, {"": 0}, {"float": "nan"}, {"float": "1e5"}, {"float": []}),
    *({"int": "0x"}, {"int": "0x1" + "0" * 5000}, {"int": 5}, {"surrogates": "d8"}),
    *({"bytes": 0}, {"bytes": 2**63}, {"bytes": -1}, {"complex": [1, 2]}, {"tuple": {}}),
    *({"set": [[1]]}, {"set": [{"dict": []}]}, {"frozenset": [1, 1]}, {"dict": [[1, 2], [1, 3]]}),
    *({"dict": [[{"dict": []}, 1]]}, {"dict": [1]}, {"dict": ["ab"]}, {"dict": {"a": "b"}}),
    *({"enum": ["os", "system", ["x"]]}, {"enum": ["stagecache", "Stage", ["NONE"]]}),
    *({"enum": ["stagecache", "Stage", []]}, {"enum": ["stagecache", "Stage", [[]]]}),
    *({"object": ["os", "system", {}]}, {"object": ["subprocess", "Popen", {"args": "true"}]}),
    *({"object": ["builtins", "eval", {"x": "1"}]}, {"object": ["builtins", "object", {}]}),
    *({"object": ["antigravity", "x", {}]}, {"object": ["sys", "modules", {}]}),
    *({"object": ["tests.files.models", "Material", {"name": 1}]}, {"object": [[], "", {}]}),
    {"object": ["tests.files.models", "Material", {"name": 1, "density": [], "colours": {}}]},
    *({"registered": ["x", 1]}, {"registered": ["fractions.Fraction", 5]}),
    {"registered": ["fractions.Fraction", {"tuple": [1, 0]}]},
    {"array": {"dtype": "<f8", "shape": [2**62], "blob": 0}},
    {"array": {"dtype": "<f8", "shape": [0, 2**62], "blob": 0}},
    {"array": {"dtype": "|O8", "shape": [1], "blob": 0}},
    {"array": {"dtype": "object", "shape": [0, 2**62, 2**62], "items": []}},
    {"array": {"dtype": "object", "shape": [-1], "items": []}},
    {"array": {"dtype": "text", "shape": [1], "items": [1]}},
    {"array": {"dtype": [["a", "<f8", [2**31]]], "shape": [0], "blob": 0}},
    {"array": {"dtype": [["a", "<f8", [2**62, 2**62]]], "shape": [0], "blob": 0}},
    {"array": {"dtype": [["a", "<f8", 3], ["a", "<f8", []]], "shape": [], "blob": 0}},
    {"array": {"dtype": [[]], "shape": [], "blob": 0}},
    {"scalar": {"dtype": "<f8", "shape": [1], "blob": 0}},
)
"""Values that a header must not contain, or not everywhere."""


def mutant(data: bytes, random: Random) -> tuple[str, bytes]:
    """Return the name of a mutation, and the file that it makes of a file."""
    name = random.choice(tuple(MUTATIONS))
    return name, MUTATIONS[name](data, random)


def is_sealed(name: str) -> bool:
    """Return whether a mutation makes the checksum right again."""
    return name != "bytes"


def of_bytes(data: bytes, random: Random) -> bytes:
    """Edit bytes at one to three random places."""
    edited = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(EDITS)(edited, random.randrange(len(edited) + 1), random)
    return bytes(edited)


def _flip(data: bytearray, at: int, random: Random) -> None:
    if at < len(data):
        data[at] ^= random.choice((1, 2, 4, 8, 16, 32, 64, 128, 255))


def _cut(data: bytearray, at: int, random: Random) -> None:
    del data[at : random.choice((at + 1, at + 8, at + random.randrange(99), len(data)))]


def _insert(data: bytearray, at: int, random: Random) -> None:
    data[at:at] = random.randbytes(random.choice((1, 1, 8, 40)))


def _double(data: bytearray, at: int, random: Random) -> None:
    data[at:at] = data[at : at + random.choice((1, 8, 40, 500))]


def _swap(data: bytearray, at: int, random: Random) -> None:
    n = random.choice((1, 8, 40))
    other = random.randrange(len(data) + 1)
    first, second = data[at : at + n], data[other : other + n]
    if len(first) == len(second):
        data[at : at + n], data[other : other + n] = second, first


EDITS: Final = (_flip, _cut, _insert, _double, _swap)


def sealed(data: bytes, random: Random) -> bytes:
    """Edit JSON or blobs, and make lengths and checksum right."""
    text, blobs = parts(data)
    if blobs and random.random() < 0.3:
        return framed(text, of_bytes(blobs, random))
    return framed(of_bytes(text, random), blobs)


def parts(data: bytes) -> tuple[bytes, bytes]:
    """Return the header and the blobs of a file."""
    _, _, _, size = FRAME.unpack_from(data)
    start = FRAME.size + size
    return data[FRAME.size : start], data[start:-SUM]


def framed(text: bytes, blobs: bytes) -> bytes:
    """Return a file of that header and those blobs, with the lengths and checksum that it needs."""
    length = FRAME.size + len(text) + len(blobs) + SUM
    data = FRAME.pack(MAGIC, VERSION, length, len(text)) + text + blobs
    return data + sha256(data).digest()


def _edited(data: bytes, random: Random) -> bytes:
    header, blobs = _parsed(data)
    for _ in range(random.choice((1, 1, 1, 2))):
        _edit(header, random)
    return framed(json.dumps(header, ensure_ascii=random.random() < 0.5).encode(), blobs)


def _edit(header: Any, random: Random) -> None:
    places = list(_places(header))
    inside, key = random.choice(places)
    kind = random.random()
    if kind < 0.6:
        inside[key] = deepcopy(random.choice(HOSTILE))
    elif kind < 0.7:
        del inside[key]
    elif kind < 0.8:
        other, its_key = random.choice(places)
        inside[key], other[its_key] = deepcopy(other[its_key]), deepcopy(inside[key])
    elif kind < 0.9:
        inside[key] = _nested(inside[key], random.choice((1, 90, 101, 3000)), random)
    elif isinstance(inside, list):
        inside.insert(key, deepcopy(inside[key]))
    else:
        inside[random.choice(("", "x", "../../x", "time", "a.b", "kind"))] = deepcopy(inside[key])


def _places(found: Any) -> "list[tuple[Any, Any]]":
    """Return each list or dict in JSON with each of its places."""
    keys = list(found) if isinstance(found, dict) else range(len(found))
    places = [(found, key) for key in keys]
    for key in keys:
        if isinstance(found[key], dict | list):
            places += _places(found[key])
    return places


def _nested(value: Any, depth: int, random: Random) -> Any:
    if depth > 1000:
        return RAW_DEPTH
    kind = random.choice(("list", "tuple", "dict"))
    for _ in range(depth):
        value = [value] if kind == "list" else {kind: [value]}
    return value


RAW_DEPTH: Final = "here is JSON that is nested deeply"


def doubled_name(data: bytes, random: Random) -> bytes:
    """Give a member of an object in the JSON the name of another one."""
    header, blobs = _parsed(data)
    names = sorted({key for inside, key in _places(header) if isinstance(inside, dict)})
    old, new = (json.dumps(random.choice(names), ensure_ascii=False) for _ in range(2))
    text = json.dumps(header, ensure_ascii=False)
    return framed(text.replace(f"{old}:", f"{new}:", random.choice((1, -1))).encode(), blobs)


def _parsed(data: bytes) -> tuple[Any, bytes]:
    text, blobs = parts(data)
    return json.loads(text), blobs


def edited(data: bytes, random: Random) -> bytes:
    """Change the JSON at one or two random places."""
    found = _edited(data, random)
    if RAW_DEPTH.encode() not in found:
        return found
    text, blobs = parts(found)
    n = random.choice((900, 5_000, 100_000))
    deep = random.choice((b"[" * n + b"]" * n, b'{"a":' * n + b"1" + b"}" * n, b"[" * n))
    return framed(text.replace(json.dumps(RAW_DEPTH).encode(), deep), blobs)


MUTATIONS: Final[dict[str, Callable[[bytes, Random], bytes]]] = {
    "bytes": of_bytes,
    "sealed": sealed,
    "edited": edited,
    "renamed": doubled_name,
}
"""Mutations by name: each returns another file."""
