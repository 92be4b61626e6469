"""The frame of a file: told damage, sizes that are checked, and writing that is all or nothing."""

import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.errors import FileFormatError
from stagecache.files.envelope import FRAME, MAGIC, SUM, VERSION, pack, unpack, write_atomically
from tests.files.mutations import framed
from tests.interrupting import ignore_lost_strikes, strikes
from tests.profiles import examples

CONTENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)


@given(content=CONTENT, blobs=st.lists(st.binary(), max_size=4))
@examples(200)
def test_content_and_blobs_are_the_same_after_a_round_trip(
    content: Any, blobs: list[bytes]
) -> None:
    found, views = unpack(pack("Thing", content, blobs), "Thing", "a file")
    assert found == content
    assert list(map(bytes, views)) == blobs


@given(data=st.data())
@examples(200)
def test_any_other_bytes_are_told(data: st.DataObject) -> None:
    packed = pack("Thing", {"a": [1, 2]}, [b"abc", b""])
    at = data.draw(st.integers(0, len(packed) - 1))
    changed = bytearray(packed)
    changed[at] ^= data.draw(st.integers(1, 255))
    for damaged in (bytes(changed), packed[:at], packed + packed[:at] + b"x", packed[at + 1 :]):
        with pytest.raises(FileFormatError, match=r"^a file: "):
            unpack(damaged, "Thing", "a file")


def sealed(**changed: object) -> bytes:
    """Return a file whose header says what it must not, with the right checksum."""
    header = '{"kind": %s, "blobs": %s, "content": %s}'
    parts = {"kind": '"Thing"', "blobs": "[3]", "content": "{}"} | changed
    return framed((header % (*parts.values(),)).encode(), b"abc")


def test_the_helper_of_these_tests_makes_a_good_file() -> None:
    assert unpack(sealed(), "Thing", "a file")[0] == {}


@pytest.mark.parametrize(
    "blobs",
    [
        *("[2]", "[4]", "[-1, 4]", "[9223372036854775808]", "[3, 18446744073709551616]", "[3.0]"),
        *("3", "null", "[true, 2]", '["3"]', "[[3]]", "{}", "[]", "[NaN]", "[Infinity]"),
    ],
)
def test_sizes_that_are_not_those_of_the_blobs_are_refused(blobs: str) -> None:
    with pytest.raises(FileFormatError):
        unpack(sealed(blobs=blobs), "Thing", "a file")


@pytest.mark.parametrize(
    "content",
    [
        *("NaN", "[-Infinity]", '{"a": 1, "a": 1}', '[{"b": {"a": 1, "a": 2}}]', "", "1}"),
        *("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "1" * 5000, "\ud800"),
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_json_that_is_ambiguous_or_endless_is_refused(content: str) -> None:
    text = content.encode("utf-8", "surrogatepass").decode("latin-1")
    header = f'{{"kind": "Thing", "blobs": [], "content": {text}}}'.encode("latin-1")
    with pytest.raises(FileFormatError):
        unpack(framed(header, b""), "Thing", "a file")


@pytest.mark.parametrize("kind", ['"State"', "1", "null", "[[]]", '"' + "x" * 99 + '"'])
def test_a_file_of_another_kind_is_refused(kind: str) -> None:
    with pytest.raises(FileFormatError):
        unpack(sealed(kind=kind), "Thing", "a file")


def test_a_newer_version_is_named() -> None:
    data = pack("Thing", {})
    newer = FRAME.pack(MAGIC, VERSION + 1, len(data), 2) + data[FRAME.size :]
    with pytest.raises(FileFormatError, match=f"version {VERSION + 1}"):
        unpack(newer, "Thing", "a file")


@pytest.mark.parametrize("size", [0, 1, 2**32, 2**63, 2**64 - 1])
def test_the_size_of_the_header_is_compared_with_the_length(size: int) -> None:
    data = pack("Thing", {})
    length = len(data)
    body = FRAME.pack(MAGIC, VERSION, length, size) + data[FRAME.size : -SUM]
    with pytest.raises(FileFormatError):
        unpack(body + sha256(body).digest(), "Thing", "a file")


@pytest.mark.parametrize("data", [b"", b"x", MAGIC, MAGIC + bytes(60), b"PK\x03\x04" + bytes(99)])
def test_a_file_of_another_program_is_refused(data: bytes) -> None:
    with pytest.raises(FileFormatError):
        unpack(data, "Thing", "a file")


# ---------------------------------------------------------------------- on disk


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for data in (b"old", b"new and longer", b""):
        write_atomically(path, data)
        assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["a"]


class FullDiskError(OSError):
    """No space is left."""


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace", "pathlib.Path.chmod"])
@pytest.mark.parametrize("error", [FullDiskError, KeyboardInterrupt])
def test_the_old_file_is_whole_if_a_step_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: type[BaseException]
) -> None:
    def fails(*_: object) -> Any:
        raise error

    path = tmp_path / "a"
    path.write_bytes(b"old")
    monkeypatch.setattr(step, fails)
    with pytest.raises(error):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_the_old_file_is_whole_if_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    original: Callable[..., Any] = Path.open

    def opens(self: Path, *args: Any) -> Any:
        file = original(self, *args, buffering=0)
        file.close()
        return file

    monkeypatch.setattr(Path, "open", opens)
    with pytest.raises(ValueError, match="closed"):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing.file'$"):
        write_atomically(tmp_path / "missing" / "file", b"new")
    with pytest.raises(IsADirectoryError, match=rf"{tmp_path.name}'$"):
        write_atomically(tmp_path, b"new")
    assert os.listdir(tmp_path) == []
    assert not list(tmp_path.parent.glob(".stagecache-*.tmp"))


@ignore_lost_strikes
def test_no_file_is_left_beside_it_wherever_an_error_strikes(tmp_path: Path) -> None:
    path = tmp_path / "a"

    def prepare() -> Path:
        path.write_bytes(b"old")
        return path

    for _, what in strikes(prepare, lambda path: write_atomically(path, b"new"), every=1):
        assert os.listdir(tmp_path) == ["a"], what
        assert path.read_bytes() in (b"old", b"new"), what


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_permissions_are_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "a", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_name_as_long_as_possible_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 255)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
