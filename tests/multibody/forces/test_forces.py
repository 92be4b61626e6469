"""Each force: its work and energy, what it invalidates, its switch, and what it refuses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, Subsystem, discrete, parameter, simulate, strict, z_variable
from stagecache.errors import (
    ConstModelError,
    ConstraintError,
    KinematicsError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    UnknownBodyError,
    WrongTypeError,
)
from stagecache.multibody import (
    AbstractForce,
    Ball,
    CustomForce,
    DiscreteForces,
    ForceSum,
    Free,
    Gravity,
    LinearBushing,
    MobilityConstantForce,
    MobilityDamper,
    MobilitySpring,
    MobilityStop,
    MultibodySystem,
    Pin,
    Slider,
    Transform,
    TwoPointDamper,
    TwoPointSpring,
    applied_from,
    energy_from,
)

MASS = {"mass": 2.0, "center": [0.1, -0.2, 0.05], "inertia": [0.5, 0.4, 0.6]}


class Work(Subsystem):
    """The work of forces, as the integral of their power."""

    done = z_variable(0.0)

    def __init__(self, forces: list[AbstractForce]) -> None:
        self.forces = forces

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_zdot()[0] = sum(force.calc_power(state) for force in self.forces)


class Model:
    """A pin with a slider, and a ball at its end."""

    def __init__(self) -> None:
        self.system = MultibodySystem()
        matter = self.system.matter
        self.ground = matter.ground
        self.arm = matter.add_body("arm", self.ground, Pin(), mass_properties=MASS)
        self.cart = matter.add_body("cart", self.arm, Slider(), mass_properties=MASS)
        self.head = matter.add_body(
            "head",
            self.cart,
            Ball(),
            inboard_frame=Transform(None, [0.3, 0.1, 0.0]),
            mass_properties=MASS,
        )

    def state(self) -> State:
        state = self.system.new_state()
        rng = np.random.default_rng(1)
        state.q = np.array([0.4, 0.6, 0.9, 0.2, -0.3, 0.1])
        state.u = rng.normal(size=state.nu)
        return state


def pull(body: Any) -> Callable[[State, ForceSum], None]:
    def force(state: State, forces: ForceSum) -> None:
        forces.add_force(body, [0.1, 0.2, 0.3], [np.cos(state.time), 1.0, -2.0])
        forces.add_moment(body, [0.3, 0.2, 0.1])

    return force


FORCES: dict[str, Callable[[Model], AbstractForce]] = {
    "gravity": lambda m: Gravity(m.system.matter, (0.5, -9.0, 1.0)),
    "gravity of some": lambda m: Gravity(
        m.system.matter, (0.5, -9.0, 1.0), zero_height=2.0, excluded=[m.ground, m.cart]
    ),
    "spring at a joint": lambda m: MobilitySpring(m.cart, 0, 30.0, 0.2),
    "damper at a joint": lambda m: MobilityDamper(m.head, 1, 0.7),
    "constant force at a joint": lambda m: MobilityConstantForce(m.arm, 0, 1.5),
    "stop": lambda m: MobilityStop(m.cart, 0, 50.0, -0.1, 0.5),
    "stop that dissipates": lambda m: MobilityStop(m.cart, 0, 50.0, -0.1, 0.5, 0.3),
    "spring between points": lambda m: TwoPointSpring(
        m.ground, [1, 1, 0], m.head, [0.1, 0.2, 0.3], 20.0, 0.5
    ),
    "damper between points": lambda m: TwoPointDamper(
        m.arm, [0.5, 0.1, 0], m.head, [0.1, 0.2, 0.3], 2.0
    ),
    "bushing": lambda m: LinearBushing(
        m.arm,
        m.head,
        [3, 4, 5, 10, 20, 30],
        first_frame=Transform(None, [0.5, 0.1, 0.2]),
        second_frame=Transform([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [0, 0.1, 0]),
    ),
    "bushing with dampers": lambda m: LinearBushing(
        m.ground, m.head, [3, 4, 5, 10, 20, 30], [0.3, 0.2, 0.1, 1, 2, 3]
    ),
    "custom force": lambda m: CustomForce(m.system.matter, pull(m.head)),
}

HAS_ENERGY = {
    *("gravity", "gravity of some", "bushing"),
    *("spring at a joint", "stop", "spring between points"),
}

each_force = pytest.mark.parametrize("name", list(FORCES))


@each_force
def test_its_work_is_the_change_of_energy(name: str) -> None:
    """The kinetic energy grows by the work of all forces; of conservative ones, energy is kept."""
    model = Model()
    force = model.system.add(FORCES[name](model), "force")
    work = model.system.add(Work([force]), "work")
    state = model.state()
    model.system.realize(state, Stage.DYNAMICS)
    before, stored = (f(state) for f in (model.system.calc_kinetic_energy, force.potential_energy))
    after = simulate(model.system, state, 1.0, accuracy=1e-9)[-1]
    model.system.realize(after, Stage.DYNAMICS)
    kinetic = model.system.calc_kinetic_energy(after)
    done = float(work.done(after))
    assert abs(done) > 1e-3  # it has acted
    assert kinetic - before == pytest.approx(done, abs=1e-6 * max(before, kinetic))
    if name in HAS_ENERGY:
        released = stored - force.potential_energy(after)
        assert done == pytest.approx(released, abs=1e-6 * max(before, kinetic))


@each_force
def test_its_force_on_u_is_its_power_for_each_u(name: str) -> None:
    model = Model()
    force = model.system.add(FORCES[name](model), "force")
    state = model.state()
    model.system.realize(state, Stage.DYNAMICS)
    on_u = model.system.matter.applied_force(state)
    assert on_u @ state.u == pytest.approx(force.calc_power(state), rel=1e-10)


@each_force
def test_a_switch_takes_it_away_and_leaves_poses(name: str) -> None:
    model = Model()
    force = model.system.add(FORCES[name](model), "force")
    state = model.state()
    model.system.realize(state, Stage.ACCELERATION)
    matter = model.system.matter
    acting = state.udot.copy()
    for entry in (matter.m_matrix, matter.tree_motions):
        entry(state)
    force.is_enabled.set(state, False)
    assert matter.tree_poses.is_valid(state)
    assert matter.tree_motions.is_valid(state)
    assert matter.m_matrix.is_valid(state)
    model.system.realize(state, Stage.ACCELERATION)
    assert force.calc_power(state) == 0.0
    assert model.system.calc_potential_energy(state) == 0.0
    np.testing.assert_array_equal(matter.applied_force(state), 0.0)
    assert not np.allclose(state.udot, acting)
    force.is_enabled.set(state, True)
    model.system.realize(state, Stage.ACCELERATION)
    np.testing.assert_array_equal(state.udot, acting)


PARAMETERS = [
    ("gravity", "acceleration", (0.0, 0.0, 1.0)),
    ("spring at a joint", "stiffness", 1.0),
    ("spring at a joint", "rest", 1.0),
    ("damper at a joint", "damping", 2.0),
    ("constant force at a joint", "force", 2.0),
    ("stop", "bounds", (-1.0, 0.1)),
    ("stop that dissipates", "stiffness", 1.0),
    ("stop that dissipates", "dissipation", 1.0),
    ("spring between points", "stiffness", 1.0),
    ("spring between points", "length", 0.1),
    ("damper between points", "damping", 1.0),
    ("bushing", "stiffness", (1.0,) * 6),
    ("bushing with dampers", "damping", (1.0,) * 6),
]


@pytest.mark.parametrize(("name", "parameter", "value"), PARAMETERS)
def test_a_parameter_makes_stale_what_depends_on_it_and_no_pose(
    name: str, parameter: str, value: Any
) -> None:
    model = Model()
    force = model.system.add(FORCES[name](model), "force")
    other = model.system.add(MobilityDamper(model.arm, 0, 1.0), "other")
    state = model.state()
    model.system.realize(state, Stage.ACCELERATION)
    matter = model.system.matter
    before, udot = matter.applied_force(state).copy(), state.udot.copy()
    kept = (matter.tree_poses, matter.tree_bias, matter.m_matrix, matter.bias_force, other.applied)
    for entry in kept:
        entry(state)
    getattr(force, parameter).set(state, value)
    assert all(entry.is_valid(state) for entry in kept)
    assert not force.applied.is_valid(state)
    model.system.realize(state, Stage.ACCELERATION)
    assert not np.allclose(matter.applied_force(state), before)
    assert not np.allclose(state.udot, udot)


def test_gravity_is_computed_once_unless_bodies_are_excluded() -> None:
    model = Model()
    matter = model.system.matter
    whole, some = Gravity(matter), Gravity(matter, excluded=[model.cart, model.cart])
    model.system.add(whole, "whole")
    model.system.add(some, "some")
    state = model.state()
    for force in (whole, some):
        force.potential_energy(state)
    assert whole.applied(state).field == (0.0, -9.81, 0.0)
    assert sorted(some.applied(state).rows) == sorted(matter.rows_of([model.arm, model.head]))
    whole.zero_height.set(state, 1.0)
    assert not whole.potential_energy.is_valid(state)
    assert (whole.applied.is_valid(state), some.applied.is_valid(state)) == (True, True)
    model.arm.q.set(state, [0.7])
    assert (whole.applied.is_valid(state), some.applied.is_valid(state)) == (True, False)
    with pytest.raises(ConstModelError):
        some.excluded = ()
    whole.zero_height.set(state, "x")
    with pytest.raises(NotANumberError, match="zero_height"):
        whole.potential_energy(state)


def test_a_spring_between_points_is_left_alone_by_what_does_not_move_them() -> None:
    model = Model()
    spring = model.system.add(
        TwoPointSpring(model.ground, [0, 0, 0], model.arm, [1, 0, 0], 5.0), "spring"
    )
    state = model.state()
    model.system.realize(state, Stage.ACCELERATION)
    version = spring.applied.version(state)
    model.head.q.set(state, [1.0, 0.0, 0.0, 0.0])
    state.u = state.u + 1.0
    model.system.realize(state, Stage.ACCELERATION)
    assert spring.applied.version(state) == version


# ---------------------------------------------------------------------- formulas


def test_a_stop_only_pushes_back() -> None:
    system = MultibodySystem()
    cart = system.matter.add_body("cart", system.matter.ground, Slider(), mass_properties=MASS)
    stop = system.add(MobilityStop(cart, 0, 10.0, -1.0, 2.0, 0.5), "stop")
    state = system.new_state()

    def force(q: float, u: float) -> float:
        cart.q.set(state, [q])
        cart.u.set(state, [u])
        system.realize(state, Stage.DYNAMICS)
        return float(system.matter.applied_force(state)[0])

    assert [force(0.0, 5.0), force(2.0, 5.0), force(-1.0, -5.0)] == [0.0, 0.0, 0.0]
    assert force(2.5, 0.0) == -5.0
    assert force(-1.5, 0.0) == 5.0
    assert force(2.5, 1.0) == -7.5  # it goes deeper
    assert force(-1.5, -1.0) == 7.5
    assert force(2.5, -3.0) == 0.0  # it goes back so fast that the stop would pull
    assert stop.potential_energy(state) == 1.25


def test_a_bushing_has_the_coordinates_of_its_frames() -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    body = system.matter.add_body("body", ground, Free(), mass_properties=MASS)
    bushing = system.add(LinearBushing(ground, body, [1.0] * 6), "bushing")
    state = system.new_state()
    system.matter.use_euler_angles.set(state, True)
    system.realize(state, Stage.MODEL)
    body.q.set(state, [0.1, -0.2, 0.3, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        bushing.calc_coordinates(state), [0.1, -0.2, 0.3, 1.0, 2.0, 3.0], atol=1e-14
    )
    assert bushing.potential_energy(state) == pytest.approx(7.07)


def test_forces_from_outside_act_until_they_are_set_anew() -> None:
    model = Model()
    push = model.system.add(DiscreteForces(model.system.matter), "push")
    state = model.state()
    matter = model.system.matter
    model.system.realize(state, Stage.ACCELERATION)
    free = state.udot.copy()
    matter.bias_force(state)
    push.set_mobility_force(state, model.arm, 0, 3.0)
    push.set_mobility_force(state, model.arm, 0, 2.0)
    push.set_body_force(state, model.head, [0, 0, 0, 0, 1.0, 0])
    assert matter.bias_force.is_valid(state)
    model.system.realize(state, Stage.DYNAMICS)
    jacobian = model.head.station_jacobian(state, [0, 0, 0])
    wanted = jacobian.T @ [0.0, 1.0, 0.0]
    wanted[0] += 2.0
    np.testing.assert_allclose(matter.applied_force(state), wanted, atol=1e-14)
    assert push.potential_energy(state) == 0.0
    push.clear(state)
    model.system.realize(state, Stage.ACCELERATION)
    np.testing.assert_array_equal(state.udot, free)
    stage = state.stage
    push.clear(state)  # there is nothing to clear
    assert state.stage == stage


class Wind(AbstractForce):
    """A force of one's own, on a sail."""

    def __init__(self, sail: Any) -> None:
        super().__init__(sail.matter)
        self.sail = sail

    def calc_force(self, state: State, forces: ForceSum) -> None:
        forces.add_force(self.sail, (0, 0, 0), (1.0 + state.time, 0, 0))


