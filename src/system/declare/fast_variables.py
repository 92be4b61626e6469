"""Fast variables: not integrated, but moved to where declared conditions are zero.

::

    @stretch.equilibrium(stage=Stage.POSITION)
    def balance(self, state): return force of the spring + load      zero at equilibrium

    System.relax(state, Stage.POSITION)     all conditions of that stage, together

A condition is a cache entry that only a read computes. It may depend on anything that can be read
at its stage; items that change without invalidating that stage must be named as prerequisites.

Source: the fast system of SimTK::System, which documents it and does not implement it; MINPACK's
hybrd (Powell's hybrid method) and lmder through `scipy.optimize.root`.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, Final, final

import numpy as np
from attrs import frozen

from stagecache.checks import require_positive
from stagecache.errors import (
    DeclarationError,
    EquilibriumError,
    NotANumberError,
    short_repr,
)
from stagecache.state.handles import (
    AbstractContinuousVariable,
    CacheEntry,
    DiscreteVariable,
    Vector,
    declared_item,
)
from stagecache.state.stage import Stage, check_stage
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.state.vectors.vectors import CONTINUOUS
from stagecache.system.declare.computations import AbstractComputation, decorator
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    AnyPrerequisites,
    PlannedEntry,
    arguments,
    is_family,
    item_of,
)
from stagecache.system.declare.prescribed import (
    STAGES,
    Motion,
    PrescribedDeclaration,
    checked_values,
    kind_of,
)

AIM: Final = 0.1
"""Part of the accuracy at which the search stops; the accuracy is enough in the end."""

FAR: Final = 10.0
"""Growth of residuals that the solver is given where they cannot be computed."""

METHODS: Final = ("hybr", "hybr", "lm", "hybr")
"""Methods of `scipy.optimize.root`, tried in turn, each from the best point so far."""

MODEL: Final = Stage.MODEL
FastVariable = AbstractContinuousVariable | DiscreteVariable[Any]


@final
class EquilibriumDeclaration(AbstractComputation[Vector]):
    """The declared condition of a fast variable: as many residuals as it has numbers.

    Attributes
    ----------
    stage : Stage
        The stage for which it is solved, and at which it can be computed.
    """

    role = "equilibrium"

    def __init__(
        self,
        of: AbstractDeclaration[Any],
        compute: Motion,
        stage: Stage,
        prerequisites: AnyPrerequisites | None,
    ) -> None:
        super().__init__(compute, prerequisites)
        self.of: AbstractDeclaration[Any] = of
        self.stage = self.available_from = stage

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether that is a variable of the same kind, or a family of them if this is one."""
        return (
            declared.is_variable
            and kind_of(declared) == kind_of(self.of)
            and is_family(declared) == is_family(self.of)
            and MODEL < (_invalidated_by(declared) or MODEL) <= self.stage
        )

    def variable(self, handle: CacheEntry[Any]) -> FastVariable:
        """Return the handle of the fast variable."""
        found: Any = declared_item(handle._owner, self.of.name, handle._number)
        return found  # type: ignore[no-any-return]  # as `fits` says

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, unless its variable is prescribed in every State."""
        prescribed = _prescribed_in(type(handle._owner), self.of.name)
        if prescribed is not None and prescribed.enabled is None:
            raise DeclarationError(
                f"{handle}: is the equilibrium of a variable that is prescribed",
                f"one of both for {self.variable(handle)}",
                f"{prescribed}, and {self}",
                "take one away; or prescribe it with enabled=, and relax where that is False",
            )
        return super().plan(handle)

    def _function(self, handle: Any) -> Callable[[Any], Vector]:
        subsystem, *number = arguments(handle)
        compute, variable = self.compute, self.variable(handle)

        def computed(state: Any) -> Any:
            values: Any = compute(subsystem, state, *number)
            count = values_of(variable, state).size
            return checked_values(values, count, handle, variable)

        return computed


def values_of(variable: FastVariable, state: Any) -> Vector:
    """Return the numbers that a fast variable holds.

    Raises
    ------
    NotANumberError
        It holds something else.
    """
    held = variable(state)
    if isinstance(held, Real | np.ndarray) and not isinstance(held, bool):
        return converted(held, FLOAT, None, f"the value of {variable}").reshape(-1)
    raise NotANumberError(
        f"{variable}: is fast, but holds no numbers",
        "a float, or an array of floats",
        f"{short_repr(held)}, of type {type(held).__name__}",
        "let it start with a float or an array",
    )


def equilibrium_decorator(
    of: AbstractDeclaration[Any],
    without_parentheses: object,
    stage: Stage,
    prerequisites: AnyPrerequisites | None,
) -> Callable[[Motion], Any]:
    """Return what ``variable.equilibrium(...)`` is, of a variable or of a family of them."""
    what = "equilibrium"
    if without_parentheses is not None:
        raise DeclarationError(
            f"{what}: used without parentheses",
            "@stretch.equilibrium(stage=Stage...)",
            f"{short_repr(without_parentheses)}, and no stage",
            "say at which stage the condition can be computed",
        )
    stage = check_stage(stage, Stage.INSTANCE, Stage.REPORT, f"{what}(stage=...)")
    first = _invalidated_by(of)
    if first is None or not MODEL < first <= stage:
        raise DeclarationError(
            f"{what}: cannot be reached by this variable",
            f"one that changes what is computed at {stage}, or before it",
            "one that is not written" if first is None else f"one that invalidates {first}",
            "declare a later stage"
            if first is not None and first > stage
            else "declare it for q, u or z, or for a variable that invalidates a later stage",
        )
    return decorator(
        what,
        lambda f, p: of.like(EquilibriumDeclaration(of, f, stage, p)),
        prerequisites,
        in_family=is_family(of),
    )


def _invalidated_by(declared: AbstractDeclaration[Any]) -> Stage | None:
    kind = kind_of(declared)
    if kind in CONTINUOUS:
        return CONTINUOUS[kind].invalidates
    stage = getattr(item_of(declared), "invalidates", None)
    return stage if isinstance(stage, Stage) else None


def _prescribed_in(cls: Any, name: str) -> PrescribedDeclaration | None:
    for declared in cls.declarations.values():
        item = item_of(declared)
        if isinstance(item, PrescribedDeclaration) and item.of.name == name:
            return item
    return None


# ---------------------------------------------------------------------- relax


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
        No equilibrium was found, or a fast variable is prescribed. The State is not changed.
    Exception
        Whatever a hook or a computation raises; but arithmetic that fails away from the start only
        makes the search take shorter steps. The State is not changed.
    """
    stage = check_stage(stage, Stage.INSTANCE, Stage.REPORT, "relax()")
    what, hint = "the accuracy of relax()", "give the largest residual that there may be"
    wanted = require_positive(accuracy, what, hint)
    state._contents.require_unguarded("relax()")
    with state.checkpoint():
        system.realize(state, stage)
        conditions = _conditions(system, state, stage)
        return bool(conditions) and _Search(system, state, stage, conditions, wanted).run()


