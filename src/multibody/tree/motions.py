r"""Motions of all bodies of a tree: axes of joints, velocities, and accelerations without udot.

All motions are about the origin of the ground (see `spatial`). With the axes h of a mobilizer, in
F, about the origin of M, and R = R_GF, p = p_GM::

    S = (R hw, R hv + p x R hw)                one row for each u: the columns of all Jacobians
    V = sum of S u                             along the path from the ground
    V' = sum of S udot + S' u                  S' u, with the velocity w of F, and v of M's origin:

    S' u = (a, w x L + v x W + p x a + R h'v u)    a = w x W + R h'w u
                                                   W, L = sums of R hw u, R hv u

Source: derived from d/dt R = w x R; A. Jain, Robot and Multibody Dynamics (2011), chapter 5.
"""

import numpy as np

from stagecache.multibody.geometry.spatial import Array, cross, velocities_at
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.multibody.tree.poses import TreePoses


def axes_in_f(layout: TreeLayout, q: Array) -> Array:
    """Return the axes of all mobilizers, each in its F: (nu, 6)."""
    if not layout.varying:
        return layout.constant_axes
    found = layout.constant_axes.copy()
    values = q.tolist()
    for joint in layout.varying:
        found[joint.u] = joint.mobilizer.axes(values[joint.q])
    return found


def axes_in_ground(layout: TreeLayout, poses: TreePoses) -> Array:
    """Return S: the motion of all bodies outboard for each u, (nu, 6)."""
    if layout.kernel is not None:
        return layout.kernel.axes(poses.q, poses.joints)
    rows = layout.joint_of_u
    rotations = _rotations_of_f(layout, poses)[rows].swapaxes(1, 2)
    found: Array = (axes_in_f(layout, poses.q).reshape(-1, 2, 3) @ rotations).reshape(-1, 6)
    found[:, 3:] += cross(poses.joints[rows, :3, 3], found[:, :3])
    return found


def motions(layout: TreeLayout, axes: Array, u: Array) -> Array:
    """Return V of all bodies by row, (rows, 6), for u of size nu."""
    if layout.kernel is not None:
        return layout.kernel.motions(axes, u)
    return layout.sum_from_ground(_by_joint(layout, axes * u[:, None]))


def generalized_forces(layout: TreeLayout, axes: Array, forces: Array) -> Array:
    """Return the forces on u, (nu,), of spatial forces on bodies by row, (rows, 6)."""
    if layout.kernel is not None:
        return layout.kernel.generalized_forces(axes, forces)
    outboard = layout.sum_to_ground(forces)
    found: Array = np.einsum("ij,ij->i", axes, outboard[layout.joint_of_u])
    return found


def motion_bias(layout: TreeLayout, poses: TreePoses, axes: Array, v: Array, u: Array) -> Array:
    """Return V' of all bodies by row, (rows, 6), where udot is 0; `v` are their V."""
    if layout.kernel is not None:
        return layout.kernel.bias(poses.q, poses.joints, axes, v, u)
    rotations = _rotations_of_f(layout, poses)
    origins = poses.joints[:, :3, 3]
    relative = _by_joint(layout, axes * u[:, None])
    angular = relative[:, :3]
    linear = relative[:, 3:] - cross(origins, angular)  # of the origin of M, in F
    turning = v[layout.parents, :3]
    found = np.empty_like(v)
    found[:, :3] = cross(turning, angular)
    found[:, 3:] = cross(turning, linear) + cross(velocities_at(origins, v), angular)
    if layout.varying:
        rates = np.zeros_like(v)
        q, speeds = poses.q.tolist(), u.tolist()
        for joint in layout.varying:
            rates[joint.row] = joint.mobilizer.axes_rate(q[joint.q], speeds[joint.u])
        turned = (rates.reshape(-1, 2, 3) @ rotations.swapaxes(1, 2)).reshape(-1, 6)
        found += turned
    found[:, 3:] += cross(origins, found[:, :3])
    return layout.sum_from_ground(found)


def _rotations_of_f(layout: TreeLayout, poses: TreePoses) -> Array:
    """Return R_GF of all joints, by row."""
    found: Array = poses.joints[layout.parents, :3, :3] @ layout.inboard[:, :3, :3]
    return found


def _by_joint(layout: TreeLayout, values: Array) -> Array:
    """Return the sums of values (nu, 6) over the u of each joint, by row."""
    found = np.zeros((len(layout.joints), 6))
    np.add.at(found, layout.joint_of_u, values)
    return found
