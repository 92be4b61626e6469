r"""What a mobilizer has to be: its numbers fit each other, and its methods agree.

They are called near the default q. What they return is compared with central differences::

    d/dq pose(q) n(q)        =  axes(q)         angular and linear velocity for each u
    d/dq axes(q) n(q) u . u  =  axes_rate(q, u)
    d/dq n(q) qdot           =  n_rate(q, qdot), and likewise n_pinv_rate

`n_pinv` is to be what `numpy.linalg.pinv` makes of `n`.
"""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from stagecache.checks import whole_number
from stagecache.errors import MobilizerError, short_repr
from stagecache.multibody.checks import ROTATION_TOLERANCE
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer

_OFF: Final = 1e-3  # from the default q, where something may be 0 by chance
_STEP: Final = 1e-5  # of central differences
_TOLERANCE: Final = 1e-3  # relative: what is wrong is so by far
_EXACT: Final = 1e-9  # relative: where nothing but rounding makes a difference


def check_mobilizer(mobilizer: object, name: str, known: Iterable[AbstractMobilizer] = ()) -> None:
    """Refuse what is no mobilizer, by its class and by its values near its default q.

    Parameters
    ----------
    mobilizer : object
    name : str
        That of the body, to be named in errors.
    known : iterable of AbstractMobilizer
        Those that were checked: another one of their class is not checked again, if it is described
        by nothing but its class.

    Raises
    ------
    MobilizerError
    """
    if not isinstance(mobilizer, AbstractMobilizer):
        raise MobilizerError(
            f"the mobilizer of body {name!r}: is none",
            "an instance of a mobilizer, as Pin()",
            "a class; an instance of it is needed"
            if isinstance(mobilizer, type)
            else f"an object of type {type(mobilizer).__name__}",
            "pass Pin(), Ball(), ... or an instance of a subclass of AbstractMobilizer",
        )
    if not _has_attributes(mobilizer) and any(
        type(other) is type(mobilizer) and not _has_attributes(other) for other in known
    ):
        return
    _check(mobilizer, name)
    twin = _called(mobilizer, name, "with_euler_angles")
    if not isinstance(twin, AbstractMobilizer):
        raise _wrong(mobilizer, name, "with_euler_angles()", "a mobilizer", short_repr(twin))
    if twin is mobilizer:
        return
    _check(twin, name)
    if twin.nu != mobilizer.nu:
        expected = f"a mobilizer with as many u, {mobilizer.nu}"
        raise _wrong(mobilizer, name, "with_euler_angles()", expected, f"one with {twin.nu}")
    _check_conversion("euler_angles_of", mobilizer, twin, mobilizer, name)
    _check_conversion("quaternions_of", mobilizer, mobilizer, twin, name)


def _has_attributes(mobilizer: AbstractMobilizer) -> bool:
    return bool(vars(mobilizer)) or bool(getattr(type(mobilizer), "__slots__", None))


def _check(mobilizer: AbstractMobilizer, name: str) -> None:
    """Refuse it by its own values; what its twin in Euler angles is does not count here."""
    _check_numbers(mobilizer, name)
    q, default = _off_default(mobilizer), np.array(mobilizer.default_q, float)
    nu = mobilizer.nu
    u: Array = np.arange(1.0, nu + 1.0)
    n = _n(mobilizer, name, q, default)
    axes, at_default = _values(mobilizer, name, "axes", (nu, 6), (q,), (default,))
    poses = _poses(mobilizer, name, q, *(q + _STEP * n.T), *(q - _STEP * n.T))
    motions = _motions(poses[0], (poses[1 : nu + 1] - poses[nu + 1 :]) / (2 * _STEP))
    if not _close(axes, motions, poses[0]):
        expected = f"the motions of pose(q) by u, {_shown(motions)}"
        raise _wrong(mobilizer, name, "axes(q)", expected, _shown(axes))
    if mobilizer.has_constant_axes and not _close(axes, at_default, axes, _EXACT):
        expected = "False, as axes(q) is another one at other q"
        raise _wrong(mobilizer, name, "has_constant_axes", expected, "True")
    qdot = n @ u
    turning = u @ _change(mobilizer, name, "axes", (nu, 6), q, qdot)
    (rate,) = _values(mobilizer, name, "axes_rate", (6,), (q, u))
    if not _close(rate, turning, axes):
        expected = f"the change of axes(q) along N u, times u, {_shown(turning)}"
        raise _wrong(mobilizer, name, "axes_rate(q, u)", expected, _shown(rate))
    if mobilizer.n(q.tolist()) is None:
        return
    for method, shape in (("n", n.shape), ("n_pinv", n.T.shape)):
        change = _change(mobilizer, name, method, shape, q, qdot)
        (rate,) = _values(mobilizer, name, f"{method}_rate", shape, (q, qdot))
        if not _close(rate, change, n):
            expected = f"the change of {method}(q) along qdot, {_shown(change)}"
            raise _wrong(mobilizer, name, f"{method}_rate(q, qdot)", expected, _shown(rate))


