"""Fast variables: not integrated, but moved to where declared conditions are zero.

::

    @stretch.equilibrium(stage=Stage.POSITION)
    def balance(self, state): return force of the spring + load      zero at equilibrium

    System.relax(state, Stage.POSITION)     all conditions of that stage, together

A condition is a cache entry that nothing but a read computes. It may depend on anything that can be
read at its stage; what changes without invalidating that stage has to be named as a prerequisite.

Source: the fast system of SimTK::System, which documents it and does not implement it.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, Final, final

import numpy as np

from stagecache.errors import DeclarationError, NotANumberError, short_repr
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
from stagecache.system.declare.computations import AbstractComputation, check_compute, refused_none
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    AnyPrerequisites,
    PlannedEntry,
    arguments,
    check_prerequisites,
    is_family,
    item_of,
)
from stagecache.system.declare.prescribed import (
    Motion,
    PrescribedDeclaration,
    checked_values,
    kind_of,
)

MODEL: Final = Stage.MODEL
FastVariable = AbstractContinuousVariable | DiscreteVariable[Any]


@final
class EquilibriumDeclaration(AbstractComputation[Vector]):
    """The declared condition of a fast variable: as many residuals as it has numbers.

    Attributes
    ----------
    stage : Stage
        For which it is solved, and at which it can be computed.
    """

    role = "equilibrium"

    def __init__(
        self,
        of: AbstractDeclaration[Any],
        compute: Motion,
        stage: Stage,
        prerequisites: AnyPrerequisites | None,
    ) -> None:
        self.of: AbstractDeclaration[Any] = of
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.stage = self.available_from = stage
        self.computed_by = Stage.INFINITY
        self.prerequisites = prerequisites

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
            if values is None:
                raise refused_none(str(handle))
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
    named = check_prerequisites(prerequisites, what)

    def declare(compute: Motion) -> Any:
        function = check_compute(compute, what, in_family=is_family(of))
        return of.like(EquilibriumDeclaration(of, function, stage, named))

    return declare


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
