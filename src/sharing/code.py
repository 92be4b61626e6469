"""Fingerprints of code: a function, and all that it uses and that may change.

::

    a function       its code, its defaults, what it closes over, and what its names mean
    a name           on the class of the Subsystem and on its bases, in the module, and in others
    a class          its functions, its declarations and its plain values
    a module         its source, if it has a file
    a plain value    as a file has it
    what is installed: the standard library, other packages, stagecache       name and version

A fingerprint is "" where something cannot be compared, and may differ where nothing that matters
has changed; a saved entry is computed again then.
"""

import dis
import hashlib
import json
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, final

import attrs
from attrs import field, frozen

from stagecache.errors import UnsavableValueError, short_repr
from stagecache.files.values import Blobs, encode, found_in

OWN: Final = "stagecache"
PATHS: Final = ("stdlib", "platstdlib", "purelib", "platlib")
INSTALLED: Final = tuple({sysconfig.get_path(name) for name in PATHS})
GENERATED: Final = frozenset(
    f"__{name}__"
    for name in (
        *("init", "repr", "eq", "ne", "hash", "lt", "le", "gt", "ge", "replace"),
        *("setattr", "delattr", "getstate", "setstate"),
    )
)
"""Methods that attrs and dataclasses write."""


def hash_of(parts: Any) -> str:
    """Return the hash of lists of texts and numbers."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@final
@frozen
class Code:
    """The code of a function, and of all that it uses.

    Attributes
    ----------
    hash : str
        Its fingerprint; "" if it cannot be compared.
    unknown : str
        What cannot be compared, if anything.
    names : frozenset of str
        Names of attributes that it uses, of whatever object.
    """

    hash: str
    unknown: str
    names: frozenset[str]


def code_of(
    function: Any, owner: type = object, models: Iterable[type] = (), used: Iterable[Any] = ()
) -> Code:
    """Return the code of a function, and of other functions and classes.

    Parameters
    ----------
    function : callable
    owner : type
        Class on which its methods are looked up.
    models : iterable of type
        Classes of subsystems, whose packages are looked into even if they are installed.
    used : iterable of type and function
    """
    found = _Used(owner, models)
    text, texts = found.text_of(function), sorted(found.text_of(value) for value in used)
    unknown = found.unknown or ("" if text and all(texts) else short_repr(function))
    hashed = "" if unknown else hash_of([text, texts, found.hash])
    return Code(hashed, unknown, frozenset(found.names))


def code_hash(function: Any, owner: type) -> str:
    """Return a fingerprint of a function that a class declares; "" if it cannot be compared.

    Parameters
    ----------
    function : callable
    owner : type
        Class of the Subsystem that declares the entry.
    """
    if not isinstance(_inner(function), FunctionType):
        return ""
    return code_of(function, owner, [owner]).hash


def hash_of_used(used: Iterable[Any], models: Iterable[type]) -> str:
    """Return a fingerprint of classes and functions that attributes of a model use.

    Parameters
    ----------
    used : iterable of type and function
    models : iterable of type
        Classes of the subsystems.
    """
    found = _Used(object, models)
    texts = [found.text_of(value) for value in used]
    return hash_of([sorted(texts), found.hash]) if all(texts) and not found.unknown else ""


@final
class _Used:
    """The texts of all that a function uses, with names.

    Parameters
    ----------
    owner : type
        Class on which methods are looked up.
    models : iterable of type
        Classes of subsystems, whose packages are looked into even if they are installed.
    """

    def __init__(self, owner: type, models: Iterable[type]) -> None:
        self._owner = owner
        self._packages = {_top(cls.__module__) for cls in models} - {OWN}
        self.names: set[str] = set()  # of attributes
        self._seen: dict[int, str] = {}  # texts of functions and classes, by identity
        self._sources: set[str] = set()
        self._texts: set[tuple[str, str]] = set()

    @property
    def hash(self) -> str:
        """The fingerprint of everything so far."""
        return hash_of([sys.version_info[:2], sorted(self._texts)])

    @property
    def unknown(self) -> str:
        """Name of something that cannot be compared; "" if everything can."""
        found = [name for name, text in self._texts if not text]
        return max(found, key=lambda name: (": " in name, name), default="")

    # ------------------------------------------------------------------ values

    def text_of(self, value: Any) -> str:
        """Return the text of something that a function uses; its code is added."""
        if isinstance(value, partial):
            inside = [value.func, *value.args, *value.keywords.values()]
            texts = [self.text_of(part) for part in inside]
            return repr([*texts, *value.keywords]) if all(texts) else ""
        if isinstance(value, MethodType) and not isinstance(value.__self__, type):
            texts = [self.text_of(value.__func__), self.text_of(value.__self__)]
            return repr(texts) if all(texts) else ""
        if _is_declaration(value):
            functions = [v for v in vars(value).values() if isinstance(_inner(v), FunctionType)]
            texts = [self.text_of(function) for function in functions]
            return repr([type(value).__name__, value.name, *texts]) if all(texts) else ""
        value = _inner(value)
        if isinstance(value, FunctionType):
            return self._named(value.__qualname__, _module_of(value), value, self._add_function)
        if isinstance(value, type):
            return self._named(value.__qualname__, _module_of(value), value, self._add_class)
        if isinstance(value, ModuleType):
            return self._named("", value.__name__)
        if self._is_installed_by_name(value):
            return self._named(value.__name__, value.__module__)
        try:
            blobs: Blobs = []
            content = encode(value, "", blobs)
        except UnsavableValueError:
            return ""
        for module, name in classes_in(content):
            self._add_class(found_in(module, name))
        return repr((content, blobs))

    def _named(
        self, name: str, module: str, value: Any = None, add: Callable[[Any], str] | None = None
    ) -> str:
        """Return the name of something, and its code; of what is installed, its version."""
        if self._is_followed(module):
            self._add_source(module)
            return f"{module}.{name}" if add is None else add(value)
        release = _version_of(_top(module))
        return f"{module}.{name} {release}" if release else ""

    def _is_followed(self, module: str) -> bool:
        """Return True for modules of the model, and for others that are not installed."""
        if _top(module) in self._packages:
            return True
        file = getattr(sys.modules.get(module), "__file__", None)
        return _top(module) != OWN and file is not None and not file.startswith(INSTALLED)

    def _is_installed_by_name(self, value: Any) -> bool:
        """Return True for what an installed module has under its name, as a ufunc of NumPy."""
        module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if not isinstance(module, str) or not isinstance(name, str) or self._is_followed(module):
            return False
        return getattr(sys.modules.get(module), name, None) is value

    # ------------------------------------------------------------------ code

    def _add_source(self, module: str) -> None:
        """Add the source of a module, if it has a file."""
        file = getattr(sys.modules.get(module), "__file__", None)
        if file is not None and module not in self._sources:
            self._sources.add(module)
            try:
                text = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            except OSError:
                text = ""
            self._texts.add((f"source of {module}", text))

    def _add_function(self, function: FunctionType) -> str:
        """Add a function, and return its text."""
        name = f"{_module_of(function)}.{function.__qualname__}"
        if id(function) in self._seen:  # it may call itself
            return self._seen[id(function)]
        self._seen[id(function)] = name
        kept = [cell.cell_contents for cell in function.__closure__ or ()]
        kept += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        inside = [self.text_of(value) for value in kept]
        text = hash_of([name, _text_of_code(function.__code__), inside]) if all(inside) else ""
        self._seen[id(function)] = text
        self._texts.add((name, text))
        for meaning, value in self._meanings(function):
            self._texts.add((f"{name}: {meaning}", self.text_of(value)))
        return text

    def _add_class(self, cls: type) -> str:
        """Add a class and its bases, and return their names."""
        for base in cls.__mro__:
            if id(base) in self._seen or not self._is_followed(base.__module__):
                continue
            self._seen[id(base)] = base.__qualname__
            self._add_source(_module_of(base))
            is_written = attrs.has(base) or is_dataclass(base)
            for key, value in vars(base).items():
                name = f"{_module_of(base)}.{base.__qualname__}.{key}"
                if isinstance(_inner(value), FunctionType):
                    if not (is_written and key in GENERATED):
                        self._texts.add((name, self.text_of(value)))
                elif not key.startswith("__") and (text := self.text_of(value)):
                    self._texts.add((name, text))
        return " ".join(f"{_module_of(base)}.{base.__qualname__}" for base in cls.__mro__)

    def _meanings(self, function: FunctionType) -> Iterator[tuple[str, Any]]:
        """Yield what names of a function's code may mean: on the class, and in modules."""
        names = _names(function.__code__)
        self.names |= names.attributes
        for cls in self._owner.__mro__:
            for name in names.attributes & vars(cls).keys():
                yield f"{cls.__qualname__}.{name}", vars(cls)[name]
        variables = function.__globals__
        found = {f"global {name}": variables[name] for name in names.variables & variables.keys()}
        package = variables.get("__package__") or ""
        for name in names.imported:
            for module in (name, f"{package}.{name}"):
                if module in sys.modules:
                    found[f"module {module}"] = sys.modules[module]
        seen: set[str] = set()
        while found:
            meaning, value = found.popitem()
            yield meaning, value
            if isinstance(value, ModuleType) and value.__name__ not in seen:
                seen.add(value.__name__)
                if self._is_followed(value.__name__):
                    for name in names.attributes & vars(value).keys():
                        found[f"{value.__name__}.{name}"] = vars(value)[name]


