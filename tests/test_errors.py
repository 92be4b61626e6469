"""Every error of the graph: its class, its four parts, and that nothing has changed after it."""

import copy
import pickle
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import stagecache.errors
from stagecache import Graph
from stagecache.errors import (
    ComputeSignatureError,
    CycleError,
    DuplicateNameError,
    DuplicatePrerequisiteError,
    ForeignNodeError,
    InvalidNameError,
    NodeInUseError,
    NodeKindError,
    NotPicklableError,
    RemovedNodeError,
    StagecacheError,
    UnknownNodeError,
    WrongTypeError,
)
from tests.graph.check_structure import check_store


class Fixture:
    """A graph of three nodes, one of them used and one removed, and another graph."""

    def __init__(self) -> None:
        self.graph = Graph("pendulum")
        self.angle = self.graph.variable("angle", 1.0)
        self.tip = self.graph.entry("tip", lambda a: 2 * a(), prerequisites=(self.angle,))
        self.removed = self.graph.variable("removed", 1.0)
        self.removed_entry = self.graph.entry("removed entry", lambda: 1.0)
        self.graph.remove(self.removed, self.removed_entry)
        self.foreign = Graph("other").variable("mass", 1.0)
        self.tip()

    def snapshot(self) -> object:
        nodes = [
            (n.name, n.version, n.is_valid(), n(), n.prerequisites, n.dependents)
            for n in self.graph
        ]
        return nodes, self.graph.statistics


def identity(read: Callable[[], float]) -> float:
    return read()


async def wait(read: Callable[[], float]) -> float:
    return read()


def generate(read: Callable[[], float]) -> Iterator[float]:
    yield read()


