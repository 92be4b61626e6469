"""The benchmark shapes: their values are right, and stagecache computes nothing in vain."""

from itertools import product
from typing import Final

import pytest

from benchmarks.deepstack import deep_stack
from benchmarks.errors import WrongValueError
from benchmarks.peers import HOMES, OWN, load_peer
from benchmarks.shapes import SHAPES, cellx_values
from benchmarks.steps import Shape, Step, count_calls

CALLS: Final = {
    "avoidable": 2002,  # with cutoff: c, d and e need not follow b, which is always 0
    "broad": 5100,
    "deep": 2550,
    "diamond": 3006,
    "mux": 60,  # at most 1836: only what is below the head that was written is read
    "mux, all tails": 4020,  # 1836 with cutoff: 99 of the 100 heads are as they were
    "repeated": 101,
    "triangle": 1010,
    "unstable": 202,
    "cellx 10": 2 * 40,
    "cellx 1000": 2 * 4000,
}

# A write notifies along every path in traits, and 1000 layers have too many of them.
ENDLESS: Final = ("traits", "cellx 1000")

PEERS_AND_SHAPES: Final = [
    pytest.param(peer, shape, id=f"{peer}-{shape.name}")
    for peer, shape in product(HOMES, SHAPES)
    if peer != OWN and (peer, shape.name) != ENDLESS
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_an_iteration_computes_each_node_that_is_needed_once(shape: Shape) -> None:
    assert sum(count_calls(shape, load_peer(OWN)())) == CALLS[shape.name] == shape.calls


def test_each_round_of_cellx_computes_every_node_once() -> None:
    assert count_calls(SHAPES[-1], load_peer(OWN)()) == [4000, 4000]


def test_a_thousand_layers_of_cellx_give_the_known_values() -> None:
    assert cellx_values((1, 2, 3, 4), 1000) == (-3, -6, -2, 2)
    assert cellx_values((4, 3, 2, 1), 1000) == (-2, -4, 2, 3)


@pytest.mark.parametrize(("name", "shape"), PEERS_AND_SHAPES)
def test_peers_come_to_the_same_values(name: str, shape: Shape) -> None:
    _, _, package = HOMES[name]
    pytest.importorskip(package, reason=f"{package} is in the extra: pip install '.[bench]'")
    with deep_stack() as deep:
        assert deep.run(lambda: count_calls(shape, load_peer(name)()))


def test_a_wrong_value_is_not_passed_over() -> None:
    def build(peer: object) -> list[Step]:
        return [Step([], [lambda: 1], [1]), Step([], [lambda: 1], [2])]

    with pytest.raises(WrongValueError, match="after step 1"):
        count_calls(Shape("wrong", build, calls=0), load_peer(OWN)())
