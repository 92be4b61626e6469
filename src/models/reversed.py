r"""A joint that is used the other way round: its parent hangs on its child.

::

    the joint    F --- X(q) ---> M             V = (w, v), in F; p is the origin of M
    reversed     M --- X(q)^-1 ---> F          w' = -R' w
                                               v' = R' (w x p - v)

    change of axes       w~' = -R' w~
                         v~' = R' (w~ x p - v~ + 2 w x v - w x (w x p))

R' is the transpose. Source: derived from R' R = 1 and p' = -R' p.
"""

from collections.abc import Sequence
from typing import final

import numpy as np

from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer


@final
class Reversed(AbstractMobilizer):
    """The inverse motion of a mobilizer whose qdot is its u.

    Parameters
    ----------
    mobilizer : AbstractMobilizer
    """

    has_constant_axes = False

    def __init__(self, mobilizer: AbstractMobilizer) -> None:
        self._forward = mobilizer
        self.nq = self.nu = mobilizer.nu
        self.default_q = mobilizer.default_q

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the inverse of the pose."""
        rotation, place = self._parts(q)
        (a, b, c), (d, e, f), (g, h, i) = rotation.T.tolist()
        x, y, z = (-rotation.T @ place).tolist()
        return (a, b, c, x, d, e, f, y, g, h, i, z)

    def axes(self, q: Sequence[float]) -> Rows:
        """Return the motions of F in M."""
        rotation, place = self._parts(q)
        axes = np.array(self._forward.axes(q)).reshape(-1, 6)
        turning, moving = axes[:, :3], axes[:, 3:]
        found = np.column_stack(
            [-turning @ rotation, (np.cross(turning, place) - moving) @ rotation]
        )
        return [[float(x) for x in row] for row in found]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return the change of these motions."""
        rotation, place = self._parts(q)
        total = np.array(u) @ np.array(self._forward.axes(q)).reshape(-1, 6)
        rate = np.array(self._forward.axes_rate(q, u))
        w, v = total[:3], total[3:]
        linear = np.cross(rate[:3], place) - rate[3:] + 2.0 * np.cross(w, v)
        linear -= np.cross(w, np.cross(w, place))
        found: list[float] = np.concatenate([-rate[:3] @ rotation, linear @ rotation]).tolist()
        return found

    def _parts(self, q: Sequence[float]) -> tuple[Array, Array]:
        """Return R and p of the joint."""
        matrix = np.array(self._forward.pose(q)).reshape(3, 4)
        return matrix[:, :3], matrix[:, 3]

    def __repr__(self) -> str:
        return f"Reversed({self._forward!r})"
