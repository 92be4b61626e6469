"""`stagecache graph`: the dependency graph of a model, as a table, a picture or a page."""

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Final

import click
from attrs import frozen
from rich.console import Console
from rich.text import Text

from stagecache.cli.loading import load_system
from stagecache.cli.output import new_table, print_table, print_text
from stagecache.cli.state import errors_of, make_state, traced_run
from stagecache.system import System
from stagecache.views import EdgeKind, GraphView, NodeInfo, Status

MOST_NAMED: Final = 4  # nodes above one, in the table
WIDEST: Final = 14  # columns, of a value there
ABOVE: Final = (
    *(EdgeKind.PREREQUISITE, EdgeKind.PART, EdgeKind.INVALIDATES),
    *(EdgeKind.READ, EdgeKind.WRITE),
)
PLURAL: Final = {
    "variable": "variables",
    "entry": "entries",
    "stage": "stages",
    "hook": "hooks",
}
COLOURS: Final = {
    Status.VALID: "green",
    Status.REALIZED: "green",
    Status.STALE: "bold red",
    Status.NOT_COMPUTED: "yellow",
    Status.NOT_REALIZED: "yellow",
}
DPI: Final = 150


@frozen
class Selection:
    """Selection of the nodes that are shown; None does not select."""

    subsystem: str | None = None
    kind: str | None = None
    upstream_of: str | None = None
    downstream_of: str | None = None
    depth: int | None = None

    def of(self, view: GraphView) -> GraphView:
        """Return the nodes of a view that all options leave."""
        above = below = view
        if self.upstream_of is not None:
            above = view.upstream_of(self.upstream_of, depth=self.depth)
        if self.downstream_of is not None:
            below = view.downstream_of(self.downstream_of, depth=self.depth)
        both = above._of([node.path for node in above if node.path in below])
        return both.select(subsystem=self.subsystem, kind=self.kind)


def show_graph(
    model: str,
    selection: Selection,
    file_format: str | None,
    output: Path | None,
    stage: str | None,
    writes: Sequence[str],
    run: str | None,
) -> None:
    """Find a System, and print its graph or write it to a file.

    Parameters
    ----------
    model : str
        In a form that `load_system` accepts.
    selection : Selection
    file_format : str or None
        "html", "svg", "png", "dot", "mermaid" or "json"; a table if it is None.
    output : Path or None
        The file; the standard output if it is None.
    stage : str or None
        To which a State is realized and computed. If it is None: to Report if something is
        written or run; else the graph of the System is shown, without values.
    writes : sequence of str
        Such as "pendulum.angle=0.3", done in this order when all was computed.
    run : str or None
        A function to call with the State then, as `load_function` takes it. It is traced, so that
        what it cost is shown.

    Raises
    ------
    UnknownPathError, UnknownSubsystemError
        The node, or the subsystem, does not exist.
    ModelError
        The model, or the function, raises.
    MissingExtraError
        A png is asked for, and matplotlib is not installed.
    """
    system = load_system(model)
    whole = _whole(system, model, stage, writes, run)
    if selection.subsystem is not None:
        system.subsystem(selection.subsystem)  # which refuses what is not there
    view = selection.of(whole)
    if file_format is None:
        _print_table(view, whole)
        return
    content = _content(view, file_format)
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
    print_text(Console(stderr=True, highlight=False), f"{output}: {_counted(view)}")


def _whole(
    system: System, model: str, stage: str | None, writes: Sequence[str], run: str | None
) -> GraphView:
    if stage is None and run is None and not writes:
        with errors_of("realize_topology"):
            return system.graph
    state = make_state(system, stage or "Report", writes)
    if run is None:
        return state.graph
    with traced_run(state, model, run) as trace:
        return state.graph.with_costs(trace.summary().rows)


def _content(view: GraphView, file_format: str) -> str | bytes:
    match file_format:
        case "html":
            return view.to_html()
        case "svg":
            return view.to_svg()
        case "png":
            return _png(view)
        case "dot":
            return view.to_dot()
        case "mermaid":
            return view.to_mermaid()
    return view.to_json(indent=2)


def _png(view: GraphView) -> bytes:
    figure = view.draw().figure
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=DPI)
    import_module("matplotlib.pyplot").close(figure)
    return picture.getvalue()


# ---------------------------------------------------------------------- the table


def _print_table(view: GraphView, whole: GraphView) -> None:
    """Print a row for each node, with its direct prerequisites in the whole graph.

    Stages are left out unless the view has nothing else.
    """
    nodes = [node for node in view if node.kind != "stage"] or view.nodes
    above: dict[str, list[str]] = {}
    for edge in whole.edges:
        if edge.kind in ABOVE and edge.target in view:
            above.setdefault(edge.target, []).append(edge.source)
    has_state = any(node.status is not Status.NONE for node in nodes)
    asked = ("stage", "status", "value") if has_state else ("kind", "stage")
    table = new_table("node", *asked, "depends on")
    for node in nodes:
        value = Text(node.value)
        value.truncate(WIDEST, overflow="ellipsis")
        cells = {
            "kind": Text(node.variant or node.kind),
            "stage": Text(node.stage),
            "status": Text(str(node.status), COLOURS.get(node.status, "")),
            "value": value,
        }
        names = Text(_few(above.get(node.path, [])))
        table.add_row(Text(node.path), *[cells[name] for name in asked], names)
    out = Console(highlight=False)
    print_text(out, f"{view.title}: {_counted(nodes)}")
    if table.row_count:
        out.print()
        print_table(out, table)


def _counted(nodes: Iterable[NodeInfo]) -> str:
    numbers = Counter(node.kind for node in nodes)
    some = [(numbers[kind], kind, plural) for kind, plural in PLURAL.items() if numbers[kind]]
    return ", ".join(f"{n} {kind if n == 1 else plural}" for n, kind, plural in some) or "no nodes"


def _few(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown
