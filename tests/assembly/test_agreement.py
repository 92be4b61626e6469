"""Problems that Simbody has solved: ours are as good in each frame, with its results stored.

Simbody's are at its accuracy 1e-5, where a file has them. The problems are under-determined, so q
are not compared, but goals, distances of markers and errors of constraints.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from benchmarks.inverse_kinematics.problem import Closure, Problem
from benchmarks.inverse_kinematics.reading import read_problem
from benchmarks.inverse_kinematics.run import Run
from benchmarks.inverse_kinematics.solving import Solver
from stagecache.multibody import Transform

DATA = Path(__file__).with_name("data")
CHAIN = DATA / "ik_chain20.json.xz"
ROD = DATA / "ik_fourbar_rod.json"
SWEEP = DATA / "ik_fourbar_rod_goal.json"

ACCURACY = 1e-5
CRANK = 0


@cache
def chain(accuracy: float) -> Run:
    """Ours of the chain."""
    return Solver(read_problem(CHAIN), accuracy, accuracy / 10).solve()


def stored(problem: Problem, accuracy: float) -> Run:
    """Simbody's."""
    (found,) = [run for run in problem.runs if run.accuracy == accuracy]
    return found


@pytest.mark.parametrize("accuracy", [1e-3, ACCURACY])
def test_each_frame_of_the_chain_is_met_at_least_as_well_as_by_simbody(accuracy: float) -> None:
    ours, theirs = chain(accuracy), stored(read_problem(CHAIN), accuracy)
    assert ours.failed == ()
    assert np.flatnonzero(ours.goals > theirs.goals).tolist() == []
    assert np.flatnonzero(ours.rms > theirs.rms).tolist() == []


def test_the_chain_is_met_better_than_by_simbody_in_the_mean() -> None:
    run = chain(ACCURACY)
    assert run.mean_goal < 8.14e-8 / 2
    assert run.mean_rms < 0.377e-3 / 2


def test_goals_are_half_the_weighted_mean_of_squared_distances() -> None:
    """So the goals that are compared are the same function."""
    problem = read_problem(CHAIN)
    solver = Solver(problem, ACCURACY, ACCURACY / 10)
    frame = problem.frames[0]
    assert solver.markers is not None
    solver.markers.move_all_observations(frame.observations)
    solver.assembler.initialize(solver.tree.state)
    squares = ((solver.tree.positions(solver.tree.state) - frame.observations) ** 2).sum(axis=1)
    weights = np.array([marker.weight for marker in problem.markers])
    expected = weights @ squares / weights.sum() / 2
    assert solver.assembler.calc_current_goal() == pytest.approx(expected, rel=1e-12)
    assert solver.markers.rms() == pytest.approx(np.sqrt(squares.mean()), rel=1e-12)


def test_a_poor_start_of_the_four_bar_is_closed() -> None:
    problem = read_problem(ROD)
    solver = Solver(problem, problem.accuracy, problem.tolerance)
    run = solver.solve()
    assert run.failed == ()
    assert run.errors[0] <= problem.tolerance


def test_the_four_bar_follows_half_a_turn_in_frames_of_one_degree() -> None:
    problem = read_problem(SWEEP)
    theirs = stored(problem, problem.accuracy)
    run = Solver(problem, problem.accuracy, problem.tolerance).solve()
    assert run.failed == ()
    assert len(run.goals) == 181
    assert run.errors.max() <= problem.tolerance
    assert run.goals.max() <= theirs.goals.max()
    assert run.mean_goal <= theirs.mean_goal


def test_each_frame_of_the_four_bar_has_a_better_goal_where_it_is_asked_for() -> None:
    """At 1e-3 goals are far below what the tolerance of the constraint may make of them."""
    problem = read_problem(SWEEP)
    run = Solver(problem, 1e-6, 1e-7).solve()
    assert run.failed == ()
    worse = run.goals > stored(problem, problem.accuracy).goals
    assert np.flatnonzero(worse).tolist() == []


def closed_with_a_ball() -> Problem:
    """The same four-bar with a Ball at its rocker: three equations, of which one is always 0."""
    problem = read_problem(SWEEP)
    end = Transform(None, [1.0, 0.0, 0.0])
    base = Transform(None, [1.3, 0.0, 0.0])
    return evolve(problem, name="ball", closures=(Closure("Ball", 2, end, -1, base),), runs=())


def test_a_four_bar_that_is_closed_with_a_ball_follows_as_well() -> None:
    """Simbody's Assembler does not move here, and says nothing."""
    problem = closed_with_a_ball()
    solver = Solver(problem, problem.accuracy, problem.tolerance)
    cranks: list[float] = []
    solver.assembler.initialize(solver.tree.state)
    assert solver.aim is not None
    for number, frame in enumerate(problem.frames):
        assert frame.value is not None
        solver.aim.value = frame.value
        result = solver.assembler.track() if number else solver.assembler.assemble()
        assert result.error_norm <= problem.tolerance
        cranks.append(float(solver.assembler.internal_state.q[CRANK]))
    wanted = np.array([frame.value for frame in problem.frames], float)
    assert np.abs(np.array(cranks) - wanted).max() < 1e-4
    assert cranks[-1] - cranks[0] == pytest.approx(np.pi, abs=1e-3)


def test_the_four_bar_stays_on_its_branch() -> None:
    """The rocker moves little from frame to frame: it never jumps to the other closure."""
    problem = closed_with_a_ball()
    solver = Solver(problem, problem.accuracy, problem.tolerance)
    assert solver.aim is not None
    solver.assembler.initialize(solver.tree.state)
    places = []
    for number, frame in enumerate(problem.frames):
        assert frame.value is not None
        solver.aim.value = frame.value
        if number:
            solver.assembler.track()
        else:
            solver.assembler.assemble()
        places.append(solver.assembler.internal_state.q.copy())
    assert np.abs(np.diff(places, axis=0)).max() < np.radians(5.0)
