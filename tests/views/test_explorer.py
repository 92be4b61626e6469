"""What the page does in a browser: Chromium without a window, driven by Selenium.

Pictures of it are kept in the folder that STAGECACHE_SCREENSHOTS names, if it does.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stagecache.views import EdgeInfo, EdgeKind, GraphView, NodeInfo, Status
from stagecache.views.formats.html import html_of
from tests.views.samples import pendulum, random_view
from tests.views.strategies import NASTY

pytestmark = pytest.mark.browser

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
SIZES = {"wide": (1280, 800), "narrow": (400, 800)}


class Browser:
    """Chromium, with one page at a time."""

    def __init__(self, driver: Any, folder: Path, screenshots: Path) -> None:
        self.driver = driver
        self.folder = folder
        self.screenshots = screenshots
        self.page = Path()

    def open(self, view: GraphView, impacts: dict[str, tuple[str, ...]] | None = None) -> None:
        """Show the page of a view."""
        self.page = self.folder / "page.html"
        self.page.write_text(html_of(view, impacts), encoding="utf-8")
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(self.page.as_uri())

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        found = self.driver.find_elements("css selector", selector)
        return [element.text for element in found]

    def node(self, path: str) -> Any:
        """The shape of a node: the path is compared by the browser, not written as a selector."""
        script = "return [...document.querySelectorAll('.node')].find(n => n.dataset.path === "
        return self.driver.execute_script(f"{script} arguments[0])", path)

    def click(self, path: str) -> None:
        """Click a node with the mouse, where it is; all is shown before, as far as it can be."""
        self.find("#fit").click()
        self.node(path).click()

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def marked(self, *classes: str) -> set[str]:
        """The paths of the nodes that have one of these classes."""
        selector = ", ".join(f".node.{name}" for name in classes)
        script = "return [...document.querySelectorAll(arguments[0])].map(n => n.dataset.path)"
        return set(self.driver.execute_script(script, selector))

    def shown(self) -> set[str]:
        """The paths of the nodes that can be seen."""
        script = (
            "return [...document.querySelectorAll('.node')]"
            ".filter(n => getComputedStyle(n).display !== 'none').map(n => n.dataset.path)"
        )
        return set(self.driver.execute_script(script))

    def choose(self, selector: str, text: str) -> None:
        """Choose an option of a list."""
        (option,) = [
            option
            for option in self.find(selector).find_elements("css selector", "option")
            if option.text == text
        ]
        option.click()

    def resize(self, size: tuple[int, int], theme: str = "light") -> None:
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def keep(self, name: str) -> None:
        """Keep a picture of the page."""
        assert self.driver.save_screenshot(str(self.screenshots / f"{name}.png"))

    def requests(self) -> list[str]:
        """The addresses of all that was asked for since the page was opened."""
        messages = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    @cached_property
    def keys(self) -> Any:
        """The names of keys."""
        from selenium.webdriver.common.keys import Keys  # noqa: PLC0415  # may be missing

        return Keys


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser, started once for all tests here."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")
    if BROWSER is None or DRIVER is None:
        pytest.skip("Chromium or its driver is not installed (chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    # A sandbox cannot be had in many containers; the page is our own.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    folder = tmp_path_factory.mktemp("explorer")
    screenshots = Path(os.environ.get("STAGECACHE_SCREENSHOTS") or folder)
    screenshots.mkdir(parents=True, exist_ok=True)
    yield Browser(driver, folder, screenshots)
    driver.quit()


@pytest.fixture
def browser(started: Browser) -> Iterator[Browser]:
    """The browser; nothing may be logged to its console, or leave the page, during a test."""
    started.resize(SIZES["wide"])
    yield started
    assert started.driver.get_log("browser") == []
    urls = [url for url in started.requests() if url not in ("about:blank", "data:,")]
    assert set(urls) <= {started.page.as_uri()}
    assert started.driver.execute_script("return performance.getEntriesByType('resource')") == []


def paths(view: GraphView) -> set[str]:
    return {node.path for node in view}


# ---------------------------------------------------------------------- search


def test_search_finds_a_node_and_chooses_it(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find("#search").send_keys("torq")
    assert browser.texts("#results button") == ["anchor.torque"]
    assert browser.marked("found") == {"anchor.torque"}
    browser.find("#results button").click()
    assert browser.marked("chosen") == {"anchor.torque"}
    assert browser.texts("#panel h2") == ["anchor.torque"]
    browser.keep("search")


def test_words_of_a_search_are_all_looked_for_paths_first(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find("#search").send_keys("STALE tor")
    assert browser.texts("#results button") == ["anchor.torque"]
    browser.find("#search").clear()
    browser.find("#search").send_keys("position")
    assert browser.texts("#results button") == ["stage Position", "pendulum.angle"]


def test_what_is_not_there_is_not_found(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find("#search").send_keys("nothing like this")
    assert browser.texts("#results li") == ["nothing found"]
    browser.press(browser.keys.ESCAPE)
    assert not browser.find("#results").is_displayed()


@pytest.mark.parametrize("name", [*NASTY, "<img src=x onerror=alert(1)>"])
def test_any_name_is_shown_as_it_is(browser: Browser, name: str) -> None:
    browser.open(GraphView([NodeInfo(name, "variable", name, name, name, value=name)], [], name))
    browser.press("0")
    browser.node(name).click()
    assert browser.find("#panel h2").get_property("textContent") == name
    browser.find("#panel .ask").click()
    assert browser.marked("chosen") == {name}


# ---------------------------------------------------------------------- a click


@pytest.mark.parametrize("path", ["pendulum.tip", "stage Position", "pendulum.length"])
def test_a_click_lights_exactly_what_is_up_and_down(browser: Browser, path: str) -> None:
    view = pendulum()
    browser.open(view)
    browser.click(path)
    assert browser.marked("chosen") == {path}
    assert browser.marked("above") == paths(view.upstream_of(path)) - {path}
    assert browser.marked("below") == paths(view.downstream_of(path)) - {path}
    assert browser.marked("lit") == browser.marked("chosen", "above", "below")
    assert browser.find("#said").get_property("textContent").startswith(f"{path}: ")


def test_what_is_lit_differs_in_colour_whatever_its_kind_and_status(browser: Browser) -> None:
    view = pendulum()
    browser.open(view)
    script = (
        "return Object.fromEntries([...document.querySelectorAll('.node')].map(n =>"
        " [n.dataset.path, getComputedStyle(n.querySelector('rect, path')).stroke]))"
    )
    before = browser.driver.execute_script(script)
    browser.click("pendulum.tip")
    after = browser.driver.execute_script(script)
    assert {path for path in paths(view) if before[path] != after[path]} == browser.marked("lit")
    above = {after[path] for path in browser.marked("above")}
    below = {after[path] for path in browser.marked("below")}
    assert len(above) == len(below) == 1
    assert above != below


def test_only_lines_between_what_is_lit_are_seen(browser: Browser) -> None:
    view = pendulum()
    browser.open(view)
    browser.click("pendulum.tip")
    script = (
        "return [...document.querySelectorAll('.edge')]"
        ".filter(e => getComputedStyle(e).display !== 'none')"
        ".map(e => [e.dataset.source, e.dataset.target])"
    )
    seen = {tuple(ends) for ends in browser.driver.execute_script(script)}
    ways = (view.upstream_of("pendulum.tip"), view.downstream_of("pendulum.tip"))
    assert seen == {(e.source, e.target) for way in ways for e in way.edges}


def test_a_click_beside_all_nodes_and_escape_light_all_again(browser: Browser) -> None:
    browser.open(pendulum())
    for clear in (lambda: browser.press(browser.keys.ESCAPE), browser.find("#picture svg").click):
        browser.click("pendulum.tip")
        assert browser.marked("lit")
        clear()
        assert browser.marked("lit", "chosen") == set()


def test_the_panel_tells_all_that_is_known(browser: Browser) -> None:
    node = NodeInfo(
        "arm.tip", "entry", "cached", "arm", "Position", "Velocity", Status.VALID, 3, "[0 1]",
        "arm.py", 12, 0.00123, 0.5,
    )  # fmt: skip
    browser.open(GraphView([node], []))
    browser.click("arm.tip")
    facts = dict(zip(browser.texts("#panel dt"), browser.texts("#panel dd"), strict=True))
    assert facts == {
        "kind": "entry, cached",
        "subsystem": "arm",
        "depends on": "Position",
        "computed by": "Velocity",
        "status": "valid",
        "version": "3",
        "value": "[0 1]",
        "last computed in": "1.23 ms",
        "hit rate": "50.0 %",
        "source": "arm.py:12",
    }


def test_the_panel_leads_to_neighbours(browser: Browser) -> None:
    browser.open(pendulum())
    browser.click("anchor.torque")
    assert browser.texts("#panel .links button") == ["stage Instance (stage)", "pendulum.tip"]
    browser.driver.find_elements("css selector", "#panel .links button")[1].click()
    assert browser.marked("chosen") == {"pendulum.tip"}


# ---------------------------------------------------------------------- what if


def test_what_if_lights_exactly_what_is_given(browser: Browser) -> None:
    given = ("pendulum.tip", "stage Velocity", "elsewhere.pull")
    browser.open(pendulum(), {"pendulum.angle": given})
    browser.find("#what-if").click()
    browser.choose("#variable", "pendulum.angle")
    assert browser.marked("stale-then") == {"pendulum.tip", "stage Velocity"}
    assert browser.marked("lit") == {"pendulum.angle", "pendulum.tip", "stage Velocity"}
    assert "Not in this view: 1 more." in browser.texts("#panel p")
    browser.keep("what-if")


def test_what_if_nothing_is_given_follows_the_edges(browser: Browser) -> None:
    view = pendulum()
    browser.open(view, {"pendulum.length": ()})
    browser.click("pendulum.angle")
    browser.find("#panel .ask").click()
    below = view.downstream_of("pendulum.angle")
    assert browser.marked("stale-then") == {n.path for n in below if n.kind != "variable"}
    browser.click("pendulum.length")
    assert browser.marked("stale-then") == set()
    assert browser.marked("chosen") == {"pendulum.length"}


def test_a_whole_is_written_with_its_parts(browser: Browser) -> None:
    nodes = [NodeInfo(p, "variable", "q") for p in ("a", "b", "q")]
    nodes += [NodeInfo(f"of {p}", "entry") for p in ("a", "b", "q")]
    edges = [EdgeInfo(p, f"of {p}") for p in ("a", "b", "q")]
    edges += [EdgeInfo("a", "q", EdgeKind.PART), EdgeInfo("b", "q", EdgeKind.PART)]
    browser.open(GraphView(nodes, edges))
    browser.press("w")
    browser.choose("#variable", "a")
    assert browser.marked("stale-then") == {"of a", "of q"}
    browser.choose("#variable", "q")
    assert browser.marked("stale-then") == {"of a", "of b", "of q"}


def test_what_if_says_that_an_entry_is_not_written(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find("#what-if").click()
    browser.click("pendulum.tip")
    assert browser.marked("stale-then") == set()
    assert any("pendulum.tip is not a variable" in text for text in browser.texts("#panel p"))
    assert browser.find("#what-if").get_attribute("aria-pressed") == "true"
    browser.press(browser.keys.ESCAPE)
    assert browser.find("#what-if").get_attribute("aria-pressed") == "false"


# ---------------------------------------------------------------------- filters


def test_filters_leave_what_was_asked_for(browser: Browser) -> None:
    view = pendulum()
    browser.open(view)
    browser.choose("#subsystem", "pendulum")
    assert browser.shown() == paths(view.select(subsystem="pendulum"))
    browser.choose("#kind", "variable: q")
    assert browser.shown() == {"pendulum.angle"}
    browser.choose("#subsystem", "all subsystems")
    browser.choose("#kind", "entry")
    browser.choose("#status", "stale")
    assert browser.shown() == {"pendulum.tip", "anchor.torque"}
    browser.find("#search").send_keys("a")
    assert set(browser.texts("#results button")) == {"pendulum.tip", "anchor.torque"}


# ---------------------------------------------------------------------- moving


def test_titles_are_seen_as_long_as_their_column_and_band_are(browser: Browser) -> None:
    nodes = [NodeInfo(f"arm.n{i}", "entry", "", "arm", "Position") for i in range(20)]
    edges = [EdgeInfo(one.path, other.path) for one, other in pairwise(nodes)]
    last = NodeInfo("arm.last", "entry", "", "arm", "Velocity")
    browser.resize(SIZES["narrow"])
    browser.open(GraphView([*nodes, last], edges))
    browser.press("/", "n12", browser.keys.ENTER)
    script = (
        "return [...document.querySelectorAll('.stage-title, .subsystem')].filter(t => {"
        " const {left, right} = t.getBoundingClientRect(); return left >= 0 && right <= innerWidth"
        "}).map(t => t.firstChild.data)"
    )
    assert set(browser.driver.execute_script(script)) == {"Position", "arm"}
    browser.press("0")
    assert set(browser.driver.execute_script(script)) == {"Position", "Velocity", "arm"}


def test_what_was_not_seen_is_shown_in_the_middle(browser: Browser) -> None:
    browser.open(random_view(500))
    browser.press("/", "item 499", browser.keys.ENTER)
    script = (
        "const middle = e => { const {left, right, top, bottom} = e.getBoundingClientRect();"
        " return [(left + right) / 2, (top + bottom) / 2] };"
        "const [x, y] = middle(document.querySelector('.node.chosen rect'));"
        "const [toX, toY] = middle(document.querySelector('#picture'));"
        "return [x - toX, y - toY]"
    )
    right, down = browser.driver.execute_script(script)
    assert abs(down) < 2
    assert abs(right) < SIZES["wide"][0] / 2 - 50


@pytest.mark.parametrize("size", SIZES)
def test_labels_can_be_read_at_first(browser: Browser, size: str) -> None:
    browser.resize(SIZES[size])
    browser.open(random_view(500))
    script = "return document.querySelector('.node text').getScreenCTM().a * 12"
    assert browser.driver.execute_script(script) > 10


def test_the_wheel_zooms_and_dragging_moves_without_choosing(browser: Browser) -> None:
    from selenium.webdriver.common.action_chains import ActionChains  # noqa: PLC0415
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin  # noqa: PLC0415

    def box() -> list[float]:
        return [float(n) for n in svg.get_dom_attribute("viewBox").split()]

    browser.open(random_view(50))
    browser.find("#fit").click()
    svg = browser.find("#picture svg")
    first = box()
    origin = ScrollOrigin.from_element(svg)
    ActionChains(browser.driver).scroll_from_origin(origin, 0, -200).perform()
    nearer = box()
    assert nearer[2] < first[2]
    ActionChains(browser.driver).drag_and_drop_by_offset(svg, 60, 40).perform()
    moved = box()
    assert moved[2:] == nearer[2:]
    scale = svg.size["width"] / nearer[2]
    assert (nearer[0] - moved[0]) * scale == pytest.approx(60, abs=1)
    assert (nearer[1] - moved[1]) * scale == pytest.approx(40, abs=1)
    assert browser.marked("chosen") == set()


def test_keys_do_all_that_the_mouse_does(browser: Browser) -> None:
    keys = browser.keys
    nodes = [NodeInfo("upper", "variable"), NodeInfo("lower", "variable"), NodeInfo("e", "entry")]
    browser.open(GraphView(nodes, [EdgeInfo("lower", "e")]))
    browser.press("/", "upp", keys.ENTER)
    assert browser.marked("chosen") == {"upper"}
    browser.press(keys.ARROW_DOWN)
    assert browser.driver.switch_to.active_element.get_attribute("data-path") == "lower"
    browser.press(keys.ENTER)
    assert browser.marked("chosen") == {"lower"}
    browser.press("w")
    assert browser.marked("stale-then") == {"e"}
    browser.press(keys.ESCAPE)
    assert browser.marked("below") == {"e"}
    browser.press(keys.ESCAPE)
    assert browser.marked("lit") == set()


def test_tab_reaches_every_control_and_one_node(browser: Browser) -> None:
    browser.open(pendulum())
    reached = []
    for _ in range(9):
        browser.press(browser.keys.TAB)
        element = browser.driver.switch_to.active_element
        reached.append(element.get_attribute("id") or element.get_attribute("data-path"))
    assert reached == [
        *("search", "subsystem", "kind", "status", "what-if", "zoom-in", "zoom-out", "fit"),
        "stage Instance",
    ]
    names = [
        element.accessible_name
        for element in browser.driver.find_elements("css selector", "button, input, select, .node")
    ]
    assert all(names)


# ---------------------------------------------------------------------- all of the page


def test_the_page_can_ask_for_nothing(started: Browser) -> None:
    started.open(pendulum())
    script = (
        "const done = arguments[0];"
        "document.addEventListener('securitypolicyviolation', e => done(e.effectiveDirective));"
        "fetch('https://example.invalid/').catch(() => {});"
    )
    assert started.driver.execute_async_script(script) == "connect-src"
    assert started.requests()[1:] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("number", [0, 1, 100, 500])
def test_the_page_fits_the_window(browser: Browser, number: int, size: str, theme: str) -> None:
    browser.resize(SIZES[size], theme)
    browser.open(random_view(number) if number else GraphView([], []))
    if number:
        browser.press("/", f"item {number - 1}" if number > 1 else "stage", browser.keys.ENTER)
        assert len(browser.marked("chosen")) == 1
    root = "document.documentElement"
    overflow = browser.driver.execute_script(
        f"return [{root}.scrollWidth - innerWidth, {root}.scrollHeight - innerHeight]"
    )
    assert overflow == [0, 0]
    browser.keep(f"{number}-{size}-{theme}")


def test_the_program_leaves_nothing_on_the_window(browser: Browser) -> None:
    names = "return Object.getOwnPropertyNames(window)"
    empty = browser.folder / "empty.html"
    empty.write_text("<!DOCTYPE html><title>empty</title>", encoding="utf-8")
    browser.driver.get(empty.as_uri())
    before = set(browser.driver.execute_script(names))
    browser.open(pendulum())
    assert set(browser.driver.execute_script(names)) - before == set()


def test_all_of_the_picture_is_printed(browser: Browser) -> None:
    browser.open(random_view(100))
    for _ in range(5):
        browser.press("+")
    seen = browser.find("#picture svg").get_dom_attribute("viewBox")
    browser.driver.execute_script(
        "window.printed = [];"
        "addEventListener('beforeprint', () =>"
        " printed.push(document.querySelector('#picture svg').getAttribute('viewBox')))"
    )
    assert browser.driver.print_page()
    (printed,) = browser.driver.execute_script("return window.printed")
    whole = re.search(r'viewBox="([^"]*)"', random_view(100).to_svg())
    assert whole is not None
    assert printed == whole[1]
    assert browser.find("#picture svg").get_dom_attribute("viewBox") == seen
