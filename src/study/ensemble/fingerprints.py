"""Fingerprints of a study: whether a folder has results of the same one.

::

    the function        its code, its defaults, what it closes over, and what its global names mean
    a Subsystem, ...    of this System: the path, since `code_of_model` has the content
    any other object    its class, and what pickle would take

Something that cannot be compared, such as an open file, is named: the study is not resumed then.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from hashlib import sha256
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, final

import attrs
from attrs import frozen

from stagecache.errors import UnsavableValueError, short_repr
from stagecache.files.values import Blobs, encode
from stagecache.inspection.node_paths import NodePaths
from stagecache.sharing.code import GENERATED, INSTALLED, code_hash, code_of, hash_of
from stagecache.state.handles import AbstractHandle
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.saved.cache import model_code
from stagecache.system.saved.fingerprints import attributes_of, layout_hash, model_hash
from stagecache.system.saved.snapshot import snapshot

OWN: Final = "stagecache"
SHORT: Final = 8
"""Bytes of the hash of one member."""

LEFT_OUT: Final = frozenset({"_abc_impl"})
"""Attributes of classes that say nothing about what an instance does."""


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
    found = _Texts(state)
    return found.fingerprint(found.text_of(study, "the function of the study"))


def layout_of(state: State) -> str:
    """Return a fingerprint of the variables and entries of a State."""
    contents = state._contents
    return layout_hash(contents, NodePaths(contents))


def code_of_model(state: State) -> Fingerprint:
    """Return the fingerprint of all attributes, hooks and computations of a model."""
    system = state.system
    unknown = "" if model_hash(system) else _unknown_attribute(system)
    return Fingerprint(model_code(state), unknown or _unknown_entry(state))


def _unknown_attribute(system: System) -> str:
    """Return what it is in a model that cannot be compared."""
    own, parts = system.__reduce__()[2]  # as `model_hash` takes them
    owners = ["the System", *[subsystem.name for subsystem in system.subsystems]]
    for owner, attributes in zip(owners, (own, *parts), strict=True):
        for name, value in attributes.items():
            if attributes_of(system, [{name: value}]) is None:
                return f"{owner}.{name}"
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
    """Return the fingerprint of the values of a State."""
    found = snapshot(state)
    texts = _Texts(state)
    digest = sha256()
    for path, value in sorted({**found.values, "time": found.time}.items(), key=lambda x: x[0]):
        try:
            digest.update(_bytes_of([path], [value], path))
        except UnsavableValueError:
            digest.update(hash_of([path, texts.text_of(value, path)]).encode())
    return texts.fingerprint(digest.hexdigest())


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


# ---------------------------------------------------------------------- objects


@final
class _Texts:
    """Texts of objects that a study uses: of all that decides what it computes.

    `sharing.code` compares functions, classes and plain values. What it cannot compare is taken
    apart here, until it can: a function that uses a Subsystem by a global name, an object that
    refers to one.

    Parameters
    ----------
    state : State
        Objects of its System are known by their paths.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._system = state.system
        self._models = [type(subsystem) for subsystem in self._system.subsystems]
        self._bases = {base for model in self._models for base in model.__mro__}
        self._paths = NodePaths(state._contents).of
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no other object gets the identity of one of them
        self._unknown: list[str] = []

    def fingerprint(self, text: Any) -> Fingerprint:
        """Return the fingerprint of a text, with what was unknown on the way."""
        return Fingerprint(hash_of(text), self._unknown[0] if self._unknown else "")

    def text_of(self, value: Any, where: str) -> Any:
        """Return the text of an object, as lists of texts. `where` is its name, for errors."""
        of_model = self._text_of_model(value)
        if of_model is not None:
            return of_model
        try:
            code = code_of(value, models=self._models)
            if code.hash:
                return code.hash
            if id(value) in self._seen:
                return ["again", self._seen[id(value)]]
            self._seen[id(value)] = len(self._kept)
            self._kept.append(value)
            return self._taken_apart(value, where)
        except RecursionError:
            return self._not_known(value, f"{where}, which is nested too deeply,")

    def _not_known(self, value: object, where: str) -> list[str]:
        cls = type(value)
        self._unknown.append(f"{where} of type {cls.__module__}.{cls.__qualname__}")
        return ["unknown", cls.__module__, cls.__qualname__]

    def _text_of_model(self, value: Any) -> Any:
        """Return the text of a part of the System of the study; None for all else."""
        if value is self._system:
            return "the System"
        if isinstance(value, Subsystem) and any(value is s for s in self._system.subsystems):
            return ["subsystem", value.name]
        if isinstance(value, type) and value in self._bases and value is not object:
            return ["model", value.__module__, value.__qualname__]
        keys = self._state._contents.realization.store.keys
        is_handle = isinstance(value, AbstractHandle) and value._node in self._paths
        if is_handle and keys[value._node] is value:
            return ["handle", self._paths[value._node]]
        return None

    def _taken_apart(self, value: Any, where: str) -> Any:
        if isinstance(value, System):
            other = value.new_state()
            code = code_of_model(other)
            if code.unknown:
                self._unknown.append(f"{where}: {code.unknown}")
            return ["another System", code.hash, layout_of(other)]
        wrapped = getattr(value, "__wrapped__", None)  # of `lru_cache`, which pickle knows by name
        if wrapped is not None and not isinstance(value, FunctionType | type):
            return ["wrapped", type(value).__qualname__, self.text_of(wrapped, where)]
        if isinstance(value, FunctionType):
            return self._text_of_function(value, where)
        if isinstance(value, MethodType):
            parts = (value.__func__, value.__self__)
            return ["method", *[self.text_of(part, where) for part in parts]]
        if isinstance(value, type):
            return self._text_of_class(value, where)
        if isinstance(value, ModuleType):
            return ["module", value.__name__, str(getattr(value, "__version__", ""))]
        if type(value) in (list, tuple):
            inside = [self.text_of(part, f"{where}[{n}]") for n, part in enumerate(value)]
            return [type(value).__name__, *inside]
        if type(value) in (set, frozenset):
            return ["set", *sorted(hash_of(self.text_of(part, where)) for part in value)]
        if type(value) is dict:
            return ["dict", *self._texts_of_items(value.items(), where)]
        return self._text_of_object(value, where)

    def _texts_of_items(self, items: Any, where: str) -> Iterator[Any]:
        for key, inside in items:
            name = f"{where}[{short_repr(key)}]"
            yield [self.text_of(key, name), self.text_of(inside, name)]

    def _text_of_object(self, value: Any, where: str) -> Any:
        """Return the text of an object as pickle takes it; that of its attributes otherwise."""
        cls = self.text_of(type(value), f"the class of {where}")
        try:
            reduced: Any = value.__reduce_ex__(4)
        except Exception:  # whatever an object does that cannot be pickled
            reduced = None
        if isinstance(reduced, str):
            return ["named", cls, reduced]
        if isinstance(reduced, tuple):
            function, arguments, *others = reduced
            state = others[0] if others else None
            content = [self.text_of(function, where), self.text_of(tuple(arguments), where)]
            parts = state if isinstance(state, tuple) else (state,)
            for part in parts:
                if type(part) is dict:
                    content += [
                        [str(name), self.text_of(inside, f"{where}.{name}")]
                        for name, inside in part.items()
                    ]
                else:
                    content.append(self.text_of(part, where))
            items = [self.text_of(part, where) for part in (others[1:2] or [None])[0] or ()]
            pairs = list(self._texts_of_items((others[2:3] or [None])[0] or (), where))
            return ["object", cls, content, items, pairs]
        if hasattr(value, "__dict__"):
            attributes = [
                [name, self.text_of(v, f"{where}.{name}")] for name, v in vars(value).items()
            ]
            return ["object", cls, attributes]
        return self._not_known(value, where)

    def _text_of_class(self, cls: type, where: str) -> Any:
        """Return the text of a class that uses what only this module can compare."""
        content = []
        for base in cls.__mro__:
            if base is not cls:
                content.append(self.text_of(base, f"{where}, {base.__qualname__}"))
                continue
            is_written = attrs.has(base) or is_dataclass(base)
            for name, value in vars(base).items():
                inner = _function_in(value)
                if is_written and name in GENERATED:
                    continue
                if isinstance(inner, FunctionType):
                    content.append([name, self.text_of(inner, f"{where}.{name}")])
                elif not (name.startswith("__") or name in LEFT_OUT or _is_slot(value)):
                    content.append([name, self.text_of(value, f"{where}.{name}")])
        return ["class", cls.__module__, cls.__qualname__, content]

    def _text_of_function(self, function: FunctionType, where: str) -> Any:
        """Return the text of a function that uses what only this module can compare."""
        inside = []
        for cell, name in zip(
            function.__closure__ or (), function.__code__.co_freevars, strict=True
        ):
            try:
                content = cell.cell_contents
            except ValueError:  # it is not assigned yet
                continue
            inside.append([name, self.text_of(content, f"{where}: {name}")])
        for n, default in enumerate(function.__defaults__ or ()):
            inside.append([n, self.text_of(default, f"{where}: its default {n}")])
        for name, default in (function.__kwdefaults__ or {}).items():
            inside.append([name, self.text_of(default, f"{where}: {name}")])
        names = sorted(_names(function.__code__))
        for name in names:
            if name in function.__globals__:
                content = function.__globals__[name]
                inside.append([name, self.text_of(content, f"{where}: {name}")])
                inside += self._texts_of_module(content, names, f"{where}: {name}")
        return ["function", function.__qualname__, _text_of_code(function.__code__), inside]

    def _texts_of_module(self, module: Any, names: Sequence[str], where: str) -> list[Any]:
        """Return the texts of what a function uses of a module, unless that is installed."""
        file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
        top = getattr(module, "__name__", "").partition(".")[0]
        if file is None or file.startswith(INSTALLED) or top == OWN:
            return []
        return [
            [name, self.text_of(vars(module)[name], f"{where}.{name}")]
            for name in names
            if name in vars(module)
        ]


def _function_in(value: Any) -> Any:
    """Return the function in a method of a class, or in a property."""
    return getattr(value, "fget", None) or getattr(value, "__func__", value)


def _is_slot(value: object) -> bool:
    return type(value).__name__ in ("member_descriptor", "getset_descriptor")


def _names(code: CodeType) -> set[str]:
    """Return the names that code uses, of variables and of attributes, and code within it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_names}.union(*map(_names, inner))


def _text_of_code(code: CodeType) -> list[Any]:
    """Return what code does, without the lines where it stands."""
    counts = [code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount]
    names = [code.co_names, code.co_varnames, code.co_freevars]
    constants = [_text_of_constant(constant) for constant in code.co_consts]
    return [code.co_code.hex(), code.co_exceptiontable.hex(), counts, names, constants]


def _text_of_constant(value: object) -> Any:
    if isinstance(value, CodeType):
        return _text_of_code(value)
    if isinstance(value, frozenset):  # in another order in each process
        return ["frozenset", *sorted(map(repr, value))]
    return f"{type(value).__name__} {value!r}"