Act = Callable[[Fixture], object]
CASES: dict[str, tuple[type[StagecacheError], type[Exception], str, Act]] = {
    "name is empty": (InvalidNameError, TypeError, "''", lambda f: f.graph.variable("", 1)),
    "name is no string": (
        InvalidNameError,
        TypeError,
        "3",
        lambda f: f.graph.variable(3, 1),  # type: ignore[arg-type]  # is refused
    ),
    "decorator without parentheses": (
        InvalidNameError,
        TypeError,
        "@graph.entry(prerequisites=(...))",
        lambda f: f.graph.entry(identity),  # type: ignore[call-overload]  # is refused
    ),
    "variable's name is taken": (
        DuplicateNameError,
        ValueError,
        "Entry('tip'",
        lambda f: f.graph.variable("tip", 1),
    ),
    "entry's name is taken": (
        DuplicateNameError,
        ValueError,
        "Variable('angle'",
        lambda f: f.graph.entry("angle", lambda: 1),
    ),
    "unknown name": (UnknownNodeError, KeyError, "did you mean 'tip'?", lambda f: f.graph["tipp"]),
    "unknown name, nothing similar": (
        UnknownNodeError,
        KeyError,
        "use one of 'angle', 'tip'",
        lambda f: f.graph["qqqqqqq"],
    ),
    "name in place of a node": (
        WrongTypeError,
        TypeError,
        "write graph['angle']",
        lambda f: f.graph.remove("angle"),  # type: ignore[arg-type]  # is refused
    ),
    "a handle as a condition": (
        WrongTypeError,
        TypeError,
        "angle()",
        lambda f: bool(f.angle),
    ),
    "parameters in another order": (
        ComputeSignatureError,
        TypeError,
        "angle, tip",
        lambda f: f.graph.entry("e", lambda tip, angle: 1, prerequisites=(f.angle, f.tip)),
    ),
    "node of another graph as prerequisite": (
        ForeignNodeError,
        ValueError,
        "'mass'",
        lambda f: f.graph.entry("e", identity, prerequisites=(f.foreign,)),
    ),
    "node of another graph removed": (
        ForeignNodeError,
        ValueError,
        "graph 'other'",
        lambda f: f.graph.remove(f.foreign),
    ),
    "node of another graph looked up": (
        ForeignNodeError,
        ValueError,
        "'mass'",
        lambda f: f.graph[f.foreign],
    ),
    "node of a copy as prerequisite": (
        ForeignNodeError,
        ValueError,
        "copy[node]",
        lambda f: f.graph.entry("e", identity, prerequisites=(f.graph.copy()[f.angle],)),
    ),
    "no node as prerequisite": (
        WrongTypeError,
        TypeError,
        "'angle'",
        lambda f: f.graph.entry("e", identity, prerequisites=("angle",)),  # type: ignore[arg-type, type-var]  # is refused
    ),
    "a node in place of a list of prerequisites": (
        WrongTypeError,
        TypeError,
        "(node,)",
        lambda f: f.graph.entry("e", identity, prerequisites=f.angle),  # type: ignore[call-overload]  # is refused
    ),
    "a set of prerequisites": (
        WrongTypeError,
        TypeError,
        "ordered",
        lambda f: f.graph.entry("e", lambda a, t: 1, prerequisites={f.angle, f.tip}),
    ),
    "no prerequisites at all": (
        WrongTypeError,
        TypeError,
        "NoneType",
        lambda f: f.graph.entry("e", lambda: 1, prerequisites=None),  # type: ignore[call-overload]  # is refused
    ),
    "a string of prerequisites": (
        WrongTypeError,
        TypeError,
        "str",
        lambda f: f.graph.entry("e", identity, prerequisites="angle"),  # type: ignore[arg-type]  # is refused
    ),
    "graph's name is no string": (
        InvalidNameError,
        TypeError,
        "3",
        lambda f: Graph(3),  # type: ignore[arg-type]  # is refused
    ),
    "compute is a coroutine function": (
        WrongTypeError,
        TypeError,
        "coroutine",
        lambda f: f.graph.entry("e", wait, prerequisites=(f.angle,)),
    ),
    "compute is a generator function": (
        WrongTypeError,
        TypeError,
        "generator",
        lambda f: f.graph.entry("e", generate, prerequisites=(f.angle,)),
    ),
    "a graph is pickled": (
        NotPicklableError,
        TypeError,
        "entry 'tip' of graph 'pendulum'",
        lambda f: pickle.dumps(f.graph),
    ),
    "a handle is pickled": (
        NotPicklableError,
        TypeError,
        "define it by def at the top level of a module",
        lambda f: pickle.dumps(f.tip),
    ),
    "removed node copied": (
        RemovedNodeError,
        LookupError,
        "'removed'",
        lambda f: copy.deepcopy(f.removed),
    ),
    "removed node looked up": (
        RemovedNodeError,
        LookupError,
        "'removed'",
        lambda f: f.graph[f.removed],
    ),
    "no node looked up": (
        WrongTypeError,
        TypeError,
        "int",
        lambda f: f.graph[3],  # type: ignore[call-overload]  # is refused
    ),
    "prerequisite listed twice": (
        DuplicatePrerequisiteError,
        ValueError,
        "'angle'",
        lambda f: f.graph.entry("e", lambda *r: 1, prerequisites=(f.angle, f.tip, f.angle)),
    ),
    "removed node as prerequisite": (
        RemovedNodeError,
        LookupError,
        "'removed'",
        lambda f: f.graph.entry("e", identity, prerequisites=(f.removed,)),
    ),
    "removed variable read": (RemovedNodeError, LookupError, "'removed'", lambda f: f.removed()),
    "removed variable set": (
        RemovedNodeError,
        LookupError,
        "'removed'",
        lambda f: f.removed.set(2.0),
    ),
    "removed entry read": (
        RemovedNodeError,
        LookupError,
        "'removed entry'",
        lambda f: f.removed_entry(),
    ),
    "removed entry invalidated": (
        RemovedNodeError,
        LookupError,
        "'removed entry'",
        lambda f: f.removed_entry.invalidate(),
    ),
    "removed node removed": (
        RemovedNodeError,
        LookupError,
        "'removed'",
        lambda f: f.graph.remove(f.removed),
    ),
    "node with dependents removed": (
        NodeInUseError,
        ValueError,
        "'tip'",
        lambda f: f.graph.remove(f.angle),
    ),
    "compute is no function": (
        WrongTypeError,
        TypeError,
        "3.0",
        lambda f: f.graph.entry("e", 3.0),  # type: ignore[call-overload]  # is refused
    ),
    "compute is missing": (
        WrongTypeError,
        TypeError,
        "None",
        lambda f: f.graph.entry("e", prerequisites=(f.angle,)),  # type: ignore[call-overload]  # is refused
    ),
    "compute takes too few": (
        ComputeSignatureError,
        TypeError,
        "too many positional arguments",
        lambda f: f.graph.entry("e", lambda: 1, prerequisites=(f.angle,)),
    ),
    "compute takes too many": (
        ComputeSignatureError,
        TypeError,
        "missing a required argument",
        lambda f: f.graph.entry("e", identity),
    ),
    "a derived entry is set": (
        NodeKindError,
        TypeError,
        "set the variables",
        lambda f: f.tip.set(3.0),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_by_name_and_changes_nothing(case: str) -> None:
    error_class, builtin, mentioned, act = CASES[case]
    fixture = Fixture()
    before = fixture.snapshot()
    with pytest.raises(error_class) as caught:
        act(fixture)
    error = caught.value
    assert isinstance(error, builtin)
    assert mentioned in str(error)
    assert all([error.what, error.expected, error.got, error.hint])
    assert fixture.snapshot() == before
    check_store(fixture.graph._handles.store)


def test_an_entry_is_not_removed_while_it_is_computed() -> None:
    graph = Graph()

    def remove_itself() -> None:
        graph.remove(graph["entry"])

    entry = graph.entry("entry", remove_itself)
    with pytest.raises(NodeInUseError, match="its computation"):
        entry()
    assert list(graph) == [entry]


def test_a_message_has_four_parts() -> None:
    error = StagecacheError("thing: is bad", "a good one", "a bad one", "mend it")
    assert str(error).splitlines() == [
        "thing: is bad",
        "  expected: a good one",
        "  got:      a bad one",
        "  hint:     mend it",
    ]


def test_errors_travel_between_processes() -> None:
    for error in (
        UnknownNodeError("a", "b", "c", "d"),
        CycleError("a", "b", "c", "d", ("x", "y", "x")),
    ):
        twin = pickle.loads(pickle.dumps(error))
        assert (type(twin), twin.args, str(twin)) == (type(error), error.args, str(error))
    assert twin.path == ("x", "y", "x")


def test_a_message_stays_short_whatever_the_value() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no picture of this")

    graph = Graph()
    for value in (np.zeros((100, 100)), "long " * 1000, Broken()):
        variable = graph.variable(f"v{len(graph)}", value)
        with pytest.raises(ForeignNodeError) as caught:
            Graph().remove(variable)
        assert len(str(caught.value).splitlines()) == 4
        assert len(str(caught.value)) < 600


def test_each_error_class_is_a_builtin_exception_too() -> None:
    classes = [
        c
        for c in vars(stagecache.errors).values()
        if isinstance(c, type) and issubclass(c, StagecacheError) and c is not StagecacheError
    ]
    assert len(classes) > 10
    for c in classes:
        builtins = [b for b in c.__mro__ if b.__module__ == "builtins"]
        assert builtins[0] is not Exception, c
