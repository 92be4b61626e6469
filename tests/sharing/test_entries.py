"""Shared entries of Graphs and States: their keys, and when a value is found."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Graph,
    SharedResults,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    parameter,
    shared_results,
    strict,
)
from stagecache.errors import (
    DeclarationError,
    InvalidNameError,
    NotANumberError,
    StagecacheError,
    UndeclaredPrerequisiteError,
    UnsharableError,
)
from tests.profiles import examples
from tests.sharing.models import Room, room_in


@pytest.fixture
def results() -> Iterator[SharedResults]:
    with shared_results() as found:
        yield found


def counts(results: SharedResults) -> tuple[int, int]:
    return results.statistics.misses, results.statistics.hits


# ---------------------------------------------------------------------- States


def test_states_copies_and_systems_share_values(results: SharedResults) -> None:
    room, state = room_in(width=4.0)
    assert room.load(state) == 12.5
    assert counts(results) == (2, 0)
    twin = state.copy()
    room.width.set(twin, 5.0)
    room.width.set(twin, 4.0)
    assert room.load(twin) == 12.5
    other, another = room_in(width=4.0)
    assert other.load(another) == 12.5
    assert counts(results) == (2, 2)
    assert other.factors(another) is room.factors(state)  # one array in memory


def test_a_found_value_needs_no_shared_value_above_it(results: SharedResults) -> None:
    room, state = room_in()
    room.load(state)
    other, another = room_in()
    other.load(another)
    assert not other.factors.is_valid(another)
    assert other.load.is_valid(another)
    other.width.set(another, 7.0)
    assert not other.load.is_valid(another)
    assert other.load(another) == 21.5


def test_each_value_of_a_prerequisite_has_its_own_key(results: SharedResults) -> None:
    room, state = room_in()
    for width, height, angle in [(2.0, 3.0, 0.5), (3.0, 2.0, 0.5), (2.0, 3.0, 0.25)]:
        room.width.set(state, width)
        room.height.set(state, height)
        room.angle.set(state, angle)
        assert room.load(state) == width * height + angle
    assert counts(results) == (5, 1)  # factors twice, and load three times
    room.angle.set(state, 0.5)
    assert room.load(state) == 6.5
    assert counts(results) == (5, 2)


def test_attributes_of_the_subsystem_count(results: SharedResults) -> None:
    for scale in (1.0, 2.0, 1.0):
        room = Room(scale)
        assert room.load(System(room).new_state()) == 6 * scale + 0.5
    assert counts(results) == (4, 1)


def test_the_name_of_the_subsystem_counts(results: SharedResults) -> None:
    class Named(Subsystem):
        x = parameter(1.0)

        @cached(prerequisites=(x,), shared=True)
        def label(self, state: State) -> str:
            return f"{self.name} {self.x(state)}"

    system = System(a=Named(), b=Named())
    state = system.new_state()
    assert [one.label(state) for one in system.subsystems[1:]] == ["a 1.0", "b 1.0"]  # type: ignore[attr-defined]


def test_attributes_of_other_subsystems_count_where_one_refers_to_them(
    results: SharedResults,
) -> None:
    class Wall(Subsystem):
        def __init__(self, area: float) -> None:
            self.area = area

    class Space(Subsystem):
        x = parameter(2.0)

        def __init__(self, wall: Wall) -> None:
            self.wall = wall

        @cached(prerequisites=(x,), shared=True)
        def loss(self, state: State) -> float:
            return self.x(state) * self.wall.area

    class Finder(Subsystem):
        x = parameter(2.0)

        @cached(prerequisites=(x,), shared=True)
        def loss(self, state: State) -> float:
            return self.x(state) * self.system.get(Wall).area

    for area in (1.0, 3.0):
        wall = Wall(area)
        space, finder = Space(wall), Finder()
        state = System(wall, space, finder).new_state()
        assert space.loss(state) == finder.loss(state) == 2 * area


def test_families_are_shared_item_by_item(results: SharedResults) -> None:
    class Row(Subsystem):
        x = parameter(1.0, count=3)

        @cached(count=3, prerequisites=lambda self, i: (self.x[i],), shared=True)
        def double(self, state: State, i: int) -> float:
            return (i + 2) * self.x[i](state)

    row = Row()
    system = System(row)
    for _ in range(2):
        state = system.new_state()
        assert [row.double[i](state) for i in range(3)] == [2.0, 3.0, 4.0]
    assert counts(results) == (3, 3)


def test_a_value_stored_by_hand_counts_as_a_value(results: SharedResults) -> None:
    room, state = room_in()
    room.load(state)
    other, another = room_in()
    other.factors.set(another, np.array([100.0]))
    other.factors.mark_valid(another)
    assert other.load(another) == 100.5
    third, fresh = room_in()
    assert third.load(fresh) == 6.5
    other.factors(another)
    other.factors.upd(another)[0] = 50.0
    other.factors.mark_valid(another)
    other.load.invalidate(another)
    assert other.load(another) == 50.5
    assert third.load(fresh) == 6.5


def test_an_older_value_that_compares_equal_counts_as_a_value(results: SharedResults) -> None:
    class Rounded(Subsystem):
        x = parameter(1.0)

        @cached(prerequisites=(x,), equal=lambda a, b: abs(a - b) < 0.5, shared=True)
        def near(self, state: State) -> float:
            return self.x(state)

        @cached(prerequisites=(near,), shared=True)
        def twice(self, state: State) -> float:
            return 2 * self.near(state)

    model = Rounded()
    system = System(model)
    state = system.new_state()
    assert model.twice(state) == 2.0
    model.x.set(state, 1.25)
    assert (model.near(state), model.twice(state)) == (1.0, 2.0)
    fresh = system.new_state()
    model.x.set(fresh, 1.25)
    assert (model.twice(fresh), model.near(fresh)) == (2.5, 1.25)


def test_vectors_and_time_are_prerequisites(results: SharedResults) -> None:
    class Moving(Subsystem):
        options = discrete(("a", {"b": 1}), invalidates=Stage.POSITION)

        def realize_topology(self, state: State) -> None:
            state[self].allocate_q([1.0, 2.0])

        @cached(prerequisites=lambda self: (self.q, self.time, self.options), shared=True)
        def total(self, state: State) -> float:
            return float(state[self].q.sum() + state.time + len(self.options(state)))

    moving = Moving()
    system = System(moving)
    for time in (0.0, 1.0, 0.0):
        state = system.new_state()
        state.time = time
        assert moving.total(state) == 5.0 + time
    assert counts(results) == (2, 1)


@pytest.mark.parametrize("what", ["variable", "entry", "time", "vector", "size"])
def test_a_read_of_anything_else_is_refused(what: str) -> None:
    class Leaky(Subsystem):
        x = parameter(1.0)
        y = parameter(2.0)

        @cached(prerequisites=(y,))
        def other(self, state: State) -> float:
            return self.y(state)

        @cached(prerequisites=(x,), shared=True)
        def leaky(self, state: State) -> float:
            reads: dict[str, Callable[[], float]] = {
                "variable": lambda: self.y(state),
                "entry": lambda: self.other(state),
                "time": lambda: state.time,
                "vector": lambda: float(state.q.sum()),
                "size": lambda: float(state.nq),
            }
            return self.x(state) + reads[what]()

    model = Leaky()
    state = System(model).new_state()
    for _ in range(2):  # also where what it reads is valid
        with pytest.raises(UndeclaredPrerequisiteError, match="leaky: is shared, and") as caught:
            model.leaky(state)
        assert __file__ in caught.value.got
        model.other(state)


def test_reads_of_entries_above_are_their_own(results: SharedResults) -> None:
    class Chain(Subsystem):
        x = parameter(1.0)

        @cached(prerequisites=(x,))
        def middle(self, state: State) -> float:
            return self.x(state) + 1

        @cached(prerequisites=(middle,), shared=True)
        def last(self, state: State) -> float:
            return self.middle(state) * 2

    chain = Chain()
    state = System(chain).new_state()
    assert chain.last(state) == 4.0
    chain.middle.invalidate(state)
    assert chain.last(state) == 4.0
    assert counts(results) == (1, 1)


def test_strict_mode_computes_each_value(results: SharedResults) -> None:
    room, state = room_in()
    room.load(state)
    other, another = room_in()
    with strict(another):
        assert other.load(another) == 6.5
    assert counts(results) == (2, 0)


def test_an_explanation_says_where_a_value_comes_from(results: SharedResults) -> None:
    room, state = room_in()
    room.load(state)
    assert "shared results" not in state.explain(room.load).text
    other, another = room_in()
    other.load(another)
    text = another.explain(other.load).text
    assert text.startswith("room.load is valid: taken from shared results, computed by process ")
    assert text.endswith(" s.")
    assert another.explain("room.load").as_dict()["shared"] in text
    twin = another.copy(keep_cache=True)
    assert "shared results" in twin.explain(other.load).text
    other.angle.set(another, 3.0)
    assert "shared results" not in another.explain(other.load).text


def test_a_value_that_was_changed_by_hand_comes_from_nowhere(results: SharedResults) -> None:
    class Listing(Subsystem):
        x = parameter(1.0)

        @cached(prerequisites=(x,), shared=True)
        def listed(self, state: State) -> list[float]:
            return [self.x(state)]

    model = Listing()
    system = System(model)
    first, second = system.new_state(), system.new_state()
    for x in (1.0, 2.0):
        for state in (first, second):
            model.x.set(state, x)
            model.listed(state)
        assert "from shared results" in str(second.explain("listing.listed"))
        model.listed.upd(second)[0] = 7.0
        model.listed.mark_valid(second)
        assert "from shared results" not in str(second.explain("listing.listed"))
    assert (model.listed(first), model.listed(second)) == ([2.0], [7.0])


def test_an_error_is_raised_each_time_and_not_shared(results: SharedResults) -> None:
    class Failing(Subsystem):
        x = parameter(0.0)

        @cached(prerequisites=(x,), shared=True)
        def inverse(self, state: State) -> float:
            return 1 / self.x(state)

        @cached(prerequisites=(x,), shared=True)
        def nothing(self, state: State) -> float:
            return None  # type: ignore[return-value]

    model = Failing()
    state = System(model).new_state()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            model.inverse(state)
        with pytest.raises(StagecacheError, match="nothing"):
            model.nothing(state)
    assert counts(results) == (0, 0)


# ---------------------------------------------------------------------- code


SOURCE = """
from stagecache import Subsystem, cached, parameter

