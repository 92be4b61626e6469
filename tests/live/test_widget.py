"""The widget of a notebook: what a kernel sends while cells run, and what a page says to it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stagecache import State, watch
from stagecache.errors import MissingExtraError
from stagecache.examples import pendulum

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("anywidget", reason="anywidget is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

NAME = "pendulum.tip"


class Notebook:
    """A notebook that runs in a kernel, with all messages of widgets that the kernel has sent."""

    def __init__(self, *cells: str) -> None:
        self.cells = cells
        self.messages: list[tuple[int, dict[str, Any]]] = []  # cell, and content

    def run(self, folder: Path) -> Any:
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(c) for c in self.cells]
        )
        messages = self.messages

        class Client(nbclient.NotebookClient):  # type: ignore[misc,name-defined]  # has no types here
            def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
                if msg["msg_type"] == "comm_msg":
                    messages.append((cell_index, msg["content"]["data"]))
                return super().process_message(msg, cell, cell_index)

        Client(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
        return notebook

    @property
    def updates(self) -> list[tuple[int, dict[str, Any]]]:
        return [(c, d["content"]["update"]) for c, d in self.messages if d["method"] == "custom"]


BEGIN = """
from stagecache import simulate, watch
from stagecache.examples.pendulum import system as pendulum
system = pendulum()
state = system.new_state()
view = watch(state, every=0.02)
view
"""

LATER = """
import time
for step in range(10):
    state.q = [0.1 * step]
    tip = system.subsystem("pendulum").tip(state)
    time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Notebook, Any]:
    """A notebook that shows a view, works in a later cell, and ends the view in the last one."""
    notebook = Notebook(BEGIN, LATER, "view.close()")
    return notebook, notebook.run(tmp_path_factory.mktemp("notebook"))


def test_news_come_while_a_later_cell_runs(run: tuple[Notebook, Any]) -> None:
    notebook, _ = run
    during = [update for cell, update in notebook.updates if cell == 1]
    assert len(during) >= 3
    counts = [
        told["count"]
        for update in during
        for told in update["nodes"].values()
        if told["value"].startswith("array([ 0.")
    ]
    assert counts == sorted(counts)
    assert any(update["computed"] for update in during)
    assert any(update["written"] for update in during)


def state_of(notebook: Any) -> dict[str, Any]:
    """The traits of the widget, as they are saved with the notebook."""
    states = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    (found,) = [each["state"] for each in states.values() if "told" in each["state"]]
    return dict(found)


def test_a_saved_notebook_has_what_was_told_until_the_end(run: tuple[Notebook, Any]) -> None:
    saved = state_of(run[1])
    nodes = saved["graph"]["graph"]["nodes"]["path"]
    assert saved["told"]["state"] == "ended"
    tip = saved["told"]["nodes"][str(nodes.index(NAME))]
    assert (tip["status"], tip["count"]) == ("valid", 10)
    assert saved["_model_module"] == "anywidget"
    assert saved["_esm"].rstrip().endswith("};")


def test_the_cell_shows_the_widget(run: tuple[Notebook, Any]) -> None:
    (output,) = run[1].cells[0].outputs
    assert "application/vnd.jupyter.widget-view+json" in output.data


def test_a_command_comes_in_two_ways_and_counts_once() -> None:
    state = pendulum.system().new_state()
    with watch(state) as view:
        view._repr_mimebundle_()
        widget = view._widget
        widget._answer(widget, {"command": "pause 1"}, [])
        assert view.is_paused
        view.resume()
        assert view._obey("pause 1"), "it is known"
        assert not view.is_paused, "but was done before"
        assert view._obey("pause 2")
        assert view.is_paused


def test_a_page_that_begins_late_is_told_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    state = pendulum.system().new_state()
    sent: list[dict[str, Any]] = []
    with watch(state) as view:
        view._repr_mimebundle_()
        widget = view._widget
        monkeypatch.setattr(widget, "send", sent.append)
        widget._answer(widget, {"hello": True}, [])
    assert len(sent[0]["view"]["graph"]["nodes"]["path"]) == len(state.graph)
    assert len(sent[0]["update"]["nodes"]) == len(state.graph.nodes) - state.graph.counts["hook"]
    json.dumps(sent)


def test_without_anywidget_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    state: State = pendulum.system().new_state()
    with watch(state) as view, pytest.raises(MissingExtraError, match=r"the extra notebook"):
        view._repr_mimebundle_()
