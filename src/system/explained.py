"""How something ended, in a word, a sentence, and what to do about it."""

from enum import Enum


class Explained(Enum):
    """A member that says what it means, and what to do then.

    Attributes
    ----------
    message : str
    hint : str
    """

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"
