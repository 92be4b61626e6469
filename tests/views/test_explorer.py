"""What the page does in a browser: Chromium without a window, driven by Selenium.

A canvas has no elements, so tests ask the page what it shows, and where (`shown` of explorer.js).
Pictures of it are kept in the folder that STAGECACHE_SCREENSHOTS names, if it does. axe-core is
looked for in the folder that STAGECACHE_AXE names, or in node_modules.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from stagecache.views import EdgeInfo, EdgeKind, GraphView, NodeInfo, Reason, Status
from stagecache.views.formats.html import data_of, html_of, page_of
from stagecache.views.formats.page_data import reasons_data
from stagecache.views.style import DARK, LIGHT
from tests.browser import chromium, requests_of
from tests.threads import comes_true
from tests.views.samples import pendulum, random_view, rooms
from tests.views.strategies import NASTY

pytestmark = pytest.mark.browser

AXE: Final = Path(os.environ.get("STAGECACHE_AXE") or "node_modules/axe-core") / "axe.min.js"
SIZES = {"wide": (1280, 800), "narrow": (400, 800)}
SMALLEST = 8 / 12
"""Scale in which texts have 8 px."""

WITH_HOST = """
const root = document.querySelector(".explorer");
const dataOf = (name) => document.querySelector(`script.${name}`).textContent;
root.sent = [];
root.explorer = explorer(root, {
  graph: dataOf("graph"), impacts: dataOf("impacts"), reasons: dataOf("reasons"),
}, { send: (command) => root.sent.push(command) });
"""
"""Start of a page with a host that notes what it is told."""

IN_SHADOWS = """
const data = { graph: document.querySelector("script.graph").textContent };
const page = document.querySelector(".explorer");
page.hosts = [0, 1].map(() => {
  const host = document.createElement("div");
  host.style.height = "300px";
  page.append(host);
  const tree = host.attachShadow({ mode: "open" });
  const style = document.querySelector("style").cloneNode(true);
  const root = document.createElement("div");
  root.style.height = "300px";
  tree.append(style, root);
  return { root, face: explorer(root, data, { send() {} }) };
});
"""
"""Start of a page with two explorers, each in a shadow tree."""


class Browser:
    """Chromium, with one page at a time."""

    def __init__(self, driver: Any, folder: Path, screenshots: Path) -> None:
        self.driver = driver
        self.folder = folder
        self.screenshots = screenshots
        self.page = Path()

    def open(
        self,
        view: GraphView,
        impacts: Mapping[str, Sequence[str]] | None = None,
        reasons: Mapping[str, Reason] | None = None,
        link: str = "",
    ) -> None:
        """Show the page of a view."""
        self.open_text(html_of(view, impacts, reasons), link)

    def open_started(self, view: GraphView, start: str, **reasons: Any) -> None:
        """Show a page with a start of its own."""
        self.open_text(page_of("started", data_of(view, **reasons), start))

    def open_text(self, text: str, link: str = "") -> None:
        self.page = self.folder / "page.html"
        self.page.write_text(text, encoding="utf-8")
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(self.page.as_uri() + link)

    def run(self, script: str, *arguments: object) -> Any:
        """Run a script in which `root` is the explorer."""
        root = "const root = document.querySelector('.explorer'); "
        return self.driver.execute_script(root + script, *arguments)

    def settle(self) -> None:
        """Wait until the picture is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds, and for the next picture."""
        assert comes_true(condition)
        self.settle()

    @property
    def shown(self) -> dict[str, Any]:
        """Boxes, lines and marks that are shown."""
        found: dict[str, Any] = self.run("return root.explorer.shown()")
        return found

    @property
    def paths(self) -> set[str]:
        """Paths of the nodes that have a box."""
        return {box["path"] for box in self.shown["boxes"] if box["path"] is not None}

    @property
    def titles(self) -> list[str]:
        """Titles of all boxes, in order."""
        return [box["title"] for box in self.shown["boxes"]]

    def box(self, title: str) -> dict[str, Any]:
        """The box of a node, or of a group of that title."""
        (found,) = [box for box in self.shown["boxes"] if box["title"] == title]
        return dict(found)

    def marked(self, *names: str) -> set[str]:
        """Titles of the boxes that are marked by one of these names."""
        return {box["title"] for box in self.shown["boxes"] if set(names) & set(box["marks"])}

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        found = self.driver.find_elements("css selector", selector)
        return [element.text for element in found]

    def button(self, text: str) -> Any:
        """The button with this text."""
        (found,) = [
            button
            for button in self.driver.find_elements("css selector", "button")
            if button.get_property("textContent") == text
        ]
        return found

    def facts(self) -> dict[str, str]:
        """The facts that the panel lists."""
        names, values = self.texts(".panel dt"), self.texts(".panel dd")
        return dict(zip(names, values, strict=True))

    def said(self) -> str:
        """The text for those who cannot see the picture."""
        return str(self.find(".said").get_property("textContent"))

    def point(self, title: str, *, shift: bool = False, times: int = 1) -> None:
        """Click a box with the mouse, where it is; it is brought to the middle before."""
        from selenium.webdriver.common.action_chains import ActionChains  # noqa: PLC0415

        self.find(".fit").click()
        box = self.box(title)
        area = self.find(".picture").rect
        for start, size in (("x", "width"), ("y", "height")):
            low, high = area[start], area[start] + area[size]
            if not low < box[start] + box[size] / 2 < high:
                pytest.fail(f"{title} is not on the window")
        x, y = (round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2))
        chain = ActionChains(self.driver)
        chain.w3c_actions.pointer_action.move_to_location(x, y)
        if shift:
            chain.key_down(self.keys.SHIFT)
        for _ in range(times):
            chain.click()
        if shift:
            chain.key_up(self.keys.SHIFT)
        chain.perform()
        self.settle()

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def choose(self, selector: str, text: str) -> None:
        """Choose an option of a list."""
        (option,) = [
            option
            for option in self.find(selector).find_elements("css selector", "option")
            if option.text == text
        ]
        option.click()

    def resize(
        self, size: tuple[int, int], theme: str = "light", motion: str = "no-preference"
    ) -> None:
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": motion},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def keep(self, name: str) -> None:
        """Keep a picture of the page."""
        self.settle()
        assert self.driver.save_screenshot(str(self.screenshots / f"{name}.png"))

    def requests(self) -> list[str]:
        """The addresses of all that was asked for since the page was opened."""
        return requests_of(self.driver)

    @cached_property
    def keys(self) -> Any:
        """The names of keys."""
        from selenium.webdriver.common.keys import Keys  # noqa: PLC0415  # may be missing

        return Keys


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser, started once for all tests here."""
    folder = tmp_path_factory.mktemp("explorer")
    screenshots = Path(os.environ.get("STAGECACHE_SCREENSHOTS") or folder)
    screenshots.mkdir(parents=True, exist_ok=True)
    with chromium(downloads=folder) as driver:
        yield Browser(driver, folder, screenshots)


