r"""`stagecache graph`, `explain`, `impact`, `profile` and `watch`: their arguments.

As in `main`, each command imports what it needs when it runs.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import get_terminal_size
from typing import Final, TypeVar

import click
from click.shell_completion import CompletionItem

from stagecache.errors import StagecacheError

SHELL_HINTS: Final = (
    (r"state\.(impact|explain)\(\.\.\.\)", r"stagecache \1 {model} {item}"),
    (
        r"call state\.graph\.downstream_of\(\.\.\.\)",
        "stagecache graph {model} --downstream-of {item}",
    ),
    (r"\.\.\.(; state\.graph has all)?$", "...; stagecache graph {model} lists all"),
    (r"call system\.realize\(state, Stage\.(\w+)\) first.*", r"--stage \1"),
    (r"write resume=True", "write --resume"),
    (r"give the result another name", "leave out this --keep: its values are in the results"),
    (r"; to write some, change what upd_\.\.\.\(\) returns", ""),
)
"""Calls in hints of the library, and the commands that a person at a shell runs instead."""


def for_terminal(error: Exception) -> str:
    """Return the message of an error; its lines are broken between words to fit a terminal."""
    if not sys.stderr.isatty():
        return str(error)
    from stagecache.display.text import wrapped  # noqa: PLC0415  # it imports rich

    head = "Error: "  # which click writes before it
    columns = get_terminal_size().columns
    return wrapped(f"{head}{error}", columns).removeprefix(head)


class ModelCommand(click.Command):
    """A command with the argument MODEL. Hints of its errors name commands, not Python calls."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except StagecacheError as error:
            item = error.what.partition(":")[0]
            names = {"model": ctx.params["model"], "item": f"'{item}'" if " " in item else item}
            for call, command in SHELL_HINTS:
                found = re.search(call, error.hint)
                if found:
                    shown = found.expand(command).format(**names)
                    error.hint = error.hint.replace(found[0], shown)
            raise click.ClickException(for_terminal(error)) from error


F = TypeVar("F", bound=Callable[..., None])

STAGES: Final = (
    *("Model", "Instance", "Time", "Position", "Velocity"),
    *("Dynamics", "Acceleration", "Report"),
)
FORMATS: Final = ("html", "svg", "png", "dot", "mermaid", "json")
KINDS: Final = ("variable", "entry", "stage", "hook")


def _files(
    _context: click.Context, _argument: click.Parameter, _typed: str
) -> list[CompletionItem]:
    """Let the shell complete the path of a file."""
    return [CompletionItem("", type="file")]


_model = click.argument("model", shell_complete=_files)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
_after = click.option(
    "--after",
    "writes",
    multiple=True,
    metavar="PATH=VALUE",
    help="Compute all entries, then write this; may be repeated. The value is as in Python.",
)


def _run(what: str) -> Callable[[F], F]:
    text = f"{what}. Give its name in the module of the model, or module:name, or file:name."
    return click.option("--run", metavar="NAME", help=text)


def _stage(default: str) -> Callable[[F], F]:
    return click.option(
        "--stage",
        type=click.Choice(STAGES, case_sensitive=False),
        help=f"Realize the State to this stage first.  [default: {default}]",
    )


