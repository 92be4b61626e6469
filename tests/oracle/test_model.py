"""The model against the recorded traces, and each quirk against the sequence that shows it."""

import pytest

from tests.oracle import simbody
from tests.oracle.findings import FINDINGS
from tests.oracle.model import Model
from tests.oracle.quirks import ALL, NONE, Quirk
from tests.oracle.simbody import Simbody
from tests.oracle.traces import RECORDED, load_traces


def answers(quirks: frozenset[Quirk], commands: list[str]) -> list[str]:
    model = Model(quirks)
    return [model.run(command) for command in commands]


def test_with_all_quirks_the_model_answers_as_the_real_library_did() -> None:
    traces = load_traces(RECORDED)
    assert sum(map(len, traces)) == 18_680
    for number, trace in enumerate(traces):
        model = Model(ALL)
        for command, recorded in trace:
            assert model.run(command) == recorded, f"trace {number}, {command}"


def test_there_is_a_finding_for_each_quirk() -> None:
    assert set(FINDINGS) == set(Quirk)


@pytest.mark.parametrize("quirk", Quirk, ids=str)
def test_a_quirk_shows_in_its_finding_at_the_last_command(quirk: Quirk) -> None:
    commands = FINDINGS[quirk].commands
    real, contract = answers(ALL, commands), answers(NONE, commands)
    assert answers(ALL - {quirk}, commands)[-1] != real[-1]
    assert contract[-1] != real[-1]
    assert contract[:-1] == real[:-1]


@pytest.mark.parametrize("quirk", Quirk, ids=str)
def test_a_finding_is_as_short_as_can_be(quirk: Quirk) -> None:
    commands = FINDINGS[quirk].commands
    shown = outcome(commands)
    assert shown is not None
    for i in range(len(commands) - 1):
        assert outcome(commands[:i] + commands[i + 1 :]) != shown, f"without {commands[i]}"


def outcome(commands: list[str]) -> tuple[int, str, str] | None:
    """How the last answers differ, if only they do, and how many are refused before."""
    real, contract = answers(ALL, commands), answers(NONE, commands)
    if real[:-1] != contract[:-1] or real[-1] == contract[-1]:
        return None
    refused = sum(answer.startswith("error") for answer in real[:-1])
    kinds = [line if line.startswith("error") else "ok" for line in (real[-1], contract[-1])]
    return refused, kinds[0], kinds[1]


@pytest.mark.simbody
@pytest.mark.skipif(not simbody.is_available(), reason=str(simbody.reason_not_available()))
@pytest.mark.parametrize("quirk", Quirk, ids=str)
def test_the_real_library_has_the_quirk(quirk: Quirk) -> None:
    commands = FINDINGS[quirk].commands
    with Simbody() as real:
        assert [real.run(command) for command in commands] == answers(ALL, commands)