def _inner(value: Any) -> Any:
    """Return the function in a method, a property, or what `lru_cache` makes."""
    if isinstance(value, type):
        return value
    if isinstance(value, cached_property):
        return value.func
    while not isinstance(value, FunctionType) and hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return getattr(value, "fget", None) or getattr(value, "__func__", value)


def _is_declaration(value: Any) -> bool:
    """Return True for an item that a Subsystem declares."""
    cls = type(value)
    return _top(cls.__module__) == OWN and hasattr(cls, "__set_name__")


def _module_of(value: Any) -> str:
    """Return the name of the module of a function or a class; that of a script in each process."""
    return "__main__" if value.__module__ == "__mp_main__" else str(value.__module__)


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _version_of(package: str) -> str:
    """Return the version of a package that is installed; "" if it has none."""
    if package in sys.stdlib_module_names:
        return "of Python"
    try:
        return version(package)
    except PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", ""))


def classes_in(content: Any) -> Iterator[tuple[str, str]]:
    """Yield module and name of the classes of values that are encoded."""
    if isinstance(content, dict):
        for kind, inside in content.items():
            if kind in ("object", "enum"):
                yield inside[0], inside[1]
            yield from classes_in(inside)
    elif isinstance(content, list):
        for part in content:
            yield from classes_in(part)


