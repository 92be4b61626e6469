"""The workloads by hand are the same simulations as those of Systems."""

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.by_hand import building, cart_pole, chain
from benchmarks.by_hand.run import AnyRun
from benchmarks.peers import OWN, load_peer
from benchmarks.rows.workloads import BY_HAND, IN_PARTS, WORKLOADS

ROWS = {row.name: row for group in WORKLOADS.groups for row in group}

PAIRS: dict[str, tuple[Callable[[], AnyRun], Callable[[], AnyRun], int]] = {
    "building": (building.run, building.BuildingByHand, building.ROOMS),
    "cart and pole": (cart_pole.run, cart_pole.CartPoleByHand, 4),
    "links": (chain.run_of_links, chain.LinksByHand, 2 * chain.LINKS),
    "chain": (chain.run_of_chain, chain.ChainByHand, 2 * chain.LINKS),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_system_ends_where_its_twin_by_hand_does(name: str) -> None:
    ours, by_hand, ny = PAIRS[name]
    ends = []
    for run in (ours(), by_hand()):
        run()
        assert run.num_evaluations > run.num_steps > 50
        ends.append(run.y)
        run()
        assert np.array_equal(run.y, ends[-1])
    assert ends[0].shape == (ny,)
    assert ends[0] == pytest.approx(ends[1], abs=1e-3)


def test_links_by_hand_are_the_vectors() -> None:
    y = np.random.default_rng(4).normal(size=2 * chain.LINKS)
    expected = chain.ChainByHand().ydot(0.0, y)
    assert chain.LinksByHand().ydot(0.0, y) == pytest.approx(expected, abs=1e-12)


def test_the_thermostats_switch_at_their_thresholds() -> None:
    by_hand = building.BuildingByHand()
    by_hand()
    low, high = building.SETPOINTS - building.BAND, building.SETPOINTS + building.BAND
    assert (low - 1e-6 <= by_hand.y).all()
    assert (by_hand.y <= high + 1e-6).all()
    assert by_hand.num_steps > 500  # at each of the switches, one begins anew


@pytest.mark.parametrize("name", ROWS)
def test_every_row_can_be_measured(name: str) -> None:
    row = ROWS[name]
    assert row.build(load_peer(OWN)).sample() > 0
    assert row.beside.keys() <= {BY_HAND, IN_PARTS}
    for build in row.beside.values():
        assert build().sample() > 0
