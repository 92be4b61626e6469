"""The program, compiled from `state.cpp` once in a run, where Simbody is installed.

It is compiled without -DNDEBUG, as Debian's library is: classes that have members only without it
(`CacheEntryInfo`) would otherwise have two layouts in one process. What of Simbody is inline thus
has its assertions too.
"""

import atexit
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from benchmarks.errors import FailedProgramError, NotInstalledError

COMPILER: Final = "g++"
INCLUDE: Final = Path("/usr/include/simbody")
"""Where the package libsimbody-dev of Debian and Ubuntu has the headers."""

SOURCE: Final = Path(__file__).with_name("state.cpp")


def require_installed() -> None:
    """Raise `NotInstalledError` unless the program can be compiled here."""
    if not (INCLUDE / "SimTKcommon.h").is_file():
        raise NotInstalledError("Simbody is not installed: the package libsimbody-dev of Debian")
    if shutil.which(COMPILER) is None:
        raise NotInstalledError(f"Simbody is installed, but not the compiler {COMPILER}")


def run(*arguments: str) -> str:
    """Run the program, compiling it first if that was not done yet, and return what it prints.

    Raises
    ------
    NotInstalledError
    FailedProgramError
        It cannot be compiled, or something was not valid, or invalid, that should have been.
    """
    require_installed()
    return _run([str(_program()), *arguments])


def version() -> str:
    """Return the version of Simbody. Raises as `run` does."""
    return run("version")


@cache
def _program() -> Path:
    folder = mkdtemp(prefix="stagecache-benchmarks-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = Path(folder) / "state"
    options = ["-O2", "-std=c++17", "-w", f"-I{INCLUDE}"]
    _run([COMPILER, *options, str(SOURCE), "-o", str(program), "-lSimTKcommon"])
    return program


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedProgramError(command, done.returncode, done.stderr)
    return done.stdout.strip()
