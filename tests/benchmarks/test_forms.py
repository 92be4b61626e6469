"""Both forms are measured by the same rows, and end up in their columns and on the page."""

from pathlib import Path

import pytest

from benchmarks.figures import Figure, Unit
from benchmarks.forms import COMPILED, PLAIN, OtherForm, form_here, other_form, prepare
from benchmarks.limits import OfPeer
from benchmarks.peers import OTHER, OWN, load_peer
from benchmarks.probes import Repeated
from benchmarks.report import summary, tabulate
from benchmarks.results import write_results
from benchmarks.rows import STATE, Row, Section
from benchmarks.runner import QUICK, Measured, measure


def test_there_are_two_forms_and_one_is_here() -> None:
    assert {form_here(), other_form()} == {COMPILED, PLAIN}


def test_a_second_process_measures_the_plain_form_in_turns() -> None:
    """Of a State: plain Python needs no compiler."""
    row = next(row for group in STATE.groups for row in group)
    section = Section(STATE.heading, ((row,),), peers=(OWN,))
    other = OtherForm(prepare(PLAIN))
    try:
        found = measure(section, [load_peer(OWN)], QUICK, lambda _: None, other)
    finally:
        other.close()
    assert {column for _, column in found.figures} >= {OWN, OTHER}
    assert 0 < found.figures[row.name, OTHER].median < 1e-3


def test_a_process_that_ends_is_an_error() -> None:
    other = OtherForm(prepare(PLAIN))
    try:
        with pytest.raises(RuntimeError, match="has ended, asked for"):
            other.ask("sample", "no such section", "no such row")
    finally:
        other.close()


def test_the_compiled_form_comes_first_and_is_judged() -> None:
    row = Row("one", lambda _: Repeated("1", {}), limits=[OfPeer(1, "far")])
    section = Section("Heading", ((row,),), peers=(OWN,), columns=("far",))
    here = Measured()
    for column, seconds in ((OWN, 3.0), (OTHER, 1.0), ("far", 2.0)):
        here.figures["one", column] = Figure(seconds, None, Unit.SECONDS)
    measured = here.exchanged()
    table = tabulate(section, [load_peer(OWN)], measured, [COMPILED, PLAIN])
    assert table.head[1:4] == ["stagecache compiled", "stagecache plain", "far"]
    assert table.lines == [["one", "1.00 s", "3.00 s", "2.00 s", "0.50 × far, ≤ 1 ✓"]]
    assert summary([section], [measured]) == ["1 of 1 limits are met."]
    assert summary([section], [here])[-1] == "- one: 1.50 × far, ≤ 1"


def test_one_form_alone_is_named_in_its_column() -> None:
    row = Row("one", lambda _: Repeated("1", {}), alone="nothing else does this")
    section = Section("Heading", ((row,),), peers=(OWN,))
    measured = Measured({("one", OWN): Figure(1.0, None, Unit.SECONDS)})
    table = tabulate(section, [load_peer(OWN)], measured, [PLAIN])
    assert table.head == ["", "stagecache plain", "stagecache plain compared"]
    assert table.lines[0][-1] == "no peer: nothing else does this"


def test_a_part_of_the_page_is_replaced_and_the_others_are_kept_in_order(tmp_path: Path) -> None:
    page = tmp_path / "RESULTS.md"
    write_results({"B": "## B\n\nold", "A": "## A\n\nkept"}, ["A", "B", "C"], page)
    write_results({"B": "## B\n\nnew", "X": "## X\n\nnot wanted"}, ["A", "B", "C"], page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert text[text.index("## A") :] == "## A\n\nkept\n\n## B\n\nnew\n"