def test_a_force_of_ones_own_needs_one_method() -> None:
    system = MultibodySystem()
    sail = system.matter.add_body("sail", system.matter.ground, Slider(), mass_properties=MASS)
    wind = system.add(Wind(sail), "wind")
    state = system.new_state()
    state.time = 3.0
    system.realize(state, Stage.ACCELERATION)
    assert state.udot[0] == pytest.approx(2.0)
    assert wind.potential_energy(state) == 0.0
    state.time = 5.0
    system.realize(state, Stage.ACCELERATION)
    assert state.udot[0] == pytest.approx(3.0)


class Jet(AbstractForce):
    """A force of one's own that says what it reads."""

    thrust = parameter(3.0)
    applied = applied_from((thrust,))
    potential_energy = energy_from(())

    def __init__(self, cart: Any) -> None:
        super().__init__(cart.matter)
        self.cart = cart

    def calc_force(self, state: State, forces: ForceSum) -> None:
        forces.add_mobility_force(self.cart, 0, self.thrust(state))


def test_a_force_that_says_what_it_reads_is_computed_again_where_that_changes() -> None:
    system = MultibodySystem()
    cart = system.matter.add_body("cart", system.matter.ground, Slider(), mass_properties=MASS)
    jet = system.add(Jet(cart), "jet")
    state = system.new_state()
    with strict(state):
        system.realize(state, Stage.ACCELERATION)
        assert state.udot == pytest.approx([1.5])
        assert jet.potential_energy(state) == 0.0
        version = jet.applied.version(state)
        state.q, state.u, state.time = [2.0], [1.0], 3.0
        system.realize(state, Stage.ACCELERATION)
        assert jet.applied.version(state) == version
        jet.thrust.set(state, 4.0)
        system.realize(state, Stage.ACCELERATION)
        assert state.udot == pytest.approx([2.0])


