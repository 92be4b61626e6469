"""The shapes of js-reactivity-benchmark: the time of one iteration, once its results are right."""

from typing import Final

from benchmarks.errors import WrongCountError
from benchmarks.limits import OfPeer
from benchmarks.peers import OWN, Peer
from benchmarks.probes import AbstractProbe, Repeated
from benchmarks.rows.base import Build, Group, Row
from benchmarks.shapes import SHAPES
from benchmarks.steps import Shape, count_calls, iterate

BESIDE_REAKTIV: Final = {"avoidable": 0.12}
TOO_MANY_PATHS: Final = {
    "traits": "a write notifies along every path: exponential in the layers",
}


def iteration(shape: Shape) -> Build:
    """Return the row of a shape: it is checked first, and another number of calls is noted."""

    def build(peer: Peer) -> AbstractProbe:
        calls = sum(count_calls(shape, peer()))
        if peer.name == OWN and calls != shape.calls:
            raise WrongCountError(shape.name, shape.calls, calls)
        steps = shape.build(peer())
        iterate(steps)
        note = "" if calls == shape.calls else f"{calls:,} calls"
        return Repeated("iterate(steps)", {"iterate": iterate, "steps": steps}, note=note)

    return build


SHAPE_GROUPS: Final[tuple[Group, ...]] = tuple(
    (
        Row(
            f"{shape.name}, {shape.calls:,} calls",
            iteration(shape),
            limits=[OfPeer(BESIDE_REAKTIV.get(shape.name, 0.25), "reaktiv"), OfPeer(0.7, "observ")],
            without=TOO_MANY_PATHS if shape.name == "cellx 1000" else {},
        ),
    )
    for shape in SHAPES
)
