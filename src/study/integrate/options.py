"""What an integrator is asked for."""

import math
from numbers import Integral
from typing import Any, ClassVar, Final

from attrs import Attribute, field, frozen

from stagecache.errors import NotANumberError, OutOfRangeError, short_repr
from stagecache.system.option_fields import check_number, flag

LEAST_ACCURACY: Final = 1e-12
"""With rtol = accuracy / 10, what rounding leaves of it: SciPy takes no rtol below 2.2e-14."""


def _refused(name: str, value: object, expected: str, hint: str) -> OutOfRangeError:
    return OutOfRangeError(
        f"Integrator({name}=...): is out of range", expected, short_repr(value), hint
    )


def _check_accuracy(_: object, attribute: "Attribute[float]", value: float) -> None:
    if not LEAST_ACCURACY <= value < 1:
        raise _refused(
            attribute.name,
            value,
            f"a number from {LEAST_ACCURACY:g} up, below 1",
            "give 1e-3 for a tenth of a percent, for instance",
        )


def _check_positive(_: object, attribute: "Attribute[float]", value: float | None) -> None:
    if value is not None and not 0 < value < math.inf:
        raise _refused(attribute.name, value, "a positive, finite number", "leave it out")


def _check_limit(_: object, attribute: "Attribute[int]", value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise NotANumberError(
            f"Integrator({attribute.name}=...): is no number of steps",
            "an integer",
            short_repr(value),
            "leave it out for no limit",
        )
    if value < 1:
        raise _refused(attribute.name, value, "1 or more", "leave it out for no limit")


def _check_time(_: object, attribute: "Attribute[float]", value: float) -> None:
    if math.isnan(value) or value == -math.inf:
        raise _refused(attribute.name, value, "a time, or infinity", "leave it out for no end")


def _length() -> Any:
    return field(default=None, validator=[check_number, _check_positive])


@frozen(kw_only=True)
class IntegratorOptions:
    """How an `Integrator` is to work; its parameters of the same names.

    Raises
    ------
    NotANumberError, OutOfRangeError
    """

    CALLED: ClassVar[str] = "Integrator"

    accuracy: float = field(default=1e-3, validator=[check_number, _check_accuracy])
    constraint_tolerance: float | None = _length()
    initial_step: float | None = _length()
    min_step: float | None = _length()
    max_step: float | None = _length()
    fixed_step: float | None = _length()
    step_limit: int | None = field(default=None, validator=_check_limit)
    final_time: float = field(default=math.inf, validator=[check_number, _check_time])
    allow_interpolation: bool = flag(default=True)
    project_interpolated_states: bool = flag(default=True)
    project_every_step: bool = flag()
    return_every_step: bool = flag()
    use_infinity_norm: bool = flag()

    def __attrs_post_init__(self) -> None:
        steps = {
            "initial_step": self.initial_step,
            "min_step": self.min_step,
            "max_step": self.max_step,
        }
        given = [name for name, value in steps.items() if value is not None]
        if self.fixed_step is not None and given:
            raise _refused(
                "fixed_step",
                self.fixed_step,
                "no other step size beside it",
                f"leave out {', '.join(given)}; or give the same number as initial, min and max",
            )
        low, high = self.min_step or 0.0, self.max_step or math.inf
        if not low <= (self.initial_step or low) <= high or low > high:
            raise _refused(
                "min_step" if low > high else "initial_step",
                low if low > high else self.initial_step,
                "min_step <= initial_step <= max_step",
                "give step sizes in that order",
            )

    @property
    def tolerance(self) -> float:
        """That of constraints: as given, or accuracy / 10."""
        given = self.constraint_tolerance
        return float(self.accuracy) / 10 if given is None else float(given)
