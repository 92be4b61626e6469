"""The `stagecache` command: one function for each subcommand, which only hands over.

Those that show and explain a model are in `cli_investigate`.

A subcommand imports what it needs when it runs, so that none pays for another.
"""

import sys
from errno import EPIPE
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import click

from stagecache.cli.investigate import COMMANDS, ModelCommand, for_terminal
from stagecache.errors import StagecacheError


class Commands(click.Group):
    """A group of commands that reports errors, of stagecache or of the output, by their message."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was asked for; what the output cannot encode is written as "?"."""
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        try:
            return super().invoke(ctx)
        except StagecacheError as error:
            raise click.ClickException(for_terminal(error)) from error
        except OSError as error:
            if error.errno == EPIPE:  # the reader has closed the pipe, which click handles
                raise
            raise click.ClickException(f"the output: {error.strerror}") from error


def _print_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Print the version and the form of the hot modules, and end the command."""
    if value and not context.resilient_parsing:
        from importlib.metadata import version  # noqa: PLC0415

        from stagecache import compiled  # noqa: PLC0415

        form = "compiled" if compiled else "plain Python"
        click.echo(f"stagecache {version('stagecache')} ({form})")
        if compiled:
            names = ", ".join(name.removeprefix("stagecache.") for name in compiled)
            click.echo(f"compiled modules: {names}")
        context.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""Start with: stagecache demo

    The exit status is 0 for an answer, 1 for an error or a failed check, and 2 for wrong usage.
    """,
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version, and say if the hot modules are compiled; then exit.",
)
def main() -> None:
    """Cache computed values of a model until a variable that they depend on changes."""


@main.command(
    epilog="""\b
Examples:
  stagecache demo
  stagecache demo --frames 36 --output pictures
  stagecache demo --no-pictures
"""
)
@click.option(
    "--frames",
    type=click.IntRange(12, 3600),
    default=360,
    show_default=True,
    metavar="N",
    help="Number of frames in one turn of the crank.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, writable=True, path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="Folder for the files; it is created if needed.  [default: the current one]",
)
@click.option("--no-pictures", is_flag=True, help="Write no plot and no animation.")
def demo(*, frames: int, output: Path, no_pictures: bool) -> None:
    """Assemble and drive a four-bar linkage, and show what it computes.

    An Assembler closes the linkage from a poor start, and tracks a full turn of its crank. A
    trace counts which entries a frame computes, finds in the cache, or leaves alone.

    It writes four_bar.html, a page to explore the graph of the model. With matplotlib (pip install
    'stagecache[viz]') it also writes a plot, four_bar.png, and an animation, four_bar.gif; with
    viser (stagecache[viewer]), too, the animation in three dimensions, four_bar_3d.html. Existing
    files of these names are replaced.
    """
    from rich.console import Console  # noqa: PLC0415

    from stagecache.demo import show  # noqa: PLC0415

    show(Console(highlight=False), frames, output, has_pictures=not no_pictures)


@main.command(
    epilog="""\b
Examples:
  stagecache new mymodel
  stagecache new two_tanks --output models
"""
)
@click.argument("name")
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, writable=True, path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="Folder for the new folder; it is created if needed.  [default: the current one]",
)
def new(*, name: str, output: Path) -> None:
    """Write a new model, with tests and a README.

    NAME is the name of the folder and of the module. The model works as it is: change it into your
    own.
    """
    from stagecache.cli.new import write_model  # noqa: PLC0415

    for path in write_model(name, output):
        click.echo(f"wrote {path}")
    click.echo(f"Next: cd {output / name}")
    click.echo(f"then python {name}.py, and pytest. README.md has more.")


CHECKS: Final = ("strict", "coherence", "precision", "pickle", "threads")


