r"""Operating points: values of some variables at which a System does not accelerate.

::

    udot, zdot                   are 0
    position, velocity errors    are 0, where there are constraints

The u stay as they are unless they are moved, so with u = 0 the System rests, and with others it
goes on steadily. SciPy's `least_squares` searches, by trust regions within bounds: there may be
more conditions than variables, as where constraints are redundant, or fewer, as where a body slides
freely.

Source: Branch, Coleman and Li (1999), SIAM J. Sci. Comput. 21, 1.
"""

from collections.abc import Mapping
from math import inf
from typing import Any, final

import numpy as np

from stagecache.checks import require_number, require_positive, require_type, type_text
from stagecache.errors import EquilibriumError, NodeKindError, OutOfRangeError, ShapeError, listed
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.handles import AbstractContinuousVariable, Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.linear.columns import Columns
from stagecache.study.linear.items import Item, Items, handles_of
from stagecache.system.core.system import System
from stagecache.system.motion.prescribing import motions

WHAT = "find_equilibrium"


def find_equilibrium(
    system: System,
    state: State,
    moving: Items | None = None,
    *,
    bounds: dict[Item, tuple[float, float]] | None = None,
    accuracy: float = 1e-9,
) -> State:
    """Return a copy of a State in which some variables are moved so that nothing accelerates.

    udot and zdot vanish there, and the errors of constraints. Cost: a realization of Acceleration
    for each moved number, some 5 to 20 times.

    Parameters
    ----------
    system : System
    state : State
        Where the search begins; at Model or further. It stays as it is.
    moving : iterable of str or handle, optional
        The variables that may move, by paths or handles: q, u, z, and discrete variables with a
        float or an array of floats, as forces of motors. The default is all q and z that are not
        prescribed.
    bounds : dict, optional
        The least and the greatest value of some of them, by path or handle, in their units. Ranges
        of clamped coordinates count only if they are given here.
    accuracy : float
        The largest udot, zdot or error that may be left, in their units.

    Returns
    -------
    State
        At Acceleration.

    Raises
    ------
    EquilibriumError
        No operating point is found from there, or a variable that shall move is prescribed.
    WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
    UnknownPathError, ForeignNodeError, DuplicateNameError
    NodeKindError
        An item cannot be moved, or bounds name one that does not move.
    NotANumberError
        The value of an item is not a float.
    ShapeError, OutOfRangeError
        Bounds are not a pair, or empty.
    Exception
        Any exception of a hook or a computation.

    Examples
    --------
    The force that holds a cart on a spring at 0.2 m:

    >>> from stagecache import Subsystem, System, discrete, find_equilibrium, q_variable, u_variable
    >>> from stagecache import Stage
    >>> class Cart(Subsystem):
    ...     position = q_variable(0.2)
    ...     speed = u_variable(0.0)
    ...     force = discrete(0.0, invalidates=Stage.DYNAMICS)
    ...
    ...     def realize_acceleration(self, state):
    ...         state[self].upd_udot()[0] = self.force(state) - 50.0 * self.position(state)
    >>> system = System(cart := Cart())
    >>> held = find_equilibrium(system, system.new_state(), [cart.force])
    >>> round(cart.force(held), 6)
    10.0
    """
    require_type(system, System, f"{WHAT}(system)", "a System", "pass the model")
    system._require_own(state)
    wanted = require_positive(accuracy, f"{WHAT}(accuracy=...)", "give the largest acceleration")
    given = require_type(
        {} if bounds is None else bounds,
        dict,
        f"{WHAT}(bounds=...): not bounds by item",
        "a dict of pairs",
        "write bounds={pendulum.angle: (-1.0, 1.0)}",
    )
    at = state.copy()
    system.realize(at, Stage.INSTANCE)
    return _Search(system, at, moving, given, wanted).run()


