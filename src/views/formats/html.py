"""A view as one HTML file that needs nothing else: a picture to move in, to search and to ask.

::

    svg_of -> picture  --+
    json_of -> data    --+-> explorer/page.html, with page.css and all programs in it
    impacts -> data    --+

The page can load nothing: its policy names the hashes of its own style and program, and forbids
all else. Without the program, the picture is still there. Data are JSON in elements that are not
run, with "<" escaped, and names reach the page as text only.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

from stagecache.views.formats.json_text import json_of
from stagecache.views.formats.svg import escaped, svg_of
from stagecache.views.nodes import AbstractView
from stagecache.views.style import LIGHT, STYLE, variables

PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
"""Placeholder of a part of the page."""

PROGRAMS: Final = ("graph.js", "camera.js", "panel.js", "search.js", "keyboard.js")
"""In this order: the last one starts."""


def html_of(view: AbstractView, impacts: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return a view as a page for a browser.

    Parameters
    ----------
    view : GraphView
        All its nodes are shown, however many.
    impacts : mapping of str to sequence of str, optional
        Answers of "what if": for the path of a variable, the paths of the valid entries that a
        write makes stale, as `State.impact` returns them. For a variable that is not in it, the
        page follows the edges: all stages and entries below the variable, or below a part of it,
        valid or not. The page says which of both it shows. Paths that are not in the view
        are counted, not shown.

    Returns
    -------
    str
        The page. Equal views and impacts give equal pages.
    """
    paper = f"@media print {{ .stagecache.stagecache, .explorer svg {{ {variables(LIGHT)} }} }}\n"
    style = "\n" + _own("page.css") + paper
    program = "\n" + "\n".join(map(_own, PROGRAMS))
    parts = {
        "policy": (
            "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
            f"script-src {_hash(program)}; style-src {_hash(style)} {_hash(STYLE)}"
        ),
        "title": escaped(view.title or "dependency graph"),
        "style": style,
        "program": program,
        "picture": svg_of(view, most=len(view.nodes)),
        "graph": _data(json_of(view)),
        "impacts": _data(json.dumps(_numbered(view, impacts or {}))),
    }
    return PLACE.sub(lambda place: parts[place[1]], _own("page.html"))


def _numbered(
    view: AbstractView, impacts: Mapping[str, Sequence[str]]
) -> dict[int, dict[str, object]]:
    """Return the stale nodes of each variable, by number, and how many are not shown."""
    numbers = {node.path: number for number, node in enumerate(view.nodes)}
    found: dict[int, dict[str, object]] = {}
    for variable, paths in impacts.items():
        if variable in numbers:
            unique = dict.fromkeys(paths)
            inside = [numbers[path] for path in unique if path in numbers]
            found[numbers[variable]] = {"stale": inside, "others": len(unique) - len(inside)}
    return found


def _own(name: str) -> str:
    """Return a part of the page, from a file of this package."""
    folder = resources.files("stagecache.views").joinpath("explorer")
    return folder.joinpath(name).read_text(encoding="utf-8")


def _data(text: str) -> str:
    """JSON that ends no element: "<" occurs in strings only, where it can be escaped."""
    return text.replace("<", "\\u003c")


def _hash(text: str) -> str:
    """Return the hash by which a policy names a style or a program."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
