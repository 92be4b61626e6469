"""What a run was made on, in words that identify no particular machine."""

import platform
import re
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from typing import Final

import stagecache
from benchmarks.peers import OWN, Peer, versions

CPUINFO: Final = Path("/proc/cpuinfo")


def describe_run(peers: Sequence[Peer], forms: Sequence[str], others: Sequence[str] = ()) -> str:
    """Return the processor, the Python, the versions of the libraries and the date, on one line.

    Parameters
    ----------
    peers : sequence of Peer
    forms : sequence of str
        Those of stagecache that were measured.
    others : sequence of str
        What else was measured, with its version.
    """
    numbers = {**versions(peers), "numpy": version("numpy"), "scipy": version("scipy")}
    own = numbers.pop(OWN)
    return ", ".join(
        [
            f"{_processor()}, {cpu_count()} cores",
            f"{platform.system()}",
            f"{platform.python_implementation()} {platform.python_version()}",
            f"{OWN} {own} {' and '.join(forms)}",
            *[f"{name} {number}" for name, number in numbers.items()],
            *others,
            date.today().isoformat(),
        ]
    )


def is_compiled() -> bool:
    """Whether the stagecache that is imported here is compiled."""
    return bool(stagecache.compiled)


def _processor() -> str:
    if CPUINFO.exists():
        models = re.findall(r"^model name\s*: (.+)$", CPUINFO.read_text(), re.MULTILINE)
        if models:
            return str(models[0])
    return platform.processor() or platform.machine()
