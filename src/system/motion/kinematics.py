r"""Declared kinematics: how the time derivatives of some q follow from some u.

::

    qdot = N u      N   (nq, nu)  of some q and u of a subsystem, with full column rank
    u = P qdot      P   (nu, nq)  its pseudoinverse: P N = 1, but N P = 1 only where nq = nu

    @kinematics(orientation, spin)
    def turning(self, state): return N          an entry, `turning`

    @turning.pinv
    def turning_back(self, state): return P     likewise; without it, there is `turning.pinv`

q and u that no block covers are paired in order, with N = 1.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, final, overload

from attrs import evolve

from stagecache.errors import DeclarationError, KinematicsError, PrerequisiteStageError, short_repr
from stagecache.numerics.matrices import Matrix
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.system.declare.computations import AbstractComputation, decorator
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    PlannedEntry,
    Prerequisites,
)
from stagecache.system.declare.families import Family, FamilyDeclaration
from stagecache.system.motion.matrix import check_pinv, checked_matrix, pinv
from stagecache.system.motion.rows import BoundKinematics, Handles, RowsDeclaration

Compute = Callable[[Any, Any], Any]
Inverse = Callable[[Matrix, object], Matrix]


def kind_of(declared: object) -> str:
    """Return "q", "u" or "z", the kind of a declared variable; else ""."""
    item = declared.item if isinstance(declared, FamilyDeclaration) else declared
    is_variable = isinstance(item, AbstractDeclaration) and item.is_variable
    kind = getattr(item, "kind", "") if is_variable else ""
    return kind if isinstance(kind, str) else ""


def handles_in(subsystem: Any, variables: Iterable[AbstractDeclaration[Any]]) -> Handles:
    """Return the handles of variables in a subsystem, families item by item."""
    found: list[AbstractContinuousVariable] = []
    for declared in variables:
        bound = getattr(subsystem, declared.name)
        if isinstance(bound, Family):
            found += bound
        else:
            found.append(bound)
    return tuple(found)


def count_of(state: Any, handles: Handles) -> int:
    """Return the number of numbers in these variables."""
    places = state._contents.pools.places
    return sum(places[h._node].stop - places[h._node].start for h in handles)


def require_variables(
    variables: tuple[AbstractDeclaration[Any], ...], kinds: str, what: str, hint: str
) -> list[str]:
    """Return the kinds of declared variables, each given once and of one of these kinds.

    Raises
    ------
    DeclarationError
    """
    found = [kind_of(variable) for variable in variables]
    wrong = [v for v, kind in zip(variables, found, strict=True) if kind not in [*kinds]]
    if wrong or len(set(map(id, variables))) < len(variables):
        raise DeclarationError(
            f"{what}: not for these variables",
            f"declared variables of {' and '.join(kinds)}, each once",
            short_repr(wrong[0]) if wrong else "a variable twice",
            hint,
        )
    return found


def require_variables_in(declared: Any, found: Mapping[str, AbstractDeclaration[Any]]) -> None:
    """Refuse a declaration about variables that its class does not have.

    Parameters
    ----------
    declared : AbstractDeclaration
        With `variables`.
    found : dict of str to AbstractDeclaration
        All that the class declares and inherits.

    Raises
    ------
    DeclarationError
    """
    for variable in declared.variables:
        if kind_of(found.get(variable.name)) != kind_of(variable):
            raise DeclarationError(
                f"{declared}: relates a variable that is not there",
                f"a {kind_of(variable)} variable {variable.name!r}, declared or inherited",
                f"{found.get(variable.name, 'none')}",
                "declare it in the same class, or in a base class",
            )


def require_variables_once(
    declared: Any, found: Mapping[str, AbstractDeclaration[Any]], expected: str
) -> None:
    """Refuse a declaration about variables that another one of its kind covers, too.

    Raises
    ------
    DeclarationError
    """
    names = {v.name for v in declared.variables}
    for other in found.values():
        if not isinstance(other, type(declared)) or other is declared:
            continue
        theirs = {v.name for v in other.variables}
        common = names & theirs if names and theirs else names | theirs or {"all"}
        if common:
            raise DeclarationError(
                f"{declared}: relates variables that {other} relates, too",
                expected,
                ", ".join(sorted(common)),
                f"call it {other.name!r} too: then it replaces that one",
            )


@final
class KinematicsDeclaration(AbstractComputation[Matrix]):
    """The declared matrix N of some q and u: a cache entry.

    Attributes
    ----------
    variables : tuple of declarations
        The q and u, or families of them; none: all of the subsystem.
    inverse : callable
        The function of the pseudoinverse, used where none is declared.
    """

    decorator = "kinematics"

    def __init__(
        self,
        compute: Compute,
        variables: tuple[AbstractDeclaration[Any], ...],
        prerequisites: Prerequisites | None,
        inverse: Inverse = pinv,
    ) -> None:
        if prerequisites is None:
            of_q = tuple(v for v in variables if kind_of(v) == "q")
            prerequisites = of_q if variables else _all_q
        super().__init__(compute, prerequisites)
        self.variables = variables
        self.inverse = inverse

    def handles(self, subsystem: Any, kind: str) -> Handles:
        """Return the q, or the u, of the block in a subsystem."""
        if not self.variables:
            return (subsystem._wholes[kind],)
        return handles_in(subsystem, [v for v in self.variables if kind_of(v) == kind])

    def pinv_in(self, subsystem: Any) -> CacheEntry[Matrix]:
        """Return the entry of the pseudoinverse in a subsystem."""
        declarations = type(subsystem).declarations
        found = _declared_pinv(self.name, declarations) or declarations[f"{self.name}.pinv"]
        handle: CacheEntry[Matrix] = found.bound(subsystem)
        return handle

    def companions(
        self, found: Mapping[str, AbstractDeclaration[Any]]
    ) -> list[AbstractDeclaration[Any]]:
        """Return the pseudoinverse, if no function is declared for it; and rows, for all blocks.

        Raises
        ------
        DeclarationError
            The variables are not there, or have kinematics already.
        """
        require_variables_in(self, found)
        require_variables_once(self, found, "each q and u in one block of kinematics at most")
        companions: list[AbstractDeclaration[Any]] = [RowsDeclaration(kinematics_of)]
        if _declared_pinv(self.name, found) is None:
            companions.append(PinvDeclaration(self))
        return companions

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, which needs the numbers of q and u."""
        planned = evolve(super().plan(handle), lowest=Stage.MODEL)
        for above in planned.prerequisites:
            if isinstance(above, AbstractContinuousVariable) and above.kind != "q":
                raise PrerequisiteStageError(
                    f"{handle}: depends on {above.kind}",
                    "prerequisites that are there at Position: q, the time, parameters",
                    f"{above}",
                    "leave it out: N is multiplied by u, and so does not depend on u",
                )
        return planned

    @overload
    def pinv(self, compute: Compute) -> "PinvDeclaration": ...
    @overload
    def pinv(self, *, prerequisites: Prerequisites) -> Callable[[Compute], "PinvDeclaration"]: ...
    def pinv(
        self, compute: Compute | None = None, *, prerequisites: Prerequisites | None = None
    ) -> Any:
        """Decorate the function ``(self, state)`` that returns the pseudoinverse P of N.

        It is ``inv(N' N) N'``, in the form in which N is given; another matrix is refused when it
        has been computed. What it depends on, beside N, `prerequisites` name, as for `cached`; the
        default is the prerequisites of N.
        """
        return decorator(
            f"@{self.name}.pinv", lambda f, p: PinvDeclaration(self, f, p), prerequisites, compute
        )

    def _function(self, handle: AbstractHandle) -> Callable[[Any], Matrix]:
        compute, subsystem = self.compute, handle._owner

        def computed(state: Any) -> Matrix:
            values: Any = compute(subsystem, state)
            nq, nu = (count_of(state, self.handles(subsystem, kind)) for kind in "qu")
            if nq < nu:
                raise KinematicsError(
                    f"{handle}: relates fewer q than u",
                    "at least as many q as u, so that N has full column rank",
                    f"{nq} q and {nu} u",
                    "declare a q for each u",
                )
            return checked_matrix(values, (nq, nu), str(handle))

        return computed


