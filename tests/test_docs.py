"""The documentation: it builds without a warning, and nothing in it is untested or left out."""

import builtins
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from posixpath import join

import pytest

import stagecache
from stagecache import errors, multibody
from tests.links import broken_links_of_site, broken_links_of_texts
from tests.oracle.findings import FINDINGS
from tests.oracle.model import Model
from tests.oracle.quirks import ALL, NONE, Quirk
from tests.oracle.traces import RECORDED, load_traces
from tests.pages import DOCS, PAGES

BY_NAME = {str(page.relative_to(DOCS)): page for page in PAGES}
NEEDED = (
    *("furo", "ipykernel", "matplotlib", "myst_nb"),
    *("sphinx", "sphinx_copybutton", "sphinx_design", "sphinx_gallery"),
)
KERNEL = re.compile(r"\[IPKernelApp\]|Executing notebook with kernel")  # it always says so
HEAVIEST = 400_000  # bytes of a page, which a phone loads in a second or two
ERRORS = [
    c
    for c in vars(errors).values()
    if isinstance(c, type) and issubclass(c, errors.StagecacheError)
]


@pytest.mark.takes_minutes
@pytest.mark.skipif(
    any(find_spec(module) is None for module in NEEDED),
    reason="needs the extra docs: pip install '.[docs]'",
)
def test_the_site_builds_without_warnings_or_broken_links_and_documents_every_public_name(
    tmp_path: Path,
) -> None:
    html = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"]
    built = subprocess.run(
        [*command, "-d", tmp_path / "doctrees", DOCS, html],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    said = [line for line in built.stderr.splitlines() if line and not KERNEL.search(line)]
    assert (built.returncode, said) == (0, [])
    assert (html / "four_bar.gif").stat().st_size < 1_000_000  # which the README shows
    inventory = import_module("sphinx.util.inventory").InventoryFile
    with (html / "objects.inv").open("rb") as file:
        documented = {name for names in inventory.load(file, "", join).values() for name in names}
    public = [f"stagecache.{name}" for name in stagecache.__all__]
    packages = [import_module(f"stagecache.{name}") for name in stagecache._PACKAGES]
    public += [
        f"{package.__name__}.{name}"
        for package in packages
        for name in package.__all__
        if name not in stagecache.__all__
    ]
    public += [f"stagecache.errors.{error.__name__}" for error in ERRORS]
    public += [f"stagecache.multibody.{name}" for name in multibody.__all__]
    assert [name for name in public if name not in documented] == []
    assert broken_links_of_site(html) == []
    assert broken_links_of_texts(html) == []
    heavy = [str(page) for page in html.rglob("*.html") if page.stat().st_size > HEAVIEST]
    assert heavy == []


@pytest.mark.parametrize("page", PAGES, ids=BY_NAME)
def test_every_python_block_is_run_as_a_doctest(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```([^\n]+)\n(.*?)^```$", text, re.M | re.S):
        if language not in ("sh", "text") and not language.startswith("{"):  # which is a directive
            assert language == "python"
            assert block.startswith(">>> ")
            assert block.endswith("\n\n"), "without a blank line, doctest expects the fence"


def test_every_error_is_listed_with_the_exception_that_it_also_is() -> None:
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", page, re.M)
    named = {error.__name__: error for error in ERRORS if error is not errors.StagecacheError}
    assert sorted(name for name, _ in rows) == sorted(named)
    for name, base in rows:
        assert issubclass(named[name], vars(builtins).get(base) or named[base])


# ---------------------------------------------------------------------- house.md


def test_the_page_on_the_house_names_files_and_names_that_exist() -> None:
    page = (DOCS / "explanation" / "house.md").read_text(encoding="utf-8")
    files = sorted(set(re.findall(r"`([\w/.]+\.py)`", page)))
    assert len(files) >= 15
    roots = (DOCS.parent / "src", DOCS.parent)
    assert [file for file in files if not any((root / file).is_file() for root in roots)] == []
    ways = page.split("## Ways through the house")[1]
    texts = {
        file: (roots[0] / file).read_text(encoding="utf-8")
        for file in files
        if "/" in file
        if (roots[0] / file).is_file()
    }
    named = set(re.findall(r"`(?:[A-Z]\w+)\.(\w+)`", ways))
    assert len(named) >= 10
    for name in named - {"VELOCITY"}:
        assert any(f"def {name}(" in text for text in texts.values()), name


# ---------------------------------------------------------------------- simbody.md


def simbody_page() -> tuple[str, list[str]]:
    """What comes before the sections, and what stands under each heading of the third level."""
    text = (DOCS / "reference" / "simbody.md").read_text(encoding="utf-8")
    introduction, *sections = re.split(r"^### ", text, flags=re.M)
    return introduction, [re.split(r"^## ", section, flags=re.M)[0] for section in sections]


def test_the_page_on_simbody_has_one_section_for_each_quirk() -> None:
    _, sections = simbody_page()
    named = [re.match(r".+\n\n`(\w+)`: ", section) for section in sections]
    assert [match and match[1] for match in named] == [str(quirk) for quirk in Quirk]


@pytest.mark.parametrize("quirk", Quirk, ids=str)
def test_a_section_on_simbody_says_what_the_quirk_is_and_shows_its_finding(quirk: Quirk) -> None:
    (section,) = [part for part in simbody_page()[1] if f"\n\n`{quirk}`: " in part]
    finding = FINDINGS[quirk]
    heading, sentence, *_ = section.split("\n\n")
    assert heading.lower() == finding.title.lower()
    assert " ".join(sentence.split()) == f"`{quirk}`: {quirk.sentence}"
    (block,) = re.findall(r"^```text\n(.*?)^```$", section, re.M | re.S)
    real, contract = Model(ALL), Model(NONE)
    assert [re.split(" {3,}", line) for line in block.splitlines()] == [
        ["", "Simbody", "stagecache"],
        *([command, real.run(command), contract.run(command)] for command in finding.commands),
    ]


def test_the_page_on_simbody_counts_the_traces() -> None:
    introduction, _ = simbody_page()
    traces = load_traces(RECORDED)
    commands = sum(map(len, traces))
    assert f"{RECORDED.name}` holds {len(traces)} recorded sequences, {commands:,} commands" in (
        " ".join(introduction.split())
    )
