"""`stagecache impact`: entries that a write of a variable would make stale."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stagecache.cli.loading import load_system
from stagecache.cli.output import new_table, print_json, print_table, print_text
from stagecache.cli.state import make_state
from stagecache.inspection import Impact


def show_impact(
    model: str, variable: str, stage: str | None, writes: Sequence[str], *, as_json: bool
) -> None:
    """Load a System, compute all entries of a State, and print the impact of a write.

    Parameters
    ----------
    model : str
        In a form that `load_system` accepts.
    variable : str
        Its path.
    stage : str or None
        Stage to realize first; None stands for Report.
    writes : sequence of str
        Writes such as "pendulum.angle=0.3", made after all entries are computed.
    as_json : bool
        True to print JSON, for programs.

    Raises
    ------
    UnknownPathError, NodeKindError
        The variable does not exist.
    """
    impact = make_state(load_system(model), stage or "Report", writes).impact(variable)
    if as_json:
        print_json(impact.as_dict())
        return
    out = Console(highlight=False)
    direct = f": {len(impact.by_prerequisite)} direct, {len(impact.entries)} in all."
    first = str(impact).splitlines()[0].removesuffix(":").removesuffix(".")
    print_text(out, first + (direct if impact.entries else "."))
    if impact.entries:
        out.print()
        print_table(out, _table(impact))
    if impact.through_hooks:
        out.print()
        print_text(out, f"Through hooks that run again: {', '.join(impact.through_hooks)}.")
    if impact.forgotten:
        out.print()
        print_text(out, f"Forgotten: {', '.join(impact.forgotten)}.")


def _table(impact: Impact) -> Table:
    table = new_table("made stale", "by")
    for entry, reason in _rows(impact):
        table.add_row(Text(entry), Text(reason))
    return table


def _rows(impact: Impact) -> Iterator[tuple[str, str]]:
    for entry in impact.by_prerequisite:
        yield entry, impact.variable
    for stage, entries in impact.by_stage.items():
        for entry in entries:
            yield entry, f"stage {stage}"
