"""Files of columns, .mot and .sto."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from stagecache.errors import FileFormatError, WrongTypeError
from stagecache.models import Table, load_osim, read_mot, read_sto, write_mot, write_sto
from tests.models.conftest import Write

HEADER = (
    "Coordinates\nversion=1\nnRows=2\nnColumns=3\ninDegrees={}\n\nUnits are S.I.\n\nendheader\n"
)
ROWS = "time\tq0\tq1\n0.0\t90\t0.5\n0.1\t45\t0.6\n"


def refused(text: str, write: Write) -> str:
    with pytest.raises(FileFormatError) as caught:
        read_sto(write(text, "walk.sto"))
    assert caught.value.what.startswith("walk.sto")
    return str(caught.value)


def test_values_are_as_in_the_file_without_a_model(write: Write) -> None:
    table = read_mot(write(HEADER.format("yes") + ROWS, "walk.mot"))
    assert (table.name, table.labels, table.units) == ("Coordinates", ("q0", "q1"), ("", ""))
    np.testing.assert_allclose(table.values, [[90.0, 0.5], [45.0, 0.6]])
    assert table.header["inDegrees"] == "yes"


@pytest.mark.parametrize(("said", "factor"), [("yes", np.pi / 180.0), ("no", 1.0)])
def test_with_a_model_angles_are_in_rad_and_lengths_in_meters(
    said: str, factor: float, write: Write, small: Callable[[str], Path]
) -> None:
    model = load_osim(small("PlanarJoint"))
    table = read_mot(write(HEADER.format(said) + ROWS, "walk.mot"), model=model)
    assert table.units == ("rad", "m")
    np.testing.assert_allclose(table["q0"], np.array([90.0, 45.0]) * factor)
    np.testing.assert_allclose(table["q1"], [0.5, 0.6])
    assert table.header["inDegrees"] == "no"


def test_columns_of_states_are_those_of_coordinates(
    write: Write, small: Callable[[str], Path]
) -> None:
    rows = ROWS.replace("q0", "/jointset/j/q0/value").replace("q1", "/jointset/j/q0/speed")
    for in_degrees, factor in (("no", 1.0), ("yes", np.pi / 180.0)):
        path = write(HEADER.format(in_degrees) + rows, "states.sto")
        as_written = read_sto(path)
        found = read_sto(path, model=load_osim(small("PlanarJoint")))
        assert found.units == ("rad", "rad/s")
        for label in found.labels:
            np.testing.assert_allclose(found[label], factor * as_written[label], rtol=1e-15)


def test_spaces_separate_columns_as_well_and_labels_may_have_them_between_tabs(
    write: Write,
) -> None:
    assert read_sto(write(HEADER.format("no") + ROWS.replace("\t", "  "))).labels == ("q0", "q1")
    rows = ROWS.replace("q0", "left knee")
    assert read_sto(write(HEADER.format("no") + rows)).labels == ("left knee", "q1")


def test_gaps_are_nan(write: Write) -> None:
    table = read_sto(write(HEADER.format("no") + ROWS.replace("90", "NaN")))
    assert np.isnan(table["q0"][0])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not a file of OpenSim"),
        ("time\tx\n0\t1\n", "is not a file of OpenSim"),
        (HEADER, "does not name the columns"),
        (HEADER + ROWS.replace("time", "frame"), "does not name the columns"),
        (HEADER + ROWS.replace("q1", "q0"), "names a column twice"),
        (HEADER + ROWS.replace("\t0.5", ""), "line 11: is not a row"),
        (HEADER + ROWS.replace("0.5", "half"), "line 11: is not a row of numbers"),
        (HEADER + ROWS.replace("0.5", "1e999"), "line 11: is not a row of numbers"),
        (HEADER + ROWS.replace("0.5", "1,2,3"), "DataType=Vec3"),
        (HEADER + ROWS.replace("0.1\t45", "nan\t45"), "line 12: is not a row of numbers"),
        (HEADER.replace("nRows=2", "nRows=3") + ROWS, "nRows does not fit"),
        (HEADER.replace("nColumns=3", "nColumns=4") + ROWS, "nColumns does not fit"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(text: str, told: str, write: Write) -> None:
    assert told in refused(text, write)


def test_what_is_written_is_read_again(tmp_path: Path, small: Callable[[str], Path]) -> None:
    model = load_osim(small("PlanarJoint"))
    values = np.random.default_rng(0).normal(size=(4, 3))
    times = [0.0, 0.1, 0.2, 1 / 3]
    table = Table(times, ["q0", "q1", "q2"], values, ["rad", "m", "m"], "Coordinates")
    for function, degrees in ((write_mot, "yes"), (write_sto, "no")):
        path = tmp_path / "walk.mot"
        function(path, table)
        text = path.read_text(encoding="utf-8")
        assert f"inDegrees={degrees}\n" in text
        found = read_sto(path, model=model)
        assert (found.labels, found.units, found.name) == (table.labels, table.units, table.name)
        np.testing.assert_allclose(found.values, values, rtol=1e-11)
        np.testing.assert_allclose(found.times, times, rtol=1e-11)


def test_what_has_no_form_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "walk.mot"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(FileFormatError, match="has no form for points"):
        write_mot(path, Table([0.0], ["hip"], np.zeros((1, 1, 3))))
    with pytest.raises(FileFormatError, match="a label cannot be written"):
        write_sto(path, Table([0.0], ["a\tb"], np.zeros((1, 1))))
    with pytest.raises(WrongTypeError, match="not a table"):
        write_sto(path, np.zeros((1, 1)))  # type: ignore[arg-type]  # is refused
    assert path.read_text(encoding="utf-8") == "before"
