"""Weights: conditions of an Assembler as errors, goals, or neither.

::

    infinity       an error: must be satisfied to the tolerance
    0              ignored
    any other      a goal: times its weight, as small as possible together with other goals
"""

from math import inf
from typing import Any, final

from stagecache.assembly.conditions.condition import AssemblyCondition, without_errors
from stagecache.assembly.conditions.system_constraints import SystemConstraints
from stagecache.assembly.coordinates.free_coordinates import FreeCoordinates
from stagecache.checks import require_number, wrong_type
from stagecache.errors import ConditionError, WrongTypeError, short_repr


@final
class WeightedConditions:
    """Conditions of an Assembler, each with its weight.

    The Assembler is uninitialized before each change, but for weights of goals that remain goals.

    Parameters
    ----------
    assembler : Assembler

    Attributes
    ----------
    constraints : SystemConstraints
        The position constraints of the System.
    """

    def __init__(self, assembler: Any) -> None:
        self._assembler = assembler
        self._weights: dict[AssemblyCondition, float] = {}
        self.constraints = SystemConstraints("system constraints")
        self._normalization = SystemConstraints("normalization", is_normalization=True)
        self.add(self.constraints, inf)
        self.add(self._normalization, inf)

    # ------------------------------------------------------------------ changes

    def add(self, condition: AssemblyCondition, weight: float) -> None:
        """Add a condition, as `Assembler.add_goal` says."""
        assembler = self._assembler
        _require_condition(condition)
        if condition.is_in_assembler:
            raise ConditionError(
                f"condition {condition.name!r}: is in an Assembler already",
                "a condition of its own for each Assembler",
                f"one of {short_repr(condition.assembler.name)}",
                "make another one; or change its weight: set_condition_weight",
            )
        found = _checked_weight(condition, weight)
        condition.check_system(assembler.system)
        assembler.uninitialize()
        condition._assembler = assembler
        self._weights[condition] = found

    def set_weight(self, condition: AssemblyCondition, weight: float) -> bool:
        """Change a weight, as `Assembler.set_condition_weight` says; return True if it differs."""
        before = self.weight_of(condition)
        found = _checked_weight(condition, weight)
        if found == before:
            return False
        if not (0 < before < inf and 0 < found < inf):
            self._assembler.uninitialize()
        self._weights[condition] = found
        return True

    def initialize(self, coordinates: FreeCoordinates) -> None:
        """Let each condition that counts prepare for these free q."""
        for condition, weight in self._weights.items():
            if weight > 0:
                condition._coordinates = coordinates
                condition.initialize_condition()

    def uninitialize(self) -> None:
        """Let each condition forget what it prepared."""
        for condition in self._weights:
            if condition._coordinates is not None:
                condition.uninitialize_condition()
                condition._coordinates = None  # last: if it is cut short, this is done again

    # ------------------------------------------------------------------ reading

    def weight_of(self, condition: AssemblyCondition) -> float:
        """Return the weight of a condition, as `Assembler.condition_weight` says."""
        _require_condition(condition)
        if condition not in self._weights:
            raise WrongTypeError(
                f"{condition!r}: is not in {self._assembler.name}",
                "a condition that was added to it",
                "one of another Assembler"
                if condition.is_in_assembler
                else "one that is not in an Assembler",
                "call add_error(condition), or add_goal",
            )
        return self._weights[condition]

    @property
    def added(self) -> tuple[AssemblyCondition, ...]:
        """Conditions that users added, in that order."""
        own = (self.constraints, self._normalization)
        return tuple(condition for condition in self._weights if condition not in own)

    def used(self) -> list[tuple[AssemblyCondition, float]]:
        """Return the conditions that count, with their weights; own ones only if they have rows."""
        own = (self.constraints, self._normalization)
        idle = [condition for condition in own if not condition.num_rows]
        return [(c, weight) for c, weight in self._weights.items() if weight > 0 and c not in idle]


def _require_condition(condition: object) -> None:
    hint = "pass Markers, QValue, or an instance of a subclass of AssemblyCondition"
    if not isinstance(condition, AssemblyCondition):
        what = f"{short_repr(condition)}: not a condition"
        raise wrong_type(condition, what, "an AssemblyCondition", hint)
    if "_assembler" not in vars(condition):
        raise ConditionError(
            f"a condition of class {type(condition).__name__}: has no name yet",
            "one that is made by AssemblyCondition.__init__",
            "an __init__ that does not call it",
            "call super().__init__(name) in it",
        )
    if type(condition).__eq__ is not object.__eq__:
        raise ConditionError(
            f"condition {condition.name!r}: may be equal to another one",
            "a condition that is equal to itself only",
            f"{type(condition).__name__}, which has its own __eq__",
            "if it is a dataclass, or of attrs, make it with eq=False",
        )


def _checked_weight(condition: AssemblyCondition, weight: object) -> float:
    """Return the weight as a float; refuse weights that the condition cannot have."""
    what = f"the weight of condition {condition.name!r}"
    hint = "give 0 to ignore a condition, math.inf for one that must be satisfied"
    found = require_number(weight, what, hint, least=0.0, may_be_infinite=True)
    if not condition.has_goal:
        raise ConditionError(
            f"condition {condition.name!r}: has neither errors nor a goal",
            "a class that overrides calc_errors, calc_goal or calc_goal_residuals",
            type(condition).__name__,
            "override one of them",
        )
    if found == inf and not condition.has_errors:
        raise without_errors(condition)
    return found
