"""The look of pictures: colours in light and in dark, broken lines, and both as CSS.

The CSS touches nothing else on a page. Texts have a contrast of 4.5 to 1 to what is behind them,
lines one of 3 to 1.
"""

from typing import Final

from stagecache.views.nodes import NodeInfo, Status

LIGHT: Final = {
    "paper": "#ffffff",
    "even": "#f5f6f8",
    "odd": "#eceff3",
    "ink": "#1c2733",
    "faint": "#5b6875",
    "line": "#566370",
    "pale": "#7c8996",
    "part": "#8d6bb8",
    "variable": "#dbe8fb",
    "variable-line": "#3b6fb6",
    "entry": "#ffffff",
    "entry-line": "#52606d",
    "stage": "#e9e2f5",
    "stage-line": "#7a5aa6",
    "hook": "#fbe1ec",
    "hook-line": "#b0346b",
    "valid": "#d3f0dc",
    "valid-line": "#2b7d46",
    "stale": "#fde7bd",
    "stale-line": "#a86400",
    "not-computed": "#e4e7ea",
    "not-computed-line": "#75818c",
}
"""Colours of a light page."""

DARK: Final = {
    "paper": "#14181d",
    "even": "#1b2127",
    "odd": "#222930",
    "ink": "#e8edf2",
    "faint": "#9aa7b3",
    "line": "#a3b0bc",
    "pale": "#6c7883",
    "part": "#a98fd0",
    "variable": "#203a5c",
    "variable-line": "#6fa3e6",
    "entry": "#2b333b",
    "entry-line": "#94a2af",
    "stage": "#382d4d",
    "stage-line": "#a98fd0",
    "hook": "#4f2238",
    "hook-line": "#e57fac",
    "valid": "#1d4a2c",
    "valid-line": "#5cbf7d",
    "stale": "#5a4010",
    "stale-line": "#e8a93d",
    "not-computed": "#2a3037",
    "not-computed-line": "#6d7883",
}
"""Colours of a dark page."""

LOOKS: Final = {
    Status.VALID: "valid",
    Status.STALE: "stale",
    Status.NOT_COMPUTED: "not-computed",
    Status.REALIZED: "valid",
    Status.NOT_REALIZED: "not-computed",
}
"""Look of each status that has one: the name of its colours, and its class in CSS."""

DASHES: Final = {"stale": (5, 3), "not-computed": (2, 2)}
"""Lengths of dashes and gaps of borders: not colour alone shows that a node is not valid."""


def look_of(node: NodeInfo) -> str:
    """Return the name of the colours of a node: of its status, or else of its kind."""
    return LOOKS.get(node.status) or (node.kind if f"{node.kind}-line" in LIGHT else "entry")


def variables(colours: dict[str, str]) -> str:
    """Colours as variables of CSS, each with the prefix "--sc-"."""
    return "".join(f"--sc-{name}:{colour};" for name, colour in colours.items())


STYLE: Final = (
    f".stagecache{{{variables(LIGHT)}font:12px system-ui,'DejaVu Sans',sans-serif}}"
    f"@media(prefers-color-scheme:dark){{.stagecache{{{variables(DARK)}}}}}"
    ".stagecache .paper{fill:var(--sc-paper)}"
    ".stagecache .even{fill:var(--sc-even)}.stagecache .odd{fill:var(--sc-odd)}"
    ".stagecache text{fill:var(--sc-ink)}"
    ".stagecache .title{font-size:14px;font-weight:600}"
    ".stagecache .subsystem{fill:var(--sc-faint);font-weight:600}"
    ".stagecache .stage-title,.stagecache .legend text{fill:var(--sc-faint);font-size:11px}"
    ".stagecache .node text{text-anchor:middle}"
    ".stagecache .edge path,.stagecache .key-edge path{fill:none;stroke:var(--sc-line)}"
    ".stagecache .edge .head,.stagecache .key-edge .head{fill:var(--sc-line);stroke:none}"
    ".stagecache .stage:is(.edge,.key-edge) path,"
    ".stagecache .invalidates path{stroke:var(--sc-pale);stroke-width:.75}"
    ".stagecache .stage:is(.edge,.key-edge) .head,"
    ".stagecache .invalidates .head{fill:var(--sc-pale);stroke:none}"
    ".stagecache .invalidates path{stroke-dasharray:4 3}"
    ".stagecache .part path{stroke:var(--sc-part)}"
    ".stagecache .part .head{fill:var(--sc-part);stroke:none}"
    ".stagecache :is(.read,.write) path{stroke:var(--sc-hook-line)}"
    ".stagecache .read path{stroke-dasharray:1 3}"
    ".stagecache :is(.read,.write) .head{fill:var(--sc-hook-line);stroke:none}"
    ".stagecache .edge:hover path{stroke:var(--sc-ink);stroke-width:2}"
    + "".join(
        f".stagecache :is(.node,.key).{name} :is(rect,path)"
        f"{{fill:var(--sc-{name});stroke:var(--sc-{name}-line)}}"
        for name in ("variable", "entry", "stage", "hook", "valid", "stale", "not-computed")
    )
    + "".join(
        f".stagecache .{name} :is(rect,path){{stroke-dasharray:{dash} {gap}}}"
        for name, (dash, gap) in DASHES.items()
    )
)
"""CSS of the whole picture. A status overrides a kind, as it comes later."""
