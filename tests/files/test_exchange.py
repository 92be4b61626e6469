"""Files that one version of Python has saved open in the others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.files.exchange import open_all, save

ROOT = Path(__file__).parents[2]
OTHERS = [python for python in os.environ.get("STAGECACHE_PYTHONS", "").split(os.pathsep) if python]
"""Interpreters of other versions that have stagecache, as CONTRIBUTING.md says."""


@pytest.mark.parametrize("python", [sys.executable, *OTHERS])
def test_files_of_another_python_open_here_and_ours_open_there(python: str, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    run(python, "save", theirs)
    open_all(theirs)
    save(ours)
    run(python, "open", ours)


def run(python: str, what: str, folder: Path) -> None:
    command = [python, "-m", "tests.files.exchange", what, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
