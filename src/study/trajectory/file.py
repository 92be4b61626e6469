"""Trajectory files that are read: columns, one without the others, and each byte checked.

Opening a file looks at the beginning of each batch. A column of a batch is compared with its
checksum when it is looked at first. A batch that a crash has cut short is ignored.
"""

from pathlib import Path
from typing import Any, final
from zlib import crc32

import numpy as np

from stagecache.errors import (
    FileFormatError,
    short_repr,
)
from stagecache.files.envelope import unpack
from stagecache.files.values import bad_file, decode
from stagecache.study.ending import Ending
from stagecache.study.trajectory.arrow import ArrowFile, Batch
from stagecache.study.trajectory.columns import DTYPES
from stagecache.study.trajectory.header import Header
from stagecache.study.trajectory.rows import Array
from stagecache.study.trajectory.stream import (
    BATCH,
    CHANGES,
    KEY,
    BatchEncoder,
    TrajectoryWriter,
    checksum,
)


@final
class TrajectoryFile:
    """A trajectory file: its header, and its columns.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    header : Header
    starts : list of int
        First row of each batch, and the number of rows.

    Raises
    ------
    OSError
    FileFormatError
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = file = ArrowFile(path)
        self.header = Header.of_text(file.metadata.get(KEY, ""), str(path))
        self._forms = self.header.forms
        self._schema_sum = crc32(file.view[: file.schema_stop])
        self._places: dict[str, tuple[int, int]] = {}  # of a column and its first buffer
        number = 0
        for place, form in enumerate(self._forms.values()):
            self._places[form.path] = place, number
            number += form.num_buffers
        self._changes, self._last = number, number + 3
        self.starts = [0]
        for batch in file.batches:
            self.starts.append(self.starts[-1] + batch.num_rows)
        self._infos: dict[int, tuple[dict[str, Any], bytes]] = {}
        self._checked: set[tuple[int, str]] = set()
        self.info(len(file.batches) - 1)

    # ------------------------------------------------------------------ batches

    @property
    def is_finished(self) -> bool:
        """True if the run that wrote it came to its end."""
        return self._file.is_finished

    @property
    def num_rows(self) -> int:
        """Number of rows of all whole batches."""
        return self.starts[-1]

    def info(self, number: int) -> tuple[dict[str, Any], bytes]:
        """Return what a batch says of itself, and from where a run goes on after it."""
        if number not in self._infos:
            batch = self._file.batches[number]
            found = self._binary(batch, self._last)[batch.num_rows - 1] if batch.num_rows else None
            if found is None:
                raise self._damaged(batch, "what a batch says of itself", "nothing")
            info, blobs = unpack(found, BATCH, f"{self.path}, batch {number}")
            expected = {
                "first_row": self.starts[number],
                "rows": batch.num_rows,
                "schema": self._schema_sum,
            }
            is_info = isinstance(info, dict) and set(info) == {*expected, "sums", "restart"}
            is_info = is_info and len(blobs) == 1 and type(info["restart"]) is bool
            if not is_info or {key: info[key] for key in expected} != expected:
                raise self._damaged(batch, str(expected), short_repr(info))
            if not isinstance(info["sums"], list) or len(info["sums"]) != len(self._forms) + 1:
                raise self._damaged(batch, "a checksum of each column", short_repr(info["sums"]))
            self._infos[number] = info, bytes(blobs[0])
        return self._infos[number]

    @property
    def ending(self) -> Ending | None:
        """The end of the simulation that made the rows; None if it did not come to it."""
        _, last = self.info(len(self._file.batches) - 1)
        return Ending.in_file(self.header.details, last, str(self.path))

    def last_restart(self) -> tuple[int, bytes]:
        """Return the last batch from which a run can go on, and from where; (-1, b"") without."""
        for number in reversed(range(len(self._file.batches))):
            info, restart = self.info(number)
            if info["restart"]:
                return number, restart
        return -1, b""

    def appending(self, number: int) -> TrajectoryWriter:
        """Return a writer that goes on after a batch; the batches after it are cut off."""
        stop = self._file.batches[number].stop
        encoder = BatchEncoder(self.header, self._schema_sum)
        return TrajectoryWriter.appending(self.path, stop, self.starts[number + 1], encoder)

    def verify(self) -> None:
        """Read all columns of all batches.

        Raises
        ------
        FileFormatError
            A checksum does not fit the bytes that are there.
        """
        for number in range(len(self._file.batches)):
            self.info(number)
            self.changes(number)
            for path in self._forms:
                self.numbers(number, path)

    # ------------------------------------------------------------------ columns

    def numbers(self, number: int, path: str) -> tuple[Array, Array | None]:
        """Return the numbers of a column in a batch, and where they are; None if everywhere."""
        form, batch = self._forms[path], self._file.batches[number]
        (_, first), rows = self._places[path], batch.num_rows
        is_there = self._bits(batch, first, rows) if batch.buffers[first, 1] else None
        dtype, count = DTYPES[form.dtype], rows * form.width
        at = first + form.num_buffers - 1
        if form.dtype == "bool":
            values: Array = self._bits(batch, at, count)
        else:
            values = np.frombuffer(self._file.buffer(batch, at, count * dtype.itemsize), dtype)
        self._check(number, path, values, is_there)
        return values.reshape(rows, *form.shape), is_there

    def _check(self, number: int, path: str, values: Array, is_there: Array | None) -> None:
        """Compare the checksum of a column in a batch, once."""
        if (number, path) in self._checked:
            return
        place, _ = self._places[path]
        if self.info(number)[0]["sums"][place] != checksum(values, is_there):
            batch = self._file.batches[number]
            raise self._damaged(batch, f"the checksum of {path}", "another one")
        self._checked.add((number, path))

    def _bits(self, batch: Batch, number: int, count: int) -> Array:
        data = np.frombuffer(self._file.buffer(batch, number, -(-count // 8)), np.uint8)
        return np.unpackbits(data, count=count, bitorder="little").astype(bool)

    def _binary(self, batch: Batch, first: int) -> list[bytes | None]:
        """Return the values of a column of bytes, or None in each row."""
        rows = batch.num_rows
        is_there = self._bits(batch, first, rows)
        offsets = np.frombuffer(self._file.buffer(batch, first + 1, 4 * (rows + 1)), "<i4")
        increases = offsets[0] == 0 and (np.diff(offsets) >= 0).all()
        if not increases:
            raise self._damaged(batch, "offsets that increase", short_repr(offsets))
        data = self._file.buffer(batch, first + 2, int(offsets[-1]))
        values: list[bytes | None] = [None] * rows
        for row in np.flatnonzero(is_there).tolist():
            values[row] = bytes(data[offsets[row] : offsets[row + 1]])
        return values

    def changes(self, number: int) -> dict[int, dict[str, Any]]:
        """Return the values that stand in no column of a batch, by row."""
        batch = self._file.batches[number]
        packed = self._binary(batch, self._changes)
        if (number, CHANGES) not in self._checked:
            if self.info(number)[0]["sums"][-1] != crc32(b"".join(row or b"" for row in packed)):
                raise self._damaged(batch, "the checksum of changes", "another one")
            self._checked.add((number, CHANGES))
        found: dict[int, dict[str, Any]] = {}
        for row, data in enumerate(packed):
            if data is not None:
                where = f"{self.path}, row {self.starts[number] + row}"
                content, blobs = unpack(data, CHANGES, where)
                if not isinstance(content, dict):
                    raise bad_file(f"{where}: is damaged", "values by path", short_repr(content))
                found[row] = {path: decode(value, path, blobs) for path, value in content.items()}
        return found

    def _damaged(self, batch: Batch, expected: str, got: str) -> FileFormatError:
        return self._file.damaged(batch.start, expected, got)

    def close(self) -> None:
        """Close the file; nothing can be read any more."""
        self._file.close()
