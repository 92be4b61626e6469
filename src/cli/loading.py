"""Find the System that is named on a command line. What its module prints goes to standard error.

::

    path/to/model.py:system           a file, and what is to be taken from it
    package.module:rig.system         a module, and an attribute of an attribute
    path/to/model.py                  the only one there
"""

import inspect
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Final, get_type_hints

from stagecache.checks import did_you_mean, wrong_type
from stagecache.errors import ModelError, StagecacheError, WrongTypeError
from stagecache.graph.declaration import check_returns
from stagecache.system import System

MEND_IT: Final = "mend that, or run in the environment for which it was written"
A_SYSTEM: Final = "a System, or a function that returns one"
A_FUNCTION: Final = "a function of a State"
WRITE_ONE: Final = "write a function that takes a State, and does with it the work to examine"
STAGECACHE: Final = f"{Path(__file__).parents[1]}{os.sep}"


def load_system(model: str) -> System:
    """Import a module or a file, and take a System from it, or make one.

    As for a script, the folder of a file, or the current one for a module, is put first in
    `sys.path`, and stays there. A file in a package is imported as a module of the package.

    Parameters
    ----------
    model : str
        `module:name` or `path/to/file.py:name`. The name of a System, or of a function
        without arguments that returns one. Without a name, the only System of the module is taken,
        or else its only function with a System as annotated result, or only subclass of System.

    Raises
    ------
    ModelError
        The module or file does not exist, or cannot be imported; it does not have the name, or has
        several Systems and a name is missing; or the function raises.
    WrongTypeError
        The name does not stand for a System, or for a function that returns one.
    """
    place, name = _split(model)
    module = _module(place)
    if not name:
        name = _only_name(module, place)
    return _system_of(_attribute(module, place, name, A_SYSTEM), f"{place}:{name}")


def load_function(model: str, name: str, *, or_with: str = "") -> Callable[..., Any]:
    """Take a function from the module or file of a model, or from another one.

    Parameters
    ----------
    model : str
        Same as for `load_system`.
    name : str
        Name of the function in the module of the model; or `module:name`, or
        `path/to/file.py:name`.
    or_with : str
        A second argument that it may take beside the State, such as "a Member".

    Raises
    ------
    ModelError
        The module, file or name does not exist.
    WrongTypeError
        The name does not stand for a function that takes a State.
    """
    place, attribute = _split(name)
    if not attribute:
        place, attribute = _split(model)[0], name
    found = _attribute(_module(place), place, attribute, A_FUNCTION)
    path = f"{place}:{attribute}"
    if not callable(found):
        raise wrong_type(found, f"{path}: cannot be called", A_FUNCTION, WRITE_ONE)
    check_returns(found, path)
    what = f"{path}: cannot be called with a State alone"
    try:
        _check_call(found, ("a State",), what, A_FUNCTION, WRITE_ONE)
    except WrongTypeError:
        if not or_with:
            raise
        what = f"{path}: cannot be called with a State, nor with a State and {or_with}"
        _check_call(found, ("a State", or_with), what, A_FUNCTION, WRITE_ONE)
    return found


def load_run(model: str) -> tuple[System | None, Callable[..., Any] | None]:
    """Take a System, or something to run, from a module or file.

    Parameters
    ----------
    model : str
        Same as for `load_system`; but it may also name a function of a State, which is a State of
        the only System of the module, or a program: a function without arguments.

    Returns
    -------
    System or None
        The System; None for a program, which makes its own.
    callable or None
        The function of a State, or the program; None if a System is named.

    Raises
    ------
    ModelError, WrongTypeError
        See `load_system`.
    """
    place, name = _split(model)
    module = _module(place)
    found = _attribute(module, place, name, A_SYSTEM) if name else None
    returned: object = None
    with suppress(Exception):  # an annotation can raise anything
        returned = found if isinstance(found, type) else get_type_hints(found).get("return")
    is_maker = isinstance(returned, type) and issubclass(returned, System)
    if isinstance(found, System) or not callable(found) or is_maker:
        return load_system(model), None
    with suppress(TypeError, ValueError):
        inspect.signature(found).bind()
        return None, found
    expected = f"{A_SYSTEM}; {A_FUNCTION}; or a function without parameters"
    what = f"{place}:{name}: cannot be run"
    _check_call(found, ("a State",), what, expected, WRITE_ONE)
    return load_system(place), found


def _split(model: str) -> tuple[str, str]:
    """Split at the colon before a name, but not at the colon of a Windows drive."""
    place, _, name = model.rpartition(":")
    if place and all(part.isidentifier() for part in name.split(".")):
        return place, name
    return model.removesuffix(":"), ""


# ---------------------------------------------------------------------- modules


def _module(place: str) -> ModuleType:
    is_file = place.endswith(".py") or "/" in place or os.sep in place
    return _import_file(place) if is_file else _import_module(place)


