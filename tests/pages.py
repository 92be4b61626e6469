"""Pages of the documentation: the modules that they need, and the models that they show."""

import re
import sys
from contextlib import nullcontext, redirect_stdout
from doctest import DocTest, Example
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest

from stagecache import System
from stagecache.errors import ForeignNodeError, MassMatrixError, ReadOnlyError

DOCS: Final = Path(__file__).parents[1] / "docs"
PAGES: Final = sorted([DOCS / "index.md", *DOCS.glob("[!_]*/**/*.md")])

SHOWN_TO_FAIL: Final = {
    "half": ForeignNodeError,
    "hasty": ReadOnlyError,
    "floppy": MassMatrixError,
}
"""Systems that a page makes to show what is refused: by their name, or that of their subsystem."""


def missing_modules(page: Path) -> list[str]:
    """Return the modules that a page needs, by `<!-- needs pandas -->` as first line, and lacks."""
    needed = re.match(r"<!-- needs ([\w, ]+) -->\n", page.read_text(encoding="utf-8"))
    return [name for name in needed[1].split(", ") if find_spec(name) is None] if needed else []


def realize_every_system(page: DocTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page end by realizing every System that it has made: it shows models that work."""
    systems: list[System] = []
    start = System._start

    def noted(system: System, *arguments: Any) -> None:
        systems.append(system)
        start(system, *arguments)

    def realize_all() -> None:
        for system in systems:
            there = (system.name, *(subsystem.name for subsystem in system))
            error = next((SHOWN_TO_FAIL[name] for name in there if name in SHOWN_TO_FAIL), None)
            with (
                redirect_stdout(StringIO()),  # the page does not show what computations print
                nullcontext() if error is None else pytest.raises(error),
            ):
                system.realize(system.new_state())

    monkeypatch.setattr(System, "_start", noted)
    if page.examples:
        page.globs["realize_all"] = realize_all
        page.examples.append(Example("realize_all()\n", "", lineno=page.examples[-1].lineno))


def close_figures() -> None:
    """Close the figures that a page or an example has left open: matplotlib warns of many."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
