"""Configuration of the documentation site; see https://www.sphinx-doc.org."""

from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "stagecache"
author = "the stagecache authors"
project_copyright = author
release = version = installed_version(project)

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
default_role = "code"  # of `this` in a docstring

autodoc_member_order = "bysource"
napoleon_google_docstring = False

# What the strict build (-n) cannot find: Python's own documentation, which is not looked up since
# the build needs no network; type variables; words that stand for a type in a docstring.
nitpick_ignore_regex = [
    ("py:class", r"collections\.abc\.\w+"),
    ("py:class", r"stagecache\.[\w.]*\b[A-Z]"),
    ("py:class", r"callable|hashable|iterable|sequence"),
]

html_theme = "furo"
html_title = f"stagecache {release}"


def set_off_colon(_app: "Sphinx", what: str, *rest: object) -> None:
    """Keep the first sentence of an attribute whole: napoleon takes "text: more" for a type."""
    lines = rest[-1]
    if what in ("attribute", "property") and isinstance(lines, list):
        lines[:0] = ["..", ""]  # an empty comment


def hide_call(_app: "Sphinx", _what: str, name: str, *_: object) -> tuple[str, str] | None:
    """Leave out how a handle is made: only a graph makes one."""
    return ("", "") if name.endswith((".AbstractNode", ".Entry", ".Variable")) else None


def close_up(_app: "Sphinx", _page: str, source: list[str]) -> None:
    """Leave out the blank line that ends a code block: doctest needs it, a reader does not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app: "Sphinx") -> None:
    """Connect the functions above, the first before that of napoleon."""
    app.connect("autodoc-process-docstring", set_off_colon, priority=400)
    app.connect("autodoc-process-signature", hide_call)
    app.connect("source-read", close_up)
