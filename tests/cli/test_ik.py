"""`stagecache ik`."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from stagecache.cli.main import main
from stagecache.examples.walking_subject import write_subject, write_trial
from stagecache.models import load_osim, read_mot, read_sto

TASKS = """<OpenSimDocument><InverseKinematicsTool><IKTaskSet><objects>{}</objects></IKTaskSet>
<time_range>0.1 0.2</time_range></InverseKinematicsTool></OpenSimDocument>"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ik")
    write_subject(folder / "walker.osim")
    write_trial(folder / "walk.trc", load_osim(folder / "walker.osim"))
    return folder


def run(files: Path, *args: str) -> Result:
    paths = [str(files / "walker.osim"), str(files / "walk.trc")]
    return CliRunner().invoke(main, ["ik", *paths, *args], env={"COLUMNS": "80"})


def test_a_table_tells_how_well_markers_are_met(files: Path) -> None:
    result = run(files, "--to", "0.05")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split() == ["marker", "RMS", "(mm)", "largest", "(mm)", "at", "(s)"]
    assert lines[6] == "and 10 more"
    assert lines[8].startswith("frames  skipped")
    assert lines[9].split()[:2] == ["6", "0"]
    assert max(map(len, lines)) <= 80


def test_coordinates_and_errors_are_written(files: Path, tmp_path: Path) -> None:
    motion, errors = tmp_path / "walk.mot", tmp_path / "errors.sto"
    result = run(files, "--from", "0.5", "--to", "0.54", "-o", str(motion), "--errors", str(errors))
    assert result.exit_code == 0, result.output
    assert f"wrote {motion}" in result.output.replace("\n", "")
    model = load_osim(files / "walker.osim")
    table = read_mot(motion, model=model)
    np.testing.assert_allclose(table.times, [0.5, 0.51, 0.52, 0.53, 0.54])
    assert np.abs(table["knee_r"]).max() < 1.2
    assert read_sto(errors).labels[:2] == ("total_squared_error", "marker_error_RMS")


def test_tasks_choose_markers_and_frames(files: Path, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.xml"
    names = [*load_osim(files / "walker.osim").markers][2:]
    texts = [f'<IKMarkerTask name="{name}"><weight>1</weight></IKMarkerTask>' for name in names]
    texts.append('<IKMarkerTask name="Hat"><weight>1</weight></IKMarkerTask>')
    tasks.write_text(TASKS.format("".join(texts)))
    result = run(files, "--tasks", str(tasks))
    assert result.exit_code == 0, result.output
    assert "not used: R.ASIS, L.ASIS" in result.output
    assert "not observed: Hat" in result.output
    assert "\n11      0" in result.output
    assert "\n16      0" in run(files, "--tasks", str(tasks), "--to", "0.25").output


def test_frames_that_fail_end_it_or_are_skipped(files: Path, tmp_path: Path) -> None:
    lines = (files / "walk.trc").read_text().splitlines()
    lines[7] = "\t".join(lines[7].split("\t")[:2])
    (tmp_path / "walk.trc").write_text("\n".join(lines))
    (tmp_path / "walker.osim").write_text((files / "walker.osim").read_text())
    result = run(tmp_path, "--to", "0.05")
    assert result.exit_code == 1
    assert "nothing is observed" in result.output
    result = run(tmp_path, "--to", "0.05", "--skip-failures")
    assert result.exit_code == 1
    assert "\n5       1" in result.output
    assert "Warning: inverse kinematics: 1 of 6 frames failed" in result.stderr


def test_wrong_usage_has_status_2_and_a_wrong_file_1(files: Path, tmp_path: Path) -> None:
    assert run(files, "--from", "5").exit_code == 2
    assert run(files, "--accuracy", "2").exit_code == 2
    assert run(tmp_path).exit_code == 2
    (tmp_path / "walker.osim").write_text("<a")
    (tmp_path / "walk.trc").write_text("")
    result = run(tmp_path)
    assert result.exit_code == 1
    assert "walker.osim, line 1: is not XML" in result.output


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib (the extra viz)")
def test_a_plot_is_drawn(files: Path, tmp_path: Path) -> None:
    plot = tmp_path / "angles.png"
    result = run(files, "--to", "0.05", "--plot", str(plot))
    assert result.exit_code == 0, result.output
    assert plot.read_bytes().startswith(b"\x89PNG")
    result = run(files, "--to", "0.05", "--plot", str(tmp_path / "angles.xyz"))
    assert result.exit_code == 1
    assert "not a picture that can be written" in result.output


@pytest.mark.skipif(find_spec("viser") is None, reason="needs viser (the extra viewer)")
def test_a_page_is_written(files: Path, tmp_path: Path) -> None:
    page = tmp_path / "walk.html"
    result = run(files, "--to", "0.02", "--html", str(page))
    assert result.exit_code == 0, result.output
    assert page.stat().st_size > 100_000
