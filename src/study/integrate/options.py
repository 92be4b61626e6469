"""Options of an integrator, in one place: `Integrator` and `simulate` take these by name."""

from collections.abc import Collection
from math import inf
from sys import float_info
from typing import Any, ClassVar, Final

from attrs import field, fields, frozen

from stagecache.checks import did_you_mean, require_count, require_number, whole_number
from stagecache.errors import NotANumberError, OutOfRangeError, UnknownOptionError, short_repr
from stagecache.system.options import flag

LEAST_ACCURACY: Final = 1e-12
"""Limit of rounding, as rtol = accuracy / 10: SciPy takes no rtol below 2.2e-14."""


def _number(
    name: str, default: float | None = None, hint: str = "leave it out", **limits: Any
) -> Any:
    """Return a field for a number within limits; None only if it is the default."""
    what = f"Integrator({name}=...)"

    def checked(value: float | None) -> float | None:
        may_be_none = value is None and default is None
        return None if may_be_none else require_number(value, what, hint, **limits)

    return field(default=default, converter=checked)


def _step_limit(value: int | None) -> int | None:
    what, hint = "Integrator(step_limit=...)", "leave it out for no limit"
    if value is None:
        return None
    if whole_number(value) is None:
        raise NotANumberError(f"{what}: not an integer", "an integer", short_repr(value), hint)
    return require_count(value, 1, what, hint)


@frozen(kw_only=True)
class IntegratorOptions:
    """Options of an `Integrator`.

    Parameters
    ----------
    accuracy : float
        Largest error of a step: rtol = accuracy / 10, and atol = accuracy / (10 weight) for each
        number of y; u and z have their weights in the State, q the weights of their u.
    constraint_tolerance : float, optional
        Largest norm of weighted constraint errors; accuracy / 10 by default.
    initial_step, min_step, max_step : float, optional
        Sizes of steps [s]. It is an error if the accuracy needs a step below the minimum.
    fixed_step : float, optional
        Size of all steps, whatever their error; not for Radau, BDF and LSODA.
    step_limit : int, optional
        Number of steps after which `step_to` returns.
    final_time : float
        Time at which the simulation ends.
    allow_interpolation : bool
        True if States at report times may be interpolated; if not, steps end there.
    project_interpolated_states : bool
        True to project these onto constraints, if they are too far from them.
    project_every_step : bool
        True to project onto constraints after each step, not only if they exceed the tolerance.
    return_every_step : bool
        True if `step_to` returns after each step, with TIME_HAS_ADVANCED.
    use_infinity_norm : bool
        True to measure errors by the largest, not by the root of their mean square. Radau and BDF
        get 1/√ny of the tolerance then, which bounds the largest.

    Raises
    ------
    NotANumberError, ShapeError, OutOfRangeError
    """

    CALLED: ClassVar[str] = "Integrator"

    accuracy: float = _number(
        "accuracy",
        1e-3,
        "give 1e-3 for a tenth of a percent, for instance",
        least=LEAST_ACCURACY,
        below=1.0,
    )
    constraint_tolerance: float | None = _number("constraint_tolerance", above=0.0)
    initial_step: float | None = _number("initial_step", above=0.0)
    min_step: float | None = _number("min_step", above=0.0)
    max_step: float | None = _number("max_step", above=0.0)
    fixed_step: float | None = _number("fixed_step", above=0.0)
    step_limit: int | None = field(default=None, converter=_step_limit)
    final_time: float = _number(
        "final_time",
        inf,
        "leave it out for no end",
        least=-float_info.max,
        may_be_infinite=True,
        expected="a time, or infinity",
    )
    allow_interpolation: bool = flag(default=True)
    project_interpolated_states: bool = flag(default=True)
    project_every_step: bool = flag()
    return_every_step: bool = flag()
    use_infinity_norm: bool = flag()

    def __attrs_post_init__(self) -> None:
        sizes = ("initial_step", "min_step", "max_step")
        given = [name for name in sizes if getattr(self, name) is not None]
        low, high = self.min_step or 0.0, self.max_step or inf
        if self.fixed_step is not None and given:
            raise OutOfRangeError(
                "Integrator(fixed_step=...): contradicts other step sizes",
                "no other step size beside it",
                ", ".join(given),
                "leave these out; or give the same number as initial, min and max",
            )
        if not low <= (self.initial_step or low) <= high or low > high:
            raise OutOfRangeError(
                "Integrator(initial_step=..., min_step=..., max_step=...): contradict each other",
                "min_step <= initial_step <= max_step",
                ", ".join(f"{name}={getattr(self, name):g}" for name in given),
                "give step sizes in that order",
            )

    @property
    def tolerance(self) -> float:
        """Tolerance of constraints: as given, or accuracy / 10."""
        given = self.constraint_tolerance
        return self.accuracy / 10 if given is None else given


OPTIONS: Final = tuple(option.name for option in fields(IntegratorOptions))


TOLERANCES: Final = ("rtol", "atol", "tol", "tolerance", "reltol", "abstol", "rel_tol", "abs_tol")
"""Names that other libraries give to what is `accuracy` here."""


def require_options(
    given: Collection[str], what: str, own: Collection[str] = (), taken: Collection[str] = ()
) -> None:
    """Refuse names that are not options of an integrator, with a suggestion.

    Parameters
    ----------
    given : collection of str
    what : str
        The function that takes them.
    own, taken : collection of str
        Further parameters of this function; options that it sets itself.

    Raises
    ------
    UnknownOptionError
    """
    known = [*own, *(name for name in OPTIONS if name not in (*own, *taken))]
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or "leave it out"
            if name in TOLERANCES:
                hint = "set accuracy=..., the largest error of a step: rtol = atol = accuracy / 10"
            if name == "final_time":
                hint = "give the final time as until"
            text = f"{what}({name}=...): not an option"
            raise UnknownOptionError(text, ", ".join(known), name, hint)
