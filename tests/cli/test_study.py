"""`stagecache study`."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stagecache import load_study
from stagecache.cli.main import main
from stagecache.cli.study import values_of

MODEL = """
from stagecache import State, Subsystem, System, cached, parameter, z_variable

class Tank(Subsystem):
    inflow = parameter(1.0)
    area = parameter(2.0)
    level = z_variable(0.0)

    def realize_dynamics(self, state: State) -> None:
        state[self].upd_zdot()[0] = self.inflow(state) / self.area(state)

def system() -> System:
    return System(Tank())

def rise(state: State) -> float:
    tank = state.system.get(Tank)
    if tank.area(state) == 0:
        raise ValueError("a tank without an area")
    return tank.inflow(state) / tank.area(state)

def noisy(state: State, member: object) -> float:
    return rise(state) + member.rng().normal()

def wrong() -> None: ...
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / f"tank_{tmp_path.name}.py".replace("-", "_")
    path.write_text(MODEL)
    return str(path)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["study", *args], env={"COLUMNS": "80"})


def test_results_are_a_table(model: str) -> None:
    result = run(model, "--vary", "tank.inflow=1:2:3", "--vary", "tank.area=2,4", "--run", "rise")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines()]
    assert rows[0] == ["tank.inflow", "tank.area", "result"]
    assert rows[1:7] == [
        ["1", "2", "0.5"],
        ["1", "4", "0.25"],
        ["1.5", "2", "0.75"],
        ["1.5", "4", "0.375"],
        ["2", "2", "1"],
        ["2", "4", "0.5"],
    ]
    assert "6 members: 6 ok, 0 failed" in result.output


def test_a_member_that_fails_is_told_and_the_status_is_1(model: str) -> None:
    result = run(model, "--vary", "tank.area=0.0,2.0", "--run", "rise")
    assert result.exit_code == 1
    assert "2 members: 1 ok, 1 failed" in result.output
    assert "member 0, {'tank.area': 0.0}: ValueError: a tank without an area" in result.output


def test_a_folder_is_written_and_resumed(model: str, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    args = (model, "--vary", "tank.inflow=1:2:3", "--until", "2", "--every", "1", "-o", str(folder))
    assert run(*args).exit_code == 0
    assert load_study(folder)[2].values["trajectory"]["tank.level"][-1] == pytest.approx(2.0)
    again = run(*args)
    assert again.exit_code == 1
    assert "--resume" in again.output
    resumed = run(*args, "--resume")
    assert resumed.exit_code == 0
    assert "3 members: 3 ok" in resumed.output


def test_a_simulation_keeps_values_at_its_end(model: str) -> None:
    args = ("--vary", "tank.inflow=1:2:3", "--until", "2", "--keep", "tank.level")
    result = run(model, *args, "--keep", "time")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines()]
    assert rows[:4] == [
        ["tank.inflow", "tank.level", "time"],
        ["1", "1", "2"],
        ["1.5", "1.5", "2"],
        ["2", "2", "2"],
    ]


def test_a_simulation_keeps_values_in_its_rows(model: str, tmp_path: Path) -> None:
    design = ("--vary", "tank.inflow=1:2:3", "--until", "2", "--every", "1")
    args = (model, *design, "--keep", "tank.level")
    rows = run(*args).output.splitlines()
    assert rows[2].split() == ["1.5", "[0,", "0.75,", "1.5]"]
    folder = tmp_path / "results"
    there = run(*args, "--workers", "2", "-o", str(folder))
    assert there.exit_code == 0, there.output
    results = load_study(folder)
    assert results[2].values["tank.level"] == pytest.approx([0.0, 1.0, 2.0])
    assert run(*args, "-o", str(folder), "--resume").exit_code == 0


def test_a_table_has_the_size_of_trajectories_and_says_how_to_see_more(model: str) -> None:
    result = run(model, "--vary", "tank.inflow=1,2", "--until", "2", "--every", "1")
    lines = result.output.splitlines()
    assert lines[1].split(maxsplit=1) == ["1", "3 rows to t = 2 s"]
    assert "--keep PATH shows values; --output keeps trajectories" in lines
    kept = run(model, "--vary", "tank.inflow=1,2", "--until", "2", "--keep", "tank.level")
    assert "--keep" not in kept.output


def test_the_page_shows_what_the_command_prints() -> None:
    page = Path(__file__).parents[2] / "docs" / "howto" / "parameter_studies.md"
    shown = page.read_text(encoding="utf-8").split("$ stagecache study ")[1].split("\n```")[0]
    command, _, table = shown.partition("\n")
    assert run(*command.split()).output.startswith(table)


def test_arrays_in_a_table_are_short(model: str) -> None:
    args = ("--vary", "tank.inflow=1", "--until", "2", "--every", "0.01", "--keep", "tank.level")
    assert "[0, ..., 1]" in run(model, *args).output


