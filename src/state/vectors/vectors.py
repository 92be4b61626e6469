"""The vectors of a State: their storage, the stage of a read, and what a write invalidates.

::

    y        [ q            | u            | z            ]    each part: [ subsystem 0 | 1 | ... ]
    ydot     [ qdot         | udot         | zdot         ]
    yerr     [ qerr         | uerr         ]
    u_weights, z_weights, qerr_weights, uerr_weights, qdotdot, udoterr, multipliers: alone
"""

import attrs

from stagecache.state.stage import Stage


@attrs.frozen
class VectorKind:
    """One of the vectors of a State.

    Attributes
    ----------
    name : str
        Name of the property.
    pool : str
        Name of the array in which it lies.
    part : str
        The items of which it has one element each: "q", "u", "z", "qerr", "uerr", "udoterr"; or
        "" for a vector that only the whole State has.
    before : tuple of str
        The parts that come before it in its pool.
    exists : Stage
        The system must have reached this stage for the vector to be there.
    read : Stage
        The system, or for a partition the subsystem, must have reached it for it to be read.
    invalidates : Stage or None
        A write makes this stage stale, and those after it; None for a cache.
    sealed : Stage
        When this stage is reached, a view of a cache is sealed: some of it can be read. A
        variable's is Empty: it can be read at once, and is sealed by the next computation.
    """

    name: str
    pool: str
    part: str
    before: tuple[str, ...]
    exists: Stage
    read: Stage
    invalidates: Stage | None
    sealed: Stage = attrs.field(
        default=attrs.Factory(
            lambda self: Stage.EMPTY if self.is_variable else self.read, takes_self=True
        )
    )

    @property
    def initial(self) -> float:
        """Value of its items at the allocation."""
        return 1.0 if self in WEIGHTS else float("nan")

    @property
    def is_variable(self) -> bool:
        """True if it is written from outside, and a write invalidates what depends on it."""
        return self.invalidates is not None


_M, _I = Stage.MODEL, Stage.INSTANCE
_P, _V, _D, _A, _R = (
    Stage.POSITION,
    Stage.VELOCITY,
    Stage.DYNAMICS,
    Stage.ACCELERATION,
    Stage.REPORT,
)

Y = VectorKind("y", "y", "", (), _M, _M, _P)
Q = VectorKind("q", "y", "q", (), _M, _M, _P)
U = VectorKind("u", "y", "u", ("q",), _M, _M, _V)
Z = VectorKind("z", "y", "z", ("q", "u"), _M, _M, _D)
U_WEIGHTS = VectorKind("u_weights", "u_weights", "u", (), _M, _M, _R)
Z_WEIGHTS = VectorKind("z_weights", "z_weights", "z", (), _M, _M, _R)
QERR_WEIGHTS = VectorKind("qerr_weights", "qerr_weights", "qerr", (), _I, _I, _P)
UERR_WEIGHTS = VectorKind("uerr_weights", "uerr_weights", "uerr", (), _I, _I, _V)

YDOT = VectorKind("ydot", "ydot", "", (), _M, _A, None, sealed=_V)
QDOT = VectorKind("qdot", "ydot", "q", (), _M, _V, None)
UDOT = VectorKind("udot", "ydot", "u", ("q",), _M, _A, None)
ZDOT = VectorKind("zdot", "ydot", "z", ("q", "u"), _M, _D, None)
QDOTDOT = VectorKind("qdotdot", "qdotdot", "q", (), _M, _A, None)
YERR = VectorKind("yerr", "yerr", "", (), _I, _V, None, sealed=_P)
QERR = VectorKind("qerr", "yerr", "qerr", (), _I, _P, None)
UERR = VectorKind("uerr", "yerr", "uerr", ("qerr",), _I, _V, None)
UDOTERR = VectorKind("udoterr", "udoterr", "udoterr", (), _I, _A, None)
MULTIPLIERS = VectorKind("multipliers", "multipliers", "udoterr", (), _I, _A, None)
EVENT_TRIGGERS = VectorKind("event_triggers", "event_triggers", "", (), _I, _A, None, sealed=_I)

VECTORS = (
    *(Y, Q, U, Z, U_WEIGHTS, Z_WEIGHTS, QERR_WEIGHTS, UERR_WEIGHTS),
    *(YDOT, QDOT, UDOT, ZDOT, QDOTDOT, YERR, QERR, UERR, UDOTERR, MULTIPLIERS),
    EVENT_TRIGGERS,
)
CONTINUOUS = {"q": Q, "u": U, "z": Z}
WEIGHTS = (U_WEIGHTS, Z_WEIGHTS, QERR_WEIGHTS, UERR_WEIGHTS)
