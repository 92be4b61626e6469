"""What is measured of the Assembler is what the rows say: the same problem, in both libraries."""

from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from click.testing import CliRunner
from scipy.spatial.transform import Rotation

from benchmarks.assembler import main
from benchmarks.errors import FailedProgramError, WrongGoalError
from benchmarks.inverse_kinematics.problem import JOINTS, Closure, Frame, Link, Marker, Problem
from benchmarks.inverse_kinematics.random_trees import random_tree
from benchmarks.inverse_kinematics.reading import read_problem
from benchmarks.inverse_kinematics.solving import Solver, Tracking
from benchmarks.inverse_kinematics.tree import Tree
from benchmarks.peers import OWN, load_peer
from benchmarks.rows import ASSEMBLER
from benchmarks.rows.assembler import DATA, beside, check
from benchmarks.simbody.program import ASSEMBLER as PROGRAM
from benchmarks.simbody.program import run as run_program
from benchmarks.simbody.tracking import SimbodyTracking, solve_by_simbody
from stagecache import Stage
from stagecache.multibody import Transform
from tests.oracle import simbody

CHAIN = DATA / "ik_chain20.json.xz"
ROD = DATA / "ik_fourbar_rod.json"
SWEEP = DATA / "ik_fourbar_rod_goal.json"
ROWS = {row.name: row for group in ASSEMBLER.groups for row in group}

needs_simbody = pytest.mark.skipif(
    not simbody.is_available(), reason=str(simbody.reason_not_available())
)


def short(problem: Problem, count: int) -> Problem:
    """The first frames of a problem."""
    return evolve(problem, frames=problem.frames[:count], runs=())


def frame_at_random(rng: np.random.Generator) -> Transform:
    return Transform(Rotation.from_quat(rng.normal(size=4)).as_matrix(), rng.normal(size=3))


