"""What the demonstration says is what its graph implies."""

import re
from io import BytesIO, StringIO, TextIOWrapper
from math import cos, isclose, sin

import pytest
from rich.console import Console

from stagecache.demo import Step, build_pendulum, demonstrate, show
from stagecache.errors import DerivedNodeError, UnknownNodeError
from stagecache.graph import AbstractNode, Entry, Graph, Variable

VARIABLES = [node.name for node in build_pendulum().graph if isinstance(node, Variable)]
ENTRIES = [node.name for node in build_pendulum().graph if isinstance(node, Entry)]


def downstream(node: AbstractNode) -> set[str]:
    return {node.name}.union(*map(downstream, node.dependents))


def steps(name: str = "rate", value: float = 1.5) -> tuple[Graph, list[Step]]:
    model = build_pendulum()
    return model.graph, demonstrate(model, name, value)


def printed(width: int = 80, name: str = "rate", *, terminal: bool = False) -> str:
    file = StringIO()
    color = "standard" if terminal else "auto"
    show(
        Console(
            file=file,
            width=width,
            force_terminal=terminal,
            color_system=color,  # type: ignore[arg-type]  # a str is not taken for its Literal
            highlight=False,
            _environ={},
        ),
        name,
        1.5,
    )
    return file.getvalue()


def test_building_the_model_computes_nothing() -> None:
    _, (start, *_) = steps()
    assert start.computed == ()
    assert sorted(start.values) == sorted(VARIABLES)


def test_the_first_read_computes_each_entry_once_and_after_its_prerequisites() -> None:
    graph, (_, first, *_) = steps()
    assert sorted(first.computed) == sorted(ENTRIES)
    for name in ENTRIES:
        for above in graph[name].prerequisites:
            if above.name in ENTRIES:
                assert first.computed.index(above.name) < first.computed.index(name)


def test_the_second_read_computes_nothing_and_gives_the_same() -> None:
    _, (_, first, second, *_) = steps()
    assert second.computed == ()
    assert second.result == first.result
    assert second.versions == first.versions


def test_writing_the_rate_keeps_potential_energy_and_recomputes_kinetic_energy() -> None:
    _, (*_, write, last) = steps()
    assert "potential_energy" in write.values
    assert "kinetic_energy" not in write.values
    assert last.computed == ("speed", "kinetic_energy", "energy")


@pytest.mark.parametrize("name", VARIABLES)
def test_a_write_invalidates_what_is_downstream_and_a_read_computes_just_that(name: str) -> None:
    graph, (_, _, before, write, last) = steps(name, 0.7)
    below = downstream(graph[name]) - {name}
    assert write.computed == ()
    assert before.values.keys() - write.values.keys() == below
    assert set(last.computed) == below
    assert len(last.computed) == len(below)
    raised = {n for n in before.versions if last.versions[n] > before.versions[n]}
    assert raised == below | {name}


@pytest.mark.parametrize("name", VARIABLES)
def test_the_energy_is_that_of_a_pendulum(name: str) -> None:
    _, (*_, last) = steps(name, 0.7)
    length, mass, angle, rate, gravity = (
        float(str(last.values[n])) for n in ("length", "mass", "angle", "rate", "gravity")
    )
    height = length * (1 - cos(angle))
    expected = mass * gravity * height + mass * (length * rate) ** 2 / 2
    assert isinstance(last.result, float)
    assert isclose(last.result, expected, rel_tol=1e-12)
    assert last.values["tip"] == pytest.approx((length * sin(angle), height))


@pytest.mark.parametrize(("name", "error"), [("x", UnknownNodeError), ("tip", DerivedNodeError)])
def test_what_is_no_variable_is_refused_before_anything_is_printed(
    name: str, error: type[Exception]
) -> None:
    file = StringIO()
    with pytest.raises(error):
        show(Console(file=file), name, 1.0)
    assert file.getvalue() == ""


def test_the_lists_that_are_printed_are_those_observed() -> None:
    _, (_, first, second, write, last) = steps()
    words = " ".join(printed().split())
    invalid = [e for e in ENTRIES if e not in write.values]
    valid = [e for e in ENTRIES if e in write.values]
    for sentence in (
        f"computed, in order: {', '.join(first.computed)} 3.",
        f">>> {second.command} {second.result:.4g} computed: nothing 4.",
        f"no longer valid: {', '.join(invalid)} still valid: {', '.join(valid)} 5.",
        f"{last.result:.4g} computed, in order: {', '.join(last.computed)} entry",
    ):
        assert sentence in words


def test_every_entry_is_drawn_above_what_it_depends_on() -> None:
    graph, _ = steps()
    drawing = printed().split("2. Read")[0]
    path: list[str] = []
    edges: list[tuple[str, str]] = []
    for guides, name in re.findall(r"^ {3}([ │├└─]*)(\w+)(?: = .*)?$", drawing, re.M):
        path = [*path[: len(guides) // 4], name]
        edges += [(path[-2], name)] if len(path) > 1 else []
    declared = [(e, above.name) for e in ENTRIES for above in graph[e].prerequisites]
    assert sorted(edges) == sorted(declared)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", VARIABLES)
def test_no_line_is_wider_than_the_terminal_or_80_columns(width: int, name: str) -> None:
    lines = printed(width, name).splitlines()
    assert max(map(len, lines)) <= min(width, 80)
    assert [line for line in lines if line != line.rstrip()] == []


def test_colours_are_for_terminals_only_and_the_text_is_the_same() -> None:
    plain = printed()
    coloured = printed(terminal=True)
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


def test_a_terminal_without_unicode_gets_ascii() -> None:
    bytes_written = BytesIO()
    file = TextIOWrapper(bytes_written, encoding="ascii")
    show(Console(file=file, width=80), "rate", 1.5)
    file.flush()
    assert "`-- rate = 1.5  written" in bytes_written.getvalue().decode("ascii")
