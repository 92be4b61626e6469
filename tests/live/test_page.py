"""`stagecache watch` as somebody sees it: Chromium looks at the pendulum while it swings.

Pictures of it are kept in the folder that STAGECACHE_SCREENSHOTS names, if it does.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tests.browser import chromium, requests_of

pytestmark = pytest.mark.browser

SOON: Final = 60.0

MODEL: Final = '''
import time

from stagecache import State
from stagecache.examples.pendulum import system as pendulum

system = pendulum()


def swing(state: State) -> None:
    """Write, realize and read, unhurried, until it is interrupted."""
    while True:
        state.time += 0.01
        state.q = state.q + 0.01
        system.realize(state)
        system.subsystem("anchor").torque(state)
        time.sleep(0.01)


def three(state: State) -> None:
    """Three entries are computed: tip, weight and torque."""
    system.subsystem("anchor").torque(state)


def left(state: State) -> None:
    """The tip is computed, and stale from then on."""
    system.subsystem("pendulum").tip(state)
    state.q = state.q + 0.1
    time.sleep(600.0)
'''

NOTE: Final = """
window.seen = { flashes: new Set(), updates: 0 };
const noted = () => {
  const shown = document.querySelector(".explorer").explorer?.shown();
  for (const box of shown?.boxes || []) if (box.marks.includes("flash")) seen.flashes.add(box.path);
  requestAnimationFrame(noted);
};
noted();
"""
"""Notes the nodes that flash, frame by frame."""


class Watched:
    """A command that runs, and a page that follows it."""

    def __init__(self, driver: Any, process: subprocess.Popen[str], url: str) -> None:
        self.driver = driver
        self.process = process
        self.url = url

    def open(self) -> None:
        self.driver.get(self.url)
        self.wait(lambda: self.run("return Boolean(document.querySelector('.explorer').explorer)"))
        self.run(NOTE)

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: Callable[[], object]) -> None:
        """Wait until something is so."""
        end = time.monotonic() + SOON
        while not condition():
            assert time.monotonic() < end, condition
            time.sleep(0.05)

    def click(self, name: str) -> None:
        self.driver.find_element("css selector", f".live .{name}").click()

    def text(self, name: str) -> str:
        found: str = self.driver.find_element("css selector", f".live .{name}").text
        return found

    @property
    def remarks(self) -> dict[str, str]:
        """Words in the boxes of nodes, by path."""
        boxes = self.run("return document.querySelector('.explorer').explorer.shown().boxes")
        return {box["path"]: box["remark"] for box in boxes if box["path"]}

    @property
    def computed(self) -> int:
        """Number of computations that the page shows."""
        paths = ("pendulum.tip", "pendulum.weight", "pendulum.kinetic_energy", "anchor.torque")
        found = [re.search(r"(\d+)\s*×", self.remarks[path]) for path in paths]
        return sum(int(match[1]) for match in found if match)

    def stands(self) -> bool:
        """Whether the number of computations stays the same for a while."""
        before = self.computed
        time.sleep(0.3)
        return self.computed == before

    @property
    def reasons(self) -> list[str]:
        """Reasons in the panel: one, or none."""
        return self.texts(".panel .reason")

    def texts(self, selector: str) -> list[str]:
        found = self.driver.find_elements("css selector", selector)
        return [element.text for element in found]

    @property
    def flashes(self) -> set[str]:
        return set(self.run("return [...seen.flashes]"))

    def interrupt(self) -> None:
        """Press Control-C."""
        self.process.send_signal(signal.SIGINT)


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with chromium() as found:
        found.set_window_size(1280, 800)
        yield found


@pytest.fixture
def watched(driver: Any, tmp_path: Path) -> Callable[..., Any]:
    """A function that starts the command, and returns a context manager of what is watched."""
    model = tmp_path / "model.py"
    model.write_text(MODEL, encoding="utf-8")

    @contextmanager
    def start(name: str, *options: str) -> Iterator[Watched]:
        command = [sys.executable, "-m", "stagecache", "watch", f"{model}:{name}", "--no-browser"]
        driver.get("about:blank")
        driver.get_log("performance")
        driver.get_log("browser")
        with subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        ) as process:
            try:
                assert process.stdout is not None
                url = process.stdout.readline().split()[-1]
                yield Watched(driver, process, url)
                hosts = {urlsplit(each).netloc for each in requests_of(driver)}
                assert hosts <= {urlsplit(url).netloc, ""}, "only the own server is asked"
                assert driver.get_log("browser") == []
            finally:
                process.kill()

    return start


def keep(watched: Watched, name: str) -> None:
    """Keep a picture, in light and in dark."""
    folder = os.environ.get("STAGECACHE_SCREENSHOTS")
    if folder:
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            watched.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            time.sleep(0.3)
            watched.driver.save_screenshot(str(Path(folder) / f"watch-{name}-{scheme}.png"))
        watched.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_nodes_flash_and_counts_rise_while_it_runs(watched: Any) -> None:
    with watched("swing") as page:
        page.open()
        page.wait(lambda: {"pendulum.tip", "anchor.torque", "q", "time"} <= page.flashes)
        assert "pendulum.mass" not in page.flashes, "it was not written"
        assert page.text("state") == "running"
        before = page.computed
        page.wait(lambda: page.computed > before + 10)
        page.wait(lambda: float(page.text("time").removeprefix("t = ")) > 0.1)
        keep(page, "running")


def test_pause_stops_it_and_resume_lets_it_go_on(watched: Any) -> None:
    with watched("swing") as page:
        page.open()
        page.wait(lambda: page.computed > 5)
        page.click("pause")
        page.wait(lambda: page.text("state") == "paused")
        page.wait(page.stands)
        before = page.computed
        time.sleep(0.5)
        assert page.computed == before
        keep(page, "paused")
        page.click("pause")
        page.wait(lambda: page.text("state") == "running")
        page.wait(lambda: page.computed > before)


def test_a_step_is_one_computation(watched: Any) -> None:
    with watched("swing", "--paused") as page:
        page.open()
        page.wait(lambda: page.text("state") == "paused")
        assert page.computed == 0
        for steps in range(1, 7):
            page.click("step")
            page.wait(lambda steps=steps: page.computed == steps)
            time.sleep(0.2)
            assert page.computed == steps
            assert page.text("state") == "paused"


def test_the_last_step_ends_the_run(watched: Any) -> None:
    with watched("three", "--paused", "--exit") as page:
        page.open()
        page.wait(lambda: page.text("state") == "paused")
        for steps in range(1, 3):
            page.click("step")
            page.wait(lambda steps=steps: page.computed == steps)
        page.click("step")
        page.wait(lambda: page.text("state") == "ended")
        assert page.computed == 3
        assert page.process.wait(SOON) == 0


def test_the_end_stays_until_control_c(watched: Any) -> None:
    with watched("three") as page:
        page.open()
        page.wait(lambda: page.text("state") == "ended")
        assert page.computed == 3
        page.driver.refresh()
        page.wait(lambda: page.run("return Boolean(document.querySelector('.explorer').explorer)"))
        page.wait(lambda: page.computed == 3)
        assert page.process.poll() is None
        page.interrupt()
        assert page.process.wait(SOON) == 0


def test_control_c_ends_a_run_that_is_paused(watched: Any) -> None:
    with watched("swing", "--paused", "--exit") as page:
        page.open()
        page.wait(lambda: page.text("state") == "paused")
        page.interrupt()
        page.wait(lambda: page.text("state") == "ended")
        assert page.process.wait(SOON) == 1


def test_the_panel_says_why_an_entry_is_stale_while_it_runs_and_at_the_end(watched: Any) -> None:
    with watched("left", "--exit") as page:
        page.open()
        page.run("location.hash = '#pendulum.tip'")
        page.wait(lambda: page.reasons)
        pattern = r"pendulum.tip is stale: pendulum.angle .*has changed"
        assert re.match(pattern, page.reasons[0]), page.reasons
        assert re.match(r"Written at model.py:\d+, .* after", page.texts(".panel .written")[0])
        assert page.text("state") == "running"
        keep(page, "stale")
        page.interrupt()
        page.wait(lambda: page.text("state") == "ended")
        assert re.match(pattern, page.reasons[0]), page.reasons
        page.run("location.hash = '#anchor.torque'")
        page.wait(lambda: page.reasons[0].startswith("anchor.torque is "))


def test_a_run_goes_on_when_the_page_is_closed(watched: Any) -> None:
    with watched("three", "--paused", "--exit") as page:
        page.open()
        page.wait(lambda: page.text("state") == "paused")
        page.driver.get("about:blank")
        assert page.process.wait(SOON) == 0
