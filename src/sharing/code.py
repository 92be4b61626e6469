"""Fingerprints of code: a function, and everything it uses that may change.

::

    a function       its code, its defaults, what it closes over, and what its names mean
    a name           on the class of the Subsystem and its bases, in its module, in other modules
    a class          its functions, its declarations and its plain values
    a module         its source, if it has a file
    a plain value    its form in a file
    what is installed: the standard library, other packages, stagecache       name and version

Equal fingerprints mean equal code. Fingerprints may differ although nothing relevant has changed;
a saved value is computed again then. A fingerprint is "" if something cannot be compared.
"""

import dis
import hashlib
import json
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import cache, cached_property, lru_cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import resolve_name
from logging import Logger
from pathlib import Path
from types import (
    CodeType,
    FunctionType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    ModuleType,
    UnionType,
)
from typing import Any, Final, final

import attrs
from attrs import field, frozen

from stagecache.errors import UnsavableValueError, short_repr
from stagecache.files.values import Blobs, encode, found_in, registered_as

OWN: Final = "stagecache"
MAIN: Final = "__main__"
CACHED: Final = type(lru_cache(len))
"""Class of the functions that `lru_cache` returns."""

MADE: Final = frozenset(
    ("member_descriptor", "getset_descriptor", "_tuplegetter", "_abc_data", "wrapper_descriptor")
)
"""Classes of the members that Python itself adds to classes."""

ANNOTATES: Final = frozenset(("__annotate__", "__annotate_func__"))
"""Functions that Python 3.14 adds for annotations, on which no value depends."""

PATHS: Final = ("stdlib", "platstdlib", "purelib", "platlib")
PLACES: Final = ("site-packages", "dist-packages")
INSTALLED: Final = tuple(
    {sysconfig.get_path(name) for name in PATHS} | {p for p in sys.path if Path(p).name in PLACES}
)
"""Folders of installed packages, also those of the user and of an environment around this one."""

GENERATED: Final = frozenset(
    f"__{name}__"
    for name in (
        *("init", "repr", "eq", "ne", "hash", "lt", "le", "gt", "ge", "replace"),
        *("setattr", "delattr", "getstate", "setstate"),
    )
)
"""Methods that attrs and dataclasses write."""

GETTERS: Final = frozenset(("getattr", "attrgetter", "methodcaller"))
"""Functions that are given the names of attributes as texts."""

OF_TUPLES: Final = frozenset(
    ("__new__", "__repr__", "__getnewargs__", "_make", "_replace", "_asdict", "__replace__")
)
"""Methods that NamedTuple writes."""


