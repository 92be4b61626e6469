"""Where functions are written, as others may see it."""

from pathlib import Path

import numpy as np
import pytest

import stagecache.graph
from stagecache.graph.sources import shown_file


def test_a_file_is_shown_from_the_project_or_package_that_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project" / "models").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    elsewhere = tmp_path.parent / "elsewhere" / "model.py"
    assert [
        shown_file(str(file))
        for file in (
            "<string>",
            stagecache.graph.__file__,
            np.__file__,
            tmp_path / "project" / "models" / "arm.py",
            tmp_path / "scripts" / "arm.py",
            elsewhere,
        )
    ] == [
        "<string>",
        "stagecache/graph/__init__.py",
        "numpy/__init__.py",
        "models/arm.py",
        "scripts/arm.py",
        "model.py",
    ]
