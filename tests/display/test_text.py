"""Tables, paragraphs and times in a terminal."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.display.text import duration, lines_of, table, wrapped

NAMES = st.from_regex(r"[a-z]{1,8}(\.[a-z_]{1,10}){0,4}", fullmatch=True)


@given(st.lists(st.tuples(NAMES, st.integers(0, 10**6)), max_size=8), st.integers(30, 100))
def test_no_name_is_broken_and_only_names_are_wider_than_the_terminal(
    rows: list[tuple[str, int]], width: int
) -> None:
    cells = [(name, str(number)) for name, number in rows]
    lines = table(("entry", "computed"), cells, width=width).splitlines()
    assert "\n".join(lines).split() == ["entry", "computed", *[c for row in cells for c in row]]
    names = {name for name, _ in cells}
    assert all(len(line) <= width or line in names for line in lines)


@given(st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=6)), max_size=6), st.integers(30, 100))
def test_a_last_column_of_texts_is_broken_between_words(
    rows: list[tuple[str, list[str]]], width: int
) -> None:
    cells = [(name, "valid", ", ".join(above)) for name, above in rows]
    found = [""] * (1 + len(cells))
    for number, pieces in lines_of(("node", "status", "depends on"), cells, 0, width):
        line = "  ".join(pieces).rstrip()
        found[number] += f" {line}"
        words = line.split()
        assert len(line) <= width or len(words) == 1 or max(map(len, words)) > width - 24
    for text, row in zip(found[1:], cells, strict=True):
        assert text.split() == " ".join(row).split()


def test_names_too_long_for_their_column_have_lines_of_their_own() -> None:
    rows = [("short", "1"), ("a_name.that_is_long", "2")]
    assert table(("entry", "hits"), rows, width=20).splitlines() == [
        "entry           hits",
        "short              1",
        "a_name.that_is_long",
        "                   2",
    ]


@given(st.text("ab -_.", max_size=300), st.integers(20, 80))
def test_paragraphs_are_broken_between_words(text: str, width: int) -> None:
    shown = wrapped(text, width)
    assert shown.split() == text.split()
    for line in shown.splitlines():
        assert len(line) <= width or re.fullmatch(r" *\S+", line)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (4321.0, "4,321 s"),
        (2.5, "2.5 s"),
        (0.12, "120 ms"),
        (1.234e-5, "12.3 µs"),
        (3e-8, "30 ns"),
    ],
)
def test_times_have_a_fitting_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text
