"""Operating points: against formulas, within bounds, and with constraints."""

from typing import Any

import numpy as np
import pytest
import scipy.optimize

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    discrete,
    find_equilibrium,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import (
    EquilibriumError,
    NodeKindError,
    OutOfRangeError,
    ShapeError,
    UnknownPathError,
)
from stagecache.multibody import (
    Gravity,
    MobilitySpring,
    MultibodySystem,
    Pin,
    RodConstraint,
    Transform,
)


class Arm(Subsystem):
    """Two angles with springs, a torque and gravity, and a heater."""

    angles = q_variable([0.1, 0.2])
    speeds = u_variable([0.0, 0.0])
    heat = z_variable(20.0)
    torque = discrete(np.zeros(2), invalidates=Stage.DYNAMICS)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = 5.0 - 0.1 * (self.heat(state) - 20.0)

    def realize_acceleration(self, state: State) -> None:
        a, b = self.angles(state)
        s, t = self.torque(state)
        state[self].upd_udot()[:] = (
            s - 10.0 * np.sin(a) - 5.0 * (a - b),
            t - 4.0 * np.sin(b) + 5.0 * (a - b),
        )


def made() -> tuple[System, Arm, State]:
    system = System(arm := Arm())
    return system, arm, system.new_state()


def test_all_q_and_z_move_to_rest() -> None:
    system, arm, state = made()
    arm.angles.set(state, [0.7, -0.3])
    before = state.y.copy()
    rest = find_equilibrium(system, state)
    np.testing.assert_allclose(arm.angles(rest), 0.0, atol=1e-9)
    assert arm.heat(rest) == pytest.approx(70.0)
    np.testing.assert_array_equal(state.y, before)
    assert rest.stage is Stage.ACCELERATION
    assert np.abs(rest.ydot).max() <= 1e-9


def test_forces_that_hold_a_pose_are_found_and_the_pose_stays() -> None:
    system, arm, state = made()
    arm.heat.set(state, 70.0)
    held = find_equilibrium(system, state, [arm.torque])
    a, b = 0.1, 0.2
    assert arm.angles(held).tolist() == [a, b]
    expected = [10 * np.sin(a) + 5 * (a - b), 4 * np.sin(b) - 5 * (a - b)]
    np.testing.assert_allclose(arm.torque(held), expected, atol=1e-9)


def test_bounds_choose_among_several() -> None:
    """The pendulum upside down."""
    system = MultibodySystem()
    bob = system.matter.add_body(
        "bob",
        system.matter.ground,
        Pin(),
        outboard_frame=Transform(None, [0.0, 1.0, 0.0]),
        mass_properties={"mass": 2.0},
        coordinates=["angle"],
    )
    system.add(Gravity(system.matter))
    state = system.new_state()
    bob.q.set(state, [2.5])
    top = find_equilibrium(system, state, bounds={bob.q: (2.0, 4.0)})
    assert bob.q(top)[0] == pytest.approx(np.pi)
    bob.q.set(state, [0.5])
    bottom = find_equilibrium(system, state, [bob.q], bounds={bob.q: (-1.0, 1.0)})
    assert bob.q(bottom)[0] == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(EquilibriumError, match=r"derivative of matter\.angle\.u"):
        find_equilibrium(system, state, bounds={bob.q: (0.4, 1.0)})


def test_constraints_are_met_and_bear_their_part() -> None:
    """A bob between a spring at its joint and a rod: the rod keeps its length."""
    system = MultibodySystem()
    ground, link = system.matter.ground, None
    for name in ("upper", "lower"):
        link = system.matter.add_body(
            name,
            link or ground,
            Pin(),
            outboard_frame=Transform(None, [0.0, 1.0, 0.0]),
            mass_properties={"mass": 1.0},
        )
    assert link is not None
    system.add(Gravity(system.matter))
    system.add(MobilitySpring(link, 0, 20.0, 0.5), "spring")
    rod = system.add_constraint(RodConstraint(ground, (1.5, -1.5, 0.0), link, (0.0, 0.0, 0.0), 1.0))
    state = system.new_state()
    state.q = [0.3, 0.2]
    rest = find_equilibrium(system, state)
    assert np.abs(rest.udot).max() <= 1e-9
    assert np.abs(rest.qerr).max() <= 1e-9
    assert abs(rest.multipliers).max() > 0.1

    def energy(q: Any) -> float:
        state.q = q
        return system.calc_potential_energy(state)

    def error(q: Any) -> Any:
        state.q = q
        system.realize(state, Stage.POSITION)
        return rod.error(state)

    peer = scipy.optimize.minimize(
        energy, [0.3, 0.2], constraints={"type": "eq", "fun": error}, tol=1e-12
    )
    np.testing.assert_allclose(rest.q, peer.x, atol=1e-5)


def test_a_steady_motion_keeps_its_u() -> None:
    class Wheel(Subsystem):
        angle = q_variable(0.0)
        spin = u_variable(3.0)
        torque = discrete(0.0, invalidates=Stage.DYNAMICS)

        def realize_acceleration(self, state: State) -> None:
            state[self].upd_udot()[0] = self.torque(state) - 0.5 * self.spin(state)

    system = System(wheel := Wheel())
    found = find_equilibrium(system, system.new_state(), ["wheel.torque"])
    assert wheel.torque(found) == pytest.approx(1.5)
    assert wheel.spin(found) == 3.0
    slow = find_equilibrium(system, found, [wheel.spin])
    assert wheel.spin(slow) == pytest.approx(3.0)


def test_a_lock_is_not_moved() -> None:
    system = MultibodySystem()
    bob = system.matter.add_body(
        "bob", system.matter.ground, Pin(), mass_properties={"mass": 1.0, "inertia": np.eye(3)}
    )
    system.add(MobilitySpring(bob, 0, 2.0, 0.5), "spring")
    state = system.new_state()
    assert find_equilibrium(system, state).q.tolist() == pytest.approx([0.5])
    bob.lock(state, [0.2])
    assert find_equilibrium(system, state).q.tolist() == [0.2]
    with pytest.raises(EquilibriumError, match="locked"):
        find_equilibrium(system, state, [bob.q])


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"moving": ["arm.nothing"]}, UnknownPathError),
        ({"accuracy": 0.0}, OutOfRangeError),
        ({"bounds": {"arm.torque": (0.0, 1.0)}}, NodeKindError),
        ({"bounds": {"arm.angles": (0.0,)}}, ShapeError),
        ({"bounds": {"arm.angles": (1.0, 0.0)}}, OutOfRangeError),
    ],
)
def test_wrong_arguments(change: Any, error: type[Exception]) -> None:
    system, _, state = made()
    with pytest.raises(error):
        find_equilibrium(system, state, **change)


def test_where_there_is_none_the_worst_row_is_named() -> None:
    system, arm, state = made()
    arm.torque.set(state, np.array([100.0, 0.0]))
    with pytest.raises(EquilibriumError, match=r"arm.speeds\[0\]"):
        find_equilibrium(system, state)
