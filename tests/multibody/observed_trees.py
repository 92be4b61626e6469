"""Random trees with markers or sensors, in an Assembler."""

from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stagecache import Assembler, State
from stagecache.multibody import Markers, OrientationSensors
from tests.multibody.trees import Array, Tree, trees

STEP = 1e-6


def with_markers(tree: Tree, count: int) -> Markers:
    """Markers anywhere, observed anywhere."""
    found, rng = Markers(), tree.rng
    for body in rng.integers(0, len(tree.bodies), count).tolist():
        found.add_marker(tree.bodies[body], rng.normal(size=3), rng.uniform(0.1, 2))
    found.move_all_observations(rng.normal(size=(count, 3)))
    return found


def with_sensors(tree: Tree, count: int) -> OrientationSensors:
    """Sensors anywhere, observed anyhow."""
    found, rng = OrientationSensors(), tree.rng
    for body in rng.integers(0, len(tree.bodies), count).tolist():
        rotation = Rotation.random(random_state=rng).as_matrix()
        found.add_sensor(tree.bodies[body], rotation, rng.uniform(0.1, 2))
    found.move_all_observations(Rotation.random(count, random_state=rng).as_matrix())
    return found


@st.composite
def observed(draw: Any, most: int = 7) -> tuple[Tree, Markers | OrientationSensors, State]:
    """A tree, what is observed of it, and the internal State of the Assembler that has it.

    Some are missing, some q are locked; nothing is near half a turn, where vectors jump.
    """
    tree = draw(trees(most=most))
    assume(tree.state.nu > 0)
    condition = draw(st.sampled_from([with_markers, with_sensors]))(tree, draw(st.integers(1, 6)))
    missing = tree.rng.random(condition.num_observations) < 0.2
    for index in np.flatnonzero(missing).tolist():
        value = condition.observation(index).copy()
        value.flat[tree.rng.integers(value.size)] = np.nan
        condition.move_one_observation(index, value)
    errors = condition.current_errors(tree.state)
    if isinstance(condition, OrientationSensors):
        assume(np.nanmax(errors, initial=0.0) < np.pi - 0.01)
    assembler = Assembler(tree.system)
    assembler.add_goal(condition)
    joints = [body for body in tree.bodies if body.mobilizer.nu]
    if draw(st.booleans()) and len(joints) > 1:
        assembler.lock_mobilizer(joints[tree.rng.integers(len(joints))])
    assembler.initialize(tree.state)
    return tree, condition, assembler.internal_state


def by_differences(calc: Any, state: State, assembler: Assembler, *, step: float = STEP) -> Array:
    """The derivatives of a function of a State by the free q."""
    columns = []
    for free in range(assembler.num_free_qs):
        place = assembler.q_index_of_free_q(free)
        values = []
        for sign in (1.0, -1.0):
            moved = state.copy()
            q = moved.q.copy()
            q[place] += sign * step
            moved.q = q
            values.append(calc(moved))
        columns.append((values[0] - values[1]) / (2 * step))
    return np.array(columns).T
