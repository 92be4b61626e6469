r"""Files of markers, .trc: positions of markers over time, as motion capture exports them.

::

    PathFileType  4  (X/Y/Z)  walk.trc
    DataRate  CameraRate  NumFrames  NumMarkers  Units  ...
    60.00     60.00       151        41          mm     ...
    Frame#  Time  R.ASIS                Sternum
                  X1    Y1     Z1       X2  Y2  Z2
    1       0.0   617.2 1055.2 170.7                      an empty cell is a gap

Cells are separated by tabs. Positions are converted to meters.
"""

import warnings
from math import inf, isfinite, nan
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stagecache.checks import require_choice, require_path, require_type
from stagecache.models.model import Model, ModelWarning
from stagecache.models.reading import bad, number, read_lines, shown, whole
from stagecache.models.table import Table, table_of
from stagecache.multibody.geometry.spatial import Array

UNITS: Final = {"m": 1.0, "meters": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
"""Lengths of units in meters."""

PLAUSIBLE: Final = (0.2, 5.0)
"""Size of all markers, by the size of the model, at which a unit is believed."""

HEADER_LINES: Final = 5


def read_trc(
    path: str | PathLike[str], *, unit: str | None = None, model: Model | None = None
) -> Table:
    """Read positions of markers, in meters.

    A gap is NaN. A marker that is at exactly 0, 0, 0 in a frame was lost there: it is NaN as well,
    and named in a warning.

    Parameters
    ----------
    path : str or os.PathLike
        A file .trc.
    unit : str, optional
        "m", "cm", "mm", "in" or "ft", for a file that does not say it. The unit of a file that says
        it counts in any case.
    model : Model, optional
        For a file that does not say its unit: it is meters if the size is plausible beside the
        size of the model.

    Returns
    -------
    Table
        A point for each marker and frame, with unit "m".

    Raises
    ------
    FileFormatError
        It is not such a file, or its unit is not known. The message has the line.
    WrongTypeError, UnknownChoiceError, OSError

    Warns
    -----
    ModelWarning
        Markers are at exactly 0, 0, 0 in some frames.
    """
    file = require_path(path, "read_trc(path)")
    if unit is not None:
        require_choice(unit, tuple(UNITS), "read_trc(unit=...)", "write unit='mm'")
    if model is not None:
        what = "read_trc(model=...): not a model"
        require_type(model, Model, what, "a Model", "pass what load_osim() has returned")
    return _Trc(file).read(unit, model)


class _Trc:
    """One file, line by line."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.lines = read_lines(path)

    def read(self, unit: str | None, model: Model | None) -> Table:
        header = self._header()
        labels = self._labels()
        times, values = self._rows(len(labels))
        self._check_counts(header, len(labels), len(times))
        values = values * self._scale(header, values, unit, model)
        values.reshape(-1, 3)[self._lost(labels, values)] = nan
        units = ["m"] * len(labels)
        return table_of(self.name, times, labels, values, units, Path(self.name).stem, header)

    # ------------------------------------------------------------------ the header

    def _where(self, line: int) -> str:
        return f"{self.name}, line {line + 1}"

    def _header(self) -> dict[str, str]:
        first = self.lines[0].split("\t")[0].strip() if self.lines else ""
        if first != "PathFileType" or len(self.lines) < HEADER_LINES:
            raise bad(
                self._where(0),
                "is not a file of markers",
                "PathFileType, and a header of five lines",
                repr(first[:40]),
                "pass a file .trc, as motion capture exports it",
            )
        keys, values = self.lines[1].split("\t"), self.lines[2].split("\t")
        pairs = zip(
            (key.strip() for key in keys), (value.strip() for value in values), strict=False
        )
        return {key: value for key, value in pairs if key}

    def _labels(self) -> list[str]:
        cells = [cell.strip() for cell in self.lines[3].split("\t")]
        if [cell.lower() for cell in cells[:2]] != ["frame#", "time"]:
            expected = "Frame#, Time, and the names of markers, separated by tabs"
            raise bad(
                self._where(3), "does not name the columns", expected, repr(self.lines[3][:40])
            )
        labels = [cell for cell in cells[2:] if cell]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            expected = "a name of its own for each marker"
            raise bad(self._where(3), "names a marker twice", expected, shown(twice))
        return labels

    def _check_counts(self, header: dict[str, str], markers: int, frames: int) -> None:
        for key, found in (("NumMarkers", markers), ("NumFrames", frames)):
            said = header.get(key, "")
            if said and whole(said) != found:
                expected = f"{said} as the header says"
                raise bad(self._where(2), f"{key} does not fit", expected, f"{found}")

    # ------------------------------------------------------------------ the rows

    def _rows(self, markers: int) -> tuple[list[float], Array]:
        times: list[float] = []
        rows: list[list[float]] = []
        width = 2 + 3 * markers
        for line in range(HEADER_LINES, len(self.lines)):
            cells = self.lines[line].split("\t")
            if not any(cell.strip() for cell in cells):
                continue
            if any(cell.strip() for cell in cells[width:]):
                expected = f"{width} cells, for {markers} markers"
                raise bad(self._where(line), "has too many cells", expected, f"{len(cells)}")
            numbers = self._numbers(cells[:width], line)
            numbers += [nan] * (width - len(numbers))
            if not isfinite(numbers[1]):
                raise bad(self._where(line), "has no time", "a time in the second cell", "none")
            times.append(numbers[1])
            rows.append(numbers[2:])
        return times, np.array(rows, np.float64).reshape(len(rows), markers, 3)

    def _numbers(self, cells: list[str], line: int) -> list[float]:
        """Return the numbers of a row; quickly where it has neither gaps nor faults."""
        try:
            found = list(map(float, cells))
        except ValueError:
            found = [inf]
        if isfinite(sum(found)) and "_" not in self.lines[line]:
            return found
        return [self._number(cell, line, i) for i, cell in enumerate(cells)]

    def _number(self, cell: str, line: int, place: int) -> float:
        text = cell.strip()
        found = number(text) if text else nan
        if found is None or abs(found) == inf:
            where = f"{self._where(line)}, cell {place + 1}"
            raise bad(where, "is not a number", "a number, or nothing for a gap", repr(text[:40]))
        return found

    # ------------------------------------------------------------------ meaning

    def _scale(
        self, header: dict[str, str], values: Array, unit: str | None, model: Model | None
    ) -> float:
        """Return the length of the unit in meters."""
        said = header.get("Units", "").lower()
        if said in UNITS:
            return UNITS[said]
        where = self._where(2)
        if said:
            raise bad(where, "has an unknown unit", ", ".join(UNITS), repr(said), "mend Units")
        if unit is not None:
            return UNITS[unit]
        hint = "say it: read_trc(path, unit='mm')"
        if model is None:
            raise bad(where, "has no unit", "Units in the header", "none", hint)
        size, own = size_of(values), model.size
        if not PLAUSIBLE[0] * own <= size <= PLAUSIBLE[1] * own:
            expected = f"about the size of the model, {own:.3g} m, if these are meters"
            raise bad(
                where,
                "has no unit, and its size is not plausible",
                expected,
                f"markers {size:.3g} apart",
                hint,
            )
        return 1.0

    def _lost(self, labels: list[str], values: Array) -> NDArray[np.bool_]:
        """Return where markers are at exactly 0, 0, 0, as a mask; warn of them."""
        lost = ~values.any(axis=2)
        if lost.any():
            counts = lost.sum(axis=0)
            told = [
                f"{label} in {n} frames"
                for label, n in zip(labels, counts.tolist(), strict=True)
                if n
            ]
            warnings.warn(
                f"{self.name}: markers at exactly 0, 0, 0 are taken as lost: {shown(told)}",
                ModelWarning,
                stacklevel=4,
            )
        found: NDArray[np.bool_] = lost.ravel()
        return found


def size_of(values: Array) -> float:
    """Return the median over frames of the diagonal of the box around all points (n, m, 3)."""
    there = values[~np.isnan(values).all(axis=(1, 2))]
    if not len(there):
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of axes without a value
        spans = np.nanmax(there, axis=1) - np.nanmin(there, axis=1)
    return float(np.median(np.linalg.norm(spans, axis=1)))
