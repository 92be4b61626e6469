"""A State as people see it: in a line, in lines of text, and as HTML in a notebook."""

import re
from collections.abc import Iterable
from html import escape

import numpy as np

from stagecache.errors import short_repr
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS, VECTORS, VectorKind

MODEL, INSTANCE = Stage.MODEL, Stage.INSTANCE


MOST_SHOWN = 50  # subsystems, in a text or table


def counted(number: int, noun: str) -> str:
    """Return a number of things: "1 cache entry", "2 cache entries"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def summary(contents: Contents) -> str:
    """Return the stage of a State, its size, and how much of its cache is valid."""
    realization = contents.realization
    entries = [e for s in realization.layout.subsystems for e in s.entries]
    parts = [counted(len(realization.machine.stages), "subsystem")]
    if realization.machine.stage >= Stage.TOPOLOGY:
        parts.append(f"t={contents.time:g}")
    if realization.machine.stage >= MODEL:
        parts += [f"n{kind}={contents.pools.size(kind, None)}" for kind in CONTINUOUS]
    valid = sum(realization.store.is_valid(e._node) for e in entries)
    parts.append(f"{valid} of {counted(len(entries), 'cache entry')} valid")
    return f"State(at {Stage(realization.machine.stage)}: {', '.join(parts)})"


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
    """Return a table with a row for each subsystem: its stage, and its contents."""
    realization = contents.realization
    rows = []
    for x, subsystem in enumerate(realization.layout.subsystems[:MOST_SHOWN]):
        sizes = [str(subsystem.size(part)) for part in ("q", "u", "z", "qerr", "uerr", "udoterr")]
        valid = sum(realization.store.is_valid(e._node) for e in subsystem.entries)
        cells = [
            str(x),
            escape(subsystem.name),
            _bar(realization.machine.stages[x]),
            *sizes,
            str(len(subsystem.discrete)),
            f"{valid} of {len(subsystem.entries)}",
        ]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    heads = ["", "subsystem", "stage", "q", "u", "z", "qerr", "uerr", "udoterr", "discrete"]
    head = "".join(f"<th>{h}</th>" for h in [*heads, "valid"])
    return (
        f"<p><b>State</b> {escape(summary(contents)[6:-1])}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        + "".join(f"<p>{line}</p>" for line in _not_shown(contents))
    )


def _not_shown(contents: Contents) -> list[str]:
    more = len(contents.realization.machine.stages) - MOST_SHOWN
    return [f"... and {counted(more, 'subsystem')} more"] if more > 0 else []


def _bar(stage: int) -> str:
    name = str(Stage(stage))
    return f'<meter max="{Stage.REPORT:d}" value="{stage:d}" title="{name}"></meter> {name}'


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
