"""Hooks and computed vectors in the graph of a State."""

from typing import Any

import pytest

from stagecache import (
    EventCause,
    PeriodicEventHandler,
    PeriodicEventReporter,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    event_trigger,
    mass_matrix,
    parameter,
    position_error,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import ForeignStateError
from stagecache.examples import building
from stagecache.views import EdgeKind, GraphView, Status


class Planted(Subsystem):
    """Its hook reads `first`, or `second` as well, and writes its zdot."""

    first = parameter(1.0)
    second = parameter(2.0)
    third = parameter(3.0)
    is_more = discrete(False, invalidates=Stage.DYNAMICS)
    content = z_variable(0.0)
    fails = False
    runs = 0

    @cached(prerequisites=(first,))
    def twice(self, state: State) -> float:
        return 2 * self.first(state)

    def realize_dynamics(self, state: State) -> None:
        self.count()
        if self.fails:
            raise ValueError("planted")
        more = self.second(state) if self.is_more(state) else 0.0
        state[self].upd_zdot()[0] = self.twice(state) + more

    @classmethod
    def count(cls) -> None:
        cls.runs += 1


def hook_edges(view: GraphView, hook: str) -> tuple[set[str], set[str]]:
    """The items that a hook has read, and those that it has written."""
    reads = {e.source for e in view.edges if (e.target, e.kind) == (hook, EdgeKind.READ)}
    writes = {e.target for e in view.edges if (e.source, e.kind) == (hook, EdgeKind.WRITE)}
    return reads, writes


def test_edges_of_a_hook_are_what_it_reads_and_writes() -> None:
    state = System(Planted()).new_state()
    reads, writes = hook_edges(state.graph, "planted.realize_dynamics")
    assert reads == {"planted.twice", "planted.is_more"}
    assert writes == {"planted.zdot"}


class Guided(Subsystem):
    """Its hook does nothing; the rows of its constraint are computed after it."""

    place = q_variable(0.5)

    @position_error(prerequisites=(place,))
    def gap(self, state: State) -> float:
        return self.place(state)

    def realize_position(self, state: State) -> None:
        pass

    def handle_time_advanced(self, state: State) -> None:
        pass


def test_what_is_computed_after_a_hook_is_not_written_by_it() -> None:
    state = System(Guided()).new_state()
    assert hook_edges(state.graph, "guided.realize_position") == (set(), set())


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_hook_of_advanced_time_is_in_the_graph_if_the_system_calls_it(is_wanted: bool) -> None:
    system = System(Guided())
    system.add_event_handler(PeriodicEventHandler(1.0, lambda state: None), "tick")
    system.has_time_advanced_events = is_wanted
    graph = system.new_state().graph
    assert ("guided.handle_time_advanced" in graph) is is_wanted
    assert "handler tick" in graph


def test_a_hook_is_recorded_with_the_values_that_it_would_find() -> None:
    class Careful(Guided):
        """Looks at one thing only if its constraint is violated."""

        one = parameter(1.0)

        def realize_velocity(self, state: State) -> None:
            if state[self].qerr[0] > 0.0:
                self.one(state)

    reads, _ = hook_edges(System(Careful()).new_state().graph, "careful.realize_velocity")
    assert reads == {"careful.one", "careful.qerr"}


def test_dynamics_are_a_hook_that_reads_what_they_are_made_of() -> None:
    class Cart(Subsystem):
        mass = parameter(2.0)
        place = q_variable(0.0)
        speed = u_variable(0.0)

        @mass_matrix(prerequisites=(mass,))
        def inertia(self, state: State) -> float:
            return self.mass(state)

    reads, writes = hook_edges(System(Cart()).new_state().graph, "dynamics")
    assert "cart.inertia" in reads
    assert writes == {"udot"}


def test_a_system_that_realizes_by_itself_has_one_hook_that_reads_and_writes_all() -> None:
    class Own(System):
        def realize(self, state: State, stage: Stage = Stage.REPORT) -> None:
            super().realize(state, stage)

    graph = Own(Planted()).new_state().graph
    planted = {"planted.twice", "planted.is_more"}
    assert hook_edges(graph, "realize") == (planted, {"planted.zdot"})
    assert hook_edges(graph, "planted.realize_dynamics") == (set(), set())


def test_what_was_read_in_any_recorded_run_counts() -> None:
    part = Planted()
    system = System(part)
    state = system.new_state()
    before, _ = hook_edges(state.graph, "planted.realize_dynamics")
    part.is_more.set(state, True)
    assert hook_edges(state.graph, "planted.realize_dynamics")[0] == before
    system.record_hooks(state)
    after, _ = hook_edges(state.graph, "planted.realize_dynamics")
    assert after - before == {"planted.second"}


class Sized(Subsystem):
    first = parameter(1.0)

    def realize_instance(self, state: State) -> None:
        self.first(state)


def test_hooks_of_all_stages_are_recorded_wherever_the_state_is() -> None:
    system = System(Sized())
    state = system.new_state()
    system.realize(state)
    assert hook_edges(state.graph, "sized.realize_instance")[0] == {"sized.first"}
    with pytest.raises(ForeignStateError):
        System(Sized()).record_hooks(state)


def test_hooks_are_recorded_once_for_each_topology_and_leave_the_state_as_it_is() -> None:
    part = Planted()
    system = System(part)
    state = system.new_state()
    runs = Planted.runs
    for _ in range(3):
        assert state.graph.nodes
        state.impact("planted.first")
    assert Planted.runs == runs + 1
    assert state.stage == system.new_state().stage
    system.invalidate_topology_cache()
    assert system.new_state().graph.nodes
    assert Planted.runs == runs + 2


def test_hooks_are_recorded_only_when_their_state_is_neither_realized_nor_computed() -> None:
    class Asking(Planted):
        """Asks for its own graph."""

        @cached(available_from=Stage.MODEL)
        def size(self, state: State) -> int:
            return len(state.graph.nodes)

        def realize_position(self, state: State) -> None:
            assert state.graph.nodes

    Asking.runs = 0
    asking = Asking()
    system = System(asking)
    state = system.new_state()
    assert asking.size(state) > 0
    assert Asking.runs == 0
    system.realize(state)
    assert Asking.runs == 1
    assert hook_edges(state.graph, "asking.realize_dynamics")[1] == {"asking.zdot"}
    assert Asking.runs == 2


def test_a_hook_that_raises_leaves_the_graph_without_its_writes() -> None:
    class Failing(Planted):
        fails = True

    view = System(Failing(), name="s").new_state().graph
    assert "failing.realize_dynamics" in view
    assert hook_edges(view, "failing.realize_dynamics")[1] == set()


def test_a_handler_is_recorded_when_it_runs() -> None:
    system = building.system()
    state = system.new_state()
    living: Any = system.subsystem("living")
    assert "living.heats" not in hook_edges(state.graph, "living.switch_on")[1]
    system.realize(state)
    info = system.calc_event_trigger_info(state)
    events = [i.event for i in info if i.event.name == "living.cold"]
    system.handle_events(state, EventCause.TRIGGERED, events)
    assert living.heats(state)
    reads, writes = hook_edges(state.graph, "living.switch_on")
    assert writes == {"living.heats"}
    assert "living.cold" in reads


def test_handlers_and_reporters_are_told_apart() -> None:
    system = System(Sized())
    system.add_event_handler(PeriodicEventHandler(1.0, lambda state: None))
    system.add_event_reporter(PeriodicEventReporter(1.0, lambda state: None))
    hooks = [node for node in system.new_state().graph.nodes if node.kind == "hook"]
    assert sorted(node.variant for node in hooks) == ["handler", "realize", "reporter"]
    for node in hooks:
        assert node.variant == "realize" or node.path.startswith(f"{node.variant} ")


def test_a_handler_is_observed_once_and_other_observers_stay() -> None:
    observers: list[int] = []

    class Ringing(Subsystem):
        @event_trigger(stage=Stage.TIME)
        def bell(self, state: State) -> float:
            return state.time

        @bell.handler
        def ring(self, state: State) -> None:
            observers.append(len(state._contents.observers))

    system = System(Ringing())
    state = system.new_state()
    system.realize(state)
    events = [info.event for info in system.calc_event_trigger_info(state)]
    with state.trace():
        system.handle_events(state, EventCause.TRIGGERED, events)
        assert len(state._contents.observers) == 1
        system.handle_events(state, EventCause.TRIGGERED, events)
    assert observers == [2, 1]
    assert not state._contents.observers


def test_impact_tells_hooks_apart_from_entries() -> None:
    state = building.system().new_state()
    impact = state.impact("living.heats")
    assert impact.through_hooks == ("living.realize_dynamics", "living.zdot", "zdot")
    assert not set(impact.through_hooks) & set(impact.entries)
    assert "Through hooks that run again: living.realize_dynamics" in str(impact)
    assert impact.as_dict()["through_hooks"] == list(impact.through_hooks)


def test_a_vector_is_explained_by_the_write_that_made_it_stale() -> None:
    system = building.system()
    state = system.new_state()
    assert state.explain("zdot").status is Status.NOT_COMPUTED
    system.realize(state)
    assert state.explain("zdot").is_valid
    living: Any = system.subsystem("living")
    living.heats.set(state, True)
    explanation = state.explain("living.zdot")
    assert explanation.status is Status.STALE
    assert explanation.cause is not None
    assert explanation.cause.variable == "living.heats"
    assert explanation.path == ("living.heats", "stage Dynamics", "living.zdot")
    assert "living.realize_dynamics: hook at Dynamics" in explanation.tree
    assert state.explain("living/zdot") == explanation


def test_subsystems_alike_have_equal_items_and_edges() -> None:
    view = building.system().graph
    parts: dict[str, set[object]] = {}
    for name in ("living", "bedroom", "kitchen"):
        nodes = [n for n in view.nodes if n.subsystem == name]
        assert {n.alike for n in nodes} == {"room"}
        local = {n.path: n.path.removeprefix(f"{name}.") for n in nodes}
        ends = [(e.source, e.target, e.kind) for e in view.edges]
        parts[name] = {(local[s], local[t], k) for s, t, k in ends if s in local and t in local}
    assert parts["living"] == parts["bedroom"] == parts["kitchen"]
    assert {n.alike for n in view.nodes if n.subsystem == "walls"} == {""}
