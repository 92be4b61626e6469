"""The table: one row for each thing measured, one column for each library."""

from collections.abc import Iterator, Sequence

from attrs import frozen
from rich.table import Table as RichTable

from benchmarks.limits import Verdict
from benchmarks.peers import OWN, Peer
from benchmarks.rows import Group, Row
from benchmarks.runner import Measured


@frozen
class Table:
    """A table as text, cell by cell, with the notes to which its cells refer.

    Attributes
    ----------
    head : list of str
    lines : list of list of str
    notes : list of str
    """

    head: list[str]
    lines: list[list[str]]
    notes: list[str]

    def as_rich(self) -> RichTable:
        """Return it for a terminal."""
        table = RichTable(*self.head)
        for column in table.columns[1:-1]:
            column.justify = "right"
            column.no_wrap = True
        for line in self.lines:
            table.add_row(*line)
        return table

    def as_markdown(self) -> str:
        """Return it for a README."""
        rule = ["---", *["--:"] * (len(self.head) - 2), "---"]
        return "\n".join(
            f"| {' | '.join(line)} |".replace("\n", "<br>")
            for line in (self.head, rule, *self.lines)
        )


def tabulate(groups: Sequence[Group], peers: Sequence[Peer], measured: Measured) -> Table:
    """Set the table of a run."""
    columns = [peer.name for peer in peers]
    notes = {reason: n for n, reason in enumerate(dict.fromkeys(measured.reasons.values()), 1)}
    lines: list[list[str]] = []
    for row in _rows(groups):
        cells = [_cell(row, column, measured, notes) for column in columns]
        lines.append([row.name, *cells, _comparison(row, columns, measured)])
    return Table(
        ["", *columns, f"{OWN} compared"],
        lines,
        [f"[{n}] {reason}" for reason, n in notes.items()],
    )


def summary(groups: Sequence[Group], measured: Measured) -> str:
    """Say how many limits are met, and which are not."""
    verdicts = [(row, v) for row in _rows(groups) for v in _judge(row, measured)]
    judged = [(row, v) for row, v in verdicts if v.met is not None]
    missed = [f"{row.name}: {v.text}" for row, v in judged if not v.met]
    met = f"{len(judged) - len(missed)} of {len(judged)} limits are met."
    return "\n  ".join([met if not missed else f"{met} Not met:", *missed])


def _rows(groups: Sequence[Group]) -> Iterator[Row]:
    return (row for group in groups for row in group)


def _cell(row: Row, column: str, measured: Measured, notes: dict[str, int]) -> str:
    figure = measured.figures.get((row.name, column))
    return f"[{notes[measured.reasons[row.name, column]]}]" if figure is None else str(figure)


def _judge(row: Row, measured: Measured) -> list[Verdict]:
    return [limit.judge(row.name, measured.figures) for limit in row.limits]


def _comparison(row: Row, columns: Sequence[str], measured: Measured) -> str:
    """Return the limits and whether they are met or, without any, the ratio to the best peer."""
    beside = [f"{name}: {measured.figures[row.name, name]}" for name in row.beside]
    verdicts = [str(verdict) for verdict in _judge(row, measured)]
    if beside or verdicts:
        return "; ".join([*verdicts, *beside])
    own = measured.figures[row.name, OWN].median
    others = [(f.median, c) for c in columns[1:] if (f := measured.figures.get((row.name, c)))]
    if not others:
        return ""
    best, name = min(others)
    return f"{own / best:.2f} × {name}"
