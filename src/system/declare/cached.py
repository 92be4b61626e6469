"""Cache entries of any type: ``@cached(prerequisites=...)``, single ones or a family of them."""

from collections.abc import Callable
from typing import Any, TypeVar, final, overload

from stagecache.errors import DeclarationError
from stagecache.graph.declaration import Equality, check_equal, check_shared
from stagecache.state.handles import CacheEntry
from stagecache.state.stage import Stage, check_stage
from stagecache.system.declare.computations import AbstractComputation, check_compute
from stagecache.system.declare.declaration import (
    AnyPrerequisites,
    FamilyPrerequisites,
    Prerequisites,
    check_prerequisites,
)
from stagecache.system.declare.families import Count, FamilyDeclaration, repeated

T = TypeVar("T")


@final
class CachedDeclaration(AbstractComputation[T]):
    """A declared cache entry of any type."""

    def __init__(
        self,
        compute: Callable[..., T],
        prerequisites: AnyPrerequisites | None,
        available_from: Stage | None,
        computed_by: Stage,
        equal: Callable[[Any, Any], Any] | None,
        version: str | None,
    ) -> None:
        super().__init__(compute, prerequisites, computed_by)
        self.available_from = available_from
        self.equal = equal
        self.version = version


@overload
def cached(
    *,
    prerequisites: Prerequisites | None = None,
    available_from: Stage | None = None,
    computed_by: Stage = Stage.INFINITY,
    equal: Equality = None,
    shared: bool = False,
    version: str = "",
    unit: str = "",
) -> Callable[[Callable[[Any, Any], T]], CachedDeclaration[T]]: ...
@overload
def cached(
    *,
    count: Count,
    prerequisites: FamilyPrerequisites | None = None,
    available_from: Stage | None = None,
    computed_by: Stage = Stage.INFINITY,
    equal: Equality = None,
    shared: bool = False,
    version: str = "",
    unit: str = "",
) -> Callable[[Callable[[Any, Any, int], T]], FamilyDeclaration[CacheEntry[T]]]: ...
def cached(
    without_parentheses: None = None,
    /,
    *,
    count: Count | None = None,
    prerequisites: AnyPrerequisites | None = None,
    available_from: Stage | None = None,
    computed_by: Stage = Stage.INFINITY,
    equal: Equality = None,
    shared: bool = False,
    version: str = "",
    unit: str = "",
) -> Any:
    """Declare a cache entry, by the function ``(self, state)`` that computes it.

    Parameters
    ----------
    count : int, sequence of str, or callable, optional
        Declare several under one name, a `Family`, by a function ``(self, state, i)``: their
        number or names, or a function ``(self)`` that returns either, called when the topology is
        realized.
    prerequisites : tuple or callable
        The declared items on which it depends; or a function ``(self)``, with a count
        ``(self, i)``, that returns handles, also of other subsystems, called when the topology is
        realized. A family that is named in a tuple stands for all its items, and a group such as
        ``self.other.all_parameters`` for its variables. `stagecache.system.ALL` in place of the
        tuple stands for all that can be written.
    available_from : Stage, optional
        The first stage at which it can be computed, Topology to Report. It is stale when that stage
        changes. The default is the lowest at which all prerequisites can be read.
    computed_by : Stage, optional
        The stage whose realization computes it. By default, only a read does.
    equal : bool or callable, optional
        The comparison of a new value with the one before; True stands for ``==``, and for arrays
        there is ``np.array_equal``. If they are equal, the old one stays (early cutoff), and
        entries below that depend on nothing else that has changed are not computed again: not on a
        stage that the write invalidates, either.
    shared : bool
        True if a value that was computed for the same values of the prerequisites is taken, also
        from another State, and as `shared_results` says, from another process. A read first
        computes all prerequisites, unless they are shared, too. The value may depend on nothing
        else that varies: a read of anything else raises.
    version : str, optional
        Version of a shared function, for a change of something that it uses outside of its code,
        such as a file of data.
    unit : str, optional
        Same as for `parameter`.

    Raises
    ------
    DeclarationError
        Neither prerequisites nor a stage are given; or it is shared, and has a stage or lacks
        prerequisites.
    WrongTypeError, StageOutOfRangeError, ComputeSignatureError
    OutOfRangeError, InvalidNameError
    """
    what = "cached"
    if without_parentheses is not None:
        raise DeclarationError(
            f"{what}: used without parentheses",
            "@cached(prerequisites=(...)), or @cached(available_from=Stage...)",
            "@cached alone, which does not say when the value is stale",
            "name what it is computed from, as in @cached(prerequisites=(angle, length))",
        )
    lowest = Stage.TOPOLOGY
    if available_from is not None:
        lowest = available_from = check_stage(
            available_from, lowest, Stage.REPORT, f"{what}(available_from=...)"
        )
    computed_by = check_stage(computed_by, lowest, Stage.INFINITY, f"{what}(computed_by=...)")
    named = check_prerequisites(prerequisites, what)
    if named is None and available_from is None:
        raise DeclarationError(
            f"{what}: does not say when the value is stale",
            "prerequisites=, or available_from=, or both",
            "neither",
            f"name what it is computed from, as in {what}(prerequisites=(angle, length)); "
            "for a constant, prerequisites=()",
        )
    comparison = check_equal(equal, what)
    shared_as = check_shared(
        what, shared, version, has_prerequisites=bool(named) and available_from is None
    )

    def declare(compute: Callable[..., Any]) -> Any:
        function = check_compute(compute, what, in_family=count is not None)
        item = CachedDeclaration(
            function, named, available_from, computed_by, comparison, shared_as
        )
        return repeated(what, item, count, unit)

    return declare
