"""`stagecache graph`, `explain`, `impact` and `profile`: what they print, write and return."""

import json
import re
import sys
from io import StringIO
from pathlib import Path
from typing import cast
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from rich.text import Text

from stagecache import GraphView, Stage
from stagecache.cli.investigate import COMMANDS, FORMATS, STAGES
from stagecache.cli.main import main
from stagecache.cli.output import new_table, print_table
from stagecache.cli.state import make_state
from stagecache.examples import pendulum

MODEL = "stagecache.examples.pendulum"

OWN = """
import math
from stagecache import State, Subsystem, System, cached, parameter

class Body(Subsystem):
    label = parameter("left <b>")
    size = parameter(1.0)

    @cached(prerequisites=(size,))
    def root(self, state: State) -> float:
        return math.sqrt(self.size(state))

print("imported")

def make_own() -> System:
    print("made")
    return System(Body())

def shrink(state: State) -> None:
    for size in (4.0, 1.0, 0.0):
        state.system[1].size.set(state, size)
        state.system[1].root(state)
    state.system[1].size.set(state, 2.0)
    print("shrunk")

def fall(state: State) -> None:
    raise ZeroDivisionError("no ground")

NUMBER = 1
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a file with a model of which a value may be refused, and functions to run."""
    path = tmp_path / "own_model.py"
    path.write_text(OWN, encoding="utf-8")
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return str(path)


def run(*args: str, columns: int = 100) -> Result:
    env = {"COLUMNS": str(columns)}
    return CliRunner().invoke(main, args, prog_name="stagecache", env=env)


def rows(text: str) -> dict[str, list[str]]:
    """The first table in a text, by what stands in the first column."""
    lines = text.split("\n\n")[1].splitlines()
    return {line.split()[0]: line.split()[1:] for line in lines}


# ---------------------------------------------------------------------- all of them


def test_the_stages_that_can_be_asked_for_are_those_that_can_be_realized() -> None:
    assert [*map(str, Stage)][Stage.MODEL : Stage.INFINITY] == list(STAGES)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name or "")
def test_a_shell_completes_a_model_as_a_file(command: object) -> None:
    name = getattr(command, "name", "")
    env = {"_STAGECACHE_COMPLETE": "bash_complete", "COMP_WORDS": f"stagecache {name} ex"}
    result = CliRunner().invoke(main, env=env | {"COMP_CWORD": "2"}, prog_name="stagecache")
    assert result.output == "file,\n"


@pytest.mark.parametrize(
    "args",
    [
        ("graph", "no.such.module"),
        ("graph", MODEL, "--upstream-of", "pendulum.tipp"),
        ("graph", MODEL, "--subsystem", "pendulums"),
        ("explain", MODEL, "pendulum.tipp"),
        ("explain", MODEL, "pendulum.angle"),
        ("explain", MODEL, "pendulum.tip", "--after", "pendulum.tip=1"),
        ("impact", MODEL, "pendulum.tip"),
        ("profile", MODEL, "--run", "no_such_function"),
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_an_error_with_its_cure_and_status_1(args: tuple[str, ...]) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: ")
    assert "\n  hint:     " in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("graph", MODEL, "--format", "gif"),
        ("graph", MODEL, "-o", "graph.gif"),
        ("graph", MODEL, "--format", "png"),
        ("graph", MODEL, "--json", "--format", "svg"),
        ("graph", MODEL, "--after", "pendulum.angle"),
        ("graph", MODEL, "--depth", "1"),
        ("explain", MODEL, "pendulum.tip", "--after", "pendulum.angle=fast"),
        ("explain", MODEL),
        ("impact", MODEL, "q", "--stage", "Infinity"),
        ("profile", MODEL, "--steps", "0"),
    ],
    ids=" ".join,
)
def test_a_command_that_is_written_wrongly_has_status_2(args: tuple[str, ...]) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr


@pytest.mark.parametrize("command", [("explain", "body.root"), ("graph",), ("profile",)])
def test_what_a_model_prints_is_not_mixed_with_what_was_asked_for(
    command: tuple[str, ...], own: str
) -> None:
    result = run(command[0], own, *command[1:], "--run", "shrink", "--json")
    assert json.loads(result.stdout)
    assert result.stderr == "imported\nmade\nshrunk\n"


@pytest.mark.parametrize("command", [("explain", MODEL, "anchor.torque"), ("profile", MODEL)])
def test_an_output_without_unicode_is_no_error(command: tuple[str, ...]) -> None:
    result = CliRunner(charset="ascii").invoke(main, command)
    assert result.exit_code == 0
    assert "?" in result.stdout


