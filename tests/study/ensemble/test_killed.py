"""A driver that is killed: a small study here, the large one by the module `killed`."""

import os

import pytest

from tests.profiles import is_nightly
from tests.study.ensemble.killed import check


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by SIGKILL")
def test_a_study_whose_driver_was_killed_has_the_dataset_of_one_in_one_go() -> None:
    pytest.importorskip("xarray")
    number, kills = 200, 5 if is_nightly() else 1
    counts = check(number, kills, 2, seed=1)
    assert counts == sorted(counts)
    assert counts[0] < number
