"""Rows of a study, one for each member, as record batches of Arrow.

::

    member, status, seconds, attempts, error, message, traceback      in each row
    cart.mass, cart.angle, ...                                        parameters
    energy, place, ...                                                results
    stagecache.others       values that do not fit into their column, packed
    stagecache.batch        in the last row of a batch: its checksum

Numbers are columns, and arrays are lists of a fixed size, whose shape is in the metadata of their
field. pyarrow and polars read them.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final
from zlib import crc32

import numpy as np
from attrs import frozen

from stagecache.errors import FileFormatError, StudyError, short_repr
from stagecache.files.envelope import pack, read_json, unpack
from stagecache.files.values import Blobs, bad_file, decode, encode
from stagecache.study.trajectory.arrow import ArrowFile, Batch
from stagecache.study.trajectory.columns import DTYPES, ColumnForm, form_of_value, stored
from stagecache.study.trajectory.rows import Array

KEY: Final = "stagecache"
OTHERS: Final = "stagecache.others"
BATCH: Final = "stagecache.batch"
FORMAT: Final = 1
KIND: Final = "results of a study"

FACT: Final = "fact"
PARAMETER: Final = "parameter"
RESULT: Final = "result"
TEXT: Final = "text"
FILE: Final = "file"
"""The form of a trajectory: the name of its file."""

Row = dict[tuple[str, str], Any]
"""Values by role and name; files of trajectories as `FileName`."""


@frozen
class FileName:
    """The name of the file of a trajectory, in the folder of the study."""

    name: str


@final
@frozen
class RowColumn:
    """A column of rows.

    Attributes
    ----------
    name, role : str
    form : ColumnForm or str
        `TEXT`, `FILE`, or the form of numbers.
    """

    name: str
    role: str
    form: ColumnForm | str

    @property
    def key(self) -> tuple[str, str]:
        """Role and name."""
        return self.role, self.name

    @property
    def num_buffers(self) -> int:
        """Number of its buffers in a record batch."""
        return self.form.num_buffers if isinstance(self.form, ColumnForm) else 3

    def fits(self, value: object) -> bool:
        """Return True if the column can hold a value unchanged."""
        if isinstance(self.form, ColumnForm):
            return self.form.fits(value)
        if self.form == FILE:
            return isinstance(value, FileName)
        return type(value) is str and _is_text(value)

    def to_json(self) -> list[Any]:
        """Return the column as JSON."""
        form = self.form
        if isinstance(form, ColumnForm):
            return [self.name, self.role, form.dtype, list(form.shape), form.is_array]
        return [self.name, self.role, form, [], False]


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


FACTS: Final = (
    RowColumn("member", FACT, ColumnForm("member", FACT, "int64")),
    RowColumn("status", FACT, TEXT),
    RowColumn("seconds", FACT, ColumnForm("seconds", FACT)),
    RowColumn("attempts", FACT, ColumnForm("attempts", FACT, "int64")),
    *(RowColumn(name, FACT, TEXT) for name in ("error", "message", "traceback")),
)


def columns_of(rows: Sequence[Row]) -> list[RowColumn]:
    """Return the columns for rows: the first value of each decides its form."""
    found: dict[tuple[str, str], RowColumn | None] = {}
    for row in rows:
        for (role, name), value in row.items():
            if role != FACT and (role, name) not in found:
                found[role, name] = _column_of(name, role, value)
    others = [column for column in found.values() if column is not None]
    return [*FACTS, *sorted(others, key=lambda column: column.role)]


def _column_of(name: str, role: str, value: object) -> RowColumn | None:
    if isinstance(value, FileName):
        return RowColumn(name, role, FILE)
    if isinstance(value, str):
        return RowColumn(name, role, TEXT)
    form = form_of_value(name, role, value)
    return None if form is None else RowColumn(name, role, form)


@final
class RowEncoder:
    """Rows as record batches.

    Parameters
    ----------
    columns : list of RowColumn
    units : dict of str to str
        Units of parameters by path.
    study : str
        Identity of the study.

    Attributes
    ----------
    schema : bytes
        First message of a file.
    """

    def __init__(self, columns: Sequence[RowColumn], units: Mapping[str, str], study: str) -> None:
        # Only files need nanoarrow, which it imports.
        from stagecache.study.trajectory import batches  # noqa: PLC0415

        self._batches = batches
        self.columns = list(columns)
        self._text = batches.binary_type(is_text=True)
        binary = batches.binary_type(is_text=False)
        fields: dict[str, tuple[Any, dict[str, str]]] = {}
        for column in columns:
            facts = {"kind": column.role, "unit": units.get(column.name, "")}
            kind = self._text
            if isinstance(column.form, ColumnForm):
                kind = batches.type_of(column.form, is_nullable=column.role != FACT)
                facts["shape"] = json.dumps(column.form.shape) if column.form.shape else ""
            fields[column.name] = kind, {key: fact for key, fact in facts.items() if fact}
        fields |= {OTHERS: (binary, {}), BATCH: (binary, {})}
        said = [column.to_json() for column in columns]
        header = json.dumps({"format": FORMAT, "study": study, "columns": said})
        self._schema = batches.schema_of(fields, {KEY: header})
        empty = [self._column(column, [])[0] for column in columns]
        nothing = [batches.binary_column([]), batches.binary_column([])]
        self.schema, _ = batches.messages(self._schema, [*empty, *nothing], 0)

    def batch(self, rows: Sequence[Row]) -> bytes:
        """Return the message of a record batch.

        Raises
        ------
        UnsavableValueError
        """
        arrays, parts = [], []
        for column in self.columns:
            array, buffers = self._column(column, rows)
            arrays.append(array)
            parts += buffers
        others = [self._others(row) for row in rows]
        parts += [other or b"" for other in others]
        info = {"rows": len(rows), "schema": crc32(self.schema), "sum": crc32(b"".join(parts))}
        last = pack(KIND, info)
        binary = self._batches.binary_column
        arrays += [binary(others), binary([*[None] * (len(rows) - 1), last])]
        return self._batches.messages(self._schema, arrays, len(rows))[1]

    def _column(self, column: RowColumn, rows: Sequence[Row]) -> tuple[Any, list[bytes]]:
        """Return a column, and the bytes for its checksum."""
        values = [row.get(column.key) for row in rows]
        is_there = np.array([column.fits(value) for value in values], bool)
        if not isinstance(column.form, ColumnForm):
            texts: list[bytes | None] = [
                _text_of(value) if there else None
                for value, there in zip(values, is_there, strict=True)
            ]
            data = [text or b"" for text in texts]
            return self._batches.binary_column(texts, self._text), [is_there.tobytes(), *data]
        numbers: Array = np.zeros((len(rows), *column.form.shape), DTYPES[column.form.dtype])
        for number, value in enumerate(values):
            if is_there[number]:
                numbers[number] = value
        is_nullable = column.role != FACT
        made = self._batches.number_column(
            column.form, numbers, is_there if is_nullable else None, is_nullable=is_nullable
        )
        return made, [is_there.tobytes(), stored(numbers).tobytes()]

    def _others(self, row: Row) -> bytes | None:
        """Return the values that do not fit their columns."""
        known = {column.key: column for column in self.columns}
        blobs: Blobs = []
        content = [
            [role, name, encode(value, name, blobs)]
            for (role, name), value in row.items()
            if (role, name) not in known or not known[role, name].fits(value)
        ]
        return pack(KIND, content, blobs) if content else None


def _text_of(value: Any) -> bytes:
    text: str = value.name if isinstance(value, FileName) else value
    return text.encode()


# ---------------------------------------------------------------------- reading


@final
class RowFile:
    """A file of rows, to which another process may still add; an incomplete batch is ignored.

    Parameters
    ----------
    path : Path
    study : str, optional
        Identity of the study; any study by default.

    Raises
    ------
    OSError
    FileFormatError
        It is damaged.
    StudyError
        It belongs to another study.
    """

    def __init__(self, path: Path, study: str | None = None) -> None:
        self.path = path
        self._file = ArrowFile(path, "a file of results")
        self._schema_sum = crc32(self._file.view[: self._file.schema_stop])
        try:
            self._check_schema()
            header = read_json(self._file.metadata.get(KEY, "null").encode(), str(path))
            self.columns = _columns_of_header(header, study, path)
        except BaseException:
            self._file.close()
            raise

    @property
    def stop(self) -> int:
        """Place of the end of the last whole batch."""
        return self._file.batches[-1].stop

    @property
    def is_finished(self) -> bool:
        """True if nothing was cut."""
        return self._file.is_finished

    @property
    def num_batches(self) -> int:
        """Number of whole batches."""
        return len(self._file.batches)

    def close(self) -> None:
        """Close the memory map."""
        self._file.close()

    def is_whole(self, number: int) -> bool:
        """Return True if a batch has its checksum. Cost O(its values)."""
        try:
            self.rows(number)
        except FileFormatError:
            return False
        return True

    def bytes_of(self, numbers: Sequence[int]) -> bytes:
        """Return the schema and some batches: the beginning of a file of these batches."""
        view, batches = self._file.view, self._file.batches
        parts = [view[batches[n].start : batches[n].stop] for n in numbers]
        return b"".join([view[: self._file.schema_stop], *parts])

    def members(self, number: int) -> list[int]:
        """Return the indices of the members of a batch."""
        batch = self._file.batches[number]
        data = self._file.buffer(batch, 1, 8 * batch.num_rows)
        return [int(index) for index in np.frombuffer(data, "<i8")]

    def facts(self, number: int) -> list[tuple[int, str, float]]:
        """Return index, status and seconds of the members of a batch, without its checksum."""
        batch, (_, status, seconds, *_) = self._file.batches[number], FACTS
        _, statuses, _ = self._column(batch, 2, status)
        _, times, _ = self._column(batch, 5, seconds)
        return list(zip(self.members(number), statuses, times, strict=True))

    def rows(self, number: int) -> list[Row]:
        """Return the rows of a batch.

        Raises
        ------
        FileFormatError
            It is damaged.
        """
        batch = self._file.batches[number]
        rows: list[Row] = [{} for _ in range(batch.num_rows)]
        parts: list[bytes] = []
        at = 0
        for column in self.columns:
            is_there, values, data = self._column(batch, at, column)
            parts += [is_there.tobytes(), *data]
            for row, there, value in zip(rows, is_there, values, strict=True):
                if there:
                    row[column.key] = value
            at += column.num_buffers
        _, others = self._texts(batch, at)
        _, infos = self._texts(batch, at + 3)
        parts += others
        self._check(batch, infos, crc32(b"".join(parts)))
        for row, packed in zip(rows, others, strict=True):
            if packed:
                content, blobs = unpack(packed, KIND, str(self.path))
                for role, name, found in content:
                    row[role, name] = decode(found, name, blobs)
        return rows

    def _check_schema(self) -> None:
        """Refuse a damaged schema. Each batch has its checksum, so one good batch is enough."""
        if not any(self._has_schema_of(batch) for batch in self._file.batches):
            raise self._file.damaged(0, "the schema that the batches name", "another one")

    def _has_schema_of(self, batch: Batch) -> bool:
        try:
            _, infos = self._texts(batch, len(batch.buffers) - 3)  # the last column
            info, _ = unpack(infos[-1] if infos else b"", KIND, str(self.path))
        except FileFormatError:
            return False
        return isinstance(info, dict) and info.get("schema") == self._schema_sum

    def _check(self, batch: Batch, infos: list[bytes], found: int) -> None:
        expected = {"rows": batch.num_rows, "schema": self._schema_sum, "sum": found}
        info, _ = unpack(infos[-1] if infos else b"", KIND, f"{self.path}, at {batch.start}")
        if info != expected:
            raise self._file.damaged(batch.start, str(expected), short_repr(info))

    def _column(self, batch: Batch, at: int, column: RowColumn) -> tuple[Array, Any, list[bytes]]:
        """Return a mask of the values that exist, the values, and the bytes for the checksum."""
        form, count = column.form, batch.num_rows
        if not isinstance(form, ColumnForm):
            is_there, data = self._texts(batch, at)
            try:
                texts = [part.decode() for part in data]
            except UnicodeDecodeError as error:
                raise self._file.damaged(batch.start, "texts in UTF-8", str(error)) from None
            return is_there, texts if form == TEXT else [FileName(text) for text in texts], data
        is_there = self._validity(batch, at, count)
        width, dtype = count * form.width, DTYPES[form.dtype]
        is_bits = form.dtype == "bool"
        size = (width + 7) // 8 if is_bits else width * dtype.itemsize
        body = bytes(self._file.buffer(batch, at + form.num_buffers - 1, size))
        if is_bits:
            bits = np.frombuffer(body, np.uint8)
            numbers = np.unpackbits(bits, count=width, bitorder="little").astype(bool)
        else:
            numbers = np.frombuffer(body, dtype)
        shaped = numbers.reshape(count, *form.shape)
        return is_there, [form.restored(value) for value in shaped], [body]

    def _validity(self, batch: Batch, at: int, count: int) -> Array:
        if at >= len(batch.buffers) or not batch.buffers[at, 1]:
            return np.ones(count, bool)
        bits = np.frombuffer(self._file.buffer(batch, at, (count + 7) // 8), np.uint8)
        return np.unpackbits(bits, count=count, bitorder="little").astype(bool)

    def _texts(self, batch: Batch, at: int) -> tuple[Array, list[bytes]]:
        """Return a mask of the texts that exist, and the texts as bytes."""
        count = batch.num_rows
        is_there = self._validity(batch, at, count)
        offsets = np.frombuffer(self._file.buffer(batch, at + 1, 4 * (count + 1)), "<i4")
        if count and (offsets[0] != 0 or (np.diff(offsets) < 0).any()):
            raise self._file.damaged(batch.start, "offsets that increase", short_repr(offsets))
        data = bytes(self._file.buffer(batch, at + 2, int(offsets[-1]) if count else 0))
        places = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        return is_there, [data[start:stop] for start, stop in places]


def _columns_of_header(header: Any, study: str | None, path: Path) -> list[RowColumn]:
    """Return the columns that the metadata of a file describe."""
    is_header = isinstance(header, dict) and set(header) == {"format", "study", "columns"}
    if not is_header:
        raise bad_file(f"{path}: does not describe results", "columns", short_repr(header))
    if header["format"] != FORMAT:
        raise FileFormatError(
            f"{path}: is of another version",
            f"format version {FORMAT}",
            short_repr(header["format"]),
            "open it with a newer release of stagecache",
        )
    if study is not None and header["study"] != study:
        raise StudyError(
            f"{path}: belongs to another study",
            f"results of study {study[:12]}, which study.json describes",
            f"results of study {str(header['study'])[:12]}",
            "move the file back to the folder of its own study",
        )
    columns = []
    try:
        for name, role, dtype, shape, is_array in header["columns"]:
            if role not in (FACT, PARAMETER, RESULT) or type(name) is not str:
                raise ValueError(f"role {role!r}")  # any ValueError here means damage
            if dtype in (TEXT, FILE):
                columns.append(RowColumn(name, role, dtype))
                continue
            if dtype not in DTYPES or not all(type(n) is int and 0 < n < 2**40 for n in shape):
                raise ValueError(f"numbers of {dtype!r}")
            form = ColumnForm(name, role, dtype, tuple(shape), is_array is True)
            columns.append(RowColumn(name, role, form))
    except (TypeError, ValueError) as error:
        raise bad_file(f"{path}: does not describe results", "columns", str(error)) from None
    if tuple(columns[: len(FACTS)]) != FACTS:
        named = [column.name for column in columns]
        raise bad_file(f"{path}: does not describe results", "columns of a row", short_repr(named))
    return columns
