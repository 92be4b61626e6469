"""Studies: a System, and States in which it is examined."""

from abc import ABC, abstractmethod

from stagecache.checks import require_text, require_type
from stagecache.errors import StudyError
from stagecache.state.state import State
from stagecache.system.core.system import System


class Study(ABC):
    """A System, with States in which it is examined.

    Parameters
    ----------
    system : System
    name : str
        Name in messages.
    version : str
        A text of the author's choice.

    Raises
    ------
    WrongTypeError, InvalidNameError
    """

    def __init__(self, system: System, name: str, version: str = "") -> None:
        hint = "pass the System of its States"
        self._system = require_type(system, System, f"{name}: has no System", "a System", hint)
        self._name = require_text(name, "the name of a Study")
        self._version = require_text(version, "the version of a Study")

    @property
    def name(self) -> str:
        """Name in messages."""
        return self._name

    @property
    def version(self) -> str:
        """A text of the author's choice."""
        return self._version

    @property
    def system(self) -> System:
        """System of the study."""
        return self._system

    @property
    @abstractmethod
    def state(self) -> State:
        """Present State."""

    def _not_initialized(self, what: str, call: str = "initialize(state)") -> StudyError:
        """Return the error of something that is known after initialization only."""
        return StudyError(
            f"{what} of {self._name}: not known",
            f"a {type(self).__name__} that is initialized",
            "one that was changed since, or was never initialized",
            f"call {call} first",
        )