def test_a_function_may_take_the_member_and_a_sample_has_a_seed(model: str) -> None:
    args = (model, "--vary", "tank.inflow=1:2", "--design", "latin", "--members", "4")
    results = [run(*args, "--run", "noisy", "--seed", seed) for seed in ("1", "1", "2")]
    assert results[0].exit_code == 0, results[0].output
    numbers = [result.output.splitlines()[1:5] for result in results]
    assert len(numbers[0]) == 4
    assert numbers[0] == numbers[1] != numbers[2]


def test_shared_values_are_kept_in_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("filelock", reason="filelock is in the extra: pip install '.[studies]'")
    example = "stagecache.examples.parameter_study"
    args = (example, "--vary", "hall.power=1000,2000", "--run", "warmed", "--shared")
    assert run(*args, str(tmp_path / "shared")).exit_code == 0
    assert len(list((tmp_path / "shared").rglob("*.result"))) == 1


def test_a_scheduler_of_dask_runs_members() -> None:
    dask = pytest.importorskip("distributed", reason="Dask is in the extra: '.[studies]'")
    pendulum = ("stagecache.examples.pendulum", "--vary", "pendulum.length=1.0,2.0")
    alone = run(*pendulum, "--until", "1", "--every", "0.5")
    with dask.LocalCluster(1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        there = run(*pendulum, "--until", "1", "--every", "0.5", "--scheduler", address)
    assert there.exit_code == 0, there.output
    assert there.output.splitlines()[:3] == alone.output.splitlines()[:3]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "Missing option '--vary'"),
        (("--vary", "tank.inflow=1"), "either --run NAME or --until TIME"),
        (("--vary", "tank.inflow=1", "--run", "rise", "--until", "1"), "either --run"),
        (("--vary", "tank.inflow=1", "--run", "rise", "--every", "1"), "--every needs --until"),
        (("--vary", "tank.inflow=1", "--run", "rise", "--keep", "y"), "--keep needs --until"),
        (("--vary", "tank.inflow=1", "--run", "rise", "--resume"), "--resume needs --output"),
        (
            (
                "--vary",
                "tank.inflow=1",
                "--run",
                "rise",
                "--workers",
                "1",
                "--scheduler",
                "tcp://x",
            ),
            "exclude each other",
        ),
        (("--vary", "tank.inflow=1", "--run", "rise", "--members", "3"), "--members needs"),
        (("--vary", "tank.inflow=1:2", "--run", "rise", "--design", "sobol"), "needs --members"),
        (("--vary", "tank.inflow", "--run", "rise"), "write PATH=VALUES"),
        (("--vary", "tank.inflow=1", "--vary", "tank.inflow=2", "--run", "rise"), "varied twice"),
        (("--vary", "tank.inflow=1:2:x", "--run", "rise"), "FIRST:LAST:NUMBER"),
        (("--vary", "tank.inflow=oak", "--run", "rise"), "values as in Python"),
        (
            ("--vary", "tank.inflow=1", "--run", "rise", "--design", "latin", "--members", "2"),
            "LOW:HIGH",
        ),
    ],
)
def test_wrong_usage_is_told(model: str, args: tuple[str, ...], message: str) -> None:
    result = run(model, *args)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--vary", "tank.inflw=1", "--run", "rise"), "did you mean 'tank.inflow'?"),
        (("--vary", "tank.inflow=1", "--run", "rises"), "did you mean 'rise'?"),
        (("--vary", "tank.inflow=1", "--run", "wrong"), "nor with a State and a Member"),
        (("--vary", "tank.inflow='a'", "--run", "rise"), "tank.inflow"),
        (
            ("--vary", "tank.inflow=1", "--until", "1", "--keep", "tank.lvel"),
            "did you mean 'tank.level'?",
        ),
        (
            ("--vary", "tank.inflow=1", "--until", "1", "--every", "1", "--keep", "tank.lvel"),
            "did you mean 'tank.level'?",
        ),
        (
            ("--vary", "tank.inflow=1", "--until", "1", "--keep", "tank.inflow"),
            "leave out this --keep",
        ),
    ],
)
def test_what_does_not_fit_the_model_is_told(
    model: str, args: tuple[str, ...], message: str
) -> None:
    result = run(model, *args)
    assert result.exit_code == 1
    assert message in result.output


def test_values_are_ranges_or_lists() -> None:
    assert values_of("x", "0.5:1.5:3") == [0.5, 1.0, 1.5]
    assert values_of("x", "1,2.5,True") == [1, 2.5, True]
    assert values_of("x", "'a:b:c','d'") == ["a:b:c", "d"]
    assert values_of("x", "(1, 2), (3, 4)") == [(1, 2), (3, 4)]
