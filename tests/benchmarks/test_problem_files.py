"""Files of problems: what is read is what they say, and errors name the field."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.errors import ProblemFileError
from benchmarks.inverse_kinematics.problem import Problem
from benchmarks.inverse_kinematics.random_trees import NUM_Q, random_tree
from benchmarks.inverse_kinematics.reading import read_problem
from benchmarks.inverse_kinematics.tree import Tree
from stagecache import Stage
from stagecache.errors import NotANumberError, OutOfRangeError, ShapeError, StagecacheError

DATA = Path(__file__).parents[1] / "assembly" / "data"
CHAIN = DATA / "ik_chain20.json.xz"
ROD = DATA / "ik_fourbar_rod.json"
SWEEP = DATA / "ik_fourbar_rod_goal.json"

Change = Callable[[dict[str, Any]], object]


def changed(source: Path, change: Change, folder: Path) -> Path:
    """A copy of a file in which something is different."""
    data = source.read_bytes()
    content = json.loads(lzma.decompress(data) if source.suffix == ".xz" else data)
    change(content)
    path = folder / "problem.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def put(name: str, value: Any, *path: str | int) -> Change:
    """A change of one field, at the end of a path."""

    def change(content: Any) -> None:
        for part in path:
            content = content[part]
        content[name] = value

    return change


def without(name: str, *path: str | int) -> Change:
    """A change that leaves out a field."""

    def change(content: Any) -> None:
        for part in path:
            content = content[part]
        del content[name]

    return change


def test_a_chain_is_read_with_markers_frames_and_runs() -> None:
    chain = read_problem(CHAIN)
    assert [link.joint for link in chain.links] == ["Ball"] * 20
    assert [link.parent for link in chain.links] == list(range(-1, 19))
    assert [marker.body for marker in chain.markers] == list(range(1, 20, 2))
    assert (len(chain.start), len(chain.frames), chain.closures, chain.aim) == (60, 100, (), None)
    assert [frame.time for frame in chain.frames[:3]] == [0.0, 0.01, 0.02]
    assert [run.accuracy for run in chain.runs] == [1e-3, 1e-5, 1e-8]
    assert chain.runs[1].mean_goal == pytest.approx(8.14e-8, rel=1e-3)
    assert chain.runs[1].mean_rms == pytest.approx(0.377e-3, rel=1e-3)
    assert chain.runs[1].errors.size == 0


def test_a_sweep_is_read_as_frames_of_which_the_first_is_assembled() -> None:
    sweep = read_problem(SWEEP)
    assert sweep.aim is not None
    assert (sweep.aim.body, sweep.aim.index) == (0, 0)
    values = [frame.value for frame in sweep.frames]
    assert values == pytest.approx(1.0 + np.radians(np.arange(181)), abs=1e-9)
    (run,) = sweep.runs
    assert run.goals.shape == run.errors.shape == run.seconds.shape == (181,)
    assert (sweep.accuracy, sweep.tolerance) == (1e-3, 1e-4)


def test_a_problem_without_a_goal_has_one_frame_in_which_nothing_is_wanted() -> None:
    rod = read_problem(ROD)
    (frame,) = rod.frames
    assert (frame.time, frame.value, frame.observations.size, rod.aim) == (None, None, 0, None)
    (closure,) = rod.closures
    assert (closure.kind, closure.first, closure.second, closure.length) == ("Rod", 1, -1, 1.0)


def test_the_system_has_the_bodies_the_start_and_the_errors_of_the_file() -> None:
    rod = Tree(read_problem(ROD))
    rod.system.realize(rod.state, Stage.POSITION)
    assert rod.state.q.tolist() == rod.problem.start.tolist()
    content = json.loads(ROD.read_bytes())
    assert abs(rod.state.qerr[0]) == pytest.approx(content["initial_error_norm"], rel=1e-12)


def test_poses_are_those_of_the_file() -> None:
    problem = read_problem(CHAIN)
    assert problem.known is not None
    tree = Tree(problem)
    state = tree.state_at(problem.known.q)
    for number, matrix in enumerate(problem.known.matrices):
        np.testing.assert_allclose(tree.body(number).pose(state).matrix, matrix, atol=1e-12)


def test_other_poses_are_refused_with_the_body(tmp_path: Path) -> None:
    change = put("p", [0.1, 0.2, 0.3], "check_poses_at_frame0_q_true", 7)
    problem = read_problem(changed(CHAIN, change, tmp_path))
    with pytest.raises(ProblemFileError, match=r"_q_true\[7\]: is not the pose of body 'link7'"):
        Tree(problem)


def test_a_plain_file_is_read_as_a_compressed_one_whatever_its_name(tmp_path: Path) -> None:
    plain = tmp_path / "chain.xz"
    plain.write_bytes(lzma.decompress(CHAIN.read_bytes()))
    compressed = tmp_path / "sweep.json"
    compressed.write_bytes(lzma.compress(SWEEP.read_bytes()))
    assert len(read_problem(plain).frames) == 100
    assert len(read_problem(compressed).frames) == 181


def test_missing_observations_are_nan(tmp_path: Path) -> None:
    def change(content: Any) -> None:
        content["frames"][3]["observations"][2] = None
        content["frames"][3]["observations"][4][1] = None

    seen = read_problem(changed(CHAIN, change, tmp_path)).frames[3].observations
    assert np.isnan(seen).sum(axis=1).tolist() == [0, 0, 3, 0, 1, 0, 0, 0, 0, 0]


def test_several_constraints_and_a_goal_beside_markers_are_read(tmp_path: Path) -> None:
    frame = {"R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "p": [0, 0, 1]}
    ball = {"type": "Ball", "body1": 3, "station1": [0, 0, 1], "body2": -1, "station2": [1, 0, 0]}
    weld = {"type": "Weld", "body1": 5, "frame1": frame, "body2": 7, "frame2": frame}

    def change(content: Any) -> None:
        content["constraints"] = [ball, weld]
        content["goal"] = {"type": "QValue", "body": 2, "q_index": 1, "value": 0.5}

    problem = read_problem(changed(CHAIN, change, tmp_path))
    assert [closure.kind for closure in problem.closures] == ["Ball", "Weld"]
    assert {frame.value for frame in problem.frames} == {0.5}
    tree = Tree(problem)
    tree.system.realize(tree.state, Stage.POSITION)
    assert tree.state.nqerr == 9


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (without("q_initial"), "q_initial: is missing"),
        (put("nq", 4), "nq: is out of range"),
        (put("bodies", {}), "bodies: is no list"),
        (put("index", 2, "bodies", 1), r"bodies[1].index: is out of range"),
        (put("parent", 1, "bodies", 1), r"bodies[1].parent: is out of range"),
        (put("parent", -2, "bodies", 1), r"bodies[1].parent: is out of range"),
        (put("parent", True, "bodies", 2), r"bodies[2].parent: is out of range"),
        (put("joint", "Hinge", "bodies", 1), r"bodies[1].joint: is not known here"),
        (put("joint", ["Pin"], "bodies", 1), r"bodies[1].joint: is not known here"),
        (put("joint", "Ball", "bodies", 1), r"bodies[1].nq: is out of range"),
        (put("q_start", 0, "bodies", 1), r"bodies[1].q_start: is out of range"),
        (put("name", "crank", "bodies", 1), r"bodies[1].name: is taken"),
        (put("name", "ground", "bodies", 1), r"bodies[1].name: is taken"),
        (put("name", 5, "bodies", 1), r"bodies[1].name: is no text"),
        (without("R", "bodies", 2, "X_PF"), r"bodies[2].X_PF.R: is missing"),
        (put("type", "Gear", "constraint"), "constraint.type: is not known here"),
        (put("body1", 3, "constraint"), "constraint.body1: is out of range"),
        (put("body2", 1, "constraint"), "constraint.body2: is body1 as well"),
        (put("length", 0, "constraint"), "constraint.length: is out of range"),
        (without("station2", "constraint"), "constraint.station2: is missing"),
        (put("type", "Angle", "goal"), "goal.type: is not known here"),
        (put("q_index", 1, "goal"), "goal.q_index: is out of range"),
        (put("sweep", []), "assemble"),
        (without("target", "sweep", 5), r"sweep[5].target: is missing"),
        (put("accuracy", -1), "accuracy: is out of range"),
        (put("sweep", [5] * 180), r"sweep[0]: is no object"),
    ],
)
def test_a_bad_field_is_named(change: Change, field: str, tmp_path: Path) -> None:
    if field == "assemble":  # without a sweep there is one frame, for which assemble stands
        assert len(read_problem(changed(SWEEP, change, tmp_path)).frames) == 1
        return
    with pytest.raises(ProblemFileError) as caught:
        read_problem(changed(SWEEP, change, tmp_path))
    assert f"problem.json: {field}" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "error", "field"),
    [
        (put("q_initial", [0.1, 0.2]), ShapeError, "q_initial"),
        (put("q_initial", [0.1, "0.2", 0.3]), NotANumberError, "q_initial"),
        (put("p", [0, 0, float("nan")], "bodies", 1, "X_BM"), OutOfRangeError, "bodies[1].X_BM.p"),
        (put("R", [[1, 0], [0, 1]], "bodies", 1, "X_BM"), ShapeError, "bodies[1].X_BM.R"),
        (
            put("R", [[1, 0, 0], [0, 1, 0], [0, 0, 2]], "bodies", 1, "X_BM"),
            OutOfRangeError,
            "bodies[1].X_BM.R",
        ),
        (put("value", None, "goal"), ProblemFileError, "goal.value"),
        (put("value", [1], "goal"), ShapeError, "goal.value"),
    ],
)
def test_bad_numbers_are_named(
    change: Change, error: type[StagecacheError], field: str, tmp_path: Path
) -> None:
    with pytest.raises(error) as caught:
        read_problem(changed(SWEEP, change, tmp_path))
    assert f"problem.json: {field}" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (put("body", 20, "markers", 1), "markers[1].body"),
        (put("name", "m0", "markers", 1), "markers[1].name"),
        (put("weight", -1, "markers", 1), "markers[1].weight"),
        (put("frames", []), "frames"),
        (without("t", "frames", 3), "frames[3].t"),
        (put("observations", [[0, 0, 0]], "frames", 3), "frames[3].observations"),
        (put("observations", [[0, 0]] * 10, "frames", 3), "frames[3].observations[0]"),
        (put("observations", [[0, 0, "1"]] * 10, "frames", 3), "frames[3].observations[0][2]"),
        (put("frames", [], "runs", 1), "runs[1].frames"),
        (put("check_poses_at_frame0_q_true", []), "check_poses_at_frame0_q_true"),
    ],
)
def test_a_bad_field_of_markers_and_frames_is_named(
    change: Change, field: str, tmp_path: Path
) -> None:
    with pytest.raises(StagecacheError) as caught:
        read_problem(changed(CHAIN, change, tmp_path))
    assert f"problem.json: {field}: " in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xfd7zXZ\x00 broken", b"\xff\xfe\x00", b"[" * 100_000, b"[]"],
    ids=["empty", "cut off", "broken xz", "no text", "too deep", "a list"],
)
def test_a_file_of_something_else_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "problem.json"
    path.write_bytes(content)
    with pytest.raises(ProblemFileError, match=r"problem\.json: "):
        read_problem(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProblemFileError, match=r"missing\.json: cannot be read"):
        read_problem(tmp_path / "missing.json")


def marked(problem: Problem) -> set[int]:
    return {marker.body for marker in problem.markers}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_random_tree_has_31_q_and_40_markers_that_are_seen_2_mm_beside(seed: int) -> None:
    problem = random_tree(seed)
    assert sum(link.num_q for link in problem.links) == NUM_Q == 31
    assert (len(problem.markers), len(problem.frames)) == (40, 100)
    assert marked(problem) == set(range(len(problem.links)))
    again = random_tree(seed)
    assert again == problem
    one, other = problem.frames[5].observations, again.frames[5].observations
    assert one.tolist() == other.tolist()
    steps = np.diff([frame.observations for frame in problem.frames], axis=0)
    assert 0.002 < np.sqrt(np.mean(steps**2)) < 0.02
