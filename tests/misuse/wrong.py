"""Values that do not fit the annotation of a parameter, each with its kind.

Probes of many types are wrong wherever the annotation does not name a type that they have. To these
come values of a right type: NaN, arrays of other shapes, handles of another graph, dead ones.
"""

import re
from collections.abc import Iterator
from math import inf, nan
from typing import Any, Final

import numpy as np

from stagecache import Stage, State
from tests.misuse.recipe import Wrong
from tests.misuse.surface import Parameter
from tests.misuse.world import Foreign

ALIASES: Final = {
    "AnyText": "str",
    "AnyState": "State",
    "Name": "str | PathLike",
    "Path_": "str | PathLike",
    "Numbers": "ArrayLike",
    "Array": "ArrayLike",
    "Vector": "ArrayLike",
    "NDArray": "ArrayLike",
    "numpy.ndarray": "ArrayLike",
    "_ArrayLike": "ArrayLike",
    "Elements": "ArrayLike",
    "Matrix": "ArrayLike",
    "Item": "AbstractHandle | str",
    "Items": "Iterable[AbstractHandle | str]",
    "Reporter": "Callable",
    "StudyFunction": "Callable",
    "Extra": "Callable",
    "Output": "Callable",
    "Progress": "Callable | bool | str",
    "Undeclared": "Literal[raise, record]",
    "Equality": "Callable | bool | None",
    "Index": "int",
    "Count": "int | Sequence | Callable",
    "Size": "int | Callable",
    "Parts": "Callable",
    "Prerequisites": "Sequence | Callable | AbstractDeclaration",
    "AnyPrerequisites": "Sequence | Callable | AbstractDeclaration",
    "Enabling": "AbstractDeclaration | None",
    "Strategies": "Mapping",
    "Settings": "settings",
    "HasContents": "State",
    "AbstractPartition": "State",
    "DTypeLike": "Any",
    "Frame": "Literal[a, b]",
    "View": "Any",
    "Title": "str | Callable",
    "Callback": "Callable",
    "Path": "PathLike",
}
"""Names of types that the library gives, in terms of those below."""

NUMBERS: Final = r"\b(float|SupportsFloat)\b"
INTEGERS: Final = r"\b(int|SupportsIndex)\b"
HANDLES: Final = (
    r"\b(AbstractHandle|CacheEntry|DiscreteVariable|ContinuousVariable"
    r"|AbstractNode|Variable|Entry)\b"
)
INDICES: Final = frozenset({"index", "which", "subsystem", "node", "row"})
NAMES: Final = frozenset({"name"})


def expanded(annotation: str) -> str:
    """Return an annotation with the library's own names of types replaced."""
    for alias, meaning in ALIASES.items():
        annotation = re.sub(rf"(?<![\w.]){alias}(?![\w])", meaning, annotation)
    return annotation


def wrong_values(parameter: Parameter, right: Any, foreign: Foreign) -> Iterator[Wrong]:
    """Yield wrong values of a parameter, which has a right value in a valid call."""
    text = expanded(parameter.annotation)
    if not re.search(r"\b(Any|object|[A-Z]|Key)\b", text):
        yield from _of_other_types(text)
    yield from _of_right_types(parameter, text, right, foreign)


def _of_other_types(text: str) -> Iterator[Wrong]:
    probes: list[tuple[str, str, object]] = [
        (r"\bNone\b|^$", "None", None),
        (rf"{NUMBERS}|{INTEGERS}|ArrayLike|Stage|complex", "3", 3),
        (r"\bstr\b|Literal|ArrayLike|Sequence|Iterable|Collection", "'nonsense'", "nonsense"),
        (r"\bobject\b", "object()", object()),
        (r"Iterable|Sequence|Collection|list|ArrayLike", "[]", []),
        (r"Mapping|dict|Iterable|Collection", "{}", {}),
        (r"type|Callable", "State", State),
        (r"Callable", "print", print),
        (r"bytes|Iterable|Sequence|Collection", "b''", b""),
    ]
    for fits, name, value in probes:
        if not re.search(fits, text):
            yield Wrong("type", name, value)


