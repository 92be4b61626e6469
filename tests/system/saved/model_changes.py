"""A model, changed in many ways after a State of it was saved; and what loading says of each.

Run it for a table: python -m tests.system.saved.model_changes
"""

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

from stagecache import State, System
from stagecache.errors import LayoutMismatchError
from stagecache.files.report import LoadReport, lines_of

MODEL: Final = """
from stagecache import *

class Arm(Subsystem):
    mode = modeling_option(1)
    length = parameter(2.0, unit="m")
    width = parameter(3.0, unit="m")
    label = discrete("a", invalidates=Stage.REPORT)
    angle = q_variable(0.1)
    bend = q_variable((0.2, 0.3))
    rate = u_variable(0.5)

class Hand(Subsystem):
    grip = parameter(4.0)

def make():
    return System(arm=Arm(), hand=Hand())
"""


@frozen
class Change:
    """A change of the model.

    Attributes
    ----------
    what : str
    old, new : str
        Text of the model, and the text that takes its place.
    differences : tuple of str
        Reports of loading with `strict=False`.
    renamed : dict of str to str
        With these names, nothing differs.
    lost : tuple of str
        Variables that keep their first values when what fits is taken.
    """

    what: str
    old: str
    new: str
    differences: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(factory=dict)
    lost: tuple[str, ...] = ()

    def apply(self) -> str:
        """Return the changed model."""
        assert self.old in MODEL
        return MODEL.replace(self.old, self.new)


INSTANCE = "a parameter, a number"
CHANGES: Final = (
    Change(
        "lines moved",
        "    angle = q_variable(0.1)\n    bend = q_variable((0.2, 0.3))",
        "    bend = q_variable((0.2, 0.3))\n    angle = q_variable(0.1)",
    ),
    Change("subsystems in another order", "arm=Arm(), hand=Hand()", "hand=Hand(), arm=Arm()"),
    Change("another first value", "parameter(4.0)", "parameter(5.0)"),
    Change(
        "a variable added",
        "    rate =",
        "    extra = parameter(7.0)\n    rate =",
        (f"arm.extra is new: {INSTANCE}",),
        lost=("arm.extra",),
    ),
    Change(
        "a variable removed",
        '    width = parameter(3.0, unit="m")\n',
        "",
        (f"arm.width is not here (it was {INSTANCE} [m])",),
    ),
    Change(
        "a variable renamed",
        "    width =",
        "    breadth =",
        (
            f"arm.width is not here (it was {INSTANCE} [m])",
            f"arm.breadth is new: {INSTANCE} [m]",
        ),
        {"arm.width": "arm.breadth"},
        ("arm.breadth",),
    ),
    Change(
        "another type",
        'discrete("a",',
        "discrete(1.0,",
        (
            "arm.label is a discrete variable that invalidates Report, a number "
            "(it was a discrete variable that invalidates Report, of type builtins.str)",
        ),
        lost=("arm.label",),
    ),
    Change(
        "another size",
        "(0.2, 0.3)",
        "(0.2, 0.3, 0.4)",
        ("arm.bend is q, 3 numbers (it was q, 2 numbers)",),
        lost=("arm.bend",),
    ),
    Change(
        "another unit",
        'length = parameter(2.0, unit="m")',
        'length = parameter(2000.0, unit="mm")',
        (f"arm.length is {INSTANCE} [mm] (it was {INSTANCE} [m])",),
        lost=("arm.length",),
    ),
    Change(
        "a q became a u",
        "angle = q_variable",
        "angle = u_variable",
        ("arm.angle is u, 1 number (it was q, 1 number)",),
        lost=("arm.angle",),
    ),
    Change(
        "a parameter became a modeling option",
        "grip = parameter",
        "grip = modeling_option",
        (f"hand.grip is a modeling option, a number (it was {INSTANCE})",),
        lost=("hand.grip",),
    ),
    Change(
        "a variable moved to another subsystem",
        '    width = parameter(3.0, unit="m")\n',
        "",
        (
            f"arm.width is not here (it was {INSTANCE} [m])",
            f"hand.width is new: {INSTANCE} [m]",
        ),
        {"arm.width": "hand.width"},
        ("hand.width",),
    ),
    Change(
        "a subsystem renamed",
        "hand=Hand()",
        "claw=Hand()",
        (
            "hand is not here (it was a subsystem)",
            "claw is new: a subsystem",
            f"hand.grip is not here (it was {INSTANCE})",
            f"claw.grip is new: {INSTANCE}",
        ),
        {"hand": "claw"},
        ("claw.grip",),
    ),
    Change(
        "a subsystem added",
        "hand=Hand()",
        "hand=Hand(), other=Hand()",
        ("other is new: a subsystem", f"other.grip is new: {INSTANCE}"),
        lost=("other.grip",),
    ),
    Change(
        "a subsystem of another version",
        "class Hand(Subsystem):",
        'class Hand(Subsystem):\n    version = "2"',
        ("hand is version '2' (it was version '')",),
    ),
    Change(
        "a System of another version",
        "hand=Hand())",
        'hand=Hand(), version="2")',
        ("system is version '2' (it was version '')",),
    ),
)


def system_of(source: str) -> System:
    """Return the System of a model."""
    scope: dict[str, Any] = {"__name__": "a_model"}
    exec(source, scope)
    return scope["make"]()  # type: ignore[no-any-return]  # a System


def written(system: System) -> State:
    """Return a State whose variables all have values of their own."""
    state = system.new_state()
    arm: Any = system.subsystem("arm")
    hand: Any = system.subsystem("hand")
    arm.length.set(state, 20.0)
    arm.width.set(state, 30.0)
    arm.label.set(state, "fifty")
    hand.grip.set(state, 40.0)
    state.y = [60.0, 61.0, 62.0, 63.0]
    return state


def saved() -> bytes:
    """Return a State of the first model as bytes."""
    return written(system_of(MODEL)).to_bytes()


def values_of(state: State) -> dict[str, Any]:
    """Return the values of all variables by path."""
    handles = [h for s in state.system.subsystems for h in vars(s).values() if callable(h)]
    return {f"{h._owner.name}.{h.name}": h(state) for h in handles if hasattr(h, "_owner")}


def moved(change: Change) -> str:
    """Return the model after a change; a variable that moves is declared where it goes."""
    source = change.apply()
    if "moved to another" in change.what:
        source = source.replace("    grip =", '    width = parameter(3.0, unit="m")\n    grip =')
    return source


def report_of(change: Change) -> tuple[LayoutMismatchError | None, LoadReport]:
    """Return the error of strict loading, if there is one, and the report without."""
    data, system = saved(), system_of(moved(change))
    error: LayoutMismatchError | None = None
    try:
        State.from_bytes(data, system)
    except LayoutMismatchError as found:
        error = found
    _, report = State.from_bytes(data, system, strict=False)
    return error, report


def table() -> str:
    """Return a table of what is said, for the documentation."""
    rows = ["| change | `strict=True` | the report of `strict=False` |", "|---|---|---|"]
    for change in CHANGES:
        error, report = report_of(change)
        names = f", proposes `renamed={dict(change.renamed)}`" if change.renamed else ""
        said = "; ".join(lines_of(report.differences)) or "all taken"
        rows.append(f"| {change.what} | {f'refused{names}' if error else 'loaded'} | {said} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())  # noqa: T201  # its purpose
