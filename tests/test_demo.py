"""What the demonstration says and writes is what its model implies."""

import re
import runpy
import sys
from email.message import Message
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from click import FileError
from rich.console import Console

import stagecache.demo
from stagecache import Assembler, QValue
from stagecache.demo.pictures import MOST_FRAMES, curve_of, plotted
from stagecache.demo.screen import documentation_url, show
from stagecache.demo.turn import Demonstration, Forgetful, demonstrate, drive, gauge_of
from stagecache.examples.four_bar import (
    ACCURACY,
    COUPLER,
    COUPLER_POINT,
    CRANK,
    GROUND,
    POOR_START,
    ROCKER,
    closed_form,
    system,
)
from stagecache.multibody import MultibodySystem
from stagecache.state.contents.observer import observe
from stagecache.views import GraphView
from tests.views.reading import nodes_of_page

EXAMPLES = Path(__file__).parents[1] / "src" / "examples"
FRAMES = 36
FEWEST = 12
FILES = ["four_bar.gif", "four_bar.html", "four_bar.png"]
SCENE = ["four_bar_3d.html"] if find_spec("viser") else []  # of the extra viewer
WITHOUT_MATPLOTLIB = dict.fromkeys(["matplotlib", "matplotlib.pyplot", "matplotlib.figure"])


@pytest.fixture(scope="module")
def found() -> Demonstration:
    return demonstrate(FRAMES, progress=False)


def printed(
    folder: Path,
    width: int = 80,
    frames: int = FEWEST,
    *,
    has_pictures: bool = False,
    terminal: bool = False,
) -> str:
    file = StringIO()
    console = Console(
        file=file,
        width=width,
        force_terminal=terminal,
        color_system="standard" if terminal else "auto",
        highlight=False,
        _environ={},
    )
    show(console, frames, folder, has_pictures=has_pictures)
    return file.getvalue()


def table(text: str, heading: str) -> list[list[str]]:
    """The cells of the table whose first column is called so."""
    (block,) = re.findall(rf"^{heading} .*\n((?:.+\n)+)", text, re.M)
    return [re.split(r" {2,}", line.strip()) for line in block.splitlines()]


def turned(angle: float | np.ndarray) -> np.ndarray:
    """A unit vector in the plane, as a complex number."""
    return np.exp(1j * np.asarray(angle))


# ---------------------------------------------------------------------- the model


def test_show_is_what_the_command_imports() -> None:
    assert stagecache.demo.show is show


def test_the_closed_form_closes_the_loop_with_the_coupler_above() -> None:
    crank = np.linspace(-7.0, 7.0, 500)
    coupler, rocker = closed_form(crank)
    joint = CRANK * turned(crank) + COUPLER * turned(coupler)
    assert np.abs(joint - GROUND - ROCKER * turned(rocker)).max() < 1e-12
    middle = (CRANK * turned(crank) + GROUND) / 2
    across = (joint - middle) * (GROUND - CRANK * turned(crank)).conj()
    assert across.imag.min() > 0.0


# ---------------------------------------------------------------------- what is done


def test_the_start_is_poor_and_its_error_is_the_gap_of_the_loop(found: Demonstration) -> None:
    directions = turned(np.cumsum(POOR_START))
    gap = directions @ [CRANK, COUPLER, ROCKER] - GROUND
    assert found.poor_error == pytest.approx(max(abs(gap.real), abs(gap.imag)))
    assert found.poor_error > 1.0
    assert found.assembled.error_norm <= found.tolerance == pytest.approx(ACCURACY / 10)


def test_each_frame_is_closed_by_geometry_that_knows_nothing_of_bodies(
    found: Demonstration,
) -> None:
    assert found.turn.q.shape == (FRAMES + 1, 3)
    directions = turned(np.cumsum(found.turn.q, axis=1))
    gaps = directions @ [CRANK, COUPLER, ROCKER] - GROUND
    assert np.abs(gaps).max() <= 1.5 * found.tolerance  # the norm is of the larger component
    expected = np.maximum(np.abs(gaps.real), np.abs(gaps.imag))
    assert found.turn.error_norms == pytest.approx(expected, abs=1e-13)
    place = CRANK * directions[:, 0] + complex(*COUPLER_POINT[:2]) * directions[:, 1]
    shown = np.column_stack([place.real, place.imag, np.zeros(FRAMES + 1)])
    assert found.turn.points == pytest.approx(shown, abs=1e-12)


