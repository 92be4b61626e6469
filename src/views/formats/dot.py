"""A view in the language of Graphviz: subsystems are clusters, and stages stand in their order.

``dot`` needs to be told to rank clusters together (``newrank``). Variables are put first, and what
depends on a stage comes after it, as its edge says.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from stagecache.views.layout.labels import description_of, label_of
from stagecache.views.nodes import AbstractView, EdgeKind, NodeInfo
from stagecache.views.style import LIGHT, look_of

SHAPES: Final[Mapping[str, str]] = {
    "variable": "oval",
    "entry": "box",
    "stage": "hexagon",
    "hook": "parallelogram",
}

BORDERS: Final[Mapping[str, str]] = {"stale": "dashed", "not-computed": "dotted"}

STYLES: Final[Mapping[EdgeKind, str]] = {
    EdgeKind.PREREQUISITE: "solid",
    EdgeKind.STAGE: "dashed",
    EdgeKind.INVALIDATES: "dotted",
    EdgeKind.PART: "bold",
    EdgeKind.READ: "dotted",
    EdgeKind.WRITE: "solid",
}


def dot_of(view: AbstractView) -> str:
    """Return a view in the language of Graphviz."""
    names = {node.path: f"n{number}" for number, node in enumerate(view.nodes)}
    lines = [
        f"digraph {_quoted(view.title)} {{",
        '  graph [rankdir=LR, newrank=true, charset="UTF-8", fontname=Helvetica];',
        "  node [fontname=Helvetica, fontsize=11, height=0.3];",
        f'  edge [color="{LIGHT["line"]}", arrowsize=0.7];',
    ]
    inside: dict[str, list[NodeInfo]] = {}
    for node in view.nodes:
        inside.setdefault(node.subsystem, []).append(node)
    for number, (subsystem, nodes) in enumerate(inside.items()):
        if subsystem:
            lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(subsystem)};"]
        lines += [f"    {names[node.path]} [{_attributes(node)}];" for node in nodes]
        if subsystem:
            lines.append("  }")
    lines += _first(view, names)
    lines += [
        f"  {names[e.source]} -> {names[e.target]} "
        f"[style={STYLES[e.kind]}, "
        f"edgetooltip={_quoted(f'{e.source} → {e.target}: {e.kind}')}];"
        for e in view.edges
    ]
    return "\n".join([*lines, "}", ""])


def _attributes(node: NodeInfo) -> str:
    look = look_of(node)
    return (
        f"label={_quoted(label_of(node))}, shape={SHAPES.get(node.kind, 'box')}, "
        f'style="filled,{BORDERS.get(look, "solid")}", '
        f'color="{LIGHT[f"{look}-line"]}", fillcolor="{LIGHT[look]}", '
        f"tooltip={_quoted(description_of(node))}"
    )


def _first(view: AbstractView, names: Mapping[str, str]) -> Iterable[str]:
    """Yield the rule that variables without sources come before all other nodes."""
    targets = {edge.target for edge in view.edges}
    first = [n.path for n in view.nodes if n.kind == "variable" and n.path not in targets]
    if first:
        yield f"  {{ rank=min; {' '.join(f'{names[path]};' for path in first)} }}"


def _quoted(text: str) -> str:
    r"""Escape a text for Graphviz: ``\`` begins an escape there, and ``&`` an HTML character."""
    legal = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    escaped = legal.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + escaped.replace("\n", "\\n") + '"'
