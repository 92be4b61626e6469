"""Plans of simulations: until when, by which method, and at which times there are rows.

::

    simulate(...)  ->  Plan  ->  to_json  ->  the head of a file  ->  of_json  ->  resume(...)
"""

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any, Final, Self, final

import numpy as np
from attrs import asdict, fields, frozen

from stagecache.checks import require_count, require_positive
from stagecache.errors import OutOfRangeError, ShapeError, StagecacheError, short_repr
from stagecache.files.values import bad_file, decode, encode
from stagecache.state.handles import Vector
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.study.integrate.integrator import Integrator, passed
from stagecache.study.integrate.options import IntegratorOptions, require_options
from stagecache.study.methods.methods import method_of
from stagecache.system.core.system import System
from stagecache.system.events.times import rounding

OWN: Final = ("every", "record", "progress", "accuracy", "method", "into", "batch")
"""Arguments of `simulate` that are not options of an integrator."""


@final
@frozen(eq=False)
class Plan:
    """The arguments of a simulation.

    Attributes
    ----------
    begin, until : float
        Times of the beginning and of the end [s].
    method : str
    accuracy : float
    every : float, list of float, or None
        Time between two rows, or the times of the rows [s]; None for a row each step.
    batch : int
        Number of rows to a batch, if they go into a file.
    options : dict
        Other options of the integrator.
    """

    begin: float
    until: float
    method: str
    accuracy: float
    every: float | list[float] | None
    batch: int
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        begin: float,
        until: Any,
        *,
        every: Any,
        method: str,
        accuracy: Any,
        batch: Any,
        options: Mapping[str, Any],
    ) -> Self:
        """Return the plan of arguments that `simulate` takes, or raise what it says."""
        end = float(converted(until, FLOAT, (), "simulate(until=...)"))
        rows: Vector | None = None
        if isinstance(every, list | tuple) or (every is not None and np.ndim(every)):
            rows = converted(every, FLOAT, None, "simulate(every=...)")
        elif every is not None:
            hint = "leave it out for a row each step"
            every = require_positive(every, "simulate(every=...)", hint)
        require_options(options, "simulate", OWN, ("final_time",))
        given = {"return_every_step": every is None, **options}
        checked = IntegratorOptions(accuracy=accuracy, final_time=end, **given)
        method_of(method, checked.fixed_step)
        batch = require_count(batch, 1, "simulate(batch=...)", "leave it out for 1000")
        if not begin <= end:
            raise passed("simulate(until=...)", begin, until)
        if rows is not None:
            _check_times(rows, begin, end)
            every = rows.tolist()
        given = {name: getattr(checked, name) for name in given}
        return cls(begin, end, method, checked.accuracy, every, batch, given)

    def integrator(self, system: System) -> Integrator:
        """Return a new integrator, which ends when the simulation ends."""
        return Integrator(
            system,
            self.method,
            accuracy=self.accuracy,
            final_time=self.until,
            **self.options,
        )

    def times(self, start: int) -> Iterator[float]:
        """Return the times of the rows from a number on; none if each step makes a row."""
        if isinstance(self.every, list):
            return iter(self.every[start:])
        return islice(self._multiples(), start, None)

    def _multiples(self) -> Iterator[float]:
        """Multiples of the interval, counted from the beginning, and the end; they do not drift."""
        every = self.every
        if not isinstance(every, float):
            return
        for k in count():
            time = self.begin + k * every
            if time >= self.until - rounding(self.until, self.begin, every):
                yield self.until
                return
            yield time

    # ------------------------------------------------------------------ in files

    def to_json(self) -> Any:
        """Return the plan as JSON has it."""
        return {name: encode(value, name, []) for name, value in asdict(self).items()}

    @classmethod
    def of_json(cls, found: Any, where: str) -> Self:
        """Return the plan that `to_json` has described; `where` names the file in errors.

        Raises
        ------
        FileFormatError
        """
        is_dict = isinstance(found, dict)
        if not is_dict or set(found) != {field.name for field in fields(cls)}:
            raise _no_plan(where, short_repr(found))
        values = {name: decode(value, name, []) for name, value in found.items()}
        options = values["options"]
        if type(options) is not dict or not all(type(name) is str for name in options):
            raise _no_plan(where, short_repr(options))
        try:
            begin = float(converted(values.pop("begin"), FLOAT, (), "begin"))
            return cls.of(begin, values.pop("until"), **values)
        except (StagecacheError, TypeError, ValueError) as error:
            raise _no_plan(where, str(error)) from error


def _no_plan(where: str, got: str) -> StagecacheError:
    return bad_file(f"{where}: has no plan of a simulation", "the arguments of simulate()", got)


def _check_times(times: Vector, begin: float, end: float) -> None:
    """Refuse times of rows that are not finite, do not increase, or are not simulated."""
    what, hint = (
        "simulate(every=...)",
        "give a step in seconds, or times as np.linspace(0, 10, 101)",
    )
    if times.ndim != 1 or not times.size:
        raise ShapeError(
            f"{what}: not a sequence of times", "shape (n,)", f"shape {times.shape}", hint
        )
    is_finite = np.isfinite(times)
    if not is_finite.all():
        at = int(np.argmin(is_finite))
        raise OutOfRangeError(
            f"{what}: not a finite time", "finite numbers", f"{times[at]} at index {at}", hint
        )
    increases = np.diff(times) > 0
    if not increases.all():
        at = int(np.argmin(increases))
        raise OutOfRangeError(
            f"{what}: the times do not increase",
            "times that increase",
            f"{times[at]:.9g} and then {times[at + 1]:.9g}, at index {at + 1}",
            "sort them; np.unique(times) does so, and leaves each once",
        )
    if not begin <= times[0] <= times[-1] <= end:
        raise OutOfRangeError(
            f"{what}: a time is not simulated",
            f"times from {begin:.9g}, the time of the State, to until = {end:.9g}",
            f"times from {times[0]:.9g} to {times[-1]:.9g}",
            "change until=..., state.time, or these times",
        )
