"""Functions that return no value when they are called are refused wherever one is declared."""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from inspect import signature
from typing import Any

import pytest

from stagecache import (
    Graph,
    PeriodicEventHandler,
    ScheduledEventHandler,
    Stage,
    State,
    Subsystem,
    System,
    TriggeredEventHandler,
    auto_update,
    cached,
    event_trigger,
    generalized_force,
    inverse_mass_matrix,
    kinematics,
    mass_matrix,
    parameter,
    position_error,
    profile,
    q_variable,
    u_variable,
    velocity_error,
)
from stagecache.errors import (
    ComputeSignatureError,
    DeclarationError,
    DuplicatePrerequisiteError,
    WrongTypeError,
)
from stagecache.system.constraints.errors import normalization_error
from tests.state.realizing import state_of


async def coroutine(*arguments: Any) -> float:
    return 1.0


def generator(*arguments: Any) -> Iterator[float]:
    yield 1.0


async def both(*arguments: Any) -> AsyncIterator[float]:
    yield 1.0


class Callables:
    """Objects that can be called, and methods."""

    async def wait(self, *arguments: Any) -> float:
        return 1.0


class Waiting:
    async def __call__(self, *arguments: Any) -> float:
        return 1.0


class Generating(Waiting):
    def __call__(self, *arguments: Any) -> Any:
        yield 1.0


FUNCTIONS: dict[str, Any] = {
    "coroutine": coroutine,
    "generator": generator,
    "both": both,
    "method": Callables().wait,
    "object": Waiting(),
    "generating object": Generating(),
    "part of a function": partial(coroutine, 1),
    "part of a part of an object": partial(partial(Waiting(), 1), 2),
}

angle = q_variable(1.0)
rate = u_variable(1.0)
errors = position_error()(lambda self, state: 0.0)
of_rate = rate.prescribed(lambda self, state: 0.0)
memory = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.TIME)
trigger = event_trigger(stage=Stage.TIME)(lambda self, state: 0.0)
n_matrix = kinematics(prerequisites=())(lambda self, state: 1.0)

