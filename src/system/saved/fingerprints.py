"""Fingerprints of the layout of a State, and of a model: its attributes, and its code.

If these and the fingerprints of `code` are equal, a saved cache entry would be computed with the
same value. A fingerprint may differ although nothing that matters has changed; then an entry is
computed again.
"""

import io
import pickle
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import FunctionType
from typing import Any, final

from attrs import evolve, frozen

from stagecache.inspection.node_paths import NodePaths
from stagecache.sharing.code import code_of, hash_of
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
    return hash_of(sorted(rows))


def model_hash(system: Any) -> str:
    """Return a fingerprint of the attributes of a System, its subsystems, and all of their code.

    Attributes are compared as pickle takes them. "" if something cannot be compared.
    """
    _, _, (own, parts) = system.__reduce__()
    found = attributes_of(system, (own, *parts))
    if found is None:
        return ""
    models = [type(subsystem) for subsystem in system.subsystems]
    code = code_of(None, models=models, used={*found.used, *models}).hash
    names = [[s.name, type(s).__module__, type(s).__qualname__] for s in system.subsystems]
    return hash_of([found.hash, names, code]) if code else ""


@final
@frozen
class Attributes:
    """Attributes of parts of a System.

    Attributes
    ----------
    hash : str
        Their fingerprint, as pickle takes them.
    used : set of type and function
        Functions, and classes of values.
    referred : set of Subsystem
        Subsystems to which they refer.
    has_system : bool
        True if they refer to the System.
    """

    hash: str
    used: set[Any]
    referred: set[Subsystem]
    has_system: bool


def attributes_of(system: Any, parts: Sequence[Mapping[str, Any]]) -> Attributes | None:
    """Return attributes of parts of a System; None if pickle does not take them."""
    try:
        try:
            return _pickled(system, parts, is_fast=True)
        except (ValueError, RecursionError):
            return _pickled(system, parts, is_fast=False)
    except Exception:  # whatever an object does that cannot be pickled
        return None


def unknown_attribute(system: Any, parts: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the path of an attribute that pickle does not take; "" if it takes each of them.

    Parameters
    ----------
    system : System
    parts : iterable of (str, mapping)
        Names of owners, and their attributes.
    """
    for owner, attributes in parts:
        for name, value in attributes.items():
            if attributes_of(system, [{name: value}]) is None:
                return f"{owner}.{name}"
    return ""


def _pickled(system: Any, parts: Sequence[Mapping[str, Any]], *, is_fast: bool) -> Attributes:
    """Return attributes as pickle takes them.

    If `is_fast`, equal objects are alike, be they one object or two; objects that refer to each
    other raise a ValueError or a RecursionError.
    """
    found = Attributes("", set(), set(), has_system=False)
    hashed = sha256()
    for attributes in parts:
        for name in sorted(attributes):
            pickler = _Pickler.of(system, found, is_fast=is_fast)
            hashed.update(pickler.bytes_of((name, attributes[name])))
            found = evolve(found, has_system=found.has_system or pickler.has_met_system)
    return evolve(found, hash=hashed.hexdigest())


class _Pickler(pickle.Pickler):
    """A pickler to which the System and its subsystems are names; it notes all code that is used.

    Attributes
    ----------
    system : System
    file : io.BytesIO
    found : Attributes
        Takes functions, classes and subsystems that are met.
    has_met_system : bool
    """

    system: Any
    file: io.BytesIO
    found: Attributes
    has_met_system: bool

    @classmethod
    def of(cls, system: Any, found: Attributes, *, is_fast: bool) -> "_Pickler":
        """Return a new pickler."""
        file = io.BytesIO()
        new = cls(file, protocol=5)
        new.fast = is_fast
        new.system, new.file, new.found, new.has_met_system = system, file, found, False
        return new

    def bytes_of(self, value: Any) -> bytes:
        """Return a value as pickle takes it."""
        self.dump(value)
        return self.file.getvalue()

    def persistent_id(self, value: Any) -> Any:
        """Return the name of the System or of a subsystem; None for all else."""
        if value is self.system:
            self.has_met_system = True
            return "system"
        if isinstance(value, Subsystem):
            self.found.referred.add(value)
            return f"subsystem {value.name}"
        self.found.used.add(value if isinstance(value, type | FunctionType) else type(value))
        if isinstance(value, set | frozenset):  # in an order that is the same in each process
            parts = [_Pickler.of(self.system, self.found, is_fast=bool(self.fast)) for _ in value]
            found = sorted(part.bytes_of(x) for part, x in zip(parts, value, strict=True))
            self.has_met_system |= any(part.has_met_system for part in parts)
            return f"set {found}"
        return None
