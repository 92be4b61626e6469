"""Fields of a JSON file, each of which knows where it is: so an error names the field.

What numbers and shapes have to be is checked by the library itself, `multibody.checks`.
"""

from collections.abc import Iterable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from benchmarks.errors import ProblemFileError
from stagecache.errors import short_repr
from stagecache.multibody.checks import checked_array, checked_rotation


@final
class Field:
    """A value, and its place.

    Parameters
    ----------
    value : object
        As `json` gives it.
    path : str
        Such as `chain.json: bodies[3].joint`.
    """

    def __init__(self, value: Any, path: str) -> None:
        self.value = value
        self.path = path

    def __getitem__(self, name: str) -> "Field":
        """The field of that name, which has to be there. Raises ProblemFileError."""
        found = self.get(name)
        if found is None:
            there = ", ".join(self.value) or "nothing"
            raise self._join(name).wrong("is missing", "a value", f"only {there}")
        return found

    def get(self, name: str) -> "Field | None":
        """The field of that name, or None if it is not there, or null. Raises ProblemFileError."""
        if not isinstance(self.value, dict):
            raise self.wrong("is no object", "an object with names", short_repr(self.value))
        value = self.value.get(name)
        return None if value is None else self._join(name, value)

    def items(self) -> list["Field"]:
        """The items of a list. Raises ProblemFileError."""
        if not isinstance(self.value, list):
            raise self.wrong("is no list", "a list", short_repr(self.value))
        return [Field(item, f"{self.path}[{i}]") for i, item in enumerate(self.value)]

    def text(self) -> str:
        """A string with something in it. Raises ProblemFileError."""
        if not isinstance(self.value, str) or not self.value:
            raise self.wrong("is no text", "a string that is not empty", short_repr(self.value))
        return self.value

    def one_of(self, names: Iterable[str]) -> str:
        """One of some strings. Raises ProblemFileError."""
        known = list(names)
        if self.value not in known:
            expected = f"one of {', '.join(known)}"
            raise self.wrong("is not known here", expected, short_repr(self.value))
        return str(self.value)

    def whole(self, low: int, high: int) -> int:
        """A whole number between two others, these included. Raises ProblemFileError."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            expected = f"{low}" if low == high else f"a whole number from {low} to {high}"
            raise self.wrong("is out of range", expected, short_repr(value))
        return value

    def number(self, low: float = -np.inf) -> float:
        """A finite number, not below another one.

        Raises
        ------
        ProblemFileError, ShapeError, NotANumberError, OutOfRangeError
        """
        found = float(self.array(()))
        if found < low:
            raise self.wrong("is out of range", f"{low:g} or more", f"{found:g}")
        return found

    def array(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Finite numbers of that shape. Raises ShapeError, NotANumberError, OutOfRangeError."""
        return checked_array(self.value, shape, self.path)

    def rotation(self) -> NDArray[np.float64]:
        """A rotation, (3, 3). Raises ShapeError, NotANumberError, OutOfRangeError."""
        return checked_rotation(self.value, self.path)

    def wrong(self, what: str, expected: str, got: str, hint: str = "") -> ProblemFileError:
        """The error that says what is wrong here."""
        hint = hint or "mend the file; benchmarks/README.md tells what its fields mean"
        return ProblemFileError(f"{self.path}: {what}", expected, got, hint)

    def _join(self, name: str, value: Any = None) -> "Field":
        dot = "" if self.path.endswith(": ") else "."
        return Field(value, f"{self.path}{dot}{name}")
