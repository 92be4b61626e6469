"""States that are unpickled where the classes of their model have changed."""

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    auto_update,
    discrete,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.errors import TopologyVersionError
from tests.profiles import examples
from tests.system.core.test_transport import where_it_is_unknown

MODEL = """
import numpy as np
from stagecache import *

class Arm(Subsystem):
    mode = modeling_option(1)
    length = parameter(2.0)
    width = parameter(3.0)
    table = parameter(np.zeros(2))
    label = discrete("a", invalidates=Stage.REPORT)
    memory = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.TIME)
    springs = parameter(1.0, count=2)
    angle = q_variable(0.1)
    bend = q_variable(0.2)
    place = q_variable([0.3, 0.4])
    rate = u_variable(0.5)
    speed = u_variable(0.6)
    heat = z_variable(factory=lambda self, state: np.zeros(self.mode(state)))

    @cached(prerequisites=(length,))
    def area(self, state):
        return self.length(state) ** 2

    @position_error()
    def rod(self, state):
        return 0.0

    @position_error()
    def stop(self, state):
        return 0.0

class Hand(Subsystem):
    grip = parameter(4.0)
    finger = q_variable(0.7)

def make():
    return System(arm=Arm(), hand=Hand())
"""

NAMES = {
    "arm": (
        *("mode", "length", "width", "table", "label", "memory", "springs"),
        *("angle", "bend", "place", "rate", "speed", "heat"),
    ),
    "hand": ("grip", "finger"),
}

WRITE = """
import json, pickle, sys
sys.path.insert(0, sys.argv[1])
import arm_model
from tests.system.saved.test_snapshot import values_of, written
state = written(arm_model.make())
with open(sys.argv[2], "wb") as file:
    pickle.dump(state, file)
print(json.dumps(values_of(state)))
"""

READ = """
import gc, json, pickle, sys
from tests.system.saved.test_snapshot import values_of
dump = open(sys.argv[1], "rb").read()
found = []
for folder in sys.argv[2:]:
    sys.path.insert(0, folder)
    sys.modules.pop("arm_model", None)
    try:
        found.append(values_of(pickle.loads(dump)))
    except Exception as error:
        found.append({"error": type(error).__name__, "message": str(error)})
    gc.collect()  # the next one finds no System that is known
print(json.dumps(found))
"""


def written(system: Any) -> State:
    """A State in which every variable has a value of its own."""
    arm, hand = system["arm"], system["hand"]
    state: State = system.new_state()
    arm.mode.set(state, 3)
    system.realize_model(state)
    arm.length.set(state, 20.0)
    arm.width.set(state, 30.0)
    arm.table.set(state, np.array([40.0, 41.0]))
    arm.label.set(state, "fifty")
    arm.memory.set(state, 60.0)
    for i, spring in enumerate(arm.springs):
        spring.set(state, 70.0 + i)
    hand.grip.set(state, 80.0)
    system.realize(state, Stage.INSTANCE)
    state.time = 1.5
    state.y = np.arange(90.0, 90.0 + state.ny)
    state.u_weights = [2.0, 3.0]
    state.qerr_weights = [4.0, 1.0]
    system.realize(state, Stage.INSTANCE)
    return state


def values_of(state: State) -> dict[str, Any]:
    """What a State has, by the names of its items."""
    system = state.system
    found: dict[str, Any] = {"time": state.time, "stage": state.stage.name}
    for owner, names in NAMES.items():
        for name in names:
            item = getattr(system[owner], name)
            items = [item] if callable(item) else [*item]
            found[f"{owner}.{name}"] = [
                [np.asarray(one(state)).tolist(), one.version(state)] for one in items
            ]
    u = {"rate": system["arm"].rate, "speed": system["arm"].speed}  # type: ignore[union-attr]  # of this model
    for name, block in u.items():
        place = block.place(state).start - state.u_start
        found[f"weight of {name}"] = state.u_weights[place]
    from stagecache.system.constraints.rows import row_names  # noqa: PLC0415  # of a State

    found["weights of rows"] = dict(
        sorted(zip(row_names(state, "qerr"), state.qerr_weights.tolist(), strict=True))
    )
    return found


def run(program: str, *arguments: Path) -> Any:
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    return json.loads(done.stdout)


Edit = Callable[[str], str]


def replaced(old: str, new: str) -> Edit:
    def edit(source: str) -> str:
        assert old in source
        return source.replace(old, new, 1)

    return edit


def swapped(one: str, two: str) -> Edit:
    """Swap two whole lines, which begin with these words."""

    def edit(source: str) -> str:
        lines = source.split("\n")
        i, j = (
            next(i for i, line in enumerate(lines) if line.strip().startswith(w))
            for w in (one, two)
        )
        lines[i], lines[j] = lines[j], lines[i]
        return "\n".join(lines)

    return edit


