"""The kernel in C, against the NumPy functions that are used where it is not built."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.errors import KinematicsError, MassMatrixError
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    CantileverFreeBeam,
    Free,
    FreeLine,
    Gimbal,
    LineOrientation,
    MultibodySystem,
    Pin,
    Slider,
    Transform,
    Universal,
    Weld,
)
from stagecache.multibody.mobilizers.orientations import EulerBall, EulerFree
from stagecache.multibody.tree import compiled, stations
from stagecache.multibody.tree.compiled import KINDS
from stagecache.multibody.tree.coordinate_rates import qdot_of, qdotdot_of
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.multibody.tree.motions import (
    axes_in_ground,
    generalized_forces,
    motion_bias,
    motions,
)
from stagecache.multibody.tree.poses import poses_at
from tests.multibody.masses import applied, dense, massive
from tests.multibody.mobilizers.test_own_mobilizer import Crank, Screw
from tests.multibody.trees import MOBILIZERS, Array, Tree, make_tree
from tests.profiles import examples

kernel = compiled.kernel


def beam() -> CantileverFreeBeam:
    return CantileverFreeBeam(0.8)


OTHERS: Any = (Screw, Crank, LineOrientation, FreeLine, beam)
"""Mobilizers that Python computes."""


@st.composite
def mixed_trees(draw: Any, most: int = 9) -> Tree:
    """Trees with mobilizers of the kernel, and some that Python computes."""
    kinds = draw(st.lists(st.sampled_from([*MOBILIZERS, *OTHERS]), min_size=1, max_size=most))
    parents = [draw(st.integers(0, i)) for i in range(len(kinds))]
    return make_tree(
        kinds,
        parents,
        draw(st.integers(0, 2**16)),
        use_euler_angles=draw(st.booleans()),
        plain=draw(st.booleans()),
    )


def close(found: Array, expected: Array, tolerance: float = 1e-13) -> None:
    """Relative to the largest number, or 1."""
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def without_kernel(tree: Tree) -> TreeLayout:
    """The layout of the tree that computes by NumPy."""
    matter = tree.system.matter
    euler = bool(matter.use_euler_angles(tree.state))
    found = TreeLayout(matter.bodies, use_euler_angles=euler)
    found.kernel = None
    return found


# ---------------------------------------------------------------------- kinematics


@examples(100)
@given(mixed_trees())
def test_kinematics_are_those_of_numpy(tree: Tree) -> None:
    matter, state, rng = tree.system.matter, tree.state, tree.rng
    ours, numpys = matter.layout(state), without_kernel(tree)
    assert ours.kernel is not None
    q, u = matter.q(state).copy(), matter.u(state).copy()
    poses, expected = (poses_at(layout, q, None) for layout in (ours, numpys))
    for found, other in zip(poses.arrays, expected.arrays, strict=True):
        close(found, other)
    assert poses.moved == expected.moved
    axes = axes_in_ground(ours, poses)
    close(axes, axes_in_ground(numpys, poses))
    velocity = motions(ours, axes, u)
    close(velocity, motions(numpys, axes, u))
    bias = motion_bias(ours, poses, axes, velocity, u)
    close(bias, motion_bias(numpys, poses, axes, velocity, u))
    forces = rng.normal(size=(len(ours.joints), 6))
    close(generalized_forces(ours, axes, forces), generalized_forces(numpys, axes, forces))
    qdot = qdot_of(ours, q, u)
    close(qdot, qdot_of(numpys, q, u))
    udot = rng.normal(size=ours.nu)
    udot[rng.random(ours.nu) < 0.2] = np.nan
    close(qdotdot_of(ours, q, qdot, u, udot), qdotdot_of(numpys, q, qdot, u, udot))


@examples(60)
@given(mixed_trees(), st.data())
def test_poses_after_a_write_are_those_of_numpy(tree: Tree, data: st.DataObject) -> None:
    matter, state = tree.system.matter, tree.state
    ours, numpys = matter.layout(state), without_kernel(tree)
    q = matter.q(state).copy()
    poses, expected = (poses_at(layout, q, None) for layout in (ours, numpys))
    later = q.copy()
    for place in data.draw(st.sets(st.integers(0, max(ours.nq - 1, 0)), max_size=3)):
        later[place : place + 1] += 0.5
    poses, expected = poses_at(ours, later, poses), poses_at(numpys, later, expected)
    assert poses.moved == expected.moved
    fresh = poses_at(ours, later.copy(), None)
    for found, other, new in zip(poses.arrays, expected.arrays, fresh.arrays, strict=True):
        close(found, other)
        np.testing.assert_array_equal(found, new)


@examples(40)
@given(mixed_trees(), st.integers(1, 6))
def test_stations_are_those_of_numpy(tree: Tree, count: int) -> None:
    matter, state, rng = tree.system.matter, tree.state, tree.rng
    bodies = [tree.bodies[i] for i in rng.integers(0, len(tree.bodies), count)]
    table = stations.StationTable(matter.layout(state), bodies, rng.normal(size=(count, 3)))
    poses, axes = matter.tree_poses(state).bodies, matter.axes(state)
    velocity, bias = matter.tree_motions(state), matter.tree_bias(state)
    given = rng.normal(size=(count, 3))

    def results() -> list[Array]:
        return [
            table.positions(poses),
            table.velocities(given, velocity),
            table.accelerations(given, velocity, bias),
            table.jacobian(given, axes),
            table.jacobian(given, np.asfortranarray(axes)),
            table.frame_jacobian(given, axes),
        ]

    ours = results()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stations, "kernel", None)
        for found, expected in zip(ours, results(), strict=True):
            close(found, expected)


TWINS: dict[type[AbstractMobilizer], type[AbstractMobilizer]] = {EulerBall: Ball, EulerFree: Free}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, 1e200])
@pytest.mark.parametrize("kind", [*KINDS, *OTHERS])
def test_what_numpy_refuses_is_refused_alike(kind: type[AbstractMobilizer], value: float) -> None:
    euler, used = kind in TWINS, TWINS.get(kind, kind)
    tree = make_tree([Pin, used, Pin], [0, 1, 2], 0, use_euler_angles=euler)
    texts = []
    for layout in (tree.system.matter.layout(tree.state), without_kernel(tree)):
        q = tree.state.q.copy()
        q[1:-1] = value
        try:
            poses_at(layout, q, None)
        except KinematicsError as error:
            texts.append(str(error))
        else:
            texts.append("")
    assert texts[0] == texts[1]
    quaternions = (Ball, Free, LineOrientation, FreeLine)
    refused = not np.isfinite(value) or (value in (0.0, 1e200) and kind in quaternions)
    refused = refused or (value == 1e200 and kind is beam)  # which is bent by its square
    assert bool(texts[0]) == (refused and used is not Weld)


def test_n_is_refused_where_it_is_singular() -> None:
    tree = make_tree([Pin, Ball], [0, 1], 0, use_euler_angles=True)
    q = np.array([0.1, 0.2, np.pi / 2, 0.3])
    for layout in (tree.system.matter.layout(tree.state), without_kernel(tree)):
        with pytest.raises(KinematicsError, match="N is singular"):
            qdot_of(layout, q, np.ones(4))


def test_a_subclass_of_a_mobilizer_is_not_taken_for_it() -> None:
    """All of them are final; what only looks like one is computed by Python."""

    class Reversed(AbstractMobilizer):
        nq = nu = 1
        default_q = (0.0,)

        def pose(self, q: Any) -> Any:
            return Pin().pose([-q[0]])

        def axes(self, q: Any) -> Any:
            return [[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]]

    Reversed.__name__ = "Pin"
    tree = make_tree([Reversed], [0], 0, plain=True)
    layout = tree.system.matter.layout(tree.state)
    assert layout.kernel is not None
    assert [joint.row for joint in layout.kernel.given] == [1]


def test_kinds_have_the_numbers_of_coordinates_that_the_kernel_counts_on() -> None:
    assert sorted(KINDS.values()) == list(range(1, 13))
    for kind, number in KINDS.items():
        table = np.array([[0, 2, 1, 0, 0, 0, 0], [0, 2, number, 0, kind.nq, 0, kind.nu]])
        frames, axes = np.array([np.eye(4)] * 2), np.zeros((kind.nu, 6))
        kernel.Tree(table, kind.nq, frames, None, axes)


# ---------------------------------------------------------------------- dynamics


@examples(100)
@given(mixed_trees(), st.sampled_from([0.0, 0.4]))
def test_dynamics_are_those_of_dense_formulas(tree: Tree, massless: float) -> None:
    m = massive(tree, massless=massless)
    matrix, bias = dense(m)
    close(m.kernel.mass_matrix(m.positions, m.inertias), matrix, 1e-12)
    forces = matrix @ m.udot + bias - applied(m)
    found = m.kernel.inverse_dynamics(m.positions, m.inertias, m.u, m.udot, m.forces)
    close(found, forces, 1e-12)
    found = m.kernel.inverse_dynamics(m.positions, m.inertias, m.u, m.udot)
    close(found, matrix @ m.udot + bias, 1e-12)


@examples(100)
@given(mixed_trees())
def test_forward_dynamics_invert_inverse_dynamics(tree: Tree) -> None:
    m = massive(tree)
    matrix, bias = dense(m)
    forces = matrix @ m.udot + bias - applied(m)
    condition = np.linalg.cond(matrix) if m.layout.nu else 1.0
    found = m.kernel.forward_dynamics(m.positions, m.inertias, m.u, forces, m.forces)
    close(found, m.udot, 1e-13 * condition)
    sides = tree.rng.normal(size=(3, m.layout.nu))
    found = m.kernel.multiply_by_m_inv(m.positions, m.inertias, sides)
    close(found @ matrix, sides, 1e-13 * condition)


@examples(60)
@given(mixed_trees(), st.data())
def test_joints_that_are_prescribed_keep_their_udot(tree: Tree, data: st.DataObject) -> None:
    """The others move by what is left: M_ff udot_f = f - bias - M_fk udot_k."""
    m = massive(tree)
    matrix, bias = dense(m)
    nu = m.layout.nu
    known = np.full(nu, np.nan)
    for joint in m.layout.joints[1:]:
        if data.draw(st.booleans()):
            known[joint.u] = m.udot[joint.u]
    is_free = np.isnan(known)
    forces = tree.rng.normal(size=nu)
    udot = np.where(is_free, 0.0, known)
    rest = (forces - bias + applied(m) - matrix @ udot)[is_free]
    free = matrix[np.ix_(is_free, is_free)]
    condition = np.linalg.cond(free) if is_free.any() else 1.0
    udot[is_free] = np.linalg.solve(free, rest)
    found = m.kernel.forward_dynamics(m.positions, m.inertias, m.u, forces, m.forces, known=known)
    close(found, udot, 1e-13 * condition)
    np.testing.assert_array_equal(found[~is_free], known[~is_free])
    side = tree.rng.normal(size=(1, nu))
    found = m.kernel.multiply_by_m_inv(m.positions, m.inertias, side, known=known)[0]
    close(free @ found[is_free], side[0, is_free], 1e-13 * condition)
    assert not found[~is_free].any()


@examples(30)
@given(mixed_trees())
def test_reactions_have_the_generalized_forces_along_the_axes(tree: Tree) -> None:
    m = massive(tree)
    rows = len(m.layout.joints)
    reactions = np.empty((rows, 6))
    forces = m.kernel.inverse_dynamics(
        m.positions, m.inertias, m.u, m.udot, m.forces, reactions=reactions
    )
    origins = m.poses.joints[:, :3, 3]
    for joint in m.layout.joints[1:]:
        row = joint.row
        about = reactions[row].copy()
        about[:3] += np.cross(origins[row], about[3:])  # about the origin of the ground
        axes = axes_in_ground(m.layout, m.poses)[joint.u]
        close(axes @ about, forces[joint.u], 1e-12)


@examples(30)
@given(mixed_trees())
def test_a_field_is_a_weight_at_each_center_of_mass(tree: Tree) -> None:
    m = massive(tree)
    masses, centers, _ = m.inertias
    field = tree.rng.normal(size=3)
    weights = masses[:, None] * field
    arms = (m.poses.bodies[:, :3, :3] @ centers[:, :, None])[:, :, 0]
    forces = m.forces + np.concatenate([np.cross(arms, weights), weights], axis=1)
    model = m.positions, m.inertias, m.u
    expected = m.kernel.inverse_dynamics(*model, m.udot, forces)
    close(m.kernel.inverse_dynamics(*model, m.udot, m.forces, field=field), expected, 1e-12)
    found = m.kernel.forward_dynamics(*model, expected, m.forces, field=field)
    condition = np.linalg.cond(dense(m)[0]) if m.layout.nu else 1.0
    close(found, m.udot, 1e-13 * condition)


def chain_of_pins(count: int) -> tuple[MultibodySystem, Array, Array]:
    """The chain of Simbody's figures: issue 26."""
    system = MultibodySystem()
    body = system.matter.ground
    for i in range(count):
        inboard = None if i == 0 else Transform(None, [0.0, -0.5, 0.0])
        outboard = Transform(None, [0.0, 0.5, 0.0])
        body = system.matter.add_body(
            f"link {i}", body, Pin(), inboard_frame=inboard, outboard_frame=outboard
        )
    numbers: Array = np.arange(float(count))
    return system, 0.3 + 0.01 * numbers, 0.1 + 0.01 * numbers


