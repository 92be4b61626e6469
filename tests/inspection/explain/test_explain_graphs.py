"""`Graph.explain` and `Graph.impact`; the machine of tests/graph asks them in between, too."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Entry, Graph, Status, Variable
from stagecache.errors import (
    ForeignNodeError,
    NodeKindError,
    RemovedNodeError,
    UnknownNodeError,
    WrongTypeError,
)
from stagecache.inspection.explain.explanation import CauseKind
from stagecache.testing.strategies.graph import graphs


def pull() -> Graph:
    """`side` is compared: angle -> side -> force <- width."""
    graph = Graph("pull")
    angle, width = graph.variable("angle", 0.5), graph.variable("width", 1.0)
    side = graph.entry(
        "side",
        lambda angle: "left" if angle() < 0 else "right",
        prerequisites=(angle,),
        equal=True,
    )
    graph.entry(
        "force", lambda side, width: (side(), width()), prerequisites=(side, width), equal=True
    )
    return graph


def test_the_three_statuses() -> None:
    graph = pull()
    told = graph.explain("force")
    assert (told.status, told.cause and told.cause.kind) == (
        Status.NOT_COMPUTED,
        CauseKind.NEVER,
    )
    assert told.computes == ("side", "force")
    graph["force"]()
    assert str(graph.explain("force")).splitlines() == [
        "force is valid: nothing upstream has changed since it was computed.",
        "force: valid",
        "├─ side: valid",
        "└─ width: version 1",
    ]
    graph["width"].set(2.0)
    assert graph.explain(graph["force"]).status is Status.STALE


def test_a_change_is_told_with_versions_path_and_what_a_call_computes() -> None:
    graph = pull()
    graph["force"]()
    graph["angle"].set(0.7)
    graph["width"].set(2.0)
    told = graph.explain("force")
    assert told.cause is not None
    assert (told.cause.variable, told.cause.version, told.path) == (
        "angle",
        2,
        ("angle", "side", "force"),
    )
    assert told.others == ("width",)
    assert told.is_at_most
    assert "A call computes at most side, force." in told.text


def test_a_change_above_an_entry_that_came_out_equal_is_not_a_cause() -> None:
    graph = pull()
    graph["force"]()
    graph["angle"].set(0.7)
    graph["side"]()
    graph["width"].set(2.0)
    told = graph.explain("force")
    assert (told.path, told.others, told.computes) == (("width", "force"), (), ("force",))


def test_what_a_read_is_yet_to_look_into_is_told() -> None:
    """Everything upstream came out equal, and nobody has looked at the entry since."""
    graph = pull()
    graph["force"]()
    graph["angle"].set(0.7)
    graph["side"]()
    told = graph.explain("force")
    assert not told.is_valid
    assert told.path == ("angle", "side", "force")
    version = graph["force"].version
    graph["force"]()
    assert graph["force"].version == version


def test_an_explicit_invalidation_is_told() -> None:
    graph = pull()
    graph["force"]()
    side: Any = graph["side"]
    side.invalidate()
    told = graph.explain("force")
    assert told.cause is not None
    assert (told.cause.kind, told.path) == (CauseKind.INVALIDATED, ("side", "force"))


def test_a_traced_write_has_its_file_and_line() -> None:
    graph = pull()
    graph["force"]()
    with graph.trace():
        graph["angle"].set(-0.1)
        told = graph.explain("force")
    assert told.cause is not None
    assert told.cause.file == __file__
    assert told.cause.version_before == 1
    line = test_a_traced_write_has_its_file_and_line.__code__.co_firstlineno + 4
    assert told.cause.line == line


def test_an_entry_that_is_being_computed_refuses_a_call() -> None:
    graph = Graph()
    told: list[Any] = []
    graph.entry("e", lambda: told.append(graph.explain("e")))()
    assert told[0].cause.kind is CauseKind.COMPUTING
    assert told[0].refuses == "it is being computed"
    assert told[0].computes == ()


def test_an_impact_names_valid_entries_only() -> None:
    graph = pull()
    assert str(graph.impact("angle")) == "A write of angle makes no entry stale."
    graph["side"]()
    assert str(graph.impact("angle")).splitlines() == [
        "A write of angle makes 1 of 1 valid entry stale:",
        "  by its own change: side",
    ]
    assert graph.impact("width").entries == ()
    assert graph.impact(graph["angle"]).as_dict()["entries"] == ["side"]


def test_a_wrong_question_is_refused_by_name() -> None:
    graph = pull()
    with pytest.raises(NodeKindError, match=r"graph\.impact"):
        graph.explain("angle")
    with pytest.raises(NodeKindError, match=r"graph\.explain"):
        graph.impact("force")
    for ask in (graph.explain, graph.impact):
        with pytest.raises(UnknownNodeError, match="did you mean 'force'"):
            ask("forse")
        with pytest.raises(ForeignNodeError):
            ask(pull()["force"])
        with pytest.raises(WrongTypeError):
            ask(3)  # type: ignore[arg-type]  # that is the test
    force: Any = graph["force"]
    graph.remove(force)
    with pytest.raises(RemovedNodeError):
        graph.explain(force)


@given(graph=graphs(), data=st.data())
def test_a_call_computes_what_was_told_and_a_write_makes_stale_what_was_told(
    graph: Graph, data: st.DataObject
) -> None:
    """All functions read all that they declare; some entries compare their values."""
    entries = [node for node in graph if isinstance(node, Entry)]
    variables = [node for node in graph if isinstance(node, Variable)]
    for _ in range(data.draw(st.integers(1, 8))):
        variable = data.draw(st.sampled_from(variables))
        told = graph.impact(variable)
        valid = [entry for entry in entries if entry.is_valid()]
        variable.set(data.draw(st.integers(-3, 3)))
        assert list(told.entries) == [e.name for e in valid if not e.is_valid()]
        if not entries:
            continue
        entry = data.draw(st.sampled_from(entries))
        explained = graph.explain(entry)
        for above, below in zip(explained.path, explained.path[1:], strict=False):
            assert above in [node.name for node in graph[below].prerequisites]
        with graph.trace() as trace:
            entry()
        computed = [row.entry for row in trace.summary().rows if row.computed]
        assert set(computed) <= set(explained.computes)
        assert explained.is_at_most or set(computed) == set(explained.computes)
        assert graph.explain(entry).is_valid
