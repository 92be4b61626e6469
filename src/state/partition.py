"""The vectors that a State and each of its partitions have in common."""

from mypy_extensions import mypyc_attr
from numpy.typing import ArrayLike

from stagecache.state.contents.contents import Contents
from stagecache.state.continuous.continuous_state import ContinuousState
from stagecache.state.continuous.live_vector import live_derivatives, live_state
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import (
    MULTIPLIERS,
    QDOT,
    QDOTDOT,
    QERR,
    QERR_WEIGHTS,
    U_WEIGHTS,
    UDOT,
    UDOTERR,
    UERR,
    UERR_WEIGHTS,
    Z_WEIGHTS,
    ZDOT,
    Q,
    U,
    Z,
)


@mypyc_attr(allow_interpreted_subclasses=True)  # of which State is one
class AbstractPartition:
    """A State, or the part of a subsystem in it: numbers of items, and their vectors.

    Properties are read-only views. An assignment to a variable writes all its values, and
    ``upd_...()`` returns a writable view; both count as writes when they are called. Such a view is
    sealed (made read-only) as soon as anything is realized, marked or computed: call ``upd_...()``
    again for the next write. ``state.q[0] = 1`` and ``state.q += 1`` are refused by
    NumPy, for the views are read-only.

    The stage of the system counts for the system's vectors, the stage of a subsystem for the
    vectors of its partition.
    """

    __slots__ = ("_contents", "_index")

    def __init__(self, contents: Contents, index: int | None) -> None:
        self._contents = contents
        self._index = index  # of the subsystem; None for the whole State

    # ------------------------------------------------------------------ numbers of items

    @property
    def nq(self) -> int:
        """Number of q's. Needs the system at Model."""
        return self._contents.size("q", self._index)

    @property
    def nu(self) -> int:
        """Number of u's. Needs the system at Model."""
        return self._contents.size("u", self._index)

    @property
    def nz(self) -> int:
        """Number of z's. Needs the system at Model."""
        return self._contents.size("z", self._index)

    @property
    def nqerr(self) -> int:
        """Number of position errors. Needs the system at Instance."""
        return self._contents.size("qerr", self._index)

    @property
    def nuerr(self) -> int:
        """Number of velocity errors. Needs the system at Instance."""
        return self._contents.size("uerr", self._index)

    @property
    def nudoterr(self) -> int:
        """Number of acceleration errors. Needs the system at Instance."""
        return self._contents.size("udoterr", self._index)

    @property
    def q_start(self) -> int:
        """Start of q in y; of a subsystem's q in the system's q."""
        return self._contents.start("q", self._index)

    @property
    def u_start(self) -> int:
        """Start of u in y; of a subsystem's u in the system's u."""
        return self._contents.start("u", self._index)

    @property
    def z_start(self) -> int:
        """Start of z in y; of a subsystem's z in the system's z."""
        return self._contents.start("z", self._index)

    # ------------------------------------------------------------------ variables

    @property
    def q(self) -> Vector:
        """Generalized coordinates. Shape (nq,). A write invalidates Position."""
        return self._contents.view(Q, self._index)

    @q.setter
    def q(self, values: ArrayLike) -> None:
        self._contents.assign_vector(Q, self._index, values)

    def upd_q(self) -> Vector:
        """Return a writable view of `q`. This counts as a write."""
        return self._contents.upd(Q, self._index)

    @property
    def u(self) -> Vector:
        """Generalized speeds. Shape (nu,). A write invalidates Velocity."""
        return self._contents.view(U, self._index)

    @u.setter
    def u(self, values: ArrayLike) -> None:
        self._contents.assign_vector(U, self._index, values)

    def upd_u(self) -> Vector:
        """Return a writable view of `u`. This counts as a write."""
        return self._contents.upd(U, self._index)

    @property
    def z(self) -> Vector:
        """Auxiliary variables. Shape (nz,). A write invalidates Dynamics."""
        return self._contents.view(Z, self._index)

    @z.setter
    def z(self, values: ArrayLike) -> None:
        self._contents.assign_vector(Z, self._index, values)

    def upd_z(self) -> Vector:
        """Return a writable view of `z`. This counts as a write."""
        return self._contents.upd(Z, self._index)

    @property
    def u_weights(self) -> Vector:
        """Weights of u, 1 at first. Shape (nu,). A write invalidates Report."""
        return self._contents.view(U_WEIGHTS, self._index)

    @u_weights.setter
    def u_weights(self, values: ArrayLike) -> None:
        self._contents.assign_vector(U_WEIGHTS, self._index, values)

    def upd_u_weights(self) -> Vector:
        """Return a writable view of `u_weights`. This counts as a write."""
        return self._contents.upd(U_WEIGHTS, self._index)

    @property
    def z_weights(self) -> Vector:
        """Weights of z, 1 at first. Shape (nz,). A write invalidates Report."""
        return self._contents.view(Z_WEIGHTS, self._index)

    @z_weights.setter
    def z_weights(self, values: ArrayLike) -> None:
        self._contents.assign_vector(Z_WEIGHTS, self._index, values)

    def upd_z_weights(self) -> Vector:
        """Return a writable view of `z_weights`. This counts as a write."""
        return self._contents.upd(Z_WEIGHTS, self._index)

    @property
    def qerr_weights(self) -> Vector:
        """Weights of qerr, 1 at first. Shape (nqerr,). A write invalidates Position."""
        return self._contents.view(QERR_WEIGHTS, self._index)

    @qerr_weights.setter
    def qerr_weights(self, values: ArrayLike) -> None:
        self._contents.assign_vector(QERR_WEIGHTS, self._index, values)

    def upd_qerr_weights(self) -> Vector:
        """Return a writable view of `qerr_weights`. This counts as a write."""
        return self._contents.upd(QERR_WEIGHTS, self._index)

    @property
    def uerr_weights(self) -> Vector:
        """Weights of uerr, 1 at first. Shape (nuerr,). A write invalidates Velocity."""
        return self._contents.view(UERR_WEIGHTS, self._index)

    @uerr_weights.setter
    def uerr_weights(self, values: ArrayLike) -> None:
        self._contents.assign_vector(UERR_WEIGHTS, self._index, values)

    def upd_uerr_weights(self) -> Vector:
        """Return a writable view of `uerr_weights`. This counts as a write."""
        return self._contents.upd(UERR_WEIGHTS, self._index)

    @property
    def continuous_state(self) -> ContinuousState:
        """The variables as x with the parts q, v (the u here) and z. Needs the system at Model.

        A view: a write through it counts as a write of exactly the blocks that it touches. Once
        Model is invalidated, ask for a new one.
        """
        return live_state(self, self._index)

    @property
    def continuous_derivatives(self) -> ContinuousState:
        """Time derivatives of these variables: qdot, udot and zdot, in the same structure.

        Each can be read from its own stage on. A write invalidates nothing.
        """
        return live_derivatives(self, self._index)

    # ------------------------------------------------------------------ what is computed

    @property
    def qdot(self) -> Vector:
        """Time derivatives of q. Shape (nq,). Read from Velocity on."""
        return self._contents.view(QDOT, self._index)

    def upd_qdot(self) -> Vector:
        """Return `qdot` to be filled in; sealed when it can be read. Invalidates nothing."""
        return self._contents.upd(QDOT, self._index)

    @property
    def udot(self) -> Vector:
        """Time derivatives of u. Shape (nu,). Read from Acceleration on."""
        return self._contents.view(UDOT, self._index)

    def upd_udot(self) -> Vector:
        """Return `udot` to be filled in; sealed when it can be read. Invalidates nothing."""
        return self._contents.upd(UDOT, self._index)

    @property
    def zdot(self) -> Vector:
        """Time derivatives of z. Shape (nz,). Read from Dynamics on."""
        return self._contents.view(ZDOT, self._index)

    def upd_zdot(self) -> Vector:
        """Return `zdot` to be filled in; sealed when it can be read. Invalidates nothing."""
        return self._contents.upd(ZDOT, self._index)

    @property
    def qdotdot(self) -> Vector:
        """Second time derivatives of q. Shape (nq,). Read from Acceleration on."""
        contents, x = self._contents, self._index
        values = contents.view(QDOTDOT, x)
        if x is not None and contents.system is not None:
            contents.system._complete_qdotdot(contents, x)
        return values

    def upd_qdotdot(self) -> Vector:
        """Return `qdotdot` to be filled in; sealed when it can be read. Invalidates nothing."""
        return self._contents.upd(QDOTDOT, self._index)

    @property
    def qerr(self) -> Vector:
        """Position errors. Shape (nqerr,). Read from Position on."""
        return self._contents.view(QERR, self._index)

    def upd_qerr(self) -> Vector:
        """Return `qerr` to be filled in; sealed when it can be read. Invalidates nothing."""
        return self._contents.upd(QERR, self._index)

    @property
    def uerr(self) -> Vector:
        """Velocity errors. Shape (nuerr,). Read from Velocity on."""
        return self._contents.view(UERR, self._index)

    def upd_uerr(self) -> Vector:
        """Return `uerr` to be filled in; sealed when it can be read. Invalidates nothing."""
        return self._contents.upd(UERR, self._index)

    @property
    def udoterr(self) -> Vector:
        """Acceleration errors. Shape (nudoterr,). Read from Acceleration on."""
        return self._contents.view(UDOTERR, self._index)

    def upd_udoterr(self) -> Vector:
        """Return `udoterr` to be filled in; sealed when it can be read. Invalidates nothing."""
        return self._contents.upd(UDOTERR, self._index)

    @property
    def multipliers(self) -> Vector:
        """Lagrange multipliers. Shape (nudoterr,). Read from Acceleration on."""
        return self._contents.view(MULTIPLIERS, self._index)

    def upd_multipliers(self) -> Vector:
        """Return `multipliers` to be filled in; sealed when it can be read. Invalidates nothing."""
        return self._contents.upd(MULTIPLIERS, self._index)

    # ------------------------------------------------------------------ event triggers

    def event_triggers_by_stage(self, stage: Stage) -> Vector:
        """Return the event triggers computed at a stage, from which on they can be read."""
        return self._contents.triggers(stage, self._index)

    def upd_event_triggers_by_stage(self, stage: Stage) -> Vector:
        """Return them to be filled in; sealed when they can be read. Invalidates nothing."""
        return self._contents.upd_triggers(stage, self._index)