@main.command(
    epilog="""\b
Checks:
  strict     Each computation reads only what it declares.
  coherence  After random writes, each read gives a newly computed value.
  precision  Each declared prerequisite is read.
  pickle     The System and its States are the same in another process.
  threads    Threads that read one State get the values that one thread gets.

\b
With --json, one document is printed at the end, also after Control-C:
  verdict  "passed", "failed", "interrupted", or "unfinished": no fault was
           found, but the budget ended before all programs had run
  checks   for each check: its verdict, which may be "not run", examples (the
           number of programs), seconds; error, message and suspects if it
           failed, else operations, entries, computed and shared
  again    the command that repeats what failed, or null
  model, system, seed, examples, budget, is_interrupted

\b
Examples:
  stagecache check stagecache.examples.pendulum --examples 10
  stagecache check stagecache.examples.pendulum:system --check strict --seed 1
  stagecache check stagecache.examples.pendulum --budget 60 --keep-going
  stagecache check stagecache.examples.pendulum --examples 10 --json
"""
)
@click.argument("model")
@click.option(
    "--check",
    "checks",
    type=click.Choice(CHECKS),
    multiple=True,
    help="Run only this check; may be repeated.  [default: all]",
)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Number of random programs of each check.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Repeat the programs of an earlier run with this seed.  [default: a new one each time]",
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time for all checks, which share it.  [default: no limit]",
)
@click.option("--keep-going", is_flag=True, help="Go on after the first check that fails.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else.")
@click.pass_context
def check(
    context: click.Context,
    model: str,
    *,
    checks: tuple[str, ...],
    examples: int,
    seed: int | None,
    budget: float | None,
    keep_going: bool,
    as_json: bool,
) -> None:
    """Search a model for faults in its declarations.

    MODEL is module:name or path/to/file.py:name, and names a System, or a function without
    arguments that returns one. Leave the name out if there is only one, annotated so:
    def system() -> System.

    Each verdict is printed when it is known, and the first failure ends the command. Control-C
    ends it, too, after what was found so far.

    The exit status is 0 if no check fails, also if the budget ends before all programs have run;
    1 if one fails; and 130 after Control-C. It needs Hypothesis: pip install
    'stagecache[testing]'.
    """
    from random import randrange  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415

    from stagecache.checks import require_extra  # noqa: PLC0415

    require_extra("hypothesis", "testing", "stagecache check")
    from stagecache.cli.check import CheckOptions, check_model  # noqa: PLC0415

    seed = randrange(2**32) if seed is None else seed
    status = check_model(
        model,
        CheckOptions(tuple(dict.fromkeys(checks or CHECKS)), examples, seed, budget, keep_going),
        as_json=as_json,
        out=Console(highlight=False),
        err=Console(stderr=True),
    )
    context.exit(status)