@final
class PinvDeclaration(AbstractComputation[Matrix]):
    """The pseudoinverse of a declared N: a cache entry, with a function of its own or without."""

    role = "pinv"

    def __init__(
        self,
        of: KinematicsDeclaration,
        compute: Compute | None = None,
        prerequisites: Prerequisites | None = None,
    ) -> None:
        self.of: KinematicsDeclaration = of
        self.own = compute
        if compute is None:
            super().__init__(of.compute, ())
            self.name = f"{of.name}.pinv"
        else:
            super().__init__(compute, of.prerequisites if prerequisites is None else prerequisites)

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether that is an N."""
        return isinstance(declared, KinematicsDeclaration)

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, which depends on N at least."""
        planned = super().plan(handle)
        above = dict.fromkeys((getattr(handle._owner, self.of.name), *planned.prerequisites))
        return evolve(planned, prerequisites=tuple(above), lowest=Stage.MODEL)

    def _function(self, handle: AbstractHandle) -> Callable[[Any], Matrix]:
        compute, subsystem = self.own, handle._owner
        kinematics = type(subsystem).declarations[self.of.name]
        assert isinstance(kinematics, KinematicsDeclaration)
        n = kinematics.bound(subsystem)

        def computed(state: Any) -> Matrix:
            matrix = n(state)
            if compute is None:
                return kinematics.inverse(matrix, n)
            values: Any = compute(subsystem, state)
            nq, nu = (count_of(state, kinematics.handles(subsystem, kind)) for kind in "qu")
            found = checked_matrix(values, (nu, nq), handle)
            check_pinv(found, matrix, handle)
            return found

        return computed


