r"""Mass properties of a rigid body: its mass, center of mass, and inertia.

They are declared with a body, and read by its dynamics; see `inertias`.

    inertia about the origin = central inertia + m (c.c 1 - c c')       (Steiner)

Principal central moments A, B, C are integrals over mass of y^2 + z^2, and so on. So they are not
negative, and each is at most the sum of the others: the triangle inequality.
"""

from typing import Final, final

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.checks import require_number
from stagecache.errors import MassPropertiesError, OutOfRangeError
from stagecache.multibody.checks import checked_array
from stagecache.state.vectors.conversion import array_of

_TOLERANCE: Final = 1e-9  # of the inequalities, relative to the moments
_LARGEST: Final = 1e150  # of moments, in kg m^2: where numbers overflow is far off


def _mass(value: float) -> float:
    return require_number(value, "the mass of a body")


def _center(values: ArrayLike) -> NDArray[np.float64]:
    return checked_array(values, (3,), "the center of mass of a body")


def _inertia(values: ArrayLike) -> NDArray[np.float64]:
    """Return the matrix, of three moments, or of these and three products."""
    what = "the inertia of a body"
    array = array_of(values, what)
    if array is None or array.ndim != 1:
        return checked_array(values, (3, 3), what)
    if array.shape == (6,):
        xx, yy, zz, xy, xz, yz = checked_array(values, (6,), what).tolist()
        found = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        found = np.diag(checked_array(values, (3,), what))
    found.flags.writeable = False
    return found


@final
@attrs.frozen(unsafe_hash=False)
class MassProperties:
    """The mass, center of mass and inertia of a body.

    Parameters
    ----------
    mass : float
        Zero or more [kg].
    center : (3,) array_like, optional
        The center of mass in the frame of the body [m].
    inertia : (3, 3), (6,) or (3,) array_like, optional
        About the origin of the body, in its axes [kg m^2]. Six numbers are xx, yy, zz, xy, xz, yz;
        three are a diagonal. The default is a point mass at the center. For one about the center
        of mass, see `about_center`.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    MassPropertiesError
        Impossible for a body: the mass is negative, the inertia is not symmetric, or its central
        moments are negative or violate the triangle inequality.

    Examples
    --------
    >>> from stagecache.multibody import MassProperties
    >>> MassProperties(2.0, center=[0.0, 0.5, 0.0]).inertia.tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.5]]
    """

    mass: float = attrs.field(converter=_mass)
    center: NDArray[np.float64] = attrs.field(
        default=(0.0, 0.0, 0.0), converter=_center, eq=attrs.cmp_using(eq=np.array_equal)
    )
    inertia: NDArray[np.float64] = attrs.field(
        default=attrs.Factory(lambda self: _steiner(self.mass, self.center), takes_self=True),
        converter=_inertia,
        eq=attrs.cmp_using(eq=np.array_equal),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse properties that no body can have."""
        if self.mass < 0:
            raise MassPropertiesError(
                "the mass of a body: is negative",
                "zero or more, in kg",
                f"{self.mass:.6g}",
                "give it without a sign",
            )
        scale = float(np.abs([self.inertia, self._at_center]).max())
        if not scale < _LARGEST:
            raise OutOfRangeError(
                "the inertia of a body: is out of range",
                f"less than {_LARGEST:g} kg m^2, with the mass at the center as well",
                f"{scale:.3g}",
                "look at the units of mass, center and inertia",
            )
        allowed = _TOLERANCE * scale
        skew = float(np.max(np.abs(self.inertia - self.inertia.T)))
        if skew > allowed:
            raise MassPropertiesError(
                "the inertia of a body: is not symmetric",
                "a matrix that equals its transpose",
                f"elements that differ by {skew:.3g}",
                "fill in both sides of the diagonal",
            )
        if self.mass == 0 and scale > 0:
            raise MassPropertiesError(
                "the inertia of a body: not zero, as the mass is",
                "zero, as the mass is",
                f"{self.inertia.tolist()}",
                "give a mass, or leave the inertia out",
            )
        moments = self.principal_moments
        if moments[0] < -allowed:
            raise MassPropertiesError(
                "the inertia of a body: has a negative central moment",
                f"an inertia about the origin, with {self.mass:.6g} kg at the center",
                f"principal central moments {moments.tolist()}",
                "give the inertia about the origin of the body, not about its center of mass",
            )
        if moments[2] > moments[0] + moments[1] + allowed:
            raise MassPropertiesError(
                "the inertia of a body: violates the triangle inequality",
                "no principal central moment greater than the sum of the others",
                f"{moments.tolist()}",
                "look for swapped axes, units, and the point about which it is given",
            )

    @classmethod
    def about_center(cls, mass: float, center: ArrayLike, inertia: ArrayLike) -> "MassProperties":
        """Return the properties of a body whose inertia is known about its center of mass.

        Parameters
        ----------
        mass : float
            [kg]
        center : (3,) array_like
            The center of mass in the frame of the body [m].
        inertia : (3, 3), (6,) or (3,) array_like
            About the center of mass, in the axes of the body [kg m^2].

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError, MassPropertiesError

        Examples
        --------
        >>> from stagecache.multibody import MassProperties
        >>> MassProperties.about_center(2.0, [0.0, 0.5, 0.0], [0.1, 0.2, 0.3]).inertia.diagonal()
        array([0.6, 0.2, 0.8])
        """
        point = cls(mass, center)
        return cls(mass, center, point.inertia + _inertia(inertia))

    @property
    def central_inertia(self) -> NDArray[np.float64]:
        """The inertia about the center of mass (3, 3) [kg m^2]."""
        found: NDArray[np.float64] = self.inertia - self._at_center
        return found

    @property
    def principal_moments(self) -> NDArray[np.float64]:
        """The principal moments of the central inertia (3,), the least first [kg m^2]."""
        central = self.central_inertia
        return np.asarray(np.linalg.eigvalsh((central + central.T) / 2), np.float64)

    @property
    def _at_center(self) -> NDArray[np.float64]:
        return _steiner(self.mass, self.center)

    def __reduce__(self) -> tuple[type["MassProperties"], tuple[object, ...]]:
        return MassProperties, (self.mass, self.center, self.inertia)


def _steiner(mass: float, center: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inertia of a point mass about the origin."""
    with np.errstate(all="ignore"):  # infinite values are refused later
        found: NDArray[np.float64] = center @ center * np.eye(3) - np.outer(center, center)
        found *= mass
    found += 0.0  # no -0.0
    return found
