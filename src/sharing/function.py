r"""Compute functions of shared entries, which look for a value before they compute one.

::

    key  =  SHA-256 of   the recipe: code, attributes, declared version
                         each prerequisite: its key if it is a shared entry, else its value

    length, given      two prerequisites of `load`: `length` by its value, `factors` by its key, so
       |        \      that `factors` need not be computed, nor read from a folder, for a `load`
    factors     |      that is found. A change of the code of `factors` changes the key of `load`.
        \       |
          load

Where the value of a shared prerequisite was stored by hand, or is an older one that compared equal,
it is not the value of its key, and counts as a value.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final, final

from attrs import frozen

from stagecache.errors import UnsharableError
from stagecache.graph.evaluation import Evaluator
from stagecache.graph.store import Store
from stagecache.sharing.code import Code
from stagecache.sharing.fingerprint import fingerprint
from stagecache.sharing.results import Origin, results_in_use

DEEPEST: Final = 24
"""Shared entries above each other whose keys are made without their values."""


@final
@frozen(eq=False)
class Place:
    """An entry that is being computed: where it is, and its prerequisites, by their handles."""

    store: Store
    evaluator: Evaluator
    node: int
    above: Sequence[Any]


class AbstractSharedFunction(ABC):
    """The compute function of a shared entry, which has at least one prerequisite.

    Parameters
    ----------
    compute : callable
        The function of the user, which returns the value in its stored form.
    recipe : callable
        Returns the fingerprint of the code, and of all that is constant while the entry exists. It
        is called when the entry is first computed.
    title : callable
        Returns the path of the entry.
    """

    __slots__ = ("_recipe", "_recipe_of", "_title", "compute")

    def __init__(
        self, compute: Callable[..., Any], recipe: Callable[[], Code], title: Callable[[], str]
    ) -> None:
        self.compute = compute
        self._recipe_of = recipe
        self._recipe = b""
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
            Its code, an attribute of its subsystem or a prerequisite cannot be compared.
        """
        results = results_in_use()
        if results.is_off or not self._may_share(arguments):
            return self.compute(*arguments)
        place = self._place(arguments)
        key = self._key(place, arguments, DEEPEST).hex()
        value, origin, is_found = results.find_or_compute(
            key, self._title(), lambda: self._compute_alone(arguments)
        )
        place.store.origins[place.node] = (value, origin, is_found)
        return value

    @abstractmethod
    def _place(self, arguments: Sequence[Any]) -> Place:
        """Return where the entry is."""

    @abstractmethod
    def _read(self, handle: Any, arguments: Sequence[Any]) -> Any:
        """Return the value of a prerequisite, computed if it is not valid."""

    @abstractmethod
    def _arguments(self, handle: Any, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments of the function of a prerequisite."""

    def _may_share(self, arguments: Sequence[Any]) -> bool:  # noqa: ARG002  # others need it
        """Return False where each value is to be computed."""
        return True

    def _compute_alone(self, arguments: Sequence[Any]) -> Any:
        """Return the computed value, for a function that may read its prerequisites only."""
        return self.compute(*arguments)

    # ------------------------------------------------------------------ keys

    def _key(self, place: Place, arguments: Sequence[Any], deepest: int) -> bytes:
        if not self._recipe:
            self._recipe = self._checked_recipe()
        hashed = sha256(self._recipe)
        for handle in place.above:
            hashed.update(self._part(place, handle, arguments, deepest))
        return hashed.digest()

    def _part(self, place: Place, handle: Any, arguments: Sequence[Any], deepest: int) -> bytes:
        """Return the key of a prerequisite, or the fingerprint of its value; 33 bytes."""
        node, store = handle._node, place.store
        above = place.evaluator.functions[node]
        if isinstance(above, AbstractSharedFunction):
            if store.is_valid(node):
                origin = origin_at(store, node)
                if origin is not None:
                    return b"k" + bytes.fromhex(origin.key)
            elif node not in place.evaluator.equals and deepest:
                inner = above._arguments(handle, arguments)
                return b"k" + above._key(above._place(inner), inner, deepest - 1)
        return b"v" + fingerprint(self._read(handle, arguments), str(handle))

    def _checked_recipe(self) -> bytes:
        code = self._recipe_of()
        if code.hash:
            return bytes.fromhex(code.hash)
        raise UnsharableError(
            f"{self._title()}: cannot be shared",
            "a function, and attributes of its subsystem, that can be compared with those of "
            "another process",
            f"{code.unknown}, which cannot",
            "let the function use values of declared variables, plain attributes, and functions "
            "of modules; or leave shared=True out",
        )


def origin_at(store: Store, node: int) -> Origin | None:
    """Return the origin of the value that an entry has now; None if it is not a shared one."""
    found = store.origins.get(node)
    return None if found is None or found[0] is not store.values[node] else found[1]
