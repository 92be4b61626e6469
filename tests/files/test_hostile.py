"""Mutated files give the State that was saved, or a named error: within a second and 200 MB."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from stagecache import State
from stagecache.errors import FileFormatError
from tests.files import mutations
from tests.files.models import STATES, rod_state
from tests.profiles import count

ROOT = Path(__file__).parents[2]


def search(*options: str, cases: int) -> str:
    """Return what a search in a process of its own prints, which has limits of its own."""
    command = [sys.executable, "-m", "tests.files.hostile", *options, "--cases", str(cases)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


def test_mutated_states_are_equal_or_refused_by_name() -> None:
    counts = search(cases=max(count(20_000), 3_000))
    for mutation in mutations.MUTATIONS:
        assert f"{mutation:10} FileFormatError" in counts
        assert f"{mutation:10} a State" in counts


def test_mutated_trajectories_have_equal_rows_or_are_refused_by_name() -> None:
    counts = search("--trajectories", cases=count(4_000))
    for mutation in ("bytes", "unchecked", "edited"):
        assert f"{mutation:10} FileFormatError" in counts
        assert f"{mutation:10} rows" in counts


@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_a_flipped_byte_anywhere_is_told(make: Callable[[], State]) -> None:
    state = make()
    assert state.system is not None
    data = state.to_bytes()
    for at in range(0, len(data), 1 + len(data) // count(400)):
        damaged = bytearray(data)
        damaged[at] ^= 1
        with pytest.raises(FileFormatError):
            State.from_bytes(bytes(damaged), state.system)


def test_a_file_cut_short_anywhere_is_told() -> None:
    state = rod_state()
    assert state.system is not None
    data = state.to_bytes()
    for length in range(len(data)):
        with pytest.raises(FileFormatError):
            State.from_bytes(data[:length], state.system)


def test_sealed_mutations_pass_the_checksum() -> None:
    data = rod_state().to_bytes()
    assert mutations.framed(*mutations.parts(data)) == data
    changed = [mutations.sealed(data, Random(seed)) for seed in range(20)]
    assert len(set(changed)) == 20
