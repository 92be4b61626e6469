"""Simulations as the function of a study: picklable, with the arguments of `simulate`."""

from collections.abc import Callable, Collection, Mapping
from math import inf
from typing import Any, final

from attrs import frozen
from numpy.typing import ArrayLike

from stagecache.checks import require_name, wrong_type
from stagecache.state.handles import AbstractHandle
from stagecache.state.state import State, require_state
from stagecache.study.ensemble.values import require_free_name
from stagecache.study.plan import Plan
from stagecache.study.simulate import simulate
from stagecache.study.trajectory.rows import Pattern
from stagecache.study.trajectory.trajectory import Trajectory

Output = str | AbstractHandle | Callable[[Trajectory], Any]
"""A path or handle, for the value at the end; or a function of the trajectory."""


@final
@frozen(init=False, eq=False)
class Simulation:
    """A simulation of each member, for `run_study`.

    Parameters
    ----------
    until : float
        Time of the end [s].
    outputs : mapping, optional
        Results by name: a path or handle, for the value of a variable or an entry at the end; or a
        function of the `Trajectory`. The Trajectory itself by default.
    every : float or array_like of shape (n,), optional
        Time between two rows, or their times [s], as for `simulate`.
    method, accuracy, **options
        Same as for `simulate`.

    Raises
    ------
    WrongTypeError, InvalidNameError
        `outputs` is not a dict from names to paths, handles or functions.
    UnknownOptionError, UnknownChoiceError, NotANumberError, ShapeError, OutOfRangeError
        See `simulate`. An output that does not exist, or whose name is taken, is refused when the
        study begins.

    Examples
    --------
    >>> from stagecache import Simulation
    >>> Simulation(6.0, {"energy": "cart_pole.energy"}, every=0.1)
    Simulation(until=6, outputs=energy)
    """

    until: float
    outputs: Mapping[str, Output] | None
    options: Mapping[str, Any]

    def __init__(
        self,
        until: float,
        outputs: Mapping[str, Output] | None = None,
        *,
        every: float | ArrayLike | None = None,
        method: str = "DOP853",
        accuracy: float = 1e-3,
        **options: Any,
    ) -> None:
        Plan.of(
            -inf, until, every=every, method=method, accuracy=accuracy, batch=1, options=options
        )
        named = None if outputs is None else _checked(outputs)
        given = {"every": every, "method": method, "accuracy": accuracy, **options}
        self.__attrs_init__(float(until), named, given)

    def __call__(self, state: State) -> Any:
        """Simulate from a State on, and return the trajectory or the outputs.

        Raises
        ------
        WrongTypeError, ForeignStateError, OutOfRangeError
            And others of `simulate`.
        """
        system = require_state(state).system
        trajectory = simulate(system, state, self.until, progress=False, **self.options)
        if self.outputs is None:
            return trajectory
        return {name: _value(output, trajectory) for name, output in self.outputs.items()}

    def __repr__(self) -> str:
        names = "" if self.outputs is None else f", outputs={', '.join(self.outputs)}"
        return f"Simulation(until={self.until:g}{names})"


@final
@frozen
class InRows:
    """An output of a `Simulation`: the values of an item in all rows, not only at the end.

    Attributes
    ----------
    path : str
    """

    path: str

    def __call__(self, trajectory: Trajectory) -> Any:
        """Return the values, shape (rows, ...)."""
        return trajectory.calc(self.path)


def check_outputs(study: Simulation, state: State, taken: Collection[str]) -> None:
    """Refuse outputs that the System of a State does not have, and names that are taken.

    Parameters
    ----------
    study : Simulation
    state : State
    taken : collection of str
        Paths in which members differ.

    Raises
    ------
    UnknownPathError, NodeKindError, ForeignNodeError, DuplicateNameError
    """
    pattern = Pattern.of(state)
    for name, output in (study.outputs or {}).items():
        item = output.path if isinstance(output, InRows) else output
        if isinstance(item, str | AbstractHandle):
            pattern.path_of(item)
        require_free_name(name, taken)


def _checked(outputs: Any) -> Mapping[str, Output]:
    hint = "write outputs={'energy': 'cart_pole.energy'}"
    if not isinstance(outputs, Mapping):
        raise wrong_type(outputs, "Simulation(outputs=...): not outputs", "a dict", hint)
    for name, output in outputs.items():
        require_name(name, "Simulation(outputs=...): the name of a result", hint)
        if not (isinstance(output, str | AbstractHandle) or callable(output)):
            expected = "a path, a handle, or a function of the trajectory"
            raise wrong_type(output, f"Simulation(outputs=...): {name!r}", expected, hint)
    return dict(outputs)


def _value(output: Output, trajectory: Trajectory) -> Any:
    if not isinstance(output, str | AbstractHandle):
        return output(trajectory)
    return trajectory[-1:].calc(output)[0]