@pytest.fixture
def browser(started: Browser) -> Iterator[Browser]:
    """The browser; nothing may be logged to its console, or leave the page, during a test."""
    started.resize(SIZES["wide"])
    yield started
    assert started.driver.get_log("browser") == []
    urls = {url.partition("#")[0] for url in started.requests()} - {"about:blank", "data:,"}
    assert {url for url in urls if not url.startswith("blob:")} <= {started.page.as_uri()}
    assert started.driver.execute_script("return performance.getEntriesByType('resource')") == []


def paths(view: GraphView) -> set[str]:
    return {node.path for node in view}


# ---------------------------------------------------------------------- the picture


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_boxes_have_the_colours_of_their_statuses(
    browser: Browser, theme: str, colours: dict[str, str]
) -> None:
    browser.resize(SIZES["wide"], theme)
    browser.open(pendulum())
    browser.settle()
    looks = {
        "pendulum.tip": "stale", "pendulum.energy": "not-computed", "stage Instance": "valid",
        "pendulum.angle": "variable",
    }  # fmt: skip
    for title, look in looks.items():
        box = browser.box(title)
        x, y = box["x"] + box["width"] / 2, box["y"] + 4
        pixel = browser.run(
            "const c = root.querySelector('canvas'), {left, top} = c.getBoundingClientRect();"
            "const copy = new OffscreenCanvas(1, 1).getContext('2d');"
            "copy.drawImage(c, left - arguments[0], top - arguments[1]);"
            "return [...copy.getImageData(0, 0, 1, 1).data]", x, y,
        )  # fmt: skip
        assert pixel == [*bytes.fromhex(colours[look][1:]), 255]
        assert box["look"] == look


def test_boxes_stand_in_the_columns_to_which_they_belong(browser: Browser) -> None:
    nodes = [
        NodeInfo("arm.q", "variable", "q", "arm", "Position", column="Position"),
        NodeInfo("arm.tip", "entry", "cached", "arm", "Model", column="Position"),
        NodeInfo("arm.mass", "variable", "discrete", "arm", "Instance"),
        NodeInfo("stage Velocity", "stage", stage="Velocity"),
    ]
    browser.open(GraphView(nodes, [EdgeInfo("arm.q", "arm.tip")], "", ("Position", "Velocity")))
    columns = {box["title"]: box["column"] for box in browser.shown["boxes"]}
    assert columns == {
        "arm.q": "Position", "arm.tip": "Position", "arm.mass": "variables",
        "stage Velocity": "Velocity",
    }  # fmt: skip
    lefts = [browser.box(title)["x"] for title in columns]
    assert lefts[2] < lefts[0] < lefts[1] < lefts[3]


def test_nodes_of_a_graph_without_stages_stand_after_their_prerequisites(browser: Browser) -> None:
    nodes = [NodeInfo(name, "entry") for name in "dcba"]
    browser.open(GraphView(nodes, [EdgeInfo(*pair) for pair in pairwise("abcd")]))
    lefts = [browser.box(name)["x"] for name in "abcd"]
    assert lefts == sorted(set(lefts))


@pytest.mark.parametrize("number", [100, 500])
def test_boxes_never_overlap_and_bands_hold_them(browser: Browser, number: int) -> None:
    browser.open(random_view(number))
    browser.button("Unfold all").click()
    boxes = browser.shown["boxes"]
    assert len(boxes) == number
    for one in boxes:
        for other in boxes:
            if one is not other and abs(one["x"] - other["x"]) < 1:
                assert abs(one["y"] - other["y"]) >= one["height"] - 0.01
    rows: dict[str, list[float]] = {}
    for box in boxes:
        rows.setdefault(box["band"], []).extend([box["y"], box["y"] + box["height"]])
    ends = sorted((min(ys), max(ys)) for ys in rows.values())
    assert all(one[1] < other[0] for one, other in pairwise(ends))


def test_without_the_program_the_picture_is_there(browser: Browser) -> None:
    off = "Emulation.setScriptExecutionDisabled"
    browser.driver.execute_cdp_cmd(off, {"value": True})
    try:
        browser.open(pendulum())
        assert browser.find("svg.stagecache").is_displayed()
        assert len(browser.driver.find_elements("css selector", "svg .node")) == 8
        assert browser.driver.save_screenshot(str(browser.screenshots / "without-program.png"))
    finally:
        browser.driver.execute_cdp_cmd(off, {"value": False})


# ---------------------------------------------------------------------- search


