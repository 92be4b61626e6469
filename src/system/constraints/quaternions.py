r"""Ready kinematics of orientations that are quaternions.

A quaternion q = (q0, q1, q2, q3), scalar first, stands for the rotation from a body to its parent.
With the angular velocity w of the body in its parent, expressed in the parent or in the body::

    parent:  qdot = 1/2 (0, w) q                 body:  qdot = 1/2 q (0, w)

              1  [ -q1 -q2 -q3 ]                         1  [ -q1 -q2 -q3 ]
         N = --- [  q0  q3 -q2 ]                    N = --- [  q0 -q3  q2 ]
              2  [ -q3  q0  q1 ]                         2  [  q3  q0 -q1 ]
                 [  q2 -q1  q0 ]                            [ -q2  q1  q0 ]

    N' N = |q|^2 / 4, so that pinv(N) = 4 N' / |q|^2;  q' N = 0: no w changes |q|

Source: P. E. Nikravesh, Computer-Aided Analysis of Mechanical Systems (1988), chapter 6.
"""

from typing import Any, Final, Literal

import numpy as np

from stagecache.errors import (
    KinematicsError,
    ShapeError,
    UnknownChoiceError,
    short_repr,
)
from stagecache.numerics.matrices import Matrix, placed
from stagecache.numerics.quaternions import n_of_quaternion
from stagecache.state.handles import Vector
from stagecache.system.constraints.errors import (
    MANY_COLUMNS,
    ErrorDeclaration,
    normalization_error,
)
from stagecache.system.declare.declaration import AbstractDeclaration
from stagecache.system.declare.enabling import Enabling
from stagecache.system.motion.kinematics import (
    KinematicsDeclaration,
    handles_in,
    kinematics,
    require_variables,
)

Frame = Literal["parent", "body"]
FRAMES: Final = ("parent", "body")


def quaternion_kinematics(
    orientation: AbstractDeclaration[Any],
    spin: AbstractDeclaration[Any],
    *,
    frame: Frame = "parent",
) -> KinematicsDeclaration:
    """Declare the kinematics of quaternions.

    Parameters
    ----------
    orientation : declaration
        A variable of 4k q, or a family of them: k quaternions, each scalar first, which need not be
        of length 1.
    spin : declaration
        A variable of 3k u, or a family of them: k angular velocities [rad/s].
    frame : str
        The frame of the angular velocities: "parent" or "body".

    Returns
    -------
    declaration
        The entry N, of shape (k, 4, 3). It costs O(k), and so does its pseudoinverse.

    Raises
    ------
    DeclarationError
        These are not declarations of q and u.
    UnknownChoiceError

    Examples
    --------
    >>> from stagecache import Stage, Subsystem, System, q_variable, u_variable
    >>> from stagecache.system.motion.operators import multiply_by_n
    >>> from stagecache.system.constraints.quaternions import quaternion_kinematics
    >>> class Body(Subsystem):
    ...     orientation = q_variable((1.0, 0.0, 0.0, 0.0))
    ...     spin = u_variable((0.0, 0.0, 3.0))
    ...     turning = quaternion_kinematics(orientation, spin)
    >>> system = System(Body())
    >>> state = system.new_state()
    >>> system.realize(state, Stage.POSITION)
    >>> multiply_by_n(state, state.u)
    array([0. , 0. , 0. , 1.5])
    """
    if frame not in FRAMES:
        raise UnknownChoiceError(
            "quaternion_kinematics(frame=...): not a frame",
            " or ".join(map(repr, FRAMES)),
            short_repr(frame),
            "say in which frame the angular velocities are expressed",
        )
    for variable, kind in ((orientation, "q"), (spin, "u")):
        hint = "write quaternion_kinematics(orientation, spin)"
        require_variables((variable,), kind, "quaternion_kinematics", hint)

    def n_of_quaternions(self: Any, state: Any) -> Vector:
        return quaternion_n(_quaternions(self, state, orientation), frame)

    declared = kinematics(orientation, spin)(n_of_quaternions)
    declared.inverse = _pinv
    return declared


