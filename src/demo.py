"""The model behind `stagecache demo`: a pendulum that tells what it computes.

Every compute function notes its name when it has a result. What the demonstration says of
computations comes from these notes, what it says of validity from `is_valid`, and its drawing from
`prerequisites`. Only the headings are text.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from math import cos, sin
from typing import Final, ParamSpec, TypeVar

from attrs import frozen
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from stagecache.graph import AbstractNode, Entry, Graph, Variable

P = ParamSpec("P")
R = TypeVar("R")
Point = tuple[float, float]

WIDEST: Final = 80  # lines that are longer are harder to read, on any terminal
INDENT: Final = "   "


@frozen
class Pendulum:
    """A point mass on a rod, in SI units."""

    graph: Graph
    energy: Entry[float]
    notes: list[str]
    """The entries computed so far, in the order in which they had a result."""


@frozen
class Step:
    """What was done to a model, what it computed for that, and its state afterwards."""

    command: str
    result: object
    computed: tuple[str, ...]
    """Names of entries, in the order in which they had a result."""

    values: dict[str, object]
    """By name, of the nodes that are valid."""

    versions: dict[str, int]
    """By name, of all nodes."""


def build_pendulum() -> Pendulum:
    """Build the model. Nothing is computed yet."""
    graph = Graph("pendulum")
    notes: list[str] = []

    def noted(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def compute(*args: P.args, **kwargs: P.kwargs) -> R:
            value = function(*args, **kwargs)
            notes.append(function.__name__)
            return value

        return compute

    length = graph.variable("length", 2.0)
    mass = graph.variable("mass", 1.5)
    angle = graph.variable("angle", 0.5)  # 0 where it hangs at rest
    rate = graph.variable("rate", 0.0)
    gravity = graph.variable("gravity", 9.81)

    @graph.entry(prerequisites=(length, angle))
    @noted
    def tip(length: Variable[float], angle: Variable[float]) -> Point:  # from its place at rest
        return length() * sin(angle()), length() * (1 - cos(angle()))

    @graph.entry(prerequisites=(tip,))
    @noted
    def height(tip: Entry[Point]) -> float:
        return tip()[1]

    @graph.entry(prerequisites=(mass, gravity, height))
    @noted
    def potential_energy(
        mass: Variable[float], gravity: Variable[float], height: Entry[float]
    ) -> float:
        return mass() * gravity() * height()

    @graph.entry(prerequisites=(length, rate))
    @noted
    def speed(length: Variable[float], rate: Variable[float]) -> float:
        return length() * rate()

    @graph.entry(prerequisites=(mass, speed))
    @noted
    def kinetic_energy(mass: Variable[float], speed: Entry[float]) -> float:
        return mass() * speed() ** 2 / 2

    @graph.entry(prerequisites=(potential_energy, kinetic_energy))
    @noted
    def energy(potential_energy: Entry[float], kinetic_energy: Entry[float]) -> float:
        return potential_energy() + kinetic_energy()

    return Pendulum(graph, energy, notes)


def observe(model: Pendulum, command: str, action: Callable[[], object]) -> Step:
    """Do something to the model and note what comes of it, without computing anything more."""
    start = len(model.notes)
    result = action()
    return Step(
        command,
        result,
        tuple(model.notes[start:]),
        {node.name: node() for node in model.graph if node.is_valid()},
        {node.name: node.version for node in model.graph},
    )


def demonstrate(model: Pendulum, name: str, value: float) -> list[Step]:
    """Read the energy twice, write a variable, and read the energy again.

    Returns
    -------
    list of Step
        One more than that: the first is the state before anything was done.

    Raises
    ------
    UnknownNodeError, DerivedNodeError
        There is no variable of that name.
    """
    variable: Variable[float] = model.graph[name]
    read = f"{model.energy.name}()"
    return [
        observe(model, "", lambda: None),
        observe(model, read, model.energy),
        observe(model, read, model.energy),
        observe(model, f"{name}.set({value:g})", lambda: variable.set(value)),
        observe(model, read, model.energy),
    ]


# ---------------------------------------------------------------------- on the screen


def show(console: Console, name: str, value: float) -> None:
    """Print the demonstration, in which the variable `name` is written.

    Raises
    ------
    UnknownNodeError, DerivedNodeError
        There is no variable of that name; nothing is printed.
    """
    model = build_pendulum()
    start, first, second, write, third = demonstrate(model, name, value)
    entries = [node.name for node in model.graph if isinstance(node, Entry)]
    counts = model.graph.statistics
    console.width = min(console.width, WIDEST)

    def tell(heading: str, *parts: RenderableType) -> None:
        _print(console, Text(heading, style="bold"))
        for part in parts:
            _print(console, part, INDENT)
        console.print()

    tell(
        f"1. The model: a {model.graph.name}",
        f"{counts.variables} variables, which are written, and {counts.entries} entries, which are "
        "computed when they are read. Below each entry stands what it depends on.",
        "",
        _draw(model.energy, lambda node: _assignment(node, start)),
    )
    tell(
        "2. Read the energy: it is computed, after what it depends on",
        *_call(first),
        _lists(("computed, in order", first.computed)),
    )
    tell(
        "3. Read it again: the value was kept",
        *_call(second),
        _lists(("computed", second.computed)),
    )
    tell(
        f"4. Write the {name}: what depends on it is no longer valid",
        *_call(write),
        _draw(model.energy, lambda node: _validity(node, second, write)),
        "",
        _lists(
            ("no longer valid", [e for e in entries if e in second.values.keys() - write.values]),
            ("still valid", [e for e in entries if e in write.values]),
        ),
    )
    tell(
        "5. Read the energy: only what was no longer valid is computed",
        *_call(third),
        _lists(("computed, in order", third.computed)),
        "",
        _comparison(entries, second, third),
    )
    _print(console, "Next: README.md for a model of your own, docs/graph.md for the whole guide.")


def _print(console: Console, part: RenderableType, indent: str = "") -> None:
    """Print without the blanks with which rich fills up lines, and which copies would show."""
    options = console.options.update_width(console.width - len(indent))
    for line in console.render_lines(part, options, pad=False):
        text = Text.assemble(indent, *((s.text, s.style or "") for s in line))
        text.rstrip()
        console.print(text)


def _draw(node: AbstractNode, label: Callable[[AbstractNode], Text]) -> Tree:
    """Draw what a node depends on, under it."""
    tree = Tree(label(node), guide_style="default")
    for above in node.prerequisites:
        tree.children.append(_draw(above, label))
    return tree


def _assignment(node: AbstractNode, step: Step) -> Text:
    if isinstance(node, Variable):
        return Text(f"{node.name} = {_format(step.values[node.name])}")
    return Text(node.name, style="bold")


def _validity(node: AbstractNode, before: Step, after: Step) -> Text:
    if isinstance(node, Entry):
        word = ("valid", "green") if node.name in after.values else ("NOT VALID", "bold red")
        return Text.assemble((node.name, "bold"), "  ", word)
    text = _assignment(node, after)
    if after.versions[node.name] > before.versions[node.name]:
        text.append("  written", style="bold")
    return text


def _call(step: Step) -> tuple[str, ...]:
    called = f">>> {step.command}"
    return (called,) if step.result is None else (called, _format(step.result))


def _lists(*rows: tuple[str, Sequence[str]]) -> Table:
    table = Table.grid(padding=(0, 1))
    for caption, names in rows:
        table.add_row(f"{caption}:", ", ".join(names) or "nothing")
    return table


def _comparison(entries: Sequence[str], before: Step, after: Step) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="underline")
    for heading in ("entry", "before", "now", "version", "value was"):
        table.add_column(heading, overflow="fold")
    for e in entries:
        if e in after.computed:
            version = f"{before.versions[e]} -> {after.versions[e]}"
            what = Text("computed", style="bold")
        else:
            version = f"{after.versions[e]}"
            what = Text("kept", style="green")
        values = _format(before.values[e]), _format(after.values[e])
        table.add_row(Text(e, style="bold"), *values, version, what)
    return table


def _format(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_format, value))})"
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
