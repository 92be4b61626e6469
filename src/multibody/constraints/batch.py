r"""Constraints of one kind on one matter, computed together: one entry a level for all of them.

::

    is_enabled, of each  ->  members  ->  ...  ->  errors, rates, jacobian, bias
                                                     |       |       |       |
    of each, by its own name, when it is read      error, error_rate, jacobian, error_bias

A batch is a Subsystem that a System takes with the first constraint of a kind. Rows of all that are
enabled lie in it one after another. A constraint has a name, a switch and views of its own rows;
realizing a stage does not touch it, so a thousand cost little more than one.

Formulas of a class whose attributes `stacked` names are evaluated for all at once: they take an
instance whose attributes have one more axis in front, and poses (k, 3, 3) and (k, 3) or coordinates
(k, n). Those of any other class are called for one constraint after another.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Final, Self

import numpy as np

from stagecache.errors import ConstraintError, KinematicsError, short_repr
from stagecache.multibody.constraints.checks import checked_result
from stagecache.multibody.geometry.spatial import Array
from stagecache.multibody.tree.layout import TreeLayout
from stagecache.state.display import snake_case
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.state import State
from stagecache.system.constraints.errors import position_error
from stagecache.system.declare.cached import cached
from stagecache.system.declare.enabling import switched_on
from stagecache.system.declare.subsystem import Subsystem

DENSE: Final = 100
"""The largest number of u for which a Jacobian is dense."""


class Members:
    """The constraints of a batch that are enabled, ready to be evaluated. It is const.

    Attributes
    ----------
    constraints : tuple of AbstractConstraint
    num_errors : int
        Of each.
    shape : tuple of int
        Of the Jacobian of each, by relative motion.
    """

    def __init__(self, constraints: Sequence[Any], num_rates: int) -> None:
        self.constraints = tuple(constraints)
        self.num_errors = constraints[0].num_errors if constraints else 1
        self.shape = (self.num_errors, num_rates)
        self._numbers = {constraint.name: k for k, constraint in enumerate(constraints)}
        self._stack = _stacked(self.constraints)

    @property
    def size(self) -> int:
        """The number of their errors."""
        return self.num_errors * len(self.constraints)

    def parts(self) -> Iterator[tuple[CacheEntry[Array], int]]:
        """Yield the entry of the errors of each, and their number."""
        for constraint in self.constraints:
            yield constraint.error, self.num_errors

    def number_of(self, constraint: Any) -> int | None:
        """Return the place of a constraint among them; None if it is not enabled."""
        return self._numbers.get(constraint.name)

    def evaluate(self, name: str, shape: tuple[int, ...], *arguments: Any) -> Array:
        """Return the results of a method of each, (k, *shape), for its part of all arguments.

        Raises
        ------
        ShapeError, NotANumberError
        Exception
            Whatever the method raises.
        """
        all_shape = (len(self.constraints), *shape)
        if self._stack is not None:
            try:
                return np.reshape(getattr(self._stack, name)(*arguments), all_shape)
            except KinematicsError:
                pass  # below, it names the constraint
        found = np.empty(all_shape)
        for k, (constraint, *own) in enumerate(zip(self.constraints, *arguments, strict=True)):
            result = getattr(constraint, name)(*own)
            if shape == (1,) and np.shape(result) == ():
                result = (result,)
            found[k] = checked_result(result, shape, name, constraint)
        return found

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<{len(self.constraints)} constraints>"


def _stacked(constraints: Sequence[Any]) -> Any:
    """Return an instance that stands for all, if formulas of the class can be evaluated at once."""
    names = vars(type(constraints[0])).get("stacked", ()) if constraints else ()
    if not names:  # a subclass with other formulas has to say it again
        return None
    found = object.__new__(type(constraints[0]))
    for name in names:
        values = [getattr(each, name) for each in constraints]
        if len({np.shape(value) for value in values}) > 1:
            return None  # they are evaluated one after the other
        found.__dict__[name] = np.stack(values)
    return found


def require_same_for_many(
    constraint: Any, name: str, shape: tuple[int, ...], one: tuple[Any, ...], two: tuple[Any, ...]
) -> None:
    """Refuse formulas that are for many constraints, and give other results than for one.

    Parameters
    ----------
    constraint : AbstractConstraint
    name : str
        The method.
    shape : tuple of int
        Of its result for one.
    one, two : tuple
        Its arguments for one, and the same for two equal constraints.

    Raises
    ------
    ConstraintError
    """
    stack = _stacked((constraint, constraint))
    if stack is None:
        return
    wanted = np.reshape(getattr(constraint, name)(*one), shape)
    try:
        found = np.asarray(getattr(stack, name)(*two), float).reshape(2, *shape)
        got = short_repr(found.tolist())
    except (TypeError, ValueError, IndexError) as error:
        found, got = np.full(shape, np.nan), f"{type(error).__name__}: {error}"
    if not np.allclose(found, wanted, rtol=1e-9, atol=1e-12):
        raise ConstraintError(
            f"{name} of {constraint}: is not the same for two equal constraints at once",
            f"{short_repr(wanted.tolist())}, twice",
            got,
            "write it for attributes and arguments with one more axis in front; or leave out "
            "`stacked`",
        )


class AbstractBatch(Subsystem, ABC):
    """All constraints of one kind on a matter, which a System takes with the first of them.

    A subclass declares the errors, of the level at which they begin, with Jacobian and bias.
    """

    constraints: tuple[Any, ...]
    errors: CacheEntry[Array]
    error_rates: CacheEntry[Array]  # of errors of positions
    jacobian: CacheEntry[Any]
    error_bias: CacheEntry[Array]

    def __init__(self, first: Any) -> None:
        self._name = f"{snake_case(type(first).__name__)}s"
        self.constraints = (first,)
        self.matter = first.matter

    @abstractmethod
    def calc_members(self, enabled: Sequence[Any], layout: TreeLayout) -> Members:
        """Return what evaluates some of the constraints."""

    def _computed_together(self, contents: Any) -> list[str]:
        """Return the names of the constraints that are enabled, for `State.impact`."""
        values = contents.realization.store.values
        return [c.name for c in self.constraints if values[c.is_enabled._node]]

    @cached(
        prerequisites=lambda self: (
            self.matter.use_euler_angles,
            *(constraint.is_enabled for constraint in self.constraints),
        )
    )
    def members(self, state: State) -> Any:
        """The constraints that are enabled: `Members`."""
        enabled = [c for c in self.constraints if switched_on(c.is_enabled, state)]
        return self.calc_members(enabled, self.matter.layout(state))


class AbstractPositionBatch(AbstractBatch):
    """Constraints whose errors are of positions.

    ::

        where    what errors are functions of: relative poses, or coordinates x
        rates    relative velocities (w, v), or x'
        drift    their derivatives where udot is 0

    A subclass declares these as entries.
    """

    where: CacheEntry[Any]
    rates: CacheEntry[Array]
    drift: CacheEntry[Array]

    @property
    @abstractmethod
    def needs_of_jacobian(self) -> tuple[AbstractHandle, ...]:
        """The entries that `calc_jacobian` reads."""

    @abstractmethod
    def calc_jacobian(self, state: State) -> Any:
        """Return the derivatives of the errors' rates by the u of the matter."""

    # ------------------------------------------------------------------ entries

    @cached(prerequisites=lambda self: (self.members, self.where))
    def local_jacobian(self, state: State) -> Any:
        """The results of `calc_jacobian` of each, (k, m, n)."""
        members = self.members(state)
        return members.evaluate("calc_jacobian", members.shape, self.where(state))

    @position_error(
        size=lambda self, state: self.members(state).size,
        prerequisites=lambda self: (self.members, self.where),
        parts=lambda self, state: self.members(state).parts(),
    )
    def errors(self, state: State) -> Array:
        """The position errors of all, one constraint after another."""
        members = self.members(state)
        found: Array = members.evaluate("calc_error", members.shape[:1], self.where(state))
        return found.ravel()

    @errors.velocity(prerequisites=lambda self: (self.local_jacobian, self.rates))
    def error_rates(self, state: State) -> Array:
        """Derivatives of the errors along qdot = N u."""
        return products(self.local_jacobian(state), self.rates(state))

    @errors.jacobian(prerequisites=lambda self: self.needs_of_jacobian)
    def jacobian(self, state: State) -> Any:
        """The derivatives of the rates by the u of the matter."""
        return {self.matter.u: self.calc_jacobian(state)}

    @errors.bias(
        prerequisites=lambda self: (
            *(self.members, self.where, self.local_jacobian),
            *(self.rates, self.drift),
        )
    )
    def error_bias(self, state: State) -> Array:
        """The derivatives of the rates where udot is 0."""
        members, where, rates = self.members(state), self.where(state), self.rates(state)
        own: Array = members.evaluate("calc_bias", members.shape[:1], where, rates)
        return own.ravel() + products(self.local_jacobian(state), self.drift(state))


def products(matrices: Array, vectors: Array) -> Array:
    """Return the products of matrices (k, m, n) and vectors (k, n), end to end."""
    found: Array = (matrices @ vectors[:, :, None]).ravel()
    return found