def quaternion_normalization(
    orientation: AbstractDeclaration[Any], *, enabled: Enabling = None
) -> ErrorDeclaration:
    r"""Declare that quaternions have length 1: a row of qerr for each, \|q\| - 1.

    Parameters
    ----------
    orientation : declaration
        A variable of 4k q, or a family of them.
    enabled : declaration, optional
        Same as for `position_error`.

    Returns
    -------
    declaration
        The entry of the errors, of shape (k,). They have no rows in uerr and udoterr, for no
        angular velocity changes the length.

    Raises
    ------
    DeclarationError
        `orientation` is not a declared q, or `enabled` is not a switch.
    """
    what = "quaternion_normalization"
    require_variables((orientation,), "q", what, f"write {what}(orientation)")

    def size(self: Any, state: Any) -> int:
        return len(_quaternions(self, state, orientation))

    def gradients(self: Any, state: Any) -> Matrix:
        return _gradients(self, state, orientation)

    def excess(self: Any, state: Any) -> Vector:
        lengths: Vector = np.linalg.norm(_quaternions(self, state, orientation), axis=1)
        return lengths - 1

    return normalization_error(
        size=size, prerequisites=(orientation,), enabled=enabled, jacobian=gradients
    )(excess)


def quaternion_n(quaternions: Vector, frame: Frame = "parent") -> Vector:
    """N of qdot = N w.

    Parameters
    ----------
    quaternions : ndarray of shape (k, 4)
        Scalar first.
    frame : str
        The frame of the angular velocities w: "parent" or "body".

    Returns
    -------
    ndarray of shape (k, 4, 3)
        Its columns are independent, unless a quaternion is zero.
    """
    if frame == "parent":
        return np.moveaxis(np.array(n_of_quaternion(tuple(quaternions.T))), -1, 0)
    found = quaternion_n(quaternions * (1.0, -1.0, -1.0, -1.0))
    found[:, 0] *= -1.0
    return found


def _quaternions(subsystem: Any, state: Any, orientation: AbstractDeclaration[Any]) -> Vector:
    """Return the quaternions of a subsystem, of shape (k, 4)."""
    handles = handles_in(subsystem, [orientation])
    values: Vector = np.concatenate([np.empty(0), *(np.atleast_1d(h(state)) for h in handles)])
    if len(values) % 4:
        raise ShapeError(
            f"{subsystem.name}.{orientation.name}: is not made of quaternions",
            "4 numbers for each",
            f"{len(values)} numbers",
            "give each as (q0, q1, q2, q3), scalar first",
        )
    return values.reshape(-1, 4)


def _gradients(subsystem: Any, state: Any, orientation: AbstractDeclaration[Any]) -> Matrix:
    """Return the derivatives of the lengths by all q of the State: sparse if these are many."""
    q = _quaternions(subsystem, state, orientation)
    lengths = np.linalg.norm(q, axis=1, keepdims=True)
    if not lengths.all():
        raise _zero(f"{subsystem.name}.{orientation.name}", lengths)
    values = q / lengths
    places = [handle.place(state) for handle in handles_in(subsystem, [orientation])]
    columns = np.concatenate([np.empty(0, np.intp), *(np.r_[place] for place in places)])
    rows = np.repeat(np.arange(len(q)), 4)
    shape = len(q), state._contents.size("q", None)
    return placed(values.ravel(), (rows, columns), shape, sparse=shape[1] > MANY_COLUMNS)


def _zero(what: object, lengths: Vector) -> KinematicsError:
    return KinematicsError(
        f"{what}: a quaternion is zero",
        "quaternions that stand for rotations",
        f"0 for the quaternion of index {int(np.argmin(lengths))}",
        "start with (1, 0, 0, 0), and normalize what is near zero",
    )


def _pinv(n: Vector, what: object) -> Vector:
    """Return the pseudoinverse of N of quaternions."""
    scales = np.sum(n[:, :, :1] ** 2, axis=1, keepdims=True)  # |q|^2 / 4
    if not scales.all():
        raise _zero(what, scales)
    found: Vector = n.swapaxes(1, 2) / scales
    return found
