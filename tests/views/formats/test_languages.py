"""What other programs draw: Graphviz and Mermaid."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given

from stagecache.views import GraphView, NodeInfo
from tests.profiles import examples
from tests.views.samples import pendulum, random_view
from tests.views.strategies import views

needs_graphviz = pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")


def drawn(view: GraphView) -> str:
    """What Graphviz makes of it; what it complains about is an error."""
    run = subprocess.run(
        ["dot", "-Tsvg"], input=view.to_dot(), capture_output=True, encoding="utf-8", check=True
    )
    assert run.stderr == ""
    return run.stdout


@needs_graphviz
@pytest.mark.parametrize("number", [5, 50])
def test_graphviz_draws_each_node_and_edge(number: int) -> None:
    view = random_view(number)
    picture = drawn(view)
    assert picture.count('class="node"') == len(view)
    assert picture.count('class="edge"') == len(view.edges)
    assert picture.count('class="cluster"') == len(view.subsystems)


@needs_graphviz
@examples(25)
@given(views())
def test_graphviz_accepts_any_name(view: GraphView) -> None:
    assert drawn(view).count('class="node"') == len(view)


def test_dot_puts_variables_first() -> None:
    assert "{ rank=min; n3; n4; }" in pendulum().to_dot()


def test_dot_escapes_what_would_be_a_command() -> None:
    text = GraphView([NodeInfo('a"\\N&lt;', "entry")], []).to_dot()
    assert 'label="a\\"\\\\N&amp;lt;"' in text


def test_dot_tells_what_is_not_valid_by_borders_too() -> None:
    text = pendulum().to_dot()
    borders = dict(re.findall(r'label="(\w+)", .*style="filled,(\w+)"', text))
    assert borders["Instance"] == "solid"  # realized
    assert borders["tip"] == "dashed"  # stale
    assert borders["energy"] == "dotted"  # waits


def test_mermaid_has_each_node_and_edge() -> None:
    text = pendulum().to_mermaid()
    assert text.startswith("flowchart LR\n")
    assert '    n5["tip"]:::stale\n' in text
    assert '    n0{{"Instance"}}:::valid\n' in text
    assert '  subgraph s1["pendulum"]\n' in text
    assert "  n3 --> n5\n" in text
    assert "  n3 -.->|invalidates| n0\n" in text
    assert '    n4(["angle"]):::variable\n' in text
    (stale,) = re.findall(r"^  classDef stale (.*)$", text, re.MULTILINE)
    assert stale == "fill:#fde7bd,stroke:#a86400,color:#1c2733,stroke-dasharray:5 3"


@given(views())
def test_mermaid_holds_only_plain_characters(view: GraphView) -> None:
    labels = re.findall(r'"(.*?)"', view.to_mermaid())
    assert len(labels) == len(view) + len(view.subsystems)
    assert all(re.fullmatch(r"([\w .,:+/()'-]|#\d+;)+", label, re.ASCII) for label in labels)