@pytest.mark.parametrize(
    ("count", "first", "last"),
    [(2, -0.735444427443336, -6.28850311299878), (20, 6.14083259883327, -12.1653121371969)],
)
def test_a_chain_falls_as_in_simbody(count: int, first: float, last: float) -> None:
    system, q, u = chain_of_pins(count)
    layout = system.matter.layout(system.new_state())
    assert layout.kernel is not None
    masses = np.r_[0.0, np.ones(count)]
    inertias = masses[:, None, None] * np.diag([0.1, 0.1, 0.1])
    forces = np.zeros((count + 1, 6))
    forces[1:, 4] = -9.8
    udot = layout.kernel.forward_dynamics(
        poses_at(layout, q, None).arrays,
        (masses, np.zeros((count + 1, 3)), inertias),
        u,
        np.zeros(count),
        forces,
    )
    np.testing.assert_allclose(udot[[0, -1]], [first, last], rtol=1e-12)


def test_dynamics_far_from_the_origin_are_as_precise() -> None:
    kinds = [Free, Pin, Ball, Universal, Slider, Gimbal]
    tree = make_tree(kinds, [0, 1, 2, 1, 4, 5], 7)
    near = massive(tree)
    q = near.poses.q.copy()
    q[4:7] = [1e9, -2e9, 3e9]
    far = poses_at(near.layout, q, None).arrays
    for found, expected in ((method(far), method(near.positions)) for method in methods(near)):
        close(found, expected, 1e-12)


