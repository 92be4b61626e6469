"""An Assembler that an error cuts short goes on as if nothing had been."""

from functools import partial
from itertools import count

import pytest

from stagecache import Assembler, QValue, Subsystem, System, q_variable
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
