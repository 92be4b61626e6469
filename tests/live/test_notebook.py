"""The program of the widget in a browser, with a page that does what a notebook does for it."""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from stagecache import State, watch
from stagecache.examples import pendulum
from stagecache.live import LiveView
from tests.browser import chromium

pytest.importorskip("anywidget", reason="anywidget is not installed")

pytestmark = pytest.mark.browser

HOST = """<!DOCTYPE html><meta charset="utf-8"><title>notebook</title><style>{css}</style>
<div id="cell"></div>
<script type="application/json" id="traits">{traits}</script>
<script type="module">
const traits = JSON.parse(document.getElementById("traits").textContent);
const handlers = [];
window.sent = [];
const model = {{
  get: (name) => traits[name],
  on: (name, handler) => handlers.push(handler),
  send: (message) => sent.push(message),
}};
window.tell = (message) => handlers.forEach((handler) => handler(message, []));
const {{ default: widget }} = await import("./widget.js");
window.leaveModel = widget.initialize({{ model }});
window.leave = widget.render({{ model, el: document.getElementById("cell") }});
</script>
"""


class Handler(SimpleHTTPRequestHandler):
    """A server of files, as that of a notebook."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # as it is called there
        """Say nothing."""


class Cell:
    """A cell of a notebook that shows a view."""

    def __init__(self, driver: Any, view: LiveView) -> None:
        self.driver = driver
        self.view = view

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def counts(self) -> dict[str, str]:
        boxes = self.run("return document.querySelector('.explorer').explorer.shown().boxes")
        return {box["path"]: box["remark"] for box in boxes if box["path"]}

    def errors(self) -> list[str]:
        """What the browser complains of, but that the server of files has no icon."""
        logged = [each["message"] for each in self.driver.get_log("browser")]
        return [message for message in logged if "favicon" not in message]

    def click(self, name: str) -> None:
        self.driver.find_element("css selector", f".live .{name}").click()

    def wait(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < end, condition
            time.sleep(0.05)


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def state() -> State:
    return pendulum.system().new_state()


@pytest.fixture
def cell(
    driver: Any, state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cell]:
    with watch(state, every=0.02) as view:
        view._repr_mimebundle_()
        widget = view._widget
        traits = {name: getattr(widget, name) for name in ("graph", "told", "commands")}
        text = HOST.format(css=widget._css, traits=json.dumps(traits).replace("<", "\\u003c"))
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        (tmp_path / "widget.js").write_text(widget._esm, encoding="utf-8")
        handler = partial(Handler, directory=str(tmp_path))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            driver.get_log("browser")
            driver.get(f"http://127.0.0.1:{server.server_address[1]}/page.html")
            found = Cell(driver, view)
            found.wait(lambda: found.run("return Boolean(window.leave)"))
            monkeypatch.setattr(
                widget, "send", lambda message: found.run("tell(arguments[0])", message)
            )
            yield found
            server.shutdown()


def test_a_cell_shows_what_was_told_and_what_is_news(cell: Cell, state: State) -> None:
    assert cell.run("return sent") == [{"hello": True}]
    assert cell.driver.find_element("css selector", ".live .state").text == "running"
    assert "anchor.torque" in cell.counts()
    state.q = [0.3]
    assert state.system is not None
    torque: Any = state.system.subsystem("anchor")
    torque.torque(state)
    cell.wait(lambda: cell.counts()["anchor.torque"].startswith("1 ×"))
    assert cell.errors() == []


def test_a_button_reaches_a_kernel_that_is_busy(cell: Cell) -> None:
    cell.click("pause")
    cell.wait(lambda: cell.view.is_paused)  # by the server: the kernel has not taken the message
    (message,) = cell.run("return sent")[1:]
    assert message["command"].startswith("pause ")
    cell.view.resume()
    cell.view._widget._answer(None, message, [])
    assert not cell.view.is_paused, "the same command, which has come before"
    assert cell.errors() == []


def test_a_cell_that_is_removed_while_paused_lets_the_kernel_go_on(cell: Cell) -> None:
    cell.click("pause")
    cell.wait(lambda: cell.view.is_paused)
    cell.wait(lambda: cell.driver.find_element("css selector", ".live .state").text == "paused")
    cell.run("leave()")
    cell.wait(lambda: not cell.view.is_paused)
