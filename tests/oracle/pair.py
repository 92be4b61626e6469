"""The contract's model and `stagecache.State`, side by side."""

from __future__ import annotations

from typing import NamedTuple

from tests.oracle.comparison import Comparison
from tests.oracle.interpreter import Interpreter
from tests.oracle.model import Model

LOOK = "observe_full"


class Answers(NamedTuple):
    """What both answer to a command, and the paths at which they differ."""

    expected: str
    actual: str
    differences: list[str]


class Pair:
    """Runs each command on both, and looks at everything after it."""

    def __init__(self) -> None:
        self.model = Model()
        self.interpreter = Interpreter()
        self._comparison = Comparison()

    def run(self, command: str) -> Answers:
        """Run one command; differences that only show afterwards count as well."""
        answers = self._ask(command)
        if not answers.differences and command != LOOK:
            seen = self._ask(LOOK).differences
            return answers._replace(differences=[f"afterwards, {path}" for path in seen])
        return answers

    def _ask(self, command: str) -> Answers:
        expected, actual = self.model.run(command), self.interpreter.run(command)
        return Answers(expected, actual, self._comparison.differences(command, expected, actual))
