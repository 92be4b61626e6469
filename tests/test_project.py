"""Files about the project say the same as pyproject.toml."""

import re
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

import stagecache
from stagecache.multibody.tree.compiled import kernel

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_names_this_version_and_license() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in text
    assert f"\nlicense: {PROJECT['license']}\n" in text


def test_the_lock_pins_a_version_in_the_range_of_each_requirement() -> None:
    lock = (ROOT / ".ci" / "lock.txt").read_text(encoding="utf-8")
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", lock, re.MULTILINE):
        pins.setdefault(name, set()).add(version)
    lines = [
        *PROJECT["dependencies"],
        *chain.from_iterable(PROJECT["optional-dependencies"].values()),
    ]
    for requirement in map(Requirement, lines):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name != "stagecache":
            assert pins.get(name), f"{name} is missing: see .ci/requirements.in"
            assert all(map(requirement.specifier.contains, pins[name])), name


def test_the_built_wheels_are_those_of_the_classifiers() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    built = re.findall(r"cp3(\d+)-", settings["cibuildwheel"]["build"])
    prefix = "Programming Language :: Python :: 3."
    versions = [c.removeprefix(prefix) for c in PROJECT["classifiers"] if c.startswith(prefix)]
    assert built == versions


def test_an_install_with_compiled_modules_has_the_kernel_in_c() -> None:
    assert kernel is not None or not stagecache.compiled
