r"""Mobilizers: relative motions of two bodies that joints allow, and their coordinates.

A mobilizer is between frame F, fixed to the parent, and frame M, fixed to the child::

    X_FM = pose(q)                    the pose of M in F
    V_FM = sum of axes(q)[j] u[j]     angular velocity of M in F, and velocity of the origin of M
                                      in F, both expressed in F
    qdot = n(q) u                     where qdot is not just u

For one of your own, write a subclass with `nq`, `nu`, `default_q`, `pose`, `axes`, and the other
methods that apply. When a body is added with it, its methods are compared with each other near the
default q, by central differences.

Its methods get and return plain floats, not arrays: they are called once for each joint, and a
numpy call on three numbers takes longer than all of its arithmetic. (Measured: the pose of a Pin
0.5 us, of a Ball 1.0 us; batches over all joints of a kind, 3 and 16 us, pay from some 7 and 16
joints of one kind on, and trees have many kinds.)

It does not know bodies, States or the tree, so one mobilizer serves any number of joints. Its
attributes must not change.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from stagecache.multibody.geometry.orientation import Pose, Rows

STEP: Final = 1e-5
"""The step of central differences of N, relative to the rates of q."""


class AbstractMobilizer(ABC):
    """A kind of joint. Its methods are pure functions of its q and u.

    Attributes
    ----------
    nq, nu : int
        The numbers of its q and u.
    default_q : tuple of float
        Its q in the default State: nq numbers.
    checked_at : tuple of tuple of float
        More q at which its methods are compared with each other when a body is added.
    has_constant_axes : bool
        True if `axes` does not depend on q; it is then called once.
    quaternion_start : int or None
        The index in q of a quaternion of four numbers, if there is one.
    is_sequence : bool
        True if the q are a sequence of elementary motions: lengths along axes of F, which move the
        origin of M, and angles, each about an axis that the angles before it turn. An Assembler
        then knows second derivatives of points in closed form; False by default.
    """

    nq: int
    nu: int
    default_q: tuple[float, ...]
    checked_at: tuple[tuple[float, ...], ...] = ()
    has_constant_axes: ClassVar[bool] = True
    quaternion_start: int | None = None
    is_sequence: bool = False

    @abstractmethod
    def pose(self, q: Sequence[float]) -> Pose:
        """Return X_FM: rows of [R p] as 12 floats. Lengths are in m."""

    @abstractmethod
    def axes(self, q: Sequence[float]) -> Rows:
        """Return the motions for unit u, in F: nu rows of 6 floats, angular, then linear."""

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:  # noqa: ARG002  # others need it
        """Return the change of `axes` along qdot = N u, times u: 6 floats; 0 if constant."""
        return (0.0,) * 6

    def bends(self, q: Sequence[float]) -> Sequence[Rows] | None:  # noqa: ARG002  # others know it
        """Return second derivatives of the pose, for an Assembler; None where they are not known.

        Needed only where `is_sequence` is False and qdot is u. With the axes (w_j, v_j)::

            [i][j]    (dw_j/dq_i - w_i x w_j,  dv_j/dq_i - w_i x v_j)        nu, nu, 6 floats
        """
        return None

    def n(self, q: Sequence[float]) -> Rows | None:  # noqa: ARG002  # others need it
        """Return N of qdot = N u, nq rows of nu floats; None stands for 1."""
        return None

    def n_pinv(self, q: Sequence[float]) -> Rows | None:  # noqa: ARG002  # others need it
        """Return the pseudoinverse of `n`, nu rows of nq floats; None stands for 1."""
        return None

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows | None:
        """Return the change of `n` along qdot; by central differences, if it is not overridden."""
        return _rate_along(self.n, q, qdot)

    def n_pinv_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows | None:
        """Return the change of `n_pinv` along qdot, likewise."""
        return _rate_along(self.n_pinv, q, qdot)

    def u_by_qdot(self, q: Sequence[float]) -> Rows | None:
        """Return the u at which M moves as qdot says, nu rows of nq floats; None stands for 1.

        That is `n_pinv`, but where some qdot is not a motion by u, and yet moves M: then it is
        another left inverse of `n`, which leaves out that part of the motion. Motions of q and
        Assemblers use it.
        """
        return self.n_pinv(q)

    def u_by_qdot_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows | None:
        """Return the change of `u_by_qdot` along qdot.

        What that leaves out does not turn the axes of u: times qdot, with `u_by_qdot` times
        qdotdot, it is the udot for which M accelerates so.
        """
        return self.n_pinv_rate(q, qdot)

    # ------------------------------------------------------------------ orientations

    def with_euler_angles(self) -> "AbstractMobilizer":
        """Return the mobilizer of the same motions with its orientation in Euler angles."""
        return self

    def euler_angles_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the q of `with_euler_angles` for the same pose."""
        return q

    def quaternions_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the q of this mobilizer for the pose that `with_euler_angles` has at these q."""
        return q

    # ------------------------------------------------------------------ showing

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _rate_along(
    function: Callable[[Sequence[float]], Rows | None], q: Sequence[float], qdot: Sequence[float]
) -> Rows | None:
    """Return the change of a matrix; relative error 1e-10. None where it stands for 1."""
    if function(q) is None:
        return None
    step = STEP / max(1.0, *map(abs, qdot))
    after, before = (
        function([x + sign * step * v for x, v in zip(q, qdot, strict=True)]) for sign in (1, -1)
    )
    assert after is not None
    assert before is not None
    return [
        [(a - b) / (2 * step) for a, b in zip(*rows, strict=True)]
        for rows in zip(after, before, strict=True)
    ]
