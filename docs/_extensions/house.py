"""The picture and the table of the rooms, made from `tests/house.py`."""

import runpy
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Final

TABLE: Final = runpy.run_path(str(Path(__file__).parents[2] / "tests" / "house.py"))

WIDTH: Final = 760
MARGIN: Final = 10
DOOR: Final = 116  # width of the name of a floor
LETTER: Final = 7.0  # width of a letter in the name of a room
ROOM: Final = 24  # height of a room
ROOF: Final = 44

STYLE: Final = """
  text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1d2733 }
  .floor { font-weight: 600; font-size: 14px }
  .about { fill: #55606e }
  .wall { fill: #f4f1ea; stroke: #8d7f6a }
  .room { fill: #dbe7f3; stroke: #6d87a3 }
  .roof { fill: #c96f4a; stroke: #8f4a2f }
"""


def floors() -> list[tuple[str, list[str]]]:
    """Packages from the ground up, each with the names of its rooms."""
    grouped = groupby(TABLE["ROOMS"], key=lambda room: room.partition("/")[0])
    return [(floor, [room.partition("/")[2] for room in rooms][1:]) for floor, rooms in grouped]


def picture() -> str:
    """The floors as an SVG, the ground at the bottom."""
    y = float(MARGIN + ROOF)
    peak = f"{MARGIN},{y} {WIDTH / 2},{MARGIN} {WIDTH - MARGIN},{y}"
    shapes = [f'<polygon class="roof" points="{peak}"/>']
    for floor, rooms in reversed(floors()):
        drawn, height = _floor(floor, rooms, y)
        shapes += drawn
        y += height
    size = f'width="{WIDTH}" height="{y + MARGIN:g}" viewBox="0 0 {WIDTH} {y + MARGIN:g}"'
    background = '<rect width="100%" height="100%" fill="#ffffff"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    title = "<title>The rooms of stagecache, from the ground up</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", background, *shapes, "</svg>\n"])


def _floor(floor: str, rooms: list[str], top: float) -> tuple[list[str], float]:
    """One floor: its shapes, and its height."""
    left = MARGIN + DOOR
    about = f'<text class="about" x="{left}" y="{top + 17}">{escape(_about(floor))}</text>'
    shapes, x, y = [about], float(left), top + 26
    for room in rooms:
        width = LETTER * len(room) + 14
        if x + width > WIDTH - MARGIN - 6:
            x, y = float(left), y + ROOM + 4
        box = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{ROOM - 2}" rx="3"'
        tip = f"<title>{escape(_about(f'{floor}/{room}'))}</title>"
        shapes.append(f'<g>{tip}<rect class="room" {box}/>')
        shapes.append(f'<text x="{x + 7:g}" y="{y + 15:g}">{escape(room)}</text></g>')
        x += width + 5
    height = y - top + (ROOM + 4 if rooms else 0)
    wall = f'x="{MARGIN}" y="{top:g}" width="{WIDTH - 2 * MARGIN}" height="{height:g}"'
    name = f'<text class="floor" x="{MARGIN + 10}" y="{top + 18:g}">{escape(floor)}</text>'
    return [f'<rect class="wall" {wall}/>', name, *shapes], height


def _about(room: str) -> str:
    return str(TABLE["ROOMS"][room]).replace("`", "")


def table() -> str:
    """The rooms as a table in Markdown, from the ground up."""
    rows = ["| room | holds |", "|---|---|"]
    for room, about in TABLE["ROOMS"].items():
        name = f"`{room}`" if "/" in room else f"**`{room}`**"
        rows.append(f"| {name} | {about} |")
    return "\n".join([*rows, ""])


def delegates() -> str:
    """The imports that go upwards, as a list in Markdown."""
    return "".join(
        f"- `{module}` imports {', '.join(f'`{name}`' for name in sorted(names))}.\n"
        for module, names in TABLE["DELEGATES"].items()
    )
