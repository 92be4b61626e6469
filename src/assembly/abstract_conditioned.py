"""An Assembler, as far as conditions and their weights go."""

from math import inf
from typing import NoReturn, TypeVar

from stagecache.assembly.abstract_restricted import AbstractRestricted
from stagecache.assembly.conditions.condition import AssemblyCondition, without_errors
from stagecache.assembly.conditions.system_constraints import Normalization, SystemConstraints
from stagecache.errors import ConditionError, OutOfRangeError, WrongTypeError, short_repr
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.core.system import System

C = TypeVar("C", bound=AssemblyCondition)


class AbstractConditioned(AbstractRestricted):
    """An Assembler to which conditions can be added.

    The weight of a condition says what it is: infinity, an error, which must be satisfied to the
    tolerance; 0, nothing, it is ignored; any other, a goal.
    """

    def __init__(self, system: System, name: str, version: str) -> None:
        super().__init__(system, name, version)
        self._weights: dict[AssemblyCondition, float] = {}
        self._system_constraints = self._added(SystemConstraints("system constraints"), inf)
        self._normalization = self._added(Normalization("normalization"), inf)

    @property
    def conditions(self) -> tuple[AssemblyCondition, ...]:
        """What was added, in that order."""
        own = (self._system_constraints, self._normalization)
        return tuple(condition for condition in self._weights if condition not in own)

    @property
    def system_constraints(self) -> AssemblyCondition:
        """The position constraints of the System that are enabled: an error at first."""
        return self._system_constraints

    @property
    def system_constraints_weight(self) -> float:
        """The weight of `system_constraints`. What only normalizes q is satisfied with any.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
            At a value that is no weight.
        """
        return self._weights[self._system_constraints]

    @system_constraints_weight.setter
    def system_constraints_weight(self, weight: float) -> None:
        self.set_condition_weight(self._system_constraints, weight)

    def add_error(self, condition: C) -> C:
        """Add a condition that must be satisfied, and return it. Uninitializes.

        Raises
        ------
        WrongTypeError
        ConditionError
            It has no errors, is in an Assembler already, or is for another System. Its class has
            its own `__eq__`, or an `__init__` that does not call that of AssemblyCondition.
        ForeignNodeError
            Its q is of another System.
        """
        return self._added(condition, inf)

    def add_goal(self, condition: C, weight: float = 1.0) -> C:
        """Add a condition to which to come close, and return it. Uninitializes.

        Parameters
        ----------
        condition : AssemblyCondition
        weight : float
            By which its goal is multiplied where all are added. 0: it is ignored; infinity: it is
            an error.

        Raises
        ------
        WrongTypeError, ConditionError, ForeignNodeError
            As `add_error`.
        ShapeError, NotANumberError, OutOfRangeError
            The weight is none.
        """
        return self._added(condition, weight)

    def set_condition_weight(self, condition: AssemblyCondition, weight: float) -> None:
        """Give a condition another weight. Uninitializes, unless it was a goal and still is.

        Raises
        ------
        WrongTypeError
            It was not added.
        ConditionError
            It has no errors, but is to be one; or no goal.
        ShapeError, NotANumberError, OutOfRangeError
        """
        before = self.condition_weight(condition)
        found = _checked_weight(condition, weight)
        if found == before:
            return
        if not (0 < before < inf and 0 < found < inf):
            self.uninitialize()
        self._weights[condition] = found
        self._weights_changed()

    def condition_weight(self, condition: AssemblyCondition) -> float:
        """The weight of a condition.

        Raises
        ------
        WrongTypeError
            It was not added.
        """
        _check_condition(condition)
        if condition not in self._weights:
            raise WrongTypeError(
                f"{condition!r}: is not in {self.name}",
                "a condition that was added to it",
                "one of another Assembler" if condition.is_in_assembler else "one of none",
                "call add_error(condition), or add_goal",
            )
        return self._weights[condition]

    def _added(self, condition: C, weight: float) -> C:
        _check_condition(condition)
        if condition.is_in_assembler:
            raise ConditionError(
                f"condition {condition.name!r}: is in an Assembler already",
                "a condition of its own for each Assembler",
                f"one of {short_repr(condition.assembler.name)}",
                "make another one; or change its weight: set_condition_weight",
            )
        found = _checked_weight(condition, weight)
        condition.check_system(self._system)
        self.uninitialize()
        condition._assembler = self
        self._weights[condition] = found
        return condition

    def _weights_changed(self) -> None:
        raise NotImplementedError

    def __copy__(self) -> NoReturn:
        raise ConditionError(
            f"{self.name}: is not copied",
            "conditions of its own for each Assembler",
            "a copy, with the same conditions",
            "make another Assembler of the same System, and add new conditions",
        )


def _check_condition(condition: object) -> None:
    if not isinstance(condition, AssemblyCondition):
        raise WrongTypeError(
            f"{short_repr(condition)}: is no condition",
            "an AssemblyCondition",
            "a class; an instance of it is needed"
            if isinstance(condition, type)
            else f"an object of type {type(condition).__name__}",
            "pass Markers, QValue, or an instance of a subclass of AssemblyCondition",
        )
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
    """The weight, if it is one that the condition can have."""
    found = float(converted(weight, FLOAT, (), f"the weight of condition {condition.name!r}"))
    if not found >= 0:
        raise OutOfRangeError(
            f"the weight of condition {condition.name!r}: is none",
            "a number from 0 up, or infinity",
            short_repr(weight),
            "give 0 for a condition to be ignored, math.inf for one that must be satisfied",
        )
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
