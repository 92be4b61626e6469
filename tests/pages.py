"""Pages of the documentation, and modules that they need, as their first lines say."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[1] / "docs"
PAGES: Final = sorted([DOCS / "index.md", *DOCS.glob("[!_]*/**/*.md")])


def missing_modules(page: Path) -> list[str]:
    """Return the modules that a page needs, by `<!-- needs pandas -->` as first line, and lacks."""
    needed = re.match(r"<!-- needs ([\w, ]+) -->\n", page.read_text(encoding="utf-8"))
    return [name for name in needed[1].split(", ") if find_spec(name) is None] if needed else []


def close_figures() -> None:
    """Close the figures that a page or an example has left open: matplotlib warns of many."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
