"""Fingerprints of code and models, on which the validity of saved entries rests."""

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from threading import Lock

import pytest

from stagecache import State, Subsystem, System, cached, parameter
from stagecache.sharing.code import code_hash
from stagecache.system.saved.fingerprints import model_hash

LAWS = """
import functools
from enum import Enum
from attrs import frozen

GRAVITY = 10.0

def weight(mass):
    return GRAVITY * mass

def pull(x, by=1.0):
    return x - by

def scaled(function):
    @functools.wraps(function)
    def wrapped(*args):
        return 2.0 * function(*args)
    return wrapped

@scaled
def push(x):
    return x + 4.0

@functools.lru_cache
def seldom(x):
    return x / 2

class Law:
    def __init__(self, rate):
        self.rate = rate

    def value(self, x):
        return self.rate * x

@frozen
class Fixed:
    rate: float

    def value(self, x):
        return self.rate + x

class Mode(Enum):
    SLOW = 1

    def factor(self):
        return 1.5
"""

LAWFUL = '''
from functools import partial
import numpy as np
from numpy import sin
import laws
from laws import Fixed, Mode, push, seldom
from stagecache import Subsystem, System, cached, load_state, parameter

FIXED = Fixed(3.0)
MODES = [Mode.SLOW]
PULLED = partial(laws.pull, by=2.0)

class Base(Subsystem):
    length = parameter(2.0)

    def offset(self):
        return 1.0

class Arm(Base):
    def __init__(self):
        self.law = laws.Law(2.0)
        self.function = laws.pull

    def offset(self):
        return super().offset() + 1.0

    @cached(prerequisites=(Base.length,))
    def area(self, state):
        """Area."""
        from laws import weight
        print("computed")
        x = self.length(state) + np.sqrt(4.0) + sin(0.0)
        x += laws.weight(1.0) + weight(1.0) + self.law.value(x) + self.function(x) + push(x)
        return x + FIXED.value(x) + MODES[0].factor() + PULLED(x) + self.offset() + seldom(x)

    @cached(prerequisites=(area,))
    def above(self, state):
        return 2 * self.area(state)

arm = Arm()
system = System(arm)
'''

LAW_EDITS = {  # edits of the second module, and of the first
    "nothing": ("", ""),
    "a value of a module": ("GRAVITY = 10.0", "GRAVITY = 9.0"),
    "a function of a module": ("GRAVITY * mass", "GRAVITY * mass * 2"),
    "a function that is an attribute": ("x - by", "x - 2 * by"),
    "a default": ("by=1.0", "by=1.5"),
    "a decorator": ("2.0 * function", "3.0 * function"),
    "a decorated function": ("x + 4.0", "x + 5.0"),
    "a function with a cache": ("x / 2", "x / 4"),
    "a method of an attribute": ("self.rate * x", "self.rate * x * 2"),
    "a method of a frozen class": ("self.rate + x", "self.rate - x"),
    "a method of an enum": ("return 1.5", "return 2.5"),
    "an argument of a partial function": ("by=2.0", "by=3.0"),
    "a value of a frozen class": ("Fixed(3.0)", "Fixed(4.0)"),
    "a method of a base": ("return 1.0", "return 3.0"),
    "an attribute's attribute": ("Law(2.0)", "Law(3.0)"),
}

MODEL = '''
from functools import partial
from stagecache import Stage, State, Subsystem, System, cached, load_state, parameter, q_variable

FACTOR = 2.0

def helper(x):
    return FACTOR * inner(x)

def inner(x):
    return x + 1.0

class Arm(Subsystem):
    scale = 3.0
    length = parameter(2.0)
    other = q_variable(2.0)

    def realize_velocity(self, state):
        state[self].upd_qdot()[0] = 1.0

    def __init__(self):
        self.attribute = [1.0]

    def method(self):
        return self.scale

    @property
    def twice(self):
        return 2.0

    @cached(prerequisites=(length,))
    def area(self, state):
        """Area."""
        print("computed")
        return helper(self.length(state)) * self.method() * self.twice + self.attribute[0]

    @cached(prerequisites=(area,), equal=lambda a, b: a == b)
    def above(self, state):
        return 2 * self.area(state)

arm = Arm()
system = System(arm)
'''

SAVE = """
state = system.new_state()
arm.length.set(state, 5.0)
arm.above(state)
state.save("arm.state", cache=True)
"""

LOAD = """
state, report = load_state("arm.state", system, strict=False)
print(arm.area.is_valid(state), arm.above.is_valid(state), arm.above(state), *report.computed_again)
"""

EDITS: dict[str, tuple[Callable[[str], str], bool]] = {  # edits, and validity after them
    "nothing": (lambda source: source, True),
    "a comment and a line": (
        lambda s: s.replace("    scale", "\n    # a comment\n    scale"),
        True,
    ),
    "the function": (lambda s: s.replace(".twice + ", ".twice - "), False),
    "a constant": (
        lambda s: s.replace('print("computed")', 'print("comp")'),
        False,
    ),
    "a function that it calls": (lambda s: s.replace("FACTOR * inner", "FACTOR + inner"), False),
    "a function further on": (lambda s: s.replace("x + 1.0", "x + 2.0"), False),
    "a value of the module": (lambda s: s.replace("FACTOR = 2.0", "FACTOR = 3.0"), False),
    "a method": (lambda s: s.replace("return self.scale", "return -self.scale"), False),
    "a property": (lambda s: s.replace("return 2.0", "return 4.0"), False),
    "a value of the class": (lambda s: s.replace("scale = 3.0", "scale = 4.0"), False),
    "an attribute": (
        lambda s: s.replace("self.attribute = [1.0]", "self.attribute = [2.0]"),
        False,
    ),
    "a prerequisite": (
        lambda s: s.replace("prerequisites=(length,)", "prerequisites=(length, other)"),
        False,
    ),
    "a hook": (lambda s: s.replace("upd_qdot()[0] = 1.0", "upd_qdot()[0] = 2.0"), False),
}


