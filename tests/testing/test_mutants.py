"""The testing kit finds every planted fault, and nothing wrong with models that have none."""

from io import StringIO

import attrs
import pytest
from hypothesis import settings
from rich.console import Console

from stagecache.errors import UndeclaredPrerequisiteError
from stagecache.testing import check_all
from tests.profiles import is_nightly
from tests.testing.mutants.catalogue import MODELS, MUTANTS, Model, Mutant
from tests.testing.mutants.hunt import CHECKS, hunt
from tests.testing.mutants.models import clock
from tests.testing.mutants.table import model_table, mutant_table

SEEDS = range(5) if is_nightly() else range(1)
MODEL_SEEDS = range(20) if is_nightly() else range(2)
BRIEF = None if is_nightly() else settings(max_examples=10)


def pairs() -> list[object]:
    return [
        pytest.param(mutant, check, id=f"{mutant.name}-{check}")
        for mutant in MUTANTS
        for check in mutant.caught_by
    ]


@pytest.mark.parametrize(("mutant", "check"), pairs())
def test_a_mutant_is_caught_and_the_suspects_are_named(mutant: Mutant, check: str) -> None:
    for seed in SEEDS:
        catch = hunt(mutant.make, check, seed)
        assert catch is not None, f"seed {seed}: not caught"
        for suspect in mutant.suspects:
            assert catch.names(suspect), f"seed {seed}: {suspect} is not named\n{catch.text}"


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_sound_model_passes(model: Model, check: str) -> None:
    for seed in MODEL_SEEDS:
        catch = hunt(model.make, check, seed, settings=BRIEF)
        assert catch is None, f"seed {seed}\n{catch.text}"


@pytest.mark.parametrize("name", ["ForgottenParameter", "FilledTooLate", "MutatesCachedList"])
def test_the_program_of_a_failure_fails_when_it_is_run(name: str) -> None:
    mutant = by_name(name)
    catch = hunt(mutant.make, mutant.caught_by[0], 0)
    assert catch is not None
    program = getattr(catch.error, "program", "")
    assert program
    with pytest.raises(AssertionError):
        exec(program, {"system": mutant.make()})


def test_check_all_stops_at_the_first_fault() -> None:
    with pytest.raises(UndeclaredPrerequisiteError, match=r"Pendulum\.length"):
        check_all(by_name("ForgottenParameter").make())


def test_the_catalogue_is_as_large_as_promised() -> None:
    models = {type(subsystem).__mro__[-3] for m in MUTANTS for subsystem in m.make().subsystems}
    assert len(MUTANTS) >= 28
    assert len(models) >= 5
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert all(m.fault.endswith(".") and "\n" not in m.fault for m in MUTANTS)
    assert {check for m in MUTANTS for check in m.caught_by} == CHECKS.keys()


def test_the_table_tells_what_is_not_caught() -> None:
    mutant = by_name("ForgottenParameter")
    sound = attrs.evolve(mutant, name="Sound", make=clock, caught_by=("pickle",))
    misnamed = attrs.evolve(mutant, name="Misnamed", suspects=("pendulum.colour",))
    table, count = mutant_table([mutant, sound, misnamed], 0)
    console = Console(width=200, record=True, file=StringIO())
    console.print(table)
    text = console.export_text()
    assert count == 1
    assert text.count("NOT CAUGHT") == 1
    assert "not naming pendulum.colour" in text


def test_the_table_tells_what_does_not_pass() -> None:
    mutant = by_name("KeepsLambda")
    models = [Model("clock", clock), Model("mutant", mutant.make)]
    table, count = model_table(models, [0], settings=settings(max_examples=2))
    assert count == 1
    assert [str(text) for text in table.columns[4]._cells] == ["1", "0"]


def by_name(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)
