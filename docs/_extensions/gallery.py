"""An extension of Sphinx: the gallery of the examples, run by Sphinx-Gallery.

The examples are ordinary programs. Sphinx-Gallery is given copies of them in which the first
sentence of the docstring, "A ball that bounces: a trigger.", is a title and a sentence. It runs
each copy as its own command does, `python -m stagecache.examples.bouncing_ball FOLDER`, and shows
the code, the printed text, and above both the pictures that were written into the folder. For an
example that writes none, it shows a picture of `pictures.py`, or the graph of its model.
"""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS: Final = Path(__file__).parents[1]
EXAMPLES: Final = DOCS.parent / "src" / "examples"
COPIES: Final = DOCS / "_generated" / "examples"
WRITTEN: Final = DOCS / "_generated" / "written"
PAGES: Final = "start/gallery"

ORDER: Final = (  # those that are not named come last
    *("four_bar", "bouncing_ball", "pendulum", "double_pendulum", "building", "cart_pole"),
    "parameter_study",
    *("reactive_graph", "investigate", "test_my_model", "robot_arm", "inverse_kinematics"),
    *("walking_subject", "urdf_arm"),
    *("slider_crank", "pendulum_on_a_rod", "save_and_resume", "every_declaration"),
)
SHOWN: Final = {  # by pictures that are drawn before
    "four_bar": "pages/four_bar.gif",
    "pendulum": "pendulum.svg",
    "every_declaration": "rope.svg",
}
PARTS: Final = {  # of a graph: what this entry is computed from
    "investigate": "cart.acceleration",
    "test_my_model": "tank.outflow",
}
SUFFIXES: Final = (".gif", ".png", ".svg")
DOCSTRING: Final = re.compile(r'^"""(?P<title>[^:\n]+): (?P<first>.)(?P<rest>.*?)"""$', re.M | re.S)

CONFIGURATION: Final[dict[str, Any]] = {
    "examples_dirs": "_generated/examples",
    "gallery_dirs": PAGES,
    "backreferences_dir": f"{PAGES}/backreferences",
    "filename_pattern": ".",
    "image_scrapers": "gallery.scrape",
    "reset_argv": "gallery.arguments",
    "minigallery_sort_order": "gallery.rank",
    "download_all_examples": False,
    "notebook_extensions": [],
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}


def copy_examples(_app: "Sphinx", _config: object) -> None:
    """Write the copies, and no others: those that have not changed are not run again."""
    COPIES.mkdir(parents=True, exist_ok=True)
    sources = {path.name: path for path in EXAMPLES.glob("[!_]*.py")}
    for path in COPIES.glob("*.py"):
        if path.name not in sources:
            path.unlink()
    for name, path in sources.items():
        (COPIES / name).write_text(with_title(path.read_text(encoding="utf-8")), encoding="utf-8")
    (COPIES / "GALLERY_HEADER.rst").write_text("Examples\n========\n")  # required, not shown
    shutil.rmtree(WRITTEN, ignore_errors=True)


def with_title(source: str) -> str:
    """Return an example whose docstring begins with a title."""
    found = DOCSTRING.match(source)
    if found is None:
        raise ValueError('the docstring of an example begins as in """A ball: how it bounces.')
    rest = re.sub(r"^(Run it: )(python [^\n,]+)", r"\1``\2``", found["rest"], flags=re.M)
    rest = re.sub(r"^::$", ".. code-block:: text", rest, flags=re.M)
    title = found["title"]
    text = f"{title}\n{'=' * len(title)}\n\n{found['first'].upper()}{rest}"
    return source.replace(found[0], f'"""{text}"""', 1)


def arguments(_gallery: object, script: dict[str, Any]) -> list[str]:
    """Return the arguments of an example: the folder for its files, if it takes one."""
    source = Path(script["src_file"])
    if "[OUTPUT FOLDER]" not in source.read_text(encoding="utf-8"):
        return []
    folder = WRITTEN / source.stem
    folder.mkdir(parents=True, exist_ok=True)
    return [str(folder)]


def scrape(_block: object, script: dict[str, Any], _gallery: object) -> str:
    """Keep the pictures of an example; `finish` shows them."""
    name = Path(script["src_file"]).stem
    pictures = [p for p in sorted((WRITTEN / name).glob("*")) if p.suffix in SUFFIXES]
    if name in PARTS:
        pictures = []
    elif name in SHOWN:
        pictures = [DOCS / "_generated" / SHOWN[name]]
    for picture in pictures:
        place = Path(next(script["image_path_iterator"])).with_suffix(picture.suffix)
        shutil.copy(picture, place)
    if not pictures:
        place = Path(next(script["image_path_iterator"])).with_suffix(".svg")
        graph = _graph(script["example_globals"])
        graph = graph.upstream_of(PARTS[name]) if name in PARTS else graph
        place.write_text(graph.to_svg(), encoding="utf-8")
    return ""


def _graph(names: dict[str, Any]) -> Any:
    """Return the graph of the model of an example."""
    from stagecache import Graph, System  # noqa: PLC0415  # Sphinx loads this file first

    made = next((names[name] for name in ("system", "make_system", "build") if name in names), None)
    model = made() if made else System(names["Tank"]())
    return model.view if isinstance(model, Graph) else model.graph


def rank(path: str) -> tuple[int, str]:
    """Return the key by which the pictures of the gallery are sorted."""
    name = Path(path).stem
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def finish(app: "Sphinx", page: str, source: list[str]) -> None:
    """Show the pictures above the output; leave out paths of this machine, and a note."""
    if not page.startswith(f"{PAGES}/"):
        return
    images = Path(app.srcdir, PAGES, "images")
    name = page.rpartition("/")[2]
    found = sorted(p.name for p in images.glob(f"sphx_glr_{name}_*") if p.suffix in SUFFIXES)
    title = with_title((EXAMPLES / f"{name}.py").read_text(encoding="utf-8")).split("\n")[0][3:]
    shown = "".join(f".. image:: images/{file}\n   :alt: {title}\n\n" for file in found)
    text = source[0].replace(f"{COPIES}/", "")
    text = re.sub(r"\.\. only:: html\n\n +\.\. note::.*?\n(?=\S)", "", text, count=1, flags=re.S)
    begin = re.search(r"^\.\. (rst-class:: sphx-glr-script-out|code-block:: Python)", text, re.M)
    place = begin.start() if begin else len(text)
    source[0] = text[:place] + shown + text[place:]


def setup(app: "Sphinx") -> dict[str, bool]:
    """Copy before Sphinx-Gallery looks for examples; finish pages before they are read."""
    app.connect("config-inited", copy_examples, priority=5)
    app.connect("source-read", finish)
    return {"parallel_read_safe": True}
