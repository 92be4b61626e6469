"""What every part of an Assembler stands on: its System, its internal State, and its settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from stagecache.assembly.assembler_statistics import AssemblerStatistics
from stagecache.assembly.settings import AssemblerSettings, checked_setting
from stagecache.errors import UnknownSubsystemError
from stagecache.state.contents.staged import Guard
from stagecache.state.state import State
from stagecache.study.study import Study
from stagecache.system.core.system import System

INTERNAL: Final = Guard(
    "the internal State of an Assembler, which is only for reading",
    "write into a State of your own, and pass it to set_internal_state() or assemble()",
)

IN_ASSEMBLY_COORDINATES: Final = "in_assembly_coordinates"
"""What a System may offer: ``(state) -> State``, an equal one without quaternions."""

SET_Q_FROM_ASSEMBLY: Final = "set_q_from_assembly"
"""And back: ``(internal, state)`` writes the q of the first into the second, in its form."""


class AbstractAssembler(Study):
    """A Study with an internal State, of which it moves the q."""

    def __init__(self, system: System, name: str, version: str) -> None:
        super().__init__(system, name, version)
        self._settings = AssemblerSettings()
        self._statistics = AssemblerStatistics()
        self._internal = self._converted(system.realize_topology())

    # ------------------------------------------------------------------ the internal State

    @property
    def internal_state(self) -> State:
        """The State in which q are moved; only for reading. It has Euler angles, no quaternions.

        It is the same object until `set_internal_state`, or `assemble` of a State, makes another.
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
        """Write the q of the internal State into another one, in the form in which that has them.

        Nothing else is written, nor the time; and no q that is equal. Invalidates Position.

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

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Where the internal State may be written. Its free q may be written elsewhere, too."""
        contents = self._internal._contents
        contents.guard = None
        try:
            yield
        finally:
            contents.guard = INTERNAL

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        vars(self).update(attributes)
        self._internal._contents.guard = INTERNAL  # which a State leaves behind where it is pickled

    @property
    def matter(self) -> Any:
        """The matter subsystem of the System.

        Raises
        ------
        UnknownSubsystemError
            It has none.
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

    def uninitialize(self) -> None:
        """Forget what was prepared: the next call prepares anew."""
        raise NotImplementedError

    # ------------------------------------------------------------------ settings

    @property
    def statistics(self) -> AssemblerStatistics:
        """Counters of what was done since it was initialized. They go on, and can be reset."""
        return self._statistics

    @property
    def accuracy(self) -> float:
        """The part of its least value by which the goal may be greater; 1e-3.

        Where a result has converged, its goal exceeds the least value nearby by no larger part. A
        goal counts as zero where a step of 1e-10 rad, or as much of a length, changes its residuals
        by more than they are. Units of length and weights of goals make no difference. Setting it
        takes effect at the next call; 0 restores the default.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
            At a value that is not a number from 0 up, below 1.
        """
        return self._settings.accuracy_in_use

    @accuracy.setter
    def accuracy(self, accuracy: float) -> None:
        self._settings.accuracy = checked_setting(accuracy, "accuracy", 1.0)

    @property
    def error_tolerance(self) -> float:
        """How large the norm of all errors may be; a tenth of the accuracy.

        Errors may have any unit, and are not weighted: the same tolerance is for all. Setting it
        takes effect at the next call; 0 restores the default.

        Raises
        ------
        ShapeError, NotANumberError, OutOfRangeError
            At a value that is no finite number from 0 up.
        """
        return self._settings.tolerance_in_use

    @error_tolerance.setter
    def error_tolerance(self, tolerance: float) -> None:
        found = checked_setting(tolerance, "error_tolerance", float("inf"))
        self._settings.error_tolerance = found

    @property
    def use_rms_error_norm(self) -> bool:
        """Whether the norm is the root of the mean of squares, not the largest error; False.

        Raises
        ------
        NotANumberError
            At a value that is no bool; likewise the next two.
        """
        return self._settings.use_rms_error_norm

    @use_rms_error_norm.setter
    def use_rms_error_norm(self, value: bool) -> None:
        self._settings.use_rms_error_norm = value

    @property
    def force_numerical_gradient(self) -> bool:
        """Whether to find derivatives of goals by differences, to check those of conditions."""
        return self._settings.force_numerical_gradient

    @force_numerical_gradient.setter
    def force_numerical_gradient(self, value: bool) -> None:
        self._settings.force_numerical_gradient = value

    @property
    def force_numerical_jacobian(self) -> bool:
        """The same for derivatives of errors."""
        return self._settings.force_numerical_jacobian

    @force_numerical_jacobian.setter
    def force_numerical_jacobian(self, value: bool) -> None:
        self._settings.force_numerical_jacobian = value