def run(program: str, folder: Path) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arm")
    assert run(MODEL + SAVE, folder) == "computed\n"
    return folder


@pytest.mark.parametrize("edit", EDITS)
def test_saved_entries_are_valid_only_where_they_would_be_computed_the_same(
    edit: str, folder: Path
) -> None:
    change, is_valid = EDITS[edit]
    source = change(MODEL)
    assert (source == MODEL) is (edit == "nothing")
    *computed, said = run(source + LOAD, folder).splitlines()
    fresh = run(source + SAVE.replace("arm.state", "other") + "print(arm.above(state))", folder)
    assert said.startswith(f"{is_valid} ")
    assert said.split()[2] == fresh.split()[-1]
    assert (computed == []) is is_valid
    assert ("arm.area (" in said) is not is_valid


@pytest.mark.parametrize("edit", LAW_EDITS)
def test_code_and_values_of_other_modules_count(edit: str, tmp_path: Path) -> None:
    laws = tmp_path / "laws.py"
    laws.write_text(LAWS)
    saved = run(LAWFUL + SAVE, tmp_path)
    assert saved == "computed\n"
    old, new = LAW_EDITS[edit]
    is_same = edit == "nothing"
    assert (LAWS + LAWFUL).count(old) == 1 or is_same
    laws.write_text(LAWS.replace(old, new))
    source = LAWFUL.replace(old, new)
    loaded = run(source + "\nlaws.weight\n" + LOAD, tmp_path).splitlines()[-1].split()
    fresh = run(source + SAVE + "print(arm.above(state))", tmp_path).split()[-1]
    assert loaded[2] == fresh
    assert loaded[:2] == [str(is_same)] * 2


DUE = """
from stagecache import Stage, Subsystem, System, cached, load_state, parameter, q_variable

class Spring(Subsystem):
    place = q_variable(3.0)

    @cached(prerequisites=(place,))
    def force(self, state):
        return -2.0 * self.place(state)

    @cached(available_from=Stage.ACCELERATION)
    def power(self, state):
        return 3.0 * float(state[self].qdot[0])

    def realize_velocity(self, state):
        state[self].upd_qdot()[0] = self.force(state)

class Stiff(Spring):
    def realize_velocity(self, state):
        state[self].upd_qdot()[0] = 2.0 * self.force(state)

system = System(one=Spring(), two=Stiff(), three=Spring())
part = system.subsystem("three")
"""

DUE_SAVE = """
state = system.new_state()
system.realize(state, Stage.ACCELERATION)
part.power(state)
state.save("due.state", cache=True)
"""

DUE_LOAD = """
state = load_state("due.state", system)
print(part.power.is_valid(state), part.power(state))
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", "True -18.0"),
        ("-2.0 * self", "-5.0 * self", "False -45.0"),
        ("three=Spring()", "three=Stiff()", "False -36.0"),
    ],
)
def test_code_that_is_reached_by_a_stage_counts(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    run(DUE + DUE_SAVE, tmp_path)
    assert run(DUE.replace(old, new) + DUE_LOAD, tmp_path).strip() == said


class Room(Subsystem):
    area = parameter(2.0)

    @cached(prerequisites=(area,))
    def loss(self, state: State) -> float:
        return 3.0 * self.area(state)


class Other(Subsystem):
    area = parameter((2.0,))

    @cached(prerequisites=(area,))
    def loss(self, state: State) -> float:
        return 5.0


def test_no_entry_is_taken_where_a_variable_was_renamed_or_not_taken() -> None:
    one, two = Room(), Room()
    system = System(one=one, two=two)
    state = system.new_state()
    one.area.set(state, 10.0)
    assert (one.loss(state), two.loss(state)) == (30.0, 6.0)
    data = state.to_bytes(cache=True)
    assert one.loss.is_valid(State.from_bytes(data, system))
    for renamed in ({"one": "two", "two": "one"}, {"one.area": "two.area", "two.area": "one.area"}):
        swapped = State.from_bytes(data, system, renamed=renamed)
        assert not one.loss.is_valid(swapped)
        assert (one.loss(swapped), two.loss(swapped)) == (6.0, 30.0)
    other = Other()
    changed, report = State.from_bytes(data, System(one=Room(), two=other), strict=False)
    assert not other.loss.is_valid(changed)
    assert "one.loss (a variable was renamed, or not taken)" in report.computed_again


def test_the_hash_of_a_function_that_closes_over_an_unknown_object_is_empty() -> None:
    held = Lock()

    class Arm(Subsystem):
        length = parameter(1.0)

        @cached(prerequisites=(length,))
        def area(self, state: object) -> object:
            return held

    def area() -> object:
        return held

    def plain() -> int:
        return 1

    assert code_hash(area, Arm) == ""
    assert code_hash(plain, Arm)


def test_the_hash_of_a_model_is_that_of_its_attributes() -> None:
    class Arm(Subsystem):
        def __init__(self, size: object) -> None:
            self.size = size

    same, again, other = (model_hash(System(Arm(size))) for size in ([1.0], [1.0], [2.0]))
    assert same == again != other
    assert model_hash(System(Arm(lambda: 1))) == ""


def test_a_cache_can_be_saved_where_stagecache_was_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_found(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("stagecache.sharing.code.version", not_found)
    system = System()
    state = system.new_state()
    assert State.from_bytes(state.to_bytes(cache=True), system).stage == state.stage
