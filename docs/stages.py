"""The picture of the stages as a ladder, drawn when the documentation is built."""

from typing import Any

STEPS = (
    ("Topology", "subsystems and items", ""),
    ("Model", "modeling options", "q, u, z get their first values"),
    ("Instance", "parameters", "errors and triggers get their sizes"),
    ("Time", "time", ""),
    ("Position", "q", "qerr"),
    ("Velocity", "u", "qdot, uerr"),
    ("Dynamics", "z", "zdot"),
    ("Acceleration", "", "udot, udoterr, multipliers"),
    ("Report", "", "output only"),
)
"""Stages from below: name, what a write of it leaves them, and what realizing them fills."""


def make_figure() -> Any:
    """Draw the stages from Topology up, with what each of them adds."""
    from matplotlib.figure import Figure  # noqa: PLC0415  # it takes a while

    figure = Figure(figsize=(7.5, 4.2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, 10)
    axes.set_ylim(-0.3, len(STEPS) + 0.6)
    for x, heading in (
        (1.0, "a write of"),
        (5.1, "needs this stage again"),
        (8.4, "computed there"),
    ):
        axes.text(x, len(STEPS) + 0.15, heading, ha="center", color="#666666", fontsize=9)
    for level, (stage, written, filled) in enumerate(STEPS):
        box = {"boxstyle": "round,pad=0.35", "facecolor": "#dbe9f6", "edgecolor": "#3b6ea5"}
        axes.text(
            5.1, level + 0.4, f"{stage:^14}", ha="center", va="center", bbox=box, family="monospace"
        )
        axes.text(8.4, level + 0.4, filled, ha="center", va="center", fontsize=9.5)
        if written:
            axes.text(1.35, level + 0.4, written, ha="center", va="center", fontsize=9.5)
            arrow = {"arrowstyle": "->", "color": "#c0504d"}
            axes.annotate("", (4.0, level + 0.4), (2.75, level + 0.4), arrowprops=arrow)
        if level:
            axes.annotate(
                "",
                (5.1, level + 0.12),
                (5.1, level - 0.3),
                arrowprops={"arrowstyle": "->", "color": "#3b6ea5"},
            )
    return figure


__all__ = ["STEPS", "make_figure"]
