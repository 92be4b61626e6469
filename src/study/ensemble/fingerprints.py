"""Fingerprints of a study: whether a folder has results of the same one.

What cannot be compared, such as a lambda that holds an object, counts as the same.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import attrs

from stagecache.errors import UnsavableValueError
from stagecache.files.values import Blobs, encode
from stagecache.inspection.node_paths import NodePaths
from stagecache.sharing.code import hash_of, hash_of_used
from stagecache.state.state import State
from stagecache.system.saved.cache import model_code
from stagecache.system.saved.fingerprints import layout_hash
from stagecache.system.saved.snapshot import snapshot


def code_of_study(study: Callable[..., Any], state: State) -> str:
    """Return a fingerprint of the function of a study, and of all that it uses."""
    models = [type(subsystem) for subsystem in state.system.subsystems]
    return hash_of([hash_of_used([part], models) for part in _parts(study)])


def _parts(value: Any) -> Iterator[Any]:
    """Yield what a study is made of: a function, or a class and its fields."""
    if attrs.has(type(value)):
        yield type(value)
        for field in attrs.fields(type(value)):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, inside in value.items():
            yield key
            yield from _parts(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _parts(inside)
    else:
        yield value


def layout_of(state: State) -> str:
    """Return a fingerprint of the variables and entries of a State."""
    contents = state._contents
    return layout_hash(contents, NodePaths(contents))


def code_of_model(state: State) -> str:
    """Return a fingerprint of all attributes, hooks and computations of a model."""
    return model_code(state)


def values_of_state(state: State) -> str:
    """Return a fingerprint of the values of a State; "" if one of them cannot be saved."""
    found = snapshot(state)
    digest = sha256()
    try:
        for path, value in sorted({**found.values, "time": found.time}.items()):
            digest.update(_bytes_of([path], [value], path))
    except UnsavableValueError:
        return ""
    return digest.hexdigest()


class MembersHash:
    """A fingerprint of the values of members, which come one after the other."""

    def __init__(self) -> None:
        self._digest = sha256()

    def add(self, index: int, values: Mapping[str, Any]) -> None:
        """Add a member.

        Raises
        ------
        UnsavableValueError
            A value cannot be saved.
        """
        what = f"run_study(members): member {index}"
        self._digest.update(_bytes_of(list(values), list(values.values()), what))

    @property
    def text(self) -> str:
        """The fingerprint of all members so far."""
        return self._digest.hexdigest()


def _bytes_of(names: Sequence[str], values: Sequence[Any], where: str) -> bytes:
    blobs: Blobs = []
    pairs = zip(names, values, strict=True)
    content = [[name, encode(value, f"{where}, {name!r}", blobs)] for name, value in pairs]
    return json.dumps(content).encode() + b"".join(blobs)
