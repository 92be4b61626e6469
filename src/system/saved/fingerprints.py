"""Fingerprints: of the layout of a State, of the code of a function, and of a model's attributes.

Equal fingerprints mean that a saved cache entry would be computed anew with the same value. A
fingerprint may differ where nothing that matters has changed; an entry is then computed again.
"""

import io
import json
import pickle
import sys
from hashlib import sha256
from types import CodeType
from typing import Any

from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.system.declare.subsystem import Subsystem


def layout_hash(contents: Contents, paths: NodePaths) -> str:
    """Return a fingerprint of all variables and entries: paths, kinds, stages, prerequisites."""
    store = contents.realization.store
    rows = []
    for node, path in paths.of.items():
        handle = store.keys[node]
        if isinstance(handle, AbstractHandle):
            stages = [
                int(stage)
                for name in ("available_from", "computed_by", "invalidates", "allocated_at")
                if (stage := getattr(handle, name, None)) is not None
            ]
            above = []
            if isinstance(handle, CacheEntry):
                above = sorted(paths.of.get(h._node, "") for h in contents.prerequisites(handle))
            rows.append([path, type(handle).__name__, stages, above])
    return _hash(json.dumps(sorted(rows)).encode())


def code_hash(function: Any) -> str:
    """Return a fingerprint of a function; "" if it has none.

    It covers its code, constants, defaults and what it closes over, not the functions that it
    calls. It is that of one version of Python.
    """
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    parts: list[Any] = [sys.version_info[:2], _code(code)]
    for value in (*cells, function.__defaults__, function.__kwdefaults__):
        inner = code_hash(value) if callable(value) else _constant(value)
        if not inner:
            return ""
        parts.append(inner)
    return _hash(repr(parts).encode())


def _code(code: CodeType) -> list[Any]:
    constants = [_code(c) if isinstance(c, CodeType) else _constant(c) for c in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, constants]


def _constant(value: object) -> str:
    """Return the text of a constant, in which the order of a set does not matter; or ""."""
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(repr, value))})"
    if isinstance(value, tuple):
        inner = [_constant(part) for part in value]
        return f"({inner})" if all(inner) else ""
    if isinstance(value, dict):
        return _constant(tuple(value.items())) or ""
    is_plain = isinstance(value, None | bool | int | float | complex | str | bytes | type(...))
    return f"{type(value).__name__} {value!r}" if is_plain else ""


def model_hash(system: Any) -> str:
    """Return a fingerprint of the attributes of a System and its subsystems; "" if there is none.

    Attributes are compared as pickle takes them.
    """
    file = io.BytesIO()
    pickler = _Pickler(file, protocol=5)
    pickler.system = system
    try:
        _, _, (own, parts) = system.__reduce__()
        for attributes in (own, *parts):
            for name in sorted(attributes):
                pickler.clear_memo()
                pickler.dump((name, attributes[name]))
    except Exception:  # whatever an object does that cannot be pickled
        return ""
    return _hash(file.getvalue())


class _Pickler(pickle.Pickler):
    """A pickler to which the System and its subsystems are names."""

    system: Any

    def persistent_id(self, value: Any) -> str | None:
        """Return the name of the System or of a subsystem; None for all else."""
        if value is self.system:
            return "system"
        return f"subsystem {value.name}" if isinstance(value, Subsystem) else None


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
