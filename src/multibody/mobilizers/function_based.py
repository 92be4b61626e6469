r"""A mobilizer by functions of its q, along axes of one's choice.

::

    R = R(a1, f1) R(a2, f2) R(a3, f3)        rotations about axes, each turned by those before it
    p = b1 g1 + b2 g2 + b3 g3                the origin of M in F, along axes of F

Each f and g is a function of one q. With A1 = a1, A2 = R(a1, f1) a2, ... the axes in F::

    angular velocity    w  = sum of wk            wk = Ak fk' u
    velocity            v  = sum of bk gk' u
    change of axes      w~ = sum of (w1 + ... + w(k-1)) x wk + Ak fk'' u²
                        v~ = sum of bk gk'' u²

Source: derived from d/dt R = w x R; it is the spatial transform of OpenSim's CustomJoint.
"""

from collections.abc import Sequence
from math import cos, sin
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import type_text, whole_number
from stagecache.errors import MobilizerError, OutOfRangeError, short_repr
from stagecache.multibody.checks import checked_array, checked_direction
from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.functions import AbstractFunction, Linear
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.state.vectors.conversion import ANY

MOST: Final = 3
"""The largest number of rotations, and of translations."""

Along = tuple[ArrayLike, AbstractFunction, int]
"""An axis in F, a function, and the index of the q of which it is one."""

Vector = tuple[float, float, float]