def _of_right_types(  # noqa: PLR0915  # one paragraph for each type
    parameter: Parameter, text: str, right: Any, foreign: Foreign
) -> Iterator[Wrong]:
    is_array = "ArrayLike" in text
    if re.search(r"\bstr\b", text) and parameter.name in NAMES:
        yield Wrong("name", "''", "")
    if re.search(NUMBERS, text) and not is_array:
        yield Wrong("NaN", "nan", nan)
        yield Wrong("infinite", "inf", inf)
        yield Wrong("infinite", "-inf", -inf)
        yield Wrong("shape", "[1.0, 2.0]", np.array([1.0, 2.0]))
        yield Wrong("type", "1j", 1j)
        yield Wrong("type", "True", True)
        yield Wrong("range", "10**400", 10**400)
    if re.search(INTEGERS, text) and not is_array and not re.search(NUMBERS, text):
        yield Wrong("index", "-1", -1)
        yield Wrong("NaN", "nan", nan)
        yield Wrong("type", "1.5", 1.5)
        yield Wrong("type", "True", True)
        if parameter.name in INDICES:
            yield Wrong("index", "10**9", 10**9)
            yield Wrong("index", "-10**9", -(10**9))
            yield Wrong("index", "10**30", 10**30)
        if "str" in text:
            yield Wrong("name", "'nonsense'", "nonsense")
            yield Wrong("name", "''", "")
    if is_array:
        yield from _of_arrays(right)
    if re.search(r"\bStage\b", text):
        yield Wrong("type", "int 5", 5)
        yield Wrong("stage", "Stage.INFINITY", Stage.INFINITY)
        yield Wrong("stage", "Stage.EMPTY", Stage.EMPTY)
        yield Wrong("stage", "100", 100)
        yield Wrong("stage", "'Position'", "Position")
    if re.search(r"\bbool\b", text) and "Callable" not in text:
        yield Wrong("type", "2", 2)
        yield Wrong("type", "'yes'", "yes")
        yield Wrong("type", "nan", nan)
    if "Literal" in text:
        yield Wrong("choice", "'nonsense'", "nonsense")
        yield Wrong("choice", "''", "")
    if "Callable" in text:
        yield Wrong("signature", "a coroutine function", _coroutine)
        yield Wrong("signature", "a generator function", _generator)
        yield Wrong("signature", "a function of 9", _of_nine)
    if "PathLike" in text:
        yield Wrong("path", "''", "")
        yield Wrong("path", "in a file", f"{__file__}/below")
        yield Wrong("path", "the root", "/")
        yield Wrong("path", "with a null", "a\0b")
    if re.search(r"\bState\b", text):
        yield Wrong("foreign", "a State of another System", foreign.state)
        yield Wrong("foreign", "a State without a System", State())
        yield Wrong("dead", "a State of an older topology", foreign.outdated)
        yield Wrong("foreign", "a State's partition", foreign.state[1])
    if re.search(r"\bSystem\b", text):
        yield Wrong("foreign", "another System", foreign.system)
    if re.search(r"\bSubsystem\b", text):
        yield Wrong("foreign", "a subsystem of another System", foreign.cart)
    if re.search(HANDLES, text):
        yield from foreign.handles()
    if re.search(r"\bGraph\b", text):
        yield Wrong("foreign", "a State", foreign.state)
    if re.search(r"\bMobilizedBody\b", text):
        yield Wrong("foreign", "a body of another matter", foreign.body)
    if re.search(r"\bAssemblyCondition\b|^C$", text):
        yield Wrong("foreign", "a condition of another Assembler", foreign.condition)
    if re.search(r"\bCheckpoint\b", text):
        yield Wrong("foreign", "a checkpoint of another State", foreign.mark)
        yield Wrong("foreign", "a checkpoint of a graph", foreign.graph_mark)
    if re.search(r"Iterable|Sequence|Collection", text) and not is_array:
        yield Wrong("type", "[None]", [None])
        yield Wrong("type", "[object()]", [object()])
        yield Wrong("type", "3", 3)
    if re.search(r"Mapping|dict", text):
        yield Wrong("type", "{3: 4}", {3: 4})
        yield Wrong("name", "{'nonsense': 1}", {"nonsense": 1})
        yield Wrong("type", "[]", [])


def _of_arrays(right: Any) -> Iterator[Wrong]:
    yield Wrong("type", "'nonsense'", "nonsense")
    yield Wrong("type", "None in a list", [None])
    yield Wrong("type", "object()", object())
    yield Wrong("type", "1j", [1j])
    yield Wrong("type", "a masked array", np.ma.masked_array([1.0, 2.0], [True, False]))
    yield Wrong("shape", "a ragged list", [[1.0], [1.0, 2.0]])
    yield Wrong("range", "10**400", 10**400)
    try:
        values = np.asarray(right, float)
    except (TypeError, ValueError):
        return
    yield Wrong("NaN", "NaN", np.full_like(values, nan))
    yield Wrong("infinite", "infinite", np.full_like(values, inf))
    yield Wrong("shape", "one more", np.zeros(np.array(values.shape or (7,)) + 1))
    yield Wrong("shape", "one axis more", values[..., None, None])
    yield Wrong("shape", "empty", np.zeros(0) if values.size else np.zeros(3))


async def _coroutine(*_: object, **__: object) -> float:
    return 1.0


def _generator(*_: object, **__: object) -> Iterator[float]:
    yield 1.0


def _of_nine(  # that is the fault
    a: object,
    b: object,
    c: object,
    d: object,
    e: object,
    f: object,
    g: object,
    h: object,
    i: object,
) -> float:
    return float(bool((a, b, c, d, e, f, g, h, i)))
