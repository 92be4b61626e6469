"""What a check returns if it finds nothing."""

from attrs import frozen


@frozen
class CheckResult:
    """A check that passed.

    Attributes
    ----------
    name : str
        "coherence", "precision", ...
    examples : int
        How many programs were run.
    operations : int
        How many operations there were in them.
    """

    name: str
    examples: int
    operations: int

    def __str__(self) -> str:
        return f"{self.name}: passed, {self.examples} examples, {self.operations} operations"
