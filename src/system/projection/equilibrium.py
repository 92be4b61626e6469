"""Relaxation: fast variables are moved to where their declared conditions are zero.

Source: the fast system of SimTK::System, which documents it and does not implement it; MINPACK's
hybrd (Powell's hybrid method) and lmder through `scipy.optimize.root`.
"""

from typing import Any, Final, final

import numpy as np
from attrs import frozen

from stagecache.errors import EquilibriumError, NotANumberError, OutOfRangeError, short_repr
from stagecache.state.handles import AbstractContinuousVariable, CacheEntry, Vector
from stagecache.state.stage import Stage, check_stage
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.declare.declaration import item_of
from stagecache.system.declare.fast_variables import EquilibriumDeclaration, FastVariable, values_of
from stagecache.system.motion.prescribing import is_prescribed

AIM: Final = 0.1
"""Part of the accuracy at which the search stops; the accuracy is enough in the end."""

FAR: Final = 10.0
"""Growth of residuals that the solver is given where they cannot be computed."""

METHODS: Final = ("hybr", "hybr", "lm", "hybr")
"""Those of `scipy.optimize.root`, one after the other, each from the best point so far."""


@frozen
class Condition:
    """A declared condition in a State."""

    entry: CacheEntry[Vector]
    variable: FastVariable
    rows: slice
    """Place of the variable among all unknowns, and of the entry among all residuals."""


def relax(system: Any, state: Any, stage: Stage, accuracy: float = 1e-4) -> bool:
    """Move the fast variables of a stage to their equilibrium, and realize the State to it.

    All conditions that are declared for that stage are solved together. Where they are met already,
    nothing is written. Cost: one realization of the stage for each of n + a few evaluations, with
    n fast numbers, if the conditions are nearly linear.

    Parameters
    ----------
    system : System
    state : State
        At Model or further.
    stage : Stage
        Instance to Report.
    accuracy : float
        The largest residual there may be. The search tries for a tenth of it.

    Returns
    -------
    bool
        True if anything changed.

    Raises
    ------
    StageOutOfRangeError, OutOfRangeError, NotANumberError, ReadOnlyError
    EquilibriumError
        No equilibrium was found, or a fast variable is prescribed. The State is as it was.
    Exception
        Whatever a hook or a computation raises; but arithmetic that fails away from the start only
        makes the search take shorter steps. The State is as it was.
    """
    stage = check_stage(stage, Stage.INSTANCE, Stage.REPORT, "relax()")
    wanted = float(converted(accuracy, FLOAT, (), "the accuracy of relax()"))
    if not 0 < wanted < float("inf"):
        raise OutOfRangeError(
            "the accuracy of relax(): is none",
            "a positive number",
            short_repr(accuracy),
            "give the largest residual that there may be",
        )
    state._contents.require_unguarded("relax()")
    with state.checkpoint():
        system.realize(state, stage)
        conditions = _conditions(system, state, stage)
        return bool(conditions) and _Search(system, state, stage, conditions, wanted).run()


def _conditions(system: Any, state: Any, stage: Stage) -> list[Condition]:
    """Those of a stage, in the order of subsystems and declarations."""
    found: list[Condition] = []
    start = 0
    for subsystem in system.subsystems:
        for declared in subsystem.declarations.values():
            item = item_of(declared)
            if not isinstance(item, EquilibriumDeclaration) or item.stage != stage:
                continue
            for entry in declared.items(subsystem):
                variable = item.variable(entry)
                _refuse_prescribed(entry, variable, state)
                stop = start + values_of(variable, state).size
                found.append(Condition(entry, variable, slice(start, stop)))
                start = stop
    return found


def _refuse_prescribed(entry: CacheEntry[Any], variable: FastVariable, state: Any) -> None:
    if isinstance(variable, AbstractContinuousVariable) and is_prescribed(variable, state):
        raise EquilibriumError(
            f"{entry}: {variable} cannot be moved",
            "a fast variable that is not prescribed",
            "one that is prescribed in this State",
            "switch its prescribed motion off before relax()",
        )


class _EndedError(Exception):
    """The end of the search: the aim is reached, or no step can be taken."""


@final
class _Search:
    """The search for an equilibrium in one State."""

    def __init__(
        self, system: Any, state: Any, stage: Stage, conditions: list[Condition], accuracy: float
    ) -> None:
        self.system = system
        self.state = state
        self.stage = stage
        self.conditions = conditions
        self.accuracy = accuracy
        self.at = self.values()
        self.best = self.at
        self.refusal: Exception | None = None
        self.residuals = self.best_residuals = self.read()

    def run(self) -> bool:
        """Search, and return whether anything changed."""
        start, first = self.at, self.worst()
        if first <= self.accuracy:
            return False
        self.solve()
        if self.worst() > self.accuracy:
            raise self.failure(first) from self.refusal
        self.move(self.best)
        return not np.array_equal(start, self.best)

    def worst(self) -> float:
        """The largest residual at the best point."""
        return float(np.abs(self.best_residuals).max(initial=0.0))

    def solve(self) -> None:
        """Try one method after the other, as long as they help."""
        from scipy.optimize import root  # noqa: PLC0415  # it takes a while

        tight = {"hybr": {"xtol": 1e-14}, "lm": {"xtol": 1e-14, "ftol": 1e-14}}
        try:
            for method in METHODS:
                root(self, self.best, method=method, options=tight[method])
                if self.worst() <= self.accuracy:
                    return
        except _EndedError:
            pass

    def __call__(self, values: Vector) -> Vector:
        """The residuals at a point, which the State is moved to."""
        if not np.isfinite(values).all():
            raise _EndedError
        if not np.array_equal(values, self.at):
            try:
                self.move(values.copy())
                self.residuals = self.read()
            except (NotANumberError, ArithmeticError) as error:  # a shorter step may do
                self.refusal = error
                self.residuals = FAR * self.best_residuals
            if np.abs(self.residuals).max() < self.worst():
                self.best, self.best_residuals = self.at, self.residuals
            if self.worst() <= AIM * self.accuracy:
                raise _EndedError
        return self.residuals

    def move(self, values: Vector) -> None:
        """Write the variables that are not there yet, and realize the stage."""
        for condition in self.conditions:
            new = values[condition.rows]
            if not np.array_equal(new, self.at[condition.rows]):
                _write(condition.variable, self.state, new)
        self.at = values
        self.system.realize(self.state, self.stage)

    def values(self) -> Vector:
        """The fast variables of the State."""
        return np.concatenate([values_of(c.variable, self.state) for c in self.conditions])

    def read(self) -> Vector:
        """The residuals of the State."""
        return np.concatenate([c.entry(self.state) for c in self.conditions])

    def failure(self, first: float) -> EquilibriumError:
        """Return the error of a search in vain."""
        row = int(np.argmax(np.abs(self.best_residuals)))
        condition = next(c for c in self.conditions if row < c.rows.stop)
        which = f"residual {row - condition.rows.start} of {condition.entry}"
        return EquilibriumError(
            f"{which}: no equilibrium was found at stage {self.stage}",
            f"all residuals at most {self.accuracy:g}",
            f"{self.best_residuals[row]:g} of it at best; the largest of all was {first:g} "
            "at the beginning",
            f"start nearer to an equilibrium, look at whether {condition.variable} has one, "
            "or ask for less accuracy",
        )


def _write(variable: FastVariable, state: Any, values: Vector) -> None:
    if isinstance(variable, AbstractContinuousVariable):
        state._contents.set_block(variable, values)
        return
    shape = np.shape(variable(state))
    variable.set(state, values.reshape(shape) if shape else float(values[0]))
