"""A view as a flowchart of Mermaid, which Markdown pages and notebooks show."""

import string
from collections.abc import Mapping
from typing import Final

from stagecache.views.labels import label_of
from stagecache.views.nodes import AbstractView, EdgeKind, NodeInfo, Status

SHAPES: Final[Mapping[str, tuple[str, str]]] = {
    "variable": ("([", "])"),
    "entry": ("[", "]"),
    "stage": ("{{", "}}"),
}

ARROWS: Final[Mapping[EdgeKind, str]] = {
    EdgeKind.PREREQUISITE: "-->",
    EdgeKind.STAGE: "-.->",
    EdgeKind.INVALIDATES: "-.->|invalidates|",
    EdgeKind.PART: "---",
}

CLASSES: Final[Mapping[Status, str]] = {
    Status.VALUE: "fill:#dbeafe,stroke:#3b6fb6,color:#111",
    Status.REALIZED: "fill:#d1f2dc,stroke:#2f8a4e,color:#111",
    Status.STALE: "fill:#fde6b8,stroke:#b07208,color:#111,stroke-dasharray:4 3",
    Status.WAITING: "fill:#e8e8e8,stroke:#888,color:#333,stroke-dasharray:2 2",
}

PLAIN: Final = frozenset(string.ascii_letters + string.digits + " _-.,:+/()'")


def mermaid_of(view: AbstractView) -> str:
    """A view as a flowchart of Mermaid."""
    names = {node.path: f"n{number}" for number, node in enumerate(view.nodes)}
    inside: dict[str, list[NodeInfo]] = {}
    for node in view.nodes:
        inside.setdefault(node.subsystem, []).append(node)
    lines = ["flowchart LR"]
    for number, (subsystem, nodes) in enumerate(inside.items()):
        if subsystem:
            lines.append(f"  subgraph s{number}[{_quoted(subsystem)}]")
        for node in nodes:
            opening, closing = SHAPES.get(node.kind, SHAPES["entry"])
            text = _quoted(label_of(node))
            status = f":::{node.status}" if node.status else ""
            lines.append(f"    {names[node.path]}{opening}{text}{closing}{status}")
        if subsystem:
            lines.append("  end")
    lines += [f"  {names[e.source]} {ARROWS[e.kind]} {names[e.target]}" for e in view.edges]
    used = {node.status for node in view.nodes}
    lines += [f"  classDef {name} {style}" for name, style in CLASSES.items() if name in used]
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    """A text as Mermaid reads it: by its number, each character that may mean something there."""
    line = " ".join(text.split())
    escaped = "".join(c if c in PLAIN else f"#{ord(c)};" for c in line if c.isprintable())
    return f'"{escaped or " "}"'
