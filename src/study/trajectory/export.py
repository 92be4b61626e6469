"""Trajectories for other tools: labelled arrays of xarray, tables as text, and in notebooks."""

import csv
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np

from stagecache.checks import did_you_mean, require_extra
from stagecache.errors import UnknownPathError
from stagecache.state.handles import Vector
from stagecache.study.trajectory.columns import Column

MOST_ROWS: Final = 5
"""At the beginning, and at the end."""

MOST_COLUMNS: Final = 12


def xarray_dataset(
    times: Vector, columns: Sequence[Column], units: Mapping[str, str], name: str
) -> Any:
    """Return an `xarray.Dataset` of columns, along "time".

    Of vectors, the second dimension is "chain.angles.index", with the names of the numbers.
    """
    xarray = require_extra("xarray", "labels", "to_xarray()", "use to_csv()")
    _check_units(columns, units)
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"time": ("time", times.copy(), {"units": "s"})}
    for column in columns:
        if column.kind == "time":
            continue
        shape = column.values.shape[1:]
        names = [f"{column.path}.index", *[f"{column.path}.index{n}" for n in range(1, len(shape))]]
        if len(shape) == 1:
            coordinates[names[0]] = column.labels
        attributes = {"kind": column.kind}
        if column.path in units:
            attributes["units"] = units[column.path]
        dimensions = ("time", *names[: len(shape)])
        variables[column.path] = (dimensions, column.values.copy(), attributes)
    return xarray.Dataset(variables, coordinates, {"system": name})


def _check_units(columns: Sequence[Column], units: Mapping[str, str]) -> None:
    known = [column.path for column in columns]
    for path in units:
        if path not in known:
            raise UnknownPathError(
                f"units={{{path!r}: ...}}: there is no such column",
                "the path of a column of the dataset",
                repr(path),
                did_you_mean(path, known) or f"use one of {', '.join(known)}",
            )


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
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        _write(file, head, numbers)


def _write(file: Any, head: list[str], numbers: list[list[Any]]) -> None:
    writer = csv.writer(file)
    writer.writerow(head)
    writer.writerows(zip(*numbers, strict=True))


def html_table(summary: str, times: Vector, columns: Sequence[Column]) -> str:
    """Return a table of the first and the last rows, as HTML."""
    labels = [label for column in columns for label in column.labels]
    shown = labels[:MOST_COLUMNS]
    count = len(times)
    rows = list(range(count))
    if count > 2 * MOST_ROWS + 1:
        rows = [*rows[:MOST_ROWS], -1, *rows[-MOST_ROWS:]]
    numbers = np.zeros((count, 0))
    for column in columns:
        if numbers.shape[1] < len(shown):
            numbers = np.hstack([numbers, column.numbers("shown").astype(float)])
    body = []
    for row in rows:
        cells = ["…"] * (1 + len(shown))
        if row >= 0:
            cells = [f"{x:.6g}" for x in (times[row], *numbers[row, : len(shown)])]
        body.append("".join(f"<td>{cell}</td>" for cell in cells))
    head = "".join(f"<th>{escape(label)}</th>" for label in ("time [s]", *shown))
    more = len(labels) - len(shown)
    return (
        f"<p><b>Trajectory</b> {escape(summary)}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(f'<tr>{cells}</tr>' for cells in body)}</tbody></table>"
        + (f"<p>... and {more} more column{'s' if more > 1 else ''}</p>" if more else "")
    )
