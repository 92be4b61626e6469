"""A table: one row for each thing measured, one column for each library."""

from collections.abc import Iterator, Sequence

from attrs import frozen
from rich.table import Table as RichTable

from benchmarks.limits import OfPeer, Verdict, ratio_text
from benchmarks.peers import OTHER, OWN, Peer
from benchmarks.rows import Group, Row, Section
from benchmarks.runner import Measured


@frozen
class Table:
    """A table as text, cell by cell, with the notes to which its cells refer.

    Attributes
    ----------
    heading : str
        Of the section.
    head : list of str
        Of the columns.
    lines : list of list of str
    notes : list of str
    """

    heading: str
    head: list[str]
    lines: list[list[str]]
    notes: list[str]

    def as_rich(self) -> RichTable:
        """Return it for a terminal."""
        table = RichTable(*self.head, title=self.heading, title_justify="left")
        for column in table.columns[1:-1]:
            column.justify = "right"
            column.no_wrap = True
        for line in self.lines:
            table.add_row(*line)
        return table

    def as_markdown(self) -> str:
        """Return it for a page, with its heading."""
        rule = ["---", *["--:"] * (len(self.head) - 2), "---"]
        table = "\n".join(
            f"| {' | '.join(line)} |".replace("\n", "<br>")
            for line in (self.head, rule, *self.lines)
        )
        return f"## {self.heading}\n\n{table}"


def tabulate(
    section: Section, peers: Sequence[Peer], measured: Measured, forms: Sequence[str]
) -> Table:
    """Set the table of a section: a column for each form of stagecache, the judged one first."""
    own = dict(zip((OWN, OTHER), [f"{OWN} {form}" for form in forms], strict=False))
    columns = [*own, *[peer.name for peer in peers if peer.name != OWN], *section.columns]
    notes = {reason: n for n, reason in enumerate(dict.fromkeys(measured.reasons.values()), 1)}
    lines: list[list[str]] = []
    for row in _rows(section.groups):
        cells = [_cell(row, column, measured, notes) for column in columns]
        lines.append([row.name, *cells, _comparison(row, columns, measured)])
    return Table(
        section.heading,
        ["", *[own.get(column, column) for column in columns], f"{own[OWN]} compared"],
        lines,
        [f"[{n}] {reason}" for reason, n in notes.items()],
    )


def summary(sections: Sequence[Section], outcomes: Sequence[Measured]) -> list[str]:
    """Say how many limits are met, and which are not, of all sections: a list in Markdown."""
    verdicts = [
        (row, verdict)
        for section, measured in zip(sections, outcomes, strict=True)
        for row in _rows(section.groups)
        for verdict in _judge(row, measured)
    ]
    judged = [(row, v) for row, v in verdicts if v.met is not None]
    missed = [f"- {row.name}: {v.text}" for row, v in judged if not v.met]
    met = f"{len(judged) - len(missed)} of {len(judged)} limits are met."
    return [f"{met} Not met:", "", *missed] if missed else [met]


def _rows(groups: Sequence[Group]) -> Iterator[Row]:
    return (row for group in groups for row in group)


def _cell(row: Row, column: str, measured: Measured, notes: dict[str, int]) -> str:
    figure = measured.figures.get((row.name, column))
    if figure is not None:
        return str(figure)
    reason = measured.reasons.get((row.name, column))
    return "" if reason is None else f"[{notes[reason]}]"


def _judge(row: Row, measured: Measured) -> list[Verdict]:
    return [limit.judge(row.name, measured.figures) for limit in row.limits]


def _comparison(row: Row, columns: Sequence[str], measured: Measured) -> str:
    """Return the limits, whether they are met, and the ratio to a peer if no limit has one."""
    beside = [
        f"{name}: {measured.figures[row.name, name]}"
        for name in row.beside
        if name not in columns and (row.name, name) in measured.figures
    ]
    verdicts = [str(verdict) for verdict in _judge(row, measured)]
    if not any(isinstance(limit, OfPeer) for limit in row.limits):
        verdicts.append(_beside_the_fastest(row, columns, measured))
    return "; ".join(text for text in [*verdicts, *beside] if text)


def _beside_the_fastest(row: Row, columns: Sequence[str], measured: Measured) -> str:
    own = measured.figures[row.name, OWN].median
    peers = [column for column in columns if column not in (OWN, OTHER)]
    others = [(f.median, c) for c in peers if (f := measured.figures.get((row.name, c)))]
    if not others:
        return f"no peer: {row.alone}" if row.alone else ""
    best, name = min(others)
    return f"{ratio_text(own / best)} × {name}"
