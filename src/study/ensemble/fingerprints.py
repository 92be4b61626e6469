"""Fingerprints of a study: whether a folder has results of the same one.

::

    the function        its code, its defaults, what it closes over, and what its global names mean
    a Subsystem, ...    of this System: the path, since `code_of_model` has the content
    any other object    its class, and what pickle would take

Something that cannot be compared, such as an open file, is named: the study is not resumed then.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final, final

from attrs import frozen

from stagecache.files.values import Blobs, encode
from stagecache.inspection.node_paths import NodePaths
from stagecache.sharing.code import code_hash, code_of
from stagecache.state.handles import AbstractHandle
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.saved.cache import model_code
from stagecache.system.saved.fingerprints import layout_hash, model_hash, unknown_attribute
from stagecache.system.saved.snapshot import snapshot

SHORT: Final = 8
"""Bytes of the hash of one member."""


@final
@frozen
class Fingerprint:
    """A fingerprint.

    Attributes
    ----------
    hash : str
        Hash of all that can be compared.
    unknown : str
        Name of something that cannot be compared; "" if everything can.
    """

    hash: str
    unknown: str = ""


def code_of_study(study: Callable[..., Any], state: State) -> Fingerprint:
    """Return the fingerprint of the function of a study, and of all that it uses."""
    code = code_of(study, models=_models_of(state), known=partial(_text_of_part, state))
    return Fingerprint(code.hash, code.unknown)


def _models_of(state: State) -> list[type]:
    return [type(subsystem) for subsystem in state.system.subsystems]


def _text_of_part(state: State, value: Any) -> str | None:
    """Return the text of a part of a model, which `code_of_model` compares; None for all else."""
    if value is state.system:
        return "the System"
    if isinstance(value, System):
        other = value.new_state()
        return f"another System {code_of_model(other).hash} {layout_of(other)}"
    if isinstance(value, Subsystem) and value.is_adopted and value.system is state.system:
        return f"subsystem {value.name}"
    keys = state._contents.realization.store.keys
    if isinstance(value, AbstractHandle) and keys[value._node % len(keys)] is value:
        return f"item {value}"
    return None


def layout_of(state: State) -> str:
    """Return a fingerprint of the variables and entries of a State."""
    contents = state._contents
    return layout_hash(contents, NodePaths(contents))


def code_of_model(state: State) -> Fingerprint:
    """Return the fingerprint of all attributes, hooks and computations of a model."""
    system = state.system
    unknown = "" if model_hash(system) else _unknown_part(system)
    return Fingerprint(model_code(state), unknown or _unknown_entry(state))


def _unknown_part(system: System) -> str:
    """Return what it is in a model that cannot be compared."""
    own, parts = system.__reduce__()[2]  # as `model_hash` takes them
    owners = ["the System", *[subsystem.name for subsystem in system.subsystems]]
    if unknown := unknown_attribute(system, zip(owners, (own, *parts), strict=True)):
        return unknown
    models = [type(subsystem) for subsystem in system.subsystems]
    for model in models:
        if unknown := code_of(model, models=models).unknown:
            return f"code of {model.__qualname__}: {unknown}"
    return "code or attributes of the model"


def _unknown_entry(state: State) -> str:
    """Return the path of an entry whose function cannot be compared; "" if all can."""
    contents = state._contents
    layout, paths = contents.realization.layout, NodePaths(contents).of
    for subsystem, model in zip(layout.subsystems, state.system.subsystems, strict=True):
        for entry in subsystem.entries:
            if not code_hash(layout.functions[entry._node], type(model)):
                return f"the function of {paths[entry._node]!r}"
    return ""


def values_of_state(state: State) -> Fingerprint:
    """Return the fingerprint of the values of a State, their update times, and its weights."""
    found = snapshot(state)
    values = sorted({**found.values, "time": found.time}.items(), key=lambda pair: pair[0])
    parts = [values, found.update_times, found.weights]
    code = code_of(parts, models=_models_of(state), known=partial(_text_of_part, state))
    return Fingerprint(code.hash, code.unknown)


@final
class MembersHash:
    """A fingerprint of the values of members, which come one after the other."""

    def __init__(self) -> None:
        self._digest = sha256()
        self._each: list[bytes] = []

    def add(self, index: int, values: Mapping[str, Any]) -> None:
        """Add a member.

        Raises
        ------
        UnsavableValueError
            A value cannot be saved.
        """
        data = self._bytes(index, values)
        self._digest.update(data)
        self._each.append(sha256(data).digest()[:SHORT])

    def has(self, index: int, values: Mapping[str, Any]) -> bool:
        """Return True if a member had the same values when it was added."""
        return sha256(self._bytes(index, values)).digest()[:SHORT] == self._each[index]

    @staticmethod
    def _bytes(index: int, values: Mapping[str, Any]) -> bytes:
        what = f"run_study(members): member {index}"
        return _bytes_of(list(values), list(values.values()), what)

    @property
    def text(self) -> str:
        """The fingerprint of all members so far."""
        return self._digest.hexdigest()


def _bytes_of(names: Sequence[str], values: Sequence[Any], where: str) -> bytes:
    blobs: Blobs = []
    pairs = zip(names, values, strict=True)
    content = [[name, encode(value, f"{where}, {name!r}", blobs)] for name, value in pairs]
    lengths = [len(blob) for blob in blobs]
    return json.dumps([content, lengths]).encode() + b"".join(blobs)