def test_a_model_that_raises_is_told_in_one_message(own: str) -> None:
    result = run("profile", own, "--run", "fall")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "\nError: run fall: the model raises\n" in result.stderr
    assert "ZeroDivisionError: no ground, at " in result.stderr


# ---------------------------------------------------------------------- graph


def test_graph_prints_a_row_for_each_node_with_what_is_above_it() -> None:
    result = run("graph", MODEL)
    assert (result.exit_code, result.stderr) == (0, "")
    table = rows(result.stdout)
    assert table["anchor.torque"] == ["cached", "Model", "pendulum.tip,", "pendulum.weight"]
    shown = [node.path for node in pendulum.system().graph if node.kind != "stage"]
    assert [*table] == ["node", *shown]


def test_graph_shows_the_status_in_a_state_where_there_is_one() -> None:
    result = run("graph", MODEL, "--after", "pendulum.angle=0.3")
    table = rows(result.stdout)
    assert table["pendulum.angle"] == ["Position", "value", "0.3"]
    assert table["pendulum.tip"][1] == "stale"
    assert table["pendulum.weight"][1] == "valid"
    assert rows(run("graph", MODEL, "--stage", "velocity").stdout)["pendulum.tip"][1] == "valid"


def test_graph_counts_the_rows_below() -> None:
    for options, first in (
        ((), "pendulum: 11 variables, 8 entries, 1 hook"),
        (("--kind", "stage"), "pendulum: 9 stages"),
        (("--upstream-of", "pendulum.angle"), "pendulum: 1 variable"),
        (("--subsystem", "anchor", "--kind", "variable"), "pendulum: no nodes"),
    ):
        lines = run("graph", MODEL, *options).stdout.splitlines()
        assert lines[0] == first
        assert len(lines[3:]) == sum(map(int, re.findall(r"\d+", first)))


def test_graph_says_what_invalidates_a_stage_if_only_stages_are_asked_for() -> None:
    lines = run("graph", MODEL, "--kind", "stage").stdout.splitlines()
    assert [line.split()[4:] for line in lines if "stage Position" in line] == [["q"]]


@pytest.mark.parametrize("columns", [20, 80, 120])
def test_a_table_breaks_no_name_in_a_terminal_and_no_line_elsewhere(columns: int) -> None:
    names = ["pendulum.kinetic_energy", "Acceleration", "anchor.torque, anchor.force"]
    screen, pipe = (
        Console(file=StringIO(), width=columns, force_terminal=is_terminal)
        for is_terminal in (True, False)
    )
    for out in (screen, pipe):
        table = new_table("node", "stage", "depends on")
        table.add_row(*map(Text, names))
        print_table(out, table)
    printed = re.sub(r"\x1b\[[0-9;]*m", "", cast("StringIO", screen.file).getvalue())
    assert {*" ".join(names).split()} <= {*printed.split()}
    assert max(map(len, printed.splitlines())) <= max(columns, 23 + 2 + 12 + 2 + 14)
    (line,) = cast("StringIO", pipe.file).getvalue().splitlines()[1:]
    assert line.split("  ") == names


def test_graph_in_json_is_read_back_as_the_same_view() -> None:
    result = run("graph", MODEL, "--json")
    assert GraphView.from_json(result.stdout) == pendulum.system().graph
    assert run("graph", MODEL, "--format", "json").stdout == result.stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--upstream-of", "pendulum.weight", "--depth", "1", "--kind", "variable"), 2),
        (("--downstream-of", "pendulum/weight", "--kind", "entry"), 5),  # udot, too, by a hook
        (("--subsystem", "anchor"), 1),
        (("--upstream-of", "anchor.torque", "--downstream-of", "pendulum.angle"), 3),
        (("--upstream-of", "anchor.torque", "--downstream-of", "pendulum.rate"), 0),
    ],
)
def test_graph_shows_only_what_is_asked_for(options: tuple[str, ...], expected: int) -> None:
    result = run("graph", MODEL, *options, "--json")
    assert len(GraphView.from_json(result.stdout)) == expected


