"""Realizing a System: what is spent besides what the model computes, beside Drake.

A figure is the time of the whole statement, the writes included, with nothing subtracted; where the
row says "÷ 40" it is divided by 4 stages × 10 subsystems, and so on.
"""

from typing import Final

from benchmarks.limits import AbstractLimit, OfPeer, OfRow
from benchmarks.models import STAGES, Computed, Hooked, Model, Scalar, Tuned
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe, Prepared, Repeated
from benchmarks.rows.base import Build, Row, Section
from stagecache import System

DRAKE: Final = "drake"

WRITE: Final = "state.q = q; state.u = u"
UPDATE: Final = "state.upd_q()[:] = q; state.upd_u()[:] = u"
REALIZATION: Final = "system.realize(state, ACCELERATION)"
WRITE_PARAMETER: Final = "gain.set(state, 1.5)"
INSTANCE_REALIZATION: Final = "system.realize(state, INSTANCE)"
POSITION_REALIZATION: Final = "system.realize(state, POSITION)"

COUNTS: Final = (1, 100, 5_000)
ADDED: Final = (100, 1_000, 5_000)

DRAKE_WRITE: Final = "set_state(x)"
DRAKE_UPDATE: Final = "upd_state().SetFromVector(x)"
DRAKE_WRITE_ONE: Final = "set_first(x_first)"
DRAKE_TUNE: Final = "upd_parameter(0).SetFromVector(p)"
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


def set_one(peer: Peer) -> AbstractProbe:
    """Write one number through its handle, again and again."""
    if peer.name == DRAKE:
        return drake(DRAKE_WRITE, times=10)
    scalar = Scalar()
    names = {**Model(scalar).names(), "position": scalar.position}
    return Repeated("position.set(state, 0.3)", names, times=10)


def realize_q(subsystems: int) -> Build:
    """Return the row of one q of one subsystem, and Position."""

    def build(peer: Peer) -> AbstractProbe:
        if peer.name == DRAKE:
            return drake(f"{DRAKE_WRITE_ONE}\nevaluate_first(context)", subsystems=subsystems)
        parts = [Tuned() for _ in range(subsystems)]
        names = {**Model(*parts).names(), "position": parts[0].position}
        return Repeated(f"position.set(state, 0.3)\n{POSITION_REALIZATION}", names)

    return build


def realize_parameter(subsystems: int) -> Build:
    """Return the row of a parameter of one subsystem, and Instance."""

    def build(peer: Peer) -> AbstractProbe:
        if peer.name == DRAKE:
            return drake(f"{DRAKE_TUNE}\nevaluate_tuned(context)", subsystems=subsystems)
        parts = [Tuned() for _ in range(subsystems)]
        names = {**Model(*parts).names(), "gain": parts[0].gain}
        return Repeated(f"{WRITE_PARAMETER}\n{INSTANCE_REALIZATION}", names)

    return build


def add(subsystems: int) -> Build:
    """Return the row of building a System of subsystems that are made before."""

    def build(peer: Peer) -> AbstractProbe:
        if peer.name == DRAKE:
            from benchmarks.peers.drake_model import adding  # noqa: PLC0415  # it may be missing

            return Prepared(*adding(subsystems), operations=subsystems)
        parts: list[Tuned] = []
        systems: list[System] = []

        def prepare(_number: int) -> None:
            systems[:] = [System()]
            parts[:] = [Tuned() for _ in range(subsystems)]

        def add_all(_number: int) -> None:
            add_one = systems[0].add
            for part in parts:
                add_one(part)

        return Prepared(prepare, add_all, operations=subsystems)

    return build


def _subsystems(count: int) -> str:
    return f"{count:,} subsystem{'s' if count > 1 else ''}"


def _realize_q(count: int) -> Row:
    name = "set one q, realize Position"
    limits = [] if count == 1 else [OfRow(1.5, f"{_subsystems(1)}: {name}")]
    return Row(f"{_subsystems(count)}: {name}", realize_q(count), limits=limits)


def _realize_parameter(count: int) -> Row:
    limits = [OfRow(1.5, f"{_subsystems(count)}: set one q, realize Position")]
    name = f"{_subsystems(count)}: set a parameter, realize Instance"
    return Row(name, realize_parameter(count), limits=limits)


def _add(count: int) -> Row:
    limits = [] if count == ADDED[0] else [OfRow(1.5, f"add {_subsystems(ADDED[0])}, each")]
    return Row(f"add {_subsystems(count)}, each", add(count), limits=limits)


REALIZE: Final = Section(
    "Realizing",
    (
        (
            Row(
                "1 subsystem: write q and u, realize 4 stages, in all",
                realize(1, 1),
                limits=[OfPeer(1, DRAKE)],
            ),
            _realize_all(10, OfPeer(0.1, DRAKE)),
            _realize_all(50, OfPeer(0.1, DRAKE)),
        ),
        (
            Row("1 subsystem: upd_q(), upd_u(), realize 4 stages, in all", realize_updated),
            Row(
                "1 subsystem: write q and u, realize 4 stages, an entry at each",
                realize_computed,
                limits=[OfPeer(1.2, DRAKE)],
            ),
            Row("1 subsystem: realize, nothing was written", realize_again),
            Row("1 subsystem: set one q, nothing valid", set_one, limits=[OfPeer(1.2, DRAKE)]),
            Row(
                "1 subsystem: set one q, read an entry below it",
                set_and_read,
                limits=[OfPeer(0.7, DRAKE)],
            ),
        ),
        tuple(_realize_q(count) for count in COUNTS),
        tuple(_realize_parameter(count) for count in COUNTS),
        tuple(_add(count) for count in ADDED),
    ),
    peers=(OWN, DRAKE),
)
