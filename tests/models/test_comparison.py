"""The public subject of OpenSim, where it is: against its reference result, and OpenSim itself."""

from importlib.util import find_spec

import numpy as np
import pytest

from tests.models import comparison

pytestmark = pytest.mark.skipif(
    comparison.folder() is None, reason=f"needs the folder that {comparison.VARIABLE} names"
)
has_opensim = pytest.mark.skipif(
    find_spec("opensim") is None, reason="needs OpenSim (the extra oracles)"
)


def test_angles_are_those_of_the_reference() -> None:
    found = comparison.found()
    gaps = comparison.differences(found.coordinates, comparison.reference())
    assert np.sqrt(np.mean(gaps**2)) <= 0.05  # degrees
    assert np.abs(gaps).max() <= 0.15
    assert not found.skipped
    assert all(frame.result.has_converged for frame in found.frames)
    markers, tasks = comparison.trial()
    goals = comparison.goals(
        found.model, found.coordinates, markers.between(*tasks.time_range), tasks
    )
    np.testing.assert_allclose(goals, found.errors["goal"], rtol=1e-9)


@has_opensim
@pytest.mark.opensim
def test_bodies_and_markers_are_where_opensim_has_them() -> None:
    assert comparison.forward_kinematics() <= 1e-12


@has_opensim
@pytest.mark.opensim
def test_no_goal_is_above_opensims() -> None:
    markers, tasks = comparison.trial()
    angles, _ = comparison.opensim_angles()
    seen = markers.between(*tasks.time_range)
    own = comparison.found().errors["goal"]
    assert (own <= comparison.goals(comparison.subject(), angles, seen, tasks) * (1 + 1e-4)).all()
