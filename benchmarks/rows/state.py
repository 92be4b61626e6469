"""The State: reads, writes, copies and allocation, beside Simbody's State in C++.

A row does the same in both: the entries are of one subsystem, hold a number each, and those that
have an explicit prerequisite have q and need no stage.
"""

from typing import Final

from benchmarks.limits import OfPeer, OfRow
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe, Prepared, Repeated
from benchmarks.rows.base import Build, Row, Section
from benchmarks.rows.operations import MOST, read_attribute
from benchmarks.simbody import SIMBODY, simbody
from benchmarks.states import Subject, advancing, allocating, copying, going_back, writing
from stagecache import Stage

FEW: Final = 10
SUBSYSTEMS: Final = 100

FEW_DEPENDENTS: Final = "upd_q(), 10 + 10 valid dependents"
DEPENDENTS: Final = "upd_q(), 10,000 + 10,000 valid dependents"
FEW_ASSIGNED: Final = "state.q = q, 10 + 10 valid dependents"
ASSIGNED: Final = "state.q = q, 10,000 + 10,000 valid dependents"

UNTRACED: Final = "upd_q(), then an entry that computes"

HIT_TRACED: Final = "entry(state), valid, traced"
COMPUTED_TRACED: Final = "upd_q(), then an entry that computes, traced: three events"

FEW_BACK: Final = "checkpoint, upd_q(), rollback, 10 valid dependents"
BACK: Final = "checkpoint, upd_q(), rollback, 10,000 valid dependents"


NO_CHECKPOINTS: Final = {SIMBODY: "Simbody has no checkpoints"}
NO_FUNCTIONS: Final = {SIMBODY: "an entry of Simbody has no function"}
NOT_TRACED: Final = {SIMBODY: "Simbody has no traces"}


def read(_: Peer) -> AbstractProbe:
    """Read an entry that is valid, through its handle."""
    subject = Subject()
    entry = subject.below("q")
    subject.realize()
    entry.mark_valid(subject.state)
    return Repeated("entry(state)", {"entry": entry, "state": subject.state}, times=20)


def write(size: int, dependents: int, *, cold: bool = False, assigned: bool = False) -> Build:
    """Return the row of a single write of q."""
    return lambda _: Prepared(*writing(size, dependents, cold=cold, assigned=assigned))


def go_back(size: int) -> Build:
    """Return the row of a write of q that is taken back."""
    return lambda _: Repeated("go_back()", {"go_back": going_back(size)}, times=10)


def copy(*, keep_cache: bool = False) -> Build:
    """Return the row of a copy of a State."""
    return lambda _: Prepared(*copying(MOST, keep_cache=keep_cache))


def allocate(_: Peer) -> AbstractProbe:
    """Allocate entries in a new State."""
    return Prepared(*allocating(MOST), operations=MOST)


def advance(_: Peer) -> AbstractProbe:
    """Advance subsystems by a stage."""
    return Prepared(*advancing(SUBSYSTEMS), operations=SUBSYSTEMS)


def read_q(_: Peer) -> AbstractProbe:
    """Read the whole q."""
    subject = Subject()
    subject.realize()
    return Repeated("state.q", {"state": subject.state}, times=10)


def write_q(_: Peer) -> AbstractProbe:
    """Write q again and again, with nothing marked or realized in between."""
    subject = Subject()
    subject.realize(Stage.TIME)
    return Repeated("upd_q()", {"upd_q": subject.state.upd_q}, times=10)


def mark(_: Peer) -> AbstractProbe:
    """Mark an entry again and again."""
    subject = Subject()
    entry = subject.below("q")
    subject.realize()
    return Repeated("mark(state)", {"mark": entry.mark_valid, "state": subject.state}, times=10)


def write_discrete(_: Peer) -> AbstractProbe:
    """Write a discrete variable again and again, with nothing realized in between."""
    subject = Subject()
    subject.realize(Stage.TIME)
    context = {"set_": subject.discrete.set, "state": subject.state}
    return Repeated("set_(state, 1.0)", context, times=10)