def backwards(source: str) -> str:
    """The declarations of Arm in the opposite order."""
    head, rest = source.split("class Arm(Subsystem):\n")
    body, tail = rest.split("    @cached", 1)
    lines = [line for line in body.split("\n") if line.strip()]
    return head + "class Arm(Subsystem):\n" + "\n".join(lines[::-1]) + "\n\n    @cached" + tail


HARMLESS: dict[str, Edit] = {
    "nothing": lambda source: source,
    "two parameters": swapped("length =", "width ="),
    "two q": swapped("angle =", "place ="),
    "two u": swapped("rate =", "speed ="),
    "a q and a parameter": swapped("angle =", "table ="),
    "all": backwards,
    "two constraints": lambda source: (
        source.replace("def rod", "def x")
        .replace("def stop", "def rod")
        .replace("def x", "def stop")
    ),
    "subsystems": replaced("arm=Arm(), hand=Hand()", "hand=Hand(), arm=Arm()"),
    "classes": lambda source: source.replace(
        "class Hand", "class Later(Subsystem): pass\n\nclass Hand"
    ),
    "a first value": replaced("parameter(2.0)", "parameter(7.0)"),
    "a whole number": replaced("parameter(2.0)", "parameter(7)"),
    "a computation": replaced("** 2", "** 3"),
    "an entry": replaced("def area", "def surface"),
    "a constraint of weight 1": replaced("def stop", "def _stop"),
}
"""What may be edited between pickling and unpickling."""

REFUSED: dict[str, tuple[Edit, list[str]]] = {
    "add a parameter": (
        replaced("    width =", "    depth = parameter(1.0)\n    width ="),
        ["arm.depth is new: a parameter, a number"],
    ),
    "add a q": (
        replaced("    angle =", "    twist = q_variable([1.0, 2.0])\n    angle ="),
        ["arm.twist is new: q, 2 numbers"],
    ),
    "remove a parameter": (
        replaced("    width = parameter(3.0)\n", ""),
        ["arm.width is not here (it was a parameter, a number"],
    ),
    "remove a u": (
        replaced("    speed = u_variable(0.6)\n", ""),
        ["arm.speed is not here (it was u, 1 number"],
    ),
    "rename": (
        replaced("    width =", "    breadth ="),
        ["arm.width is not here", "arm.breadth is new"],
    ),
    "retype": (
        replaced("parameter(3.0)", 'parameter("three")'),
        ["arm.width is", "of type builtins.str", "it was", "a number"],
    ),
    "retype an array": (
        replaced("np.zeros(2)", "np.zeros(2, int)"),
        ["arm.table is", "array of int64", "array of float64"],
    ),
    "resize an array": (
        replaced("np.zeros(2)", "np.zeros(3)"),
        ["arm.table is", "shape (3,)", "shape (2,)"],
    ),
    "resize a q": (
        replaced("[0.3, 0.4]", "[0.3, 0.4, 0.5]"),
        ["arm.place is q, 3 numbers (it was q, 2 numbers"],
    ),
    "resize what an option decides": (
        replaced("np.zeros(self.mode(state))", "np.zeros(1 + self.mode(state))"),
        ["arm.heat is z, 4 numbers (it was z, 3 numbers"],
    ),
    "resize a family": (
        replaced("parameter(1.0, count=2)", "parameter(1.0, count=3)"),
        ["arm.springs[2] is new"],
    ),
    "a stage": (
        replaced("width = parameter", "width = modeling_option"),
        ["arm.width is a modeling option, a number (it was a parameter, a number"],
    ),
    "a q becomes a u": (
        replaced("angle = q_variable", "angle = u_variable"),
        ["arm.angle is u, 1 number (it was q, 1 number"],
    ),
    "auto-update": (
        replaced(
            "memory = auto_update(0.0, invalidates=Stage.REPORT, available_from=Stage.TIME)",
            "memory = discrete(0.0, invalidates=Stage.REPORT)",
        ),
        ["arm.memory is a discrete variable", "it was an auto-update variable"],
    ),
    "move": (
        lambda source: source.replace("    width = parameter(3.0)\n", "").replace(
            "    grip =", "    width = parameter(3.0)\n    grip ="
        ),
        ["arm.width is not here", "hand.width is new"],
    ),
    "a constraint whose weight counts": (
        replaced("def rod", "def rods"),
        ["arm.rod is not here (it was a row of qerr)"],
    ),
    "several": (
        lambda source: source.replace("    width =", "    breadth =").replace(
            "grip = parameter(4.0)", "grip = parameter(None)"
        ),
        ["arm.width is not here", "arm.breadth is new", "hand.grip is"],
    ),
    "version": (
        replaced("class Hand(Subsystem):", 'class Hand(Subsystem):\n    version = "2"'),
        ["saved by another version", "hand is version '2'"],
    ),
}
"""What makes it unknown where a value belongs."""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """By edit: what another process finds in a State that was pickled before; and before, ""."""
    edits = {"": lambda source: source, **HARMLESS, **{k: edit for k, (edit, _) in REFUSED.items()}}
    folders = [tmp_path_factory.mktemp("model") for _ in edits]
    for folder, edit in zip(folders, edits.values(), strict=True):
        (folder / "arm_model.py").write_text(edit(MODEL))
    file = folders[0] / "state.pickle"
    before = run(WRITE, folders[0], file)
    return dict(zip(edits, [before, *run(READ, file, *folders[1:])], strict=True))