@frozen
class _Names:
    """The names that code uses: variables of its module, attributes of anything, and modules."""

    variables: set[str] = field(factory=set)
    attributes: set[str] = field(factory=set)
    imported: set[str] = field(factory=set)


def _names(code: CodeType) -> _Names:
    """Return the names that code uses, and code within it."""
    names = _Names()
    kinds = {"LOAD_GLOBAL": names.variables, "LOAD_NAME": names.variables}
    kinds["IMPORT_NAME"] = names.imported
    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.hasname:
            kinds.get(instruction.opname, names.attributes).add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = _names(constant)
            names.variables.update(inner.variables)
            names.attributes.update(inner.attributes)
            names.imported.update(inner.imported)
    return names


def _text_of_code(code: CodeType) -> list[Any]:
    """Return what a function does, without the lines where it stands."""
    constants = [
        _text_of_code(c) if isinstance(c, CodeType) else _constant(c) for c in code.co_consts
    ]
    counts = [code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount]
    names = [code.co_names, code.co_varnames, code.co_freevars]
    return [code.co_code.hex(), code.co_exceptiontable.hex(), counts, names, constants]


def _constant(value: object) -> str:
    """Return the text of a constant, in which the order of a set does not matter."""
    if isinstance(value, frozenset):
        return f"frozenset {sorted(map(_constant, value))}"
    if isinstance(value, tuple):
        return f"tuple {[_constant(part) for part in value]}"
    return f"{type(value).__name__} {value!r}"
