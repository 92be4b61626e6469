"""What is imported when, and without Hypothesis."""

import subprocess
import sys

import pytest

import stagecache.testing

NO_HYPOTHESIS = """
import sys
sys.modules["hypothesis"] = None
import stagecache.testing
from stagecache.errors import MissingExtraError
try:
    stagecache.testing.check_all
except MissingExtraError as error:
    assert "stagecache[testing]" in error.hint
else:
    raise AssertionError
"""
LIGHT = """
import sys
import stagecache
stagecache.State, stagecache.System
assert "stagecache.testing" not in sys.modules
import stagecache.testing
assert "hypothesis" not in sys.modules
"""


@pytest.mark.parametrize("program", [NO_HYPOTHESIS, LIGHT])
def test_hypothesis_is_imported_when_it_is_needed(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'check_nothing'"):
        stagecache.testing.check_nothing  # type: ignore[attr-defined]  # noqa: B018  # is refused


def test_all_names_are_listed() -> None:
    assert set(stagecache.testing.__all__) <= set(dir(stagecache.testing))
    for name in stagecache.testing.__all__:
        assert getattr(stagecache.testing, name).__name__ == name
