"""An Assembler that an error cuts short goes on as if nothing had been."""

from functools import partial
from itertools import count

import numpy as np
import pytest

from stagecache import Assembler, QValue, State, Subsystem, System, q_variable
from stagecache.assembly import AssemblyCondition
from stagecache.errors import ReadOnlyError
from stagecache.state.handles import Vector
from tests.interrupting import ignore_lost_strikes, plain_only, struck_at


class Crank(Subsystem):
    """Has an angle that two goals pull at."""

    angle = q_variable(0.0)


def pulled() -> tuple[Crank, Assembler, QValue]:
    """A Crank, an Assembler that has a problem, and the second goal."""
    crank = Crank()
    assembler = Assembler(System(crank))
    assembler.add_goal(QValue(crank.angle, 0, 0.0))
    goal = assembler.add_goal(QValue(crank.angle, 0, 1.0))
    assembler.assemble()
    return crank, assembler, goal


@plain_only
@ignore_lost_strikes
def test_a_weight_whose_change_is_cut_short_counts_as_the_assembler_tells_it() -> None:
    for at in count():
        crank, assembler, goal = pulled()
        change = partial(assembler.set_condition_weight, goal, 3.0)
        within = frozenset({"set_condition_weight", "set_weight", "_make_problem", "used"})
        place = struck_at(at, change, KeyboardInterrupt, within)
        assembler.assemble()
        weight = assembler.condition_weight(goal)
        expected = pytest.approx(weight / (1 + weight), abs=1e-3)
        assert crank.angle(assembler.internal_state) == expected, place
        change()
        assembler.track()
        assert crank.angle(assembler.internal_state) == pytest.approx(0.75, abs=1e-3), place
        if not place:
            break


class Target(AssemblyCondition):
    """An angle; refuses to be prepared twice without being told to forget."""

    is_prepared = False

    def __init__(self, crank: Crank, angle: float) -> None:
        super().__init__("target")
        self.crank, self.angle = crank, angle

    def initialize_condition(self) -> None:
        assert not self.is_prepared
        self.is_prepared = True

    def uninitialize_condition(self) -> None:
        self.is_prepared = False

    def calc_errors(self, state: State) -> Vector:
        return np.array([self.crank.angle(state) - self.angle])


@plain_only
@ignore_lost_strikes
def test_conditions_forget_before_they_prepare_again_after_an_uninitialization_cut_short() -> None:
    for at in count():
        crank = Crank()
        assembler = Assembler(System(crank))
        for angle in (0.0, 1.0):
            assembler.add_goal(Target(crank, angle))
        assembler.assemble()
        within = frozenset({"uninitialize", "uninitialize_condition"})
        place = struck_at(at, assembler.uninitialize, KeyboardInterrupt, within)
        assembler.uninitialize()
        assembler.assemble()
        assert crank.angle(assembler.internal_state) == pytest.approx(0.5, abs=1e-3), place
        if not place:
            break


@plain_only
@ignore_lost_strikes
def test_the_internal_state_is_only_for_reading_wherever_an_error_strikes() -> None:
    for at in count():
        _, assembler, goal = pulled()
        assembler.set_condition_weight(goal, 3.0)
        within = frozenset({"_write_q", "guard"})
        place = struck_at(at, assembler.track, KeyboardInterrupt, within)
        with pytest.raises(ReadOnlyError):
            assembler.internal_state.q = [2.0]
        if not place:
            break
