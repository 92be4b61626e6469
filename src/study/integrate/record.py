"""Records of integrators: all that the next step needs, as plain values.

::

    the State, as bytes                          to be matched with the System by name
    beside it: step size, tolerances, signs      numbers that no State has
    computed anew                                derivatives, weights, triggers to watch
"""

from collections.abc import Mapping
from typing import final

from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.study.methods.method import LastStart


@final
@frozen(eq=False)
class IntegratorRecord:
    """The advanced State of an integrator between two steps, and what it needs to go on.

    Attributes
    ----------
    state : bytes
        Advanced State.
    y : (ny,) float
        Solution; prescribed numbers may be older than in the State.
    atol : (ny,) float
        Absolute tolerances, which are those of the last start.
    step_size : float or None
        Size of the next attempt.
    last_start : LastStart or None
        Start of the last step, if the method needs it.
    signs : dict of str to (n,) float or None
        Record of `Signs`.
    statistics : dict of str to int
    """

    state: bytes
    y: Vector
    atol: Vector
    step_size: float | None
    last_start: LastStart | None
    signs: Mapping[str, Vector | None]
    statistics: Mapping[str, int]
