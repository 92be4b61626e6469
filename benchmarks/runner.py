"""Measuring: the samples of a group of rows are taken in turns, so that drift hits all alike."""

import gc
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Final

from attrs import define, field, frozen

from benchmarks.deepstack import DeepStack, deep_stack
from benchmarks.errors import NotInstalledError
from benchmarks.figures import Figure, summarise
from benchmarks.forms import OtherForm
from benchmarks.peers import OTHER, OWN, Peer
from benchmarks.probes import AbstractProbe
from benchmarks.rows import Row, Section
from benchmarks.rows.base import Group


@frozen
class Effort:
    """How much to measure.

    Attributes
    ----------
    repetitions : int
        Samples for each figure.
    budget : float
        Seconds for each sample, where that can be chosen.
    patience : float
        Seconds for all samples of a figure, after which only the fewest are completed.
    fewest : int
        Samples that a figure needs in any case.
    short : bool
        Whether to leave the peers out of slow rows.
    """

    repetitions: int
    budget: float
    patience: float
    fewest: int
    short: bool


FULL: Final = Effort(repetitions=15, budget=0.02, patience=8, fewest=3, short=False)
QUICK: Final = Effort(repetitions=3, budget=0.002, patience=0.1, fewest=1, short=True)


@frozen
class Measured:
    """The outcome of a run, by row and column: figures, and why some are missing."""

    figures: dict[tuple[str, str], Figure] = field(factory=dict)
    reasons: dict[tuple[str, str], str] = field(factory=dict)

    def exchanged(self) -> "Measured":
        """Return the same with the columns OWN and OTHER exchanged."""
        names = {OWN: OTHER, OTHER: OWN}
        figures = {
            (row, names.get(column, column)): figure
            for (row, column), figure in self.figures.items()
        }
        return Measured(figures, self.reasons)


@define
class _Cell:
    """What is measured for one cell of the table."""

    row: Row
    column: str
    probe: AbstractProbe
    deep: DeepStack | None
    samples: list[float] = field(factory=list)
    spent: float = 0.0

    def sample(self, effort: Effort) -> None:
        """Take a sample, unless there are enough."""
        count = len(self.samples)
        hasty = self.spent > effort.patience and count >= effort.fewest
        if hasty or count >= self.probe.enough:
            return
        gc.collect()
        start = perf_counter()
        probe = self.probe
        self.samples.append(probe.sample() if self.deep is None else self.deep.run(probe.sample))
        self.spent += perf_counter() - start


def select(groups: Sequence[Group], pattern: str) -> list[Group]:
    """Return the rows in whose names the regular expression is found, in whatever case."""
    wanted = re.compile(pattern, re.IGNORECASE)
    chosen = [tuple(row for row in group if wanted.search(row.name)) for group in groups]
    return [group for group in chosen if group]


def measure(
    section: Section,
    peers: Sequence[Peer],
    effort: Effort,
    advance: Callable[[str], None],
    other: OtherForm | None = None,
) -> Measured:
    """Measure all rows on all peers; `advance` is told each row when it is begun.

    The other form of stagecache, where there is one, is measured in the column OTHER.
    """
    measured = Measured()
    with deep_stack() as deep:
        for group in section.groups:
            cells: list[_Cell] = []
            for row in group:
                advance(row.name)
                for column in row.without.keys() & set(section.columns):
                    measured.reasons[row.name, column] = row.without[column]
                cells += _open(row, peers, effort, deep, measured.reasons)
                if other is not None and OWN not in row.without:
                    build = partial(other.probe, section.heading, row.name)
                    cells.append(_Cell(row, OTHER, _ready(build, effort, None), None))
            with _garbage_kept():
                for _ in range(effort.repetitions):
                    for cell in cells:
                        cell.sample(effort)
            for cell in cells:
                figure = summarise(cell.samples, cell.row.unit, cell.probe.note)
                measured.figures[cell.row.name, cell.column] = figure
            if other is not None:
                other.forget()
    return measured


def _open(
    row: Row,
    peers: Sequence[Peer],
    effort: Effort,
    deep: DeepStack,
    reasons: dict[tuple[str, str], str],
) -> Iterator[_Cell]:
    """Build the probes of a row, or note the reason why one cannot be."""
    for peer in peers:
        if peer.name in row.without:
            reasons[row.name, peer.name] = row.without[peer.name]
        elif row.slow and effort.short and peer.name != OWN:
            reasons[row.name, peer.name] = "left out of a quick run"
        else:
            stack = deep if peer.recurses else None
            try:
                probe = _ready(partial(row.build, peer), effort, stack)
            except RecursionError:
                reasons[row.name, peer.name] = "deeper than this Python lets it recurse"
            else:
                yield _Cell(row, peer.name, probe, stack)
    for column, build in row.beside.items():
        if column in row.without:
            reasons[row.name, column] = row.without[column]
            continue
        try:
            probe = _ready(build, effort, None)
        except NotInstalledError as error:
            reasons[row.name, column] = str(error)
        else:
            yield _Cell(row, column, probe, None)


def _ready(
    build: Callable[[], AbstractProbe], effort: Effort, deep: DeepStack | None
) -> AbstractProbe:
    def build_and_calibrate() -> AbstractProbe:
        probe = build()
        probe.calibrate(effort.budget)
        return probe

    return build_and_calibrate() if deep is None else deep.run(build_and_calibrate)


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Collect no garbage of its own accord, and none of what is there already when asked to."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