@pytest.mark.parametrize("edit", HARMLESS)
def test_each_variable_has_its_own_value_where_the_lines_of_the_model_have_moved(
    edit: str, read: dict[str, dict[str, Any]]
) -> None:
    before, after = dict(read[""]), dict(read[edit])
    if edit == "a constraint of weight 1":
        assert before.pop("weights of rows") == {"arm.rod": 4.0, "arm.stop": 1.0}
        assert after.pop("weights of rows") == {"arm.rod": 4.0, "arm._stop": 1.0}
    assert after == before


@pytest.mark.parametrize("edit", REFUSED)
def test_a_state_that_does_not_fit_is_refused_item_by_item(
    edit: str, read: dict[str, dict[str, Any]]
) -> None:
    after = read[edit]
    assert after["error"] == "LayoutMismatchError"
    for text in REFUSED[edit][1]:
        assert text in after["message"]


# ---------------------------------------------------------------------- random classes


@frozen
class Item:
    """A declared variable: how, and a value to be written that is another one for each name."""

    kind: str
    declare: Callable[[], Any]
    value: Callable[[float], Any]


ITEMS = (
    Item("option", lambda: modeling_option(1.0), float),
    Item("number", lambda: parameter(1.0), float),
    Item("text", lambda: parameter("a"), str),
    Item("array", lambda: parameter(np.zeros(2)), lambda x: np.full(2, x)),
    Item("larger array", lambda: parameter(np.zeros(3)), lambda x: np.full(3, x)),
    Item("late", lambda: discrete(1.0, invalidates=Stage.REPORT), float),
    Item(
        "memory",
        lambda: auto_update(1.0, invalidates=Stage.REPORT, available_from=Stage.TIME),
        float,
    ),
    Item("q", lambda: q_variable(1.0), float),
    Item("two q", lambda: q_variable([1.0, 2.0]), lambda x: np.full(2, x)),
    Item("made q", lambda: q_variable(factory=lambda self, state: [1.0]), lambda x: np.full(1, x)),
    Item("u", lambda: u_variable(1.0), float),
    Item("z", lambda: z_variable([1.0]), lambda x: np.full(1, x)),
)
declared = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(ITEMS), max_size=6)


def class_of(items: dict[str, Item], module: ModuleType) -> Any:
    """The class of a module that declares these items."""
    namespace = {name: item.declare() for name, item in items.items()}
    module.Arm = type(  # type: ignore[attr-defined]  # as one that is written there
        "Arm", (Subsystem,), {**namespace, "__module__": module.__name__, "__qualname__": "Arm"}
    )
    return module.Arm


@examples(200)
@given(declared, st.data())
def test_each_value_comes_to_its_own_name_or_every_difference_is_named(
    before: dict[str, Item], data: st.DataObject
) -> None:
    after = dict(data.draw(st.permutations([*before.items()])))
    if data.draw(st.booleans()):
        for name, item in data.draw(declared).items():
            if data.draw(st.booleans()):
                after[name] = item
            else:
                after.pop(name, None)
    module = sys.modules["edited_model"] = ModuleType("edited_model")
    try:
        arm = class_of(before, module)()
        system = System(arm=arm)
        state = system.new_state()
        for x, (name, item) in enumerate(before.items()):
            getattr(arm, name).set(state, item.value(10.0 + x))
            system.realize_model(state)
        wanted, versions = _read(state, before)
        dump = pickle.dumps(state)
        class_of(after, module)
        changed = {n for n in {*before, *after} if _kind(before, n) != _kind(after, n)}
        if not changed:
            assert _read(where_it_is_unknown(dump), before) == (wanted, versions)
            return
        with pytest.raises(TopologyVersionError) as caught:
            where_it_is_unknown(dump)
    finally:
        del sys.modules["edited_model"]
    named = {text.split()[0].removeprefix("arm.") for text in caught.value.got.split("; ")}
    sized_later = {n for n in changed if "made" in _kind(after, n, "made") and n in before}
    assert changed - sized_later <= named <= changed


def _kind(items: dict[str, Item], name: str, made: str = "") -> str:
    """What an item is; a number of q is one, however it is declared."""
    kind = items[name].kind if name in items else "none"
    return kind if made else kind.replace("made q", "q")


def _read(state: Any, items: dict[str, Item]) -> tuple[dict[str, Any], dict[str, int]]:
    handles = {name: getattr(state.system["arm"], name) for name in sorted(items)}
    return (
        {name: np.ravel(handle(state)).tolist() for name, handle in handles.items()},
        {name: handle.version(state) for name, handle in handles.items()},
    )
