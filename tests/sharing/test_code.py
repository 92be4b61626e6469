"""Keys of shared entries: whatever changes the value of a computation changes its key."""

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import attrs
import numpy as np
import pytest

from stagecache import (
    Graph,
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    parameter,
    q_variable,
    shared_results,
)
from stagecache.errors import UndeclaredPrerequisiteError, UnsharableError
from stagecache.sharing import function
from stagecache.sharing.fingerprint import fingerprint

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def results() -> Iterator[Any]:
    with shared_results() as found:
        yield found


def read(function: Callable[..., Any], value: Any = 2.0, name: str = "x") -> Any:
    """Return the value of a shared entry of a new graph."""
    graph = Graph()
    variable = graph.variable(name, value)
    return graph.entry("entry", function, prerequisites=(variable,), shared=True)()


class Factor:
    """A callable that is not a function."""

    def __init__(self, function: Callable[..., Any], factor: float) -> None:
        functools.update_wrapper(self, function)
        self.function, self.factor = function, factor

    def __call__(self, *arguments: Any) -> float:
        return self.factor * float(self.function(*arguments))


def class_of(factor: float) -> Any:
    class Law:
        FACTOR = factor

        @classmethod
        def scaled(cls, x: Any) -> float:
            return cls.FACTOR * float(x())

        def apply(self, x: float) -> float:
            return self.FACTOR * x

    return Law


def test_classes_of_one_name_that_change_places_differ() -> None:
    one, five = class_of(1.0), class_of(5.0)

    def with_laws(first: Any, second: Any) -> Callable[[Any], float]:
        return lambda x: 10 * float(first().apply(x())) + float(second().apply(x()))

    assert read(with_laws(one, five)) == 30.0
    assert read(with_laws(five, one)) == 102.0


def test_a_class_method_counts_with_its_class() -> None:
    assert read(class_of(1.0).scaled) == 2.0
    assert read(class_of(5.0).scaled) == 10.0


def test_a_wrapper_that_is_an_object_is_not_its_function() -> None:
    def plain(x: Any) -> float:
        return float(x())

    assert [read(Factor(plain, factor)) for factor in (1.0, 5.0, 1.0)] == [2.0, 10.0, 2.0]


def test_a_function_counts_with_its_attributes_and_its_cache() -> None:
    def with_attribute(factor: float) -> Callable[[Any], float]:
        def helper(x: float) -> float:
            return float(helper.factor) * x  # type: ignore[attr-defined]  # set below

        helper.factor = factor  # type: ignore[attr-defined]  # on purpose
        return lambda x: helper(float(x()))

    assert [read(with_attribute(factor)) for factor in (1.0, 5.0)] == [2.0, 10.0]

    def with_cache(factor: float) -> Callable[[Any], float]:
        @functools.lru_cache
        def helper(x: float) -> float:
            return factor * x

        return lambda x: helper(float(x()))

    assert [read(with_cache(factor)) for factor in (1.0, 5.0)] == [2.0, 10.0]


class Point(NamedTuple):
    x: float = 1.0

    def norm(self) -> float:
        return abs(self.x)


def test_named_tuples_and_what_cannot_be_compared_in_a_class() -> None:
    def norm(x: Any) -> float:
        return Point(x()).norm()

    assert read(norm, -3.0) == 3.0
    law = class_of(1.0)
    law.other = Lock()  # which the function may use by any name
    with pytest.raises(UnsharableError, match="cannot be shared"):
        read(lambda x: float(law().apply(x())))


def test_names_of_prerequisites_count_and_nothing_further_is_read() -> None:
    def report(x: Any) -> dict[str, float]:
        return {x.name: float(x())}

    assert read(report, name="a") == {"a": 2.0}
    assert read(report, name="b") == {"b": 2.0}
    with pytest.raises(UnsharableError, match="the attribute 'dependents' of a handle"):
        read(lambda x: len(x.dependents))


