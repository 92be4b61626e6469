"""Reading of foreign files: bytes up to a limit, numbers in text, and errors that name the line.

Nothing in a file is executed, and no other file is opened because one names it, but for meshes.
"""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Final

from stagecache.errors import FileFormatError, short_repr

MOST_BYTES: Final = 256 * 1024 * 1024
"""Size of the largest file that is read."""

DAMAGED: Final = "look at this place of the file, or write the file again"


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file.

    Raises
    ------
    FileFormatError
        It is larger than allowed.
    OSError
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise FileFormatError(
            f"{path.name}: is too large",
            f"up to {most:,} bytes",
            "more",
            "leave out what is not needed, as a part of the frames or unused meshes",
        )
    return data


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text, whatever their ends are.

    Raises
    ------
    FileFormatError
        It is too large, or not a text.
    OSError
    """
    data = read_bytes(path)
    if b"\0" in data:
        raise bad(path.name, "is not a text", "lines of text", "bytes that are 0")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # names of markers may have accents
    return text.splitlines()


def bad(where: str, problem: str, expected: str, got: str, hint: str = DAMAGED) -> FileFormatError:
    """Return the error of a file that says what it must not."""
    return FileFormatError(f"{where}: {problem}", expected, got, hint)


def number(text: str) -> float | None:
    """Return the number that a text is; None if it is not. "Infinity" and "NaN" are."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def numbers(text: str, count: int | None, where: str, *, finite: bool = True) -> list[float]:
    """Return numbers that are separated by spaces.

    Raises
    ------
    FileFormatError
        They are not numbers, not finite, or of another count.
    """
    found = [number(word) for word in text.split()]
    good = [x for x in found if x is not None and (isfinite(x) or not finite)]
    if len(good) != len(found) or (count is not None and len(found) != count):
        many = "numbers" if count is None else f"{count} number{'' if count == 1 else 's'}"
        raise bad(where, f"not {many}", many, short_repr(text))
    return good


def whole(text: str) -> int | None:
    """Return the count that a text is; None if it is not. Some programs write 151.0."""
    found = number(text)
    if found is None or not isfinite(found) or found != int(found) or found < 0:
        return None
    return int(found)


def shown(names: Sequence[str], most: int = 4) -> str:
    """Show some names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
