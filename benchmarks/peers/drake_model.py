"""The models of `benchmarks/models.py` in Drake: leaf systems with one q, one v and cache entries.

::

    q        v
    |        |
    position - velocity - dynamics - acceleration        parameter - tuned

The framework is C++; a figure includes what pydrake's bindings cost for each call across.
"""

from collections.abc import Callable
from typing import Any, Final, final

import numpy as np
from pydrake.common.value import AbstractValue
from pydrake.systems.framework import (
    BasicVector,
    CacheEntry,
    DiagramBuilder,
    LeafSystem,
    NumericParameterIndex,
    ValueProducer,
)

Calc = Callable[[Any, AbstractValue], None]

VALUES: Final = (0.3, 0.4)  # of q and of v


@final
class DrakeLeaf:
    """A `LeafSystem` with an entry for each stage from Position to Acceleration.

    Its calcs are Python, as hooks are. The first one does nothing, and the others no more than to
    evaluate the entry before: Drake computes an entry when it is asked for it, and by nothing else.
    `EvalAbstract` is the faster way to ask, since `Eval` has to convert the value as well.

    Attributes
    ----------
    system : LeafSystem
    entries : list of CacheEntry
        In the order of the stages.
    tuned : CacheEntry
        Below a numeric parameter alone.
    """

    def __init__(self) -> None:
        self.system = LeafSystem()
        self.system.DeclareContinuousState(1, 1, 0)
        position = self._declare("position", nothing, self.system.q_ticket())
        velocity = self._declare(
            "velocity", evaluating(position), position.ticket(), self.system.v_ticket()
        )
        dynamics = self._declare("dynamics", evaluating(velocity), velocity.ticket())
        acceleration = self._declare("acceleration", evaluating(dynamics), dynamics.ticket())
        parameter = NumericParameterIndex(self.system.DeclareNumericParameter(BasicVector([1.0])))
        ticket = self.system.numeric_parameter_ticket(parameter)
        self.tuned: CacheEntry = self._declare("tuned", nothing, ticket)
        self.entries: list[CacheEntry] = [position, velocity, dynamics, acceleration]

    def _declare(self, name: str, calc: Calc, *tickets: object) -> CacheEntry:
        producer = ValueProducer(allocate=_empty_box, calc=calc)
        return self.system.DeclareCacheEntry(name, producer, set(tickets))


@final
class DrakeModel:
    """Some leaf systems in a `Diagram`, or one alone, and a context of it, evaluated.

    q and v are set at once, by one call for the whole context, which is the fastest way.

    Attributes
    ----------
    leaves : list of DrakeLeaf
    context : Context
        Of all.
    contexts : list of Context
        Of each leaf.
    x : ndarray
        What to write: all q and v.
    """

    def __init__(self, subsystems: int) -> None:
        self.leaves = [DrakeLeaf() for _ in range(subsystems)]
        if subsystems == 1:
            self._root = self.leaves[0].system
        else:
            builder = DiagramBuilder()
            for leaf in self.leaves:
                builder.AddSystem(leaf.system)
            self._root = builder.Build()
        self.context = self._root.CreateDefaultContext()
        self.contexts = [leaf.system.GetMyContextFromRoot(self.context) for leaf in self.leaves]
        self.x = np.repeat(VALUES, subsystems)
        for leaf, context in zip(self.leaves, self.contexts, strict=True):
            leaf.entries[-1].EvalAbstract(context)
            leaf.tuned.EvalAbstract(context)

    def names(self) -> dict[str, object]:
        """Return what the statements name; of the entries, those of the first leaf."""
        first, last = self.leaves[0].entries[0], self.leaves[0].entries[-1]
        pairs = zip(self.leaves, self.contexts, strict=True)
        return {
            "model": self,  # Drake's objects are gone when it is
            "set_state": self.context.SetContinuousState,
            "upd_state": self.context.get_mutable_continuous_state_vector,
            "x": self.x,
            "context": self.contexts[0],
            "set_first": self.contexts[0].SetContinuousState,
            "x_first": np.array(VALUES),
            "upd_parameter": self.contexts[0].get_mutable_numeric_parameter,
            "p": np.array([1.5]),
            "evaluate_tuned": self.leaves[0].tuned.EvalAbstract,
            "evaluate_first": first.EvalAbstract,
            "evaluate_last": last.EvalAbstract,
            "lasts": [(leaf.entries[-1].EvalAbstract, context) for leaf, context in pairs],
        }


def adding(subsystems: int) -> tuple[Callable[[int], object], Callable[[int], object]]:
    """Return what makes leaf systems and a builder, and what adds all of them to it."""
    leaves: list[LeafSystem] = []
    builders: list[DiagramBuilder] = []

    def prepare(_number: int) -> None:
        builders[:] = [DiagramBuilder()]
        leaves[:] = [DrakeLeaf().system for _ in range(subsystems)]

    def add_all(_number: int) -> None:
        add_one = builders[0].AddSystem
        for leaf in leaves:
            add_one(leaf)

    return prepare, add_all


def nothing(_context: object, _box: AbstractValue) -> None:
    """Compute nothing."""


def evaluating(entry: CacheEntry) -> Calc:
    """Return what evaluates an entry, and computes nothing else."""
    evaluate = entry.EvalAbstract

    def calc(context: object, _: AbstractValue) -> None:
        evaluate(context)

    return calc


def _empty_box() -> AbstractValue:
    return AbstractValue.Make(None)
