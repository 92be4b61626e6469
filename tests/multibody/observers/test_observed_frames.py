"""Markers in many frames, some of which are empty."""

import numpy as np
import pytest
from numpy.typing import NDArray

from stagecache import Assembler
from stagecache.errors import NoObservationError, ObservationError
from stagecache.multibody import Markers, MultibodySystem, Pin

Array = NDArray[np.float64]

ANGLES = np.linspace(0.0, 1.0, 6)  # rad
TIMES = np.arange(6.0)


def observed() -> tuple[Assembler, Array]:
    """An arm with a marker, and six frames of it; the fourth is empty."""
    system = MultibodySystem(name="arm")
    arm = system.matter.add_body("arm", system.matter.ground, Pin())
    assembler = Assembler(system, accuracy=1e-6)
    assembler.add_goal(Markers()).add_marker(arm, [1, 0, 0])
    seen = np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(6)], axis=1)[:, None]
    seen[3] = np.nan
    return assembler, seen


def test_a_frame_in_which_all_markers_are_missing_is_skipped_if_that_is_asked_for() -> None:
    assembler, seen = observed()
    with pytest.warns(RuntimeWarning, match="1 of 6 frames failed and have no row: 3; see"):
        trajectory = assembler.track_all(TIMES, seen, on_failure="skip")
    assert assembler.failed_frames == (3,)
    np.testing.assert_array_equal(trajectory.times, np.delete(TIMES, 3))
    np.testing.assert_allclose(trajectory.q[:, 0], np.delete(ANGLES, 3), atol=1e-4)


def test_such_a_frame_raises_otherwise_and_says_which_it_is() -> None:
    assembler, seen = observed()
    with pytest.raises(NoObservationError, match="all 1 observations are missing") as caught:
        assembler.track_all(TIMES, seen)
    assert isinstance(caught.value, ObservationError), "which an Assembler documents"
    assert caught.value.__notes__ == [
        "in frame 3 of 6, at t = 3",
        "with on_failure='skip', frames that fail have no row, and the others are found",
    ]
    np.testing.assert_allclose(assembler.internal_state.q, ANGLES[2:3], atol=1e-4)


def test_a_frame_whose_numbers_are_all_masked_is_empty_whatever_they_are() -> None:
    assembler, seen = observed()
    seen[3] = 7.0
    hidden = np.ma.array(seen, mask=np.zeros_like(seen, bool))
    hidden[3] = np.ma.masked
    with pytest.warns(RuntimeWarning, match="1 of 6 frames failed and have no row: 3; see"):
        trajectory = assembler.track_all(TIMES, hidden, on_failure="skip")
    np.testing.assert_allclose(trajectory.q[:, 0], np.delete(ANGLES, 3), atol=1e-4)
