"""Realizing a System: what is spent besides what the model computes, beside Drake.

A figure is the time of the whole statement, the writes included, with nothing subtracted; where the
row says "÷ 40" it is divided by 4 stages × 10 subsystems, and so on.
"""

from typing import Final

from benchmarks.figures import Unit
from benchmarks.limits import AbstractLimit, AtMost
from benchmarks.models import STAGES, Computed, Hooked, Model, Scalar
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe, Repeated
from benchmarks.rows.base import Build, Row, Section

DRAKE: Final = "drake"

WRITE: Final = "state.q = q; state.u = u"
UPDATE: Final = "state.upd_q()[:] = q; state.upd_u()[:] = u"
REALIZATION: Final = "system.realize(state, ACCELERATION)"
WRITE_PARAMETER: Final = "gain.set(state, 1.5)"
INSTANCE_REALIZATION: Final = "system.realize(state, INSTANCE)"

DRAKE_WRITE: Final = "set_state(x)"
DRAKE_UPDATE: Final = "upd_state().SetFromVector(x)"
DRAKE_EVALUATE: Final = "evaluate_last(context)"
DRAKE_EVALUATE_ALL: Final = "for evaluate, context in lasts: evaluate(context)"


def drake(statement: str, *, subsystems: int = 1, operations: int = 1, times: int = 1) -> Repeated:
    """Build the probe of a statement on Drake's model."""
    from benchmarks.peers.drake_model import DrakeModel  # noqa: PLC0415  # it may be missing

    names = DrakeModel(subsystems).names()
    return Repeated(statement, names, operations=operations, times=times)


def realize(subsystems: int, operations: int) -> Build:
    """Return the row of writing and realizing a model with hooks, divided by `operations`."""

    def build(peer: Peer) -> AbstractProbe:
        if peer.name == DRAKE:
            evaluate = DRAKE_EVALUATE if subsystems == 1 else DRAKE_EVALUATE_ALL
            statement = f"{DRAKE_WRITE}\n{evaluate}"
            return drake(statement, subsystems=subsystems, operations=operations)
        model = Model(*[Hooked() for _ in range(subsystems)])
        return Repeated(f"{WRITE}\n{REALIZATION}", model.names(), operations=operations)

    return build


def realize_updated(peer: Peer) -> AbstractProbe:
    """Write through views, and realize a model with hooks."""
    if peer.name == DRAKE:
        return drake(f"{DRAKE_UPDATE}\n{DRAKE_EVALUATE}")
    return Repeated(f"{UPDATE}\n{REALIZATION}", Model(Hooked()).names())


def realize_computed(peer: Peer) -> AbstractProbe:
    """Write and realize a model that declares its entries."""
    if peer.name == DRAKE:
        return drake(f"{DRAKE_WRITE}\n{DRAKE_EVALUATE}")
    return Repeated(f"{WRITE}\n{REALIZATION}", Model(Computed()).names())


def realize_again(peer: Peer) -> AbstractProbe:
    """Realize what is realized."""
    if peer.name == DRAKE:
        return drake(DRAKE_EVALUATE, times=10)
    return Repeated(REALIZATION, Model(Hooked()).names(), times=10)


def set_and_read(peer: Peer) -> AbstractProbe:
    """Write one number through its handle, and read what depends on it."""
    if peer.name == DRAKE:
        return drake(f"{DRAKE_WRITE}\nevaluate_first(context)")
    scalar = Scalar()
    names = {
        **Model(scalar).names(),
        "position": scalar.position,
        "below_position": scalar.below_position,
    }
    return Repeated("position.set(state, 0.3)\nbelow_position(state)", names)


def _realize_all(subsystems: int, limit: AbstractLimit) -> Row:
    pairs = len(STAGES) * subsystems
    return Row(
        f"{subsystems} subsystems: write q and u, realize 4 stages, ÷ {pairs}",
        realize(subsystems, pairs),
        limits=[limit],
    )


REALIZE: Final = Section(
    "Realizing",
    (
        (
            Row(
                "1 subsystem: write q and u, realize 4 stages, in all",
                realize(1, 1),
                limits=[AtMost(6e-6, Unit.SECONDS)],
            ),
            _realize_all(10, AtMost(250e-9, Unit.SECONDS)),
            _realize_all(50, AtMost(250e-9, Unit.SECONDS)),
        ),
        (
            Row("1 subsystem: upd_q(), upd_u(), realize 4 stages, in all", realize_updated),
            Row("1 subsystem: write q and u, realize 4 stages, an entry at each", realize_computed),
            Row("1 subsystem: realize, nothing was written", realize_again),
            Row("1 subsystem: set one q, read an entry below it", set_and_read),
        ),
    ),
    peers=(OWN, DRAKE),
)
