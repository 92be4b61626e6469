"""Declared conditions that only normalize q, as |quaternion| = 1: rows of qerr and nothing else.

Such a condition restricts no motion: its gradient is orthogonal to the range of N in qdot = N u, so
it keeps its value whatever u is. It has no rows of uerr and udoterr, and no multiplier. Projection
satisfies it by changing q as q is not changed by any u.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, final, overload

from stagecache.checks import require_count
from stagecache.errors import DeclarationError
from stagecache.state.vectors.vectors import QERR
from stagecache.system.constraints.declared_jacobians import (
    JacobianDeclaration,
    JacobianFunction,
    jacobian_decorator,
)
from stagecache.system.constraints.error_rows import AbstractErrorRows
from stagecache.system.declare.computations import check_compute
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    Prerequisites,
    check_prerequisites,
)
from stagecache.system.declare.enabling import Enabling, check_enabling
from stagecache.system.declare.rows import Compute, Size


@final
class NormalizationDeclaration(AbstractErrorRows):
    """Declared conditions that only normalize q.

    Attributes
    ----------
    own_jacobian : callable or None
        The function of its Jacobian, if that is not declared by ``@name.jacobian``.
    """

    decorator = "normalization_error"
    kinds = (QERR,)
    kind = QERR

    def __init__(
        self,
        compute: Compute,
        size: Size,
        prerequisites: Prerequisites | None,
        enabled: Enabling,
        own_jacobian: JacobianFunction | None,
    ) -> None:
        self.compute = compute  # type: ignore[assignment]  # what it returns is made a vector
        self.size = size
        self.prerequisites = prerequisites
        self._named = prerequisites
        self.enabled = enabled
        self.own_jacobian = own_jacobian
        self.computed_by = QERR.read
        self.available_from = QERR.read if prerequisites is None else None

    @overload
    def jacobian(self, compute: JacobianFunction) -> JacobianDeclaration: ...
    @overload
    def jacobian(
        self, *, prerequisites: Prerequisites
    ) -> Callable[[JacobianFunction], JacobianDeclaration]: ...
    def jacobian(
        self,
        compute: JacobianFunction | None = None,
        *,
        prerequisites: Prerequisites | None = None,
    ) -> Any:
        """Decorate the function ``(self, state)`` that computes the derivatives by q.

        Shape (size, nq), with the nq of the System: an array, a sparse array of SciPy, or a dict
        that has blocks of shape (size, n) by handles of q.
        """
        return jacobian_decorator(self, compute, prerequisites, by="q")

    def companions(
        self, found: Mapping[str, AbstractDeclaration[Any]]
    ) -> Iterable[AbstractDeclaration[Any]]:
        """Return its Jacobian, if that is not an attribute of the class.

        Raises
        ------
        DeclarationError
            It has none.
        """
        for declared in found.values():
            if declared.of is not None and declared.of.name == self.name:
                return ()
        if self.own_jacobian is None:
            raise DeclarationError(
                f"{self}: has no Jacobian",
                "the derivatives of the conditions by q",
                "a normalization_error without @name.jacobian",
                f"write @{self.name}.jacobian on a function that returns them, shape (size, nq)",
            )
        jacobian = JacobianDeclaration(self, self.own_jacobian, self._named, by="q")
        jacobian.name = f"{self.name}.jacobian"
        jacobian.source = self.source
        return (jacobian,)


def normalization_error(
    *,
    size: Size = 1,
    prerequisites: Prerequisites | None = None,
    enabled: Enabling = None,
    jacobian: JacobianFunction | None = None,
) -> Callable[[Compute], NormalizationDeclaration]:
    """Declare conditions that only normalize q, by the function ``(self, state)`` of their errors.

    Each has a row in qerr, and none in uerr and udoterr. Realizing Position computes them. Their
    Jacobian by q is needed: ``@name.jacobian`` decorates its function.

    Parameters
    ----------
    size, prerequisites, enabled
        As for `position_error`.
    jacobian : callable, optional
        The function ``(self, state)`` of the Jacobian, for declarations that are made by a function
        and not in the body of a class. It has the same prerequisites.

    Raises
    ------
    OutOfRangeError, WrongTypeError, DeclarationError
    """
    what = "normalization_error"
    if not callable(size):
        size = require_count(size, 0, f"{what}(size=...)")
    named = check_prerequisites(prerequisites, what)
    switch = check_enabling(enabled, what)
    if jacobian is not None:
        jacobian = check_compute(jacobian, f"{what}(jacobian=...)")

    def declare(compute: Compute) -> NormalizationDeclaration:
        function = check_compute(compute, what)
        return NormalizationDeclaration(function, size, named, switch, jacobian)

    return declare
