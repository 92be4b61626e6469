"""Result of a check that finds nothing."""

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
    entries, computed : int
        How many entries there were, and how many of them gave a value; 0 if that was not counted.
    """

    name: str
    examples: int
    operations: int
    entries: int = 0
    computed: int = 0

    def __str__(self) -> str:
        text = f"{self.name}: passed, {self.examples} examples, {self.operations} operations"
        if self.computed < self.entries:
            return f"{text}, {self.computed} of {self.entries} entries computed"
        return text
