"""Files about the project say the same as pyproject.toml."""

import os
import re
import subprocess
import sys
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


def test_ci_runs_tests_of_compiled_rooms_in_both_forms() -> None:
    names = re.search(
        r"^HOT = \[\n(.*?)^\]", (ROOT / "setup.py").read_text(encoding="utf-8"), re.M | re.S
    )
    rooms = re.search(
        r"^compiled='tests/\((.*?)\)/'", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.M
    )
    assert names is not None
    assert rooms is not None
    assert set(re.findall(r'"(\w+)/', names[1])) <= set(rooms[1].split("|"))


def test_tests_that_passed_in_one_run_are_left_out_of_another(tmp_path: Path) -> None:
    passed = tmp_path / "passed"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_errors.py"]
    env = os.environ | {"STAGECACHE_PASSED": str(passed)}
    subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=True)
    names = passed.read_text(encoding="utf-8").splitlines()
    assert {name.split("::")[0] for name in names} == {"tests/test_errors.py"}
    command.append(f"--but-those-in={passed}")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert f" {len(names)} deselected" in done.stdout.splitlines()[-1]
