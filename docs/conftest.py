"""Each page runs as if alone: in its own folder, and with its own shared results."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stagecache import shared_results
from tests.pages import close_figures, missing_modules, realize_every_system

collect_ignore_glob = ["conf.py", "_extensions/*", "_generated/*", "start/gallery/*"]
"""Modules that only the build imports, and what it writes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip pages that need a module of an extra, where it is not installed."""
    for item in items:
        missing = missing_modules(item.path) if item.path.suffix == ".md" else []
        if missing:
            reason = f"needs {', '.join(missing)}: pip install '.[docs]'"
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _alone(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    realize_every_system(request.node.dtest, monkeypatch)
    with shared_results():
        yield
    close_figures()