@final
class FunctionBased(AbstractMobilizer):
    """A joint by functions of its q: rotations about axes, and translations along axes.

    qdot is u. Each rotation is about an axis that the rotations before it turn.

    Parameters
    ----------
    rotations : sequence of tuple
        Up to three: each an axis (3,), of any length but zero, an `AbstractFunction` [rad], and the
        index of the q of which it is a function.
    translations : sequence of tuple, optional
        Up to three, likewise [m]; in F.
    default_q : array_like, optional
        The q of the default State, as many as there are. The default is 0.
    checked_at : array_like, optional
        More q, row by row, at which the derivatives of functions are compared with differences,
        when a body is added; they are compared near the default q in any case.

    Raises
    ------
    MobilizerError
        There are too many or no motions, a q is left out, or one is not made of these three.
    ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    A knee, whose axis moves while it bends:

    >>> from stagecache.multibody import FunctionBased, Linear, MultibodySystem, NaturalCubicSpline
    >>> slide = NaturalCubicSpline([-2.0, -1.0, 0.0], [-0.004, 0.004, 0.0])
    >>> knee = FunctionBased([([0, 0, 1], Linear(1.0), 0)], [([1, 0, 0], slide, 0)])
    >>> system = MultibodySystem()
    >>> tibia = system.matter.add_body("tibia", system.matter.ground, knee)
    >>> state = system.new_state()
    >>> tibia.q.set(state, [-1.0])
    >>> tibia.pose(state).translation
    array([0.004, 0.   , 0.   ])
    """

    nq: int
    nu: int
    default_q: tuple[float, ...]
    checked_at: tuple[tuple[float, ...], ...]
    has_constant_axes = False
    is_sequence: bool

    def __init__(
        self,
        rotations: Sequence[Along],
        translations: Sequence[Along] = (),
        *,
        default_q: ArrayLike | None = None,
        checked_at: ArrayLike = (),
    ) -> None:
        self._rotations = _checked(rotations, "rotation")
        self._translations = _checked(translations, "translation")
        used = {q for _, _, q in (*self._rotations, *self._translations)}
        if not used or used != set(range(len(used))):
            raise MobilizerError(
                "FunctionBased: not a motion of each of its q",
                "rotations or translations by q 0, and by all up to the largest index",
                f"those by q {sorted(used)}",
                "number the q from 0, and use each of them",
            )
        self.nq = self.nu = len(used)
        given = np.zeros(self.nq) if default_q is None else default_q
        default = checked_array(given, (self.nq,), "default_q of a FunctionBased")
        self.default_q = tuple(default.tolist())
        order = [q for _, _, q in self._rotations]
        motions = (*self._rotations, *self._translations)
        is_linear = all(isinstance(function, Linear) for _, function, _ in motions)
        self.is_sequence = is_linear and len(motions) == len(used) and order == sorted(order)
        what = "checked_at of a FunctionBased"
        is_none = isinstance(checked_at, list | tuple) and not checked_at
        places = np.empty((0, 0)) if is_none else checked_array(checked_at, (ANY, self.nq), what)
        self.checked_at = tuple(tuple(q) for q in places.tolist())

    @property
    def rotations(self) -> tuple[tuple[Vector, AbstractFunction, int], ...]:
        """Axes of length 1, functions, and indices of their q."""
        return self._rotations

    @property
    def translations(self) -> tuple[tuple[Vector, AbstractFunction, int], ...]:
        """The same of translations."""
        return self._translations

    def pose(self, q: Sequence[float]) -> Pose:
        """Return the product of all rotations, at the sum of all translations."""
        rows: list[Vector] = []
        for axis, function, i in self._rotations:
            turn = _rotation(axis, function.value(q[i]))
            rows = [_times(row, turn) for row in rows] if rows else _transposed(turn)
        rows = rows or [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        x = y = z = 0.0
        for axis, function, i in self._translations:
            value = function.value(q[i])
            x, y, z = x + value * axis[0], y + value * axis[1], z + value * axis[2]
        first, second, third = rows
        return (*first, x, *second, y, *third, z)

    def axes(self, q: Sequence[float]) -> Rows:
        """Return the motion for each u, by the first derivatives of the functions."""
        found = [[0.0] * 6 for _ in range(self.nu)]
        for (_, function, i), axis in zip(self._rotations, self._turned(q), strict=True):
            _add(found[i], 0, axis, function.first(q[i]))
        for axis, function, i in self._translations:
            _add(found[i], 3, axis, function.first(q[i]))
        return found

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        """Return the change of the axes, by first and second derivatives."""
        found = [0.0] * 6
        turning: Vector = (0.0, 0.0, 0.0)
        for (_, function, i), axis in zip(self._rotations, self._turned(q), strict=True):
            rate = function.first(q[i]) * u[i]
            own: Vector = (axis[0] * rate, axis[1] * rate, axis[2] * rate)
            _add(found, 0, _cross(turning, own), 1.0)
            _add(found, 0, axis, function.second(q[i]) * u[i] * u[i])
            turning = (turning[0] + own[0], turning[1] + own[1], turning[2] + own[2])
        for axis, function, i in self._translations:
            _add(found, 3, axis, function.second(q[i]) * u[i] * u[i])
        return found

    def bends(self, q: Sequence[float]) -> Sequence[Rows]:
        """Return the changes of the axes by each q, without those by turning with them."""
        n, axes = self.nu, self.axes(q)
        found = [[[0.0] * 6 for _ in range(n)] for _ in range(n)]
        before = [(0.0, 0.0, 0.0)] * n  # by q: its rotations so far
        for (_, function, j), axis in zip(self._rotations, self._turned(q), strict=True):
            rate = function.first(q[j])
            own = (axis[0] * rate, axis[1] * rate, axis[2] * rate)
            for i in range(n):
                _add(found[i][j], 0, _cross(before[i], own), 1.0)
            _add(found[j][j], 0, axis, function.second(q[j]))
            x, y, z = before[j]
            before[j] = (x + own[0], y + own[1], z + own[2])
        for axis, function, j in self._translations:
            _add(found[j][j], 3, axis, function.second(q[j]))
        for i in range(n):
            turning = _vector(axes[i])
            for j in range(n):
                _add(found[i][j], 0, _cross(turning, _vector(axes[j])), -1.0)
                _add(found[i][j], 3, _cross(turning, _vector(axes[j][3:])), -1.0)
        return found

    def _turned(self, q: Sequence[float]) -> list[Vector]:
        """Return the axes of rotations in F, each turned by the rotations before it."""
        found: list[Vector] = []
        rows: list[Vector] = []
        last = len(self._rotations) - 1
        for k, (axis, function, i) in enumerate(self._rotations):
            x, y, z = axis
            found.append(axis if not k else _vector([r[0] * x + r[1] * y + r[2] * z for r in rows]))
            if k < last:
                turn = _rotation(axis, function.value(q[i]))
                rows = [_times(row, turn) for row in rows] if k else _transposed(turn)
        return found

    def __repr__(self) -> str:
        parts = [f"{list(part)}" for part in (self._rotations, self._translations) if part]
        return f"FunctionBased({', '.join(parts)})"


def _checked(given: Any, what: str) -> tuple[tuple[Vector, AbstractFunction, int], ...]:
    """Return axes of length 1, functions and indices.

    Raises
    ------
    MobilizerError, ShapeError, NotANumberError, OutOfRangeError
    """
    hint = f"write {what}s=[([0, 0, 1], Linear(1.0), 0)]"
    if not isinstance(given, list | tuple):
        raise MobilizerError(
            f"the {what}s of a FunctionBased: not a list", "a list", type_text(given), hint
        )
    if len(given) > MOST:
        raise MobilizerError(
            f"the {what}s of a FunctionBased: too many", f"up to {MOST}", f"{len(given)}", hint
        )
    found = []
    for item in given:
        if not isinstance(item, list | tuple) or len(item) != 3:
            raise MobilizerError(
                f"a {what} of a FunctionBased: not of three parts",
                "an axis, a function, and the index of a q",
                short_repr(item),
                hint,
            )
        axis, function, index = item
        if not isinstance(function, AbstractFunction):
            raise MobilizerError(
                f"a {what} of a FunctionBased: not by a function",
                "an AbstractFunction, as Linear(1.0)",
                type_text(function),
                hint,
            )
        number = whole_number(index)
        if number is None or number < 0:
            raise OutOfRangeError(
                f"a {what} of a FunctionBased: not by the index of a q",
                "0 or more",
                short_repr(index),
                hint,
            )
        x, y, z = checked_direction(axis, f"the axis of a {what} of a FunctionBased").tolist()
        found.append(((x, y, z), function, number))
    return tuple(found)


def _rotation(axis: Vector, angle: float) -> tuple[Vector, Vector, Vector]:
    """Return the columns of the rotation about an axis of length 1 (Rodrigues)."""
    x, y, z = axis
    c, s = cos(angle), sin(angle)
    k = 1.0 - c
    return (
        (c + k * x * x, k * x * y + s * z, k * x * z - s * y),
        (k * x * y - s * z, c + k * y * y, k * y * z + s * x),
        (k * x * z + s * y, k * y * z - s * x, c + k * z * z),
    )


def _times(row: Vector, columns: tuple[Vector, Vector, Vector]) -> Vector:
    """Return a row times a matrix, which is given by columns."""
    a, b, c = row
    (x1, x2, x3), (y1, y2, y3), (z1, z2, z3) = columns
    return (a * x1 + b * x2 + c * x3, a * y1 + b * y2 + c * y3, a * z1 + b * z2 + c * z3)


def _cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _vector(values: Sequence[float]) -> Vector:
    return (values[0], values[1], values[2])


def _transposed(columns: tuple[Vector, Vector, Vector]) -> list[Vector]:
    """Return the rows of a matrix, which is given by columns."""
    (a, b, c), (d, e, f), (g, h, i) = columns
    return [(a, d, g), (b, e, h), (c, f, i)]


def _add(found: list[float], start: int, axis: Vector, factor: float) -> None:
    found[start] += factor * axis[0]
    found[start + 1] += factor * axis[1]
    found[start + 2] += factor * axis[2]
