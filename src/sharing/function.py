"""Compute functions of shared entries, which look for a value before they compute one.

::

    key of load  =  SHA-256 of   its recipe     code, attributes, declared version
                                 length         a variable: its value
                                 factors        a shared entry: its key

The key of `factors` stands for its value. So `factors` need not be computed to find `load`, and a
change of its code changes the key of `load`. A shared prerequisite may have another value than its
key says if the value was stored by hand, compared equal to a new one, or can be changed in place;
then the value itself is compared.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Self, final

import numpy as np
from attrs import frozen

from stagecache.errors import UnsharableError
from stagecache.graph.store import Store
from stagecache.sharing.fingerprint import fingerprint
from stagecache.sharing.results import Origin, results_in_use
from stagecache.state.values.values import IMMUTABLE

DEEPEST: Final = 24
"""Longest chain of shared entries whose keys are made without their values."""


@final
@frozen
class Recipe:
    """All that a shared entry depends on, except the values of its prerequisites.

    Attributes
    ----------
    hash : str
        Its fingerprint; "" if it cannot be compared.
    is_constant : bool
        True if it is the same for all reads; False if an attribute can be changed in place.
    reason : str
        The part that cannot be compared; "" without one.
    """

    hash: str
    is_constant: bool
    reason: str = ""

    @classmethod
    def unknown(cls, reason: str) -> Self:
        """Return a recipe that cannot be compared."""
        return cls("", is_constant=False, reason=reason)


@final
@frozen(eq=False)
class Place:
    """An entry that is being computed.

    Attributes
    ----------
    store : Store
    functions : sequence of callable
        Compute functions as they were declared, by node; a trace gives the evaluator others.
    equals : mapping
        Comparisons of entries that have an early cutoff, by node.
    node : int
    above : sequence of handles
        Its prerequisites.
    arguments : sequence
        Arguments of its function.
    """

    store: Store
    functions: Sequence[Any]
    equals: Mapping[int, Any]
    node: int
    above: Sequence[Any]
    arguments: Sequence[Any]


class AbstractSharedFunction(ABC):
    """The compute function of a shared entry, which has at least one prerequisite.

    Parameters
    ----------
    compute : callable
        The function of the user, which returns the value in its stored form.
    recipe : callable
        Returns the recipe; called with True to look at the code again.
    title : callable
        Returns the path of the entry.
    """

    __slots__ = ("_recipe", "_recipe_of", "_title", "compute")

    def __init__(
        self,
        compute: Callable[..., Any],
        recipe: Callable[[bool], Recipe],
        title: Callable[[], str],
    ) -> None:
        self.compute = compute
        self._recipe_of = recipe
        self._recipe: Recipe | None = None
        self._title = title

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function of the user, by the name that `inspect.unwrap` knows."""
        return self.compute

    def __call__(self, *arguments: Any) -> Any:
        """Return the value, found or computed.

        Raises
        ------
        UnsharableError
            Its code, an attribute of its subsystem, a prerequisite or the value cannot be compared.
        """
        results = results_in_use()
        if results.is_off or self._is_watched(arguments):
            return self.compute(*arguments)
        place = self._place(arguments)
        key = self._key(place, DEEPEST, {}).hex()
        recipe = self._recipe
        value, origin, is_found = results.find_or_compute(
            key, self._title(), lambda: self._compute(place), lambda: self._is_still(recipe)
        )
        if origin is None:
            place.store.origins.pop(place.node, None)
        else:
            place.store.origins[place.node] = (value, origin, is_found)
        return value

    def _is_watched(self, arguments: Sequence[Any]) -> bool:  # noqa: ARG002  # a State may be
        """Return True if each value must be computed."""
        return False

    @abstractmethod
    def _place(self, arguments: Sequence[Any]) -> Place:
        """Return the entry whose function has these arguments."""

    @abstractmethod
    def _arguments_of(self, handle: Any, place: Place) -> Sequence[Any]:
        """Return the arguments of the function of a prerequisite that is a shared entry."""

    @abstractmethod
    def _read(self, handle: Any, place: Place) -> Any:
        """Return the value of a prerequisite, computed if it is not valid."""

    def _compute(self, place: Place) -> Any:
        """Return the computed value."""
        return self.compute(*place.arguments)

    # ------------------------------------------------------------------ keys

    def _key(self, place: Place, deepest: int, known: dict[int, bytes]) -> bytes:
        """Return the key of a value; `known` has the keys of other entries, by node."""
        found = known.get(place.node)
        if found is None:
            hashed = sha256(bytes.fromhex(self._present_recipe().hash))
            for handle in place.above:
                hashed.update(self._part(handle, place, deepest, known))
            found = known[place.node] = hashed.digest()
        return found

    def _part(self, handle: Any, place: Place, deepest: int, known: dict[int, bytes]) -> bytes:
        """Return the key of a prerequisite, or the fingerprint of its value; 33 bytes."""
        node, store = handle._node, place.store
        above = place.functions[node]
        if isinstance(above, AbstractSharedFunction):
            if store.is_valid(node):
                origin = origin_at(store, node)
                if origin is not None and _is_frozen(store.values[node]):
                    return b"k" + bytes.fromhex(origin.key)
            elif node not in place.equals and deepest:
                its_place = above._place(self._arguments_of(handle, place))
                return b"k" + above._key(its_place, deepest - 1, known)
        return b"v" + fingerprint(self._read(handle, place), str(handle))

    def _present_recipe(self) -> Recipe:
        """Return the recipe, made again if an attribute may have been changed in place."""
        recipe = self._recipe
        if recipe is None or not recipe.is_constant:
            recipe = self._recipe = self._recipe_of(False)
        if recipe.hash:
            return recipe
        self._recipe = None
        raise UnsharableError(
            f"{self._title()}: cannot be shared",
            "a function and attributes of its subsystem that can be compared across processes",
            f"{recipe.reason}, which cannot",
            "let the function use values of declared variables, plain attributes, and functions "
            "of modules; or leave shared=True out",
        )

    def _is_still(self, recipe: Recipe | None) -> bool:
        """Look at the code again; return True if the recipe is the same after a computation."""
        self._recipe = fresh = self._recipe_of(True)
        return recipe is not None and fresh.hash == recipe.hash


def origin_at(store: Store, node: int) -> Origin | None:
    """Return the origin of the value that an entry has now; None if it is not a shared one."""
    found = store.origins.get(node)
    return None if found is None or found[0] is not store.values[node] else found[1]


def _is_frozen(value: Any) -> bool:
    """Return True for a value that cannot be changed in place."""
    if isinstance(value, np.ndarray):
        return not (value.flags.writeable or value.dtype.hasobject)
    return type(value) in IMMUTABLE
