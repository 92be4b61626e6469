r"""The Assembler: q that satisfy conditions, and come close to others.

::

    assemble   any start      Gauss-Newton  ->  a library method  ->  restarts     or AssembleFailed
    track      the last one   Gauss-Newton                                         or TrackFailed

    Assembler
      conditions      errors, goals, weights           a change of these
      restrictions    locks and bounds of q            uninitializes:
           \_____________________________________________  problem = None
      problem         the free q, and functions of these; prepared at the next call

The contract follows Simbody's `Assembler`, as its class documentation has it.
"""

from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Any, Final, Literal, NoReturn, SupportsIndex, TypeVar, final

from numpy.typing import ArrayLike

from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.assembly.conditions.weights import WeightedConditions
from stagecache.assembly.coordinates.free_coordinates import FreeCoordinates
from stagecache.assembly.coordinates.mobilizers import Mobilizer
from stagecache.assembly.coordinates.restrictions import Restrictions
from stagecache.assembly.failures import failed
from stagecache.assembly.frames import (
    by_condition,
    checked_times,
    frame_result,
    is_skipped,
    warn_of_skipped,
)
from stagecache.assembly.problem.problem import Point, Problem
from stagecache.assembly.results import AssemblerStatistics, AssemblyResult, FrameResult
from stagecache.assembly.settings import AssemblerSettings
from stagecache.checks import require_callable, require_choice, require_number
from stagecache.errors import (
    AssembleFailed,
    AssemblyError,
    ConditionError,
    TrackFailed,
    UnknownSubsystemError,
    short_repr,
)
from stagecache.progress import Progress, ProgressBar, check_progress
from stagecache.state.contents.guards import Guard
from stagecache.state.refusals import check_index
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.study import Study
from stagecache.study.trajectory.trajectory import Trajectory
from stagecache.system.core.system import System

INTERNAL: Final = Guard(
    "the internal State of an Assembler, which is only for reading",
    "write into a State of your own, and pass it to set_internal_state() or assemble()",
)

IN_ASSEMBLY_COORDINATES: Final = "in_assembly_coordinates"
"""Optional method of a System: ``(state) -> State``, an equal one without quaternions."""

SET_Q_FROM_ASSEMBLY: Final = "set_q_from_assembly"
"""Inverse method: ``(internal, state)`` writes the q of the first into the second, in its form."""

Reporter = Callable[[State], object]
Solve = Callable[[Problem, Callable[[object], object] | None], Any]
C = TypeVar("C", bound=AssemblyCondition)


