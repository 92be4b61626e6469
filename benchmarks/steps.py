"""What a shape is: a graph, and the steps that write and read it. How it is run and checked."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from attrs import frozen

from benchmarks.errors import WrongValueError
from benchmarks.peers import AbstractPeer, Counting, H, Reader, Writer


class Step(NamedTuple):
    """What to write, what to read then, and the values that must come out."""

    writes: Sequence[tuple[Writer, int]]
    tails: Sequence[Reader]
    expected: Sequence[int]


class Build(Protocol):
    """A function that builds a shape on any peer."""

    def __call__(self, peer: AbstractPeer[H], /) -> list[Step]:
        """Declare the nodes, and return the steps of an iteration."""


@frozen
class Shape:
    """A shape, and how many compute calls one iteration takes.

    Attributes
    ----------
    calls : int
        If each node downstream of a write is computed once when it is needed, and not otherwise.
    """

    name: str
    build: Build
    calls: int


def iterate(steps: Iterable[Step]) -> None:
    """Run one iteration, for what it costs. The loop itself takes 0.1 µs per step."""
    for writes, tails, _ in steps:
        for write, value in writes:
            write(value)
        for read in tails:
            read()


def count_calls(shape: Shape, peer: AbstractPeer[H]) -> list[int]:
    """Return the compute calls of each step of one iteration, on a peer that is empty as yet.

    Raises
    ------
    WrongValueError
        A tail has not the value that it must have.
    """
    counting = Counting(peer)
    steps = shape.build(counting)
    for step in steps:
        for read in step.tails:
            read()
    calls: list[int] = []
    for number, (writes, tails, expected) in enumerate(steps):
        counting.calls = 0
        for write, value in writes:
            write(value)
        values = [read() for read in tails]
        calls.append(counting.calls)
        if values != list(expected):
            raise WrongValueError(f"{shape.name} on {peer.name}", number, list(expected), values)
    return calls
