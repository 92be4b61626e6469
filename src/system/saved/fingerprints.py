"""Fingerprints: of the layout of a State, of the code of a function, and of a model's attributes.

Equal fingerprints mean that a saved cache entry would be computed anew with the same value. A
fingerprint may differ where nothing that matters has changed; an entry is then computed again.
"""

import inspect
import io
import json
import pickle
import sys
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from stagecache.errors import UnsavableValueError
from stagecache.files.values import Blobs, encode
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.system.declare.declaration import AbstractDeclaration
from stagecache.system.declare.subsystem import Subsystem

OWN: Final = "stagecache."
"""Modules whose functions are those of a release."""


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
    return hash_of(sorted(rows))


def code_hash(function: Any, owner: type) -> str:
    """Return a fingerprint of a function, and of the functions of its package that it calls.

    It covers code, constants, defaults, what functions close over, plain values of modules, and
    methods and properties of the class that owns the function; functions of stagecache by its
    version. Another version of Python has another one. "" if something cannot be compared.

    Parameters
    ----------
    function : callable
    owner : type
        Class of the Subsystem that declares the entry.
    """
    function = inspect.unwrap(function)
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__"):
        return ""
    found = _Functions(owner, function.__module__.partition(".")[0])
    found.add(function)
    texts = [f"{name} {text}" for name, text in sorted(found.texts.items())]
    if not all(found.texts.values()):
        return ""
    return hash_of([sys.version_info[:2], texts])


class _Functions:
    """Texts of functions, by name: those that one of them calls, as far as their package has them.

    Parameters
    ----------
    owner : type
    package : str

    Attributes
    ----------
    texts : dict of str to str
        "" for what cannot be compared.
    """

    def __init__(self, owner: type, package: str) -> None:
        self._owner = owner
        self._package = package
        self.texts: dict[str, str] = {}

    def add(self, function: FunctionType) -> None:
        """Add a function, and those that it calls."""
        name = f"{function.__module__}.{function.__qualname__}"
        if name in self.texts:
            return
        if function.__module__.startswith(OWN):
            self.texts[name] = _own_version()
            return
        self.texts[name] = "..."  # it may call itself
        code = function.__code__
        kept = [cell.cell_contents for cell in function.__closure__ or ()]
        kept += [function.__defaults__, function.__kwdefaults__]
        inside = [self._text(value) for value in kept]
        self.texts[name] = repr([_code(code), inside]) if all(inside) else ""
        for used in _names(code):
            value = inspect.getattr_static(self._owner, used, None)
            value = function.__globals__.get(used) if value is None else value
            if value is not None:
                self.texts[f"{name}: {used}"] = self._text(value)

    def _text(self, value: Any) -> str:
        """Return the text of a value that a function uses; a function is added."""
        value = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if isinstance(value, FunctionType):
            if value.__module__.partition(".")[0] == self._package:
                self.add(value)
            return f"{value.__module__}.{value.__qualname__}"
        if isinstance(value, type | ModuleType) or callable(value):
            return f"{type(value).__name__} {getattr(value, '__qualname__', '')}"
        try:
            blobs: Blobs = []
            return repr((encode(value, "", blobs), blobs))
        except UnsavableValueError:
            is_declaration = isinstance(value, AbstractDeclaration)
            return f"{type(value).__name__} {value.name}" if is_declaration else ""


def _own_version() -> str:
    """Return the version of stagecache, "" where it was not installed."""
    try:
        return version(OWN.rstrip("."))
    except PackageNotFoundError:
        return ""


def _names(code: CodeType) -> set[str]:
    """Return the names that code uses, and code within it."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)


def _code(code: CodeType) -> list[Any]:
    """Return what a function does, without the lines where it stands."""
    constants = [_code(c) if isinstance(c, CodeType) else _constant(c) for c in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, constants]


def _constant(value: object) -> str:
    """Return the text of a constant, in which the order of a set does not matter."""
    if isinstance(value, frozenset):
        return f"frozenset {sorted(map(_constant, value))}"
    if isinstance(value, tuple):
        return f"tuple {[_constant(part) for part in value]}"
    return f"{type(value).__name__} {value!r}"


def model_hash(system: Any) -> str:
    """Return a fingerprint of the attributes of a System and its subsystems, and of their hooks.

    Attributes are compared as pickle takes them. "" if something cannot be compared.
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
    hooks = [_hook_hash(cls) for cls in dict.fromkeys(map(type, system.subsystems))]
    return hash_of([sha256(file.getvalue()).hexdigest(), hooks]) if all(hooks) else ""


def _hook_hash(cls: type[Subsystem]) -> str:
    """Return the fingerprint of the methods of Subsystem that a class overrides."""
    codes = []
    for name in dir(Subsystem):
        function = inspect.getattr_static(cls, name)
        if isinstance(function, FunctionType) and function is not getattr(Subsystem, name):
            codes.append([name, code_hash(function, cls)])
    return hash_of(codes) if all(code for _, code in codes) else ""


class _Pickler(pickle.Pickler):
    """A pickler to which the System and its subsystems are names."""

    system: Any

    def persistent_id(self, value: Any) -> str | None:
        """Return the name of the System or of a subsystem; None for all else."""
        if value is self.system:
            return "system"
        return f"subsystem {value.name}" if isinstance(value, Subsystem) else None


def hash_of(parts: Any) -> str:
    """Return the hash of lists of texts and numbers."""
    return sha256(json.dumps(parts).encode()).hexdigest()
