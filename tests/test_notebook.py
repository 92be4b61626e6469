"""The notebook of the documentation, executed: its outputs show the objects of its cells."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.display.outputs import parsed
from tests.pages import DOCS

NOTEBOOK = DOCS / "howto" / "notebook.ipynb"
SHOWN = {
    "show-system": (
        "System",
        "topology not realized|2 subsystems",
        "pendulum",
        "stiffness, energy",
    ),
    "show-state": ("State", "at Instance|at Model|at ", "angle", "● valid"),
    "cell-4": ("pendulum.energy is stale", "◐ stale", "angle: changed"),
    "show-impact": ("A write of pendulum.length", "pendulum.energy", "by its own change"),
    "show-trace": ("Trace", "3 computed", "pendulum.energy"),
    "show-trajectory": ("Trajectory", "41 rows", "pendulum.angle", "…"),
    "show-graph": ("Graph", "area", "○ not computed", "width"),
}
"""For each cell, patterns of what its output says."""


@pytest.mark.skipif(
    any(find_spec(module) is None for module in ("ipykernel", "matplotlib", "nbclient", "pandas")),
    reason="needs the extra docs: pip install '.[docs]'",
)
def test_the_notebook_shows_the_objects_of_its_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    nbformat, nbclient = import_module("nbformat"), import_module("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=tmp_path)
    cells: dict[str, Any] = {cell["id"]: cell for cell in notebook.cells}
    for name, patterns in SHOWN.items():
        (output,) = cells[name].outputs
        text = "".join(parsed(output.data["text/html"]).itertext())
        for pattern in patterns:
            assert re.search(pattern, text), (name, pattern, text)
        assert output.data["text/plain"]  # for what does not show HTML
