"""Views of elements that lie apart: what they give, and what they refuse before they write."""

import numpy as np
import pytest

from stagecache.errors import ReadOnlyError, UnknownItemError
from stagecache.state.continuous.element_views import JoinedView, SelectedView


def joined(*sizes: int, dtype: type = float) -> JoinedView:
    return JoinedView([np.ones(size, dtype) for size in sizes])


def test_an_element_is_a_number_and_several_are_an_array() -> None:
    view = joined(2, 1)
    assert type(view[0]) is np.float64
    assert view[[0, 2]].shape == (2,)


def test_the_index_after_the_last_one_is_refused() -> None:
    for view in (joined(2, 1), joined(2, 1)[:2]):
        with pytest.raises(UnknownItemError, match=f"has no element {len(view)}"):
            view[len(view)]


def test_a_view_becomes_an_array_of_the_type_that_is_asked_for() -> None:
    assert joined(2, 1).__array__(np.dtype(int)).dtype == int
    assert joined(2, 1).__array__().dtype == float


def test_a_number_does_not_widen_the_type_of_a_view_that_it_is_multiplied_by() -> None:
    assert (joined(2, 1, dtype=np.float32) * 2.0).dtype == np.float32


def test_more_than_twelve_elements_are_shown_in_part() -> None:
    assert "..." not in repr(joined(6, 6))
    assert "..." in repr(joined(6, 7))


def test_whole_floats_are_written_where_integers_are() -> None:
    view = JoinedView([np.zeros(1, int), np.zeros(1)])
    view[:] = np.array([2.0, 2.5])
    assert list(view) == [2, 2.5]


def test_a_part_that_cannot_be_written_keeps_the_others_from_it() -> None:
    fixed = np.ones(2)
    fixed.flags.writeable = False
    for last in (JoinedView([fixed]), SelectedView(fixed, np.array([0])), joined(1).read_only()):
        first = np.ones(1)
        with pytest.raises(ReadOnlyError):
            JoinedView([first, last])[:] = 5.0
        assert list(first) == [1.0]
