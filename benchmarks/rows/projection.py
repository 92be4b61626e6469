"""Projecting a chain of rods: by how many there are, and where nothing is to be done."""

from collections.abc import Callable
from functools import partial
from typing import Final

from benchmarks.by_hand.rods import RodsByHand
from benchmarks.limits import Growth
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe, Prepared, Repeated
from benchmarks.rods import Chain
from benchmarks.rows.base import Build, Group, Row, Section

BY_HAND: Final = "by hand"
COUNTS: Final = (10, 100, 1_000)
Named = Callable[[int], str]


def _q(count: int) -> str:
    return f"project_q, {count:,} rods"


def _u(count: int) -> str:
    return f"project_u, {count:,} rods"


def _idle(count: int) -> str:
    return f"project_q, {count:,} rods, within the accuracy already"


def _counted(iterations: int) -> str:
    return f"{iterations} iteration{'s' if iterations > 1 else ''}"


def project_q(count: int) -> Build:
    """Return the row of projecting q; a note says how many iterations it takes."""

    def build(_: Peer) -> AbstractProbe:
        chain = Chain(count)
        chain.leave_q(0)
        iterations = chain.project_q(0).num_iterations
        return Prepared(chain.leave_q, chain.project_q, note=_counted(iterations))

    return build


def project_u(count: int) -> Build:
    """Return the row of projecting u; a note says how many iterations it takes."""

    def build(_: Peer) -> AbstractProbe:
        chain = Chain(count)
        chain.leave_u(0)
        iterations = chain.project_u(0).num_iterations
        return Prepared(chain.leave_u, chain.project_u, note=_counted(iterations))

    return build


def project_nothing(count: int) -> Build:
    """Return the row of a call that finds the errors small enough."""

    def build(_: Peer) -> AbstractProbe:
        chain = Chain(count)
        return Repeated("project_q(0)", {"project_q": chain.project_q})

    return build


def q_by_hand(count: int) -> AbstractProbe:
    """Project q by NumPy and SciPy."""
    rods = RodsByHand(Chain(count))
    rods.leave_q(0)
    return Prepared(rods.leave_q, rods.project_q, note=_counted(rods.project_q(0)))


def u_by_hand(count: int) -> AbstractProbe:
    """Project u by NumPy and SciPy."""
    rods = RodsByHand(Chain(count))
    return Prepared(rods.leave_u, rods.project_u, note=_counted(1))


def nothing_by_hand(count: int) -> AbstractProbe:
    """Compute the errors by NumPy, and find them small enough."""
    rods = RodsByHand(Chain(count))
    rods.leave_q(0)
    rods.project_q(0)
    return Repeated("project_q(0)", {"project_q": rods.project_q})


def _grown(
    name: Named, build: Callable[[int], Build], by_hand: Callable[[int], AbstractProbe]
) -> Group:
    """The rows of one thing, the last of them with the exponent of its growth."""
    growth = Growth(1.2, tuple((count, name(count)) for count in COUNTS))
    return tuple(
        Row(
            name(count),
            build(count),
            limits=[growth] if count == COUNTS[-1] else [],
            beside={BY_HAND: partial(by_hand, count)},
        )
        for count in COUNTS
    )


PROJECTION: Final = Section(
    "Projecting",
    (
        _grown(_q, project_q, q_by_hand),
        _grown(_u, project_u, u_by_hand),
        _grown(_idle, project_nothing, nothing_by_hand),
    ),
    peers=(OWN,),
    columns=(BY_HAND,),
)
