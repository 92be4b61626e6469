r"""The Assembler: q that satisfy what must be, and come close to what is wanted.

::

    assemble   any start      Gauss-Newton  ->  a library method  ->  restarts     or AssembleFailed
    track      the last one   Gauss-Newton                                         or TrackFailed

The contract is that of Simbody's `Assembler`, as its class documentation has it. How it is solved,
file by file::

    abstract_*                               its parts, each on top of the one before
    condition, system_constraints, q_value   what is to be satisfied
    mobilizers, restrictions                 which q may be moved, and how far
    free_coordinates                         the free q of the internal State, and derivatives
    problem, differences, inspection         conditions as functions of the free q
    sqp, quadratic_model                     the method that is tried first
    assembling, library_method, restarts     one method after the other
    failures                                 how a failure is told
    tracking                                 many frames
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import Any, Literal, final

from numpy.typing import ArrayLike

from stagecache.assembly.abstract_prepared import AbstractPrepared
from stagecache.assembly.assembly_result import AssemblyResult
from stagecache.assembly.conditions.condition import AssemblyCondition
from stagecache.assembly.coordinates.free_coordinates import FreeCoordinates
from stagecache.assembly.failures import failed
from stagecache.assembly.tracking import track_frames
from stagecache.errors import (
    AssembleFailed,
    AssemblyError,
    OutOfRangeError,
    TrackFailed,
    WrongTypeError,
    short_repr,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.study.progress import Progress
from stagecache.study.trajectory.trajectory import Trajectory
from stagecache.system.core.system import System

Reporter = Callable[[State], object]


@final
class Assembler(AbstractPrepared):
    """A Study that moves the q of a State until it satisfies conditions.

    Position constraints that are enabled are satisfied by default; other conditions can be added,
    as errors, which must be satisfied too, or as goals. Prescribed q are set to what they have to
    be at the time of the State. All other q are free, unless they are locked. Speeds are left as
    they are: `System.project` satisfies constraints on these.

    It works on a State of its own, the internal State, in which orientations are Euler angles.

    Parameters
    ----------
    system : System
        If its topology is not realized, it is now. The internal State is its default State at
        first.
    name : str
        What messages call it.
    version : str
        A text of the author's choice.
    accuracy, error_tolerance : float
        As the properties; 0 stands for the default.

    Raises
    ------
    WrongTypeError, InvalidNameError, ShapeError, NotANumberError, OutOfRangeError

    Examples
    --------
    Two bars of length 1 and 2, the end of which is to be at (1.5, 1.5):

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
        self._reporters: list[Reporter] = []
        self._failed_frames: list[int] = []
        super().__init__(system, name, version)
        self.accuracy = accuracy
        self.error_tolerance = error_tolerance

    # ------------------------------------------------------------------ reporting

    def add_reporter(self, reporter: Reporter) -> None:
        """Have a function called with the internal State after each step, and at the end.

        The State is realized to Position, and only for reading. What it raises ends the call.

        Raises
        ------
        WrongTypeError
        """
        if not callable(reporter):
            raise WrongTypeError(
                f"{short_repr(reporter)}: cannot report",
                "a function of a State",
                f"an object of type {type(reporter).__name__}",
                "pass a function: def report(state): ...",
            )
        self._reporters.append(reporter)

    def _report(self, _: object = None) -> None:
        """Call the reporters; they cannot write, as the internal State is guarded."""
        self._system.realize(self._internal, Stage.POSITION)
        for reporter in self._reporters:
            reporter(self._internal)

    # ------------------------------------------------------------------ doing it

    def assemble(self, state: State | None = None) -> AssemblyResult:
        """Move the free q, from wherever they are, until all errors are within the tolerance.

        And the goal as small as it becomes from there. A start that satisfies the errors and its
        bounds is never left for a worse goal. Otherwise methods are tried that are slower and
        slower; see `AssemblyResult.method`.

        Parameters
        ----------
        state : State, optional
            Where to begin; its q are set to the result, and nothing else of it. The internal State
            is a copy of it then. By default the internal State is moved on.

        Returns
        -------
        AssemblyResult

        Raises
        ------
        AssembleFailed
            No configuration was found. q are where they were.
        ConditionError, ObservationError
            A condition returns what does not fit, or observes nothing.
        WrongTypeError, ForeignStateError, TopologyVersionError, StageTooLowError, ReadOnlyError
            Of the State.
        Exception
            Whatever `initialize` or a condition raises.
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

        return self._moved(time, assembled, "assemble()", AssembleFailed)

    def track(self, time: float | None = None) -> AssemblyResult:
        """Go on to a frame that is close: conditions, or the time, have changed a little.

        What was prepared is not done again, and only the quick method is used. If something was
        changed that needs a new beginning, `initialize` is called first.

        Parameters
        ----------
        time : float, optional
            That of the frame [s]; the internal State keeps its own by default. Prescribed q are
            set.

        Returns
        -------
        AssemblyResult

        Raises
        ------
        TrackFailed
            No configuration was found. The internal State is where it was, also in time.
        ShapeError, NotANumberError, ObservationError
        Exception
            Whatever `initialize` or a condition raises.
        """
        frame_time = None if time is None else _checked_time(time)
        from stagecache.assembly.methods.assembling import tracked  # noqa: PLC0415  # it needs SciPy

        return self._moved(frame_time, tracked, "track()", TrackFailed)

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
            Of the frames [s]; ascending.
        observations : mapping or array_like
            By condition, what it observes in each frame: n arrays, as `move_all_observations` of
            the condition takes them. The array alone where only one condition observes.
        state : State, optional
            Where to begin, and in what form the rows have q. It stays as it is. The default is the
            internal State.
        on_failure : str
            "raise" the error of a frame that fails, with a note that says which; or "skip" it: it
            has no row then, `failed_frames` has it, and a warning names all.
        progress : bool or rich.console.Console, optional
            As for `simulate`.

        Returns
        -------
        Trajectory

        Raises
        ------
        ObservationError
            Numbers of frames differ, or it is not clear what observes.
        UnknownChoiceError
            `on_failure` is something else.
        WrongTypeError, ForeignStateError, ShapeError, NotANumberError, OutOfRangeError
        AssembleFailed, TrackFailed
        Exception
            Whatever `assemble` raises.
        """
        return track_frames(
            self,
            self._assemble,
            self.track,
            times,
            observations,
            state,
            on_failure,
            progress,
            self._failed_frames,
        )

    @property
    def failed_frames(self) -> tuple[int, ...]:
        """The frames that the last `track_all` has left out, counted from 0."""
        return tuple(self._failed_frames)

    def _moved(
        self,
        time: float | None,
        solve: Callable[..., Any],
        what: str,
        failure: type[AssemblyError],
    ) -> AssemblyResult:
        """Solve the problem at a time, by one of both ways, and tell what came out."""
        self.initialize()
        self._statistics.num_assembly_steps += 1
        problem, settings = self._observed(), self._settings
        report = self._report if self._reporters else None
        with self._restoring(problem.coordinates):
            self._go_to(time, problem.coordinates)
            outcome = solve(problem, settings, report)
            point = outcome.point
            if not (point.error_norm <= settings.tolerance_in_use and isfinite(point.goal)):
                raise failed(failure, what, problem, point, settings)
            if report is not None:
                report()
        return AssemblyResult(
            point.goal,
            point.error_norm,
            outcome.method,
            outcome.num_iterations,
            outcome.has_converged,
            self._internal.time,
            problem.independent_goals,
        )

    @contextmanager
    def _restoring(self, coordinates: FreeCoordinates) -> Iterator[None]:
        """After an error, also one that is no Exception, q and time are as before."""
        time, q = self._internal.time, coordinates.q
        try:
            yield
        except BaseException:
            if self._internal.time != time:
                with self._writing():
                    self._internal.time = time
                    self._system.realize(self._internal, Stage.TIME)
            coordinates.write_all(q)
            raise


def _checked_time(time: object) -> float:
    found = time if type(time) is float else float(converted(time, FLOAT, (), "track(time)"))
    if isfinite(found):
        return found
    raise OutOfRangeError(
        "track(time): is no time", "a finite number", short_repr(time), "leave it out to stay"
    )
