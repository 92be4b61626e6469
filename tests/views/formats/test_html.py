"""The page for browsers, as a text; what it does in a browser is in test_explorer.py."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from stagecache.views import GraphView, NodeInfo, Reason
from stagecache.views.formats.html import data_of, html_of, page_of
from tests.profiles import examples
from tests.views.samples import pendulum, random_view
from tests.views.strategies import NASTY, views


class Page(HTMLParser):
    """The elements of a page, and the texts of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.starts: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.starts.append((tag, found))
        if tag in ("script", "style", "title"):
            self._open.append(found.get("class") or tag)
            self.texts.setdefault(self._open[-1], []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "title"):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    def attributes(self, tag: str, name: str) -> list[str]:
        """An attribute of all elements that have it."""
        return [value for t, found in self.starts if t == tag and (value := found.get(name))]


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@examples(50)
@given(views())
def test_the_page_holds_the_data_and_a_picture_whatever_the_names_are(view: GraphView) -> None:
    page = Page(html_of(view))
    for name, data in data_of(view).items():
        assert json.loads(page.texts[name][0]) == json.loads(data)
    shapes = [found for tag, found in page.starts if tag == "g" and found.get("data-path")]
    assert len(shapes) == len(view)


@pytest.mark.parametrize(
    "name", [*NASTY, "</script><script>alert(1)</script>", "<!--", "{{title}}"]
)
def test_a_name_adds_no_element(name: str) -> None:
    nodes = [NodeInfo(name, "entry", name, name, name, value=name, file=name)]
    plain = [NodeInfo("a", "entry", "a", "a", "a", value="a", file="a")]
    page = Page(html_of(GraphView(nodes, [], name), {name: (name,)}))
    expected = Page(html_of(GraphView(plain, [], "a"), {"a": ("a",)}))
    assert [tag for tag, _ in page.starts] == [tag for tag, _ in expected.starts]
    assert page.texts["title"][0] == name


def test_the_policy_allows_what_is_in_the_page_and_nothing_else() -> None:
    page = Page(html_of(pendulum()))
    (policy,) = page.attributes("meta", "content")[:1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == hash_of(page.texts["script"][0])
    assert set(rules["style-src"].split()) == {hash_of(text) for text in page.texts["style"]}


def test_the_page_names_no_address() -> None:
    text = html_of(random_view(50))
    addresses = set(re.findall(r"https?://[^\"]*", text))
    assert "http://www.w3.org/2000/svg" in addresses
    assert {a for a in addresses if not a.startswith("http://www.w3.org/")} == set()  # namespaces
    page = Page(text)
    assert page.attributes("link", "href") == ["data:,"]
    assert not [found for _, found in page.starts if "src" in found or "style" in found]
    assert not [name for _, found in page.starts for name in found if name.startswith("on")]


def test_the_picture_without_the_program_has_groups_if_there_are_many_nodes() -> None:
    assert html_of(random_view(500)).count("data-path=") == 500
    assert 0 < html_of(random_view(600)).count("data-path=") < 500


@pytest.mark.parametrize("number", [3_000, 20_000])
def test_the_page_stays_small(number: int) -> None:
    """300 bytes a node, with its edges, beside the program: most nodes have a reason here."""
    view = random_view(number)
    reasons = {
        node.path: Reason(f"{node.path} is stale: {edge.source} was written.", (), edge.source)
        for node, edge in zip(view, view.edges, strict=False)
        if node.kind == "entry"
    }
    fixed = len(html_of(pendulum()))
    assert len(html_of(view, {}, reasons)) < fixed + 300_000 + 300 * number


def test_a_host_starts_the_explorer_by_its_own_program() -> None:
    start = "explorer(document.querySelector('.explorer'), {}, {});"
    page = Page(page_of("a", data_of(pendulum()), start, connects="'self'"))
    assert page.texts["script"][0].endswith(start)
    (policy,) = page.attributes("meta", "content")[:1]
    assert "connect-src 'self';" in policy
    assert hash_of(page.texts["script"][0]) in policy


def test_equal_views_have_equal_pages() -> None:
    assert html_of(random_view(100)) == html_of(random_view(100))


def test_paper_is_light() -> None:
    assert "@media print { .stagecache.stagecache, .explorer svg { --sc-paper:#ffffff;" in html_of(
        pendulum()
    )