class Muscle(AbstractForce):
    """A force by an activation, which is a z, and by a command that invalidates Dynamics."""

    activation = z_variable([0.0])
    command = discrete(0.0, invalidates=Stage.DYNAMICS)

    def __init__(self, cart: Any) -> None:
        super().__init__(cart.matter)
        self.cart = cart

    def calc_force(self, state: State, forces: ForceSum) -> None:
        total = float(self.activation(state)[0]) + self.command(state)
        forces.add_mobility_force(self.cart, 0, total)


def test_a_force_of_ones_own_is_computed_again_whatever_it_depends_on() -> None:
    system = MultibodySystem()
    cart = system.matter.add_body("cart", system.matter.ground, Slider(), mass_properties=MASS)
    muscle = system.add(Muscle(cart), "muscle")
    state = system.new_state()
    system.realize(state, Stage.ACCELERATION)
    muscle.activation.set(state, [4.0])
    system.realize(state, Stage.ACCELERATION)
    assert state.udot == pytest.approx([2.0])
    muscle.command.set(state, 2.0)
    system.realize(state, Stage.ACCELERATION)
    assert state.udot == pytest.approx([3.0])


def test_all_forces_declare_what_they_read() -> None:
    model = Model()
    for i, make in enumerate(FORCES.values()):
        model.system.add(make(model), f"force_{i}")
    push = model.system.add(DiscreteForces(model.system.matter), "push")
    state = model.state()
    push.set_mobility_force(state, model.arm, 0, 3.0)
    push.set_body_force(state, model.head, [0, 0, 0, 0, 1.0, 0])
    with strict(state):
        model.system.realize(state, Stage.ACCELERATION)
        model.system.calc_energy(state)


