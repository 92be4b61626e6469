"""The shapes of js-reactivity-benchmark: small graphs, each hard on reactive libraries in its way.

Each is a function that builds the graph on a peer and returns the *steps* of one iteration, which
can be run again and again: write, then read the tails::

    avoidable   h - a - b - c - d - e            b is always 0: c, d, e come out as they were
    broad       h - x - y, 50 times              many short branches
    deep        h - a - b - ... (50)             one long branch
    diamond     h - 5 x - sum                    the sum is computed once, from five new values
    mux         100 h - dict - 100 x - 100 y     all passes through one node
    repeated    h - sum of h, 30 times           a node reads another again and again
    triangle    h - a - b - ... (9), sum of all  the sum needs every node of the chain
    unstable    h - double, inverse - sum        which of the two is needed changes every time
    cellx       4 h - 4 p - 4 p - ...            layers that cross over

Two conventions are the original's. All has been computed once before an iteration starts, and the
first of its writes only brings the head to 1: 1000 writes are 1001. The original's tails are
effects, which run after each write; here the tails are read then, for the same computations.

Source: github.com/milomg/js-reactivity-benchmark, packages/core/src/benches (kairo, cellx).
"""

from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.functions import (
    copy,
    difference,
    double,
    gather,
    inverse,
    pick,
    plus,
    total,
    total_of_either,
    total_of_thirty,
    zero,
)
from benchmarks.peers import AbstractPeer, H
from benchmarks.steps import Build, Shape, Step

Layer = tuple[int, int, int, int]

MUX_VALUES: Final = (*range(0, 20, 2), *[0] * 90)


def avoidable(peer: AbstractPeer[H]) -> list[Step]:
    """Compute a and b, whose values are compared; c, d and e need not follow b, which is 0."""
    head = peer.variable("head", 0)
    a = peer.entry("a", copy, [head])
    b = peer.entry("b", zero, [a], is_compared=True)
    c = peer.entry("c", plus(1), [b])
    d = peer.entry("d", plus(2), [c])
    e = peer.entry("e", plus(3), [d])
    return _steps(peer, head, 1000, [e], lambda _: [6])


def broad(peer: AbstractPeer[H]) -> list[Step]:
    """Compute fifty short branches."""
    head = peer.variable("head", 0)
    branches = [peer.entry(f"x{i}", plus(i), [head]) for i in range(50)]
    tails = [peer.entry(f"y{i}", plus(1), [x]) for i, x in enumerate(branches)]
    return _steps(peer, head, 50, tails, lambda k: [k + i + 1 for i in range(50)])


def deep(peer: AbstractPeer[H]) -> list[Step]:
    """Compute one long branch."""
    head = tail = peer.variable("head", 0)
    for i in range(50):
        tail = peer.entry(f"x{i}", plus(1), [tail])
    return _steps(peer, head, 50, [tail], lambda k: [k + 50])


def diamond(peer: AbstractPeer[H]) -> list[Step]:
    """Compute a sum of five nodes that change together: once, not five times."""
    head = peer.variable("head", 0)
    middle = [peer.entry(f"x{i}", plus(1), [head]) for i in range(5)]
    tail = peer.entry("sum", total, middle)
    return _steps(peer, head, 500, [tail], lambda k: [5 * (k + 1)])


def mux(peer: AbstractPeer[H]) -> list[Step]:
    """Read the one tail below the head that was written: the others are not asked for."""
    heads, tails = _mux(peer)
    return [
        Step([(peer.writer(heads[i]), factor * i)], [peer.reader(tails[i])], [factor * i + 1])
        for factor in (1, 2)
        for i in range(10)
    ]


def mux_of_all(peer: AbstractPeer[H]) -> list[Step]:
    """Read all tails after each write, as the original's effects do: 1836 calls with cutoff."""
    heads, tails = _mux(peer)
    readers = [peer.reader(tail) for tail in tails]
    values = list(MUX_VALUES)
    steps: list[Step] = []
    for factor in (1, 2):
        for i in range(10):
            values[i] = factor * i
            steps.append(
                Step([(peer.writer(heads[i]), values[i])], readers, [v + 1 for v in values])
            )
    return steps


