"""Trajectories of other formats, whose columns are in memory: Parquet, netCDF, Zarr.

They have what a trajectory file has: the header as an attribute, columns by path, and the changes
of other items in the rows from which they hold.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, final
from zlib import crc32

import numpy as np

from stagecache.errors import short_repr
from stagecache.files.envelope import unpack
from stagecache.files.values import bad_file, decode
from stagecache.study.ending import Ending
from stagecache.study.trajectory.columns import DTYPES
from stagecache.study.trajectory.header import Header
from stagecache.study.trajectory.rows import Array
from stagecache.study.trajectory.stream import CHANGES

SUMS: Final = "stagecache_sums"
"""Name of the attribute with the checksums of columns."""


def sums_of(
    columns: Mapping[str, Array], before: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the checksum of each column by its path; `before` has the sums of earlier rows."""
    sums = before or {}
    return {
        path: crc32(np.ascontiguousarray(values).tobytes(), sums.get(path, 0))
        for path, values in columns.items()
    }


@final
class ImportedFile:
    """A trajectory of another format, as one batch.

    Parameters
    ----------
    path : Path
    header : Header
    columns : dict of str to ndarray
        Numbers by path, of shape (n, ...).
    changes : dict of int to bytes
        Packed changes by row.
    sums : object
        What the file says of the checksums of columns, by path; see `sums_of`.

    Raises
    ------
    FileFormatError
        A column is missing, is damaged, or has another form than the header says.
    """

    def __init__(
        self,
        path: Path,
        header: Header,
        columns: Mapping[str, Any],
        changes: Mapping[int, bytes],
        sums: object,
    ) -> None:
        self.path = path
        self.header = header
        self._columns: dict[str, Array] = {}
        count = len(columns.get("time", ()))
        for form in header.forms.values():
            found = np.asarray(columns.get(form.path))
            if found.shape != (count, *form.shape) or found.dtype != DTYPES[form.dtype]:
                raise bad_file(
                    f"{path}: is damaged",
                    f"{form.dtype} of shape {(count, *form.shape)} in {form.path}",
                    f"{found.dtype} of shape {found.shape}",
                )
            self._columns[form.path] = found
        if sums != (found_sums := sums_of(self._columns)):
            raise bad_file(f"{path}: is damaged", f"the checksums {sums}", f"{found_sums}")
        self.starts = [0, count]
        self._changes: dict[int, dict[str, Any]] = {}
        for row, packed in changes.items():
            where = f"{path}, row {row}"
            content, blobs = unpack(packed, CHANGES, where)
            if not isinstance(content, dict) or not 0 <= row < count:
                raise bad_file(f"{where}: is damaged", "values by path", short_repr(content))
            self._changes[row] = {p: decode(value, p, blobs) for p, value in content.items()}

    @property
    def ending(self) -> Ending | None:
        """The end of the simulation that made the rows; None without one."""
        return Ending.in_file(self.header.details, b"", str(self.path))

    def numbers(self, number: int, path: str) -> tuple[Array, Array | None]:  # noqa: ARG002  # there is one batch
        """Return the numbers of a column, and where they are; None if everywhere."""
        rows = [row for row, values in self._changes.items() if path in values]
        if not rows:
            return self._columns[path], None
        is_there = np.ones(self.starts[-1], bool)
        is_there[rows] = False
        return self._columns[path], is_there

    def changes(self, number: int) -> dict[int, dict[str, Any]]:  # noqa: ARG002  # there is one batch
        """Return the values that stand in no column, by row."""
        return self._changes