def methods(m: Any) -> list[Callable[[Any], Array]]:
    compiled_tree, inertias = m.kernel, m.inertias
    return [
        lambda poses: compiled_tree.mass_matrix(poses, inertias),
        lambda poses: compiled_tree.inverse_dynamics(poses, inertias, m.u, m.udot, m.forces),
        lambda poses: compiled_tree.forward_dynamics(poses, inertias, m.u, m.udot, m.forces),
    ]


@pytest.mark.parametrize("kind", [Pin, Slider, Ball, Free, Gimbal])
def test_a_leaf_without_mass_is_refused_by_name(kind: type[AbstractMobilizer]) -> None:
    tree = make_tree([Pin, kind], [0, 1], 0)
    m = massive(tree)
    for values in m.inertias:
        values[2] = 0.0
    with pytest.raises(MassMatrixError, match="body 2"):
        m.kernel.forward_dynamics(m.positions, m.inertias, m.u, m.udot)
    with pytest.raises(MassMatrixError, match="body 2"):
        m.kernel.multiply_by_m_inv(m.positions, m.inertias, m.udot[None])


def test_a_rod_on_a_ball_cannot_be_turned_about_itself() -> None:
    """Its inertia is singular up to rounding, as its axis is not one of the ground's."""
    tree = make_tree([Pin, Ball], [0, 1], 3, plain=True)
    m = massive(tree)
    m.inertias[1][2] = [0.0, 0.0, 0.7]
    m.inertias[2][2] = np.diag([1.0, 1.0, 0.0])
    with pytest.raises(MassMatrixError, match="body 2"):
        m.kernel.forward_dynamics(m.positions, m.inertias, m.u, m.udot)


