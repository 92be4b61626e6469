"""A view as one HTML file that needs nothing else: a picture to move in, to search and to ask.

::

    svg_of    -> picture  --+
    page_data -> data     --+-> explorer/page.html, with page.css and all programs in it

The page can load nothing: its policy names the hashes of its own style and program, and forbids
all else. Data are JSON in elements that are not run, with "<" escaped, and names reach the page as
text only. Without the program, a picture is there.

The program draws on a canvas, as an element for each node takes seconds at some thousand of them.
Choices that were made, and why:

- Canvas 2D, with d3-zoom for gestures and flatbush for hits and for what is in sight. 3,000 boxes
  and 6,000 lines take 40 ms in software, and less if what is out of sight is left out, so WebGL is
  not needed. Cytoscape.js and sigma.js (100 to 430 kB) know neither bands nor titles that stay in
  sight, and would still need our layout with its bends; drawing is the smaller half.
- The layout is ours, and is made in the page, since filters and folds lay out anew. dagre and elkjs
  (1.4 MB) keep no columns of stages together with bands of subsystems.
- A page opens with at most some 150 boxes, whatever the size of the graph: what repeats is folded.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

from stagecache.views.formats.page_data import graph_data, impacts_data, reasons_data
from stagecache.views.formats.svg import escaped, svg_of
from stagecache.views.nodes import AbstractView, Reason
from stagecache.views.style import DARK, LIGHT, STYLE, variables

PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
"""Placeholder of a part of the page."""

PROGRAMS: Final = (
    *(
        "vendor/library.js",
        "elements.js",
        "graph.js",
        "folds.js",
        "layout.js",
        "scene.js",
        "pens.js",
    ),
    *("picture.js", "panel.js", "filters.js", "keyboard.js", "live.js", "explorer.js"),
)
"""Files of the program; the last one has the function `explorer`."""


def html_of(
    view: AbstractView,
    impacts: Mapping[str, Sequence[str]] | None = None,
    reasons: Mapping[str, Reason] | None = None,
) -> str:
    """Return a view as a page for a browser.

    Parameters
    ----------
    view : GraphView
        All its nodes can be shown, however many.
    impacts : mapping of str to sequence of str, optional
        Answers of "what if": for the path of a variable, the paths of the valid entries that a
        write makes stale, as `State.impact` returns them. For a variable that is not in it, the
        page follows the edges: all stages and entries below the variable, or below a part of it,
        valid or not. The page says which of both it shows. Paths that are not in the view
        are counted, not shown.
    reasons : mapping of str to Reason, optional
        Reasons why entries are not valid, by path.

    Returns
    -------
    str
        The page. Equal views, impacts and reasons give equal pages.
    """
    return page_of(
        escaped(view.title or "dependency graph"),
        data_of(view, impacts, reasons),
        _own("start.js"),
        picture=svg_of(view),
    )


def page_of(
    title: str, data: Mapping[str, str], start: str, *, picture: str = "", connects: str = ""
) -> str:
    """Return a page with an explorer.

    Parameters
    ----------
    title : str
        Escaped.
    data : mapping
        Result of `data_of`.
    start : str
        Program that calls `explorer(root, data, host)`.
    picture : str
        SVG to show without the program.
    connects : str
        Sources of the policy to which the program may connect, such as "'self'"; none by default.
    """
    program = f"\n{program_text()}\n{start}"
    style = f"\n{style_text()}"
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        + (f"connect-src {connects}; " if connects else "")
        + f"script-src {_hash(program)}; style-src {_hash(style)} {_hash(STYLE)}"
    )
    parts = {
        "policy": policy,
        "title": title,
        "style": style,
        "program": program,
        "picture": picture,
        **{name: text.replace("<", "\\u003c") for name, text in data.items()},
    }
    return PLACE.sub(lambda place: parts[place[1]], _own("page.html"))


def data_of(
    view: AbstractView,
    impacts: Mapping[str, Sequence[str]] | None = None,
    reasons: Mapping[str, Reason] | None = None,
) -> dict[str, str]:
    """Return the data of an explorer: "graph", "impacts" and "reasons", each as JSON."""
    data = {
        "graph": graph_data(view),
        "impacts": impacts_data(view, impacts or {}),
        "reasons": reasons_data(view, reasons or {}),
    }
    return {
        name: json.dumps(each, separators=(",", ":"), ensure_ascii=False)
        for name, each in data.items()
    }


def program_text() -> str:
    """Return the program: a module for browsers with the function `explorer`."""
    return "\n".join(map(_own, PROGRAMS))


def style_text() -> str:
    """Return the style of an explorer, in light and in dark, and light on paper."""
    return (
        f".stagecache {{ {variables(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ .stagecache {{ {variables(DARK)} }} }}\n"
        f"{_own('page.css')}"
        f"@media print {{ .stagecache.stagecache, .explorer svg {{ {variables(LIGHT)} }} }}\n"
    )


def _own(name: str) -> str:
    """Return a part of the page, from a file of this package."""
    folder = resources.files("stagecache.views").joinpath("explorer")
    return folder.joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which a policy names a style or a program."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
