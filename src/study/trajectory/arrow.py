"""Arrow IPC streams: messages found in a memory map, with each size checked before it is used.

::

    FFFFFFFF  length  metadata          body
                      Schema                                  once, with key-value metadata
                      RecordBatch       buffers of columns    any number of times
    FFFFFFFF  00000000                                        the end, if the file was finished

A crash may cut a message short, or leave zeros after the last one: both are ignored. Anything else
that is not as the writer leaves it is damage; a length that has changed is told by the length of
other batches, by the end of the last buffer, or by the end of the stream. Buffers are views of the
map: a column is read from disk when it is looked at, and no other.

Source: the specification of the Arrow columnar format, "Encapsulated message format", and of
FlatBuffers, whose tables the metadata are.
"""

import mmap
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import FileFormatError
from stagecache.files.envelope import MAGIC
from stagecache.files.values import bad_file

CONTINUES: Final = 0xFFFFFFFF
SCHEMA: Final = 1
RECORD_BATCH: Final = 3
PREFIX: Final = struct.Struct("<II")
END: Final = PREFIX.pack(CONTINUES, 0)
NOTHING: Final = np.empty((0, 2), np.int64)


@final
@frozen(eq=False)
class Batch:
    """A record batch in a file.

    Attributes
    ----------
    start, body, stop : int
        Places of its message, of its body, and of the end of both, in the file.
    num_rows : int
    buffers : (n, 2) int
        Offsets and lengths of its buffers, which lie in the body.
    """

    start: int
    body: int
    stop: int
    num_rows: int
    buffers: NDArray[np.int64]


@final
class ArrowFile:
    """A memory map of an Arrow IPC stream.

    Parameters
    ----------
    path : Path
    called : str
        Name of such a file in errors.

    Attributes
    ----------
    metadata : dict of str to str
        Of the schema.
    schema_stop : int
        Place of the end of the schema's message.
    batches : list of Batch
    is_finished : bool
        True if it ends as the format says; False after a crash, and while it is written.

    Raises
    ------
    OSError
    FileFormatError
    """

    def __init__(self, path: Path, called: str = "a trajectory") -> None:
        self.path = path
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < PREFIX.size:
                raise bad_file(f"{path}: is not {called}", "a schema", f"{size} bytes")
            self._map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        self.view = memoryview(self._map)
        self.batches: list[Batch] = []
        self.is_finished = False
        self.schema_stop = size
        is_stream = PREFIX.unpack_from(self.view)[0] == CONTINUES
        found = self._message(0) if is_stream else None
        if is_stream and found is None:
            raise self.damaged(size, "more of the schema", "the end of the file")
        if found is None or found[0] != SCHEMA:
            first = bytes(self.view[: len(MAGIC)])
            raise FileFormatError(
                f"{path}: is not {called}",
                "an Arrow stream, which begins with a schema",
                f"bytes {first!r}",
                "load_state() opens States"
                if first == MAGIC
                else "pass a file that simulate(into=path) or Trajectory.save has written",
            )
        _, header, _, self.schema_stop, _ = found
        self.metadata = _metadata(header)
        at = self.schema_stop
        while (found := self._message(at)) is not None:
            kind, header, body, stop, buffers = found
            if kind != RECORD_BATCH:
                raise self.damaged(at, "a record batch", f"a message of kind {kind}")
            self.batches.append(Batch(at, body, stop, header.integer(0), buffers))
            at = stop
        if not self.batches:  # the writer gives the file its name after the first one
            raise self.damaged(at, "a whole batch", "the end of the file")
        if not self.is_finished and self.view[-PREFIX.size :] == END:
            raise self.damaged(at, "a batch that lies in the file", "one that does not end there")

    def _message(self, at: int) -> "tuple[int, Table, int, int, NDArray[np.int64]] | None":
        """Return the message at a place: kind, header, places of body and end, and buffers.

        None at the end of the file, or where a crash has cut it.
        """
        size = len(self.view)
        if at + PREFIX.size > size:
            return None
        continues, length = PREFIX.unpack_from(self.view, at)
        if (continues, length) == (CONTINUES, 0):
            if at + PREFIX.size != size:
                raise self.damaged(at, "nothing after the end", f"{size - at} bytes")
            self.is_finished = True
            return None
        if continues != CONTINUES:
            if any(self.view[at:]):
                raise self.damaged(at, "the beginning of a message", hex(continues))
            return None
        start = at + PREFIX.size
        body = start + length
        if at > self.schema_stop:  # all batches have the same columns
            expected = self.batches[-1].body - self.batches[-1].start - PREFIX.size
            if length != expected:
                raise self.damaged(at, f"metadata of {expected} bytes", f"{length} bytes")
        if body > size:
            return None
        root = Table.root(self.view[start:body], f"{self.path}, at {at}")
        kind, header, body_length = root.small(1), root.table(2), root.integer(3)
        buffers = header.pairs(2) if kind == RECORD_BATCH else NOTHING
        # The length is there twice: in the message, and as the end of the last buffer.
        end = int(buffers.sum(axis=1).max(initial=0))
        if (buffers < 0).any() or body_length % 8 or not end <= body_length <= end + 64:
            raise self.damaged(at, f"a body of {end} bytes", f"one of {body_length} bytes")
        stop = body + body_length
        return None if stop > size else (kind, header, body, stop, buffers)

    def buffer(self, batch: Batch, number: int, length: int) -> memoryview:
        """Return the first bytes of a buffer of a batch.

        Raises
        ------
        FileFormatError
            It is not there, or shorter.
        """
        if number >= len(batch.buffers) or batch.buffers[number, 1] < length:
            raise self.damaged(batch.start, f"a buffer of {length} bytes", "a shorter one")
        start = batch.body + int(batch.buffers[number, 0])
        return self.view[start : start + length]

    def close(self) -> None:
        """Give up the map; views of it that are still used keep it."""
        self.view.release()
        with suppress(BufferError):
            self._map.close()

    def damaged(self, at: int, expected: str, got: str) -> FileFormatError:
        """Return the error of a file that is damaged at a place."""
        return bad_file(f"{self.path}: is damaged at byte {at}", expected, got)


