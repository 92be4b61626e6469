"""Times of the explorer in a browser: `python -m benchmarks.explorer --help`."""

import shutil
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.explorer.models import VIEWS

HELP: Final = """Measure the page of a graph in headless Chromium: load, frames, clicks, filters.

Needs Chromium, its driver, and the extra browser. Times are medians of several, in milliseconds,
until the frame that shows the result is drawn: in software, where there is no graphics card. Each
page is measured as it opens, folded, and with all its nodes unfolded.
"""

MOST_UNFOLDED: Final = 5_000
"""Most nodes that are measured one by one."""

COLUMNS: Final = ("load", "frame", "slowest frame", "redraw", "click", "filter", "unfold all")


@click.command(help=HELP)
@click.option("--pages", type=click.Path(path_type=Path), help="Folder in which to keep the pages.")
@click.option("--view", "names", multiple=True, type=click.Choice(list(VIEWS)), help="Only this.")
@click.option("--repeat", default=7, help="Number of clicks and filters.")
def main(pages: Path | None, names: tuple[str, ...], repeat: int) -> None:
    """Measure, and print a table."""
    table = Table("view", "nodes", "boxes", "MB", *COLUMNS, title="Times of the explorer [ms]")
    with TemporaryDirectory() as scratch:
        folder = pages or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        driver = started()
        try:
            for name in names or VIEWS:
                view = VIEWS[name]()
                page = folder / f"{name.replace(' ', '_')}.html"
                page.write_text(view.to_html(), encoding="utf-8")
                megabytes = f"{page.stat().st_size / 1e6:.1f}"
                for is_unfolded in (False, True):
                    if is_unfolded and len(view) > MOST_UNFOLDED:
                        continue
                    found = measured(driver, page, repeat, is_unfolded=is_unfolded)
                    times = [f"{found[c]:.0f}" if c in found else "" for c in COLUMNS]
                    table.add_row(name, str(len(view)), f"{found['boxes']:.0f}", megabytes, *times)
        finally:
            driver.quit()
    Console(width=120).print(table)


def started() -> Any:
    """Start Chromium."""
    from selenium import webdriver  # noqa: PLC0415  # may be missing

    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        raise click.UsageError("install Chromium and its driver (chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,800")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def measured(driver: Any, page: Path, repeat: int, *, is_unfolded: bool) -> Mapping[str, float]:
    """Return times of a page [ms]."""
    driver.set_script_timeout(120)
    program = resources.files(__package__).joinpath("measure.js").read_text(encoding="utf-8")

    def run(call: str) -> Any:
        return driver.execute_async_script(
            f"const done = arguments[0]; {program}\n{call}.then(done);"
        )

    loads = []
    for _ in range(3):
        driver.get("about:blank")
        start = time.perf_counter()
        driver.get(page.absolute().as_uri())
        run("frames(2)")
        loads.append(1e3 * (time.perf_counter() - start))
    found = {"load": median(loads)}
    if is_unfolded:
        found["unfold all"] = run("timeOf(() => press('Unfold all'))")
    found["boxes"] = run("Promise.resolve(shown().boxes.length)")
    zooms = sorted(run("zoomed()"))
    found["frame"], found["slowest frame"] = median(zooms), zooms[-1]
    found["redraw"] = run("redrawn()")
    found["click"] = median(run(f"clicked({repeat})"))
    filters = run(f"filtered({repeat})")
    if filters:
        found["filter"] = median(filters)
    return found


if __name__ == "__main__":
    main()
