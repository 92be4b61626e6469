"""Mobilizers: named groups of q, and their names; and coordinates, which are one q each.

A mobilizer is a handle of q, or an object whose attribute `q` is a handle, as a MobilizedBody; or a
name. Names are the paths of all q, as "pendulum.angle"; and a System may offer shorter ones by its
attribute `mobilizers`, a dict of handles, as the names of bodies and coordinates.
"""

from collections.abc import Mapping
from typing import Any, Final

from stagecache.checks import did_you_mean, require_index, whole_number
from stagecache.errors import (
    ForeignNodeError,
    UnknownItemError,
    UnknownMobilizerError,
    listed,
    short_repr,
)
from stagecache.state.continuous.live_vector import blocks_of
from stagecache.state.handles import AbstractContinuousVariable, ContinuousElement
from stagecache.state.state import State

Mobilizer = Any
"""A handle of q or of one q, an object with such a handle as `q_in_angles` or `q`, or a str."""

Handle = AbstractContinuousVariable | ContinuousElement

WHOLE: Final = -1
"""All q of the mobilizer, in a key, instead of an index."""

Key = tuple[AbstractContinuousVariable, int]
"""A mobilizer, and the index of one of its q."""


def mobilizers_of(state: State) -> Mapping[str, Handle]:
    """Return the handles of the mobilizers of a State, by name. Cost O(their number)."""
    offered: Mapping[str, Handle] = getattr(state.system, "mobilizers", {})
    paths = {str(handle): handle for _, handle in blocks_of(state._contents, "q", None)}
    return dict(offered) | {path: paths[path] for path in paths if path not in offered}


def name_of(mobilizer: AbstractContinuousVariable, state: State) -> str:
    """Return the name of a mobilizer in messages: its own name, or else its path."""
    names = mobilizers_of(state).items()
    return next((name for name, handle in names if handle == mobilizer), str(mobilizer))


def name_of_q(row: int, state: State) -> str:
    """Return the name of a q in messages: the name of the coordinate, or "q 1 of thigh"."""
    for place, handle in blocks_of(state._contents, "q", None):
        if place.start <= row < place.stop:
            i = row - place.start
            names = handle._names_of(place.stop - place.start)
            return names[i] if names else f"q {i} of {name_of(handle, state)}"
    raise IndexError(row)


def handle_of(mobilizer: Mobilizer, state: State, what: str) -> Handle:
    """Return the handle of a mobilizer, or of one q.

    Raises
    ------
    UnknownMobilizerError
        No mobilizer has this name, or it is something else.
    ForeignNodeError
        It is of another System.
    """
    given = mobilizer
    if isinstance(given, str):
        known = mobilizers_of(state)
        if given not in known:
            offered = getattr(state.system, "mobilizers", None) or known
            hint = did_you_mean(given, known) or "use one of these names"
            if given in getattr(state.system, "ambiguous_mobilizers", ()):
                hint = "a body and a coordinate have this name: pass one of them instead of it"
            raise _unknown(what, "one of " + listed(offered), given, hint)
        given = known[given]
    elif not isinstance(given, Handle):
        given = getattr(given, "q_in_angles", None) or getattr(given, "q", given)
    whole = given.variable if isinstance(given, ContinuousElement) else given
    if not isinstance(whole, AbstractContinuousVariable) or whole.kind != "q":
        raise _unknown(
            what,
            "a handle of q, an object with a handle as its q, or a name",
            mobilizer,
            "write pendulum.angle, body, or 'body'",
        )
    try:
        state._contents.require(whole)
    except ForeignNodeError:
        raise ForeignNodeError(
            f"{what}: belongs to another System",
            f"a q of {state.system!r}",
            short_repr(mobilizer),
            "pass a body, or a handle of q, of the System that is assembled",
        ) from None
    return given  # type: ignore[no-any-return]  # one of both, as was checked


def key_of_mobilizer(mobilizer: Mobilizer, state: State, what: str) -> Key:
    """Return the key of all q of a mobilizer, or of the one q of a coordinate."""
    handle = handle_of(mobilizer, state, what)
    if isinstance(handle, ContinuousElement):
        return handle.variable, checked_index(handle.variable, handle.index, state)
    return handle, WHOLE


def key_of(mobilizer: Mobilizer, index: object, state: State, what: str) -> Key:
    """Return the key of one q of a mobilizer. A coordinate has one q, of index 0.

    Raises
    ------
    UnknownMobilizerError, ForeignNodeError, UnknownItemError
    """
    handle = handle_of(mobilizer, state, what)
    if not isinstance(handle, ContinuousElement):
        return handle, checked_index(handle, index, state)
    require_index(
        index, 1, UnknownItemError, f"q {short_repr(index)} of {handle}", "leave the index out"
    )
    return handle.variable, checked_index(handle.variable, handle.index, state)


def checked_index(mobilizer: AbstractContinuousVariable, index: object, state: State) -> int:
    """Return the index of a q of a mobilizer, as an int from 0 up.

    Raises
    ------
    UnknownItemError
    """
    place = mobilizer.place(state)
    number, count = whole_number(index), place.stop - place.start
    if number is not None and 0 <= number < count:
        return number
    what = f"q {short_repr(index)} of {name_of(mobilizer, state)}"
    hint = "count the q of the mobilizer as the Assembler has them: in angles, not in quaternions"
    return require_index(index, count, UnknownItemError, what, hint, nothing="a mobilizer with q")


def _unknown(what: str, expected: str, got: object, hint: str) -> UnknownMobilizerError:
    return UnknownMobilizerError(f"{what}: not a mobilizer", expected, short_repr(got), hint)
