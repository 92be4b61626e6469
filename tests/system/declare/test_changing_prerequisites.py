"""Prerequisites that depend on what the System has: parts, attributes and connections."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import CacheEntry, State, Subsystem, System, cached, input_port, parameter, strict
from stagecache.errors import TopologyVersionError
from tests.profiles import examples


class Load(Subsystem):
    weight = parameter(1.0)


class Crane(Subsystem):
    """A sum over all loads there are, and over options of the model."""

    own = parameter(100.0)
    wind = input_port(float)
    brake: Load | None = None
    is_counting_loads = True

    @cached(prerequisites=lambda self: (self.own, *self.others()))
    def total(self, state: State) -> float:
        return float(self.own(state) + sum(other(state) for other in self.others()))

    @cached(prerequisites=(total,))
    def half(self, state: State) -> float:
        return self.total(state) / 2.0

    def others(self) -> Iterator[Any]:
        if self.is_counting_loads:
            yield from (s.weight for s in self.system if isinstance(s, Load))
        elif self.brake is not None:
            yield self.brake.weight
        if self.system.source_of(self.wind) is not None:
            yield self.wind


CHANGES = ("add", "count", "brake", "release", "connect", "disconnect", "fix", "write")


@given(st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 9)), max_size=12))
@examples(150)
def test_prerequisites_follow_what_the_system_has(changes: list[tuple[str, int]]) -> None:
    crane = Crane()
    loads = [Load()]
    system = System(crane, *loads)
    state = system.new_state()
    source: Any = None
    for what, number in changes:
        chosen = loads[number % len(loads)]
        if what == "add":
            loads.append(system.add(Load()))
        elif what == "count":
            crane.is_counting_loads = not crane.is_counting_loads
        elif what == "brake":
            crane.brake = chosen
        elif what == "release":
            crane.brake = None
        elif what in ("connect", "fix") and source is None:
            source = chosen.weight
            if what == "fix":
                source = system.fix(crane.wind, 1.0)
            else:
                system.connect(source, crane.wind)
        elif what == "disconnect" and source is not None:
            system.disconnect(crane.wind)
            source = None
        elif what == "write":
            loads_read = {id(h) for h in upstream(crane.total, state)}
            crane.half(state)
            chosen.weight.set(state, float(number))
            assert crane.half.is_valid(state) == (id(chosen.weight) not in loads_read)
        if not system.topology_has_been_realized:
            state = system.new_state()
        if crane.is_counting_loads:
            expected = sum(load.weight(state) for load in loads)
        else:
            expected = 0.0 if crane.brake is None else crane.brake.weight(state)
        expected += 100.0 + (0.0 if source is None else source(state))
        with strict(state):
            assert (crane.total(state), crane.half(state)) == (expected, expected / 2.0)


def upstream(entry: CacheEntry[Any], state: State) -> Iterator[Any]:
    """All variables and entries above an entry."""
    for handle in entry.prerequisites(state):
        yield handle
        if isinstance(handle, CacheEntry):
            yield from upstream(handle, state)


def test_a_subclass_adds_a_prerequisite_and_an_option_takes_one_away() -> None:
    class Windy(Crane):
        gust = parameter(5.0)
        is_gusty = True

        def others(self) -> Iterator[Any]:
            yield from super().others()
            if self.is_gusty:
                yield self.gust

    crane = Windy()
    system = System(crane)
    older = system.new_state()
    assert crane.total(older) == 105.0
    crane.is_gusty = False
    state = system.new_state()
    assert [str(handle) for handle in crane.total.prerequisites(state)] == ["windy.own"]
    crane.total(state)
    crane.gust.set(state, 6.0)
    assert crane.total.is_valid(state)
    assert crane.total(state) == 100.0
    with pytest.raises(TopologyVersionError, match="is_gusty was assigned"):
        system.realize(older)