def test_the_crank_makes_a_full_turn_in_equal_steps_and_ends_where_it_began(
    found: Demonstration,
) -> None:
    steps = np.linspace(0.0, 2.0 * np.pi, FRAMES + 1)
    assert found.turn.angles[:, 0] == pytest.approx(steps, abs=1e-6)
    assert found.turn.angles[-1, 1:] == pytest.approx(found.turn.angles[0, 1:], abs=1e-6)
    assert np.ptp(found.turn.angles[:, 2]) > 1.0  # the rocker has moved


def test_the_difference_that_is_told_is_that_of_all_frames(found: Demonstration) -> None:
    coupler, rocker = closed_form(found.turn.angles[:, 0])
    gaps = turned(found.turn.angles[:, 1:]) - turned(np.column_stack([coupler, rocker]))
    assert found.turn.difference == pytest.approx(np.abs(gaps).max(), rel=1e-3, abs=1e-14)
    assert found.turn.difference < 1e-6


@pytest.mark.parametrize("frames", [FEWEST, 13, 17])
def test_a_turn_in_few_frames_stays_on_the_same_branch(frames: int) -> None:
    found = demonstrate(frames, progress=False)
    assert found.num_frames == frames
    assert found.turn.difference < 1e-5


def versions(graph: GraphView) -> dict[str, int]:
    return {n.path: n.version for n in graph if n.kind == "entry" and n.version is not None}


def test_what_is_counted_is_by_how_much_versions_rise_without_a_trace(
    found: Demonstration,
) -> None:
    model = system()
    gauge = gauge_of(model)
    state = model.new_state()
    state.q = found.turn.q[0]
    assembler = Assembler(model, accuracy=ACCURACY)
    crank = assembler.add_goal(QValue(gauge.bars[0], 0, 0.0, "crank"))
    assembler.set_internal_state(state)
    assembler.calc_current_error_norm()
    internal = assembler.internal_state
    gauge.angles(internal), gauge.point(internal)
    before = versions(internal.graph)
    drive(assembler, crank, FRAMES, lambda _: None)
    after = versions(internal.graph)
    rose = {path: after[path] - before[path] for path in after if after[path] > before[path]}
    counted = {
        # A pose that comes out equal keeps its version: it is an entry with early cutoff.
        row.entry: row.computed - (row.unchanged if row.entry.startswith("matter.pose") else 0)
        for row in found.summary.rows
        if row.computed
    }
    assert counted == rose
    assert counted["gauge.point"] == counted["gauge.angles"] == FRAMES


def test_each_entry_was_computed_or_kept_or_read_by_nobody(found: Demonstration) -> None:
    computed = {row.entry for row in found.summary.rows if row.computed}
    kept, unread = map(set, found.not_computed)
    assert computed | kept | unread == {n.path for n in found.graph if n.kind == "entry"}
    assert len(computed) + len(kept) + len(unread) == len(computed | kept | unread)
    batch = {f"ball_constraints.{entry}" for entry in ("errors", "jacobian")}
    assert {"matter.tree_poses", "gauge.point"} | batch <= computed
    assert "matter.driven_joints" in kept
    bodies = ("ground", "crank", "coupler", "rocker")
    assert {f"matter.velocity[{body}]" for body in bodies} | {
        "pivot.error",
        "ball_constraints.rates",
    } <= unread


# ---------------------------------------------------------------------- what is printed


def test_the_angles_that_are_printed_are_those_of_the_closed_form(tmp_path: Path) -> None:
    rows = np.array(table(printed(tmp_path, frames=24), "frame"), float)
    assert rows[:, 0].tolist() == list(range(0, 25, 3))
    assert rows[:, 1] == pytest.approx(rows[:, 0] * 15.0)
    exact = np.degrees(closed_form(np.radians(rows[:, 1]))).T
    assert rows[:, 2:4] == pytest.approx(exact, abs=0.006)
    assert (rows[:, 4] <= ACCURACY / 10).all()


def test_the_statistics_that_are_printed_are_those_of_the_trace(tmp_path: Path) -> None:
    text = printed(tmp_path, frames=FRAMES)
    found = demonstrate(FRAMES, progress=False)
    *rows, total = [(path, float(c), float(h)) for path, c, h, _ in table(text, "entry")]
    expected = {r.entry: (r.computed / FRAMES, r.hits / FRAMES) for r in found.summary.rows}
    assert {path for path, *_ in rows} == expected.keys()
    for path, computed, hits in rows:
        assert (computed, hits) == pytest.approx(expected[path], abs=0.006)
    both = found.summary.computed / FRAMES, found.summary.hits / FRAMES
    assert total[1:] == pytest.approx(both, abs=0.006)
    counts = f"{found.summary.computed:,} computations and {found.summary.hits:,} hits"
    assert f"{FRAMES} frames: {counts}" in text


