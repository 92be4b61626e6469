"""Values whose finalizers, or call-backs of weak references to them, use what lets go of them.

Compiled code that lets go of a value too early does not raise but ends the process, so each runs in
one of its own.
"""

import subprocess
import sys
import textwrap
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from stagecache import Graph, Stage, State, Subsystem, System, cached, parameter
from tests.interrupting import IS_COMPILED


class Value:
    """Something that can be referred to weakly."""


class Finalized:
    """Something that calls a function when it goes."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def __del__(self) -> None:
        self._act()


class Holder:
    """Makes values that act when they go, and counts that; cells have freed memory reused."""

    def __init__(self, act: Callable[[], object], *, weakly: bool) -> None:
        self.act = act
        self.weakly = weakly
        self.count = 0
        self._is_acting = False
        self._references: list[Any] = []

    def value(self) -> object:
        if not self.weakly:
            return Finalized(self._gone)
        value = Value()
        self._references.append(weakref.ref(value, lambda _: self._gone()))
        return value

    def _gone(self) -> None:
        if not self._is_acting:  # copies of a State copy values, which go as well
            self._is_acting = True
            self.count += 1
            self.act()
            _ = [object() for _ in range(20)]
            self._is_acting = False


TIMES = 200
NOTHING: Any = 0


def graph_variable(weakly: bool) -> int:
    graph = Graph()
    variable = graph.variable("v", NOTHING)
    holder = Holder(lambda: (variable(), repr(variable), graph.copy()), weakly=weakly)
    for _ in range(TIMES):
        variable.set(holder.value())
        variable.set(0)
    return holder.count


def graph_entry(weakly: bool) -> int:
    graph = Graph()
    variable = graph.variable("v", 0)
    holder = Holder(lambda: (variable(), entry.is_valid(), entry()), weakly=weakly)
    entry: Any = graph.entry("e", lambda v: (v(), holder.value()), prerequisites=(variable,))
    for n in range(TIMES):
        variable.set(n)
        assert entry()[0] == n
    return holder.count


def compared_entry(weakly: bool) -> int:
    graph = Graph()
    variable = graph.variable("v", 0)
    holder = Holder(lambda: (variable(), entry()), weakly=weakly)
    entry: Any = graph.entry(
        "e", lambda v: (v() // 2, holder.value()), prerequisites=(variable,), equal=is_first_equal
    )
    below: Any = graph.entry("b", lambda e: e()[0], prerequisites=(entry,))
    for n in range(TIMES):
        variable.set(n)
        assert below() == n // 2
    return holder.count


def is_first_equal(one: Any, other: Any) -> bool:
    return bool(one[0] == other[0])


def graph_that_forgets(weakly: bool) -> int:
    graph = Graph()
    variable = graph.variable("v", 0)
    holder = Holder(lambda: (variable(), len(graph), graph.copy(), graph.view), weakly=weakly)
    for _ in range(TIMES):
        held = holder.value()
        entry = graph.entry("e", lambda v, held=held: (v(), held), prerequisites=(variable,))
        entry()
        del held
        graph.remove(entry)
        del entry
    return holder.count


def writes_in_finalizers(weakly: bool) -> int:
    graph = Graph()
    variable = graph.variable("v", NOTHING)
    entry = graph.entry("e", lambda v: v(), prerequisites=(variable,))
    holder = Holder(lambda: variable.set(5), weakly=weakly)
    for _ in range(TIMES):
        variable.set(holder.value())
        entry()
        variable.set(1)
        entry()  # which lets go of the value, and so is out of date
        assert entry() == variable() == 5
    return holder.count


class Model(Subsystem):
    number = parameter(NOTHING)
    holder: Holder

    @cached(prerequisites=(number,))
    def made(self, state: State) -> object:
        self.number(state)
        return self.holder.value()


def made_model(act: Callable[[Model, State], object], weakly: bool) -> tuple[Model, State, Holder]:
    model = Model()
    system = System(model)
    states: list[State] = []
    holder = Holder(lambda: [act(model, state) for state in states], weakly=weakly)
    vars(model)["holder"] = holder
    states.append(system.new_state())
    return model, states[0], holder


def look(model: Model, state: State) -> None:
    model.number(state)
    model.made.is_valid(state)
    state.copy()
    state.copy(keep_cache=True)
    state.explain(model.made)


def state_entry(weakly: bool) -> int:
    model, state, holder = made_model(look, weakly)
    for n in range(TIMES // 4):
        model.number.set(state, n)
        model.made(state)
    return holder.count


def state_variable(weakly: bool) -> int:
    model, state, holder = made_model(look, weakly)
    for _ in range(TIMES // 4):
        model.number.set(state, holder.value())
        model.number.set(state, 0)
    return holder.count


def rollback(weakly: bool) -> int:
    model, state, holder = made_model(look, weakly)
    mark = state.checkpoint()
    for n in range(TIMES // 4):
        model.number.set(state, n)
        model.made(state)
        state.rollback(mark)
    return holder.count


def rollback_of_the_structure(weakly: bool) -> int:
    holder = Holder(lambda: (state.copy(), str(state), state.graph), weakly=weakly)
    state = State()
    part = state[state.add_subsystem("part")]
    mark = state.checkpoint()
    for _ in range(TIMES // 4):
        part.allocate_discrete_variable(Stage.POSITION, holder.value())
        part.allocate_lazy_cache_entry(Stage.TOPOLOGY, compute=lambda s: 0)
        state.rollback(mark)
    return holder.count


CASES = {
    case.__name__: case
    for case in (
        graph_variable,
        graph_entry,
        compared_entry,
        graph_that_forgets,
        writes_in_finalizers,
        state_entry,
        state_variable,
        rollback,
        rollback_of_the_structure,
    )
}


@pytest.mark.parametrize("weakly", [False, True], ids=["finalizer", "weak reference"])
@pytest.mark.parametrize("case", CASES)
def test_what_uses_a_graph_or_state_while_a_value_of_it_goes_finds_it_consistent(
    case: str, weakly: bool
) -> None:
    if not IS_COMPILED:
        assert CASES[case](weakly) >= TIMES // 4 - 2
        return
    program = f"""
        import os, sys, traceback
        def stop(raised):
            traceback.print_exception(raised.exc_value)
            os._exit(3)
        sys.unraisablehook = stop
        from {__name__} import CASES
        print(CASES[{case!r}]({weakly}))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= TIMES // 4 - 2
