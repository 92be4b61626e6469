"""The System of a problem, and a State of it at the start."""

from typing import Final, final

import numpy as np

from benchmarks.errors import ProblemFileError
from benchmarks.inverse_kinematics.problem import GROUND, Array, Closure, Problem
from stagecache import State
from stagecache.multibody import (
    AbstractPairConstraint,
    BallConstraint,
    MobilizedBody,
    MultibodySystem,
    RodConstraint,
    WeldConstraint,
)

SAME: Final = 1e-9
"""By how much poses may differ from known ones [m, and numbers of rotations]."""


@final
class Tree:
    """The System of a problem, and a State at the start, in Euler angles as the problem is.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    problem : Problem
    system : MultibodySystem
    state : State
        At Model.

    Raises
    ------
    ProblemFileError
        The poses are not those that the file has. The body is named.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.system = MultibodySystem(name=problem.name)
        matter = self.system.matter
        for link in problem.links:
            matter.add_body(
                link.name,
                self.body(link.parent),
                link.mobilizer,
                inboard_frame=link.inboard,
                outboard_frame=link.outboard,
            )
        for number, closure in enumerate(problem.closures):
            self.system.add(self._constraint(closure), f"closure_{number}")
        self.state = self.state_at(problem.start)
        self._compare_poses()

    def body(self, index: int) -> MobilizedBody:
        """The body of a number in the problem."""
        return self.system.matter.bodies[index - GROUND]

    def state_at(self, q: Array) -> State:
        """A State at some q of all joints, with Euler angles."""
        matter = self.system.matter
        state = self.system.new_state()
        matter.use_euler_angles.set(state, True)
        self.system.realize_model(state)
        matter.q.set(state, q)
        return state

    def positions(self, state: State) -> Array:
        """Where the markers are, (markers, 3) [m]."""
        markers = self.problem.markers
        places = [self.body(m.body).station_position(state, m.station) for m in markers]
        return np.array(places).reshape(-1, 3)

    def _constraint(self, closure: Closure) -> AbstractPairConstraint:
        first, second = self.body(closure.first), self.body(closure.second)
        of_first, of_second = closure.first_frame, closure.second_frame
        if closure.kind == "Weld":
            return WeldConstraint(first, second, first_frame=of_first, second_frame=of_second)
        points = of_first.translation, of_second.translation
        if closure.kind == "Ball":
            return BallConstraint(first, points[0], second, points[1])
        return RodConstraint(first, points[0], second, points[1], closure.length)

    def _compare_poses(self) -> None:
        known = self.problem.known
        if known is None:
            return
        state = self.state_at(known.q)
        for number, expected in enumerate(known.matrices):
            body = self.body(number)
            off = float(np.abs(body.pose(state).matrix - expected).max())
            if not off <= SAME:
                raise ProblemFileError(
                    f"{known.path}[{number}]: is not the pose of {body}",
                    f"the one at q_true of the first frame, within {SAME:g}",
                    f"one that differs by {off:.3g}",
                    "compare the conventions of the file with those of benchmarks/README.md",
                )
