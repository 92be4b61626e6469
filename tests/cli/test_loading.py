"""Finding the System that a command line names."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stagecache.cli.loading import load_function, load_system
from stagecache.errors import (
    ModelError,
    StagecacheError,
    WrongTypeError,
)

RIG = """
from functools import partial
from stagecache import Subsystem, System

class Rig(Subsystem):
    pass

class Bench:
    system = System(Rig(), name="bench")

class TestRig(System):
    def __init__(self):
        super().__init__(Rig(), name="class")

def make_system() -> System:
    return System(Rig(), name="made")

def unannotated():
    return System(Rig(), name="unannotated")

def of_size(size: int) -> System:
    raise AssertionError

def nothing() -> None:
    pass

of_two = partial(System, name="of two")
number = 3
_hidden = System(Rig())
"""


@pytest.fixture(autouse=True)
def _forget_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Import as in a new process that was started in an empty folder."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def refused(model: str) -> StagecacheError:
    with pytest.raises(StagecacheError) as caught:
        load_system(model)
    error = caught.value
    assert error.what.startswith(model.partition(":")[0])
    assert all([error.expected, error.got, error.hint])
    return error


# ---------------------------------------------------------------------- what is named


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("make_system", "made"),
        ("unannotated", "unannotated"),
        ("of_two", "of two"),
        ("TestRig", "class"),
        ("Bench.system", "bench"),
    ],
)
@pytest.mark.parametrize("place", ["rig", "rig.py", "./rig.py"])
def test_a_name_is_that_of_a_system_or_of_what_returns_one(
    place: str, name: str, made: str
) -> None:
    write("rig.py", RIG)
    assert load_system(f"{place}:{name}").name == made


def test_a_path_may_be_absolute(tmp_path: Path) -> None:
    write("deep/rig_at.py", RIG)
    assert load_system(f"{tmp_path / 'deep' / 'rig_at.py'}:make_system").name == "made"


def test_a_file_imports_its_neighbours_as_a_script_does() -> None:
    write("folder/parts.py", RIG)
    write("folder/model.py", "from parts import make_system\nsystem = make_system()\n")
    assert load_system("folder/model.py").name == "made"


def test_a_file_of_a_package_is_a_module_of_it() -> None:
    write("models/__init__.py", "")
    write("models/arms/__init__.py", "")
    write("models/parts.py", RIG)
    write("models/arms/left.py", "from ..parts import make_system\nsystem = make_system()\n")
    system = load_system("models/arms/left.py")
    assert type(next(iter(system.subsystems[1:]))).__module__ == "models.parts"
    assert load_system("models.arms.left:system") is system


def test_without_a_name_the_only_system_is_taken() -> None:
    write("one.py", RIG + "system = System(Rig(), name='only')\nagain = system\n")
    assert load_system("one.py").name == "only"
    assert load_system("one:").name == "only"


def test_without_a_system_the_only_maker_is_taken() -> None:
    write("rig.py", RIG)
    write(
        "maker.py",
        "from __future__ import annotations\n"
        "from rig import make_system as imported, Rig, System\n"
        "def make(size: int = 2) -> System: return System(Rig(), name='made here')\n"
        "def broken() -> Missing: ...\n",
    )
    assert load_system("maker").name == "made here"


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("name", ["nowhere", "nowhere.rig", "nowhere.rig:system"])
def test_a_module_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    error = refused(name)
    assert isinstance(error, ModelError)
    assert error.got == "No module named 'nowhere'"
    assert str(tmp_path) in error.hint


@pytest.mark.parametrize("path", ["nowhere.py", "nowhere/rig.py:system", "folder/", "text/a.txt"])
def test_a_file_that_is_not_there_or_not_of_python_is_named(path: str) -> None:
    write("text/a.txt", "")
    Path("folder").mkdir()
    assert isinstance(refused(path), ModelError)


def test_what_a_module_raises_is_told_with_its_place() -> None:
    file = write("broken.py", "import sys\n\nratio = 1 / 0\n")
    error = refused("broken.py")
    assert isinstance(error, ModelError)
    assert error.got == f"ZeroDivisionError: division by zero, at {file.resolve()}:3"
    assert isinstance(error.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("import missing_library", "ModuleNotFoundError: No module named 'missing_library'"),
        ("def f(:", "SyntaxError: invalid syntax"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ],
)
def test_what_stops_an_import_is_told(text: str, got: str) -> None:
    write("stopped.py", text)
    for model in ("stopped", "stopped.py"):
        error = refused(model)
        assert isinstance(error, ModelError)
        assert error.got.startswith(got)


@pytest.mark.parametrize(
    "name", ["", ":", ".", ".model", "model.", "rigs..arm", ":make_system", "rig.py:make-system"]
)
def test_what_is_no_name_of_a_module_is_refused(name: str) -> None:
    error = refused(name)
    assert isinstance(error, ModelError)
    assert error.hint.startswith("write the full name")


def test_a_file_with_the_name_of_another_module_is_refused() -> None:
    write("operator.py", RIG)
    error = refused("operator.py:make_system")
    assert isinstance(error, ModelError)
    assert error.hint == "give the file another name"


def test_a_name_that_is_not_there_is_answered_by_a_similar_one() -> None:
    write("rig.py", RIG)
    assert refused("rig.py:make_sistem").hint == "did you mean 'make_system'?"
    error = refused("rig.py:zzz")
    assert isinstance(error, ModelError)
    assert error.hint == "write rig.py:TestRig or rig.py:make_system"


def test_without_a_name_all_that_could_be_meant_are_told() -> None:
    write("rig.py", RIG)
    error = refused("rig.py")
    assert isinstance(error, ModelError)
    assert error.got == "2: TestRig, make_system"
    write("rigs.py", RIG + "a = System(Rig())\nb = System(Rig())\n")
    assert refused("rigs").hint == "write rigs:a or rigs:b"


def test_a_module_without_a_system_says_how_to_offer_one() -> None:
    write("none.py", "from stagecache import System\nnumber = 3\n")
    error = refused("none")
    assert error.got == "none"
    assert "def system() -> System" in error.hint


@pytest.mark.parametrize("annotation", ["unknown", "sys.unknown", "1 / 0", "System["])
def test_an_annotation_that_means_nothing_is_no_error(annotation: str) -> None:
    write("odd.py", f"import sys\ndef odd() -> {annotation!r}:\n    pass\n")
    assert refused("odd.py").got == "none"


def test_a_function_that_may_make_a_system_is_told_if_nothing_says_that_it_does() -> None:
    write("rig.py", RIG)
    text = "from rig import System, Rig, unannotated\ndef rig():\n    return System(Rig())\n"
    write("quiet.py", text + "def of_size(size):\n    pass\ndef nothing() -> None:\n    pass\n")
    error = refused("quiet.py")
    assert (error.got, error.hint) == (
        "none that says so",
        "write quiet.py:rig; or say what it returns: -> System",
    )


@pytest.mark.parametrize(
    ("name", "what", "got"),
    [
        ("number", "not a System", "3"),
        ("of_size", "needs arguments", "missing a required argument: 'size'"),
        ("nothing", "does not return a System", "None"),
        ("Rig", "does not return a System", "Rig"),
    ],
)
def test_what_is_no_system_is_refused(name: str, what: str, got: str) -> None:
    write("rig.py", RIG)
    error = refused(f"rig.py:{name}")
    assert isinstance(error, WrongTypeError)
    assert what in error.what
    assert got in error.got


@pytest.mark.parametrize(
    ("statement", "got"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("System(3)", "WrongTypeError: 3: not a subsystem"),
        ("raise ValueError('no\\n  road')", "ValueError: no road"),
    ],
)
def test_what_the_maker_of_a_system_raises_is_told_with_its_place(statement: str, got: str) -> None:
    file = write("rig.py", f"from stagecache import System\ndef fails():\n    {statement}\n")
    error = refused("rig.py:fails")
    assert isinstance(error, ModelError)
    assert error.got == f"{got}, at {file.resolve()}:3"
    assert error.__cause__ is not None


def test_who_interrupts_the_maker_of_a_system_is_obeyed() -> None:
    write("rig.py", "def fails():\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load_system("rig.py:fails")


# ---------------------------------------------------------------------- functions


def test_a_function_that_is_not_there_is_told_as_a_function() -> None:
    write("rig.py", RIG + "def drive(state):\n    pass\n")
    for name, hint in (("drve", "did you mean 'drive'?"), ("zzz", "write a function that takes")):
        with pytest.raises(ModelError) as caught:
            load_function("rig.py", name)
        assert caught.value.expected == "a function of a State"
        assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize("name", ["make_system", "TestRig", "Rig"])
def test_what_cannot_be_called_with_a_state_is_refused(name: str) -> None:
    write("rig.py", RIG)
    with pytest.raises(WrongTypeError) as caught:
        load_function("rig.py", name)
    assert caught.value.got == "too many positional arguments"