def _conditions(system: Any, state: Any, stage: Stage) -> list[Condition]:
    """Return the conditions of a stage, in the order of subsystems and declarations."""
    found: list[Condition] = []
    start = 0
    for subsystem in system.subsystems:
        for declared in subsystem.declarations.values():
            item = item_of(declared)
            if not isinstance(item, EquilibriumDeclaration) or item.stage != stage:
                continue
            for entry in declared.items(subsystem):
                variable = item.variable(entry)
                _refuse_prescribed(system, state, entry, variable)
                stop = start + values_of(variable, state).size
                found.append(Condition(entry, variable, slice(start, stop)))
                start = stop
    return found


def _refuse_prescribed(
    system: Any, state: Any, entry: CacheEntry[Any], variable: FastVariable
) -> None:
    if not isinstance(variable, AbstractContinuousVariable) or variable.kind not in STAGES:
        return
    free = (system.free_q_index if variable.kind == "q" else system.free_u_index)(state)
    start, place = state._contents.pools.start(variable.kind, None), variable.place(state)
    if not np.isin(np.arange(place.start, place.stop) - start, free).all():
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
        """Return the largest residual at the best point."""
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
        """Return the residuals at a point, which the State is moved to."""
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
        """Return the fast variables of the State."""
        return np.concatenate([values_of(c.variable, self.state) for c in self.conditions])

    def read(self) -> Vector:
        """Return the residuals of the State."""
        return np.concatenate([c.entry(self.state) for c in self.conditions])

    def failure(self, first: float) -> EquilibriumError:
        """Return the error of a failed search."""
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
