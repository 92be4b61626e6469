"""What the demonstration says is what its model implies."""

import math
import re
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import stagecache.demo
from stagecache.demo.screen import show
from stagecache.demo.steps import Demonstration, Model, Step, build_model, demonstrate
from stagecache.errors import DerivedNodeError, OutOfRangeError, UnknownItemError
from stagecache.state import AbstractHandle, CacheEntry, Stage

VARIABLES = [variable.name for variable in build_model().variables]
EXAMPLE = Path(__file__).parents[1] / "examples" / "pendulum.py"


def demonstration(name: str = "angle", value: float = 0.3) -> tuple[Model, Demonstration]:
    model = build_model()
    return model, demonstrate(model, name, value)


def names(items: Any) -> list[str]:
    return [str(item) for item in items]


def upstream(model: Model, entry: CacheEntry[Any]) -> set[AbstractHandle]:
    above = entry.prerequisites(model.system.default_state)
    entries = [node for node in above if isinstance(node, CacheEntry)]
    return {*above}.union(*(upstream(model, node) for node in entries))


def stale_after_a_write(model: Model, name: str) -> set[str]:
    """By what is declared: what names the variable, or a stage that a write of it makes stale."""
    ((stage, variable),) = [
        (stage, v) for part in model.parts for v, stage in part.stages.items() if v.name == name
    ]
    return {
        str(entry)
        for entry in model.entries
        if variable in upstream(model, entry)
        or any(
            model.named_stages.get(node, Stage.EMPTY) >= stage
            for node in {entry, *upstream(model, entry)}
        )
    }


def printed(
    width: int = 80, name: str = "angle", value: float = 0.3, *, terminal: bool = False
) -> str:
    file = StringIO()
    color = "standard" if terminal else "auto"
    console = Console(
        file=file,
        width=width,
        force_terminal=terminal,
        color_system=color,  # type: ignore[arg-type]  # a str is not taken for its Literal
        highlight=False,
        _environ={},
    )
    show(console, name, value)
    return file.getvalue()


def sections(text: str) -> list[str]:
    return re.split(r"^(?=\d\. |Next: )", text, flags=re.M)[1:]


# ---------------------------------------------------------------------- what is done


def test_show_is_what_the_command_imports() -> None:
    assert stagecache.demo.show is show


def test_the_model_is_the_example_itself() -> None:
    assert stagecache.demo.__file__ is not None
    shown = Path(stagecache.demo.__file__).with_name("pendulum.py")
    assert shown.read_text(encoding="utf-8") == EXAMPLE.read_text(encoding="utf-8")


def test_what_is_read_are_the_entries_on_which_no_other_depends() -> None:
    model = build_model()
    state = model.system.realize_topology()
    assert set(model.read) == {entry for entry in model.entries if not entry.dependents(state)}


def test_realizing_computes_nothing_and_makes_all_entries_readable() -> None:
    _, steps = demonstration()
    assert steps.realize.computed == ()
    assert steps.realize.realized == tuple(Stage)[Stage.INSTANCE : Stage.VELOCITY + 1]
    assert steps.realize.stage == Stage.VELOCITY


def test_the_first_read_of_the_torque_computes_the_tip_before_it() -> None:
    _, steps = demonstration()
    computed = names(steps.first[0].computed)
    assert computed == ["pendulum.tip", "pendulum.weight", "anchor.torque"]


def test_the_first_reads_compute_each_entry_once_and_after_its_prerequisites() -> None:
    model, steps = demonstration()
    computed = [entry for step in steps.first for entry in step.computed]
    assert sorted(names(computed)) == sorted(names(model.entries))
    for x, entry in enumerate(computed):
        assert upstream(model, entry) & set(model.entries) <= set(computed[:x])
    assert {steps.first[-1].versions[entry] for entry in computed} == {1}


