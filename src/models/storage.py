r"""Files of OpenSim with columns over time, .mot and .sto: coordinates, errors, forces.

::

    Coordinates                     the name
    version=1
    nRows=73                        nColumns and nRows are those of the data
    nColumns=24
    inDegrees=yes
    endheader
    time    pelvis_tilt    pelvis_list    ...

A file in degrees has angles and lengths side by side, and does not tell which is which. The model
knows: pass it to get rad and m.
"""

from collections.abc import Iterable
from io import StringIO
from math import inf, isnan
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from stagecache.checks import require_bool, require_path, require_type
from stagecache.errors import FileFormatError
from stagecache.files.envelope import write_atomically
from stagecache.models.model import Model
from stagecache.models.reading import bad, number, read_lines, shown, whole
from stagecache.models.table import Table, table_of
from stagecache.multibody.geometry.spatial import Array

END: Final = "endheader"
DEGREES: Final = "inDegrees"
TYPES: Final = ("", "double")
MOST_HEADER: Final = 1000  # lines


def read_sto(path: str | PathLike[str], *, model: Model | None = None) -> Table:
    """Read a file of OpenSim, .sto or .mot.

    Parameters
    ----------
    path : str or os.PathLike
    model : Model, optional
        With it, columns named after its coordinates are in rad and m, and have these units; a file
        in degrees is converted. Without it, values are as in the file, and units are "";
        ``header["inDegrees"]`` is "yes" or "no".

    Returns
    -------
    Table

    Raises
    ------
    FileFormatError
        It is not such a file. The message has the line.
    WrongTypeError, OSError
    """
    file = require_path(path, "read_sto(path)")
    if model is not None:
        what = "read_sto(model=...): not a model"
        require_type(model, Model, what, "a Model", "pass what load_osim() has returned")
    lines = read_lines(file)
    end, header = _header(lines, file.name)
    labels, first = _labels(lines, end + 1, file.name)
    times, values = _rows(lines, first, labels, file.name)
    for key, found in (("nRows", len(times)), ("nColumns", len(labels))):
        if key in header and whole(header[key]) != found:
            where = f"{file.name}, header"
            raise bad(where, f"{key} does not fit", f"{header[key]} as it says", f"{found}")
    units = [""] * (len(labels) - 1)
    is_in_degrees = header.get(DEGREES, "no").lower() == "yes"
    header[DEGREES] = "yes" if is_in_degrees else "no"
    if model is not None:
        units = [_unit(label, model) for label in labels[1:]]
        if is_in_degrees:
            angles = [i for i, unit in enumerate(units) if unit.startswith("rad")]
            values[:, angles] = np.radians(values[:, angles])
            header[DEGREES] = "no"
    name = header.pop("name", "")
    return table_of(file.name, times, labels[1:], values, units, name, header)


def read_mot(path: str | PathLike[str], *, model: Model | None = None) -> Table:
    """Read a file of motion; the same as `read_sto`.

    Raises
    ------
    FileFormatError, WrongTypeError, OSError
    """
    return read_sto(path, model=model)


def _unit(label: str, model: Model) -> str:
    """Return the unit of a column: of a coordinate, or of its speed; "" if it is neither."""
    parts = label.split("/")
    if len(parts) > 2 and parts[-1] == "speed":
        unit = model.units.get(parts[-2], "")
        return f"{unit}/s" if unit else ""
    return model.units.get(_coordinate(label), "")


def _coordinate(label: str) -> str:
    """Return the coordinate of a column: "/jointset/knee/knee_angle/value" is one as well."""
    parts = label.split("/")
    return parts[-2] if len(parts) > 2 and parts[-1] == "value" else label


def _header(lines: list[str], name: str) -> tuple[int, dict[str, str]]:
    """Return the line of the end of the header, and what it says."""
    header: dict[str, str] = {}
    for i, line in enumerate(lines[:MOST_HEADER]):
        text = line.strip()
        if text.lower() == END:
            return i, header
        key, equals, value = text.partition("=")
        if equals:
            header[key.strip()] = value.strip()
        elif i == 0:
            header["name"] = text
    raise bad(
        f"{name}, line 1",
        "is not a file of OpenSim",
        f"a header that ends by {END!r}",
        repr(lines[0][:40]) if lines else "an empty file",
        "pass a file .mot or .sto",
    )


