"""The programs, each compiled from its source once in a run, where Simbody is installed.

They are compiled without -DNDEBUG, as Debian's library is: classes that have members only without
it (`CacheEntryInfo`) would otherwise have two layouts in one process. What of Simbody is inline
thus has its assertions too.
"""

import atexit
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from attrs import frozen

from benchmarks.errors import FailedProgramError, NotInstalledError

COMPILER: Final = "g++"
INCLUDE: Final = Path("/usr/include/simbody")
"""Where the package libsimbody-dev of Debian and Ubuntu has the headers."""


@frozen
class Program:
    """A program, and what it is linked with.

    Attributes
    ----------
    source : str
        A file in this folder.
    libraries : tuple of str
    """

    source: str
    libraries: tuple[str, ...]


STATE: Final = Program("state.cpp", ("SimTKcommon",))
ASSEMBLER: Final = Program("assembler.cpp", ("SimTKsimbody", "SimTKmath", "SimTKcommon"))


def require_installed() -> None:
    """Raise `NotInstalledError` unless the program can be compiled here."""
    if not (INCLUDE / "SimTKcommon.h").is_file():
        raise NotInstalledError("Simbody is not installed: the package libsimbody-dev of Debian")
    if shutil.which(COMPILER) is None:
        raise NotInstalledError(f"Simbody is installed, but not the compiler {COMPILER}")


def run(program: Program, *arguments: str) -> str:
    """Run a program, compiling it first if that was not done yet, and return what it prints.

    Raises
    ------
    NotInstalledError
    FailedProgramError
        It cannot be compiled, or something was not valid, or invalid, that should have been.
    """
    require_installed()
    return _run([str(_compiled(program)), *arguments])


def version() -> str:
    """Return the version of Simbody. Raises as `run` does."""
    return run(STATE, "version")


@cache
def _compiled(program: Program) -> Path:
    source = Path(__file__).with_name(program.source)
    folder = mkdtemp(prefix="stagecache-benchmarks-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiled = Path(folder) / source.stem
    options = ["-O2", "-std=c++17", "-w", f"-I{INCLUDE}"]
    libraries = [f"-l{name}" for name in program.libraries]
    _run([COMPILER, *options, str(source), "-o", str(compiled), *libraries])
    return compiled


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedProgramError(command, done.returncode, done.stderr)
    return done.stdout.strip()