SESSION = """
from stagecache import Graph, shared_results
import {package}.model as model
graph = Graph()
x = graph.variable("x", 2.0)
with shared_results(path="results") as results:
    print([graph.entry(n, getattr(model, n), prerequisites=(x,), shared=True)() for n in {names}])
"""

FUNCTIONS = """
def plain(x):
    from {package}.laws import law
    return law(x())

def relative(x):
    from . import laws
    return laws.law(x())

def dotted(x):
    import {package}.inner.deep
    return {package}.inner.FACTOR * x()

def absent(x):
    try:
        import surely_not_there
    except ImportError:
        return {package_factor} * x()
"""


FRESH_PYTHON = [sys.executable, "-B"]
"""Compiles modules again: what it keeps of a source of the same second and size passes for new."""


def test_what_a_function_imports_counts(tmp_path: Path) -> None:
    pytest.importorskip("filelock", reason="filelock is in the extra: pip install '.[studies]'")
    package = tmp_path / "imported_laws"
    (package / "inner").mkdir(parents=True)
    names = ["plain", "relative", "dotted", "absent"]
    (package / "__init__.py").write_text("")
    (package / "inner" / "deep.py").write_text("")
    (package / "model.py").write_text(FUNCTIONS.format(package=package.name, package_factor=1.0))
    program = SESSION.format(package=package.name, names=names)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    for factor in (1.0, 5.0):
        (package / "laws.py").write_text(f"def law(x):\n    return {factor} * x\n")
        (package / "inner" / "__init__.py").write_text(f"FACTOR = {factor}\n")
        command = [*FRESH_PYTHON, "-c", program]
        done = subprocess.run(
            command, cwd=tmp_path, env=env, check=True, capture_output=True, text=True
        )
        assert done.stdout == f"{[2 * factor] * 3 + [2.0]}\n"


