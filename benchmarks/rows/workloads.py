"""Four simulations as users write them, beside the same by hand: NumPy and `solve_ivp`.

A note below a figure has the numbers of steps and evaluations. The results must agree.
"""

from collections.abc import Callable
from typing import Final

from benchmarks.by_hand.building import BuildingByHand
from benchmarks.by_hand.building import run as building
from benchmarks.by_hand.cart_pole import CartPoleByHand
from benchmarks.by_hand.cart_pole import run as cart_pole
from benchmarks.by_hand.chain import ChainByHand, LinksByHand, run_of_chain, run_of_links
from benchmarks.by_hand.run import AnyRun
from benchmarks.limits import OfPeer
from benchmarks.peers import OWN
from benchmarks.probes import AbstractProbe, Repeated
from benchmarks.rows.base import Row, Section

BY_HAND: Final = "by hand"
IN_PARTS: Final = "by hand, in parts"

Make = Callable[[], AnyRun]


def _probe(make: Make) -> Callable[..., AbstractProbe]:
    """Return a function that builds the probe of a run, with the numbers of steps as a note."""

    def build(*_: object) -> AbstractProbe:
        run = make()
        run()
        note = f"{run.num_steps:,} steps\n{run.num_evaluations:,} evaluations"
        return Repeated("run()", {"run": run}, note=note)

    return build


def _row(name: str, run: Make, by_hand: Make, factor: float, in_parts: Make | None = None) -> Row:
    beside = {BY_HAND: _probe(by_hand)}
    if in_parts is not None:
        beside[IN_PARTS] = _probe(in_parts)
    column = BY_HAND if in_parts is None else IN_PARTS
    return Row(name, _probe(run), limits=[OfPeer(factor, column)], beside=beside)


SPLIT_UP: Final = 3.0
AS_A_WHOLE: Final = 1.5

WORKLOADS: Final = Section(
    "Simulations as users write them",
    (
        (_row("a day of 12 rooms, 24 triggers", building, BuildingByHand, SPLIT_UP),),
        (_row("6 s of a cart and pole, 50 Hz", cart_pole, CartPoleByHand, AS_A_WHOLE),),
        (
            _row(
                "10 s of 100 springs, one by one", run_of_links, ChainByHand, SPLIT_UP, LinksByHand
            ),
        ),
        (_row("10 s of 100 springs, as vectors", run_of_chain, ChainByHand, AS_A_WHOLE),),
    ),
    peers=(OWN,),
    columns=(BY_HAND, IN_PARTS),
)
