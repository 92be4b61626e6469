"""A view as a flowchart of Mermaid, which Markdown pages and notebooks show."""

import string
from collections.abc import Mapping
from typing import Final

from stagecache.views.layout.labels import label_of
from stagecache.views.nodes import AbstractView, EdgeKind, NodeInfo
from stagecache.views.style import DASHES, LIGHT, look_of

SHAPES: Final[Mapping[str, tuple[str, str]]] = {
    "variable": ("([", "])"),
    "entry": ("[", "]"),
    "stage": ("{{", "}}"),
    "hook": ("[/", "/]"),
}

ARROWS: Final[Mapping[EdgeKind, str]] = {
    EdgeKind.PREREQUISITE: "-->",
    EdgeKind.STAGE: "-.->",
    EdgeKind.INVALIDATES: "-.->|invalidates|",
    EdgeKind.PART: "---",
    EdgeKind.READ: "-.->|read by|",
    EdgeKind.WRITE: "-->|writes|",
}

PLAIN: Final = frozenset(string.ascii_letters + string.digits + " _-.,:+/()'")


def mermaid_of(view: AbstractView) -> str:
    """Return a view as a flowchart of Mermaid."""
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
            lines.append(f"    {names[node.path]}{opening}{text}{closing}:::{look_of(node)}")
        if subsystem:
            lines.append("  end")
    lines += [f"  {names[e.source]} {ARROWS[e.kind]} {names[e.target]}" for e in view.edges]
    lines += [f"  classDef {_class(look)}" for look in dict.fromkeys(map(look_of, view.nodes))]
    return "\n".join([*lines, ""])


def _class(look: str) -> str:
    colours = f"fill:{LIGHT[look]},stroke:{LIGHT[f'{look}-line']},color:{LIGHT['ink']}"
    dashes = ",stroke-dasharray:{} {}".format(*DASHES[look]) if look in DASHES else ""
    return f"{look} {colours}{dashes}"


def _quoted(text: str) -> str:
    """Escape a text for Mermaid: special characters are written by their numbers."""
    line = " ".join(text.split())
    escaped = "".join(c if c in PLAIN else f"#{ord(c)};" for c in line if c.isprintable())
    return f'"{escaped or " "}"'
