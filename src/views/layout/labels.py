"""Labels in the boxes of nodes: one short line each, and its width."""

import unicodedata
from typing import Final

from stagecache.views.nodes import NodeInfo

LONGEST: Final = 30
"""Most characters; a longer text loses its middle."""

CHARACTER: Final = 7.2
"""The width of one, in a font of 12 pixels."""


def label_of(node: NodeInfo) -> str:
    """Return the path without its subsystem or "stage", which the place in the picture shows."""
    prefix = "stage " if node.kind == "stage" else f"{node.subsystem}." if node.subsystem else ""
    own = node.path.removeprefix(prefix) or node.path
    return shortened(own)


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, without its middle if it is too long."""
    line = " ".join(text.split()) or "␣"
    if len(line) <= longest:
        return line
    half = (longest - 1) // 2
    return f"{line[: longest - 1 - half]}…{line[len(line) - half :]}"


def width_of(label: str) -> float:
    """Estimate the width of a text [pixels]; a Chinese character is as wide as two others."""
    cells = sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in label
    )
    return CHARACTER * cells


def description_of(node: NodeInfo) -> str:
    """Return all attributes of a node, a line for each: a tooltip."""
    kind = f"{node.kind}, {node.variant}" if node.variant else node.kind
    lines = [
        node.path,
        kind,
        f"subsystem: {node.subsystem}" if node.subsystem else "",
        f"stage: {node.stage}" if node.stage else "",
        f"computed by: {node.computed_by}" if node.computed_by else "",
        f"status: {node.status}" if node.status else "",
        f"waits for: stage {node.waits_for}" if node.waits_for else "",
        f"version: {node.version}" if node.version is not None else "",
        f"value: {node.value}" if node.value else "",
        f"last computed in: {node.seconds:.3g} s" if node.seconds is not None else "",
        f"hit rate: {node.hit_rate:.0%}" if node.hit_rate is not None else "",
        f"{node.file}:{node.line}" if node.file else "",
    ]
    return "\n".join(line for line in lines if line)