def kinematics_of(subsystem: Any) -> list[BoundKinematics]:
    """Return the blocks that a subsystem declares, in order. Cost O(its declarations)."""
    return [
        BoundKinematics(
            declared.handles(subsystem, "q"),
            declared.handles(subsystem, "u"),
            declared.bound(subsystem),
            declared.pinv_in(subsystem),
        )
        for declared in type(subsystem).declarations.values()
        if isinstance(declared, KinematicsDeclaration)
    ]


def kinematics(
    *variables: AbstractDeclaration[Any], prerequisites: Prerequisites | None = None
) -> Callable[[Compute], KinematicsDeclaration]:
    """Declare N of qdot = N u, by the function ``(self, state)`` that computes it.

    It is a cache entry, and so is its pseudoinverse. Each is computed when it is read.

    Parameters
    ----------
    *variables : declarations
        The q and the u, or families of them, that N relates, in the order of its rows and
        columns. Without any, all of the subsystem.
    prerequisites : tuple or callable, optional
        Same as for `cached`. The default is the q of the block.

    Returns
    -------
    callable
        A decorator of the function. That returns an array of shape (nq, nu), of full column rank; a
        matrix of scipy.sparse; or k blocks along the diagonal, of shape (k, nq / k, nu / k).

    Raises
    ------
    DeclarationError
        Something else is given than declared q and u, or no q.
    WrongTypeError, ComputeSignatureError

    Examples
    --------
    A wheel whose angle is kept as its cosine and sine:

    >>> import numpy as np
    >>> from stagecache import Stage, State, Subsystem, System, q_variable, u_variable
    >>> from stagecache.system.motion.operators import multiply_by_n
    >>> from stagecache.system.motion.kinematics import kinematics
    >>> class Wheel(Subsystem):
    ...     direction = q_variable((0.6, 0.8))
    ...     speed = u_variable(10.0)
    ...
    ...     @kinematics(direction, speed)
    ...     def rolling(self, state: State) -> np.ndarray:
    ...         cosine, sine = self.direction(state)
    ...         return np.array([[-sine], [cosine]])
    >>> system = System(Wheel())
    >>> state = system.new_state()
    >>> system.realize(state, Stage.POSITION)
    >>> multiply_by_n(state, state.u)
    array([-8.,  6.])
    """
    what = "kinematics"
    kinds = require_variables(
        variables, "qu", what, "write @kinematics(orientation, spin); for all, @kinematics()"
    )
    if variables and "q" not in kinds:
        raise DeclarationError(
            f"{what}: not for these variables",
            "declared variables of q, and of u",
            f"variables of {', '.join(kinds)}",
            "name the q as well: @kinematics(orientation, spin)",
        )
    return decorator(what, lambda f, p: KinematicsDeclaration(f, variables, p), prerequisites)


def _all_q(subsystem: Any) -> tuple[AbstractHandle, ...]:
    return (subsystem.q,)


def _declared_pinv(
    name: str, found: Mapping[str, AbstractDeclaration[Any]]
) -> "PinvDeclaration | None":
    """Return the function that is declared for the pseudoinverse of the N of that name."""
    for declared in found.values():
        if isinstance(declared, PinvDeclaration) and declared.own and declared.of.name == name:
            return declared
    return None
