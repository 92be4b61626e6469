"""Inverse kinematics: frames that are tracked, beside Simbody's Assembler in C++.

A figure is the time of a frame: its observations are taken over, and it is tracked. Nobody is fast
by stopping early: ours is solved at an accuracy at which no frame has a worse goal than Simbody's
at the accuracy of the column that the limit refers to; where one has, the row fails.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.errors import NotInstalledError, WrongGoalError
from benchmarks.inverse_kinematics.problem import Problem
from benchmarks.inverse_kinematics.random_trees import random_tree
from benchmarks.inverse_kinematics.reading import read_problem
from benchmarks.inverse_kinematics.run import Run
from benchmarks.inverse_kinematics.solving import Tracking
from benchmarks.limits import OfPeer
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe
from benchmarks.rows.base import Row, Section
from benchmarks.simbody.probe import SIMBODY
from benchmarks.simbody.tracking import SimbodyTracking, solve_by_simbody

DATA: Final = Path(__file__).parents[2] / "tests" / "assembly" / "data"
"""Problems with what Simbody has got, recorded once: the tests compare it with ours."""

ACCURACIES: Final = (1e-5, 1e-3)
"""Of Simbody."""

SEEDS: Final = (1, 2, 3)
AS_GOOD: Final = 1 + 1e-4
"""By which factor the goal of a frame may be worse, for rounding."""

Make = Callable[[], Problem]


def beside(accuracy: float) -> str:
    """The head of the column of Simbody at an accuracy."""
    return f"{SIMBODY}, {_power(accuracy)}"


def _power(accuracy: float) -> str:
    return f"{accuracy:.0e}".replace("e-0", "e-")


@cache
def recorded(name: str) -> Problem:
    """A problem of the tests."""
    return read_problem(DATA / name)


@cache
def tree(seed: int) -> Problem:
    """A random tree."""
    return random_tree(seed)


def check(problem: Problem, own: Run, other: Run) -> None:
    """Refuse to compare times where the goals are worse than another one's, of a frame or in all.

    What is below half the square of the tolerance counts as 0, in a single frame: the constraints
    may be violated by as much.

    Raises
    ------
    WrongGoalError
    """
    at = f"{problem.name} at accuracy {own.accuracy:g}"
    theirs = f"as of {other.name} at accuracy {other.accuracy:g}"
    if own.failed:
        raise WrongGoalError(at, "no frame that fails", f"{len(own.failed)} that fail")
    worse = np.flatnonzero(own.goals > np.maximum(AS_GOOD * other.goals, other.tolerance**2 / 2))
    if worse.size:
        first = int(worse[0])
        expected = f"{other.goals[first]:.6g} or less, {theirs}"
        got = f"{own.goals[first]:.6g}; of all frames, {worse.size} are worse"
        raise WrongGoalError(f"{at}: frame {first}", expected, got)
    if own.mean_goal > AS_GOOD * other.mean_goal:
        expected = f"a mean of {other.mean_goal:.6g} or less, {theirs}"
        raise WrongGoalError(at, expected, f"{own.mean_goal:.6g}")


def own(make: Make, accuracy: float, other_accuracy: float) -> Callable[[Peer], AbstractProbe]:
    """Return the probe of ours, whose goals are compared where Simbody is installed."""

    def build(_: Peer) -> AbstractProbe:
        problem = make()
        probe = Tracking(problem, accuracy, accuracy / 10)
        try:
            other = solve_by_simbody(problem, other_accuracy, other_accuracy / 10)
        except NotInstalledError:  # the column says so
            return probe
        check(problem, probe.first, other)
        return probe

    return build


def by_simbody(make: Make, accuracy: float) -> AbstractProbe:
    """Return the probe of Simbody. Raises NotInstalledError, FailedProgramError."""
    return SimbodyTracking(make(), accuracy, accuracy / 10)


def _row(
    name: str, make: Make, factor: float, *, accuracy: float = 1e-3, other_accuracy: float = 1e-5
) -> Row:
    return Row(
        f"{name}, at accuracy {_power(accuracy)}",
        own(make, accuracy, other_accuracy),
        limits=[OfPeer(factor, beside(other_accuracy))],
        beside={beside(a): partial(by_simbody, make, a) for a in ACCURACIES},
    )


CHAIN: Final = partial(recorded, "ik_chain20.json.xz")
FOUR_BAR: Final = partial(recorded, "ik_fourbar_rod_goal.json")

ASSEMBLER: Final = Section(
    "Assembler",
    (
        (_row("chain of 20 Balls, 10 markers", CHAIN, 1.0),),
        *(
            (_row(f"tree {n}: 31 q, 40 markers", partial(tree, n), 1.0, accuracy=1e-4),)
            for n in SEEDS
        ),
        (_row("four-bar, driven", FOUR_BAR, 1.5, other_accuracy=1e-3),),
    ),
    peers=(OWN,),
    columns=tuple(beside(accuracy) for accuracy in ACCURACIES),
)
