"""A State as people see it: in a line, in lines of text, and as HTML in a notebook."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from stagecache.display.html import MOST_ROWS, heading, output, paragraph, status, table
from stagecache.display.words import counted
from stagecache.errors import short_repr
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS, VECTORS, VectorKind

MODEL: Final = Stage.MODEL
MOST_SHOWN: Final = 50  # subsystems, in a text or table
PARTS: Final = ("q", "u", "z", "qerr", "uerr", "udoterr")
HEADS: Final = ("item", "kind", "value", "status")


def summary(contents: Contents) -> str:
    """Return the stage of a State, its size, and how much of its cache is valid."""
    stage = Stage(contents.realization.machine.stage)
    return f"State(at {stage}: {', '.join(_sizes(contents))})"


def _sizes(contents: Contents) -> list[str]:
    realization = contents.realization
    entries = [e for s in realization.layout.subsystems for e in s.entries]
    parts = [counted(len(realization.machine.stages), "subsystem")]
    if realization.machine.stage >= Stage.TOPOLOGY:
        parts.append(f"t={contents.time:g}")
    if realization.machine.stage >= MODEL:
        parts += [f"n{kind}={contents.pools.size(kind, None)}" for kind in CONTINUOUS]
    valid = sum(realization.store.is_valid(e._node) for e in entries)
    parts.append(f"{valid} of {counted(len(entries), 'cache entry')} valid")
    return parts


def text(contents: Contents) -> str:
    """Stages and variables, a line for each."""
    realization = contents.realization
    lines = [summary(contents)]
    lines += _vectors(
        contents, None, [kind for kind in VECTORS if kind.is_variable and kind.name != "y"]
    )
    for x, subsystem in enumerate(realization.layout.subsystems[:MOST_SHOWN]):
        version = f", version {subsystem.version}" if subsystem.version else ""
        lines.append(f"{contents.who(x)}{version}, at {Stage(realization.machine.stages[x])}")
        for blocks in subsystem.blocks.values():
            for block in blocks:
                values = ""
                if realization.machine.stage >= MODEL:
                    values = f" = {_numbers(contents.get_block(block))}"
                lines.append(f"  {block.name}{values}")
        for variable in subsystem.discrete:
            value = short_repr(contents.get_discrete(variable))
            number = realization.store.versions[variable._node]
            update = ", auto-update" if variable._update is not None else ""
            lines.append(
                f"  {variable.name} = {value} "
                f"(version {number}, invalidates {variable.invalidates}{update})"
            )
    return "\n".join(lines + _not_shown(contents))


def cache_text(contents: Contents) -> str:
    """Return a line for each computed item."""
    realization = contents.realization
    lines = [summary(contents)]
    lines += _vectors(contents, None, [kind for kind in VECTORS if not kind.is_variable])
    for x, subsystem in enumerate(realization.layout.subsystems[:MOST_SHOWN]):
        lines.append(f"{contents.who(x)}, at {Stage(realization.machine.stages[x])}")
        for entry in subsystem.entries:
            above = contents.prerequisites(entry)
            until = "" if entry.computed_by == Stage.INFINITY else f" to {entry.computed_by}"
            on = ", ".join([f"{entry.available_from}{until}", *map(str, above)])
            if contents.is_valid(entry):
                value = short_repr(realization.store.values[entry._node])
            else:
                value = "stale" if realization.store.was_computed(entry._node) else "not computed"
            lines.append(f"  {entry.name} = {value} (depends on {on})")
    return "\n".join(lines + _not_shown(contents))


def html(contents: Contents) -> str:
    """Return a table of variables and cache entries, by subsystem, as HTML."""
    subsystems = contents.realization.layout.subsystems[:MOST_SHOWN]
    most = max(1, MOST_ROWS // max(1, len(subsystems)) - 2)
    rows = [
        row
        for x in range(len(subsystems))
        for row in ((_about(contents, x),), *_item_rows(contents, x, most))
    ]
    stage = str(Stage(contents.realization.machine.stage))
    return output(
        heading("State", f"at {stage}: {', '.join(_sizes(contents))}"),
        *([table(HEADS, rows, texts=len(HEADS))] if rows else []),
        *map(paragraph, _not_shown(contents)),
    )


def html_of_subsystem(contents: Contents, x: int) -> str:
    """Return a table of variables and cache entries of a subsystem, as HTML."""
    rows = list(_item_rows(contents, x, MOST_ROWS - 1))
    return output(
        heading("SubsystemState", _about(contents, x)),
        *([table(HEADS, rows, texts=len(HEADS))] if rows else []),
    )


def _about(contents: Contents, x: int) -> str:
    """Return the name of a subsystem, its stage, and the sizes of its parts."""
    realization = contents.realization
    subsystem = realization.layout.subsystems[x]
    sizes = [(kind, subsystem.size(kind)) for kind in PARTS]
    said = [f"{kind} {size}" for kind, size in sizes if size]
    said += [counted(len(subsystem.discrete), "discrete variable")] * bool(subsystem.discrete)
    if entries := subsystem.entries:
        valid = sum(realization.store.is_valid(entry._node) for entry in entries)
        said.append(f"{valid} of {counted(len(entries), 'cache entry')} valid")
    name = f"{x} {subsystem.name}".rstrip()
    stage = Stage(realization.machine.stages[x])
    return f"{name}, at {stage}{': ' if said else ''}{', '.join(said)}"


def _item_rows(contents: Contents, x: int, most: int) -> Iterator[tuple[str, ...]]:
    """Return rows of the first variables and cache entries of a subsystem; and the rest, counted.

    Where not all are shown, half of the rows are for entries, if there are that many.
    """
    realization = contents.realization
    subsystem = realization.layout.subsystems[x]
    blocks = [block for blocks in subsystem.blocks.values() for block in blocks]
    variables = len(blocks) + len(subsystem.discrete)
    entries = len(subsystem.entries)
    of_variables = min(variables, max(most - entries, (most + 1) // 2))
    of_entries = min(entries, most - of_variables)
    for block in blocks[:of_variables]:
        known = realization.machine.stage >= MODEL
        yield block.name, block.kind, _numbers(contents.get_block(block)) if known else "", ""
    for variable in subsystem.discrete[: max(0, of_variables - len(blocks))]:
        version = f"version {realization.store.versions[variable._node]}"
        value = short_repr(contents.get_discrete(variable))
        kind = "discrete" if variable._update is None else "auto-update"
        yield variable.name, kind, value, version
    for entry in subsystem.entries[:of_entries]:
        value = ""
        if contents.is_valid(entry):
            value, at = short_repr(realization.store.values[entry._node]), "valid"
        else:
            at = "stale" if realization.store.was_computed(entry._node) else "not computed"
        yield entry.name, "entry", value, status(at)
    rest = [(variables - of_variables, "variable"), (entries - of_entries, "cache entry")]
    if any(number for number, _ in rest):
        said = " and ".join([f"{counted(number, noun)}" for number, noun in rest if number])
        yield (f"... and {said} more",)


def _not_shown(contents: Contents) -> list[str]:
    more = len(contents.realization.machine.stages) - MOST_SHOWN
    return [f"... and {counted(more, 'subsystem')} more"] if more > 0 else []


def _vectors(contents: Contents, subsystem: int | None, kinds: Iterable[VectorKind]) -> list[str]:
    """Return a line for each vector that can be read and is not empty."""
    lines = []
    at = contents.stage_of(subsystem)
    for kind in kinds:
        if at >= kind.read and kind.name not in ("ydot", "yerr"):
            values = contents.view(kind, subsystem)
            if values.size:
                lines.append(f"{kind.name} = {_numbers(values)}")
    return lines


def _numbers(values: Vector) -> str:
    return np.array2string(values, precision=6, threshold=12, max_line_width=10_000)


def snake_case(name: str) -> str:
    """Return the name of an object of a class: "double_pendulum" for "DoublePendulum"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
