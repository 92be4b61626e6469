"""Print the table of misuse, or write it into its page.

Run it: python -m tests.misuse [--write] [PATTERN...]
"""

import argparse
import re
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from stagecache.multibody.tree.compiled import kernel
from tests.misuse.generator import outcomes_of
from tests.misuse.recipes import RECIPES
from tests.misuse.sequences import SEQUENCES, try_sequence
from tests.misuse.surface import ROOT
from tests.misuse.table import BEGIN, END, table
from tests.misuse.trial import Outcome
from tests.misuse.world import Foreign

PAGE = ROOT / "docs" / "reference" / "misuse.md"


def main() -> None:
    """Make all cases, and print those that are wrong and the table."""
    parser = argparse.ArgumentParser(description="Misuse every public callable.")
    parser.add_argument("patterns", nargs="*", default=["*"], help="names of callables")
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    options = parser.parse_args()
    if options.write and kernel is None:  # a frozen State refuses more calls where there is one
        parser.error("--write needs the kernel of stagecache.multibody: pip install .")
    found: list[Outcome] = []
    with TemporaryDirectory() as folder:
        foreign = Foreign()
        for name in RECIPES:
            if any(fnmatchcase(name, pattern) for pattern in options.patterns):
                found += outcomes_of(name, Path(folder), foreign)
        for name in SEQUENCES:
            if any(fnmatchcase(name, pattern) for pattern in options.patterns):
                found.append(try_sequence(name))
    for outcome in found:
        if outcome.complaint:
            click.echo(f"{outcome.case.callable}: {outcome.case.fault}: {outcome.complaint}")
    text = table(found)
    click.echo(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        new = re.sub(f"{BEGIN}.*{END}", f"{BEGIN}\n{text}\n{END}", page, flags=re.S)
        PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
