"""Memory: nothing is left of what was dropped, and no table of the library keeps it alive."""

import gc
from collections.abc import Callable
from threading import Thread
from weakref import ref

import pytest

from stagecache import Graph, Stage, State, simulate, strict, verify
from stagecache.examples import pendulum
from tests.memory import ALLOWED, CYCLES, grown


@pytest.mark.parametrize("kind", CYCLES)
def test_memory_is_flat_over_cycles(kind: str) -> None:
    """A leak shows each time that it is looked for; caches of Python may grow now and then."""
    cycle = CYCLES[kind]()
    assert any(grown(cycle, cycles=ALLOWED + 50).is_flat for _ in range(3))


def test_a_leak_of_an_object_or_a_block_in_each_cycle_is_noticed() -> None:
    kept: list[object] = []
    objects = grown(lambda _: kept.append(Graph()), cycles=ALLOWED + 50)
    assert objects.objects["stagecache.graph.graph.Graph"] == ALLOWED + 50
    assert not objects.is_flat
    assert not grown(lambda _: kept.append(bytes(40)), ALLOWED + 50).is_flat


def computed_graph() -> object:
    graph = Graph()
    above = graph.variable("above", 1)
    entry = graph.entry("entry", lambda x: x() + 1, prerequisites=(above,), equal=True)
    below = graph.entry("below", lambda x: x() + 1, prerequisites=(entry,))
    mark = graph.checkpoint()
    with graph.trace(), graph.strict():
        below()
        above.set(2)
    thread = Thread(target=below)
    thread.start()
    thread.join()
    graph.rollback(mark)
    return graph


def failed_graph() -> object:
    graph = Graph()
    entry = graph.entry("entry", lambda: 1 / 0, prerequisites=())
    with pytest.raises(ZeroDivisionError):
        entry()
    return graph


def used_state() -> State:
    system = pendulum.system()
    state = system.new_state()
    torque = system.get(pendulum.Anchor).torque
    mark = state.checkpoint()
    with strict(state), state.trace(), verify(state):
        system.realize(state, Stage.REPORT)
        torque(state)
    state.rollback(mark)
    thread = Thread(target=lambda: torque(state))
    thread.start()
    thread.join()
    return state


def simulated() -> State:
    state = used_state()
    return simulate(state.system, state, 0.1, progress=False)[-1]


MAKERS: dict[str, Callable[[], object]] = {
    "a Graph": computed_graph,
    "a Graph with an error": failed_graph,
    "a State": used_state,
    "a System": lambda: used_state().system,
    "a copy": lambda: used_state().copy(),
    "a copy with cache": lambda: used_state().copy(keep_cache=True),
    "a frozen State": lambda: used_state().frozen(),
    "a State that was simulated": simulated,
}


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_keeps_alive_what_nobody_uses(name: str) -> None:
    made = MAKERS[name]()
    seen = ref(made)
    del made
    gc.collect()
    assert seen() is None
