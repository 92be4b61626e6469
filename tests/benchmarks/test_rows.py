"""Rows of all tables: their names, their peers, and the figures to which their limits refer."""

from collections import Counter

import pytest

from benchmarks.limits import Growth, OfPeer, OfRow
from benchmarks.peers import OWN
from benchmarks.rows import SECTIONS, Row, Section

ROWS = [(section, row) for section in SECTIONS for group in section.groups for row in group]
each_row = pytest.mark.parametrize(
    ("section", "row"), ROWS, ids=[f"{section.heading}: {row.name}" for section, row in ROWS]
)


def test_names_are_unique_in_a_section_so_that_the_other_process_finds_them() -> None:
    counts = Counter((section.heading, row.name) for section, row in ROWS)
    assert [name for name, count in counts.items() if count > 1] == []


@each_row
def test_a_row_has_a_peer_or_says_that_there_is_none(section: Section, row: Row) -> None:
    peers = {*section.peers, *row.beside} - {OWN} - set(row.without)
    assert peers or row.without or row.alone


@each_row
def test_a_limit_is_a_ratio_to_a_figure_that_is_measured(section: Section, row: Row) -> None:
    own = {row.name for group in section.groups for row in group}
    for limit in row.limits:
        match limit:
            case OfPeer():
                assert limit.column in {*section.peers, *row.beside} - set(row.without)
            case OfRow():
                assert limit.row in own - {row.name}
            case Growth():
                assert {name for _, name in limit.rows} <= own
            case _:
                pytest.fail(f"{limit} is not a ratio")
