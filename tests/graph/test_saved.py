"""Values of the variables of a Graph in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Graph
from stagecache.errors import (
    FileFormatError,
    LayoutMismatchError,
    NotANumberError,
    UnknownPathError,
    UnsavableValueError,
    WrongTypeError,
)
from stagecache.files.envelope import pack
from stagecache.files.report import DifferenceKind, LayoutDifference
from tests.profiles import examples

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def graph_of(**values: Any) -> Graph:
    graph = Graph("test")
    for name, value in values.items():
        graph.variable(name, value)
    return graph


def value_of(graph: Graph, name: str) -> Any:
    return graph[name]()


@given(values=st.dictionaries(st.text(min_size=1), VALUES, max_size=5))
@examples(50)
def test_loaded_values_are_those_that_were_saved(
    values: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("graphs") / "values.graph"
    graph_of(**values).save(path)
    other = graph_of(**dict.fromkeys(values))
    report = other.load(path)
    assert {name: value_of(other, name) for name in values} == values
    assert (set(report.taken), report.is_complete) == (set(values), True)


def test_loading_makes_stale_what_depends_on_the_variables(tmp_path: Path) -> None:
    graph = Graph()
    length = graph.variable("length", 2.0)
    area = graph.entry("area", lambda length: length() ** 2, prerequisites=(length,))
    graph.save(tmp_path / "a")
    length.set(3.0)
    assert area() == 9.0
    graph.load(tmp_path / "a")
    assert (area.is_valid(), area()) == (False, 4.0)


def test_a_file_that_does_not_fit_is_refused_item_by_item_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    graph_of(kept=1.0, old=2.0, array=np.zeros(2)).save(tmp_path / "a")
    graph = graph_of(kept=5.0, new=6.0, array=np.ones(3))
    with pytest.raises(LayoutMismatchError, match="old is not here") as caught:
        graph.load(tmp_path / "a")
    report: Any = caught.value.report
    assert {(d.path, d.kind) for d in report.differences} == {
        ("old", DifferenceKind.MISSING),
        ("new", DifferenceKind.NEW),
        ("array", DifferenceKind.CHANGED),
    }
    assert value_of(graph, "kept") == 5.0
    assert graph.load(tmp_path / "a", strict=False) == report
    assert (value_of(graph, "kept"), value_of(graph, "new")) == (1.0, 6.0)
    assert (value_of(graph, "array") == 1.0).all()


def test_a_variable_finds_its_value_under_its_old_name(tmp_path: Path) -> None:
    graph_of(old=2.0).save(tmp_path / "a")
    graph = graph_of(new=0.0)
    with pytest.raises(LayoutMismatchError, match=r"renamed=\{'old': 'new'\}"):
        graph.load(tmp_path / "a")
    report = graph.load(tmp_path / "a", renamed={"old": "new"})
    assert (value_of(graph, "new"), dict(report.renamed)) == (2.0, {"old": "new"})
    assert str(report) == "1 variable of test taken\n  old is now new"


@pytest.mark.parametrize(
    ("renamed", "error"),
    [({"x": "a"}, UnknownPathError), ({"a": "b"}, WrongTypeError), ("a", WrongTypeError)],
)
def test_wrong_new_names_are_refused(tmp_path: Path, renamed: Any, error: type[Exception]) -> None:
    graph = graph_of(a=1.0, b=2.0)
    graph.save(tmp_path / "a")
    graph["a"].set(3.0)
    with pytest.raises(error):
        graph.load(tmp_path / "a", renamed=renamed)
    assert value_of(graph, "a") == 3.0


def test_what_cannot_be_saved_is_refused_by_name_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    graph_of(a=1.0).save(path)
    before = path.read_bytes()
    with pytest.raises(UnsavableValueError, match=r"a\[1\]: cannot be saved"):
        graph_of(a=[1, object()]).save(path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_of_a_state_is_not_one_of_a_graph(tmp_path: Path) -> None:
    from stagecache import System  # noqa: PLC0415

    System().new_state().save(tmp_path / "a")
    with pytest.raises(FileFormatError, match="holds a State"):
        Graph().load(tmp_path / "a")


@pytest.mark.parametrize("path", [3, None, b"a", ""])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(WrongTypeError, match="path"):
        Graph().save(path)
    with pytest.raises(WrongTypeError, match="path"):
        Graph().load(path)


def test_a_file_must_fit_or_not_which_is_true_or_false(tmp_path: Path) -> None:
    graph = Graph()
    graph.save(tmp_path / "a")
    for strict in ("no", None, 0):
        with pytest.raises(NotANumberError, match="strict"):
            graph.load(tmp_path / "a", strict=strict)  # type: ignore[arg-type]


def test_a_difference_reads_as_a_sentence() -> None:
    kinds = DifferenceKind
    assert (
        str(LayoutDifference("a", kinds.MISSING, "a number")) == "a is not here (it was a number)"
    )
    assert str(LayoutDifference("a", kinds.NEW, here="a number")) == "a is new: a number"
    assert str(LayoutDifference("a", kinds.CHANGED, "x", "y")) == "a is y (it was x)"


@pytest.mark.parametrize("content", [["no variables"], {}, {"variables": ["a"]}])
def test_a_file_that_describes_no_graph_is_refused(content: object, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(pack("Graph", content))
    with pytest.raises(FileFormatError, match="does not describe a Graph"):
        graph_of(a=1).load(path)
