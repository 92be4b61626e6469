"""What a run was made on, in words that identify no particular machine."""

import platform
import re
from collections.abc import Sequence
from datetime import date
from os import cpu_count
from pathlib import Path
from typing import Final

from benchmarks.peers import Peer, versions
from stagecache.graph import store

CPUINFO: Final = Path("/proc/cpuinfo")


def describe_run(peers: Sequence[Peer], others: Sequence[str] = ()) -> str:
    """Return the processor, the Python, the versions of the libraries and the date, on one line.

    Parameters
    ----------
    peers : sequence of Peer
    others : sequence of str
        What else was measured, with its version.
    """
    libraries = [f"{name} {number}" for name, number in versions(peers).items()]
    return ", ".join(
        [
            f"{_processor()}, {cpu_count()} cores",
            f"{platform.system()}",
            f"{platform.python_implementation()} {platform.python_version()}",
            f"stagecache {'compiled' if is_compiled() else 'plain'}",
            *libraries,
            *others,
            date.today().isoformat(),
        ]
    )


def is_compiled() -> bool:
    """Whether the stagecache that is imported here is compiled."""
    return not str(store.__file__).endswith(".py")


def _processor() -> str:
    if CPUINFO.exists():
        models = re.findall(r"^model name\s*: (.+)$", CPUINFO.read_text(), re.MULTILINE)
        if models:
            return str(models[0])
    return platform.processor() or platform.machine()
