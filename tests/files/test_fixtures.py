"""Files of each format version open for ever.

They lie in `data`, a folder for each version, and were written by `tests/files/fixtures.py` when
the version was new. They are never written again: if one does not open, mend the reader.
"""

from pathlib import Path

import numpy as np
import pytest

from stagecache import Stage, State, compare, load_state, load_trajectory
from tests.files.models import (
    RECORD,
    STATES,
    Values,
    chain_state,
    chain_trajectory,
    values_state,
)

VERSIONS = sorted(Path(__file__).with_name("data").iterdir())


def test_there_is_a_folder_for_each_version() -> None:
    assert [folder.name for folder in VERSIONS] == ["v1"]


def stage_versions(state: State) -> list[list[int]]:
    """Return the versions of each stage, of the system and of its subsystems."""
    versions = state._contents.realization.machine.versions
    subsystems = range(len(versions.alone))
    return [
        [versions.in_system(stage), *(versions.in_subsystem(x, stage) for x in subsystems)]
        for stage in Stage
        if stage <= Stage.REPORT
    ]


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_a_saved_state_opens(folder: Path, name: str) -> None:
    state = STATES[name]()
    assert state.system is not None
    loaded = load_state(folder / f"{name}.state", state.system)
    expected = State.from_bytes(state.to_bytes(), state.system)
    assert not compare(loaded, expected)
    assert stage_versions(loaded) == stage_versions(expected)
    # Counts of stages may have the same sums in other parts.
    loaded._contents.realization.machine.versions = expected._contents.realization.machine.versions
    assert loaded.to_bytes() == expected.to_bytes() or name == "values"  # sets have no order


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_values_have_their_types(folder: Path) -> None:
    state = values_state()
    assert state.system is not None
    loaded = load_state(folder / "values.state", state.system)
    values = state.system.subsystem("values")
    assert isinstance(values, Values)
    for name, declared in vars(Values).items():
        if hasattr(declared, "unit"):
            here, found = getattr(values, name)(state), getattr(values, name)(loaded)
            assert type(found) is type(here)
            if isinstance(here, np.ndarray):
                assert found.dtype == here.dtype
            assert repr(found) == repr(here)


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_a_saved_cache_opens_whatever_the_code_is_now(folder: Path) -> None:
    state = chain_state()
    assert state.system is not None
    loaded, report = load_state(folder / "cached.state", state.system, strict=False)
    assert report.is_complete
    assert not compare(loaded, state) or report.computed_again


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_a_saved_trajectory_opens(folder: Path) -> None:
    state, expected = chain_state(), chain_trajectory(rows=24)
    loaded = load_trajectory(folder / "chain.arrows", state.system)
    assert loaded.record == RECORD
    assert len(loaded) == 24
    for path in ("time", *expected.columns):
        np.testing.assert_array_equal(loaded[path], expected[path])
    for row in (0, 5, 23):
        assert not compare(loaded.state(row), expected.state(row))
    columns = load_trajectory(folder / "chain.arrows")
    np.testing.assert_array_equal(columns["chain.angles"], expected["chain.angles"])