def repeated(peer: AbstractPeer[H]) -> list[Step]:
    """Compute a node that reads the head thirty times."""
    head = peer.variable("head", 0)
    tail = peer.entry("sum", total_of_thirty, [head])
    return _steps(peer, head, 100, [tail], lambda k: [30 * k])


def triangle(peer: AbstractPeer[H]) -> list[Step]:
    """Compute the sum of the head and of nine nodes of a chain."""
    head = peer.variable("head", 0)
    nodes = [head]
    for i in range(10):
        nodes.append(peer.entry(f"x{i}", plus(1), [nodes[-1]]))
    tail = peer.entry("sum", total, nodes[:10])  # as there, the last is not part of the sum
    return _steps(peer, head, 100, [tail], lambda k: [10 * k + 45])


def unstable(peer: AbstractPeer[H]) -> list[Step]:
    """Compute the double of the head or its inverse, in turns, and a sum of that one."""
    head = peer.variable("head", 0)
    either = [peer.entry("double", double, [head]), peer.entry("inverse", inverse, [head])]
    tail = peer.entry("sum", total_of_either, [head, *either])
    return _steps(peer, head, 100, [tail], lambda k: [40 * k if k % 2 else -20 * k])


def cellx(layers: int) -> Build:
    """Return the shape with so many layers, written from (1, 2, 3, 4) to (4, 3, 2, 1) and back."""

    def build(peer: AbstractPeer[H]) -> list[Step]:
        head = [peer.variable(f"p{i}", value) for i, value in enumerate((1, 2, 3, 4))]
        p1, p2, p3, p4 = head
        for layer in range(layers):
            p1, p2, p3, p4 = (
                peer.entry(f"layer {layer} p1", copy, [p2]),
                peer.entry(f"layer {layer} p2", difference, [p1, p3]),
                peer.entry(f"layer {layer} p3", total, [p2, p4]),
                peer.entry(f"layer {layer} p4", copy, [p3]),
            )
        writers = [peer.writer(p) for p in head]
        tails = [peer.reader(p) for p in (p1, p2, p3, p4)]
        return [
            Step(list(zip(writers, values, strict=True)), tails, cellx_values(values, layers))
            for values in ((4, 3, 2, 1), (1, 2, 3, 4))
        ]

    return build


def cellx_values(start: Layer, layers: int) -> Layer:
    """Return the values in the last layer, computed without any graph."""
    p1, p2, p3, p4 = start
    for _ in range(layers):
        p1, p2, p3, p4 = p2, p1 - p3, p2 + p4, p3
    return p1, p2, p3, p4


def _steps(
    peer: AbstractPeer[H],
    head: H,
    writes: int,
    tails: Sequence[H],
    expected: Callable[[int], Sequence[int]],
) -> list[Step]:
    """Return the steps of an iteration that writes 1, then 0, 1, 2, ... to one head."""
    write = peer.writer(head)
    readers = [peer.reader(tail) for tail in tails]
    return [Step([(write, k)], readers, expected(k)) for k in (1, *range(writes))]


def _mux(peer: AbstractPeer[H]) -> tuple[list[H], list[H]]:
    """Return the heads and the tails, with the values at which each iteration ends."""
    heads = [peer.variable(f"head {i}", value) for i, value in enumerate(MUX_VALUES)]
    mux = peer.entry("mux", gather, heads)
    split = [peer.entry(f"x{i}", pick(i), [mux]) for i in range(100)]
    return heads, [peer.entry(f"y{i}", plus(1), [x]) for i, x in enumerate(split)]


SHAPES: Final = (
    Shape("avoidable", avoidable, calls=2002),
    Shape("broad", broad, calls=5100),
    Shape("deep", deep, calls=2550),
    Shape("diamond", diamond, calls=3006),
    Shape("mux", mux, calls=60),
    Shape("mux, all tails", mux_of_all, calls=4020),
    Shape("repeated", repeated, calls=101),
    Shape("triangle", triangle, calls=1010),
    Shape("unstable", unstable, calls=202),
    Shape("cellx 10", cellx(10), calls=2 * 40),
    Shape("cellx 1000", cellx(1000), calls=2 * 4000),
)
