"""Links that lead nowhere: within the built site, and from the Markdown files beside it."""

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

ROOT: Final = Path(__file__).parents[1]
TEXTS: Final = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "benchmarks/README.md",
    "benchmarks/RESULTS.md",
)


class Page(HTMLParser):
    """Anchors of a page, and addresses that it links to or shows."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.add(value)


def broken_links_of_site(html: Path) -> list[str]:
    """Return "page -> link" for each link to a file or an anchor that the site does not have."""
    pages = {path: Page(path) for path in html.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.exists()
            if there and parts.fragment and target in pages:
                there = unquote(parts.fragment) in pages[target].anchors
            if not there:
                broken.append(f"{path.relative_to(html)} -> {link}")
    return broken


def broken_links_of_texts(html: Path) -> list[str]:
    """Return "file -> link" for each link to a file that neither the site nor the project has."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    broken = []
    for name in TEXTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", prose):
            if link.startswith(urls["Documentation"]):
                target, _, anchor = link.removeprefix(urls["Documentation"]).partition("#")
                there = (html / target).exists()
                if there and anchor:
                    there = anchor in Page(html / target).anchors
            elif link.startswith(urls["Source"]):
                path = re.sub(r"^(blob|tree)/\w+/", "", link.removeprefix(urls["Source"]))
                there = (ROOT / path.partition("#")[0]).exists()
            elif urlsplit(link).scheme:
                continue  # Sphinx's linkcheck asks the network
            else:
                target, _, anchor = link.partition("#")
                there = ((ROOT / name).parent / target).exists()
            if not there:
                broken.append(f"{name} -> {link}")
    return broken
