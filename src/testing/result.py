"""Result of a check that found no fault."""

from attrs import frozen


@frozen
class CheckResult:
    """Result of a check that found no fault.

    Attributes
    ----------
    name : str
        "coherence", "precision", ...
    examples : int
        Number of programs.
    operations : int
        Number of operations in them.
    entries, computed : int
        Number of entries, and of those that gave a value; 0 if they were not counted.
    shared : int
        Number of values of shared entries that were found, and not computed.
    is_out_of_time : bool
        True if the budget ended before all programs had run: no fault was found until then.
    """

    name: str
    examples: int
    operations: int
    entries: int = 0
    computed: int = 0
    shared: int = 0
    is_out_of_time: bool = False

    def __str__(self) -> str:
        passed = "no fault found within the budget" if self.is_out_of_time else "passed"
        text = f"{self.name}: {passed}, {self.examples} examples, {self.operations} operations"
        if self.shared:
            text += f", {self.shared} values taken from shared results"
        if self.computed < self.entries:
            return f"{text}, {self.computed} of {self.entries} entries computed"
        return text
