"""Graphs of a module, whose functions pickle finds by name."""

from collections.abc import Callable
from functools import partial

from stagecache import Graph

Read = Callable[[], float]

SPRING = Graph("spring")
stiffness = SPRING.variable("stiffness", 200.0)
position = SPRING.variable("position", 0.1)


@SPRING.entry(prerequisites=(stiffness, position))
def force(stiffness: Read, position: Read) -> float:
    return -stiffness() * position()


def scaled(factor: float, force: Read) -> float:
    return factor * force()


def is_close(one: float, other: float) -> bool:
    return abs(one - other) < 0.5


class Model:
    """Functions in a class are found by their qualified names."""

    @staticmethod
    def half(force: Read) -> float:
        return force() / 2


twice = SPRING.entry("twice", partial(scaled, 2.0), prerequisites=(force,), equal=is_close)
half = SPRING.entry("half", Model.half, prerequisites=(force,), equal=True)
shared = SPRING.entry("shared", Model.half, prerequisites=(force,), shared=True, version="1")