def hash_of(parts: Any) -> str:
    """Return the hash of lists of texts and numbers."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@final
@frozen
class Code:
    """The code of a function, and of everything it uses.

    Attributes
    ----------
    hash : str
        Its fingerprint; "" if it cannot be compared.
    unknown : str
        The part that cannot be compared; "" without one.
    names : frozenset of str
        Names of the attributes that it uses, of any object.
    """

    hash: str
    unknown: str
    names: frozenset[str]


def code_of(
    function: Any,
    owner: type = object,
    models: Iterable[type] = (),
    used: Iterable[Any] = (),
    known: Callable[[Any], str | None] | None = None,
) -> Code:
    """Return the code of a function, and of other functions and classes.

    Parameters
    ----------
    function : callable
        Or another object, compared by its class and its pickled content.
    owner : type
        Class on which its methods are looked up.
    models : iterable of type
        Classes of subsystems. Their packages are searched even if they are installed.
    used : iterable of type and function
    known : callable, optional
        Returns the text of an object that is compared elsewhere, None for any other object.
    """
    found = _Used(owner, models, known)
    texts = [found.text_of(value) for value in (function, *sorted(used, key=_name_of))]
    unknown = found.unknown or ("" if all(texts) else found._culprit or short_repr(function))
    hashed = "" if unknown else hash_of([texts, found.hash])
    return Code(hashed, unknown, frozenset(found.names))


def code_hash(function: Any, owner: type) -> str:
    """Return a fingerprint of a function that a class declares; "" if it cannot be compared.

    For a method of a subsystem, only the function counts: attributes are compared elsewhere.
    """
    found = _inner(function)
    return code_of(getattr(found, "__func__", found), owner, [owner]).hash


@final
class _Used:
    """Everything that a function uses, by labels.

    The label of a function or a class is its name, with a number if several have that name. The
    text of its content is stored by its label, and refers to other functions by their labels. So
    an exchange of two functions changes the fingerprint, and a function may call itself.

    Parameters
    ----------
    owner : type
        Class on which methods are looked up.
    models : iterable of type
        Classes of subsystems. Their packages are searched even if they are installed.
    known : callable, optional
    """

    def __init__(
        self,
        owner: type,
        models: Iterable[type],
        known: Callable[[Any], str | None] | None = None,
    ) -> None:
        self._owner = owner
        self._known = known
        self._packages = {_top(_module_of(cls)) for cls in models} - {OWN}
        self.names: set[str] = set()  # of attributes
        self._labels: dict[int, str] = {}  # by identity
        self._labelled: list[Any] = []  # kept alive, so that identities stay unique
        self._counts: Counter[str] = Counter()
        self._texts: dict[str, str] = {}
        self._culprit = ""

    @property
    def hash(self) -> str:
        """The fingerprint of everything so far."""
        return hash_of([sys.version_info[:2], sorted(self._texts.items())])

    @property
    def unknown(self) -> str:
        """Name of something that cannot be compared, and why; "" if everything can."""
        found = [label for label, text in self._texts.items() if not text]
        return ", by ".join(part for part in (found[-1], self._culprit) if part) if found else ""

    def _label(self, value: Any) -> str:
        """Return a new label of a function or a class."""
        name = _name_of(value)
        self._counts[name] += 1
        label = name if self._counts[name] == 1 else f"{name} {self._counts[name]}"
        self._labels[id(value)] = label
        self._labelled.append(value)
        return label

    # ------------------------------------------------------------------ values

    def text_of(self, value: Any) -> str:
        """Return the text of an object that a function uses, and note its code; "" if unknown."""
        text = None if self._known is None else self._known(value)
        if text is not None:
            return text
        value = _inner(value)
        if isinstance(value, FunctionType):
            return self._named(_name_of(value), _module_of(value), value, self._add_function)
        if isinstance(value, type):
            return self._named(_name_of(value), _module_of(value), value, self._add_class)
        if isinstance(value, ModuleType):
            return self._named(value.__name__, value.__name__)
        if isinstance(value, partial):
            return self._all("partial", [value.func, value.args, value.keywords])
        if isinstance(value, MethodType):
            return self._all("method", [value.__func__, value.__self__])
        if isinstance(value, property):
            return self._all("property", [value.fget, value.fset, value.fdel])
        if isinstance(value, MappingProxyType):
            return self._all("mapping", [list(value), *value.values()])
        if isinstance(value, re.Pattern):
            return repr(("pattern", value.pattern, value.flags))
        if isinstance(value, Logger):
            return f"logger {value.name}"
        if isinstance(value, GenericAlias | UnionType) or type(value).__module__ == "typing":
            return repr(value)
        if _is_declaration(value):
            functions = [v for v in vars(value).values() if isinstance(_inner(v), FunctionType)]
            return self._all(f"{type(value).__name__} {value.name}", functions)
        if self._is_installed_by_name(value):
            return self._named(f"{value.__module__}.{value.__name__}", value.__module__)
        if isinstance(value, list | tuple):
            return self._all(type(value).__name__, value)
        if isinstance(value, dict):
            return self._all("dict", [*value.keys(), *value.values()])
        try:
            blobs: Blobs = []
            content = encode(value, "", blobs)
        except UnsavableValueError:
            return self._add_object(value)
        for used in classes_in(content):
            self.text_of(used)
        return repr((content, blobs))

    def _add_object(self, value: Any) -> str:
        """Note the class of an object and its pickled content; return its label."""
        if id(value) in self._labels:
            return self._labels[id(value)]
        try:
            reduced: Any = value.__reduce_ex__(4)
        except Exception:  # an open file, a lock, or an error of the object
            self._culprit = self._culprit or f"an object of type {_name_of(value)}"
            return ""
        label = self._label(value)
        self._texts[label] = "in work"
        parts = [reduced]
        if not isinstance(reduced, str):
            *parts, items, pairs = (*reduced, None, None, None)[:5]
            parts += [list(items or ()), list(pairs or ())]
        self._texts[label] = self._all("object", [type(value), *parts])
        return label

    def _all(self, kind: str, parts: Iterable[Any]) -> str:
        """Return the text of an object that consists of parts."""
        texts = [self.text_of(part) for part in parts]
        return repr([kind, *texts]) if all(texts) else ""

    def _named(
        self, name: str, module: str, value: Any = None, add: Callable[[Any], str] | None = None
    ) -> str:
        """Return a name, and note its code; if it is installed, return name and version."""
        if self._is_followed(module):
            self._add_source(module)
            return name if add is None else add(value)
        release = _version_of(_top(module))
        return f"{name} {release}" if release else ""

    def _is_followed(self, module: str) -> bool:
        """Return True for modules of the model, and for all modules that are not installed."""
        top = _top(module)
        if top == MAIN or top in self._packages:  # an installed program may run code as its own
            return True
        if top == OWN or top in sys.stdlib_module_names:
            return False
        file = getattr(sys.modules.get(module), "__file__", None)
        return file is None or not file.startswith(INSTALLED)

    def _is_installed_by_name(self, value: Any) -> bool:
        """Return True for an object of an installed module, found by its name, as a ufunc."""
        module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if not isinstance(module, str) or not isinstance(name, str) or self._is_followed(module):
            return False
        return getattr(sys.modules.get(module), name, None) is value

    # ------------------------------------------------------------------ code

    def _add_source(self, module: str) -> None:
        """Note the source of a module, if it has a file."""
        file = getattr(sys.modules.get(module), "__file__", None)
        if file is not None and f"source of {module}" not in self._texts:
            with suppress(OSError):  # it is typed in, or in an archive
                status = Path(file).stat()
                text = _hash_of_file(file, status.st_mtime_ns, status.st_size)
                self._texts[f"source of {module}"] = text

    def _add_function(self, function: FunctionType) -> str:
        """Note a function, and return its label."""
        if id(function) in self._labels:
            return self._labels[id(function)]
        label = self._label(function)
        self._texts[label] = "in work"
        attributes = {k: v for k, v in sorted(vars(function).items()) if k != "__wrapped__"}
        kept = [
            [_content(cell) for cell in function.__closure__ or ()],
            function.__defaults__,
            function.__kwdefaults__,
            attributes,
        ]
        inside = self._all("kept", kept)
        self._texts[label] = hash_of([_text_of_code(function.__code__), inside]) if inside else ""
        for meaning, value in self._meanings(function):
            self._texts[f"{label}: {meaning}"] = self.text_of(value)
        return label

    def _add_class(self, cls: type) -> str:
        """Note a class, its bases and its metaclass, and return their labels."""
        metaclass: type = type(cls)
        return " ".join(self._base(base) for base in (*cls.__mro__, *metaclass.__mro__))

    def _base(self, cls: type) -> str:
        if id(cls) in self._labels:
            return self._labels[id(cls)]
        if not self._is_followed(_module_of(cls)):
            return self._named(_name_of(cls), _module_of(cls)) or _name_of(cls)
        label = self._label(cls)
        self._add_source(_module_of(cls))
        written: frozenset[str] = frozenset()
        if attrs.has(cls) or is_dataclass(cls):
            written = GENERATED
        elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
            written = OF_TUPLES
        is_enum = issubclass(cls, Enum)
        for key, value in vars(cls).items():
            is_code = isinstance(_inner(value), FunctionType | property)
            is_internal = key.startswith("_" if is_enum else "__") and not is_code
            if is_internal or _is_made(value) or key in written or key in ANNOTATES:
                continue
            is_member = isinstance(value, Enum) and is_enum
            self._texts[f"{label}: {key}"] = self.text_of(value.value if is_member else value)
        return label

    def _meanings(self, function: FunctionType) -> Iterator[tuple[str, Any]]:
        """Yield possible meanings of the names in a function: on the class, and in modules."""
        names = _names(function.__code__)
        self.names |= names.attributes
        for cls in self._owner.__mro__:
            for name in sorted(names.attributes & vars(cls).keys()):
                if not _is_made(vars(cls)[name]):
                    yield f"{cls.__qualname__}.{name}", vars(cls)[name]
        variables = function.__globals__
        known = sorted(names.variables & variables.keys())
        found: dict[str, Any] = {f"global {name}": variables[name] for name in known}
        for imported in sorted(names.imported):
            found |= _imported(imported, str(variables.get("__package__") or ""))
        seen: set[str] = set()
        while found:
            meaning = next(iter(found))
            value = found.pop(meaning)
            yield meaning, value
            if isinstance(value, ModuleType) and value.__name__ not in seen:
                seen.add(value.__name__)
                if self._is_followed(value.__name__):
                    for name in sorted(names.attributes & vars(value).keys()):
                        found[f"{value.__name__}.{name}"] = vars(value)[name]


def _inner(value: Any) -> Any:
    """Return the function in a static method, a class method, or a result of `lru_cache`."""
    while not isinstance(value, type | FunctionType):
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        elif isinstance(value, cached_property):
            value = value.func
        elif isinstance(value, CACHED) or _top(type(value).__module__) == OWN:
            inside = getattr(value, "__wrapped__", value)
            if inside is value:
                return value
            value = inside
        else:
            return value
    return value


def _content(cell: Any) -> Any:
    """Return the content of a closure; a text if the variable does not have a value yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return "no value yet"


