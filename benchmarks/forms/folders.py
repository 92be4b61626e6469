"""A folder for each form, from which a process imports it."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.errors import FailedProgramError
from benchmarks.machine import is_compiled

ROOT: Final = Path(__file__).parents[2]
BUILT: Final = ROOT / "build" / "benchmarks"
SOURCES: Final = ("src", "setup.py", "mypyc_plugin.py", "pyproject.toml", "README.md", "LICENSE")

COMPILED: Final = "compiled"
PLAIN: Final = "plain"


def form_here() -> str:
    """Return the form that this process imports."""
    return COMPILED if is_compiled() else PLAIN


def other_form() -> str:
    """Return the form that this process does not import."""
    return PLAIN if is_compiled() else COMPILED


def prepare(form: str) -> Path:
    """Return the folder of a form of the sources here. Compiling them takes a minute or two, once.

    Raises
    ------
    FailedProgramError
    """
    if form == PLAIN:
        return ROOT / "typings"
    target = BUILT / _fingerprint()
    if not target.exists():
        print("compiling stagecache: a minute or two, once for these sources", file=sys.stderr)
        shutil.rmtree(BUILT, ignore_errors=True)
        with TemporaryDirectory(prefix="stagecache-benchmarks-") as folder:
            _compile(Path(folder))
            shutil.copytree(Path(folder, "installed"), target)
    return target


def _fingerprint() -> str:
    """The name of a folder, which is another one once a source is changed."""
    digest = hashlib.sha256(sys.version.encode())
    sources = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.c")])
    for path in [ROOT / "setup.py", *sources]:
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _compile(folder: Path) -> None:
    """Install a copy of the sources into the folder `installed`."""
    project, target = folder / "project", folder / "installed"
    project.mkdir()
    for name in SOURCES:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, project / name)
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
        *("--target", str(target), str(project)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not list(target.glob("stagecache__mypyc*")):
        raise FailedProgramError(command, done.returncode, done.stderr or done.stdout)
