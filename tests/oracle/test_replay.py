"""The replay of the recorded traces."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.oracle.quirks import Quirk
from tests.oracle.replay import main
from tests.oracle.traces import RECORDED, Trace, load_traces
from tests.profiles import count


def write(path: Path, traces: list[Trace]) -> Path:
    path.write_text("".join(json.dumps(trace) + "\n" for trace in traces), encoding="utf-8")
    return path


def test_quirks_explain_every_difference_of_state_from_the_record(tmp_path: Path) -> None:
    """In the profile ci, of the whole record."""
    traces = load_traces(RECORDED)
    sample = traces[:: -(-len(traces) // min(count(len(traces)), len(traces)))]
    result = CliRunner().invoke(main, [str(write(tmp_path / "sample.jsonl", sample))])
    commands = sum(map(len, sample))
    assert result.output.splitlines()[-1] == f"{commands} commands compared, 0 unexplained"
    assert result.exit_code == 0
    for quirk in Quirk:
        assert str(quirk) in result.output


@pytest.mark.parametrize("doctored", ["ok 7", "error StageTooLow", 'ok "Empty'])
def test_a_doctored_record_is_not_explained(tmp_path: Path, doctored: str) -> None:
    trace = load_traces(RECORDED)[0][:12]
    trace[10] = (trace[10][0], doctored)
    result = CliRunner().invoke(main, [str(write(tmp_path / "doctored.jsonl", [trace]))])
    assert result.exit_code == 1
    assert result.output.splitlines()[-1] == "12 commands compared, 1 unexplained"
    assert f"trace 0, command 10: {trace[10][0]}" in result.output


def test_several_files_are_counted_together(tmp_path: Path) -> None:
    files = [str(write(tmp_path / f"{i}.jsonl", load_traces(RECORDED)[i : i + 1])) for i in (0, 1)]
    result = CliRunner().invoke(main, files)
    commands = sum(map(len, load_traces(RECORDED)[:2]))
    assert result.output.splitlines()[-1] == f"{commands} commands compared, 0 unexplained"
    assert result.exit_code == 0
