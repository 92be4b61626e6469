"""Where functions are written, as others may see it."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stagecache.graph
from stagecache.graph.sources import class_body, shown_file, source_of


def test_a_file_is_shown_from_the_project_or_package_that_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project" / "models").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    elsewhere = tmp_path.parent / "elsewhere" / "model.py"
    assert [
        shown_file(str(file))
        for file in (
            "<string>",
            stagecache.graph.__file__,
            np.__file__,
            tmp_path / "project" / "models" / "arm.py",
            tmp_path / "scripts" / "arm.py",
            elsewhere,
        )
    ] == [
        "<string>",
        "stagecache/graph/__init__.py",
        "numpy/__init__.py",
        "models/arm.py",
        "scripts/arm.py",
        "model.py",
    ]


def here() -> tuple[str, int]:
    return class_body()


def test_a_declaration_is_written_where_the_body_of_its_class_is() -> None:
    class Model:
        directly = class_body()
        by_a_function = here()

    _, first = inspect.getsourcelines(Model)
    assert Model.directly == (__file__, first + 1)
    assert Model.by_a_function == (__file__, first + 2)
    assert here() == ("", 0)


def wrapper_of(compute: Any, module: str) -> Callable[..., Any]:
    zero = 0

    def call() -> Any:
        return compute() + zero

    call.__module__ = module
    return call


def test_the_function_inside_of_a_wrapper_of_this_library_is_found_and_no_other() -> None:
    def place(function: Callable[..., Any]) -> tuple[str, int]:
        return __file__, inspect.getsourcelines(function)[1]

    ours, own = "stagecache.wrapping", "models"
    assert source_of(wrapper_of(here, ours)) == place(here)
    for other in (wrapper_of(5, ours), wrapper_of(here, own)):
        assert source_of(other) == place(other)
    assert source_of(abs) == ("", 0)
