"""Declared computations: cache entries of any type."""

from collections.abc import Callable
from types import MethodType, NoneType, UnionType
from typing import Any, Final, TypeVar, Union, final, get_args, get_origin, get_type_hints, overload

from stagecache.errors import (
    ComputeSignatureError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.declaration import check_function
from stagecache.numerics.matrices import refused_none
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    AnyPrerequisites,
    PlannedEntry,
    arguments,
    check_prerequisites,
    resolve,
)
from stagecache.system.declare.groups import ALL
from stagecache.system.declare.trigger_rows import TriggerRow

D = TypeVar("D")
T = TypeVar("T")
NOTHING_SAID: Final = "no annotation"


def check_compute(compute: Any, what: str, *, in_family: bool = False) -> Any:
    """Refuse a function that cannot be called with (self, state), or (self, state, i)."""
    names = ("self", "state", "i") if in_family else ("self", "state")
    try:
        return check_function("", compute, names)
    except (ComputeSignatureError, WrongTypeError) as error:
        raise type(error)(
            f"{what}: {short_repr(getattr(compute, '__name__', compute))} cannot be called with "
            f"({', '.join(names)})",
            f"a plain function of {len(names)} arguments",
            error.got,
            f"write def name({', '.join(names)}), and return the value",
        ) from None


@overload
def decorator(
    what: str,
    make: Callable[[Any, Any], D],
    prerequisites: AnyPrerequisites | None,
    *,
    in_family: bool = False,
) -> Callable[[Any], D]: ...
@overload
def decorator(
    what: str,
    make: Callable[[Any, Any], Any],
    prerequisites: AnyPrerequisites | None,
    compute: Callable[..., Any] | None,
    *,
    in_family: bool = False,
) -> Any: ...
def decorator(
    what: str,
    make: Callable[[Any, Any], Any],
    prerequisites: AnyPrerequisites | None,
    compute: Callable[..., Any] | None = None,
    *,
    in_family: bool = False,
) -> Any:
    """Return a decorator of a computation; or the declaration, if the function is given already.

    Parameters
    ----------
    what : str
        Name of the decorator in errors.
    make : callable
        The function of a checked function and its checked prerequisites that returns the
        declaration.
    prerequisites : tuple or callable or None
    compute : callable, optional
        The function, where the decorator is used without parentheses.
    in_family : bool
        True for a function ``(self, state, i)``.

    Raises
    ------
    WrongTypeError, ComputeSignatureError
    """
    named = check_prerequisites(prerequisites, what)

    def declare(function: Callable[..., Any]) -> Any:
        return make(check_compute(function, what, in_family=in_family), named)

    return declare if compute is None else declare(compute)


@final
class NoneRefusal:
    """Refusal of None as the value of a computation that promises another.

    A function whose return annotation admits None may return it, unless it computes rows.
    """

    def __init__(self, compute: Callable[..., Any], handle: AbstractHandle) -> None:
        self._compute = compute
        self._handle = handle

    def __call__(self) -> None:
        """Raise `NoValueError` unless None is a value."""
        if not _admits_none(self._compute):
            hint = "return it; if None is one, say so: -> float | None"
            raise refused_none(str(self._handle), hint)


def _admits_none(compute: Callable[..., Any]) -> bool:
    try:
        promised = get_type_hints(compute).get("return", NOTHING_SAID)
    except (NameError, TypeError):  # names that are known to type checkers only
        text = str(compute.__annotations__.get("return", ""))
        return text in ("Any", "object") or "None" in text or "Optional" in text
    if get_origin(promised) in (Union, UnionType):
        return NoneType in get_args(promised)
    return promised in (NoneType, None, Any, object)


class AbstractComputation(AbstractDeclaration[CacheEntry[T]]):
    """A declared cache entry.

    Attributes
    ----------
    compute : callable
        The function ``(self, state)``, or ``(self, state, i)`` in a family.
    prerequisites : tuple or callable or None
    available_from : Stage or None
        None: the lowest stage at which the prerequisites can be read.
    computed_by : Stage
    equal : callable or None
        The comparison of a new value with the one before.
    is_last : bool
        True if the entry is due once all subsystems have reached the stage, not only its own.
    version : str or None
        Version of the function, if its values are shared; None if they are not.
    """

    compute: Callable[..., T]
    prerequisites: AnyPrerequisites | None
    available_from: Stage | None
    computed_by: Stage
    equal: Callable[[Any, Any], Any] | None = None
    is_last = False
    version: str | None = None

    def __init__(
        self,
        compute: Any,
        prerequisites: AnyPrerequisites | None,
        computed_by: Stage = Stage.INFINITY,
        default: Stage | None = None,
    ) -> None:
        """Set the attributes; without prerequisites, all of the stage `default` is one.

        That is also what ALL means for it: a write that leaves its stage leaves its value.
        """
        if default is not None and isinstance(prerequisites, tuple) and ALL in prerequisites:
            prerequisites = None
        self.compute = compute
        self.prerequisites = prerequisites
        self.computed_by = computed_by
        self.available_from = default if prerequisites is None else None

    @property
    def decorator(self) -> str:
        """Name of the decorator that declares it: "cached", "position_error", "jacobian", ..."""
        return self.role or "cached"

    def _new_handle(self, name: str) -> CacheEntry[T]:
        available_from = Stage.EMPTY if self.available_from is None else self.available_from
        return CacheEntry(name, available_from, self.computed_by)

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, with its prerequisites."""
        named = self.prerequisites
        return PlannedEntry(
            handle,
            () if named is None else resolve(named, handle),
            self.available_from,
            self._function(handle),
            NoneRefusal(self.compute, handle),
            self.equal,
            self._fill(handle),
            self._lowest(handle._owner),
            self.is_last,
            self._trigger(handle),
            self.version is not None,
        )

    def _lowest(self, subsystem: Any) -> Stage:  # noqa: ARG002  # others need it
        """Return the stage before which it cannot be computed, whatever its prerequisites."""
        return Stage.TOPOLOGY

    def _function(self, handle: AbstractHandle) -> Callable[[Any], Any]:
        subsystem, *number = arguments(handle)
        compute = self.compute
        if not number:
            return MethodType(compute, subsystem)
        return lambda state: compute(subsystem, state, *number)

    def _fill(self, handle: Any) -> Callable[[Any], Any] | None:  # noqa: ARG002  # others need it
        return None

    def _trigger(self, handle: Any) -> TriggerRow | None:  # noqa: ARG002  # likewise
        return None
