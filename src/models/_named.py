"""Stand-in for named coordinates, until `stagecache.multibody` has them."""

from math import inf
from typing import Any

from attrs import frozen


@frozen
class Coordinate:
    """A description."""

    name: str
    default: float | None = None
    range: tuple[float, float] = (-inf, inf)
    clamped: bool = False
    locked: bool = False


class NamedCoordinate:
    def __init__(self, body: Any, index: int, told: Coordinate) -> None:
        self.body, self.index, self.name = body, index, told.name
        self.default, self.range = told.default or 0.0, told.range
        self.clamped, self.locked = told.clamped, told.locked

    def __call__(self, state: Any) -> float:
        return float(self.body.q(state)[self.index])

    def set(self, state: Any, value: float) -> None:
        q = self.body.q(state).copy()
        q[self.index] = value
        self.body.q.set(state, q)


def add_body(matter: Any, name: str, parent: Any, mobilizer: Any, *, coordinates: Any, **more: Any) -> Any:
    body = matter.add_body(name, parent, mobilizer, **more)
    own = [NamedCoordinate(body, i, c) for i, c in enumerate(coordinates)]
    matter.__dict__.setdefault("_shim", []).extend(own)
    return body


def coordinates_of(matter: Any) -> list[Any]:
    return list(matter.__dict__.get("_shim", []))


def new_state(system: Any) -> Any:
    state = system.new_state()
    for c in coordinates_of(system.matter):
        c.set(state, c.default)
    return state
