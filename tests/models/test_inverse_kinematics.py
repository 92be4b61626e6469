"""Inverse kinematics of a model and a table of markers."""

import pickle
from importlib.util import find_spec
from math import inf
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from stagecache import Assembler
from stagecache.errors import (
    NoObservationError,
    ObservationError,
    OutOfRangeError,
    PictureError,
    UnknownItemError,
    UnknownMarkerError,
    WrongTypeError,
)
from stagecache.examples.walking_subject import (
    find_angles,
    true_angles,
    write_subject,
    write_trial,
)
from stagecache.models import (
    CoordinateTask,
    IKTasks,
    Model,
    Table,
    inverse_kinematics,
    load_osim,
    read_trc,
)
from tests.models.conftest import Write


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tmp_path_factory.mktemp("walker") / "walker.osim"
    write_subject(path)
    return load_osim(path)


def seen(model: Model, rows: int = 6) -> tuple[Table, Table]:
    """Return true coordinates of some frames, and the positions of all markers there."""
    truth = true_angles(model)
    truth = truth.between(0.2, float(truth.times[20 + rows - 1]))
    state, places = model.system.new_state(), []
    for values in truth.values:
        for name, value in zip(truth.labels, values, strict=True):
            model.coordinates[name].set(state, value)
        places.append([*model.marker_positions(state).values()])
    return truth, Table(truth.times, [*model.markers], places, ["m"] * len(model.markers))


def test_it_finds_the_coordinates_from_which_the_markers_are(model: Model) -> None:
    truth, markers = seen(model)
    found = inverse_kinematics(model, markers)
    assert found.coordinates.labels == tuple(model.coordinates)
    np.testing.assert_allclose(found.coordinates.values, truth.values, atol=1e-6)
    assert found.coordinates.units[:6] == ("rad",) * 3 + ("m",) * 3
    assert found.rms < 1e-6
    np.testing.assert_allclose(found.calc_markers().values, markers.values, atol=1e-6)


def test_each_frame_has_its_goal_its_rms_and_its_worst_marker(model: Model) -> None:
    _, markers = seen(model)
    values = markers.values.copy()
    values[:, 2] += [0.0, 0.02, 0.0]
    values[3, 0] = np.nan
    table = evolve(markers, values=values)
    found = inverse_kinematics(model, table)
    gaps = np.linalg.norm(found.calc_markers().values - values, axis=2)
    for i, frame in enumerate(found.frames):
        assert frame.rms == pytest.approx(np.sqrt(np.nanmean(gaps[i] ** 2)))
        worst = int(np.nanargmax(gaps[i]))
        assert frame.worst == table.labels[worst]
        assert frame.worst_error == pytest.approx(gaps[i, worst])
        assert frame.goal == pytest.approx(0.5 * np.nanmean(gaps[i] ** 2))
    errors = found.errors
    assert errors.labels == (
        *("total_squared_error", "marker_error_RMS", "marker_error_max", "goal"),
    )
    np.testing.assert_allclose(errors["total_squared_error"], np.nansum(gaps**2, axis=1))
    assert found.rms == pytest.approx(np.sqrt(np.nanmean(gaps**2)))
    assert found.worst is not None
    assert found.worst.worst_error == pytest.approx(np.nanmax(gaps))
    assert "RMS" in str(found)


def test_weights_say_how_much_a_marker_counts(model: Model) -> None:
    truth, markers = seen(model, 2)
    values = markers.values.copy()
    values[:, markers.labels.index("R.Toe")] += [0.0, 0.1, 0.0]
    table = evolve(markers, values=values)
    ankles = [
        inverse_kinematics(model, table, weights={"R.Toe": weight}).coordinates["ankle_r"][0]
        for weight in (1.0, 0.01, 0.0)
    ]
    away = np.abs(np.array(ankles) - truth["ankle_r"][0])
    assert away[0] > 2 * away[1]
    assert away[2] < 1e-6


def test_tasks_name_markers_coordinates_and_times(model: Model) -> None:
    truth, markers = seen(model)
    names = [name for name in model.markers if name != "R.Toe"]
    pull = (
        CoordinateTask("ankle_r", 1e3, 0.3),
        CoordinateTask("knee_l", 1e3),
        CoordinateTask("ankle_l", 1e3, is_from_file=True),
        CoordinateTask("hip_flexion_r", 0.0, 7.0),
    )
    tasks = IKTasks(dict.fromkeys([*names, "Head"], 1.0), pull, (0.21, inf))
    table = Table([0.0, 1.0], ["ankle_l"], [[0.0], [1.0]], ["rad"])
    found = inverse_kinematics(model, markers, weights=tasks, coordinates=table)
    np.testing.assert_allclose(found.coordinates.times, truth.times[1:])
    assert found.not_used == ("R.Toe",)
    np.testing.assert_allclose(found.coordinates["ankle_r"], 0.3, atol=1e-3)
    np.testing.assert_allclose(found.coordinates["knee_l"], 0.0, atol=1e-3)
    np.testing.assert_allclose(found.coordinates["ankle_l"], truth.times[1:], atol=1e-3)
    with pytest.raises(UnknownItemError, match="its values are missing"):
        inverse_kinematics(model, markers, weights=tasks)
    wrong = IKTasks(dict.fromkeys(names, 1.0), (CoordinateTask("ankle_x", 1.0),))
    with pytest.raises(UnknownItemError, match=r"did you mean 'ankle_."):
        inverse_kinematics(model, markers, weights=wrong)


