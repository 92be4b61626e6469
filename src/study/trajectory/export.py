"""Trajectories in other forms: tables of pandas, as text and as HTML."""

import csv
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from stagecache.checks import (
    did_you_mean,
    require_extra,
    require_path,
    require_text,
    require_type,
)
from stagecache.display.html import heading, output, paragraph, table
from stagecache.errors import UnknownPathError
from stagecache.state.handles import Vector
from stagecache.study.trajectory.rows import NUMBERS, Column

Units = Mapping[str, str]
"""Units of columns, by path."""


def titles(column: Column, units: Units) -> list[str]:
    """Return the labels of a column with its unit: "pendulum.angle [rad]"."""
    unit = units.get(column.path)
    return [f"{label} [{unit}]" if unit else label for label in column.labels]


MOST_ROWS: Final = 5
"""Rows that are shown at the beginning, and at the end."""

MOST_COLUMNS: Final = 12


def check_units(columns: Sequence[Column], units: Units) -> None:
    """Refuse units of other columns, and units that are not texts.

    Raises
    ------
    WrongTypeError, UnknownPathError, InvalidNameError
    """
    hint = 'write a dict: units={"pendulum.angle": "rad"}'
    require_type(units, dict, "units=...: not units by path", "a dict of texts", hint)
    known = [column.path for column in columns]
    for path, unit in units.items():
        require_text(unit, f"units={{{path!r}: ...}}", 'write it as one: "rad"')
        if path not in known:
            raise UnknownPathError(
                f"units={{{path!r}: ...}}: not a column of the dataset",
                "the path of a column of the dataset",
                repr(path),
                did_you_mean(path, known) or f"use one of {', '.join(known)}",
            )


def pandas_dataframe(times: Vector, columns: Sequence[Column]) -> Any:
    """Return a `pandas.DataFrame` with the index "time", and a column for each number."""
    pandas = require_extra("pandas", "labels", "to_dataframe()", "use to_csv()")
    data: dict[str, Any] = {}
    for column in columns:
        if column.kind != "time":
            numbers = column.numbers("put into a table")
            data |= zip(column.labels, numbers.T.copy(), strict=True)
    return pandas.DataFrame(data, index=pandas.Index(times.copy(), name="time"))


def write_csv(path: Any, times: Vector, columns: Sequence[Column]) -> None:
    """Write a table: "time", and a column for each number."""
    head, numbers = ["time"], [times.tolist()]
    for column in columns:
        if column.kind == "time":
            continue
        values = column.numbers("written to a table")
        if values.dtype.kind == "b":
            values = values.astype(int)
        head += column.labels
        numbers += values.T.tolist()
    if hasattr(path, "write"):
        _write(path, head, numbers)
        return
    with require_path(path, "to_csv(path)").open("w", newline="", encoding="utf-8") as file:
        _write(file, head, numbers)


def _write(file: Any, head: list[str], numbers: list[list[Any]]) -> None:
    writer = csv.writer(file)
    writer.writerow(head)
    writer.writerows(zip(*numbers, strict=True))


def html_table(summary: str, parts: Sequence[tuple[Vector, Sequence[Column]]], units: Units) -> str:
    """Return a table of rows, as HTML, with "…" between its parts.

    It has the columns that are numbers of one shape in all of them.
    """
    numeric = [{c.path: c for c in found if c.values.dtype.kind in NUMBERS} for _, found in parts]
    common = [
        column
        for path, column in numeric[0].items()
        if all(path in others and others[path].labels == column.labels for others in numeric)
    ]
    labels = [label for column in common for label in titles(column, units)]
    width = min(len(labels), MOST_COLUMNS)
    body = []
    for (times, _), columns in zip(parts, numeric, strict=True):
        found = [columns[column.path].numbers("shown").astype(float) for column in common]
        numbers = np.hstack([times[:, None], *found])[:, : 1 + width]
        body.append([[f"{x:.6g}" for x in row] for row in numbers.tolist()])
    rows = body[0] + [cells for part in body[1:] for cells in (["…"] * (1 + width), *part)]
    more = len(labels) - width
    shown = table(("time [s]", *labels[:width]), rows, texts=0)
    said = [heading("Trajectory", summary), shown]
    if more:
        said.append(paragraph(f"... and {more:,} more column{'s' if more > 1 else ''}"))
    return output(*said)
