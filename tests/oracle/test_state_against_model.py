"""State against the contract's model, on random commands."""

import pytest
from hypothesis import given, note

from tests.oracle.commands import PAUSE, SEEDS, Commands
from tests.oracle.findings import FINDINGS
from tests.oracle.pair import Pair
from tests.oracle.quirks import Quirk


@pytest.mark.parametrize("quirk", Quirk, ids=str)
def test_state_has_none_of_the_quirks(quirk: Quirk) -> None:
    pair = Pair()
    for command in FINDINGS[quirk].commands:
        assert not pair.run(command).differences


@given(seeds=SEEDS)
def test_state_answers_as_the_contract_says(seeds: list[bytes]) -> None:
    pair, done = Pair(), list[str]()
    commands = Commands(pair.model)
    for seed in seeds:
        command = commands.next(seed)
        if command == PAUSE:
            continue
        done.append(command)
        answers = pair.run(command)
        if answers.differences:
            note("the commands, one by one:\n" + "\n".join(done))
            pytest.fail(f"{command}: {answers.differences}")
