"""The real `SimTK::State`, behind a driver that is compiled from `state_oracle.cpp`.

Never compile it with -DNDEBUG where the library comes from Debian: the library was built without,
and classes that have members only without it (`CacheEntryInfo`) would have two layouts in one
process.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import TracebackType

SOURCE = Path(__file__).with_name("state_oracle.cpp")
INCLUDE = Path("/usr/include/simbody")  # where the package libsimbody-dev puts it
FLAGS = ("-O1", "-g", "-std=c++17", "-w", f"-I{INCLUDE}")


def reason_not_available() -> str | None:
    """Why the driver cannot be compiled here, or None if it can."""
    if shutil.which("g++") is None:
        return "needs the compiler g++"
    if not (INCLUDE / "SimTKcommon.h").is_file():
        return "needs Simbody: the package libsimbody-dev of Debian or Ubuntu"
    return None


def is_available() -> bool:
    return reason_not_available() is None


@cache
def driver() -> Path:
    """Compile the driver, unless it was compiled before from the same source."""
    digest = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"stagecache-oracle-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    program = folder / f"state_oracle-{digest}"
    if not program.exists():
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            built = Path(temporary) / "state_oracle"
            command = ["g++", *FLAGS, str(SOURCE), "-o", str(built), "-lSimTKcommon"]
            subprocess.run(command, check=True, capture_output=True, text=True)
            built.replace(program)  # at once: another process may be doing the same
    return program


class Simbody:
    """A process of the driver; answers as a `Model` does, line by line."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [driver()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def __enter__(self) -> Simbody:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, line: str) -> str:
        """Run one command and return its result line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().rstrip("\n")
        if not answer:
            raise EOFError(f"the driver ended at {line!r}")
        return answer

    def close(self) -> None:
        self._process.communicate()