def test_what_no_frame_has_computed_is_listed_with_the_items_of_a_family_in_one(
    tmp_path: Path,
) -> None:
    words = " ".join(printed(tmp_path).split())
    assert "matter.velocity[ground, crank, coupler, rocker], " in words
    listed = re.findall(r"(?:has changed|has read them): ([^:]+?)\.(?: Nor| 4\.)", words)
    names = [name for names in listed for name in re.split(r", (?![^\[\]]*\])", names)]
    paths: list[str] = []
    for name in names:
        stem, _, items = name.rstrip("]").partition("[")
        paths += [f"{stem}[{item}]" for item in items.split(", ")] if items else [stem]
    kept, unread = demonstrate(FEWEST, progress=False).not_computed
    assert sorted(paths) == sorted((*kept, *unread))


@pytest.mark.parametrize("width", [80, 200])
def test_no_line_is_longer_than_80_columns(width: int, tmp_path: Path) -> None:
    lines = printed(tmp_path, width).splitlines()
    assert max(map(len, lines)) <= 80
    assert "[deg]" in "".join(lines)


def test_a_narrow_terminal_cuts_nothing_off(tmp_path: Path) -> None:
    def letters(text: str) -> list[str]:
        return sorted(re.sub(r"\s|[\d.]+ [mµn]?s |e-\d\d|\d+%", "", text))

    narrow, wide = printed(tmp_path, 40), printed(tmp_path, 80)
    assert re.sub(r"\d", "", "".join(letters(narrow))) == re.sub(r"\d", "", "".join(letters(wide)))


def test_colours_are_for_terminals_only(tmp_path: Path) -> None:
    assert "\x1b" not in printed(tmp_path)
    assert "\x1b[1m1. Assemble" in printed(tmp_path, terminal=True)


def test_no_number_is_printed_as_minus_zero(tmp_path: Path) -> None:
    assert not re.search(r"(?<![\w.])-0(\.0+)?(?![\w.])", printed(tmp_path))


# ---------------------------------------------------------------------- what is written


def test_the_page_has_the_graph_with_values_and_costs(tmp_path: Path) -> None:
    text = printed(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["four_bar.html"]
    assert "four_bar.html " in text
    assert "matplotlib" not in text
    page = (tmp_path / "four_bar.html").read_text(encoding="utf-8")
    nodes = nodes_of_page(page)
    assert nodes["gauge.point"]["seconds"] is not None
    assert nodes["gauge.point"]["hit_rate"] == 0.0
    summary = demonstrate(FEWEST, progress=False).summary
    for path in ("matter.tree_poses", "matter.axes", "matter.pose[coupler]"):
        assert nodes[path]["hit_rate"] == pytest.approx(summary[path].hit_rate)
    assert nodes["matter.velocity[crank]"]["seconds"] is None
    assert "[0.5" in nodes["gauge.point"]["value"]


def test_with_matplotlib_a_plot_and_an_animation_are_written_and_said_so(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is in the extra: pip install '.[viz]'")
    folder = tmp_path / "new" / "folder"
    text = printed(folder, has_pictures=True)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES + SCENE)
    assert sorted(name for name, _ in table(text, "file")) == sorted(FILES + SCENE)
    assert (folder / "four_bar.png").read_bytes()[:4] == b"\x89PNG"
    image = pytest.importorskip("PIL.Image").open(folder / "four_bar.gif")
    assert image.n_frames == FEWEST <= MOST_FRAMES
    image.close()


def test_without_matplotlib_the_page_is_written_and_a_line_says_what_to_install(
    tmp_path: Path,
) -> None:
    with patch.dict(sys.modules, WITHOUT_MATPLOTLIB):
        text = printed(tmp_path, has_pictures=True)
    assert "No plot, no animation without matplotlib: pip install 'stagecache[viz]'\n" in text
    assert [path.name for path in tmp_path.iterdir()] == ["four_bar.html"]


def test_a_folder_that_cannot_be_made_is_named_before_anything_is_printed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="Not a directory") as caught:
        printed(tmp_path / "file" / "folder")
    assert caught.value.filename.endswith("folder")