def _import_file(place: str) -> ModuleType:
    path = Path(place).resolve()
    if not path.is_file() or path.suffix != ".py":
        raise ModelError(
            f"{place}: not a file of Python",
            "the path of a .py file, or the name of a module",
            "a folder" if path.is_dir() else "another file" if path.exists() else "nothing there",
            f"the current folder is {Path.cwd()}",
        )
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    name = ".".join(parts)
    _look_first_in(folder)
    module = _import(name, place)
    if Path(module.__file__ or "").resolve() != path:
        raise ModelError(
            f"{place}: another module has its name",
            f"{name} to be this file",
            module.__file__ or f"a module of Python, {name}",
            "give the file another name",
        )
    return module


def _import_module(name: str) -> ModuleType:
    if ":" in name or not all(name.split(".")):
        raise ModelError(
            f"{name or repr(name)}: not the name of a module",
            "package.module:name, or path/to/file.py:name",
            repr(name),
            "write the full name, as after `import`, or the path of a .py file",
        )
    _look_first_in(Path.cwd())
    return _import(name, name)


def _look_first_in(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _import(name: str, place: str) -> ModuleType:
    try:
        with redirect_stdout(sys.stderr):
            return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            raise ModelError(
                f"{place}: module not found",
                "the name of a module that can be imported, or the path of a .py file",
                str(error),
                f"run in the folder or the environment where it is found; this is {Path.cwd()}",
            ) from None
        raise _failed(place, error) from error
    except (Exception, SystemExit) as error:
        raise _failed(place, error) from error


def _failed(place: str, error: BaseException) -> ModelError:
    return ModelError(
        f"{place}: cannot be imported",
        "a module that raises nothing when it is imported",
        told(error),
        MEND_IT,
    )


def told(error: BaseException) -> str:
    """Describe an error of a model on one line, with the innermost place outside of stagecache."""
    what = error.what if isinstance(error, StagecacheError) else str(error)
    text = f"{type(error).__name__}: {' '.join(what.split())}"
    if isinstance(error, SyntaxError):
        return text
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(STAGECACHE)]
    return f"{text}, at {(own or frames)[-1].filename}:{(own or frames)[-1].lineno}"


# ---------------------------------------------------------------------- what is in them


def _attribute(module: ModuleType, place: str, name: str, expected: str) -> object:
    try:
        return attrgetter(name)(module)
    except AttributeError as error:
        hint = _choice(place, _candidates(module)) if expected == A_SYSTEM else WRITE_ONE
        near = did_you_mean(name, [n for n in vars(module) if not n.startswith("_")])
        what = f"{place}: has nothing of that name"
        raise ModelError(what, expected, f"{name!r}: {error}", near or hint) from None


def _only_name(module: ModuleType, place: str) -> str:
    names = _candidates(module)
    if len(names) == 1:
        return names[0]
    got = f"{len(names)}: {', '.join(names)}" if names else "none"
    hint = _choice(place, names)
    silent = [name for name, made in _makers(module).items() if made is None]
    if silent and not names:
        got = "none that says so"
        hint = f"{_choice(place, silent)}; or say what it returns: -> System"
    expected = "the name of one, or a module with exactly one"
    raise ModelError(f"{place}: which System is meant?", expected, got, hint)


def _choice(place: str, names: list[str]) -> str:
    if names:
        return f"write {' or '.join(f'{place}:{name}' for name in names[:5])}"
    return "write a function there: def system() -> System"


def _candidates(module: ModuleType) -> list[str]:
    """Return the names of the Systems of a module; without any, of functions that make one."""
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    systems = {id(v): name for name, v in reversed(public.items()) if isinstance(v, System)}
    if systems:
        return sorted(systems.values())
    makers = _makers(module)
    return [n for n, made in makers.items() if isinstance(made, type) and issubclass(made, System)]


def _makers(module: ModuleType) -> dict[str, object]:
    """Return functions without arguments, by name, with their annotated results, or None.

    Imported functions are left out.
    """
    makers = {}
    for name, value in vars(module).items():
        is_own = getattr(value, "__module__", None) == module.__name__
        if is_own and callable(value) and not name.startswith("_"):
            with suppress(Exception):  # a builtin, a parameter; an annotation can raise anything
                inspect.signature(value).bind()
                is_class = isinstance(value, type)
                makers[name] = value if is_class else get_type_hints(value).get("return")
    return makers


def _system_of(found: object, path: str) -> System:
    if isinstance(found, System):
        return found
    expected = "a System, or a function without parameters that returns one"
    if not callable(found):
        raise wrong_type(found, f"{path}: not a System", expected, "name another")
    hint = "write a function without parameters that calls it"
    _check_call(found, (), f"{path}: needs arguments", expected, hint)
    try:
        with redirect_stdout(sys.stderr):
            made = found()
    except (Exception, SystemExit) as error:
        raise ModelError(f"{path}: raises", expected, told(error), MEND_IT) from error
    if isinstance(made, System):
        return made
    raise wrong_type(
        made, f"{path}: does not return a System", expected, "return System(...) there"
    )


def _check_call(
    function: Callable[..., Any], arguments: tuple[object, ...], what: str, expected: str, hint: str
) -> None:
    """Refuse a function that cannot be called with these arguments."""
    with suppress(ValueError):  # unknown signature: the call itself raises
        try:
            inspect.signature(function).bind(*arguments)
        except TypeError as error:
            raise WrongTypeError(what, expected, str(error), hint) from None
