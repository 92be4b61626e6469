"""The picture of the stages as a ladder, drawn when the documentation is built."""

from typing import Any

STEPS = (
    ("Topology", "subsystems, items", ""),
    ("Model", "modeling options", "q, u, z get first values"),
    ("Instance", "parameters", "errors, triggers get sizes"),
    ("Time", "time", ""),
    ("Position", "q", "qerr"),
    ("Velocity", "u", "qdot, uerr"),
    ("Dynamics", "z", "zdot"),
    ("Acceleration", "", "udot, udoterr, multipliers"),
    ("Report", "", "output only"),
)
"""Stages from below, with the variables whose write invalidates them, and what they compute."""


def make_figure() -> Any:
    """Draw the stages from Topology up, with what each of them adds."""
    from matplotlib.figure import Figure  # noqa: PLC0415  # it takes a while

    figure = Figure(figsize=(6.0, 4.2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, 10)
    axes.set_ylim(-0.3, len(STEPS) + 0.6)
    gray = {"color": "#666666", "fontsize": 9.5}
    axes.text(2.5, len(STEPS) + 0.15, "a write of", ha="right", **gray)
    axes.text(4.8, len(STEPS) + 0.15, "invalidates", ha="center", **gray)
    axes.text(6.35, len(STEPS) + 0.15, "which computes", ha="left", **gray)
    box = {"boxstyle": "round,pad=0.35", "facecolor": "#dbe9f6", "edgecolor": "#3b6ea5"}
    up, across = ({"arrowstyle": "->", "color": c} for c in ("#3b6ea5", "#c0504d"))
    for level, (stage, written, computed) in enumerate(STEPS):
        y = level + 0.4
        middle = {"va": "center", "fontsize": 10.5}
        axes.text(4.8, y, f"{stage:^12}", ha="center", bbox=box, family="monospace", **middle)
        axes.text(6.35, y, computed, ha="left", **middle)
        axes.text(2.5, y, written, ha="right", **middle)
        if written:
            axes.annotate("", (3.6, y), (2.6, y), arrowprops=across)
        if level:
            axes.annotate("", (4.8, y - 0.28), (4.8, y - 0.7), arrowprops=up)
    return figure