# ---------------------------------------------------------------------- refusals


def refused() -> list[tuple[Any, type[Exception], str]]:
    model, other = Model(), Model()
    arm, head, ground = model.arm, model.head, model.ground
    return [
        (lambda: Gravity("matter"), WrongTypeError, "not a matter|for something"),  # type: ignore[arg-type]
        (lambda: Gravity(model.system.matter, (1.0, 2.0)), ShapeError, "acceleration"),  # type: ignore[arg-type]
        (lambda: Gravity(model.system.matter, excluded=[other.arm]), UnknownBodyError, "excluded"),
        (lambda: Gravity(model.system.matter, excluded=arm), WrongTypeError, "excluded"),  # type: ignore[arg-type]
        (lambda: MobilitySpring(arm, 1, 1.0), OutOfRangeError, "does not exist"),
        (lambda: MobilitySpring(ground, 0, 1.0), OutOfRangeError, "a joint with u"),
        (lambda: MobilitySpring(arm, 0, -1.0), OutOfRangeError, "stiffness"),
        (lambda: MobilitySpring(arm, 0, "x"), NotANumberError, "stiffness"),  # type: ignore[arg-type]
        (lambda: MobilitySpring(head, 0, 1.0), KinematicsError, "not the integrals"),
        (lambda: MobilityStop(head, 0, 1.0, 0.0, 1.0), KinematicsError, "not the integrals"),
        (lambda: MobilityStop(arm, 0, 1.0, 1.0, 0.0), OutOfRangeError, "upper bound"),
        (lambda: MobilityDamper("arm", 0, 1.0), UnknownBodyError, "not a body"),  # type: ignore[arg-type]
        (lambda: TwoPointSpring(arm, [0] * 3, arm, [1] * 3, 1.0), ConstraintError, "itself"),
        (lambda: TwoPointDamper(arm, [0] * 3, other.arm, [1] * 3, 1.0), ConstraintError, "differ"),
        (lambda: LinearBushing(arm, head, [1.0] * 5), ShapeError, "stiffness"),
        (lambda: LinearBushing(arm, head, [-1.0] * 6), OutOfRangeError, "negative"),
        (lambda: CustomForce(model.system.matter, 3), WrongTypeError, "cannot be called"),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize("case", range(len(refused())))
def test_what_is_no_force_is_refused(case: int) -> None:
    call, error, text = refused()[case]
    with pytest.raises(error, match=text):
        call()


def test_points_at_the_same_place_have_no_direction() -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    bob = system.matter.add_body("bob", ground, Slider(), mass_properties=MASS)
    system.add(TwoPointSpring(ground, [0] * 3, bob, [0] * 3, 1.0, 1.0), "spring")
    state = system.new_state()
    with pytest.raises(KinematicsError, match="same place"):
        system.realize(state, Stage.ACCELERATION)


def test_a_bushing_that_is_turned_by_a_right_angle_is_refused() -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    body = system.matter.add_body("body", ground, Ball(), mass_properties=MASS)
    system.add(LinearBushing(ground, body, [1.0] * 6), "bushing")
    state = system.new_state()
    body.q.set(state, [np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])
    with pytest.raises(KinematicsError, match="right angle"):
        system.realize(state, Stage.ACCELERATION)


def test_a_custom_force_acts_on_bodies_of_its_matter_only() -> None:
    model, other = Model(), Model()
    force = CustomForce(
        model.system.matter, lambda _, forces: forces.add_moment(other.arm, [0] * 3)
    )
    model.system.add(force, "force")
    state = model.state()
    with pytest.raises(UnknownBodyError, match="not a body of matter"):
        model.system.realize(state, Stage.ACCELERATION)
    with pytest.raises(ConstModelError):
        force.matter = other.system.matter
