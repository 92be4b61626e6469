"""Drake's tests of the cache, of trackers and of Contexts, on fixtures of their shape."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, Subsystem, System, cached, discrete, parameter, z_variable
from stagecache.errors import CacheEntryOutOfDateError, DeclarationError, ReadOnlyError
from stagecache.graph import Entry, Graph, Variable
from stagecache.inspection import uncached
from stagecache.system import ALL
from tests.originals.chains import Array, close

CALLS: Counter[str] = Counter()


class Chained(Subsystem):
    """Entries of a text, a vector and numbers, of the time, of z, and of everything.

    ::

        time -> text -> vector <- heat          everything -> first -> second -> third
                                                                  \\--------------^
    """

    heat = z_variable((0.0, 0.0, 0.0))

    @cached(prerequisites=ALL)
    def first(self, state: State) -> int:
        CALLS["first"] += 1
        return round(100 * state.time + float(self.heat(state).sum()))

    @cached(prerequisites=(first,))
    def second(self, state: State) -> int:
        CALLS["second"] += 1
        return self.first(state) + 1

    @cached(prerequisites=(first, second))
    def third(self, state: State) -> int:
        CALLS["third"] += 1
        return self.first(state) + self.second(state)

    @cached(prerequisites=lambda self: (self.time,))
    def text(self, state: State) -> str:
        CALLS["text"] += 1
        return f"at {state.time}"

    @cached(prerequisites=(heat, text))
    def vector(self, state: State) -> Array:
        CALLS["vector"] += 1
        return self.heat(state) + len(self.text(state))


NAMES = ("first", "second", "third", "text", "vector")


def ready() -> tuple[Chained, State]:
    model = Chained()
    state = System(model).new_state()
    for name in NAMES:
        getattr(model, name)(state)
    CALLS.clear()
    return model, state


def valid(model: Chained, state: State) -> set[str]:
    return {name for name in NAMES if getattr(model, name).is_valid(state)}


def test_a_write_of_the_time_reaches_all_that_depends_on_it_on_any_path() -> None:
    model, state = ready()
    assert valid(model, state) == set(NAMES)
    state.time = 2.0
    assert valid(model, state) == set()


def test_all_is_made_stale_by_one_call() -> None:
    model, state = ready()
    state.discard_cache()
    assert valid(model, state) == set()
    assert (model.third(state), model.text(state)) == (1, "at 0.0")


def test_what_is_made_stale_by_hand_takes_what_lies_below_along_and_nothing_else() -> None:
    model, state = ready()
    model.second.invalidate(state)
    assert valid(model, state) == {"first", "text", "vector"}
    assert (model.third(state), CALLS) == (1, {"second": 1, "third": 1})


def test_a_vector_is_computed_again_after_a_write_of_z_and_its_text_is_not() -> None:
    model, state = ready()
    close(model.vector(state), [6.0] * 3)
    model.heat.set(state, [1.0, 2.0, 3.0])
    assert valid(model, state) == {"text"}
    close(model.vector(state), [7.0, 8.0, 9.0])
    assert (valid(model, state), CALLS) == ({"text", "vector"}, {"vector": 1})
    assert type(model.vector(state)) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        model.vector(state)[0] = 1.0


def test_reads_leave_the_number_of_computations_as_it_is() -> None:
    model, state = ready()
    version = model.first.version(state)
    assert (model.first(state), model.first.version(state)) == (0, version)
    model.first.invalidate(state)
    state.freeze()
    with pytest.raises(CacheEntryOutOfDateError, match=r"(?s)first.*frozen"):
        model.first(state)
    state.unfreeze()
    assert model.first.version(state) == version
    assert (model.first(state), model.first.version(state)) == (0, version + 1)


def test_without_the_cache_each_read_computes_and_marks_are_kept() -> None:
    model, state = ready()
    with uncached(state):
        assert valid(model, state) == set(NAMES)
        for _ in range(2):
            assert (model.second(state), model.text(state)) == (1, "at 0.0")
        assert CALLS["second"] == CALLS["text"] == 2
        state.time = 1.0
        assert model.text(state) == "at 1.0"
    CALLS.clear()
    assert (model.text(state), CALLS) == ("at 1.0", {})
    with uncached(state, model.text):
        model.second(state)
        CALLS.clear()
        assert (model.second(state), model.text(state), model.text(state)) == (101, *["at 1.0"] * 2)
    assert CALLS == {"text": 2}
    state.discard_cache()
    assert valid(model, state) == set()


def test_a_frozen_state_gives_what_is_valid_and_neither_computes_nor_stores() -> None:
    model, state = ready()
    model.text.invalidate(state)
    assert not state.is_frozen
    state.freeze()
    assert state.is_frozen
    assert model.first(state) == 0
    with pytest.raises(CacheEntryOutOfDateError, match=r"(?s)text.*frozen"):
        model.text(state)
    for write in (
        lambda: model.text.set(state, "another"),
        lambda: model.text.mark_valid(state),
        lambda: model.text.upd(state),
        lambda: model.heat.set(state, [1.0, 1.0, 1.0]),
    ):
        with pytest.raises(ReadOnlyError):
            write()
    state.unfreeze()
    assert (state.is_frozen, model.text(state)) == (False, "at 0.0")


def test_a_value_that_is_stored_counts_once_it_is_marked() -> None:
    model, state = ready()
    model.text.invalidate(state)
    model.text.set(state, "new value")
    assert not model.text.is_valid(state)
    model.text.mark_valid(state)
    assert (model.text(state), CALLS["text"]) == ("new value", 0)
    model.text.invalidate(state)
    assert model.text(state) == "at 0.0"


def test_a_copy_has_the_same_values_and_goes_its_own_way() -> None:
    model, state = ready()
    twin = state.copy(keep_cache=True)
    for name in NAMES:
        entry = getattr(model, name)
        assert repr(entry(twin)) == repr(entry(state))
        assert entry.version(twin) == entry.version(state)
    assert CALLS == {}
    model.third.set(twin, 99)
    model.third.mark_valid(twin)
    assert (model.third(twin), model.third(state)) == (99, 1)
    state.time = 3.0
    assert (valid(model, state), valid(model, twin)) == (set(), set(NAMES))
    model.heat.set(twin, [1.0, 1.0, 1.0])
    assert valid(model, twin) == {"text"}
    for name in NAMES:
        getattr(model, name)(state)
        getattr(model, name)(twin)
    model.first.invalidate(twin)
    assert (valid(model, state), valid(model, twin)) == (set(NAMES), {"text", "vector"})


def test_entries_have_the_names_of_their_methods() -> None:
    model, _ = ready()
    assert [getattr(model, name).name for name in NAMES] == list(NAMES)


def test_an_entry_may_depend_on_nothing() -> None:
    """An empty tuple says so; to say nothing at all is refused."""
    with pytest.raises(DeclarationError, match="does not say when"):
        cached()

    class Constants(Subsystem):
        @cached(prerequisites=())
        def tau(self, state: State) -> float:  # of a fixed form
            return 6.28

    model = Constants()
    state = System(model).new_state()
    assert model.tau(state) == 6.28
    state.time = 5.0
    assert model.tau.is_valid(state)
    assert model.tau.prerequisites(state) == ()


def test_another_class_may_name_more_prerequisites() -> None:
    """Those of a class stay as they are: new States of the subclass have the new ones."""

    class Careful(Chained):
        @cached(prerequisites=lambda self: (self.time, self.second))
        def text(self, state: State) -> str:
            return f"{self.second(state)} at {state.time}"

    plain, careful = Chained(), Careful()
    for model, others in ((plain, ["first", "second", "third"]), (careful, [])):
        state = System(model).new_state()
        for name in NAMES:
            getattr(model, name)(state)
        model.second.invalidate(state)
        assert model.text.is_valid(state) == bool(others)
        model.text(state)
        model.third.invalidate(state)
        assert model.text.is_valid(state)
        state.time = 1.0
        assert not model.text.is_valid(state)


# ---------------------------------------------------------------------- trackers


def by_hand() -> tuple[Graph, dict[str, Variable[float]], dict[str, Entry[Any]]]:
    """Two sources, a middle, two below it, and an entry that is reached by three paths.

    ::

        up1 --+--> middle --+--> down1 <-- up1
        up2 --'             +--> down2 --+--> last <-- time, middle
    """
    graph = Graph()
    sources = {name: graph.variable(name, 1.0) for name in ("up1", "up2", "time")}
    up1, up2, time = sources.values()

    def total(name: str, *terms: Any) -> Entry[float]:
        def compute(*terms: Any) -> float:
            CALLS[name] += 1
            return float(sum(term() for term in terms))

        return graph.entry(name, compute, prerequisites=terms)

    middle = total("middle", up1, up2)
    down1 = total("down1", middle, up1)
    down2 = total("down2", middle)
    last = total("last", time, middle, down2)
    entries = {"middle": middle, "down1": down1, "down2": down2, "last": last}
    for entry in entries.values():
        entry()
    CALLS.clear()
    return graph, sources, entries


def valid_in(graph: Graph, names: Any) -> set[str]:
    return {name for name in names if graph[name].is_valid()}


@pytest.mark.parametrize(
    ("written", "stale"),
    [
        ("time", {"last"}),
        ("up1", {"middle", "down1", "down2", "last"}),
        ("up2", {"middle", "down1", "down2", "last"}),
    ],
)
def test_a_change_reaches_each_dependent_once_however_many_paths_lead_there(
    written: str, stale: set[str]
) -> None:
    graph, sources, entries = by_hand()
    sources[written].set(2.0)
    assert set(entries) - valid_in(graph, entries) == stale
    for _ in range(2):
        for entry in entries.values():
            entry()
    assert dict.fromkeys(stale, 1) == CALLS


def messages(graph: Graph, reached: Counter[str]) -> dict[str, tuple[int, int, int]]:
    """Return the messages that each entry got, those got again, and those sent on."""
    found = {}
    for node in graph:
        if isinstance(node, Entry):
            got = sum(reached[above.name] for above in node.prerequisites)
            own = reached[node.name]
            found[node.name] = got, got - own, own * len(node.dependents)
    return found


def test_writes_that_reach_an_entry_are_counted_once_by_each_path_and_in_a_copy_anew() -> None:
    """Messages from node to node follow from these counts, as each node sends one to each other."""
    graph, sources, entries = by_hand()
    twin = graph.copy()
    for own in (graph, twin):
        up1, up2, time = (own[sources[name]] for name in ("up1", "up2", "time"))
        with own.trace() as trace:
            for variable in (time, up1, up1, up2):
                variable.set(variable() + 1.0)
            for entry in entries:
                own[entry]()
        rows = trace.summary()
        counts = {name: (rows[own[name]].notified, rows[own[name]].made_stale) for name in entries}
        assert counts == {"middle": (3, 1), "down1": (3, 1), "down2": (3, 1), "last": (4, 1)}
        reached = Counter({name: reached for name, (reached, _) in counts.items()})
        reached.update({"time": 1, "up1": 2, "up2": 1})
        assert messages(own, reached) == {
            "middle": (3, 0, 9),
            "down1": (5, 2, 0),
            "down2": (3, 0, 3),
            "last": (7, 3, 0),
        }
        assert valid_in(graph, entries) == set(entries)


def test_each_read_computes_in_a_graph_without_the_cache() -> None:
    graph, sources, entries = by_hand()
    with uncached(graph):
        assert valid_in(graph, entries) == set(entries)
        for _ in range(2):
            assert (entries["down2"](), entries["last"]()) == (2.0, 5.0)
        assert CALLS == {"down2": 4, "middle": 6, "last": 2}
        sources["up2"].set(2.0)
        assert entries["middle"]() == 3.0
    CALLS.clear()
    assert (entries["middle"](), CALLS) == (3.0, {})
    with uncached(graph, entries["down1"]):
        for _ in range(2):
            assert (entries["down1"](), entries["down2"]()) == (4.0, 3.0)
    assert CALLS == {"down1": 2, "down2": 1}


def test_nodes_know_their_prerequisites_and_dependents_and_so_do_those_of_a_copy() -> None:
    graph, sources, entries = by_hand()
    assert [node.name for node in entries["middle"].prerequisites] == ["up1", "up2"]
    assert {node.name for node in entries["middle"].dependents} == {"down1", "down2", "last"}
    graph.remove(graph.entry("spare", lambda last: last(), prerequisites=(entries["last"],)))
    twin = graph.copy()
    assert [node.name for node in twin] == [node.name for node in graph]
    for node in graph:
        other = twin[node.name]
        assert other is not node
        for one, two in (
            (node.prerequisites, other.prerequisites),
            (node.dependents, other.dependents),
        ):
            assert [n.name for n in one] == [n.name for n in two]
            assert not any(a is b for a, b in zip(one, two, strict=True))
    assert "spare" not in twin
    twin[sources["up2"]].set(5.0)
    assert valid_in(twin, entries) == set()
    assert valid_in(graph, entries) == set(entries)
    assert (twin["last"](), graph["last"]()) == (13.0, 5.0)


def test_an_entry_gets_other_prerequisites_by_being_declared_anew() -> None:
    graph, sources, entries = by_hand()
    graph.remove(entries["last"])
    last = graph.entry("last", lambda time: time(), prerequisites=(sources["time"],))
    assert last() == 1.0
    sources["up1"].set(2.0)
    assert last.is_valid()
    sources["time"].set(2.0)
    assert not last.is_valid()


# ---------------------------------------------------------------------- Contexts


class Tank(Subsystem):
    """One variable of each kind."""

    area = parameter(2.0)
    label = parameter("tank")
    level = z_variable(1.0)
    count = discrete(0, invalidates=Stage.DYNAMICS)
    notes = discrete(factory=lambda _: dict[str, int](), invalidates=Stage.REPORT)


class Seen(Subsystem):
    """An entry for each group of the variables of two tanks."""

    def __init__(self, *tanks: Tank) -> None:
        self.tanks = tanks

    @cached(prerequisites=lambda self: (self.time,))
    def of_time(self, state: State) -> float:
        return state.time

    @cached(count=2, prerequisites=lambda self, i: (self.tanks[i].all_parameters,))
    def parameters(self, state: State, i: int) -> float:
        return self.tanks[i].area(state)

    @cached(count=2, prerequisites=lambda self, i: (self.tanks[i].z,))
    def continuous(self, state: State, i: int) -> float:
        return float(state[self.tanks[i]].z.sum())

    @cached(count=2, prerequisites=lambda self, i: (self.tanks[i].all_discrete,))
    def discretes(self, state: State, i: int) -> int:
        return self.tanks[i].count(state)


GROUPS = ("parameters", "continuous", "discretes")


def two_tanks() -> tuple[System, State, Tank, Tank, Seen]:
    one, two = Tank(), Tank()
    seen = Seen(one, two)
    system = System(one, two, seen)
    return system, system.new_state(), one, two, seen


def watched(seen: Seen) -> dict[str, Any]:
    every = {f"{name} {i}": getattr(seen, name)[i] for name in GROUPS for i in range(2)}
    return every | {"time": seen.of_time}


def stale_after(state: State, seen: Seen, write: Any) -> set[str]:
    """Compute all, write, and return what is stale, with the index of the tank."""
    every = watched(seen)
    for entry in every.values():
        entry(state)
    write()
    return {name for name, entry in every.items() if not entry.is_valid(state)}


def test_a_write_is_noted_by_the_subsystems_that_have_what_was_written() -> None:
    _, state, one, two, seen = two_tanks()

    def write_y() -> None:
        state.y = [3.25, 5.5]

    def write_both() -> None:
        state.time += 1.0
        write_y()

    def write_time() -> None:
        state.time += 1.0

    every_z = {"continuous 0", "continuous 1"}
    writes: list[tuple[Any, set[str]]] = [
        (write_time, {"time"}),
        (write_y, every_z),
        (state.upd_y, every_z),
        (state.upd_z, every_z),
        (write_both, {"time", *every_z}),
        (lambda: one.level.set(state, 7.0), {"continuous 0"}),
        (lambda: two.count.set(state, 4), {"discretes 1"}),
        (lambda: two.notes.upd(state), {"discretes 1"}),
        (lambda: one.area.set(state, 9.0), {"parameters 0"}),
        (lambda: two.label.set(state, "other"), {"parameters 1"}),
    ]
    for write, stale in writes:
        with state.trace() as trace:
            assert stale_after(state, seen, write) == stale
        rows = trace.summary()
        counted = {name: rows[entry].notified for name, entry in watched(seen).items()}
        assert {name for name, number in counted.items() if number} == stale
        assert max(counted.values()) == 1
    assert (state[one].z.tolist(), state[two].z.tolist()) == ([7.0], [5.5])


def test_an_assignment_takes_all_values_and_makes_all_stale() -> None:
    _, state, one, two, seen = two_tanks()
    other = state.copy()
    other.time = 1.5
    other.y = [0.125, 7.5]
    one.area.set(other, -2.0)
    two.label.set(other, "101")
    one.count.set(other, -1)
    two.notes.upd(other)["note"] = 12345
    every = {f"{name} {i}" for name in GROUPS for i in range(2)} | {"time"}
    assert stale_after(state, seen, lambda: state.assign(other)) == every
    assert (state.time, state.y.tolist()) == (1.5, [0.125, 7.5])
    assert (one.area(state), two.label(state), one.count(state)) == (-2.0, "101", -1)
    assert two.notes(state) == {"note": 12345}
    two.notes.upd(state).clear()
    assert two.notes(other) == {"note": 12345}


def test_parts_of_a_state_write_through_in_both_directions() -> None:
    _, state, one, two, _ = two_tanks()
    assert (state.ny, state.nq, state.nu, state.nz) == (2, 0, 0, 2)
    state.y = [42.0, 43.0]
    assert (one.level(state), state[two].z.tolist()) == (42.0, [43.0])
    state[two].z = [1000.0]
    assert state.z.tolist() == [42.0, 1000.0]
    text = str(state)
    assert all(name in text for name in ("tank", "level", "count"))


def test_a_copy_of_a_state_has_all_values_and_shares_none() -> None:
    _, state, one, two, _ = two_tanks()
    state.time = 12.0
    state.y = [1.0, 2.0]
    two.notes.upd(state)["a"] = 1
    twin = state.copy()
    assert (twin.time, twin.y.tolist(), two.notes(twin)) == (12.0, [1.0, 2.0], {"a": 1})
    assert (one.area(twin), one.label(twin)) == (2.0, "tank")
    twin.y = [8.0, 9.0]
    one.area.set(twin, 76.0)
    two.notes.upd(twin)["a"] = 2
    assert (state.y.tolist(), one.area(state), two.notes(state)) == ([1.0, 2.0], 2.0, {"a": 1})


def test_versions_rise_with_each_write_and_go_on_in_a_copy() -> None:
    _, state, one, two, _ = two_tanks()
    first = one.count.version(state)
    for k in range(1, 4):
        one.count.set(state, k)
        assert one.count.version(state) == first + k
    twin = state.copy(keep_cache=True)
    one.count.set(twin, 4)
    assert (one.count.version(twin), one.count.version(state)) == (first + 4, first + 3)
    assert two.count.version(twin) == two.count.version(state)


def test_each_thread_writes_a_state_of_its_own() -> None:
    system, _, one, _, seen = two_tanks()
    states = [system.new_state() for _ in range(4)]

    def write(state: State) -> None:
        assert one.level(state) == 1.0
        state.y = [2.0, 3.0]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, states))
    assert [float(seen.continuous[i](state)) for state in states for i in (0, 1)] == [2.0, 3.0] * 4


class Measured(Subsystem):
    """Parameters that are arrays, and others."""

    sizes = parameter(factory=lambda self: np.array([3.0, 6.0]))
    count = parameter(72)


def test_parameters_are_arrays_or_anything_else_and_a_copy_has_its_own() -> None:
    model = Measured()
    state = System(model).new_state()
    twin = state.copy()
    model.sizes.set(twin, np.array([3.0, 42.0]))
    model.count.set(twin, 512)
    assert (model.sizes(state).tolist(), model.count(state)) == ([3.0, 6.0], 72)
    assert (model.sizes(twin).tolist(), model.count(twin)) == ([3.0, 42.0], 512)
