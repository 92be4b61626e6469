"""Fixtures: small models in files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.models.comparison import folder
from tests.models.small_models import SMALL

collect_ignore = [] if folder() else ["test_comparison.py"]
"""Files without tests where their data is not there; a skip would fail with `--no-skips`."""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes a text into a file of a name, and returns its path."""

    def made(text: str, name: str = "small.osim") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return made


@pytest.fixture
def small(write: Write) -> Callable[[str], Path]:
    """A function that writes one of the small models."""
    return lambda name: write(SMALL[name])
