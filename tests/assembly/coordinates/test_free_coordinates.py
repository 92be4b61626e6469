"""Derivatives by free q: those by u, times pinv(N), for whatever N there is."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from stagecache import (
    Assembler,
    AssemblyCondition,
    Stage,
    State,
    Subsystem,
    System,
    kinematics,
    q_variable,
    quaternion_kinematics,
    u_variable,
)
from stagecache.multibody import Ball, Free, MobilizedBody, MultibodySystem
from tests.assembly.models import Array, four_bar
from tests.multibody.trees import Tree, make_tree, trees
from tests.profiles import examples


class Place(AssemblyCondition):
    """A point of a body is to be at the origin; derivatives from those by u."""

    def __init__(self, body: MobilizedBody) -> None:
        super().__init__("place")
        self.body = body

    def calc_errors(self, state: State) -> Array:
        """Where it is [m]."""
        return self.body.station_position(state, (0.3, 0.2, -0.4))

    def calc_error_jacobian(self, state: State) -> Array:
        """By the free q."""
        jacobian = self.body.station_jacobian(state, (0.3, 0.2, -0.4))
        return self.by_free_q(jacobian, self.body.matter)


def derivatives(assembler: Assembler, q: Array) -> tuple[Array, Array]:
    """The Jacobian of errors at some free q, as declared and by differences."""
    assembler.initialize()
    problem = assembler._prepared("the problem")
    found = []
    for by_hand in (False, True):
        assembler.force_numerical_jacobian = by_hand
        problem.move_to(q)
        found.append(problem.derivatives().error_jacobian)
    return found[0], found[1]


@examples(30)
@given(trees(most=6))
def test_they_are_those_of_differences_in_random_trees_with_locks(tree: Tree) -> None:
    system, random = tree.system, tree.rng
    assembler = Assembler(system)
    assembler.add_error(Place(system.matter.bodies[-1]))
    for name, handle in system.mobilizers.items():
        if random.random() < 0.3:
            assembler.lock_mobilizer(name)
        place = handle.place(assembler.internal_state)
        if place.stop > place.start and random.random() < 0.3:
            assembler.lock_q(handle, int(random.integers(place.stop - place.start)))
    assembler.initialize()
    x = random.uniform(-1.0, 1.0, assembler.num_free_qs)
    declared, numerical = derivatives(assembler, x)
    np.testing.assert_allclose(declared, numerical, atol=1e-7)


def test_near_the_singularity_of_angles_they_are_as_exact() -> None:
    system = MultibodySystem()
    head = system.matter.add_body("head", system.matter.ground, Ball())
    assembler = Assembler(system)
    assembler.add_error(Place(head))
    for off in (0.0, 1e-15, 1e-12, 1e-6):
        x = np.array([0.3, np.pi / 2 - off, 0.2])
        declared, numerical = derivatives(assembler, x)
        np.testing.assert_allclose(declared, numerical, atol=1e-7)


class Given(AssemblyCondition):
    """Errors that are all q, by hand; derivatives by u of one subsystem, or of all, are N."""

    def __init__(self, subsystem: Any = None) -> None:
        super().__init__("given")
        self.subsystem = subsystem

    def _rows(self, state: State) -> slice:
        return slice(None) if self.subsystem is None else self.subsystem.q.place(state)

    def calc_errors(self, state: State) -> Array:
        """These q."""
        return state.q[self._rows(state)].copy()

    def calc_error_jacobian(self, state: State) -> Array:
        """By the free q: N pinv(N), which is the part of a change that u bring about."""
        system: System = self.assembler.system
        n = system.multiply_by_n(state, np.eye(state.nu))
        if self.subsystem is not None:
            u = self.subsystem.u.place(state)
            n = n[self._rows(state), u.start - state.nq : u.stop - state.nq]
        return self.by_free_q(n, self.subsystem)


class Spinning(Subsystem):
    """Two quaternions, which N relates block by block."""

    orientation = q_variable((0.6, 0.0, 0.8, 0.0), count=2)
    spin = u_variable((0.0, 0.0, 0.0), count=2)
    turning = quaternion_kinematics(orientation, spin)


class Screw(Subsystem):
    """A block of N for some of its q, and one q beside it."""

    pose = q_variable((0.0, 0.5))
    height = q_variable(2.0)
    rate = u_variable(1.0)
    lift = u_variable(0.0)

    @kinematics(pose, rate, prerequisites=())
    def thread(self, state: State) -> Array:  # it is constant
        return np.array([[1.0], [0.1]])


@pytest.mark.parametrize("which", [None, "spinning", "screw", "four_bar"])
def test_any_form_of_n_will_do_and_those_of_one_subsystem(which: str | None) -> None:
    linkage, _, _ = four_bar()
    system = System(Screw(), Spinning(), type(linkage)())
    assembler = Assembler(system)
    given_ = assembler.add_error(Given(None if which is None else system[which]))
    assembler.lock_q("screw.height")
    assembler.system_constraints_weight = 0.0
    assembler.initialize()
    state = assembler.internal_state
    system.realize(state, Stage.POSITION)
    found = given_.calc_error_jacobian(state)
    free = [assembler.q_index_of_free_q(i) for i in range(assembler.num_free_qs)]
    assert len(free) == state.nq - 1
    n = system.multiply_by_n(state, np.eye(state.nu))
    projector = n @ system.multiply_by_n_pinv(state, np.eye(state.nq))
    np.testing.assert_allclose(found, projector[given_._rows(state)][:, free], atol=1e-12)


def test_large_trees_have_them_too() -> None:
    tree = make_tree([Free] * 12, list(range(12)), 0)  # of 72 u, where N is sparse
    assembler = Assembler(tree.system)
    assembler.add_error(Place(tree.bodies[-1]))
    assembler.initialize()
    x = tree.rng.uniform(-0.5, 0.5, assembler.num_free_qs)
    declared, numerical = derivatives(assembler, x)
    np.testing.assert_allclose(declared, numerical, atol=1e-7)