@click.command(
    cls=ModelCommand,
    epilog="""\b
Examples:
  stagecache graph stagecache.examples.pendulum
  stagecache graph stagecache.examples.pendulum -o pendulum.html
  stagecache graph stagecache.examples.pendulum \\
    --upstream-of anchor.torque --format mermaid
  stagecache graph stagecache.examples.pendulum \\
    --after pendulum.angle=0.3 -o stale.svg
""",
)
@_model
@click.option(
    "--format",
    "file_format",
    type=click.Choice(FORMATS),
    help="Format to write.  [default: the ending of the file, else a table]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="File to write; - is the standard output.",
)
@click.option("--subsystem", metavar="NAME", help="Only nodes of this subsystem.")
@click.option("--kind", type=click.Choice(KINDS), help="Only nodes of this kind.")
@click.option(
    "--upstream-of",
    metavar="PATH",
    help="Only this node and its prerequisites, direct and indirect.",
)
@click.option(
    "--downstream-of",
    metavar="PATH",
    help="Only this node and its dependents, direct and indirect.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    metavar="N",
    help="Most edges from that node.  [default: any number]",
)
@_stage("Report with --after or --run, else no State")
@_after
@_run("Then call this function of a State")
@_as_json
def graph(
    model: str,
    *,
    file_format: str | None,
    output: Path | None,
    subsystem: str | None,
    kind: str | None,
    upstream_of: str | None,
    downstream_of: str | None,
    depth: int | None,
    stage: str | None,
    writes: tuple[str, ...],
    run: str | None,
    as_json: bool,
) -> None:
    """Show the dependency graph of a model.

    Without --format and --output, a table is printed.

    MODEL is module:name or path/to/file.py:name, and names a System or a function that returns one.
    Leave the name out if there is only one.

    A page (html) needs no network. Search it, or click a node to see its prerequisites and
    dependents. A png needs matplotlib: pip install 'stagecache[viz]'.

    With --stage, --after or --run, the statuses and values of a State are shown, too.
    """
    from stagecache.cli.graph import Selection, show_graph  # noqa: PLC0415

    if as_json and file_format not in (None, "json"):
        raise click.UsageError(f"--json and --format {file_format} exclude each other.")
    if depth is not None and upstream_of is None and downstream_of is None:
        raise click.UsageError("--depth needs --upstream-of or --downstream-of.")
    if output == Path("-"):
        output = None
    if not file_format and output is not None and not as_json:
        file_format = _format_of(output)
    if file_format == "png" and output is None:
        raise click.UsageError("A png is not text: name a file, as -o graph.png.")
    show_graph(
        model,
        Selection(subsystem, kind, upstream_of, downstream_of, depth),
        "json" if as_json else file_format,
        output,
        stage,
        writes,
        run,
    )


def _format_of(output: Path) -> str:
    known = {**{f".{name}": name for name in FORMATS}, ".htm": "html", ".gv": "dot"}
    known |= {".mmd": "mermaid"}
    if output.suffix.lower() not in known:
        raise click.UsageError(
            f"{output}: unknown ending; choose a --format: {', '.join(FORMATS)}."
        )
    return known[output.suffix.lower()]


@click.command(
    cls=ModelCommand,
    epilog="""\b
Examples:
  stagecache explain stagecache.examples.pendulum anchor.torque
  stagecache explain stagecache.examples.pendulum anchor.torque \\
    --after pendulum.angle=0.3
  stagecache explain stagecache.examples.pendulum pendulum.weight \\
    --stage Velocity --json
""",
)
@_model
@click.argument("entry")
@_stage("Report with --after, else none")
@_after
@_run("Then call this function of a State")
@_as_json
def explain(
    model: str,
    entry: str,
    stage: str | None,
    writes: tuple[str, ...],
    run: str | None,
    *,
    as_json: bool,
) -> None:
    """Explain why an entry is stale or not computed.

    MODEL is module:name or path/to/file.py:name, as for `stagecache graph`. ENTRY is a path, such
    as pendulum.tip; `stagecache graph MODEL` lists them.

    Without --after, the State is new: no entry is computed. With it, all entries are computed
    before the writes. With --run, the answer names the line whose write made the entry stale.
    """
    from stagecache.cli.explain import show_explanation  # noqa: PLC0415

    show_explanation(model, entry, stage, writes, run, as_json=as_json)


