"""Writing of trajectory files: an Arrow IPC stream, to which whole batches of rows are appended.

::

    schema     metadata "stagecache": what is in the file, and the State that rows are made from
    batch      columns by path       numbers, or lists of them of a fixed size
               stagecache.changes    in rows where other items have changed: their values
               stagecache.batch      in the last row: checksums, and from where a run can go on
    ...

A batch stands for itself: its first row has all items whose values are not those of the State in
the schema. A file takes its name when its first batch is on disk, so an older file of that name
stays whole until then.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Self, final
from zlib import crc32

import numpy as np

from stagecache.errors import StudyError
from stagecache.files.envelope import errors_naming, name_beside, open_beside, pack
from stagecache.files.values import Blobs, encode
from stagecache.state.handles import ScalarVariable
from stagecache.state.stage import Stage
from stagecache.study.trajectory.arrow import END
from stagecache.study.trajectory.columns import (
    DTYPES,
    ColumnForm,
    form_of_results,
    form_of_value,
    is_result,
    stored,
)
from stagecache.study.trajectory.header import Header
from stagecache.study.trajectory.rows import DISCRETE, AbstractRows, Array, Rows
from stagecache.system.core.state_file import state_bytes

KEY: Final = "stagecache"
CHANGES: Final = "stagecache.changes"
BATCH: Final = "stagecache.batch"
ROWS_OF_BATCH: Final = 1000
PIECE: Final = 2**24
"""Bytes that are copied at once."""

Details = Mapping[str, Any]
Numbers = tuple[Array, Array | None]
"""The numbers of a column, and where they are; None if everywhere."""


@final
class TrajectoryWriter:
    """A file of rows, to which batches are appended.

    Parameters
    ----------
    path : Path
        An older file of that name is replaced when the first batch is written.
    record : sequence of str
        Paths of the recorded items.
    details : dict of str to object
        Further facts about the run; JSON.

    Attributes
    ----------
    num_rows : int
        Rows that are on disk.
    """

    def __init__(
        self, path: Path, record: Sequence[str] = (), details: Details | None = None
    ) -> None:
        self._target = Path(os.path.realpath(path))
        self._beside: Path | None = None  # until its first batch is written
        self._file: BinaryIO | None = None
        self._record = tuple(record)
        self._details = dict(details or {})
        self._encoder: BatchEncoder | None = None
        self.num_rows = 0

    @classmethod
    def appending(cls, path: Path, size: int, num_rows: int, encoder: "BatchEncoder") -> Self:
        """Return a writer that goes on with a file, of which the first bytes are kept.

        Raises
        ------
        StudyError
            It is being written already.
        OSError
        """
        writer = cls(path)
        writer._encoder = encoder
        _refuse_if_written(path)
        if path.stat().st_size > size:  # a new file, since somebody may have mapped the old one
            shorten(writer._target, size)
        writer._file = path.open("r+b")
        claim(writer._file, path)
        writer._file.seek(size)
        writer.num_rows = num_rows
        return writer

    def write(self, rows: Rows, restart: bytes | None = None) -> None:
        """Append rows as a batch, and wait until they are on disk.

        Parameters
        ----------
        rows : Rows
            At least one.
        restart : bytes, optional
            From where a run goes on after the last of these rows.

        Raises
        ------
        UnsavableValueError
            A value of a discrete variable or an entry cannot be saved. Nothing is written then.
        OSError
        """
        encoder = self._encoder
        if encoder is None:
            encoder = BatchEncoder(header_of(rows, self._record, self._details))
        data = encoder.batch(rows, self.num_rows, restart)
        with errors_naming(self._target):
            if self._file is None:
                self._beside = name_beside(self._target)
                self._file = open_beside(self._beside, self._target)
                claim(self._file, self._beside)
                self._file.write(encoder.schema)
            self._encoder = encoder
            self._file.write(data)
            _sync(self._file)
            self.num_rows += rows.times.count
            if self._beside is not None:
                _refuse_if_written(self._target)
                self._beside.replace(self._target)
                self._beside = None

    def close(self, *, is_finished: bool = True) -> None:
        """Close the file; with the end of the stream, if the run is finished."""
        file, self._file = self._file, None
        try:
            if file is not None and is_finished:
                file.write(END)
                _sync(file)
        finally:
            try:
                if file is not None:
                    file.close()
            finally:
                if self._beside is not None:  # a first batch that failed
                    with suppress(OSError):
                        self._beside.unlink()


def shorten(path: Path, size: int) -> None:
    """Replace a file by its first bytes."""
    beside = name_beside(path)
    try:
        with open_beside(beside, path) as file, path.open("rb") as old:
            while left := size - file.tell():
                file.write(old.read(min(left, PIECE)))
            _sync(file)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _refuse_if_written(path: Path) -> None:
    """Refuse a file that somebody else writes, where the system can tell."""
    if path.is_file():
        with path.open("rb") as file:
            claim(file, path)


def claim(file: BinaryIO, path: Path) -> None:
    """Refuse a file that somebody else writes, where the system can tell.

    The claim ends when the file is closed, also by a crash.
    """
    if sys.platform == "win32":
        return
    import fcntl  # noqa: PLC0415  # Windows does not have it

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StudyError(
            f"{path}: is being written",
            "a run that was interrupted",
            "one that is still running, or is resumed already",
            "wait until it ends, or end its process",
        ) from None
    except OSError:  # a file system without locks
        return


def save_rows(rows: AbstractRows, path: Path, record: Sequence[str], details: Details) -> None:
    """Write rows into a file; `Trajectory.save` says more."""
    if not rows.count:
        raise StudyError(
            f"Trajectory.save(): nothing to write into {path}",
            "a trajectory with rows",
            "one without",
            "append a State first",
        )
    writer = TrajectoryWriter(path, record, details)
    try:
        for start in range(0, rows.count, ROWS_OF_BATCH):
            writer.write(rows.in_memory(range(start, min(start + ROWS_OF_BATCH, rows.count))))
        writer.close()
    except BaseException:
        writer.close(is_finished=False)
        raise


# ---------------------------------------------------------------------- what a file says


def forms_of_columns(rows: Rows) -> list[ColumnForm]:
    """Return the forms of the columns of a file that begins with these rows."""
    pattern = rows.pattern
    forms = [ColumnForm("time", "time")]
    for path in pattern.blocks:
        handle = pattern.handle(path)
        place = pattern.place(handle)  # type: ignore[arg-type]  # a block of y
        shape = () if isinstance(handle, ScalarVariable) else (place.stop - place.start,)
        forms.append(ColumnForm(path, handle.kind, shape=shape))  # type: ignore[attr-defined]  # likewise
    for path, variable in pattern.discrete_by_path.items():
        if variable.invalidates > Stage.INSTANCE:
            form = form_of_value(path, DISCRETE, variable(pattern.template))
            forms += [form] if form is not None else []
    for path, values in rows.entries.items():
        form = form_of_results(path, values)
        forms += [form] if form is not None else []
    return forms


def header_of(rows: Rows, record: Sequence[str], details: Details) -> Header:
    """Return the header of a file that begins with these rows."""
    pattern = rows.pattern
    system = pattern.template.system
    return Header(
        system.name,
        system.version,
        rows.classes,
        rows.units,
        rows.number_names,
        {form.path: form for form in forms_of_columns(rows)},
        pattern.places,
        tuple(record),
        tuple(rows.entries),
        state_bytes(pattern.template, cache=False),
        details,
    )


# ---------------------------------------------------------------------- values


def columns_and_changes(
    rows: Rows, forms: Mapping[str, ColumnForm]
) -> tuple[dict[str, Numbers], list[bytes | None]]:
    """Return the numbers of each column, and by row the packed values that stand in none.

    Raises
    ------
    UnsavableValueError
    """
    changes: list[dict[str, Any]] = [{} for _ in range(rows.times.count)]
    columns = {path: _numbers(rows, form, changes) for path, form in forms.items()}
    pattern = rows.pattern
    for path, variable in pattern.discrete_by_path.items():
        if path not in forms:
            kept = rows.discrete[variable.subsystem or 0][variable.index]
            first = variable(pattern.template)
            for row, value in kept.changes():
                if row or not _same(path, value, first):
                    changes[row][path] = value
    for path, values in rows.entries.items():
        if path not in forms:
            for row, value in enumerate(values):
                changes[row][path] = value
    return columns, [pack_changes(row) for row in changes]


def _numbers(rows: Rows, form: ColumnForm, changes: list[dict[str, Any]]) -> Numbers:
    """Return the numbers of a column; other values become changes."""
    pattern, count = rows.pattern, rows.times.count
    if form.kind == "time":
        return rows.times.rows, None
    if form.kind in ("q", "u", "z"):
        place = pattern.place(pattern.handle(form.path))  # type: ignore[arg-type]  # of y
        return rows.y.rows[:, place].reshape(count, *form.shape), None
    if form.kind == DISCRETE:
        variable = pattern.discrete_by_path[form.path]
        found = rows.discrete[variable.subsystem or 0][variable.index].all(count)
        is_there = np.array([form.fits(value) for value in found], bool)
    else:
        found = rows.entries[form.path]
        is_there = np.array([is_result(form, value) for value in found], bool)
    values = np.zeros((count, *form.shape), DTYPES[form.dtype])
    for row, value in enumerate(found):
        if is_there[row]:
            values[row] = value
        else:
            changes[row][form.path] = value
    return values, None if is_there.all() else is_there


# ---------------------------------------------------------------------- batches


@final
class BatchEncoder:
    """Rows as record batches of Arrow.

    Parameters
    ----------
    header : Header
    schema_sum : int, optional
        Checksum of the schema of a file that exists.

    Attributes
    ----------
    schema : bytes
        The message with which a new file begins.
    """

    def __init__(self, header: Header, schema_sum: int | None = None) -> None:
        # Only files need nanoarrow, which it imports.
        from stagecache.study.trajectory import batches  # noqa: PLC0415

        self._batches = batches
        self._forms = header.forms
        forms = header.forms.values()
        units = {"time": "s", **header.units}
        fields: dict[str, tuple[Any, dict[str, str]]] = {}
        for form in forms:
            facts = {"kind": form.kind, "units": units.get(form.path, "")}
            known = {name: fact for name, fact in facts.items() if fact}
            fields[form.path] = batches.type_of(form, is_nullable=_is_nullable(form)), known
        nothing = batches.binary_column([])
        fields |= {CHANGES: (nothing.schema, {}), BATCH: (nothing.schema, {})}
        self._schema = batches.schema_of(fields, {KEY: header.text})
        empty = [self._column(f, np.empty((0, *f.shape), DTYPES[f.dtype]), None) for f in forms]
        columns = [*empty, nothing, batches.binary_column([])]
        self.schema, _ = batches.messages(self._schema, columns, 0)
        self._schema_sum = crc32(self.schema) if schema_sum is None else schema_sum

    def batch(self, rows: Rows, first_row: int, restart: bytes | None) -> bytes:
        """Return the message of a record batch."""
        count = rows.times.count
        found, packed = columns_and_changes(rows, self._forms)
        columns = [self._column(self._forms[path], *numbers) for path, numbers in found.items()]
        columns.append(self._batches.binary_column(packed))
        sums = [checksum(*numbers) for numbers in found.values()]
        sums.append(crc32(b"".join(row or b"" for row in packed)))
        info = {
            "first_row": first_row,
            "rows": count,
            "schema": self._schema_sum,
            "sums": sums,
            "restart": restart is not None,
        }
        last = pack(BATCH, info, [restart or b""])
        columns.append(self._batches.binary_column([*[None] * (count - 1), last]))
        return self._batches.messages(self._schema, columns, count)[1]

    def _column(self, form: ColumnForm, values: Array, is_there: Array | None) -> Any:
        is_nullable = _is_nullable(form)
        return self._batches.number_column(form, values, is_there, is_nullable=is_nullable)


def _is_nullable(form: ColumnForm) -> bool:
    return form.kind in (DISCRETE, "cache entry")


def checksum(values: Array, is_there: Array | None) -> int:
    """Return the checksum of the numbers of a column, and of where they are."""
    found = crc32(stored(values).data)
    return (
        found if is_there is None else crc32(np.packbits(is_there, bitorder="little").data, found)
    )


def pack_changes(row: Mapping[str, Any]) -> bytes | None:
    """Return the values of a row that stand in no column; None if there are none.

    Raises
    ------
    UnsavableValueError
    """
    if not row:
        return None
    blobs: Blobs = []
    content = {path: encode(value, path, blobs) for path, value in row.items()}
    return pack(CHANGES, content, blobs)


def _same(path: str, value: object, other: object) -> bool:
    """Return True if two values are saved as the same."""
    return value is other or pack_changes({path: value}) == pack_changes({path: other})
