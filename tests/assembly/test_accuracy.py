"""The promise of `accuracy`: a goal that has converged is that near to its least value.

`python -m tests.assembly.accuracy` searches farther.
"""

import numpy as np
import pytest

from benchmarks.inverse_kinematics.reading import read_problem
from benchmarks.inverse_kinematics.solving import Solver
from tests.assembly.accuracy import (
    ACCURACIES,
    KINDS,
    LENGTHS,
    Case,
    Found,
    compare,
    make_case,
    search,
)
from tests.assembly.test_agreement import CHAIN, ROD, SWEEP

PROBLEMS = 3
HARD = {"closed_film": 1, "valley": 2}  # problems that take many iterations
MOST_FRAMES = 30


def broken(found: list[Found]) -> list[str]:
    return [f"{one}: {one.excess:.3g} of what is allowed" for one in found if one.is_broken]


@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_goal_that_has_converged_is_as_near_to_its_least_value_as_the_accuracy_says(
    kind: str, accuracy: float
) -> None:
    """For models of each length in turn."""
    seeds = range(HARD.get(kind, PROBLEMS))
    lengths = [LENGTHS[seed % len(LENGTHS)] for seed in seeds]
    found = [
        one
        for seed, length in zip(seeds, lengths, strict=True)
        for one in search(kind, seed, accuracy, length)
    ]
    assert broken(found) == []
    assert any(one.has_converged for one in found)


@pytest.mark.parametrize("kind", ["markers", "exact", "bounds", "hand", "chain"])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-9])
def test_the_length_of_a_model_changes_neither_the_goal_nor_the_way_to_it(
    kind: str, accuracy: float
) -> None:
    """Goals are squares of lengths; a goal that counts as zero is only as small as rounding."""
    for seed in range(2):
        goals, iterations = [], []
        for length in LENGTHS:
            (found,) = search(kind, seed, accuracy, length)
            goals.append(found.goal / length**2)
            iterations.append(found.num_iterations)
            assert found.has_converged
        np.testing.assert_allclose(goals, goals[1], rtol=1e-6, atol=1e-18)
        assert len(set(iterations)) == 1


@pytest.mark.parametrize("kind", ["markers", "bounds", "film", "general"])
def test_scipy_finds_no_smaller_goal_nearby(kind: str) -> None:
    found = [one for seed in range(3, 5) for one in search(kind, seed, 1e-6, with_scipy=True)]
    assert broken(found) == []


@pytest.mark.parametrize("accuracy", [1e-3, 1e-9])
@pytest.mark.parametrize("path", [CHAIN, ROD, SWEEP], ids=lambda path: path.name)
def test_frames_of_problems_in_files_are_as_near_as_the_accuracy_says(
    path: object, accuracy: float
) -> None:
    assert path in (CHAIN, ROD, SWEEP)
    problem = read_problem(path)

    def case() -> Case:
        solver = Solver(problem, accuracy, min(problem.tolerance, accuracy / 10))
        frames = [lambda frame=frame: solver._want(frame) for frame in problem.frames]
        return Case(solver.assembler, solver.tree.state, frames[:MOST_FRAMES])

    found = list(compare(case(), case(), Found(problem.name, 0, 0, accuracy)))
    assert broken(found) == []
    assert all(one.has_converged for one in found)


@pytest.mark.parametrize("accuracy", ACCURACIES)
def test_assembling_a_result_again_changes_no_goal_by_more_than_the_accuracy(
    accuracy: float,
) -> None:
    """A hand with one light marker near its axis: its valley is flat, and was left too early."""
    case = make_case("hand", 0)
    assembler, state = case.assembler, case.start.copy()
    assembler.accuracy = accuracy
    case.frames[0]()
    goals = [assembler.assemble(state).goal for _ in range(12)]
    assert goals[0] - goals[-1] <= accuracy * goals[-1]
    assert np.all(np.diff(goals) <= 0)
