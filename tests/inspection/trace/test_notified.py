"""Counts of the writes that reach entries, against a count by hand."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Graph,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    parameter,
    profile,
    q_variable,
)
from tests.profiles import examples


class Chain(Subsystem):
    first = parameter(1.0)
    second = parameter(1.0)
    place = q_variable(1.0)

    @cached(prerequisites=(first,))
    def one(self, state: State) -> float:
        return self.first(state)

    @cached(prerequisites=(one, second), equal=True)
    def sign(self, state: State) -> bool:
        return self.one(state) > 0.0

    @cached(prerequisites=(sign,))
    def two(self, state: State) -> float:
        return 2.0 * self.sign(state)

    @cached(available_from=Stage.POSITION)
    def by_stage(self, state: State) -> float:
        return self.place(state)


UPSTREAM = {
    "one": {"first"},
    "sign": {"first", "second"},
    "two": {"first", "second"},
    "by_stage": {"first", "second", "place", "time"},
}
VARIABLES = sorted(set[str]().union(*UPSTREAM.values()))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(VARIABLES)),
        st.tuples(st.just("read"), st.sampled_from(sorted(UPSTREAM))),
        st.tuples(st.sampled_from(["copy", "back"]), st.just("")),
    ),
    max_size=25,
)


def write(system: System, chain: Chain, state: State, name: str, value: float) -> None:
    handle: Any = system.time if name == "time" else getattr(chain, name)
    handle.set(state, value)


@given(STEPS)
@examples(150)
def test_writes_that_reach_an_entry_are_counted_and_those_that_find_it_valid(
    steps: list[tuple[str, str]],
) -> None:
    chain = Chain()
    system = System(chain)
    notified, made_stale, was_read = Counter[str](), Counter[str](), set[str]()
    states = [system.new_state()]
    with states[0].trace() as trace:
        for number, (what, name) in enumerate(steps):
            state = states[-1]
            if what == "write":
                before = {e for e in UPSTREAM if getattr(chain, e).is_valid(state)}
                write(system, chain, state, name, float(number % 3 - 1))
                for entry, upstream in UPSTREAM.items():
                    notified[entry] += name in upstream
                    made_stale[entry] += entry in before and not getattr(chain, entry).is_valid(
                        state
                    )
            elif what == "read":
                system.realize(state, Stage.POSITION)
                getattr(chain, name)(state)
                was_read |= {name, *(["one", "sign"] if name == "two" else [])}
            elif what == "copy":
                states.append(state.copy(keep_cache=True))
            elif len(states) > 1:
                states.pop()
    rows = {row.entry.partition(".")[2]: row for row in trace.summary().rows}
    for entry, row in rows.items():
        assert (row.notified, row.made_stale) == (notified[entry], made_stale[entry])
    assert was_read <= rows.keys() | {"one"}  # which a cutoff may leave unread


def test_writes_of_a_graph_are_counted() -> None:
    graph = Graph()
    number = graph.variable("number", 1.0)
    double = graph.entry("double", lambda number: 2.0 * number(), prerequisites=(number,))
    with graph.trace() as trace:
        for value in range(6):
            number.set(float(value))
            if value % 3 == 0:
                double()
    row = trace.summary()[double]
    assert (row.notified, row.made_stale, row.computed) == (6, 2, 2)


def test_a_profile_lists_what_writes_reach_in_vain() -> None:
    chain = Chain()
    system = System(chain)

    def run(state: State) -> None:
        for value in range(6):
            chain.first.set(state, 1.0)
            chain.second.set(state, float(value))
            if value % 2:
                chain.two(state)

    found = profile(system, run)
    rows = {entry.entry: entry for entry in found.notified_in_vain}
    one = rows["chain.one"]
    assert (one.notified, one.made_stale, one.stale_already, one.unchanged) == (6, 2, 4, 2)
    sign = rows["chain.sign"]
    assert (sign.notified, sign.made_stale, sign.stale_already) == (12, 2, 10)
    assert "Reached by writes in vain\nentry" in str(found)
    assert found.as_dict()["entries"][0]["notified"] == found.entries[0].notified


def test_an_entry_that_a_stage_computes_for_nobody_is_named() -> None:
    class Eager(Subsystem):
        place = q_variable(1.0)

        @cached(prerequisites=(place,), computed_by=Stage.POSITION)
        def unread(self, state: State) -> float:
            return self.place(state)

        @cached(prerequisites=(place,), computed_by=Stage.POSITION)
        def by_entry(self, state: State) -> float:
            return self.place(state)

        @cached(prerequisites=(by_entry,))
        def reader(self, state: State) -> float:
            return self.by_entry(state)

    eager = Eager()
    system = System(eager)

    def run(state: State) -> None:
        for value in range(4):
            eager.place.set(state, float(value))
            system.realize(state)
            eager.reader(state)

    found = {entry.entry: entry.suggestion for entry in profile(system, run).entries}
    assert found["eager.unread"] == (
        "eager.unread was computed 4 times, by stage Position, and nothing read it: leave "
        "computed_by away, so that only a read computes it"
    )
    assert "nothing read it" not in found["eager.by_entry"]
