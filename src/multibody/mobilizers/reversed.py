r"""Mobilizers that are defined from the child to the parent.

::

    X_MF = pose of the mobilizer (R', p')        X_FM = its inverse
    w' = sum w'_j u_j, v' likewise, in M         w = -R'^T w'        v = R'^T (w' x p' - v')
"""

from collections.abc import Sequence
from typing import final

from stagecache.checks import wrong_type
from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer

Triple = tuple[float, float, float]


@final
class Reversed(AbstractMobilizer):
    """A mobilizer with the roles of F and M exchanged; its q and u are the same numbers.

    Made by ``add_body(..., reverse=True)``.

    Attributes
    ----------
    mobilizer : AbstractMobilizer
        The motion of F in M.

    Raises
    ------
    WrongTypeError
    """

    has_constant_axes = False

    def __init__(self, mobilizer: AbstractMobilizer) -> None:
        if not isinstance(mobilizer, AbstractMobilizer):
            hint = "write Reversed(Planar()), or add_body(..., Planar(), reverse=True)"
            raise wrong_type(mobilizer, "Reversed(mobilizer)", "a mobilizer, as Planar()", hint)
        self.mobilizer = mobilizer
        self.nq, self.nu = mobilizer.nq, mobilizer.nu
        self.default_q, self.checked_at = mobilizer.default_q, mobilizer.checked_at
        self.quaternion_start = mobilizer.quaternion_start

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the inverse."""
        xx, xy, xz, px, yx, yy, yz, py, zx, zy, zz, pz = self.mobilizer.pose(q)
        return (
            *(xx, yx, zx, -(xx * px + yx * py + zx * pz)),
            *(xy, yy, zy, -(xy * px + yy * py + zy * pz)),
            *(xz, yz, zz, -(xz * px + yz * py + zz * pz)),
        )

    def axes(self, q: Sequence[float]) -> Rows:
        """Return the motions of M in F."""
        pose = self.mobilizer.pose(q)
        place = pose[3], pose[7], pose[11]
        found = []
        for row in self.mobilizer.axes(q):
            w, v = _halves(row)
            back = _turned_back(pose, _difference(_cross(w, place), v))
            x, y, z = _turned_back(pose, w)
            found.append([-x, -y, -z, *back])
        return found

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return the change of the motions of M in F."""
        pose = self.mobilizer.pose(q)
        place = pose[3], pose[7], pose[11]
        sums = [0.0] * 6
        for row, rate in zip(self.mobilizer.axes(q), u, strict=True):
            sums = [total + rate * value for total, value in zip(sums, row, strict=True)]
        w, v = _halves(sums)
        w_rate, v_rate = _halves(self.mobilizer.axes_rate(q, u))
        relative = _difference(v, _cross(w, place))  # of the origin of F, past the turning of M
        inner = _difference(_cross(w_rate, place), v_rate)
        outer = _cross(w, relative)
        moved = _cross(w, v)
        total = (inner[0] + outer[0] + moved[0], inner[1] + outer[1] + moved[1])
        back = _turned_back(pose, (*total, inner[2] + outer[2] + moved[2]))
        x, y, z = _turned_back(pose, w_rate)
        return (-x, -y, -z, *back)

    def n(self, q: Sequence[float]) -> Rows | None:
        """Return N of the mobilizer."""
        return self.mobilizer.n(q)

    def n_pinv(self, q: Sequence[float]) -> Rows | None:
        """Return its pseudoinverse."""
        return self.mobilizer.n_pinv(q)

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows | None:
        """Return the change of N."""
        return self.mobilizer.n_rate(q, qdot)

    def n_pinv_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows | None:
        """Return the change of the pseudoinverse."""
        return self.mobilizer.n_pinv_rate(q, qdot)

    def u_by_qdot(self, q: Sequence[float]) -> Rows | None:
        """Return the u for a qdot."""
        return self.mobilizer.u_by_qdot(q)

    def u_by_qdot_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows | None:
        """Return their change."""
        return self.mobilizer.u_by_qdot_rate(q, qdot)

    def with_euler_angles(self) -> AbstractMobilizer:
        """Return the same joint in Euler angles."""
        twin = self.mobilizer.with_euler_angles()
        return self if twin is self.mobilizer else Reversed(twin)

    def euler_angles_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the q in Euler angles."""
        return self.mobilizer.euler_angles_of(q)

    def quaternions_of(self, q: Sequence[float]) -> Sequence[float]:
        """Return the q of Euler angles."""
        return self.mobilizer.quaternions_of(q)

    def __repr__(self) -> str:
        return f"Reversed({self.mobilizer!r})"


def _halves(row: Sequence[float]) -> tuple[Triple, Triple]:
    a, b, c, x, y, z = row
    return (a, b, c), (x, y, z)


def _turned_back(pose: Sequence[float], vector: Triple) -> Triple:
    """Return R'^T times a vector."""
    x, y, z = vector
    return (
        pose[0] * x + pose[4] * y + pose[8] * z,
        pose[1] * x + pose[5] * y + pose[9] * z,
        pose[2] * x + pose[6] * y + pose[10] * z,
    )


def _cross(a: Triple, b: Triple) -> Triple:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def _difference(a: Triple, b: Triple) -> Triple:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])