def test_the_second_reads_compute_nothing_and_give_the_same() -> None:
    _, steps = demonstration()
    assert [step.computed for step in steps.second] == [(), ()]
    assert [step.result for step in steps.second] == [step.result for step in steps.first]
    assert steps.second[-1].versions == steps.first[-1].versions


@pytest.mark.parametrize("name", VARIABLES)
def test_a_write_makes_stale_what_depends_on_it_and_the_rest_computes_just_that(name: str) -> None:
    model, steps = demonstration(name, 0.7)
    before, write, last = steps.second[-1], steps.write, steps.last[-1]
    stale = stale_after_a_write(model, name)
    assert set(names(before.values.keys() - write.values.keys())) == stale
    computed = [e for step in (write, *steps.climb, *steps.last) for e in step.computed]
    assert sorted(names(computed)) == sorted(stale)
    raised = {str(h) for h, version in before.versions.items() if last.versions[h] > version}
    assert raised == stale | {f"pendulum.{name}"}


@pytest.mark.parametrize("name", VARIABLES)
def test_a_write_falls_back_below_its_stage_and_the_rest_is_realized_again(name: str) -> None:
    model, steps = demonstration(name, 0.7)
    (stage,) = {s for part in model.parts for v, s in part.stages.items() if v.name == name}
    assert steps.write.stage == stage.prev()
    realized = [s for step in steps.climb for s in step.realized]
    assert realized == list(tuple(Stage)[stage : Stage.ACCELERATION + 1])
    assert [step.stage for step in steps.climb] == realized


def test_writing_the_angle_keeps_the_weight_and_acceleration_computes_the_tip() -> None:
    _, steps = demonstration()
    assert names(v for v in steps.write.values if isinstance(v, CacheEntry)) == ["pendulum.weight"]
    assert names(steps.climb[-1].computed) == ["pendulum.tip"]
    assert names(steps.last[0].computed) == ["anchor.torque"]


@pytest.mark.parametrize("name", VARIABLES)
def test_the_numbers_are_those_of_a_pendulum(name: str) -> None:
    model, steps = demonstration(name, 0.7)
    last = {str(handle): value for handle, value in steps.last[-1].values.items()}
    length, mass, gravity, angle, rate = (
        float(str(last[f"pendulum.{v}"])) for v in ("length", "mass", "gravity", "angle", "rate")
    )
    assert last[f"pendulum.{name}"] == 0.7
    expected = {
        "pendulum.tip": [length * math.sin(angle), -length * math.cos(angle)],
        "pendulum.weight": mass * gravity,
        "pendulum.kinetic_energy": mass * (length * rate) ** 2 / 2,
        "anchor.torque": -mass * gravity * length * math.sin(angle),
    }
    assert sorted(expected) == sorted(names(model.entries))
    for entry, value in expected.items():
        assert last[entry] == pytest.approx(value, rel=1e-12)
    assert steps.udot.result == pytest.approx([-gravity / length * math.sin(angle)], rel=1e-12)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("x", 1.0, UnknownItemError),
        ("pendulum", 1.0, UnknownItemError),
        ("", 1.0, UnknownItemError),
        ("tip", 1.0, DerivedNodeError),
        ("torque", 1.0, DerivedNodeError),
        ("length", 0.0, OutOfRangeError),
        ("mass", 0.0, OutOfRangeError),
        ("length", 1e-200, OutOfRangeError),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_printed(
    name: str, value: float, error: type[Exception]
) -> None:
    file = StringIO()
    with pytest.raises(error):
        show(Console(file=file), name, value)
    assert file.getvalue() == ""


def test_a_refusal_names_the_thing_and_a_cure() -> None:
    model = build_model()
    with pytest.raises(UnknownItemError, match=r"(?s)pendulum, anchor.*'rates'.*mean 'rate'"):
        demonstrate(model, "rates", 1.0)
    with pytest.raises(DerivedNodeError, match=r"(?s)anchor\.torque.*one of length, mass"):
        demonstrate(model, "torque", 1.0)
    with pytest.raises(OutOfRangeError, match=r"(?s)pendulum\.length.*Acceleration.*length 1\.0"):
        demonstrate(model, "length", 0.0)


