"""Colours: what is written and drawn can be told from what is behind it (WCAG 2.2, AA)."""

import re
from importlib import resources

import pytest

from stagecache.views.style import DARK, LIGHT

GROUNDS = ("paper", "even", "odd")
TEXTS = ("ink", "faint")
LINES = ("line", "pale", "part")
FILLS = tuple(name.removesuffix("-line") for name in LIGHT if name.endswith("-line"))


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_texts_and_lines_stand_out_from_each_ground(colours: dict[str, str], ground: str) -> None:
    texts = {name: contrast(colours[name], colours[ground]) for name in TEXTS}
    assert {name for name, found in texts.items() if found < 4.5} == set()
    lines = [*LINES, *[f"{name}-line" for name in FILLS]]
    assert {n for n in lines if contrast(colours[n], colours[ground]) < 3} == set()


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_labels_stand_out_from_their_boxes(colours: dict[str, str]) -> None:
    assert {name for name in FILLS if contrast(colours["ink"], colours[name]) < 4.5} == set()


def test_headings_of_the_panel_stand_out_from_it() -> None:
    style = resources.files("stagecache.views").joinpath("explorer/page.css").read_text("utf-8")
    marks = [dict(re.findall(r"(--[\w-]+): (#\w+);", line)) for line in style.splitlines()]
    found = [mark for mark in marks if "--above" in mark]
    assert [len(mark) for mark in found] == [4, 4]
    for mark, colours in zip(found, (LIGHT, DARK), strict=True):
        assert {n for n, c in mark.items() if contrast(c, colours["even"]) < 4.5} == set()