# ---------------------------------------------------------------------- the border


def two_pins() -> dict[str, Any]:
    """Right arguments of a Tree."""
    return {
        "joints": np.array([[0, 3, 1, 0, 0, 0, 0], [0, 3, 2, 0, 1, 0, 1], [1, 3, 2, 1, 1, 1, 1]]),
        "nq": 2,
        "inboard": np.array([np.eye(4)] * 3),
        "outboard": None,
        "axes": np.zeros((2, 6)),
    }


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        *((0, 0, 1), (0, 1, 4), (0, 2, 2), (1, 0, 1), (1, 0, -1), (2, 0, 2), (2, 1, 2), (2, 1, 4)),
        *((1, 1, 0), (2, 2, -1), (2, 2, 13), (2, 2, 7), (2, 3, 2), (2, 3, -1), (2, 4, 2)),
        *((2, 5, 2), (2, 5, -1), (2, 6, 0), (2, 3, 2**62), (2, 4, -(2**62)), (2, 0, 2**62)),
    ],
)
def test_joints_that_are_not_a_tree_are_refused(row: int, column: int, value: int) -> None:
    right = two_pins()
    kernel.Tree(*right.values())
    right["joints"][row, column] = value
    with pytest.raises(ValueError, match=f"row {row} of the joints is not one of a tree"):
        kernel.Tree(*right.values())


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("joints", np.zeros((3, 7)), TypeError),
        ("joints", np.zeros((3, 7), np.int32), TypeError),
        ("joints", np.zeros((2, 7), np.intp), ValueError),
        ("joints", None, TypeError),
        ("nq", 1, ValueError),
        ("nq", -1, ValueError),
        ("nq", -(2**63), ValueError),
        ("nq", 2**63, OverflowError),
        ("nq", "1", TypeError),
        ("inboard", np.zeros((2, 4, 4)), ValueError),
        ("inboard", np.zeros((3, 4, 4), np.float32), TypeError),
        ("inboard", np.zeros((3, 4, 8))[:, :, ::2], ValueError),
        ("inboard", np.zeros(47), ValueError),
        ("outboard", np.zeros((2, 4, 4)), ValueError),
        ("axes", np.zeros((1, 6)), ValueError),
        ("axes", np.zeros(11), ValueError),
    ],
)
def test_wrong_tables_are_refused(name: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        kernel.Tree(*{**two_pins(), name: value}.values())


def calls() -> list[tuple[str, Callable[..., Any], list[Any]]]:
    """Every function with right arguments, for two Pins and three stations."""
    tree = kernel.Tree(*two_pins().values())
    poses, row, rows, q = np.array([np.eye(4)] * 3), np.zeros((2, 6)), np.zeros((3, 6)), np.zeros(2)
    both = np.array([poses, poses])
    three, field = np.zeros((3, 3)), np.zeros(3)
    model = [q, poses, poses, None, np.ones(3), three, np.array([np.eye(3)] * 3)]
    which = np.array([0, 2, 1])
    moves, points, jacobian = np.zeros((3, 2)), np.zeros((3, 4)), np.zeros((3, 3, 2))
    return [
        ("moved", tree.moved, [q, q]),
        ("positions", tree.positions, [q, None, [(1, 3)], np.zeros((2, 2, 4, 4)), q, both]),
        ("axes", tree.axes, [q, poses, None, row]),
        ("motions", tree.motions, [row, q, rows]),
        ("bias", tree.bias, [q, poses, row, rows, q, None, rows]),
        ("generalized_forces", tree.generalized_forces, [row, rows, q]),
        ("qdot", tree.qdot, [q, q, q]),
        ("qdotdot", tree.qdotdot, [q, q, q, q, q]),
        ("mass_matrix", tree.mass_matrix, [*model, np.zeros((2, 2))]),
        ("inverse_dynamics", tree.inverse_dynamics, [*model, None, q, q, rows, field, q, rows]),
        ("forward_dynamics", tree.forward_dynamics, [*model, None, q, q, rows, field, q, q]),
        ("multiply_by_m_inv", tree.multiply_by_m_inv, [*model, q, np.zeros((3, 2)), moves]),
        ("station_positions", kernel.station_positions, [which, points, poses, three]),
        ("station_velocities", kernel.station_velocities, [which, three, rows, three]),
        ("station_accelerations", kernel.station_accelerations, [which, three, rows, rows, three]),
        ("station_jacobian", kernel.station_jacobian, [moves, three, row, jacobian]),
        ("frame_jacobian", kernel.frame_jacobian, [moves, three, row, np.zeros((3, 6, 2))]),
    ]


@pytest.mark.parametrize("which", range(17))
def test_arrays_of_wrong_size_or_type_are_refused(which: int) -> None:
    name, function, right = calls()[which]
    function(*right)
    for i, argument in enumerate(right):
        if not isinstance(argument, np.ndarray):
            continue
        wrongs: list[Any] = [argument.ravel()[:-1], np.zeros(argument.size + 1, argument.dtype)]
        wrongs += [argument.astype(np.float32), [1.0], np.zeros(2 * argument.size)[::2], None]
        for wrong in wrongs:
            if wrong is None and (name, i) in OPTIONAL:
                continue
            with pytest.raises((TypeError, ValueError)):
                function(*right[:i], wrong, *right[i + 1 :])
    for count in (0, len(right) - 1, len(right) + 1):
        with pytest.raises(TypeError, match="arguments"):
            function(*(right * 2)[:count])


OPTIONAL = {
    ("inverse_dynamics", 10),
    ("inverse_dynamics", 11),
    ("inverse_dynamics", 13),
    ("forward_dynamics", 10),
    ("forward_dynamics", 11),
    ("forward_dynamics", 12),
    ("multiply_by_m_inv", 7),
}


@pytest.mark.parametrize("which", [12, 13, 14])
@pytest.mark.parametrize("row", [-1, 3])
def test_rows_out_of_range_are_refused(which: int, row: int) -> None:
    _, function, (_, *others) = calls()[which]
    with pytest.raises(ValueError, match=f"rows: {row} is out of range"):
        function(np.array([0, row, 1]), *others)


@pytest.mark.parametrize(
    ("ranges", "error"),
    [
        ([(1, 4)], ValueError),
        ([(-1, 1)], ValueError),
        ([(2, 2)], ValueError),
        ([(1, 3), (1, 3)], ValueError),
        ([(1,)], TypeError),
        ([(1, 2.5)], TypeError),
        ([1], TypeError),
        ((1, 3), TypeError),
        (None, TypeError),
    ],
)
def test_wrong_ranges_of_rows_are_refused(ranges: Any, error: type[Exception]) -> None:
    _, function, (q, given, _, *others) = calls()[1]
    with pytest.raises(error):
        function(q, given, ranges, *others)


def test_rows_are_not_left_out_where_there_are_none_before() -> None:
    _, function, (q, given, ranges, found, _, _) = calls()[1]
    with pytest.raises(ValueError, match="q before"):
        function(q, given, ranges, found, None, None)


def test_results_are_not_written_into_what_is_read_only() -> None:
    tree = kernel.Tree(*two_pins().values())
    found = np.zeros((3, 6))
    found.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tree.motions(np.zeros((2, 6)), np.zeros(2), found)


def test_a_joint_of_many_u_has_kinematics_and_no_forward_dynamics() -> None:
    joints = np.array([[0, 2, 1, 0, 0, 0, 0], [0, 2, 0, 0, 7, 0, 7]])
    frames, rows = np.array([np.eye(4)] * 2), np.zeros((2, 6))
    tree = kernel.Tree(joints, 7, frames, None, np.ones((7, 6)))
    tree.motions(np.ones((7, 6)), np.ones(7), rows)
    assert rows.tolist() == [[0.0] * 6, [7.0] * 6]
    seven = np.zeros(7)
    model = [seven, frames, frames, None, np.ones(2), np.zeros((2, 3)), np.zeros((2, 3, 3))]
    with pytest.raises(ValueError, match="a joint has 7 u"):
        tree.forward_dynamics(*model, None, seven, seven, None, None, None, seven)
    with pytest.raises(ValueError, match="missing"):
        tree.positions(seven, None, [(0, 2)], np.zeros((2, 2, 4, 4)), None, None)
