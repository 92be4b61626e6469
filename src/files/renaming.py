"""New names of what was saved: of a variable, or of a subsystem for all that is in it."""

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeVar, final

from stagecache.checks import did_you_mean
from stagecache.errors import UnknownPathError, WrongTypeError, listed, short_repr

T = TypeVar("T")

EVERY: Final = "*."
"""Prefix of a path that stands for the name of every subsystem."""


@final
class Renaming:
    """A function from the paths in a file to the paths in the model.

    Parameters
    ----------
    renamed : dict of str to str or None
        New paths by old ones; new names of subsystems by old ones; of a family without "[...]";
        or "*.heater" to "*.power", for variables of all subsystems.
    known : collection of str
        Paths, and names of subsystems, in the file.
    where : str
        Name of the file, for errors.

    Raises
    ------
    WrongTypeError, UnknownPathError
    """

    def __init__(
        self, renamed: Mapping[str, str] | None, known: Collection[str], where: str
    ) -> None:
        given: Any = {} if renamed is None else renamed
        is_dict = isinstance(given, Mapping)
        if not is_dict or not all(isinstance(name, str) for name in (*given, *given.values())):
            raise WrongTypeError(
                "renamed=...: not names",
                "a dict of old paths to new paths",
                short_repr(renamed),
                "write renamed={'arm.length': 'arm.size'}, or renamed={'arm': 'left_arm'}",
            )
        names = {name for path in known for name, _ in _names_for(path)}
        for old, new in given.items():
            if old not in names:
                raise UnknownPathError(
                    f"renamed={{{old!r}: ...}}: was not saved",
                    f"the path of a variable, or the name of a subsystem, in {where}",
                    repr(old),
                    did_you_mean(old, names) or f"use one of {listed(sorted(known))}",
                )
            if old.startswith(EVERY) is not new.startswith(EVERY):
                raise WrongTypeError(
                    f"renamed={{{old!r}: {new!r}}}: one of them is a name in every subsystem",
                    f"both with {EVERY!r} at the beginning, or none",
                    f"{old!r} and {new!r}",
                    "write renamed={'*.heater': '*.power'}",
                )
        self._renamed: dict[str, str] = dict(given)

    def __call__(self, path: str) -> str:
        """Return the path in the model."""
        for name, rest in _names_for(path):
            new = self._renamed.get(name)
            if new is not None:
                subsystem = path.partition(".")[0]
                here = self._renamed.get(subsystem, subsystem)
                return (f"{here}.{new[2:]}" if new.startswith(EVERY) else new) + rest
        return path

    def moved(self, values: Mapping[str, T]) -> dict[str, T]:
        """Return values by their paths in the model.

        Raises
        ------
        WrongTypeError
            Two of them have one path there.
        """
        found: dict[str, T] = {}
        for path, value in values.items():
            new = self(path)
            if new in found:
                raise WrongTypeError(
                    f"renamed=...: gives the name {new} twice",
                    "a name of its own for each variable",
                    f"{path} as well as another one",
                    "rename the other one, too",
                )
            found[new] = value
        return found


def _names_for(path: str) -> list[tuple[str, str]]:
    """Return names by which a path can be renamed, special ones first, and what follows them."""
    family = path.partition("[")[0]
    item = path[len(family) :]
    subsystem, dot, rest = family.partition(".")
    names = [(path, ""), (family, item)]
    if dot:
        names += [(EVERY + rest + item, ""), (EVERY + rest, item), (subsystem, f".{rest}{item}")]
    return names
