"""`stagecache graph`: what depends on what in a model, as a table, a picture or a page."""

from collections.abc import Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Final

import click
from attrs import frozen
from rich.console import Console
from rich.text import Text

from stagecache.cli_output import new_table, print_text
from stagecache.cli_state import errors_of, make_state
from stagecache.loading import load_system
from stagecache.state import State
from stagecache.views import EdgeKind, GraphView, Status

MOST_NAMED: Final = 4  # nodes above one, in the table
COLOURS: Final = {Status.REALIZED: "green", Status.STALE: "bold red", Status.WAITING: "yellow"}
DPI: Final = 150


@frozen
class Selection:
    """Which nodes are shown; None is no limit."""

    subsystem: str | None = None
    kind: str | None = None
    upstream_of: str | None = None
    downstream_of: str | None = None
    depth: int | None = None

    def of(self, view: GraphView) -> GraphView:
        """These nodes of a view: those that all options leave."""
        if self.upstream_of is not None:
            view = view.upstream_of(self.upstream_of, depth=self.depth)
        if self.downstream_of is not None:
            view = view.downstream_of(self.downstream_of, depth=self.depth)
        if self.subsystem is not None and self.subsystem not in view.subsystems:
            raise click.BadParameter(
                f"{self.subsystem!r} is none of {', '.join(view.subsystems) or 'those shown'}.",
                param_hint="'--subsystem'",
            )
        return view.select(subsystem=self.subsystem, kind=self.kind)


def show_graph(
    model: str,
    selection: Selection,
    file_format: str | None,
    output: Path | None,
    stage: str | None,
    writes: Sequence[str],
) -> None:
    """Find a System, and print its graph or write it to a file.

    Parameters
    ----------
    model : str
        As `load_system` takes it.
    selection : Selection
    file_format : str or None
        "html", "svg", "png", "dot", "mermaid" or "json"; a table if it is None.
    output : Path or None
        The file; the standard output if it is None.
    stage : str or None
        To which a State is realized and computed. If it is None: to Report if something is
        written; else the graph of the System is shown, without values.
    writes : sequence of str
        Such as "pendulum.angle=0.3", done in this order when all was computed.

    Raises
    ------
    UnknownPathError
        There is no such node.
    MissingExtraError
        A png is asked for, and matplotlib is not installed.
    """
    system = load_system(model)
    state = None
    if stage is not None or writes:
        state = make_state(system, stage or "Report", writes)
        whole = state.graph
    else:
        with errors_of("realize_topology"):
            whole = system.graph
    view = selection.of(whole)
    if file_format is None:
        _print_table(view, whole)
        return
    content = _content(view, file_format, state)
    if output is None:
        click.echo(content)
        return
    try:
        if isinstance(content, bytes):
            output.write_bytes(content)
        else:
            output.write_text(content, encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(output), error.strerror) from error
    print_text(Console(stderr=True, highlight=False), f"{output}: {view!r}")


def _content(view: GraphView, file_format: str, state: State | None) -> str | bytes:
    match file_format:
        case "html":
            return view.to_html(impacts=None if state is None else _impacts(view, state))
        case "svg":
            return view.to_svg()
        case "png":
            return _png(view)
        case "dot":
            return view.to_dot()
        case "mermaid":
            return view.to_mermaid()
    return view.to_json(indent=2)


def _impacts(view: GraphView, state: State) -> dict[str, tuple[str, ...]]:
    """What a write of each variable would make stale, for the page."""
    return {n.path: state.impact(n.path).entries for n in view if n.kind == "variable"}


def _png(view: GraphView) -> bytes:
    figure = view.draw().figure
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=DPI)
    import_module("matplotlib.pyplot").close(figure)
    return picture.getvalue()


# ---------------------------------------------------------------------- the table


def _print_table(view: GraphView, whole: GraphView) -> None:
    """A row for each node but the stages, with what is directly above it in the whole graph."""
    above: dict[str, list[str]] = {}
    for edge in whole.edges:
        if edge.kind in (EdgeKind.PREREQUISITE, EdgeKind.PART) and edge.target in view:
            above.setdefault(edge.target, []).append(edge.source)
    has_state = any(node.status is not Status.NONE for node in view)
    of_state = ("status", "value") if has_state else ()
    table = new_table("node", "kind", "stage", *of_state, "depends on")
    for node in view:
        if node.kind == "stage":
            continue
        status = (Text(str(node.status), COLOURS.get(node.status, "")), Text(node.value))
        table.add_row(
            Text(node.path),
            Text(node.variant or node.kind),
            Text(node.stage),
            *(status if has_state else ()),
            Text(_few(above.get(node.path, []))),
        )
    out = Console(highlight=False)
    print_text(out, repr(view))
    if table.row_count:
        out.print("", table, sep="\n")


def _few(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown
