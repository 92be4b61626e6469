"""Assembly and inverse kinematics of many members."""

from typing import Any

import numpy as np
import pytest

from stagecache import Assembler, QValue, Subsystem, System, position_error, q_variable, run_study
from stagecache.assembly import Assembly
from stagecache.state.state import State


class Ring(Subsystem):
    """A point on a circle of radius 1."""

    place = q_variable((2.0, 0.1))
    height = q_variable(0.0)

    @position_error()
    def on_circle(self, state: State) -> float:
        return float(self.place(state) @ self.place(state) - 1.0)


SYSTEM = System(Ring())
MEMBERS: dict[str, Any] = {"ring.place[0]": [0.5, 2.0, -3.0], "ring.place[1]": [1.0, 0.1, 0.0]}


def plain(system: System) -> Assembler:
    return Assembler(system)


def followed(system: System) -> Assembler:
    assembler = Assembler(system)
    assembler.add_goal(QValue(system.get(Ring).height, 0.3, name="height"))
    return assembler


def norm(state: State) -> float:
    return float(np.linalg.norm(state.q[:2]))


def test_each_member_is_assembled_from_its_own_start() -> None:
    results = run_study(SYSTEM, MEMBERS, Assembly(plain, {"norm": norm}))
    for result in results:
        state = SYSTEM.new_state()
        place = [result.parameters["ring.place[0]"], result.parameters["ring.place[1]"]]
        SYSTEM.get(Ring).place.set(state, place)
        expected = Assembler(SYSTEM).assemble(state)
        assert result.values["q"].tobytes() == state.q.tobytes()
        assert result.values["error_norm"] == expected.error_norm
        assert result.values["has_converged"] is True
        assert result.values["norm"] == pytest.approx(1.0, abs=1e-4)


def test_goals_come_with_the_assembler_that_is_made() -> None:
    results = run_study(SYSTEM, MEMBERS, Assembly(followed))
    assert [r.values["q"][2] for r in results] == pytest.approx([0.3] * 3, abs=1e-6)


def test_a_failure_to_assemble_is_a_failure_of_the_member() -> None:
    def impossible(system: System) -> Assembler:
        assembler = Assembler(system)
        assembler.add_error(QValue(system.get(Ring).place, 0, 5.0, name="far"))
        return assembler

    results = run_study(SYSTEM, MEMBERS, Assembly(impossible))
    assert {failure.error for failure in results.failures} == {"AssembleFailed"}
    assert len(results.failures) == 3
