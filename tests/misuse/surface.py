"""Public callables, with their parameters and the errors that their docstrings name.

The names come from the tables of `docs/reference/api`, and their members from the extension that
makes their pages. Parameters are read from the sources: compiled functions have no annotations.
"""

import ast
import enum
import importlib
import inspect
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

from attrs import frozen

ROOT: Final = Path(__file__).parents[2]
SPECIAL: Final = ("__call__", "__getitem__", "__setitem__")
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@frozen
class Parameter:
    """A parameter of a public callable: its name, its annotation as text, and its kind."""

    name: str
    annotation: str
    is_keyword_only: bool = False
    is_variadic: bool = False


@frozen
class PublicCallable:
    """A public function, constructor, method, setter of a property, or access to items.

    `name` is as in the documentation, from its class: "Graph.variable", "State.q =", "State[...]".
    """

    name: str
    parameters: tuple[Parameter, ...]
    raises: frozenset[str]


def public_callables() -> dict[str, PublicCallable]:
    """Return all public callables by name; a method once, by the first class that shows it."""
    extension = _extension()
    found: dict[str, PublicCallable] = {}
    seen: set[tuple[str, str, str]] = set()
    for full_name, options in extension.member_options().items():
        module, _, name = full_name.rpartition(".")
        cls = getattr(importlib.import_module(module), name)
        if issubclass(cls, enum.Enum) or cls.__name__.startswith("Abstract"):
            constructors = []
        else:
            constructors = ["__init__"]
        for member in [*constructors, *_members(cls, options)]:
            owner = _owner(cls, member)
            key = (owner.__module__, owner.__qualname__, member)
            if member != "__init__" and key in seen:
                continue
            seen.add(key)
            made = _of_member(cls, owner, member)
            if made is not None:
                found[made.name] = made
    for full_name in extension.documented_names():
        module, _, name = full_name.rpartition(".")
        function = getattr(importlib.import_module(module), name)
        if not isinstance(function, type):
            found[name] = _of_definition(name, _module_tree(function.__module__), name, False)
    for name, function in vars(importlib.import_module("stagecache.simbody")).items():
        is_own = getattr(function, "__module__", "") == "stagecache.simbody"
        if is_own and inspect.isroutine(function) and not name.startswith("_"):
            found[f"simbody.{name}"] = _of_definition(
                f"simbody.{name}", _module_tree("stagecache.simbody"), name, False
            )
    return found


@cache
def _extension() -> ModuleType:
    folder = str(ROOT / "docs" / "_extensions")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("api")
    finally:
        sys.path.remove(folder)


def _members(cls: type, options: list[str]) -> list[str]:
    """Return the names of the members that the page of a class shows, setters with " ="."""
    text = "\n".join(options)
    if ":no-members:" in text:
        return [name for name in SPECIAL if name in vars(cls)]
    chosen = re.search(r"^:members: (.+)$", text, re.M)
    hidden = re.search(r"^:exclude-members: (.+)$", text, re.M)
    everyone = ":inherited-members:" in text
    names = (
        chosen[1].split(", ")
        if chosen
        else [
            name
            for name in (dir(cls) if everyone else vars(cls))
            if not name.startswith("_") or name in SPECIAL
        ]
    )
    members = []
    for name in names:
        if (hidden and name in hidden[1]) or _owner(cls, name).__module__.partition(".")[0] != (
            "stagecache"
        ):
            continue
        static = inspect.getattr_static(cls, name)
        if isinstance(static, property) or type(static).__name__ == "getset_descriptor":
            members.append(f"{name} =")
        elif callable(static) or isinstance(static, classmethod | staticmethod):
            members.append(name)
    return members


def _owner(cls: type, member: str) -> type:
    attribute = member.removesuffix(" =")
    return next((c for c in cls.__mro__ if attribute in vars(c)), cls)


def _of_member(cls: type, owner: type, member: str) -> PublicCallable | None:
    shown = {
        "__init__": cls.__name__,
        "__call__": f"{cls.__name__}(...)",
        "__getitem__": f"{cls.__name__}[...]",
        "__setitem__": f"{cls.__name__}[...] =",
    }.get(member, f"{cls.__name__}.{member}")
    if owner.__module__.partition(".")[0] != "stagecache":
        return PublicCallable(shown, (), frozenset()) if member == "__init__" else None
    tree = _class_tree(owner)
    if tree is None or not any(_is_definition(node, member) for node in tree.body):
        return _of_fields(shown, cls) if member == "__init__" else None
    made = _of_definition(shown, tree, member, True)
    if member == "__init__":
        whole = _class_tree(cls)
        raises = _raises(ast.get_docstring(whole) or "") if whole else frozenset()
        return PublicCallable(shown, made.parameters, made.raises | raises)
    return made


def _is_definition(node: ast.AST, member: str) -> bool:
    if not isinstance(node, Definition) or node.name != member.removesuffix(" ="):
        return False
    return not member.endswith(" =") or any(
        isinstance(d, ast.Attribute) and d.attr == "setter" for d in node.decorator_list
    )


def _of_fields(shown: str, cls: type) -> PublicCallable:
    """Return the constructor of a class of attrs; its fields are its parameters."""
    parameters = tuple(
        Parameter(
            p.name,
            str(p.annotation).removeprefix("<class '").removesuffix("'>"),
            p.kind is p.KEYWORD_ONLY,
        )
        for p in inspect.signature(cls).parameters.values()
    )
    return PublicCallable(shown, parameters, _raises(inspect.getdoc(cls) or ""))


def _of_definition(
    shown: str, tree: ast.Module | ast.ClassDef, member: str, is_method: bool
) -> PublicCallable:
    definitions = [node for node in tree.body if _is_definition(node, member)]
    definition = definitions[-1]
    assert isinstance(definition, Definition)
    given = definition.args
    names = [*given.posonlyargs, *given.args]
    decorators = {ast.unparse(d) for d in definition.decorator_list}
    if is_method and "staticmethod" not in decorators:
        names = names[1:]
    parameters = [Parameter(a.arg, _text(a.annotation)) for a in names]
    if given.vararg:
        parameters.append(
            Parameter(given.vararg.arg, _text(given.vararg.annotation), is_variadic=True)
        )
    parameters += [Parameter(a.arg, _text(a.annotation), True) for a in given.kwonlyargs]
    docstrings = [
        ast.get_docstring(node) or ""
        for node in tree.body
        if isinstance(node, Definition) and node.name == member.removesuffix(" =")
    ]
    return PublicCallable(shown, tuple(parameters), frozenset().union(*map(_raises, docstrings)))


def _text(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation).replace("'", "").replace('"', "")


@cache
def _module_tree(module: str) -> ast.Module:
    below = module.split(".")[1:]
    path = ROOT / "src" / "/".join(below)
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def _class_tree(cls: type) -> ast.ClassDef | None:
    for node in _module_tree(cls.__module__).body:
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            return node
    return None


def _raises(docstring: str) -> frozenset[str]:
    """Return the names of errors that a docstring has in its section Raises."""
    section = re.search(r"^Raises\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", docstring, re.M | re.S)
    return frozenset(re.findall(r"\w+(?:Error|Failed)\b", section[1])) if section else frozenset()