def _check_numbers(mobilizer: AbstractMobilizer, name: str) -> None:
    nq, _ = (_count(mobilizer, name, what) for what in ("nq", "nu"))
    default = _array(getattr(mobilizer, "default_q", None))
    if default.shape != (nq,) or not np.isfinite(default).all():
        got = short_repr(getattr(mobilizer, "default_q", None))
        raise _wrong(mobilizer, name, "default_q", f"{nq} finite numbers, as nq says", got)
    start = mobilizer.quaternion_start
    number = whole_number(start)
    if start is not None and (number is None or not 0 <= number <= nq - 4):
        expected = f"None, or where in {nq} q there are four for a quaternion"
        raise _wrong(mobilizer, name, "quaternion_start", expected, short_repr(start))


def _check_conversion(
    method: str,
    mobilizer: AbstractMobilizer,
    to: AbstractMobilizer,
    of: AbstractMobilizer,
    name: str,
) -> None:
    """The q that it makes of those of one mobilizer stand for the same pose of the other one."""
    q = _off_default(of)
    (found,) = _values(mobilizer, name, method, (to.nq,), (q,))
    (before,), (after,) = _poses(of, name, q), _poses(to, name, found)
    if not _close(after, before, before, _EXACT):
        expected = f"q with the pose [R p] = {_shown(before)}"
        raise _wrong(mobilizer, name, f"{method}(q)", expected, f"q with {_shown(after)}")


def _off_default(mobilizer: AbstractMobilizer) -> Array:
    found: Array = np.array(mobilizer.default_q, float)
    found += _OFF * np.arange(1.0, mobilizer.nq + 1.0)
    return found


def _count(mobilizer: AbstractMobilizer, name: str, what: str) -> int:
    given = getattr(mobilizer, what, None)
    number = whole_number(given)
    if number is None or number < 0:
        raise _wrong(mobilizer, name, what, "a number of coordinates, 0 or more", short_repr(given))
    return number


def _poses(mobilizer: AbstractMobilizer, name: str, *q: Array) -> Array:
    """[R p] at some q, (k, 3, 4), of which R are rotations."""
    found = _values(mobilizer, name, "pose", (12,), *((own,) for own in q)).reshape(-1, 3, 4)
    rotations = found[:, :, :3]
    deviation = np.abs(rotations.swapaxes(1, 2) @ rotations - np.eye(3)).max()
    if deviation > ROTATION_TOLERANCE or np.linalg.det(rotations).min() < 0:
        got = f"{rotations[0].tolist()}"
        raise _wrong(mobilizer, name, "pose(q)", "a rotation in [R p], by rows", got)
    return found


def _motions(pose: Array, rates: Array) -> Array:
    """Angular and linear velocities (k, 6) of a pose that changes by rates (k, 3, 4)."""
    spins = rates[:, :, :3] @ pose[:, :3].T
    found: Array = np.column_stack([spins[:, 2, 1], spins[:, 0, 2], spins[:, 1, 0], rates[:, :, 3]])
    return found