@final
class _Search:
    """The search from one State, which it moves."""

    def __init__(
        self,
        system: System,
        state: State,
        moving: Items | None,
        bounds: Mapping[Any, Any],
        accuracy: float,
    ) -> None:
        self._system, self._state, self._accuracy = system, state, accuracy
        contents = state._contents
        paths = NodePaths(contents)
        given = (system.q, system.z) if moving is None else moving
        handles = handles_of(contents, given, paths, f"{WHAT}(moving=...)", are_moved=True)
        others = [h for h in handles if not isinstance(h, AbstractContinuousVariable)]
        self._columns = columns = Columns(state, others, paths)
        self._is_driven = any(True for kind in "qu" for _ in motions(state, kind))
        chosen = list(dict.fromkeys(c for handle in handles for c in columns.of(handle)))
        driven = self._prescribed()
        if moving is not None and not driven.isdisjoint(chosen):
            names = [columns.names[column] for column in chosen if column in driven]
            raise EquilibriumError(
                f"{WHAT}(moving=...): {names[0]} cannot be moved",
                "variables that are not prescribed",
                f"{listed(names)}: locked, or moved by a motion",
                "leave it out; or unlock it, or switch the motion off",
            )
        self._chosen = [column for column in chosen if column not in driven]
        self._low = np.full(len(self._chosen), -inf)
        self._high = -self._low
        for item, pair in bounds.items():
            what = f"{WHAT}(bounds=...)"
            handle = handles_of(contents, [item], paths, what, are_moved=True)[0]
            self._set_bounds(handle, pair)

    def _prescribed(self) -> set[int]:
        """Return the columns of q and u that are prescribed."""
        state, system = self._state, self._system
        free = {*system.free_q_index(state).tolist()}
        free |= {state.nq + u for u in system.free_u_index(state).tolist()}
        return {*range(state.nq + state.nu)} - free

    def _set_bounds(self, handle: Any, pair: Any) -> None:
        rows = [i for i, c in enumerate(self._chosen) if c in self._columns.of(handle)]
        if not rows:
            raise NodeKindError(
                f"{WHAT}(bounds=...): {handle} does not move",
                "bounds of what moves: " + listed(self._columns.names[c] for c in self._chosen),
                f"{handle}",
                "name it in moving=..., too",
            )
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ShapeError(
                f"{WHAT}(bounds=...): not a pair for {handle}",
                "the least and the greatest value",
                type_text(pair),
                "write (-1.0, 1.0)",
            )
        low, high = (
            require_number(x, f"{WHAT}(bounds=...) of {handle}", may_be_infinite=True) for x in pair
        )
        if not low < high:
            raise OutOfRangeError(
                f"{WHAT}(bounds=...): {handle} cannot move",
                "a least value below the greatest",
                f"({low:g}, {high:g})",
                "exchange the two; or leave it out of moving=...",
            )
        self._low[rows], self._high[rows] = low, high

    def run(self) -> State:
        """Search, and return the State that was moved."""
        from scipy.optimize import least_squares  # noqa: PLC0415  # it takes a while

        start = np.clip(self._columns.values[self._chosen], self._low, self._high)
        residuals = self._residuals(start)
        if self._chosen and np.abs(residuals).max(initial=0.0) > self._accuracy:
            tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
            found = least_squares(
                self._residuals, start, bounds=(self._low, self._high), x_scale="jac", **tight
            )
            residuals = self._residuals(found.x)
        worst = int(np.abs(residuals).argmax()) if len(residuals) else 0
        if len(residuals) and not abs(residuals[worst]) <= self._accuracy:
            raise EquilibriumError(
                f"{WHAT}(): no operating point was found",
                f"accelerations and errors up to {self._accuracy:g}",
                f"{self._name(worst)} = {residuals[worst]:g} at the best values",
                "begin nearer to one; let more variables move; or give wider bounds",
            )
        return self._state

    def _residuals(self, values: Vector) -> Vector:
        state, system = self._state, self._system
        self._columns.write(state, dict(zip(self._chosen, values.tolist(), strict=True)))
        if self._is_driven:
            system.realize(state, Stage.TIME)
            system.prescribe(state)
        system.realize(state, Stage.ACCELERATION)
        return np.concatenate([state.udot, state.zdot, state.qerr, state.uerr])

    def _name(self, row: int) -> str:
        state = self._state
        if row < state.nu + state.nz:
            return f"the derivative of {self._columns.names[state.nq + row]}"
        row -= state.nu + state.nz
        return f"qerr[{row}]" if row < state.nqerr else f"uerr[{row - state.nqerr}]"
