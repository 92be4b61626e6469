"""Guards: reasons why a State must not be written now."""

from typing import Final, final


@final
class Guard:  # no attrs: it is compiled
    """Reason why a State must not be written now, and a hint at what to do instead."""

    __slots__ = ("hint", "reason")

    def __init__(self, reason: str, hint: str) -> None:
        self.reason = reason
        self.hint = hint


DEFAULT: Final = Guard(
    "the default State of a System, which is only for reading and for copying",
    "write into a copy: state = system.default_state.copy()",
)
REALIZING: Final = Guard(
    "a State that is being realized",
    "let hooks and computations fill caches only; write before realize(), or after it",
)
COMPUTING: Final = Guard(
    "a State of a System, in which an entry is being computed",
    "let computations return values only; write before the entry is read, or after it",
)
FROZEN: Final = Guard(
    "a frozen State, in which nothing is written and nothing computed",
    "realize it and read the entry before that; or use frozen_state.copy(keep_cache=True), or "
    "state.unfreeze()",
)
OUTDATED: Final = Guard(
    "a State of an older topology of its System, which was changed since",
    "make a new State: system.new_state()",
)
