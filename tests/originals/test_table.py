"""The table of original tests in the documentation: every test that it names is there."""

import ast
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.test_words import NEGATION

TESTS = Path(__file__).parents[1]
EXTENSION = runpy.run_path(
    str(TESTS.parent / "docs" / "_extensions" / "original_tests.py"), run_name="original_tests"
)
FILES: dict[str, list[dict[str, str]]] = {
    path: rows for files in EXTENSION["originals"]().values() for path, rows in files.items()
}


@cache
def names_in(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("original", FILES)
def test_a_case_names_tests_that_there_are_or_says_why_there_is_none(original: str) -> None:
    of_file, *cases = FILES[original]
    assert of_file["commit"]
    assert len({case["case"] for case in cases}) == len(cases)
    for case in cases:
        tests = case["tests"].split()
        assert int(case["assertions"]) >= 0
        assert case["expressed"] in EXTENSION["WORDS"]
        assert bool(tests) == (case["expressed"] != "no"), case["case"]
        assert case["note"] or case["expressed"] == "yes", case["case"]
        assert not NEGATION.search(case["note"]), case["case"]
        for test in tests:
            path, _, name = test.partition("::")
            assert name in names_in(TESTS / path), test


def test_every_test_of_this_room_is_named_by_a_case() -> None:
    named = {test for rows in FILES.values() for row in rows for test in row["tests"].split()}
    own = {
        f"originals/{path.name}::{name}"
        for path in Path(__file__).parent.glob("test_*.py")
        if path.name != Path(__file__).name
        for name in names_in(path)
        if name.startswith("test_")
    }
    assert own - named == set()


def test_totals_are_the_sums_of_all_rows() -> None:
    tables: dict[str, Any] = EXTENSION["tables"]()
    for library, files in EXTENSION["originals"]().items():
        cases = [case for rows in files.values() for case in rows[1:]]
        counted = sum(int(case["assertions"]) for case in cases)
        lines = [line for line in tables["totals"].splitlines() if line.startswith(f"| {library}")]
        assert f"| {len(cases)} |" in lines[0]
        assert f"| {counted} + " in lines[1]
        assert tables[library.lower()].count("\n") == len(cases) + len(files) + 2