@final
class Table:
    """A table of FlatBuffers; every place is checked before it is read."""

    __slots__ = ("_at", "_fields", "_view", "_where")

    def __init__(self, view: memoryview, at: int, where: str) -> None:
        self._view = view
        self._at = at
        self._where = where
        fields = at - self._number("<i", at)
        size = self._number("<H", fields)
        count = size // 2 - 2
        if count < 0 or fields + size > len(view):
            raise self._damaged()
        self._fields = struct.unpack_from(f"<{count}H", view, fields + 4)

    @classmethod
    def root(cls, view: memoryview, where: str) -> "Table":
        """Return the table with which metadata begin."""
        if len(view) < 4:
            raise bad_file(f"{where}: is damaged", "metadata", f"{len(view)} bytes")
        return cls(view, struct.unpack_from("<I", view)[0], where)

    def small(self, field: int) -> int:
        """Return a number of one byte, 0 by default."""
        return self._scalar("<B", field)

    def integer(self, field: int) -> int:
        """Return a number of eight bytes that is not negative, 0 by default."""
        found = self._scalar("<q", field)
        if found < 0:
            raise self._damaged()
        return found

    def table(self, field: int) -> "Table":
        """Return another table."""
        return Table(self._view, self._target(field), self._where)

    def tables(self, field: int) -> "list[Table]":
        """Return tables; none by default."""
        at, count = self._vector(field, 4)
        places = range(at, at + 4 * count, 4)
        return [Table(self._view, p + self._number("<I", p), self._where) for p in places]

    def pairs(self, field: int) -> NDArray[np.int64]:
        """Return pairs of numbers of eight bytes, of shape (n, 2)."""
        at, count = self._vector(field, 16)
        return np.frombuffer(self._view, "<i8", 2 * count, at).reshape(-1, 2)

    def text(self, field: int) -> str:
        """Return a text."""
        at, count = self._vector(field, 1)
        try:
            return bytes(self._view[at : at + count]).decode()
        except UnicodeDecodeError:
            raise self._damaged() from None

    def _scalar(self, form: str, field: int) -> int:
        place = self._fields[field] if field < len(self._fields) else 0
        return self._number(form, self._at + place) if place else 0

    def _target(self, field: int) -> int:
        place = self._fields[field] if field < len(self._fields) else 0
        if not place:
            raise self._damaged()
        at = self._at + place
        return at + self._number("<I", at)

    def _vector(self, field: int, width: int) -> tuple[int, int]:
        """Return the place and the number of the elements of a vector."""
        if field >= len(self._fields) or not self._fields[field]:
            return 0, 0
        at = self._target(field)
        count = self._number("<I", at)
        if at + 4 + count * width > len(self._view):
            raise self._damaged()
        return at + 4, count

    def _number(self, form: str, at: int) -> int:
        if at < 0 or at + struct.calcsize(form) > len(self._view):
            raise self._damaged()
        found: int = struct.unpack_from(form, self._view, at)[0]
        return found

    def _damaged(self) -> FileFormatError:
        what = f"{self._where}: is damaged"
        return bad_file(what, "metadata that refer to each other", "a place that is not in them")


def _metadata(schema: Table) -> dict[str, str]:
    return {pair.text(0): pair.text(1) for pair in schema.tables(2)}