@final
class Assembler(Study):
    """A Study that moves the q of a State until it satisfies conditions.

    Enabled position constraints are satisfied by default. Other conditions can be added, as errors,
    which must be satisfied too, or as goals. Prescribed q are set to their values at the time of
    the State. All other q are free, unless they are locked. Speeds stay as they are:
    `System.project` satisfies constraints on these.

    It works on a State of its own, the internal State, in which orientations are Euler angles.

    A mobilizer, to be locked or restricted, is a handle of q, an object whose attribute `q` is one,
    as a MobilizedBody, or a name: of a body, or the path of a q, as "pendulum.angle". Its q
    are counted as in the internal State: Euler angles, no quaternions.

    The weight of a condition tells its role: infinity, an error, which must be satisfied to the
    tolerance; 0, ignored; any other, a goal.

    Parameters
    ----------
    system : System
        Its topology is realized if needed. The internal State is a copy of its default State at
        first.
    name : str
        Name in messages.
    version : str
        A text of the author's choice.
    accuracy, error_tolerance : float
        Same as the properties; 0 stands for the default.

    Raises
    ------
    WrongTypeError, InvalidNameError, ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    Two bars of length 1 and 2, whose end has to reach (1.5, 1.5):

    >>> import numpy as np
    >>> from stagecache import Assembler, QValue, Subsystem, System, position_error, q_variable
    >>> from stagecache import u_variable
    >>> class Arm(Subsystem):
    ...     angles = q_variable((0.1, 0.1))
    ...     rates = u_variable((0.0, 0.0))
    ...
    ...     @position_error(size=2)
    ...     def reach(self, state):
    ...         a, b = self.angles(state)
    ...         return [np.cos(a) + 2 * np.cos(a + b) - 1.5, np.sin(a) + 2 * np.sin(a + b) - 1.5]
    >>> arm = Arm()
    >>> system = System(arm)
    >>> state = system.new_state()
    >>> assembler = Assembler(system)
    >>> result = assembler.assemble(state)
    >>> result.method, result.error_norm < assembler.error_tolerance
    ('Gauss-Newton', True)
    >>> arm.angles(state).round(3)
    array([-0.424,  1.696])
    """

    def __init__(
        self,
        system: System,
        name: str = "assembler",
        version: str = "",
        *,
        accuracy: float = 0.0,
        error_tolerance: float = 0.0,
    ) -> None:
        super().__init__(system, name, version)
        self._settings = AssemblerSettings(accuracy, error_tolerance)
        self._statistics = AssemblerStatistics()
        self._reporters: list[Reporter] = []
        self._failed_frames: tuple[int, ...] = ()
        self._problem: Problem | None = None  # as long as nothing changes that it is made of
        self._internal = self._converted(system.realize_topology())
        self._restrictions = Restrictions(self)
        self._conditions = WeightedConditions(self)

    # ------------------------------------------------------------------ the internal State

    @property
    def internal_state(self) -> State:
        """The State in which q are moved; only for reading. It has Euler angles, no quaternions.

        It stays the same object until `set_internal_state`, or `assemble` of a State.
        """
        return self._internal

    @property
    def state(self) -> State:
        """The internal State."""
        return self._internal

    def set_internal_state(self, state: State) -> None:
        """Begin with a copy of a State: all of its variables. Uninitializes.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        """
        self._system._require_own(state)
        internal = self._converted(state)
        self.uninitialize()
        self._internal = internal

    def update_from_internal_state(self, state: State) -> None:
        """Write the q of the internal State into another one, as quaternions if it has these.

        Nothing else is written, not even the time, and nothing if all q are equal. Invalidates
        Position.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, ReadOnlyError
        ShapeError
            The State has other modeling options, and so another number of q.
        """
        system = self._system
        system._require_own(state)
        state._contents.require_unguarded("update_from_internal_state()")
        system.realize_model(state)
        convert: Any = getattr(system, SET_Q_FROM_ASSEMBLY, None)
        if convert is not None:
            convert(self._internal, state)
        elif state.q.tobytes() != self._internal.q.tobytes():
            state.q = self._internal.q

    def _converted(self, state: State) -> State:
        convert: Any = getattr(self._system, IN_ASSEMBLY_COORDINATES, None)
        internal: State = state.copy() if convert is None else convert(state)
        internal._contents.guard = INTERNAL
        return internal

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        vars(self).update(attributes)
        self._internal._contents.guard = INTERNAL  # a State loses its guard when it is pickled

    @property
    def matter(self) -> Any:
        """The matter subsystem of the System.

        Raises
        ------
        UnknownSubsystemError
            The System has no matter subsystem.
        """
        found = getattr(self._system, "matter", None)
        if found is None:
            raise UnknownSubsystemError(
                f"{self._system!r}: has no matter subsystem",
                "a MultibodySystem",
                f"a {type(self._system).__name__}",
                "ask the system for the subsystem that you mean",
            )
        return found

    # ------------------------------------------------------------------ settings

    @property
    def statistics(self) -> AssemblerStatistics:
        """Counters since the Assembler was initialized. They go on, and can be reset."""
        return self._statistics

    @property
    def accuracy(self) -> float:
        """Relative accuracy of the goal; 1e-3.

        The goal of a converged result exceeds the least value nearby by at most this part of it. A
        goal counts as zero where a step of 1e-10 rad, or as much of a length, changes its residuals
        by more than they are. Units of length and weights of goals make no difference. Setting it
        takes effect at the next call; 0 restores the default.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
            The value is not a number from 0 up, below 1.
        """
        return self._settings.accuracy_in_use

    @accuracy.setter
    def accuracy(self, accuracy: float) -> None:
        self._settings.accuracy = accuracy

    @property
    def error_tolerance(self) -> float:
        """Largest norm of all errors that is accepted; a tenth of the accuracy.

        Errors may have any unit, and are not weighted: the same tolerance is for all. Setting it
        takes effect at the next call; 0 restores the default.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
            The value is not a finite number from 0 up.
        """
        return self._settings.tolerance_in_use

    @error_tolerance.setter
    def error_tolerance(self, tolerance: float) -> None:
        self._settings.error_tolerance = tolerance

    @property
    def use_rms_error_norm(self) -> bool:
        """True if the norm is the root of the mean of squares, not the largest error; False.

        Raises
        ------
        NotANumberError
            The value is not a bool; likewise the next two.
        """
        return self._settings.use_rms_error_norm

    @use_rms_error_norm.setter
    def use_rms_error_norm(self, value: bool) -> None:
        self._settings.use_rms_error_norm = value

    @property
    def force_numerical_gradient(self) -> bool:
        """True to find derivatives of goals by differences, to check conditions' derivatives."""
        return self._settings.force_numerical_gradient

    @force_numerical_gradient.setter
    def force_numerical_gradient(self, value: bool) -> None:
        self._settings.force_numerical_gradient = value

    @property
    def force_numerical_jacobian(self) -> bool:
        """True to find derivatives of errors by differences."""
        return self._settings.force_numerical_jacobian

    @force_numerical_jacobian.setter
    def force_numerical_jacobian(self, value: bool) -> None:
        self._settings.force_numerical_jacobian = value

    # ------------------------------------------------------------------ conditions

    @property
    def conditions(self) -> tuple[AssemblyCondition, ...]:
        """Conditions that were added, in that order."""
        return self._conditions.added

    @property
    def system_constraints(self) -> AssemblyCondition:
        """Enabled position constraints of the System: an error at first."""
        return self._conditions.constraints

    @property
    def system_constraints_weight(self) -> float:
        """Weight of `system_constraints`. Errors that only normalize q are satisfied at any weight.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
            The value is not a weight.
        """
        return self._conditions.weight_of(self.system_constraints)

    @system_constraints_weight.setter
    def system_constraints_weight(self, weight: float) -> None:
        self.set_condition_weight(self.system_constraints, weight)

    def add_error(self, condition: C) -> C:
        """Add a condition that must be satisfied, and return it. Uninitializes.

        Raises
        ------
        WrongTypeError
        ConditionError
            It has no errors, is in an Assembler already, or is for another System. Its class has
            its own `__eq__`, or an `__init__` that does not call `AssemblyCondition.__init__`.
        ForeignNodeError
            Its q is of another System.
        """
        self._conditions.add(condition, inf)
        return condition

    def add_goal(self, condition: C, weight: float = 1.0) -> C:
        """Add a condition to come close to, and return it. Uninitializes.

        Parameters
        ----------
        condition : AssemblyCondition
        weight : float
            Factor of its goal in the sum of all goals. 0: it is ignored; infinity: it is an error.

        Raises
        ------
        WrongTypeError, ConditionError, ForeignNodeError
            See `add_error`.
        ShapeError, NotANumberError, OutOfRangeError
            Not a weight.
        """
        self._conditions.add(condition, weight)
        return condition

    def set_condition_weight(self, condition: AssemblyCondition, weight: float) -> None:
        """Give a condition another weight. Uninitializes, unless it was a goal and still is.

        Raises
        ------
        WrongTypeError
            It was not added.
        ConditionError
            It has no errors, and the weight is infinite; or it has no goal.
        ShapeError, NotANumberError, OutOfRangeError
        """
        weight_before = self._conditions.weight_of(condition)
        try:
            has_changed = self._conditions.set_weight(condition, weight)
            before = self._problem
            if has_changed and before is not None:
                problem = self._make_problem(before.coordinates)
                problem.independent_goals = before.independent_goals
                problem.is_checked = before.is_checked
                self._problem = problem
        except BaseException:
            if self._conditions.weight_of(condition) != weight_before:
                self.uninitialize()  # the problem may still have that weight
            raise

    def condition_weight(self, condition: AssemblyCondition) -> float:
        """Return the weight of a condition.

        Raises
        ------
        WrongTypeError
            It was not added.
        """
        return self._conditions.weight_of(condition)

    def __copy__(self) -> NoReturn:
        raise ConditionError(
            f"{self.name}: cannot be copied",
            "conditions of its own for each Assembler",
            "a copy, with the same conditions",
            "make another Assembler of the same System, and add new conditions",
        )

    # ------------------------------------------------------------------ locks and bounds

    def lock_mobilizer(self, mobilizer: Mobilizer) -> None:
        """Keep all q of a mobilizer as they are, also those that are not locked one by one.

        Uninitializes, as all changes of locks and bounds.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError
        """
        restrictions = self._restrictions
        restrictions.lock(restrictions.key_of_mobilizer(mobilizer, "lock_mobilizer"))

    def unlock_mobilizer(self, mobilizer: Mobilizer) -> None:
        """Undo `lock_mobilizer`. A q locked by `lock_q` stays locked, and so does a prescribed one.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError
        """
        restrictions = self._restrictions
        restrictions.unlock(restrictions.key_of_mobilizer(mobilizer, "unlock_mobilizer"))

    def lock_q(self, mobilizer: Mobilizer, index: int = 0) -> None:
        """Keep one q of a mobilizer as it is, also when the mobilizer is unlocked as a whole.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError, UnknownItemError
        """
        restrictions = self._restrictions
        restrictions.lock(restrictions.key_of(mobilizer, index, "lock_q"))

    def unlock_q(self, mobilizer: Mobilizer, index: int = 0) -> None:
        """Undo `lock_q`. The q stays locked while its mobilizer is locked as a whole.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError, UnknownItemError
        """
        restrictions = self._restrictions
        restrictions.unlock(restrictions.key_of(mobilizer, index, "unlock_q"))

    def restrict_q(self, mobilizer: Mobilizer, index: int, lower: float, upper: float) -> None:
        """Keep one q of a mobilizer within a range, where it is free.

        A start outside the range is moved into it. A locked or prescribed q stays as it is.

        Parameters
        ----------
        mobilizer : handle of q, object with a handle as its `q`, or str
        index : int
            Index of the q in the mobilizer.
        lower, upper : float
            In the unit of the q; either may be infinite. If both are, the bounds are removed.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError, UnknownItemError
        ShapeError, NotANumberError
        OutOfRangeError
            The range is empty, or a bound is NaN.
        """
        self._restrictions.restrict_q(mobilizer, index, lower, upper)

    def unrestrict_q(self, mobilizer: Mobilizer, index: int = 0) -> None:
        """Undo `restrict_q`. The q stays locked if it is locked.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError, UnknownItemError
        """
        restrictions = self._restrictions
        restrictions.unrestrict(restrictions.key_of(mobilizer, index, "unrestrict_q"))

    # ------------------------------------------------------------------ the problem

    @property
    def is_initialized(self) -> bool:
        """True if the problem is prepared, and no change has made it stale."""
        return self._problem is not None

    def initialize(self, state: State | None = None) -> None:
        """Prepare the problem, which `assemble` and `track` do where needed.

        Sets prescribed q; finds the free q and their bounds.

        Parameters
        ----------
        state : State, optional
            Same as for `set_internal_state`, which is called first.

        Raises
        ------
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError
        OutOfRangeError
            Bounds of a q that was restricted in several ways contradict each other.
        Exception
            Any exception of a condition. The Assembler is uninitialized then.
        """
        if state is not None:
            self.set_internal_state(state)
        self._prepare()

    def _prepare(self) -> Problem:
        """Return the problem, which is made if it is not there."""
        self._system._require_own(self._internal)
        if self._problem is not None:
            return self._problem
        self._conditions.uninitialize()  # what is left of one that was cut short
        self._statistics._begin()
        coordinates = FreeCoordinates(
            self._system,
            self._internal,
            self._restrictions,
            sets_dependent=self.system_constraints_weight == inf,
        )
        try:
            self._conditions.initialize(coordinates)
            self._problem = self._make_problem(coordinates)
        except BaseException:
            self._conditions.uninitialize()
            raise
        return self._problem

    def _make_problem(self, coordinates: FreeCoordinates) -> Problem:
        return Problem(coordinates, self._conditions.used(), self._settings, self._statistics)

    def uninitialize(self) -> None:
        """Discard the problem: the next call prepares another one. q stay where they are."""
        if self._problem is not None:
            self._problem = None
            self._conditions.uninitialize()

    @property
    def num_free_qs(self) -> int:
        """Number of q that may be moved: all but locked and prescribed ones.

        Raises
        ------
        StudyError
            The Assembler is not initialized. The next three, too.
        """
        return len(self._prepared("num_free_qs").coordinates.index)

    def q_index_of_free_q(self, free_q: SupportsIndex) -> int:
        """Return the index of a free q among the q of the internal State.

        Raises
        ------
        StudyError, UnknownItemError
        """
        index = self._prepared("q_index_of_free_q()").coordinates.index
        return int(index[check_index(free_q, len(index), "free q", self.name)])

    def free_q_index_of_q(self, q: SupportsIndex) -> int | None:
        """Return the index of a q among the free q; None if it is locked or prescribed.

        Raises
        ------
        StudyError, UnknownItemError
        """
        coordinates = self._prepared("free_q_index_of_q()").coordinates
        number = check_index(q, self._internal.nq, "q", "the internal State")
        return coordinates.free_index_of(number)

    def free_q_bounds(self, free_q: SupportsIndex) -> tuple[float, float]:
        """Return the bounds of a free q; infinite where it was not restricted.

        Raises
        ------
        StudyError, UnknownItemError
        """
        coordinates = self._prepared("free_q_bounds()").coordinates
        number = check_index(free_q, len(coordinates.index), "free q", self.name)
        return float(coordinates.lower[number]), float(coordinates.upper[number])

    def _prepared(self, what: str) -> Problem:
        if self._problem is None:
            raise self._not_initialized(what, "initialize()")
        return self._problem

    # ------------------------------------------------------------------ reporting

    def add_reporter(self, reporter: Reporter) -> None:
        """Call a function with the internal State after each step, and at the end.

        The State is realized to Position, and only for reading. An exception ends the call.

        Raises
        ------
        WrongTypeError
        """
        hint = "pass a function: def report(state): ..."
        require_callable(reporter, short_repr(reporter), "a function of a State", hint)
        self._reporters.append(reporter)

    def _report(self, _: object = None) -> None:
        """Call the reporters; they cannot write, as the internal State is guarded."""
        self._system.realize(self._internal, Stage.POSITION)
        for reporter in self._reporters:
            reporter(self._internal)

    # ------------------------------------------------------------------ goal and errors

    def calc_current_goal(self) -> float:
        """Return the weighted sum of all goals at the q of the internal State.

        Initializes if needed.

        Raises
        ------
        Exception
            Any exception of `initialize` or of a condition.
        """
        return self._current().goal

    def calc_current_error_norm(self) -> float:
        """Return the norm of all errors, as it is compared with the tolerance.

        Otherwise as `calc_current_goal`.
        """
        return self._current().error_norm

    def _current(self) -> Point:
        problem = self._prepare()
        problem.check_observations()
        return problem.evaluate(problem.x)

    # ------------------------------------------------------------------ assembly

    def assemble(self, state: State | None = None) -> AssemblyResult:
        """Move the free q from any start until all errors are within the tolerance.

        The goal becomes as small as possible from there. A start that satisfies the errors and its
        bounds is never left for a worse goal. Otherwise slower and slower methods are tried; see
        `AssemblyResult.method`.

        Parameters
        ----------
        state : State, optional
            The start, which becomes the internal State by a copy. Only its q are written, with the
            result. By default the internal State itself is the start.

        Returns
        -------
        AssemblyResult

        Raises
        ------
        AssembleFailed
            No configuration was found. q are as before.
        ConditionError, ObservationError
            A condition returns values that do not fit, or observes nothing.
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError, ReadOnlyError
            The State cannot be assembled.
        Exception
            Any exception of `initialize` or of a condition.
        """
        if state is None:
            return self._assemble(None)
        self._system._require_own(state)
        state._contents.require_unguarded("assemble(state)")
        self.set_internal_state(state)
        result = self._assemble(None)
        self.update_from_internal_state(state)
        return result

    def _assemble(self, time: float | None) -> AssemblyResult:
        """Assemble the internal State, at a time."""
        from stagecache.assembly.methods.assembling import assembled  # noqa: PLC0415  # it needs SciPy

        return self._solve(time, assembled, "assemble()", AssembleFailed)

    def track(self, time: float | None = None) -> AssemblyResult:
        """Go on to a frame nearby: conditions, or the time, have changed a little.

        The prepared problem is used again, and only the quick method. After a change that
        uninitializes, `initialize` is called first.

        Parameters
        ----------
        time : float, optional
            Time of the frame [s]; by default the internal State keeps its own. Prescribed q are
            set.

        Returns
        -------
        AssemblyResult

        Raises
        ------
        TrackFailed
            No configuration was found. The internal State keeps its previous q and time.
        ShapeError, NotANumberError, OutOfRangeError, ObservationError
        Exception
            Any exception of `initialize` or of a condition.
        """
        if time is not None and not (type(time) is float and isfinite(time)):
            time = require_number(time, "track(time)", "leave it out to stay")
        from stagecache.assembly.methods.assembling import tracked  # noqa: PLC0415  # it needs SciPy

        return self._solve(time, tracked, "track()", TrackFailed)

    def _solve(
        self, time: float | None, solve: Solve, what: str, failure: type[AssemblyError]
    ) -> AssemblyResult:
        """Solve the problem at a time; after any error, q and time are as before."""
        problem = self._prepare()
        self._statistics.num_assembly_steps += 1
        problem.check_observations()
        coordinates, state = problem.coordinates, self._internal
        report = self._report if self._reporters else None
        time_before, q_before = state.time, coordinates.q
        try:
            if time is not None:
                coordinates.go_to(time)
            outcome = solve(problem, report)
            point = outcome.point
            if not (point.error_norm <= self._settings.tolerance_in_use and isfinite(point.goal)):
                raise failed(failure, what, problem, point)
            if report is not None:
                report()
        except BaseException:
            coordinates.restore(time_before, q_before)
            raise
        return AssemblyResult(
            point.goal,
            point.error_norm,
            outcome.method,
            outcome.num_iterations,
            outcome.has_converged,
            state.time,
            problem.independent_goals,
        )

    def track_all(
        self,
        times: ArrayLike,
        observations: Mapping[AssemblyCondition, Any] | ArrayLike,
        *,
        state: State | None = None,
        on_failure: Literal["raise", "skip"] = "raise",
        progress: Progress = None,
    ) -> Trajectory:
        """Assemble the first frame, track all others, and return them as a trajectory.

        After a frame that failed, the next one is assembled again.

        Parameters
        ----------
        times : (n,) array_like
            Times of the frames [s]; ascending.
        observations : mapping or array_like
            By condition, its observations in each frame: n arrays, as `move_all_observations` of
            the condition takes them. The array alone where only one condition observes, beside any
            `QValue`, whose targets stay the same then.
        state : State, optional
            The start; rows have q in its form. It stays as it is. The default is the internal
            State.
        on_failure : str
            "raise" the error of a frame that fails, with a note that names the frame; or "skip"
            the frame: it has no row then, `failed_frames` has it, and a warning names all.
        progress : bool or rich.console.Console, optional
            Same as for `simulate`.

        Returns
        -------
        Trajectory
            Its `frames` have a `FrameResult` for each row: the goal, and of markers the RMS and the
            worst one.

        Raises
        ------
        ObservationError
            Numbers of frames differ, or it is not clear which condition observes.
        UnknownChoiceError
            `on_failure` is something else.
        WrongTypeError, ForeignStateError, ShapeError, NotANumberError, OutOfRangeError
        AssembleFailed, TrackFailed
        Exception
            Any exception of `assemble`.
        """
        hint = "write 'skip' to leave out frames that fail, and be warned"
        require_choice(on_failure, ("raise", "skip"), "track_all(on_failure=...)", hint)
        check_progress(progress)
        frames = checked_times(times)
        observed = by_condition(self, observations, len(frames))
        if state is not None:
            self.set_internal_state(state)
        row = (self._internal if state is None else state).copy()
        trajectory = Trajectory(row)
        self._failed_frames = ()
        results: list[FrameResult] = []
        counting = tuple(c for c in self.conditions if self.condition_weight(c) > 0.0)
        is_warm = False
        begin, end = (frames[0], frames[-1]) if len(frames) else (0.0, 0.0)
        with ProgressBar(self._name, float(begin), float(end), progress) as bar:
            for i, time in enumerate(frames.tolist()):
                try:
                    for condition, values in observed.items():
                        condition.move_all_observations(values[i])
                    result = (self.track if is_warm else self._assemble)(time)
                except Exception as error:
                    is_warm = False
                    if not is_skipped(error, on_failure, i, len(frames), time):
                        raise
                    self._failed_frames += (i,)
                else:
                    is_warm = True
                    row.time = time
                    self.update_from_internal_state(row)
                    trajectory.append(row)
                    results.append(frame_result(result, counting, self._internal))
                bar.show(time)
        trajectory._frames = tuple(results)
        if self._failed_frames:
            warn_of_skipped(self._name, self._failed_frames, len(frames))
        return trajectory

    @property
    def failed_frames(self) -> tuple[int, ...]:
        """Frames that the last `track_all` left out, counted from 0."""
        return self._failed_frames

    def __repr__(self) -> str:
        what = "not initialized" if self._problem is None else f"{self.num_free_qs} free q"
        return f"<{type(self).__name__} {self._name!r} of {self._system.name!r}, {what}>"
