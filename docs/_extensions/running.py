"""An extension of Sphinx: pages draw their own pictures, by the code that they show.

A page that shows a picture of its folder in `docs/_generated`, `/_generated/start/first_model/` for
`start/first_model.md`, is run as a program when the documentation is built: all of its examples,
in that folder. So `trajectory.plot(path="angle.png")` on the page makes the picture
that stands below it.
"""

import contextlib
import doctest
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]


def run_pages(_app: "Sphinx", _config: object) -> None:
    """Run the pages that show pictures of their own.

    Raises
    ------
    RuntimeError
        An example fails, or does not write a picture that the page shows.
    """
    for page in sorted(DOCS.glob("*/*.md")):
        name = page.relative_to(DOCS).with_suffix("")
        text = page.read_text(encoding="utf-8")
        shown = re.findall(rf"/_generated/{name.as_posix()}/([\w.-]+)", text)
        if shown:
            folder = DOCS / "_generated" / name
            _run(text, page, folder)
            missing = [picture for picture in shown if not (folder / picture).is_file()]
            if missing:
                raise RuntimeError(f"{page}: its examples do not write {', '.join(missing)}")


def _run(text: str, page: Path, folder: Path) -> None:
    """Run the examples of a page in a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    examples = doctest.DocTestParser().get_doctest(
        text, {"__name__": "__main__"}, page.name, str(page), 0
    )
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    with contextlib.chdir(folder):
        runner.run(examples, out=report.append)
    if runner.failures:
        raise RuntimeError("".join(report))


def setup(app: "Sphinx") -> dict[str, bool]:
    """Run the pages before Sphinx looks for files."""
    app.connect("config-inited", run_pages, priority=200)
    return {"parallel_read_safe": True}