def all_joints(seed: int) -> Problem:
    """A tree with each joint that there is, in a random order, and two markers on each body.

    They are seen exactly where they are at the start.
    """
    rng = np.random.default_rng(seed)
    links = tuple(
        Link(f"b{i}", int(rng.integers(-1, i)), joint, frame_at_random(rng), frame_at_random(rng))
        for i, joint in enumerate(rng.permutation(sorted(JOINTS)))
    )
    markers = tuple(
        Marker(f"m{i}", i // 2, rng.normal(size=3), float(rng.uniform(0.5, 2.0)))
        for i in range(2 * len(links))
    )
    start = rng.uniform(-1, 1, sum(link.num_q for link in links))
    problem = Problem("joints", links, start, (Frame(),), markers=markers)
    tree = Tree(problem)
    return evolve(problem, frames=(Frame(0.0, None, tree.positions(tree.state)),))


# ---------------------------------------------------------------------- beside Simbody


@pytest.mark.simbody
@needs_simbody
@pytest.mark.parametrize("accuracy", [1e-3, 1e-5])
def test_the_program_gets_what_is_stored_of_the_chain(accuracy: float) -> None:
    problem = read_problem(CHAIN)
    (stored,) = [run for run in problem.runs if run.accuracy == accuracy]
    live = solve_by_simbody(problem, accuracy, accuracy / 10)
    assert live.failed == ()
    np.testing.assert_allclose(live.goals[:5], stored.goals[:5], rtol=1e-6)
    assert live.mean_goal == pytest.approx(stored.mean_goal, rel=0.05)
    assert live.mean_rms == pytest.approx(stored.mean_rms, rel=0.05)


@pytest.mark.simbody
@needs_simbody
def test_the_program_gets_what_is_stored_of_the_four_bar() -> None:
    problem = read_problem(SWEEP)
    (stored,) = problem.runs
    live = solve_by_simbody(problem, problem.accuracy, problem.tolerance)
    np.testing.assert_allclose(live.goals, stored.goals, rtol=1e-3)
    np.testing.assert_allclose(live.errors, stored.errors, rtol=1e-3)


@pytest.mark.simbody
@needs_simbody
@pytest.mark.parametrize("seed", range(5))
def test_markers_on_all_joints_are_at_the_same_places(seed: int) -> None:
    """Ours are given as observations: so Simbody has nothing to do."""
    problem = all_joints(seed)
    live = solve_by_simbody(problem, 1e-3, 1e-4)
    assert live.failed == ()
    assert live.rms[0] < 1e-12
    problem.frames[0].observations[3, 1] += 0.01
    moved = solve_by_simbody(problem, 1e-3, 1e-4)
    assert moved.evaluations[0] > live.evaluations[0]


@pytest.mark.simbody
@needs_simbody
@pytest.mark.parametrize("kind", ["Rod", "Ball", "Weld"])
def test_constraints_have_the_same_errors(kind: str) -> None:
    """Closed by ours, loops are closed in Simbody."""
    rng = np.random.default_rng(3)
    links = tuple(
        Link(f"b{i}", i - 1, joint, frame_at_random(rng), frame_at_random(rng))
        for i, joint in enumerate(["Ball", "Universal", "Ball", "Free"])
    )
    closure = Closure(kind, 1, frame_at_random(rng), 3, frame_at_random(rng), length=1.5)
    start = rng.uniform(-1, 1, sum(link.num_q for link in links))
    problem = Problem("loop", links, start, (Frame(),), (closure,))
    tree = Tree(problem)
    tree.system.realize(tree.state, Stage.POSITION)
    assert np.abs(tree.state.qerr).max() > 0.1
    tree.system.project_q(tree.state, 1e-12)
    closed = evolve(problem, start=tree.state.q.copy())
    assert solve_by_simbody(closed, 1e-3, 1e-4).errors[0] < 1e-10


@pytest.mark.simbody
@needs_simbody
def test_a_missing_observation_does_not_count_in_either() -> None:
    problem = short(random_tree(1), 3)
    problem.frames[1].observations[5] = np.nan
    ours = Solver(problem, 1e-8, 1e-9).solve()
    theirs = solve_by_simbody(problem, 1e-8, 1e-9)
    np.testing.assert_allclose(ours.goals, theirs.goals, rtol=1e-6)
    np.testing.assert_allclose(ours.rms, theirs.rms, rtol=1e-4)


@pytest.mark.simbody
@needs_simbody
def test_the_program_refuses_what_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "problem.txt"
    path.write_text("bodies 1\nHinge -1", encoding="utf-8")
    with pytest.raises(FailedProgramError, match="ends too early"):
        run_program(PROGRAM, str(path), "1e-3", "1e-4", "1")


# ---------------------------------------------------------------------- ours


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_tree_is_tracked_to_an_optimum_at_about_the_noise(seed: int) -> None:
    problem = short(random_tree(seed), 5)
    run = Solver(problem, 1e-5, 1e-6).solve()
    assert run.failed == ()
    assert run.rms.min() > 0.002
    assert run.rms.max() < 0.004
    exact = Solver(problem, 1e-9, 1e-10).solve()
    np.testing.assert_allclose(run.goals, exact.goals, rtol=1e-4)


def test_solving_again_gives_the_same() -> None:
    solver = Solver(short(read_problem(CHAIN), 3), 1e-5, 1e-6)
    one, other = solver.solve(), solver.solve()
    assert one.goals.tolist() == other.goals.tolist()


def test_a_frame_in_which_nothing_is_seen_fails_and_the_next_one_does_not() -> None:
    problem = short(random_tree(1), 4)
    problem.frames[2].observations[:] = np.nan
    run = Solver(problem, 1e-3, 1e-4).solve()
    assert run.failed == (2,)
    assert np.isnan(run.rms).tolist() == [False, False, True, False]


def test_a_row_has_the_goal_below_its_time() -> None:
    probe = Tracking(short(random_tree(1), 3), 1e-5, 1e-6)
    assert probe.sample() > 0
    assert probe.note.startswith("goal ")
    assert "RMS " in probe.note


def test_a_worse_goal_is_not_passed_over() -> None:
    problem = short(random_tree(1), 3)
    run = Solver(problem, 1e-3, 1e-4).solve()
    check(problem, run, run)
    with pytest.raises(
        WrongGoalError, match=r"tree 1 at accuracy 0\.001: frame 0: the goal is not"
    ):
        check(problem, run, evolve(run, goals=run.goals / 2))
    both = run.goals * [1.0, 1.0, 1.00005], run.goals * 0.9999
    check(problem, evolve(run, goals=both[0]), run)
    with pytest.raises(WrongGoalError, match=r"at accuracy 0\.001: the goal is not"):
        check(problem, evolve(run, goals=both[0] * 1e-7), evolve(run, goals=both[1] * 1e-8))
    failing = evolve(run, goals=np.array([*run.goals[:2], np.nan]))
    with pytest.raises(WrongGoalError, match="1 that fail"):
        check(problem, failing, run)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_can_be_measured(name: str) -> None:
    probe = ROWS[name].build(load_peer(OWN))
    probe.calibrate(0.0)
    assert probe.sample() > 0


@pytest.mark.simbody
@needs_simbody
def test_the_columns_beside_are_simbody_at_their_accuracies() -> None:
    row = ROWS["four-bar, driven, at accuracy 1e-3"]
    assert list(row.beside) == [beside(1e-5), beside(1e-3)] == ["Simbody, 1e-5", "Simbody, 1e-3"]
    for build in row.beside.values():
        probe = build()
        assert isinstance(probe, SimbodyTracking)
        assert 0 < probe.sample() < 1


# ---------------------------------------------------------------------- the command


def lines_of(*arguments: str) -> list[str]:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def test_files_are_solved_beside_what_they_have_stored() -> None:
    lines = lines_of(str(CHAIN), str(ROD), str(SWEEP))
    text = "\n".join(lines)
    for name in (CHAIN.name, ROD.name, SWEEP.name):
        assert name in text
    assert sum(OWN in line for line in lines) == 3 + 1 + 1
    assert sum("Simbody, as stored" in line for line in lines) == 3 + 1 + 1
    assert sum("8.143e-08" in line for line in lines) == 1


def test_another_accuracy_is_used_where_it_is_asked_for() -> None:
    lines = lines_of(str(SWEEP), "--accuracy", "1e-6")
    (own,) = [line for line in lines if OWN in line]
    assert "1e-06" in own


def test_a_bad_file_is_an_error_in_words() -> None:
    result = CliRunner().invoke(main, ["no-such-file.json"])
    assert result.exit_code == 1
    assert "no-such-file.json: cannot be read" in result.output
    assert "Traceback" not in result.output
