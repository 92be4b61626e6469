"""Configuration of the documentation site; see https://www.sphinx-doc.org."""

import logging
import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

for chatty in ("websockets", "traitlets"):  # examples write pages and notebooks, which these serve
    logging.getLogger(chatty).setLevel(logging.WARNING)

project = "stagecache"
author = "the stagecache authors"
project_copyright = author
release = version = installed_version(project)

sys.path.append(str(Path(__file__).parent / "_extensions"))
from api import member_options  # noqa: E402
from gallery import CONFIGURATION  # noqa: E402

extensions = [
    *("myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"),
    *("sphinx_copybutton", "sphinx_design", "sphinx_gallery.gen_gallery"),
    *("api", "gallery", "pictures", "running"),
]
templates_path = ["_templates"]
exclude_patterns = [
    *("_build", "_generated", "_templates", "jupyter_execute"),
    *("start/gallery/index.rst", "start/gallery/*.ipynb"),
]
html_extra_path = ["_generated/pages"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
sphinx_gallery_conf = CONFIGURATION
default_role = "code"  # of `this` in a docstring

nb_execution_mode = "force"  # notebooks (.ipynb) only: pages in Markdown are tested as doctests
nb_execution_raise_on_error = True

autodoc_member_order = "bysource"
autosummary_context = {"member_options": member_options()}
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = False

# What the strict build (-n) cannot find: the documentation of Python and NumPy, which is not looked
# up since the build needs no network; type variables; words that stand for a type in a docstring.
nitpick_ignore_regex = [
    (
        "py:class",
        r"(collections\.abc|concurrent\.futures(\._base)?|contextlib|io|os|pathlib|threading)\.\w+(\[.*)?",
    ),
    ("py:class", r"(matplotlib|numpy|rich|xarray)\..+|ArrayLike|ndarray"),
    ("py:class", r"stagecache\.[\w.]*\b[A-Z]\d?"),
    ("py:class", r"stagecache\.system\.[\w.]+Declaration"),  # what a decorator returns
    ("py:class", r"array_like|callable|declaration|handles?|hashable|the handler|sparse array"),
    (
        "py:class",
        r"PathLike|iterable|sequence|str and int|(int|str) to (int|list|object|sequence|str|tuple)",
    ),
    ("py:class", r"Contents|Journal|context manager|mapping|handle to strategy"),
    ("py:class", r"hypothesis\..+|stagecache\.(multibody|testing)\.[\w.]+"),
    ("py:class", r"stagecache\.system\.declare\.groups\.Group"),
    ("py:class", r"stagecache\.(state\.partition\.AbstractPartition|system\.core\.system\.Part)"),
    ("py:class", r"stagecache\.study\.ensemble\.results\.(AbstractStore|Ensemble)"),
    ("py:class", r"optional|\d|[kmns]"),  # of a type: (n, 3) array_like, optional; float [s]
]

html_theme = "furo"
html_title = f"stagecache {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"  # prompts and output
linkcheck_ignore = [r"https://(\w+\.)?(stagecache\.example|example\.org)/.*"]
linkcheck_timeout = 20


def set_off_colon(_app: "Sphinx", what: str, *rest: object) -> None:
    """Keep the first sentence of an attribute whole: napoleon takes "text: more" for a type."""
    lines = rest[-1]
    if what in ("attribute", "property") and isinstance(lines, list):
        lines[:0] = ["..", ""]  # an empty comment


# What only a graph, a State or a System makes.
MADE = (
    *("AbstractContinuousVariable", "AbstractDeclaration", "AbstractHandle", "AbstractNode"),
    *("AutoUpdateVariable", "CacheEntry", "Checkpoint", "ContinuousVariable"),
    *("DiscreteVariable", "Entry", "Family", "ScalarVariable", "SubsystemState"),
    *("SharedResults", "StudyResults", "SystemStatistics", "TimeVariable", "Variable"),
)

# What people call a type that autodoc writes out.
SHORT = {
    r"~?numpy\._typing\.[^,)]*": "ArrayLike",
    r"~?numpy\.ndarray\[tuple\[.*?\], ~?numpy\.dtype\[~?numpy\.float64\]\]": "ndarray",
    r"~?stagecache\.state\.handles\.AnyState": "~stagecache.State",
    r"~?stagecache\.checks\.AnyText": "str",
}


def shorten(
    _app: "Sphinx", _what: str, name: str, _object: object, _options: object, *texts: str | None
) -> tuple[str, str] | None:
    """Leave out how a handle is made, and call types by their names."""
    if name.rpartition(".")[2] in MADE:
        return ("", "")
    signature, result = (text or "" for text in texts)
    if not signature:
        return None
    for pattern, short in SHORT.items():
        signature, result = re.sub(pattern, short, signature), re.sub(pattern, short, result)
    return signature, result


def close_up(_app: "Sphinx", _page: str, source: list[str]) -> None:
    """Leave out the blank line that ends a code block: doctest needs it, a reader does not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app: "Sphinx") -> None:
    """Connect the functions above, the first before napoleon's function."""
    app.connect("autodoc-process-docstring", set_off_colon, priority=400)
    app.connect("autodoc-process-signature", shorten)
    app.connect("source-read", close_up)
