"""Trajectories as Parquet, by pyarrow: the columns of a trajectory file, compressed."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from stagecache.checks import require_extra
from stagecache.errors import FileFormatError
from stagecache.files.values import bad_file
from stagecache.study.trajectory.header import Header
from stagecache.study.trajectory.imported import SUMS, ImportedFile, sums_of
from stagecache.study.trajectory.rows import AbstractRows
from stagecache.study.trajectory.stream import BATCH, CHANGES, KEY, Details, save_rows

EXTRA: Final = "files"
INSTEAD: Final = "use save()"


def write_parquet(
    rows: AbstractRows, path: Path, record: tuple[str, ...], details: Details
) -> None:
    """Write rows into a Parquet file, batch after batch; it takes its name when it is whole."""
    pyarrow = require_extra("pyarrow", EXTRA, "to_parquet()", INSTEAD)
    parquet = require_extra("pyarrow.parquet", EXTRA, "to_parquet()", INSTEAD)
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        stream, beside = Path(folder, "stream"), Path(folder, "parquet")
        save_rows(rows, stream, record, details)
        with stream.open("rb") as file, pyarrow.ipc.open_stream(file) as reader:
            header = Header.of_text(_text(reader.schema.metadata, KEY), str(path))
            keep = [name for name in reader.schema.names if name != BATCH]
            schema = pyarrow.schema([reader.schema.field(n) for n in keep], reader.schema.metadata)
            sums: dict[str, int] = {}
            with parquet.ParquetWriter(beside, schema) as writer:
                for batch in reader:
                    sums = sums_of(_columns_of(batch, header), sums)
                    writer.write_batch(batch.select(keep).replace_schema_metadata(schema.metadata))
                writer.add_key_value_metadata({SUMS: json.dumps(sums)})
        beside.replace(path)


def read_parquet(path: Path) -> ImportedFile:
    """Return the trajectory in a Parquet file.

    Raises
    ------
    FileFormatError
    MissingExtraError
        pyarrow is not installed.
    """
    require_extra("pyarrow", EXTRA, f"load_trajectory({str(path)!r})", "save it by save()")
    parquet = require_extra("pyarrow.parquet", EXTRA, "load_trajectory()", INSTEAD)
    try:
        table = parquet.read_table(path)
        header = Header.of_text(_text(table.schema.metadata, KEY), str(path))
        columns = _columns_of(table, header)
        sums = json.loads(_text(parquet.read_metadata(path).metadata, SUMS) or "null")
    except FileFormatError:
        raise
    except Exception as error:  # of pyarrow: of any kind
        raise bad_file(f"{path}: is damaged", "a Parquet file", str(error)) from error
    changes: dict[int, bytes] = {}
    if CHANGES in table.column_names:
        packed = table.column(CHANGES).to_pylist()
        changes = {row: data for row, data in enumerate(packed) if data is not None}
    return ImportedFile(path, header, columns, changes, sums)


def _text(metadata: Any, key: str) -> str:
    found: bytes = (metadata or {}).get(key.encode(), b"")
    return found.decode("utf-8", "replace")


def _columns_of(table: Any, header: Header) -> dict[str, Any]:
    """Return the numbers of the columns of a table or a batch of pyarrow."""
    forms = [form for form in header.forms.values() if form.path in table.schema.names]
    return {form.path: _numbers(table.column(form.path), form.shape) for form in forms}


def _numbers(column: Any, shape: tuple[int, ...]) -> Any:
    """Return the numbers of a column of pyarrow; those that are null are 0."""
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if not shape:
        nothing = False if str(array.type) == "bool" else 0
        return array.fill_null(nothing).to_numpy(zero_copy_only=False)
    if array.null_count:
        empty = [0] * int(np.prod(shape))
        rows = [empty if row is None else row for row in array.to_pylist()]
        return np.array(rows, array.type.value_type.to_pandas_dtype()).reshape(-1, *shape)
    return array.flatten().to_numpy(zero_copy_only=False).reshape(-1, *shape)