@click.command(
    cls=ModelCommand,
    epilog="""\b
Examples:
  stagecache impact stagecache.examples.pendulum pendulum.angle
  stagecache impact stagecache.examples.pendulum q --stage Velocity
  stagecache impact stagecache.examples.pendulum pendulum.mass --json
""",
)
@_model
@click.argument("variable")
@_stage("Report")
@_after
@_as_json
def impact(
    model: str, variable: str, stage: str | None, writes: tuple[str, ...], *, as_json: bool
) -> None:
    """List the entries that a write of a variable would make stale.

    MODEL is module:name or path/to/file.py:name, as for `stagecache graph`. VARIABLE is a path,
    such as pendulum.angle; or q, u, z or y, for the whole vector.

    The State is realized first, and all its entries are computed.
    """
    from stagecache.cli.impact import show_impact  # noqa: PLC0415

    show_impact(model, variable, stage, writes, as_json=as_json)


@click.command(
    cls=ModelCommand,
    epilog="""\b
Examples:
  stagecache profile stagecache.examples.pendulum
  stagecache profile stagecache.examples.pendulum --steps 20 --json
""",
)
@_model
@_run("Run this function of a State")
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Number of steps if no function is given.",
)
@_as_json
def profile(model: str, run: str | None, steps: int, *, as_json: bool) -> None:
    """Measure the cost of a run, and suggest changes.

    MODEL is module:name or path/to/file.py:name, as for `stagecache graph`.

    Name a function of a State by --run. Without one, steps are taken as an integrator takes them:
    the time advances, q, u and z change a little, the State is realized to Report, and all its
    entries are read.
    """
    from stagecache.cli.profile import show_profile  # noqa: PLC0415

    show_profile(model, run, steps, as_json=as_json)


@click.command(
    cls=ModelCommand,
    epilog="""\b
Examples:
  stagecache watch stagecache.examples.pendulum --until 10
  stagecache watch stagecache.examples.parameter_study:warmed
  stagecache watch stagecache.examples.pendulum:main
""",
)
@_model
@_run("Run this function of a State")
@click.option("--until", type=float, metavar="TIME", help="Or simulate to this time [s].")
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Number of steps if there is nothing else to run.",
)
@click.option("--paused", is_flag=True, help="Pause before the first computation.")
@click.option(
    "--every",
    type=click.FloatRange(min=0, min_open=True),
    default=0.05,
    show_default=True,
    metavar="SECONDS",
    help="Time between two updates of the page, at least.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port of 127.0.0.1.  [default: a free one]",
)
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.option("--no-wait", is_flag=True, help="Run at once, not when the page is open.")
@click.option("--exit", "exits", is_flag=True, help="End with the run.")
@click.pass_context
def watch(
    context: click.Context,
    model: str,
    *,
    run: str | None,
    until: float | None,
    steps: int,
    paused: bool,
    every: float,
    port: int,
    no_browser: bool,
    no_wait: bool,
    exits: bool,
) -> None:
    """Follow a run of a model on a page, while it runs.

    MODEL is module:name or path/to/file.py:name. It names a System or a function that returns one,
    as for `stagecache graph`; or a function of a State, which is run; or a function without
    arguments, which is run, and all States that it makes are followed.

    A System is simulated with --until, or --run names a function of a State. Without both, steps
    are taken as `stagecache profile` takes them.

    The page shows what is computed and written, with counts and times. It can be paused, and go on
    one computation at a time. When the run has ended, the page stays until Ctrl-C, unless --exit is
    given; the exit status is 1 if the run failed, or Ctrl-C has cut it short. The page is served on
    127.0.0.1 only, to whoever has its address.
    """
    if run is not None and until is not None:
        raise click.UsageError("Write either --run NAME or --until TIME.")
    if paused and no_wait:
        raise click.UsageError("--paused needs a page: leave out --no-wait.")

    from stagecache.cli.watch import Options, Work, watch_model  # noqa: PLC0415

    options = Options(port, not no_browser, not no_wait, exits, every, paused)
    context.exit(0 if watch_model(model, Work(run, until, steps), options) else 1)


COMMANDS: Final = (graph, explain, impact, profile, watch)
