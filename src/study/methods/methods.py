"""The methods, by name. Those that need SciPy are imported when one is asked for."""

from difflib import get_close_matches
from typing import Final

from stagecache.errors import OutOfRangeError, UnknownChoiceError, short_repr
from stagecache.study.methods.euler import Euler
from stagecache.study.methods.method import AbstractMethod
from stagecache.study.methods.verlet import Verlet

OWN: Final[dict[str, type[AbstractMethod]]] = {"Euler": Euler, "Verlet": Verlet}
NEEDING_SCIPY: Final = (
    *("RK23", "RK45", "DOP853", "ExplicitEuler", "Merson", "Fehlberg"),
    *("Radau", "BDF", "LSODA"),
)
IMPLICIT: Final = ("Radau", "BDF", "LSODA")
METHOD_NAMES: Final = (*NEEDING_SCIPY, *OWN)


def method_of(name: object, fixed_step: float | None) -> type[AbstractMethod]:
    """Return the class of a method.

    Raises
    ------
    UnknownChoiceError
    OutOfRangeError
        The step is fixed, and the method cannot take fixed steps.
    """
    if fixed_step is not None and name in IMPLICIT:
        raise OutOfRangeError(
            f"Integrator(method={name!r}, fixed_step=...): cannot take fixed steps",
            "a method with fixed steps: " + ", ".join(m for m in METHOD_NAMES if m not in IMPLICIT),
            f"fixed_step={short_repr(fixed_step)}",
            "choose another method; or give max_step, below which this one may go",
        )
    if isinstance(name, str) and name in OWN:
        return OWN[name]
    if isinstance(name, str) and name in NEEDING_SCIPY:
        from stagecache.study.methods.runge_kutta import RUNGE_KUTTA  # noqa: PLC0415  # they need SciPy
        from stagecache.study.methods.scipy import SOLVERS  # noqa: PLC0415

        return next(method for method in (*RUNGE_KUTTA, *SOLVERS) if method.name == name)
    by_case = {known.lower(): known for known in METHOD_NAMES}
    similar = get_close_matches(str(name).lower(), by_case, 1)
    raise UnknownChoiceError(
        f"Integrator(method={short_repr(name)}): not a method",
        "one of " + ", ".join(METHOD_NAMES),
        short_repr(name),
        f"did you mean {by_case[similar[0]]!r}?" if similar else "use one of these names",
    )