@main.command(
    cls=ModelCommand,
    epilog="""\b
Values:
  pendulum.length=0.5:1.5:11    11 values from 0.5 to 1.5
  pendulum.mass=1,2             two values; texts in quotes, as in Python
  pendulum.length=0.5:1.5       a range, for --design latin or sobol

\b
Examples:
  stagecache study stagecache.examples.parameter_study \\
    --vary hall.height=3,5 --run warmed
  stagecache study stagecache.examples.building --vary walls.brick=1,2 \\
    --until 900 --keep walls.lost
  stagecache study stagecache.examples.pendulum \\
    --vary pendulum.length=1:2:3 --until 1 -o swings
  stagecache study stagecache.examples.pendulum \\
    --vary pendulum.mass=1,2 --until 1 --workers 2
""",
)
@click.argument("model")
@click.option(
    "--vary",
    multiple=True,
    required=True,
    metavar="PATH=VALUES",
    help="Variable, and its values; may be repeated, for all combinations.",
)
@click.option(
    "--run",
    metavar="NAME",
    help="Function of a State, or of a State and a Member, whose result is kept. Give its name in "
    "the module of the model, or module:name, or file:name.",
)
@click.option("--until", type=float, metavar="TIME", help="Or simulate to this time [s].")
@click.option("--every", type=float, metavar="SECONDS", help="With --until: time between two rows.")
@click.option(
    "--keep",
    multiple=True,
    metavar="PATH",
    help="With --until: keep the value of this variable or entry at the end, or with --every in "
    "each row; may be repeated.  [default: keep trajectories]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, writable=True, path_type=Path),
    metavar="FOLDER",
    help="Folder for the results.  [default: print a table]",
)
@click.option("--resume", is_flag=True, help="Run only what is missing in the folder.")
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Processes.  [default: this one]"
)
@click.option("--scheduler", metavar="ADDRESS", help="Scheduler of Dask: tcp://host:8786.")
@click.option(
    "--design",
    type=click.Choice(("full", "latin", "sobol")),
    default="full",
    show_default=True,
    help="All combinations; or a Latin hypercube, or a Sobol sequence, in ranges LOW:HIGH.",
)
@click.option(
    "--members", type=click.IntRange(1), metavar="N", help="Number of members of such a sample."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N")
@click.option(
    "--retries",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Run a member that fails again, up to so many times.",
)
@click.option(
    "--shared",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep values of shared entries there, for all workers and later runs.",
)
@click.pass_context
def study(
    context: click.Context,
    model: str,
    *,
    vary: tuple[str, ...],
    run: str | None,
    until: float | None,
    every: float | None,
    keep: tuple[str, ...],
    output: Path | None,
    resume: bool,
    workers: int | None,
    scheduler: str | None,
    design: str,
    members: int | None,
    seed: int,
    retries: int,
    shared: Path | None,
) -> None:
    """Run a model for many values of its variables.

    MODEL is module:name or path/to/file.py:name, and names a System or a function that returns one.
    Leave the name out if there is only one.

    A member that fails is kept, with its error, and the others go on; the exit status is 1 then. A
    folder of results is opened by stagecache.load_study, and a study that was interrupted goes on
    with --resume. --scheduler and --shared need: pip install 'stagecache[studies]'.
    """
    if (run is None) == (until is None):
        raise click.UsageError("Write either --run NAME or --until TIME.")
    if every is not None and until is None:
        raise click.UsageError("--every needs --until.")
    if keep and until is None:
        raise click.UsageError("--keep needs --until.")
    if resume and output is None:
        raise click.UsageError("--resume needs --output.")
    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers and --scheduler exclude each other.")
    if members is not None and design == "full":
        raise click.UsageError("--members needs --design latin or sobol.")

    from stagecache.cli.study import Design, RunOptions, simulation_of  # noqa: PLC0415
    from stagecache.cli.study import run as run_members  # noqa: PLC0415

    is_ok = run_members(
        model,
        str(run) if until is None else simulation_of(until, every, keep),
        Design(vary, design, members, seed),
        RunOptions(output, resume, workers, scheduler, shared),
        retries,
    )
    context.exit(0 if is_ok else 1)


_FILE: Final = click.Path(dir_okay=False, path_type=Path)
_INPUT: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@main.command(
    epilog="""\b
Examples:
  stagecache ik subject.osim walk.trc -o walk.mot
  stagecache ik subject.osim walk.trc --tasks setup_ik.xml -o walk.mot
  stagecache ik subject.osim walk.trc --errors errors.sto --html walk.html
  stagecache ik subject.osim walk.trc --from 0.4 --to 1.6 --plot angles.png
"""
)
@click.argument("model", type=_INPUT)
@click.argument("markers", type=_INPUT)
@click.option(
    "--tasks",
    type=_INPUT,
    metavar="FILE",
    help="Weights: a set-up of OpenSim's inverse kinematics, or an IKTaskSet. Its time range "
    "counts, too.  [default: all markers count alike]",
)
@click.option(
    "--coordinates",
    type=_INPUT,
    metavar="FILE",
    help="Values for tasks of coordinates that are from_file.  [default: the file of the set-up]",
)
@click.option("--output", "-o", type=_FILE, metavar="FILE", help="Write the coordinates, as .mot.")
@click.option("--errors", type=_FILE, metavar="FILE", help="Write errors of each frame, as .sto.")
@click.option(
    "--plot", type=_FILE, metavar="FILE", help="Draw the coordinates over time, as .png or .svg."
)
@click.option(
    "--html", type=_FILE, metavar="FILE", help="Write the moving skeleton with its markers, a page."
)
@click.option("--from", "start", type=float, metavar="TIME", help="First frame [s].")
@click.option("--to", "end", type=float, metavar="TIME", help="Last frame [s].")
@click.option(
    "--accuracy",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=1e-4,
    show_default=True,
    metavar="NUMBER",
    help="Relative accuracy of the goal of each frame.",
)
@click.option(
    "--unit",
    type=click.Choice(("m", "cm", "mm", "in", "ft")),
    help="Unit of the markers, where their file does not say it.",
)
@click.option(
    "--skip-failures", is_flag=True, help="Leave out frames that fail.  [default: end there]"
)
@click.pass_context
def ik(
    context: click.Context,
    model: Path,
    markers: Path,
    *,
    tasks: Path | None,
    coordinates: Path | None,
    output: Path | None,
    errors: Path | None,
    plot: Path | None,
    html: Path | None,
    start: float | None,
    end: float | None,
    accuracy: float,
    unit: str | None,
    skip_failures: bool,
) -> None:
    """Find joint angles from markers, with a model of OpenSim.

    MODEL is a file .osim, and MARKERS a file .trc. Markers that only one of them has are not used.

    A table shows the markers with the largest distances, and all frames in one line: the root mean
    square, the worst marker, frames that were skipped, and the time that one took. Angles in
    the .mot are in degrees.

    The exit status is 1 if frames were skipped. --plot needs: pip install 'stagecache[viz]', and
    --html: pip install 'stagecache[viewer]'.
    """
    from rich.console import Console  # noqa: PLC0415

    from stagecache.cli.ik import IKFiles, IKOptions, run  # noqa: PLC0415

    is_ok = run(
        IKFiles(model, markers, tasks, coordinates, output, errors, plot, html),
        IKOptions(accuracy, start, end, unit, skip_failures),
        Console(highlight=False),
        Console(stderr=True, highlight=False),
    )
    context.exit(0 if is_ok else 1)


for command in COMMANDS:
    main.add_command(command)
