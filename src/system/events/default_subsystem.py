"""The default subsystem of a System, to which handlers and reporters of events are added."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final

from stagecache.checks import require_name, require_new_name, wrong_type
from stagecache.errors import (
    AdoptionError,
    InvalidNameError,
    WrongTypeError,
    short_repr,
)
from stagecache.state.display import snake_case
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.events.handlers import (
    AbstractAtCause,
    AbstractEventHandler,
    AbstractEventListener,
    AbstractEventReporter,
    AbstractScheduled,
    AbstractTriggered,
)


@final
class DefaultSystemSubsystem(Subsystem):
    """The subsystem of index 0, which each System has from the beginning.

    It has the handlers and reporters of events that were added to the System, and declares a row of
    event triggers for each of them that has a trigger.
    """

    _listeners: Mapping[str, AbstractEventListener[Any]] = MappingProxyType({})

    def _name_for(self, listener: Any, name: object, kind: type[AbstractEventListener[Any]]) -> str:
        """Return the name under which a handler or reporter can be added; see `add_event_handler`.

        Parameters
        ----------
        listener : object
        name : object
            None for a default name.
        kind : type
            AbstractEventHandler or AbstractEventReporter.

        Raises
        ------
        WrongTypeError, AdoptionError, DuplicateNameError, InvalidNameError
        """
        who = kind_name(kind)
        is_whole = isinstance(listener, AbstractScheduled | AbstractTriggered | AbstractAtCause)
        if not isinstance(listener, kind) or not is_whole:
            raise _refusal_of(listener, who)
        if listener.is_adopted:
            raise AdoptionError(
                f"{listener!r}: cannot be added to {self.system!r}",
                f"a {who} without a System",
                "one that has been added already",
                "make another instance",
            )
        if name is None:
            return self._default_name(listener, who)
        hint = f"choose another one: add_event_{who}(..., 'name')"
        return require_new_name(_checked_name(name, who), self._listeners, f"event {who}", hint)

    def _default_name(self, listener: AbstractEventListener[Any], who: str) -> str:
        """Return the name of the class, or of the function; and if it is taken, with a number."""
        name = snake_case(type(listener).__name__)
        if type(listener).__module__ == AbstractEventListener.__module__:  # not a subclass
            name = getattr(listener._function, "__name__", "<")
        if not name.isidentifier() or name.startswith("_") or hasattr(Subsystem, name):
            same = [o for o in self._listeners.values() if o.is_report is listener.is_report]
            name = f"{who} {len(same) + 1}"
        base, number = name, 2
        while name in self._listeners:
            name = f"{base} {number}"
            number += 1
        return name

    def _listen(self, listener: AbstractEventListener[Any], name: str) -> None:
        """Add a handler or reporter of events."""
        listener._adopted(self.system, name)
        self.__dict__["_listeners"] = {**self._listeners, name: listener}

    def _declare_triggers(self) -> None:
        """Declare the triggers of handlers and reporters."""
        if self._listeners:
            self.__dict__["declarations"] = MappingProxyType(
                {
                    name: listener.trigger()
                    for name, listener in self._listeners.items()
                    if isinstance(listener, AbstractTriggered)
                }
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes; declarations are made anew after unpickling."""
        found = super().__getstate__()
        found.pop("declarations", None)
        return found

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for listener in self._listeners.values():
            listener._system = self._system


def kind_name(kind: type[AbstractEventListener[Any]]) -> str:
    """Return "handler" or "reporter"."""
    return "reporter" if kind.is_report else "handler"


def _refusal_of(listener: object, who: str) -> WrongTypeError:
    """Return the error for an object that is not a handler, or not a reporter."""
    kinds = ", ".join(f"{kind}Event{who.capitalize()}" for kind in ("Scheduled", "Periodic"))
    other = AbstractEventReporter if who == "handler" else AbstractEventHandler
    return wrong_type(
        listener,
        f"{short_repr(listener)}: cannot be added as an event {who}",
        f"an instance of {kinds} or TriggeredEvent{who.capitalize()}",
        f"call add_event_{kind_name(other)}()"
        if isinstance(listener, other)
        else f"pass PeriodicEvent{who.capitalize()}(...)",
    )


def _checked_name(name: object, who: str) -> str:
    """Return the name that was chosen for a handler or reporter, if it can have it.

    Raises
    ------
    InvalidNameError
    """
    what = f"the name of an event {who}"
    name = require_name(name, what)
    if "." in name:
        raise InvalidNameError(
            f"{what}: has a dot in it",
            "a name without dots, which names of declared events have",
            short_repr(name),
            f"write {name.replace('.', '_')!r}",
        )
    if name.startswith("_") or hasattr(Subsystem, name):
        raise InvalidNameError(
            f"{what}: is taken by the subsystem that has it",
            "a name that no Subsystem has for something else",
            short_repr(name),
            f"choose another one, for instance {name.strip('_')}_event",
        )
    return name