def _is_declaration(value: Any) -> bool:
    """Return True for an item that a Subsystem declares."""
    cls = type(value)
    return _top(cls.__module__) == OWN and hasattr(cls, "__set_name__")


def _is_made(value: Any) -> bool:
    """Return True for members that Python adds to a class, such as slots and tuple fields."""
    return type(value).__name__ in MADE and not isinstance(value, type)


def _module_of(value: Any) -> str:
    """Return the name of the module of a function or class; a script has one in all processes."""
    return MAIN if value.__module__ == "__mp_main__" else str(value.__module__)


def _name_of(value: Any) -> str:
    """Return module and name of a function or class, or of the class of any other object."""
    named = value if isinstance(value, type | FunctionType) else type(value)
    return f"{_module_of(named)}.{named.__qualname__}"


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


@cache
def _version_of(package: str) -> str:
    """Return the version of a package that is installed; "" if it has none."""
    if package in sys.stdlib_module_names:
        return "of Python"
    try:
        return version(package)
    except PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", ""))


@lru_cache(maxsize=1000)
def _hash_of_file(path: str, _changed: int, _size: int) -> str:
    """Return the hash of a file, which is read again if it has changed."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _imported(imported: "Import", package: str) -> dict[str, Any]:
    """Return the results of an import within a function: modules, and names taken from them."""
    try:
        whole = resolve_name("." * imported.level + imported.name, package)
        module = import_module(whole)
    except Exception:  # a call of the function fails, too
        return {f"module {imported.name}": "cannot be imported"}
    parents = whole.split(".")
    found: dict[str, Any] = {
        f"module {name}": sys.modules[name]
        for name in (".".join(parents[: n + 1]) for n in range(len(parents)))
        if name in sys.modules
    }
    for name in imported.taken:
        if name != "*" and not hasattr(module, name):
            with suppress(ImportError):
                import_module(f"{whole}.{name}")
        found[f"{whole}.{name}"] = getattr(module, name, "not there")
    return found


def classes_in(content: Any) -> Iterator[Any]:
    """Yield the classes of encoded values; also the functions of registered classes."""
    if isinstance(content, dict):
        for kind, inside in content.items():
            if kind in ("object", "enum"):
                yield found_in(inside[0], inside[1])
            elif kind == "registered":
                yield from registered_as(inside[0])
            yield from classes_in(inside)
    elif isinstance(content, list):
        for part in content:
            yield from classes_in(part)


@frozen(order=True)
class Import:
    """An import within a function: ``from ..name import taken``; the level counts the dots."""

    name: str
    level: int
    taken: tuple[str, ...]


@frozen
class _Names:
    """The names that code uses: variables of its module, attributes of anything, and imports."""

    variables: set[str] = field(factory=set)
    attributes: set[str] = field(factory=set)
    imported: set[Import] = field(factory=set)


def _names(code: CodeType) -> _Names:
    """Return the names that code uses, and code within it."""
    names = _Names()
    kinds = {"LOAD_GLOBAL": names.variables, "LOAD_NAME": names.variables}
    before: list[Any] = [0, None]  # arguments of the last two instructions
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            names.imported.add(Import(instruction.argval, before[0] or 0, before[1] or ()))
        elif instruction.opcode in dis.hasname:
            kinds.get(instruction.opname, names.attributes).add(instruction.argval)
        if instruction.opname != "EXTENDED_ARG":
            before = [before[1], instruction.argval]
    is_by_text = bool((names.variables | names.attributes) & GETTERS)
    for constant in code.co_consts:
        if is_by_text and isinstance(constant, str):
            names.attributes.update(constant.split("."))
        if isinstance(constant, CodeType):
            inner = _names(constant)
            names.variables.update(inner.variables)
            names.attributes.update(inner.attributes)
            names.imported.update(inner.imported)
    return names


def _text_of_code(code: CodeType) -> list[Any]:
    """Return the instructions of a function, without line numbers."""
    constants = [
        _text_of_code(c) if isinstance(c, CodeType) else _constant(c) for c in code.co_consts
    ]
    counts = [code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount]
    names = [code.co_names, code.co_varnames, code.co_freevars]
    return [code.co_code.hex(), code.co_exceptiontable.hex(), counts, names, constants]


def _constant(value: object) -> str:
    """Return the text of a constant; sets are sorted."""
    if isinstance(value, frozenset):
        return f"frozenset {sorted(map(_constant, value))}"
    if isinstance(value, tuple):
        return f"tuple {[_constant(part) for part in value]}"
    return f"{type(value).__name__} {value!r}"
