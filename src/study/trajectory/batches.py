"""Record batches of Arrow: columns of numbers, of lists of a fixed size, and of bytes or texts."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import nanoarrow as na
import numpy as np
from nanoarrow.ipc import StreamWriter

from stagecache.study.trajectory.arrow import END, PREFIX
from stagecache.study.trajectory.columns import ColumnForm, stored
from stagecache.study.trajectory.rows import Array


def type_of(form: ColumnForm, *, is_nullable: bool) -> Any:
    """Return the type of a column of numbers."""
    if form.is_list:
        return na.fixed_size_list(_numbers(form, is_nullable=False), form.width, is_nullable)
    return _numbers(form, is_nullable=is_nullable)


def _numbers(form: ColumnForm, *, is_nullable: bool) -> Any:
    return {"float64": na.float64, "int64": na.int64, "bool": na.bool_}[form.dtype](is_nullable)


def number_column(
    form: ColumnForm, values: Array, is_there: Array | None, *, is_nullable: bool
) -> Any:
    """Return a column of numbers; `is_there` tells where they are, None that they are everywhere.

    Parameters
    ----------
    form : ColumnForm
    values : (n, ...) ndarray
    is_there : (n,) bool, optional
    is_nullable : bool
    """
    count = len(values)
    schema = type_of(form, is_nullable=is_nullable)
    validity = None if is_there is None else stored(is_there)
    nulls = 0 if is_there is None else int(count - is_there.sum())
    if not form.is_list:
        return na.c_array_from_buffers(schema, count, [validity, stored(values)], null_count=nulls)
    child = na.c_array_from_buffers(
        _numbers(form, is_nullable=False), values.size, [None, stored(values)], null_count=0
    )
    return na.c_array_from_buffers(schema, count, [validity], null_count=nulls, children=[child])


def binary_column(values: Sequence[bytes | None], schema: Any = None) -> Any:
    """Return a column of bytes; of texts in UTF-8, if the schema says so."""
    is_there = np.array([value is not None for value in values], bool)
    lengths = [len(value or b"") for value in values]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    data = np.frombuffer(b"".join(value or b"" for value in values), np.uint8)
    return na.c_array_from_buffers(
        na.binary() if schema is None else schema,
        len(values),
        [np.packbits(is_there, bitorder="little"), offsets, data],
        null_count=int(len(values) - is_there.sum()),
    )


def schema_of(
    fields: Mapping[str, tuple[Any, Mapping[str, str]]], metadata: Mapping[str, str]
) -> Any:
    """Return a schema of columns: types and facts by name."""
    made = {
        name: na.c_schema(kind).modify(metadata=dict(facts))
        for name, (kind, facts) in fields.items()
    }
    return na.c_schema(na.struct(made)).modify(metadata=dict(metadata))


def messages(schema: Any, columns: Sequence[Any], count: int) -> tuple[bytes, bytes]:
    """Return the messages of a schema and of a record batch."""
    batch = na.c_array_from_buffers(schema, count, [None], null_count=0, children=columns)
    sink = BytesIO()
    with StreamWriter.from_writable(sink) as writer:
        writer.write_array(batch)
    data = sink.getvalue().removesuffix(END)
    stop: int = PREFIX.size + PREFIX.unpack_from(data)[1]
    return data[:stop], data[stop:]


def binary_type(*, is_text: bool) -> Any:
    """Return the type of a column of bytes, or of texts."""
    return na.string() if is_text else na.binary()
