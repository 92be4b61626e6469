"""Settings of an Assembler: accuracy, tolerance, norm, and derivatives by differences."""

from math import inf
from typing import Any, Final

from attrs import define, field

from stagecache.checks import require_number
from stagecache.system.options import flag

DEFAULT_ACCURACY: Final = 1e-3


def _number(name: str, end: float) -> Any:
    """Return a field that holds a number from 0 up, below an end; 0 stands for the default."""

    def checked(value: float) -> float:
        hint = "give 1e-3, for instance; 0 stands for the default"
        return require_number(value, f"Assembler.{name}", hint, least=0.0, below=end)

    return field(default=0.0, converter=checked)


@define
class AssemblerSettings:
    """Settings of an Assembler; each is checked when it is set.

    Attributes
    ----------
    accuracy, error_tolerance : float
        Values as set; 0 stands for the default.
    use_rms_error_norm, force_numerical_gradient, force_numerical_jacobian : bool
    """

    CALLED = "Assembler"

    accuracy: float = _number("accuracy", 1.0)
    error_tolerance: float = _number("error_tolerance", inf)
    use_rms_error_norm: bool = flag()
    force_numerical_gradient: bool = flag()
    force_numerical_jacobian: bool = flag()

    @property
    def accuracy_in_use(self) -> float:
        """Accuracy as it was set, or 1e-3."""
        return self.accuracy or DEFAULT_ACCURACY

    @property
    def tolerance_in_use(self) -> float:
        """Error tolerance as it was set, or a tenth of the accuracy."""
        return self.error_tolerance or self.accuracy_in_use / 10
