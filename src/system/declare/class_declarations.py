"""The declarations of a class: inherited and replaced ones, and their checks."""

from typing import Any, Final

from stagecache.errors import DeclarationError
from stagecache.graph.declaration import check_returns
from stagecache.state.stage import Stage
from stagecache.system.declare.declaration import AbstractDeclaration
from stagecache.system.declare.enabling import check_enabling_in

HOOKS: Final = frozenset(
    {"calc_decorative_geometry_and_append", *(f"realize_{stage.name.lower()}" for stage in Stage)}
)


def declarations_of(cls: type, root: type) -> dict[str, AbstractDeclaration[Any]]:
    """Return the declarations of a class by name, in order: inherited ones come first.

    Parameters
    ----------
    cls : type
    root : type
        Subsystem, whose attributes must not be hidden.

    Raises
    ------
    DeclarationError
        A name hides an attribute of Subsystem, or an undeclared attribute hides a declared one.
    WrongTypeError
        A hook is a coroutine or generator function, which would do nothing when it is called.
    """
    for name, value in vars(cls).items():
        if name in HOOKS and callable(value):
            check_returns(value, f"{cls.__name__}.{name}")
    found: dict[str, AbstractDeclaration[Any]] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, AbstractDeclaration):
                if base is cls:
                    value.owner = cls  # attrs makes a class twice
                _check_declaration(cls, root, name, value)
                found[name] = value
                continue
            handled = getattr(value, "_handles", None)
            if isinstance(handled, AbstractDeclaration):
                _check_function_name(cls, name, handled, "handler")
            if name in found:
                raise DeclarationError(
                    f"{cls.__name__}.{name}: hides a declared item by an undeclared one",
                    f"a declaration, as {found[name]} is one",
                    f"an object of type {type(value).__name__}",
                    "declare it too, for instance with @cached; or give it another name",
                )
    _check_roles(cls, found)
    for declared in found.values():
        check_enabling_in(cls, declared, found)
    return found | _companions_of(cls, found)


def _companions_of(
    cls: type, found: dict[str, AbstractDeclaration[Any]]
) -> dict[str, AbstractDeclaration[Any]]:
    """Return the companions of the declarations of a class."""
    companions = {}
    for declared in found.values():
        for companion in declared.companions(found):
            companion.owner = cls
            companions[companion.name] = companion
    return companions


def _check_roles(cls: type, found: dict[str, AbstractDeclaration[Any]]) -> None:
    """Refuse a declaration whose owner is missing, or already has a declaration in its role."""
    taken: dict[tuple[str, str], str] = {}
    for name, declared in found.items():
        of, role = declared.of, declared.role
        if of is None:
            continue
        _check_function_name(cls, name, of, role)
        if of.name not in found or not declared.fits(found[of.name]):
            raise DeclarationError(
                f"{cls.__name__}.{name}: is the {role} of something that has none",
                f"a declaration {of.name!r} that can have one, as {of} can",
                f"{found.get(of.name, 'none')}",
                f"declare {of.name!r} as it was, or declare {name!r} anew as something else",
            )
        other = taken.setdefault((of.name, role), name)
        if other != name:
            raise DeclarationError(
                f"{cls.__name__}.{name}: is the {role} of {of.name!r}, as {other!r} is",
                "one function for each",
                f"{other!r} and {name!r}",
                f"call it {other!r} too: then it replaces that one",
            )


def _check_function_name(cls: type, name: str, of: AbstractDeclaration[Any], role: str) -> None:
    if not of.name:
        raise DeclarationError(
            f"{cls.__name__}.{name}: its {role} has the same name, and so hides it",
            "a name of its own for the decorated function",
            name,
            f"call the function {name}_{role}, for instance",
        )


def _check_declaration(
    cls: type, root: type, name: str, declared: AbstractDeclaration[Any]
) -> None:
    if hasattr(root, name):
        raise DeclarationError(
            f"{cls.__name__}.{name}: hides what every Subsystem has",
            "a name that is not taken",
            name,
            f"give it another name, for instance {name}_",
        )
    if declared.name != name:
        raise DeclarationError(
            f"{cls.__name__}.{name}: is declared under two names",
            "one declaration for each name",
            f"the declaration of {declared.name}",
            "write the declaration again",
        )
