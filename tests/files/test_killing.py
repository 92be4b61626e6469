"""A program that is killed while it saves a State leaves the old file or the new one, whole."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stagecache import System
from tests.files.killing import SIZES, Counted, found_in
from tests.profiles import is_nightly

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_program_leaves_the_old_file_or_the_new_one() -> None:
    kills = 200 if is_nightly() else 10
    command = [sys.executable, "-m", "tests.files.killing", "--kills", str(kills)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert sum(int(number) for number, what in lines if what.endswith("whole")) == kills


def test_the_check_of_a_file_tells_parts_of_two_states(tmp_path: Path) -> None:
    system = System(counted := Counted())
    state = system.new_state()
    state.time = 3.0
    counted.number.set(state, 3)
    counted.numbers.set(state, np.full(SIZES[1], 3.0))
    state.save(tmp_path / "a")
    assert found_in(tmp_path / "a", 3) == (3, "the old State, whole")
    assert found_in(tmp_path / "a", 2) == (3, "the new State, whole")
    assert found_in(tmp_path / "a", 4)[1] == "FAULT: State 3 after 4"
    counted.numbers.set(state, np.full(SIZES[1], 4.0))
    state.save(tmp_path / "a")
    assert found_in(tmp_path / "a", 3)[1] == "FAULT: values of several States"
