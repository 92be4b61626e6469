"""A model with its tests: three ways to test it with pytest, as a file to copy.

::

    test_tank                 all checks, with the fixture that stagecache brings
    test_a_tank_in_use        one check, with values that such a tank can have
    TestTank                  random operations, with a rule and an invariant of its own

Run it: python -m stagecache.examples.test_my_model, or: pytest test_my_model.py
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    parameter,
    z_variable,
)
from stagecache.state import (
    AbstractHandle,
)
from stagecache.testing import InvalidationMachine, check_all, check_coherence

# ---------------------------------------------------------------------- the model


class Tank(Subsystem):
    """Water that runs out through a hole in the floor of a tank."""

    area = parameter(2.0, unit="m²")  # of the floor
    hole = parameter(0.01, unit="m²")
    gravity = parameter(9.81, unit="m/s²")
    level = z_variable(1.5, unit="m")

    @cached(prerequisites=(level, area), unit="m³")
    def volume(self, state: State) -> float:
        """Volume of the water [m³]."""
        return self.level(state) * self.area(state)

    @cached(prerequisites=(level, gravity), unit="m/s")
    def speed(self, state: State) -> float:
        """Speed of the water in the hole, as Torricelli says [m/s]."""
        return math.sqrt(2 * max(self.gravity(state) * self.level(state), 0.0))

    @cached(prerequisites=(speed, hole), unit="m³/s")
    def outflow(self, state: State) -> float:
        """Outflow of water [m³/s]."""
        return self.speed(state) * self.hole(state)

    def realize_dynamics(self, state: State) -> None:
        """The level falls."""
        state[self].upd_zdot()[0] = -self.outflow(state) / self.area(state)


# ---------------------------------------------------------------------- its tests


def test_tank(check_invalidation: Callable[[System], object]) -> None:
    """Every check: what is declared is what is read, and the cache is never stale."""
    check_invalidation(System(Tank()))


def test_a_tank_in_use() -> None:
    """State which numbers make sense, where they have to."""
    tank = Tank()
    result = check_coherence(
        System(tank),
        strategies={tank.area: st.floats(0.1, 10), tank.level: st.floats(0, 3)},
    )
    assert result.examples > 0


class TankMachine(InvalidationMachine):
    """Random writes, reads, stages and copies, and what is done with a tank beside that."""

    def make_system(self) -> System:
        """A new one for each run."""
        self.tank = Tank()
        return System(self.tank)

    def make_strategies(self) -> Mapping[AbstractHandle, st.SearchStrategy[Any]]:
        """Areas are positive, and levels are not negative."""
        return {self.tank.area: st.floats(0.1, 10), self.tank.level: st.floats(0, 3)}

    @rule(amount=st.floats(0, 1))
    def pour(self, amount: float) -> None:
        """Let the level rise [m]. The State may be at any stage, so realize first."""
        self.system.realize(self.state, Stage.MODEL)
        self.tank.level.set(self.state, self.tank.level(self.state) + amount)

    @invariant()
    def water_runs_out_only_if_there_is_some(self) -> None:
        """Read the outflow after each step, so a step that leaves it stale is noticed."""
        self.system.realize(self.state, Stage.MODEL)
        outflow = self.tank.outflow(self.state)
        if self.tank.level(self.state) * self.tank.gravity(self.state) <= 0:
            assert outflow == 0

    @invariant()
    def the_floor_is_there(self) -> None:
        """The strategies hold: without them, areas of 0 and less would be drawn as well."""
        assert self.tank.area(self.state) > 0


TestTank = TankMachine.TestCase
TestTank.settings = settings(
    max_examples=20, stateful_step_count=20, deadline=None, report_multiple_bugs=False
)


def main() -> None:
    """Run the checks without pytest, and print what was done."""
    for result in check_all(System(Tank()), settings=settings(max_examples=20)):
        print(result)


if __name__ == "__main__":
    main()
