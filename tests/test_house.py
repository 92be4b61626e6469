"""The house itself: who imports whom, where a public name lives, what is shipped."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import pytest

import stagecache
from tests.house import DELEGATES, ROOMS

SOURCES = Path(__file__).parents[1] / "src"
TESTS = Path(__file__).parent
PACKAGES = [room for room in ROOMS if "/" not in room and (SOURCES / room).is_dir()]

# What takes long to import: neither the command line nor the plugin of pytest does.
LARGE = {"attrs", "hypothesis", "networkx", "numpy", "rich", "scipy"}

LEFT_OUT = {"stagecache.__main__"}  # it runs when it is imported
if find_spec("anywidget") is None:  # of the extra notebook
    LEFT_OUT.add("stagecache.live.widget")
MODULES = ["stagecache"] + [
    info.name
    for info in pkgutil.walk_packages(stagecache.__path__, "stagecache.")
    if info.name not in LEFT_OUT
]


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(("stagecache", *parts)).removesuffix(".__init__")


def imports_of(path: Path) -> Iterator[str]:
    """The modules that a file imports, in full."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def imports() -> nx.DiGraph:
    """Modules of the package, and what each imports of it, but for delegates."""
    graph = nx.DiGraph()
    for path in sorted(SOURCES.rglob("*.py")):
        module = module_of(path)
        graph.add_node(module)
        for imported in imports_of(path):
            assert imported.partition(".")[0] != "src", path
            if imported.startswith("stagecache.") and imported not in DELEGATES.get(module, ()):
                graph.add_edge(module, imported)
    return graph


def test_packages_import_from_floors_below() -> None:
    floors = {room: floor for floor, room in enumerate(ROOMS) if "/" not in room}
    upward = [
        f"{module} imports {imported}"
        for module, imported in imports().edges
        if module not in ("stagecache", "stagecache.__main__")
        and floors[imported.split(".")[1]] > floors[module.split(".")[1]]
    ]
    assert upward == []


def test_folders_of_a_package_import_from_floors_below() -> None:
    """The same holds for files beside the folders: imports between any two go one way."""
    everything = imports()
    floors = {f"stagecache.{room}".replace("/", "."): floor for floor, room in enumerate(ROOMS)}
    for package in PACKAGES:
        inside = f"stagecache.{package}."
        rooms = nx.DiGraph()
        for edge in everything.edges:
            if all(module.startswith(inside) for module in edge):
                importer, imported = (".".join(module.split(".")[:3]) for module in edge)
                if importer != imported:
                    rooms.add_edge(importer, imported)
                if importer in floors and imported in floors:
                    assert floors[imported] <= floors[importer], edge
        assert list(nx.simple_cycles(rooms)) == [], package


def test_there_is_no_import_cycle() -> None:
    assert list(nx.simple_cycles(imports())) == []


def test_delegates_are_imports_that_there_are() -> None:
    for module, upward in DELEGATES.items():
        path = SOURCES.joinpath(*module.split(".")[1:]).with_suffix(".py")
        assert set(upward) <= set(imports_of(path)), module


def test_every_folder_is_a_room_and_says_so() -> None:
    folders = {path.parent for path in SOURCES.rglob("*.py")} - {SOURCES}
    found = {folder.relative_to(SOURCES).as_posix() for folder in folders}
    assert found == {room for room in ROOMS if (SOURCES / room).is_dir()}
    for folder in folders:
        said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        assert said is not None
        assert said.splitlines()[0] == ROOMS[folder.relative_to(SOURCES).as_posix()]


def test_tests_mirror_the_rooms() -> None:
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert folders - set(ROOMS) <= {".", "benchmarks", "misuse", "mutation", "oracle", "originals"}


def test_every_module_imports_and_says_what_it_is_for() -> None:
    for name in MODULES:
        importlib.import_module(name)
    for path in SOURCES.rglob("*.py"):  # a compiled module has lost its docstring
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_each_public_name_has_one_home() -> None:
    """A package re-exports an object of its own modules, or of a package below it; never two."""
    homes: dict[str, set[int]] = {}
    for module in map(importlib.import_module, MODULES):
        names = getattr(module, "__all__", None)
        if names is None:
            continue
        assert list(names) == sorted(names), f"{module.__name__}.__all__ is not sorted"
        for name in names:
            homes.setdefault(name, set()).add(id(getattr(module, name)))
    assert homes
    assert {name for name, objects in homes.items() if len(objects) > 1} == set()
    for name in stagecache.__all__:
        home = getattr(stagecache, name).__module__
        assert home.startswith("stagecache."), f"{name} lives in {home}"
        assert getattr(importlib.import_module(home), name) is getattr(stagecache, name)


def test_the_package_offers_what_models_are_made_of() -> None:
    packages = [importlib.import_module(f"stagecache.{name}") for name in stagecache._PACKAGES]
    assert set(stagecache.__all__) <= {name for package in packages for name in package.__all__}
    assert len(stagecache.__all__) <= 100
    assert not [name for name in stagecache.__all__ if name.startswith("Abstract")]
    assert set(stagecache.__all__) < set(dir(stagecache))
    scope: dict[str, object] = {}
    exec("from stagecache import *", scope)
    assert set(stagecache.__all__) < scope.keys()


def test_a_name_that_is_not_there_is_an_attribute_error_with_a_suggestion() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Sytem'") as caught:
        _ = stagecache.Sytem  # type: ignore[attr-defined]  # is refused
    assert (caught.value.name, caught.value.obj) == ("Sytem", stagecache)
    with pytest.raises(ImportError, match="cannot import name 'Sytem'"):
        from stagecache import Sytem  # type: ignore[attr-defined]  # noqa: F401, PLC0415


@pytest.mark.parametrize(
    "first", ["stagecache", "stagecache.errors", "stagecache.cli.main", "stagecache.testing.plugin"]
)
def test_what_is_imported_first_imports_no_large_library(first: str) -> None:
    program = (
        "import sys\n"
        "import pytest, click  # whatever they import\n"
        "others = set(sys.modules)\n"
        f"import {first}\n"
        f"print(sorted(({LARGE} | {{'stagecache.state'}}) & sys.modules.keys() - others))\n"
        "import stagecache\n"
        "print(stagecache.Stage.TIME, stagecache.state.__name__, stagecache.errors.__name__)\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert printed == "[]\nTime stagecache.state stagecache.errors\n"


def test_multibody_is_there_without_being_imported_and_imports_nothing_large() -> None:
    program = (
        "import sys, stagecache\n"
        "print('stagecache.multibody' in sys.modules, stagecache.multibody.Pin())\n"
        "print(sorted({'matplotlib', 'scipy'} & sys.modules.keys()))\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert printed == "False Pin()\n[]\n"


def test_types_are_shipped() -> None:
    assert resources.files("stagecache").joinpath("py.typed").is_file()


def test_the_sources_are_loaded_once() -> None:
    assert "src" not in sys.modules
    assert not [name for name in sys.modules if name.startswith("src.")]