def test_markers_that_only_one_has_are_not_used(model: Model) -> None:
    truth, markers = seen(model, 2)
    values = np.concatenate([np.full((2, 1, 3), 9.0), markers.values[:, 2:]], axis=1)
    table = Table(markers.times, ["Hat", *markers.labels[2:]], values)
    found = inverse_kinematics(model, table)
    assert found.not_used == ("Hat",)
    assert found.observed.labels == markers.labels[2:]
    np.testing.assert_allclose(found.coordinates["knee_r"], truth["knee_r"], atol=1e-6)


def test_clamped_coordinates_stay_in_range_and_locked_ones_where_they_are(
    tmp_path: Path, write: Write, model: Model
) -> None:
    path = tmp_path / "walker.osim"
    write_subject(path)
    text = path.read_text(encoding="utf-8")
    text = text.replace(
        '<Coordinate name="knee_r"><range>-2 2</range>',
        '<Coordinate name="knee_r"><range>-0.2 2</range><clamped>true</clamped>',
    )
    text = text.replace(
        '<Coordinate name="ankle_r">',
        '<Coordinate name="ankle_r"><default_value>0.125</default_value><locked>true</locked>',
    )
    held = load_osim(write(text))
    _, markers = seen(model, 3)
    found = inverse_kinematics(held, markers)
    assert found.coordinates["knee_r"].min() >= -0.2
    np.testing.assert_allclose(found.coordinates["ankle_r"], 0.125, rtol=1e-15)


def test_frames_that_fail_end_it_or_are_skipped(model: Model) -> None:
    _, markers = seen(model, 4)
    values = markers.values.copy()
    values[1] = np.nan
    table = evolve(markers, values=values)
    with pytest.raises(NoObservationError) as caught:
        inverse_kinematics(model, table)
    assert "in frame 1 of 4" in "".join(caught.value.__notes__)
    with pytest.warns(RuntimeWarning, match="1 of 4 frames failed"):
        found = inverse_kinematics(model, table, on_failure="skip")
    assert found.skipped == (1,)
    assert len(found.coordinates) == len(found.observed) == len(found.frames) == 3


def test_positions_in_millimeters_are_refused(model: Model) -> None:
    _, markers = seen(model, 2)
    with pytest.raises(ObservationError, match=r"(?s)not plausible.*are they in mm"):
        inverse_kinematics(model, evolve(markers, values=1e3 * markers.values))


def test_wrong_arguments_are_refused(model: Model) -> None:
    truth, markers = seen(model, 2)
    with pytest.raises(UnknownMarkerError, match=r"(?s)R.Tow.*did you mean 'R.Toe'"):
        inverse_kinematics(model, markers, weights={"R.Tow": 2.0})
    with pytest.raises(ObservationError, match="not positions"):
        inverse_kinematics(model, truth)
    with pytest.raises(NoObservationError, match="no marker of the model is observed"):
        inverse_kinematics(model, Table([0.0], ["Hat"], np.zeros((1, 1, 3))))
    with pytest.raises(WrongTypeError, match="not a model"):
        inverse_kinematics(model.system, markers)  # type: ignore[arg-type]  # is refused
    with pytest.raises(WrongTypeError, match="a dict of names and numbers"):
        inverse_kinematics(model, markers, weights=3)  # type: ignore[arg-type]  # is refused


def test_a_trial_from_files_is_near_the_truth(tmp_path: Path) -> None:
    subject, trial = tmp_path / "walker.osim", tmp_path / "walk.trc"
    write_subject(subject)
    model = load_osim(subject)
    write_trial(trial, model)
    found = find_angles(subject, trial)
    gaps = np.degrees(found.coordinates["knee_r"] - true_angles(model)["knee_r"])
    assert np.abs(gaps).max() < 3.0
    assert np.isnan(read_trc(trial)["R.Knee"][45]).all()


def test_track_all_tells_of_each_row_and_slices_keep_it(model: Model) -> None:
    _, markers = seen(model, 3)
    assembler = Assembler(model.system)
    observer = assembler.add_goal(model.new_markers({"R.Toe": 2.0}))
    trajectory = assembler.track_all(
        markers.times, {observer: markers.values}, state=model.system.new_state()
    )
    assert [frame.time for frame in trajectory.frames] == markers.times.tolist()
    assert trajectory[1:].frames == trajectory.frames[1:]
    assert observer.weight("R.Toe") == 2.0
    with pytest.raises(UnknownMarkerError):
        model.new_markers({"Hat": 1.0})


@pytest.mark.skipif(find_spec("viser") is None, reason="needs viser (the extra viewer)")
def test_a_page_shows_the_bodies_and_both_kinds_of_markers(model: Model, tmp_path: Path) -> None:
    _, markers = seen(model, 3)
    values = markers.values.copy()
    values[1, 0] = np.nan
    found = inverse_kinematics(model, evolve(markers, values=values))
    page = found.animate(tmp_path / "walk.html", progress=False)
    text = page.read_text(encoding="utf-8")
    assert "<title>walker</title>" in text
    with pytest.raises(OutOfRangeError):
        found.animate(tmp_path / "walk.html", most_frames=0)
    with pytest.raises(PictureError):
        found.animate(tmp_path / "walk.txt")


def test_models_tables_and_tasks_can_be_pickled(model: Model) -> None:
    _, markers = seen(model, 2)
    tasks = IKTasks({"R.Toe": 2.0}, (CoordinateTask("knee_r", 1.0),), (0.0, 1.0))
    twin, table, same = pickle.loads(pickle.dumps((model, markers, tasks)))
    assert list(twin.coordinates) == list(model.coordinates)
    np.testing.assert_array_equal(table.values, markers.values)
    assert (dict(same.markers), same.coordinates) == (dict(tasks.markers), tasks.coordinates)
    found = inverse_kinematics(twin, table)
    np.testing.assert_array_equal(
        found.coordinates.values, inverse_kinematics(model, markers).coordinates.values
    )
