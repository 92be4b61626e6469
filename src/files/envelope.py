"""The frame of a file: magic bytes, version, a header as JSON, blobs, and a checksum of them all.

::

    0    magic         8 bytes, which no text has; a transfer that changes line ends destroys them
    8    version       4 bytes, little-endian, as all numbers
    12   length        8 bytes: of the whole file
    20   header        8 bytes: length of the JSON that follows
    28   JSON          {"kind": ..., "blobs": [length of each], "content": ...}
         blobs         one after the other
         checksum      32 bytes: SHA-256 of everything before

Each size is compared with the length of the file before anything is allocated. A file is written
beside the old one, synced, and renamed: after a crash the old file or the new one is there, whole.
"""

import json
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn
from uuid import uuid4

from stagecache.errors import FileFormatError, short_repr
from stagecache.files.values import bad_file

MAGIC: Final = b"\x89SGC\r\n\x1a\n"
VERSION: Final = 1
FRAME: Final = struct.Struct("<8sIQQ")
TRAJECTORIES: Final = (b"\xff\xff\xff\xff", b"PAR1", b"\x89HDF")
"""The first bytes of trajectories: Arrow, Parquet, netCDF."""

SUM: Final = 32
"""Length of the checksum."""


def pack(kind: str, content: Any, blobs: Sequence[bytes] = ()) -> bytes:
    """Return a file: JSON and blobs."""
    header = {"kind": kind, "blobs": [len(blob) for blob in blobs], "content": content}
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    length = FRAME.size + len(text) + sum(map(len, blobs)) + SUM
    data = b"".join((FRAME.pack(MAGIC, VERSION, length, len(text)), text, *blobs))
    return data + sha256(data).digest()


def unpack(data: Any, kind: str, where: str) -> tuple[Any, list[memoryview]]:
    """Return the content and the blobs of a file of that kind.

    Parameters
    ----------
    data : bytes-like
    kind : str
    where : str
        Name of the file, in errors.

    Raises
    ------
    FileFormatError
        It is damaged, cut short, of another kind, or of a newer version.
    """
    view = memoryview(data).cast("B")
    if len(view) < FRAME.size + SUM or bytes(view[: len(MAGIC)]) != MAGIC:
        raise _no_file(view, where)
    _, version, length, size = FRAME.unpack_from(view)
    if version != VERSION:
        raise FileFormatError(
            f"{where}: is of another version",
            f"format version {VERSION}",
            f"version {version}",
            "open it with a newer release of stagecache",
        )
    if length != len(view):
        raise bad_file(
            f"{where}: is cut short or has grown", f"{length} bytes", f"{len(view)} bytes"
        )
    if sha256(view[:-SUM]).digest() != bytes(view[-SUM:]):
        raise bad_file(f"{where}: is damaged", "bytes with the checksum at the end", "others")
    start, stop = FRAME.size + size, length - SUM
    if start > stop:
        raise bad_file(f"{where}: is damaged", f"a header of at most {stop} bytes", f"{size}")
    header = read_json(bytes(view[FRAME.size : start]), where)
    is_header = isinstance(header, dict) and set(header) == {"kind", "blobs", "content"}
    if not is_header or not isinstance(header["kind"], str):
        raise bad_file(f"{where}: is damaged", "kind, blobs and content", short_repr(header))
    if header["kind"] != kind:
        raise FileFormatError(
            f"{where}: is not a file of this kind",
            f"a file that holds a {kind}",
            f"one that holds a {header['kind']}",
            "load it by the function for that kind",
        )
    sizes = header["blobs"]
    is_sizes = isinstance(sizes, list) and all(type(n) is int and 0 <= n <= stop for n in sizes)
    if not is_sizes or sum(sizes) != stop - start:
        raise bad_file(f"{where}: is damaged", f"blobs of {stop - start} bytes", short_repr(sizes))
    blobs = []
    for n in sizes:
        blobs.append(view[start : start + n])
        start += n
    return header["content"], blobs


def read_json(text: bytes, where: str) -> Any:
    """Return what JSON says: no name twice, no NaN, nothing nested without end.

    Raises
    ------
    FileFormatError
    """
    try:
        return json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise bad_file(f"{where}: is damaged", "JSON, each name once", str(error)) from None


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name that occurs twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} where a number is needed")


def _no_file(view: memoryview, where: str) -> FileFormatError:
    is_stream = bytes(view[:4]) in TRAJECTORIES
    return FileFormatError(
        f"{where}: is not a file of this kind",
        "a file that State.save() or Graph.save() has written",
        f"{len(view)} bytes, the first of which are {bytes(view[:8])!r}",
        "load_trajectory() opens trajectories" if is_stream else "pass the path of such a file",
    )


# ---------------------------------------------------------------------- on disk


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file beside the old one, sync it, and let it take the old one's place.

    Raises
    ------
    OSError
        The old file is as it was.
    """
    target = Path(os.path.realpath(path))
    with errors_naming(path):
        beside = name_beside(target)
        try:
            with open_beside(beside, target) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
    _sync_folder(target.parent)


def name_beside(target: Path) -> Path:
    """Return the name of a new file beside one whose place it will take.

    It is known before the file is there, so that whoever opens it can remove it after any error.
    """
    return target.with_name(f".stagecache-{uuid4().hex}.tmp")


def open_beside(beside: Path, target: Path) -> BinaryIO:
    """Open a new file beside one whose place it will take, with the permissions of that one."""
    file = beside.open("xb")
    try:
        if target.exists():  # nobody reads it who could not read the old one
            beside.chmod(target.stat().st_mode & 0o777)
    except BaseException:
        file.close()
        raise
    return file


@contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Let errors of the system name the file that was asked for, not one beside it."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        del error.filename2  # None would be shown
        raise


def _sync_folder(folder: Path) -> None:
    """Let the new name last, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
