"""A valid call of a public callable: what a case of misuse is made of, by one wrong argument."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import Factory, evolve, field, frozen

from stagecache.errors import short_repr

if TYPE_CHECKING:
    from tests.misuse.world import World


@frozen
class Wrong:
    """A wrong value, its kind ("type", "NaN", ...), and the text that names it."""

    kind: str
    text: str
    value: object = field(repr=False)


@frozen
class Call:
    """A valid call. `wrong` has more values that some parameters must refuse, by their names.

    With `only`, no other parameters get wrong values: a call with them would take long.
    A call that is refused whatever its arguments `is_refused`: its error says what to use instead.
    """

    function: Callable[..., Any]
    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] = Factory(dict)
    wrong: Mapping[str, tuple[Wrong, ...]] = Factory(dict)
    is_refused: bool = False
    only: frozenset[str] = frozenset()

    def make(self) -> object:
        """Make the call."""
        return self.function(*self.positional, **self.named)

    def but(self, **values: object) -> "Call":
        """Return the call with more wrong values of a parameter: a list, or one value."""
        more = {
            name: tuple(
                w if isinstance(w, Wrong) else Wrong("value", text_of(w), w)
                for w in (value if isinstance(value, list) else [value])
            )
            for name, value in values.items()
        }
        return evolve(self, wrong={**self.wrong, **more})


def text_of(value: object) -> str:
    """Return the text that names a wrong value, without addresses and bytes of files."""
    text = "bytes" if isinstance(value, bytes) else short_repr(value)
    return text.partition(" at 0x")[0]


Recipe = Callable[["World"], Call]
Recipes = dict[str, Recipe]


def call(function: Callable[..., Any], *positional: object, **named: object) -> Call:
    """Return a valid call."""
    return Call(function, positional, named)


def refused(function: Callable[..., Any], *positional: object) -> Call:
    """Return a call that is never valid."""
    return Call(function, positional, is_refused=True)


def setting(thing: object, name: str, value: object) -> Call:
    """Return a valid assignment of a property."""
    return Call(lambda value: setattr(thing, name, value), (value,))


def item(thing: Any, key: object) -> Call:
    """Return a valid access to an item."""
    return Call(lambda key: thing[key], (key,))


def setting_item(thing: Any, key: object, value: object) -> Call:
    """Return a valid assignment of an item."""

    def assign(key: object, value: object) -> None:
        thing[key] = value

    return Call(assign, (key, value))