def _n(mobilizer: AbstractMobilizer, name: str, q: Array, default: Array) -> Array:
    """N, (nq, nu), of which `n_pinv` is the pseudoinverse."""
    nq, nu = mobilizer.nq, mobilizer.nu
    has_n = _called(mobilizer, name, "n", q) is not None
    if has_n != (_called(mobilizer, name, "n_pinv", q) is not None):
        what, other = ("n_pinv(q)", "n(q)") if has_n else ("n(q)", "n_pinv(q)")
        raise _wrong(mobilizer, name, what, f"a matrix, as {other} is one", "None")
    if not has_n:
        if nq != nu:
            raise _wrong(mobilizer, name, "n(q)", f"{nq} rows of {nu} numbers", "None")
        return np.eye(nq)
    found: Array = _values(mobilizer, name, "n", (nq, nu), (q,), (default,))[0]
    (pinv,) = _values(mobilizer, name, "n_pinv", (nu, nq), (q,))
    wanted: Array = np.asarray(np.linalg.pinv(found), np.float64)
    if not _close(pinv, wanted, pinv):
        expected = f"the pseudoinverse of n(q), {_shown(wanted)}"
        raise _wrong(mobilizer, name, "n_pinv(q)", expected, _shown(pinv))
    return found


def _change(
    mobilizer: AbstractMobilizer,
    name: str,
    method: str,
    shape: tuple[int, ...],
    q: Array,
    qdot: Array,
) -> Array:
    """How fast what a method returns changes along qdot."""
    step = _STEP * qdot
    after, before = _values(mobilizer, name, method, shape, (q + step,), (q - step,))
    found: Array = (after - before) / (2 * _STEP)
    return found


def _close(found: Array, wanted: Array, scale: Array, tolerance: float = _TOLERANCE) -> bool:
    apart = np.abs(found - wanted).max(initial=0.0)
    largest = max(np.abs(wanted).max(initial=0.0), np.abs(scale).max(initial=1.0))
    return bool(apart <= tolerance * largest)


def _values(
    mobilizer: AbstractMobilizer,
    name: str,
    method: str,
    shape: tuple[int, ...],
    *calls: tuple[Array, ...],
) -> Array:
    """What calls of a method return, (calls, *shape), if those are finite numbers of the shape."""
    given = [_called(mobilizer, name, method, *arguments) for arguments in calls]
    found = _array(given)
    if found.size == 0 and 0 in shape:
        return np.zeros((len(calls), *shape))
    if found.shape != (len(calls), *shape) or not np.isfinite(found).all():
        rows = " rows of ".join(str(size) for size in shape)
        expected = f"{rows} finite numbers, as nq = {mobilizer.nq} and nu = {mobilizer.nu}"
        arguments = ("q", "u" if method == "axes_rate" else "qdot")[: len(calls[0])]
        call = f"{method}({', '.join(arguments)})"
        raise _wrong(mobilizer, name, call, expected, short_repr(given[0]))
    return found


def _called(mobilizer: AbstractMobilizer, name: str, method: str, *arguments: Array) -> Any:
    """What a method returns for plain floats; whatever it raises becomes one error."""
    try:
        return getattr(mobilizer, method)(*(values.tolist() for values in arguments))
    except Exception as error:
        given = ", ".join(str(values.tolist()) for values in arguments)
        got = f"{type(error).__name__}: {error}, at {given or 'no arguments'}"
        raise _wrong(mobilizer, name, method, "what AbstractMobilizer says", got) from error


def _shown(values: Array) -> str:
    return f"{values.round(6).tolist()}"


def _array(values: Any) -> Array:
    """The values as floats; of what are none, an array that no check accepts."""
    try:
        return np.array(values, float)
    except (TypeError, ValueError):
        return np.full((1, 1, 1), np.nan)


def _wrong(
    mobilizer: AbstractMobilizer, name: str, what: str, expected: str, got: str
) -> MobilizerError:
    return MobilizerError(
        f"the mobilizer of body {name!r}: {what} of {mobilizer!r} is not what it should be",
        expected,
        got,
        "mend the class; what each method returns is told in AbstractMobilizer",
    )