def test_a_package_of_the_user_is_installed(tmp_path: Path) -> None:
    places = tmp_path / "site-packages"
    (places / "kept-2.0.dist-info").mkdir(parents=True)
    (places / "kept-2.0.dist-info" / "METADATA").write_text("Name: kept\nVersion: 2.0\n")
    program = (
        "import kept; from stagecache.sharing.code import code_of; print(code_of(kept.f).hash)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(places), *sys.path])}
    hashes = set()
    for content in ("0.0", "1.0"):  # a package that is installed counts by its version
        (places / "kept.py").write_text(f"def f(x):\n    return {content}\n")
        command = [*FRESH_PYTHON, "-c", program]
        hashes.add(subprocess.run(command, env=env, check=True, capture_output=True).stdout)
    assert len(hashes) == 1


def test_code_that_an_installed_program_runs_as_the_main_one_is_compared(tmp_path: Path) -> None:
    places = tmp_path / "site-packages"
    places.mkdir()
    (places / "shell.py").write_text(
        "import sys; from stagecache.sharing.code import code_of\n"
        "typed = {'__name__': '__main__'}; exec(sys.argv[1], typed)\n"
        "print(code_of(typed['f']).unknown or code_of(typed['f']).hash)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(places), *sys.path])}
    found = []
    for content in ("0.0", "1.0", "1.0"):
        command = [*FRESH_PYTHON, "-m", "shell", f"def f(x):\n    return {content}\n"]
        done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
        found.append(done.stdout)
    assert "function" not in found[0]
    assert found[0] != found[1] == found[2]


def test_a_program_that_is_typed_in_may_share() -> None:
    program = """
from stagecache import Graph, shared_results
import attrs
@attrs.frozen
class Law:
    factor: float
    def apply(self, x): return self.factor * x
graph = Graph()
law = graph.variable("law", Law(2.0))
with shared_results() as results:
    for name in "ab":
        entry = graph.entry(name, lambda law: law().apply(3.0), prerequisites=(law,), shared=True)
        print(entry())
print(results.statistics.hits)
"""
    for command in (["-c", program], ["-"]):
        done = subprocess.run(
            [sys.executable, *command],
            input=program if command == ["-"] else None,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "6.0\n6.0\n1\n", done.stderr


# ---------------------------------------------------------------------- attributes


class Steel(Subsystem):
    def stiffness(self) -> float:
        return 1.0


class Wood(Subsystem):
    def stiffness(self) -> float:
        return 5.0


class Space(Subsystem):
    x = parameter(2.0)

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right

    @cached(prerequisites=(x,), shared=True)
    def loss(self, state: State) -> float:
        return self.x(state) * float(10 * self.left.stiffness() + self.right.stiffness())


def test_subsystems_that_change_places_differ() -> None:
    found = []
    for left, right in ((Steel(), Wood()), (Wood(), Steel())):
        space = Space(left, right)
        state = System(space, left=left, right=right).new_state()
        found.append(space.loss(state))
    assert found == [30.0, 102.0]


class Wall(Subsystem):
    def __init__(self, area: float) -> None:
        self.area = area


@attrs.frozen
class Hidden:
    x: float = attrs.field(repr=False)


@pytest.mark.parametrize(
    ("held", "area_of"),
    [
        (lambda wall, system: {wall}, lambda held: next(iter(held)).area),
        (lambda wall, system: system, lambda held: held.get(Wall).area),
        (lambda wall, system: frozenset({Hidden(wall.area)}), lambda held: next(iter(held)).x),
        (lambda wall, system: [{"a": wall}], lambda held: held[0]["a"].area),
    ],
)
def test_attributes_are_followed_wherever_they_refer(held: Any, area_of: Any) -> None:
    class Holder(Subsystem):
        held: Any
        x = parameter(2.0)

        @cached(prerequisites=(x,), shared=True)
        def loss(self, state: State) -> float:
            return self.x(state) * float(area_of(self.held))

    found = []
    for area in (1.0, 3.0):
        wall, holder = Wall(area), Holder()
        system = System(wall, holder)
        holder.held = held(wall, system)
        found.append(holder.loss(system.new_state()))
    assert found == [2.0, 6.0]


def test_an_attribute_that_is_changed_in_place_changes_the_key() -> None:
    class Table(Subsystem):
        x = parameter(2.0)

        def __init__(self) -> None:
            self.table = np.array([1.0])

        @cached(prerequisites=(x,), shared=True)
        def y(self, state: State) -> float:
            return float(self.table[0]) * self.x(state)

    table = Table()
    system = System(table)
    assert table.y(system.new_state()) == 2.0
    table.table[0] = 5.0
    assert table.y(system.new_state()) == 10.0
    other = Table()
    assert other.y(System(other).new_state()) == 2.0


def test_a_value_is_not_kept_if_the_code_has_changed_since_its_key_was_made(
    results: Any,
) -> None:
    module = ModuleType("laws_in_place")
    sys.modules["laws_in_place"] = module
    exec("FACTOR = [1.0]\ndef law(x):\n    return FACTOR[0] * x()", vars(module))
    try:
        graph = Graph()
        x = graph.variable("x", 2.0)
        first = graph.entry("first", module.law, prerequisites=(x,), shared=True)
        assert first() == 2.0
        module.FACTOR[0] = 5.0
        x.set(3.0)
        assert first() == 15.0
        module.FACTOR[0] = 1.0
        x.set(2.0)
        assert first() == 2.0
        x.set(3.0)
        second = graph.entry("second", module.law, prerequisites=(x,), shared=True)
        assert second() == 3.0
    finally:
        del sys.modules["laws_in_place"]


# ---------------------------------------------------------------------- values


def test_the_whole_of_q_is_more_than_the_only_part_that_is_not_empty() -> None:
    class Part(Subsystem):
        a = q_variable(1.0)

        @cached(prerequisites=lambda self: (self.q,), shared=True)
        def total(self, state: State) -> float:
            return float(state.q.sum())

        @cached(prerequisites=lambda self: (self.q,), shared=True)
        def own(self, state: State) -> float:
            return float(state[self].q.sum()) + self.a(state)

        @cached(prerequisites=lambda self: (self.system.q,), shared=True)
        def whole(self, state: State) -> float:
            return float(state.q.sum()) + float(state[self].q.sum()) + self.a(state)

    part = Part()
    state = System(part).new_state()
    with pytest.raises(UndeclaredPrerequisiteError):
        part.total(state)
    assert (part.own(state), part.whole(state)) == (2.0, 3.0)


def test_a_copy_within_a_computation_reads_no_more() -> None:
    class Slope(Subsystem):
        x = parameter(2.0)
        y = parameter(3.0)

        @cached(prerequisites=(x, y))
        def f(self, state: State) -> float:
            return self.x(state) * self.y(state)

        def _slope(self, state: State) -> float:
            twin = state.copy()
            self.x.set(twin, self.x(state) + 1.0)
            return self.f(twin)

        @cached(prerequisites=(x,), shared=True)
        def wrong(self, state: State) -> float:
            return self._slope(state)

        @cached(prerequisites=(x, y, f), shared=True)
        def right(self, state: State) -> float:
            return self._slope(state)

    slope = Slope()
    state = System(slope).new_state()
    with pytest.raises(UndeclaredPrerequisiteError, match="wrong: is shared, and reads"):
        slope.wrong(state)
    assert slope.right(state) == 9.0


def test_a_value_that_its_reader_changes_reaches_no_other_state() -> None:
    class Lists(Subsystem):
        x = parameter(2.0)

        @cached(prerequisites=(x,), shared=True)
        def items(self, state: State) -> list[float]:
            return [self.x(state)]

        @cached(prerequisites=(items,), shared=True)
        def total(self, state: State) -> float:
            return sum(self.items(state))

    for change in (100.0, 0.0):
        lists = Lists()
        state = System(lists).new_state()
        lists.items(state).append(change)
        assert lists.total(state) == 2.0 + change


def test_moments_count_with_zone_and_fold() -> None:
    moment = datetime(2024, 10, 27, 2, 30)
    zones = [None, UTC, timezone(timedelta(hours=2)), ZoneInfo("Europe/Berlin")]
    zones += [ZoneInfo("Africa/Lagos"), ZoneInfo("UTC")]
    moments = [moment.replace(tzinfo=zone, fold=fold) for zone in zones for fold in (0, 1)]
    assert len({fingerprint(one, "x") for one in moments}) == len(moments)


def test_keys_of_a_ladder_take_time_in_proportion_to_its_entries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = 0
    original = function.AbstractSharedFunction._part

    def counted(*arguments: Any) -> bytes:
        nonlocal calls
        calls += 1
        return original(*arguments)

    monkeypatch.setattr(function.AbstractSharedFunction, "_part", counted)
    graph = Graph()
    above: Any = [graph.variable("a", 1.0), graph.variable("b", 2.0)]
    for level in range(20):
        above = [
            graph.entry(f"{name}{level}", lambda x, y: x() + y(), prerequisites=above, shared=True)
            for name in "ab"
        ]
    assert above[0]() == 3.0 * 2**19
    assert calls < 2000


def test_items_of_a_discrete_variable_count_by_content() -> None:
    class Holder(Subsystem):
        items = discrete({"a": (1.0, np.zeros(2))}, invalidates=Stage.POSITION)

        @cached(prerequisites=(items,), shared=True)
        def total(self, state: State) -> float:
            return float(sum(part[1].sum() for part in self.items(state).values()))

    holder = Holder()
    system = System(holder)
    for number in (0.0, 1.0, 0.0):
        state = system.new_state()
        holder.items.set(state, {"a": (1.0, np.full(2, number))})
        assert holder.total(state) == 2 * number
