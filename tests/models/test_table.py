"""Tables of data over time."""

from importlib.util import find_spec

import numpy as np
import pytest

from stagecache.errors import DuplicateNameError, OutOfRangeError, ShapeError, UnknownItemError
from stagecache.models import Table


def angles() -> Table:
    return Table([0.0, 0.1, 0.2], ["hip", "knee"], np.arange(6.0).reshape(3, 2), ["rad", "rad"])


def points() -> Table:
    return Table([0.0, 0.1], ["hip", "knee"], np.arange(12.0).reshape(2, 2, 3), ["m", "m"])


def test_columns_and_units_are_found_by_label() -> None:
    table = angles()
    np.testing.assert_array_equal(table["knee"], [1.0, 3.0, 5.0])
    assert (table.unit("knee"), "hip" in table, "toe" in table, len(table)) == (
        "rad",
        True,
        False,
        3,
    )
    with pytest.raises(UnknownItemError, match="did you mean 'knee'"):
        table["kneee"]
    with pytest.raises(ValueError, match="read-only"):
        table["knee"][0] = 3.0


def test_parts_are_tables() -> None:
    table = angles().between(0.1, 0.2)
    np.testing.assert_array_equal(table.times, [0.1, 0.2])
    assert table.columns(["knee"]).labels == ("knee",)
    np.testing.assert_array_equal(table.columns(["knee", "hip"]).values, [[3.0, 2.0], [5.0, 4.0]])
    assert len(angles().between(5.0, 6.0)) == 0


def test_points_can_be_turned_into_other_axes() -> None:
    upright = points().turned([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # of z up, y up
    np.testing.assert_array_equal(upright["hip"][0], [0.0, 2.0, -1.0])
    with pytest.raises(ShapeError, match="has no points"):
        angles().turned(np.eye(3))
    with pytest.raises(OutOfRangeError):
        points().turned(2 * np.eye(3))


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="the values of a Table"):
        Table([0.0], ["a", "b"], [[1.0]])
    with pytest.raises(ShapeError, match="the units of a Table"):
        Table([0.0], ["a"], [[1.0]], ["m", "m"])
    with pytest.raises(DuplicateNameError):
        Table([0.0], ["a", "a"], [[1.0, 2.0]])
    with pytest.raises(OutOfRangeError, match="do not ascend"):
        Table([1.0, 0.0], ["a"], [[1.0], [2.0]])


def test_it_shows_what_it_has() -> None:
    assert repr(angles()) == "Table(2 columns, 3 rows, t=0 to 0.2)"
    assert repr(points().between(0.0, 0.0)) == "Table(2 points, 1 row, t=0)"


@pytest.mark.skipif(find_spec("xarray") is None, reason="needs xarray (the extra labels)")
def test_it_becomes_an_array_of_xarray_with_units() -> None:
    array = points().to_xarray()
    assert array.dims == ("time", "label", "axis")
    assert array.sel(label="knee", axis="z").values.tolist() == [5.0, 11.0]
    assert array.unit.values.tolist() == ["m", "m"]
    assert angles().to_xarray().dims == ("time", "label")
