"""Linear models: the result of `linearize`."""

from typing import Any, final

import numpy as np
from attrs import frozen

from stagecache.display.words import counted
from stagecache.errors import ShapeError
from stagecache.numerics.matrices import Matrix, is_sparse
from stagecache.state.handles import Vector


@final
@frozen(eq=False, repr=False)
class Linearization:
    r"""A linear model of a System near one State: the result of `linearize`.

    ::

        ydot     =  ydot0    +  A (y - y0)  +  B (inputs - inputs0)
        outputs  =  outputs0 +  C (y - y0)  +  D (inputs - inputs0)

    Attributes
    ----------
    A, B, C, D : ndarray or sparse array
        Shapes (ny, ny), (ny, number of inputs), (number of outputs, ny), (number of outputs,
        number of inputs). Read-only, if dense.
    states, inputs, outputs : tuple of str
        Names of rows and columns: the path, and an index if there are several numbers.
    time : float
        Time of the State [s].
    y0, ydot0, inputs0, outputs0 : ndarray
        Values in the State. Where q or u are prescribed, `y0` has the prescribed values, and
        `ydot0` is 0.
    num_evaluations : int
        Number of realizations of Acceleration, including the State itself.
    groups : tuple of tuple of str
        The columns that were moved together.
    """

    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    time: float
    y0: Vector
    ydot0: Vector
    inputs0: Vector
    outputs0: Vector
    num_evaluations: int
    groups: tuple[tuple[str, ...], ...]

    def to_scipy(self) -> Any:
        """Return the model as `scipy.signal.StateSpace`, of differences from the State.

        Raises
        ------
        ShapeError
            The model lacks inputs or outputs.

        Examples
        --------
        >>> from stagecache import linearize
        >>> from stagecache.examples.cart_pole import make_system
        >>> system = make_system(0.02)
        >>> state = system.new_state()
        >>> model = linearize(system, state, ("cart_pole.force",), ("cart_pole.position",))
        >>> model.to_scipy().B.round(3).ravel()
        array([ 0.   ,  0.   ,  0.999, -1.988])
        """
        if not self.inputs or not self.outputs:
            lacking = "outputs" if self.inputs else "inputs"
            raise ShapeError(
                f"to_scipy(): the model has no {lacking}",
                "one input and one output at least, which scipy.signal needs",
                f"{counted(len(self.inputs), 'input')}, {counted(len(self.outputs), 'output')}",
                f"name some in linearize({lacking}=...); or use the matrices",
            )
        from scipy.signal import StateSpace  # noqa: PLC0415  # it takes a while

        matrices = (self.A, self.B, self.C, self.D)
        return StateSpace(*[m.toarray() if is_sparse(m) else np.array(m) for m in matrices])

    def __repr__(self) -> str:
        sizes = [
            counted(len(names), kind)
            for names, kind in (
                (self.states, "state"),
                (self.inputs, "input"),
                (self.outputs, "output"),
            )
        ]
        return (
            f"Linearization({', '.join(sizes)} at t = {self.time:g} s, "
            f"by {counted(self.num_evaluations, 'evaluation')})"
        )
