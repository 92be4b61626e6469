"""Runs that are killed and resumed: a few here, more by `python -m tests.study.killed`."""

import os

import pytest

from tests.profiles import is_nightly
from tests.study.killed import RUNS, table


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by SIGKILL")
def test_a_run_that_was_killed_ends_in_the_file_of_one_that_was_not() -> None:
    times = 200 if is_nightly() else 4
    counts = table(times, seed=1)
    assert sum(counts.values()) >= times
    assert {name for name, _ in counts} == set(RUNS)
