"""The examples: each runs, and what it prints is right."""

import ast
import math
import re
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from stagecache.cli import main

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.name != "__init__.py")
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
    assert {"pendulum", "every_declaration"} <= {path.stem for path in EXAMPLES}


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
    assert f"Run it: python examples/{path.name}" in (docstring or "")


def test_the_pendulum_prints_what_a_pendulum_does(capsys: pytest.CaptureFixture[str]) -> None:
    text = output("pendulum", capsys)
    assert numbers(text, "tip:") == pytest.approx([math.sin(0.1), -math.cos(0.1)])
    assert numbers(text, "torque:") == pytest.approx([-2.0 * 9.81 * math.sin(0.1)])
    assert dict(re.findall(r"(\S+) is realized: (\w+)", text)) == {
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
        state = system.realize_topology().copy()
        anchor.torque(state)
        getattr(pendulum, name).set(state, value)
        fresh = system.realize_topology().copy()
        getattr(pendulum, name).set(fresh, value)
        assert anchor.torque(state) == anchor.torque(fresh) != anchor.torque(system.default_state)


def test_investigating_answers_each_question_and_leaves_its_pictures_where_it_is_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = output("investigate", capsys, str(tmp_path / "pictures"))
    assert text.count("\n-- ") + text.startswith("-- ") == 5
    assert "by stage Time: weather.density, cart.drag, cart.acceleration\n" in text
    assert re.search(
        r"weather\.temperature \(from version 1 to 2, in \S+investigate\.py:\d+\)", text
    )
    assert re.search(r"\nweather\.density +100 +0 ", text)
    assert "weather.density was recomputed 99 times and came out the same every time" in text
    assert numbers(text, "the period of the spring is") == [1.26]
    written = sorted((tmp_path / "pictures").iterdir())
    assert [path.name for path in written] == ["cart.html", "cart.svg", "timeline.html"]
    assert all("acceleration" in path.read_text(encoding="utf-8") for path in written)


def test_the_pendulum_is_drawn_by_the_command_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER.parent)
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
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
