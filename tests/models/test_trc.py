"""Files of markers."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from stagecache.errors import FileFormatError, UnknownChoiceError, WrongTypeError
from stagecache.models import ModelWarning, Table, load_osim, read_trc
from tests.models.conftest import Write


def trc(*rows: str, unit: str = "mm", markers: str = "hip\t\t\tknee\t\t", counts: str = "") -> str:
    """Return a file of two markers."""
    number = counts or f"{len(rows)}\t2"
    lines = [
        "PathFileType\t4\t(X/Y/Z)\twalk.trc",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits",
        f"60\t60\t{number}\t{unit}",
        f"Frame#\tTime\t{markers}",
        "\t\tX1\tY1\tZ1\tX2\tY2\tZ2",
        "",
        *rows,
    ]
    return "\n".join(lines) + "\n"


FIRST, SECOND = "1\t0.0\t100\t200\t300\t1\t2\t3", "2\t0.1\t110\t210\t310\t4\t5\t6"


def read(text: str, write: Write, **options: object) -> Table:
    return read_trc(write(text, "walk.trc"), **options)  # type: ignore[arg-type]  # tests give others, too


def refused(text: str, write: Write, **options: object) -> str:
    with pytest.raises(FileFormatError) as caught:
        read(text, write, **options)
    assert caught.value.what.startswith("walk.trc")
    return str(caught.value)


def test_positions_are_in_meters(write: Write) -> None:
    table = read(trc(FIRST, SECOND), write)
    assert (table.labels, table.units, table.name) == (("hip", "knee"), ("m", "m"), "walk")
    np.testing.assert_allclose(table.times, [0.0, 0.1])
    np.testing.assert_allclose(table["hip"], [[0.1, 0.2, 0.3], [0.11, 0.21, 0.31]])
    assert table.header["DataRate"] == "60"


@pytest.mark.parametrize(
    ("unit", "length"), [("m", 1.0), ("cm", 0.01), ("MM", 0.001), ("in", 0.0254), ("meters", 1.0)]
)
def test_units_are_converted(unit: str, length: float, write: Write) -> None:
    np.testing.assert_allclose(
        read(trc(FIRST, unit=unit), write)["knee"], [[length * i for i in (1, 2, 3)]]
    )


@pytest.mark.parametrize("row", ["1\t0.0\t\t\t\t1\t2\t3", "1\t0.0\tNaN\tNaN\tnan\t1\t2\t3"])
def test_gaps_are_nan(row: str, write: Write) -> None:
    table = read(trc(row), write)
    assert np.isnan(table["hip"]).all()
    assert not np.isnan(table["knee"]).any()


def test_rows_may_be_cut_after_the_last_marker_that_is_there(write: Write) -> None:
    table = read(trc("1\t0.0\t100\t200\t300", SECOND + "\t\t"), write)
    assert np.isnan(table["knee"][0]).all()
    assert not np.isnan(table["knee"][1]).any()


def test_markers_at_exactly_zero_are_lost_and_named(write: Write) -> None:
    text = trc("1\t0.0\t0\t0.0\t0\t1\t2\t3", SECOND, "3\t0.2\t0\t0\t0\t0\t5\t0")
    with pytest.warns(
        ModelWarning, match=r"exactly 0, 0, 0 are taken as lost: hip in 2 frames$"
    ) as caught:
        table = read(text, write)
    assert np.isnan(table["hip"][[0, 2]]).all()
    assert not np.isnan(table["knee"]).any()
    assert caught[0].filename == __file__


def test_line_ends_and_a_mark_of_the_order_of_bytes_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.trc"
    path.write_bytes(b"\xef\xbb\xbf" + trc(FIRST).replace("\n", "\r\n").encode())
    assert len(read_trc(path)) == 1


def test_a_file_without_a_unit_needs_one(write: Write, small: Callable[[str], Path]) -> None:
    text = trc(FIRST, SECOND, unit="")
    assert "has no unit" in refused(text, write)
    assert read(text, write, unit="cm")["knee"][0, 0] == 0.01
    assert read(trc(FIRST), write, unit="cm")["knee"][0, 0] == 0.001  # what the file says counts
    model = load_osim(small("PinJoint"))
    assert "has no unit, and its size is not plausible" in refused(text, write, model=model)
    near = trc("1\t0\t0.1\t0.2\t0.3\t0.3\t0.1\t0.6", unit="")
    assert read(near, write, model=model)["hip"][0, 0] == 0.1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not a file of markers"),
        ("time\tx\n0\t1\n", "is not a file of markers"),
        (trc(FIRST, unit="furlong"), "has an unknown unit"),
        (trc(FIRST, markers="hip\t\t\thip\t\t"), "names a marker twice"),
        (trc(FIRST).replace("Frame#", "Row"), "does not name the columns"),
        (trc(FIRST, counts="2\t2"), "NumFrames does not fit"),
        (trc(FIRST, counts="1\t3"), "NumMarkers does not fit"),
        (trc(FIRST.replace("200", "two")), "cell 4: is not a number"),
        (trc(FIRST.replace("200", "1e999")), "cell 4: is not a number"),
        (trc(FIRST.replace("0.0", "")), "has no time"),
        (trc(FIRST + "\t7"), "has too many cells"),
        (trc(FIRST) + "\0", "is not a text"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(text: str, told: str, write: Write) -> None:
    assert told in refused(text, write)


def test_times_that_do_not_ascend_are_refused(write: Write) -> None:
    assert "do not ascend" in refused(trc(SECOND, FIRST), write)


def test_wrong_arguments_are_refused(write: Write) -> None:
    path = write(trc(FIRST), "walk.trc")
    with pytest.raises(UnknownChoiceError):
        read_trc(path, unit="mile")
    with pytest.raises(WrongTypeError):
        read_trc(path, model=3)  # type: ignore[arg-type]  # is refused
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_trc(path)
