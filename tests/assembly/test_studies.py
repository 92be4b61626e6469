"""Assembly and inverse kinematics of many members."""

from typing import Any

import numpy as np
import pytest

from stagecache import Assembler, QValue, Subsystem, System, position_error, q_variable, run_study
from stagecache.assembly import Assembly, Tracking
from stagecache.errors import OutOfRangeError, UnknownChoiceError, WrongTypeError
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
    assembler.add_goal(QValue(system.get(Ring).height, 0, 0.3, name="height"))
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


def impossible(system: System) -> Assembler:
    assembler = Assembler(system)
    assembler.add_error(QValue(system.get(Ring).place, 0, 5.0, name="far"))
    return assembler


def test_a_failure_to_assemble_is_a_failure_of_the_member() -> None:
    failures = run_study(SYSTEM, MEMBERS, Assembly(impossible)).failures
    assert {failure.error for failure in failures} == {"AssembleFailed"}
    assert len(failures) == 3


TIMES = [0.0, 0.1, 0.2]
HEIGHTS = [0.1, 0.2, 0.3]


def test_each_member_is_tracked_from_its_own_start() -> None:
    alone = run_study(SYSTEM, MEMBERS, Tracking(followed, TIMES, HEIGHTS))
    named = run_study(SYSTEM, MEMBERS, Tracking(followed, TIMES, {"height": HEIGHTS}))
    for one, other in zip(alone, named, strict=True):
        trajectory = one.values["trajectory"]
        assert trajectory["ring.height"].tolist() == pytest.approx(HEIGHTS, abs=1e-6)
        assert trajectory.y.tobytes() == other.values["trajectory"].y.tobytes()
    assert alone[1].values["trajectory"].y[0, 0] > 0 > alone[2].values["trajectory"].y[0, 0]
    outputs = Tracking(followed, TIMES, HEIGHTS, outputs={"rows": len})
    assert [r.values for r in run_study(SYSTEM, MEMBERS, outputs)] == [{"rows": 3}] * 3


def test_a_condition_that_is_not_there_fails_by_its_name() -> None:
    results = run_study(SYSTEM, MEMBERS, Tracking(followed, TIMES, {"width": HEIGHTS}))
    assert "'width'" in results.failures[0].message
    assert results.failures[0].error == "ObservationError"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Assembly(outputs=3), WrongTypeError),  # type: ignore[arg-type]  # is refused
        (lambda: Tracking(followed, TIMES, HEIGHTS, outputs={"a": 3}), WrongTypeError),  # type: ignore[dict-item]  # is refused
        (lambda: Assembly(3), WrongTypeError),  # type: ignore[arg-type]  # is refused
        (lambda: Tracking(3, TIMES, HEIGHTS), WrongTypeError),  # type: ignore[arg-type]  # is refused
        (lambda: Tracking(followed, [1.0, 0.0], HEIGHTS), OutOfRangeError),
        (
            lambda: Tracking(followed, TIMES, HEIGHTS, on_failure="ignore"),  # type: ignore[arg-type]  # is refused
            UnknownChoiceError,
        ),
    ],
)
def test_wrong_arguments_are_refused_at_once(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_a_function_that_makes_something_else_is_a_failure() -> None:
    results = run_study(SYSTEM, MEMBERS, Assembly(lambda system: 3))  # type: ignore[arg-type, return-value]  # is refused
    assert {failure.error for failure in results.failures} == {"WrongTypeError"}
