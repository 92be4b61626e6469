"""Which q may be moved, and how far: the documented rules of locks and bounds."""

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from stagecache import Assembler, QValue, Subsystem, System, q_variable
from stagecache.errors import (
    ForeignNodeError,
    NotANumberError,
    OutOfRangeError,
    StudyError,
    UnknownItemError,
    UnknownMobilizerError,
)
from stagecache.multibody import Ball, MultibodySystem, Pin
from tests.assembly.models import arm, four_bar


def free_of(assembler: Assembler) -> list[int]:
    assembler.initialize()
    return [assembler.q_index_of_free_q(i) for i in range(assembler.num_free_qs)]


def test_all_q_are_free_at_first() -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    assert free_of(assembler) == [0, 1, 2]
    assert [assembler.free_q_bounds(i) for i in range(3)] == [(-inf, inf)] * 3


def test_the_q_of_a_locked_mobilizer_stay_where_they_are() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.lock_mobilizer(linkage.crank)
    assert free_of(assembler) == [1, 2]
    assert assembler.free_q_index_of_q(0) is None
    assert assembler.free_q_index_of_q(2) == 1
    assembler.assemble(state)
    assert linkage.crank(state) == 0.4
    assert not np.allclose(state.q[1:], (0.5, 1.4))


def test_the_lock_of_a_mobilizer_overrides_the_unlocking_of_one_of_its_q() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.lock_mobilizer(robot.angles)
    assembler.lock_q(robot.angles, 1)
    assembler.unlock_q(robot.angles, 1)
    assert free_of(assembler) == []
    assembler.unlock_mobilizer(robot.angles)
    assert free_of(assembler) == [0, 1, 2]


def test_a_q_that_is_locked_by_itself_stays_locked_when_its_mobilizer_is_unlocked() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.lock_q(robot.angles, 1)
    assembler.lock_mobilizer(robot.angles)
    assembler.unlock_mobilizer(robot.angles)
    assert free_of(assembler) == [0, 2]
    assembler.unlock_q(robot.angles, 1)
    assert free_of(assembler) == [0, 1, 2]


def test_unlocking_what_is_not_locked_does_nothing() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.initialize()
    assembler.unlock_mobilizer(robot.angles)
    assembler.unlock_q(robot.angles, 0)
    assembler.unrestrict_q(robot.angles, 0)
    assert assembler.is_initialized


def test_a_bound_is_independent_of_a_lock() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.restrict_q(robot.angles, 1, -1.0, 1.0)
    assembler.lock_q(robot.angles, 1)
    assert free_of(assembler) == [0, 2]
    assembler.unlock_q(robot.angles, 1)
    assembler.initialize()
    assert assembler.free_q_bounds(1) == (-1.0, 1.0)
    assembler.lock_q(robot.angles, 1)
    assembler.unrestrict_q(robot.angles, 1)
    assert free_of(assembler) == [0, 2]


def test_infinite_bounds_take_a_restriction_back() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.restrict_q(robot.angles, 1, -1.0, 1.0)
    assembler.restrict_q(robot.angles, 1, -inf, inf)
    assembler.initialize()
    assert assembler.free_q_bounds(1) == (-inf, inf)


def test_a_goal_beyond_a_bound_is_approached_up_to_it() -> None:
    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.restrict_q(robot.angles, 1, -inf, 0.7)
    assembler.add_goal(QValue(robot.angles, 1, 2.0))
    result = assembler.assemble(state)
    assert robot.angles(state)[1] == 0.7
    assert result.goal == pytest.approx(0.5 * 1.3**2)


def test_a_start_outside_of_its_bounds_is_moved_into_them() -> None:
    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.restrict_q(robot.angles, 2, 0.8, 0.9)
    assembler.assemble(state)
    np.testing.assert_array_equal(robot.angles(state), (0.3, 0.4, 0.8))


def test_a_locked_q_may_be_outside_of_its_bounds() -> None:
    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.restrict_q(robot.angles, 2, 0.8, 0.9)
    assembler.lock_q(robot.angles, 2)
    assembler.assemble(state)
    np.testing.assert_array_equal(robot.angles(state), (0.3, 0.4, 0.5))


def test_a_prescribed_q_is_locked_and_set_exactly() -> None:
    linkage, system, state = four_bar()
    linkage.is_driven.set(state, True)
    state.time = 0.77
    assembler = Assembler(system)
    assembler.initialize(state)
    assembler.unlock_mobilizer(linkage.crank)
    assembler.restrict_q(linkage.crank, 0, 2.0, 3.0)
    assert free_of(assembler) == [1, 2]
    assembler.assemble(state)
    assert linkage.crank(state) == 0.77
    assembler.track(0.8)
    assert linkage.crank(assembler.internal_state) == 0.8
    assert assembler.calc_current_error_norm() <= assembler.error_tolerance


@pytest.mark.parametrize("change", range(7))
def test_each_change_uninitializes(change: int) -> None:
    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.lock_mobilizer(robot.angles)
    assembler.lock_q(robot.angles, 1)
    assembler.restrict_q(robot.angles, 0, 0.0, 1.0)
    changes: list[Any] = [
        lambda: assembler.lock_mobilizer(robot.angles),
        lambda: assembler.unlock_mobilizer(robot.angles),
        lambda: assembler.lock_q(robot.angles, 0),
        lambda: assembler.unlock_q(robot.angles, 1),
        lambda: assembler.restrict_q(robot.angles, 1, 0.0, 1.0),
        lambda: assembler.unrestrict_q(robot.angles, 0),
        lambda: assembler.set_internal_state(state),
    ]
    assembler.initialize()
    changes[change]()
    assert not assembler.is_initialized
    with pytest.raises(StudyError, match="call initialize"):
        _ = assembler.num_free_qs


