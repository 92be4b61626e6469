"""The README: all that it links, shows and claims is there, also on a package index."""

import doctest
import re
import shutil
import tomllib
from pathlib import Path
from runpy import run_path

import pytest

from tests.pages import realize_every_system

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S)
LINKS = re.findall(r"\]\(([^)\s]+)\)", PROSE)
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]


def test_the_readme_fits_on_two_screens() -> None:
    assert len(README.splitlines()) <= 130


def test_what_the_readme_shows_is_what_it_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    page = doctest.DocTestParser().get_doctest(README, {}, "README.md", "README.md", 0)
    realize_every_system(page, monkeypatch)
    shown = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(page)
    assert shown.failed == 0
    assert shown.attempted >= 5


def test_the_addresses_of_the_project_end_with_a_slash_where_a_path_follows() -> None:
    assert all(URLS[name].endswith("/") for name in ("Homepage", "Documentation", "Source"))
    assert URLS["Changelog"].startswith(URLS["Documentation"])


@pytest.mark.parametrize("link", [*LINKS, URLS["Changelog"]])
def test_a_link_is_absolute_and_leads_to_a_page_that_the_site_has(link: str) -> None:
    """A package index takes relative links for its own."""
    if link == URLS["Source"]:
        return
    assert link.startswith(URLS["Documentation"])
    page, _, anchor = link.removeprefix(URLS["Documentation"]).partition("#")
    assert not anchor
    if page.endswith(".html"):
        assert (ROOT / "docs" / page).with_suffix(".md").is_file()
    else:
        pictures = (ROOT / "docs" / "_extensions" / "pictures.py").read_text(encoding="utf-8")
        assert f'"pages/{page}"' in pictures


def test_the_readme_has_nothing_that_a_package_index_shows_differently() -> None:
    """Raw HTML is filtered there, and directives, references and alerts are shown as text."""
    assert len(LINKS) >= 6
    assert "](" in PROSE
    assert not re.findall(r"<\w+[^>]*>|^```\{|^\[[^\]]+\]:|^> \[!", README, flags=re.M)


def test_a_picture_says_in_words_what_it_shows() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]", README)
    assert pictures
    assert all(len(text) > 40 for text in pictures)


@pytest.mark.parametrize(
    ("page", "heading"),
    [("README.md", "## Beside other libraries"), ("docs/explanation/cost.md", "## Figures")],
)
def test_every_figure_stands_in_the_tables_of_the_benchmarks(page: str, heading: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    figures = re.findall(r"\d[\d.,]* (?:ns|µs|ms)", text.split(heading)[1].split("\n## ")[0])
    assert len(figures) >= 10
    tables = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    cells = set(re.findall(r"\| (\d[\d.,]* (?:ns|µs|ms)) ", tables))
    cells |= set(re.findall(r"cached_property: (\d[\d.,]* ns)", tables))
    assert [figure for figure in figures if figure not in cells] == []


def test_the_readme_shows_what_the_command_prints_for_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"# stagecache {project['version']} (compiled)\n" in README


def test_one_command_sets_the_addresses_everywhere(tmp_path: Path) -> None:
    command = run_path(str(ROOT / "docs" / "_extensions" / "urls.py"))
    for name in command["FILES"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    new = "https://docs.host.example/en", "https://code.host.example/us/it/"
    command["set_urls"](tmp_path, *new)
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "urls"
    ]
    assert urls["Documentation"] == "https://docs.host.example/en/"
    assert urls["Source"] == "https://code.host.example/us/it/"
    for name in command["FILES"]:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert not any(urls in text for urls in (URLS["Documentation"], URLS["Source"]))


def test_no_other_file_has_an_address_that_the_command_would_miss() -> None:
    folders = [ROOT / "docs", ROOT / "src", ROOT / "benchmarks"]
    files = [path for folder in folders for path in folder.rglob("*.[mp][dy]")]
    files += [
        ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "CODE_OF_CONDUCT", "SECURITY")
    ]
    found = [p for p in files if "_generated" not in p.parts and "_build" not in p.parts]
    assert [
        path
        for path in found
        if any(URLS[n] in path.read_text(encoding="utf-8") for n in ("Documentation", "Source"))
    ] == []
