"""How exactly an Assembler is to work, and what it is to do without."""

from typing import Final

from attrs import define

from stagecache.errors import OutOfRangeError, short_repr
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.option_fields import flag

DEFAULT_ACCURACY: Final = 1e-3


@define
class AssemblerSettings:
    """The settings of an Assembler, which has them as properties.

    Attributes
    ----------
    accuracy : float
        0: the default.
    error_tolerance : float
        0: the default.
    use_rms_error_norm, force_numerical_gradient, force_numerical_jacobian : bool
    """

    CALLED = "Assembler"

    accuracy: float = 0.0
    error_tolerance: float = 0.0
    use_rms_error_norm: bool = flag()
    force_numerical_gradient: bool = flag()
    force_numerical_jacobian: bool = flag()

    @property
    def accuracy_in_use(self) -> float:
        """As it was set, or 1e-3."""
        return self.accuracy or DEFAULT_ACCURACY

    @property
    def tolerance_in_use(self) -> float:
        """As it was set, or a tenth of the accuracy."""
        return self.error_tolerance or self.accuracy_in_use / 10


def checked_setting(value: object, name: str, end: float) -> float:
    """Return a number from 0 up, below an end.

    Raises
    ------
    ShapeError, NotANumberError, OutOfRangeError
    """
    what = f"Assembler.{name}"
    found = float(converted(value, FLOAT, (), what))
    if 0 <= found < end:
        return found
    raise OutOfRangeError(
        f"{what}: is out of range",
        f"a number from 0 up, below {end:g}; 0 stands for the default",
        short_repr(value),
        "give 1e-3, for instance",
    )