FACTOR = {factor}

def scaled(x):
    return FACTOR * x

class Model(Subsystem):
    x = parameter(1.0)

    @cached(prerequisites=(x,), shared={upper})
    def upper(self, state):
        return scaled(self.x(state)) + {term}

    @cached(prerequisites=(upper,), shared=True, version={version!r})
    def lower(self, state):
        return 10 * self.upper(state)
"""


@pytest.fixture
def model_of() -> Iterator[Callable[..., Any]]:
    name = "changing_model"

    def make(factor: int = 1, term: int = 0, version: str = "", upper: bool = True) -> Any:
        module = sys.modules[name] = ModuleType(name)
        source = SOURCE.format(factor=factor, term=term, version=version, upper=upper)
        exec(source, vars(module))
        return vars(module)["Model"]()

    yield make
    del sys.modules[name]


def test_a_change_of_code_upstream_changes_the_key(
    results: SharedResults, model_of: Callable[..., Any]
) -> None:
    def lower(**changes: Any) -> float:
        model = model_of(**changes)
        return float(model.lower(System(model).new_state()))

    assert lower() == 10.0
    assert lower() == 10.0
    assert counts(results) == (2, 1)
    assert lower(term=1) == 20.0  # the function of the entry above
    assert lower(factor=2) == 20.0  # a global of a function that this one calls
    assert counts(results) == (6, 1)
    assert lower(version="2") == 10.0
    assert counts(results) == (7, 2)


def test_an_entry_above_that_is_not_shared_counts_by_its_value(
    results: SharedResults, model_of: Callable[..., Any]
) -> None:
    for _ in range(2):
        model = model_of(upper=False)
        state = System(model).new_state()
        assert model.lower(state) == 10.0
        assert model.upper.is_valid(state)
    assert counts(results) == (1, 1)


def test_what_cannot_be_compared_is_refused_at_first_use_by_path() -> None:
    class Holder(Subsystem):
        x = parameter(1.0)

        def __init__(self, thing: Any) -> None:
            self.thing = thing

        @cached(prerequisites=(x,), shared=True)
        def entry(self, state: State) -> float:
            return self.x(state)

    class Valued(Subsystem):
        x = discrete(lambda: 1, invalidates=Stage.POSITION)

        @cached(prerequisites=(x,), shared=True)
        def entry(self, state: State) -> float:
            return 1.0

    handle = open(__file__)  # noqa: SIM115
    with handle:
        holder = Holder(handle)
        state = System(holder).new_state()
        with pytest.raises(UnsharableError, match=r"holder\.entry: cannot be shared") as caught:
            holder.entry(state)
        assert "holder.thing" in caught.value.got
    valued = Valued()
    state = System(valued).new_state()
    with pytest.raises(UnsharableError, match=r"valued\.x: is a prerequisite"):
        valued.entry(state)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"shared": True, "available_from": Stage.POSITION}, DeclarationError),
        ({"shared": True, "prerequisites": ()}, DeclarationError),
        ({"version": "2", "prerequisites": ()}, DeclarationError),
        ({"shared": 1, "prerequisites": ()}, NotANumberError),
        ({"shared": True, "version": 2, "prerequisites": ()}, InvalidNameError),
    ],
)
def test_declarations_that_cannot_be_shared_are_refused(
    options: dict[str, Any], error: type[StagecacheError]
) -> None:
    with pytest.raises(error, match=r"cached\("):
        cached(**options)
    if "available_from" not in options:
        graph = Graph()
        with pytest.raises(error, match="entry 'x'"):
            graph.entry("x", lambda: 1, **options)
        assert len(graph) == 0


# ---------------------------------------------------------------------- Graphs


def test_entries_of_graphs_and_their_copies_are_shared(results: SharedResults) -> None:
    def graph_of(value: float) -> Graph:
        graph = Graph()
        side = graph.variable("side", value)
        area = graph.entry("area", lambda side: side() ** 2, prerequisites=(side,), shared=True)
        graph.entry("price", lambda area: 3 * area(), prerequisites=(area,), shared=True)
        return graph

    first = graph_of(2.0)
    assert first["price"]() == 12.0
    other = graph_of(2.0)
    assert other["price"]() == 12.0
    assert not other["area"].is_valid()
    twin = other.copy()
    twin["side"].set(3.0)
    assert twin["price"]() == 27.0
    assert other["area"]() == 4.0
    assert counts(results) == (4, 2)


def test_functions_of_graphs_count_with_all_that_they_hold(results: SharedResults) -> None:
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def of(self, side: Any) -> float:
            return self.factor * float(side())

    def closure(factor: float) -> Callable[[Any], float]:
        return lambda side: factor * float(side())

    graph = Graph()
    side = graph.variable("side", 2.0)
    for factor in (1.0, 3.0):
        entry = graph.entry(f"x{factor}", closure(factor), prerequisites=(side,), shared=True)
        assert entry() == 2 * factor
        method = graph.entry(f"m{factor}", Scale(factor).of, prerequisites=(side,), shared=True)
        assert method() == 2 * factor
    with Path(__file__).open() as file:
        reader = graph.entry("reader", lambda side: file, prerequisites=(side,), shared=True)
        with pytest.raises(UnsharableError, match="reader: cannot be shared"):
            reader()


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """Entries, as (prerequisites, is shared, is compared), and writes and reads of two graphs."""
    entries = []
    for number in range(draw(st.integers(1, 6))):
        above = draw(st.lists(st.integers(-2, number - 1), min_size=1, max_size=3, unique=True))
        entries.append((above, draw(st.booleans()), draw(st.booleans())))
    step = st.one_of(
        st.tuples(st.just("write"), st.integers(0, 1), st.integers(-2, -1), st.integers(0, 2)),
        st.tuples(st.just("read"), st.integers(0, 1), st.integers(0, len(entries) - 1)),
        st.tuples(st.just("copy"), st.integers(0, 1)),
        st.tuples(st.just("invalidate"), st.integers(0, 1), st.integers(0, len(entries) - 1)),
    )
    return entries, draw(st.lists(step, max_size=25))


@examples(300)
@given(programs(), st.integers(0, 3))
def test_programs_read_what_would_be_computed_anew(
    program: tuple[list[Any], list[Any]], limit: int
) -> None:
    entries, steps = program

    def anew(values: dict[int, int], number: int) -> int:
        if number < 0:
            return values[number]
        return (number + sum(anew(values, above) for above in entries[number][0])) // 2

    def function(number: int) -> Callable[..., int]:
        return lambda *above: (number + sum(handle() for handle in above)) // 2

    graph = Graph()
    handles: dict[int, Any] = {n: graph.variable(f"v{n}", 0) for n in (-2, -1)}
    for number, (above, is_shared, is_compared) in enumerate(entries):
        handles[number] = graph.entry(
            f"e{number}",
            function(number),
            prerequisites=[handles[n] for n in above],
            shared=is_shared,
            equal=is_compared,
        )
    graphs = [graph, graph.copy()]
    values = [{-2: 0, -1: 0}, {-2: 0, -1: 0}]
    with shared_results(limit=[10**6, 0, 200, 1000][limit]):
        for kind, g, *more in steps:
            if kind == "write":
                graphs[g][handles[more[0]]].set(more[1])
                values[g][more[0]] = more[1]
            elif kind == "read":
                assert graphs[g][handles[more[0]]]() == anew(values[g], more[0])
            elif kind == "copy" and g:
                graphs[1], values[1] = graph.copy(), values[0].copy()
            elif kind == "invalidate":
                graphs[g][handles[more[0]]].invalidate()


def test_an_attribute_reached_through_the_system_is_compared_at_each_read() -> None:
    class Table(Subsystem):
        def __init__(self) -> None:
            self.rows = [1]

    class User(Subsystem):
        scale = parameter(1.0)

        @cached(prerequisites=(scale,), shared=True)
        def total(self, state: State) -> int:
            return sum(self.system.get(Table).rows)

        @cached(prerequisites=(scale,), shared=True)
        def total_by_text(self, state: State) -> int:
            system: System = getattr(self, "system")  # noqa: B009  # as a user may write it
            return sum(system.get(Table).rows)

    table, user = Table(), User()
    system = System(table, user)
    for entry in (user.total, user.total_by_text):
        table.rows[:] = [1]
        assert entry(system.new_state()) == 1
        table.rows.append(5)
        assert entry(system.new_state()) == 6