def hit_traced(_: Peer) -> AbstractProbe:
    """Read an entry that is valid, in a State that is traced."""
    subject = Subject()
    entry = subject.below("q")
    subject.realize()
    entry.mark_valid(subject.state)
    subject.state.trace().__enter__()
    return Repeated("entry(state)", {"entry": entry, "state": subject.state}, times=10)


def compute(*, traced: bool) -> Build:
    """Return the row of a write of a variable and a read that computes, three events if traced."""

    def build(_: Peer) -> AbstractProbe:
        subject = Subject()
        q = subject.state.variable("q")
        entry = subject.subsystem.allocate_cache_entry_with_prerequisites(
            Stage.TOPOLOGY, Stage.INFINITY, (q,), compute=lambda _: 1.0
        )
        subject.realize(Stage.TIME)
        if traced:
            subject.state.trace().__enter__()
        names = {"upd_q": subject.state.upd_q, "entry": entry, "state": subject.state}
        return Repeated("upd_q(); entry(state)", names, times=5)

    return build


STATE: Final = Section(
    "State",
    (
        (
            Row(
                "entry(state), valid",
                read,
                limits=[OfPeer(3, "cached_property")],
                beside={"cached_property": read_attribute, SIMBODY: simbody("read")},
            ),
        ),
        (
            Row(
                FEW_DEPENDENTS,
                write(MOST, FEW),
                beside={SIMBODY: simbody("write_few", MOST)},
            ),
            Row(
                DEPENDENTS,
                write(MOST, MOST),
                limits=[OfRow(2, FEW_DEPENDENTS), OfPeer(0.06, SIMBODY)],
                beside={SIMBODY: simbody("write_many", MOST)},
            ),
            Row(
                FEW_ASSIGNED,
                write(MOST, FEW, assigned=True),
                limits=[OfPeer(19, SIMBODY)],
                beside={SIMBODY: simbody("write_few", MOST)},
            ),
            Row(
                ASSIGNED,
                write(MOST, MOST, assigned=True),
                limits=[OfRow(2, FEW_ASSIGNED), OfPeer(0.06, SIMBODY)],
                beside={SIMBODY: simbody("write_many", MOST)},
            ),
            Row(
                f"{DEPENDENTS}, cold",
                write(MOST, MOST, cold=True),
                beside={SIMBODY: simbody("write_many_cold", MOST)},
            ),
        ),
        (
            Row(FEW_BACK, go_back(FEW), without=NO_CHECKPOINTS),
            Row(BACK, go_back(MOST), limits=[OfRow(2, FEW_BACK)], without=NO_CHECKPOINTS),
        ),
        (
            Row(
                "copy(), 10,000 valid entries below q",
                copy(),
                limits=[OfPeer(0.2, SIMBODY)],
                beside={SIMBODY: simbody("copy", MOST)},
            ),
            Row(
                "copy(keep_cache=True), 10,000 valid entries below q",
                copy(keep_cache=True),
                without={SIMBODY: "Simbody has one kind of copy, which is in the row above"},
            ),
            Row(
                "allocate 10,000 entries below q, per entry",
                allocate,
                limits=[OfPeer(0.6, SIMBODY)],
                beside={SIMBODY: simbody("allocate", MOST)},
            ),
        ),
        (
            Row("state.q", read_q, beside={SIMBODY: simbody("read_q")}),
            Row("upd_q(), nothing valid", write_q, beside={SIMBODY: simbody("write_q")}),
            Row("mark an entry", mark, beside={SIMBODY: simbody("mark")}),
            Row("advance a subsystem one stage", advance, beside={SIMBODY: simbody("advance")}),
            Row(
                "write a discrete variable, nothing valid",
                write_discrete,
                beside={SIMBODY: simbody("write_discrete")},
            ),
        ),
        (
            Row(
                HIT_TRACED,
                hit_traced,
                limits=[OfPeer(40, "cached_property")],
                beside={"cached_property": read_attribute},
                without=NOT_TRACED,
            ),
            Row(UNTRACED, compute(traced=False), without=NO_FUNCTIONS),
            Row(
                COMPUTED_TRACED,
                compute(traced=True),
                limits=[OfRow(4, UNTRACED)],
                without=NOT_TRACED,
            ),
        ),
    ),
    peers=(OWN,),
    columns=(SIMBODY,),
)
