"""Assembly and inverse kinematics as the function of a study of many members.

::

    run_study(system, members, Assembly(make))               make(system) -> Assembler
    run_study(system, members, Tracking(make, times, data))

An Assembler belongs to one System and keeps what it has found, so each member has a new one: its
result does not depend on the members before it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, final

import numpy as np
from attrs import field, frozen

from stagecache.assembly.assembler import Assembler
from stagecache.assembly.frames import checked_times
from stagecache.checks import (
    require_callable,
    require_choice,
    require_name,
    require_type,
    wrong_type,
)
from stagecache.errors import ObservationError
from stagecache.state.handles import Vector
from stagecache.state.state import State, require_state
from stagecache.study.trajectory.trajectory import Trajectory

Make = Callable[[Any], Assembler]
Output = Callable[[State], Any]


def _check_make(instance: object, _: object, make: Any) -> None:
    what = f"{type(instance).__name__}(make)"
    hint = "write def make(system): return Assembler(system), at the level of a module"
    require_callable(make, what, "a function of the System that returns an Assembler", hint)


def _check_outputs(instance: object, _: object, outputs: Any) -> None:
    what = f"{type(instance).__name__}(outputs=...)"
    hint = "write outputs={'height': function}"
    if outputs is not None and not isinstance(outputs, Mapping):
        raise wrong_type(outputs, f"{what}: not outputs", "a dict of functions", hint)
    for name, output in (outputs or {}).items():
        require_name(name, f"{what}: the name of a result", hint)
        require_callable(output, f"{what}: {name!r}", "a function", hint)


def _made(make: Make, state: State) -> Assembler:
    hint = "return the Assembler that the function has made"
    made = make(require_state(state).system)
    return require_type(made, Assembler, "make(system): not an Assembler", "an Assembler", hint)


@final
@frozen(eq=False)
class Assembly:
    """The assembly of each member, for `run_study`.

    Its results are "q" of the assembled State, shape (nq,), "goal", "error_norm",
    "num_iterations" and "has_converged", as in `AssemblyResult`.

    Parameters
    ----------
    make : callable, optional
        The function ``(system) -> Assembler``, with conditions; ``Assembler(system)`` by default.
        Define it at the level of a module for workers in other processes.
    outputs : mapping, optional
        Further results by name: functions of the assembled State.

    Raises
    ------
    WrongTypeError

    Examples
    --------
    >>> from stagecache import Subsystem, System, position_error, q_variable, run_study
    >>> from stagecache.assembly import Assembly
    >>> class Ring(Subsystem):
    ...     place = q_variable((2.0, 0.1))
    ...
    ...     @position_error()
    ...     def on_circle(self, state: State) -> float:
    ...         return self.place(state) @ self.place(state) - 1.0
    >>> members = {"ring.place[0]": [0.5, 2.0]}
    >>> results = run_study(System(Ring()), members, Assembly())
    >>> [result.values["error_norm"] < 1e-4 for result in results]
    [True, True]
    """

    make: Make = field(default=Assembler, validator=_check_make)
    outputs: Mapping[str, Output] | None = field(default=None, validator=_check_outputs)

    def __call__(self, state: State) -> dict[str, Any]:
        """Assemble a State, and return numbers.

        Raises
        ------
        WrongTypeError, AssembleFailed
        """
        found = _made(self.make, state).assemble(state)
        return {
            "q": np.array(state.q),
            "goal": found.goal,
            "error_norm": found.error_norm,
            "num_iterations": found.num_iterations,
            "has_converged": found.has_converged,
            **{name: output(state) for name, output in (self.outputs or {}).items()},
        }


@final
@frozen(eq=False)
class Tracking:
    """Inverse kinematics of each member, for `run_study`.

    Its result is the `Trajectory` of `Assembler.track_all`, or the `outputs`.

    Parameters
    ----------
    make : callable
        The function ``(system) -> Assembler``, with conditions that observe.
    times : (n,) array_like
        Times of the frames [s]; ascending.
    observations : mapping or array_like
        As for `Assembler.track_all`, but by the name of the condition.
    outputs : mapping, optional
        Results by name: functions of the trajectory. The trajectory itself by default.
    on_failure : str
        "raise" or "skip", as for `Assembler.track_all`.

    Raises
    ------
    WrongTypeError, UnknownChoiceError
    ShapeError, NotANumberError, OutOfRangeError
        The times are not a list of ascending numbers.
    """

    make: Make = field(validator=_check_make)
    times: Vector = field(converter=checked_times)
    observations: Any
    outputs: Mapping[str, Callable[[Trajectory], Any]] | None = field(
        default=None, kw_only=True, validator=_check_outputs
    )
    on_failure: Literal["raise", "skip"] = field(default="raise", kw_only=True)

    @on_failure.validator
    def _check_on_failure(self, _: object, chosen: object) -> None:
        hint = "write 'skip' to leave out frames that fail"
        require_choice(chosen, ("raise", "skip"), "Tracking(on_failure=...)", hint)

    def __call__(self, state: State) -> Any:
        """Track all frames from a State on, and return the trajectory or the outputs.

        Raises
        ------
        WrongTypeError, ObservationError, TrackFailed
        """
        assembler = _made(self.make, state)
        observations = self.observations
        if isinstance(observations, Mapping):
            named = {condition.name: condition for condition in assembler.conditions}
            unknown = [name for name in observations if name not in named]
            if unknown:
                raise ObservationError(
                    "Tracking(observations): a condition does not exist",
                    "names of " + (", ".join(map(repr, named)) or "conditions"),
                    repr(unknown[0]),
                    "use the name that the condition was given",
                )
            observations = {named[name]: values for name, values in observations.items()}
        found = assembler.track_all(
            self.times, observations, state=state, on_failure=self.on_failure, progress=False
        )
        if self.outputs is None:
            return found
        return {name: output(found) for name, output in self.outputs.items()}