def test_search_finds_a_node_and_chooses_it(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find(".search input").send_keys("torq")
    assert browser.texts(".result") == ["anchor.torque"]
    assert browser.marked("found") == {"anchor.torque"}
    browser.find(".result").click()
    assert browser.marked("chosen") == {"anchor.torque"}
    assert browser.texts(".panel h2") == ["anchor.torque"]
    browser.keep("search")


def test_words_of_a_search_are_all_looked_for_paths_first(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find(".search input").send_keys("STALE tor")
    assert browser.texts(".result") == ["anchor.torque"]
    browser.find(".search input").clear()
    browser.find(".search input").send_keys("position")
    assert browser.texts(".result") == ["stage Position", "pendulum.angle"]


def test_what_is_not_there_is_not_found(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find(".search input").send_keys("nothing like this")
    assert browser.texts(".results li") == ["nothing found"]
    browser.press(browser.keys.ESCAPE)
    assert not browser.find(".results").is_displayed()


def test_only_what_was_found_is_shown_if_asked(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find(".search input").send_keys("pendulum en")
    browser.find(".search input").clear()
    browser.find(".search input").send_keys("stale")
    browser.find(".only").click()
    assert browser.paths == {"pendulum.tip", "anchor.torque"}
    assert browser.texts(".bar .mode") == ["Found by “stale”"]
    browser.button("Show all").click()
    assert browser.paths == paths(pendulum())


@pytest.mark.parametrize("name", [*NASTY, "<img src=x onerror=alert(1)>"])
def test_any_name_is_shown_as_it_is(browser: Browser, name: str) -> None:
    view = GraphView([NodeInfo(name, "variable", name, name, name, value=name)], [], name)
    browser.open(view)
    browser.find(".picture").click()
    browser.press(" ")
    assert browser.find(".panel h2").get_property("textContent") == name
    browser.find(".panel .ask").click()
    assert browser.marked("chosen") == {name}
    svg = ElementTree.fromstring(browser.run("return root.explorer.svg()"))
    shown = name.translate({c: "\ufffd" for c in range(32) if c not in (9, 10, 13)})
    titles = [title.text or "" for title in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 2
    if not any(0xD800 <= ord(c) < 0xE000 or c in "\r\ufffe\uffff" for c in name):
        assert shown in titles


# ---------------------------------------------------------------------- a click


@pytest.mark.parametrize("path", ["pendulum.tip", "stage Position", "pendulum.length"])
def test_a_click_lights_exactly_what_is_up_and_down(browser: Browser, path: str) -> None:
    view = pendulum()
    browser.open(view)
    browser.point(path)
    assert browser.marked("chosen") == {path}
    assert browser.marked("above") == paths(view.upstream_of(path)) - {path}
    assert browser.marked("below") == paths(view.downstream_of(path)) - {path}
    assert browser.said().startswith(f"{path}: ")


def test_a_click_beside_all_nodes_and_escape_light_all_again(browser: Browser) -> None:
    browser.open(pendulum())

    def beside() -> None:
        from selenium.webdriver.common.action_chains import ActionChains  # noqa: PLC0415

        chain = ActionChains(browser.driver)
        chain.move_to_element_with_offset(browser.find(".picture"), -470, -300).click().perform()

    def escape() -> None:
        browser.press(browser.keys.ESCAPE)

    for clear in (escape, beside):
        browser.point("pendulum.tip")
        assert browser.marked("above")
        clear()
        assert browser.marked("above", "below", "chosen") == set()


def test_the_panel_tells_all_that_is_known(browser: Browser) -> None:
    node = NodeInfo(
        "arm.tip", "entry", "cached", "arm", "Position", "Velocity", Status.VALID, 3, "[0 1]",
        "arm.py", 12, 0.00123, 0.5, column="Velocity", family="arm.tips",
    )  # fmt: skip
    browser.open(GraphView([node], []))
    browser.point("arm.tip")
    assert browser.facts() == {
        "kind": "entry, cached",
        "subsystem": "arm",
        "family": "arm.tips",
        "available from": "Position",
        "belongs to": "Velocity",
        "computed by": "Velocity",
        "status": "valid",
        "version": "3",
        "value": "[0 1]",
        "last computed in": "1.23 ms",
        "hit rate": "50.0 %",
        "source": "arm.py:12",
    }


def test_the_panel_counts_direct_and_all_neighbours_and_leads_to_them(browser: Browser) -> None:
    view = pendulum()
    browser.open(view)
    browser.point("anchor.torque")
    everything = len(view.upstream_of("anchor.torque")) - 1
    assert browser.texts(".panel h3")[-2:] == [
        f"Prerequisites: 2 direct, {everything} in all", "Dependents: 0 direct, 0 in all",
    ]  # fmt: skip
    assert browser.texts(".panel .links button") == ["stage Instance (stage)", "pendulum.tip"]
    browser.driver.find_elements("css selector", ".panel .links button")[1].click()
    assert browser.marked("chosen") == {"pendulum.tip"}


def test_long_lists_show_the_rest_when_asked(browser: Browser) -> None:
    nodes = [NodeInfo("x", "variable"), *[NodeInfo(f"e{i}", "entry") for i in range(100)]]
    browser.open(GraphView(nodes, [EdgeInfo("x", f"e{i}") for i in range(100)]), link="#x")
    assert len(browser.texts(".panel .links button")) == 61
    browser.button("and 40 more").click()
    assert len(browser.texts(".panel .links button")) == 100


# ---------------------------------------------------------------------- why


def test_the_reason_is_told_and_its_path_is_lit_and_unfolded(browser: Browser) -> None:
    view, reasons = rooms()
    browser.open(view, None, reasons)
    assert "room × 12" in browser.titles
    browser.find(".search input").send_keys("room_0.loss", browser.keys.ENTER)
    way = reasons["room_0.loss"].path
    assert browser.texts(".panel .reason") == [reasons["room_0.loss"].text]
    assert browser.texts(".panel .way button") == [f"{way[0]} (changed)", *way[1:]]
    assert browser.marked("stale-then") == set(way[:-1])
    assert browser.marked("chosen") == {way[-1]}
    assert browser.marked("changed") == {way[0]}
    assert browser.facts()["status"] == "not computed"
    browser.keep("why")


def test_the_reason_says_when_and_at_which_line_the_variable_was_written(browser: Browser) -> None:
    view, reasons = rooms()
    browser.open(view, None, reasons, link="#room_0.flow%5B3%5D")
    text = "room_0.flow[3] is stale: room_0.power was written <b>after</b> it was computed."
    assert browser.texts(".panel .reason") == [text]
    assert browser.texts(".panel .written") == [
        "Written at house.py:12, 250 ms after the trace began."
    ]
    assert browser.texts(".panel h3")[0] == "Why is it stale?"


def test_a_valid_entry_needs_no_reason(browser: Browser) -> None:
    view, reasons = rooms()
    browser.open(view, None, reasons, link="#room_1.flow[3]")
    assert browser.texts(".panel .reason") == []
    assert browser.facts()["status"] == "valid"


# ---------------------------------------------------------------------- what if


def test_what_if_lights_exactly_what_is_given(browser: Browser) -> None:
    given = ("pendulum.tip", "pendulum.energy", "elsewhere.pull")
    browser.open(pendulum(), {"pendulum.angle": given})
    browser.find(".what-if").click()
    browser.choose("select.variable", "pendulum.angle")
    assert browser.marked("stale-then") == {"pendulum.tip", "pendulum.energy"}
    assert browser.marked("chosen") == {"pendulum.angle"}
    assert "Not in this view: 1 more." in browser.texts(".panel p")
    assert browser.texts(".panel .impact") == ["This write would make 3 entries stale."]
    browser.keep("what-if")


def test_what_if_tells_one_entry_and_none(browser: Browser) -> None:
    browser.open(pendulum(), {"pendulum.angle": ("pendulum.tip",), "pendulum.length": ()})
    browser.press("w")
    for path, said in (("angle", "1 entry"), ("length", "0 entries")):
        browser.choose("select.variable", f"pendulum.{path}")
        assert browser.texts(".panel .impact") == [f"This write would make {said} stale."]


def test_what_if_finds_valid_entries_by_the_edges_where_these_are_all(browser: Browser) -> None:
    view, _ = rooms(2)
    below = {n.path for n in view.downstream_of("room_1.power") if n.status is Status.VALID}
    browser.open(view, {"room_1.power": sorted(below)}, link="#room_1.power")
    assert browser.run("return JSON.parse(document.querySelector('.impacts').textContent).of") == {}
    browser.press("w")
    assert browser.marked("stale-then") == below
    assert browser.texts(".panel .impact") == ["This write would make 8 entries stale."]


def test_what_if_names_hooks_that_read_what_changes(browser: Browser) -> None:
    view, _ = rooms(2)
    browser.open(view, {"room_1.power": ("room_1.loss",)}, link="#room_1.power")
    browser.find(".panel .ask").click()
    assert "1 hook that reads what changes" in browser.texts(".panel h3")
    assert "room_1.realize_dynamics" in browser.texts(".panel .links button")


def test_what_if_nothing_is_given_follows_the_edges(browser: Browser) -> None:
    view = pendulum()
    browser.open(view, {"pendulum.length": ()})
    browser.point("pendulum.angle")
    browser.find(".panel .ask").click()
    below = view.downstream_of("pendulum.angle")
    assert browser.marked("stale-then") == {n.path for n in below if n.kind != "variable"}
    browser.point("pendulum.length")
    assert browser.marked("stale-then") == set()
    assert browser.marked("chosen") == {"pendulum.length"}


def test_a_whole_is_written_with_its_parts(browser: Browser) -> None:
    nodes = [NodeInfo(p, "variable", "q") for p in ("a", "b", "q")]
    nodes += [NodeInfo(f"of {p}", "entry") for p in ("a", "b", "q")]
    edges = [EdgeInfo(p, f"of {p}") for p in ("a", "b", "q")]
    edges += [EdgeInfo("a", "q", EdgeKind.PART), EdgeInfo("b", "q", EdgeKind.PART)]
    browser.open(GraphView(nodes, edges))
    browser.press("w")
    browser.choose("select.variable", "a")
    assert browser.marked("stale-then") == {"of a", "of q"}
    browser.choose("select.variable", "q")
    assert browser.marked("stale-then") == {"of a", "of b", "of q"}


def test_what_if_says_that_an_entry_is_not_written(browser: Browser) -> None:
    browser.open(pendulum())
    browser.find(".what-if").click()
    browser.point("pendulum.tip")
    assert browser.marked("stale-then") == set()
    assert any("pendulum.tip is not a variable" in text for text in browser.texts(".panel p"))
    assert browser.find(".what-if").get_attribute("aria-pressed") == "true"
    browser.press(browser.keys.ESCAPE)
    assert browser.find(".what-if").get_attribute("aria-pressed") == "false"


# ---------------------------------------------------------------------- filters


def test_filters_leave_what_was_asked_for(browser: Browser) -> None:
    view = pendulum()
    browser.open(view)
    browser.choose(".subsystem", "pendulum")
    assert browser.paths == paths(view.select(subsystem="pendulum"))
    browser.choose(".kind", "variable: q")
    assert browser.paths == {"pendulum.angle"}
    browser.choose(".subsystem", "all subsystems")
    browser.choose(".kind", "entry")
    browser.choose(".status", "stale")
    assert browser.paths == {"pendulum.tip", "anchor.torque"}
    browser.find(".search input").send_keys("a")
    assert set(browser.texts(".result")) == {"pendulum.tip", "anchor.torque"}
    browser.press(browser.keys.ESCAPE)
    browser.button("Show all").click()
    browser.choose(".stage", "Velocity")
    assert browser.paths == {"stage Velocity", "pendulum.energy"}


def test_a_filter_lays_out_anew_what_is_left(browser: Browser) -> None:
    view = random_view(420)
    browser.open(view)
    before = browser.shown
    browser.choose(".subsystem", "body 3")
    shown = browser.shown
    assert browser.paths == paths(view.select(subsystem="body 3"))
    assert shown["bands"] == ["body 3"]
    assert shown["layouts"] == before["layouts"] + 1
    assert shown["height"] < before["height"]
    area = browser.find(".picture").rect
    inside = [b for b in shown["boxes"] if area["y"] <= b["y"] <= area["y"] + area["height"]]
    assert len(inside) == len(shown["boxes"])


def test_what_is_chosen_but_filtered_out_is_told(browser: Browser) -> None:
    browser.open(pendulum(), link="#pendulum.tip")
    browser.choose(".status", "not computed")
    assert "The filters leave it out." in browser.texts(".panel .note")
    browser.find(".panel").find_element("xpath", ".//button[.='Show all']").click()
    assert browser.marked("chosen") == {"pendulum.tip"}


# ---------------------------------------------------------------------- folds


def test_rooms_that_are_alike_are_one_box_with_a_count(browser: Browser) -> None:
    view, _ = rooms()
    browser.open(view)
    box = browser.box("room × 12")
    assert box["size"] == len(view) - len(view.select(subsystem="")) - 2
    assert box["remark"] == "8 stale · 12 not computed · 88 valid"
    assert box["look"] == "stale"
    (line,) = [line for line in browser.shown["lines"] if line["source"] == "weather.air"]
    assert (line["target"], line["count"]) == ("room × 12", 12)
    browser.keep("rooms")


@pytest.mark.parametrize("way", ["double click", "Enter", "button"])
def test_a_box_unfolds_and_folds_again(browser: Browser, way: str) -> None:
    view, _ = rooms(30)
    browser.open(view)
    if way == "double click":
        browser.point("room × 30", times=2)
    elif way == "Enter":
        browser.find(".picture").click()
        for _ in range(20):
            if browser.marked("focused") == {"room × 30"}:
                break
            browser.press(browser.keys.ARROW_RIGHT)
        browser.press(browser.keys.ENTER)
    else:
        browser.point("room × 30")
        browser.find(".panel .unfold").click()
    assert "room × 30" not in browser.titles
    assert {f"room_{i}" for i in range(30)} <= set(browser.titles)
    browser.find(".search input").send_keys("room_7.loss", browser.keys.ENTER)
    assert "room_7.loss" in browser.titles
    browser.button("Fold room_7").click()
    assert "room_7" in browser.titles
    browser.press("f")
    assert "room × 30" in browser.titles


def test_unfolding_one_box_leaves_the_others_as_they_are(browser: Browser) -> None:
    view, _ = rooms()
    browser.open(view)
    before = set(browser.titles)
    browser.point("room × 12", times=2)
    assert set(browser.titles) == before - {"room × 12"} | {f"room_{i}" for i in range(12)}


def test_families_fold_in_their_subsystem(browser: Browser) -> None:
    nodes = [NodeInfo("arm.q", "variable", "q", "arm")]
    nodes += [NodeInfo(f"arm.f[{i}]", "entry", "", "arm", family="arm.f") for i in range(200)]
    browser.open(GraphView(nodes, [EdgeInfo("arm.q", n.path) for n in nodes[1:]]))
    assert browser.titles == ["arm.q", "f × 200"]
    assert browser.box("f × 200")["band"] == "arm"
    browser.point("f × 200", times=2)
    assert len(browser.titles) == 1 + 14  # ranges
    assert browser.titles[1] == "f[0] … f[14] × 15"
    browser.point("f[0] … f[14] × 15", times=2)
    assert "arm.f[14]" in browser.titles


def test_all_is_folded_and_unfolded_at_once(browser: Browser) -> None:
    view, _ = rooms()
    browser.open(view)
    browser.button("Unfold all").click()
    assert browser.paths == paths(view)
    browser.button("Fold all").click()
    stages = [
        f"stage {s}" for s in ("Topology", "Model", "Instance", "Time", "Position", "Velocity")
    ]
    assert browser.titles == [*stages, "weather", "room × 12"]


@pytest.mark.parametrize("number", [67, 420, 3_000, 20_000])
def test_large_graphs_open_folded_and_every_node_is_in_one_box(
    browser: Browser, number: int
) -> None:
    view = random_view(number)
    browser.open(view)
    boxes = browser.shown["boxes"]
    assert sum(box["size"] for box in boxes) == number
    assert len(boxes) == number if number <= 150 else len(boxes) <= 150
    assert browser.shown["layouts"] == 1
    browser.find(".search input").send_keys(view.nodes[-1].path, browser.keys.ENTER)
    assert browser.marked("chosen") == {view.nodes[-1].path}
    assert sum(box["size"] for box in browser.shown["boxes"]) == number
    browser.keep(f"size-{number}")


def test_all_nodes_of_3000_can_be_shown(browser: Browser) -> None:
    view = random_view(3_000)
    browser.open(view)
    browser.button("Unfold all").click()
    assert browser.paths == paths(view)
    assert sum(line["count"] for line in browser.shown["lines"]) == len(view.edges)


# ---------------------------------------------------------------------- a part of the graph


def test_only_a_neighbourhood_is_shown_in_the_depth_that_was_asked_for(browser: Browser) -> None:
    view = random_view(400)
    path = "body 5.item 300"
    path = next(n.path for n in view if n.kind == "entry" and len(view.around(n.path, depth=1)) > 3)
    browser.open(view)
    browser.find(".search input").send_keys(path, browser.keys.ENTER)
    browser.button("Only its neighbourhood").click()
    assert browser.paths == paths(view.around(path, depth=1))
    browser.find(".bar .more").click()
    assert browser.shown["bands"] is not None
    sizes = sum(box["size"] for box in browser.shown["boxes"])
    assert sizes == len(view.around(path, depth=2))
    browser.find(".bar .less").click()
    assert browser.paths == paths(view.around(path, depth=1))
    assert not browser.find(".bar .less").is_enabled()
    browser.press(browser.keys.ESCAPE, browser.keys.ESCAPE)
    assert sum(box["size"] for box in browser.shown["boxes"]) == 400


@pytest.mark.parametrize("way", ["shift", "button"])
def test_the_paths_between_two_nodes_are_shown(browser: Browser, way: str) -> None:
    nodes = [NodeInfo(name, "entry") for name in "abcdefg"]
    pairs = ["ab", "bd", "ac", "ce", "ed", "df", "ag"]
    browser.open(GraphView(nodes, [EdgeInfo(*pair) for pair in pairs]))
    browser.point("d")
    if way == "button":
        browser.button("Path from here to …").click()
    browser.point("a", shift=way == "shift")
    assert browser.paths == set("abcde")
    assert browser.marked("stale-then") == {"a", "b"}
    (mode,) = browser.texts(".bar .mode")
    assert mode == "Paths from a to d, the shortest of 2 steps"
    browser.button("Show all").click()
    assert browser.paths == set("abcdefg")


def test_a_missing_path_is_told(browser: Browser) -> None:
    nodes = [NodeInfo(name, "entry") for name in "ab"]
    browser.open(GraphView(nodes, []), link="#a")
    browser.point("b", shift=True)
    assert "Neither a nor b depends on the other" in browser.texts(".panel .note")
    assert browser.paths == {"a", "b"}


# ---------------------------------------------------------------------- hooks


def test_hooks_have_their_own_look_and_can_be_switched_off(browser: Browser) -> None:
    view, _ = rooms(2)
    browser.open(view)
    hooks = {node.path for node in view if node.kind == "hook"}
    assert {box["path"] for box in browser.shown["boxes"] if box["look"] == "hook"} == hooks
    assert {"read", "write"} <= {line["kind"] for line in browser.shown["lines"]}
    browser.keep("hooks")
    browser.find(".legend").find_element("xpath", ".//button[.='hook']").click()
    assert browser.paths == paths(view) - hooks
    assert not {"read", "write"} & {line["kind"] for line in browser.shown["lines"]}
    browser.find(".legend").find_element("xpath", ".//button[.='hook']").click()
    assert browser.paths == paths(view)


def test_nothing_is_invalidated_along_what_hooks_read_and_write(browser: Browser) -> None:
    view, _ = rooms(2)
    browser.open(view, link="#room_0.realize_dynamics")
    assert browser.marked("above", "below") == set()
    assert browser.texts(".panel h3") == [
        "Prerequisites: 0 direct, 0 in all", "Dependents: 0 direct, 0 in all", "Reads 1",
        "Writes 1",
    ]  # fmt: skip
    assert browser.texts(".panel .links button") == ["room_0.loss", "room_0.heat"]


@pytest.mark.parametrize("size", SIZES)
def test_the_legend_can_be_reached_and_names_what_is_there(browser: Browser, size: str) -> None:
    browser.resize(SIZES[size])
    view, _ = rooms()
    browser.open(view)
    if size == "narrow":
        assert browser.find(".legend").get_property("open") is False
        browser.find(".legend summary").click()
    assert browser.texts(".legend li") == [
        "variable", "entry", "stage", "hook", "realized", "valid", "not computed", "stale",
        "is a prerequisite of", "comes before", "is read by", "writes",
    ]  # fmt: skip


def test_a_kind_of_edges_can_be_switched_off(browser: Browser) -> None:
    browser.open(pendulum())
    browser.button("invalidates").click()
    assert "invalidates" not in {line["kind"] for line in browser.shown["lines"]}
    assert browser.paths == paths(pendulum())


# ---------------------------------------------------------------------- moving


def test_titles_are_seen_as_long_as_their_column_and_band_are(browser: Browser) -> None:
    nodes = [NodeInfo(f"arm.n{i:c}", "entry", "", "arm", "Position") for i in range(97, 117)]
    edges = [EdgeInfo(one.path, other.path) for one, other in pairwise(nodes)]
    last = NodeInfo("arm.last", "entry", "", "arm", "Velocity")
    browser.resize(SIZES["narrow"])
    browser.open(GraphView([*nodes, last], edges))
    browser.press("/", "nm", browser.keys.ENTER)
    browser.settle()
    assert set(browser.shown["titles"]) == {"Position", "arm"}
    browser.find(".search input").clear()
    browser.press("/", "last", browser.keys.ENTER)
    browser.settle()
    assert set(browser.shown["titles"]) == {"Position", "Velocity", "arm"}


@pytest.mark.parametrize("size", SIZES)
def test_texts_can_be_read_at_first_and_after_fit(browser: Browser, size: str) -> None:
    browser.resize(SIZES[size])
    browser.open(random_view(500))
    assert browser.shown["camera"]["k"] >= SMALLEST
    for _ in range(12):
        browser.find(".zoom-out").click()
    assert browser.shown["camera"]["k"] < SMALLEST
    browser.find(".fit").click()
    assert browser.shown["camera"]["k"] == pytest.approx(SMALLEST)
    assert min(box["x"] for box in browser.shown["boxes"]) >= 0


def test_fit_shows_the_part_around_what_is_chosen(browser: Browser) -> None:
    browser.open(random_view(500))
    browser.button("Unfold all").click()
    browser.press("/", "item 499", browser.keys.ENTER)
    browser.press("-", "-", "0")
    (title,) = browser.marked("chosen")
    box, area = browser.box(title), browser.find(".picture").rect
    assert browser.shown["camera"]["k"] == pytest.approx(SMALLEST)
    assert area["x"] <= box["x"] <= area["x"] + area["width"]
    assert area["y"] <= box["y"] <= area["y"] + area["height"]


def test_fit_shows_all_of_a_small_picture(browser: Browser) -> None:
    browser.open(pendulum())
    for _ in range(5):
        browser.press("+")
    browser.press("0")
    area = browser.find(".picture").rect
    for box in browser.shown["boxes"]:
        assert area["x"] <= box["x"]
        assert box["x"] + box["width"] <= area["x"] + area["width"]


def test_the_wheel_zooms_and_dragging_moves_without_choosing(browser: Browser) -> None:
    from selenium.webdriver.common.action_chains import ActionChains  # noqa: PLC0415
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin  # noqa: PLC0415

    browser.open(random_view(50))
    picture = browser.find(".picture")
    first = browser.shown["camera"]
    origin = ScrollOrigin.from_element(picture)
    ActionChains(browser.driver).scroll_from_origin(origin, 0, -200).perform()
    nearer = browser.shown["camera"]
    assert nearer["k"] > first["k"]
    ActionChains(browser.driver).drag_and_drop_by_offset(picture, 60, 40).perform()
    moved = browser.shown["camera"]
    assert moved["k"] == nearer["k"]
    assert (moved["x"] - nearer["x"], moved["y"] - nearer["y"]) == pytest.approx((60, 40), abs=1)
    assert browser.marked("chosen") == set()


def test_two_fingers_zoom_and_one_moves(browser: Browser) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    browser.open(random_view(50))

    def touch(kind: str, *points: tuple[int, int]) -> None:
        fingers = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
        event = {"type": kind, "touchPoints": fingers}
        browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    first = browser.shown["camera"]
    touch("touchStart", (300, 300))
    touch("touchMove", (350, 320))
    touch("touchEnd")
    moved = browser.shown["camera"]
    assert (moved["x"] - first["x"], moved["k"]) == pytest.approx((50, first["k"]), abs=1)
    touch("touchStart", (300, 300), (400, 300))
    touch("touchMove", (250, 300), (450, 300))
    touch("touchEnd")
    assert browser.shown["camera"]["k"] == pytest.approx(2 * moved["k"], rel=0.01)
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_gestures_move_the_bitmap_of_a_large_picture_which_is_sharp_when_they_end(
    browser: Browser,
) -> None:
    browser.open(random_view(3_000))
    browser.button("Unfold all").click()
    browser.settle()
    wheel = (
        "const picture = root.querySelector('.picture');"
        "for (let i = 0; i < 20; i += 1) picture.dispatchEvent(new WheelEvent('wheel',"
        " {deltaY: 100, clientX: 300, clientY: 300, bubbles: true, cancelable: true}));"
    )
    moved = "return root.querySelector('canvas').style.transform"
    browser.run(wheel)
    browser.wait(lambda: browser.run(moved) == "")
    before = browser.shown["frames"]
    assert "scale(" in browser.run(wheel.replace("deltaY: 100", "deltaY: -20") + moved)
    browser.wait(lambda: browser.run(moved) == "")
    assert browser.shown["frames"] == before + 1


# ---------------------------------------------------------------------- keys, and words for ears


def test_keys_do_all_that_the_mouse_does(browser: Browser) -> None:
    keys = browser.keys
    nodes = [NodeInfo("upper", "variable"), NodeInfo("lower", "variable"), NodeInfo("e", "entry")]
    browser.open(GraphView(nodes, [EdgeInfo("lower", "e")]))
    browser.press("/", "upp", keys.ENTER)
    assert browser.marked("chosen") == {"upper"}
    browser.press(keys.ARROW_DOWN)
    assert browser.marked("focused") == {"lower"}
    assert browser.said() == "lower, variable"
    browser.press(keys.ENTER)
    assert browser.marked("chosen") == {"lower"}
    browser.press("w")
    assert browser.marked("stale-then") == {"e"}
    browser.press(keys.ESCAPE)
    assert browser.marked("below") == {"e"}
    browser.press(keys.ESCAPE)
    assert browser.marked("below", "chosen") == set()


def test_each_node_is_said_with_its_status(browser: Browser) -> None:
    view, _ = rooms()
    browser.open(view)
    browser.press(*[browser.keys.TAB])
    said = set()
    browser.find(".picture").click()
    for key in [browser.keys.ARROW_RIGHT] * 9:
        browser.press(key)
        said.add(browser.said())
    assert "stage Velocity, stage, realized" in said
    assert "room × 12, folded, 144 nodes, 8 stale · 12 not computed · 88 valid" in said


def test_tab_reaches_every_control_and_the_picture(browser: Browser) -> None:
    browser.open(pendulum())
    reached = []
    for _ in range(20):
        browser.press(browser.keys.TAB)
        element = browser.driver.switch_to.active_element
        reached.append(element.get_attribute("class") or element.get_property("textContent"))
        if reached[-1] == "panel":
            break
    assert reached == [
        *("", "subsystem", "kind", "status", "stage", "Fold all", "Unfold all", "what-if"),
        *("zoom-in", "zoom-out", "fit", "save", "picture", "Legend"),
        *["switch"] * 3, "panel",
    ]  # fmt: skip
    names = [
        element.accessible_name
        for element in browser.driver.find_elements("css selector", "button, input, select")
        if element.is_displayed()
    ]
    assert all(names)


def axe(browser: Browser) -> list[dict[str, Any]]:
    """What axe finds wrong."""
    browser.driver.execute_script(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = browser.driver.execute_async_script(
        "const done = arguments[0]; axe.run(document).then((r) => done(r.violations.map((v) =>"
        " ({id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html)}))))"
    )
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_wrong(browser: Browser, size: str, theme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed (npm install axe-core)")
    browser.resize(SIZES[size], theme)
    view, reasons = rooms()
    browser.open(view, {"weather.mean": ("weather.air",)}, reasons)
    assert axe(browser) == []
    if size == "narrow":
        browser.find(".legend summary").click()
        browser.find(".toggle").click()
    browser.press("/", "room_0.loss", browser.keys.ENTER)
    browser.button("Only its neighbourhood").click()
    assert axe(browser) == []
    browser.press("w")
    browser.find(".search input").clear()
    browser.find(".search input").send_keys("room")
    assert browser.texts(".result")
    assert axe(browser) == []
    browser.open_started(view, WITH_HOST)
    browser.run("root.explorer.update({state: 'paused', time: 1.5})")
    assert axe(browser) == []


# ---------------------------------------------------------------------- links, pictures, paper


def test_a_link_leads_to_a_node_and_follows_what_is_chosen(browser: Browser) -> None:
    name = "arm.f[3] / ä%"
    view = GraphView([NodeInfo(name, "entry"), NodeInfo("b", "entry")], [])
    browser.open(view, link="#arm.f%5B3%5D%20%2F%20%C3%A4%25")
    assert browser.marked("chosen") == {name}
    browser.point("b")
    assert browser.driver.current_url.endswith("page.html#b")
    browser.driver.execute_script("location.hash = encodeURIComponent(arguments[0])", name)
    browser.settle()
    assert browser.marked("chosen") == {name}
    browser.press(browser.keys.ESCAPE)
    assert browser.driver.current_url.endswith("page.html")


@pytest.mark.parametrize("link", ["#nowhere", "#%", "#%E4"])
def test_a_link_to_nothing_is_ignored(browser: Browser, link: str) -> None:
    browser.open(pendulum(), link=link)
    assert browser.marked("chosen") == set()
    assert len(browser.titles) == 8


def test_what_is_shown_is_saved_as_a_vector_picture(browser: Browser) -> None:
    view, _ = rooms()
    browser.open(view)
    browser.choose(".status", "not computed")
    browser.find(".save").click()
    file = browser.folder / "house.svg"
    browser.wait(file.exists)
    tree = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    tag = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in tree.iter(f"{tag}text")]
    assert ["loss" for text in texts if text == "loss"] == ["loss"] * 12
    assert {"house", "room_0", "Velocity"} <= set(texts)
    assert not list(tree.iter(f"{tag}image"))
    assert {path.get("fill") for path in tree.iter(f"{tag}path")} == {LIGHT["not-computed"]}
    shutil.copy(file, browser.screenshots / "saved.svg")


def test_all_of_the_picture_is_printed_as_vectors_on_light_paper(browser: Browser) -> None:
    browser.resize(SIZES["wide"], "dark")
    browser.open(random_view(100))
    for _ in range(5):
        browser.press("+")
    before = browser.shown["camera"]
    browser.run(
        "root.printed = []; addEventListener('beforeprint', () => {"
        " const svg = root.querySelector('.print svg');"
        " root.printed.push(svg.querySelectorAll('path > title').length,"
        " svg.getAttribute('viewBox')); })"
    )
    browser.driver.execute_cdp_cmd("Page.printToPDF", {"landscape": True})
    number, box = browser.run("return root.printed")
    assert number == 100
    assert float(box.split()[2]) >= browser.shown["width"] - 0.1
    assert browser.run("return root.querySelector('.print').children.length") == 0
    assert browser.shown["camera"] == before


# ---------------------------------------------------------------------- a host


def test_news_change_statuses_counts_and_the_panel(browser: Browser) -> None:
    view = pendulum()
    number = {node.path: n for n, node in enumerate(view)}
    browser.open_started(view, WITH_HOST)
    browser.point("pendulum.tip")
    layouts = browser.shown["layouts"]
    news = {"status": "valid", "version": 7, "value": "[0 1]", "count": 5, "seconds": 0.002}
    message = {
        "nodes": {number["pendulum.tip"]: news}, "computed": [number["pendulum.tip"]],
        "written": [number["pendulum.angle"]], "time": 0.25, "state": "running",
    }  # fmt: skip
    update = "root.explorer.update(arguments[0]); return root.explorer.shown().boxes"
    boxes = browser.run(update, message)
    flashing = {box["title"] for box in boxes if "flash" in box["marks"]}
    assert flashing == {"pendulum.tip", "pendulum.angle"}
    assert browser.box("pendulum.tip")["look"] == "valid"
    assert browser.box("pendulum.tip")["remark"] == "5 × · 2.00 ms"
    facts = browser.facts()
    assert (facts["status"], facts["version"], facts["value"]) == ("valid", "7", "[0 1]")
    assert (facts["computations"], facts["last computed in"]) == ("5", "2.00 ms")
    assert browser.texts(".live .time") == ["t = 0.25"]
    assert browser.shown["layouts"] == layouts
    browser.wait(lambda: browser.marked("flash") == set())


def test_reasons_come_with_the_news(browser: Browser) -> None:
    view = pendulum()
    number = {node.path: n for n, node in enumerate(view)}
    path = ("pendulum.angle", "pendulum.tip")
    old = {"pendulum.tip": Reason("An old reason.", path, path[0])}
    browser.open_started(view, WITH_HOST, reasons=old)
    browser.point("pendulum.tip")
    assert browser.texts(".panel .reason") == ["An old reason."]
    tip = number["pendulum.tip"]
    assert browser.run("return root.sent") == [f"explain {tip}"]
    browser.run("root.explorer.update(arguments[0])", {"nodes": {tip: {"status": "valid"}}})
    assert browser.texts(".panel .reason") == []
    browser.run("root.explorer.update(arguments[0])", {"nodes": {tip: {"status": "stale"}}})
    assert browser.texts(".panel .reason") == [], "the old one does not count any more"
    new = {"pendulum.tip": Reason("pendulum.tip is new.", path, path[0], "x.py", 3)}
    news = {"nodes": {}, "reasons": reasons_data(view, new)}
    browser.run("root.explorer.update(arguments[0])", news)
    assert browser.texts(".panel .reason") == ["pendulum.tip is new."]
    assert browser.texts(".panel .written") == ["Written at x.py:3."]
    assert browser.marked("changed") == {"pendulum.angle"}
    browser.run("root.explorer.update({state: 'ended'})")
    assert browser.texts(".panel .reason") == ["pendulum.tip is new."]
    browser.point("anchor.torque")
    assert browser.run("return root.sent") == [f"explain {tip}"], "there is nobody to ask"


def test_the_summary_follows_the_news_while_nothing_is_chosen(browser: Browser) -> None:
    view = pendulum()
    number = {node.path: n for n, node in enumerate(view)}
    browser.open_started(view, WITH_HOST)
    assert browser.texts(".panel .summary") == ["Entries: 2 stale, 1 not computed."]
    news = {"nodes": {number["pendulum.tip"]: {"status": "valid"}}}
    browser.run("root.explorer.update(arguments[0])", news)
    assert browser.texts(".panel .summary") == ["Entries: 1 stale, 1 not computed, 1 valid."]
    browser.point("pendulum.energy")
    browser.run("root.explorer.update({nodes: {}})")
    assert browser.texts(".panel .summary") == []


def test_a_program_is_paused_stepped_and_resumed(browser: Browser) -> None:
    browser.open_started(pendulum(), WITH_HOST)
    assert browser.texts(".live .state") == ["running"]
    assert not browser.find(".step").is_enabled()
    browser.find(".pause").click()
    browser.run("root.explorer.update({state: 'paused'})")
    assert browser.texts(".live .pause") == ["Resume"]
    browser.find(".step").click()
    browser.find(".pause").click()
    assert browser.run("return root.sent") == ["pause", "step", "resume"]
    browser.keep("paused")
    browser.run("root.explorer.update({state: 'ended', time: null})")
    assert browser.texts(".live .time") == [""]
    assert not browser.find(".pause").is_enabled()


def test_nothing_flashes_where_motion_is_reduced(browser: Browser) -> None:
    browser.resize(SIZES["wide"], motion="reduce")
    browser.open_started(pendulum(), WITH_HOST)
    browser.settle()
    browser.run("root.explorer.update({computed: [5]})")
    browser.settle()
    frames = browser.shown["frames"]
    time.sleep(0.2)
    assert browser.shown["frames"] == frames
    assert browser.marked("flash") == {"pendulum.tip"}
    browser.run("root.explorer.update({computed: [6]})")
    assert browser.marked("flash") == {"pendulum.energy"}


def test_a_status_filter_follows_the_news(browser: Browser) -> None:
    view = pendulum()
    browser.open_started(view, WITH_HOST)
    browser.choose(".status", "stale")
    assert browser.paths == {"pendulum.tip", "anchor.torque"}
    tip = [node.path for node in view].index("pendulum.tip")
    browser.run("root.explorer.update(arguments[0])", {"nodes": {tip: {"status": "valid"}}})
    assert browser.paths == {"anchor.torque"}


def test_explorers_share_a_page_in_shadow_trees_without_touching_it(browser: Browser) -> None:
    browser.open_started(pendulum(), IN_SHADOWS)
    browser.settle()
    counts = browser.run("return root.hosts.map(({face}) => face.shown().boxes.length)")
    assert counts == [8, 8]
    chosen = browser.run(
        "const [{root: one, face}, {face: other}] = root.hosts;"
        "const box = face.shown().boxes.find((b) => b.path === 'pendulum.tip');"
        "one.querySelector('.picture').dispatchEvent(new MouseEvent('click',"
        " {clientX: box.x + 9, clientY: box.y + 9, bubbles: true}));"
        "return [face, other].map((f) => f.shown().boxes.flatMap((b) => b.marks)"
        ".filter((m) => m === 'chosen').length)"
    )
    assert chosen == [1, 0]
    assert "#" not in browser.driver.current_url
    assert browser.run(
        "root.hosts[0].face.destroy(); return root.hosts.map(h => h.root.children.length)"
    ) == [0, 1]


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
