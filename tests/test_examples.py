"""The examples: each runs, and what it prints is right."""

import ast
import doctest
import math
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.spatial.transform import Rotation

from benchmarks.double_pendulum import bare, closed_form
from stagecache import Stage
from stagecache.cli.main import main

FOLDER = Path(__file__).parents[1] / "src" / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.name != "__init__.py")
WITHOUT_MATPLOTLIB = dict.fromkeys(["matplotlib", "matplotlib.pyplot", "matplotlib.figure"])
NUMBER = r"-?\d+(?:\.\d*)?(?:e-?\d+)?"


def output(name: str, capsys: pytest.CaptureFixture[str], *args: str) -> str:
    path = str(FOLDER / f"{name}.py")
    with patch.object(sys, "argv", [path, *args]):
        runpy.run_path(path, run_name="__main__")
    return capsys.readouterr().out


def numbers(text: str, after: str) -> list[float]:
    """Those that come right after a text, one or a vector of them."""
    (vector,) = re.findall(rf"{re.escape(after)} ?(\[[^]]*\]|{NUMBER})", text)
    return [float(number) for number in re.findall(NUMBER, vector)]


def test_there_are_examples() -> None:
    assert {"pendulum", "double_pendulum", "bouncing_ball"} <= {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints_something_and_nothing_when_it_is_imported(
    path: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # some write pictures
    runpy.run_path(str(path), run_name="imported")
    assert capsys.readouterr() == ("", "")
    assert output(path.stem, capsys).strip()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_how_to_run_it(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert f"Run it: python -m stagecache.examples.{path.stem}" in (docstring or "")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_first_line_of_an_example_has_a_title_for_the_gallery(path: Path) -> None:
    with_title = runpy.run_path(str(FOLDER.parents[1] / "docs" / "_extensions" / "gallery.py"))[
        "with_title"
    ]
    text = ast.get_docstring(ast.parse(with_title(path.read_text(encoding="utf-8")))) or ""
    title, line, _, sentence, *_ = text.splitlines()
    assert len(title) <= 60
    assert line == "=" * len(title)
    assert sentence[0].isupper()


def test_the_pendulum_prints_what_a_pendulum_does(capsys: pytest.CaptureFixture[str]) -> None:
    text = output("pendulum", capsys)
    assert numbers(text, "tip:") == pytest.approx([math.sin(0.1), -math.cos(0.1)])
    assert numbers(text, "torque:") == pytest.approx([-2.0 * 9.81 * math.sin(0.1)])
    assert dict(re.findall(r"(\S+) is valid: (\w+)", text)) == {
        "pendulum.tip": "False",
        "pendulum.weight": "True",
        "anchor.torque": "False",
        "pendulum.kinetic_energy": "False",
    }
    assert numbers(text, "qdot:") == [0.5]
    assert numbers(text, "udot:") == pytest.approx([-9.81 * math.sin(0.3)])
    assert numbers(text, "kinetic energy:") == [0.25]
    assert "1  realizations of Acceleration" in text


def test_a_torque_that_was_read_is_computed_again_after_a_write_of_gravity() -> None:
    """An undeclared prerequisite would show here: a value that stays as it was."""
    example = runpy.run_path(str(FOLDER / "pendulum.py"))
    pendulum = example["Pendulum"]()
    anchor = example["Anchor"](pendulum)
    system = example["System"](pendulum, anchor=anchor)
    for name, value in (("length", 2.0), ("mass", 3.0), ("gravity", 1.62), ("angle", 0.5)):
        state = system.new_state()
        anchor.torque(state)
        getattr(pendulum, name).set(state, value)
        fresh = system.new_state()
        getattr(pendulum, name).set(fresh, value)
        assert anchor.torque(state) == anchor.torque(fresh) != anchor.torque(system.default_state)


def test_investigating_answers_each_question_and_leaves_its_pictures_where_it_is_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output("investigate", capsys, str(tmp_path / "pictures"))
    assert text.count("\n-- ") + text.startswith("-- ") == 5
    assert "by stage Time: weather.density, cart.drag, cart.acceleration\n" in text
    assert re.search(
        r"weather\.temperature \(from version 1 to 2, \S+ \S+ after the trace began, "
        r"in \S+investigate\.py:\d+\)",
        " ".join(text.split()),
    )
    assert re.search(r"\nweather\.density +100 +0 ", text)
    assert "weather.density was recomputed 99 times and came out the same every time" in text
    assert numbers(text, "the period of the spring is") == [1.26]
    written = sorted((tmp_path / "pictures").iterdir())
    assert [path.name for path in written] == ["cart.html", "cart.svg", "trace.json"]
    assert all("acceleration" in path.read_text(encoding="utf-8") for path in written)


def test_the_double_pendulum_ends_where_simbody_says_and_keeps_its_energy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output("double_pendulum", capsys, str(tmp_path))
    assert numbers(text, "q =") == pytest.approx([0.7120596, 1.3347300], abs=1e-4)
    assert numbers(text, "u =") == pytest.approx([0.8510394, -0.3104599], abs=1e-4)
    assert 0 < numbers(text, "difference to Simbody:")[0] < 1e-4
    assert 0 < numbers(text, "changed by at most")[0] < 1e-4
    assert "501 reports up to t = 10 s\n" in text
    assert re.search(r"\n +\d+  steps taken\n", text)


def test_the_equations_of_the_double_pendulum_are_those_of_the_benchmark() -> None:
    example = runpy.run_path(str(FOLDER / "double_pendulum.py"))
    system = example["system"]()
    state = system.new_state()
    for y in np.random.default_rng(1).uniform(-3, 3, (10, 4)):
        state.y = y
        system.realize(state, Stage.ACCELERATION)
        assert state.ydot == pytest.approx(bare(closed_form)(0.0, y), rel=1e-9)


def test_the_links_of_the_double_pendulum_keep_their_length_in_the_direction_of_gravity() -> None:
    example = runpy.run_path(str(FOLDER / "double_pendulum.py"))
    system = example["system"]()
    pendulum = system["double_pendulum"]
    state = system.new_state()
    pendulum.length.set(state, 2.0)
    first, second = pendulum.ends(state)
    assert np.linalg.norm(first) == pytest.approx(2.0)
    assert np.linalg.norm(second - first) == pytest.approx(2.0)
    pendulum.angles.set(state, (0.0, 0.0))
    assert pendulum.ends(state).tolist() == [[0.0, -2.0], [0.0, -4.0]]


def test_the_slider_crank_keeps_its_energy_but_for_the_work_of_its_motor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output("slider_crank", capsys, str(tmp_path))
    assert numbers(text, "largest error of a joint:")[0] > 0.1
    assert numbers(text, "largest error of the slide's place:")[0] < 1e-5
    (work,), (gained,) = numbers(text, "work of the motor:"), numbers(text, "energy gained:")
    assert work == pytest.approx(gained, abs=2e-3)
    assert abs(work) > 1.0


def test_the_ball_bounces_when_it_should_and_comes_to_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output("bouncing_ball", capsys, str(tmp_path))
    bounces = math.ceil(math.log(0.5 / math.sqrt(2 * 9.81)) / math.log(0.8))
    assert f"{bounces} bounces;" in text
    assert "s: event handler requested termination\n" in text
    fall = math.sqrt(2 / 9.81)
    assert numbers(text, "the first ones at") == pytest.approx(
        [fall, 2.6 * fall, 3.88 * fall], abs=1e-4
    )
    assert numbers(text, "largest error of their times:")[0] < 1e-6
    rest = fall * (1 + 2 * sum(0.8**k for k in range(1, bounces)))
    assert numbers(text, "at rest at t =") == pytest.approx([rest], abs=1e-3)
    assert numbers(text, "at first,") == pytest.approx([9.81 * 0.8 ** (2 * bounces)], abs=1e-3)


def test_the_robot_arm_is_where_its_joints_place_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with patch.dict(sys.modules, WITHOUT_MATPLOTLIB):  # it takes a while to draw
        text = output("robot_arm", capsys, str(tmp_path))
    turns = [Rotation.from_rotvec(v) for v in tool_turns()]
    arms = [(0, 0, 0.2), (0.06, 0, 0.2), (0, 0, 0.45), (0.25, 0, 0), (0.2, 0, 0), (0.08, 0, 0)]
    place, turned = np.zeros(3), Rotation.identity()
    for name, arm, turn in zip(
        ["turret", "upper arm", "forearm", "wrist", "hand", "flange"], arms, turns, strict=True
    ):
        place = place + turned.apply(arm)
        turned = turned * turn
        assert numbers(text, f"{name} at") == pytest.approx(place, abs=1e-4)
    assert numbers(text, "tool at") == pytest.approx(place + turned.apply([0.12, 0, 0]), abs=1e-4)
    assert numbers(text, "pointing along") == pytest.approx(turned.apply([1, 0, 0]), abs=1e-4)
    assert numbers(text, "difference to J u:")[0] < 1e-12


def tool_turns() -> list[list[float]]:
    """The angles that the robot arm has when it says where it is, along the axes of its joints."""
    angles = [0.6, 0.3, 0.2, 0.5, -0.4, 0.2]
    return [
        [angle * (axis == name) for name in "xyz"]
        for angle, axis in zip(angles, "zyyxyx", strict=True)
    ]


def test_a_write_to_a_joint_of_the_robot_arm_computes_what_is_outboard_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with patch.dict(sys.modules, WITHOUT_MATPLOTLIB):
        text = output("robot_arm", capsys, str(tmp_path))
    found = re.findall(r"the q of the ([\w ]+): heights of (\d) of 6 links\n", text)
    names = ["turret", "upper arm", "forearm", "wrist", "hand", "flange"]
    assert found == list(zip(names, "654321", strict=True))
    (computed,) = re.findall(r"all u: nothing but (.*)\n", text)
    assert computed.split(", ") == ["matter.tree_motions", "matter.velocity[flange]"]


def test_the_robot_arm_leaves_its_pictures_where_it_is_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is in the extra: pip install '.[viz]'")
    text = output("robot_arm", capsys, str(tmp_path))
    assert "wrote robot_arm.gif\nwrote robot_arm.png\n" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["robot_arm.gif", "robot_arm.png"]
    assert (tmp_path / "robot_arm.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "robot_arm.gif").read_bytes()[:4] == b"GIF8"


@pytest.mark.parametrize("name", ["double_pendulum", "bouncing_ball", "slider_crank", "building"])
def test_a_simulation_leaves_its_plot_where_it_is_told_to(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is in the extra: pip install '.[viz]'")
    text = output(name, capsys, str(tmp_path))
    assert f"wrote {name}.png\n" in text
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.png"]
    assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("name", ["double_pendulum", "bouncing_ball", "slider_crank", "robot_arm"])
def test_an_example_without_matplotlib_says_which_extra_is_missing_and_goes_on(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with patch.dict(sys.modules, WITHOUT_MATPLOTLIB):
        text = output(name, capsys, str(tmp_path))
    assert "stagecache[viz]" in text
    assert "wrote" not in text
    assert list(tmp_path.iterdir()) == []


def test_the_pendulum_is_drawn_by_the_command_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER.parents[1])
    readme = (FOLDER.parents[1] / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"`stagecache (graph [^`]+)`", readme)
    *args, output = command.split()
    page = tmp_path / output
    result = CliRunner().invoke(main, [*args, str(page)])
    assert (result.exit_code, result.stdout) == (0, "")
    assert "anchor.torque" in page.read_text(encoding="utf-8")


def test_the_pendulum_on_a_rod_shows_the_force_and_what_projection_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = output("pendulum_on_a_rod", capsys, str(tmp_path))
    assert numbers(text, "position:") == pytest.approx([0.0, -1.0])
    assert numbers(text, "the rod pulls with") == pytest.approx([2.0 * 9.81])
    assert numbers(text, "cut loose: 0 rows of constraints; accelerations:") == [0.0, -9.81]
    (drifting,) = numbers(text, "largest error of ten seconds:")
    (projected,) = numbers(text, "m, projected")
    assert projected <= 1e-8
    assert drifting > 1e-5
    has_plot = "wrote pendulum_on_a_rod.png" in text
    assert has_plot == (find_spec("matplotlib") is not None)
    assert (tmp_path / "pendulum_on_a_rod.png").is_file() == has_plot


def test_inverse_kinematics_meets_what_was_seen_but_for_its_noise(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with patch.dict(sys.modules, WITHOUT_MATPLOTLIB):
        text = output("inverse_kinematics", capsys, str(tmp_path))
    assert "100 frames of 10 markers; 20 observations are missing\n" in text
    assert "(60 angles are free)" in text
    assert numbers(text, "at rest, RMS of a frame: mean")[0] > 100.0
    (rms,) = numbers(text, "tracked, RMS of a frame: mean")
    assert 0.0 < rms < 2.0
    assert re.search(r"\n +100  assembly steps\n", text)
    assert re.search(r"\n +1  initializations?\n", text)
    assert re.search(r"goal .* at t = 0\.98: Gauss-Newton, \d+ iteration", text)
    computed = dict(re.findall(r"\n +(\S+): (\d+) times", text))
    assert computed.keys() == {"matter.tree_poses", "matter.axes"}
    assert 1 <= int(computed["matter.axes"]) <= int(computed["matter.tree_poses"]) < 50
    assert "stagecache[viz]" in text
    assert list(tmp_path.iterdir()) == []


def test_the_film_of_the_chain_has_noise_of_2_mm_and_one_marker_is_hidden_for_a_while() -> None:
    example = runpy.run_path(str(FOLDER / "inverse_kinematics.py"))
    system = example["make_chain"]()
    markers = example["add_markers"](system)
    film = example["film"]
    times, seen = film(system, markers)
    with patch.dict(film.__globals__, NOISE=0.0):
        exact = film(system, markers)[1]
    assert times[[0, -1]].tolist() == pytest.approx([0.0, 0.99])
    assert np.argwhere(np.isnan(seen[:, :, 0])).tolist() == [[i, 6] for i in range(40, 60)]
    assert np.nanstd(seen - exact) == pytest.approx(0.002, rel=0.05)
    rest = markers.current_positions(example["at_rest"](system))
    assert np.linalg.norm(np.diff(rest, axis=0), axis=1).max() < 0.4  # it is folded


def test_a_run_that_was_interrupted_is_resumed_to_the_same_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output("save_and_resume", capsys, str(tmp_path))
    assert "renamed={'reservoir': 'lake'}" in text
    assert numbers(text, "the gate of the lake is") == [0.9]
    assert "interrupted: 241 rows are in the file, until day 10\n" in text
    assert "resumed: 721 rows, until day 30\n" in text
    assert "bit for bit: True\n" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["month.arrows", "start.state"]


# ---------------------------------------------------------------------- the building


def test_the_building_keeps_its_energy_and_computes_its_matrix_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with patch.dict(sys.modules, WITHOUT_MATPLOTLIB):
        text = output("building", capsys, str(tmp_path))
    (used,), (lost,) = numbers(text, "heating"), numbers(text, "J, lost")
    assert used - lost == pytest.approx(numbers(text, "stored")[0], abs=2.0)  # rounded to 1 J
    assert numbers(text, "error of the balance:")[0] < 1e-3
    assert numbers(text, "the flows")[0] > 500
    assert numbers(text, "the conductance") == [0]
    kilowatt_hours = [float(number) for number in re.findall(r"insulation: +(\S+) kWh", text)]
    assert kilowatt_hours[2] == pytest.approx(lost / 3.6e6, abs=0.01)
    assert kilowatt_hours == sorted(kilowatt_hours, reverse=True)


def test_the_walls_of_the_building_make_no_heat_and_conduct_it_alike_in_both_directions() -> None:
    conductance = runpy.run_path(str(FOLDER / "building.py"))["wall_conductance"](0.1, 0.5)
    assert conductance.sum(axis=1) == pytest.approx(np.zeros(4), abs=1e-9)
    assert conductance == pytest.approx(conductance.T)
    assert (conductance - np.diag(conductance.diagonal()) >= 0).all()


def test_the_pole_stands_with_a_fast_controller_and_falls_with_a_slow_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with patch.dict(sys.modules, WITHOUT_MATPLOTLIB):
        text = output("cart_pole", capsys, str(tmp_path))
    assert float(re.findall(r"^50 Hz: angle (\S+) rad", text, re.M)[0]) == pytest.approx(
        0.0, abs=0.02
    )
    fallen = float(re.findall(r"^5 Hz: angle (\S+) rad at t = 2\.\d+ s$", text, re.M)[0])
    assert abs(fallen) == pytest.approx(math.pi / 2, abs=1e-3)
    poles = re.findall(r"(-?\d+\.\d*) ?[+-]\d", text.split("closed loop:")[1].splitlines()[0])
    assert len(poles) == 4
    assert all(float(pole) < 0 for pole in poles)


def test_the_energy_of_a_cart_and_pole_without_a_controller_does_not_change() -> None:
    example = runpy.run_path(str(FOLDER / "cart_pole.py"))
    cart_pole = example["CartPole"]()
    system = example["System"](cart_pole)
    trajectory = example["simulate"](
        system, system.new_state(), 0.7, accuracy=1e-9, record=(cart_pole.energy,)
    )
    assert np.ptp(trajectory[cart_pole.energy]) < 1e-6


def definitions(source: str) -> dict[str, str]:
    """Classes and functions of a source without annotations and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in [*node.args.args, *node.args.kwonlyargs]:
                argument.annotation = None
    defined = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    annotation = re.compile(r"^( *(?:self\.)?\w+): [^=\n]+ = ", re.M)
    return {node.name: annotation.sub(r"\1 = ", ast.unparse(node)) for node in defined}


@pytest.mark.parametrize("name", ["building", "cart_pole"])
def test_a_tutorial_builds_the_model_of_its_example(name: str) -> None:
    page = (FOLDER.parents[1] / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    shown = "".join(example.source for example in doctest.DocTestParser().get_examples(page))
    here, there = (
        definitions(source)
        for source in (shown, (FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    )
    assert len(here) >= 2
    assert here == {defined: there[defined] for defined in here}


def test_the_view_factors_of_a_box_are_those_of_the_textbook() -> None:
    """Opposite and adjacent sides of a cube, and of a box 1 x 2 x 4 (Howell, C-11 and C-14)."""
    view_factors = runpy.run_path(str(FOLDER / "parameter_study.py"))["view_factors_of_box"]
    cube = view_factors(2.0, 2.0, 2.0)
    assert cube[0, 1] == pytest.approx(0.19982, abs=1e-5)
    assert cube[0, 2:] == pytest.approx(0.20004, abs=1e-5)
    factors = view_factors(1.0, 2.0, 4.0)
    areas = np.repeat([2.0, 8.0, 4.0], 2)
    assert factors.sum(axis=1) == pytest.approx(np.ones(6))
    assert areas[:, None] * factors == pytest.approx((areas[:, None] * factors).T)
    x, y = 1.0 / 4.0, 2.0 / 4.0  # floor to ceiling, in closed form
    first, second = math.sqrt(1 + x * x), math.sqrt(1 + y * y)
    known = math.log(first * second / math.sqrt(1 + x * x + y * y))
    known += x * second * math.atan(x / second) + y * first * math.atan(y / first)
    known -= x * math.atan(x) + y * math.atan(y)
    assert factors[0, 1] == pytest.approx(2 / (math.pi * x * y) * known, rel=1e-10)


def test_two_hundred_members_compute_the_view_factors_of_five_geometries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output("parameter_study", capsys, str(tmp_path))
    assert "view factors: computed 5 times, found 195\n" in text
    places = re.findall(r"([\d.]+) m high: the ceiling is at ([\d.]+) to ([\d.]+) °C", text)
    assert [float(height) for height, *_ in places] == [2.5, 3.0, 4.0, 5.0, 6.0]
    highest = [float(last) for *_, last in places]
    assert highest == sorted(highest, reverse=True)  # a higher hall loses more heat


@pytest.mark.parametrize("options", [["--workers", "2"], ["--dask"]])
def test_the_study_has_the_same_results_in_processes_and_on_a_cluster(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="Dask is in the extra: pip install '.[studies]'")
    here = output("parameter_study", capsys, str(tmp_path / "here"))
    command = [sys.executable, "-m", "stagecache.examples.parameter_study"]
    elsewhere = subprocess.run(
        [*command, str(tmp_path / "elsewhere"), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert elsewhere.stdout == here, elsewhere.stderr
    tables = [tmp_path / name / "parameter_study.csv" for name in ("here", "elsewhere")]
    assert tables[0].read_bytes() == tables[1].read_bytes()