def test_a_mobilizer_is_a_handle_or_its_path() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    assembler.lock_mobilizer("four_bar.crank")
    assembler.lock_q(linkage.rocker)
    assert free_of(assembler) == [1]


def test_a_mobilizer_of_a_multibody_system_is_a_body_or_its_name() -> None:
    system = MultibodySystem()
    upper = system.matter.add_body("upper", system.matter.ground, Pin())
    system.matter.add_body("head", upper, Ball())
    assembler = Assembler(system)
    assembler.lock_mobilizer(upper)
    assembler.lock_q("head", 2)
    assert free_of(assembler) == [1, 2]


def test_a_group_that_covers_others_locks_and_restricts_them_too() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    assembler.restrict_q(linkage.coupler, 0, 0.0, 1.0)
    assembler.restrict_q(system.q, 1, 0.5, 2.0)
    assembler.initialize()
    assert assembler.free_q_bounds(1) == (0.5, 1.0)
    assembler.lock_mobilizer(linkage.q)
    assert free_of(assembler) == []


# ---------------------------------------------------------------------- bad input


def test_bounds_of_two_groups_that_contradict_each_other_are_refused_by_name() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    assembler.restrict_q(linkage.coupler, 0, 0.0, 1.0)
    assembler.restrict_q(system.q, 1, 1.5, 2.0)
    with pytest.raises(OutOfRangeError, match="contradict each other"):
        assembler.initialize()
    assert not assembler.is_initialized
    assembler.unrestrict_q(system.q, 1)
    assembler.initialize()


@pytest.mark.parametrize("bounds", [(1.0, 0.0), (nan, 1.0), (0.0, nan), (inf, inf), (-inf, -inf)])
def test_bounds_that_leave_no_value_are_refused(bounds: tuple[float, float]) -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.initialize()
    with pytest.raises(OutOfRangeError, match=r"no value is left for q 1 of arm\.angles"):
        assembler.restrict_q(robot.angles, 1, *bounds)
    assert assembler.is_initialized


def test_a_bound_that_is_no_number_is_refused() -> None:
    robot, system, _ = arm()
    with pytest.raises(NotANumberError, match="lower"):
        Assembler(system).restrict_q(robot.angles, 1, "low", 1.0)  # type: ignore[arg-type]  # is refused


@pytest.mark.parametrize("index", [3, -1, 0.5, None, True])
def test_a_q_that_a_mobilizer_does_not_have_is_refused(index: Any) -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    with pytest.raises(UnknownItemError, match=r"of arm\.angles"):
        assembler.lock_q(robot.angles, index)
    assert free_of(assembler) == [0, 1, 2]


def test_a_name_that_there_is_not_is_refused_with_a_suggestion() -> None:
    _, system, _ = four_bar()
    for name in ("four_bar.cank", "crank", "crnk"):
        with pytest.raises(UnknownMobilizerError, match=r"did you mean 'four_bar\.crank'"):
            Assembler(system).lock_mobilizer(name)
    with pytest.raises(UnknownMobilizerError, match="use one of these names"):
        Assembler(system).lock_mobilizer("elbow")


def test_of_a_system_that_offers_names_those_are_told_and_no_paths() -> None:
    system = MultibodySystem()
    thigh = system.matter.add_body("thigh", system.matter.ground, Ball())
    system.matter.add_body("shank", thigh, Pin())
    with pytest.raises(UnknownMobilizerError) as caught:
        Assembler(system).lock_mobilizer("elbow")
    assert caught.value.expected == "one of thigh, shank"


@pytest.mark.parametrize("mobilizer", [3, None, ["four_bar.crank"]])
def test_what_is_no_mobilizer_is_refused(mobilizer: Any) -> None:
    _, system, _ = four_bar()
    with pytest.raises(UnknownMobilizerError, match="a handle of q"):
        Assembler(system).lock_mobilizer(mobilizer)


def test_handles_of_something_else_than_q_are_refused() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    for handle in (linkage.rates, linkage.closure, linkage.speed):
        with pytest.raises(UnknownMobilizerError):
            assembler.lock_mobilizer(handle)


def test_a_mobilizer_of_another_system_is_refused() -> None:
    _, system, _ = four_bar()
    other, _, _ = four_bar()
    with pytest.raises(ForeignNodeError, match=r"lock_mobilizer\(mobilizer\): belongs to another"):
        Assembler(system).lock_mobilizer(other.crank)


def test_the_index_of_a_free_q_is_checked() -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    assembler.initialize()
    with pytest.raises(UnknownItemError):
        assembler.q_index_of_free_q(3)
    with pytest.raises(UnknownItemError):
        assembler.free_q_index_of_q(-1)
    with pytest.raises(UnknownItemError):
        assembler.free_q_bounds(3)


def test_a_system_without_q_can_be_assembled_and_has_no_mobilizers() -> None:
    class Nothing(Subsystem):
        pass

    class Something(Subsystem):
        place = q_variable(0.0)

    system = System(Nothing())
    assembler = Assembler(system)
    assert assembler.assemble().method == "unchanged"
    assert assembler.num_free_qs == 0
    something = Something()
    System(something)
    with pytest.raises(ForeignNodeError):
        assembler.lock_mobilizer(something.place)
