"""Headers of trajectory files: columns, names, units, and the State that rows are made from.

A header is text, which the metadata of any format can hold. It has a checksum of its own.
"""

import math
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final, Self, final

from attrs import frozen

from stagecache.errors import FileFormatError, short_repr
from stagecache.files.envelope import pack, unpack
from stagecache.files.values import bad_file
from stagecache.study.trajectory.columns import DTYPES, ColumnForm

KIND: Final = "Trajectory"
COLUMN_KINDS: Final = ("time", "q", "u", "z", "discrete variable", "cache entry")
CONTENT: Final = {
    *("system", "version", "classes", "units", "columns", "places"),
    *("record", "entries", "details"),
}
NAMES: Final = "number_names"
"""Key of the names of numbers, which older files do not have."""

MOST: Final = 2**40
"""Numbers of a row stay below it."""


@final
@frozen
class Header:
    """The facts about a trajectory that stand at the beginning of its file.

    Attributes
    ----------
    system, version : str
        Name and version of the System.
    classes : dict of str to str
        Names of the classes of subsystems, by their names.
    units : dict of str to str
        Declared units by path.
    number_names : dict of str to tuple of str
        Names of the numbers of variables by path, of those that have names.
    forms : dict of str to ColumnForm
        Columns by path.
    places : dict of str to slice
        Places in y of the variables that are there, and of those that they make up.
    record : tuple of str
        Paths of the recorded items.
    entries : tuple of str
        Those of them that are entries.
    template : bytes
        The State that rows are made from.
    details : dict of str to object
        Further facts about the run; JSON.
    """

    system: str
    version: str
    classes: Mapping[str, str]
    units: Mapping[str, str]
    number_names: Mapping[str, tuple[str, ...]]
    forms: Mapping[str, ColumnForm]
    places: Mapping[str, slice]
    record: tuple[str, ...]
    entries: tuple[str, ...]
    template: bytes
    details: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The header as text."""
        content = {
            "system": self.system,
            "version": self.version,
            "classes": dict(self.classes),
            "units": dict(self.units),
            NAMES: {path: list(names) for path, names in self.number_names.items()},
            "columns": [
                [f.path, f.kind, f.dtype, list(f.shape), f.is_array] for f in self.forms.values()
            ],
            "places": {path: [place.start, place.stop] for path, place in self.places.items()},
            "record": list(self.record),
            "entries": list(self.entries),
            "details": dict(self.details),
        }
        return b64encode(pack(KIND, content, [self.template])).decode()

    @classmethod
    def of_text(cls, text: str, where: str) -> Self:
        """Return the header that a text describes; `where` is the name of its file.

        Raises
        ------
        FileFormatError
        """

        def require(holds: bool, expected: str, got: object) -> None:
            if not holds:
                raise bad_file(f"{where}: is damaged", expected, short_repr(got))

        if not text:
            raise FileFormatError(
                f"{where}: is not a trajectory of stagecache",
                "a file that simulate(into=path) or a method of a Trajectory has written",
                "one of another program",
                "read it by pyarrow, pandas or xarray",
            )
        try:
            data = b64decode(text, validate=True)
        except ValueError:
            data = b""
        found, blobs = unpack(data, KIND, where)
        require(isinstance(found, dict), "a header", found)
        found = {NAMES: {}, **found}
        require(set(found) == {*CONTENT, NAMES}, "a header", found)
        require(len(blobs) == 1, "the State that rows are made from", len(blobs))
        for name, kind in (
            *(("classes", dict), ("units", dict), ("places", dict), ("details", dict)),
            (NAMES, dict),
            *(("columns", list), ("record", list), ("entries", list)),
        ):
            require(type(found[name]) is kind, f"{name} of a trajectory", found[name])
        texts = [found["system"], found["version"], *found["record"], *found["entries"]]
        texts += [*found["units"].values(), *found["classes"].values()]
        require(all(type(names) is list for names in found[NAMES].values()), "names", found[NAMES])
        texts += [name for names in found[NAMES].values() for name in names]
        require(all(type(text) is str for text in texts), "texts", texts)
        forms: dict[str, ColumnForm] = {}
        for column in found["columns"]:
            require(type(column) is list and len(column) == 5, "a column", column)
            path, kind, dtype, shape, is_array = column
            require([type(path), type(kind), type(dtype)] == [str, str, str], "a column", column)
            is_shape = type(shape) is list and all(type(n) is int and n > 0 for n in shape)
            require(is_shape and len(shape) <= 32 and math.prod(shape) < MOST, "a shape", column)
            is_known = kind in COLUMN_KINDS and dtype in DTYPES and type(is_array) is bool
            require(is_known and path not in forms, "a column of a kind, once", column)
            forms[path] = ColumnForm(path, kind, dtype, tuple(shape), is_array)
        require(forms.get("time") == ColumnForm("time", "time"), "a column of times", list(forms))
        places: dict[str, slice] = {}
        for path, pair in found["places"].items():
            is_pair = type(pair) is list and [type(n) for n in pair] == [int, int]
            require(is_pair and 0 <= pair[0] < pair[1] < MOST, f"a place of {path}", pair)
            places[path] = slice(*pair)
        return cls(
            found["system"],
            found["version"],
            found["classes"],
            found["units"],
            {path: tuple(names) for path, names in found[NAMES].items()},
            forms,
            places,
            tuple(found["record"]),
            tuple(found["entries"]),
            bytes(blobs[0]),
            found["details"],
        )
