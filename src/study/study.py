"""Studies: what is done with a System and its States."""

from abc import ABC, abstractmethod

from stagecache.errors import InvalidNameError, WrongTypeError, short_repr
from stagecache.state.state import State
from stagecache.system.core.system import System


class Study(ABC):
    """A System, coupled with States in which something is found out about it.

    Parameters
    ----------
    system : System
    name : str
        What messages call it.
    version : str
        A text of the author's choice.

    Raises
    ------
    WrongTypeError, InvalidNameError
    """

    def __init__(self, system: System, name: str, version: str = "") -> None:
        if not isinstance(system, System):
            raise WrongTypeError(
                f"{name}: has no System",
                "a System",
                f"{short_repr(system)}, of type {type(system).__name__}",
                "pass the System whose States it is to work with",
            )
        for text, what in ((name, "the name"), (version, "the version")):
            if not isinstance(text, str):
                raise InvalidNameError(
                    f"{what} of a Study: is no string",
                    "a string",
                    short_repr(text),
                    "write it as one",
                )
        self._system = system
        self._name = name
        self._version = version

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name

    @property
    def version(self) -> str:
        """A text of the author's choice."""
        return self._version

    @property
    def system(self) -> System:
        """What it is a study of."""
        return self._system

    @property
    @abstractmethod
    def state(self) -> State:
        """The State that it has come to."""
