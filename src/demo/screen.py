"""The demonstration on the screen. Only headings and captions are text; all else was observed."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from stagecache.demo.steps import Model, Step, build_model, demonstrate
from stagecache.state import AbstractHandle, CacheEntry, Stage, State

Node = AbstractHandle | Stage
Label = Callable[[Node], Text]

WIDEST: Final = 80  # lines that are longer are harder to read, on any terminal
INDENT: Final = "   "


def show(console: Console, name: str, value: float) -> None:
    """Print the demonstration, in which the variable `name` is written.

    Raises
    ------
    UnknownItemError, DerivedNodeError, OutOfRangeError
        There is no such variable, or no model with that value; nothing is printed.
    """
    model = build_model()
    steps = demonstrate(model, name, value)
    state = model.system.default_state
    before, write, after = steps.second[-1], steps.write, steps.last[-1]
    stale = [e for e in model.entries if e in before.values and e not in write.values]
    kept = [e for e in model.entries if e in write.values]
    console.width = min(console.width, WIDEST)

    def tell(heading: str, *parts: RenderableType) -> None:
        _print(console, Text(heading, style="bold"))
        for part in parts:
            _print(console, part, INDENT)
        console.print()

    def draw(label: Label) -> list[Tree]:
        return [_draw(entry, model, state, label) for entry in model.read]

    tell(
        f"1. The model: a System of {len(model.parts)} Subsystems",
        "A write of a variable makes its stage stale, and those after it. Entries are computed "
        "when they are read, and hooks are called when a stage is realized.",
        "",
        _declared(model, steps.start),
        "",
        "Below each entry stands what it depends on.",
        "",
        *draw(lambda node: _assignment(node, steps.start)),
    )
    tell(
        "2. Realize and read: entries are computed, after what they depend on",
        *_call(steps.realize),
        _lists(
            ("realized", steps.realize.realized),
            ("called", _called(model, steps.realize)),
            ("computed", steps.realize.computed),
        ),
        *_reads(steps.first),
    )
    tell("3. Read again: the values were kept", *_reads(steps.second))
    tell(
        f"4. Write the {name}: what depends on it is stale",
        *_call(write),
        _lists(("the State was at", [before.stage]), ("it fell back to", [write.stage])),
        "",
        *draw(lambda node: _validity(node, before, write)),
        "",
        _lists(("stale", stale), ("still valid", kept)),
    )
    tell(
        "5. Realize what is not realized, stage by stage",
        ">>> while state.stage < Stage.ACCELERATION:",
        "...     system.realize(state, state.stage.next())",
        "",
        _stages(model, steps.climb),
        "",
        *_call(steps.udot),
    )
    tell(
        "6. Read: only what is still stale is computed",
        *_reads(steps.last),
        "",
        _comparison(model.entries, before, after),
    )
    _print(console, "Next: this model is examples/pendulum.py, and the guide is docs/system.md.")


def _print(console: Console, part: RenderableType, indent: str = "") -> None:
    """Print without the blanks with which rich fills up lines, and which copies would show."""
    options = console.options.update_width(console.width - len(indent))
    for line in console.render_lines(part, options, pad=False):
        text = Text.assemble(indent, *((s.text, s.style or "") for s in line))
        text.rstrip()
        console.print(text)


# ---------------------------------------------------------------------- the model


def _declared(model: Model, start: Step) -> Table:
    table = _grid(3, padding=2)
    for part in model.parts:
        rows: dict[str, list[str]] = {}
        for v in part.variables:
            assignment = f"{v.name} = {_format(start.values[v])}"
            rows.setdefault(f"variables of {part.stages[v]}", []).append(assignment)
        rows["entries"] = [entry.name for entry in part.entries]
        rows["hooks"] = list(part.hooks.values())
        title = Text(part.subsystem.name, style="bold")
        for caption, names in rows.items():
            if names:
                table.add_row(title, caption, ", ".join(names))
                title = Text()
    return table


def _draw(node: Node, model: Model, state: State, label: Label) -> Tree:
    """Draw what a node depends on, under it: variables and entries, and a stage if it names one."""
    tree = Tree(label(node), guide_style="default")
    if isinstance(node, CacheEntry):
        above: list[Node] = [*node.prerequisites(state)]
        if node in model.named_stages:
            above.append(model.named_stages[node])
        tree.children += [_draw(other, model, state, label) for other in above]
    return tree


def _assignment(node: Node, step: Step) -> Text:
    if isinstance(node, Stage):
        return Text(f"stage {node}")
    if isinstance(node, CacheEntry):
        return Text(str(node), style="bold")
    return Text(f"{node} = {_format(step.values[node])}")


def _validity(node: Node, before: Step, after: Step) -> Text:
    text = _assignment(node, after)
    if isinstance(node, Stage):
        word = ("realized", "green") if node <= after.stage else ("not realized", "bold red")
    elif isinstance(node, CacheEntry):
        word = ("valid", "green") if node in after.values else ("STALE", "bold red")
    elif after.versions[node] > before.versions[node]:
        word = ("written", "bold")
    else:
        return text
    return text.append("  ").append(*word)


# ---------------------------------------------------------------------- what was done


def _call(step: Step) -> tuple[str, ...]:
    called = f">>> {step.command}"
    return (called,) if step.result is None else (called, _format(step.result))


def _reads(steps: Iterable[Step]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for step in steps:
        parts += [*_call(step), _lists(("computed", step.computed))]
    return parts


def _lists(*rows: tuple[str, Iterable[object]]) -> Table:
    table = _grid(2, padding=1)
    for caption, items in rows:
        table.add_row(f"{caption}:", _names(items))
    return table


def _names(items: Iterable[object]) -> str:
    return ", ".join(map(str, items)) or "nothing"


def _called(model: Model, step: Step) -> list[str]:
    """The hooks that realizing those stages calls."""
    return [
        f"{part.subsystem.name}.{part.hooks[stage]}"
        for stage in step.realized
        for part in model.parts
        if stage in part.hooks
    ]


def _stages(model: Model, steps: Iterable[Step]) -> Table:
    table = _table("realized", "called", "computed")
    for step in steps:
        table.add_row(*map(_names, (step.realized, _called(model, step), step.computed)))
    return table


def _comparison(entries: Iterable[CacheEntry[Any]], before: Step, after: Step) -> Table:
    table = _table("entry", "before", "now", "version")
    for e in entries:
        if after.versions[e] > before.versions[e]:
            version = Text(f"{before.versions[e]} -> {after.versions[e]}", style="bold")
        else:
            version = Text(f"{after.versions[e]}, kept", style="green")
        values = _format(before.values[e]), _format(after.values[e])
        table.add_row(Text(str(e), style="bold"), *values, version)
    return table


def _grid(columns: int, *, padding: int) -> Table:
    table = Table.grid(padding=(0, padding, 0, 0))
    for _ in range(columns):
        table.add_column(overflow="fold")  # the default cuts off what does not fit
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="underline")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _format(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"[{', '.join(map(_format, value.tolist()))}]"
    return f"{value + 0.0:.4g}" if isinstance(value, float) else repr(value)  # no -0