@pytest.mark.parametrize("name", ["four_bar.html", "four_bar.png"])
def test_a_file_that_cannot_be_written_is_named(name: str, tmp_path: Path) -> None:
    if name != "four_bar.html":
        pytest.importorskip("matplotlib", reason="matplotlib is in the extra: pip install '.[viz]'")
    (tmp_path / name).mkdir()
    with pytest.raises(FileError) as caught:
        printed(tmp_path, has_pictures=True)
    assert caught.value.filename.endswith(name)


def test_the_plot_shows_the_bars_the_curve_and_the_angles(found: Demonstration) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is in the extra: pip install '.[viz]'")
    pyplot = import_module("matplotlib.pyplot")
    left_open = pyplot.get_fignums()
    _, axes = plotted(found).axes
    rocker, coupler, *_ = axes.get_lines()
    exact = np.degrees(closed_form(found.turn.angles[:, 0]))
    assert coupler.get_ydata() == pytest.approx(exact[0], abs=1e-4)
    assert rocker.get_ydata() == pytest.approx(exact[1], abs=1e-4)
    assert pyplot.get_fignums() == left_open


def test_the_curve_of_many_points_goes_from_the_first_to_the_last_in_fewer_steps() -> None:
    points = np.linspace([0.0, 0.0, 0.0], [1.0, 2.0, 0.0], 1001)
    lines = curve_of(points)
    assert len(lines) == 360
    assert len(curve_of(points[:10])) == 9
    ends = np.array([[line.point1, line.point2] for line in lines])
    assert ends[0, 0].tolist() == [0.0, 0.0, 0.0]
    assert ends[-1, 1].tolist() == [1.0, 2.0, 0.0]
    assert (ends[1:, 0] == ends[:-1, 1]).all()


# ---------------------------------------------------------------------- the example


def test_the_example_assembles_and_drives_the_linkage(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLES / "four_bar.py"), run_name="__main__")
    text = capsys.readouterr().out
    assert isinstance(example["system"](), MultibodySystem)
    assert re.search(r"error norm of the start: 1\.43 m\nassembled: goal .*Gauss-Newton", text)
    rows = np.array(re.findall(r"\[ ?([\d.]+) +([\d.]+) +([\d.]+) *\] degrees", text), float)
    assert rows[:, 0].tolist() == [60.0, 120.0, 180.0, 240.0, 300.0, 360.0]
    exact = np.degrees(closed_form(np.radians(rows[:, 0]))).T
    assert rows[:, 1:] == pytest.approx(exact, abs=0.006)
    (difference,) = re.findall(r"closed form: (\S+) rad", text)
    assert 0.0 <= float(difference) < 1e-6
    assert re.search(r"\n +361  assembly steps\n", text)


# ---------------------------------------------------------------------- what the cache saved


def test_the_last_screen_says_what_the_cache_saved_and_what_to_do_next(tmp_path: Path) -> None:
    text = printed(tmp_path, 80)
    saved, following = text.split("5. What the cache saved")[1].split("\nNext\n")
    assert re.search(rf"\n{FEWEST} frames +[\d.]+ \S+ +[\d.]+ \S+ +[\d.]+ times\n", saved)
    assert "python -m stagecache.examples.four_bar" in following
    assert "stagecache new mymodel" in following


def test_without_a_cache_the_turn_is_the_same(found: Demonstration) -> None:
    assert found.saving.difference == 0.0
    assert min(found.saving.cached, found.saving.uncached) > 0.0


def test_a_forgetful_state_computes_whatever_is_read() -> None:
    model = system()
    gauge = gauge_of(model)
    state = model.new_state()
    observe(state._contents, Forgetful(state._contents))
    with state.trace() as trace:
        for _ in range(3):
            gauge.angles(state)
    assert (trace.summary()["gauge.angles"].computed, trace.summary().hits) == (3, 0)


def test_the_documentation_is_where_the_metadata_of_the_package_says() -> None:
    urls = Message()
    urls["Project-URL"] = "Source, https://example.org/source"
    urls["Project-URL"] = "Documentation, https://example.org/docs"
    with patch("stagecache.demo.screen.metadata", return_value=urls):
        assert documentation_url() == "https://example.org/docs"
    with patch("stagecache.demo.screen.metadata", return_value=Message()):
        assert documentation_url() == ""
