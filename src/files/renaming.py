"""New names of what was saved: of a variable, or of a subsystem for all that is in it."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar, final

from stagecache.checks import did_you_mean
from stagecache.errors import UnknownPathError, WrongTypeError, listed, short_repr

T = TypeVar("T")


@final
class Renaming:
    """A function from the paths in a file to the paths in the model.

    Parameters
    ----------
    renamed : dict of str to str or None
        New paths by old ones; or new names of subsystems by old ones.
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
        for old in given:
            if old not in known:
                raise UnknownPathError(
                    f"renamed={{{old!r}: ...}}: was not saved",
                    f"the path of a variable, or the name of a subsystem, in {where}",
                    repr(old),
                    did_you_mean(old, known) or f"use one of {listed(sorted(known))}",
                )
        self._renamed: dict[str, str] = dict(given)

    def __call__(self, path: str) -> str:
        """Return the path in the model."""
        if path in self._renamed:
            return self._renamed[path]
        subsystem, dot, rest = path.partition(".")
        return self._renamed.get(subsystem, subsystem) + dot + rest if dot else path

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