DECLARE: dict[str, Callable[[Any], object]] = {
    "Graph.entry": lambda f: Graph().entry("e", f),
    "equal": lambda f: Graph().entry("e", lambda: 1, equal=f),
    "allocate_lazy_cache_entry": lambda f: state_of("a")[0].allocate_lazy_cache_entry(
        Stage.TIME, compute=f
    ),
    "allocate_cache_entry_with_prerequisites": lambda f: state_of("a")[
        0
    ].allocate_cache_entry_with_prerequisites(Stage.TIME, Stage.INFINITY, (), compute=f),
    "cached": cached(prerequisites=()),
    "equal of cached": lambda f: cached(prerequisites=(), equal=f),
    "cached with count": cached(count=1, prerequisites=()),
    "position_error": position_error(),
    "velocity_error": velocity_error(),
    "jacobian": errors.jacobian,
    "bias": errors.bias,
    "normalization_error": normalization_error(),
    "jacobian of normalization_error": lambda f: normalization_error(jacobian=f),
    "prescribed": angle.prescribed,
    "acceleration": of_rate.acceleration,
    "equilibrium": angle.equilibrium(stage=Stage.POSITION),
    "update": memory.update,
    "event_trigger": event_trigger(stage=Stage.TIME),
    "handler of a trigger": trigger.handler,
    "mass_matrix": mass_matrix(prerequisites=()),
    "inverse_mass_matrix": inverse_mass_matrix(prerequisites=()),
    "generalized_force": generalized_force(),
    "kinematics": kinematics(prerequisites=()),
    "pinv": n_matrix.pinv(prerequisites=()),
    "factory of a parameter": lambda f: parameter(factory=f),
    "factory of a family": lambda f: parameter(factory=f, count=2),
    "factory of a q": lambda f: q_variable(factory=f),
    "PeriodicEventHandler": lambda f: PeriodicEventHandler(1.0, f),
    "ScheduledEventHandler": lambda f: ScheduledEventHandler(f, 1.0),
    "next time": lambda f: ScheduledEventHandler(lambda state: None, f),
    "TriggeredEventHandler": lambda f: TriggeredEventHandler(Stage.TIME, lambda state: 1.0, f),
    "value of a trigger": lambda f: TriggeredEventHandler(Stage.TIME, f, lambda state: None),
    "profile": lambda f: profile(System(), f),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
@pytest.mark.parametrize("declare", DECLARE.values(), ids=DECLARE.keys())
def test_a_function_that_returns_no_value_is_refused_where_it_is_declared(
    declare: Callable[[Any], object], function: Any
) -> None:
    with pytest.raises(WrongTypeError) as caught:
        declare(function)
    assert caught.value.got == "a coroutine or generator function"


@pytest.mark.parametrize("name", ["realize_position", "calc_decorative_geometry_and_append"])
@pytest.mark.parametrize("function", [coroutine, generator, both])
def test_a_hook_that_would_do_nothing_is_refused_with_its_class(name: str, function: Any) -> None:
    with pytest.raises(WrongTypeError, match=rf"Arm\.{name}: returns no value"):
        type("Arm", (Subsystem,), {name: function})


def test_a_method_of_an_event_handler_that_would_do_nothing_is_refused() -> None:
    class Late(PeriodicEventHandler):
        async def handle_event(self, state: State) -> None:  # type: ignore[override]  # is refused
            pass

    with pytest.raises(WrongTypeError, match=r"Late\.handle_event: returns no value"):
        Late(interval=1.0)


def test_an_object_that_returns_a_value_when_it_is_called_is_taken() -> None:
    class Doubling:
        def __call__(self, x: Any) -> float:
            return 2.0 * float(x())

        async def wait(self) -> None:
            """What else it can do does not count."""

    graph = Graph()
    x = graph.variable("x", 1.5)
    assert graph.entry("y", Doubling(), prerequisites=(x,))() == 3.0
    assert graph.entry("z", partial(Doubling()), prerequisites=(x,))() == 3.0


def test_prerequisites_may_be_any_ordered_iterable_and_nothing_else() -> None:
    graph = Graph()
    a, b = graph.variable("a", 1), graph.variable("b", 2)
    ordered = {
        "tuple": (a, b),
        "list": [a, b],
        "keys": {a: 1, b: 2}.keys(),
        "iterator": iter([a, b]),
    }
    for name, prerequisites in ordered.items():
        if name != "keys":  # a set, which has no order
            entry = graph.entry(name, lambda x, y: 10 * x() + y(), prerequisites=prerequisites)
            assert entry() == 12
            a.set(3)
            assert entry() == 32
            a.set(1)
    refused: list[Any] = [a, "a", {a, b}, frozenset([a]), ordered["keys"], 5, None]
    for prerequisites in refused:
        with pytest.raises(WrongTypeError, match="prerequisites: cannot be"):
            graph.entry("refused", lambda *_: 1, prerequisites=prerequisites)
        assert "refused" not in graph


def test_parameters_are_compared_with_prerequisites_of_the_same_names_only() -> None:
    graph = Graph()
    a, b = graph.variable("a", 1), graph.variable("b", 2)
    with pytest.raises(ComputeSignatureError, match="in another order"):
        graph.entry("refused", lambda b, a: b() - a(), prerequisites=(a, b))
    assert graph.entry("others", lambda b, x: b() - x(), prerequisites=(a, b))() == -1
    with pytest.raises(ComputeSignatureError):
        graph.entry("too many", lambda a, b, c: 1, prerequisites=(a, b))
    for prerequisites in ((a, b), (a,)):
        with pytest.raises(ComputeSignatureError):
            graph.entry("by name only", lambda a, *, b: 1, prerequisites=prerequisites)


def test_a_builtin_that_does_not_tell_its_parameters_may_compare() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    with pytest.raises(ValueError, match="no signature"):
        signature(max)
    entry = graph.entry("entry", lambda a: a(), prerequisites=(a,), equal=max)  # never 0
    below = graph.entry("below", lambda entry: entry(), prerequisites=(entry,))
    assert below() == 1
    a.set(2)
    assert below() == 1  # since max(1, 2) counts as True


def test_what_is_refused_leaves_a_graph_as_it_was() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    with pytest.raises(DuplicatePrerequisiteError):
        graph.entry("twice", lambda x, y: 1, prerequisites=(a, a))
    assert [node.name for node in graph] == ["a"]
    assert not graph._handles.is_torn


def test_an_entry_that_cannot_be_shared_is_named_if_it_has_a_name() -> None:
    graph = Graph()
    with pytest.raises(DeclarationError, match=r"^entry 'sum'\(shared=True\)"):
        graph.entry("sum", lambda: 1, shared=True)
    with pytest.raises(DeclarationError, match=r"^entry\(shared=True\)"):
        graph.entry(shared=True)


def test_a_version_of_what_is_not_shared_is_refused() -> None:
    graph = Graph()
    a = graph.variable("a", 1)
    with pytest.raises(DeclarationError, match="has no use"):
        graph.entry("sum", lambda a: a(), prerequisites=(a,), version="1")
    assert len(graph) == 1
