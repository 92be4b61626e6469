"""The house itself: who imports whom, where a public name lives, what is shipped."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import networkx as nx
import pytest

import stagecache

SOURCES = Path(__file__).parents[1] / "src"

# Each may import from itself and from those before it.
LAYERS = ["errors", "views", "graph", "state", "system", "study", "assembly", "multibody"]
SEES_ALL = {
    *("testing", "cli", "cli_check", "cli_explain", "cli_graph", "cli_impact", "cli_investigate"),
    *("cli_output", "cli_profile", "cli_state", "loading", "demo", "__main__", "__init__"),
}

# What takes long to import: neither the command line nor the plugin of pytest does.
LARGE = {"attrs", "hypothesis", "networkx", "numpy", "rich", "scipy"}

MODULES = ["stagecache"] + [
    info.name
    for info in pkgutil.walk_packages(stagecache.__path__, "stagecache.")
    if info.name != "stagecache.__main__"  # it runs when it is imported
]


def imports_of(path: Path) -> list[str]:
    """The modules that a file imports, in full."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append(node.module or "")
    return found


def layer_of(path: Path) -> str:
    first = path.relative_to(SOURCES).parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=str)
def test_imports_go_one_way(path: Path) -> None:
    layer = layer_of(path)
    if layer in SEES_ALL:
        return
    assert layer in LAYERS, "say in LAYERS where this package stands"
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    for name in imports_of(path):
        package, _, rest = name.partition(".")
        assert package != "src"
        if package == "stagecache":
            assert rest.partition(".")[0] in allowed, f"{layer} imports {name}"


def test_there_is_no_import_cycle() -> None:
    imports = nx.DiGraph()
    for path in SOURCES.rglob("*.py"):
        parts = ("stagecache", *path.relative_to(SOURCES).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        imports.add_edges_from((name, imported) for imported in imports_of(path))
    assert list(nx.simple_cycles(imports)) == []


@pytest.mark.parametrize("name", MODULES)
def test_every_module_imports(name: str) -> None:
    importlib.import_module(name)


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=str)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


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


def test_the_package_offers_what_its_packages_offer() -> None:
    packages = [
        *(stagecache.assembly, stagecache.graph, stagecache.state, stagecache.study),
        *(stagecache.system, stagecache.views),
    ]
    assert stagecache.__all__ == sorted(name for package in packages for name in package.__all__)
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
    "first", ["stagecache", "stagecache.errors", "stagecache.cli", "stagecache.testing.plugin"]
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
