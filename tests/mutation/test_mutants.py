"""Mutants are made and found again; each one that is explained away is still there."""

from pathlib import Path
from threading import Event

import pytest

pytest.importorskip("mutmut", reason="needs mutmut (the extra mutation)")
pytest.importorskip("coverage", reason="needs coverage (the extra mutation)")

from tests.mutation import mutants
from tests.mutation.__main__ import explained
from tests.mutation.mutants import mutants_of, replaced_code
from tests.mutation.running import forked, functions_by_place

SOURCE = '''
"""A module."""


class Tank:
    level: int = 0

    @property
    def is_full(self) -> bool:
        return self.level >= 100

    def fill(self, amount: int = 1) -> None:
        if self.is_full:
            raise ValueError(f"full: {self.level + amount}")
        self.level += amount
        print("filled")
'''


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    mutants.read.cache_clear()
    (tmp_path / "tank.py").write_text(SOURCE, encoding="utf-8")
    return "tank.py"


def test_mutants_change_rules_and_neither_defaults_nor_texts(file: str) -> None:
    assert [(mutant.function, mutant.mutation) for mutant in mutants_of(file)] == [
        ("Tank.is_full", "return self.level >= 100 -> return self.level > 100"),
        ("Tank.is_full", "return self.level >= 100 -> return self.level >= 101"),
        ("Tank.fill", "if self.is_full: -> if not self.is_full:"),
        ("Tank.fill", "self.level += amount -> self.level = amount"),
        ("Tank.fill", "self.level += amount -> self.level -= amount"),
        ("Tank.fill", 'print("filled") -> pass'),
    ]


def test_the_code_of_a_function_is_exchanged_behind_its_decorators(file: str) -> None:
    namespace: dict[str, type] = {}
    path = str(mutants.ROOT / file)
    exec(compile(SOURCE, path, "exec"), namespace)
    tank = namespace["Tank"]()
    tank.level = 100
    mutant = mutants_of(file)[0]
    (function,) = functions_by_place()[path, mutant.function, mutant.first_line]
    code = replaced_code(mutant, path)
    assert tank.is_full
    assert code is not None
    function.__code__ = code
    assert not tank.is_full


def test_a_fork_tells_until_it_ends_or_has_been_silent_for_too_long() -> None:
    def count(say: object) -> None:
        assert callable(say)
        say("one")
        say("two")

    def be_silent(say: object) -> None:
        count(say)
        Event().wait()

    assert forked(count, None) == ["one", "two"]
    assert forked(be_silent, 0.5) == ["one", "two"]


def test_what_is_explained_is_a_mutant_of_the_present_sources() -> None:
    reasons = explained()
    present = {
        mutant.name
        for file in {name.split(":")[0] for name in reasons}
        for mutant in mutants_of(file)
    }
    assert reasons.keys() - present == set()
    assert all(reasons.values())
