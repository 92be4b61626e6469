"""The vectors of a State: their storage, the stage of a read, and what a write invalidates.

::

    y        [ q            | u            | z            ]    each part: [ subsystem 0 | 1 | ... ]
    ydot     [ qdot         | udot         | zdot         ]
    yerr     [ qerr         | uerr         ]
    u_weights, z_weights, qerr_weights, uerr_weights, qdotdot, udoterr, multipliers: alone
"""

from typing import Final, final

from stagecache.state.stage import Stage


@final
class VectorKind:  # no attrs: it is compiled
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
    exists_at, read_at, sealed_at : int
        `exists`, `read` and `sealed` as numbers, which compiled code compares faster.
    is_variable : bool
        True if it is written from outside, and a write invalidates what depends on it.
    initial : float
        Value of its items at the allocation: 1 for weights, NaN for others.
    """

    __slots__ = (
        *("before", "exists", "exists_at", "initial", "invalidates", "is_variable", "name"),
        *("part", "pool", "read", "read_at", "sealed", "sealed_at"),
    )

    def __init__(
        self,
        name: str,
        pool: str,
        part: str,
        before: tuple[str, ...],
        exists: Stage,
        read: Stage,
        invalidates: Stage | None,
        sealed: Stage | None = None,
    ) -> None:
        self.name = name
        self.pool = pool
        self.part = part
        self.before = before
        self.exists = exists
        self.exists_at = int(exists)
        self.read = read
        self.read_at = int(read)
        self.invalidates = invalidates
        self.is_variable = invalidates is not None
        self.initial = 1.0 if name.endswith("_weights") else float("nan")
        if sealed is None:
            sealed = Stage.EMPTY if self.is_variable else read
        self.sealed = sealed
        self.sealed_at = int(sealed)

    def __repr__(self) -> str:
        return f"VectorKind({self.name!r})"


_M, _I = Stage.MODEL, Stage.INSTANCE
_P, _V, _D, _A, _R = (
    Stage.POSITION,
    Stage.VELOCITY,
    Stage.DYNAMICS,
    Stage.ACCELERATION,
    Stage.REPORT,
)

Y: Final = VectorKind("y", "y", "", (), _M, _M, _P)
Q: Final = VectorKind("q", "y", "q", (), _M, _M, _P)
U: Final = VectorKind("u", "y", "u", ("q",), _M, _M, _V)
Z: Final = VectorKind("z", "y", "z", ("q", "u"), _M, _M, _D)
U_WEIGHTS: Final = VectorKind("u_weights", "u_weights", "u", (), _M, _M, _R)
Z_WEIGHTS: Final = VectorKind("z_weights", "z_weights", "z", (), _M, _M, _R)
QERR_WEIGHTS: Final = VectorKind("qerr_weights", "qerr_weights", "qerr", (), _I, _I, _P)
UERR_WEIGHTS: Final = VectorKind("uerr_weights", "uerr_weights", "uerr", (), _I, _I, _V)

YDOT: Final = VectorKind("ydot", "ydot", "", (), _M, _A, None, sealed=_V)
QDOT: Final = VectorKind("qdot", "ydot", "q", (), _M, _V, None)
UDOT: Final = VectorKind("udot", "ydot", "u", ("q",), _M, _A, None)
ZDOT: Final = VectorKind("zdot", "ydot", "z", ("q", "u"), _M, _D, None)
QDOTDOT: Final = VectorKind("qdotdot", "qdotdot", "q", (), _M, _A, None)
YERR: Final = VectorKind("yerr", "yerr", "", (), _I, _V, None, sealed=_P)
QERR: Final = VectorKind("qerr", "yerr", "qerr", (), _I, _P, None)
UERR: Final = VectorKind("uerr", "yerr", "uerr", ("qerr",), _I, _V, None)
UDOTERR: Final = VectorKind("udoterr", "udoterr", "udoterr", (), _I, _A, None)
MULTIPLIERS: Final = VectorKind("multipliers", "multipliers", "udoterr", (), _I, _A, None)
EVENT_TRIGGERS: Final = VectorKind(
    "event_triggers", "event_triggers", "", (), _I, _A, None, sealed=_I
)

VECTORS: Final = (
    *(Y, Q, U, Z, U_WEIGHTS, Z_WEIGHTS, QERR_WEIGHTS, UERR_WEIGHTS),
    *(YDOT, QDOT, UDOT, ZDOT, QDOTDOT, YERR, QERR, UERR, UDOTERR, MULTIPLIERS),
    EVENT_TRIGGERS,
)
CONTINUOUS: Final = {"q": Q, "u": U, "z": Z}
WEIGHTS: Final = (U_WEIGHTS, Z_WEIGHTS, QERR_WEIGHTS, UERR_WEIGHTS)
