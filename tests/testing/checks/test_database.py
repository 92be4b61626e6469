"""Failing programs in Hypothesis's database: the next run begins with them."""

from random import Random

import pytest
from hypothesis import settings
from hypothesis.database import InMemoryExampleDatabase

from stagecache.errors import IncoherentError
from stagecache.testing import check_coherence
from tests.testing.mutants.models import clock
from tests.testing.mutants.stages import StageTooEarly

FIRST = 1
"""The first program of each check, which is not random."""


def examples_of(database: InMemoryExampleDatabase, seed: int | None = None) -> int:
    """Number of programs up to the one that fails; 0 if none does."""
    done: list[int] = []
    try:
        check_coherence(
            clock(StageTooEarly),
            settings=settings(max_examples=300, derandomize=False, database=database),
            seed=seed,
            progress=done.append,
        )
    except IncoherentError:
        return len(done)
    return 0


@pytest.fixture
def _same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a seed, which leaves the database out, draw the same numbers in each run."""
    numbers = Random(4)  # which take several programs
    monkeypatch.setattr("hypothesis.core._hypothesis_global_random", numbers, raising=False)


@pytest.mark.usefixtures("_same_numbers")
def test_a_program_that_has_failed_is_run_first_the_next_time() -> None:
    database = InMemoryExampleDatabase()
    assert examples_of(database) > FIRST
    assert len(database.data) >= 1
    assert examples_of(database) == FIRST + 1


def test_a_seed_repeats_its_programs_and_leaves_the_database_alone() -> None:
    database = InMemoryExampleDatabase()
    assert examples_of(database, 2) == examples_of(database, 2) > FIRST
    assert not database.data
