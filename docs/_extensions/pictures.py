"""An extension of Sphinx: the pictures of the guides, drawn when the documentation is built.

Most are drawn of the programs in `examples`, as these are, into `docs/_generated`, which is not
committed: pictures that pages show, text that pages include, and pages that are copied beside the
others.
"""

import io
import os
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stagecache import System
from stagecache import draw as draw_system
from stagecache.cli.state import make_state
from stagecache.demo.pictures import plotted
from stagecache.demo.turn import demonstrate
from stagecache.multibody import MultibodySystem, Pin

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
DOCS = HERE.parent
EXAMPLES = DOCS.parent / "src" / "examples"
SHOWN = "anchor.torque"  # of the pendulum: as much as is legible in the width of a page
NUM_FRAMES = 96  # of a turn of the linkage


def pictures() -> Iterator[tuple[str, str | bytes]]:
    """The names of the files, and what is in them."""
    pendulum: System = _example("pendulum")["system"]()
    yield "pendulum.svg", pendulum.graph.upstream_of(SHOWN).to_svg()

    state = make_state(pendulum, "Report")
    yield "pages/explorer.html", state.graph.to_html()
    state.q = [0.3]
    yield "pendulum_stale.svg", state.graph.upstream_of(SHOWN).to_svg()

    chain = _example("every_declaration")
    rope = chain["Rope"](4)
    system = System(rope, observer=chain["Observer"](rope), name="rope")
    yield "rope.svg", system.graph.upstream_of("observer.load").to_svg()

    link = MultibodySystem()
    link.matter.add_body("link", link.matter.ground, Pin())
    yield "link.svg", link.graph.upstream_of("matter.velocity[link]").to_svg()
    yield "frames.svg", _text_of(runpy.run_path(str(HERE / "frames.py"))["make_figure"]())

    yield "stages.svg", _text_of(runpy.run_path(str(HERE / "stages.py"))["make_figure"]())

    rooms = runpy.run_path(str(HERE / "house.py"))
    yield "house.svg", rooms["picture"]()
    yield "rooms.md", rooms["table"]()
    yield "delegates.md", rooms["delegates"]()
    yield "commands.md", runpy.run_path(str(HERE / "commands.py"))["help_of_commands"]()

    members = runpy.run_path(str(HERE / "members.py"))["tables"]()
    for owner, table in members.items():
        yield f"members_{owner}.md", table
    cases = runpy.run_path(str(HERE / "original_tests.py"))["tables"]()
    for name, table in cases.items():
        yield f"original_tests_{name}.md", table

    arm = _example("robot_arm")
    system = arm["make_arm"]()
    state = system.new_state()
    state.q = arm["TURNED"]
    yield "robot_arm.svg", _text_of(draw_system(system, state).figure)
    turn = demonstrate(NUM_FRAMES, progress=False)
    yield "four_bar.svg", _text_of(plotted(turn))
    yield "pages/four_bar.gif", runpy.run_path(str(HERE / "film.py"))["make_film"](turn)


def _text_of(figure: Any) -> str:
    """A figure of matplotlib as SVG, the same whenever it is drawn."""
    from matplotlib import pyplot, rc_context  # noqa: PLC0415  # it takes a while

    text = io.StringIO()
    with rc_context({"svg.hashsalt": "stagecache"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return text.getvalue()


def _example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def draw(_app: "Sphinx", _config: object) -> None:
    """Write the files; those that are as they should be are left alone, and so not read again."""
    folder = f"{DOCS.parent}{os.sep}"  # of this machine, which is of no use to a reader
    for name, content in pictures():
        if isinstance(content, str):
            content = content.replace(folder, "").encode()  # noqa: PLW2901
        path = DOCS / "_generated" / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Draw before Sphinx looks for the files."""
    app.connect("config-inited", draw, priority=100)
    return {"parallel_read_safe": True}