def _labels(lines: list[str], start: int, name: str) -> tuple[list[str], int]:
    """Return the names of the columns, time first, and the line after them."""
    line = next((i for i in range(start, len(lines)) if lines[i].strip()), start)
    labels = lines[line].split() if line < len(lines) else []
    if "\t" in lines[line] if line < len(lines) else False:
        labels = [cell.strip() for cell in lines[line].split("\t") if cell.strip()]
    if not labels or labels[0].lower() != "time":
        expected = "the names of columns, of which the first is time"
        raise bad(f"{name}, line {line + 1}", "does not name the columns", expected, shown(labels))
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        expected = "a name of its own for each column"
        raise bad(f"{name}, line {line + 1}", "names a column twice", expected, shown(twice))
    return labels, line + 1


def _rows(lines: list[str], start: int, labels: list[str], name: str) -> tuple[Array, Array]:
    """Return times and values."""
    rows: list[list[float]] = []
    for i in range(start, len(lines)):
        cells = lines[i].split()
        if not cells:
            continue
        if len(cells) != len(labels):
            expected = f"{len(labels)} numbers, one for each column"
            raise bad(f"{name}, line {i + 1}", "is not a row", expected, f"{len(cells)}")
        row = [number(cell) for cell in cells]
        found = [x for x in row if x is not None and abs(x) != inf]
        if len(found) != len(labels) or isnan(found[0]):
            wrong = next(
                (c for c, x in zip(cells, row, strict=True) if x is None or abs(x) == inf), cells[0]
            )
            hint = "a file of vectors has DataType=Vec3, and is not read" if "," in wrong else ""
            raise bad(
                f"{name}, line {i + 1}",
                "is not a row of numbers",
                "numbers",
                repr(wrong[:40]),
                hint or "look at this line",
            )
        rows.append(found)
    found_rows = np.array(rows, np.float64).reshape(len(rows), len(labels))
    return found_rows[:, 0], found_rows[:, 1:]


# ---------------------------------------------------------------------- writing


def write_sto(path: str | PathLike[str], table: Table, *, in_degrees: bool = False) -> None:
    """Write columns as OpenSim does, .sto. An older file of that name is replaced.

    Parameters
    ----------
    path : str or os.PathLike
    table : Table
        Of columns, not of points.
    in_degrees : bool
        True to write columns with unit "rad" in degrees.

    Raises
    ------
    WrongTypeError, NotANumberError
    FileFormatError
        The table has points, or a label has a tab.
    OSError
        The file cannot be written; the older one is as it was.
    """
    _write(path, table, in_degrees, "write_sto")


def write_mot(path: str | PathLike[str], table: Table, *, in_degrees: bool = True) -> None:
    """Write a motion as OpenSim does, .mot: angles in degrees, if not told otherwise.

    Else as `write_sto`.

    Raises
    ------
    WrongTypeError, NotANumberError, FileFormatError, OSError
    """
    _write(path, table, in_degrees, "write_mot")


def _write(path: str | PathLike[str], table: Table, in_degrees: bool, what: str) -> None:
    file = require_path(path, f"{what}(path)")
    hint = "pass what inverse_kinematics() or read_mot() has returned"
    require_type(table, Table, f"{what}(table): not a table", "a Table", hint)
    is_in_degrees = require_bool(in_degrees, f"{what}(in_degrees=...)")
    _check_writable(table, file)
    values = table.values.copy()
    if is_in_degrees:
        angles = [i for i, unit in enumerate(table.units) if unit == "rad"]
        values[:, angles] = np.degrees(values[:, angles])
    said = table.header.get(DEGREES) == "yes" or is_in_degrees
    header = [
        table.name or Path(file).stem,
        "version=1",
        f"nRows={len(table)}",
        f"nColumns={len(table.labels) + 1}",
        f"{DEGREES}={'yes' if said else 'no'}",
        "",
        "Units are S.I. units (second, meters, Newtons, ...)",
        *(["Angles are in degrees.", ""] if said else [""]),
        END,
        "\t".join(("time", *table.labels)),
    ]
    text = StringIO()
    text.write("\n".join(header) + "\n")
    np.savetxt(text, np.column_stack([table.times, values]), fmt="%.12g", delimiter="\t")
    write_atomically(file, text.getvalue().encode())


def _check_writable(table: Table, path: Path) -> None:
    if table.has_points:
        raise FileFormatError(
            f"{path.name}: has no form for points",
            "a table of columns",
            repr(table),
            "write one coordinate of the points: they are table.values[..., 0] and so on",
        )
    for label in _with_spaces((*table.labels, table.name)):
        raise FileFormatError(
            f"{path.name}: a label cannot be written",
            "labels without tabs and ends of lines",
            repr(label),
            "rename the column",
        )


def _with_spaces(labels: Iterable[str]) -> list[str]:
    return [label for label in labels if any(c in label for c in "\t\r\n")]
