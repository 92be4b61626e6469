"""The demonstration on the screen. Only headings and captions are text; all else was observed."""

import re
import textwrap
from collections.abc import Iterable
from importlib.metadata import metadata
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from stagecache.cli.output import new_table, print_table, print_text
from stagecache.demo.pictures import PAGE, check_matplotlib, made_folder, write_page, write_pictures
from stagecache.demo.turn import Demonstration, demonstrate
from stagecache.display.text import duration
from stagecache.display.words import counted
from stagecache.errors import MissingExtraError
from stagecache.examples.four_bar import COUPLER, CRANK, GROUND, POOR_START, ROCKER

WIDEST: Final = 80  # lines that are longer are harder to read, on any terminal
ROWS: Final = 8  # of the table of frames, after frame 0

ITEM: Final = re.compile(r"(.*)\[([^\[\]]+)\]")
"""The path of an item of a family."""


def show(console: Console, num_frames: int, folder: Path, *, has_pictures: bool) -> None:
    """Run the demonstration, print its results, and write its files.

    Parameters
    ----------
    console : Console
    num_frames : int
        Number of frames in a turn of the crank.
    folder : Path
        Folder of the files, which is made if needed; files of the same names are replaced.
    has_pictures : bool
        True to write the plot and the animation, beside the page. Where matplotlib is not
        installed, a line says so instead.

    Raises
    ------
    click.FileError
        The folder cannot be made, or a file cannot be written.
    """
    made_folder(folder)
    found = demonstrate(num_frames)
    _print_assembly(console, found)
    _print_turn(console, found)
    _print_cache(console, found)
    _print_files(console, found, folder, has_pictures=has_pictures)
    _print_saving(console, found)
    _print_next(console)


def _print_assembly(console: Console, found: Demonstration) -> None:
    _heading(console, "1. Assemble a four-bar linkage, from a poor start")
    _write(
        console,
        f"Crank {CRANK} m, coupler {COUPLER} m, rocker {ROCKER} m, and {GROUND} m between their "
        "pivots on the ground. Three pins, and a ball constraint that closes the loop.",
    )
    table = new_table("", "before", "assembled", numbers=2)
    poor = [f"{q:.4f}" for q in POOR_START]
    closed = [f"{q + 0.0:.4f}" for q in found.turn.q[0].round(4)]
    for name, *cells in zip(("crank", "coupler", "rocker"), poor, closed, strict=True):
        table.add_row(escape(f"q of the {name} [rad]"), *cells)
    norms = (f"{found.poor_error:.3g}", f"{found.assembled.error_norm:.1e}")
    table.add_row(escape("error norm [m]"), *norms)
    _show(console, table)
    _write(
        console,
        f"By {found.assembled.method}, {counted(found.assembled.num_iterations, 'iteration')}. "
        f"The tolerance is {found.tolerance:.0e} m.",
    )


def _print_turn(console: Console, found: Demonstration) -> None:
    turn, count = found.turn, found.num_frames
    _heading(console, f"2. Track: a full turn of the crank, in {count} frames")
    headings = ("frame", "crank [deg]", "coupler [deg]", "rocker [deg]", "error norm [m]")
    table = new_table(*map(escape, headings), numbers=5)
    for frame in np.linspace(0, count, ROWS + 1).round().astype(int):
        angles = (f"{angle + 0.0:.2f}" for angle in np.degrees(turn.angles[frame]).round(2))
        table.add_row(f"{frame}", *angles, f"{turn.error_norms[frame]:.1e}")
    _show(console, table)
    _write(
        console,
        f"Largest error norm {turn.error_norms.max():.1e} m; largest difference from the closed "
        f"form {turn.difference:.1e} rad. A frame takes {duration(np.median(turn.seconds))} "
        f"(median) and {turn.iterations[1:].mean():.1f} iterations (mean).",
    )


