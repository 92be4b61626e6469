"""Damaged files: whatever they say, they are refused by an error of stagecache, or read."""

import random
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.errors import StagecacheError
from stagecache.examples.urdf_arm import ARM
from stagecache.models import load_osim, load_urdf, meshes, read_ik_tasks, read_sto, read_trc
from tests.models.small_models import SMALL
from tests.models.test_meshes import OBJ, STL, VTP
from tests.models.test_storage import HEADER, ROWS
from tests.models.test_tasks import TOOL
from tests.models.test_trc import FIRST, SECOND, trc
from tests.profiles import examples

Read = Callable[[Path], Any]
FILES: Final[dict[str, tuple[Read, str]]] = {
    **{f"{name}.osim": (load_osim, text) for name, text in SMALL.items()},
    "setup.xml": (read_ik_tasks, TOOL),
    "a.trc": (read_trc, trc(FIRST, SECOND)),
    "a.sto": (read_sto, HEADER.format("no") + ROWS),
    "a.obj": (meshes.read_mesh, OBJ),
    "a.stl": (meshes.read_mesh, STL),
    "a.vtp": (meshes.read_mesh, VTP),
}
if find_spec("yourdfpy") is not None:
    FILES["a.urdf"] = (lambda path: load_urdf(path, meshes=True), ARM)
WORDS: Final = (
    *("-1", "1e308", "nan", "Infinity", "", "0", "99999999999999999999", "true", "a", "../..", "/"),
    *("ground", "b", "j", "f", "m", "q0", "q1", "<", ">", "</a>", "&amp;", "\t", "\n", "\0", "é"),
)


def damaged(text: str, rng: random.Random) -> bytes:
    """Return the bytes of a text with some parts exchanged, left out or repeated."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 1, 3, 20, 200)))
        part = text[start:end]
        new = rng.choice((rng.choice(WORDS), part + part, "", part.swapcase()))
        if rng.random() < 0.5:  # between two tags, or two words
            words = [i for i, c in enumerate(text) if c in "> \t\n"]
            if len(words) > 1:
                at = rng.randrange(len(words) - 1)
                start, end = words[at] + 1, words[at + 1]
        text = text[:start] + new + text[end:]
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data and rng.random() < 0.2:
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


@pytest.mark.parametrize("name", FILES)
@examples(20)
@given(st.integers(0, 2**32))
def test_a_damaged_file_is_refused_or_read(
    name: str, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    read, text = FILES[name]
    path = tmp_path_factory.getbasetemp() / f"damaged{Path(name).suffix}"
    path.write_bytes(damaged(text, random.Random(seed)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(path)
        except StagecacheError as error:
            refused = error
        else:
            return
    assert refused.hint
