"""What a benchmark raises when a result is not what it must be: its figures would mean nothing."""


class WrongValueError(AssertionError):
    """A tail of a shape has another value than the shape says."""

    def __init__(self, where: str, step: int, expected: list[int], got: list[object]) -> None:
        super().__init__(
            f"{where}: wrong values after step {step}\n"
            f"  expected: {expected}\n"
            f"  got:      {got}\n"
            f"  cure:     see whether the adapter uses the library as it is meant"
        )


class WrongCountError(AssertionError):
    """A shape took more or fewer compute calls than the shape says."""

    def __init__(self, where: str, expected: int, got: int) -> None:
        super().__init__(
            f"{where}: wrong number of compute calls\n"
            f"  expected: {expected}\n"
            f"  got:      {got}\n"
            f"  cure:     find the entry that is computed twice, or without being read"
        )
