"""HTML of tables, trees and statuses."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stagecache.display import html
from tests.display.outputs import parsed

TEXTS = st.text(max_size=200) | st.sampled_from(["<b>&\"'", "a\nb", "\x00\x1b", "\ud800", "]]>"])
BACKGROUNDS = ("#ffffff", "#f5f5f5", "#111111", "#131416")
"""Of JupyterLab and of the documentation, light and dark; of rows under the pointer."""


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=30), TEXTS)
@example([("<script>alert(1)</script>", '" onclick="x')], "&amp;")
def test_all_texts_are_escaped(rows: list[tuple[str, str]], said: str) -> None:
    shown = html.output(
        html.heading(said, said),
        html.paragraph(said),
        html.tree(said),
        html.table((said, ""), rows),
    )
    root = parsed(shown)
    cells = ["".join(cell.itertext()) for cell in root.iter("td")]
    given_cells = [cell for row in rows for cell in row]
    for found, text in zip(cells, given_cells, strict=True):
        visible = text[: html.MOST_CHARACTERS - 1].translate(html.CONTROLS)
        visible = visible.encode("utf-8", "replace").decode().replace("\r\n", "\n")
        assert found.startswith(visible.replace("\r", "\n")) or len(text) > len(found) - 1


@given(st.integers(0, 500), st.integers(0, 3))
def test_rows_after_the_tenth_are_folded_and_after_the_last_shown_are_counted(
    number: int, more: int
) -> None:
    rows = [(str(row), "x") for row in range(number)]
    root = parsed(html.output(html.table(("row", "value"), rows, more=more)))
    folded = root.find("details")
    in_fold = [] if folded is None else [cells[0].text for cells in folded.iterfind(".//tbody/tr")]
    shown = [cells[0].text for cells in root.iterfind(".//tbody/tr")]
    assert shown == [str(row) for row in range(min(number, html.MOST_ROWS))]
    assert len(shown) - len(in_fold) == (11 if number == 11 else min(number, 10))
    if folded is not None:
        assert folded[0].text == f"{len(in_fold)} more rows"
    hidden = number - len(shown) + more
    told = re.findall(r"\.\.\. and (\d+) more rows", "".join(root.itertext()))
    assert told == ([str(hidden)] if hidden else [])


def test_numbers_are_on_the_right_and_texts_on_the_left() -> None:
    shown = html.table(("entry", "kind", "hits"), [("a", "b", "1")], texts=2)
    assert re.findall(r"<td style=\"text-align:(\w+)", shown) == ["left", "left", "right"]


def test_a_row_of_one_cell_spans_the_table() -> None:
    shown = html.table(("a", "b"), [("of <x>",), ("1", "2")])
    assert re.search(r'<th scope="rowgroup" colspan="2"[^>]*>of &lt;x&gt;</th>', shown)


@pytest.mark.parametrize("text", html.MARKS)
def test_marks_are_seen_on_light_and_dark_pages(text: str) -> None:
    colour = re.findall(r"color:(#\w{6})", html.status(text))
    assert len(colour) == 1
    for background in BACKGROUNDS:
        low, high = sorted((luminance(colour[0]), luminance(background)))
        assert (high + 0.05) / (low + 0.05) >= 3


def test_statuses_differ_by_more_than_colour() -> None:
    assert len({shape for shape, _ in html.MARKS.values()}) == len(html.MARKS)
    assert html.status("version 3") == "version 3"


def test_a_tree_marks_statuses_at_the_ends_of_lines() -> None:
    shown = html.tree("a: stale\n└─ valid: not computed, waits for a stage\n   └─ c: version 2")
    assert shown.count("<span") == 2
    lines = "".join(parsed(html.output(shown)).itertext()).splitlines()
    assert lines == [
        "a: ◐ stale",
        "└─ valid: ○ not computed, waits for a stage",
        "   └─ c: version 2",
    ]