# ---------------------------------------------------------------------- what is printed


def test_every_declared_item_and_hook_is_listed_with_its_subsystem() -> None:
    model, steps = demonstration()
    listed = sections(printed())[0].split("Below")[0]
    for part in model.parts:
        assert f"   {part.subsystem.name}  " in listed
        for variable, stage in part.stages.items():
            assert re.search(
                rf"variables of {stage} .*\b{variable.name} = {steps.start.values[variable]:g}\b",
                listed,
            )
        for name in (*names(e.name for e in part.entries), *part.hooks.values()):
            assert re.search(rf"\b{name}\b", listed)
    assert [part.hooks for part in model.parts] == [
        {Stage.VELOCITY: "realize_velocity", Stage.ACCELERATION: "realize_acceleration"},
        {},
    ]


@pytest.mark.parametrize("section", [0, 3])
def test_every_entry_is_drawn_above_what_it_depends_on(section: int) -> None:
    model, _ = demonstration()
    path: list[str] = []
    edges: list[tuple[str, str]] = []
    drawn = r"^ {3}([ │├└─]*)((?:stage )?[\w.]+)(?: = \S+)?(?:  [\w ]+)?$"
    for guides, name in re.findall(drawn, sections(printed())[section], re.M):
        path = [*path[: len(guides) // 4], name]
        edges += [(path[-2], name)] if len(path) > 1 else []
    state = model.system.default_state
    declared = [(str(e), str(above)) for e in model.entries for above in e.prerequisites(state)]
    declared += [(str(e), f"stage {stage}") for e, stage in model.named_stages.items()]
    assert ("pendulum.kinetic_energy", "stage Velocity") in edges
    assert sorted(edges) == sorted(declared)


@pytest.mark.parametrize("name", VARIABLES)
def test_the_drawing_after_the_write_says_what_is_valid_written_and_realized(name: str) -> None:
    model, steps = demonstration(name, 0.7)
    drawing = sections(printed(name=name, value=0.7))[3]
    for entry in model.entries:
        word = "valid" if entry in steps.write.values else "STALE"
        assert re.search(rf"{re.escape(str(entry))}  {word}$", drawing, re.M)
    state = model.system.realize_topology()
    is_drawn = any(v.name == name for e in model.entries for v in e.prerequisites(state))
    drawn = [f"pendulum.{name}"] if is_drawn else []
    assert re.findall(r"(\S+) = 0\.7  written$", drawing, re.M) == drawn
    assert re.findall(r"stage Velocity  (.+)$", drawing, re.M) == ["not realized"]


def said(step: Step) -> str:
    result = step.result
    value = f"{result:.4g}" if isinstance(result, float) else ""
    return f">>> {step.command} {value} computed: {', '.join(names(step.computed)) or 'nothing'}"


@pytest.mark.parametrize("name", VARIABLES)
def test_the_commands_results_and_lists_that_are_printed_are_those_observed(name: str) -> None:
    model, steps = demonstration(name, 0.7)
    _, realize, again, write, climb, last, _ = (
        " ".join(section.split()) for section in sections(printed(name=name, value=0.7))
    )
    first = " ".join(map(said, steps.first))
    assert realize.endswith(
        f">>> {steps.realize.command} realized: {', '.join(names(steps.realize.realized))} "
        f"called: pendulum.realize_velocity computed: nothing {first}"
    )
    assert again.endswith(" ".join(map(said, steps.second)))
    stale = [str(e) for e in model.entries if e not in steps.write.values]
    kept = [str(e) for e in model.entries if e in steps.write.values]
    assert f">>> pendulum.{name}.set(state, 0.7) the State was at: Velocity" in write
    assert f"it fell back to: {steps.write.stage} " in write
    assert write.endswith(f"stale: {', '.join(stale)} still valid: {', '.join(kept) or 'nothing'}")
    hooks = {s: f"{p.subsystem.name}.{hook}" for p in model.parts for s, hook in p.hooks.items()}
    rows = [
        f"{step.stage} {hooks.get(step.stage, 'nothing')} "
        f"{', '.join(names(step.computed)) or 'nothing'}"
        for step in steps.climb
    ]
    assert isinstance(steps.udot.result, np.ndarray)
    udot = f">>> state.udot [{steps.udot.result[0]:.4g}]"
    assert climb.endswith(" ".join(["realized called computed", *rows, udot]))
    assert " ".join(map(said, steps.last)) in last


@pytest.mark.parametrize("name", VARIABLES)
def test_the_table_at_the_end_says_what_was_kept_and_what_has_a_new_version(name: str) -> None:
    model, _ = demonstration(name, 0.7)
    table = sections(printed(name=name, value=0.7))[5].split("\n\n")[1]
    rows = [re.split(r" {2,}", line.strip()) for line in table.splitlines()]
    stale = stale_after_a_write(model, name)
    assert [(row[0], row[-1]) for row in rows] == [
        ("entry", "version"),
        *((str(e), "1 -> 2" if str(e) in stale else "1, kept") for e in model.entries),
    ]
    assert [row for row in rows if row[-1] == "1, kept" and row[1] != row[2]] == []


def test_commands_that_are_printed_can_be_run_and_give_what_is_printed() -> None:
    """The drawing and the lists are left out: what stands under a command is its result."""
    text = printed()
    model = build_model()
    scope: dict[str, Any] = {p.subsystem.name: p.subsystem for p in model.parts}
    scope |= {"system": model.system, "Stage": Stage, "state": model.system.realize_topology()}
    scope["state"] = scope["state"].copy()
    run = 0
    for block in re.split(r"^ {3}>>> ", text, flags=re.M)[1:]:
        first, *lines = block.splitlines()
        more = [line for line in lines if line.startswith("   ... ")]
        if more:
            exec("\n".join([first, *(line.removeprefix("   ... ") for line in more)]), scope)
            continue
        result = eval(first, scope)
        run += 1
        if result is not None:
            shown = np.array(re.findall(r"[-\d.e]+", lines[0]), dtype=float)
            assert shown == pytest.approx(np.atleast_1d(result), rel=1e-3, abs=1e-12)
    assert run == len(re.findall(">>>", text)) - 1


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", VARIABLES)
def test_no_line_is_wider_than_the_terminal_or_80_columns(width: int, name: str) -> None:
    lines = printed(width, name).splitlines()
    assert max(map(len, lines)) <= min(width, 80)
    assert [line for line in lines if line != line.rstrip()] == []


def test_nothing_is_cut_off_on_a_narrow_terminal() -> None:
    def letters(text: str) -> list[str]:
        return sorted(re.sub(r"[\s│├└─]", "", text))

    assert letters(printed(40)) == letters(printed(80))


def test_no_number_is_printed_as_minus_zero() -> None:
    assert not re.search(r"(?<![\w.])-0(?![\w.])", printed(name="angle", value=0.0))


def test_sections_are_numbered_and_end_with_a_blank_line() -> None:
    *numbered, last = sections(printed())
    assert [section.split(".")[0] for section in numbered] == ["1", "2", "3", "4", "5", "6"]
    assert all(re.search(r"\S\n\n\Z", section) for section in numbered)
    assert last.startswith("Next: ")


def test_colours_are_for_terminals_only_and_the_text_is_the_same() -> None:
    plain = printed()
    coloured = printed(terminal=True)
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


def test_a_terminal_without_unicode_gets_ascii() -> None:
    bytes_written = BytesIO()
    file = TextIOWrapper(bytes_written, encoding="ascii")
    show(Console(file=file, width=80), "angle", 0.3)
    file.flush()
    assert "+-- pendulum.angle = 0.3  written" in bytes_written.getvalue().decode("ascii")
