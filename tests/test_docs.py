"""The documentation: it builds without a warning, and nothing in it is untested or left out."""

import builtins
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import stagecache
from stagecache import errors

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
ERRORS = [c for c in vars(errors).values() if isinstance(c, type) and c is not object]


@pytest.mark.skipif(
    any(find_spec(module) is None for module in ("furo", "myst_parser", "sphinx")),
    reason="needs the extra docs: pip install '.[docs]'",
)
def test_the_site_builds_without_a_warning_and_documents_every_public_name(tmp_path: Path) -> None:
    html = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"]
    built = subprocess.run(
        [*command, "-d", tmp_path / "doctrees", DOCS, html],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (built.returncode, built.stderr) == (0, "")
    page = (html / "api.html").read_text(encoding="utf-8")
    public = [f"stagecache.{name}" for name in stagecache.__all__]
    public += [f"stagecache.errors.{error.__name__}" for error in ERRORS]
    assert [name for name in public if f'id="{name}"' not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_is_run_as_a_doctest(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```([^\n]+)\n(.*?)^```$", text, re.M | re.S):
        if language != "text" and not language.startswith("{"):  # which is a directive
            assert language == "python"
            assert block.startswith(">>> ")
            assert block.endswith("\n\n"), "without a blank line, doctest expects the fence"


def test_the_guide_lists_every_error_with_the_exception_that_it_also_is() -> None:
    guide = (DOCS / "graph.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", guide, re.M))
    named = {error.__name__: error for error in ERRORS if error is not errors.StagecacheError}
    assert sorted(listed) == sorted(named)
    for name, base in listed.items():
        assert issubclass(named[name], vars(builtins).get(base) or named[base])


def test_every_page_is_reached_from_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    toctree = index.split("```{toctree}")[1].split("```")[0].split()
    assert sorted([*toctree[1:], "index"]) == [page.stem for page in PAGES]
