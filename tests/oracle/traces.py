"""Recorded traces: what the real library answered to many commands.

A file has one trace per line, a JSON list of [command, result line]; it may be compressed (`.xz`).
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import TypeAlias

Trace: TypeAlias = "list[tuple[str, str]]"  # command, recorded result line
RECORDED = Path(__file__).with_name("data") / "traces_a.jsonl.xz"


def load_traces(path: Path) -> list[Trace]:
    """Read all traces of a file."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    return [[(command, result) for command, result in json.loads(t)] for t in text.splitlines()]