@pytest.mark.parametrize("file_format", [f for f in FORMATS if f != "png"])
def test_graph_writes_what_the_name_of_the_file_says(file_format: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph.{file_format}"
    result = run("graph", MODEL, "-o", str(path))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"{path}: 11 variables, 8 entries, 9 stages, 1 hook\n"
    text = path.read_text(encoding="utf-8")
    assert "tip" in text
    for options in ((), ("-o", "-")):
        printed = run("graph", MODEL, "--format", file_format, *options).stdout
        assert text == printed.removesuffix("\n")


def test_graph_writes_a_picture_that_is_valid_xml_with_every_entry(tmp_path: Path) -> None:
    path = tmp_path / "graph.svg"
    run("graph", MODEL, "-o", str(path))
    text = "".join(ET.fromstring(path.read_text(encoding="utf-8")).itertext())
    assert all(node.path in text for node in pendulum.system().graph if node.kind == "entry")


def test_graph_writes_a_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra viz is not installed")
    path = tmp_path / "graph.png"
    assert run("graph", MODEL, "-o", str(path)).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG\r\n")


def test_a_page_of_a_state_knows_what_each_write_would_make_stale() -> None:
    view = make_state(pendulum.system(), "Report").graph
    assert view.impacts["pendulum.mass"]
    page = run("graph", MODEL, "--stage", "Report", "--format", "html").stdout
    assert page.removesuffix("\n") == view.to_html()


def test_graph_shows_what_a_run_has_cost(own: str) -> None:
    view = GraphView.from_json(run("graph", own, "--run", "shrink", "--json").stdout)
    root = view["body.root"]
    assert (root.status, root.hit_rate) == ("stale", 0.0)
    assert root.seconds is not None
    assert root.seconds > 0.0


def test_a_file_that_cannot_be_written_is_an_error_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "graph.svg"
    result = run("graph", MODEL, "-o", str(path))
    assert result.exit_code == 1
    assert "graph.svg" in result.stderr
    assert "Traceback" not in result.stderr


# ---------------------------------------------------------------------- explain


def test_explain_says_what_a_read_computes_of_a_new_state() -> None:
    result = run("explain", MODEL, "anchor.torque")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("anchor.torque is not computed: no call has computed it.\n")
    assert "└─ pendulum.weight: not computed\n" in result.stdout


def test_explain_names_the_write_and_the_way() -> None:
    result = run("explain", MODEL, "anchor/torque", "--after", "pendulum.angle = 0.3")
    assert "Path: pendulum.angle -> pendulum.tip -> anchor.torque.\n" in result.stdout


def test_explain_in_json_is_what_the_state_explains() -> None:
    result = run("explain", MODEL, "anchor.torque", "--after", "q=[0.3]", "--json")
    told = json.loads(result.stdout)
    assert told["status"] == "stale"
    assert told["cause"]["written_as"] == "q"
    assert told["computes"] == ["pendulum.tip", "anchor.torque"]


def test_explain_of_what_a_write_does_not_touch_says_that_it_is_valid() -> None:
    result = run("explain", MODEL, "pendulum.weight", "--after", "pendulum.angle=0.3")
    assert result.stdout.startswith("pendulum.weight is valid")


def test_explain_names_the_line_of_a_function_that_wrote(own: str) -> None:
    for options in ((), ("--after", "body.size=9.0")):
        result = run("explain", own, "body.root", *options, "--run", "shrink", "--json")
        cause = json.loads(result.stdout)["cause"]
        assert (Path(cause["file"]), cause["version_before"]) == (Path(own), 4 + len(options) / 2)


@pytest.mark.parametrize("command", [("explain", "body.root"), ("graph",)])
def test_what_a_function_raises_is_told(command: tuple[str, ...], own: str) -> None:
    result = run(command[0], own, *command[1:], "--run", "fall")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "ZeroDivisionError: no ground, at " in result.stderr


FAILING = """
from stagecache import Stage, State, Subsystem, System, cached, parameter, q_variable

class Body(Subsystem):
    size = parameter(0.0)
    place = q_variable(1.0)

    @cached(prerequisites=(size,))
    def inverse(self, state: State) -> float:
        return 1.0 / self.size(state)

    @cached(prerequisites=(inverse,))
    def twice(self, state: State) -> float:
        return 2.0 * self.inverse(state)

    @cached(prerequisites=(place, size))
    def area(self, state: State) -> float:
        return self.place(state) ** 2

    @cached(prerequisites=(size,), computed_by=Stage.VELOCITY)
    def early(self, state: State) -> float:
        if self.size(state) < 0.0:
            raise ValueError("too small")
        return 1.0

def make() -> System:
    return System(Body())
"""


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a file with a model some of whose entries raise."""
    path = tmp_path / "failing_model.py"
    path.write_text(FAILING, encoding="utf-8")
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return str(path)


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        (("impact", "body.place"), "body.area"),
        (("explain", "body.area", "--after", "body.place=2.0"), "body.place"),
        (("explain", "body.twice", "--after", "body.place=2.0"), "body.twice is not computed"),
        (("graph", "--after", "body.place=2.0"), "stale"),
        (("profile", "--steps", "2"), "body.area"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_an_entry_that_raises_is_told_and_the_question_about_others_is_answered(
    args: tuple[str, ...], answer: str, failing: str
) -> None:
    result = run(args[0], failing, *args[1:])
    assert result.exit_code == 0
    assert answer in result.stdout
    assert result.stderr.replace("float division", "division") == (
        "Warning: compute body.inverse, body.twice: ZeroDivisionError: division by zero, "
        f"at {failing}:10\n"
    )


def test_a_stage_that_cannot_be_reached_is_told_and_what_is_realized_is_explained(
    failing: str,
) -> None:
    Path(failing).write_text(FAILING.replace("size = parameter(0.0)", "size = parameter(-1.0)"))
    result = run("impact", failing, "body.place", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["entries"] == ["body.area"]
    assert result.stderr == (
        f"Warning: realize to Report: ValueError: too small, at {failing}:23; "
        "the State is at Position\n"
        f"Warning: compute body.early: ValueError: too small, at {failing}:23\n"
    )


@pytest.mark.parametrize("value", ["'right'", '"right"'])
def test_a_text_is_written_in_quotes(value: str, own: str) -> None:
    assert run("explain", own, "body.root", "--after", f"body.label={value}").exit_code == 0


@pytest.mark.parametrize("write", ["time=1", "u_weights=[2.0]", "y=[0.1, 0.2]", "pendulum.q=[1]"])
def test_whatever_can_be_written_can_be_written_after(write: str) -> None:
    assert run("explain", MODEL, "pendulum.tip", "--after", write).exit_code == 0


# ---------------------------------------------------------------------- impact


def test_impact_lists_what_a_write_would_make_stale_and_why() -> None:
    result = run("impact", MODEL, "pendulum.mass")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [*rows(result.stdout)] == [
        *("made", "pendulum.weight", "anchor.torque", "pendulum.kinetic_energy"),
    ]
    assert rows(result.stdout)["pendulum.weight"] == ["pendulum.mass"]
    assert rows(result.stdout)["pendulum.kinetic_energy"] == ["stage", "Velocity"]


def test_impact_in_json_is_that_on_a_state_in_which_all_is_computed() -> None:
    told = json.loads(run("impact", MODEL, "pendulum.angle", "--json").stdout)
    assert told["entries"] == ["pendulum.tip", "pendulum.kinetic_energy", "anchor.torque"]
    assert told["num_valid"] == 4


def test_impact_of_what_was_written_before_counts_what_is_left() -> None:
    told = json.loads(run("impact", MODEL, "q", "--after", "q=[0.3]", "--json").stdout)
    assert (told["entries"], told["num_valid"]) == ([], 1)


# ---------------------------------------------------------------------- profile


def test_profile_takes_steps_and_says_what_they_cost() -> None:
    told = json.loads(run("profile", MODEL, "--steps", "7", "--json").stdout)
    computed = {entry["entry"]: entry["computed"] for entry in told["entries"]}
    assert computed == {
        "pendulum.tip": 8,
        "pendulum.weight": 1,
        "pendulum.kinetic_energy": 7,
        "anchor.torque": 7,
    }


def test_profile_prints_tables() -> None:
    result = run("profile", MODEL, "--steps", "3")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("What costs most\nentry ")
    assert "\nWhat makes entries stale\nwritten " in result.stdout


def test_profile_runs_a_function_of_the_module(own: str) -> None:
    told = json.loads(run("profile", own, "--run", "shrink", "--json").stdout)
    assert [(entry["entry"], entry["computed"]) for entry in told["entries"]] == [("body.root", 3)]
    again = run("profile", own, "--run", f"{own}:shrink", "--json")
    assert json.loads(again.stdout)["entries"][0]["computed"] == 3


def test_profile_refuses_to_run_what_is_no_function(own: str) -> None:
    result = run("profile", own, "--run", "NUMBER")
    assert result.exit_code == 1
    assert "own_model.py:NUMBER: cannot be called" in result.stderr
