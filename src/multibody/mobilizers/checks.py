r"""Checks of mobilizers: their numbers fit each other, and their methods agree.

Methods are called near the default q, and at `checked_at`. Their results are compared with central
differences::

    d/dq pose(q) n(q)        =  axes(q)         angular and linear velocity for each u
    d/dq axes(q) n(q) u . u  =  axes_rate(q, u)
    d/dq n(q) qdot           =  n_rate(q, qdot), and likewise n_pinv_rate

`n_pinv` is compared with `numpy.linalg.pinv` of `n`, and the product of `u_by_qdot` and `n` with 1.
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from stagecache.checks import type_text, whole_number
from stagecache.errors import MobilizerError, short_repr
from stagecache.multibody.checks import ROTATION_TOLERANCE
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer

_OFF: Final = 1e-3  # from the default q, where numbers may be 0 by chance
_STEP: Final = 1e-5  # of central differences
_TOLERANCE: Final = 1e-3  # relative: errors are far larger
_EXACT: Final = 1e-9  # relative: for differences by rounding only


def check_mobilizer(mobilizer: object, name: str, known: Iterable[AbstractMobilizer] = ()) -> None:
    """Refuse other objects, and mobilizers with wrong values near their default q.

    Parameters
    ----------
    mobilizer : object
    name : str
        The name of the body, for errors.
    known : iterable of AbstractMobilizer
        Mobilizers that were checked: another one of their class is not checked again if it has no
        attributes of its own.

    Raises
    ------
    MobilizerError
    """
    if not isinstance(mobilizer, AbstractMobilizer):
        raise MobilizerError(
            f"the mobilizer of body {name!r}: not a mobilizer",
            "an instance of a mobilizer, as Pin()",
            type_text(mobilizer),
            "pass Pin(), Ball(), ... or an instance of a subclass of AbstractMobilizer",
        )
    if not _has_attributes(mobilizer) and any(
        type(other) is type(mobilizer) and not _has_attributes(other) for other in known
    ):
        return
    check = _Check(mobilizer, name)
    check.values()
    twin = check.called("with_euler_angles")
    if not isinstance(twin, AbstractMobilizer):
        raise check.wrong("with_euler_angles()", "a mobilizer", short_repr(twin))
    if twin is mobilizer:
        return
    of_twin = _Check(twin, name)
    of_twin.values()
    if twin.nu != mobilizer.nu:
        expected = f"a mobilizer with as many u, {mobilizer.nu}"
        raise check.wrong("with_euler_angles()", expected, f"one with {twin.nu}")
    check.conversion("euler_angles_of", check, of_twin)
    check.conversion("quaternions_of", of_twin, check)


def _has_attributes(mobilizer: AbstractMobilizer) -> bool:
    return bool(vars(mobilizer)) or bool(getattr(type(mobilizer), "__slots__", None))


class _Check:
    """The check of one mobilizer: calls of its methods, and comparison of their results."""

    def __init__(self, mobilizer: AbstractMobilizer, name: str) -> None:
        self.mobilizer = mobilizer
        self.name = name

    def values(self) -> None:
        """Refuse it by its own values; the twin in Euler angles does not count here."""
        self._check_numbers()
        self._values_at(self._off_default())
        for q in self.mobilizer.checked_at:
            self._values_at(np.array(q, float))

    def _values_at(self, q: Array) -> None:
        """Refuse it by its values at some q."""
        mobilizer = self.mobilizer
        default = np.array(mobilizer.default_q, float)
        nu = mobilizer.nu
        u: Array = np.arange(1.0, nu + 1.0)
        n = self._n(q, default)
        axes, at_default = self._results("axes", (nu, 6), (q,), (default,))
        poses = self._poses(q, *(q + _STEP * n.T), *(q - _STEP * n.T))
        motions = _motions(poses[0], (poses[1 : nu + 1] - poses[nu + 1 :]) / (2 * _STEP))
        self._compare("axes(q)", axes, motions, poses[0], "the motions of pose(q) by u")
        if mobilizer.has_constant_axes and not _close(axes, at_default, axes, _EXACT):
            expected = "False, as axes(q) is another one at other q"
            raise self.wrong("has_constant_axes", expected, "True")
        qdot = n @ u
        turning = u @ self._change("axes", (nu, 6), q, qdot)
        (rate,) = self._results("axes_rate", (6,), (q, u))
        meaning = "the change of axes(q) along N u, times u"
        self._compare("axes_rate(q, u)", rate, turning, axes, meaning)
        if mobilizer.n(q.tolist()) is None:
            self._check_bends(q, axes)
            return
        shapes = {"n": n.shape, "n_pinv": n.T.shape, "u_by_qdot": n.T.shape}
        for method, shape in shapes.items():
            change = self._change(method, shape, q, qdot)
            (rate,) = self._results(f"{method}_rate", shape, (q, qdot))
            meaning = f"the change of {method}(q) along qdot"
            self._compare(f"{method}_rate(q, qdot)", rate, change, n, meaning)

    def _check_bends(self, q: Array, axes: Array) -> None:
        """Refuse bends that are not the changes of axes, without those by turning with them."""
        nu = self.mobilizer.nu
        if self.called("bends", q) is None:
            return
        (found,) = self._results("bends", (nu, nu, 6), (q,))
        for i in range(nu):
            change = self._change("axes", (nu, 6), q, np.eye(nu)[i])
            turning = np.cross(axes[i, :3], axes.reshape(nu, 2, 3)).reshape(nu, 6)
            meaning = f"the change of axes(q) by q[{i}], without turning"
            self._compare(f"bends(q)[{i}]", found[i], change - turning, axes, meaning)

    def conversion(self, method: str, of: "_Check", to: "_Check") -> None:
        """Refuse q that a method makes of q of another form, if they have another pose."""
        q = of._off_default()
        (found,) = self._results(method, (to.mobilizer.nq,), (q,))
        (before,), (after,) = of._poses(q), to._poses(found)
        if not _close(after, before, before, _EXACT):
            expected = f"q with the pose [R p] = {_shown(before)}"
            raise self.wrong(f"{method}(q)", expected, f"q with {_shown(after)}")

    def called(self, method: str, *arguments: Array) -> Any:
        """Return the result of a method for plain floats; its errors become one error."""
        try:
            return getattr(self.mobilizer, method)(*(values.tolist() for values in arguments))
        except Exception as error:
            given = ", ".join(str(values.tolist()) for values in arguments)
            got = f"{type(error).__name__}: {error}, at {given or 'no arguments'}"
            raise self.wrong(method, "a result as of AbstractMobilizer", got) from error

    def wrong(self, what: str, expected: str, got: str) -> MobilizerError:
        """Return the error of a wrong attribute or result."""
        return MobilizerError(
            f"the mobilizer of body {self.name!r}: wrong {what} of {self.mobilizer!r}",
            expected,
            got,
            "mend the class; AbstractMobilizer says what each method returns",
        )

    def _compare(self, what: str, found: Array, wanted: Array, scale: Array, meaning: str) -> None:
        if not _close(found, wanted, scale):
            raise self.wrong(what, f"{meaning}, {_shown(wanted)}", _shown(found))

    def _check_numbers(self) -> None:
        for what in ("nq", "nu"):
            given = getattr(self.mobilizer, what, None)
            count = whole_number(given)
            if count is None or count < 0:
                raise self.wrong(what, "a number of coordinates, 0 or more", short_repr(given))
        nq, given = self.mobilizer.nq, getattr(self.mobilizer, "default_q", None)
        default = _array(given)
        if default.shape != (nq,) or not np.isfinite(default).all():
            expected = f"{nq} finite numbers, as nq says"
            raise self.wrong("default_q", expected, short_repr(given))
        places = _array(self.mobilizer.checked_at)
        if places.size and (places.ndim != 2 or places.shape[1] != nq):
            raise self.wrong(
                "checked_at", f"tuples of {nq} numbers", short_repr(self.mobilizer.checked_at)
            )
        start = self.mobilizer.quaternion_start
        number = whole_number(start)
        if start is not None and (number is None or not 0 <= number <= nq - 4):
            expected = f"None, or the index of a quaternion among {nq} q"
            raise self.wrong("quaternion_start", expected, short_repr(start))

    def _off_default(self) -> Array:
        found: Array = np.array(self.mobilizer.default_q, float)
        found += _OFF * np.arange(1.0, self.mobilizer.nq + 1.0)
        return found

    def _poses(self, *q: Array) -> Array:
        """Return [R p] at some q, (k, 3, 4), where R are rotations."""
        found = self._results("pose", (12,), *((own,) for own in q)).reshape(-1, 3, 4)
        rotations = found[:, :, :3]
        deviation = np.abs(rotations.swapaxes(1, 2) @ rotations - np.eye(3)).max()
        if deviation > ROTATION_TOLERANCE or np.linalg.det(rotations).min() < 0:
            got = f"{rotations[0].tolist()}"
            raise self.wrong("pose(q)", "a rotation in [R p], by rows", got)
        return found

    def _n(self, q: Array, default: Array) -> Array:
        """Return N, (nq, nu), compared with `n_pinv`."""
        nq, nu = self.mobilizer.nq, self.mobilizer.nu
        has_n = self.called("n", q) is not None
        if has_n != (self.called("n_pinv", q) is not None):
            what, other = ("n_pinv(q)", "n(q)") if has_n else ("n(q)", "n_pinv(q)")
            raise self.wrong(what, f"a matrix, as {other} is one", "None")
        if not has_n:
            if nq != nu:
                raise self.wrong("n(q)", f"{nq} rows of {nu} numbers", "None")
            return np.eye(nq)
        found: Array = self._results("n", (nq, nu), (q,), (default,))[0]
        (pinv,) = self._results("n_pinv", (nu, nq), (q,))
        wanted: Array = np.asarray(np.linalg.pinv(found), np.float64)
        self._compare("n_pinv(q)", pinv, wanted, pinv, "the pseudoinverse of n(q)")
        (left,) = self._results("u_by_qdot", (nu, nq), (q,))
        self._compare("u_by_qdot(q) n(q)", left @ found, np.eye(nu), np.eye(nu), "1")
        return found

    def _change(self, method: str, shape: tuple[int, ...], q: Array, qdot: Array) -> Array:
        """Return the derivative of a method along qdot."""
        step = _STEP * qdot
        after, before = self._results(method, shape, (q + step,), (q - step,))
        found: Array = (after - before) / (2 * _STEP)
        return found

    def _results(self, method: str, shape: tuple[int, ...], *calls: tuple[Array, ...]) -> Array:
        """Return results of a method, (calls, *shape); refuse others than finite numbers."""
        given = [self.called(method, *arguments) for arguments in calls]
        found = _array(given)
        if found.size == 0 and 0 in shape:
            return np.zeros((len(calls), *shape))
        if found.shape != (len(calls), *shape) or not np.isfinite(found).all():
            rows = " rows of ".join(str(size) for size in shape)
            sizes = f"nq = {self.mobilizer.nq} and nu = {self.mobilizer.nu}"
            arguments = ("q", "u" if method == "axes_rate" else "qdot")[: len(calls[0])]
            call = f"{method}({', '.join(arguments)})"
            raise self.wrong(call, f"{rows} finite numbers, as {sizes}", short_repr(given[0]))
        return found


def _motions(pose: Array, rates: Array) -> Array:
    """Return angular and linear velocities (k, 6) of a pose that changes by rates (k, 3, 4)."""
    spins = rates[:, :, :3] @ pose[:, :3].T
    found: Array = np.column_stack([spins[:, 2, 1], spins[:, 0, 2], spins[:, 1, 0], rates[:, :, 3]])
    return found


def _close(found: Array, wanted: Array, scale: Array, tolerance: float = _TOLERANCE) -> bool:
    apart = np.abs(found - wanted).max(initial=0.0)
    largest = max(np.abs(wanted).max(initial=0.0), np.abs(scale).max(initial=1.0))
    return bool(apart <= tolerance * largest)


def _shown(values: Array) -> str:
    return f"{values.round(6).tolist()}"


def _array(values: Any) -> Array:
    """Return values as floats; an array that no check accepts, if they are not numbers."""
    try:
        return np.array(values, float)
    except (TypeError, ValueError):
        return np.full((1, 1, 1), np.nan)
