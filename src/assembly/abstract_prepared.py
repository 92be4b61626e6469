"""An Assembler, as far as it is prepared: which q are free, and the problem to be solved."""

from math import inf
from typing import SupportsIndex

import numpy as np

from stagecache.assembly.abstract_conditioned import AbstractConditioned
from stagecache.assembly.coordinates.free_coordinates import FreeCoordinates
from stagecache.assembly.problem.problem import Point, Problem
from stagecache.errors import StudyError
from stagecache.state.refusals import check_index
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System


class AbstractPrepared(AbstractConditioned):
    """An Assembler that makes a numerical problem of its conditions and its free q."""

    def __init__(self, system: System, name: str, version: str) -> None:
        self._problem: Problem | None = None
        self._is_prescribed = False  # whether any q is
        super().__init__(system, name, version)

    # ------------------------------------------------------------------ preparing

    @property
    def is_initialized(self) -> bool:
        """Whether it is prepared, and nothing was changed since that needs a new beginning."""
        return self._problem is not None

    def initialize(self, state: State | None = None) -> None:
        """Prepare, which `assemble` and `track` do if it was not done.

        Prescribed q are set. It is found out which q are free, and what their bounds are.

        Parameters
        ----------
        state : State, optional
            The internal State is to be a copy of it; see `set_internal_state`.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        OutOfRangeError
            Bounds of a q that was restricted in several ways contradict each other.
        Exception
            Whatever a condition raises. It is uninitialized then.
        """
        if state is not None:
            self.set_internal_state(state)
        self._system._require_own(self._internal)
        if self._problem is not None:
            return
        self._statistics._begin()
        with self._writing():
            self._system.realize(self._internal, Stage.TIME)
            self._system.prescribe_q(self._internal)
            coordinates = self._free_coordinates()
        try:
            for condition, weight in self._weights.items():
                if weight > 0:
                    condition._coordinates = coordinates
                    condition.initialize_condition()
            self._problem = self._make_problem(coordinates)
        except BaseException:
            self._forget()
            raise

    def uninitialize(self) -> None:
        """Forget what was prepared: the next call prepares anew. q stay where they are."""
        if self._problem is not None:
            self._problem = None
            self._forget()

    def _forget(self) -> None:
        for condition in self._weights:
            if condition._coordinates is not None:
                condition._coordinates = None
                condition.uninitialize_condition()

    def _free_coordinates(self) -> FreeCoordinates:
        state, asked = self._internal, self._restrictions
        is_free = np.zeros(state.nq, bool)
        is_free[self._system.free_q_index(state)] = True
        self._is_prescribed = not is_free.all()
        index = np.flatnonzero(is_free & ~asked.is_locked(state))
        lower, upper = asked.bounds_of(state)
        return FreeCoordinates(self._system, state, index, lower[index], upper[index])

    def _make_problem(self, coordinates: FreeCoordinates) -> Problem:
        own = (self._system_constraints, self._normalization)
        idle = [condition for condition in own if not condition.num_rows]
        used = [(c, w) for c, w in self._weights.items() if w > 0 and c not in idle]
        return Problem(
            coordinates,
            [condition for condition, weight in used if weight == inf],
            [(condition, weight) for condition, weight in used if weight < inf],
            self._settings,
            self._statistics,
        )

    def _weights_changed(self) -> None:
        before = self._problem
        if before is not None:
            self._problem = self._make_problem(before.coordinates)
            self._problem.independent_goals = before.independent_goals
            self._problem.is_checked = before.is_checked

    # ------------------------------------------------------------------ what is free

    @property
    def num_free_qs(self) -> int:
        """How many q may be moved: all but locked and prescribed ones.

        Raises
        ------
        StudyError
            It is not initialized. Likewise the next three.
        """
        return len(self._prepared("num_free_qs").coordinates.index)

    def q_index_of_free_q(self, free_q: SupportsIndex) -> int:
        """Which q of the internal State a free q is.

        Raises
        ------
        StudyError, UnknownItemError
        """
        index = self._prepared("q_index_of_free_q()").coordinates.index
        return int(index[check_index(free_q, len(index), "free q", self.name)])

    def free_q_index_of_q(self, q: SupportsIndex) -> int | None:
        """Which free q a q of the internal State is; None if that is locked or prescribed.

        Raises
        ------
        StudyError, UnknownItemError
        """
        coordinates = self._prepared("free_q_index_of_q()").coordinates
        number = check_index(q, self._internal.nq, "q", "the internal State")
        return coordinates.free_index_of(number)

    def free_q_bounds(self, free_q: SupportsIndex) -> tuple[float, float]:
        """The range of a free q; infinite where it was not restricted.

        Raises
        ------
        StudyError, UnknownItemError
        """
        coordinates = self._prepared("free_q_bounds()").coordinates
        number = check_index(free_q, len(coordinates.index), "free q", self.name)
        return float(coordinates.lower[number]), float(coordinates.upper[number])

    def _prepared(self, what: str) -> Problem:
        if self._problem is None:
            raise StudyError(
                f"{what} of {self.name}: is not known",
                "an Assembler that is initialized",
                "one that was changed since, or was never initialized",
                "call initialize() first",
            )
        return self._problem

    def __repr__(self) -> str:
        what = "not initialized" if self._problem is None else f"{self.num_free_qs} free q"
        return f"<{type(self).__name__} {self._name!r} of {self._system.name!r}, {what}>"

    # ------------------------------------------------------------------ what is reached

    def calc_current_goal(self) -> float:
        """The weighted sum of all goals at the q of the internal State. Initializes it if needed.

        Raises
        ------
        Exception
            Whatever `initialize` or a condition raises.
        """
        return self._current().goal

    def calc_current_error_norm(self) -> float:
        """The norm of all errors, for which the tolerance is. As `calc_current_goal`."""
        return self._current().error_norm

    def _current(self) -> Point:
        self.initialize()
        problem = self._observed()
        return problem.evaluate(problem.x)

    def _observed(self) -> Problem:
        """The problem, if its conditions observe anything."""
        problem = self._prepared("the problem")
        for check in problem.checks:
            check()
        return problem

    def _go_to(self, time: float | None, coordinates: FreeCoordinates) -> None:
        """Set the time, and prescribed q."""
        if time is None or time == self._internal.time:
            return
        with self._writing():
            self._internal.time = time
            self._system.realize(self._internal, Stage.TIME)
            if self._is_prescribed and self._system.prescribe_q(self._internal):
                coordinates.read_again()
