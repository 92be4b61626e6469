"""What a benchmark raises: if a result is wrong, as its figures would mean nothing; or missing."""

from collections.abc import Sequence

from stagecache.errors import StagecacheError


class WrongValueError(AssertionError):
    """A tail of a shape has another value than the shape says."""

    def __init__(self, where: str, step: int, expected: list[int], got: list[object]) -> None:
        super().__init__(
            f"{where}: wrong values after step {step}\n"
            f"  expected: {expected}\n"
            f"  got:      {got}\n"
            f"  hint:     see whether the adapter uses the library as it is meant"
        )


class WrongCountError(AssertionError):
    """A shape took more or fewer compute calls than the shape says."""

    def __init__(self, where: str, expected: int, got: int) -> None:
        super().__init__(
            f"{where}: wrong number of compute calls\n"
            f"  expected: {expected}\n"
            f"  got:      {got}\n"
            f"  hint:     find the entry that is computed twice, or without being read"
        )


class WrongValidityError(AssertionError):
    """Other entries are valid than a workload says."""

    def __init__(self, where: str, expected: str, got: str) -> None:
        super().__init__(
            f"{where}: wrong entries are valid\n"
            f"  expected: {expected}\n"
            f"  got:      {got}\n"
            f"  hint:     find what is invalidated that should not be, or the other way round"
        )


class NotInstalledError(Exception):
    """What is to be measured is not installed; its text says what, and goes below the table."""


class FailedProgramError(Exception):
    """A program that is needed for a figure failed, or the compiler that was to make it."""

    def __init__(self, command: Sequence[str], code: int, errors: str) -> None:
        super().__init__(
            f"{command[0]}: ended with exit code {code}\n"
            f"  expected: 0 from {' '.join(command)}\n"
            f"  got:      {errors.strip() or 'nothing on stderr'}\n"
            f"  hint:     compile and run it by hand"
        )


class ProblemFileError(StagecacheError, ValueError):
    """A file has no problem of inverse kinematics, or a field of it is wrong."""


class WrongGoalError(AssertionError):
    """Frames have a worse goal than another library has got: times are not to be compared."""

    def __init__(self, where: str, expected: str, got: str) -> None:
        super().__init__(
            f"{where}: the goal is not as good\n"
            f"  expected: {expected}\n"
            f"  got:      {got}\n"
            f"  hint:     find why the solver stops too early"
        )