def _print_cache(console: Console, found: Demonstration) -> None:
    count = found.num_frames
    _heading(console, "3. The cache: the same turn, with a trace")
    _write(
        console,
        "A frame is tracked, then the angles and a point of the coupler are read. On average, a "
        "frame has:",
    )
    table = new_table("entry", "computed", "hits", "share of the time", numbers=3)
    summary = found.summary
    for row in summary.rows:
        cells = (f"{row.computed / count:.2f}", f"{row.hits / count:.2f}")
        table.add_row(escape(row.entry), *cells, f"{row.share:.0%}")
    table.add_row("all", f"{summary.computed / count:.2f}", f"{summary.hits / count:.2f}", "100%")
    _show(console, table)
    total = f"{summary.computed:,} computations and {summary.hits:,} hits"
    kept, unread = found.not_computed
    _write(
        console,
        f"{counted(count, 'frame')}: {total}; {summary.hits / summary.reads:.0%} of the reads "
        "found a value.",
        f"Computed in no frame, as nothing they depend on has changed: {_names(kept)}.",
        f"Nor these, as nothing has read them: {_names(unread)}.",
    )


def _print_files(
    console: Console, found: Demonstration, folder: Path, *, has_pictures: bool
) -> None:
    _heading(console, "4. Files")
    table = new_table("file", "what it shows")
    write_page(found, folder / PAGE)
    table.add_row(PAGE, "the graph of the model, with these costs; for a browser")
    lacking = ""
    if has_pictures:
        try:
            check_matplotlib()
        except MissingExtraError as error:
            lacking = f"No plot, no animation without matplotlib: {error.hint}"
        else:
            for name, what in write_pictures(found, folder):
                table.add_row(name, what)
    _show(console, table)
    if lacking:
        _write(console, lacking)


def _print_saving(console: Console, found: Demonstration) -> None:
    saving = found.saving
    _heading(console, "5. What the cache saved")
    _write(
        console,
        "The same turn was driven twice more, once so that a computed value serves one read only, "
        "and whatever is read again is computed again; the largest difference of q is "
        f"{saving.difference:.1g} rad.",
    )
    table = new_table("processor time", "with the cache", "without", "faster", numbers=3)
    ratio = f"{saving.uncached / saving.cached:.1f} times"
    frames = counted(found.num_frames, "frame")
    table.add_row(frames, duration(saving.cached), duration(saving.uncached), ratio)
    _show(console, table)


def _print_next(console: Console) -> None:
    _heading(console, "Next")
    table = new_table("command", "does")
    table.add_row("python -m stagecache.examples.four_bar", "runs this model alone")
    table.add_row("stagecache new mymodel", "writes a model to begin with")
    table.add_row("stagecache --help", "lists all commands")
    _show(console, table)
    if documentation := documentation_url():
        _write(console, f"Documentation: {documentation}")


def documentation_url() -> str:
    """Return the address of the documentation, from the metadata of the package, or nothing."""
    urls = metadata("stagecache").get_all("Project-URL") or []
    named = dict(url.split(", ", 1) for url in urls)
    return str(named.get("Documentation", ""))


# ---------------------------------------------------------------------- printing


def _heading(console: Console, text: str) -> None:
    print_text(console, Text(text, style="bold"))
    console.print()


def _write(console: Console, *paragraphs: str) -> None:
    """Print paragraphs, broken between words, and a blank line after them."""
    for text in paragraphs:
        lines = textwrap.fill(text, min(console.width, WIDEST), break_long_words=False)
        print_text(console, lines)
    console.print()


def _show(console: Console, table: Table) -> None:
    """Print a table, and a blank line after it."""
    print_table(console, table)
    console.print()


def _names(paths: Iterable[str]) -> str:
    """Return paths, with the items of a family in one: matter.pose[crank, rocker]."""
    items: dict[str, list[str]] = {}
    for path in paths:
        match = ITEM.fullmatch(path)
        items.setdefault(match[1] if match else path, []).extend(
            match.groups()[1:] if match else ()
        )
    names = [f"{name}[{', '.join(found)}]" if found else name for name, found in items.items()]
    return ", ".join(names) or "none"
